// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: what is checked of a command before anything is done for it. NVMe
 * base 2.0: 4.1.2 (SGLs), figures 94 and 95 (statuses); NVM command set 1.0:
 * 3.2 (LBA ranges); RDMA transport 1.0: keyed SGLs and data in the capsule.
 */
#include <linux/unaligned.h>
#include "kunit-bench.h"

/* Statuses, as the figures number them. */
#define SC_INVALID_OPCODE	0x01
#define SC_INVALID_FIELD	0x02
#define SC_INVALID_NS		0x0b
#define SC_SEQUENCE		0x0c
#define SC_SGL_LENGTH		0x0f
#define SC_SGL_TYPE		0x11
#define SC_SGL_OFFSET		0x16
#define SC_WRITE_PROTECTED	0x20
#define SC_LBA_RANGE		0x80
#define SC_ANA_LOSS		0x301
#define SC_ANA_INACCESSIBLE	0x302
#define SC_ANA_TRANSITION	0x303

#define OP_WRITE	0x01
#define OP_READ		0x02
#define OP_ZEROES	0x08
#define OP_DSM		0x09
#define OP_FABRICS	0x7f

/* Keyed; keyed, to be invalidated; at an offset in the capsule. */
#define KEYED		0x40
#define KEYED_INV	0x4f
#define CAPSULE		0x01

static struct qtgt_bench *open(struct kunit *test)
{
	struct qtgt_bench *b = qtgt_bench_open(test);

	qtgt_bench_connect(b);
	return b;
}

/* What is said to a command of I/O queue 1. */
static u16 check(struct qtgt_bench *b, struct nvme_command cmd, u32 capsule)
{
	return qtgt_bench_check(b, &b->io, &cmd, capsule);
}

static struct nvme_command in_capsule(u8 opcode, u32 blocks, u64 off, u32 len)
{
	struct nvme_command cmd = qtgt_bench_rw(opcode, 0, blocks);
	struct nvme_sgl_desc *sgl = &cmd.common.dptr.sgl;

	memset(sgl, 0, sizeof(*sgl));
	sgl->addr = cpu_to_le64(off);
	sgl->length = cpu_to_le32(len);
	sgl->type = CAPSULE;
	return cmd;
}

/* Every type with every subtype. */
static void sgl_types(struct kunit *test)
{
	struct qtgt_bench *b = open(test);
	int type;

	for (type = 0; type < 256; type++) {
		struct nvme_command cmd = in_capsule(OP_WRITE, 2, 0, 1024);
		u16 want = SC_SGL_TYPE;

		if (type == CAPSULE || type == KEYED || type == KEYED_INV)
			want = 0;
		if (type >> 4 == 4)
			cmd = qtgt_bench_rw(OP_WRITE, 0, 2);
		cmd.common.dptr.sgl.type = type;
		KUNIT_EXPECT_EQ_MSG(test, check(b, cmd, 1024), want,
				    "type %#04x", type);
	}
}

static void sgl_keyed(struct kunit *test)
{
	struct nvme_command cmd = qtgt_bench_rw(OP_READ, 0, 128);
	struct qtgt_bench *b = open(test);

	cmd = qtgt_bench_keyed(cmd, KEYED, 0x1122334455667788, 0x010000);
	KUNIT_EXPECT_EQ(test, check(b, cmd, 0), 0);
	KUNIT_EXPECT_EQ(test, b->req.sgl.addr, 0x1122334455667788);
	KUNIT_EXPECT_EQ(test, b->req.sgl.len, 0x010000);
	KUNIT_EXPECT_EQ(test, b->req.sgl.key, 0x01020304);
	KUNIT_EXPECT_FALSE(test, b->req.sgl.in_capsule);
	KUNIT_EXPECT_FALSE(test, b->req.sgl.invalidate);
	KUNIT_EXPECT_EQ(test, b->req.data_len, 0x010000);

	cmd.common.dptr.sgl.type = KEYED_INV;
	KUNIT_EXPECT_EQ(test, check(b, cmd, 0), 0);
	KUNIT_EXPECT_TRUE(test, b->req.sgl.invalidate);

	/* Data that nobody asked for may come along. */
	KUNIT_EXPECT_EQ(test, check(b, cmd, 4096), 0);
	KUNIT_EXPECT_FALSE(test, b->req.sgl.in_capsule);
}

