// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fabrics commands: Connect and the properties. Process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/slab.h>
#include "internal.h"

#define PROP_8_BYTES	BIT(0)	/* ATTRIB of Property Get and Set */

static u16 bad_connect(struct qtgt_req *req, u16 loc)
{
	req->cqe->result.u32 = cpu_to_le32(loc);
	return qtgt_bad_field(req, loc, NVME_SC_CONNECT_INVALID_PARAM);
}

/* The queue belongs to @ctrl if this succeeds; it takes over the reference. */
static u16 install_queue_locked(struct qtgt_req *req, struct qtgt_ctrl *ctrl)
{
	const struct nvmf_connect_command *c = &req->cmd.connect;
	struct qtgt_queue *queue = req->queue;
	u16 qid = le16_to_cpu(c->qid);

	lockdep_assert_held(&ctrl->lock);
	if (ctrl->dying)
		return NVME_SC_CONNECT_CTRL_BUSY;
	if (qid && !(ctrl->csts & NVME_CSTS_RDY))
		return NVME_SC_CMD_SEQ_ERROR | NVME_STATUS_DNR;
	if (ctrl->queues[qid]) {
		pr_warn_ratelimited("controller %u: queue %u is connected already\n",
				    ctrl->cntlid, qid);
		return qtgt_bad_field(req, offsetof(struct nvmf_connect_command, qid),
				      NVME_SC_CMD_SEQ_ERROR);
	}

	queue->qid = qid;
	queue->size = le16_to_cpu(c->sqsize) + 1;
	queue->no_sqflow = c->cattr & NVME_CONNECT_DISABLE_SQFLOW;
	/* Pairs with the barrier in qtgt_events_stop(). */
	if (cmpxchg(&queue->ctrl, NULL, ctrl)) {
		pr_warn_ratelimited("controller %u: a queue connects twice\n",
				    ctrl->cntlid);
		return qtgt_bad_field(req,
				      offsetof(struct nvmf_connect_command, opcode),
				      NVME_SC_CONNECT_CTRL_BUSY);
	}
	ctrl->queues[qid] = queue;
	return 0;
}

static u16 install_queue(struct qtgt_req *req, struct qtgt_ctrl *ctrl)
{
	u16 qid = le16_to_cpu(req->cmd.connect.qid);
	u16 sqsize = le16_to_cpu(req->cmd.connect.sqsize);
	u16 status;

	if (qid > ctrl->max_qid) {
		pr_warn_ratelimited("controller %u: queue %u is above the limit of %u\n",
				    ctrl->cntlid, qid, ctrl->max_qid);
		return bad_connect(req, offsetof(struct nvmf_connect_command, qid));
	}
	/* MQES limits I/O queues only. */
	if (!sqsize || (qid && sqsize > NVME_CAP_MQES(ctrl->cap))) {
		pr_warn_ratelimited("controller %u: queue %u asks for a size of %u\n",
				    ctrl->cntlid, qid, sqsize + 1);
		return bad_connect(req,
				   offsetof(struct nvmf_connect_command, sqsize));
	}

	mutex_lock(&ctrl->lock);
	status = install_queue_locked(req, ctrl);
	mutex_unlock(&ctrl->lock);
	return status;
}

static u16 connect_data_get(struct qtgt_req *req, struct nvmf_connect_data *d)
{
	u16 status;

	status = qtgt_copy_from_data(req, 0, d, sizeof(*d));
	if (status)
		return status;
	if (req->cmd.connect.recfmt)
		return qtgt_bad_field(req,
				      offsetof(struct nvmf_connect_command, recfmt),
				      NVME_SC_CONNECT_FORMAT);
	d->subsysnqn[NVMF_NQN_FIELD_LEN - 1] = '\0';
	d->hostnqn[NVMF_NQN_FIELD_LEN - 1] = '\0';
	return 0;
}

static u16 admin_connect(struct qtgt_req *req, struct nvmf_connect_data *d)
{
	struct qtgt_ctrl *ctrl;
	u16 status;

	if (d->cntlid != cpu_to_le16(NVME_CNTLID_DYNAMIC)) {
		pr_warn_ratelimited("port %u: a host asks for controller %#x, but they are made on demand\n",
				    req->queue->port->cfg.portid,
				    le16_to_cpu(d->cntlid));
		req->cqe->result.u32 =
			cpu_to_le32(BIT(16) |
				    offsetof(struct nvmf_connect_data, cntlid));
		return NVME_SC_CONNECT_INVALID_PARAM | NVME_STATUS_DNR;
	}

	status = qtgt_ctrl_create(req, d, le32_to_cpu(req->cmd.connect.kato),
				  &ctrl);
	if (status)
		return status;
	status = install_queue(req, ctrl);
	if (status) {
		qtgt_ctrl_put(ctrl);
		return status;
	}
	pr_info("controller %u: host %s uses subsystem %s\n", ctrl->cntlid,
		ctrl->hostnqn, ctrl->subsys->nqn);
	qtgt_set_result(req, ctrl->cntlid);
	return 0;
}

