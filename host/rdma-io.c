// SPDX-License-Identifier: GPL-2.0-only
/*
 * Posting commands and taking completions: the initiator's path to and from
 * the RDMA device. Posting runs in the context of the submitter, completions
 * in softirq (irq_poll) or, on a polled queue, in the context of the poller.
 *
 * A request is done when all that its slot's pending count stands for has
 * happened, in whatever order:
 *
 *  - ib_post_send() has returned to the submitter. A hostile target can
 *    answer a command it has not got; without this the slot, its memory and
 *    its registration would be given away while they are being posted.
 *  - The response has come.
 *  - The SEND is known to be done, if it was signalled. It is where the
 *    capsule carries data, whose pages the device may need for a
 *    retransmission until the ACK. Otherwise the device can only need the
 *    command itself, which stays mapped in the slot, and a retransmission of
 *    what a responder has answered is a duplicate that it drops.
 *
 * If the response has not invalidated the memory region by then, a local
 * invalidation does, and the request is done with its completion.
 *
 * The send queue's account: a request takes a credit, worth the two entries
 * of REG_MR and SEND. As sends are mostly unsignalled, entries may be busy
 * after the request is done; every sig_batch sends one is signalled, and its
 * completion gives back the credits of all that were posted before it. Local
 * invalidations have one entry per slot set aside.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include "host.h"
#include "trace.h"

/* Post a local invalidation; its completion ends the request. */
static void invalidate(struct qhost_queue *queue, struct qhost_slot *slot)
{
	struct ib_send_wr wr = {
		.wr_cqe = &slot->inv_cqe,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = slot->mr->rkey,
	};

	if (unlikely(ib_post_send(queue->qp, &wr, NULL)))
		qhost_ctrl_fail(queue->ctrl, "cannot post an invalidation");
}

static void finish(struct qhost_queue *queue, struct qhost_slot *slot,
		   struct io_comp_batch *iob)
{
	struct request *rq = slot->rq;
	struct qhost_request *req;

	if (unlikely(!rq)) {
		queue_work(qhost_wq, &queue->ctrl->aen_work);
		return;
	}
	slot->rq = NULL;
	if (unlikely(blk_should_fake_timeout(rq->q)))
		return;
	if (blk_mq_complete_request_remote(rq))
		return;
	req = blk_mq_rq_to_pdu(rq);
	if (req->status ||
	    !blk_mq_add_to_batch(rq, iob, false, qhost_complete_batch))
		qhost_complete_rq(rq);
}

/* One of the things that the request waits for has happened. */
static void put_slot(struct qhost_queue *queue, struct qhost_slot *slot,
		     struct io_comp_batch *iob)
{
	if (!atomic_dec_and_test(&slot->pending))
		return;
	if (unlikely(slot->mr_used))
		invalidate(queue, slot);
	else
		finish(queue, slot, iob);
}

/**
 * qhost_chain_room() - take a send queue credit for one request
 * @queue: the queue
 *
 * The credit comes back by itself once the request has been posted.
 * qhost_chain_unroom() returns one that is not used.
 *
 * Context: any.
 * Return: false where there is none at the moment.
 */
bool qhost_chain_room(struct qhost_queue *queue)
{
	if (likely(atomic_dec_return(&queue->sq_credit) >= 0))
		return true;
	atomic_inc(&queue->sq_credit);
	return false;
}

/**
 * qhost_chain_unroom() - return the credit of a request that is not posted
 * @queue: the queue
 *
 * Context: any.
 */
void qhost_chain_unroom(struct qhost_queue *queue)
{
	atomic_inc(&queue->sq_credit);
}

/**
 * qhost_chain_add() - append a mapped command to a list to be posted
 * @chain: the list
 * @slot: the slot of the command, see qhost_map()
 *
 * Context: any, the slot belongs to the caller.
 */
void qhost_chain_add(struct qhost_chain *chain, struct qhost_slot *slot)
{
	struct ib_send_wr *first;

	first = slot->mr_used ? &slot->reg.wr : &slot->send;
	slot->send.next = NULL;
	slot->next = NULL;
	slot->retires = 0;
	atomic_set(&slot->pending,
		   slot->send.send_flags & IB_SEND_SIGNALED ? 3 : 2);
	/* Pairs with smp_load_acquire() in take_response(). */
	smp_store_release(&slot->awaiting, true);

	if (chain->last) {
		chain->last->send.next = first;
		chain->last->next = slot;
	} else {
		chain->first = slot;
		chain->wr = first;
	}
	chain->last = slot;
	chain->count++;
}

