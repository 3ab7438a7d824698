// SPDX-License-Identifier: GPL-2.0-only
/*
 * The requester: turns posted work requests into lists of packets. One
 * context at a time sends for a QP (sq.running); it works off whatever is
 * sendable, so others only leave new state and go. Runs with bottom halves
 * off, under sq.lock, which is dropped while a list is handed down.
 */
#include <linux/unaligned.h>
#include "path.h"
#include "trace.h"

/* Below this, a copy is cheaper than a page reference. */
#define ZEROCOPY_MIN	512

struct opcode_set {
	u8 first, middle, last, only;
};

static const struct opcode_set rc_opcodes[] = {
	[IB_WR_RDMA_WRITE] = {
		IB_OPCODE_RC_RDMA_WRITE_FIRST,
		IB_OPCODE_RC_RDMA_WRITE_MIDDLE,
		IB_OPCODE_RC_RDMA_WRITE_LAST,
		IB_OPCODE_RC_RDMA_WRITE_ONLY,
	},
	[IB_WR_RDMA_WRITE_WITH_IMM] = {
		IB_OPCODE_RC_RDMA_WRITE_FIRST,
		IB_OPCODE_RC_RDMA_WRITE_MIDDLE,
		IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE,
		IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE,
	},
	[IB_WR_SEND] = {
		IB_OPCODE_RC_SEND_FIRST,
		IB_OPCODE_RC_SEND_MIDDLE,
		IB_OPCODE_RC_SEND_LAST,
		IB_OPCODE_RC_SEND_ONLY,
	},
	[IB_WR_SEND_WITH_IMM] = {
		IB_OPCODE_RC_SEND_FIRST,
		IB_OPCODE_RC_SEND_MIDDLE,
		IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE,
		IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE,
	},
	[IB_WR_SEND_WITH_INV] = {
		IB_OPCODE_RC_SEND_FIRST,
		IB_OPCODE_RC_SEND_MIDDLE,
		IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE,
		IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE,
	},
	[IB_WR_RDMA_READ] = {
		.only = IB_OPCODE_RC_RDMA_READ_REQUEST,
	},
	[IB_WR_ATOMIC_CMP_AND_SWP] = {
		.only = IB_OPCODE_RC_COMPARE_SWAP,
	},
	[IB_WR_ATOMIC_FETCH_AND_ADD] = {
		.only = IB_OPCODE_RC_FETCH_ADD,
	},
	[IB_WR_ATOMIC_WRITE] = {
		.only = IB_OPCODE_RC_ATOMIC_WRITE,
	},
	[IB_WR_FLUSH] = {
		.only = IB_OPCODE_RC_FLUSH,
	},
};

u8 qrdma_request_opcode(const struct qrdma_swqe *wqe, bool first, bool last)
{
	const struct opcode_set *set = &rc_opcodes[wqe->opcode];

	if (first)
		return last ? set->only : set->first;
	return last ? set->last : set->middle;
}

u32 qrdma_sq_find(const struct qrdma_sq *sq, u32 psn)
{
	u32 i;

	lockdep_assert_held(&sq->lock);
	for (i = sq->tail; i != sq->fresh; i++) {
		const struct qrdma_swqe *wqe = qrdma_swqe(sq, i);

		if (!qrdma_is_local(wqe->opcode) &&
		    qrdma_psn_diff(psn, wqe->last_psn) <= 0)
			break;
	}
	return i;
}

void qrdma_sq_seek(struct qrdma_qp *qp)
{
	struct qrdma_sq *sq = &qp->sq;
	const struct qrdma_swqe *wqe;

	sq->cur = qrdma_sq_find(sq, sq->psn);
	wqe = qrdma_swqe(sq, sq->cur);
	sq->cur_pkt = sq->cur == sq->fresh ?
			0 : qrdma_psn_diff(sq->psn, wqe->first_psn);
}

void qrdma_sq_rewind(struct qrdma_qp *qp, u32 psn, enum qrdma_rewind why)
{
	struct qrdma_sq *sq = &qp->sq;

	lockdep_assert_held(&sq->lock);
	trace_qrdma_rewind(qp, why);
	sq->psn = psn;
	sq->ack_asked = psn;
	sq->rewound = true;
	sq->repair_due = false;
	sq->rtt_start = 0; /* an answer may be to either of two packets */
	qrdma_sq_seek(qp);
}

