// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared receive queues. A QP takes an entry into its own ring, which has room
 * for one, when a message needs it; from there all is as without sharing. All
 * of the queue is under its ring's lock; a process posts to one that it maps,
 * without a call. Verbs run in process context, posting in any, taking with
 * bottom halves off. IBTA volume 1, 10.2.9.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
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

static struct qrdma_ring *create_ring(u32 max_wr, u32 max_sge,
				      struct ib_udata *udata,
				      struct mminfo *info)
{
	return qrdma_ring_create(udata, qrdma_ring_slots(max_wr),
				 sizeof(struct rxe_recv_wqe) +
				 max_sge * sizeof(struct rxe_sge), info);
}

/* The queue proper; a process may post as many as it has room for. */
static int create_queue(struct qrdma_rring *ring, struct ib_srq_attr *attr,
			struct ib_udata *udata)
{
	struct rxe_create_srq_resp resp = {};
	u32 size;

	ring->max_sge = attr->max_sge;
	ring->stride = stride_of(attr->max_sge);
	if (!udata) {
		size = roundup_pow_of_two(attr->max_wr);
		ring->mask = size - 1;
		ring->max_wr = attr->max_wr;
		ring->buf = kvcalloc(size, ring->stride, GFP_KERNEL);
		return ring->buf ? 0 : -ENOMEM;
	}
	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	ring->user = create_ring(attr->max_wr, attr->max_sge, udata, &resp.mi);
	if (IS_ERR(ring->user))
		return PTR_ERR(ring->user);
	ring->max_wr = ring->user->mask;
	attr->max_wr = ring->max_wr;
	if (ib_copy_to_udata(udata, &resp, sizeof(resp))) {
		qrdma_ring_destroy(ring->user);
		return -EFAULT;
	}
	return 0;
}

static int create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		      struct ib_udata *udata)
{
	struct qrdma_dev *dev = to_qdev(ibsrq->device);
	struct qrdma_srq *srq = to_qsrq(ibsrq);
	struct ib_srq_attr *attr = &init->attr;
	int err;

	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!attr->max_wr || attr->max_wr > QRDMA_MAX_SRQ_WR ||
	    attr->max_sge > QRDMA_MAX_SGE)
		return -EINVAL;
	if (!qrdma_count_in(&dev->nr_srqs, QRDMA_MAX_SRQ))
		return -ENOMEM;

	spin_lock_init(&srq->ring.lock);
	mutex_init(&srq->resizing);
	INIT_WORK(&srq->work, limit_work);
	err = create_queue(&srq->ring, attr, udata);
	if (err)
		atomic_dec(&dev->nr_srqs);
	return err;
}

/* No QP is on it any more: the core counts them. */
static int destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct qrdma_srq *srq = to_qsrq(ibsrq);

	cancel_work_sync(&srq->work);
	kvfree(srq->ring.buf);
	qrdma_ring_destroy(srq->ring.user);
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

/*
 * Have the new ring hold all that a process has posted, and take the old one's
 * place. The bulk is copied before the QPs are held up; they may take some of
 * it meanwhile, and the process must not post.
 */
static int move_to(struct qrdma_srq *srq, struct qrdma_ring *to)
{
	struct qrdma_rring *ring = &srq->ring;
	struct qrdma_ring *old = ring->user;
	u32 start = READ_ONCE(ring->tail), i = start, n;
	unsigned long flags;
	int err = -EINVAL;

	lockdep_assert_held(&srq->resizing);
	n = (qrdma_ring_producer(old) - start) & old->mask;
	if (n > to->mask)
		return -EINVAL;
	for (; i != start + n; i++) {
		memcpy(qrdma_ring_slot(to, i - start), qrdma_ring_slot(old, i),
		       1UL << old->shift);
		cond_resched();
	}
	spin_lock_irqsave(&ring->lock, flags);
	/* What came meanwhile comes from a process that does not wait. */
	if (srq->limit <= to->mask && ring->tail - start <= n) {
		ring->tail -= start;
		ring->user = to;
		ring->max_wr = to->mask;
		qrdma_ring_set_consumer(to, ring->tail);
		qrdma_ring_set_producer(to, n);
		err = 0;
	}
	spin_unlock_irqrestore(&ring->lock, flags);
	return err;
}

/* The mirror of librxe's: it waits for where to map the new one. */
static int resize_user(struct qrdma_srq *srq, u32 max_wr,
		       struct ib_udata *udata)
{
	struct rxe_modify_srq_cmd cmd = {};
	struct qrdma_ring *ring, *old;
	struct mminfo info;
	int err;

	if (udata->inlen < sizeof(cmd))
		return -EINVAL;
	err = ib_copy_from_udata(&cmd, udata, sizeof(cmd));
	if (err)
		return err;
	ring = create_ring(max_wr, srq->ring.max_sge, udata, &info);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	if (copy_to_user(u64_to_user_ptr(cmd.mmap_info_addr), &info,
			 sizeof(info))) {
		qrdma_ring_destroy(ring);
		return -EFAULT;
	}
	mutex_lock(&srq->resizing);
	old = srq->ring.user;
	err = move_to(srq, ring);
	mutex_unlock(&srq->resizing);
	qrdma_ring_destroy(err ? ring : old);
	return err;
}

/* Due at once where the queue is that short already. */
static bool limit_reached(struct qrdma_srq *srq)
{
	lockdep_assert_held(&srq->ring.lock);
	if (likely(!srq->limit) ||
	    qrdma_rring_posted(&srq->ring) >= srq->limit)
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
		err = udata ? resize_user(srq, attr->max_wr, udata) :
			      resize(srq, attr->max_wr);
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
	struct qrdma_rring *ring = &to_qsrq(ibsrq)->ring;
	int err = -EINVAL;

	if (likely(!ring->user))
		err = qrdma_rring_post(ring, &wr);
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
	if (unlikely(ring->user)) {
		wqe = qrdma_rring_take(ring, &rq->ring);
	} else if (ring->tail != ring->head) {
		wqe = qrdma_rwqe(&rq->ring, rq->ring.head++);
		memcpy(wqe, qrdma_rwqe(ring, ring->tail), ring->stride);
	}
	if (wqe) {
		ring->tail++;
		if (unlikely(ring->user))
			qrdma_ring_set_consumer(ring->user, ring->tail);
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
