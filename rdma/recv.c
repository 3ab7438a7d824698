// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the network to the QPs: takes a batch of packets apart, checks each,
 * finds its QP and hands it to the responder or the completer. A run of
 * packets for the same side of the same QP is worked off under one hold of
 * that side's lock, and answered once. Runs in softirq, on the RCU read side.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/ipv6.h>
#include <kunit-hooks.h>
#include "path.h"
#include "trace.h"

/* Which lock of rx->qp is held. */
enum {
	SIDE_NONE,
	SIDE_RQ,
	SIDE_SQ,
};

void qrdma_rx_begin(struct qrdma_rx *rx, struct net *net)
{
	rx->net = net;
	rx->in = NULL;
	rx->qp = NULL;
	rx->side = SIDE_NONE;
	rx->nt.flags = 0;
}

/* Answer what the run calls for, drop the lock, tell who is to be told. */
static void leave(struct qrdma_rx *rx)
{
	struct qrdma_qp *qp = rx->qp;

	qrdma_count(qp->dev, QRDMA_CNT_RX_LISTS);
	if (rx->side == SIDE_RQ) {
		__acquire(&qp->rq.lock);
		qrdma_rq_run(qp, &rx->nt);
		spin_unlock(&qp->rq.lock);
	} else if (rx->side == SIDE_SQ) {
		__acquire(&qp->sq.lock);
		qrdma_sq_run(qp, &rx->nt);
		spin_unlock(&qp->sq.lock);
	}
	rx->side = SIDE_NONE;
	if (rx->nt.flags)
		qrdma_qp_notify(qp, &rx->nt);
	rx->nt.flags = 0;
}

void qrdma_rx_end(struct qrdma_rx *rx)
{
	if (rx->qp)
		leave(rx);
	rx->qp = NULL;
}

static void enter(struct qrdma_rx *rx, struct qrdma_qp *qp, int side)
{
	if (rx->qp == qp && rx->side == side)
		return;
	if (rx->qp)
		leave(rx);
	rx->qp = qp;
	rx->side = side;
	/* For sparse: leave() has the lock from here. */
	if (side == SIDE_RQ) {
		spin_lock(&qp->rq.lock);
		__release(&qp->rq.lock);
	} else {
		spin_lock(&qp->sq.lock);
		__release(&qp->sq.lock);
	}
}

bool qrdma_pkt_parse(struct qrdma_pkt *pkt)
{
	const struct qrdma_bth *bth;
	u32 hdr_len, pad;

	if (pkt->len < sizeof(*bth) + QRDMA_ICRC_SIZE)
		return false;
	hdr_len = min_t(u32, pkt->len - QRDMA_ICRC_SIZE, QRDMA_MAX_HDR);
	pkt->hdr = skb_header_pointer(pkt->skb, pkt->bth_off, hdr_len, pkt->buf);
	if (!pkt->hdr)
		return false;
	bth = (const struct qrdma_bth *)pkt->hdr;
	if (bth->flags & QRDMA_BTH_VER_MASK)
		return false;
	pkt->pkey_ok = !((bth->pkey ^ cpu_to_be16(QRDMA_DEF_PKEY)) &
			 cpu_to_be16(0x7fff));
	pkt->opcode = bth->opcode;
	pkt->op = &qrdma_opcodes[bth->opcode];
	if (!pkt->op->hdr_len)
		return false;
	pad = qrdma_bth_pad(bth);
	if (pkt->len < pkt->op->hdr_len + pad + QRDMA_ICRC_SIZE)
		return false;
	pkt->payload = pkt->len - pkt->op->hdr_len - pad - QRDMA_ICRC_SIZE;
	if (pkt->payload > QRDMA_MAX_PAYLOAD ||
	    (pkt->payload && !(pkt->op->flags & QRDMA_OP_PAYLOAD)))
		return false;
	pkt->payload_off = pkt->bth_off + pkt->op->hdr_len;
	pkt->psn = qrdma_bth_psn(bth);
	pkt->qpn = qrdma_bth_qpn(bth);
	pkt->ack_req = bth->apsn & cpu_to_be32(QRDMA_BTH_ACK_REQ);
	pkt->solicited = bth->flags & QRDMA_BTH_SE;
	return true;
}

