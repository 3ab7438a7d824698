// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: sequence numbers, the table of opcodes, and what a received packet is
 * taken for. The expectations are those of IBTA volume 1: 9.7.2 (sequence
 * numbers), table 38 (opcodes), 9.2 (base transport header), 9.6 (packets
 * that are dropped without a word).
 */
#include <kunit/test.h>
#include <linux/unaligned.h>
#include "path.h"

static const u32 edges[] = {
	0, 1, 2, 0x7ffffe, 0x7fffff, 0x800000, 0x800001, 0xfffffe, 0xffffff,
};

/*
 * The half of all numbers that begins at @b is at or after it, the other half
 * before it: 9.7.2.
 */
static int distance(u32 a, u32 b)
{
	int d = (int)a - (int)b;

	if (d < 0)
		d += 1 << 24;
	return d < 1 << 23 ? d : d - (1 << 24);
}

static void psn_distance(struct kunit *test)
{
	int i, j;

	for (i = 0; i < ARRAY_SIZE(edges); i++)
		for (j = 0; j < ARRAY_SIZE(edges); j++)
			KUNIT_EXPECT_EQ_MSG(test,
					    distance(edges[i], edges[j]),
					    qrdma_psn_diff(edges[i], edges[j]),
					    "%06x from %06x", edges[i],
					    edges[j]);

	KUNIT_EXPECT_EQ(test, 1, qrdma_psn_diff(0, 0xffffff));
	KUNIT_EXPECT_EQ(test, -1, qrdma_psn_diff(0xffffff, 0));
	KUNIT_EXPECT_EQ(test, 0x7fffff, qrdma_psn_diff(0x7fffff, 0));
	KUNIT_EXPECT_EQ(test, -0x800000, qrdma_psn_diff(0x800000, 0));
	KUNIT_EXPECT_EQ(test, -0x800000, qrdma_psn_diff(0, 0x800000));
}

static void psn_sum(struct kunit *test)
{
	static const u32 steps[] = {
		0, 1, 2, 0x7fffff, 0x800000, 0xfffffe, 0xffffff,
	};
	int i, j;

	for (i = 0; i < ARRAY_SIZE(edges); i++)
		for (j = 0; j < ARRAY_SIZE(steps); j++) {
			u32 sum = qrdma_psn_add(edges[i], steps[j]);

			KUNIT_EXPECT_EQ(test, sum,
					((u64)edges[i] + steps[j]) % (1 << 24));
			/* And back, as far as half of the circle goes. */
			if (steps[j] < 1 << 23)
				KUNIT_EXPECT_EQ(test, (s32)steps[j],
						qrdma_psn_diff(sum, edges[i]));
		}
	/* One before: adding all ones. */
	KUNIT_EXPECT_EQ(test, 0xffffffU, qrdma_psn_add(0, QRDMA_PSN_MASK));
	KUNIT_EXPECT_EQ(test, 6U, qrdma_psn_add(7, QRDMA_PSN_MASK));
}

static struct kunit_case psn_cases[] = {
	KUNIT_CASE(psn_distance),
	KUNIT_CASE(psn_sum),
	{}
};

static struct kunit_suite psn_suite = {
	.name = "quarry_rdma_psn",
	.test_cases = psn_cases,
};

/* Table 38, as far as RC, UC and UD go, with the opcodes of annex A19. */
struct expected_opcode {
	u8	opcode;
	u32	what;		/* direction, operation, place in the message */
	u32	headers;	/* that follow the BTH */
	bool	payload;
};

#define REQ	QRDMA_OP_REQUEST
#define RSP	QRDMA_OP_RESPONSE
#define FIRST	QRDMA_OP_START
#define MIDDLE	0
#define LAST	QRDMA_OP_END
#define ONLY	(QRDMA_OP_START | QRDMA_OP_END)

