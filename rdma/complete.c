// SPDX-License-Identifier: GPL-2.0-only
/*
 * The completer: what the peer's answers mean for the work requests that
 * wait for them. Runs in softirq under sq.lock. IBTA volume 1, 9.7.5 and
 * 9.7.6.
 */
#include <linux/unaligned.h>
#include "path.h"
#include "trace.h"

static const u8 wc_opcodes[] = {
	[IB_WR_RDMA_WRITE] = IB_WC_RDMA_WRITE,
	[IB_WR_RDMA_WRITE_WITH_IMM] = IB_WC_RDMA_WRITE,
	[IB_WR_SEND] = IB_WC_SEND,
	[IB_WR_SEND_WITH_IMM] = IB_WC_SEND,
	[IB_WR_SEND_WITH_INV] = IB_WC_SEND,
	[IB_WR_RDMA_READ] = IB_WC_RDMA_READ,
	[IB_WR_ATOMIC_CMP_AND_SWP] = IB_WC_COMP_SWAP,
	[IB_WR_ATOMIC_FETCH_AND_ADD] = IB_WC_FETCH_ADD,
	[IB_WR_ATOMIC_WRITE] = IB_WC_ATOMIC_WRITE,
	[IB_WR_FLUSH] = IB_WC_FLUSH,
	[IB_WR_BIND_MW] = IB_WC_BIND_MW,
	[IB_WR_LOCAL_INV] = IB_WC_LOCAL_INV,
	[IB_WR_REG_MR] = IB_WC_REG_MR,
};

void qrdma_sq_complete(struct qrdma_qp *qp, enum ib_wc_status status,
		       struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;
	struct qrdma_swqe *wqe = qrdma_swqe(sq, sq->tail);
	struct ib_wc wc;
	bool tell;

	lockdep_assert_held(&sq->lock);
	if ((s32)(sq->fresh - sq->tail) > 0 &&
	    qrdma_is_read_or_atomic(wqe->opcode)) {
		sq->rd_atomic--;
		sq->read_psns -= qrdma_psn_diff(wqe->last_psn, wqe->first_psn);
	}
	if (unlikely(status != IB_WC_SUCCESS))
		qrdma_count_error(qp->dev, status, QRDMA_CNT_REQ_CQE_ERROR,
				  QRDMA_CNT_REQ_CQE_FLUSH_ERROR);
	tell = status != IB_WC_SUCCESS || sq->sig_all ||
	       (wqe->send_flags & IB_SEND_SIGNALED);
	if (tell) {
		memset(&wc, 0, sizeof(wc));
		wc.wr_id = wqe->wr_id;
		wc.status = status;
		wc.opcode = wc_opcodes[wqe->opcode];
		wc.byte_len = wqe->length;
		wc.qp = &qp->ibqp;
		trace_qrdma_complete(qp, &wc, true);
	}
	if (sq->cur == sq->tail) {
		sq->cur++;
		sq->cur_pkt = 0;
	}
	/* The slot is free before its owner can hear of it. */
	smp_store_release(&sq->tail, sq->tail + 1);
	if (unlikely(sq->user))
		qrdma_ring_set_consumer(sq->user, sq->tail);
	if (tell && !qrdma_cq_post(qp->send_cq, &wc, status != IB_WC_SUCCESS,
				   nt, true))
		qrdma_qp_cq_failed(qp);
}

void qrdma_sq_reap(struct qrdma_qp *qp, struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;

	while (sq->tail != sq->fresh) {
		struct qrdma_swqe *wqe = qrdma_swqe(sq, sq->tail);

		if (!qrdma_is_local(wqe->opcode) || wqe->status)
			break;
		qrdma_sq_complete(qp, IB_WC_SUCCESS, nt);
	}
}

