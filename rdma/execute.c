// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a request that came in order does: place a SEND, a WRITE, start a
 * READ, carry out an atomic. Runs in softirq under rq.lock. IBTA volume 1,
 * 9.4 and 9.7.4.
 */
#include <linux/atomic.h>
#include <linux/unaligned.h>
#include "path.h"
#include "trace.h"

struct qrdma_rwqe *qrdma_rq_next(struct qrdma_qp *qp)
{
	struct qrdma_rring *ring = &qp->rq.ring;

	/* pairs with the release in take_recv() */
	if (ring->tail == smp_load_acquire(&ring->head))
		return likely(!qp->rq.pull) ? NULL : qp->rq.pull(&qp->rq);
	return qrdma_rwqe(ring, ring->tail);
}

void qrdma_rq_complete(struct qrdma_qp *qp, struct ib_wc *wc, bool solicited,
		       struct qrdma_notify *nt)
{
	struct qrdma_rring *ring = &qp->rq.ring;

	lockdep_assert_held(&qp->rq.lock);
	wc->wr_id = qrdma_rwqe(ring, ring->tail)->wr_id;
	wc->qp = &qp->ibqp;
	wc->port_num = 1;
	trace_qrdma_complete(qp, wc, false);
	if (unlikely(wc->status != IB_WC_SUCCESS))
		qrdma_count_error(qp->dev, wc->status,
				  QRDMA_CNT_RESP_CQE_ERROR,
				  QRDMA_CNT_RESP_CQE_FLUSH_ERROR);
	qp->rq.wqe = NULL;
	/* The slot is free before its owner can hear of it. */
	smp_store_release(&ring->tail, ring->tail + 1);
	if (unlikely(ring->user))
		qrdma_ring_set_consumer(ring->user, ring->tail);
	if (!qrdma_cq_post(qp->recv_cq, wc, solicited, nt, false))
		qrdma_qp_cq_failed(qp);
}

/*
 * One more answer of the kind, to the request at rq->psn and of one packet so
 * far; NULL where the peer has too many under way.
 */
static struct qrdma_rres *rres_add(struct qrdma_qp *qp, u8 kind)
{
	struct qrdma_rq *rq = &qp->rq;
	struct qrdma_rres *res;

	/* What is answered once more does not count against the peer. */
	if (rq->res_head - rq->out_tail - rq->dups >= rq->max_dest_rd)
		return NULL;
	res = &rq->res[rq->res_head++ & rq->res_mask];
	*res = (struct qrdma_rres) {
		.kind = kind,
		.first_psn = rq->psn,
		.psn = rq->psn,
		.last_psn = rq->psn,
		.msn = rq->msn + 1,
	};
	return res;
}

/* 9.7.4.1.4: all packets of a message but the last are full. */
static bool length_ok(const struct qrdma_qp *qp, const struct qrdma_pkt *pkt)
{
	u32 flags = pkt->op->flags;

	if (!(flags & QRDMA_OP_END))
		return pkt->payload == qp->mtu;
	return pkt->payload <= qp->mtu &&
	       (pkt->payload || (flags & QRDMA_OP_START));
}

void qrdma_rq_receive_failed(struct qrdma_qp *qp, enum ib_wc_status status,
			     u32 src_qp, struct qrdma_notify *nt)
{
	struct ib_wc wc = {
		.status = status,
		.opcode = IB_WC_RECV,
		.src_qp = src_qp,
	};

	if (status == IB_WC_LOC_LEN_ERR)
		qrdma_count(qp->dev, QRDMA_CNT_RESP_LOCAL_LENGTH_ERROR);
	/* The open message has no receive any more. */
	qp->rq.flags = 0;
	qrdma_rq_complete(qp, &wc, true, nt);
}

/* What a process has posted cannot be received into. */
static enum qrdma_verdict bad_receive(struct qrdma_qp *qp,
				      struct qrdma_notify *nt)
{
	qrdma_rq_receive_failed(qp, IB_WC_LOC_QP_OP_ERR, qp->dqpn, nt);
	return QRDMA_RECV_PROT;
}

static void received(struct qrdma_qp *qp, const struct qrdma_pkt *pkt,
		     enum ib_wc_opcode opcode, struct qrdma_notify *nt)
{
	struct ib_wc wc;

