// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admin commands: sending one and waiting for it, what the controller is
 * asked at set-up, keep-alive, and the events that it reports. Runs in
 * process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/slab.h>
#include "host-block.h"
#include "host.h"

/*
 * How long the look at the namespaces waits after an event. The kernel's own
 * target reports a new namespace a moment before it shows it, and a change
 * of several makes one look of many.
 */
#define EVENT_DELAY	(HZ / 10)

static_assert(sizeof(struct nvme_id_ctrl) == NVME_IDENTIFY_DATA_SIZE);

static int execute(struct request *rq, const struct nvme_command *cmd,
		   union nvme_result *result, void *buf, unsigned int len,
		   unsigned int timeout)
{
	struct qhost_request *req = blk_mq_rq_to_pdu(rq);
	blk_status_t status;
	int err;

	req->cmd = *cmd;
	req->status = 0;
	rq->timeout = timeout;
	if (len) {
		err = compat_rq_map_kern(rq, buf, len, GFP_KERNEL);
		if (err)
			goto out;
	}
	status = blk_execute_rq(rq, false);
	err = req->status;
	/* The same error whether the connection went before or after the post. */
	if (!err && status)
		err = status == BLK_STS_TRANSPORT ? -ECONNRESET :
						    blk_status_to_errno(status);
	if (result)
		*result = req->result;
out:
	blk_mq_free_request(rq);
	return err;
}

static blk_opf_t direction(const struct nvme_command *cmd)
{
	return nvme_is_write(cmd) ? REQ_OP_DRV_OUT : REQ_OP_DRV_IN;
}

/**
 * qhost_sync_cmd() - send an admin command and wait for it
 * @ctrl: the controller
 * @cmd: the command; its id and data pointer are filled in
 * @result: dwords 0 and 1 of the response, or NULL
 * @buf: data, from kmalloc(), or NULL
 * @len: their length in bytes
 *
 * Context: process, sleeps, QHOST_ADMIN_TIMEOUT at most.
 * Return: 0, a positive NVMe status, or an errno where none came.
 */
int qhost_sync_cmd(struct qhost_ctrl *ctrl, struct nvme_command *cmd,
		   union nvme_result *result, void *buf, unsigned int len)
{
	struct request *rq;

	rq = blk_mq_alloc_request(ctrl->admin_q, direction(cmd), 0);
	if (IS_ERR(rq))
		return PTR_ERR(rq);
	return execute(rq, cmd, result, buf, len, QHOST_ADMIN_TIMEOUT);
}

/* One of the requests that are kept free for Connect and Keep Alive. */
static struct request *alloc_reserved(struct qhost_ctrl *ctrl, u16 qid,
				      const struct nvme_command *cmd)
{
	blk_mq_req_flags_t flags = BLK_MQ_REQ_RESERVED | BLK_MQ_REQ_NOWAIT;

	if (qid)
		return blk_mq_alloc_request_hctx(ctrl->connect_q,
						 direction(cmd), flags,
						 qid - 1);
	return blk_mq_alloc_request(ctrl->admin_q, direction(cmd), flags);
}

/**
 * qhost_sync_cmd_on() - send a command on a certain queue and wait for it
 * @ctrl: the controller
 * @qid: the queue
 * @cmd: the command; its id and data pointer are filled in
 * @result: dwords 0 and 1 of the response, or NULL
 * @buf: data, from kmalloc(), or NULL
 * @len: their length in bytes
 *
 * It takes a request that is kept free for the purpose.
 *
 * Context: process, sleeps, QHOST_ADMIN_TIMEOUT at most.
 * Return: 0, a positive NVMe status, or an errno where none came.
 */
int qhost_sync_cmd_on(struct qhost_ctrl *ctrl, u16 qid,
		      struct nvme_command *cmd, union nvme_result *result,
		      void *buf, unsigned int len)
{
	struct request *rq = alloc_reserved(ctrl, qid, cmd);

	if (IS_ERR(rq))
		return PTR_ERR(rq);
	return execute(rq, cmd, result, buf, len, QHOST_ADMIN_TIMEOUT);
}

