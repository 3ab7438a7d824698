// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: Connect, the properties, and what CC makes of CSTS. NVMe base 2.0:
 * 3.1.3 (properties), 3.5 and 3.6 (initialisation, shutdown), 6.3 (Connect),
 * 6.5 and 6.6 (Property Get and Set).
 */
#include <linux/unaligned.h>
#include "kunit-bench.h"

#define SC_INVALID_OPCODE	0x01
#define SC_INVALID_FIELD	0x02
#define SC_SEQUENCE		0x0c
#define SC_SGL_LENGTH		0x0f
#define SC_CONNECT_FORMAT	0x180
#define SC_CONNECT_PARAM	0x182
#define SC_CONNECT_HOST		0x184

/* Properties: offsets, and fields of CC and CSTS. */
#define REG_CAP		0x00
#define REG_VS		0x08
#define REG_CC		0x14
#define REG_CSTS	0x1c
#define CC_EN		BIT(0)
#define CC_SHN_NORMAL	BIT(14)
#define CC_SHN_ABRUPT	BIT(15)
#define CSTS_RDY	BIT(0)
#define CSTS_CFS	BIT(1)
#define CSTS_SHST_DONE	BIT(3)

/* Only the admin queue is connected. */
static struct qtgt_bench *open(struct kunit *test)
{
	struct qtgt_bench *b = qtgt_bench_open(test);
	struct nvme_command cmd = qtgt_bench_connect_cmd(b, 0);

	KUNIT_ASSERT_EQ(test, 0, qtgt_bench_run(b, &b->admin, &cmd, 0));
	return b;
}

static u32 read_reg(struct qtgt_bench *b, u32 reg)
{
	u64 value;

	KUNIT_EXPECT_EQ(b->test, 0, qtgt_bench_prop_get(b, reg, false, &value));
	return value;
}

/* Write CC, and see what CSTS says then. */
static u32 write_cc(struct qtgt_bench *b, u32 cc)
{
	KUNIT_EXPECT_EQ(b->test, 0, qtgt_bench_prop_set(b, REG_CC, cc));
	return read_reg(b, REG_CSTS);
}

static void cc_enable(struct kunit *test)
{
	struct qtgt_bench *b = open(test);

	KUNIT_EXPECT_EQ(test, read_reg(b, REG_CC), 0);
	KUNIT_EXPECT_EQ(test, read_reg(b, REG_CSTS), 0);
	KUNIT_EXPECT_EQ(test, write_cc(b, BENCH_CC), CSTS_RDY);
	KUNIT_EXPECT_EQ(test, read_reg(b, REG_CC), BENCH_CC);
	/* Once more is no change. */
	KUNIT_EXPECT_EQ(test, write_cc(b, BENCH_CC), CSTS_RDY);
	/* A reset, and back. */
	KUNIT_EXPECT_EQ(test, write_cc(b, BENCH_CC & ~CC_EN), 0);
	KUNIT_EXPECT_EQ(test, write_cc(b, BENCH_CC), CSTS_RDY);
}

/* Without EN, it does not matter what the rest is. */
static void cc_disabled(struct kunit *test)
{
	struct qtgt_bench *b = open(test);

	KUNIT_EXPECT_EQ(test, write_cc(b, 0xffff3ffe), 0);
	KUNIT_EXPECT_EQ(test, write_cc(b, 0), 0);
	KUNIT_EXPECT_EQ(test, write_cc(b, BENCH_CC), CSTS_RDY);
}

