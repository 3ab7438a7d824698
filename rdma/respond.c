// SPDX-License-Identifier: GPL-2.0-only
/*
 * The responder: order, duplicates, acknowledges, READ responses. Runs
 * in softirq under rq.lock, which is dropped while a list is handed down.
 * One acknowledge answers a batch of requests. IBTA volume 1, 9.7.4,
 * 9.7.5.
 */
#include "path.h"
#include "trace.h"

/*
 * Acknowledges that wait. On lo, veth or a card alike, a packet by itself
 * costs several times one in a list, and most users of a connection soon send
 * something themselves: the reply to a request, the next request. So an
 * acknowledge waits for the requester to take it along. One that waited in
 * vain is sent by a timer, and the next ones do not wait: first for a few,
 * then, if it happens again, for more. 9.7.5.1.2 allows to coalesce.
 */
#define ACK_VALID	BIT_ULL(63)
#define ACK_WORD(psn, msn) \
	(ACK_VALID | (u64)((msn) & QRDMA_PSN_MASK) << 24 | (psn))
#define ACK_PSN(word)	((word) & QRDMA_PSN_MASK)
#define ACK_MSN(word)	((word) >> 24 & QRDMA_PSN_MASK)
#define ACK_PENALTY_MIN	8
#define ACK_PENALTY_MAX	4096

/* Leave an answer to be sent. A complaint is not outdone by an ACK. */
static void owe(struct qrdma_rq *rq, u8 syndrome, u32 psn)
{
	if (rq->ack_owed &&
	    (rq->ack_syndrome & QRDMA_AETH_KIND) != QRDMA_AETH_ACK &&
	    (syndrome & QRDMA_AETH_KIND) == QRDMA_AETH_ACK)
		return;
	rq->ack_owed = true;
	rq->ack_syndrome = syndrome;
	rq->ack_psn = psn;
}

static void owe_ack(struct qrdma_rq *rq, u32 psn)
{
	owe(rq, QRDMA_AETH_ACK | QRDMA_AETH_NO_CREDIT, psn);
}

/* 9.7.4.1.2: what is at rq->psn is missing; say so once. */
static void tell_gap(struct qrdma_rq *rq)
{
	if (rq->nak_sent || rq->rnr_sent)
		return;
	rq->nak_sent = true;
	owe(rq, QRDMA_AETH_NAK | QRDMA_NAK_PSN_SEQ, rq->psn);
}

/*
 * The answer to @psn, of all up to @last, that is still to be sent; where a
 * part of it is sent already, it starts after @psn.
 */
static struct qrdma_rres *pending_answer(const struct qrdma_rq *rq, u32 psn,
					 u32 last)
{
	u32 i;

	for (i = rq->out_tail; i != rq->res_head; i++) {
		struct qrdma_rres *res = &rq->res[i & rq->res_mask];

		if (qrdma_psn_diff(res->first_psn, psn) <= 0 &&
		    qrdma_psn_diff(last, res->last_psn) <= 0)
			return res;
	}
	return NULL;
}

/*
 * Answer once more, in the order of PSNs: the peer throws away what comes
 * after the answer that it misses.
 */
static void answer_again(struct qrdma_rq *rq, const struct qrdma_rres *dup)
{
	u32 i, size = rq->res_mask + 1;

	if (rq->dups >= size - rq->max_dest_rd)
		return;
	rq->dups++;
	i = --rq->out_tail;
	for (; i + 1 != rq->res_head; i++) {
		struct qrdma_rres *next = &rq->res[(i + 1) & rq->res_mask];

		if (qrdma_psn_diff(next->psn, dup->psn) > 0)
			break;
		rq->res[i & rq->res_mask] = *next;
	}
	rq->res[i & rq->res_mask] = *dup;
}

