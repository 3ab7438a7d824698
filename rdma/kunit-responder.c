// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: what the responder answers, and what it does not do twice. IBTA
 * volume 1, 9.7.4 (requests), 9.7.5 (acknowledges); for acknowledges that
 * wait for company, respond.c.
 */
#include <linux/unaligned.h>
#include "kunit-bench.h"

static void acks_where_asked(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_post_recv(b, 1, 600);
	qrdma_bench_post_recv(b, 2, 0);
	qrdma_bench_request(b, SEND_FIRST, BENCH_PSN, 256, false);
	qrdma_bench_request(b, SEND_MIDDLE, BENCH_PSN + 1, 256, false);
	EXPECT_SENT(b, "");
	EXPECT_RECEIVED(b, "");
	qrdma_bench_request(b, SEND_LAST, BENCH_PSN + 2, 88, true);
	EXPECT_SENT(b, "ack:ffffff/1");
	EXPECT_RECEIVED(b, "1");
	/* In the midst of a message, none is complete. */
	qrdma_bench_request(b, SEND_ONLY, BENCH_PSN + 3, 0, false);
	EXPECT_SENT(b, "");
	EXPECT_RECEIVED(b, "2");
}

/* Of a batch, the last says it all: 9.7.5.1.2. */
static void acks_a_batch(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_begin(b);
	qrdma_bench_empty_write(b, BENCH_PSN);
	qrdma_bench_empty_write(b, BENCH_PSN + 1);
	qrdma_bench_empty_write(b, BENCH_PSN + 2);
	qrdma_bench_end(b);
	EXPECT_SENT(b, "ack:ffffff/3");
}

/* 9.7.4.1.2: a gap is told once, with the PSN that is missing. */
static void gap_is_told_once(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_empty_write(b, BENCH_PSN);
	EXPECT_SENT(b, "ack:fffffd/1");
	qrdma_bench_empty_write(b, BENCH_PSN + 2);
	EXPECT_SENT(b, "nak0:fffffe/1");
	qrdma_bench_empty_write(b, BENCH_PSN + 3);
	qrdma_bench_empty_write(b, BENCH_PSN + 4);
	EXPECT_SENT(b, "");
	qrdma_bench_empty_write(b, BENCH_PSN + 1);
	EXPECT_SENT(b, "ack:000001/5");
	/* A new gap is a new complaint. */
	qrdma_bench_empty_write(b, BENCH_PSN + 6);
	EXPECT_SENT(b, "nak0:000002/5");
}

/* The half of all numbers that follows is too early, the other is the past. */
static void gap_or_duplicate(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_empty_write(b, BENCH_PSN + 0x7fffff);
	EXPECT_SENT(b, "nak0:fffffd/0");
	qrdma_bench_empty_write(b, BENCH_PSN + 0x800000);
	EXPECT_SENT(b, "ack:fffffc/0");
}

/* 9.7.4.4: acknowledged again, and not carried out again. */
static void duplicate_send(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_post_recv(b, 1, 0);
	qrdma_bench_post_recv(b, 2, 0);
	qrdma_bench_request(b, SEND_ONLY, BENCH_PSN, 0, true);
	EXPECT_SENT(b, "ack:fffffd/1");
	EXPECT_RECEIVED(b, "1");
	qrdma_bench_request(b, SEND_ONLY, BENCH_PSN, 0, true);
	EXPECT_SENT(b, "ack:fffffd/1");
	EXPECT_RECEIVED(b, "");
	KUNIT_EXPECT_EQ(test, 1,
			qrdma_bench_count(b, QRDMA_CNT_DUPLICATE_REQUEST));
}

/* Whoever asks again is in doubt: the answer does not wait for company. */
static void duplicate_is_urgent(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);

	qrdma_bench_empty_write(b, BENCH_PSN);
	EXPECT_SENT(b, "");
	qrdma_bench_empty_write(b, BENCH_PSN);
	EXPECT_SENT(b, "ack:fffffd/1");
}

