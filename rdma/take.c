// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work requests of processes: out of the queues they map, into our own slots.
 * Each is copied once and then checked; the mapped memory is not read again,
 * whatever the process makes of it meanwhile. What is wrong with one that has
 * been posted can only be told by its completion, so it ends in error when
 * its turn comes, and with it the QP.
 */
#include <linux/string.h>
#include "path.h"

/* Taken under one hold of the lock, with interrupts off. */
#define TAKE_BATCH	32

static_assert(sizeof(struct rxe_sge) == sizeof(struct ib_sge));
static_assert(offsetof(struct rxe_sge, length) ==
	      offsetof(struct ib_sge, length));
static_assert(offsetof(struct rxe_sge, lkey) == offsetof(struct ib_sge, lkey));

/* For the length of a copy from memory that may change. */
#define copy_once(to, from, len) do {		\
	memcpy(to, from, len);			\
	barrier();				\
} while (0)

static u32 take_sges(struct ib_sge *to, const struct rxe_sge *from, u32 num,
		     u64 *length)
{
	u32 i;

	copy_once(to, from, num * sizeof(*to));
	*length = 0;
	for (i = 0; i < num; i++)
		*length += to[i].length;
	return num;
}

/* Returns 0 or what is wrong, as the completion will have it. */
static enum ib_wc_status take_payload(struct qrdma_qp *qp,
				      struct qrdma_swqe *wqe,
				      const struct rxe_dma_info *dma,
				      const struct rxe_send_wqe *from)
{
	struct qrdma_sq *sq = &qp->sq;
	u64 length;

	if (wqe->send_flags & IB_SEND_INLINE) {
		length = dma->length;
		if (length > sq->max_inline || qrdma_is_atomic(wqe->opcode) ||
		    wqe->opcode == IB_WR_RDMA_READ)
			return IB_WC_LOC_QP_OP_ERR;
		copy_once(wqe->inline_data, from->dma.inline_data, length);
	} else {
		if (dma->num_sge > sq->max_sge)
			return IB_WC_LOC_QP_OP_ERR;
		wqe->num_sge = take_sges(wqe->sge, from->dma.sge, dma->num_sge,
					 &length);
	}
	if (length > QRDMA_MAX_MSG ||
	    qrdma_npkts(qp, length) > QRDMA_MAX_MSG_PSNS)
		return IB_WC_LOC_LEN_ERR;
	wqe->length = length;
	return IB_WC_SUCCESS;
}

static enum ib_wc_status take_atomic(struct qrdma_swqe *wqe,
				     const struct rxe_send_wr *wr)
{
	/* More room than the answer takes is no error. */
	if (wqe->length < sizeof(u64))
		return IB_WC_LOC_LEN_ERR;
	wqe->length = sizeof(u64);
	wqe->rdma.remote_addr = wr->wr.atomic.remote_addr;
	wqe->rdma.rkey = wr->wr.atomic.rkey;
	wqe->rdma.compare_add = wr->wr.atomic.compare_add;
	wqe->rdma.swap = wr->wr.atomic.swap;
	return IB_WC_SUCCESS;
}

/* The value stands where inline data would. */
static enum ib_wc_status take_atomic_write(struct qrdma_swqe *wqe,
					   const struct rxe_send_wqe *copy,
					   const struct rxe_send_wqe *from)
{
	copy_once(wqe->inline_data, from->dma.atomic_wr, sizeof(u64));
	wqe->send_flags |= IB_SEND_INLINE;
	wqe->length = sizeof(u64);
	wqe->rdma.remote_addr = copy->wr.wr.rdma.remote_addr;
	wqe->rdma.rkey = copy->wr.wr.rdma.rkey;
	return IB_WC_SUCCESS;
}

/*
 * Nothing here is durable: only visibility can be asked for. The length stands
 * where that of a payload does; the request's own field for it is not filled in.
 */
