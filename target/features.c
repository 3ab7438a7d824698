// SPDX-License-Identifier: GPL-2.0-only
/*
 * Get Features and Set Features. Process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include "internal.h"

#define FEAT_ID		0xff		/* FID, CDW10 */
#define FEAT_SEL	GENMASK(10, 8)	/* SEL, CDW10 of Get Features */
#define FEAT_SAVE	BIT(31)		/* SV, CDW10 of Set Features */
#define HOST_ID_128	BIT(0)		/* EXHID, CDW11 */

struct feature {
	u8	id;
	bool	discovery;	/* a discovery controller has it too */
	u16	(*get)(struct qtgt_req *req);
	u16	(*set)(struct qtgt_req *req);
};

static u16 bad_cdw11(struct qtgt_req *req)
{
	return qtgt_bad_field(req, offsetof(struct nvme_common_command, cdw11),
			      NVME_SC_INVALID_FIELD);
}

static u16 get_num_queues(struct qtgt_req *req)
{
	u32 n = req->queue->ctrl->max_qid - 1;

	qtgt_set_result(req, n | n << 16);
	return 0;
}

static u16 set_num_queues(struct qtgt_req *req)
{
	u32 val = le32_to_cpu(req->cmd.common.cdw11);

	/* 65,535 is not a number of queues: NVMe base 2.0 section 5.27.1.5. */
	if ((val & 0xffff) == 0xffff || val >> 16 == 0xffff)
		return bad_cdw11(req);
	return get_num_queues(req);
}

static u16 get_volatile_wc(struct qtgt_req *req)
{
	qtgt_set_result(req, 1);
	return 0;
}

static u16 get_async_event(struct qtgt_req *req)
{
	struct qtgt_ctrl *ctrl = req->queue->ctrl;

	mutex_lock(&ctrl->lock);
	qtgt_set_result(req, ctrl->aen_enabled);
	mutex_unlock(&ctrl->lock);
	return 0;
}

static u16 get_kato(struct qtgt_req *req)
{
	struct qtgt_ctrl *ctrl = req->queue->ctrl;

	mutex_lock(&ctrl->lock);
	qtgt_set_result(req, ctrl->kato * MSEC_PER_SEC);
	mutex_unlock(&ctrl->lock);
	return 0;
}

static u16 set_kato(struct qtgt_req *req)
{
	qtgt_ctrl_set_kato(req->queue->ctrl,
			   le32_to_cpu(req->cmd.common.cdw11));
	return 0;
}

static u16 get_host_id(struct qtgt_req *req)
{
	struct qtgt_ctrl *ctrl = req->queue->ctrl;

	if (!(req->cmd.common.cdw11 & cpu_to_le32(HOST_ID_128)))
		return bad_cdw11(req);
	return qtgt_copy_to_data(req, 0, &ctrl->hostid, sizeof(ctrl->hostid));
}

/* Connect has set it: fabrics 1.1 section 5.27.1.25. */
static u16 set_host_id(struct qtgt_req *req)
{
	return NVME_SC_CMD_SEQ_ERROR | NVME_STATUS_DNR;
}

static u16 get_write_protect(struct qtgt_req *req)
{
	u16 status;

	status = qtgt_req_find_ns(req);
	if (status)
		return status;
	qtgt_set_result(req, READ_ONCE(req->ns->readonly) ?
			     NVME_NS_WRITE_PROTECT : NVME_NS_NO_WRITE_PROTECT);
	return 0;
}

static u16 set_write_protect(struct qtgt_req *req)
{
	u32 val = le32_to_cpu(req->cmd.common.cdw11);
	u16 status;

	if (val != NVME_NS_WRITE_PROTECT && val != NVME_NS_NO_WRITE_PROTECT)
		return bad_cdw11(req);
	status = qtgt_req_find_ns(req);
	if (status)
		return status;

	qtgt_ns_set_readonly(req->ns, val == NVME_NS_WRITE_PROTECT);
	if (val == NVME_NS_WRITE_PROTECT) {
		/* What was written before is safe once this succeeds. */
		status = req->ns->ops->flush(req->ns);
		if (status)
			qtgt_ns_set_readonly(req->ns, false);
	}
	return status;
}

static const struct feature features[] = {
	{ NVME_FEAT_VOLATILE_WC, false, get_volatile_wc, NULL },
	{ NVME_FEAT_NUM_QUEUES, false, get_num_queues, set_num_queues },
	{ NVME_FEAT_ASYNC_EVENT, true, get_async_event, qtgt_set_async_config },
	{ NVME_FEAT_KATO, true, get_kato, set_kato },
	{ NVME_FEAT_HOST_ID, false, get_host_id, set_host_id },
	{ NVME_FEAT_WRITE_PROTECT, false, get_write_protect, set_write_protect },
};

static const struct feature *find_feature(struct qtgt_req *req)
{
	u8 id = le32_to_cpu(req->cmd.common.cdw10) & FEAT_ID;
	bool disc = qtgt_is_discovery(req->queue->ctrl->subsys);
	int i;

	for (i = 0; i < ARRAY_SIZE(features); i++)
		if (features[i].id == id && (!disc || features[i].discovery))
			return &features[i];
	return NULL;
}

static u16 bad_feature(struct qtgt_req *req)
{
	return qtgt_bad_field(req, offsetof(struct nvme_common_command, cdw10),
			      NVME_SC_INVALID_FIELD);
}

static void exec_get(struct qtgt_req *req)
{
	const struct feature *feat = find_feature(req);
	u16 status;

	/* Current values are all there is: no saved ones, no defaults. */
	if (!feat || req->cmd.common.cdw10 & cpu_to_le32(FEAT_SEL))
		status = bad_feature(req);
	else
		status = feat->get(req);
	qtgt_req_complete(req, status);
}

static void exec_set(struct qtgt_req *req)
{
	const struct feature *feat = find_feature(req);
	u16 status;

	if (!feat || !feat->set)
		status = bad_feature(req);
	else if (req->cmd.common.cdw10 & cpu_to_le32(FEAT_SAVE))
		status = qtgt_bad_field(req,
					offsetof(struct nvme_common_command, cdw10),
					NVME_SC_FEATURE_NOT_SAVEABLE);
	else
		status = feat->set(req);
	qtgt_req_complete(req, status);
}

/**
 * qtgt_parse_features() - parse Get Features or Set Features
 * @req: request
 *
 * Context: any.
 * Return: an NVMe status.
 */
u16 qtgt_parse_features(struct qtgt_req *req)
{
	/*
	 * Some hosts bring a buffer for any feature. Take it, so that they
	 * learn what is wrong with the feature and not with the buffer.
	 */
	req->len_rule = QTGT_LEN_AT_LEAST;
	if (req->cmd.common.opcode == nvme_admin_set_features) {
		req->execute = exec_set;
		return 0;
	}
	if ((le32_to_cpu(req->cmd.common.cdw10) & FEAT_ID) == NVME_FEAT_HOST_ID)
		req->data_len = sizeof(uuid_t);
	req->execute = exec_get;
	return 0;
}