static const struct expected_opcode table_38[] = {
	{ 0x00, REQ | QRDMA_OP_SEND | FIRST, 0, true },
	{ 0x01, REQ | QRDMA_OP_SEND | MIDDLE, 0, true },
	{ 0x02, REQ | QRDMA_OP_SEND | LAST, 0, true },
	{ 0x03, REQ | QRDMA_OP_SEND | LAST, QRDMA_OP_IMM, true },
	{ 0x04, REQ | QRDMA_OP_SEND | ONLY, 0, true },
	{ 0x05, REQ | QRDMA_OP_SEND | ONLY, QRDMA_OP_IMM, true },
	{ 0x06, REQ | QRDMA_OP_WRITE | FIRST, QRDMA_OP_RETH, true },
	{ 0x07, REQ | QRDMA_OP_WRITE | MIDDLE, 0, true },
	{ 0x08, REQ | QRDMA_OP_WRITE | LAST, 0, true },
	{ 0x09, REQ | QRDMA_OP_WRITE | LAST, QRDMA_OP_IMM, true },
	{ 0x0a, REQ | QRDMA_OP_WRITE | ONLY, QRDMA_OP_RETH, true },
	{ 0x0b, REQ | QRDMA_OP_WRITE | ONLY, QRDMA_OP_RETH | QRDMA_OP_IMM,
	  true },
	{ 0x0c, REQ | QRDMA_OP_READ | ONLY, QRDMA_OP_RETH, false },
	{ 0x0d, RSP | QRDMA_OP_READ | FIRST, QRDMA_OP_AETH, true },
	{ 0x0e, RSP | QRDMA_OP_READ | MIDDLE, 0, true },
	{ 0x0f, RSP | QRDMA_OP_READ | LAST, QRDMA_OP_AETH, true },
	{ 0x10, RSP | QRDMA_OP_READ | ONLY, QRDMA_OP_AETH, true },
	{ 0x11, RSP | QRDMA_OP_ACK | ONLY, QRDMA_OP_AETH, false },
	{ 0x12, RSP | QRDMA_OP_ATOMIC | ONLY, QRDMA_OP_AETH | QRDMA_OP_ATMACK,
	  false },
	{ 0x13, REQ | QRDMA_OP_ATOMIC | ONLY, QRDMA_OP_ATMETH, false },
	{ 0x14, REQ | QRDMA_OP_ATOMIC | ONLY, QRDMA_OP_ATMETH, false },
	{ 0x16, REQ | QRDMA_OP_SEND | LAST, QRDMA_OP_INV, true },
	{ 0x17, REQ | QRDMA_OP_SEND | ONLY, QRDMA_OP_INV, true },
	{ 0x1c, REQ | QRDMA_OP_FLUSH | ONLY, QRDMA_OP_RETH, false },
	{ 0x1d, REQ | QRDMA_OP_ATOMIC_WRITE | ONLY, QRDMA_OP_RETH, true },
	{ 0x20, REQ | QRDMA_OP_SEND | FIRST, 0, true },
	{ 0x21, REQ | QRDMA_OP_SEND | MIDDLE, 0, true },
	{ 0x22, REQ | QRDMA_OP_SEND | LAST, 0, true },
	{ 0x23, REQ | QRDMA_OP_SEND | LAST, QRDMA_OP_IMM, true },
	{ 0x24, REQ | QRDMA_OP_SEND | ONLY, 0, true },
	{ 0x25, REQ | QRDMA_OP_SEND | ONLY, QRDMA_OP_IMM, true },
	{ 0x26, REQ | QRDMA_OP_WRITE | FIRST, QRDMA_OP_RETH, true },
	{ 0x27, REQ | QRDMA_OP_WRITE | MIDDLE, 0, true },
	{ 0x28, REQ | QRDMA_OP_WRITE | LAST, 0, true },
	{ 0x29, REQ | QRDMA_OP_WRITE | LAST, QRDMA_OP_IMM, true },
	{ 0x2a, REQ | QRDMA_OP_WRITE | ONLY, QRDMA_OP_RETH, true },
	{ 0x2b, REQ | QRDMA_OP_WRITE | ONLY, QRDMA_OP_RETH | QRDMA_OP_IMM,
	  true },
	{ 0x64, REQ | QRDMA_OP_SEND | ONLY, QRDMA_OP_DETH, true },
	{ 0x65, REQ | QRDMA_OP_SEND | ONLY, QRDMA_OP_DETH | QRDMA_OP_IMM,
	  true },
};