/**
 * qhost_identify() - send an Identify command
 * @ctrl: the controller
 * @cns: what to identify
 * @nsid: of which namespace
 * @buf: NVME_IDENTIFY_DATA_SIZE bytes from kmalloc()
 *
 * Context: process, sleeps.
 * Return: 0, a positive NVMe status, or an errno.
 */
int qhost_identify(struct qhost_ctrl *ctrl, u8 cns, u32 nsid, void *buf)
{
	struct nvme_command cmd = {
		.identify.opcode = nvme_admin_identify,
		.identify.cns = cns,
		.identify.nsid = cpu_to_le32(nsid),
	};

	return qhost_sync_cmd(ctrl, &cmd, NULL, buf, NVME_IDENTIFY_DATA_SIZE);
}

/* What we need of it, and can take: all of it is the peer's word. */
static int check_id(struct qhost_ctrl *ctrl, const struct nvme_id_ctrl *id)
{
	if (le16_to_cpu(id->cntlid) != ctrl->cntlid) {
		qhost_err(ctrl, "controller id %#x at Connect, %#x at Identify\n",
			  ctrl->cntlid, le16_to_cpu(id->cntlid));
		return -EPROTO;
	}
	if (id->cntrltype == NVME_CTRL_DISC || id->cntrltype == NVME_CTRL_ADMIN) {
		qhost_err(ctrl, "%s has no I/O queues: it is a discovery or administrative controller\n",
			  ctrl->opts.subsysnqn);
		return -EOPNOTSUPP;
	}
	/* NVMe base 2.0, figure 275: SGLS, bit 2, keyed SGL descriptors. */
	if (!(le32_to_cpu(id->sgls) & BIT(2))) {
		qhost_err(ctrl, "the controller does not support keyed SGLs\n");
		return -EPROTO;
	}
	if (le32_to_cpu(id->ioccsz) < sizeof(struct nvme_command) / 16) {
		qhost_err(ctrl, "the controller's command capsules are too short\n");
		return -EPROTO;
	}
	return 0;
}

static void copy_id(struct qhost_ctrl *ctrl, const struct nvme_id_ctrl *id)
{
	memcpy(ctrl->serial, id->sn, sizeof(ctrl->serial));
	memcpy(ctrl->model, id->mn, sizeof(ctrl->model));
	memcpy(ctrl->firmware, id->fr, sizeof(ctrl->firmware));
	ctrl->oncs = le16_to_cpu(id->oncs);
	ctrl->maxcmd = le16_to_cpu(id->maxcmd);
	ctrl->awupf = le16_to_cpu(id->awupf);
	ctrl->crdt[0] = le16_to_cpu(id->crdt1);
	ctrl->crdt[1] = le16_to_cpu(id->crdt2);
	ctrl->crdt[2] = le16_to_cpu(id->crdt3);
	ctrl->vwc = id->vwc;
	ctrl->mdts = id->mdts;
	ctrl->oaes = le32_to_cpu(id->oaes);
	ctrl->sgls = le32_to_cpu(id->sgls);
	ctrl->ioccsz = le32_to_cpu(id->ioccsz);
	ctrl->icdoff = le16_to_cpu(id->icdoff);
	ctrl->rtd3e = le32_to_cpu(id->rtd3e);
	ctrl->nn = le32_to_cpu(id->nn);
}

/* The largest transfer: what a memory region holds, and MDTS. */
static void set_max_transfer(struct qhost_ctrl *ctrl)
{
	unsigned int pages = ctrl->pages_per_mr - 1;

	/* NVMe base 2.0, figure 275: a power of two of CAP.MPSMIN pages. */
	if (ctrl->mdts && ctrl->mdts < 20)
		pages = min(pages, 1U << ctrl->mdts);
	ctrl->max_hw_sectors = pages << (QHOST_PAGE_SHIFT - SECTOR_SHIFT);
}

