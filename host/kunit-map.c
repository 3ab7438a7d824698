// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: what a command says of its data. NVMe base 2.0, 4.1.2; RDMA
 * transport 1.0: keyed SGLs with remote invalidation, data in the capsule.
 * The RDMA device is one of virtual addresses that only maps.
 */
#include <kunit/test.h>
#include <linux/unaligned.h>
#include "host.h"

#define INLINE_BYTES	1024
#define LKEY		0x11111111
#define RKEY		0x22222201
#define DATA_SIZE	8192

struct bench {
	struct ib_device	ibdev;
	struct ib_pd		pd;
	struct ib_mr		mr;
	struct qhost_ctrl	ctrl;
	struct qhost_queue	queue;
	struct qhost_slot	slot;
	struct nvme_command	cmd;
	struct request		*rq;
	u8			*data;
	bool			refuse;		/* map_mr_sg fails */
};

static int set_page(struct ib_mr *mr, u64 addr)
{
	return 0;
}

static int map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int nents,
		     unsigned int *offset)
{
	if (container_of(mr, struct bench, mr)->refuse)
		return 0;
	return ib_sg_to_pages(mr, sg, nents, offset, set_page);
}

static int init(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	if (!b)
		return -ENOMEM;
	test->priv = b;
	b->rq = kunit_kzalloc(test, sizeof(*b->rq) +
			      sizeof(struct qhost_request), GFP_KERNEL);
	b->data = kunit_kzalloc(test, DATA_SIZE, GFP_KERNEL);
	if (!b->rq || !b->data)
		return -ENOMEM;
	b->ibdev.ops.map_mr_sg = map_mr_sg;
	b->pd.device = &b->ibdev;
	b->pd.local_dma_lkey = LKEY;
	b->mr.device = &b->ibdev;
	b->mr.rkey = RKEY;
	b->mr.lkey = RKEY;
	b->ctrl.pd = &b->pd;
	b->queue.ctrl = &b->ctrl;
	b->queue.ibdev = &b->ibdev;
	b->queue.inline_bytes = INLINE_BYTES;
	b->queue.inline_segs = QHOST_INLINE_SEGS;
	b->slot.cmd = &b->cmd;
	b->slot.mr = &b->mr;
	return 0;
}

/* Map a request of one run of bytes. */
static blk_status_t map(struct bench *b, blk_opf_t op, u32 off, u32 len)
{
	memset(&b->cmd, 0xee, sizeof(b->cmd));
	b->cmd.common.flags = 0;
	b->rq->cmd_flags = op;
	b->rq->rq_flags = len ? RQF_SPECIAL_PAYLOAD : 0;
	b->rq->special_vec.bv_page = virt_to_page(b->data);
	b->rq->special_vec.bv_offset = offset_in_page(b->data) + off;
	b->rq->special_vec.bv_len = len;
	return qhost_map(&b->queue, &b->slot, b->rq);
}

/* The 16 bytes of the data pointer, and PSDT 01b: an SGL. */
static void expect_sgl(struct kunit *test, const u8 *want)
{
	struct bench *b = test->priv;

	KUNIT_EXPECT_MEMEQ(test, (u8 *)&b->cmd.common.dptr, want, 16);
	KUNIT_EXPECT_EQ(test, b->cmd.common.flags, 0x40);
}

/* A keyed data block of no bytes. */
static void map_nothing(struct kunit *test)
{
	static const u8 want[16] = { [15] = 0x40 };
	struct bench *b = test->priv;

	KUNIT_EXPECT_TRUE(test, map(b, REQ_OP_FLUSH, 0, 0) == BLK_STS_OK);
	expect_sgl(test, want);
	KUNIT_EXPECT_EQ(test, b->slot.send.num_sge, 1);
	KUNIT_EXPECT_EQ(test, b->slot.send.send_flags, 0);
	KUNIT_EXPECT_FALSE(test, b->slot.mr_used);
	qhost_unmap(&b->queue, b->rq);
}

/* What fits goes along: a data block at offset 0, behind the command. */
static void map_write_inline(struct kunit *test)
{
	static const u8 want[16] = { [8] = 0x00, [9] = 0x04, [15] = 0x01 };
	struct bench *b = test->priv;

	KUNIT_EXPECT_TRUE(test, map(b, REQ_OP_WRITE, 16, INLINE_BYTES) ==
			  BLK_STS_OK);
	expect_sgl(test, want);
	KUNIT_EXPECT_EQ(test, b->slot.send.num_sge, 2);
	KUNIT_EXPECT_EQ(test, b->slot.sge[1].addr,
			(u64)(uintptr_t)b->data + 16);
	KUNIT_EXPECT_EQ(test, b->slot.sge[1].length, INLINE_BYTES);
	KUNIT_EXPECT_EQ(test, b->slot.sge[1].lkey, LKEY);
	/* Until the ACK the pages are the device's. */
	KUNIT_EXPECT_EQ(test, b->slot.send.send_flags, IB_SEND_SIGNALED);
	KUNIT_EXPECT_FALSE(test, b->slot.mr_used);
	qhost_unmap(&b->queue, b->rq);
}

