// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared receive queues. A QP takes an entry into its own ring, which has room
 * for one, when a message needs it; from there all is as without sharing. All
 * of the queue is under its ring's lock. Verbs run in process context, posting
 * in any, taking with bottom halves off. IBTA volume 1, 10.2.9.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "path.h"
#include "verbs-compat.h"

static u32 stride_of(u32 max_sge)
{
	return struct_size_t(struct qrdma_rwqe, sge, max_sge);
}

static void limit_work(struct work_struct *work)
{
	struct qrdma_srq *srq = container_of(work, struct qrdma_srq, work);
	struct ib_event ev = {
		.device = srq->ibsrq.device,
		.element.srq = &srq->ibsrq,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};

	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&ev, srq->ibsrq.srq_context);
}

static int create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		      struct ib_udata *udata)
{
	struct qrdma_dev *dev = to_qdev(ibsrq->device);
	struct qrdma_srq *srq = to_qsrq(ibsrq);
	struct qrdma_rring *ring = &srq->ring;
	const struct ib_srq_attr *attr = &init->attr;
	u32 size;

	if (init->srq_type != IB_SRQT_BASIC || udata)
		return -EOPNOTSUPP;
	if (!attr->max_wr || attr->max_wr > QRDMA_MAX_SRQ_WR ||
	    attr->max_sge > QRDMA_MAX_SGE)
		return -EINVAL;
	if (atomic_inc_return(&dev->nr_srqs) > QRDMA_MAX_SRQ)
		goto err_uncount;

	spin_lock_init(&ring->lock);
	INIT_WORK(&srq->work, limit_work);
	size = roundup_pow_of_two(attr->max_wr);
	ring->max_wr = attr->max_wr;
	ring->max_sge = attr->max_sge;
	ring->mask = size - 1;
	ring->stride = stride_of(attr->max_sge);
	ring->buf = kvcalloc(size, ring->stride, GFP_KERNEL);
	if (!ring->buf)
		goto err_uncount;
	return 0;

err_uncount:
	atomic_dec(&dev->nr_srqs);
	return -ENOMEM;
}

/* No QP is on it any more: the core counts them. */
static int destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct qrdma_srq *srq = to_qsrq(ibsrq);

	cancel_work_sync(&srq->work);
	kvfree(srq->ring.buf);
	atomic_dec(&to_qdev(ibsrq->device)->nr_srqs);
	return 0;
}

/* All that is posted goes along, in its order. */
static int resize(struct qrdma_srq *srq, u32 max_wr)
{
	struct qrdma_rring *ring = &srq->ring, next = *ring;
	u32 size = roundup_pow_of_two(max_wr);
	unsigned long flags;
	u32 i;

	next.buf = kvcalloc(size, ring->stride, GFP_KERNEL);
	if (!next.buf)
		return -ENOMEM;
	next.mask = size - 1;
	next.head = 0;
	spin_lock_irqsave(&ring->lock, flags);
	if (ring->head - ring->tail <= max_wr && srq->limit <= max_wr) {
		for (i = ring->tail; i != ring->head; i++)
			memcpy(qrdma_rwqe(&next, next.head++),
			       qrdma_rwqe(ring, i), ring->stride);
		swap(ring->buf, next.buf);
		ring->mask = next.mask;
		ring->max_wr = max_wr;
		ring->head = next.head;
		ring->tail = 0;
		max_wr = 0;
	}
	spin_unlock_irqrestore(&ring->lock, flags);
	kvfree(next.buf);
	return max_wr ? -EINVAL : 0;
}

/* Due at once where the queue is that short already. */
static bool limit_reached(struct qrdma_srq *srq)
{
	lockdep_assert_held(&srq->ring.lock);
	if (srq->ring.head - srq->ring.tail >= srq->limit)
		return false;
	srq->limit = 0; /* until it is set again, 10.2.9.4 */
	return true;
}

static int set_limit(struct qrdma_srq *srq, u32 limit)
{
	unsigned long flags;
	int err = -EINVAL;
	bool due = false;

	spin_lock_irqsave(&srq->ring.lock, flags);
	if (limit <= srq->ring.max_wr) {
		srq->limit = limit;
		due = limit_reached(srq);
		err = 0;
	}
	spin_unlock_irqrestore(&srq->ring.lock, flags);
	if (due)
		queue_work(quarry_bh_wq, &srq->work);
	return err;
}

static int modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		      enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct qrdma_srq *srq = to_qsrq(ibsrq);
	int err = 0;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;
	if (mask & IB_SRQ_MAX_WR) {
		if (!attr->max_wr || attr->max_wr > QRDMA_MAX_SRQ_WR ||
		    (mask & IB_SRQ_LIMIT && attr->srq_limit > attr->max_wr))
			return -EINVAL;
		err = resize(srq, attr->max_wr);
	}
	if (!err && mask & IB_SRQ_LIMIT)
		err = set_limit(srq, attr->srq_limit);
	return err;
}

static int query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct qrdma_srq *srq = to_qsrq(ibsrq);
	unsigned long flags;

	spin_lock_irqsave(&srq->ring.lock, flags);
	attr->max_wr = srq->ring.max_wr;
	attr->max_sge = srq->ring.max_sge;
	attr->srq_limit = srq->limit;
	spin_unlock_irqrestore(&srq->ring.lock, flags);
	return 0;
}

static int post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad_wr)
{
	int err = qrdma_rring_post(&to_qsrq(ibsrq)->ring, &wr);

	if (err)
		*bad_wr = wr;
	return err;
}

struct qrdma_rwqe *qrdma_srq_take(struct qrdma_rq *rq)
{
	struct qrdma_srq *srq = rq->srq;
	struct qrdma_rring *ring = &srq->ring;
	struct qrdma_rwqe *wqe = NULL;
	unsigned long flags;
	bool due = false;

	lockdep_assert_held(&rq->lock);
	spin_lock_irqsave(&ring->lock, flags);
	if (ring->tail != ring->head) {
		wqe = qrdma_rwqe(&rq->ring, rq->ring.head++);
		memcpy(wqe, qrdma_rwqe(ring, ring->tail), ring->stride);
		ring->tail++;
		due = limit_reached(srq);
	}
	spin_unlock_irqrestore(&ring->lock, flags);
	if (due)
		queue_work(quarry_bh_wq, &srq->work);
	return wqe;
}

const struct ib_device_ops qrdma_srq_ops = {
	.create_srq = create_srq,
	.destroy_srq = destroy_srq,
	.modify_srq = modify_srq,
	.post_srq_recv = post_srq_recv,
	.query_srq = query_srq,

	INIT_RDMA_OBJ_SIZE(ib_srq, qrdma_srq, ibsrq),
};