/* As long as the command says, to the byte. */
static void sgl_keyed_length(struct kunit *test)
{
	static const struct {
		u32 blocks, len;
		u16 want;
	} rows[] = {
		{ 2, 1024, 0 },
		{ 2, 1023, SC_SGL_LENGTH },
		{ 2, 1025, SC_SGL_LENGTH },
		{ 2, 0, SC_SGL_LENGTH },
		{ 1, 512, 0 },
		/* What MDTS allows, 1 MiB, and beyond. */
		{ 2048, SZ_1M, 0 },
		{ 2049, SZ_1M + 512, SC_INVALID_FIELD },
		{ 65536, 0, SC_INVALID_FIELD },
		{ 2, 0xffffff, SC_INVALID_FIELD },
		{ 2, SZ_1M + 1, SC_INVALID_FIELD },
	};
	struct qtgt_bench *b = open(test);
	int i;

	b->ns.size = (loff_t)100000 << 9;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct nvme_command cmd = qtgt_bench_rw(OP_READ, 0,
							rows[i].blocks);

		cmd = qtgt_bench_keyed(cmd, KEYED, 0x1000, rows[i].len);
		KUNIT_EXPECT_EQ_MSG(test, check(b, cmd, 0), rows[i].want,
				    "%u blocks in %u bytes", rows[i].blocks,
				    rows[i].len);
	}
}

/* The end of the address space is not wrapped around. */
static void sgl_keyed_wraps(struct kunit *test)
{
	struct nvme_command cmd = qtgt_bench_rw(OP_READ, 0, 2);
	struct qtgt_bench *b = open(test);

	cmd = qtgt_bench_keyed(cmd, KEYED, U64_MAX - 1024, 1024);
	KUNIT_EXPECT_EQ(test, check(b, cmd, 0), 0);
	cmd = qtgt_bench_keyed(cmd, KEYED, U64_MAX - 1022, 1024);
	KUNIT_EXPECT_EQ(test, check(b, cmd, 0), SC_SGL_OFFSET);
	cmd = qtgt_bench_keyed(cmd, KEYED, U64_MAX, 1024);
	KUNIT_EXPECT_EQ(test, check(b, cmd, 0), SC_SGL_OFFSET);
}

/* Offset, length, bytes that came, and what is said to a Write of 1024. */
static void sgl_capsule(struct kunit *test)
{
	static const struct {
		u64 off;
		u32 len, capsule;
		u16 want;
	} rows[] = {
		{ 0, 1024, 1024, 0 },
		{ 0, 1024, 4096, 0 },
		{ 512, 1024, 1536, 0 },
		{ 1, 1024, 1025, 0 },
		{ 0, 1024, 1023, SC_SGL_LENGTH },
		{ 0, 1024, 0, SC_SGL_LENGTH },
		{ 512, 1024, 1535, SC_SGL_LENGTH },
		{ 1024, 1024, 1024, SC_SGL_LENGTH },
		{ 1025, 1024, 1024, SC_SGL_OFFSET },
		{ U64_MAX, 1024, 4096, SC_SGL_OFFSET },
		{ U64_MAX - 1023, 1024, 4096, SC_SGL_OFFSET },
		{ 1ULL << 32, 1024, 4096, SC_SGL_OFFSET },
		{ 0, U32_MAX, 4096, SC_SGL_LENGTH },
		{ 512, U32_MAX, 1536, SC_SGL_LENGTH },
		{ 0, 512, 4096, SC_SGL_LENGTH },
		{ 0, 1025, 4096, SC_SGL_LENGTH },
		{ 0, 0, 4096, SC_SGL_LENGTH },
	};
	struct qtgt_bench *b = open(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct nvme_command cmd = in_capsule(OP_WRITE, 2, rows[i].off,
						     rows[i].len);

		KUNIT_EXPECT_EQ_MSG(test, check(b, cmd, rows[i].capsule),
				    rows[i].want, "offset %#llx length %#x",
				    rows[i].off, rows[i].len);
		if (rows[i].want)
			continue;
		KUNIT_EXPECT_TRUE(test, b->req.sgl.in_capsule);
		KUNIT_EXPECT_FALSE(test, b->req.sgl.invalidate);
		KUNIT_EXPECT_EQ(test, b->req.sgl.addr, rows[i].off);
		KUNIT_EXPECT_EQ(test, b->req.sgl.len, rows[i].len);
	}
	/* Never back. */
	KUNIT_EXPECT_EQ(test, check(b, in_capsule(OP_READ, 2, 0, 1024), 1024),
			SC_INVALID_FIELD);
}

