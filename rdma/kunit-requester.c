// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: what the requester sends, and sends again, and when it gives up.
 * IBTA volume 1, 9.7.5 (acknowledges), 9.7.6 (retries and time-outs), 9.7.7
 * (limits); for the probes and the timer before the standard's own, timer.c.
 */
#include "kunit-bench.h"

#define MS	((u64)NSEC_PER_MSEC)

/* Local ACK timeout, 9.7.6.1.3: 4.096 us times two to the attribute. */
#define TIMEOUT_NS	(4096ULL << BENCH_TIMEOUT)

static struct qrdma_bench *open(struct kunit *test)
{
	return qrdma_bench_open(test, AF_INET, IB_QPT_RC);
}

/* The peer has said nothing for the QP's timeout, as far as it knows. */
static void silence(struct qrdma_bench *b)
{
	b->qp.sq.stall_start -= TIMEOUT_NS;
}

/* An acknowledge is asked for once for a message. */
static void asks_at_the_end(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_SEND, 600);
	EXPECT_SENT(b, "send-first:fffffd send-middle:fffffe send-last:ffffff!");
	qrdma_bench_post(b, 2, IB_WR_RDMA_WRITE, 256);
	EXPECT_SENT(b, "write:000000!");
	qrdma_bench_post(b, 3, IB_WR_RDMA_WRITE, 257);
	EXPECT_SENT(b, "write-first:000001 write-last:000002!");
	EXPECT_DONE(b, "");
}

/* One acknowledge stands for all before it. */
static void ack_for_all(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_post(b, 2, IB_WR_RDMA_WRITE, 600);
	qrdma_bench_post(b, 3, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	/* In the midst of the second. */
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 2);
	EXPECT_DONE(b, "1");
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 4);
	EXPECT_DONE(b, "2 3");
	EXPECT_SENT(b, "");
}

static void nak_resends_from_there(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_post(b, 2, IB_WR_SEND, 600);
	qrdma_bench_post(b, 3, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	qrdma_bench_aeth(b, 0x60, BENCH_PSN + 2);
	EXPECT_DONE(b, "1");
	/* The first of them alone: it may be all that is missing. */
	EXPECT_SENT(b, "send-middle:ffffff!");
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 2);
	EXPECT_SENT(b, "send-last:000000 send:000001!");
	KUNIT_EXPECT_EQ(test, 3, qrdma_bench_count(b, QRDMA_CNT_RETRANSMITTED));
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 4);
	EXPECT_DONE(b, "2 3");
}

/* Each NAK costs a retry, any answer to something new gives all back. */
static void nak_retries(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	int i;

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	for (i = 0; i < BENCH_RETRY; i++) {
		qrdma_bench_aeth(b, 0x60, BENCH_PSN);
		EXPECT_SENT(b, "send:fffffd!");
	}
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN);
	EXPECT_DONE(b, "1");
	EXPECT_SENT(b, "send:fffffe!");
	for (i = 0; i < BENCH_RETRY; i++) {
		qrdma_bench_aeth(b, 0x60, BENCH_PSN + 1);
		EXPECT_SENT(b, "send:fffffe!");
	}
	qrdma_bench_aeth(b, 0x60, BENCH_PSN + 1);
	EXPECT_SENT(b, "");
	EXPECT_DONE(b, "2:retries");
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_ERR);
}

static void nak_without_retries(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	b->qp.sq.retry_cnt = 0;
	b->qp.sq.retries_left = 0;
	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	qrdma_bench_aeth(b, 0x60, BENCH_PSN);
	EXPECT_SENT(b, "");
	EXPECT_DONE(b, "1:retries");
}

/* The first packet only, until the peer says how it stands. */
static void probe_is_one_packet(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_SEND, 600);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	qrdma_bench_time_out(b);
	EXPECT_SENT(b, "send-first:fffffd!");
	qrdma_bench_time_out(b);
	EXPECT_SENT(b, "send-first:fffffd!");
	/* What is new waits. */
	qrdma_bench_post(b, 3, IB_WR_SEND, 0);
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, 2, qrdma_bench_count(b, QRDMA_CNT_TAIL_PROBES));
}

