// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gaps in the answers to READs and atomics. What comes behind a lost packet is
 * put in its place and remembered, and only what is missing is asked for
 * again, by a request for that part: the wire is go-back-N's, as 9.4.4 lets
 * the requester choose what it asks for. One gap at a time, the oldest: a
 * responder may have forgotten what is before the last one that it was asked
 * for. Runs in softirq under sq.lock.
 */
#include "path.h"
#include "trace.h"

/* The span that a packet at @psn belongs to or before, or the number of them. */
static u32 span_at(const struct qrdma_sq *sq, u32 psn)
{
	u32 i = sq->nr_spans;

	while (i && qrdma_psn_diff(psn, sq->spans[i - 1].to) < 0)
		i--;
	return i;
}

bool qrdma_gap_known(const struct qrdma_sq *sq, u32 psn)
{
	u32 i = span_at(sq, psn);

	return i < sq->nr_spans &&
	       qrdma_psn_diff(psn, sq->spans[i].from) >= 0;
}

static void drop_span(struct qrdma_sq *sq, u32 i)
{
	sq->nr_spans--;
	memmove(&sq->spans[i], &sq->spans[i + 1],
		(sq->nr_spans - i) * sizeof(sq->spans[0]));
}

/* False where there is no room: then it is as if it had been lost. */
static bool insert(struct qrdma_sq *sq, u32 psn)
{
	u32 i = span_at(sq, psn), next = qrdma_psn_add(psn, 1);
	struct qrdma_span *span = &sq->spans[i];
	bool grows = i && sq->spans[i - 1].to == psn;
	bool joins = i < sq->nr_spans && span->from == next;

	if (grows && joins) {
		sq->spans[i - 1].to = span->to;
		drop_span(sq, i);
	} else if (grows) {
		sq->spans[i - 1].to = next;
	} else if (joins) {
		span->from = psn;
	} else if (sq->nr_spans < QRDMA_SPANS) {
		memmove(span + 1, span, (sq->nr_spans - i) * sizeof(*span));
		*span = (struct qrdma_span){ .from = psn, .to = next };
		sq->nr_spans++;
	} else {
		return false;
	}
	return true;
}

void qrdma_gap_add(struct qrdma_sq *sq, u32 psn)
{
	if (!insert(sq, psn))
		return;
	/* Of what was asked for again, something is missing again. */
	if (sq->mend == sq->asked && qrdma_psn_diff(psn, sq->asked) < 0) {
		sq->asked = sq->una;
		sq->mend = sq->una;
	}
}

void qrdma_gap_close(struct qrdma_sq *sq)
{
	while (sq->nr_spans &&
	       qrdma_psn_diff(sq->spans[0].from, sq->una) <= 0) {
		if (qrdma_psn_diff(sq->spans[0].to, sq->una) > 0)
			sq->una = sq->spans[0].to;
		drop_span(sq, 0);
	}
}

void qrdma_gap_moved(struct qrdma_sq *sq)
{
	if (qrdma_psn_diff(sq->heard, sq->una) < 0)
		sq->heard = sq->una;
	if (qrdma_psn_diff(sq->asked, sq->una) < 0)
		sq->asked = sq->una;
	if (qrdma_psn_diff(sq->mend, sq->una) < 0)
		sq->mend = sq->una;
}

void qrdma_gap_reset(struct qrdma_sq *sq)
{
	sq->nr_spans = 0;
	sq->heard = sq->una;
	sq->asked = sq->una;
	sq->mend = sq->una;
}

void qrdma_gap_sent(struct qrdma_sq *sq, u32 end)
{
	if (sq->mend != sq->asked || qrdma_psn_diff(sq->psn, sq->asked) > 0 ||
	    qrdma_psn_diff(end, sq->asked) <= 0)
		return;
	sq->asked = end;
	sq->mend = end;
}

bool qrdma_gap_again(struct qrdma_qp *qp, enum qrdma_rewind why)
{
	struct qrdma_sq *sq = &qp->sq;
	u32 end = sq->nr_spans ? sq->spans[0].from : sq->heard;

	lockdep_assert_held(&sq->lock);
	/* What is still to be sent, or sent again, is asked for by that. */
	if (qrdma_psn_diff(end, sq->psn) > 0)
		end = sq->psn;
	if (qrdma_psn_diff(end, sq->una) <= 0)
		return false;
	trace_qrdma_rewind(qp, why);
	sq->rtt_start = 0; /* an answer may be to either of two requests */
	sq->mend = sq->una;
	sq->asked = end;
	return true;
}

void qrdma_gap_look(struct qrdma_qp *qp)
{
	struct qrdma_sq *sq = &qp->sq;

	if (likely(!qrdma_gap_open(sq)) ||
	    qrdma_psn_diff(sq->una, sq->asked) < 0)
		return;
	if (qrdma_gap_again(qp, QRDMA_REWIND_ANSWER_LOST))
		qrdma_count(qp->dev, QRDMA_CNT_IMPLIED_NAK_SEQ_ERR);
}

/* Ask for the part of @wqe that begins at sq->mend, @n packets of its answer. */
static struct sk_buff *ask_again(struct qrdma_qp *qp,
				 const struct qrdma_swqe *wqe, u32 n)
{
	u8 opcode = qrdma_request_opcode(wqe, true, true);
	const struct qrdma_opcode *op = &qrdma_opcodes[opcode];
	u32 psn = qp->sq.mend;
	u32 off = qrdma_psn_diff(psn, wqe->first_psn) * qp->mtu;
	u32 payload = wqe->opcode == IB_WR_ATOMIC_WRITE ? sizeof(u64) : 0;
	struct sk_buff *skb;

	skb = qrdma_build_request(qp, wqe, opcode, psn, off, payload, false);
	if (!IS_ERR(skb) && wqe->opcode == IB_WR_RDMA_READ) {
		struct qrdma_reth *reth = (void *)skb->data + op->ext;

		reth->len = cpu_to_be32(min_t(u64, wqe->length - off,
					      (u64)n * qp->mtu));
	}
	return skb;
}

struct sk_buff *qrdma_gap_request(struct qrdma_qp *qp)
{
	struct qrdma_sq *sq = &qp->sq;

	lockdep_assert_held(&sq->lock);
	while (qrdma_psn_diff(sq->mend, sq->asked) < 0 &&
	       (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD)) {
		u32 i = qrdma_sq_find(sq, sq->mend), end;
		struct qrdma_swqe *wqe = qrdma_swqe(sq, i);
		struct sk_buff *skb;

		if (i == sq->fresh)
			break;
		end = qrdma_psn_add(wqe->last_psn, 1);
		/* The peer has the others: see sq->heard. */
		if (!qrdma_is_read_or_atomic(wqe->opcode)) {
			sq->mend = end;
			continue;
		}
		if (qrdma_psn_diff(sq->asked, end) < 0)
			end = sq->asked;
		skb = ask_again(qp, wqe, qrdma_psn_diff(end, sq->mend));
		if (IS_ERR(skb)) {
			qrdma_sq_not_built(qp, wqe, PTR_ERR(skb));
			return NULL;
		}
		sq->mend = end;
		qrdma_count(qp->dev, QRDMA_CNT_RETRANSMITTED);
		return skb;
	}
	return NULL;
}