/**
 * qhost_chain_post() - post a list of commands in one go
 * @queue: the queue
 * @chain: the list, not empty; empty afterwards
 *
 * Where posting fails the connection fails, and its take-down ends the
 * requests.
 *
 * Context: process or softirq.
 */
void qhost_chain_post(struct qhost_queue *queue, struct qhost_chain *chain)
{
	struct qhost_slot *slot = chain->first, *last = chain->last, *next;
	bool signalled = last->send.send_flags & IB_SEND_SIGNALED;
	const struct ib_send_wr *wr = chain->wr;
	DEFINE_IO_COMP_BATCH(iob);
	int count = chain->count;

	*chain = (struct qhost_chain) { };
	if (!signalled && atomic_read(&queue->sq_unsignalled) + count >=
			  queue->sig_batch) {
		last->send.send_flags = IB_SEND_SIGNALED;
		atomic_inc(&last->pending);
		signalled = true;
	}
	if (signalled)
		last->retires = atomic_xchg(&queue->sq_unsignalled, 0) + count;

	if (unlikely(ib_post_send(queue->qp, wr, NULL))) {
		qhost_ctrl_fail(queue->ctrl, "cannot post a send");
		return;
	}
	/* Only what is posted already may be retired by a later send. */
	if (!signalled)
		atomic_add(count, &queue->sq_unsignalled);

	for (; slot; slot = next) {
		next = slot->next;
		put_slot(queue, slot, &iob);
	}
	if (!rq_list_empty(&iob.req_list))
		iob.complete(&iob);
}

/* A work request has failed: the queue pair is in error, and so are we. */
static void wr_failed(struct ib_cq *cq, struct ib_wc *wc, const char *what)
{
	struct qhost_queue *queue = cq->cq_context;
	char why[80];

	if (qhost_failed(queue->ctrl))
		return;
	/* Before it is live, the CM knows better what is wrong. */
	if (wc->status == IB_WC_WR_FLUSH_ERR && !qhost_queue_live(queue))
		return;
	if (wc->status == IB_WC_WR_FLUSH_ERR)
		snprintf(why, sizeof(why), "queue %u: its queue pair is in error",
			 queue->qid);
	else
		snprintf(why, sizeof(why), "queue %u: %s: %s", queue->qid, what,
			 ib_wc_status_msg(wc->status));
	qhost_ctrl_fail(queue->ctrl, why);
}

static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct qhost_slot *slot = container_of(wc->wr_cqe, struct qhost_slot,
					       send_cqe);
	struct qhost_queue *queue = slot->queue;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		wr_failed(cq, wc, "send");
		return;
	}
	atomic_add(slot->retires, &queue->sq_credit);
	put_slot(queue, slot, queue->iob);
}

static void reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (unlikely(wc->status != IB_WC_SUCCESS))
		wr_failed(cq, wc, "memory registration");
}

static void inv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct qhost_slot *slot = container_of(wc->wr_cqe, struct qhost_slot,
					       inv_cqe);

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		wr_failed(cq, wc, "local invalidation");
		return;
	}
	slot->mr_used = false;
	finish(slot->queue, slot, slot->queue->iob);
}

/*
 * Find the slot that a response is for. The command id is the peer's word:
 * it must be that of a command that is out and not answered yet.
 */
static struct qhost_slot *take_response(struct qhost_queue *queue,
					__u16 command_id)
{
	unsigned int tag = command_id & QHOST_TAG_MASK;
	struct qhost_slot *slot;

	if (unlikely(tag >= queue->nr_slots))
		return NULL;
	slot = &queue->slots[tag];
	/* Pairs with smp_store_release() in qhost_chain_add(). */
	if (unlikely(!smp_load_acquire(&slot->awaiting) ||
		     slot->command_id != command_id))
		return NULL;
	slot->awaiting = false;
	return slot;
}

