// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: answers to READs and atomics of which some are lost. The requester
 * keeps what comes behind them and asks again for what is missing: IBTA volume
 * 1, 9.4.4, 9.7.5.1.3.
 */
#include <linux/unaligned.h>
#include "kunit-bench.h"

#define FIRST	IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST
#define MIDDLE	IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE
#define LAST	IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST
#define ONLY	IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY

static struct qrdma_bench *open(struct kunit *test)
{
	return qrdma_bench_open(test, AF_INET, IB_QPT_RC);
}

/* A whole packet of an answer, the bench's n-th. */
static void answer(struct qrdma_bench *b, u8 opcode, u32 n)
{
	qrdma_bench_response(b, opcode, BENCH_PSN + n, BENCH_MTU);
}

/* The second gap is asked for when the first one is filled. */
static void two_gaps(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, 5 * BENCH_MTU);
	qrdma_bench_sent(b);
	answer(b, FIRST, 0);
	answer(b, MIDDLE, 2);
	EXPECT_SENT(b, "read:fffffe@1100+256");
	answer(b, LAST, 4);
	EXPECT_SENT(b, "");
	answer(b, ONLY, 1);
	EXPECT_SENT(b, "read:000000@1300+256");
	EXPECT_DONE(b, "");
	answer(b, ONLY, 3);
	EXPECT_SENT(b, "");
	EXPECT_DONE(b, "1");
	KUNIT_EXPECT_EQ(test, 2,
			qrdma_bench_count(b, QRDMA_CNT_IMPLIED_NAK_SEQ_ERR));
	KUNIT_EXPECT_EQ(test, 2, qrdma_bench_count(b, QRDMA_CNT_RETRANSMITTED));
}

/* Of each of the work requests in a gap what is its own. */
static void gap_across_requests(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, 2 * BENCH_MTU);
	qrdma_bench_post(b, 2, IB_WR_RDMA_READ, 2 * BENCH_MTU);
	qrdma_bench_sent(b);
	answer(b, FIRST, 0);
	answer(b, LAST, 3);
	EXPECT_SENT(b, "read:fffffe@1100+256 read:ffffff@1000+256");
	answer(b, ONLY, 1);
	EXPECT_DONE(b, "1");
	answer(b, ONLY, 2);
	EXPECT_DONE(b, "2");
	EXPECT_SENT(b, "");
}

/* Its answer tells of all that was asked before it. */
static void others_in_between(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, BENCH_MTU);
	qrdma_bench_post(b, 2, IB_WR_SEND, 600);
	qrdma_bench_post(b, 3, IB_WR_RDMA_READ, BENCH_MTU);
	qrdma_bench_sent(b);
	answer(b, ONLY, 4);
	EXPECT_DONE(b, "");
	EXPECT_SENT(b, "read:fffffd@1000+256");
	answer(b, ONLY, 0);
	EXPECT_DONE(b, "1 2 3");
	EXPECT_SENT(b, "");
}

/* The peer kept an atomic's result: 9.4.5. */
static void atomic_again(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	struct qrdma_bench_pkt pkt = {
		.opcode = IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE,
		.ext = { 0x1f },
		.ext_len = 12,
	};

	qrdma_bench_post(b, 1, IB_WR_ATOMIC_FETCH_AND_ADD, 8);
	qrdma_bench_post(b, 2, IB_WR_ATOMIC_FETCH_AND_ADD, 8);
	qrdma_bench_sent(b);
	pkt.psn = (BENCH_PSN + 1) & 0xffffff;
	qrdma_bench_deliver(b, &pkt);
	EXPECT_DONE(b, "");
	EXPECT_SENT(b, "add:fffffd");
	pkt.psn = BENCH_PSN;
	put_unaligned_be64(0x1122334455667788, pkt.ext + 4);
	qrdma_bench_deliver(b, &pkt);
	EXPECT_DONE(b, "1 2");
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, 0x1122334455667788,
			get_unaligned((u64 *)b->mem));
}

/* What the peer has not seen is sent again, what it has answered is not. */
static void nak_behind_a_gap(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, BENCH_MTU);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	qrdma_bench_post(b, 3, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	qrdma_bench_aeth(b, 0x60, BENCH_PSN + 2);
	EXPECT_SENT(b, "read:fffffd@1000+256 send:ffffff!");
	/* Of what is known to have been carried out it cannot complain. */
	qrdma_bench_aeth(b, 0x60, BENCH_PSN + 1);
	EXPECT_SENT(b, "");
	answer(b, ONLY, 0);
	EXPECT_DONE(b, "1 2");
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 2);
	EXPECT_DONE(b, "3");
	EXPECT_SENT(b, "");
}

