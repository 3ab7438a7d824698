// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues: a ring of work completions, poll, notification, resize.
 * A kernel user polls a ring of ib_wc; a process, one that it maps, without a
 * call. Completions are produced by the QPs' engines under their lock; the
 * completion handler is called by the engine after it has dropped that lock,
 * see qrdma_qp_notify(). A full ring puts the queue in error: no completion
 * is dropped in silence (IBTA volume 1, 11.6.3.2: CQ error).
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <rdma/uverbs_ioctl.h>
#include "path.h"
#include "verbs-compat.h"

/* Flags of ibv_wc; no header of the kernel has them. */
#define UWC_GRH		BIT(0)
#define UWC_WITH_IMM	BIT(1)
#define UWC_WITH_INV	BIT(3) /* IB_WC_WITH_INVALIDATE is another bit */

/* Entries that a resize copies while nothing can be added. */
#define RESIZE_BATCH	256

/* A ring for a process, which is told where to map it. */
static struct qrdma_ring *create_ring(u32 cqe, struct ib_udata *udata)
{
	struct rxe_create_cq_resp resp = {};
	struct qrdma_ring *ring;

	static_assert(sizeof(resp) == sizeof(struct rxe_resize_cq_resp));
	if (udata->outlen < sizeof(resp))
		return ERR_PTR(-EINVAL);
	ring = qrdma_ring_create(udata, qrdma_ring_slots(cqe),
				 sizeof(struct ib_uverbs_wc), &resp.mi);
	if (IS_ERR(ring))
		return ring;
	if (ib_copy_to_udata(udata, &resp, sizeof(resp))) {
		qrdma_ring_destroy(ring);
		return ERR_PTR(-EFAULT);
	}
	return ring;
}

static void set_ring(struct qrdma_cq *cq, struct qrdma_ring *ring)
{
	cq->user = ring;
	cq->mask = ring->mask;
	cq->size = ring->mask;
	cq->ibcq.cqe = ring->mask;
}

static int create_queue(struct qrdma_cq *cq, u32 cqe, struct ib_udata *udata)
{
	struct qrdma_ring *ring;

	if (udata) {
		ring = create_ring(cqe, udata);
		if (IS_ERR(ring))
			return PTR_ERR(ring);
		set_ring(cq, ring);
		return 0;
	}
	cq->size = roundup_pow_of_two(cqe);
	cq->mask = cq->size - 1;
	cq->ring = kvcalloc(cq->size, sizeof(*cq->ring), GFP_KERNEL);
	if (!cq->ring)
		return -ENOMEM;
	cq->ibcq.cqe = cq->size;
	return 0;
}

static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs)
{
	struct qrdma_dev *dev = to_qdev(ibcq->device);
	struct qrdma_cq *cq = to_qcq(ibcq);
	int err;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > QRDMA_MAX_CQE)
		return -EINVAL;
	if (!qrdma_count_in(&dev->nr_cqs, QRDMA_MAX_CQ))
		return -ENOMEM;

	spin_lock_init(&cq->lock);
	mutex_init(&cq->resizing);
	INIT_LIST_HEAD(&cq->senders);
	INIT_LIST_HEAD(&cq->receivers);
	qrdma_cq_init_timer(cq);
	err = create_queue(cq, attr->cqe, attrs ? &attrs->driver_udata : NULL);
	if (err)
		atomic_dec(&dev->nr_cqs);
	return err;
}

/* No QP is attached any more: the core counts them. */
static int destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct qrdma_cq *cq = to_qcq(ibcq);

	hrtimer_cancel(&cq->timer);
	kvfree(cq->ring);
	qrdma_ring_destroy(cq->user);
	atomic_dec(&to_qdev(ibcq->device)->nr_cqs);
	return 0;
}

static int poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct qrdma_cq *cq = to_qcq(ibcq);
	unsigned long flags;
	int n = 0;

	if (unlikely(cq->user))
		return -EINVAL;
	spin_lock_irqsave(&cq->lock, flags);
	while (n < num && cq->tail != cq->head)
		wc[n++] = cq->ring[cq->tail++ & cq->mask];
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

u32 qrdma_cq_fill(const struct qrdma_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	if (likely(!cq->user))
		return cq->head - cq->tail;
	return (cq->head - qrdma_ring_consumer(cq->user)) & cq->mask;
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
	missed = (flags & IB_CQ_REPORT_MISSED_EVENTS) && qrdma_cq_fill(cq);
	spin_unlock_irqrestore(&cq->lock, irqflags);
	return missed;
}

