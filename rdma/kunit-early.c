// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: requests that come before one that is missing, early.c, and what the
 * other side makes of a peer that keeps them, repair.c.
 */
#include "kunit-bench.h"

static u32 kept(struct qrdma_bench *b)
{
	return skb_queue_len(&b->qp.rq.early);
}

/* In whatever order they come, once each, with one answer for all. */
static void goes_on(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_empty_write(b, BENCH_PSN);
	EXPECT_SENT(b, "ack:fffffd/1");
	qrdma_bench_empty_write(b, BENCH_PSN + 4);
	EXPECT_SENT(b, "nak0:fffffe/1");
	qrdma_bench_empty_write(b, BENCH_PSN + 2);
	qrdma_bench_empty_write(b, BENCH_PSN + 3);
	qrdma_bench_empty_write(b, BENCH_PSN + 3);
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, kept(b), 3);
	qrdma_bench_empty_write(b, BENCH_PSN + 1);
	EXPECT_SENT(b, "ack:000001/5");
	KUNIT_EXPECT_EQ(test, kept(b), 0);
	qrdma_bench_empty_write(b, BENCH_PSN + 5);
	EXPECT_SENT(b, "ack:000002/6");
}

/* The next gap is told as soon as the one before it is closed. */
static void next_gap(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_empty_write(b, BENCH_PSN + 1);
	EXPECT_SENT(b, "nak0:fffffd/0");
	qrdma_bench_empty_write(b, BENCH_PSN + 3);
	EXPECT_SENT(b, "");
	qrdma_bench_empty_write(b, BENCH_PSN);
	EXPECT_SENT(b, "nak0:ffffff/2");
	qrdma_bench_empty_write(b, BENCH_PSN + 2);
	EXPECT_SENT(b, "ack:000000/4");
}

/* A peer that sends all again is not told of each that is on its way. */
static void peer_goes_back(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_empty_write(b, BENCH_PSN + 4);
	EXPECT_SENT(b, "nak0:fffffd/0");
	qrdma_bench_empty_write(b, BENCH_PSN);
	EXPECT_SENT(b, "ack:fffffd/1");
	qrdma_bench_empty_write(b, BENCH_PSN + 1);
	EXPECT_SENT(b, "ack:fffffe/2");
	qrdma_bench_empty_write(b, BENCH_PSN + 6);
	EXPECT_SENT(b, "nak0:ffffff/2");
	qrdma_bench_empty_write(b, BENCH_PSN + 2);
	EXPECT_SENT(b, "ack:ffffff/3");
	qrdma_bench_empty_write(b, BENCH_PSN + 3);
	EXPECT_SENT(b, "nak0:000002/5");
}

/* What was missing comes in the same batch: no complaint, it would be wrong. */
static void overtaken_in_a_batch(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_begin(b);
	qrdma_bench_empty_write(b, BENCH_PSN + 1);
	qrdma_bench_empty_write(b, BENCH_PSN);
	qrdma_bench_end(b);
	EXPECT_SENT(b, "ack:fffffe/2");
	/* The same of a second gap. */
	qrdma_bench_empty_write(b, BENCH_PSN + 5);
	qrdma_bench_empty_write(b, BENCH_PSN + 3);
	EXPECT_SENT(b, "nak0:ffffff/2");
	qrdma_bench_begin(b);
	qrdma_bench_empty_write(b, BENCH_PSN + 2);
	qrdma_bench_empty_write(b, BENCH_PSN + 4);
	qrdma_bench_end(b);
	EXPECT_SENT(b, "ack:000002/6");
}

/* The peer passes the gap again, and has not heard of it. */
static void told_again(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_empty_write(b, BENCH_PSN + 1);
	EXPECT_SENT(b, "nak0:fffffd/0");
	qrdma_bench_empty_write(b, BENCH_PSN + 2);
	qrdma_bench_empty_write(b, BENCH_PSN + 2);
	EXPECT_SENT(b, "");
	qrdma_bench_empty_write(b, BENCH_PSN + 1);
	EXPECT_SENT(b, "nak0:fffffd/0");
	KUNIT_EXPECT_EQ(test, kept(b), 2);
}

