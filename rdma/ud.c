// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datagrams, both ends: one packet a message, each with its own destination
 * and a queue key that the receiver must know. QP1 is such a queue pair as
 * well. Runs with bottom halves off, the sender under sq.lock, the receiver
 * under rq.lock. IBTA volume 1, 9.8.3.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/ip.h>
#include "path.h"

static struct sk_buff *build(struct qrdma_qp *qp, const struct qrdma_swqe *wqe)
{
	u8 opcode = wqe->opcode == IB_WR_SEND_WITH_IMM ?
		    IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE :
		    IB_OPCODE_UD_SEND_ONLY;
	const struct qrdma_opcode *op = &qrdma_opcodes[opcode];
	struct qrdma_deth *deth;
	struct qrdma_bth *bth;
	struct sk_buff *skb;

	skb = qrdma_skb_alloc(op->hdr_len + wqe->length);
	if (!skb)
		return ERR_PTR(-ENOMEM);
	bth = skb_put(skb, op->hdr_len);
	qrdma_bth_fill(bth, opcode, wqe->ud.remote_qpn, qp->sq.psn);
	if (wqe->send_flags & IB_SEND_SOLICITED)
		bth->flags |= QRDMA_BTH_SE;
	deth = (void *)bth + op->ext;
	/* A queue key with the top bit set stands for the QP's own, 10.2.5. */
	deth->qkey = cpu_to_be32(wqe->ud.remote_qkey & BIT(31) ?
				 READ_ONCE(qp->qkey) : wqe->ud.remote_qkey);
	deth->sqpn = cpu_to_be32(qp->ibqp.qp_num);
	if (op->flags & QRDMA_OP_IMM)
		memcpy((void *)bth + op->imm, &wqe->imm_or_key, sizeof(u32));
	if (qrdma_copy_payload(qp, wqe, 0, skb_put(skb, wqe->length),
			       wqe->length)) {
		kfree_skb(skb);
		return ERR_PTR(-EFAULT);
	}
	return skb;
}

/*
 * A list has one destination; its route is kept for the next list. A datagram
 * is complete when it is handed down.
 */
void qrdma_ud_fill(struct qrdma_qp *qp, struct qrdma_tx *tx,
		   struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;
	struct qrdma_swqe *wqe;
	struct sk_buff *skb;

	lockdep_assert_held(&sq->lock);
	while (tx->count < QRDMA_LIST_MAX && qp->state == IB_QPS_RTS) {
		/* pairs with the release in qrdma_post_send() */
		if (sq->cur == smp_load_acquire(&sq->head))
			return;
		wqe = qrdma_swqe(sq, sq->cur);
		/* Known to be wrong when it was taken. */
		if (unlikely(wqe->status)) {
			sq->fresh = sq->cur + 1;
			qrdma_sq_fail(qp);
			return;
		}
		if (memcmp(&wqe->ud.av, &qp->av, sizeof(qp->av))) {
			if (tx->count)
				return;
			qp->av = wqe->ud.av;
			dst_cache_reset(&qp->dst);
		}
		skb = build(qp, wqe);
		if (skb == ERR_PTR(-ENOMEM)) {
			sq->starved = true;
			return;
		}
		/* Not one more: SQE may be left before the flush, and it comes back. */
		sq->fresh = sq->cur + 1;
		if (IS_ERR(skb)) {
			wqe->status = IB_WC_LOC_PROT_ERR;
			qrdma_sq_fail(qp);
			return;
		}
		qrdma_sq_add(qp, tx, skb);
		sq->psn = qrdma_psn_add(sq->psn, 1);
		sq->una = sq->psn;
		sq->max_psn = sq->psn;
		sq->cur++;
		qrdma_sq_complete(qp, IB_WC_SUCCESS, nt);
	}
}

/*
 * RoCE v2 annex A17.4.5: an IPv4 header stands in the last 20 bytes. The
 * first header of a list has the list's length: it gets its own back.
 */