/* 9.7.4.4: a READ is carried out again, for what is asked for now. */
static void duplicate_read(struct qrdma_qp *qp, const struct qrdma_pkt *pkt)
{
	const struct qrdma_reth *reth = (void *)pkt->hdr + pkt->op->ext;
	struct qrdma_rq *rq = &qp->rq;
	struct qrdma_rres *pending;
	struct qrdma_rres dup = {
		.kind = QRDMA_RRES_READ,
		.dup = true,
		.first_psn = pkt->psn,
		.psn = pkt->psn,
		.msn = rq->msn,
		.va = be64_to_cpu(reth->va),
		.rkey = be32_to_cpu(reth->rkey),
		.resid = be32_to_cpu(reth->len),
	};

	if (!rq->max_dest_rd || dup.resid > QRDMA_MAX_MSG ||
	    qrdma_npkts(qp, dup.resid) > QRDMA_MAX_MSG_PSNS ||
	    !(rq->access & IB_ACCESS_REMOTE_READ))
		return;
	dup.last_psn = qrdma_psn_add(pkt->psn,
				     qrdma_npkts(qp, dup.resid) - 1);
	if (qrdma_psn_diff(dup.last_psn, rq->psn) >= 0)
		return;

	pending = pending_answer(rq, dup.psn, dup.last_psn);
	if (!pending || qrdma_psn_diff(pending->psn, dup.last_psn) > 0) {
		/* Of a long answer that is still being sent, this is behind. */
		answer_again(rq, &dup);
	} else if (qrdma_psn_diff(pending->psn, dup.psn) > 0 &&
		   pending->last_psn == dup.last_psn) {
		/* Half sent: go back to where the peer lost it. */
		pending->first_psn = dup.psn;
		pending->psn = dup.psn;
		pending->va = dup.va;
		pending->rkey = dup.rkey;
		pending->resid = dup.resid;
	}
}

/* The answer of one packet to a request that came again. */
static struct qrdma_rres short_answer(const struct qrdma_rq *rq, u8 kind,
				      u32 psn)
{
	return (struct qrdma_rres) {
		.kind = kind,
		.dup = true,
		.first_psn = psn,
		.psn = psn,
		.last_psn = psn,
		.msn = rq->msn,
	};
}

/* An atomic is not carried out again: its result was kept. */
static void duplicate_atomic(struct qrdma_qp *qp, const struct qrdma_pkt *pkt)
{
	struct qrdma_rq *rq = &qp->rq;
	struct qrdma_rres dup = short_answer(rq, QRDMA_RRES_ATOMIC, pkt->psn);
	u32 i;

	if (pending_answer(rq, pkt->psn, pkt->psn))
		return;
	for (i = 0; i < rq->max_dest_rd; i++) {
		if (!rq->atomics[i].valid || rq->atomics[i].psn != pkt->psn)
			continue;
		dup.orig = rq->atomics[i].orig;
		answer_again(rq, &dup);
		return;
	}
}

/* Nor is an atomic write, nor a flush: both have an empty answer. */
static void duplicate_empty(struct qrdma_qp *qp, const struct qrdma_pkt *pkt)
{
	struct qrdma_rq *rq = &qp->rq;
	struct qrdma_rres dup = short_answer(rq, QRDMA_RRES_READ, pkt->psn);

	if (rq->max_dest_rd && !pending_answer(rq, pkt->psn, pkt->psn))
		answer_again(rq, &dup);
}

/* The open message of rq->psn is not touched by any of this. */
static void duplicate(struct qrdma_qp *qp, const struct qrdma_pkt *pkt)
{
	struct qrdma_rq *rq = &qp->rq;

	qrdma_count(qp->dev, QRDMA_CNT_DUPLICATE_REQUEST);
	if (pkt->op->flags & QRDMA_OP_READ)
		duplicate_read(qp, pkt);
	else if (pkt->op->flags & QRDMA_OP_ATOMIC)
		duplicate_atomic(qp, pkt);
	else if (pkt->op->flags & (QRDMA_OP_ATOMIC_WRITE | QRDMA_OP_FLUSH))
		duplicate_empty(qp, pkt);
	else
		owe_ack(rq, qrdma_psn_add(rq->psn, QRDMA_PSN_MASK));
	/* The peer is in doubt. */
	rq->ack_now = true;
}

bool qrdma_rq_in_order(const struct qrdma_rq *rq, u32 flags)
{
	const u32 kind = QRDMA_OP_SEND | QRDMA_OP_WRITE;

	if (!rq->flags)
		return flags & QRDMA_OP_START;
	return !(flags & QRDMA_OP_START) && (flags & kind & rq->flags);
}

static void refuse(struct qrdma_qp *qp, enum qrdma_verdict verdict,
		   struct qrdma_notify *nt)
{
	struct qrdma_rq *rq = &qp->rq;