/* No data, told in either way, and some where there must be none. */
static void sgl_none(struct kunit *test)
{
	struct nvme_command keyed = qtgt_bench_rw(OP_ZEROES, 0, 2);
	struct qtgt_bench *b = open(test);

	KUNIT_EXPECT_EQ(test, check(b, keyed, 0), SC_SGL_LENGTH);
	keyed = qtgt_bench_keyed(keyed, KEYED, 0, 0);
	KUNIT_EXPECT_EQ(test, check(b, keyed, 0), 0);
	KUNIT_EXPECT_EQ(test, b->req.sgl.len, 0);
	KUNIT_EXPECT_EQ(test, check(b, in_capsule(OP_ZEROES, 2, 0, 0), 0), 0);
	/* A capsule brings data to the controller, for what takes some. */
	KUNIT_EXPECT_EQ(test, check(b, in_capsule(OP_ZEROES, 2, 0, 1), 1),
			SC_INVALID_FIELD);
}

/* Of Dataset Management, at least the ranges that it has. */
static void sgl_ranges(struct kunit *test)
{
	static const struct {
		u32 nr, len;
		u16 want;
	} rows[] = {
		{ 1, 16, 0 }, { 1, 15, SC_SGL_LENGTH }, { 1, 4096, 0 },
		{ 256, 4096, 0 }, { 256, 4095, SC_SGL_LENGTH },
		{ 2, 16, SC_SGL_LENGTH }, { 1, 0, SC_SGL_LENGTH },
	};
	struct qtgt_bench *b = open(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct nvme_command cmd = qtgt_bench_rw(OP_DSM, 0, 1);

		cmd.dsm.nr = cpu_to_le32(rows[i].nr - 1);
		cmd.dsm.attributes = 0;
		cmd = qtgt_bench_keyed(cmd, KEYED, 0, rows[i].len);
		KUNIT_EXPECT_EQ_MSG(test, check(b, cmd, 0), rows[i].want,
				    "%u ranges in %u bytes", rows[i].nr,
				    rows[i].len);
	}
}

/* 3.3.3.1 of the base: PRPs are not for fabrics, nor are fused commands here. */
static void command_flags(struct kunit *test)
{
	struct qtgt_bench *b = open(test);
	int flags;

	for (flags = 0; flags < 256; flags++) {
		struct nvme_command cmd = qtgt_bench_rw(OP_READ, 0, 1);
		bool ok = flags >> 6 == 1 && !(flags & 3);

		cmd.common.flags = flags;
		KUNIT_EXPECT_EQ_MSG(test, check(b, cmd, 0),
				    ok ? 0 : SC_INVALID_FIELD, "flags %#04x",
				    flags);
	}
}