	memset(&wc, 0, sizeof(wc));
	wc.opcode = opcode;
	wc.byte_len = qp->rq.done;
	wc.src_qp = qp->dqpn;
	if (pkt->op->flags & QRDMA_OP_IMM) {
		wc.wc_flags = IB_WC_WITH_IMM;
		memcpy(&wc.ex.imm_data, pkt->hdr + pkt->op->imm, sizeof(u32));
	} else if (pkt->op->flags & QRDMA_OP_INV) {
		wc.wc_flags = IB_WC_WITH_INVALIDATE;
		wc.ex.invalidate_rkey =
			get_unaligned_be32(pkt->hdr + pkt->op->imm);
	}
	qrdma_rq_complete(qp, &wc, pkt->solicited, nt);
}

static enum qrdma_verdict execute_send(struct qrdma_qp *qp,
				       const struct qrdma_pkt *pkt,
				       struct qrdma_notify *nt)
{
	struct qrdma_rq *rq = &qp->rq;
	struct qrdma_rwqe *wqe;

	if (!length_ok(qp, pkt))
		return QRDMA_INV_REQ;
	if (pkt->op->flags & QRDMA_OP_START) {
		rq->wqe = qrdma_rq_next(qp);
		rq->done = 0;
		if (!rq->wqe)
			return QRDMA_RNR;
		if (unlikely(rq->wqe->bad))
			return bad_receive(qp, nt);
	}
	wqe = rq->wqe;
	if (pkt->payload > wqe->length - rq->done) {
		qrdma_rq_receive_failed(qp, IB_WC_LOC_LEN_ERR, qp->dqpn, nt);
		return QRDMA_RECV_LEN;
	}
	if (pkt->payload &&
	    qrdma_copy_to_sges(rq->pd, wqe->sge, wqe->num_sge, rq->done,
			       pkt->skb, pkt->payload_off, pkt->payload)) {
		qrdma_rq_receive_failed(qp, IB_WC_LOC_PROT_ERR, qp->dqpn, nt);
		return QRDMA_RECV_PROT;
	}
	rq->done += pkt->payload;
	if (!(pkt->op->flags & QRDMA_OP_END))
		return QRDMA_OK;
	if ((pkt->op->flags & QRDMA_OP_INV) &&
	    qrdma_mr_invalidate(qp, get_unaligned_be32(pkt->hdr + pkt->op->imm),
				true)) {
		qrdma_rq_receive_failed(qp, IB_WC_LOC_QP_OP_ERR, qp->dqpn, nt);
		return QRDMA_REM_ACC;
	}
	received(qp, pkt, IB_WC_RECV, nt);
	return QRDMA_OK;
}

/*
 * 9.9.3: what the QP is not set up for is an invalid request, whatever the
 * key says.
 */
static bool allowed(const struct qrdma_qp *qp, int access)
{
	return qp->rq.access & access;
}

/* May the peer do this to all of the range? Nothing to ask for no bytes. */
static bool range_ok(struct qrdma_qp *qp, u32 rkey, int access, u64 va,
		     u32 len)
{
	struct qrdma_mr *mr;

	if (!len)
		return true;
	mr = qrdma_mr_get_remote(qp, rkey, access, va, len);
	if (!mr)
		return false;
	qrdma_mr_put(mr);
	return true;
}

static enum qrdma_verdict execute_write(struct qrdma_qp *qp,
					const struct qrdma_pkt *pkt,
					struct qrdma_notify *nt)
{
	struct qrdma_rq *rq = &qp->rq;

	if (!length_ok(qp, pkt))
		return QRDMA_INV_REQ;
	if (pkt->op->flags & QRDMA_OP_START) {
		const struct qrdma_reth *reth = (void *)pkt->hdr + pkt->op->ext;

		rq->va = be64_to_cpu(reth->va);
		rq->rkey = be32_to_cpu(reth->rkey);
		rq->resid = be32_to_cpu(reth->len);
		rq->done = 0;
		if (rq->resid > QRDMA_MAX_MSG ||
		    !allowed(qp, IB_ACCESS_REMOTE_WRITE))
			return QRDMA_INV_REQ;
		if (!range_ok(qp, rq->rkey, IB_ACCESS_REMOTE_WRITE, rq->va,
			      rq->resid))
			return QRDMA_REM_ACC;
	}
	/* 9.7.4.1.6: the DMA length and what comes must agree. */
	if (pkt->payload > rq->resid ||
	    ((pkt->op->flags & QRDMA_OP_END) && pkt->payload != rq->resid))
		return QRDMA_INV_REQ;
	if (pkt->op->flags & QRDMA_OP_IMM) {
		const struct qrdma_rwqe *wqe = qrdma_rq_next(qp);

		if (!wqe)
			return QRDMA_RNR;
		if (unlikely(wqe->bad))
			return bad_receive(qp, nt);
	}
	if (pkt->payload &&
	    qrdma_copy_to_mr(qp, rq->rkey, rq->va, pkt->skb, pkt->payload_off,
			     pkt->payload))
		return QRDMA_REM_ACC;
	rq->va += pkt->payload;
	rq->resid -= pkt->payload;
	rq->done += pkt->payload;
	if (pkt->op->flags & QRDMA_OP_IMM)
		received(qp, pkt, IB_WC_RECV_RDMA_WITH_IMM, nt);
	if (pkt->op->flags & QRDMA_OP_END)
		qrdma_count(qp->dev, QRDMA_CNT_RX_WRITE_REQUESTS);
	return QRDMA_OK;
}