static void rnr_behind_a_gap(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, BENCH_MTU);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	qrdma_bench_aeth(b, 0x20, BENCH_PSN + 1);
	EXPECT_SENT(b, "read:fffffd@1000+256");
	answer(b, ONLY, 0);
	EXPECT_DONE(b, "1");
	EXPECT_SENT(b, "");
	qrdma_bench_time_out(b);
	EXPECT_SENT(b, "send:fffffe!");
}

/* As often as the peer gets further: a NAK that tells of that costs nothing. */
static void naks_behind_a_gap(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	int i;

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, BENCH_MTU);
	for (i = 0; i < 3 * BENCH_RETRY; i++)
		qrdma_bench_post(b, 2 + i, IB_WR_SEND, 0);
	for (i = 0; i < 3 * BENCH_RETRY; i++)
		qrdma_bench_aeth(b, 0x60, BENCH_PSN + 1 + i);
	EXPECT_DONE(b, "");
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_RTS);
}

/* A peer that is not ready for long does not keep the rest from being mended. */
static void rnr_and_lost_again(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	int i;

	b->qp.sq.rnr_retry = 7;
	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, BENCH_MTU);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	qrdma_bench_aeth(b, 0x20, BENCH_PSN + 1);
	qrdma_bench_sent(b);
	for (i = 0; i < 3; i++) {
		qrdma_bench_time_out(b);
		EXPECT_SENT(b, "read:fffffd@1000+256 send:fffffe!");
		qrdma_bench_aeth(b, 0x20, BENCH_PSN + 1);
		EXPECT_SENT(b, "");
	}
	answer(b, ONLY, 0);
	EXPECT_DONE(b, "1");
}

/* The READ is not what the peer is not ready for. */
static void rnr_at_its_end(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	int i;

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, BENCH_MTU);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	for (i = 0; i <= BENCH_RNR_RETRY; i++) {
		qrdma_bench_aeth(b, 0x20, BENCH_PSN + 1);
		qrdma_bench_time_out(b);
	}
	EXPECT_DONE(b, "");
	answer(b, ONLY, 0);
	EXPECT_DONE(b, "1");
	for (i = 0; i <= BENCH_RNR_RETRY; i++) {
		qrdma_bench_aeth(b, 0x20, BENCH_PSN + 1);
		qrdma_bench_time_out(b);
	}
	EXPECT_DONE(b, "2:rnr");
}

/* Of what was asked for again, one is lost again. */
static void lost_again(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, 6 * BENCH_MTU);
	qrdma_bench_sent(b);
	answer(b, FIRST, 0);
	answer(b, LAST, 5);
	EXPECT_SENT(b, "read:fffffe@1100+1024");
	answer(b, FIRST, 1);
	answer(b, MIDDLE, 3);
	EXPECT_SENT(b, "read:ffffff@1200+256");
	/* The end of the part that was asked for first. */
	answer(b, LAST, 4);
	EXPECT_SENT(b, "");
	answer(b, ONLY, 2);
	EXPECT_DONE(b, "1");
	EXPECT_SENT(b, "");
}

/* A READ that a time-out has had sent again is not asked for once more. */
static void sent_again_anyway(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_post(b, 2, IB_WR_RDMA_READ, 3 * BENCH_MTU);
	qrdma_bench_post(b, 3, IB_WR_SEND, 0);
	qrdma_bench_time_out(b);
	qrdma_bench_sent(b);
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 4);
	EXPECT_SENT(b, "read:fffffe@1000+768 send:000001!");
	answer(b, FIRST, 1);
	answer(b, MIDDLE, 2);
	EXPECT_SENT(b, "");
	answer(b, LAST, 3);
	EXPECT_DONE(b, "1 2 3");
}

/* A slow peer, as in probe_too_early() of the requester's tests. */
static void slow_and_out_of_turn(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, 3 * BENCH_MTU);
	qrdma_bench_post(b, 2, IB_WR_SEND, 600);
	qrdma_bench_time_out(b);
	qrdma_bench_sent(b);
	answer(b, MIDDLE, 1);
	answer(b, LAST, 2);
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 4);
	qrdma_bench_sent(b);
	answer(b, FIRST, 0);
	EXPECT_DONE(b, "1");
	/* The rest of the SEND is on its way. */
	EXPECT_SENT(b, "");
}

/* The request for what is missing was lost, or the answer to it. */
static void asked_in_vain(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, 4 * BENCH_MTU);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	answer(b, FIRST, 0);
	answer(b, LAST, 3);
	EXPECT_SENT(b, "read:fffffe@1100+512");
	qrdma_bench_time_out(b); /* something came since it was started */
	EXPECT_SENT(b, "");
	qrdma_bench_time_out(b);
	EXPECT_SENT(b, "read:fffffe@1100+512");
	/* Half of it. */
	answer(b, FIRST, 1);
	qrdma_bench_time_out(b);
	qrdma_bench_time_out(b);
	EXPECT_SENT(b, "read:ffffff@1200+256");
	answer(b, ONLY, 2);
	EXPECT_DONE(b, "1");
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 4);
	EXPECT_DONE(b, "2");
	KUNIT_EXPECT_EQ(test, 1,
			qrdma_bench_count(b, QRDMA_CNT_IMPLIED_NAK_SEQ_ERR));
}