/* First block and number of blocks, on 1000 blocks. */
static void lba_ranges(struct kunit *test)
{
	static const struct {
		u64 slba;
		u32 blocks;
		bool ok;
	} rows[] = {
		{ 0, 1, true }, { 0, 1000, true }, { 0, 1001, false },
		{ 999, 1, true }, { 999, 2, false }, { 1000, 1, false },
		{ 1001, 1, false }, { 500, 500, true }, { 500, 501, false },
		{ U64_MAX, 1, false }, { U64_MAX, 2, false },
		{ U64_MAX - 1, 1, false }, { U64_MAX - 1, 2, false },
		{ U64_MAX - 999, 1000, false }, { 1ULL << 55, 1, false },
		{ (1ULL << 55) + 1, 1, false }, { 1ULL << 32, 1, false },
	};
	static const u8 opcodes[] = { OP_READ, OP_WRITE, OP_ZEROES };
	struct qtgt_bench *b = open(test);
	int i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (j = 0; j < ARRAY_SIZE(opcodes); j++) {
			struct nvme_command cmd =
				qtgt_bench_rw(opcodes[j], rows[i].slba,
					      rows[i].blocks);

			if (opcodes[j] == OP_ZEROES)
				cmd = qtgt_bench_keyed(cmd, KEYED, 0, 0);
			KUNIT_EXPECT_EQ_MSG(test, check(b, cmd, 0),
					    rows[i].ok ? 0 : SC_LBA_RANGE,
					    "opcode %#x: %u at %#llx",
					    opcodes[j], rows[i].blocks,
					    rows[i].slba);
		}
}

/* A Write Zeroes has no data, so MDTS is no limit to it. */
static void lba_zeroes(struct kunit *test)
{
	struct nvme_command cmd = qtgt_bench_rw(OP_ZEROES, 0, 65536);
	struct qtgt_bench *b = open(test);

	cmd = qtgt_bench_keyed(cmd, KEYED, 0, 0);
	b->ns.size = 65536LL << 9;
	KUNIT_EXPECT_EQ(test, check(b, cmd, 0), 0);
	b->ns.size = 65535LL << 9;
	KUNIT_EXPECT_EQ(test, check(b, cmd, 0), SC_LBA_RANGE);
}

/* Blocks of 4096 bytes; what is left over at the end is no block. */
static void lba_large_blocks(struct kunit *test)
{
	struct nvme_command cmd = qtgt_bench_rw(OP_READ, 9, 1);
	struct qtgt_bench *b = open(test);

	b->ns.blksize_shift = 12;
	b->ns.size = 10 * 4096 + 4095;
	cmd = qtgt_bench_keyed(cmd, KEYED, 0, 4096);
	KUNIT_EXPECT_EQ(test, check(b, cmd, 0), 0);
	cmd.rw.slba = cpu_to_le64(10);
	KUNIT_EXPECT_EQ(test, check(b, cmd, 0), SC_LBA_RANGE);
	/* 256 of them are the most that MDTS allows. */
	b->ns.size = 4096 << 12;
	cmd = qtgt_bench_rw(OP_READ, 0, 256);
	cmd = qtgt_bench_keyed(cmd, KEYED, 0, SZ_1M);
	KUNIT_EXPECT_EQ(test, check(b, cmd, 0), 0);
	cmd = qtgt_bench_rw(OP_READ, 0, 257);
	cmd = qtgt_bench_keyed(cmd, KEYED, 0, SZ_1M + 4096);
	KUNIT_EXPECT_EQ(test, check(b, cmd, 0), SC_INVALID_FIELD);
}

static void namespace_ids(struct kunit *test)
{
	static const u32 wrong[] = { 0, 2, 0x100, 0xfffffffe, 0xffffffff };
	struct nvme_command cmd = qtgt_bench_rw(OP_READ, 0, 1);
	struct qtgt_bench *b = open(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		cmd.rw.nsid = cpu_to_le32(wrong[i]);
		KUNIT_EXPECT_EQ_MSG(test, check(b, cmd, 0), SC_INVALID_NS,
				    "%#x", wrong[i]);
	}
}

static void namespace_read_only(struct kunit *test)
{
	struct nvme_command zeroes = qtgt_bench_rw(OP_ZEROES, 0, 1);
	struct qtgt_bench *b = open(test);

	b->ns.readonly = true;
	zeroes = qtgt_bench_keyed(zeroes, KEYED, 0, 0);
	KUNIT_EXPECT_EQ(test, check(b, qtgt_bench_rw(OP_READ, 0, 1), 0), 0);
	KUNIT_EXPECT_EQ(test, check(b, qtgt_bench_rw(OP_WRITE, 0, 1), 0),
			SC_WRITE_PROTECTED);
	KUNIT_EXPECT_EQ(test, check(b, zeroes, 0), SC_WRITE_PROTECTED);
}

