// SPDX-License-Identifier: GPL-2.0-only
/*
 * Get Log Page, for the controllers of NVM subsystems. Process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/slab.h>
#include <linux/unaligned.h>
#include "internal.h"

static_assert(sizeof(struct nvme_error_slot) == 64);
static_assert(sizeof(struct nvme_smart_log) == 512);
static_assert(sizeof(struct nvme_fw_slot_info_log) == 512);
static_assert(sizeof(struct nvme_effects_log) == 4096);

#define SMART_UNIT	1000	/* of 512 bytes: data units read and written */
#define FW_SLOT1_ACTIVE	1

/**
 * qtgt_log_len() - how much of a log page does a host want?
 * @cmd: Get Log Page
 *
 * Context: any.
 * Return: bytes; more than any transfer may have where it is out of range.
 */
u32 qtgt_log_len(const struct nvme_command *cmd)
{
	u64 dwords = ((u32)le16_to_cpu(cmd->get_log_page.numdu) << 16 |
		      le16_to_cpu(cmd->get_log_page.numdl)) + 1ULL;

	return min_t(u64, dwords * sizeof(u32), U32_MAX);
}

/**
 * qtgt_log_copy() - give a host the part of a log page that it wants
 * @req: Get Log Page
 * @log: the whole page
 * @len: its length, bytes
 *
 * Past the end of the page the host reads zeroes.
 *
 * Context: process, may sleep.
 * Return: an NVMe status.
 */
u16 qtgt_log_copy(struct qtgt_req *req, const void *log, size_t len)
{
	u64 off = le64_to_cpu(req->cmd.get_log_page.lpo);
	size_t want = req->data_len;
	size_t n;
	u16 status;

	/* NVMe base 2.0 section 5.16: dword aligned, within the page. */
	if ((off & 3) || off > len)
		return qtgt_bad_field(req,
				      offsetof(struct nvme_get_log_page_command, lpo),
				      NVME_SC_INVALID_FIELD);
	n = min_t(u64, want, len - off);
	status = qtgt_copy_to_data(req, 0, log + off, n);
	if (!status && n < want)
		status = qtgt_zero_data(req, n, want - n);
	return status;
}

/* The newest first. */
static u16 log_error(struct qtgt_req *req)
{
	struct qtgt_ctrl *ctrl = req->queue->ctrl;
	struct nvme_error_slot *log;
	unsigned long flags;
	unsigned int i;
	u16 status;

	log = kcalloc(QTGT_ERROR_SLOTS, sizeof(*log), GFP_KERNEL);
	if (!log)
		return NVME_SC_INTERNAL;

	spin_lock_irqsave(&ctrl->error_lock, flags);
	for (i = 0; i < QTGT_ERROR_SLOTS; i++)
		log[i] = ctrl->errors[(ctrl->error_count - i) %
				      QTGT_ERROR_SLOTS];
	spin_unlock_irqrestore(&ctrl->error_lock, flags);

	status = qtgt_log_copy(req, log, QTGT_ERROR_SLOTS * sizeof(*log));
	kfree(log);
	return status;
}

static u16 smart_stats(struct qtgt_req *req, u64 *ios, u64 *units)
{
	struct qtgt_subsys *subsys = req->queue->ctrl->subsys;
	unsigned long nsid;
	struct qtgt_ns *ns;
	u16 status;

	if (req->cmd.get_log_page.nsid != cpu_to_le32(NVME_NSID_ALL)) {
		status = qtgt_req_find_ns(req);
		if (!status)
			req->ns->ops->stats(req->ns, ios, units);
		return status;
	}

	rcu_read_lock();
	xa_for_each_marked(&subsys->namespaces, nsid, ns, QTGT_NS_ENABLED) {
		if (!percpu_ref_tryget_live(&ns->ref))
			continue;
		ns->ops->stats(ns, ios, units);
		percpu_ref_put(&ns->ref);
	}
	rcu_read_unlock();
	return 0;
}

static u16 log_smart(struct qtgt_req *req)
{
	struct qtgt_ctrl *ctrl = req->queue->ctrl;
	u64 ios[2] = { }, units[2] = { };
	struct nvme_smart_log *log;
	unsigned long flags;
	u16 status;

	log = kzalloc(sizeof(*log), GFP_KERNEL);
	if (!log)
		return NVME_SC_INTERNAL;
	status = smart_stats(req, ios, units);
	if (status)
		goto out_free_log;

	put_unaligned_le64(ios[READ], log->host_reads);
	put_unaligned_le64(ios[WRITE], log->host_writes);
	put_unaligned_le64(DIV_ROUND_UP_ULL(units[READ], SMART_UNIT),
			   log->data_units_read);
	put_unaligned_le64(DIV_ROUND_UP_ULL(units[WRITE], SMART_UNIT),
			   log->data_units_written);
	spin_lock_irqsave(&ctrl->error_lock, flags);
	put_unaligned_le64(ctrl->error_count, log->num_err_log_entries);
	spin_unlock_irqrestore(&ctrl->error_lock, flags);

	status = qtgt_log_copy(req, log, sizeof(*log));
out_free_log:
	kfree(log);
	return status;
}