/* From @from to @to of the old ring, whose @start is the new one's beginning. */
static void copy_entries(struct qrdma_ring *ring, const struct qrdma_ring *old,
			 u32 start, u32 from, u32 to)
{
	for (; from != to; from++)
		memcpy(qrdma_ring_slot(ring, from - start),
		       qrdma_ring_slot(old, from), sizeof(struct ib_uverbs_wc));
}

/*
 * Have the new ring hold all that the old one does, and take its place. The
 * bulk is copied before additions are stopped: the old one's beginning stays
 * as it is, as long as its owner does not poll meanwhile; he must not.
 */
static int move_to(struct qrdma_cq *cq, struct qrdma_ring *ring)
{
	struct qrdma_ring *old = cq->user;
	u32 i, start, head;

	lockdep_assert_held(&cq->resizing);
	spin_lock_irq(&cq->lock);
	start = cq->head - qrdma_cq_fill(cq);
	spin_unlock_irq(&cq->lock);
	for (i = start;; i = head) {
		spin_lock_irq(&cq->lock);
		head = cq->head;
		if (head - start > ring->mask) {
			spin_unlock_irq(&cq->lock);
			return -EINVAL;
		}
		if (head - i <= RESIZE_BATCH)
			break;
		spin_unlock_irq(&cq->lock);
		copy_entries(ring, old, start, i, head);
		cond_resched();
	}
	copy_entries(ring, old, start, i, head);
	cq->head = head - start;
	qrdma_ring_set_producer(ring, cq->head);
	set_ring(cq, ring);
	spin_unlock_irq(&cq->lock);
	return 0;
}

static int resize_cq(struct ib_cq *ibcq, QRDMA_RESIZE_CQE cqe,
		     struct ib_udata *udata)
{
	struct qrdma_cq *cq = to_qcq(ibcq);
	struct qrdma_ring *ring, *old;
	int err;

	/* A kernel user's would lose nothing either, but there is none. */
	if (!udata || !cq->user)
		return -EOPNOTSUPP;
	if (cqe < 1 || cqe > QRDMA_MAX_CQE)
		return -EINVAL;
	ring = create_ring(cqe, udata);
	if (IS_ERR(ring))
		return PTR_ERR(ring);

	mutex_lock(&cq->resizing);
	old = cq->user;
	err = move_to(cq, ring);
	mutex_unlock(&cq->resizing);
	qrdma_ring_destroy(err ? ring : old);
	return err;
}

static void add_for_user(struct qrdma_cq *cq, const struct ib_wc *wc)
{
	struct ib_uverbs_wc uwc = {
		.wr_id = wc->wr_id,
		.status = wc->status,
		.opcode = wc->opcode,
		.vendor_err = wc->vendor_err,
		.byte_len = wc->byte_len,
		.ex.imm_data = wc->ex.imm_data,
		.qp_num = wc->qp->qp_num,
		.src_qp = wc->src_qp,
		.port_num = wc->port_num,
	};

	if (wc->wc_flags & IB_WC_GRH)
		uwc.wc_flags |= UWC_GRH;
	if (wc->wc_flags & IB_WC_WITH_IMM)
		uwc.wc_flags |= UWC_WITH_IMM;
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE)
		uwc.wc_flags |= UWC_WITH_INV;
	memcpy(qrdma_ring_slot(cq->user, cq->head), &uwc, sizeof(uwc));
	cq->head++;
	qrdma_ring_set_producer(cq->user, cq->head);
}

bool qrdma_cq_post(struct qrdma_cq *cq, const struct ib_wc *wc, bool solicited,
		   struct qrdma_notify *nt, bool send)
{
	unsigned long flags;
	bool ok = true;

	spin_lock_irqsave(&cq->lock, flags);
	if (likely(qrdma_cq_fill(cq) < cq->size && !cq->overflowed)) {
		if (likely(!cq->user))
			cq->ring[cq->head++ & cq->mask] = *wc;
		else
			add_for_user(cq, wc);
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
	.QRDMA_RESIZE_CQ = resize_cq,

	INIT_RDMA_OBJ_SIZE(ib_cq, qrdma_cq, ibcq),
};