static void namespace_ana(struct kunit *test)
{
	static const struct {
		u8 state;
		u16 want;
	} rows[] = {
		{ NVME_ANA_OPTIMIZED, 0 },
		{ NVME_ANA_NONOPTIMIZED, 0 },
		{ NVME_ANA_INACCESSIBLE, SC_ANA_INACCESSIBLE },
		{ NVME_ANA_PERSISTENT_LOSS, SC_ANA_LOSS },
		{ NVME_ANA_CHANGE, SC_ANA_TRANSITION },
	};
	struct qtgt_bench *b = open(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		b->port.ana_state[1] = rows[i].state;
		KUNIT_EXPECT_EQ(test, rows[i].want,
				check(b, qtgt_bench_rw(OP_READ, 0, 1), 0));
	}
}

/* Every opcode of an I/O queue but Flush, which asks the block device. */
static void io_opcodes(struct kunit *test)
{
	struct qtgt_bench *b = open(test);
	int opcode;

	for (opcode = 1; opcode < 256; opcode++) {
		struct nvme_command cmd = qtgt_bench_rw(opcode, 0, 1);
		u16 want = SC_INVALID_OPCODE;

		switch (opcode) {
		case OP_FABRICS:
			continue;
		case OP_READ:
		case OP_WRITE:
			want = 0;
			break;
		case OP_DSM:
			cmd.dsm.nr = 0;
			cmd.dsm.attributes = 0;
			want = 0;
			break;
		case OP_ZEROES:
			cmd = qtgt_bench_keyed(cmd, KEYED, 0, 0);
			want = 0;
			break;
		}
		KUNIT_EXPECT_EQ_MSG(test, check(b, cmd, 0), want,
				    "opcode %#04x", opcode);
	}
}

/* Base 5.16.1.2: what the log of errors tells of a command. */
static void error_log(struct kunit *test)
{
	struct nvme_command cmd = qtgt_bench_rw(OP_READ, 1000, 1);
	struct qtgt_bench *b = open(test);
	struct qtgt_ctrl *ctrl = b->io.ctrl;
	const struct nvme_error_slot *slot;
	u16 status;

	KUNIT_EXPECT_EQ(test, check(b, cmd, 0), SC_LBA_RANGE);
	/* Do Not Retry, and More: the log has it. */
	status = le16_to_cpu(b->cqe.status) >> 1;
	KUNIT_EXPECT_EQ(test, status, 0x4000 | 0x2000 | SC_LBA_RANGE);
	KUNIT_EXPECT_EQ(test, ctrl->error_count, 1);
	slot = &ctrl->errors[1];
	KUNIT_EXPECT_EQ(test, le64_to_cpu(slot->error_count), 1);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(slot->sqid), 1);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(slot->cmdid), 0x55aa);
	/* SLBA is at byte 40. */
	KUNIT_EXPECT_EQ(test, le16_to_cpu(slot->param_error_location), 40);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(slot->lba), 1000);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(slot->nsid), 1);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(sgl_types),
	KUNIT_CASE(sgl_keyed),
	KUNIT_CASE(sgl_keyed_length),
	KUNIT_CASE(sgl_keyed_wraps),
	KUNIT_CASE(sgl_capsule),
	KUNIT_CASE(sgl_none),
	KUNIT_CASE(sgl_ranges),
	KUNIT_CASE(command_flags),
	KUNIT_CASE(lba_ranges),
	KUNIT_CASE(lba_zeroes),
	KUNIT_CASE(lba_large_blocks),
	KUNIT_CASE(namespace_ids),
	KUNIT_CASE(namespace_read_only),
	KUNIT_CASE(namespace_ana),
	KUNIT_CASE(io_opcodes),
	KUNIT_CASE(error_log),
	{}
};

static struct kunit_suite suite = {
	.name = "quarry_target_request",
	.exit = qtgt_bench_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
