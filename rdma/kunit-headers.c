// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: packets as they are sent, byte by byte. IBTA volume 1, 9.2 and 9.3,
 * for the transport headers, annex A17.3 for what is around them.
 */
#include <linux/unaligned.h>
#include "kunit-bench.h"
#include "net.h"

#define VA	0x0102030405060708ULL
#define IMM	0xcafe0001U
#define INV	0xdead0002U

/* The oldest packet sent, from its BTH on; NULL where there is none. */
static const u8 *first_bth(struct qrdma_bench *b)
{
	struct sk_buff *skb = skb_peek(&b->sent);

	return skb ? skb->data + qrdma_encap_len(b->qp.av.family ?: AF_INET) :
		     NULL;
}

/*
 * The oldest packet sent must begin so, and be so long from BTH to pad. The
 * receiver must take it for what was meant. It is dropped then.
 */
static void expect_bytes(struct qrdma_bench *b, const u8 *want, u32 len,
			 u32 payload)
{
	u32 off = qrdma_encap_len(b->qp.av.family ?: AF_INET);
	struct sk_buff *skb = __skb_dequeue(&b->sent);
	struct kunit *test = b->test;
	struct qrdma_pkt pkt;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_EQ(test, skb->len, off + len + ALIGN(payload, 4) + 4);
	KUNIT_EXPECT_MEMEQ(test, skb->data + off, want, len);
	if (payload)
		KUNIT_EXPECT_MEMEQ(test, skb->data + off + len, b->mem,
				   payload);

	pkt = (struct qrdma_pkt) {
		.skb = skb,
		.ip = skb->data,
		.family = b->qp.av.family,
		.bth_off = off,
		.len = skb->len - off,
	};
	KUNIT_EXPECT_TRUE(test, qrdma_pkt_parse(&pkt));
	KUNIT_EXPECT_EQ(test, pkt.opcode, want[0]);
	KUNIT_EXPECT_EQ(test, pkt.qpn, get_unaligned_be24(want + 5));
	KUNIT_EXPECT_EQ(test, pkt.psn, get_unaligned_be24(want + 9));
	KUNIT_EXPECT_EQ(test, pkt.ack_req, want[8] >> 7);
	KUNIT_EXPECT_EQ(test, pkt.solicited, want[1] >> 7);
	KUNIT_EXPECT_EQ(test, pkt.payload, payload);
	KUNIT_EXPECT_EQ(test, pkt.payload_off, off + len);
	kfree_skb(skb);
}

#define EXPECT_BYTES(b, payload, ...) do {				\
	static const u8 want_bytes[] = { __VA_ARGS__ };			\
									\
	expect_bytes(b, want_bytes, sizeof(want_bytes), payload);	\
} while (0)

/* One request, of @len bytes, with all its fields unlike one another. */
static void post(struct qrdma_bench *b, enum ib_wr_opcode opcode, u32 len,
		 int flags)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)b->mem,
		.length = len,
	};
	struct ib_rdma_wr wr = {
		.wr.opcode = opcode,
		.wr.send_flags = flags,
		.wr.sg_list = &sge,
		.wr.num_sge = !!len,
		.remote_addr = VA,
		.rkey = BENCH_RKEY,
	};
	const struct ib_send_wr *bad;

	if (opcode == IB_WR_SEND_WITH_INV)
		wr.wr.ex.invalidate_rkey = INV;
	else
		wr.wr.ex.imm_data = cpu_to_be32(IMM);
	KUNIT_ASSERT_EQ(b->test, 0,
			qrdma_post_send(&b->qp.ibqp, &wr.wr, &bad));
}