static void fill_headers(struct qrdma_qp *qp, const struct qrdma_swqe *wqe,
			 u8 *hdr, u8 opcode, u32 psn, u32 off)
{
	const struct qrdma_opcode *op = &qrdma_opcodes[opcode];
	struct qrdma_bth *bth = (struct qrdma_bth *)hdr;

	qrdma_bth_fill(bth, opcode, qp->dqpn, psn);
	if ((wqe->send_flags & IB_SEND_SOLICITED) &&
	    (op->flags & QRDMA_OP_END) &&
	    (op->flags & (QRDMA_OP_SEND | QRDMA_OP_IMM)))
		bth->flags |= QRDMA_BTH_SE;

	if (op->flags & QRDMA_OP_RETH) {
		struct qrdma_reth *reth = (void *)hdr + op->ext;

		/* A READ that is asked for again starts where it broke off. */
		reth->va = cpu_to_be64(wqe->rdma.remote_addr + off);
		reth->rkey = cpu_to_be32(wqe->rdma.rkey);
		reth->len = cpu_to_be32(wqe->length - off);
	}
	if (unlikely(op->flags & QRDMA_OP_FLUSH)) {
		struct qrdma_feth *feth = (void *)hdr + op->imm;
		struct qrdma_reth *reth = (void *)hdr + op->ext;

		feth->bits = cpu_to_be32(wqe->rdma.flush_bits);
		reth->len = cpu_to_be32(wqe->rdma.flush_length);
	}
	if (op->flags & QRDMA_OP_ATMETH) {
		struct qrdma_atmeth *at = (void *)hdr + op->ext;

		at->va = cpu_to_be64(wqe->rdma.remote_addr);
		at->rkey = cpu_to_be32(wqe->rdma.rkey);
		if (wqe->opcode == IB_WR_ATOMIC_CMP_AND_SWP) {
			at->swap_add = cpu_to_be64(wqe->rdma.swap);
			at->compare = cpu_to_be64(wqe->rdma.compare_add);
		} else {
			at->swap_add = cpu_to_be64(wqe->rdma.compare_add);
			at->compare = 0;
		}
	}
	if (op->flags & QRDMA_OP_INV)
		put_unaligned_be32(wqe->imm_or_key, hdr + op->imm);
	if (op->flags & QRDMA_OP_IMM) /* is big-endian already */
		memcpy(hdr + op->imm, &wqe->imm_or_key, sizeof(u32));
}

int qrdma_copy_payload(struct qrdma_qp *qp, const struct qrdma_swqe *wqe,
		       u32 off, void *to, u32 len)
{
	if (wqe->send_flags & IB_SEND_INLINE) {
		memcpy(to, wqe->inline_data + off, len);
		return 0;
	}
	return qrdma_copy_from_sges(qp->ibqp.pd, wqe->sge, wqe->num_sge, off,
				    to, len);
}

struct sk_buff *qrdma_build_request(struct qrdma_qp *qp,
				    const struct qrdma_swqe *wqe, u8 opcode,
				    u32 psn, u32 off, u32 payload, bool lend)
{
	u32 hdr_len = qrdma_opcodes[opcode].hdr_len;
	struct sk_buff *skb;
	int err = 0;

	skb = qrdma_skb_alloc(hdr_len + (lend ? QRDMA_LEND_LINEAR : payload));
	if (unlikely(!skb))
		return ERR_PTR(-ENOMEM);
	fill_headers(qp, wqe, skb_put(skb, hdr_len), opcode, psn, off);
	if (lend)
		err = qrdma_frags_from_sges(qp->ibqp.pd, wqe->sge,
					    wqe->num_sge, off, skb, payload);
	else if (payload)
		err = qrdma_copy_payload(qp, wqe, off, skb_put(skb, payload),
					 payload);
	if (unlikely(err)) {
		kfree_skb(skb);
		return ERR_PTR(err);
	}
	return skb;
}

struct sk_buff *qrdma_build_packet(struct qrdma_qp *qp,
				   const struct qrdma_swqe *wqe, u32 psn)
{
	u32 pkt = qrdma_psn_diff(psn, wqe->first_psn);
	u32 off = pkt * qp->mtu, payload = 0;
	struct sk_buff *skb;
	bool lend = false;
	u8 opcode;

	if (qrdma_is_read_or_atomic(wqe->opcode)) {
		opcode = qrdma_request_opcode(wqe, true, true);
		if (wqe->opcode == IB_WR_ATOMIC_WRITE)
			payload = sizeof(u64);
	} else {
		payload = min(qp->mtu, wqe->length - off);
		opcode = qrdma_request_opcode(wqe, !pkt,
					      psn == wqe->last_psn);
		/*
		 * A kernel user's buffer is the device's until the answer;
		 * a user process may write to its own at any time. What is
		 * sent again may still wait in a queue of this host when the
		 * answer to the first copy gives the buffer back.
		 */
		lend = payload >= ZEROCOPY_MIN && !qp->ibqp.uobject &&
		       !(wqe->send_flags & IB_SEND_INLINE) &&
		       qrdma_psn_diff(psn, qp->sq.max_psn) >= 0;
	}
	skb = qrdma_build_request(qp, wqe, opcode, psn, off, payload, lend);
	if (lend && skb == ERR_PTR(-EAGAIN))
		skb = qrdma_build_request(qp, wqe, opcode, psn, off, payload,
					  false);
	return skb;
}