static void process_response(struct qhost_queue *queue, struct ib_wc *wc,
			     const struct nvme_completion *cqe)
{
	struct qhost_request *req;
	struct qhost_slot *slot;

	slot = take_response(queue, cqe->command_id);
	if (unlikely(!slot)) {
		qhost_ctrl_fail(queue->ctrl,
				"response to a command that is not out");
		return;
	}
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		if (unlikely(!slot->mr_used ||
			     wc->ex.invalidate_rkey != slot->mr->rkey)) {
			qhost_ctrl_fail(queue->ctrl,
					"bogus remote invalidation");
			return;
		}
		slot->mr_used = false;
	}
	if (unlikely(!slot->rq)) {
		queue->ctrl->aen_result = le32_to_cpu(cqe->result.u32);
		queue->ctrl->aen_status = le16_to_cpu(cqe->status) >> 1;
	} else {
		req = blk_mq_rq_to_pdu(slot->rq);
		req->result = cqe->result;
		req->status = le16_to_cpu(cqe->status) >> 1;
	}
	put_slot(queue, slot, queue->iob);
}

static void response_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct qhost_rsp *rsp = container_of(wc->wr_cqe, struct qhost_rsp, cqe);
	struct qhost_queue *queue = cq->cq_context;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		wr_failed(cq, wc, "receive");
		return;
	}
	/* A write with immediate data has filled another buffer, if any. */
	if (unlikely(wc->opcode != IB_WC_RECV)) {
		qhost_ctrl_fail(queue->ctrl, "a message that is no response");
		return;
	}
	if (unlikely(wc->byte_len != sizeof(*rsp->data))) {
		qhost_ctrl_fail(queue->ctrl, "response of a wrong length");
		return;
	}
	ib_dma_sync_single_for_cpu(queue->ibdev, rsp->sge.addr,
				   sizeof(*rsp->data), DMA_FROM_DEVICE);
	process_response(queue, wc, rsp->data);
	ib_dma_sync_single_for_device(queue->ibdev, rsp->sge.addr,
				      sizeof(*rsp->data), DMA_FROM_DEVICE);
	rsp->wr.next = queue->repost;
	queue->repost = &rsp->wr;
}

static void repost(struct qhost_queue *queue)
{
	const struct ib_recv_wr *wr = queue->repost;

	queue->repost = NULL;
	if (unlikely(ib_post_recv(queue->qp, wr, NULL)))
		qhost_ctrl_fail(queue->ctrl, "cannot post a receive");
}

/*
 * Take up to @budget completions. There are QHOST_POLL_BATCH more receive
 * buffers than commands, so those of one batch may be posted again at its
 * end, in one call.
 */
static int process_cq(struct qhost_queue *queue, int budget,
		      struct io_comp_batch *iob)
{
	int done = 0, batch, n, i;

	queue->iob = iob;
	do {
		batch = min(QHOST_POLL_BATCH, budget - done);
		n = ib_poll_cq(queue->cq, batch, queue->wc);
		for (i = 0; i < n; i++)
			queue->wc[i].wr_cqe->done(queue->cq, &queue->wc[i]);
		if (queue->repost)
			repost(queue);
		if (n > 0)
			done += n;
	} while (n == batch && done < budget);
	queue->iob = NULL;
	return done;
}

static int process_cq_batch(struct qhost_queue *queue, int budget)
{
	DEFINE_IO_COMP_BATCH(iob);
	int done;

	done = process_cq(queue, budget, &iob);
	if (!rq_list_empty(&iob.req_list))
		iob.complete(&iob);
	return done;
}

/**
 * qhost_irq_poll() - take completions in softirq
 * @iop: the queue's irq_poll instance
 * @budget: how many at most
 *
 * Context: softirq.
 * Return: how many were taken.
 */
int qhost_irq_poll(struct irq_poll *iop, int budget)
{
	struct qhost_queue *queue = container_of(iop, struct qhost_queue, iop);
	int done;

	if (unlikely(queue->polled)) {
		spin_lock(&queue->poll_lock);
		done = process_cq_batch(queue, budget);
		spin_unlock(&queue->poll_lock);
	} else {
		done = process_cq_batch(queue, budget);
	}
	if (done < budget) {
		irq_poll_complete(iop);
		if (ib_req_notify_cq(queue->cq, IB_CQ_NEXT_COMP |
				     IB_CQ_REPORT_MISSED_EVENTS) > 0)
			irq_poll_sched(iop);
	}
	return done;
}

