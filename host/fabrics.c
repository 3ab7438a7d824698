// SPDX-License-Identifier: GPL-2.0-only
/*
 * The Fabrics commands: Connect and the properties, and what is done by
 * them, enabling and shutting down a controller. Runs in process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/delay.h>
#include <linux/slab.h>
#include "host.h"

static_assert(sizeof(struct nvmf_connect_data) == 1024);
static_assert(sizeof(struct nvme_command) == 64);
static_assert(sizeof(struct nvme_completion) == 16);

static int property_get(struct qhost_ctrl *ctrl, u32 offset, bool wide,
			u64 *value)
{
	struct nvme_command cmd = {
		.prop_get.opcode = nvme_fabrics_command,
		.prop_get.fctype = nvme_fabrics_type_property_get,
		.prop_get.attrib = wide,
		.prop_get.offset = cpu_to_le32(offset),
	};
	union nvme_result result;
	int err;

	err = qhost_sync_cmd(ctrl, &cmd, &result, NULL, 0);
	if (err) {
		qhost_err(ctrl, "property %#x cannot be read: %d\n", offset,
			  err);
		return qhost_status_errno(err, false);
	}
	*value = wide ? le64_to_cpu(result.u64) : le32_to_cpu(result.u32);
	return 0;
}

static int property_set(struct qhost_ctrl *ctrl, u32 offset, u32 value)
{
	struct nvme_command cmd = {
		.prop_set.opcode = nvme_fabrics_command,
		.prop_set.fctype = nvme_fabrics_type_property_set,
		.prop_set.offset = cpu_to_le32(offset),
		.prop_set.value = cpu_to_le64(value),
	};
	int err;

	err = qhost_sync_cmd(ctrl, &cmd, NULL, NULL, 0);
	if (err)
		qhost_err(ctrl, "property %#x cannot be set: %d\n", offset,
			  err);
	return qhost_status_errno(err, false);
}

/* Wait until CSTS says what it should, at most @timeout jiffies. */
static int wait_csts(struct qhost_ctrl *ctrl, u32 mask, u32 want,
		     unsigned long timeout)
{
	unsigned long end = jiffies + timeout;
	u64 csts;
	int err;

	for (;;) {
		err = property_get(ctrl, NVME_REG_CSTS, false, &csts);
		if (err)
			return err;
		if ((csts & mask) == want)
			return 0;
		if (csts & NVME_CSTS_CFS) {
			qhost_err(ctrl, "the controller reports a fatal error\n");
			return -EIO;
		}
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		msleep(50);
	}
}

/**
 * qhost_enable() - read the controller's properties and enable it
 * @ctrl: the controller, its admin queue is connected
 *
 * Context: process, sleeps.
 * Return: 0, or an errno after a line in the log.
 */
int qhost_enable(struct qhost_ctrl *ctrl)
{
	u64 vs;
	int err;

	err = property_get(ctrl, NVME_REG_CAP, true, &ctrl->cap);
	if (err)
		return err;
	err = property_get(ctrl, NVME_REG_VS, false, &vs);
	if (err)
		return err;
	ctrl->vs = vs;
	if (NVME_CAP_MPSMIN(ctrl->cap)) {
		qhost_err(ctrl, "the controller has no memory pages of 4 KiB\n");
		return -EOPNOTSUPP;
	}
	err = property_set(ctrl, NVME_REG_CC,
			   NVME_CC_ENABLE | NVME_CC_CSS_NVM | NVME_CC_AMS_RR |
			   NVME_CC_SHN_NONE | NVME_CC_IOSQES | NVME_CC_IOCQES |
			   (QHOST_PAGE_SHIFT - 12) << NVME_CC_MPS_SHIFT);
	if (err)
		return err;
	/* NVMe base 2.0, 3.1.3.1: CAP.TO counts 500 ms. */
	err = wait_csts(ctrl, NVME_CSTS_RDY, NVME_CSTS_RDY,
			(NVME_CAP_TIMEOUT(ctrl->cap) + 1) * HZ / 2);
	if (err)
		qhost_err(ctrl, "the controller does not become ready: %pe\n",
			  ERR_PTR(err));
	return err;
}

/**
 * qhost_shutdown() - tell the controller that we are going
 * @ctrl: the controller; its admin queue may be dead, then nothing happens
 *
 * Context: process, sleeps, at most for the time that the controller names.
 */