/* Limits that newer controllers report; all zeroes stand for none. */
static int identify_nvm(struct qhost_ctrl *ctrl, void *buf)
{
	const struct nvme_id_ctrl_nvm *id = buf;
	int err;

	if (ctrl->vs < NVME_VS(2, 0, 0))
		return 0;
	err = qhost_identify(ctrl, NVME_ID_CNS_CS_CTRL, 0, buf);
	if (err < 0)
		return err;
	if (err)
		return 0;
	ctrl->dmrl = id->dmrl;
	ctrl->dmrsl = le32_to_cpu(id->dmrsl);
	if (id->wzsl && id->wzsl < 20)
		ctrl->max_zeroes_pages = 1U << id->wzsl;
	return 0;
}

/**
 * qhost_identify_ctrl() - ask the controller what it is and can do
 * @ctrl: the controller, enabled
 *
 * Context: process, sleeps.
 * Return: 0, or an errno after a line in the log.
 */
int qhost_identify_ctrl(struct qhost_ctrl *ctrl)
{
	struct nvme_id_ctrl *id;
	int err;

	id = kmalloc(sizeof(*id), GFP_KERNEL);
	if (!id)
		return -ENOMEM;
	err = qhost_identify(ctrl, NVME_ID_CNS_CTRL, 0, id);
	if (err) {
		qhost_err(ctrl, "Identify Controller: %d\n", err);
		err = qhost_status_errno(err, false);
		goto out;
	}
	err = check_id(ctrl, id);
	if (err)
		goto out;
	copy_id(ctrl, id);
	set_max_transfer(ctrl);
	err = identify_nvm(ctrl, id);
out:
	kfree(id);
	return err;
}

static int set_feature(struct qhost_ctrl *ctrl, u8 fid, u32 dword11,
		       u32 *result)
{
	struct nvme_command cmd = {
		.features.opcode = nvme_admin_set_features,
		.features.fid = cpu_to_le32(fid),
		.features.dword11 = cpu_to_le32(dword11),
	};
	union nvme_result res = { };
	int err;

	err = qhost_sync_cmd(ctrl, &cmd, &res, NULL, 0);
	if (result)
		*result = le32_to_cpu(res.u32);
	return err;
}

/**
 * qhost_set_queue_count() - agree with the controller on I/O queues
 * @ctrl: the controller
 * @count: how many are wanted; how many there may be
 *
 * Context: process, sleeps.
 * Return: 0, or an errno after a line in the log.
 */
int qhost_set_queue_count(struct qhost_ctrl *ctrl, unsigned int *count)
{
	u32 result;
	int err;

	err = set_feature(ctrl, NVME_FEAT_NUM_QUEUES,
			  (*count - 1) | (*count - 1) << 16, &result);
	if (err) {
		qhost_err(ctrl, "the controller gives no I/O queues: %d\n",
			  err);
		return qhost_status_errno(err, false);
	}
	/* NVMe base 2.0, 5.27.1.5: both are zero-based. */
	*count = min3(*count, (result & 0xffff) + 1, (result >> 16) + 1);
	return 0;
}

/**
 * qhost_start_keep_alive() - begin to send Keep Alive, if it is wanted
 * @ctrl: the controller, enabled
 *
 * Two in each time-out: one may be late.
 *
 * Context: any.
 */
void qhost_start_keep_alive(struct qhost_ctrl *ctrl)
{
	if (ctrl->opts.keep_alive_tmo)
		queue_delayed_work(qhost_wq, &ctrl->keep_alive_work,
				   ctrl->opts.keep_alive_tmo * HZ / 2);
}

/**
 * qhost_keep_alive_work() - send one Keep Alive and wait for it
 * @work: the controller's keep_alive_work
 *
 * Context: work queue.
 */
