// SPDX-License-Identifier: GPL-2.0-only
/*
 * The block layer's side: requests to NVMe commands, and their end. Runs in
 * the context of submission (process or softirq, preemption possible) and in
 * that of completion (softirq, or process on a polled queue).
 */
#define pr_fmt(fmt) "quarry: " fmt

#include "host-block.h"
#include "host.h"
#include "trace.h"

static u64 to_lba(const struct qhost_ns *ns, sector_t sector)
{
	return sector >> (ns->lba_shift - SECTOR_SHIFT);
}

static void setup_rw(const struct qhost_ns *ns, struct request *rq,
		     struct nvme_command *cmd, u8 opcode)
{
	u16 control = 0;

	if (rq->cmd_flags & REQ_FUA)
		control |= NVME_RW_FUA;
	if (rq->cmd_flags & (REQ_FAILFAST_DEV | REQ_RAHEAD))
		control |= NVME_RW_LR;
	cmd->rw.opcode = opcode;
	cmd->rw.nsid = cpu_to_le32(ns->nsid);
	cmd->rw.slba = cpu_to_le64(to_lba(ns, blk_rq_pos(rq)));
	cmd->rw.length = cpu_to_le16((blk_rq_bytes(rq) >> ns->lba_shift) - 1);
	cmd->rw.control = cpu_to_le16(control);
}

static void setup_write_zeroes(const struct qhost_ns *ns, struct request *rq,
			       struct nvme_command *cmd)
{
	cmd->write_zeroes.opcode = nvme_cmd_write_zeroes;
	cmd->write_zeroes.nsid = cpu_to_le32(ns->nsid);
	cmd->write_zeroes.slba = cpu_to_le64(to_lba(ns, blk_rq_pos(rq)));
	cmd->write_zeroes.length =
		cpu_to_le16((blk_rq_bytes(rq) >> ns->lba_shift) - 1);
	if (!(rq->cmd_flags & REQ_NOUNMAP) && ns->deac)
		cmd->write_zeroes.control = cpu_to_le16(NVME_WZ_DEAC);
}

/* The ranges go as data: one for each bio that was merged. */
static blk_status_t setup_discard(const struct qhost_ns *ns,
				  struct request *rq, struct qhost_slot *slot)
{
	unsigned int segs = blk_rq_nr_discard_segments(rq), n = 0;
	struct nvme_command *cmd = slot->cmd;
	struct nvme_dsm_range *range = slot->ranges;
	struct bio *bio;

	if (WARN_ON_ONCE(segs > QHOST_DSM_RANGES))
		return BLK_STS_IOERR;
	__rq_for_each_bio(bio, rq) {
		if (WARN_ON_ONCE(n == segs))
			return BLK_STS_IOERR;
		range[n].cattr = 0;
		range[n].nlb = cpu_to_le32(bio->bi_iter.bi_size >>
					   ns->lba_shift);
		range[n].slba = cpu_to_le64(to_lba(ns,
						   bio->bi_iter.bi_sector));
		n++;
	}
	cmd->dsm.opcode = nvme_cmd_dsm;
	cmd->dsm.nsid = cpu_to_le32(ns->nsid);
	cmd->dsm.nr = cpu_to_le32(n - 1);
	cmd->dsm.attributes = cpu_to_le32(NVME_DSMGMT_AD);

	rq->special_vec.bv_page = virt_to_page(range);
	rq->special_vec.bv_offset = offset_in_page(range);
	rq->special_vec.bv_len = n * sizeof(*range);
	rq->rq_flags |= RQF_SPECIAL_PAYLOAD;
	return BLK_STS_OK;
}

static blk_status_t setup_cmd(struct qhost_slot *slot, struct request *rq)
{
	const struct qhost_ns *ns = rq->q->queuedata;
	struct nvme_command *cmd = slot->cmd;
	struct qhost_request *req;

	memset(cmd, 0, sizeof(*cmd));
	switch (req_op(rq)) {
	case REQ_OP_READ:
		setup_rw(ns, rq, cmd, nvme_cmd_read);
		return BLK_STS_OK;
	case REQ_OP_WRITE:
		setup_rw(ns, rq, cmd, nvme_cmd_write);
		return BLK_STS_OK;
	case REQ_OP_FLUSH:
		cmd->common.opcode = nvme_cmd_flush;
		cmd->common.nsid = cpu_to_le32(ns->nsid);
		return BLK_STS_OK;
	case REQ_OP_WRITE_ZEROES:
		setup_write_zeroes(ns, rq, cmd);
		return BLK_STS_OK;
	case REQ_OP_DISCARD:
		return setup_discard(ns, rq, slot);
	case REQ_OP_DRV_IN:
	case REQ_OP_DRV_OUT:
		req = blk_mq_rq_to_pdu(rq);
		*cmd = req->cmd;
		return BLK_STS_OK;
	default:
		return BLK_STS_NOTSUPP;
	}
}