	/* It all comes again, or nothing does. */
	qrdma_early_drop(rq);
	switch (verdict) {
	case QRDMA_OK:
		return;
	case QRDMA_RNR:
		qrdma_count(qp->dev, QRDMA_CNT_OUT_OF_BUFFER);
		qrdma_count(qp->dev, QRDMA_CNT_RNR_NAK_SENT);
		rq->rnr_sent = true;
		owe(rq, QRDMA_AETH_RNR | rq->min_rnr_timer, rq->psn);
		return;
	case QRDMA_INV_REQ:
		owe(rq, QRDMA_AETH_NAK | QRDMA_NAK_INV_REQ, rq->psn);
		nt->flags |= QRDMA_NT_QP_REQ_ERR;
		break;
	case QRDMA_REM_ACC:
		qrdma_count(qp->dev, QRDMA_CNT_RESP_REMOTE_ACCESS_ERRORS);
		owe(rq, QRDMA_AETH_NAK | QRDMA_NAK_REM_ACC, rq->psn);
		nt->flags |= QRDMA_NT_QP_ACCESS_ERR;
		break;
	/* The receive that completes in error says the rest. */
	case QRDMA_RECV_LEN:
		owe(rq, QRDMA_AETH_NAK | QRDMA_NAK_INV_REQ, rq->psn);
		break;
	case QRDMA_RECV_PROT:
		owe(rq, QRDMA_AETH_NAK | QRDMA_NAK_REM_OP, rq->psn);
		break;
	}
	qrdma_qp_fail(qp);
}

/* The request at rq->psn; false where it is refused. */
static bool take(struct qrdma_qp *qp, const struct qrdma_pkt *pkt,
		 struct qrdma_notify *nt)
{
	struct qrdma_rq *rq = &qp->rq;
	u32 flags = pkt->op->flags;
	enum qrdma_verdict verdict;

	verdict = qrdma_rq_in_order(rq, flags) ? qrdma_execute(qp, pkt, nt) :
						 QRDMA_INV_REQ;
	if (unlikely(verdict != QRDMA_OK)) {
		refuse(qp, verdict, nt);
		return false;
	}
	if (pkt->ack_req && !(flags & QRDMA_OP_ANSWERED))
		owe_ack(rq, rq->psn);
	rq->psn = qrdma_psn_add(rq->psn, 1);
	if (flags & QRDMA_OP_END) {
		rq->flags = 0;
		rq->msn++;
	} else {
		rq->flags = flags;
	}
	return true;
}

/* What was missing has come: go on with what came before it. */
static void take_early(struct qrdma_qp *qp, struct qrdma_notify *nt)
{
	struct qrdma_rq *rq = &qp->rq;
	struct qrdma_pkt pkt;
	struct sk_buff *skb;
	bool ok = true, went_on = false;

	while (ok && !qrdma_rq_ended(qp) &&
	       (skb = qrdma_early_next(rq, &pkt))) {
		u32 psn = rq->psn;

		ok = take(qp, &pkt, nt);
		if (ok && !(pkt.op->flags & QRDMA_OP_ANSWERED))
			owe_ack(rq, psn);
		qrdma_early_free(skb);
		went_on = true;
	}
	/* The peer waits for the answer to one packet, or for the next complaint. */
	rq->ack_now = true;
	/* Where none went on, the peer may be sending all of them again. */
	if (went_on && !qrdma_rq_ended(qp) &&
	    qrdma_psn_diff(rq->ahead, rq->psn) >= 0)
		tell_gap(rq);
}

/* What was missing is there: a complaint that is still owed is out of date. */
static void gap_closed(struct qrdma_rq *rq)
{
	if (rq->nak_sent && rq->ack_owed &&
	    rq->ack_syndrome == (QRDMA_AETH_NAK | QRDMA_NAK_PSN_SEQ)) {
		rq->ack_owed = false;
		owe_ack(rq, qrdma_psn_add(rq->psn, QRDMA_PSN_MASK));
		rq->ack_now = true;
	}
	rq->nak_sent = false;
	rq->rnr_sent = false;
}

/* The peer is further on than rq->psn. */
static void too_early(struct qrdma_qp *qp, const struct qrdma_pkt *pkt)
{
	struct qrdma_rq *rq = &qp->rq;

	qrdma_count(qp->dev, QRDMA_CNT_OUT_OF_SEQUENCE);
	if (skb_queue_empty(&rq->early) ||
	    qrdma_psn_diff(pkt->psn, rq->ahead) > 0)
		rq->ahead = pkt->psn;
	/* Seen twice, what is missing was passed twice: told once more. */
	if (!rq->rnr_sent && qrdma_early_keep(rq, pkt))
		rq->nak_sent = false;
	tell_gap(rq);
}

