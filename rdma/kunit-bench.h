/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A queue pair on a bench, for KUnit tests of the engines: everything about
 * it is real but the wire, the clock and the work queue. What it sends is
 * kept, the packets of its peer are made here, timers expire when the test
 * says so. The texts that packets and completions are told in are made from
 * the bytes, by tables that the engines do not use.
 */
#ifndef QRDMA_KUNIT_BENCH_H
#define QRDMA_KUNIT_BENCH_H

#include <kunit/test.h>
#include "path.h"

/* What it starts with; sequence numbers wrap early. */
#define BENCH_MTU	256
#define BENCH_PSN	0xfffffd
#define BENCH_DQPN	0x123456
#define BENCH_VA	0x1000
#define BENCH_RKEY	0x22334455
#define BENCH_MEM	SZ_8K
#define BENCH_TIMEOUT	14	/* 67 ms */
#define BENCH_RETRY	2
#define BENCH_RNR_RETRY	1
#define BENCH_RNR_TIMER	12
#define BENCH_RD_ATOMIC	2

/* Opcodes of requests, by table 38. */
#define SEND_FIRST	0x00
#define SEND_MIDDLE	0x01
#define SEND_LAST	0x02
#define SEND_ONLY	0x04
#define WRITE_FIRST	0x06
#define WRITE_MIDDLE	0x07
#define WRITE_LAST	0x08
#define WRITE_ONLY	0x0a
#define READ_REQUEST	0x0c
#define FETCH_ADD	0x14
#define ATOMIC_WRITE	0x1d

struct qrdma_bench {
	struct kunit		*test;
	struct qrdma_dev	dev;
	struct net_device	ndev;
	struct ib_gid_attr	sgid;
	struct ib_pd		pd;
	struct qrdma_cq		scq, rcq;
	struct qrdma_qp		qp;
	struct ib_mr		*mr;	/* all of memory, for the peer */
	u8			*mem;	/* BENCH_MEM bytes, each its index */
	bool			created;

	struct sk_buff_head	sent;
	struct qrdma_rx		rx;
	bool			in_batch;
	u32			memory;	/* packets, see qrdma_bench_memory() */
	u32			works;	/* times the work was queued */
	u32			timer_starts, ack_timer_starts;
	u64			timer_ns, ack_timer_ns;	/* of the last start */
	/* Called when a list has been sent, the engine's locks not held. */
	void			(*on_send)(struct qrdma_bench *b);
	char			text[512];
};

/* A packet of the peer. */
struct qrdma_bench_pkt {
	u8	opcode;
	u8	flags;		/* of the BTH */
	u32	psn;
	bool	ack_req;
	u8	ext[QRDMA_MAX_HDR];	/* what follows the BTH */
	u32	ext_len;
	u32	payload;	/* bytes */
};

/* Open a queue pair in RTS; it is closed by qrdma_bench_exit(). */
struct qrdma_bench *qrdma_bench_open(struct kunit *test, u8 family,
				     enum ib_qp_type type);
void qrdma_bench_exit(struct kunit *test);
/*
 * A reliable one whose acknowledges have waited in vain: they do not wait again.
 */
struct qrdma_bench *qrdma_bench_open_prompt(struct kunit *test);

/* Post one, signalled, of @len bytes of the bench's memory. */
void qrdma_bench_post(struct qrdma_bench *b, u64 id, enum ib_wr_opcode opcode,
		      u32 len);
void qrdma_bench_post_recv(struct qrdma_bench *b, u64 id, u32 len);

/* Packets of the peer, one by one or, between begin and end, as a batch. */
void qrdma_bench_begin(struct qrdma_bench *b);
void qrdma_bench_end(struct qrdma_bench *b);
void qrdma_bench_deliver(struct qrdma_bench *b,
			 const struct qrdma_bench_pkt *pkt);
void qrdma_bench_aeth(struct qrdma_bench *b, u8 syndrome, u32 psn);
void qrdma_bench_request(struct qrdma_bench *b, u8 opcode, u32 psn,
			 u32 payload, bool ack_req);
void qrdma_bench_rdma(struct qrdma_bench *b, u8 opcode, u32 psn, u32 off,
		      u32 len, u32 payload);
/* A WRITE of no bytes, which needs no memory; asks for an answer. */
void qrdma_bench_empty_write(struct qrdma_bench *b, u32 psn);
void qrdma_bench_response(struct qrdma_bench *b, u8 opcode, u32 psn,
			  u32 payload);

void qrdma_bench_time_out(struct qrdma_bench *b);
void qrdma_bench_ack_time_out(struct qrdma_bench *b);
void qrdma_bench_work(struct qrdma_bench *b);
/* Memory for so many packets more, and then none. */
void qrdma_bench_memory(struct qrdma_bench *b, u32 packets);
/* For all again. */
void qrdma_bench_memory_back(struct qrdma_bench *b);

/*
 * What was sent since the last call, each packet as kind:psn with "!" where it
 * asks for an acknowledge; an answer as kind:psn/msn, a READ request with
 * @address+length. Valid until the next call of either.
 */
const char *qrdma_bench_sent(struct qrdma_bench *b);
/* The same for completions, as wr_id or wr_id:error. */
const char *qrdma_bench_done(struct qrdma_bench *b);
const char *qrdma_bench_received(struct qrdma_bench *b);
u64 qrdma_bench_count(struct qrdma_bench *b, enum qrdma_counter counter);

#define EXPECT_SENT(b, what) \
	KUNIT_EXPECT_STREQ((b)->test, qrdma_bench_sent(b), what)
#define EXPECT_DONE(b, what) \
	KUNIT_EXPECT_STREQ((b)->test, qrdma_bench_done(b), what)
#define EXPECT_RECEIVED(b, what) \
	KUNIT_EXPECT_STREQ((b)->test, qrdma_bench_received(b), what)

#endif
