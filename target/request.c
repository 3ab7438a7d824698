// SPDX-License-Identifier: GPL-2.0-only
/*
 * A command from its arrival to its response. All that a peer supplies is
 * checked here or in the parse functions called from here, before any buffer
 * is taken and any data moved. Commands of I/O queues are parsed in softirq.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/math64.h>
#include <linux/overflow.h>
#include <linux/unaligned.h>
#include "internal.h"
#include "trace.h"

static u16 parse_io(struct qtgt_req *req)
{
	u16 status;

	if (unlikely(nvme_is_fabrics(&req->cmd)))
		return qtgt_parse_fabrics(req);
	status = qtgt_ctrl_ready(req);
	if (unlikely(status))
		return status;
	status = qtgt_req_find_ns(req);
	if (unlikely(status))
		return status;
	status = qtgt_ana_check(req);
	if (unlikely(status))
		return status;

	if (unlikely(READ_ONCE(req->ns->readonly)) &&
	    req->cmd.common.opcode != nvme_cmd_read &&
	    req->cmd.common.opcode != nvme_cmd_flush) {
		req->error_loc = offsetof(struct nvme_common_command, nsid);
		return NVME_SC_NS_WRITE_PROTECTED;
	}
	return req->ns->ops->parse(req);
}

static u16 parse(struct qtgt_req *req)
{
	if (unlikely(!req->queue->ctrl))
		return qtgt_parse_connect(req);
	if (likely(req->queue->qid))
		return parse_io(req);
	if (nvme_is_fabrics(&req->cmd))
		return qtgt_parse_fabrics(req);
	return qtgt_parse_admin(req);
}

static u16 bad_sgl(struct qtgt_req *req, u16 status)
{
	return qtgt_bad_field(req, offsetof(struct nvme_common_command, dptr),
			      status);
}

/* Data in the capsule: only towards us, and only what has arrived. */
static u16 parse_sgl_capsule(struct qtgt_req *req, u32 capsule_data)
{
	const struct nvme_sgl_desc *sgl = &req->cmd.common.dptr.sgl;

	if ((sgl->type & 0xf) != NVME_SGL_FMT_OFFSET)
		return bad_sgl(req, NVME_SC_SGL_INVALID_TYPE);
	req->sgl.addr = le64_to_cpu(sgl->addr);
	req->sgl.len = le32_to_cpu(sgl->length);
	if (!nvme_is_write(&req->cmd) && req->sgl.len)
		return bad_sgl(req, NVME_SC_INVALID_FIELD);
	if (req->sgl.addr > capsule_data)
		return bad_sgl(req, NVME_SC_SGL_INVALID_OFFSET);
	if (req->sgl.len > capsule_data - req->sgl.addr)
		return bad_sgl(req, NVME_SC_SGL_INVALID_DATA);
	req->sgl.in_capsule = true;
	return 0;
}

static u16 parse_sgl_keyed(struct qtgt_req *req)
{
	const struct nvme_keyed_sgl_desc *sgl = &req->cmd.common.dptr.ksgl;
	u64 end;

	switch (sgl->type & 0xf) {
	case NVME_SGL_FMT_ADDRESS | NVME_SGL_FMT_INVALIDATE:
		req->sgl.invalidate = true;
		break;
	case NVME_SGL_FMT_ADDRESS:
		break;
	default:
		return bad_sgl(req, NVME_SC_SGL_INVALID_TYPE);
	}
	req->sgl.addr = le64_to_cpu(sgl->addr);
	req->sgl.len = get_unaligned_le24(sgl->length);
	req->sgl.key = get_unaligned_le32(sgl->key);
	if (check_add_overflow(req->sgl.addr, (u64)req->sgl.len, &end))
		return bad_sgl(req, NVME_SC_SGL_INVALID_OFFSET);
	return 0;
}

static u16 parse_sgl(struct qtgt_req *req, u32 capsule_data)
{
	u8 type = req->cmd.common.dptr.sgl.type >> 4;
	u16 status;

	if (likely(type == NVME_KEY_SGL_FMT_DATA_DESC &&
		   req->queue->ops->keyed_sgls))
		status = parse_sgl_keyed(req);
	else if (type == NVME_SGL_FMT_DATA_DESC)
		status = parse_sgl_capsule(req, capsule_data);
	else
		status = bad_sgl(req, NVME_SC_SGL_INVALID_TYPE);
	if (unlikely(status))
		return status;

	if (unlikely(req->data_len > QTGT_MAX_DATA_LEN ||
		     req->sgl.len > QTGT_MAX_DATA_LEN))
		return bad_sgl(req, NVME_SC_INVALID_FIELD);
	if (unlikely(req->sgl.len < req->data_len ||
		     (req->sgl.len != req->data_len &&
		      req->len_rule == QTGT_LEN_EXACT)))
		return bad_sgl(req, NVME_SC_SGL_INVALID_DATA);
	return 0;
}