/* Sizes of the extended headers, 9.3: in the order in which they stand. */
static const struct {
	u32 header;
	u32 size;
} ext_headers[] = {
	{ QRDMA_OP_DETH, 8 },
	{ QRDMA_OP_RETH, 16 },
	{ QRDMA_OP_ATMETH, 28 },
	{ QRDMA_OP_AETH, 4 },
	{ QRDMA_OP_ATMACK, 8 },
	{ QRDMA_OP_IMM, 4 },
	{ QRDMA_OP_INV, 4 },
};

static const struct expected_opcode *expected(unsigned int opcode)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(table_38); i++)
		if (table_38[i].opcode == opcode)
			return &table_38[i];
	return NULL;
}

static u32 headers_size(const struct expected_opcode *want)
{
	u32 size = 12;
	int i;

	/* The one whose FETH stands in front of all the others. */
	if (want && want->what & QRDMA_OP_FLUSH)
		size += 4;
	for (i = 0; want && i < ARRAY_SIZE(ext_headers); i++)
		if (want->headers & ext_headers[i].header)
			size += ext_headers[i].size;
	return size;
}

/* Of which there is one for each code point of the transport, 0x00 to 0x1f. */
static bool is_rc(unsigned int opcode)
{
	return opcode < 0x20;
}

static void opcode_known(struct kunit *test)
{
	unsigned int i, known = 0;

	for (i = 0; i < 256; i++) {
		bool named = qrdma_opcodes[i].name;

		KUNIT_EXPECT_EQ_MSG(test, named, !!expected(i), "%#04x", i);
		KUNIT_EXPECT_EQ_MSG(test, !!qrdma_opcodes[i].hdr_len,
				    named || is_rc(i), "%#04x", i);
		known += named;
	}
	KUNIT_EXPECT_EQ(test, known, 39);
}

static void opcode_flags(struct kunit *test)
{
	const struct qrdma_opcode *op;
	int i;

	for (i = 0; i < ARRAY_SIZE(table_38); i++) {
		const struct expected_opcode *want = &table_38[i];

		op = &qrdma_opcodes[want->opcode];
		KUNIT_EXPECT_EQ_MSG(test, op->flags,
				    want->what | want->headers |
				    (want->payload ? QRDMA_OP_PAYLOAD : 0),
				    "%#04x", want->opcode);
	}
}

/* Where each header stands, counted from the BTH. */
static void opcode_headers(struct kunit *test)
{
	const struct qrdma_opcode *op;
	int i, j;

	for (i = 0; i < ARRAY_SIZE(table_38); i++) {
		const struct expected_opcode *want = &table_38[i];
		u32 off = want->what & QRDMA_OP_FLUSH ? 16 : 12;

		op = &qrdma_opcodes[want->opcode];
		for (j = 0; j < ARRAY_SIZE(ext_headers); j++) {
			u32 header = ext_headers[j].header;

			if (!(want->headers & header))
				continue;
			if (header & (QRDMA_OP_IMM | QRDMA_OP_INV))
				KUNIT_EXPECT_EQ(test, op->imm, off);
			else if (header != QRDMA_OP_ATMACK)
				KUNIT_EXPECT_EQ(test, op->ext, off);
			off += ext_headers[j].size;
		}
		KUNIT_EXPECT_EQ_MSG(test, op->hdr_len, off, "%#04x",
				    want->opcode);
		KUNIT_EXPECT_LE(test, op->hdr_len, QRDMA_MAX_HDR);
	}
}