/* The peer had got nothing: go on from there. */
static void probe_answered_by_next(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_SEND, 600);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	qrdma_bench_time_out(b);
	qrdma_bench_sent(b);
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN);
	EXPECT_SENT(b, "send-middle:fffffe send-last:ffffff send:000000!");
	EXPECT_DONE(b, "");
}

/* The peer had got all but told in vain: nothing more to send. */
static void probe_answered_for_all(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_SEND, 600);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	qrdma_bench_time_out(b);
	qrdma_bench_sent(b);
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 3);
	EXPECT_SENT(b, "");
	EXPECT_DONE(b, "1 2");
}

/* An answer to more than the probe: the rest is on its way; see to its end. */
static void probe_too_early(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_SEND, 600);
	qrdma_bench_post(b, 2, IB_WR_SEND, 600);
	qrdma_bench_time_out(b);
	qrdma_bench_sent(b);
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 3);
	EXPECT_SENT(b, "");
	EXPECT_DONE(b, "1");
	/* New work goes on behind it. */
	qrdma_bench_post(b, 3, IB_WR_SEND, 0);
	EXPECT_SENT(b, "send:000003!");
	/* But it was lost. */
	qrdma_bench_time_out(b);
	qrdma_bench_time_out(b);
	EXPECT_SENT(b, "send-middle:000001!");
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 4);
	EXPECT_SENT(b, "send-last:000002 send:000003!");
}

/* The peer had got a part. */
static void probe_answered_by_nak(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_SEND, 600);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	qrdma_bench_time_out(b);
	qrdma_bench_sent(b);
	qrdma_bench_aeth(b, 0x60, BENCH_PSN + 2);
	EXPECT_SENT(b, "send-last:ffffff!");
	EXPECT_DONE(b, "");
}

/* Doubled each time, no longer than the QP's own timeout; back with an ACK. */
static void backoff(struct kunit *test)
{
	static const u64 waits[] = { 40 * MS, TIMEOUT_NS, TIMEOUT_NS };
	struct qrdma_bench *b = open(test);
	int i;

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	KUNIT_EXPECT_EQ(test, b->timer_ns, 20 * MS);
	for (i = 0; i < ARRAY_SIZE(waits); i++) {
		qrdma_bench_time_out(b);
		KUNIT_EXPECT_EQ_MSG(test, b->timer_ns, waits[i], "%d", i);
	}
	EXPECT_DONE(b, "");
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN);
	EXPECT_DONE(b, "1");
	/* The timer runs on, and finds nothing to do. */
	i = b->timer_starts;
	qrdma_bench_sent(b);
	qrdma_bench_time_out(b);
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, b->timer_starts, i);
	b->qp.sq.srtt = 0;
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	KUNIT_EXPECT_EQ(test, b->timer_ns, 20 * MS);
}

/* Want of memory is not the peer's silence: tried again soon, without limit. */
static void without_memory(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	int i;

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	KUNIT_EXPECT_EQ(test, b->timer_ns, 20 * MS);
	EXPECT_SENT(b, "send:fffffd!");
	/* While the timer runs. */
	qrdma_bench_memory(b, 0);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	for (i = 0; i < 100; i++) {
		KUNIT_EXPECT_EQ(test, b->timer_starts, 2 + i);
		KUNIT_EXPECT_EQ(test, b->timer_ns, MS);
		silence(b);
		qrdma_bench_time_out(b);
	}
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, 0, qrdma_bench_count(b, QRDMA_CNT_TAIL_PROBES));
	qrdma_bench_memory_back(b);
	qrdma_bench_time_out(b);
	EXPECT_SENT(b, "send:fffffe!");
	KUNIT_EXPECT_EQ(test, b->timer_ns, 20 * MS);
	EXPECT_DONE(b, "");
}