/* Make a request ready to be posted; it owns its tag's slot from here on. */
static blk_status_t prepare(struct qhost_queue *queue, struct request *rq)
{
	struct qhost_slot *slot = &queue->slots[rq->tag];
	struct qhost_request *req = blk_mq_rq_to_pdu(rq);
	blk_status_t ret;

	if (unlikely(!qhost_queue_live(queue)))
		return BLK_STS_TRANSPORT;
	if (unlikely(!qhost_chain_room(queue)))
		return BLK_STS_RESOURCE;

	/* The flag tells a first try from a retry. */
	if (!(rq->rq_flags & RQF_DONTPREP)) {
		req->retries = 0;
		rq->rq_flags |= RQF_DONTPREP;
	}
	req->slot = slot;
	req->status = 0;
	ret = setup_cmd(slot, rq);
	if (likely(!ret))
		ret = qhost_map(queue, slot, rq);
	if (unlikely(ret)) {
		qhost_chain_unroom(queue);
		return ret;
	}
	slot->rq = rq;
	qhost_stamp_slot(queue, slot, rq->tag);
	trace_qhost_submit(queue, slot, blk_rq_payload_bytes(rq));
	blk_mq_start_request(rq);
	return BLK_STS_OK;
}

static blk_status_t queue_rq(struct blk_mq_hw_ctx *hctx,
			     const struct blk_mq_queue_data *bd)
{
	struct qhost_queue *queue = hctx->driver_data;
	struct qhost_chain chain = { };
	blk_status_t ret;

	ret = prepare(queue, bd->rq);
	if (unlikely(ret))
		return ret;
	qhost_chain_add(&chain, &queue->slots[bd->rq->tag]);
	qhost_chain_post(queue, &chain);
	return BLK_STS_OK;
}

/* A plugged list: all that go to one queue are posted in one go. */
static void queue_rqs(struct rq_list *rqlist)
{
	struct qhost_queue *queue = NULL;
	struct qhost_chain chain = { };
	struct rq_list rest = { };
	struct request *rq;

	while ((rq = rq_list_pop(rqlist))) {
		if (queue != rq->mq_hctx->driver_data) {
			if (chain.count)
				qhost_chain_post(queue, &chain);
			queue = rq->mq_hctx->driver_data;
		}
		if (unlikely(prepare(queue, rq)))
			/* queue_rq() gets it, and says what is wrong */
			rq_list_add_tail(&rest, rq);
		else
			qhost_chain_add(&chain, &queue->slots[rq->tag]);
	}
	if (chain.count)
		qhost_chain_post(queue, &chain);
	*rqlist = rest;
}

static void retry(struct request *rq, int status)
{
	struct qhost_request *req = blk_mq_rq_to_pdu(rq);
	const struct qhost_ctrl *ctrl = req->slot->queue->ctrl;
	unsigned int crd = (status & NVME_STATUS_CRD) >> 11;

	req->retries++;
	blk_mq_requeue_request(rq, false);
	/* NVMe base 2.0, 5.17.2.1: the times are in units of 100 ms. */
	blk_mq_delay_kick_requeue_list(rq->q, crd ?
				       ctrl->crdt[crd - 1] * 100 : 0);
}

static void log_error(struct request *rq, int status)
{
	const struct qhost_request *req = blk_mq_rq_to_pdu(rq);

	if (blk_rq_is_passthrough(rq) || rq->rq_flags & RQF_QUIET ||
	    status < 0)
		return;
	pr_err_ratelimited("%s: opcode %#x at sector %llu, %u sectors: %s (status %#x)\n",
			   rq->q->disk->disk_name,
			   req->slot->cmd->common.opcode,
			   (unsigned long long)blk_rq_pos(rq),
			   blk_rq_sectors(rq),
			   qhost_status_name(status, false), status);
}

/**
 * qhost_complete_rq() - end a request whose outcome is known
 * @rq: the request; the device has no more use for its slot
 *
 * Context: any.
 */