static enum ib_wc_status take_flush(struct qrdma_swqe *wqe,
				    const struct rxe_send_wqe *copy)
{
	const struct rxe_send_wr *wr = &copy->wr;
	u32 type = wr->wr.flush.type, level = wr->wr.flush.level;

	if (!type || type & ~QRDMA_FETH_PLT_MASK || level > IB_FLUSH_MR)
		return IB_WC_LOC_QP_OP_ERR;
	wqe->rdma.remote_addr = wr->wr.flush.remote_addr;
	wqe->rdma.rkey = wr->wr.flush.rkey;
	wqe->rdma.flush_length = copy->dma.length;
	wqe->rdma.flush_bits = level << QRDMA_FETH_SEL_SHIFT | type;
	return IB_WC_SUCCESS;
}

static enum ib_wc_status take_ud(struct qrdma_qp *qp, struct qrdma_swqe *wqe,
				 const struct rxe_send_wr *wr)
{
	if (wqe->length > qrdma_dev_mtu(qp->dev))
		return IB_WC_LOC_LEN_ERR;
	if (!qrdma_av_of_ah(qp->ibqp.pd, wr->wr.ud.ah_num, &wqe->ud.av))
		return IB_WC_LOC_QP_OP_ERR;
	wqe->ud.remote_qpn = wr->wr.ud.remote_qpn & QRDMA_QPN_MASK;
	wqe->ud.remote_qkey = wr->wr.ud.remote_qkey;
	return IB_WC_SUCCESS;
}

static void take_bind(struct qrdma_swqe *wqe, const struct rxe_send_wr *wr)
{
	wqe->bind.addr = wr->wr.mw.addr;
	wqe->bind.length = wr->wr.mw.length;
	wqe->bind.lkey = wr->wr.mw.mr_lkey;
	wqe->bind.mw_rkey = wr->wr.mw.mw_rkey;
	wqe->bind.rkey = wr->wr.mw.rkey;
	wqe->bind.access = wr->wr.mw.access;
}

static enum ib_wc_status take_wr(struct qrdma_qp *qp, struct qrdma_swqe *wqe,
				 const struct rxe_send_wqe *copy,
				 const struct rxe_send_wqe *from)
{
	const struct rxe_send_wr *wr = &copy->wr;
	enum ib_wc_status status;

	/* A REG_MR would carry a kernel pointer. */
	if (wr->opcode == IB_WR_REG_MR || !qrdma_opcode_known(qp, wr->opcode))
		return IB_WC_LOC_QP_OP_ERR;
	wqe->opcode = wr->opcode;
	/* Immediate data or key: the same four bytes as the kernel's. */
	wqe->imm_or_key = wr->ex.invalidate_rkey;
	if (wr->opcode == IB_WR_LOCAL_INV)
		return IB_WC_SUCCESS;
	if (wr->opcode == IB_WR_BIND_MW) {
		take_bind(wqe, wr);
		return IB_WC_SUCCESS;
	}

	if (wr->opcode == IB_WR_ATOMIC_WRITE)
		return take_atomic_write(wqe, copy, from);
	if (wr->opcode == IB_WR_FLUSH)
		return take_flush(wqe, copy);

	status = take_payload(qp, wqe, &copy->dma, from);
	if (status)
		return status;
	if (!qp->connected)
		return take_ud(qp, wqe, wr);
	if (qrdma_is_atomic(wqe->opcode))
		return take_atomic(wqe, wr);
	wqe->rdma.remote_addr = wr->wr.rdma.remote_addr;
	wqe->rdma.rkey = wr->wr.rdma.rkey;
	return IB_WC_SUCCESS;
}

static void take_send(struct qrdma_qp *qp, struct qrdma_swqe *wqe,
		      const struct rxe_send_wqe *from)
{
	struct rxe_send_wqe copy;

	copy_once(&copy, from, sizeof(copy));
	wqe->wr_id = copy.wr.wr_id;
	wqe->send_flags = copy.wr.send_flags & (IB_SEND_FENCE |
						IB_SEND_SIGNALED |
						IB_SEND_SOLICITED |
						IB_SEND_INLINE);
	wqe->length = 0;
	wqe->num_sge = 0;
	wqe->status = take_wr(qp, wqe, &copy, from);
	/* A local operation that fails: it holds up nothing but its own turn. */
	if (unlikely(wqe->status)) {
		wqe->opcode = IB_WR_LOCAL_INV;
		wqe->send_flags = 0;
	}
}