/**
 * qhost_poll() - take completions of a polled queue
 * @queue: the queue
 * @iob: collects the requests that are done
 *
 * Context: process.
 * Return: how many completions were taken, 0 also if another one polls.
 */
int qhost_poll(struct qhost_queue *queue, struct io_comp_batch *iob)
{
	int done;

	if (!spin_trylock_bh(&queue->poll_lock))
		return 0;
	done = process_cq(queue, INT_MAX, iob);
	spin_unlock_bh(&queue->poll_lock);
	return done;
}

/**
 * qhost_cq_event() - the CQ has a completion and was armed
 * @cq: the CQ
 * @context: the queue
 *
 * Context: any, also hard interrupt.
 */
void qhost_cq_event(struct ib_cq *cq, void *context)
{
	struct qhost_queue *queue = context;

	irq_poll_sched(&queue->iop);
}

/**
 * qhost_init_slot() - fill in what never changes in a slot's work requests
 * @queue: the queue
 * @slot: the slot; its command and its memory region are set
 *
 * Context: process.
 */
void qhost_init_slot(struct qhost_queue *queue, struct qhost_slot *slot)
{
	slot->queue = queue;
	slot->send_cqe.done = send_done;
	slot->reg_cqe.done = reg_done;
	slot->inv_cqe.done = inv_done;

	slot->sge[0].addr = slot->cmd_dma;
	slot->sge[0].length = sizeof(*slot->cmd);
	slot->sge[0].lkey = queue->ctrl->pd->local_dma_lkey;
	slot->send.wr_cqe = &slot->send_cqe;
	slot->send.sg_list = slot->sge;
	slot->send.num_sge = 1;
	slot->send.opcode = IB_WR_SEND;

	slot->reg.wr.wr_cqe = &slot->reg_cqe;
	slot->reg.wr.opcode = IB_WR_REG_MR;
	slot->reg.wr.next = &slot->send;
	slot->reg.mr = slot->mr;
}

/**
 * qhost_init_rsp() - fill in a response buffer's work request
 * @queue: the queue
 * @rsp: the buffer; its data and their DMA address are set
 *
 * Context: process.
 */
void qhost_init_rsp(struct qhost_queue *queue, struct qhost_rsp *rsp)
{
	rsp->cqe.done = response_done;
	rsp->sge.length = sizeof(*rsp->data);
	rsp->sge.lkey = queue->ctrl->pd->local_dma_lkey;
	rsp->wr.wr_cqe = &rsp->cqe;
	rsp->wr.sg_list = &rsp->sge;
	rsp->wr.num_sge = 1;
}

/**
 * qhost_post_aen() - send the Asynchronous Event Request
 * @ctrl: the controller; nothing happens if its admin queue is stopped
 *
 * It has a slot of its own and no time-out: the controller answers when it
 * has something to say. Only one is out at a time.
 *
 * Context: process.
 */
void qhost_post_aen(struct qhost_ctrl *ctrl)
{
	struct qhost_queue *queue = &ctrl->queues[0];
	struct qhost_slot *slot = &queue->slots[QHOST_AEN_TAG];
	struct qhost_chain chain = { };

	/* No request queue to quiesce: the lock keeps the stop away. */
	mutex_lock(&queue->lock);
	if (!qhost_queue_live(queue) || !qhost_chain_room(queue))
		goto out;
	memset(slot->cmd, 0, sizeof(*slot->cmd));
	slot->cmd->common.opcode = nvme_admin_async_event;
	qhost_map_none(slot->cmd);
	slot->rq = NULL;
	slot->mr_used = false;
	slot->send.send_flags = IB_SEND_SIGNALED;
	slot->send.num_sge = 1;
	qhost_stamp_slot(queue, slot, QHOST_AEN_TAG);
	qhost_chain_add(&chain, slot);
	qhost_chain_post(queue, &chain);
out:
	mutex_unlock(&queue->lock);
}