/* Four round trips, within 4 ms and the QP's own timeout. */
static void first_wait(struct kunit *test)
{
	static const struct {
		u64 srtt;
		u8 timeout;
		u64 wait;
	} known[] = {
		{ 100000, BENCH_TIMEOUT, 4 * MS },
		{ 3 * MS, BENCH_TIMEOUT, 12 * MS },
		{ 30 * MS, BENCH_TIMEOUT, TIMEOUT_NS },
		{ 30 * MS, 0, 120 * MS },
		{ 2000 * MS, 0, 4000 * MS },
		{ 100000, 8, 4096 << 8 },
	};
	struct qrdma_bench *b = open(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		b->qp.sq.timer_on = false;
		b->qp.sq.srtt = known[i].srtt;
		b->qp.sq.timeout = known[i].timeout;
		qrdma_bench_post(b, i, IB_WR_SEND, 0);
		KUNIT_EXPECT_EQ_MSG(test, b->timer_ns, known[i].wait, "%d", i);
	}
}

/* It is not started with each packet; it asks what has come meanwhile. */
static void timer_runs_through(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	qrdma_bench_post(b, 3, IB_WR_SEND, 0);
	KUNIT_EXPECT_EQ(test, b->timer_starts, 1);
	qrdma_bench_sent(b);
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN);
	qrdma_bench_time_out(b);
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, b->timer_starts, 2);
	qrdma_bench_time_out(b);
	EXPECT_SENT(b, "send:fffffe!");
}

/* 9.7.6.1.3: as many retries as the attribute says, each after a timeout. */
static void silence_costs_retries(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	int i;

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	/* Probes before that are free. */
	qrdma_bench_time_out(b);
	EXPECT_SENT(b, "send:fffffd!");
	for (i = 0; i < BENCH_RETRY; i++) {
		silence(b);
		qrdma_bench_time_out(b);
		EXPECT_SENT(b, "send:fffffd!");
		EXPECT_DONE(b, "");
	}
	silence(b);
	qrdma_bench_time_out(b);
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, b->works, 1);
	qrdma_bench_work(b);
	EXPECT_DONE(b, "1:retries 2:flushed");
}

/* A timeout of 0 is none. */
static void silence_for_ever(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	int i;

	b->qp.sq.timeout = 0;
	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	for (i = 0; i < 20; i++) {
		b->qp.sq.stall_start -= 3600 * 1000 * MS;
		qrdma_bench_time_out(b);
		EXPECT_SENT(b, "send:fffffd!");
	}
	KUNIT_EXPECT_EQ(test, b->timer_ns, 4000 * MS);
	EXPECT_DONE(b, "");
}

/* What is still on its way of an answer of which a part was lost. */
static void silence_ends_with_any_answer(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	int i;

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, 4000);
	qrdma_bench_sent(b);
	for (i = 0; i < 2 * BENCH_RETRY; i++) {
		qrdma_bench_time_out(b);
		silence(b);
		qrdma_bench_response(b, 0x0e, BENCH_PSN + 1 + i % 10, 256);
	}
	EXPECT_DONE(b, "");
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, b->qp.sq.retries_left, BENCH_RETRY);
}

static void silence_ends_with_ack(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	int i;

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	for (i = 0; i < BENCH_RETRY; i++) {
		qrdma_bench_time_out(b);
		silence(b);
	}
	qrdma_bench_time_out(b);
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN);
	EXPECT_DONE(b, "1");
	for (i = 0; i < BENCH_RETRY; i++) {
		qrdma_bench_time_out(b);
		silence(b);
	}
	qrdma_bench_time_out(b);
	EXPECT_DONE(b, "");
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_RTS);
}

/* 9.7.5.2.8: what the peer complains of waits, and all that is behind it. */
static void rnr_waits(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_post(b, 2, IB_WR_SEND, 300);
	qrdma_bench_post(b, 3, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	qrdma_bench_aeth(b, 0x20 | 14, BENCH_PSN + 1);
	EXPECT_DONE(b, "1");
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, b->timer_ns, 1280 * NSEC_PER_USEC);
	/* Neither what is new, nor a second complaint. */
	qrdma_bench_post(b, 4, IB_WR_SEND, 0);
	qrdma_bench_aeth(b, 0x20 | 14, BENCH_PSN + 1);
	EXPECT_SENT(b, "");
	qrdma_bench_time_out(b);
	EXPECT_SENT(b, "send-first:fffffe send-last:ffffff send:000000 send:000001!");
	EXPECT_DONE(b, "");
}