void qhost_keep_alive_work(struct work_struct *work)
{
	struct qhost_ctrl *ctrl = container_of(to_delayed_work(work),
					       struct qhost_ctrl,
					       keep_alive_work);
	struct nvme_command cmd = {
		.common.opcode = nvme_admin_keep_alive,
	};
	struct request *rq;

	if (qhost_failed(ctrl))
		return;
	rq = alloc_reserved(ctrl, 0, &cmd);
	if (IS_ERR(rq) || execute(rq, &cmd, NULL, NULL, 0,
				  ctrl->opts.keep_alive_tmo * HZ))
		qhost_ctrl_fail(ctrl, "keep-alive has failed");
	else
		qhost_start_keep_alive(ctrl);
}

/**
 * qhost_start_events() - ask the controller to report changes
 * @ctrl: the controller, all of it set up
 *
 * Context: process, sleeps.
 * Return: 0, also where the controller refuses, or an errno where it could
 * not be asked.
 */
int qhost_start_events(struct qhost_ctrl *ctrl)
{
	u32 events = ctrl->oaes & NVME_AEN_CFG_NS_ATTR;
	int err = 0;

	if (events)
		err = set_feature(ctrl, NVME_FEAT_ASYNC_EVENT, events, NULL);
	if (err < 0)
		return err;
	if (err)
		qhost_warn(ctrl, "the controller will not report changes of its namespaces\n");
	qhost_post_aen(ctrl);
	return 0;
}

/**
 * qhost_clear_changed_ns() - read the list of changed namespaces
 * @ctrl: the controller
 *
 * What it says does not matter, as all namespaces are looked at. But until
 * it is read the controller reports no further change.
 *
 * Context: process, sleeps.
 * Return: 0, also for a controller that has no such list, or an errno where
 * it is to be read again.
 */
int qhost_clear_changed_ns(struct qhost_ctrl *ctrl)
{
	const unsigned int size = NVME_MAX_CHANGED_NAMESPACES * sizeof(__le32);
	struct nvme_command cmd = {
		.get_log_page.opcode = nvme_admin_get_log_page,
		.get_log_page.nsid = cpu_to_le32(NVME_NSID_ALL),
		.get_log_page.lid = NVME_LOG_CHANGED_NS,
		.get_log_page.numdl = cpu_to_le16(size / 4 - 1),
	};
	void *buf;
	int err;

	buf = kmalloc(size, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	err = qhost_sync_cmd(ctrl, &cmd, NULL, buf, size);
	kfree(buf);
	if (err > 0)
		return err & NVME_STATUS_DNR ? 0 : -EAGAIN;
	return err;
}

/**
 * qhost_aen_work() - see what the controller reports, and wait for more
 * @work: the controller's aen_work
 *
 * Context: work queue.
 */
void qhost_aen_work(struct work_struct *work)
{
	struct qhost_ctrl *ctrl = container_of(work, struct qhost_ctrl,
					       aen_work);
	u8 type = ctrl->aen_result & 0x7;
	u8 info = ctrl->aen_result >> 8;

	/* An error means that it takes no such request: then never again. */
	if (ctrl->aen_status) {
		qhost_warn(ctrl, "asynchronous events are refused (status %#x)\n",
			   ctrl->aen_status);
		return;
	}
	if (type == NVME_AER_NOTICE && info == NVME_AER_NOTICE_NS_CHANGED)
		qhost_queue_scan(ctrl, EVENT_DELAY);
	else if (type == NVME_AER_ERROR &&
		 info == NVME_AER_ERROR_PERSIST_INT_ERR)
		qhost_ctrl_fail(ctrl, "the controller reports an internal error");
	else
		qhost_warn(ctrl, "event of type %u, information %#x\n", type,
			   info);
	if (!qhost_failed(ctrl))
		qhost_post_aen(ctrl);
}
