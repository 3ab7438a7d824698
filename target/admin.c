// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admin commands: which there are, and the smallest of them.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include "internal.h"

#define ABORT_NOT_DONE	BIT(0)	/* CDW0 of an Abort's completion */

/*
 * What is with the block layer cannot be called back, and the host may not
 * count on it (NVMe base 2.0 section 5.1): say that nothing was aborted.
 */
static void exec_abort(struct qtgt_req *req)
{
	qtgt_set_result(req, ABORT_NOT_DONE);
	qtgt_req_complete(req, 0);
}

/**
 * qtgt_parse_any_admin() - parse what every type of controller has
 * @req: request
 *
 * Context: any.
 * Return: an NVMe status.
 */
u16 qtgt_parse_any_admin(struct qtgt_req *req)
{
	switch (req->cmd.common.opcode) {
	case nvme_admin_set_features:
	case nvme_admin_get_features:
		return qtgt_parse_features(req);
	case nvme_admin_async_event:
		return qtgt_parse_async_event(req);
	case nvme_admin_keep_alive:
		req->execute = qtgt_exec_keep_alive;
		return 0;
	default:
		return qtgt_bad_opcode(req);
	}
}

/**
 * qtgt_parse_admin() - parse an admin command that is not a fabrics one
 * @req: request on an admin queue
 *
 * Context: any.
 * Return: an NVMe status.
 */
u16 qtgt_parse_admin(struct qtgt_req *req)
{
	u16 status;

	status = qtgt_ctrl_ready(req);
	if (status)
		return status;
	if (qtgt_is_discovery(req->queue->ctrl->subsys))
		return qtgt_parse_discovery(req);

	switch (req->cmd.common.opcode) {
	case nvme_admin_get_log_page:
		return qtgt_parse_log_page(req);
	case nvme_admin_identify:
		req->data_len = NVME_IDENTIFY_DATA_SIZE;
		req->execute = qtgt_exec_identify;
		return 0;
	case nvme_admin_abort_cmd:
		req->execute = exec_abort;
		return 0;
	default:
		return qtgt_parse_any_admin(req);
	}
}
