// SPDX-License-Identifier: GPL-2.0-only
/* See kunit-bench.h. Process context, in the thread of a KUnit test. */
#include <linux/unaligned.h>
#include "kunit-bench.h"

static void respond(struct qtgt_req *req)
{
	struct qtgt_bench *b = container_of(req, struct qtgt_bench, req);

	b->responses++;
}

static const struct qtgt_transport_ops transport = {
	.keyed_sgls = true,
	.respond = respond,
};

static void ref_gone(struct percpu_ref *ref)
{
}

/* Like qtgt_queue_init(), with a reference that ends without a wait. */
static void make_queue(struct qtgt_bench *b, struct qtgt_queue *queue)
{
	KUNIT_ASSERT_EQ(b->test, 0,
			percpu_ref_init(&queue->ref, ref_gone,
					PERCPU_REF_INIT_ATOMIC, GFP_KERNEL));
	queue->ops = &transport;
	queue->port = qtgt_port_get(&b->port);
}

static void make_namespace(struct qtgt_bench *b)
{
	struct qtgt_ns *ns = &b->ns;

	KUNIT_ASSERT_EQ(b->test, 0,
			percpu_ref_init(&ns->ref, ref_gone,
					PERCPU_REF_INIT_ATOMIC, GFP_KERNEL));
	ns->ops = &qtgt_bdev_ops;
	ns->subsys = b->subsys;
	ns->nsid = 1;
	ns->anagrpid = 1;
	ns->blksize_shift = 9;
	ns->size = BENCH_BLOCKS << 9;
	KUNIT_ASSERT_EQ(b->test, 0,
			xa_err(xa_store(&b->subsys->namespaces, 1, ns,
					GFP_KERNEL)));
}

struct qtgt_bench *qtgt_bench_open(struct kunit *test)
{
	struct qtgt_bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct qtgt_subsys *subsys;

	KUNIT_ASSERT_NOT_NULL(test, b);
	b->test = test;
	b->data = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, b->data);
	subsys = qtgt_subsys_alloc(BENCH_SUBSYS, NVME_NQN_NVME);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, subsys);
	b->subsys = subsys;
	test->priv = b;

	subsys->any_host = true;
	subsys->qid_max = BENCH_QIDS;
	kref_init(&b->port.ref);
	b->port.cfg.max_queue_size = BENCH_MQES;
	b->port.ana_state[1] = NVME_ANA_OPTIMIZED;
	INIT_LIST_HEAD(&b->port.subsystems);
	b->link.subsys = subsys;
	list_add(&b->link.entry, &b->port.subsystems);
	make_queue(b, &b->admin);
	make_queue(b, &b->io);
	make_namespace(b);
	return b;
}

static void end_queue(struct qtgt_queue *queue)
{
	/* It may not have been made. */
	if (queue->port)
		qtgt_queue_exit(queue);
}

void qtgt_bench_exit(struct kunit *test)
{
	struct qtgt_bench *b = test->priv;

	if (!b)
		return;
	end_queue(&b->io);
	end_queue(&b->admin);
	xa_erase(&b->subsys->namespaces, 1);
	percpu_ref_exit(&b->ns.ref);
	qtgt_subsys_put(b->subsys);
}

/* Returns as qtgt_req_init() does. */
static int start(struct qtgt_bench *b, struct qtgt_queue *queue,
		 const struct nvme_command *cmd, u32 capsule)
{
	struct qtgt_req *req = &b->req;

	memset(req, 0, sizeof(*req));
	memset(&b->cqe, 0, sizeof(b->cqe));
	b->responses = 0;
	req->cmd = *cmd;
	req->cqe = &b->cqe;
	req->queue = queue;
	percpu_ref_get(&queue->ref);
	return qtgt_req_init(req, capsule);
}

static u16 status(struct qtgt_bench *b)
{
	u16 status = le16_to_cpu(b->cqe.status) >> 1;

	KUNIT_EXPECT_EQ(b->test, b->responses, 1);
	KUNIT_EXPECT_EQ(b->test, b->cqe.command_id,
			b->req.cmd.common.command_id);
	return status & 0x7ff;
}

u16 qtgt_bench_run(struct qtgt_bench *b, struct qtgt_queue *queue,
		   const struct nvme_command *cmd, u32 capsule)
{
	if (!start(b, queue, cmd, capsule)) {
		sg_init_one(&b->sg, b->data, PAGE_SIZE);
		b->req.sg = &b->sg;
		b->req.sg_cnt = 1;
		b->req.execute(&b->req);
	}
	return status(b);
}

