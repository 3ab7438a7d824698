// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an NVMe status means to the block layer, to the one who connects and
 * in words. A status here is the status field without the phase bit; where
 * it is negative it is an errno of our own. Pure functions, any context.
 */
#include "host.h"

struct status_info {
	u16 status;
	blk_status_t blk;
	int errno;
	const char *name;
};

/* Looked through only after an error. What is missing is an I/O error. */
static const struct status_info infos[] = {
	{ NVME_SC_INVALID_OPCODE, BLK_STS_NOTSUPP, -EOPNOTSUPP,
	  "invalid opcode" },
	{ NVME_SC_INVALID_FIELD, BLK_STS_NOTSUPP, -EINVAL, "invalid field" },
	{ NVME_SC_DATA_XFER_ERROR, BLK_STS_IOERR, -EIO, "data transfer error" },
	{ NVME_SC_INTERNAL, BLK_STS_IOERR, -EIO, "internal error" },
	{ NVME_SC_INVALID_NS, BLK_STS_NOTSUPP, -ENODEV, "invalid namespace" },
	{ NVME_SC_CMD_SEQ_ERROR, BLK_STS_IOERR, -EPROTO,
	  "command sequence error" },
	{ NVME_SC_SGL_INVALID_DATA, BLK_STS_IOERR, -EPROTO,
	  "data SGL length invalid" },
	{ NVME_SC_SGL_INVALID_OFFSET, BLK_STS_IOERR, -EPROTO,
	  "SGL offset invalid" },
	{ NVME_SC_KA_TIMEOUT_INVALID, BLK_STS_IOERR, -EINVAL,
	  "keep alive time-out invalid" },
	{ NVME_SC_NS_WRITE_PROTECTED, BLK_STS_MEDIUM, -EROFS,
	  "namespace is write protected" },
	{ NVME_SC_CMD_INTERRUPTED, BLK_STS_TARGET, -EIO,
	  "command interrupted" },
	{ NVME_SC_LBA_RANGE, BLK_STS_TARGET, -EIO, "LBA out of range" },
	{ NVME_SC_CAP_EXCEEDED, BLK_STS_NOSPC, -ENOSPC, "capacity exceeded" },
	{ NVME_SC_NS_NOT_READY, BLK_STS_TARGET, -EIO, "namespace not ready" },
	{ NVME_SC_RESERVATION_CONFLICT, BLK_STS_RESV_CONFLICT, -EBUSY,
	  "reservation conflict" },
	{ NVME_SC_QID_INVALID, BLK_STS_IOERR, -EINVAL, "invalid queue id" },
	{ NVME_SC_BAD_ATTRIBUTES, BLK_STS_NOTSUPP, -EINVAL,
	  "conflicting attributes" },
	{ NVME_SC_READ_ONLY, BLK_STS_MEDIUM, -EROFS,
	  "write to a read-only range" },
	{ NVME_SC_WRITE_FAULT, BLK_STS_MEDIUM, -EIO, "write fault" },
	{ NVME_SC_READ_ERROR, BLK_STS_MEDIUM, -EIO,
	  "unrecovered read error" },
	{ NVME_SC_GUARD_CHECK, BLK_STS_PROTECTION, -EIO,
	  "guard check error" },
	{ NVME_SC_APPTAG_CHECK, BLK_STS_PROTECTION, -EIO,
	  "application tag check error" },
	{ NVME_SC_REFTAG_CHECK, BLK_STS_PROTECTION, -EIO,
	  "reference tag check error" },
	{ NVME_SC_COMPARE_FAILED, BLK_STS_MEDIUM, -EIO, "compare failure" },
	{ NVME_SC_ACCESS_DENIED, BLK_STS_MEDIUM, -EACCES, "access denied" },
	{ NVME_SC_UNWRITTEN_BLOCK, BLK_STS_MEDIUM, -EIO,
	  "deallocated or unwritten block" },
	{ NVME_SC_INTERNAL_PATH_ERROR, BLK_STS_TRANSPORT, -EIO,
	  "internal path error" },
	{ NVME_SC_CTRL_PATH_ERROR, BLK_STS_TRANSPORT, -EIO,
	  "controller path error" },
	{ NVME_SC_HOST_PATH_ERROR, BLK_STS_TRANSPORT, -EIO,
	  "host path error" },
};

/* Connect has names of its own for what others use differently. */
static const struct status_info connect_infos[] = {
	{ NVME_SC_CONNECT_FORMAT, BLK_STS_IOERR, -EPROTO,
	  "incompatible format" },
	{ NVME_SC_CONNECT_CTRL_BUSY, BLK_STS_IOERR, -EBUSY,
	  "the controller is busy" },
	{ NVME_SC_CONNECT_INVALID_PARAM, BLK_STS_IOERR, -EINVAL,
	  "invalid parameter" },
	{ NVME_SC_CONNECT_RESTART_DISC, BLK_STS_IOERR, -EIO,
	  "restart discovery" },
	{ NVME_SC_CONNECT_INVALID_HOST, BLK_STS_IOERR, -EACCES,
	  "this host is not allowed" },
	{ NVME_SC_AUTH_REQUIRED, BLK_STS_IOERR, -EOPNOTSUPP,
	  "authentication required" },
};

static const struct status_info *find(const struct status_info *table,
				      size_t count, int status)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (table[i].status == (status & NVME_SCT_SC_MASK))
			return &table[i];
	}
	return NULL;
}

/**
 * qhost_blk_status() - what the block layer is told
 * @status: NVMe status or errno, not 0
 *
 * Return: the block layer's status; that of a lost link for an errno.
 */
blk_status_t qhost_blk_status(int status)
{
	const struct status_info *info;

	if (status < 0)
		return BLK_STS_TRANSPORT;
	info = find(infos, ARRAY_SIZE(infos), status);
	return info ? info->blk : BLK_STS_IOERR;
}

/**
 * qhost_may_retry() - is it worth to send a failed request again?
 * @rq: the request
 * @status: NVMe status or errno, not 0
 *
 * NVMe base 2.0, figure 90: Do Not Retry says that it is not.
 *
 * Return: true if so.
 */
bool qhost_may_retry(struct request *rq, int status)
{
	const struct qhost_request *req = blk_mq_rq_to_pdu(rq);

	return status > 0 && !(status & NVME_STATUS_DNR) &&
	       !blk_noretry_request(rq) && !blk_rq_is_passthrough(rq) &&
	       req->retries < QHOST_MAX_RETRIES;
}

/**
 * qhost_status_name() - an NVMe status in words
 * @status: the status, not 0
 * @connect: it is that of a Connect command
 *
 * Return: its name, or "error" where it has none here.
 */
const char *qhost_status_name(int status, bool connect)
{
	const struct status_info *info = NULL;

	if (connect)
		info = find(connect_infos, ARRAY_SIZE(connect_infos), status);
	if (!info)
		info = find(infos, ARRAY_SIZE(infos), status);
	return info ? info->name : "error";
}

/**
 * qhost_status_errno() - an NVMe status for one who is told errnos
 * @status: NVMe status, or 0 or an errno, which are returned as they are
 * @connect: it is that of a Connect command
 *
 * Return: 0 or an errno.
 */
int qhost_status_errno(int status, bool connect)
{
	const struct status_info *info = NULL;

	if (status <= 0)
		return status;
	if (connect)
		info = find(connect_infos, ARRAY_SIZE(connect_infos), status);
	if (!info)
		info = find(infos, ARRAY_SIZE(infos), status);
	return info ? info->errno : -EIO;
}