void qrdma_rq_request(struct qrdma_qp *qp, const struct qrdma_pkt *pkt,
		      struct qrdma_notify *nt)
{
	struct qrdma_rq *rq = &qp->rq;
	s32 d = qrdma_psn_diff(pkt->psn, rq->psn);

	lockdep_assert_held(&rq->lock);
	if (qrdma_rq_ended(qp))
		return;
	qrdma_rq_establish(qp, nt);
	if (unlikely(d < 0)) {
		duplicate(qp, pkt);
	} else if (unlikely(d)) {
		too_early(qp, pkt);
	} else {
		gap_closed(rq);
		if (take(qp, pkt, nt) && !skb_queue_empty(&rq->early))
			take_early(qp, nt);
	}
}

void qrdma_rq_flush(struct qrdma_qp *qp, struct qrdma_notify *nt)
{
	struct qrdma_rq *rq = &qp->rq;
	bool user = rq->ring.user;
	/* A process may post as fast as it is flushed, by one store for a ring. */
	u32 left = user ? QRDMA_BUDGET : QRDMA_MAX_QP_WR, tail = rq->ring.tail;

	lockdep_assert_held(&rq->lock);
	rq->flags = 0;
	qrdma_early_drop(rq);
	/* What a shared queue has is the others'. */
	while (left && (!rq->srq || rq->ring.tail != rq->ring.head) &&
	       qrdma_rq_next(qp)) {
		struct ib_wc wc = {
			.status = IB_WC_WR_FLUSH_ERR,
			.opcode = IB_WC_RECV,
		};

		qrdma_rq_complete(qp, &wc, true, nt);
		left--;
	}
	/* 10.9.2.2: from here on it takes none of them. */
	if (rq->srq && !rq->last_told) {
		rq->last_told = true;
		nt->flags |= QRDMA_NT_LAST_WQE;
	}
	if (unlikely(user && !left))
		qrdma_qp_queue_work(qp);
	else if (unlikely(user))
		qrdma_timer_flush(qp, rq->ring.tail != tail);
}

static void fill_aeth(void *p, u8 syndrome, u32 msn)
{
	struct qrdma_aeth *aeth = p;

	aeth->smsn = cpu_to_be32((u32)syndrome << 24 |
				 (msn & QRDMA_PSN_MASK));
}

static struct sk_buff *build_ack(struct qrdma_qp *qp, u8 opcode, u32 psn,
				 u8 syndrome, u32 msn)
{
	const struct qrdma_opcode *op = &qrdma_opcodes[opcode];
	struct sk_buff *skb;
	void *hdr;

	skb = qrdma_skb_alloc(op->hdr_len);
	if (!skb)
		return NULL;
	hdr = skb_put(skb, op->hdr_len);
	qrdma_bth_fill(hdr, opcode, qp->dqpn, psn);
	fill_aeth(hdr + op->ext, syndrome, msn);
	return skb;
}

static struct sk_buff *build_atomic_ack(struct qrdma_qp *qp,
					const struct qrdma_rres *res)
{
	struct sk_buff *skb;
	struct qrdma_atmack *at;

	skb = build_ack(qp, IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE, res->psn,
			QRDMA_AETH_ACK | QRDMA_AETH_NO_CREDIT, res->msn);
	if (!skb)
		return NULL;
	at = (void *)skb->data + sizeof(struct qrdma_bth) +
	     sizeof(struct qrdma_aeth);
	at->orig = cpu_to_be64(res->orig);
	return skb;
}

static u8 read_opcode(const struct qrdma_rres *res)
{
	bool first = res->psn == res->first_psn;
	bool last = res->psn == res->last_psn;

	if (first)
		return last ? IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY :
			      IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST;
	return last ? IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST :
		      IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE;
}

/* The memory may change under way: the payload is a copy of one moment. */
static struct sk_buff *build_read_response(struct qrdma_qp *qp,
					   const struct qrdma_rres *res)
{
	u8 opcode = read_opcode(res);
	const struct qrdma_opcode *op = &qrdma_opcodes[opcode];
	u32 payload = min(qp->mtu, res->resid);
	struct sk_buff *skb;
	void *hdr;

	skb = qrdma_skb_alloc(op->hdr_len + payload);
	if (!skb)
		return ERR_PTR(-ENOMEM);
	hdr = skb_put(skb, op->hdr_len);
	qrdma_bth_fill(hdr, opcode, qp->dqpn, res->psn);
	if (op->flags & QRDMA_OP_AETH)
		fill_aeth(hdr + op->ext, QRDMA_AETH_ACK | QRDMA_AETH_NO_CREDIT,
			  res->msn);
	if (payload &&
	    qrdma_copy_from_mr(qp, res->rkey, res->va,
			       skb_put(skb, payload), payload)) {
		kfree_skb(skb);
		return ERR_PTR(-EFAULT);
	}
	return skb;
}