/* Take up to @max of what is posted; the number taken. */
static u32 take_sends(struct qrdma_qp *qp, u32 max)
{
	struct qrdma_sq *sq = &qp->sq;
	u32 n = 0, producer;
	unsigned long flags;

	/*
	 * The process's own lock may or may not keep its threads apart. Who
	 * overruns his ring loses what is in it.
	 */
	spin_lock_irqsave(&sq->post_lock, flags);
	producer = qrdma_ring_producer(sq->user);
	while (n < max && (sq->head & sq->mask) != producer) {
		/* pairs with the release in qrdma_sq_complete() */
		if (sq->head - smp_load_acquire(&sq->tail) > sq->mask)
			break;
		take_send(qp, qrdma_swqe(sq, sq->head),
			  qrdma_ring_slot(sq->user, sq->head));
		/* The slot is filled before the engine can see it. */
		smp_store_release(&sq->head, sq->head + 1);
		n++;
	}
	spin_unlock_irqrestore(&sq->post_lock, flags);
	return n;
}

void qrdma_sq_skip(struct qrdma_qp *qp)
{
	struct qrdma_sq *sq = &qp->sq;
	unsigned long flags;
	u32 producer;

	lockdep_assert_held(&sq->lock);
	spin_lock_irqsave(&sq->post_lock, flags);
	producer = qrdma_ring_producer(sq->user);
	WRITE_ONCE(sq->head, sq->head + ((producer - sq->head) & sq->mask));
	sq->tail = sq->head;
	sq->cur = sq->head;
	sq->fresh = sq->head;
	qrdma_ring_set_consumer(sq->user, sq->tail);
	spin_unlock_irqrestore(&sq->post_lock, flags);
}

/* 10.8.3.1: nothing is posted in such a state, so nothing may come of it. */
static int refuse(struct qrdma_qp *qp)
{
	struct qrdma_sq *sq = &qp->sq;
	unsigned long flags;

	spin_lock_bh(&sq->lock);
	/* Not what another thread posts once the state allows it. */
	spin_lock_irqsave(&qp->state_lock, flags);
	if (qp->state < IB_QPS_RTS)
		qrdma_sq_skip(qp);
	spin_unlock_irqrestore(&qp->state_lock, flags);
	spin_unlock_bh(&sq->lock);
	return -EINVAL;
}

int qrdma_sq_doorbell(struct qrdma_qp *qp)
{
	u32 left = qp->sq.mask + 1, n, taken;

	if (READ_ONCE(qp->state) < IB_QPS_RTS)
		return refuse(qp);
	/* One ring full at most: a process may post faster than we send. */
	do {
		n = min_t(u32, left, TAKE_BATCH);
		taken = take_sends(qp, n);
		qrdma_sq_kick(qp);
		left -= taken;
	} while (taken == n && left);
	return 0;
}

struct qrdma_rwqe *qrdma_rring_take(struct qrdma_rring *ring,
				    struct qrdma_rring *to)
{
	const struct rxe_recv_wqe *from;
	struct rxe_recv_wqe copy;
	struct qrdma_rwqe *wqe;
	u64 length;

	if ((ring->tail & ring->user->mask) == qrdma_ring_producer(ring->user))
		return NULL;
	from = qrdma_ring_slot(ring->user, ring->tail);
	copy_once(&copy, from, sizeof(copy));
	wqe = qrdma_rwqe(to, to->tail);
	wqe->wr_id = copy.wr_id;
	wqe->bad = copy.dma.num_sge > ring->max_sge;
	wqe->num_sge = 0;
	wqe->length = 0;
	if (!wqe->bad) {
		wqe->num_sge = take_sges(wqe->sge, from->dma.sge,
					 copy.dma.num_sge, &length);
		wqe->bad = length > QRDMA_MAX_MSG;
		wqe->length = wqe->bad ? 0 : length;
	}
	to->head = to->tail + 1;
	return wqe;
}

void qrdma_rring_skip(struct qrdma_rring *ring)
{
	u32 producer = qrdma_ring_producer(ring->user);

	ring->tail += (producer - ring->tail) & ring->user->mask;
	ring->head = ring->tail;
	qrdma_ring_set_consumer(ring->user, ring->tail);
}
