// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues: a ring of work completions, poll, notification.
 * Completions are produced by the QPs' engines under their lock; the
 * completion handler is called by the engine after it has dropped that lock,
 * see qrdma_qp_notify(). A full ring puts the queue in error: no completion
 * is dropped in silence (IBTA volume 1, 11.6.3.2: CQ error).
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include "path.h"

static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs)
{
	struct qrdma_cq *cq = to_qcq(ibcq);

	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > QRDMA_MAX_CQE)
		return -EINVAL;

	spin_lock_init(&cq->lock);
	cq->size = roundup_pow_of_two(attr->cqe);
	cq->ring = kvcalloc(cq->size, sizeof(*cq->ring), GFP_KERNEL);
	if (!cq->ring)
		return -ENOMEM;
	ibcq->cqe = cq->size;
	INIT_LIST_HEAD(&cq->senders);
	INIT_LIST_HEAD(&cq->receivers);
	qrdma_cq_init_timer(cq);
	return 0;
}

/* No QP is attached any more: the core counts them. */
static int destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct qrdma_cq *cq = to_qcq(ibcq);

	hrtimer_cancel(&cq->timer);
	kvfree(cq->ring);
	return 0;
}

static int poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct qrdma_cq *cq = to_qcq(ibcq);
	unsigned long flags;
	int n = 0;

	spin_lock_irqsave(&cq->lock, flags);
	while (n < num && cq->tail != cq->head)
		wc[n++] = cq->ring[cq->tail++ & (cq->size - 1)];
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

static int req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct qrdma_cq *cq = to_qcq(ibcq);
	unsigned long irqflags;
	int missed;

	spin_lock_irqsave(&cq->lock, irqflags);
	/* Armed for any completion is not weakened to solicited only. */
	if (cq->notify != IB_CQ_NEXT_COMP)
		cq->notify = flags & IB_CQ_SOLICITED_MASK;
	missed = (flags & IB_CQ_REPORT_MISSED_EVENTS) && cq->tail != cq->head;
	spin_unlock_irqrestore(&cq->lock, irqflags);
	return missed;
}

bool qrdma_cq_post(struct qrdma_cq *cq, const struct ib_wc *wc, bool solicited,
		   struct qrdma_notify *nt, bool send)
{
	unsigned long flags;
	bool ok = true;

	spin_lock_irqsave(&cq->lock, flags);
	if (likely(cq->head - cq->tail < cq->size && !cq->overflowed)) {
		cq->ring[cq->head++ & (cq->size - 1)] = *wc;
	} else {
		ok = false;
		if (!cq->overflowed)
			nt->flags |= send ? QRDMA_NT_SEND_CQ_ERR :
					    QRDMA_NT_RECV_CQ_ERR;
		cq->overflowed = true;
	}
	if ((cq->notify == IB_CQ_NEXT_COMP ||
	     (cq->notify == IB_CQ_SOLICITED && solicited)) &&
	    (likely(!cq->mod_count) || qrdma_cq_due(cq, solicited))) {
		cq->notify = 0;
		nt->flags |= send ? QRDMA_NT_SEND_CQ : QRDMA_NT_RECV_CQ;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return ok;
}

const struct ib_device_ops qrdma_cq_ops = {
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.modify_cq = qrdma_modify_cq,
	.poll_cq = poll_cq,
	.req_notify_cq = req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_cq, qrdma_cq, ibcq),
};