/* A READ is carried out again, for the part that is asked for. */
static void duplicate_read(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_rdma(b, READ_REQUEST, BENCH_PSN, 0, 600, 0);
	EXPECT_SENT(b, "resp-first:fffffd resp-middle:fffffe resp-last:ffffff");
	qrdma_bench_rdma(b, READ_REQUEST, BENCH_PSN + 1, 256, 344, 0);
	EXPECT_SENT(b, "resp-first:fffffe resp-last:ffffff");
	qrdma_bench_rdma(b, READ_REQUEST, BENCH_PSN + 2, 512, 88, 0);
	EXPECT_SENT(b, "resp:ffffff");
	/* More than was asked for then: 9.7.4.4 has it dropped. */
	qrdma_bench_rdma(b, READ_REQUEST, BENCH_PSN + 2, 512, 257, 0);
	EXPECT_SENT(b, "");
	qrdma_bench_empty_write(b, BENCH_PSN + 3);
	EXPECT_SENT(b, "ack:000000/2");
}

/*
 * In the midst of a WRITE: answered, and the WRITE goes on where it was, with
 * its own PSN acknowledged. Soft-RoCE once lost its place there.
 */
static void duplicate_read_within(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	memset(b->mem + 1024, 0, 600);
	qrdma_bench_rdma(b, READ_REQUEST, BENCH_PSN, 0, 100, 0);
	EXPECT_SENT(b, "resp:fffffd");
	qrdma_bench_rdma(b, WRITE_FIRST, BENCH_PSN + 1, 1024, 600, 256);
	EXPECT_SENT(b, "ack:fffffe/1");
	qrdma_bench_rdma(b, READ_REQUEST, BENCH_PSN, 0, 100, 0);
	EXPECT_SENT(b, "resp:fffffd");
	qrdma_bench_request(b, WRITE_MIDDLE, BENCH_PSN + 2, 256, false);
	qrdma_bench_rdma(b, READ_REQUEST, BENCH_PSN, 0, 100, 0);
	EXPECT_SENT(b, "resp:fffffd");
	qrdma_bench_request(b, WRITE_LAST, BENCH_PSN + 3, 88, true);
	EXPECT_SENT(b, "ack:000000/2");
	KUNIT_EXPECT_EQ(test, b->mem[1024 + 255], 255);
	KUNIT_EXPECT_EQ(test, b->mem[1024 + 511], 255);
	KUNIT_EXPECT_EQ(test, b->mem[1024 + 599], 87);
}

static void ask_for_two(struct qrdma_bench *b)
{
	b->on_send = NULL;
	qrdma_bench_sent(b);
	qrdma_bench_rdma(b, READ_REQUEST, BENCH_PSN + 2, 2 * BENCH_MTU,
			 2 * BENCH_MTU, 0);
}

/* A part is asked for again while the rest is still being answered. */
static void duplicate_read_meanwhile(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	b->on_send = ask_for_two;
	qrdma_bench_rdma(b, READ_REQUEST, BENCH_PSN, 0, BENCH_MEM, 0);
	EXPECT_SENT(b, "resp-first:ffffff resp-last:000000 resp-middle:00001b resp-last:00001c");
	KUNIT_EXPECT_EQ(test, b->qp.rq.out_tail, b->qp.rq.res_head);
	KUNIT_EXPECT_EQ(test, b->qp.rq.dups, 0);
}

static void fetch_add(struct qrdma_bench *b, u32 psn)
{
	struct qrdma_bench_pkt pkt = {
		.opcode = FETCH_ADD,
		.psn = psn & 0xffffff,
		.ext_len = 28,
	};

	put_unaligned_be64((uintptr_t)b->mem, pkt.ext);
	put_unaligned_be32(b->mr->rkey, pkt.ext + 8);
	put_unaligned_be64(1, pkt.ext + 12);
	qrdma_bench_deliver(b, &pkt);
}

/* An atomic is not: its result was kept, for as many as may be under way. */
static void duplicate_atomic(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);
	u64 *value = (u64 *)b->mem;
	int i;

	*value = 100;
	for (i = 0; i < BENCH_RD_ATOMIC + 1; i++)
		fetch_add(b, BENCH_PSN + i);
	EXPECT_SENT(b, "atomic:fffffd atomic:fffffe atomic:ffffff");
	KUNIT_EXPECT_EQ(test, *value, 103);
	fetch_add(b, BENCH_PSN + 1);
	fetch_add(b, BENCH_PSN + 2);
	EXPECT_SENT(b, "atomic:fffffe atomic:ffffff");
	KUNIT_EXPECT_EQ(test, *value, 103);
	/* One that the peer can have no question about any more. */
	fetch_add(b, BENCH_PSN);
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, *value, 103);
}