static void answered(struct qrdma_rq *rq, const struct qrdma_rres *res)
{
	rq->out_tail++;
	rq->dups -= res->dup;
}

/*
 * The key of a READ was taken back before all of it was answered. Where the
 * READ had been asked for again, that is no error of the peer's: it may have
 * got the answer meanwhile, 9.7.4.4.
 */
static void read_failed(struct qrdma_qp *qp, const struct qrdma_rres *res,
			struct qrdma_notify *nt)
{
	answered(&qp->rq, res);
	if (res->dup)
		return;
	owe(&qp->rq, QRDMA_AETH_NAK | QRDMA_NAK_REM_ACC, res->psn);
	nt->flags |= QRDMA_NT_QP_ACCESS_ERR;
	qrdma_qp_fail(qp);
}

/*
 * One packet of the oldest answer that is due; -ENOMEM, or -EAGAIN where
 * that answer is off and the next one may be asked for.
 */
static struct sk_buff *next_answer(struct qrdma_qp *qp,
				   struct qrdma_notify *nt)
{
	struct qrdma_rq *rq = &qp->rq;
	struct qrdma_rres *res = &rq->res[rq->out_tail & rq->res_mask];
	struct sk_buff *skb;
	u32 n;

	if (res->kind == QRDMA_RRES_ATOMIC) {
		skb = build_atomic_ack(qp, res);
		if (!skb)
			return ERR_PTR(-ENOMEM);
		answered(rq, res);
		return skb;
	}
	n = min(qp->mtu, res->resid);
	skb = build_read_response(qp, res);
	if (skb == ERR_PTR(-EFAULT)) {
		read_failed(qp, res, nt);
		return ERR_PTR(-EAGAIN);
	}
	if (IS_ERR(skb))
		return skb;
	res->va += n;
	res->resid -= n;
	if (res->psn == res->last_psn)
		answered(rq, res);
	res->psn = qrdma_psn_add(res->psn, 1);
	return skb;
}

/* Leave the acknowledge that is owed to the requester, if that may do. */
static bool defer_ack(struct qrdma_qp *qp)
{
	struct qrdma_rq *rq = &qp->rq;
	u64 waiting = atomic64_read(&rq->ack_later), word;

	if (rq->ack_now || qp->state != IB_QPS_RTS ||
	    rq->ack_syndrome != (QRDMA_AETH_ACK | QRDMA_AETH_NO_CREDIT) ||
	    qrdma_psn_diff(rq->ack_psn, rq->ack_sent) >= QRDMA_ACK_EVERY)
		return false;
	if (rq->ack_skip) {
		rq->ack_skip--;
		return false;
	}
	if (!waiting && rq->ack_armed) {
		/* The last one was taken along. */
		rq->ack_penalty = ACK_PENALTY_MIN;
		rq->ack_sent = rq->ack_psn;
	}
	word = ACK_WORD(rq->ack_psn, rq->msn);
	atomic64_set(&rq->ack_later, word);
	rq->ack_owed = false;
	qrdma_timer_ack(qp, word);
	return true;
}

/* The acknowledge that is owed; NULL where it waits; -ENOMEM. */
static struct sk_buff *next_ack(struct qrdma_qp *qp)
{
	struct qrdma_rq *rq = &qp->rq;
	struct sk_buff *skb;

	if (defer_ack(qp))
		return NULL;
	skb = build_ack(qp, IB_OPCODE_RC_ACKNOWLEDGE, rq->ack_psn,
			rq->ack_syndrome, rq->msn);
	if (!skb)
		return ERR_PTR(-ENOMEM);
	/* It says all that one that waits would say. */
	atomic64_set(&rq->ack_later, 0);
	rq->ack_owed = false;
	rq->ack_now = false;
	rq->ack_sent = rq->ack_psn;
	return skb;
}

struct sk_buff *qrdma_rq_take_ack(struct qrdma_qp *qp)
{
	atomic64_t *later = &qp->rq.ack_later;
	u64 word = atomic64_read(later);
	struct sk_buff *skb;