static bool icrc_ok(const struct qrdma_pkt *pkt, __be16 sport)
{
	__le32 buf;
	const __le32 *icrc;
	u32 len = pkt->len - QRDMA_ICRC_SIZE;

	icrc = skb_header_pointer(pkt->skb, pkt->bth_off + len, sizeof(buf),
				  &buf);
	return icrc && get_unaligned(icrc) ==
		qrdma_icrc_compute(pkt->skb, pkt->ip, pkt->family, sport,
				   pkt->bth_off, len);
}

static void trace_rx(const struct qrdma_qp *qp, const struct qrdma_pkt *pkt)
{
	trace_qrdma_rx(qp, (const struct qrdma_bth *)pkt->hdr,
		       pkt->op->hdr_len + pkt->payload);
}

/* The last checks, which cost most; counts the packet. */
static bool packet_ok(const struct qrdma_dev *dev, const struct qrdma_pkt *pkt,
		      __be16 sport)
{
	if (!pkt->pkey_ok) {
		qrdma_count(dev, QRDMA_CNT_RX_BAD_KEY);
		return false;
	}
	if (!icrc_ok(pkt, sport)) {
		qrdma_count(dev, QRDMA_CNT_RX_ICRC_ENCAPSULATED);
		return false;
	}
	qrdma_count(dev, QRDMA_CNT_RX_PKTS);
	return true;
}

/* Does the packet come from the QP's peer, to the QP's own address? */
static bool addresses_match(const struct qrdma_qp *qp,
			    const struct qrdma_pkt *pkt)
{
	const struct qrdma_av *av = &qp->av;
	const struct ipv6hdr *ip6;

	if (av->family != pkt->family)
		return false;
	if (pkt->family == AF_INET) {
		const struct iphdr *ip = pkt->ip;

		return ip->saddr == av->v4.daddr && ip->daddr == av->v4.saddr;
	}
	ip6 = pkt->ip;
	return ipv6_addr_equal(&ip6->saddr, &av->v6.daddr) &&
	       ipv6_addr_equal(&ip6->daddr, &av->v6.saddr);
}

/* The packet's destination address. */
static union ib_gid dgid_of(const void *ip, u8 family)
{
	union ib_gid gid;

	if (family == AF_INET)
		ipv6_addr_set_v4mapped(((const struct iphdr *)ip)->daddr,
				       (struct in6_addr *)&gid);
	else
		memcpy(&gid, &((const struct ipv6hdr *)ip)->daddr, sizeof(gid));
	return gid;
}

/* The device that has it. */
static struct qrdma_dev *find_dev(struct net *net, const void *ip, u8 family)
{
	union ib_gid gid = dgid_of(ip, family);

	return qrdma_dev_find_by_gid(net, &gid);
}

void qrdma_rx_drop(struct net *net, const void *ip, u8 family,
		   enum qrdma_counter counter)
{
	struct qrdma_dev *dev = find_dev(net, ip, family);

	if (dev)
		qrdma_count(dev, counter);
}

/* A datagram's QP has no peer, but its device has addresses. */
static bool address_is_ours(const struct qrdma_qp *qp, struct net *net,
			    const struct qrdma_pkt *pkt)
{
	return qp->connected ? addresses_match(qp, pkt) :
	       qp->type == IB_QPT_GSI ||
	       find_dev(net, pkt->ip, pkt->family) == qp->dev;
}

/* QP1 is found by the address, as each device of the namespace has one. */
static struct qrdma_qp *find_gsi(struct net *net, const struct qrdma_pkt *pkt)
{
	struct qrdma_dev *dev = find_dev(net, pkt->ip, pkt->family);

	return dev ? rcu_dereference(dev->gsi) : NULL;
}