/* A19: nor is an atomic write. Its answer is that of an empty READ. */
static void duplicate_atomic_write(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);
	int i;

	memset(b->mem + 1024, 0x55, 16);
	qrdma_bench_rdma(b, ATOMIC_WRITE, BENCH_PSN, 1024, 8, 8);
	EXPECT_SENT(b, "resp:fffffd");
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, b->mem[1024 + i], i);
	KUNIT_EXPECT_EQ(test, b->mem[1024 + 8], 0x55);
	b->mem[1024] = 77;
	qrdma_bench_rdma(b, ATOMIC_WRITE, BENCH_PSN, 1024, 8, 8);
	EXPECT_SENT(b, "resp:fffffd");
	KUNIT_EXPECT_EQ(test, b->mem[1024], 77);
	qrdma_bench_empty_write(b, BENCH_PSN + 1);
	EXPECT_SENT(b, "ack:fffffe/2");
}

/* 9.7.5.2.8: come again; what is behind it is not complained of. */
static void receiver_not_ready(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_request(b, SEND_ONLY, BENCH_PSN, 0, true);
	EXPECT_SENT(b, "rnr12:fffffd/0");
	qrdma_bench_request(b, SEND_ONLY, BENCH_PSN + 1, 0, true);
	EXPECT_SENT(b, "");
	qrdma_bench_post_recv(b, 1, 0);
	qrdma_bench_request(b, SEND_ONLY, BENCH_PSN, 0, true);
	EXPECT_SENT(b, "ack:fffffd/1");
	EXPECT_RECEIVED(b, "1");
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_RTS);
}

/* Refused for good: the queue pair is in error, receives are flushed. */
static void expect_refused(struct qrdma_bench *b, const char *sent,
			   const char *received)
{
	EXPECT_SENT(b, sent);
	KUNIT_EXPECT_EQ(b->test, b->qp.state, IB_QPS_ERR);
	qrdma_bench_work(b);
	EXPECT_RECEIVED(b, received);
	EXPECT_SENT(b, "");
	/* Nothing is answered any more. */
	qrdma_bench_empty_write(b, BENCH_PSN);
	EXPECT_SENT(b, "");
}

static void refuse_opcode(struct kunit *test, u8 opcode)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_post_recv(b, 1, 256);
	qrdma_bench_empty_write(b, BENCH_PSN);
	EXPECT_SENT(b, "ack:fffffd/1");
	qrdma_bench_request(b, opcode, BENCH_PSN + 1, 0, true);
	expect_refused(b, "nak1:fffffe/1", "1:flushed");
}

/* 9.7.4.1.3: a message begins with its first packet. */
static void refused_middle_first(struct kunit *test)
{
	refuse_opcode(test, SEND_MIDDLE);
}

/* Reserved: 9.7.4.1. */
static void refused_reserved(struct kunit *test)
{
	refuse_opcode(test, 0x15);
}

/* Eight bytes, no more and no less, at an aligned address. */
static void refused_atomic_write(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_rdma(b, ATOMIC_WRITE, BENCH_PSN, 1024, 8, 4);
	expect_refused(b, "nak1:fffffd/0", "");
}

static void refused_atomic_write_at(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_rdma(b, ATOMIC_WRITE, BENCH_PSN, 1028, 8, 8);
	expect_refused(b, "nak1:fffffd/0", "");
}

/* It has to say what it is for. */
static void refused_flush(struct kunit *test)
{
	const struct qrdma_bench_pkt pkt = {
		.opcode = IB_OPCODE_RC_FLUSH,
		.psn = BENCH_PSN,
		.ack_req = true,
		.ext_len = 20,
	};
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_post_recv(b, 1, 256);
	qrdma_bench_deliver(b, &pkt);
	expect_refused(b, "nak1:fffffd/0", "1:flushed");
}