void qhost_shutdown(struct qhost_ctrl *ctrl)
{
	unsigned long timeout = usecs_to_jiffies(ctrl->rtd3e);

	if (qhost_failed(ctrl))
		return;
	if (property_set(ctrl, NVME_REG_CC, NVME_CC_ENABLE | NVME_CC_IOSQES |
			 NVME_CC_IOCQES | NVME_CC_SHN_NORMAL))
		return;
	wait_csts(ctrl, NVME_CSTS_SHST_MASK, NVME_CSTS_SHST_CMPLT,
		  clamp(timeout, 5UL * HZ, 30UL * HZ));
}

/* Say which field of the command or its data the target does not like. */
static int connect_invalid(struct qhost_ctrl *ctrl, u16 qid, u32 result)
{
	u16 offset = result;

	/* NVMe over Fabrics 1.1, figure 19: IATTR and IPO in dword 0. */
	if (!(result >> 16)) {
		qhost_err(ctrl, "queue %u: Connect: the target refuses byte %u of the command\n",
			  qid, offset);
		return -EINVAL;
	}
	switch (offset) {
	case offsetof(struct nvmf_connect_data, subsysnqn):
		qhost_err(ctrl, "the target has no subsystem %s at this port\n",
			  ctrl->opts.subsysnqn);
		return -ENOENT;
	case offsetof(struct nvmf_connect_data, hostnqn):
		qhost_err(ctrl, "the target does not know the host %s\n",
			  ctrl->opts.hostnqn);
		return -EACCES;
	default:
		qhost_err(ctrl, "queue %u: Connect: the target refuses byte %u of the data\n",
			  qid, offset);
		return -EINVAL;
	}
}

static int connect_error(struct qhost_ctrl *ctrl, u16 qid, int status,
			 u32 result)
{
	if (status > 0 && (status & NVME_SCT_SC_MASK) ==
			  NVME_SC_CONNECT_INVALID_PARAM)
		return connect_invalid(ctrl, qid, result);
	if (status > 0)
		qhost_err(ctrl, "queue %u: Connect: %s (status %#x)\n", qid,
			  qhost_status_name(status, true), status);
	else
		qhost_err(ctrl, "queue %u: Connect: %pe\n", qid,
			  ERR_PTR(status));
	return qhost_status_errno(status, true);
}

/* Connect's answer: the controller's id, and whether it wants more. */
static int connect_result(struct qhost_ctrl *ctrl, u16 qid, u32 result)
{
	if (result & (NVME_CONNECT_AUTHREQ_ATR | NVME_CONNECT_AUTHREQ_ASCR)) {
		qhost_err(ctrl, "the target asks for authentication, which is not supported\n");
		return -EOPNOTSUPP;
	}
	if (qid)
		return 0;
	ctrl->cntlid = result;
	if (ctrl->cntlid < NVME_CNTLID_MIN || ctrl->cntlid > NVME_CNTLID_MAX) {
		qhost_err(ctrl, "the target gives controller id %#x, which is reserved\n",
			  ctrl->cntlid);
		return -EPROTO;
	}
	return 0;
}

/**
 * qhost_connect_queue() - make a connected queue a queue of the controller
 * @ctrl: the controller
 * @qid: which queue; 0, the admin queue, creates the controller
 *
 * Context: process, sleeps.
 * Return: 0, or an errno after a line in the log.
 */
int qhost_connect_queue(struct qhost_ctrl *ctrl, u16 qid)
{
	struct qhost_queue *queue = &ctrl->queues[qid];
	struct nvme_command cmd = {
		.connect.opcode = nvme_fabrics_command,
		.connect.fctype = nvme_fabrics_type_connect,
		.connect.qid = cpu_to_le16(qid),
		.connect.sqsize = cpu_to_le16(queue->size - 1),
	};
	struct nvmf_connect_data *data;
	union nvme_result result = { };
	int err;

	data = kzalloc(sizeof(*data), GFP_KERNEL);
	if (!data)
		return -ENOMEM;
	if (!qid)
		cmd.connect.kato = cpu_to_le32(ctrl->opts.keep_alive_tmo *
					       MSEC_PER_SEC);
	uuid_copy(&data->hostid, &ctrl->opts.hostid);
	data->cntlid = cpu_to_le16(qid ? ctrl->cntlid : NVME_CNTLID_DYNAMIC);
	strscpy(data->subsysnqn, ctrl->opts.subsysnqn, NVMF_NQN_SIZE + 1);
	strscpy(data->hostnqn, ctrl->opts.hostnqn, NVMF_NQN_SIZE + 1);

	err = qhost_sync_cmd_on(ctrl, qid, &cmd, &result, data, sizeof(*data));
	kfree(data);
	if (err)
		return connect_error(ctrl, qid, err, le32_to_cpu(result.u32));
	return connect_result(ctrl, qid, le32_to_cpu(result.u32));
}