static u16 log_firmware(struct qtgt_req *req)
{
	struct qtgt_subsys *subsys = req->queue->ctrl->subsys;
	struct nvme_fw_slot_info_log *log;
	u16 status;

	log = kzalloc(sizeof(*log), GFP_KERNEL);
	if (!log)
		return NVME_SC_INTERNAL;
	log->afi = FW_SLOT1_ACTIVE;
	mutex_lock(&subsys->lock);
	memcpy_and_pad(&log->frs[0], sizeof(log->frs[0]), subsys->id.firmware,
		       strlen(subsys->id.firmware), ' ');
	mutex_unlock(&subsys->lock);
	status = qtgt_log_copy(req, log, sizeof(*log));
	kfree(log);
	return status;
}

static u16 log_changed_ns(struct qtgt_req *req)
{
	struct qtgt_ctrl *ctrl = req->queue->ctrl;
	size_t len = NVME_MAX_CHANGED_NAMESPACES * sizeof(__le32);
	u32 n;
	__le32 *log;
	u16 status;

	log = kzalloc(len, GFP_KERNEL);
	if (!log)
		return NVME_SC_INTERNAL;

	/* Reading it empties it: NVMe base 2.0 section 5.16.1.5. */
	mutex_lock(&ctrl->lock);
	n = ctrl->nr_changed_ns == U32_MAX ? 1 : ctrl->nr_changed_ns;
	memcpy(log, ctrl->changed_ns, n * sizeof(*log));
	ctrl->nr_changed_ns = 0;
	qtgt_event_log_read(req, QTGT_EVENT_NS_CHANGED);
	mutex_unlock(&ctrl->lock);

	status = qtgt_log_copy(req, log, len);
	kfree(log);
	return status;
}

static u16 log_effects(struct qtgt_req *req)
{
	static const u8 admin[] = {
		nvme_admin_get_log_page, nvme_admin_identify,
		nvme_admin_abort_cmd, nvme_admin_set_features,
		nvme_admin_get_features, nvme_admin_async_event,
		nvme_admin_keep_alive,
	};
	const __le32 supported = cpu_to_le32(NVME_CMD_EFFECTS_CSUPP);
	const __le32 changes = cpu_to_le32(NVME_CMD_EFFECTS_CSUPP |
					   NVME_CMD_EFFECTS_LBCC);
	struct nvme_effects_log *log;
	u16 status;
	int i;

	if (req->cmd.get_log_page.csi != NVME_CSI_NVM)
		return qtgt_bad_field(req,
				      offsetof(struct nvme_get_log_page_command, csi),
				      NVME_SC_INVALID_IO_CMD_SET);
	log = kzalloc(sizeof(*log), GFP_KERNEL);
	if (!log)
		return NVME_SC_INTERNAL;

	for (i = 0; i < ARRAY_SIZE(admin); i++)
		log->acs[admin[i]] = supported;
	log->iocs[nvme_cmd_read] = supported;
	log->iocs[nvme_cmd_flush] = supported;
	log->iocs[nvme_cmd_write] = changes;
	log->iocs[nvme_cmd_write_zeroes] = changes;
	log->iocs[nvme_cmd_dsm] = changes;

	status = qtgt_log_copy(req, log, sizeof(*log));
	kfree(log);
	return status;
}

static const struct {
	u8	id;
	u16	(*get)(struct qtgt_req *req);
} logs[] = {
	{ NVME_LOG_ERROR, log_error },
	{ NVME_LOG_SMART, log_smart },
	{ NVME_LOG_FW_SLOT, log_firmware },
	{ NVME_LOG_CHANGED_NS, log_changed_ns },
	{ NVME_LOG_CMD_EFFECTS, log_effects },
};

static void exec_log(struct qtgt_req *req)
{
	u8 id = req->cmd.get_log_page.lid;
	u16 status;
	int i;

	if (id == NVME_LOG_ANA) {
		qtgt_exec_log_ana(req);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(logs); i++)
		if (logs[i].id == id)
			break;
	if (i < ARRAY_SIZE(logs))
		status = logs[i].get(req);
	else
		status = qtgt_bad_field(req,
					offsetof(struct nvme_get_log_page_command, lid),
					NVME_SC_INVALID_FIELD);
	qtgt_req_complete(req, status);
}

/**
 * qtgt_parse_log_page() - parse Get Log Page
 * @req: request
 *
 * Context: any.
 * Return: an NVMe status.
 */
u16 qtgt_parse_log_page(struct qtgt_req *req)
{
	req->data_len = qtgt_log_len(&req->cmd);
	req->execute = exec_log;
	return 0;
}