static struct qrdma_qp *find_qp(struct qrdma_rx *rx,
				const struct qrdma_pkt *pkt)
{
	struct qrdma_qp *qp;

	if (pkt->qpn == 1)
		return find_gsi(rx->net, pkt);
	if (rx->qp && rx->qp->ibqp.qp_num == pkt->qpn)
		return rx->qp;
	qp = qrdma_qp_find(pkt->qpn);
	if (!qp || !net_eq(qp->dev->net, rx->net))
		return NULL;
	return qp;
}

/* Is this a state in which the QP takes in such a packet? */
static bool state_takes(const struct qrdma_qp *qp, const struct qrdma_pkt *pkt)
{
	switch (READ_ONCE(qp->state)) {
	case IB_QPS_RTR:
		return pkt->op->flags & QRDMA_OP_REQUEST;
	case IB_QPS_RTS:
	case IB_QPS_SQD:
	case IB_QPS_SQE:
		return true;
	default:
		return false;
	}
}

/* To all members of the group that the device of the interface has. */
static void rx_multicast(struct qrdma_rx *rx, const struct qrdma_pkt *pkt,
			 __be16 sport)
{
	union ib_gid gid = dgid_of(pkt->ip, pkt->family);
	struct qrdma_dev *dev = qrdma_dev_find_by_ndev(rx->in);
	struct qrdma_group *group;
	struct qrdma_member *m;

	/* The interface may have just come from another namespace. */
	if (dev && !net_eq(dev->net, rx->net))
		dev = NULL;
	group = dev ? qrdma_group_find(dev, &gid) : NULL;
	if (!group) {
		if (dev)
			qrdma_count(dev, QRDMA_CNT_RX_NO_QP);
		return;
	}
	if ((pkt->opcode & QRDMA_OPCODE_TRANSPORT) != IB_OPCODE_UD) {
		qrdma_count(dev, QRDMA_CNT_RX_MALFORMED);
		return;
	}
	if (!packet_ok(dev, pkt, sport))
		return;
	list_for_each_entry_rcu(m, &group->members, list) {
		if (!state_takes(m->qp, pkt))
			continue;
		trace_rx(m->qp, pkt);
		enter(rx, m->qp, SIDE_RQ);
		qrdma_ud_datagram(m->qp, pkt, &rx->nt);
	}
}

void qrdma_rx_packet(struct qrdma_rx *rx, struct sk_buff *skb, const void *ip,
		     u8 family, __be16 sport, u32 bth_off, u32 len)
{
	struct qrdma_pkt pkt;
	struct qrdma_qp *qp;

	pkt.skb = skb;
	pkt.ip = ip;
	pkt.family = family;
	pkt.bth_off = bth_off;
	pkt.len = len;
	if (!qrdma_pkt_parse(&pkt)) {
		qrdma_rx_drop(rx->net, ip, family, QRDMA_CNT_RX_MALFORMED);
		return;
	}
	qp = find_qp(rx, &pkt);
	if (unlikely(!qp)) {
		if (pkt.qpn == IB_MULTICAST_QPN) {
			rx_multicast(rx, &pkt, sport);
			return;
		}
		qrdma_rx_drop(rx->net, ip, family, QRDMA_CNT_RX_NO_QP);
		return;
	}
	if ((pkt.opcode & QRDMA_OPCODE_TRANSPORT) != qp->transport ||
	    !address_is_ours(qp, rx->net, &pkt)) {
		qrdma_count(qp->dev, QRDMA_CNT_RX_MALFORMED);
		return;
	}
	if (!packet_ok(qp->dev, &pkt, sport) || !state_takes(qp, &pkt))
		return;
	trace_rx(qp, &pkt);

	if (pkt.op->flags & QRDMA_OP_RESPONSE) {
		enter(rx, qp, SIDE_SQ);
		qrdma_sq_response(qp, &pkt, &rx->nt);
		return;
	}
	enter(rx, qp, SIDE_RQ);
	if (likely(qp->type == IB_QPT_RC))
		qrdma_rq_request(qp, &pkt, &rx->nt);
	else if (qp->connected)
		qrdma_uc_request(qp, &pkt, &rx->nt);
	else
		qrdma_ud_datagram(qp, &pkt, &rx->nt);
}