/* 3.6.2: told at once that it is done, then a reset begins anew. */
static void shut_down(struct kunit *test, u32 shn)
{
	struct qtgt_bench *b = open(test);
	u32 csts;

	write_cc(b, BENCH_CC);
	csts = write_cc(b, BENCH_CC | shn);
	KUNIT_EXPECT_EQ(test, csts & ~CSTS_RDY, CSTS_SHST_DONE);
	KUNIT_EXPECT_EQ(test, read_reg(b, REG_CC), BENCH_CC | shn);
	KUNIT_EXPECT_EQ(test, write_cc(b, 0), 0);
	KUNIT_EXPECT_EQ(test, read_reg(b, REG_CC), 0);
	KUNIT_EXPECT_EQ(test, write_cc(b, BENCH_CC), CSTS_RDY);
}

static void cc_shutdown(struct kunit *test)
{
	shut_down(test, CC_SHN_NORMAL);
}

static void cc_abrupt_shutdown(struct kunit *test)
{
	shut_down(test, CC_SHN_ABRUPT);
}

/* Commands run while RDY is set, and no others but those of fabrics. */
static void cc_commands(struct kunit *test)
{
	struct nvme_command read = qtgt_bench_rw(0x02, 0, 1);
	struct qtgt_bench *b = qtgt_bench_open(test);

	qtgt_bench_connect(b);
	KUNIT_EXPECT_EQ(test, 0, qtgt_bench_check(b, &b->io, &read, 0));
	write_cc(b, BENCH_CC | CC_SHN_NORMAL);
	KUNIT_EXPECT_EQ(test, SC_SEQUENCE,
			qtgt_bench_check(b, &b->io, &read, 0));
	write_cc(b, 0);
	KUNIT_EXPECT_EQ(test, SC_SEQUENCE,
			qtgt_bench_check(b, &b->io, &read, 0));
	write_cc(b, BENCH_CC);
	KUNIT_EXPECT_EQ(test, 0, qtgt_bench_check(b, &b->io, &read, 0));
}

/* CAP says what may be chosen: 4 KiB pages, round robin, CSS 000b and 110b. */
static void cc_fields(struct kunit *test)
{
	struct qtgt_bench *b = open(test);
	struct qtgt_ctrl *ctrl = b->admin.ctrl;
	u32 i, other;

	for (i = 0; i < 16; i++) {
		other = BENCH_CC | i << 7;	/* MPS */
		KUNIT_EXPECT_EQ(test, qtgt_cc_valid(ctrl, other), !i);
		other = (BENCH_CC & ~(15U << 16)) | i << 16;	/* IOSQES */
		KUNIT_EXPECT_EQ(test, qtgt_cc_valid(ctrl, other), i == 6);
		other = (BENCH_CC & ~(15U << 20)) | i << 20;	/* IOCQES */
		KUNIT_EXPECT_EQ(test, qtgt_cc_valid(ctrl, other), i == 4);
	}
	for (i = 0; i < 8; i++) {
		other = BENCH_CC | i << 4;	/* CSS */
		KUNIT_EXPECT_EQ(test, qtgt_cc_valid(ctrl, other),
				!i || i == 6);
		other = BENCH_CC | i << 11;	/* AMS */
		KUNIT_EXPECT_EQ(test, qtgt_cc_valid(ctrl, other), !i);
	}
}

static void cc_invalid(struct kunit *test)
{
	struct qtgt_bench *b = open(test);
	u32 csts;

	csts = write_cc(b, BENCH_CC | 1 << 7);
	KUNIT_EXPECT_EQ(test, csts, CSTS_CFS);
	KUNIT_EXPECT_EQ(test, write_cc(b, 0) & CSTS_RDY, 0);
	KUNIT_EXPECT_EQ(test, write_cc(b, BENCH_CC), CSTS_RDY);
}

