// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unreliable connections, both ends. Nothing is answered and nothing sent
 * again: a message is complete when its last packet is handed down, so its
 * payload is always a copy; and where one of its packets is missing, the
 * receiver forgets the whole message. Runs with bottom halves off, the sender
 * under sq.lock, the receiver under rq.lock. IBTA volume 1, 9.8.2.
 */
#include "path.h"

/* The work request whose packet is to be sent now, or NULL. */
static struct qrdma_swqe *next_wqe(struct qrdma_qp *qp,
				   struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;
	struct qrdma_swqe *wqe;

	for (;;) {
		/* pairs with the release in qrdma_post_send() */
		if (sq->cur == smp_load_acquire(&sq->head))
			return NULL;
		/* Drained, a message goes out to its end. */
		if (qp->state != IB_QPS_RTS &&
		    (qp->state != IB_QPS_SQD || !sq->cur_pkt))
			return NULL;
		wqe = qrdma_swqe(sq, sq->cur);
		if (!qrdma_is_local(wqe->opcode))
			return wqe;
		qrdma_sq_run_local(qp, wqe, nt);
	}
}

static struct sk_buff *build(struct qrdma_qp *qp, const struct qrdma_swqe *wqe)
{
	u32 off = qp->sq.cur_pkt * qp->mtu;
	u8 opcode = qrdma_request_opcode(wqe, !qp->sq.cur_pkt,
					 qp->sq.psn == wqe->last_psn);

	return qrdma_build_request(qp, wqe, opcode | IB_OPCODE_UC, qp->sq.psn,
				   off, min(qp->mtu, wqe->length - off), false);
}

/* The packet is on its list. */
static void advance(struct qrdma_qp *qp, const struct qrdma_swqe *wqe,
		    struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;
	bool last = sq->psn == wqe->last_psn;

	sq->psn = qrdma_psn_add(sq->psn, 1);
	sq->una = sq->psn;
	sq->max_psn = sq->psn;
	sq->cur_pkt++;
	if (!last)
		return;
	sq->cur++;
	sq->cur_pkt = 0;
	qrdma_sq_complete(qp, IB_WC_SUCCESS, nt);
}

void qrdma_uc_fill(struct qrdma_qp *qp, struct qrdma_tx *tx,
		   struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;
	struct qrdma_swqe *wqe;
	struct sk_buff *skb;

	lockdep_assert_held(&sq->lock);
	while (tx->count < QRDMA_LIST_MAX && (wqe = next_wqe(qp, nt))) {
		if (sq->cur == sq->fresh) {
			u32 n = qrdma_npkts(qp, wqe->length);

			wqe->first_psn = sq->psn;
			wqe->last_psn = qrdma_psn_add(sq->psn, n - 1);
			sq->fresh++;
		}
		skb = build(qp, wqe);
		if (IS_ERR(skb)) {
			qrdma_sq_not_built(qp, wqe, PTR_ERR(skb));
			return;
		}
		qrdma_sq_add(qp, tx, skb);
		advance(qp, wqe, nt);
	}
}

/* The receive of the open message waits for the next one. */
static void drop_message(struct qrdma_qp *qp)
{
	qrdma_count(qp->dev, QRDMA_CNT_RX_MSG_DROPPED);
	qp->rq.flags = 0;
}

/*
 * 9.8.2.2: the first or only packet of a message is welcome with any PSN; any
 * other only where it continues the open message without a gap.
 */
static bool welcome(struct qrdma_qp *qp, const struct qrdma_pkt *pkt)
{
	struct qrdma_rq *rq = &qp->rq;
	bool gap = pkt->psn != rq->psn;
	u32 flags = pkt->op->flags;

	rq->psn = qrdma_psn_add(pkt->psn, 1);
	if (gap)
		qrdma_count(qp->dev, QRDMA_CNT_OUT_OF_SEQUENCE);
	if (rq->flags && (gap || !qrdma_rq_in_order(rq, flags)))
		drop_message(qp);
	return qrdma_rq_in_order(rq, flags);
}

void qrdma_uc_request(struct qrdma_qp *qp, const struct qrdma_pkt *pkt,
		      struct qrdma_notify *nt)
{
	struct qrdma_rq *rq = &qp->rq;
	u32 flags = pkt->op->flags;

	lockdep_assert_held(&rq->lock);
	if (qrdma_rq_ended(qp))
		return;
	qrdma_rq_establish(qp, nt);
	if (!welcome(qp, pkt))
		return;
	switch (qrdma_execute(qp, pkt, nt)) {
	case QRDMA_OK:
		rq->flags = flags & QRDMA_OP_END ? 0 : flags;
		break;
	case QRDMA_RECV_LEN:
	case QRDMA_RECV_PROT:
		qrdma_qp_fail(qp);
		break;
	case QRDMA_RNR:
		qrdma_count(qp->dev, QRDMA_CNT_OUT_OF_BUFFER);
		fallthrough;
	default:
		/* 9.9.3: there is nobody to tell. */
		drop_message(qp);
	}
}