/* The PSN is used up; go to the next packet. */
static void advance(struct qrdma_qp *qp, const struct qrdma_swqe *wqe)
{
	struct qrdma_sq *sq = &qp->sq;

	if (qrdma_psn_diff(sq->psn, sq->max_psn) < 0) {
		qrdma_count(qp->dev, QRDMA_CNT_RETRANSMITTED);
		if (qrdma_is_read_or_atomic(wqe->opcode))
			qrdma_gap_sent(sq, qrdma_psn_add(wqe->last_psn, 1));
	}
	if (qrdma_is_read_or_atomic(wqe->opcode))
		sq->psn = wqe->last_psn;
	if (sq->psn == wqe->last_psn) {
		sq->cur++;
		sq->cur_pkt = 0;
	} else {
		sq->cur_pkt++;
	}
	sq->psn = qrdma_psn_add(sq->psn, 1);
	if (qrdma_psn_diff(sq->psn, sq->max_psn) > 0)
		sq->max_psn = sq->psn;
}

void qrdma_sq_run_local(struct qrdma_qp *qp, struct qrdma_swqe *wqe,
			struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;
	int err;

	if (unlikely(wqe->status)) /* known to be wrong when it was taken */
		err = -EINVAL;
	else if (wqe->opcode == IB_WR_REG_MR)
		err = qrdma_mr_register(wqe->reg.mr, qp->ibqp.pd, wqe->reg.key,
					wqe->reg.access);
	else if (wqe->opcode == IB_WR_BIND_MW)
		err = qrdma_mw_bind(qp, wqe);
	else
		err = qrdma_mr_invalidate(qp, wqe->imm_or_key, false);
	sq->fresh = sq->cur + 1;
	if (err) {
		/* Not past it: SQE may be left before the flush, and it comes back. */
		wqe->status = wqe->status ?: IB_WC_MW_BIND_ERR;
		qrdma_sq_fail(qp);
		return;
	}
	sq->cur++;
	qrdma_sq_reap(qp, nt);
}

/* May the work request at sq->cur, never sent before, be started? */
static bool may_start(struct qrdma_qp *qp, const struct qrdma_swqe *wqe)
{
	struct qrdma_sq *sq = &qp->sq;

	if (qp->state != IB_QPS_RTS)
		return false;
	if ((wqe->send_flags & IB_SEND_FENCE) && sq->rd_atomic)
		return false;
	if (!qrdma_is_read_or_atomic(wqe->opcode))
		return true;
	if (sq->rd_atomic >= sq->max_rd_atomic)
		return false;
	return !sq->read_psns || wqe->opcode != IB_WR_RDMA_READ ||
	       sq->read_psns + qrdma_npkts(qp, wqe->length) <=
	       QRDMA_READ_WINDOW;
}

static void start(struct qrdma_qp *qp, struct qrdma_swqe *wqe)
{
	struct qrdma_sq *sq = &qp->sq;
	/* The eight bytes of an atomic are no more than one packet. */
	u32 n = qrdma_npkts(qp, wqe->length);

	wqe->first_psn = sq->psn;
	wqe->last_psn = qrdma_psn_add(sq->psn, n - 1);
	if (qrdma_is_read_or_atomic(wqe->opcode)) {
		sq->rd_atomic++;
		sq->read_psns += n - 1;
	}
	sq->fresh++;
}

/* The work request whose packet is to be sent now, or NULL. */
static struct qrdma_swqe *next_wqe(struct qrdma_qp *qp,
				   struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;
	struct qrdma_swqe *wqe;
	s32 in_flight;

	for (;;) {
		if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD)
			return NULL;
		/* pairs with the release in qrdma_post_send() */
		if (sq->rnr_wait || sq->cur == smp_load_acquire(&sq->head))
			return NULL;
		wqe = qrdma_swqe(sq, sq->cur);
		if (qrdma_is_local(wqe->opcode)) {
			if (sq->cur != sq->fresh)
				sq->cur++;
			else if (may_start(qp, wqe))
				qrdma_sq_run_local(qp, wqe, nt);
			else
				return NULL;
			continue;
		}
		in_flight = qrdma_psn_diff(sq->psn, sq->una);
		if (sq->probing ? in_flight :
		    in_flight - sq->read_psns >= QRDMA_WINDOW)
			return NULL;
		if (sq->cur == sq->fresh) {
			if (!may_start(qp, wqe))
				return NULL;
			start(qp, wqe);
		}
		return wqe;
	}
}