static void property_cap(struct kunit *test)
{
	struct qtgt_bench *b = open(test);
	u64 cap;

	KUNIT_ASSERT_EQ(test, 0, qtgt_bench_prop_get(b, REG_CAP, true, &cap));
	KUNIT_EXPECT_EQ(test, cap & 0xffff, BENCH_MQES - 1);	/* MQES */
	KUNIT_EXPECT_EQ(test, cap >> 16 & 1, 1);	/* CQR */
	KUNIT_EXPECT_EQ(test, cap >> 17 & 3, 0);	/* AMS */
	KUNIT_EXPECT_GT(test, cap >> 24 & 0xff, 0);	/* TO */
	KUNIT_EXPECT_EQ(test, cap >> 32 & 15, 0);	/* DSTRD */
	/* CSS: NVM, and one or more I/O command sets */
	KUNIT_EXPECT_EQ(test, cap >> 37 & 0xff, 0x41);
	KUNIT_EXPECT_EQ(test, cap >> 48 & 0xff, 0);	/* MPSMIN, MPSMAX */
	KUNIT_EXPECT_EQ(test, read_reg(b, REG_VS), 0x010300);
}

/* Every offset in reach: four are there, each of one size. */
static void property_offsets(struct kunit *test)
{
	struct qtgt_bench *b = open(test);
	u32 off;
	u64 v;

	for (off = 0; off < 0x40; off++) {
		bool wide = off == REG_CAP;
		bool narrow = off == REG_VS || off == REG_CC ||
			      off == REG_CSTS;

		KUNIT_EXPECT_EQ_MSG(test,
				    qtgt_bench_prop_get(b, off, true, &v),
				    wide ? 0 : SC_INVALID_FIELD, "%#x", off);
		KUNIT_EXPECT_EQ_MSG(test,
				    qtgt_bench_prop_get(b, off, false, &v),
				    narrow ? 0 : SC_INVALID_FIELD, "%#x", off);
		if (off == REG_CC)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, qtgt_bench_prop_set(b, off, 1),
				    SC_INVALID_FIELD, "%#x", off);
	}
	KUNIT_EXPECT_EQ(test, read_reg(b, REG_CSTS), 0);
	KUNIT_EXPECT_EQ(test, SC_INVALID_FIELD,
			qtgt_bench_prop_get(b, 0xffffffff, false, &v));
}

/* Before Connect there is nothing but Connect. */
static void connect_first(struct kunit *test)
{
	struct qtgt_bench *b = qtgt_bench_open(test);
	struct nvme_command cmd;
	int opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		if (opcode == nvme_fabrics_command)
			continue;
		cmd = qtgt_bench_rw(opcode, 0, 1);
		KUNIT_EXPECT_EQ_MSG(test, SC_INVALID_OPCODE,
				    qtgt_bench_check(b, &b->admin, &cmd, 0),
				    "opcode %#04x", opcode);
	}
	cmd = qtgt_bench_connect_cmd(b, 0);
	for (opcode = 0; opcode < 256; opcode++) {
		if (opcode == nvme_fabrics_type_connect)
			continue;
		cmd.connect.fctype = opcode;
		KUNIT_EXPECT_EQ_MSG(test, SC_INVALID_OPCODE,
				    qtgt_bench_check(b, &b->admin, &cmd, 0),
				    "type %#04x", opcode);
	}
}

static void connect_admin(struct kunit *test)
{
	struct qtgt_bench *b = qtgt_bench_open(test);
	struct nvme_command cmd = qtgt_bench_connect_cmd(b, 0);
	struct qtgt_ctrl *ctrl;

	KUNIT_ASSERT_EQ(test, 0, qtgt_bench_run(b, &b->admin, &cmd, 0));
	ctrl = b->admin.ctrl;
	KUNIT_ASSERT_NOT_NULL(test, ctrl);
	/* The controller ID is the result, from 1 to FFEFh. */
	KUNIT_EXPECT_EQ(test, le32_to_cpu(b->cqe.result.u32), ctrl->cntlid);
	KUNIT_EXPECT_GE(test, ctrl->cntlid, 1);
	KUNIT_EXPECT_LE(test, ctrl->cntlid, 0xffef);
	KUNIT_EXPECT_EQ(test, b->admin.size, 32);
	KUNIT_EXPECT_FALSE(test, b->admin.no_sqflow);
	KUNIT_EXPECT_STREQ(test, ctrl->hostnqn, BENCH_HOST);
	/* Once is enough. */
	KUNIT_EXPECT_EQ(test, SC_SEQUENCE,
			qtgt_bench_run(b, &b->admin, &cmd, 0));
}