static struct kunit_case opcode_cases[] = {
	KUNIT_CASE(opcode_known),
	KUNIT_CASE(opcode_flags),
	KUNIT_CASE(opcode_headers),
	{}
};

static struct kunit_suite opcode_suite = {
	.name = "quarry_rdma_opcode",
	.test_cases = opcode_cases,
};

/* A packet from its BTH on; @skb is as long as the longest may be. */
struct parse_bench {
	struct sk_buff		*skb;
	u8			*bth;
	struct qrdma_pkt	pkt;
};

static int parse_init(struct kunit *test)
{
	struct parse_bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	if (!b)
		return -ENOMEM;
	test->priv = b;
	b->skb = alloc_skb(QRDMA_MAX_HDR + 4200, GFP_KERNEL);
	if (!b->skb)
		return -ENOMEM;
	b->bth = skb_put_zero(b->skb, QRDMA_MAX_HDR + 4200);
	put_unaligned_be16(0xffff, b->bth + 2);
	return 0;
}

static void parse_exit(struct kunit *test)
{
	struct parse_bench *b = test->priv;

	if (b)
		kfree_skb(b->skb);
}

/* Is it taken for a packet, with @len bytes from the BTH to the ICRC's end? */
static bool parses(struct parse_bench *b, u32 len)
{
	b->pkt = (struct qrdma_pkt) {
		.skb = b->skb,
		.family = AF_INET,
		.len = len,
	};
	return qrdma_pkt_parse(&b->pkt);
}

/*
 * Every opcode at every length about its headers' size, with every pad count.
 * A reserved opcode of RC is the responder's to refuse (9.7.4.1.4), any other
 * that is not known is nobody's.
 */
static void parse_lengths(struct kunit *test)
{
	struct parse_bench *b = test->priv;
	u32 opcode, pad, len, least;

	for (opcode = 0; opcode < 256; opcode++) {
		const struct expected_opcode *want = expected(opcode);

		b->bth[0] = opcode;
		for (pad = 0; pad < 4; pad++) {
			b->bth[1] = 0x40 | pad << 4;
			least = headers_size(want) + pad + 4;
			for (len = 0; len < 12 + 28 + 4 + 3 + 4 + 4; len++) {
				bool ok = (want || is_rc(opcode)) &&
					  len >= least &&
					  (!want || want->payload ||
					   len == least);

				KUNIT_EXPECT_EQ_MSG(test, ok, parses(b, len),
						    "%#04x pad %u length %u",
						    opcode, pad, len);
				if (ok && want)
					KUNIT_EXPECT_EQ(test, len - least,
							b->pkt.payload);
			}
		}
	}
}

static void parse_payload(struct kunit *test)
{
	struct parse_bench *b = test->priv;

	/* A SEND Only: no more than the largest path MTU, 4096. */
	b->bth[0] = 0x04;
	KUNIT_EXPECT_TRUE(test, parses(b, 12 + 4096 + 4));
	KUNIT_EXPECT_EQ(test, b->pkt.payload, 4096);
	KUNIT_EXPECT_EQ(test, b->pkt.payload_off, 12);
	KUNIT_EXPECT_FALSE(test, parses(b, 12 + 4097 + 4));
	b->bth[1] = 3 << 4;
	KUNIT_EXPECT_TRUE(test, parses(b, 12 + 4093 + 3 + 4));
	KUNIT_EXPECT_EQ(test, b->pkt.payload, 4093);
	KUNIT_EXPECT_TRUE(test, parses(b, 12 + 4096 + 3 + 4));
	KUNIT_EXPECT_FALSE(test, parses(b, 12 + 4097 + 3 + 4));

	/* A WRITE Only with immediate: after RETH and ImmDt. */
	b->bth[0] = 0x0b;
	b->bth[1] = 0;
	KUNIT_EXPECT_TRUE(test, parses(b, 12 + 16 + 4 + 100 + 4));
	KUNIT_EXPECT_EQ(test, b->pkt.payload, 100);
	KUNIT_EXPECT_EQ(test, b->pkt.payload_off, 32);
}