static void headers_send(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);

	post(b, IB_WR_SEND, 0, 0);
	EXPECT_BYTES(b, 0,
		     0x04, 0x40, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0x80, 0xff, 0xff, 0xfd);
	post(b, IB_WR_SEND, 1, IB_SEND_SOLICITED);
	EXPECT_BYTES(b, 1,
		     0x04, 0xf0, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0x80, 0xff, 0xff, 0xfe);
	post(b, IB_WR_SEND_WITH_IMM, 2, IB_SEND_SOLICITED);
	EXPECT_BYTES(b, 2,
		     0x05, 0xe0, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0x80, 0xff, 0xff, 0xff,
		     0xca, 0xfe, 0x00, 0x01);
	post(b, IB_WR_SEND_WITH_INV, 3, 0);
	EXPECT_BYTES(b, 3,
		     0x17, 0x50, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0x80, 0, 0, 0,
		     0xde, 0xad, 0x00, 0x02);
}

/* Solicited and immediate data come with the last packet. */
static void headers_message(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);

	post(b, IB_WR_SEND_WITH_INV, 513, IB_SEND_SOLICITED);
	EXPECT_BYTES(b, 256,
		     0x00, 0x40, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0, 0xff, 0xff, 0xfd);
	EXPECT_BYTES(b, 256,
		     0x01, 0x40, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0, 0xff, 0xff, 0xfe);
	EXPECT_BYTES(b, 1,
		     0x16, 0xf0, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0x80, 0xff, 0xff, 0xff,
		     0xde, 0xad, 0x00, 0x02);
	post(b, IB_WR_RDMA_WRITE_WITH_IMM, 512, IB_SEND_SOLICITED);
	EXPECT_BYTES(b, 256,
		     0x06, 0x40, 0xff, 0xff, 0, 0x12, 0x34, 0x56, 0, 0, 0, 0,
		     1, 2, 3, 4, 5, 6, 7, 8, 0x22, 0x33, 0x44, 0x55,
		     0, 0, 0x02, 0x00);
	EXPECT_BYTES(b, 256,
		     0x09, 0xc0, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0x80, 0, 0, 1,
		     0xca, 0xfe, 0x00, 0x01);
}

/* A WRITE without immediate data has no event to be solicited, 9.2.3. */
static void headers_rdma(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);

	post(b, IB_WR_RDMA_WRITE, 5, IB_SEND_SOLICITED);
	EXPECT_BYTES(b, 5,
		     0x0a, 0x70, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0x80, 0xff, 0xff, 0xfd,
		     1, 2, 3, 4, 5, 6, 7, 8, 0x22, 0x33, 0x44, 0x55,
		     0, 0, 0, 5);
	post(b, IB_WR_RDMA_WRITE_WITH_IMM, 4, 0);
	EXPECT_BYTES(b, 4,
		     0x0b, 0x40, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0x80, 0xff, 0xff, 0xfe,
		     1, 2, 3, 4, 5, 6, 7, 8, 0x22, 0x33, 0x44, 0x55,
		     0, 0, 0, 4,
		     0xca, 0xfe, 0x00, 0x01);
	post(b, IB_WR_RDMA_READ, 0x1234, 0);
	EXPECT_BYTES(b, 0,
		     0x0c, 0x40, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0, 0xff, 0xff, 0xff,
		     1, 2, 3, 4, 5, 6, 7, 8, 0x22, 0x33, 0x44, 0x55,
		     0, 0, 0x12, 0x34);
}

static void post_atomic(struct qrdma_bench *b, enum ib_wr_opcode opcode)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)b->mem,
		.length = 8,
	};
	const struct ib_atomic_wr wr = {
		.wr.opcode = opcode,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.remote_addr = VA,
		.compare_add = 0x1112131415161718ULL,
		.swap = 0x2122232425262728ULL,
		.rkey = BENCH_RKEY,
	};
	const struct ib_send_wr *bad;

	KUNIT_ASSERT_EQ(b->test, 0,
			qrdma_post_send(&b->qp.ibqp, &wr.wr, &bad));
}

/* 9.3.4: swap or add data, then compare data, which an add has none of. */
static void headers_atomic(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);

	post_atomic(b, IB_WR_ATOMIC_CMP_AND_SWP);
	EXPECT_BYTES(b, 0,
		     0x13, 0x40, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0, 0xff, 0xff, 0xfd,
		     1, 2, 3, 4, 5, 6, 7, 8, 0x22, 0x33, 0x44, 0x55,
		     0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
		     0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18);
	post_atomic(b, IB_WR_ATOMIC_FETCH_AND_ADD);
	EXPECT_BYTES(b, 0,
		     0x14, 0x40, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0, 0xff, 0xff, 0xfe,
		     1, 2, 3, 4, 5, 6, 7, 8, 0x22, 0x33, 0x44, 0x55,
		     0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
		     0, 0, 0, 0, 0, 0, 0, 0);
}