/* Two that say different things under one PSN: neither is believed. */
static void two_of_one_psn(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_request(b, SEND_ONLY, BENCH_PSN + 1, 8, false);
	/* Only that it asks for an answer: the same. */
	qrdma_bench_request(b, SEND_ONLY, BENCH_PSN + 1, 8, true);
	KUNIT_EXPECT_EQ(test, kept(b), 1);
	qrdma_bench_request(b, SEND_ONLY, BENCH_PSN + 1, 4, true);
	KUNIT_EXPECT_EQ(test, kept(b), 0);
}

/* Behind what was too far ahead to be kept is a gap as well. */
static void beyond_reach(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_empty_write(b, BENCH_PSN + 1);
	EXPECT_SENT(b, "nak0:fffffd/0");
	qrdma_bench_empty_write(b, BENCH_PSN + 300);
	KUNIT_EXPECT_EQ(test, kept(b), 1);
	qrdma_bench_empty_write(b, BENCH_PSN);
	EXPECT_SENT(b, "nak0:ffffff/2");
}

/* The parts of one message, the first of which come last. */
static void one_message(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_post_recv(b, 1, 600);
	qrdma_bench_post_recv(b, 2, 0);
	qrdma_bench_request(b, SEND_LAST, BENCH_PSN + 2, 88, true);
	qrdma_bench_request(b, SEND_ONLY, BENCH_PSN + 3, 0, false);
	qrdma_bench_request(b, SEND_MIDDLE, BENCH_PSN + 1, 256, false);
	EXPECT_SENT(b, "nak0:fffffd/0");
	EXPECT_RECEIVED(b, "");
	qrdma_bench_request(b, SEND_FIRST, BENCH_PSN, 256, false);
	EXPECT_SENT(b, "ack:000000/2");
	EXPECT_RECEIVED(b, "1 2");
}

/* A READ has its turn as well, and takes more PSNs than one. */
static void early_read(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_rdma(b, READ_REQUEST, BENCH_PSN + 1, 0, 512, 0);
	qrdma_bench_empty_write(b, BENCH_PSN + 3);
	EXPECT_SENT(b, "nak0:fffffd/0");
	qrdma_bench_empty_write(b, BENCH_PSN);
	EXPECT_SENT(b, "resp-first:fffffe resp-last:ffffff ack:000000/3");
	KUNIT_EXPECT_EQ(test, kept(b), 0);
}

/* What is refused ends it: the rest comes again, or the QP is in error. */
static void refused(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_request(b, SEND_ONLY, BENCH_PSN + 1, 0, true);
	qrdma_bench_request(b, SEND_ONLY, BENCH_PSN + 2, 0, true);
	EXPECT_SENT(b, "nak0:fffffd/0");
	qrdma_bench_post_recv(b, 1, 0);
	qrdma_bench_request(b, SEND_ONLY, BENCH_PSN, 0, true);
	EXPECT_RECEIVED(b, "1");
	EXPECT_SENT(b, "rnr12:fffffe/1");
	KUNIT_EXPECT_EQ(test, kept(b), 0);
	/* Nor is anything kept behind a request that has to wait. */
	qrdma_bench_request(b, SEND_ONLY, BENCH_PSN + 2, 0, true);
	KUNIT_EXPECT_EQ(test, kept(b), 0);
}

/* A kept packet that continues nothing is refused in its turn. */
static void bad_in_its_turn(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_request(b, SEND_MIDDLE, BENCH_PSN + 1, 256, true);
	qrdma_bench_empty_write(b, BENCH_PSN + 2);
	EXPECT_SENT(b, "nak0:fffffd/0");
	qrdma_bench_empty_write(b, BENCH_PSN);
	EXPECT_SENT(b, "nak1:fffffe/1");
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, kept(b), 0);
}