/* The key is the region's next one, to be invalidated by the target. */
static void expect_keyed(struct kunit *test, u32 off, u32 len, int access)
{
	struct bench *b = test->priv;
	u8 want[16];

	put_unaligned_le64((uintptr_t)b->data + off, want);
	put_unaligned_le24(len, want + 8);
	put_unaligned_le32(RKEY + 1, want + 11);
	want[15] = 0x4f;
	expect_sgl(test, want);
	KUNIT_EXPECT_EQ(test, b->mr.rkey, RKEY + 1);
	KUNIT_EXPECT_EQ(test, b->slot.reg.key, RKEY + 1);
	KUNIT_EXPECT_EQ(test, b->slot.reg.access, access);
	KUNIT_EXPECT_TRUE(test, b->slot.mr_used);
	KUNIT_EXPECT_EQ(test, b->slot.send.num_sge, 1);
	KUNIT_EXPECT_EQ(test, b->slot.send.send_flags, 0);
	qhost_unmap(&b->queue, b->rq);
}

/* A target gets no more rights than the command calls for. */
static void map_write(struct kunit *test)
{
	struct bench *b = test->priv;

	KUNIT_EXPECT_TRUE(test, map(b, REQ_OP_WRITE, 8, INLINE_BYTES + 1) ==
			  BLK_STS_OK);
	expect_keyed(test, 8, INLINE_BYTES + 1, IB_ACCESS_REMOTE_READ);
}

static void map_read(struct kunit *test)
{
	struct bench *b = test->priv;

	KUNIT_EXPECT_TRUE(test, map(b, REQ_OP_READ, 0, 512) == BLK_STS_OK);
	expect_keyed(test, 0, 512,
		     IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
}

/* No room in the capsule, or none for another segment. */
static void map_without_inline(struct kunit *test)
{
	struct bench *b = test->priv;

	b->queue.inline_bytes = 0;
	b->queue.inline_segs = 0;
	KUNIT_EXPECT_TRUE(test, map(b, REQ_OP_WRITE, 0, 512) == BLK_STS_OK);
	expect_keyed(test, 0, 512, IB_ACCESS_REMOTE_READ);
}

/* A generation of keys: 256, then it begins again. */
static void map_keys(struct kunit *test)
{
	struct bench *b = test->priv;
	int i;

	for (i = 1; i <= 256; i++) {
		KUNIT_EXPECT_TRUE(test, map(b, REQ_OP_READ, 0, 512) ==
				  BLK_STS_OK);
		KUNIT_EXPECT_EQ(test, b->mr.rkey,
				(RKEY & ~0xffU) | ((RKEY + i) & 0xff));
		qhost_unmap(&b->queue, b->rq);
	}
}

static void map_fails(struct kunit *test)
{
	struct bench *b = test->priv;
	struct qhost_request *req = blk_mq_rq_to_pdu(b->rq);

	b->refuse = true;
	KUNIT_EXPECT_TRUE(test, map(b, REQ_OP_READ, 0, 512) == BLK_STS_IOERR);
	KUNIT_EXPECT_EQ(test, req->nents, 0);
	KUNIT_EXPECT_FALSE(test, b->slot.mr_used);
	/* No key is spent on it. */
	KUNIT_EXPECT_EQ(test, b->mr.rkey, RKEY);
}

/* An id is the tag and what tells it from the last uses of the tag. */
static void command_ids(struct kunit *test)
{
	struct bench *b = test->priv;
	u16 last = 0;
	int i;

	for (i = 0; i < 300; i++) {
		qhost_stamp_slot(&b->queue, &b->slot, 5);
		KUNIT_EXPECT_EQ(test, b->slot.command_id & QHOST_TAG_MASK, 5);
		KUNIT_EXPECT_NE(test, b->slot.command_id, last);
		KUNIT_EXPECT_EQ(test, b->cmd.common.command_id,
				b->slot.command_id);
		last = b->slot.command_id;
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(map_nothing),
	KUNIT_CASE(map_write_inline),
	KUNIT_CASE(map_write),
	KUNIT_CASE(map_read),
	KUNIT_CASE(map_without_inline),
	KUNIT_CASE(map_keys),
	KUNIT_CASE(map_fails),
	KUNIT_CASE(command_ids),
	{}
};

static struct kunit_suite suite = {
	.name = "quarry_host_map",
	.init = init,
	.test_cases = cases,
};

kunit_test_suite(suite);
