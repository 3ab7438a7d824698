// SPDX-License-Identifier: GPL-2.0-only
/*
 * Posting of work requests by kernel users. Any context: each request is
 * checked and copied under the short post_lock; then the caller sends it
 * himself, or, in hard interrupt, leaves that to the QP's work. A process
 * posts to the queues that it maps, and comes here with no request at all.
 */
#include "path.h"

#define SENDS		(BIT_ULL(IB_WR_SEND) | BIT_ULL(IB_WR_SEND_WITH_IMM))
#define WRITES		(BIT_ULL(IB_WR_RDMA_WRITE) | \
			 BIT_ULL(IB_WR_RDMA_WRITE_WITH_IMM))
#define LOCALS		(BIT_ULL(IB_WR_REG_MR) | BIT_ULL(IB_WR_LOCAL_INV) | \
			 BIT_ULL(IB_WR_BIND_MW))

/* What each type of QP may be asked to do. */
static const u64 opcodes[] = {
	[IB_QPT_GSI] = SENDS,
	[IB_QPT_RC] = SENDS | WRITES | LOCALS |
		      BIT_ULL(IB_WR_SEND_WITH_INV) |
		      BIT_ULL(IB_WR_RDMA_READ) |
		      BIT_ULL(IB_WR_ATOMIC_CMP_AND_SWP) |
		      BIT_ULL(IB_WR_ATOMIC_FETCH_AND_ADD) |
		      BIT_ULL(IB_WR_ATOMIC_WRITE) | BIT_ULL(IB_WR_FLUSH),
	[IB_QPT_UC] = SENDS | WRITES | LOCALS,
	[IB_QPT_UD] = SENDS,
};

bool qrdma_opcode_known(const struct qrdma_qp *qp, u32 opcode)
{
	return opcode < 64 && opcodes[qp->type] & BIT_ULL(opcode);
}

static int take_inline(struct qrdma_sq *sq, struct qrdma_swqe *wqe,
		       const struct ib_send_wr *wr)
{
	u8 *to = wqe->inline_data;
	int i;

	if (wqe->length > sq->max_inline ||
	    wr->opcode == IB_WR_RDMA_READ ||
	    wr->opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
	    wr->opcode == IB_WR_ATOMIC_FETCH_AND_ADD)
		return -EINVAL;
	for (i = 0; i < wr->num_sge; i++) {
		memcpy(to, (void *)(uintptr_t)wr->sg_list[i].addr,
		       wr->sg_list[i].length);
		to += wr->sg_list[i].length;
	}
	return 0;
}

static int take_payload(struct qrdma_qp *qp, struct qrdma_swqe *wqe,
			const struct ib_send_wr *wr)
{
	struct qrdma_sq *sq = &qp->sq;
	u64 length = 0;
	int i;

	if (wr->num_sge < 0 || wr->num_sge > sq->max_sge)
		return -EINVAL;
	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	if (length > QRDMA_MAX_MSG ||
	    qrdma_npkts(qp, length) > QRDMA_MAX_MSG_PSNS)
		return -EINVAL;
	wqe->length = length;
	wqe->num_sge = wr->num_sge;
	if (wr->send_flags & IB_SEND_INLINE)
		return take_inline(sq, wqe, wr);
	for (i = 0; i < wr->num_sge; i++)
		wqe->sge[i] = wr->sg_list[i];
	return 0;
}

static int take_ud(struct qrdma_qp *qp, struct qrdma_swqe *wqe,
		   const struct ib_send_wr *wr)
{
	const struct ib_ud_wr *ud = ud_wr(wr);

	if (!ud->ah || ud->ah->pd != qp->ibqp.pd ||
	    wqe->length > qrdma_dev_mtu(qp->dev))
		return -EINVAL;
	wqe->ud.av = to_qah(ud->ah)->av;
	wqe->ud.remote_qpn = ud->remote_qpn & QRDMA_QPN_MASK;
	wqe->ud.remote_qkey = ud->remote_qkey;
	return 0;
}

static int take_atomic(struct qrdma_swqe *wqe, const struct ib_send_wr *wr)
{
	const struct ib_atomic_wr *at = atomic_wr(wr);

	if (wqe->length != sizeof(u64))
		return -EINVAL;
	wqe->rdma.remote_addr = at->remote_addr;
	wqe->rdma.rkey = at->rkey;
	wqe->rdma.compare_add = at->compare_add;
	wqe->rdma.swap = at->swap;
	return 0;
}