/* 9.7.4.1.3: a message is not interrupted by another. */
static void refused_interruption(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_post_recv(b, 1, 600);
	qrdma_bench_request(b, SEND_FIRST, BENCH_PSN, 256, false);
	qrdma_bench_request(b, WRITE_MIDDLE, BENCH_PSN + 1, 256, false);
	expect_refused(b, "nak1:fffffe/0", "1:flushed");
}

/* A reserved opcode within a message is none that continues it. */
static void refused_reserved_within(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_post_recv(b, 1, 600);
	qrdma_bench_request(b, SEND_FIRST, BENCH_PSN, 256, false);
	qrdma_bench_request(b, 0x18, BENCH_PSN + 1, 256, false);
	expect_refused(b, "nak1:fffffe/0", "1:flushed");
}

/* Packets before the last are full: 9.7.4.1.6. */
static void refused_short_first(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_post_recv(b, 1, 600);
	qrdma_bench_request(b, SEND_FIRST, BENCH_PSN, 252, false);
	expect_refused(b, "nak1:fffffd/0", "1:flushed");
}

/*
 * The QP fails within a list and is reset before the rest of it is taken: the
 * rest has no receive to go to.
 */
static void refused_after_reset(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);
	const struct qrdma_pkt pkt = {
		.op = &qrdma_opcodes[SEND_MIDDLE],
		.psn = (BENCH_PSN + 1) & 0xffffff,
		.payload = 256,
	};
	struct qrdma_notify nt = {};

	qrdma_bench_post_recv(b, 1, 300);
	qrdma_bench_request(b, SEND_FIRST, BENCH_PSN, 256, false);
	qrdma_bench_request(b, SEND_MIDDLE, BENCH_PSN + 1, 256, false);
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_ERR);
	WRITE_ONCE(b->qp.state, IB_QPS_RESET);
	spin_lock_bh(&b->qp.rq.lock);
	qrdma_rq_request(&b->qp, &pkt, &nt);
	spin_unlock_bh(&b->qp.rq.lock);
	EXPECT_RECEIVED(b, "1:length");
}

/* The length in the RETH is that of what comes. */
static void refused_wrong_length(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_rdma(b, WRITE_ONLY, BENCH_PSN, 0, 10, 9);
	expect_refused(b, "nak1:fffffd/0", "");
}

/* 9.7.4.1.5: a key that is not there. */
static void refused_key(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);
	struct qrdma_bench_pkt pkt = {
		.opcode = READ_REQUEST,
		.psn = BENCH_PSN,
		.ext_len = 16,
	};

	put_unaligned_be64((uintptr_t)b->mem, pkt.ext);
	put_unaligned_be32(b->mr->rkey ^ 1, pkt.ext + 8);
	put_unaligned_be32(1, pkt.ext + 12);
	qrdma_bench_deliver(b, &pkt);
	expect_refused(b, "nak2:fffffd/0", "");
}

/* 9.9.3: what the queue pair does not allow. */
static void refused_access(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	b->qp.rq.access = IB_ACCESS_REMOTE_READ;
	qrdma_bench_rdma(b, WRITE_ONLY, BENCH_PSN, 0, 4, 4);
	expect_refused(b, "nak1:fffffd/0", "");
}

/* A receive that is too small: the sender's mistake as much as ours. */
static void refused_long_send(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_post_recv(b, 1, 8);
	qrdma_bench_post_recv(b, 2, 8);
	qrdma_bench_request(b, SEND_ONLY, BENCH_PSN, 9, true);
	expect_refused(b, "nak1:fffffd/0", "1:length 2:flushed");
}

/* 9.7.7.1: more READs at a time than there are resources for. */
static void refused_reads(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);
	int i;

	qrdma_bench_begin(b);
	for (i = 0; i < BENCH_RD_ATOMIC + 1; i++)
		qrdma_bench_rdma(b, READ_REQUEST, BENCH_PSN + i, 0, 1, 0);
	qrdma_bench_end(b);
	expect_refused(b, "resp:fffffd resp:fffffe nak1:ffffff/2", "");
}