u16 qtgt_bench_check(struct qtgt_bench *b, struct qtgt_queue *queue,
		     const struct nvme_command *cmd, u32 capsule)
{
	if (!start(b, queue, cmd, capsule))
		qtgt_req_complete(&b->req, 0);
	return status(b);
}

struct nvme_command qtgt_bench_keyed(struct nvme_command cmd, u8 type,
				     u64 addr, u32 len)
{
	struct nvme_keyed_sgl_desc *sgl = &cmd.common.dptr.ksgl;

	cmd.common.flags |= NVME_CMD_SGL_METABUF;
	sgl->addr = cpu_to_le64(addr);
	put_unaligned_le24(len, sgl->length);
	put_unaligned_le32(0x01020304, sgl->key);
	sgl->type = type;
	return cmd;
}

struct nvme_command qtgt_bench_rw(u8 opcode, u64 slba, u32 blocks)
{
	struct nvme_command cmd = {
		.rw.opcode = opcode,
		.rw.command_id = 0x55aa,
		.rw.nsid = cpu_to_le32(1),
		.rw.slba = cpu_to_le64(slba),
		.rw.length = cpu_to_le16(blocks - 1),
	};

	return qtgt_bench_keyed(cmd, 0x40, 0x1000, blocks * 512);
}

struct nvme_command qtgt_bench_connect_cmd(struct qtgt_bench *b, u16 qid)
{
	struct nvmf_connect_data *d = (struct nvmf_connect_data *)b->data;
	struct qtgt_ctrl *ctrl = b->admin.ctrl;
	struct nvme_command cmd = {
		.connect.opcode = nvme_fabrics_command,
		.connect.command_id = 0x1234,
		.connect.fctype = nvme_fabrics_type_connect,
		.connect.qid = cpu_to_le16(qid),
		.connect.sqsize = cpu_to_le16(31),
	};

	memset(d, 0, sizeof(*d));
	d->cntlid = cpu_to_le16(ctrl ? ctrl->cntlid : NVME_CNTLID_DYNAMIC);
	strscpy(d->subsysnqn, BENCH_SUBSYS, sizeof(d->subsysnqn));
	strscpy(d->hostnqn, BENCH_HOST, sizeof(d->hostnqn));
	return qtgt_bench_keyed(cmd, 0x40, 0x1000, sizeof(*d));
}

void qtgt_bench_connect(struct qtgt_bench *b)
{
	struct nvme_command cmd = qtgt_bench_connect_cmd(b, 0);

	KUNIT_ASSERT_EQ(b->test, 0, qtgt_bench_run(b, &b->admin, &cmd, 0));
	KUNIT_ASSERT_EQ(b->test, 0,
			qtgt_bench_prop_set(b, NVME_REG_CC, BENCH_CC));
	cmd = qtgt_bench_connect_cmd(b, 1);
	KUNIT_ASSERT_EQ(b->test, 0, qtgt_bench_run(b, &b->io, &cmd, 0));
}

u16 qtgt_bench_prop_set(struct qtgt_bench *b, u32 reg, u64 value)
{
	const struct nvme_command cmd = {
		.prop_set.opcode = nvme_fabrics_command,
		.prop_set.fctype = nvme_fabrics_type_property_set,
		.prop_set.offset = cpu_to_le32(reg),
		.prop_set.value = cpu_to_le64(value),
	};
	const struct nvme_command whole = qtgt_bench_keyed(cmd, 0x40, 0, 0);

	return qtgt_bench_run(b, &b->admin, &whole, 0);
}

u16 qtgt_bench_prop_get(struct qtgt_bench *b, u32 reg, bool wide, u64 *value)
{
	const struct nvme_command cmd = {
		.prop_get.opcode = nvme_fabrics_command,
		.prop_get.fctype = nvme_fabrics_type_property_get,
		.prop_get.attrib = wide,
		.prop_get.offset = cpu_to_le32(reg),
	};
	const struct nvme_command whole = qtgt_bench_keyed(cmd, 0x40, 0, 0);
	u16 ret;

	ret = qtgt_bench_run(b, &b->admin, &whole, 0);
	*value = le64_to_cpu(b->cqe.result.u64);
	return ret;
}