	if (!word)
		return NULL;
	word = atomic64_xchg(later, 0);
	if (!word)
		return NULL;
	skb = build_ack(qp, IB_OPCODE_RC_ACKNOWLEDGE, ACK_PSN(word),
			QRDMA_AETH_ACK | QRDMA_AETH_NO_CREDIT, ACK_MSN(word));
	if (!skb) /* It waits on, where no later one does. */
		atomic64_cmpxchg(later, 0, word);
	return skb;
}

static void owe_what_waits(struct qrdma_rq *rq)
{
	u64 word = atomic64_xchg(&rq->ack_later, 0);

	if (word && !rq->ack_owed)
		owe_ack(rq, ACK_PSN(word));
	rq->ack_now = true;
}

void qrdma_rq_ack_now(struct qrdma_qp *qp)
{
	struct qrdma_notify nt = {}; /* who ends a QP is not told of it */

	spin_lock_bh(&qp->rq.lock);
	owe_what_waits(&qp->rq);
	qrdma_rq_run(qp, &nt);
	spin_unlock_bh(&qp->rq.lock);
}

enum hrtimer_restart qrdma_rq_ack_timer(struct hrtimer *timer)
{
	struct qrdma_qp *qp = container_of(timer, struct qrdma_qp, ack_timer);
	struct qrdma_rq *rq = &qp->rq;
	struct qrdma_notify nt = {};
	u64 word;

	spin_lock(&rq->lock);
	rq->ack_timer_on = false;
	word = atomic64_read(&rq->ack_later);
	if (unlikely(qp->state == IB_QPS_ERR && rq->ring.user)) {
		qrdma_rq_flush(qp, &nt);
	} else if (word && word != rq->ack_armed) {
		qrdma_timer_ack(qp, word);
	} else if (word) {
		rq->ack_skip = rq->ack_penalty;
		rq->ack_penalty = min(2 * rq->ack_penalty, ACK_PENALTY_MAX);
		rq->ack_armed = 0;
		owe_what_waits(rq);
		qrdma_rq_run(qp, &nt);
	}
	if (unlikely(rq->starved))
		qrdma_rq_run(qp, &nt);
	spin_unlock(&rq->lock);
	qrdma_qp_notify(qp, &nt);
	return HRTIMER_NORESTART;
}

/*
 * Build a list: answers in the order of their requests, then what is owed
 * for the rest. Where there is no memory, it is tried again a little later.
 */
static void fill(struct qrdma_qp *qp, struct qrdma_tx *tx,
		 struct qrdma_notify *nt)
{
	struct qrdma_rq *rq = &qp->rq;
	struct sk_buff *skb;

	while (tx->count < QRDMA_LIST_MAX) {
		if (rq->out_tail != rq->res_head) {
			skb = next_answer(qp, nt);
			if (skb == ERR_PTR(-EAGAIN))
				continue;
		} else if (rq->ack_owed) {
			skb = next_ack(qp);
		} else {
			break;
		}
		if (IS_ERR_OR_NULL(skb)) {
			rq->starved = !!skb;
			break;
		}
		trace_qrdma_tx(qp, (const struct qrdma_bth *)skb->data,
			       skb->len);
		if (qrdma_skb_seal(skb, &qp->av, rq->ip_id)) {
			kfree_skb(skb);
			continue;
		}
		rq->ip_id++;
		qrdma_tx_add(tx, skb);
	}
}

void qrdma_rq_run(struct qrdma_qp *qp, struct qrdma_notify *nt)
	__must_hold(&qp->rq.lock)
{
	struct qrdma_rq *rq = &qp->rq;
	struct qrdma_tx tx = {};
	u32 sent = 0;

	lockdep_assert_held(&rq->lock);
	if (rq->running)
		return;
	rq->running = true;
	rq->starved = false;
	while (sent < QRDMA_BUDGET) {
		fill(qp, &tx, nt);
		if (!tx.count)
			break;
		sent += tx.count;
		spin_unlock(&rq->lock);
		qrdma_tx_send(qp->dev, &qp->av, &qp->dst, &tx);
		spin_lock(&rq->lock);
	}
	rq->running = false;
	if (unlikely(rq->starved))
		qrdma_timer_rq_starved(qp);
	if (sent >= QRDMA_BUDGET)
		qrdma_qp_queue_work(qp);
}