void qrdma_sq_flush(struct qrdma_qp *qp, struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;
	u32 left = sq->mask + 1;

	lockdep_assert_held(&sq->lock);
	/* pairs with the release in qrdma_post_send() */
	while (sq->tail != smp_load_acquire(&sq->head)) {
		struct qrdma_swqe *wqe = qrdma_swqe(sq, sq->tail);

		/* Posted as fast as it is flushed: let others run, too. */
		if (unlikely(!left--)) {
			qrdma_qp_queue_work(qp);
			break;
		}
		qrdma_sq_complete(qp, wqe->status ?: IB_WC_WR_FLUSH_ERR, nt);
	}
	sq->cur = sq->tail;
	sq->fresh = sq->tail;
	sq->cur_pkt = 0;
	sq->una = sq->max_psn;
	sq->psn = sq->max_psn;
	qrdma_gap_reset(sq);
}

/* The work request that the peer complains of ends in error, and the QP. */
static void fail_oldest(struct qrdma_qp *qp, enum ib_wc_status status,
			struct qrdma_notify *nt)
{
	if (qp->sq.tail != qp->sq.fresh)
		qrdma_sq_complete(qp, status, nt);
	qrdma_qp_fail(qp);
}

static void measure_rtt(struct qrdma_sq *sq)
{
	u64 rtt;

	if (!sq->rtt_start || qrdma_psn_diff(sq->una, sq->rtt_psn) <= 0)
		return;
	rtt = ktime_get_ns() - sq->rtt_start;
	sq->rtt_start = 0;
	sq->srtt = sq->srtt ? (7 * sq->srtt + rtt) / 8 : rtt;
}

static void give_retries(struct qrdma_sq *sq)
{
	sq->retries_left = sq->retry_cnt;
	sq->rnr_left = sq->rnr_retry;
}

/*
 * The peer answered something new. Where a probe was out and the answer is to
 * more than that, the first sending had arrived and the peer is slow: what
 * follows is on its way, too, and sent again it would make him slower. Were it
 * lost, the next probe or a NAK will tell.
 */
static void progress(struct qrdma_qp *qp)
{
	struct qrdma_sq *sq = &qp->sq;
	bool slow = qrdma_repair_answered(sq) || sq->probing;

	give_retries(sq);
	sq->backoff = 0;
	sq->probing = false;
	sq->rewound = false;
	measure_rtt(sq);
	/* The answer jumps over what was about to be sent again. */
	if (qrdma_psn_diff(sq->psn, sq->una) < 0) {
		sq->psn = slow ? sq->max_psn : sq->una;
		qrdma_sq_seek(qp);
	}
}

/*
 * Complete what is done, in order, up to the first packet that is missing. A
 * READ or atomic is done when its answer has come; that the peer has carried
 * it out and it has not means that it was lost (9.7.5.1.3). @una: the oldest
 * PSN that was not answered before this answer.
 */
static void settle(struct qrdma_qp *qp, u32 una, struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;

	while (sq->tail != sq->fresh) {
		struct qrdma_swqe *wqe = qrdma_swqe(sq, sq->tail);
		u32 end = qrdma_psn_add(wqe->last_psn, 1);

		if (qrdma_is_local(wqe->opcode)) {
			if (wqe->status)
				break;
			qrdma_sq_complete(qp, IB_WC_SUCCESS, nt);
			continue;
		}
		qrdma_gap_close(sq);
		if (!qrdma_is_read_or_atomic(wqe->opcode) && qrdma_gap_open(sq))
			sq->una = qrdma_psn_diff(sq->heard, end) < 0 ?
					sq->heard : end;
		if (qrdma_psn_diff(sq->una, end) < 0)
			break;
		qrdma_sq_complete(qp, IB_WC_SUCCESS, nt);
	}
	if (sq->una != una) {
		qrdma_gap_moved(sq);
		progress(qp);
	}
	qrdma_gap_look(qp);
}

/* The peer has carried out everything up to @psn. */
static void ack_through(struct qrdma_qp *qp, u32 psn, struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;
	u32 next = qrdma_psn_add(psn, 1);

	if (qrdma_psn_diff(next, sq->heard) > 0) {
		sq->heard = next;
		give_retries(sq);
	}
	settle(qp, sq->una, nt);
}