static enum qrdma_verdict execute_read(struct qrdma_qp *qp,
				       const struct qrdma_pkt *pkt)
{
	const struct qrdma_reth *reth = (void *)pkt->hdr + pkt->op->ext;
	u32 len = be32_to_cpu(reth->len), rkey = be32_to_cpu(reth->rkey);
	u64 va = be64_to_cpu(reth->va);
	struct qrdma_rq *rq = &qp->rq;
	struct qrdma_rres *res;

	if (len > QRDMA_MAX_MSG ||
	    qrdma_npkts(qp, len) > QRDMA_MAX_MSG_PSNS ||
	    !allowed(qp, IB_ACCESS_REMOTE_READ))
		return QRDMA_INV_REQ;
	if (!range_ok(qp, rkey, IB_ACCESS_REMOTE_READ, va, len))
		return QRDMA_REM_ACC;
	res = rres_add(qp, QRDMA_RRES_READ);
	if (!res)
		return QRDMA_INV_REQ;
	res->last_psn = qrdma_psn_add(rq->psn, qrdma_npkts(qp, len) - 1);
	res->va = va;
	res->rkey = rkey;
	res->resid = len;
	/* One is added for every request. */
	rq->psn = res->last_psn;
	qrdma_count(qp->dev, QRDMA_CNT_RX_READ_REQUESTS);
	return QRDMA_OK;
}

static u64 do_atomic(u8 opcode, atomic64_t *p, u64 swap_add, u64 compare)
{
	if (opcode == IB_OPCODE_RC_COMPARE_SWAP)
		return atomic64_cmpxchg(p, compare, swap_add);
	return atomic64_fetch_add(swap_add, p);
}

/* For duplicates, until the peer can have no question about it any more. */
static void remember_atomic(struct qrdma_rq *rq, const struct qrdma_rres *res)
{
	rq->atomics[rq->atomics_head++ % rq->max_dest_rd] =
		(struct qrdma_atomic) {
			.valid = true,
			.psn = res->psn,
			.orig = res->orig,
		};
}

/*
 * Hold the region of eight bytes that are to be changed as one; NULL where its
 * key does not allow it, or where they are aligned in name only, as addresses
 * need not start where a page does.
 */
static struct qrdma_mr *get_u64(struct qrdma_qp *qp, u32 rkey, int access,
				u64 va, void **p)
{
	u32 len = sizeof(u64);
	struct qrdma_mr *mr;

	mr = qrdma_mr_get_remote(qp, rkey, access, va, len);
	if (!mr)
		return NULL;
	*p = qrdma_mr_piece(mr, va, &len);
	if (len == sizeof(u64) && IS_ALIGNED((unsigned long)*p, sizeof(u64)))
		return mr;
	qrdma_mr_put(mr);
	return NULL;
}

static enum qrdma_verdict execute_atomic(struct qrdma_qp *qp,
					 const struct qrdma_pkt *pkt)
{
	const struct qrdma_atmeth *at = (void *)pkt->hdr + pkt->op->ext;
	u64 va = be64_to_cpu(at->va);
	struct qrdma_rq *rq = &qp->rq;
	struct qrdma_rres *res;
	struct qrdma_mr *mr;
	void *p;

	if (va & (sizeof(u64) - 1) || !allowed(qp, IB_ACCESS_REMOTE_ATOMIC))
		return QRDMA_INV_REQ;
	mr = get_u64(qp, be32_to_cpu(at->rkey), IB_ACCESS_REMOTE_ATOMIC, va,
		     &p);
	if (!mr)
		return QRDMA_REM_ACC;
	res = rres_add(qp, QRDMA_RRES_ATOMIC);
	if (res) {
		res->orig = do_atomic(pkt->opcode, p, be64_to_cpu(at->swap_add),
				      be64_to_cpu(at->compare));
		remember_atomic(rq, res);
		qrdma_count(qp->dev, QRDMA_CNT_RX_ATOMIC_REQUESTS);
	}
	qrdma_mr_put(mr);
	return res ? QRDMA_OK : QRDMA_INV_REQ;
}