static void rnr_retries(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	int i;

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	for (i = 0; i < BENCH_RNR_RETRY; i++) {
		qrdma_bench_aeth(b, 0x20, BENCH_PSN);
		qrdma_bench_time_out(b);
		EXPECT_SENT(b, "send:fffffd send:fffffe!");
	}
	/* The next one has all its retries. */
	for (i = 0; i < BENCH_RNR_RETRY; i++) {
		qrdma_bench_aeth(b, 0x20, BENCH_PSN + 1);
		qrdma_bench_time_out(b);
		EXPECT_SENT(b, "send:fffffe!");
	}
	EXPECT_DONE(b, "1");
	qrdma_bench_aeth(b, 0x20, BENCH_PSN + 1);
	EXPECT_DONE(b, "2:rnr");
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_ERR);
}

/* 7 is for ever, and does not count with the other retries. */
static void rnr_for_ever(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	int i;

	b->qp.sq.rnr_retry = 7;
	b->qp.sq.rnr_left = 7;
	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	for (i = 0; i < 20; i++) {
		qrdma_bench_aeth(b, 0x20, BENCH_PSN);
		qrdma_bench_time_out(b);
		EXPECT_SENT(b, "send:fffffd!");
	}
	EXPECT_DONE(b, "");
}

static void read_in_order(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, 600);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	/* The answer's packets have the PSNs between. */
	EXPECT_SENT(b, "read:fffffd@1000+600 send:000000!");
	qrdma_bench_response(b, 0x0d, BENCH_PSN, 256);
	qrdma_bench_response(b, 0x0e, BENCH_PSN + 1, 256);
	EXPECT_DONE(b, "");
	qrdma_bench_response(b, 0x0f, BENCH_PSN + 2, 88);
	EXPECT_DONE(b, "1");
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 3);
	EXPECT_DONE(b, "2");
}

/* Of a READ what is missing is asked for again: 9.7.5.1.3. */
static void read_resumes(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, 600);
	qrdma_bench_sent(b);
	qrdma_bench_response(b, 0x0d, BENCH_PSN, 256);
	/* The middle one is lost. */
	qrdma_bench_response(b, 0x0f, BENCH_PSN + 2, 88);
	EXPECT_SENT(b, "read:fffffe@1100+256");
	/* Once; what is still on the way must not bring more of them. */
	qrdma_bench_response(b, 0x0f, BENCH_PSN + 2, 88);
	EXPECT_SENT(b, "");
	EXPECT_DONE(b, "");
	qrdma_bench_response(b, 0x10, BENCH_PSN + 1, 256);
	EXPECT_DONE(b, "1");
	EXPECT_SENT(b, "");
}

/* 9.7.5.1.3: an ACK of what came after tells that the answer is lost. */
static void read_implied_nak(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_post(b, 2, IB_WR_RDMA_READ, 256);
	qrdma_bench_post(b, 3, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 2);
	EXPECT_DONE(b, "1");
	EXPECT_SENT(b, "read:fffffe@1000+256");
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 2);
	EXPECT_SENT(b, "");
	qrdma_bench_response(b, 0x10, BENCH_PSN + 1, 256);
	EXPECT_DONE(b, "2 3");
	EXPECT_SENT(b, "");
}

/* An answer that does not fit its request: 9.9.2, bad response. */
static void read_too_short(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, 600);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	qrdma_bench_response(b, 0x0d, BENCH_PSN, 252);
	EXPECT_DONE(b, "1:response 2:flushed");
}

static void read_ends_early(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, 600);
	qrdma_bench_response(b, 0x10, BENCH_PSN, 256);
	EXPECT_DONE(b, "1:response");
}