/* No further ahead than a requester may be. */
static void reach(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);
	u32 i;

	qrdma_bench_empty_write(b, BENCH_PSN + 256);
	KUNIT_EXPECT_EQ(test, kept(b), 0);
	for (i = 255; i; i--)
		qrdma_bench_empty_write(b, BENCH_PSN + i);
	KUNIT_EXPECT_EQ(test, kept(b), 255);
	EXPECT_SENT(b, "nak0:fffffd/0");
	qrdma_bench_empty_write(b, BENCH_PSN);
	EXPECT_SENT(b, "ack:0000fc/256");
}

/* What is kept goes with the QP's life. */
static void reset(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };

	qrdma_bench_empty_write(b, BENCH_PSN + 1);
	KUNIT_EXPECT_EQ(test, kept(b), 1);
	KUNIT_ASSERT_EQ(test, 0, qrdma_qp_ops.modify_qp(&b->qp.ibqp, &attr,
							IB_QP_STATE, NULL));
	KUNIT_EXPECT_EQ(test, kept(b), 0);
}

static struct kunit_case early_cases[] = {
	KUNIT_CASE(goes_on),
	KUNIT_CASE(next_gap),
	KUNIT_CASE(peer_goes_back),
	KUNIT_CASE(overtaken_in_a_batch),
	KUNIT_CASE(told_again),
	KUNIT_CASE(two_of_one_psn),
	KUNIT_CASE(beyond_reach),
	KUNIT_CASE(one_message),
	KUNIT_CASE(early_read),
	KUNIT_CASE(refused),
	KUNIT_CASE(bad_in_its_turn),
	KUNIT_CASE(reach),
	KUNIT_CASE(reset),
	{}
};

static struct kunit_suite early_suite = {
	.name = "quarry_rdma_early",
	.exit = qrdma_bench_exit,
	.test_cases = early_cases,
};

/* Four messages, and the peer misses the second; one packet is sent. */
static struct qrdma_bench *open_with_gap(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);
	int i;

	for (i = 1; i <= 4; i++)
		qrdma_bench_post(b, i, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	qrdma_bench_aeth(b, 0x60, BENCH_PSN + 1);
	EXPECT_DONE(b, "1");
	EXPECT_SENT(b, "send:fffffe!");
	return b;
}

/* The same with a peer that is known to keep what comes early. */
static struct qrdma_bench *open_keeping(struct kunit *test)
{
	struct qrdma_bench *b = open_with_gap(test);
	int i;

	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 3);
	EXPECT_DONE(b, "2 3 4");
	EXPECT_SENT(b, "");
	for (i = 5; i <= 8; i++)
		qrdma_bench_post(b, i, IB_WR_SEND, 0);
	EXPECT_SENT(b, "send:000001! send:000002! send:000003! send:000004!");
	qrdma_bench_aeth(b, 0x60, BENCH_PSN + 5);
	EXPECT_DONE(b, "5");
	EXPECT_SENT(b, "send:000002!");
	return b;
}

/* New packets do not wait for the answer. */
static void keeping(struct kunit *test)
{
	struct qrdma_bench *b = open_keeping(test);

	qrdma_bench_post(b, 9, IB_WR_SEND, 0);
	EXPECT_SENT(b, "send:000005!");
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 8);
	EXPECT_DONE(b, "6 7 8 9");
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, 2, qrdma_bench_count(b, QRDMA_CNT_RETRANSMITTED));
}

/* A second gap, further on. */
static void keeping_two_gaps(struct kunit *test)
{
	struct qrdma_bench *b = open_keeping(test);

	qrdma_bench_aeth(b, 0x60, BENCH_PSN + 7);
	EXPECT_DONE(b, "6 7");
	EXPECT_SENT(b, "send:000004!");
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 7);
	EXPECT_DONE(b, "8");
}

/* The next one is missing as well: all from there, not one for a round trip. */
static void keeping_in_a_row(struct kunit *test)
{
	struct qrdma_bench *b = open_keeping(test);

	qrdma_bench_aeth(b, 0x60, BENCH_PSN + 6);
	EXPECT_DONE(b, "6");
	EXPECT_SENT(b, "send:000003 send:000004!");
}