static void rnr_nak(struct qrdma_qp *qp, u32 psn, u8 code,
		    struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;

	if (sq->rnr_wait)
		return; /* a second answer to the same packet */
	if (sq->rnr_retry != 7) { /* 7: for ever */
		if (!sq->rnr_left) {
			/* An answer before it is missing: that first. */
			if (sq->una != psn)
				return;
			qrdma_count(qp->dev, QRDMA_CNT_RNR_NAK_RETRY_ERR);
			fail_oldest(qp, IB_WC_RNR_RETRY_EXC_ERR, nt);
			return;
		}
		sq->rnr_left--;
	}
	qrdma_sq_rewind(qp, psn, QRDMA_REWIND_RNR);
	qrdma_timer_rnr(qp, code);
}

/* 9.7.6.1: it costs a retry; what it acknowledges has given all back. */
static void sequence_nak(struct qrdma_qp *qp, u32 psn, struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;

	qrdma_count(qp->dev, QRDMA_CNT_PACKET_SEQ_ERR);
	if (!sq->retries_left) {
		if (sq->una != psn)
			return;
		qrdma_count(qp->dev, QRDMA_CNT_RETRY_EXCEEDED);
		fail_oldest(qp, IB_WC_RETRY_EXC_ERR, nt);
		return;
	}
	sq->retries_left--;
	qrdma_repair(qp, psn);
}

static void nak(struct qrdma_qp *qp, u32 psn, u8 code, struct qrdma_notify *nt)
{
	/* What ends the QP waits for the answers that are missing before it. */
	if (code != QRDMA_NAK_PSN_SEQ && qp->sq.una != psn)
		return;
	switch (code) {
	case QRDMA_NAK_PSN_SEQ:
		sequence_nak(qp, psn, nt);
		break;
	case QRDMA_NAK_INV_REQ:
		qrdma_count(qp->dev, QRDMA_CNT_REQ_REMOTE_INVALID_REQUEST);
		fail_oldest(qp, IB_WC_REM_INV_REQ_ERR, nt);
		break;
	case QRDMA_NAK_REM_ACC:
		qrdma_count(qp->dev, QRDMA_CNT_REQ_REMOTE_ACCESS_ERRORS);
		fail_oldest(qp, IB_WC_REM_ACCESS_ERR, nt);
		break;
	case QRDMA_NAK_REM_OP:
		fail_oldest(qp, IB_WC_REM_OP_ERR, nt);
		break;
	}
}

static void acknowledge(struct qrdma_qp *qp, u32 psn, u8 syndrome,
			struct qrdma_notify *nt)
{
	u8 kind = syndrome & QRDMA_AETH_KIND;

	if (kind == QRDMA_AETH_ACK) {
		ack_through(qp, psn, nt);
		qrdma_repair_acked(qp);
		return;
	}
	/* What is reserved says nothing. */
	if (kind != QRDMA_AETH_RNR && kind != QRDMA_AETH_NAK)
		return;
	/* The complaint is about @psn: all before it has arrived. */
	ack_through(qp, qrdma_psn_add(psn, QRDMA_PSN_MASK), nt);
	/* Or it is out of date. */
	if (qp->sq.heard != psn)
		return;
	if (kind == QRDMA_AETH_RNR)
		rnr_nak(qp, psn, syndrome & QRDMA_AETH_VALUE, nt);
	else
		nak(qp, psn, syndrome & QRDMA_AETH_VALUE, nt);
}

/* The READ or atomic that a response at @psn is news of, or NULL. */
static struct qrdma_swqe *answered(struct qrdma_qp *qp, u32 psn,
				   struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;
	struct qrdma_swqe *wqe;
	u32 i;

	/* What was asked before has been carried out. */
	ack_through(qp, qrdma_psn_add(psn, QRDMA_PSN_MASK), nt);
	/* The peer is not silent, see count_retry(). */
	if (psn != sq->una)
		sq->stall_start = ktime_get_ns();
	i = qrdma_sq_find(sq, psn);
	if (i == sq->fresh || qrdma_psn_diff(psn, sq->una) < 0)
		return NULL;
	wqe = qrdma_swqe(sq, i);
	if (!qrdma_is_read_or_atomic(wqe->opcode) || qrdma_gap_known(sq, psn))
		return NULL;
	return wqe;
}