/* 9.3.5: the syndrome, then the number of messages that are complete. */
static void headers_answers(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);

	/* Credits are not limited: 11111. */
	b->qp.rq.ack_skip = 10;
	qrdma_bench_rdma(b, 0x0a, BENCH_PSN, 0, 0, 0);
	EXPECT_BYTES(b, 0,
		     0x11, 0x40, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0, 0xff, 0xff, 0xfd,
		     0x1f, 0, 0, 1);
	/* A READ of five bytes, then one of 600. */
	qrdma_bench_rdma(b, 0x0c, BENCH_PSN + 1, 0, 5, 0);
	EXPECT_BYTES(b, 5,
		     0x10, 0x70, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0, 0xff, 0xff, 0xfe,
		     0x1f, 0, 0, 2);
	qrdma_bench_rdma(b, 0x0c, BENCH_PSN + 2, 0, 600, 0);
	EXPECT_BYTES(b, 256,
		     0x0d, 0x40, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0, 0xff, 0xff, 0xff,
		     0x1f, 0, 0, 3);
	EXPECT_BYTES(b, 256,
		     0x0e, 0x40, 0xff, 0xff, 0, 0x12, 0x34, 0x56, 0, 0, 0, 0);
	EXPECT_BYTES(b, 88,
		     0x0f, 0x40, 0xff, 0xff, 0, 0x12, 0x34, 0x56, 0, 0, 0, 1,
		     0x1f, 0, 0, 3);
	/* No receive is posted: not now, timer 12. */
	qrdma_bench_request(b, 0x04, 2, 0, true);
	EXPECT_BYTES(b, 0,
		     0x11, 0x40, 0xff, 0xff, 0, 0x12, 0x34, 0x56, 0, 0, 0, 2,
		     0x20 | 12, 0, 0, 3);
}

/* 9.3.5.3: the value before. */
static void headers_atomic_answer(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);
	struct qrdma_bench_pkt pkt = {
		.opcode = 0x14,
		.psn = BENCH_PSN,
		.ext_len = 28,
	};

	put_unaligned(0x0807060504030201ULL, (u64 *)b->mem);
	put_unaligned_be64((uintptr_t)b->mem, pkt.ext);
	put_unaligned_be32(b->mr->rkey, pkt.ext + 8);
	put_unaligned_be64(0x10, pkt.ext + 12);
	qrdma_bench_deliver(b, &pkt);
	EXPECT_BYTES(b, 0,
		     0x12, 0x40, 0xff, 0xff, 0, 0x12, 0x34, 0x56,
		     0, 0xff, 0xff, 0xfd,
		     0x1f, 0, 0, 1,
		     8, 7, 6, 5, 4, 3, 2, 1);
	KUNIT_EXPECT_EQ(test, 0x0807060504030211ULL,
			get_unaligned((u64 *)b->mem));
}