/* What cannot be built is built a little later, and nobody needs to ask. */
static void without_memory(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_memory(b, 0);
	qrdma_bench_rdma(b, READ_REQUEST, BENCH_PSN, 0, 600, 0);
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, b->ack_timer_starts, 1);
	KUNIT_EXPECT_EQ(test, b->ack_timer_ns, NSEC_PER_MSEC);
	qrdma_bench_ack_time_out(b);
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, b->ack_timer_starts, 2);
	qrdma_bench_memory_back(b);
	qrdma_bench_ack_time_out(b);
	EXPECT_SENT(b, "resp-first:fffffd resp-middle:fffffe resp-last:ffffff");
	KUNIT_EXPECT_EQ(test, b->ack_timer_starts, 2);
}

/* The same of an acknowledge, and of the complaint that ends the QP. */
static void nak_without_memory(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open_prompt(test);

	qrdma_bench_memory(b, 0);
	qrdma_bench_empty_write(b, BENCH_PSN);
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, b->ack_timer_starts, 1);
	qrdma_bench_memory_back(b);
	qrdma_bench_ack_time_out(b);
	EXPECT_SENT(b, "ack:fffffd/1");

	qrdma_bench_memory(b, 0);
	qrdma_bench_request(b, SEND_MIDDLE, BENCH_PSN + 1, 256, true);
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_ERR);
	qrdma_bench_memory_back(b);
	qrdma_bench_ack_time_out(b);
	EXPECT_SENT(b, "nak1:fffffe/1");
	qrdma_bench_ack_time_out(b);
	EXPECT_SENT(b, "");
}

static struct kunit_case responder_cases[] = {
	KUNIT_CASE(acks_where_asked),
	KUNIT_CASE(acks_a_batch),
	KUNIT_CASE(gap_is_told_once),
	KUNIT_CASE(gap_or_duplicate),
	KUNIT_CASE(duplicate_send),
	KUNIT_CASE(duplicate_is_urgent),
	KUNIT_CASE(duplicate_read),
	KUNIT_CASE(duplicate_read_within),
	KUNIT_CASE(duplicate_read_meanwhile),
	KUNIT_CASE(duplicate_atomic),
	KUNIT_CASE(duplicate_atomic_write),
	KUNIT_CASE(receiver_not_ready),
	KUNIT_CASE(without_memory),
	KUNIT_CASE(nak_without_memory),
	KUNIT_CASE(refused_middle_first),
	KUNIT_CASE(refused_reserved),
	KUNIT_CASE(refused_atomic_write),
	KUNIT_CASE(refused_atomic_write_at),
	KUNIT_CASE(refused_flush),
	KUNIT_CASE(refused_after_reset),
	KUNIT_CASE(refused_interruption),
	KUNIT_CASE(refused_reserved_within),
	KUNIT_CASE(refused_short_first),
	KUNIT_CASE(refused_wrong_length),
	KUNIT_CASE(refused_key),
	KUNIT_CASE(refused_access),
	KUNIT_CASE(refused_long_send),
	KUNIT_CASE(refused_reads),
	{}
};

static struct kunit_suite responder_suite = {
	.name = "quarry_rdma_responder",
	.exit = qrdma_bench_exit,
	.test_cases = responder_cases,
};

/* It waits for the requester, which takes it along behind its own packets. */
static void ack_goes_along(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);

	qrdma_bench_empty_write(b, BENCH_PSN);
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, b->ack_timer_starts, 1);
	KUNIT_EXPECT_EQ(test, b->ack_timer_ns, 500 * NSEC_PER_USEC);
	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	EXPECT_SENT(b, "send:fffffd! ack:fffffd/1");
	/* The timer finds nothing. */
	qrdma_bench_ack_time_out(b);
	EXPECT_SENT(b, "");
	/* And the next one waits again. */
	qrdma_bench_empty_write(b, BENCH_PSN + 1);
	EXPECT_SENT(b, "");
	qrdma_bench_post(b, 2, IB_WR_SEND, 0);
	EXPECT_SENT(b, "send:fffffe! ack:fffffe/2");
}

/* Where there is no memory for taking it along, it waits on. */
static void ack_without_memory(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);

	qrdma_bench_empty_write(b, BENCH_PSN);
	qrdma_bench_memory(b, 1);
	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_memory_back(b);
	EXPECT_SENT(b, "send:fffffd!");
	qrdma_bench_ack_time_out(b);
	EXPECT_SENT(b, "ack:fffffd/1");
}