/* In any order, with and without a neighbour before and behind. */
static void any_order(struct kunit *test)
{
	static const u8 order[] = { 6, 2, 4, 3, 7, 1, 5 };
	static const u8 spans[] = { 1, 2, 3, 2, 2, 2, 1 };
	struct qrdma_bench *b = open(test);
	int i;

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, 8 * BENCH_MTU);
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		answer(b, order[i] == 7 ? LAST : MIDDLE, order[i]);
		KUNIT_EXPECT_EQ_MSG(test, b->qp.sq.nr_spans, spans[i], "%d", i);
		/* Twice is once. */
		answer(b, order[i] == 7 ? LAST : MIDDLE, order[i]);
		KUNIT_EXPECT_EQ_MSG(test, b->qp.sq.nr_spans, spans[i], "%d", i);
	}
	EXPECT_DONE(b, "");
	answer(b, FIRST, 0);
	EXPECT_DONE(b, "1");
	KUNIT_EXPECT_EQ(test, b->qp.sq.nr_spans, 0);
}

/* More gaps than can be kept: what makes one more counts as lost. */
static void many_gaps(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	int i;

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, 32 * BENCH_MTU);
	qrdma_bench_post(b, 2, IB_WR_RDMA_READ, 3 * BENCH_MTU);
	for (i = 1; i < 32; i += 2)
		answer(b, i == 31 ? LAST : MIDDLE, i);
	answer(b, MIDDLE, 33);
	KUNIT_EXPECT_EQ(test, b->qp.sq.nr_spans, QRDMA_SPANS);
	/* One that grows finds room, and so does one when another is gone. */
	answer(b, FIRST, 32);
	answer(b, MIDDLE, 0);
	answer(b, LAST, 34);
	KUNIT_EXPECT_EQ(test, b->qp.sq.nr_spans, QRDMA_SPANS);
	qrdma_bench_sent(b);
	for (i = 2; i < 32; i += 2)
		answer(b, ONLY, i);
	EXPECT_DONE(b, "1");
	qrdma_bench_sent(b);
	answer(b, ONLY, 33);
	EXPECT_DONE(b, "2");
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_RTS);
}

/* Where it makes no sense, and is not the next one, it is as if lost. */
static void bad_behind_a_gap(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, 3 * BENCH_MTU);
	qrdma_bench_sent(b);
	qrdma_bench_response(b, MIDDLE, BENCH_PSN + 1, 252);
	EXPECT_DONE(b, "");
	KUNIT_EXPECT_EQ(test, b->qp.sq.nr_spans, 0);
	EXPECT_SENT(b, "read:fffffd@1000+256");
	answer(b, ONLY, 0);
	qrdma_bench_response(b, MIDDLE, BENCH_PSN + 1, 252);
	EXPECT_DONE(b, "1:response");
}

/* A queue that is flushed has nothing to ask for. */
static void ends_with_a_gap(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	qrdma_bench_post(b, 1, IB_WR_RDMA_READ, 3 * BENCH_MTU);
	answer(b, MIDDLE, 1);
	qrdma_bench_sent(b);
	KUNIT_EXPECT_EQ(test, 0, qrdma_modify_qp(&b->qp.ibqp, &attr,
						 IB_QP_STATE, NULL));
	qrdma_bench_work(b);
	EXPECT_DONE(b, "1:flushed");
	qrdma_bench_time_out(b);
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, b->qp.sq.nr_spans, 0);
	KUNIT_EXPECT_FALSE(test, qrdma_gap_open(&b->qp.sq));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(two_gaps),
	KUNIT_CASE(gap_across_requests),
	KUNIT_CASE(others_in_between),
	KUNIT_CASE(atomic_again),
	KUNIT_CASE(nak_behind_a_gap),
	KUNIT_CASE(rnr_behind_a_gap),
	KUNIT_CASE(naks_behind_a_gap),
	KUNIT_CASE(rnr_and_lost_again),
	KUNIT_CASE(rnr_at_its_end),
	KUNIT_CASE(lost_again),
	KUNIT_CASE(sent_again_anyway),
	KUNIT_CASE(slow_and_out_of_turn),
	KUNIT_CASE(asked_in_vain),
	KUNIT_CASE(any_order),
	KUNIT_CASE(many_gaps),
	KUNIT_CASE(bad_behind_a_gap),
	KUNIT_CASE(ends_with_a_gap),
	{}
};

static struct kunit_suite suite = {
	.name = "quarry_rdma_gap",
	.exit = qrdma_bench_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