/* Figure 388: where the fault is, in the command or (bit 16) in its data. */
static void expect_refused(struct qtgt_bench *b, struct qtgt_queue *queue,
			   struct nvme_command cmd, u16 want, u32 where)
{
	KUNIT_EXPECT_EQ(b->test, want, qtgt_bench_run(b, queue, &cmd, 0));
	if (want == SC_CONNECT_PARAM || want == SC_CONNECT_HOST)
		KUNIT_EXPECT_EQ(b->test, where,
				le32_to_cpu(b->cqe.result.u32));
	KUNIT_EXPECT_NULL(b->test, queue->ctrl);
}

static void connect_refused(struct kunit *test)
{
	struct qtgt_bench *b = qtgt_bench_open(test);
	struct nvmf_connect_data *d = (struct nvmf_connect_data *)b->data;
	struct nvme_command cmd = qtgt_bench_connect_cmd(b, 0);

	/* Record format 1, at byte 40. */
	cmd.connect.recfmt = cpu_to_le16(1);
	expect_refused(b, &b->admin, cmd, SC_CONNECT_FORMAT, 40);
	/* Queue size 0 (that is, one entry), at byte 44. */
	cmd = qtgt_bench_connect_cmd(b, 0);
	cmd.connect.sqsize = 0;
	expect_refused(b, &b->admin, cmd, SC_CONNECT_PARAM, 44);
	/* A controller that was named, at byte 16 of the data. */
	cmd = qtgt_bench_connect_cmd(b, 0);
	d->cntlid = cpu_to_le16(1);
	expect_refused(b, &b->admin, cmd, SC_CONNECT_PARAM, 0x10010);
	/* A subsystem that is not there, at byte 256. */
	cmd = qtgt_bench_connect_cmd(b, 0);
	d->subsysnqn[0] = 'Q';
	expect_refused(b, &b->admin, cmd, SC_CONNECT_PARAM, 0x10100);
	/* A name without an end. */
	cmd = qtgt_bench_connect_cmd(b, 0);
	memset(d->subsysnqn, 'q', sizeof(d->subsysnqn));
	expect_refused(b, &b->admin, cmd, SC_CONNECT_PARAM, 0x10100);
	/* A host that may not, at byte 512. */
	cmd = qtgt_bench_connect_cmd(b, 0);
	b->subsys->any_host = false;
	expect_refused(b, &b->admin, cmd, SC_CONNECT_HOST, 0x10200);
}

/* The data of a Connect are 1024 bytes. */
static void connect_length(struct kunit *test)
{
	static const u32 wrong[] = { 0, 1, 1023, 1025, 4096 };
	struct qtgt_bench *b = qtgt_bench_open(test);
	struct nvme_command cmd = qtgt_bench_connect_cmd(b, 0);
	int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		cmd = qtgt_bench_keyed(cmd, 0x40, 0, wrong[i]);
		expect_refused(b, &b->admin, cmd, SC_SGL_LENGTH, 0);
	}
}