/* So many writes whose acknowledge must be sent at once, then one's waits. */
static u32 prompt_ones(struct qrdma_bench *b, u32 *psn)
{
	u32 n = 0;

	for (;;) {
		qrdma_bench_empty_write(b, BENCH_PSN + (*psn)++);
		if (!*qrdma_bench_sent(b))
			return n;
		n++;
	}
}

/*
 * Those that wait in vain make the next ones not wait, twice as many each
 * time; one that is taken along, a few again.
 */
static void ack_in_vain(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);
	u32 psn = 0, last, n, i;

	KUNIT_EXPECT_EQ(test, prompt_ones(b, &psn), 0);
	for (i = 0, last = 0; i < 5; i++) {
		qrdma_bench_ack_time_out(b);
		KUNIT_EXPECT_STRNEQ(test, qrdma_bench_sent(b), "");
		n = prompt_ones(b, &psn);
		KUNIT_EXPECT_EQ_MSG(test, n, last ? 2 * last : 1, "%u", i);
		last = n;
	}
	KUNIT_EXPECT_EQ(test, last, 16);
	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_sent(b);
	KUNIT_EXPECT_EQ(test, prompt_ones(b, &psn), 0);
	qrdma_bench_ack_time_out(b);
	qrdma_bench_ack_time_out(b);
	qrdma_bench_sent(b);
	n = prompt_ones(b, &psn);
	KUNIT_EXPECT_GE(test, n, 1);
	KUNIT_EXPECT_LE(test, n, 8);
}

/* The number of those that do not wait has a limit. */
static void ack_penalty_limit(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);
	u32 i;

	for (i = 0; i < 20; i++) {
		b->qp.rq.ack_skip = 0;
		qrdma_bench_empty_write(b, BENCH_PSN + i);
		qrdma_bench_ack_time_out(b);
	}
	KUNIT_EXPECT_EQ(test, b->qp.rq.ack_skip, 4096);
}

/* One that came while the timer ran gets its whole time. */
static void ack_timer_again(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);

	qrdma_bench_empty_write(b, BENCH_PSN);
	qrdma_bench_empty_write(b, BENCH_PSN + 1);
	KUNIT_EXPECT_EQ(test, b->ack_timer_starts, 1);
	qrdma_bench_ack_time_out(b);
	EXPECT_SENT(b, "");
	KUNIT_EXPECT_EQ(test, b->ack_timer_starts, 2);
	qrdma_bench_ack_time_out(b);
	EXPECT_SENT(b, "ack:fffffe/2");
}

/* Not for more than 16 packets: the peer's window is not to run dry. */
static void ack_every_16(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);
	u32 i;

	for (i = 0; i < 15; i++)
		qrdma_bench_empty_write(b, BENCH_PSN + i);
	EXPECT_SENT(b, "");
	qrdma_bench_empty_write(b, BENCH_PSN + 15);
	EXPECT_SENT(b, "ack:00000c/16");
}

/* A complaint does not wait. */
static void ack_before_nak(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);

	qrdma_bench_empty_write(b, BENCH_PSN);
	EXPECT_SENT(b, "");
	qrdma_bench_empty_write(b, BENCH_PSN + 2);
	EXPECT_SENT(b, "nak0:fffffe/1");
	/* It said all that the acknowledge would have. */
	qrdma_bench_ack_time_out(b);
	EXPECT_SENT(b, "");
}

static struct kunit_case ack_cases[] = {
	KUNIT_CASE(ack_goes_along),
	KUNIT_CASE(ack_without_memory),
	KUNIT_CASE(ack_in_vain),
	KUNIT_CASE(ack_penalty_limit),
	KUNIT_CASE(ack_timer_again),
	KUNIT_CASE(ack_every_16),
	KUNIT_CASE(ack_before_nak),
	{}
};

static struct kunit_suite ack_suite = {
	.name = "quarry_rdma_ack_delay",
	.exit = qrdma_bench_exit,
	.test_cases = ack_cases,
};

kunit_test_suites(&responder_suite, &ack_suite);