/* Copy one work request into its slot. */
static int take_wr(struct qrdma_qp *qp, struct qrdma_swqe *wqe,
		   const struct ib_send_wr *wr)
{
	int err;

	/* A kernel user has no work requests for some. */
	if (!qrdma_opcode_known(qp, wr->opcode) ||
	    wr->opcode == IB_WR_BIND_MW || wr->opcode == IB_WR_FLUSH)
		return -EINVAL;
	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->send_flags = wr->send_flags;
	wqe->status = 0;
	wqe->length = 0;
	wqe->num_sge = 0;

	if (wr->opcode == IB_WR_REG_MR) {
		wqe->reg.mr = to_qmr(reg_wr(wr)->mr);
		wqe->reg.key = reg_wr(wr)->key;
		wqe->reg.access = reg_wr(wr)->access;
		return 0;
	}
	/* The invalidated key, or the immediate data as it goes on the wire. */
	wqe->imm_or_key = wr->ex.invalidate_rkey;
	if (wr->opcode == IB_WR_LOCAL_INV)
		return 0;

	err = take_payload(qp, wqe, wr);
	if (err)
		return err;
	if (unlikely(!qp->connected))
		return take_ud(qp, wqe, wr);
	switch (wr->opcode) {
	case IB_WR_ATOMIC_WRITE:
		if (wqe->length != sizeof(u64))
			return -EINVAL;
		fallthrough;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
		wqe->rdma.remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rdma.rkey = rdma_wr(wr)->rkey;
		return 0;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return take_atomic(wqe, wr);
	default:
		return 0;
	}
}

void qrdma_sq_kick(struct qrdma_qp *qp)
{
	struct qrdma_notify nt = {};

	if (in_hardirq() || irqs_disabled()) {
		qrdma_qp_queue_work(qp);
		return;
	}
	local_bh_disable();
	spin_lock(&qp->sq.lock);
	qrdma_sq_run(qp, &nt);
	spin_unlock(&qp->sq.lock);
	/* A verb does not call its user's handlers: he may hold locks. */
	if (unlikely(nt.flags)) {
		atomic_or(nt.flags, &qp->nt_left);
		qrdma_qp_queue_work(qp);
	}
	local_bh_enable();
}

int qrdma_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr)
{
	struct qrdma_qp *qp = to_qqp(ibqp);
	enum ib_qp_state state = READ_ONCE(qp->state);
	struct qrdma_sq *sq = &qp->sq;
	unsigned long flags;
	int err = 0;

	if (unlikely(sq->user)) {
		*bad_wr = wr;
		return wr ? -EINVAL : qrdma_sq_doorbell(qp);
	}
	if (state < IB_QPS_RTS) {
		*bad_wr = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&sq->post_lock, flags);
	for (; wr; wr = wr->next) {
		/* pairs with the release in qrdma_sq_complete() */
		if (sq->head - smp_load_acquire(&sq->tail) >= sq->max_wr) {
			err = -ENOMEM;
			break;
		}
		err = take_wr(qp, qrdma_swqe(sq, sq->head), wr);
		if (err)
			break;
		/* The slot is filled before the engine can see it. */
		smp_store_release(&sq->head, sq->head + 1);
	}
	spin_unlock_irqrestore(&sq->post_lock, flags);
	if (err)
		*bad_wr = wr;
	qrdma_sq_kick(qp);
	return err;
}

static int take_recv(struct qrdma_rring *ring, const struct ib_recv_wr *wr)
{
	struct qrdma_rwqe *wqe;
	u64 length = 0;
	int i;

	if (wr->num_sge < 0 || wr->num_sge > ring->max_sge)
		return -EINVAL;
	/* pairs with the release in qrdma_rq_complete() */
	if (ring->head - smp_load_acquire(&ring->tail) >= ring->max_wr)
		return -ENOMEM;
	wqe = qrdma_rwqe(ring, ring->head);
	for (i = 0; i < wr->num_sge; i++) {
		wqe->sge[i] = wr->sg_list[i];
		length += wr->sg_list[i].length;
	}
	if (length > QRDMA_MAX_MSG)
		return -EINVAL;
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = wr->num_sge;
	wqe->bad = false;
	wqe->length = length;
	/* The slot is filled before the responder can see it. */
	smp_store_release(&ring->head, ring->head + 1);
	return 0;
}

int qrdma_rring_post(struct qrdma_rring *ring, const struct ib_recv_wr **wr)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&ring->lock, flags);
	for (; *wr; *wr = (*wr)->next) {
		err = take_recv(ring, *wr);
		if (err)
			break;
	}
	spin_unlock_irqrestore(&ring->lock, flags);
	return err;
}

int qrdma_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr)
{
	struct qrdma_qp *qp = to_qqp(ibqp);
	int err = -EINVAL;

	if (READ_ONCE(qp->state) != IB_QPS_RESET && !qp->rq.srq &&
	    !qp->rq.ring.user)
		err = qrdma_rring_post(&qp->rq.ring, &wr);
	if (err)
		*bad_wr = wr;
	/*
	 * What is posted to a QP in error is flushed, 10.3.1.7. Either we see
	 * the state, or the flush sees what was posted.
	 */
	smp_mb();
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		qrdma_qp_queue_work(qp);
	return err;
}