static u16 io_connect(struct qtgt_req *req, struct nvmf_connect_data *d)
{
	struct qtgt_ctrl *ctrl;
	u16 status;

	ctrl = qtgt_ctrl_find(req, d);
	if (!ctrl)
		return NVME_SC_CONNECT_INVALID_PARAM | NVME_STATUS_DNR;
	status = install_queue(req, ctrl);
	if (status) {
		qtgt_ctrl_put(ctrl);
		return status;
	}
	qtgt_set_result(req, ctrl->cntlid);
	return 0;
}

static void exec_connect(struct qtgt_req *req)
{
	struct nvmf_connect_data *d;
	u16 status;

	d = kmalloc(sizeof(*d), GFP_KERNEL);
	if (!d) {
		qtgt_req_complete(req, NVME_SC_INTERNAL);
		return;
	}
	status = connect_data_get(req, d);
	if (!status) {
		if (req->cmd.connect.qid)
			status = io_connect(req, d);
		else
			status = admin_connect(req, d);
	}
	kfree(d);
	qtgt_req_complete(req, status);
}

/**
 * qtgt_parse_connect() - parse a command on a queue without a controller
 * @req: request
 *
 * Context: any.
 * Return: an NVMe status; anything but Connect is refused.
 */
u16 qtgt_parse_connect(struct qtgt_req *req)
{
	const struct nvme_command *cmd = &req->cmd;

	if (!nvme_is_fabrics(cmd))
		return qtgt_bad_opcode(req);
	if (cmd->fabrics.fctype != nvme_fabrics_type_connect)
		return qtgt_bad_field(req,
				      offsetof(struct nvmf_common_command, fctype),
				      NVME_SC_INVALID_OPCODE);
	req->data_len = sizeof(struct nvmf_connect_data);
	req->execute = exec_connect;
	return 0;
}

static void exec_prop_set(struct qtgt_req *req)
{
	const struct nvmf_property_set_command *c = &req->cmd.prop_set;
	u16 status = 0;

	if (c->attrib & PROP_8_BYTES)
		status = qtgt_bad_field(req, offsetof(typeof(*c), attrib),
					NVME_SC_INVALID_FIELD);
	else if (le32_to_cpu(c->offset) != NVME_REG_CC)
		status = qtgt_bad_field(req, offsetof(typeof(*c), offset),
					NVME_SC_INVALID_FIELD);
	else
		qtgt_ctrl_set_cc(req->queue->ctrl, le64_to_cpu(c->value));
	qtgt_req_complete(req, status);
}

static void exec_prop_get(struct qtgt_req *req)
{
	const struct nvmf_property_get_command *c = &req->cmd.prop_get;
	struct qtgt_ctrl *ctrl = req->queue->ctrl;
	bool wide = false;
	u16 status = 0;
	u64 val = 0;

	switch (le32_to_cpu(c->offset)) {
	case NVME_REG_CAP:
		wide = true;
		val = ctrl->cap;
		break;
	case NVME_REG_VS:
		val = ctrl->subsys->id.ver;
		break;
	case NVME_REG_CC:
		val = READ_ONCE(ctrl->cc);
		break;
	case NVME_REG_CSTS:
		val = READ_ONCE(ctrl->csts);
		break;
	default:
		status = qtgt_bad_field(req, offsetof(typeof(*c), offset),
					NVME_SC_INVALID_FIELD);
	}
	if (!status && wide != (c->attrib & PROP_8_BYTES))
		status = qtgt_bad_field(req, offsetof(typeof(*c), attrib),
					NVME_SC_INVALID_FIELD);
	if (!status)
		req->cqe->result.u64 = cpu_to_le64(val);
	qtgt_req_complete(req, status);
}

/**
 * qtgt_parse_fabrics() - parse a fabrics command on a connected queue
 * @req: request
 *
 * Context: any.
 * Return: an NVMe status.
 */
u16 qtgt_parse_fabrics(struct qtgt_req *req)
{
	/* Once is enough: fabrics 1.1 section 3.3. */
	if (req->cmd.fabrics.fctype == nvme_fabrics_type_connect)
		return qtgt_bad_field(req,
				      offsetof(struct nvmf_common_command, fctype),
				      NVME_SC_CMD_SEQ_ERROR);
	if (!req->queue->qid) {
		switch (req->cmd.fabrics.fctype) {
		case nvme_fabrics_type_property_set:
			req->execute = exec_prop_set;
			return 0;
		case nvme_fabrics_type_property_get:
			req->execute = exec_prop_get;
			return 0;
		}
	}
	return qtgt_bad_field(req, offsetof(struct nvmf_common_command, fctype),
			      NVME_SC_INVALID_OPCODE);
}