/* No more at a time than the attribute allows: 9.7.7.1. */
static void read_limit(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, 1);
	qrdma_bench_post(b, 2, IB_WR_ATOMIC_FETCH_AND_ADD, 8);
	qrdma_bench_post(b, 3, IB_WR_RDMA_READ, 1);
	qrdma_bench_post(b, 4, IB_WR_SEND, 0);
	EXPECT_SENT(b, "read:fffffd@1000+1 add:fffffe");
	qrdma_bench_response(b, 0x10, BENCH_PSN, 1);
	EXPECT_SENT(b, "read:ffffff@1000+1 send:000000!");
	EXPECT_DONE(b, "1");
}

/* 10.8.3.3: a fence waits for what was asked before it. */
static void read_fence(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	struct ib_send_wr wr = {
		.wr_id = 2,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED | IB_SEND_FENCE,
	};
	const struct ib_send_wr *bad;

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, 1);
	KUNIT_ASSERT_EQ(test, 0, qrdma_post_send(&b->qp.ibqp, &wr, &bad));
	EXPECT_SENT(b, "read:fffffd@1000+1");
	qrdma_bench_response(b, 0x10, BENCH_PSN, 1);
	EXPECT_SENT(b, "send:fffffe!");
}

static void count_call(struct ib_cq *ibcq, void *context)
{
	++*(u32 *)context;
}

/*
 * A verb leaves it to the QP's work to tell of what it completes. Where the
 * QP ends before that has run, whoever waits for the queue is told still.
 */
static void reset_tells_queue(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };
	const struct ib_send_wr wr = { .opcode = IB_WR_LOCAL_INV };
	const struct ib_send_wr *bad;
	u32 calls = 0;

	b->scq.ibcq.comp_handler = count_call;
	b->scq.ibcq.cq_context = &calls;
	qrdma_cq_ops.req_notify_cq(&b->scq.ibcq, IB_CQ_NEXT_COMP);
	/* There is no such key. */
	KUNIT_ASSERT_EQ(test, 0, qrdma_post_send(&b->qp.ibqp, &wr, &bad));
	KUNIT_EXPECT_EQ(test, 0, calls);
	KUNIT_EXPECT_EQ(test, 0, qrdma_modify_qp(&b->qp.ibqp, &attr,
						 IB_QP_STATE, NULL));
	KUNIT_EXPECT_EQ(test, 1, calls);
	b->scq.ibcq.comp_handler = NULL;
}

static struct kunit_case cases[] = {
	KUNIT_CASE(asks_at_the_end),
	KUNIT_CASE(ack_for_all),
	KUNIT_CASE(nak_resends_from_there),
	KUNIT_CASE(nak_retries),
	KUNIT_CASE(nak_without_retries),
	KUNIT_CASE(probe_is_one_packet),
	KUNIT_CASE(probe_answered_by_next),
	KUNIT_CASE(probe_answered_for_all),
	KUNIT_CASE(probe_too_early),
	KUNIT_CASE(probe_answered_by_nak),
	KUNIT_CASE(backoff),
	KUNIT_CASE(without_memory),
	KUNIT_CASE(first_wait),
	KUNIT_CASE(timer_runs_through),
	KUNIT_CASE(silence_costs_retries),
	KUNIT_CASE(silence_for_ever),
	KUNIT_CASE(silence_ends_with_any_answer),
	KUNIT_CASE(silence_ends_with_ack),
	KUNIT_CASE(rnr_waits),
	KUNIT_CASE(rnr_retries),
	KUNIT_CASE(rnr_for_ever),
	KUNIT_CASE(read_in_order),
	KUNIT_CASE(read_resumes),
	KUNIT_CASE(read_implied_nak),
	KUNIT_CASE(read_too_short),
	KUNIT_CASE(read_ends_early),
	KUNIT_CASE(read_limit),
	KUNIT_CASE(read_fence),
	KUNIT_CASE(reset_tells_queue),
	{}
};

static struct kunit_suite suite = {
	.name = "quarry_rdma_requester",
	.exit = qrdma_bench_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