/* 9.2: byte by byte. */
static void parse_fields(struct kunit *test)
{
	static const u8 bth[12] = {
		0x04,			/* opcode */
		0x80 | 0x40 | 0x10,	/* SE, MigReq, pad 1, version 0 */
		0xff, 0xff,		/* P_Key */
		0xc0 | 0x3f,		/* FECN, BECN, reserved */
		0x12, 0x34, 0x56,	/* destination QP */
		0x80 | 0x7f,		/* AckReq, reserved */
		0xab, 0xcd, 0xef,	/* PSN */
	};
	struct parse_bench *b = test->priv;

	memcpy(b->bth, bth, sizeof(bth));
	KUNIT_ASSERT_TRUE(test, parses(b, 12 + 8 + 4));
	KUNIT_EXPECT_EQ(test, b->pkt.opcode, 4);
	KUNIT_EXPECT_PTR_EQ(test, b->pkt.op, &qrdma_opcodes[4]);
	KUNIT_EXPECT_EQ(test, b->pkt.qpn, 0x123456);
	KUNIT_EXPECT_EQ(test, b->pkt.psn, 0xabcdef);
	KUNIT_EXPECT_EQ(test, b->pkt.payload, 7);
	KUNIT_EXPECT_TRUE(test, b->pkt.solicited);
	KUNIT_EXPECT_TRUE(test, b->pkt.ack_req);
	KUNIT_EXPECT_TRUE(test, b->pkt.pkey_ok);

	memset(b->bth, 0, 12);
	KUNIT_ASSERT_TRUE(test, parses(b, 12 + 8 + 4));
	KUNIT_EXPECT_EQ(test, b->pkt.opcode, 0);
	KUNIT_EXPECT_EQ(test, b->pkt.qpn, 0);
	KUNIT_EXPECT_EQ(test, b->pkt.psn, 0);
	KUNIT_EXPECT_EQ(test, b->pkt.payload, 8);
	KUNIT_EXPECT_FALSE(test, b->pkt.solicited);
	KUNIT_EXPECT_FALSE(test, b->pkt.ack_req);
	KUNIT_EXPECT_FALSE(test, b->pkt.pkey_ok);
}

/* 9.6.1.2: version 0 only. 10.9.1: bit 15 of a P_Key is membership. */
static void parse_checks(struct kunit *test)
{
	static const struct {
		u16 pkey;
		bool ok;
	} pkeys[] = {
		{ 0xffff, true }, { 0x7fff, true }, { 0xfffe, false },
		{ 0x0000, false }, { 0x8000, false }, { 0xbfff, false },
	};
	struct parse_bench *b = test->priv;
	int i;

	for (i = 0; i < 16; i++) {
		b->bth[1] = 0x40 | i;
		KUNIT_EXPECT_EQ(test, parses(b, 16), !i);
	}
	b->bth[1] = 0;
	for (i = 0; i < ARRAY_SIZE(pkeys); i++) {
		put_unaligned_be16(pkeys[i].pkey, b->bth + 2);
		KUNIT_EXPECT_TRUE(test, parses(b, 16));
		KUNIT_EXPECT_EQ(test, b->pkt.pkey_ok, pkeys[i].ok);
	}
}

static struct kunit_case parse_cases[] = {
	KUNIT_CASE(parse_lengths),
	KUNIT_CASE(parse_payload),
	KUNIT_CASE(parse_fields),
	KUNIT_CASE(parse_checks),
	{}
};

static struct kunit_suite parse_suite = {
	.name = "quarry_rdma_parse",
	.init = parse_init,
	.exit = parse_exit,
	.test_cases = parse_cases,
};

kunit_test_suites(&psn_suite, &opcode_suite, &parse_suite);
