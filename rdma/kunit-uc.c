// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: unreliable connections, and a send queue that ends in SQE. IBTA
 * volume 1, 9.8.2 (UC), 10.3.1.6 (SQE).
 */
#include "kunit-bench.h"

static struct qrdma_bench *open(struct kunit *test)
{
	return qrdma_bench_open(test, AF_INET, IB_QPT_UC);
}

/* Nobody answers: a message is complete when it is sent. */
static void complete_when_sent(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post(b, 1, IB_WR_SEND, 600);
	EXPECT_SENT(b, "uc-send-first:fffffd uc-send-middle:fffffe uc-send-last:ffffff");
	qrdma_bench_post(b, 2, IB_WR_RDMA_WRITE, 256);
	EXPECT_SENT(b, "uc-write:000000");
	EXPECT_DONE(b, "1 2");
	KUNIT_EXPECT_EQ(test, b->timer_starts, 0);
}

/* Any number is the right one for a message's first packet. */
static void first_packet_at_any_psn(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post_recv(b, 1, 512);
	qrdma_bench_post_recv(b, 2, 512);
	qrdma_bench_request(b, IB_OPCODE_UC_SEND_ONLY, 77, 256, false);
	EXPECT_RECEIVED(b, "1");
	qrdma_bench_request(b, IB_OPCODE_UC_SEND_ONLY, 5, 256, false);
	EXPECT_RECEIVED(b, "2");
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, 2,
			qrdma_bench_count(b, QRDMA_CNT_OUT_OF_SEQUENCE));
}

/* Its receive waits for the next message. */
static void gap_drops_the_message(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post_recv(b, 1, 1024);
	qrdma_bench_request(b, IB_OPCODE_UC_SEND_FIRST, BENCH_PSN, 256, false);
	qrdma_bench_request(b, IB_OPCODE_UC_SEND_LAST, BENCH_PSN + 2, 256,
			    false);
	EXPECT_RECEIVED(b, "");
	KUNIT_EXPECT_EQ(test, 1,
			qrdma_bench_count(b, QRDMA_CNT_RX_MSG_DROPPED));
	qrdma_bench_request(b, IB_OPCODE_UC_SEND_ONLY, BENCH_PSN + 3, 256,
			    false);
	EXPECT_RECEIVED(b, "1");
	EXPECT_SENT(b, "");
}

/* The next message begins before this one has ended. */
static void beginning_drops_the_message(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_post_recv(b, 1, 1024);
	qrdma_bench_request(b, IB_OPCODE_UC_SEND_FIRST, BENCH_PSN, 256, false);
	qrdma_bench_request(b, IB_OPCODE_UC_SEND_FIRST, BENCH_PSN + 1, 256,
			    false);
	qrdma_bench_request(b, IB_OPCODE_UC_SEND_LAST, BENCH_PSN + 2, 100,
			    false);
	EXPECT_RECEIVED(b, "1");
	KUNIT_EXPECT_EQ(test, 1,
			qrdma_bench_count(b, QRDMA_CNT_RX_MSG_DROPPED));
}

/* There is nobody to be told of it. */
static void no_receive_drops_the_message(struct kunit *test)
{
	struct qrdma_bench *b = open(test);

	qrdma_bench_request(b, IB_OPCODE_UC_SEND_ONLY, BENCH_PSN, 256, false);
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, 1,
			qrdma_bench_count(b, QRDMA_CNT_OUT_OF_BUFFER));
}

/* Somebody leaves SQE for RTS as soon as it is there. */
static void leave_sqe(struct qrdma_bench *b)
{
	KUNIT_EXPECT_EQ(b->test, b->qp.state, IB_QPS_SQE);
	WRITE_ONCE(b->qp.state, IB_QPS_RTS);
	b->on_send = NULL;
}

/*
 * A good one, one that fails and a good one, in one list, SQE being left before
 * the queue is flushed: the one that failed must be told as failed all the same.
 */
static void fail_and_leave(struct qrdma_bench *b, struct ib_send_wr *failing,
			   const char *done)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)b->mem,
		.length = 256,
		.lkey = QRDMA_LOCAL_DMA_LKEY,
	};
	struct ib_send_wr last = {
		.wr_id = 3,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ib_send_wr first = last;
	const struct ib_send_wr *bad;

	first.wr_id = 1;
	first.next = failing;
	failing->wr_id = 2;
	failing->send_flags = IB_SEND_SIGNALED;
	failing->next = &last;
	b->on_send = leave_sqe;
	KUNIT_ASSERT_EQ(b->test, 0, qrdma_post_send(&b->qp.ibqp, &first, &bad));
	KUNIT_EXPECT_PTR_EQ(b->test, b->on_send, NULL);
	EXPECT_SENT(b, "uc-send:fffffd");
	EXPECT_DONE(b, done);
	KUNIT_EXPECT_EQ(b->test, b->qp.state, IB_QPS_SQE);
}

static void sqe_left_after_a_message(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	struct ib_sge sge = {
		.addr = (uintptr_t)b->mem,
		.length = 256,
		.lkey = 0x77777777,
	};
	struct ib_send_wr failing = {
		.opcode = IB_WR_SEND,
		.sg_list = &sge,
		.num_sge = 1,
	};

	fail_and_leave(b, &failing, "1 2:protection 3:flushed");
}

static void sqe_left_after_an_invalidate(struct kunit *test)
{
	struct qrdma_bench *b = open(test);
	struct ib_send_wr failing = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = 0x77777777,
	};

	fail_and_leave(b, &failing, "1 2:bind 3:flushed");
}

static struct kunit_case cases[] = {
	KUNIT_CASE(complete_when_sent),
	KUNIT_CASE(first_packet_at_any_psn),
	KUNIT_CASE(gap_drops_the_message),
	KUNIT_CASE(beginning_drops_the_message),
	KUNIT_CASE(no_receive_drops_the_message),
	KUNIT_CASE(sqe_left_after_a_message),
	KUNIT_CASE(sqe_left_after_an_invalidate),
	{}
};

static struct kunit_suite suite = {
	.name = "quarry_rdma_uc",
	.exit = qrdma_bench_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