static void connect_io_refused(struct kunit *test)
{
	struct qtgt_bench *b = open(test);
	struct nvmf_connect_data *d = (struct nvmf_connect_data *)b->data;
	struct nvme_command cmd = qtgt_bench_connect_cmd(b, 1);

	/* The controller is not enabled. */
	expect_refused(b, &b->io, cmd, SC_SEQUENCE, 0);
	write_cc(b, BENCH_CC);
	/* More queues than there are, at byte 42. */
	cmd = qtgt_bench_connect_cmd(b, BENCH_QIDS + 1);
	expect_refused(b, &b->io, cmd, SC_CONNECT_PARAM, 42);
	/* More entries than CAP.MQES, which is one less than their number. */
	cmd = qtgt_bench_connect_cmd(b, 1);
	cmd.connect.sqsize = cpu_to_le16(BENCH_MQES);
	expect_refused(b, &b->io, cmd, SC_CONNECT_PARAM, 44);
	/* A controller that is not there, and that of another host. */
	cmd = qtgt_bench_connect_cmd(b, 1);
	d->cntlid = cpu_to_le16(0xffef);
	expect_refused(b, &b->io, cmd, SC_CONNECT_PARAM, 0x10010);
	cmd = qtgt_bench_connect_cmd(b, 1);
	d->hostnqn[0] = 'Q';
	expect_refused(b, &b->io, cmd, SC_CONNECT_PARAM, 0x10010);
	/* Once is enough here as well. */
	cmd = qtgt_bench_connect_cmd(b, 1);
	KUNIT_EXPECT_EQ(test, 0, qtgt_bench_run(b, &b->io, &cmd, 0));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(b->cqe.result.u32),
			b->admin.ctrl->cntlid);
	KUNIT_EXPECT_EQ(test, SC_SEQUENCE,
			qtgt_bench_run(b, &b->io, &cmd, 0));
}

/* As many entries as MQES says are fine. */
static void connect_largest(struct kunit *test)
{
	struct qtgt_bench *b = open(test);
	struct nvme_command cmd;

	write_cc(b, BENCH_CC);
	cmd = qtgt_bench_connect_cmd(b, BENCH_QIDS);
	cmd.connect.sqsize = cpu_to_le16(BENCH_MQES - 1);
	KUNIT_EXPECT_EQ(test, 0, qtgt_bench_run(b, &b->io, &cmd, 0));
	KUNIT_EXPECT_EQ(test, b->io.qid, BENCH_QIDS);
	KUNIT_EXPECT_EQ(test, b->io.size, BENCH_MQES);
}

/*
 * 3.3.2.1: the head counts what was taken in, round and round the queue;
 * without flow control there is none.
 */
static void queue_head(struct kunit *test)
{
	struct nvme_command read = qtgt_bench_rw(0x02, 0, 1);
	struct qtgt_bench *b = qtgt_bench_open(test);

	qtgt_bench_connect(b);
	atomic64_set(&b->io.consumed, 31);
	qtgt_bench_check(b, &b->io, &read, 0);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(b->cqe.sq_head), 31);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(b->cqe.sq_id), 1);
	atomic64_set(&b->io.consumed, 32);
	qtgt_bench_check(b, &b->io, &read, 0);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(b->cqe.sq_head), 0);
	atomic64_set(&b->io.consumed, (1ULL << 40) + 5);
	qtgt_bench_check(b, &b->io, &read, 0);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(b->cqe.sq_head), 5);
	b->io.no_sqflow = true;
	qtgt_bench_check(b, &b->io, &read, 0);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(b->cqe.sq_head), 0xffff);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(cc_enable),
	KUNIT_CASE(cc_disabled),
	KUNIT_CASE(cc_shutdown),
	KUNIT_CASE(cc_abrupt_shutdown),
	KUNIT_CASE(cc_commands),
	KUNIT_CASE(cc_fields),
	KUNIT_CASE(cc_invalid),
	KUNIT_CASE(property_cap),
	KUNIT_CASE(property_offsets),
	KUNIT_CASE(connect_first),
	KUNIT_CASE(connect_admin),
	KUNIT_CASE(connect_refused),
	KUNIT_CASE(connect_length),
	KUNIT_CASE(connect_io_refused),
	KUNIT_CASE(connect_largest),
	KUNIT_CASE(queue_head),
	{}
};

static struct kunit_suite suite = {
	.name = "quarry_target_ctrl",
	.exit = qtgt_bench_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