static u16 check_flags(struct qtgt_req *req)
{
	u8 flags = req->cmd.common.flags;

	/* No fused commands; SGLs always, as fabrics demands. */
	if (unlikely((flags & (NVME_CMD_FUSE_FIRST | NVME_CMD_FUSE_SECOND)) ||
		     (flags & NVME_CMD_SGL_ALL) != NVME_CMD_SGL_METABUF))
		return qtgt_bad_field(req,
				      offsetof(struct nvme_common_command, flags),
				      NVME_SC_INVALID_FIELD);
	return 0;
}

/**
 * qtgt_req_init() - take in a command
 * @req: request with cmd, cqe and queue set, sg NULL; the queue's reference
 *	is held by the caller and passes to the request
 * @capsule_data: bytes of data that came in the capsule
 *
 * Context: softirq for a connected I/O queue, else process.
 * Return: 0 where req->execute() is to be called, after the transport has
 * brought the data that req->sgl describes. -EINVAL where the command was
 * completed with a status instead.
 */
int qtgt_req_init(struct qtgt_req *req, u32 capsule_data)
{
	u16 status;

	req->ns = NULL;
	req->data_len = 0;
	req->len_rule = QTGT_LEN_EXACT;
	req->atomic = false;
	req->error_loc = QTGT_NO_ERROR_LOC;
	req->error_slba = 0;
	req->sgl.in_capsule = false;
	req->sgl.invalidate = false;
	req->sgl.len = 0;
	req->cqe->result.u64 = 0;

	status = check_flags(req);
	if (likely(!status))
		status = parse(req);
	if (likely(!status))
		status = parse_sgl(req, capsule_data);
	trace_qtgt_req_init(req);
	if (unlikely(status)) {
		req->sgl.len = 0;
		qtgt_req_complete(req, status);
		return -EINVAL;
	}
	if (req->queue->ctrl && !READ_ONCE(req->queue->ctrl->traffic))
		WRITE_ONCE(req->queue->ctrl->traffic, true);
	return 0;
}

/* Note an error in the log that Get Log Page reads. */
static void log_error(struct qtgt_req *req, u16 status)
{
	struct qtgt_ctrl *ctrl = req->queue->ctrl;
	struct nvme_error_slot *slot;
	unsigned long flags;

	if (!ctrl || req->error_loc == QTGT_NO_ERROR_LOC)
		return;

	spin_lock_irqsave(&ctrl->error_lock, flags);
	ctrl->error_count++;
	slot = &ctrl->errors[ctrl->error_count % QTGT_ERROR_SLOTS];
	slot->error_count = cpu_to_le64(ctrl->error_count);
	slot->sqid = cpu_to_le16(req->queue->qid);
	slot->cmdid = cpu_to_le16(req->cmd.common.command_id);
	slot->status_field = cpu_to_le16(status << 1);
	slot->param_error_location = cpu_to_le16(req->error_loc);
	slot->lba = cpu_to_le64(req->error_slba);
	slot->nsid = req->cmd.common.nsid;
	spin_unlock_irqrestore(&ctrl->error_lock, flags);

	req->cqe->status |= cpu_to_le16(NVME_STATUS_MORE << 1);
}

/**
 * qtgt_req_complete() - respond to a command
 * @req: request, not the caller's any more afterwards
 * @status: NVMe status; data goes to the host only with 0
 *
 * Context: any, even hard interrupt.
 */
void qtgt_req_complete(struct qtgt_req *req, u16 status)
{
	struct qtgt_queue *queue = req->queue;
	struct nvme_completion *cqe = req->cqe;
	struct qtgt_ns *ns = req->ns;
	u32 sqhd = U16_MAX;

	/* Without flow control there is no head: fabrics 1.1 section 2.4.1. */
	if (!queue->no_sqflow && queue->size)
		div_u64_rem(atomic64_read(&queue->consumed), queue->size,
			    &sqhd);
	cqe->sq_head = cpu_to_le16(sqhd);
	cqe->sq_id = cpu_to_le16(queue->qid);
	cqe->command_id = req->cmd.common.command_id;
	cqe->status = cpu_to_le16(status << 1);
	if (unlikely(status))
		log_error(req, status);

	trace_qtgt_req_complete(req);
	queue->ops->respond(req);
	if (ns)
		percpu_ref_put(&ns->ref);
	percpu_ref_put(&queue->ref);
}

