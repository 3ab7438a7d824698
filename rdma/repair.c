// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a requester does about a sequence NAK. One that knows nothing of its
 * peer sends the missing packet alone, and looks at the answer: a peer that
 * keeps what comes early acknowledges more than that, and from then on its gaps
 * are mended by one packet each, while new ones are sent. Any other gets all
 * packets again from the missing one on, 9.7.5.2.8. Runs in softirq under
 * sq.lock.
 */
#include "path.h"
#include "trace.h"

/* Gaps of a peer that keeps nothing, until it is asked once more. */
#define GO_BACKS	8

/* Is it a packet that one of its own can mend? READs have gap.c. */
static bool can_mend(struct qrdma_sq *sq, u32 psn)
{
	u32 i = qrdma_sq_find(sq, psn);

	return i != sq->fresh && !qrdma_gap_open(sq) &&
	       !qrdma_is_read_or_atomic(qrdma_swqe(sq, i)->opcode);
}

static void go_back(struct qrdma_qp *qp, u32 psn, bool one)
{
	qrdma_sq_rewind(qp, psn, QRDMA_REWIND_NAK);
	qp->sq.probing = one;
	qp->sq.asking = one;
	qp->sq.repairing = false;
	qp->sq.repair = psn;
}

static bool next_is_missing(const struct qrdma_sq *sq, u32 psn)
{
	return psn == qrdma_psn_add(sq->repair, 1);
}

void qrdma_repair(struct qrdma_qp *qp, u32 psn)
{
	struct qrdma_sq *sq = &qp->sq;

	lockdep_assert_held(&sq->lock);
	/* It has something behind the next one: that may be on its way by chance. */
	if (sq->asking && next_is_missing(sq, psn))
		sq->go_backs = GO_BACKS;
	if (!can_mend(sq, psn)) {
		go_back(qp, psn, false);
	} else if (!sq->keeps) {
		go_back(qp, psn, !sq->go_backs);
		sq->go_backs -= !!sq->go_backs;
	} else if (qrdma_psn_diff(psn, sq->psn) >= 0) {
		/* It will be sent in its turn. */
	} else if (next_is_missing(sq, psn)) {
		/* It has not kept that one. Many in a row, or it never did? */
		sq->keeps = false;
		go_back(qp, psn, false);
	} else {
		trace_qrdma_rewind(qp, QRDMA_REWIND_REPAIR);
		sq->repair = psn;
		sq->repair_due = true;
		sq->repairing = true;
		sq->rewound = true;
		sq->rtt_start = 0; /* an answer may be to either of two packets */
	}
}

bool qrdma_repair_answered(struct qrdma_sq *sq)
{
	lockdep_assert_held(&sq->lock);
	if (sq->repair_due && qrdma_psn_diff(sq->repair, sq->una) < 0)
		sq->repair_due = false;
	if (!sq->asking || qrdma_psn_diff(sq->psn, sq->una) >= 0)
		return false;
	sq->asking = false;
	sq->keeps = true;
	return true;
}

void qrdma_repair_acked(struct qrdma_qp *qp)
{
	struct qrdma_sq *sq = &qp->sq;

	lockdep_assert_held(&sq->lock);
	if (sq->asking && sq->psn == sq->una) {
		sq->asking = false;
		sq->go_backs = GO_BACKS;
	} else if (unlikely(sq->repairing && next_is_missing(sq, sq->una) &&
			    !qrdma_gap_open(sq) &&
			    qrdma_psn_diff(sq->una, sq->psn) < 0)) {
		/* Or it would have said more. */
		sq->keeps = false;
		go_back(qp, sq->una, false);
	}
}

struct sk_buff *qrdma_repair_packet(struct qrdma_qp *qp)
{
	struct qrdma_sq *sq = &qp->sq;
	struct qrdma_swqe *wqe;
	struct sk_buff *skb;
	u32 i;

	lockdep_assert_held(&sq->lock);
	if (likely(!sq->repair_due) || sq->rnr_wait ||
	    (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD))
		return NULL;
	i = qrdma_sq_find(sq, sq->repair);
	if (i == sq->fresh) /* completed meanwhile */
		return NULL;
	wqe = qrdma_swqe(sq, i);
	skb = qrdma_build_packet(qp, wqe, sq->repair);
	if (IS_ERR(skb)) {
		qrdma_sq_not_built(qp, wqe, PTR_ERR(skb));
		return NULL;
	}
	sq->repair_due = false;
	((struct qrdma_bth *)skb->data)->apsn |= cpu_to_be32(QRDMA_BTH_ACK_REQ);
	qrdma_count(qp->dev, QRDMA_CNT_RETRANSMITTED);
	return skb;
}