/* An answer that cannot be: of the oldest only; another may come once more. */
static void bad_answer(struct qrdma_qp *qp, u32 psn, enum ib_wc_status status,
		       struct qrdma_notify *nt)
{
	if (psn == qp->sq.una)
		fail_oldest(qp, status, nt);
}

/* One packet of the answer is in its place. */
static void answer_done(struct qrdma_qp *qp, u32 psn, struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;
	u32 una = sq->una;

	if (psn == una)
		sq->una = qrdma_psn_add(psn, 1);
	else
		qrdma_gap_add(sq, psn);
	settle(qp, una, nt);
}

/* Is a packet of an answer as long as it should be, and the last where it should? */
static bool fits(const struct qrdma_qp *qp, const struct qrdma_swqe *wqe,
		 const struct qrdma_pkt *pkt, u32 want)
{
	bool last = pkt->op->flags & QRDMA_OP_END;

	if (pkt->payload != want)
		return false;
	if (pkt->psn == wqe->last_psn)
		return last;
	/* The end of a part that was asked for again. */
	return !last || qrdma_psn_diff(pkt->psn, qp->sq.heard) < 0;
}

static void read_response(struct qrdma_qp *qp, const struct qrdma_pkt *pkt,
			  struct qrdma_notify *nt)
{
	struct qrdma_swqe *wqe = answered(qp, pkt->psn, nt);
	u32 off, want;

	if (!wqe)
		return;
	off = qrdma_psn_diff(pkt->psn, wqe->first_psn) * qp->mtu;
	want = min(qp->mtu, wqe->length - off);
	/* Annex A19: the answer to those is that of an empty READ. */
	if (wqe->opcode != IB_WR_RDMA_READ)
		want = 0;
	if (qrdma_is_atomic(wqe->opcode) || !fits(qp, wqe, pkt, want))
		bad_answer(qp, pkt->psn, IB_WC_BAD_RESP_ERR, nt);
	else if (qrdma_copy_to_sges(qp->ibqp.pd, wqe->sge, wqe->num_sge, off,
				    pkt->skb, pkt->payload_off, want))
		bad_answer(qp, pkt->psn, IB_WC_LOC_PROT_ERR, nt);
	else
		answer_done(qp, pkt->psn, nt);
}

static void atomic_response(struct qrdma_qp *qp, const struct qrdma_pkt *pkt,
			    struct qrdma_notify *nt)
{
	struct qrdma_swqe *wqe = answered(qp, pkt->psn, nt);
	u64 orig;

	if (!wqe)
		return;
	orig = get_unaligned_be64(pkt->hdr + sizeof(struct qrdma_bth) +
				  sizeof(struct qrdma_aeth));
	if (!qrdma_is_atomic(wqe->opcode))
		bad_answer(qp, pkt->psn, IB_WC_BAD_RESP_ERR, nt);
	else if (qrdma_copy_buf_to_sges(qp->ibqp.pd, wqe->sge, wqe->num_sge, 0,
					&orig, sizeof(orig)))
		bad_answer(qp, pkt->psn, IB_WC_LOC_PROT_ERR, nt);
	else
		answer_done(qp, pkt->psn, nt);
}

void qrdma_sq_response(struct qrdma_qp *qp, const struct qrdma_pkt *pkt,
		       struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;

	lockdep_assert_held(&sq->lock);
	/* Answered already, or never asked. */
	if (qrdma_psn_diff(pkt->psn, sq->una) < 0 ||
	    qrdma_psn_diff(pkt->psn, sq->max_psn) >= 0)
		return;
	if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD)
		return;

	if (pkt->op->flags & QRDMA_OP_ACK)
		acknowledge(qp, pkt->psn, pkt->hdr[sizeof(struct qrdma_bth)],
			    nt);
	else if (pkt->op->flags & QRDMA_OP_READ)
		read_response(qp, pkt, nt);
	else
		atomic_response(qp, pkt, nt);
}
