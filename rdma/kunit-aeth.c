// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: what an acknowledge's syndrome is taken for. IBTA volume 1,
 * 9.7.5.2.1 and the tables of syndromes, NAK codes and RNR timers there.
 */
#include "kunit-bench.h"

/* 000: an acknowledge, whatever the credit count says. */
static void aeth_credits(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);
	u32 count;

	for (count = 0; count < 32; count++) {
		qrdma_bench_post(b, 1, IB_WR_SEND, 0);
		EXPECT_DONE(b, "");
		qrdma_bench_aeth(b, count, BENCH_PSN + count);
		EXPECT_DONE(b, "1");
	}
}

/* 001: not now. In microseconds. */
static const u32 rnr_timers[32] = {
	655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960,
	1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960,
	61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

static void aeth_rnr_timers(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);
	u32 code;

	b->qp.sq.rnr_retry = 7;
	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	EXPECT_SENT(b, "send:fffffd!");
	for (code = 0; code < 32; code++) {
		qrdma_bench_aeth(b, 0x20 | code, BENCH_PSN);
		KUNIT_EXPECT_EQ_MSG(test, b->timer_ns,
				    rnr_timers[code] * 1000ULL, "code %u",
				    code);
		EXPECT_SENT(b, "");
		qrdma_bench_time_out(b);
		EXPECT_SENT(b, "send:fffffd!");
	}
	EXPECT_DONE(b, "");
}

/* 011: a NAK. Sequence error: once more; the others end the queue pair. */
static void aeth_nak_sequence(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	qrdma_bench_aeth(b, 0x60, BENCH_PSN);
	EXPECT_SENT(b, "send:fffffd!");
	EXPECT_DONE(b, "");
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_RTS);
}

/* What is before the PSN has arrived, what is after it is flushed: 9.9.2. */
static void fatal_nak(struct kunit *test, u8 code, const char *done)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_post(b, 2, IB_WR_RDMA_WRITE, 600);
	qrdma_bench_post(b, 3, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	/* The second packet of the WRITE. */
	qrdma_bench_aeth(b, 0x60 | code, BENCH_PSN + 2);
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_ERR);
	EXPECT_DONE(b, done);
	EXPECT_SENT(b, "");
}

static void aeth_nak_invalid(struct kunit *test)
{
	fatal_nak(test, 1, "1 2:invalid 3:flushed");
}

static void aeth_nak_access(struct kunit *test)
{
	fatal_nak(test, 2, "1 2:access 3:flushed");
}

static void aeth_nak_operation(struct kunit *test)
{
	fatal_nak(test, 3, "1 2:operation 3:flushed");
}

/*
 * All others are reserved and say nothing: 010, anything with the upper bit,
 * and NAK codes from 4 (which is of reliable datagrams) on.
 */
static void aeth_reserved(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);
	u32 syndrome;

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	for (syndrome = 0x40; syndrome < 0x100; syndrome++) {
		if (syndrome >= 0x60 && syndrome <= 0x63)
			continue;
		qrdma_bench_aeth(b, syndrome, BENCH_PSN);
		/* As a NAK, 011 would still acknowledge what is before. */
		if (syndrome >> 5 != 3)
			qrdma_bench_aeth(b, syndrome, BENCH_PSN + 1);
	}
	EXPECT_DONE(b, "");
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_RTS);
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 1);
	EXPECT_DONE(b, "1 2");
}

/* Neither what is answered already nor what was never sent. */
static void aeth_stray(struct kunit *test)
{
	static const u32 strays[] = { -1, -100, 2, 3, 0x7fffff, 0x800000 };
	static const u8 syndromes[] = { 0x1f, 0x2c, 0x60, 0x61, 0x62, 0x63 };
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);
	int i, j;

	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	for (i = 0; i < ARRAY_SIZE(strays); i++)
		for (j = 0; j < ARRAY_SIZE(syndromes); j++)
			qrdma_bench_aeth(b, syndromes[j],
					 BENCH_PSN + strays[i]);
	EXPECT_DONE(b, "");
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_RTS);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(aeth_credits),
	KUNIT_CASE(aeth_rnr_timers),
	KUNIT_CASE(aeth_nak_sequence),
	KUNIT_CASE(aeth_nak_invalid),
	KUNIT_CASE(aeth_nak_access),
	KUNIT_CASE(aeth_nak_operation),
	KUNIT_CASE(aeth_reserved),
	KUNIT_CASE(aeth_stray),
	{}
};

static struct kunit_suite suite = {
	.name = "quarry_rdma_aeth",
	.exit = qrdma_bench_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