/* 9.3.1: a queue key with the top bit set stands for the QP's own. */
static void headers_datagram(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_GSI);
	struct ib_sge sge = {
		.addr = (uintptr_t)b->mem,
		.length = 6,
	};
	struct qrdma_ah ah = {
		.ibah.pd = b->qp.ibqp.pd,
		.av = { .family = AF_INET, .hop_limit = 64 },
	};
	struct ib_ud_wr wr = {
		.wr.opcode = IB_WR_SEND_WITH_IMM,
		.wr.ex.imm_data = cpu_to_be32(IMM),
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.ah = &ah.ibah,
		.remote_qpn = 1,
		.remote_qkey = 0x01020304,
	};
	const struct ib_send_wr *bad;

	KUNIT_ASSERT_EQ(test, 0, qrdma_post_send(&b->qp.ibqp, &wr.wr, &bad));
	EXPECT_BYTES(b, 6,
		     0x65, 0x60, 0xff, 0xff, 0, 0, 0, 1, 0, 0xff, 0xff, 0xfd,
		     1, 2, 3, 4, 0, 0, 0, 1, 0xca, 0xfe, 0x00, 0x01);
	wr.wr.opcode = IB_WR_SEND;
	wr.remote_qkey = 0x80000000;
	KUNIT_ASSERT_EQ(test, 0, qrdma_post_send(&b->qp.ibqp, &wr.wr, &bad));
	EXPECT_BYTES(b, 6,
		     0x64, 0x60, 0xff, 0xff, 0, 0, 0, 1, 0, 0xff, 0xff, 0xfe,
		     0x80, 0x01, 0, 0, 0, 0, 0, 1);
}

/* UDP to port 4791, from one of RFC 6335's dynamic ports, no checksum. */
static void expect_udp(struct kunit *test, const u8 *udp, u32 len)
{
	KUNIT_EXPECT_GE(test, get_unaligned_be16(udp), 0xc000);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(udp + 2), 4791);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(udp + 4), len);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(udp + 6), 0);
}

static void headers_ipv4(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);
	const u8 *bth;
	const u8 *ip;

	post(b, IB_WR_SEND, 7, 0);
	bth = first_bth(b);
	KUNIT_ASSERT_NOT_NULL(test, bth);
	ip = bth - 28;
	KUNIT_EXPECT_EQ(test, ip[0], 0x45);
	/* IP, UDP, BTH, payload, pad, ICRC */
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(ip + 2),
			20 + 8 + 12 + 7 + 1 + 4);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(ip + 6), 0x4000); /* DF */
	KUNIT_EXPECT_EQ(test, ip[8], 64);
	KUNIT_EXPECT_EQ(test, ip[9], 17);
	KUNIT_EXPECT_TRUE(test, !ip_fast_csum(ip, 5));
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(ip + 12), 0x0a000001);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(ip + 16), 0x0a000002);
	expect_udp(test, ip + 20, 8 + 12 + 7 + 1 + 4);
	/* The pad is zero: 9.4.1. */
	KUNIT_EXPECT_EQ(test, bth[12 + 7], 0);
}

static void headers_ipv6(struct kunit *test)
{
	static const u8 addresses[32] = {
		[0] = 0xfd, [15] = 1, [16] = 0xfd, [31] = 2,
	};
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET6, IB_QPT_RC);
	const u8 *bth;
	const u8 *ip;

	post(b, IB_WR_SEND, 7, 0);
	bth = first_bth(b);
	KUNIT_ASSERT_NOT_NULL(test, bth);
	ip = bth - 48;
	KUNIT_EXPECT_EQ(test, ip[0], 0x60);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(ip + 4),
			8 + 12 + 7 + 1 + 4);
	KUNIT_EXPECT_EQ(test, ip[6], 17);
	KUNIT_EXPECT_EQ(test, ip[7], 64);
	KUNIT_EXPECT_MEMEQ(test, ip + 8, addresses, sizeof(addresses));
	expect_udp(test, ip + 40, 8 + 12 + 7 + 1 + 4);
	/* And the way back. */
	qrdma_bench_post(b, 1, IB_WR_SEND, 0);
	qrdma_bench_aeth(b, 0x1f, BENCH_PSN + 1);
	EXPECT_DONE(b, "1");
}

static struct kunit_case cases[] = {
	KUNIT_CASE(headers_send),
	KUNIT_CASE(headers_message),
	KUNIT_CASE(headers_rdma),
	KUNIT_CASE(headers_atomic),
	KUNIT_CASE(headers_answers),
	KUNIT_CASE(headers_atomic_answer),
	KUNIT_CASE(headers_datagram),
	KUNIT_CASE(headers_ipv4),
	KUNIT_CASE(headers_ipv6),
	{}
};

static struct kunit_suite suite = {
	.name = "quarry_rdma_headers",
	.exit = qrdma_bench_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