/* The answer to those of annex A19 is that of an empty READ. */
static enum qrdma_verdict answer_empty(struct qrdma_qp *qp)
{
	return rres_add(qp, QRDMA_RRES_READ) ? QRDMA_OK : QRDMA_INV_REQ;
}

/* A19.3.2: eight bytes, aligned, that are seen whole or not at all. */
static enum qrdma_verdict execute_atomic_write(struct qrdma_qp *qp,
					       const struct qrdma_pkt *pkt)
{
	const struct qrdma_reth *reth = (void *)pkt->hdr + pkt->op->ext;
	u64 va = be64_to_cpu(reth->va), value;
	const u32 len = sizeof(value);
	enum qrdma_verdict verdict;
	struct qrdma_mr *mr;
	void *p;

	if (be32_to_cpu(reth->len) != len || pkt->payload != len ||
	    va & (len - 1) || !allowed(qp, IB_ACCESS_REMOTE_WRITE) ||
	    skb_copy_bits(pkt->skb, pkt->payload_off, &value, len))
		return QRDMA_INV_REQ;
	mr = get_u64(qp, be32_to_cpu(reth->rkey), IB_ACCESS_REMOTE_WRITE, va,
		     &p);
	if (!mr)
		return QRDMA_REM_ACC;
	verdict = answer_empty(qp);
	if (verdict == QRDMA_OK) {
		/* Whoever sees it sees all that was written before. */
		smp_store_release((u64 *)p, value);
		qrdma_count(qp->dev, QRDMA_CNT_RX_ATOMIC_REQUESTS);
	}
	qrdma_mr_put(mr);
	return verdict;
}

/* The rights that a placement type needs, or 0 where there is no such type. */
static int flush_access(u32 type)
{
	int access = 0;

	if (!type || type & ~(QRDMA_FETH_GLOBAL | QRDMA_FETH_PERSISTENT))
		return 0;
	if (type & QRDMA_FETH_GLOBAL)
		access |= IB_ACCESS_FLUSH_GLOBAL;
	if (type & QRDMA_FETH_PERSISTENT)
		access |= IB_ACCESS_FLUSH_PERSISTENT;
	return access;
}

/*
 * A19.3.1: what was written before is visible to all from here on. Memory of
 * this host always is to who reads it after; it is not durable, and no region
 * can be made that grants so.
 */
static enum qrdma_verdict execute_flush(struct qrdma_qp *qp,
					const struct qrdma_pkt *pkt)
{
	const struct qrdma_feth *feth = (void *)pkt->hdr + pkt->op->imm;
	const struct qrdma_reth *reth = (void *)pkt->hdr + pkt->op->ext;
	u32 bits = be32_to_cpu(feth->bits);
	u32 level = (bits & QRDMA_FETH_SEL_MASK) >> QRDMA_FETH_SEL_SHIFT;
	int access = flush_access(bits & QRDMA_FETH_PLT_MASK);
	u64 len = be32_to_cpu(reth->len);
	struct qrdma_mr *mr;

	if (!access || (qp->rq.access & access) != access ||
	    level > IB_FLUSH_MR)
		return QRDMA_INV_REQ;
	/* Where all of a region is to be flushed, the request need not say where. */
	if (level == IB_FLUSH_MR)
		len = QRDMA_WHOLE_MR;
	mr = qrdma_mr_get_remote(qp, be32_to_cpu(reth->rkey), access,
				 be64_to_cpu(reth->va), len);
	if (!mr)
		return QRDMA_REM_ACC;
	/* The writes before the answer. */
	smp_mb();
	qrdma_mr_put(mr);
	return answer_empty(qp);
}

enum qrdma_verdict qrdma_execute(struct qrdma_qp *qp,
				 const struct qrdma_pkt *pkt,
				 struct qrdma_notify *nt)
{
	u32 flags = pkt->op->flags;

	lockdep_assert_held(&qp->rq.lock);
	if (flags & QRDMA_OP_SEND)
		return execute_send(qp, pkt, nt);
	if (flags & QRDMA_OP_WRITE)
		return execute_write(qp, pkt, nt);
	if (flags & QRDMA_OP_READ)
		return execute_read(qp, pkt);
	if (flags & QRDMA_OP_ATOMIC_WRITE)
		return execute_atomic_write(qp, pkt);
	if (flags & QRDMA_OP_FLUSH)
		return execute_flush(qp, pkt);
	return execute_atomic(qp, pkt);
}