void qrdma_sq_add(struct qrdma_qp *qp, struct qrdma_tx *tx,
		  struct sk_buff *skb)
{
	trace_qrdma_tx(qp, (const struct qrdma_bth *)skb->data, skb->len);
	if (likely(!qrdma_skb_seal(skb, &qp->av, qp->sq.ip_id))) {
		qp->sq.ip_id++;
		qrdma_tx_add(tx, skb);
	} else {
		kfree_skb(skb); /* lost; the timer finds out */
		qp->sq.starved = true;
	}
}

void qrdma_sq_not_built(struct qrdma_qp *qp, struct qrdma_swqe *wqe, int err)
{
	lockdep_assert_held(&qp->sq.lock);
	if (err == -ENOMEM) {
		qp->sq.starved = true;
		return;
	}
	wqe->status = IB_WC_LOC_PROT_ERR; /* a key of the payload is no more */
	qrdma_sq_fail(qp);
}

/*
 * Have the last packet of a list ask for an answer, for all before it; not
 * where more goes out at once. READs and atomics are answered anyway.
 */
static void ask_for_ack(struct qrdma_qp *qp, struct sk_buff *skb,
			struct qrdma_notify *nt)
{
	struct qrdma_bth *bth = (struct qrdma_bth *)skb->data;
	struct qrdma_sq *sq = &qp->sq;

	if (qrdma_psn_diff(sq->psn, sq->ack_asked) < QRDMA_ACK_ASK &&
	    next_wqe(qp, nt) && !sq->starved)
		return;
	sq->ack_asked = sq->psn;
	if (!(qrdma_opcodes[bth->opcode].flags & QRDMA_OP_ANSWERED))
		bth->apsn |= cpu_to_be32(QRDMA_BTH_ACK_REQ);
}

/* Build a list. */
static void fill_rc(struct qrdma_qp *qp, struct qrdma_tx *tx,
		    struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;
	struct sk_buff *last = NULL;
	struct qrdma_swqe *wqe;
	struct sk_buff *skb;

	skb = qrdma_repair_packet(qp);
	if (unlikely(skb))
		qrdma_sq_add(qp, tx, skb);
	while (tx->count + 1 < QRDMA_LIST_MAX && (skb = qrdma_gap_request(qp)))
		qrdma_sq_add(qp, tx, skb);
	/* One is always held back. */
	while (!last || tx->count + 1 < QRDMA_LIST_MAX) {
		wqe = next_wqe(qp, nt);
		if (!wqe)
			break;
		skb = qrdma_build_packet(qp, wqe, sq->psn);
		if (IS_ERR(skb)) {
			qrdma_sq_not_built(qp, wqe, PTR_ERR(skb));
			break;
		}
		if (last)
			qrdma_sq_add(qp, tx, last);
		last = skb;
		advance(qp, wqe);
	}
	if (!last)
		return;
	ask_for_ack(qp, last, nt);
	qrdma_sq_add(qp, tx, last);
	skb = qrdma_rq_take_ack(qp);
	if (skb)
		qrdma_sq_add(qp, tx, skb);
}

/* IBTA 10.3.1.5: told once, when all that was started is complete. */
static void tell_drained(struct qrdma_qp *qp, struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;

	if (qp->state == IB_QPS_SQD && sq->tail == sq->fresh && !sq->sqd_told) {
		sq->sqd_told = true;
		nt->flags |= QRDMA_NT_SQ_DRAINED;
	}
}

/* Build a list in the way of the QP's type; all of it goes to qp->av. */
static void fill(struct qrdma_qp *qp, struct qrdma_tx *tx,
		 struct qrdma_notify *nt)
{
	if (likely(qp->type == IB_QPT_RC)) {
		fill_rc(qp, tx, nt);
		if (tx->count)
			qrdma_timer_arm(qp);
	} else if (qp->connected) {
		qrdma_uc_fill(qp, tx, nt);
	} else {
		qrdma_ud_fill(qp, tx, nt);
	}
}

void qrdma_sq_run(struct qrdma_qp *qp, struct qrdma_notify *nt)
	__must_hold(&qp->sq.lock)
{
	struct qrdma_sq *sq = &qp->sq;
	struct qrdma_tx tx = {};
	u32 sent = 0;

	lockdep_assert_held(&sq->lock);
	if (sq->running)
		return;
	sq->running = true;
	while (sent < QRDMA_BUDGET) {
		fill(qp, &tx, nt);
		if (!tx.count)
			break;
		sent += tx.count;
		spin_unlock(&sq->lock);
		qrdma_tx_send(qp->dev, &qp->av, &qp->dst, &tx);
		spin_lock(&sq->lock);
	}
	sq->running = false;
	if (unlikely(sq->starved))
		qrdma_timer_sq_starved(qp);
	if (sent >= QRDMA_BUDGET)
		qrdma_qp_queue_work(qp);
	if (unlikely(qp->state > IB_QPS_SQD))
		qrdma_sq_flush(qp, nt);
	else
		tell_drained(qp, nt);
}