void qhost_complete_rq(struct request *rq)
{
	struct qhost_request *req = blk_mq_rq_to_pdu(rq);
	struct qhost_slot *slot = req->slot;

	qhost_unmap(slot->queue, rq);
	trace_qhost_complete(slot->queue, slot, req->status);
	if (likely(!req->status)) {
		blk_mq_end_request(rq, BLK_STS_OK);
	} else if (qhost_may_retry(rq, req->status)) {
		retry(rq, req->status);
	} else {
		log_error(rq, req->status);
		blk_mq_end_request(rq, qhost_blk_status(req->status));
	}
}

/**
 * qhost_complete_batch() - end a list of requests that have succeeded
 * @iob: the list
 *
 * Context: any.
 */
void qhost_complete_batch(struct io_comp_batch *iob)
{
	struct qhost_request *req;
	struct request *rq;

	rq_list_for_each(&iob->req_list, rq) {
		req = blk_mq_rq_to_pdu(rq);
		qhost_unmap(req->slot->queue, rq);
		trace_qhost_complete(req->slot->queue, req->slot, 0);
	}
	blk_mq_end_request_batch(iob);
}

/*
 * A command that is not answered in time ends the connection: over fabrics
 * nothing less tells what has become of it. The take-down ends the request.
 */
static enum blk_eh_timer_return timeout(struct request *rq)
{
	struct qhost_request *req = blk_mq_rq_to_pdu(rq);
	struct qhost_queue *queue = req->slot->queue;
	char why[64];

	if (!qhost_failed(queue->ctrl)) {
		WRITE_ONCE(req->status, -ETIMEDOUT);
		snprintf(why, sizeof(why), "queue %u: command %#x timed out",
			 queue->qid, req->slot->cmd->common.opcode);
		qhost_ctrl_fail(queue->ctrl, why);
	}
	return BLK_EH_RESET_TIMER;
}

static int poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *iob)
{
	return qhost_poll(hctx->driver_data, iob);
}

static int init_admin_hctx(struct blk_mq_hw_ctx *hctx, void *data,
			   unsigned int index)
{
	struct qhost_ctrl *ctrl = data;

	hctx->driver_data = &ctrl->queues[0];
	return 0;
}

static int init_io_hctx(struct blk_mq_hw_ctx *hctx, void *data,
			unsigned int index)
{
	struct qhost_ctrl *ctrl = data;

	hctx->driver_data = &ctrl->queues[1 + index];
	return 0;
}

/*
 * Each queue needs a processor that is online now, or its Connect could not
 * be sent. The block layer's own map does not see to that.
 */
static void map_online(struct blk_mq_queue_map *map)
{
	unsigned int online = 0, offline = 0, cpu;

	if (num_online_cpus() == num_present_cpus()) {
		blk_mq_map_queues(map);
		return;
	}
	for_each_possible_cpu(cpu) {
		unsigned int *n = cpu_online(cpu) ? &online : &offline;

		map->mq_map[cpu] = map->queue_offset + *n % map->nr_queues;
		(*n)++;
	}
}

static void map_queues(struct blk_mq_tag_set *set)
{
	struct qhost_ctrl *ctrl = set->driver_data;
	struct blk_mq_queue_map *map = &set->map[HCTX_TYPE_DEFAULT];

	map->nr_queues = ctrl->nr_default_queues;
	map->queue_offset = 0;
	map_online(map);
	if (set->nr_maps <= HCTX_TYPE_POLL)
		return;
	/* Reads go where the writes go. */
	set->map[HCTX_TYPE_READ].nr_queues = 0;
	map = &set->map[HCTX_TYPE_POLL];
	map->nr_queues = set->nr_hw_queues - ctrl->nr_default_queues;
	map->queue_offset = ctrl->nr_default_queues;
	map_online(map);
}

const struct blk_mq_ops qhost_admin_mq_ops = {
	.queue_rq	= queue_rq,
	.complete	= qhost_complete_rq,
	.timeout	= timeout,
	.init_hctx	= init_admin_hctx,
};

const struct blk_mq_ops qhost_io_mq_ops = {
	.queue_rq	= queue_rq,
	.queue_rqs	= queue_rqs,
	.complete	= qhost_complete_rq,
	.timeout	= timeout,
	.init_hctx	= init_io_hctx,
	.map_queues	= map_queues,
	.poll		= poll,
};