/* The same, told by an acknowledge of no more than the first of them. */
static void keeping_one_only(struct kunit *test)
{
	struct qrdma_bench *b = open_keeping(test);

	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 5);
	EXPECT_DONE(b, "6");
	EXPECT_SENT(b, "send:000003 send:000004!");
	/* It comes again, and says nothing new; and so the next. */
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 5);
	EXPECT_SENT(b, "");
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 6);
	EXPECT_DONE(b, "7");
	EXPECT_SENT(b, "");
}

/* The one packet was lost again: the timer sends it, and that is all. */
static void keeping_lost_again(struct kunit *test)
{
	struct qrdma_bench *b = open_keeping(test);

	qrdma_bench_time_out(b);
	qrdma_bench_time_out(b);
	EXPECT_SENT(b, "send:000002!");
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 7);
	EXPECT_DONE(b, "6 7 8");
	EXPECT_SENT(b, "");
}

/* No memory for it: the timer sends it. */
static void keeping_without_memory(struct kunit *test)
{
	struct qrdma_bench *b = open_with_gap(test);

	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 3);
	qrdma_bench_post(b, 5, IB_WR_SEND, 0);
	qrdma_bench_post(b, 6, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	qrdma_bench_memory(b, 0);
	qrdma_bench_aeth(b, 0x60, BENCH_PSN + 4);
	qrdma_bench_memory_back(b);
	EXPECT_SENT(b, "");
	qrdma_bench_time_out(b);
	EXPECT_SENT(b, "send:000001!");
}

/* It acknowledges no more than it was sent: all the rest, and the next time too. */
static void not_keeping(struct kunit *test)
{
	struct qrdma_bench *b = open_with_gap(test);
	int i;

	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 1);
	EXPECT_DONE(b, "2");
	EXPECT_SENT(b, "send:ffffff send:000000!");
	for (i = 0; i < 8; i++) {
		qrdma_bench_aeth(b, 0x60, BENCH_PSN + 2);
		EXPECT_SENT(b, "send:ffffff send:000000!");
		b->qp.sq.retries_left = BENCH_RETRY;
	}
	/* Now and then it is asked again. */
	qrdma_bench_aeth(b, 0x60, BENCH_PSN + 2);
	EXPECT_SENT(b, "send:ffffff!");
}

/* Of one packet behind the next it may have heard by chance: not convincing. */
static void not_convincing(struct kunit *test)
{
	struct qrdma_bench *b = open_with_gap(test);

	qrdma_bench_aeth(b, 0x60, BENCH_PSN + 2);
	EXPECT_DONE(b, "2");
	EXPECT_SENT(b, "send:ffffff send:000000!");
	KUNIT_EXPECT_FALSE(test, b->qp.sq.keeps);
}

/* The answer to a READ tells as well, and is not asked for again. */
static void told_by_read(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_post(b, 2, IB_WR_RDMA_READ, 512);
	qrdma_bench_post(b, 3, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	qrdma_bench_aeth(b, 0x60, BENCH_PSN);
	EXPECT_SENT(b, "send:fffffd!");
	qrdma_bench_begin(b);
	qrdma_bench_response(b, IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST,
			     BENCH_PSN + 1, 256);
	qrdma_bench_response(b, IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
			     BENCH_PSN + 2, 256);
	qrdma_bench_end(b);
	EXPECT_DONE(b, "1 2");
	EXPECT_SENT(b, "");
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 3);
	EXPECT_DONE(b, "3");
}

static struct kunit_case repair_cases[] = {
	KUNIT_CASE(keeping),
	KUNIT_CASE(keeping_two_gaps),
	KUNIT_CASE(keeping_in_a_row),
	KUNIT_CASE(keeping_one_only),
	KUNIT_CASE(keeping_lost_again),
	KUNIT_CASE(keeping_without_memory),
	KUNIT_CASE(not_keeping),
	KUNIT_CASE(not_convincing),
	KUNIT_CASE(told_by_read),
	{}
};

static struct kunit_suite repair_suite = {
	.name = "quarry_rdma_repair",
	.exit = qrdma_bench_exit,
	.test_cases = repair_cases,
};

kunit_test_suites(&early_suite, &repair_suite);