/**
 * qtgt_copy_to_data() - copy into the data of a command
 * @req: request
 * @off: byte of the data to begin at
 * @buf: what to copy
 * @len: bytes
 *
 * Context: process.
 * Return: 0, or an NVMe status where the data is shorter.
 */
u16 qtgt_copy_to_data(struct qtgt_req *req, size_t off, const void *buf,
		      size_t len)
{
	if (sg_pcopy_from_buffer(req->sg, req->sg_cnt, buf, len, off) != len)
		return bad_sgl(req, NVME_SC_SGL_INVALID_DATA);
	return 0;
}

/**
 * qtgt_copy_from_data() - copy from the data of a command
 * @req: request
 * @off: byte of the data to begin at
 * @buf: where to put it
 * @len: bytes
 *
 * Context: process.
 * Return: 0, or an NVMe status where the data is shorter.
 */
u16 qtgt_copy_from_data(struct qtgt_req *req, size_t off, void *buf,
			size_t len)
{
	if (sg_pcopy_to_buffer(req->sg, req->sg_cnt, buf, len, off) != len)
		return bad_sgl(req, NVME_SC_SGL_INVALID_DATA);
	return 0;
}

/**
 * qtgt_zero_data() - clear a part of the data of a command
 * @req: request
 * @off: byte of the data to begin at
 * @len: bytes
 *
 * Context: process.
 * Return: 0, or an NVMe status where the data is shorter.
 */
u16 qtgt_zero_data(struct qtgt_req *req, size_t off, size_t len)
{
	if (sg_zero_buffer(req->sg, req->sg_cnt, len, off) != len)
		return bad_sgl(req, NVME_SC_SGL_INVALID_DATA);
	return 0;
}

/**
 * qtgt_bad_opcode() - refuse a command that is not there
 * @req: request
 *
 * Context: any.
 * Return: an NVMe status.
 */
u16 qtgt_bad_opcode(struct qtgt_req *req)
{
	return qtgt_bad_field(req, offsetof(struct nvme_common_command, opcode),
			      NVME_SC_INVALID_OPCODE);
}

static u64 req_slba(const struct qtgt_req *req)
{
	switch (req->cmd.common.opcode) {
	case nvme_cmd_read:
	case nvme_cmd_write:
	case nvme_cmd_write_zeroes:
		return le64_to_cpu(req->cmd.rw.slba);
	default:
		return 0;
	}
}

/**
 * qtgt_blk_status() - tell an error of the block layer in NVMe's words
 * @req: request
 * @sts: status of the bio
 *
 * Each kind becomes the status that the host's block layer turns back into
 * the same kind.
 *
 * Context: any.
 * Return: an NVMe status.
 */
u16 qtgt_blk_status(struct qtgt_req *req, blk_status_t sts)
{
	if (likely(sts == BLK_STS_OK))
		return 0;

	req->error_slba = req_slba(req);
	switch (sts) {
	case BLK_STS_NOSPC:
		return qtgt_bad_field(req,
				      offsetof(struct nvme_rw_command, length),
				      NVME_SC_CAP_EXCEEDED);
	case BLK_STS_TARGET:
		return qtgt_bad_field(req,
				      offsetof(struct nvme_rw_command, slba),
				      NVME_SC_LBA_RANGE);
	case BLK_STS_NOTSUPP:
		return qtgt_bad_opcode(req);
	case BLK_STS_MEDIUM:
		req->error_loc = offsetof(struct nvme_rw_command, nsid);
		return NVME_SC_ACCESS_DENIED;
	default:
		return qtgt_bad_field(req,
				      offsetof(struct nvme_common_command, opcode),
				      NVME_SC_INTERNAL);
	}
}

/**
 * qtgt_errno_status() - tell an error number in NVMe's words
 * @req: request
 * @err: negative error number, or 0
 *
 * Context: any.
 * Return: an NVMe status.
 */
u16 qtgt_errno_status(struct qtgt_req *req, int err)
{
	return qtgt_blk_status(req, errno_to_blk_status(err));
}