static void fill_grh(const struct qrdma_pkt *pkt, u8 *grh)
{
	u32 len = sizeof(struct udphdr) + pkt->len;

	memset(grh, 0, QRDMA_GRH_SIZE);
	if (pkt->family == AF_INET) {
		struct iphdr ip;

		memcpy(&ip, pkt->ip, sizeof(ip));
		if (ip.tot_len != htons(sizeof(ip) + len)) {
			ip.tot_len = htons(sizeof(ip) + len);
			ip_send_check(&ip);
		}
		memcpy(grh + QRDMA_GRH_SIZE - sizeof(ip), &ip, sizeof(ip));
	} else {
		struct ipv6hdr ip6;

		memcpy(&ip6, pkt->ip, sizeof(ip6));
		ip6.payload_len = htons(len);
		memcpy(grh, &ip6, sizeof(ip6));
	}
}

static enum ib_wc_status place(struct qrdma_qp *qp, const struct qrdma_pkt *pkt,
			       const struct qrdma_rwqe *wqe)
{
	struct ib_pd *pd = qp->rq.pd;
	u8 grh[QRDMA_GRH_SIZE];

	if (unlikely(wqe->bad))
		return IB_WC_LOC_QP_OP_ERR;
	if (wqe->length < pkt->payload + QRDMA_GRH_SIZE)
		return IB_WC_LOC_LEN_ERR;
	fill_grh(pkt, grh);
	if (qrdma_copy_buf_to_sges(pd, wqe->sge, wqe->num_sge, 0, grh,
				   QRDMA_GRH_SIZE) ||
	    qrdma_copy_to_sges(pd, wqe->sge, wqe->num_sge, QRDMA_GRH_SIZE,
			       pkt->skb, pkt->payload_off, pkt->payload))
		return IB_WC_LOC_PROT_ERR;
	return IB_WC_SUCCESS;
}

static void received(struct qrdma_qp *qp, const struct qrdma_pkt *pkt,
		     u32 src_qp, struct qrdma_notify *nt)
{
	struct ib_wc wc = {
		.opcode = IB_WC_RECV,
		.byte_len = pkt->payload + QRDMA_GRH_SIZE,
		.src_qp = src_qp,
		.wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE,
		.network_hdr_type = pkt->family == AF_INET ?
				    RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6,
	};

	if (pkt->op->flags & QRDMA_OP_IMM) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		memcpy(&wc.ex.imm_data, pkt->hdr + pkt->op->imm, sizeof(u32));
	}
	qrdma_rq_complete(qp, &wc, pkt->solicited, nt);
}

void qrdma_ud_datagram(struct qrdma_qp *qp, const struct qrdma_pkt *pkt,
		       struct qrdma_notify *nt)
{
	const struct qrdma_deth *deth = (void *)pkt->hdr + pkt->op->ext;
	u32 src_qp = be32_to_cpu(deth->sqpn) & QRDMA_QPN_MASK;
	struct qrdma_rwqe *wqe;
	enum ib_wc_status status;

	lockdep_assert_held(&qp->rq.lock);
	if (qrdma_rq_ended(qp))
		return;
	if (be32_to_cpu(deth->qkey) != qp->qkey) {
		qrdma_count(qp->dev, QRDMA_CNT_RX_BAD_KEY);
		return;
	}
	wqe = qrdma_rq_next(qp);
	if (!wqe) {
		qrdma_count(qp->dev, QRDMA_CNT_OUT_OF_BUFFER);
		qrdma_count(qp->dev, QRDMA_CNT_RX_MSG_DROPPED);
		return;
	}
	status = place(qp, pkt, wqe);
	if (status == IB_WC_SUCCESS) {
		received(qp, pkt, src_qp, nt);
	} else if (qp->type == IB_QPT_GSI) {
		/* Nobody in the network may end it. */
		qrdma_count(qp->dev, QRDMA_CNT_RX_MSG_DROPPED);
	} else {
		qrdma_rq_receive_failed(qp, status, src_qp, nt);
		qrdma_qp_fail(qp);
	}
}
