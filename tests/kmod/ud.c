// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datagrams, IBTA volume 1, 9.8.3 and 10.2.5: sizes, the route header in front
 * of the data, queue keys, what is dropped and what ends the receiver.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <linux/sizes.h>
#include <net/ipv6.h>
#include "qverbs.h"

#define GRH	40
#define DATA	SZ_1M	/* where receives are in the memory */

static int open_ud(struct qv_link *l)
{
	l->conf.type = IB_QPT_UD;
	return qv_open(l);
}

/* The most that a datagram may carry on side @s. */
static u32 limit(struct qv_side *s)
{
	struct ib_port_attr port;

	if (ib_query_port(s->dev, 1, &port))
		return 0;
	return ib_mtu_enum_to_int(port.active_mtu);
}

/* A receive in one piece; the data begin behind the route header. */
static int receive(struct qv_side *s, u32 len, u64 id)
{
	struct qv_sgl dst;

	qv_sgl(s, &dst, DATA, GRH + len, GRH + len ? 1 : 0);
	return qv_post_recv(s, &dst, id);
}

static int check_data(struct qv_side *s, u32 len, u32 seed)
{
	struct qv_sgl dst;

	qv_sgl(s, &dst, DATA + GRH, len, 1);
	return qv_sgl_check(s, &dst, len, seed);
}

static int check_ipv4(struct qv_link *l, const u8 *grh, u32 len)
{
	const struct iphdr *ip = (const void *)(grh + GRH - sizeof(*ip));
	const struct in6_addr *from = (const void *)&l->side[QV_A].gid->gid;
	const struct in6_addr *to = (const void *)&l->side[QV_B].gid->gid;
	/* UDP, BTH, DETH, pad, ICRC */
	u32 total = sizeof(*ip) + 8 + 12 + 8 + ALIGN(len, 4) + 4;

	if (ip->version != 4 || ip->ihl != 5 || ip->protocol != IPPROTO_UDP ||
	    ip->saddr != from->s6_addr32[3] || ip->daddr != to->s6_addr32[3])
		return qv_fail(l, "B: not the packet's IPv4 header in the last 20 bytes");
	if (ntohs(ip->tot_len) != total)
		return qv_fail(l, "B: IPv4 length %u expected, not %u", total, ntohs(ip->tot_len));
	if (ip_fast_csum((const void *)ip, ip->ihl))
		return qv_fail(l, "B: the IPv4 header's checksum is wrong");
	return 0;
}

static int check_ipv6(struct qv_link *l, const u8 *grh, u32 len)
{
	const struct ipv6hdr *ip = (const void *)grh;
	u32 total = 8 + 12 + 8 + ALIGN(len, 4) + 4;

	if (ip->version != 6 || ip->nexthdr != IPPROTO_UDP ||
	    memcmp(&ip->saddr, &l->side[QV_A].gid->gid, 16) ||
	    memcmp(&ip->daddr, &l->side[QV_B].gid->gid, 16))
		return qv_fail(l, "B: not the packet's IPv6 header");
	if (ntohs(ip->payload_len) != total)
		return qv_fail(l, "B: IPv6 length %u expected, not %u", total,
			       ntohs(ip->payload_len));
	return 0;
}

static int check_wc(struct qv_link *l, const struct ib_wc *wc, u32 len)
{
	int net = l->conf.family == 4 ? RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;

	if (wc->opcode != IB_WC_RECV || wc->byte_len != GRH + len ||
	    wc->src_qp != l->side[QV_A].qp->qp_num || wc->qp != l->side[QV_B].qp)
		return qv_fail(l, "B: opcode %d, %u bytes, from QP %#x", wc->opcode,
			       wc->byte_len, wc->src_qp);
	if (!(wc->wc_flags & IB_WC_GRH) || wc->pkey_index || wc->port_num != 1)
		return qv_fail(l, "B: flags %#x, P_Key index %u, port %u", wc->wc_flags,
			       wc->pkey_index, wc->port_num);
	if ((wc->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE) && wc->network_hdr_type != net)
		return qv_fail(l, "B: network type %u", wc->network_hdr_type);
	return 0;
}

static int check_received(struct qv_link *l, const struct ib_wc *wc, u32 len, u32 seed)
{
	struct qv_side *b = &l->side[QV_B];
	const u8 *grh = b->mem + DATA;

	return check_wc(l, wc, len) ?:
	       (l->conf.family == 4 ? check_ipv4(l, grh, len) : check_ipv6(l, grh, len)) ?:
	       check_data(b, len, seed);
}

static int datagram(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src;
	struct ib_wc wc;

	memset(b->mem, QV_UNUSED, QV_MEM_SIZE);
	qv_sgl(a, &src, 0, len, 2);
	qv_sgl_fill(a, &src, len);
	return receive(b, len + 5, 1) ?: qv_post_send(a, &src, 2, IB_SEND_SIGNALED) ?:
	       qv_sent(a, IB_WC_SUCCESS, &wc) ?: qv_received(b, IB_WC_SUCCESS, &wc) ?:
	       check_received(l, &wc, len, len);
}

static int size(struct qv_link *l, u32 len)
{
	return open_ud(l) ?: datagram(l, len);
}

/* The longest one, with no byte to spare. */
static int longest(struct qv_link *l, u32 less)
{
	return open_ud(l) ?: datagram(l, limit(&l->side[QV_A]) - less);
}

static int imm(struct qv_link *l, u32 len)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND_WITH_IMM,
				 .ex.imm_data = cpu_to_be32(0x12345678) };
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src;
	struct ib_wc wc;
	int err = open_ud(l);

	if (err)
		return err;
	qv_sgl(a, &src, 0, len, 1);
	qv_sgl_fill(a, &src, 1);
	wr.sg_list = src.sge;
	wr.num_sge = src.n;
	err = receive(b, len, 1) ?: qv_post(a, &wr) ?: qv_received(b, IB_WC_SUCCESS, &wc) ?:
	      check_data(b, len, 1);
	if (!err && (!(wc.wc_flags & IB_WC_WITH_IMM) ||
		     wc.ex.imm_data != cpu_to_be32(0x12345678)))
		err = qv_fail(l, "B: flags %#x, immediate %#x", wc.wc_flags,
			      be32_to_cpu(wc.ex.imm_data));
	return err ?: qv_no_wc(l, a->scq, 5);
}

static int post_to(struct qv_side *s, struct ib_ah *ah, u32 qpn, u32 qkey, u32 len)
{
	struct ib_ud_wr wr = {
		.wr.opcode = IB_WR_SEND, .ah = ah, .remote_qpn = qpn, .remote_qkey = qkey,
	};
	const struct ib_send_wr *bad = NULL;
	struct qv_sgl src;
	int err;

	qv_sgl(s, &src, 0, len, 1);
	wr.wr.sg_list = src.sge;
	wr.wr.num_sge = src.n;
	err = ib_post_send(s->qp, &wr.wr, &bad);
	return err && bad != &wr.wr ? qv_fail(s->link, "bad_wr is wrong") : err;
}

static int must(struct qv_link *l, int want, int err, const char *what)
{
	return err == want ? 0 : qv_fail(l, "%s: %d expected, not %d", what, want, err);
}

/* What posting itself refuses. */
static int wrong_requests(struct qv_link *l, u32 unused)
{
	static const int opcodes[] = { IB_WR_RDMA_WRITE, IB_WR_RDMA_READ, IB_WR_SEND_WITH_INV,
				       IB_WR_ATOMIC_FETCH_AND_ADD, IB_WR_LOCAL_INV, IB_WR_REG_MR };
	struct qv_side *a = &l->side[QV_A];
	const struct ib_send_wr *bad;
	struct ib_atomic_wr wr = {};
	u32 qpn;
	int i, err = open_ud(l);

	if (err)
		return err;
	qpn = l->side[QV_B].qp->qp_num;
	err = must(l, -EINVAL, post_to(a, NULL, qpn, QV_QKEY, 4), "no address") ?:
	      must(l, -EINVAL, post_to(a, a->ah, qpn, QV_QKEY, limit(a) + 1), "too long");
	for (i = 0; i < ARRAY_SIZE(opcodes) && !err; i++) {
		wr.wr.opcode = opcodes[i];
		err = must(l, -EINVAL, ib_post_send(a->qp, &wr.wr, &bad), "opcode");
	}
	return err ?: datagram(l, 100);
}

/* An address of another protection domain. */
static int foreign_address(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];
	struct rdma_ah_attr attr = {};
	struct ib_pd *pd;
	struct ib_ah *ah;
	int err = open_ud(l);

	if (err)
		return err;
	err = rdma_query_ah(a->ah, &attr);
	pd = ib_alloc_pd(a->dev, 0);
	if (err || IS_ERR(pd))
		return qv_fail(l, "rdma_query_ah: %d", err);
	ah = rdma_create_ah(pd, &attr, 0);
	if (IS_ERR(ah)) {
		err = qv_fail(l, "rdma_create_ah: %ld", PTR_ERR(ah));
	} else {
		err = must(l, -EINVAL, post_to(a, ah, l->side[QV_B].qp->qp_num, QV_QKEY, 4),
			   "another domain's address");
		rdma_destroy_ah(ah, 0);
	}
	ib_dealloc_pd(pd);
	return err ?: datagram(l, 100);
}

/* It is in the request from the post on. */
static int address_gone(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct rdma_ah_attr attr = {};
	struct qv_sgl src;
	struct ib_wc wc;
	int err = open_ud(l);

	if (err)
		return err;
	qv_sgl(a, &src, 0, 100, 1);
	qv_sgl_fill(a, &src, 9);
	err = rdma_query_ah(a->ah, &attr) ?: receive(b, 100, 1) ?: qv_sqd(a) ?:
	      qv_post_send(a, &src, 2, 0);
	rdma_destroy_ah(a->ah, 0);
	a->ah = NULL;
	err = err ?: qv_back_to_rts(a, IB_QPS_SQD) ?: qv_received(b, IB_WC_SUCCESS, &wc) ?:
	      check_data(b, 100, 9);
	if (!err && memcmp(&attr.grh.dgid, &b->gid->gid, 16))
		err = qv_fail(l, "rdma_query_ah returns another address");
	return err;
}

static int set_qkey(struct qv_side *s, u32 qkey)
{
	struct ib_qp_attr attr = { .qkey = qkey }, got = {};
	struct ib_qp_init_attr init;

	if (ib_modify_qp(s->qp, &attr, IB_QP_QKEY) || ib_query_qp(s->qp, &got, -1, &init) ||
	    got.qkey != qkey)
		return qv_fail(s->link, "%c: key %#x set, %#x came back", qv_letter(s), qkey,
			       got.qkey);
	return 0;
}

/* @l->conf's key is not the receiver's; a key with the top bit is the sender's own. */
static int queue_keys(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_wc wc;
	u32 qpn;
	int err = open_ud(l);

	if (err)
		return err;
	qpn = b->qp->qp_num;
	return receive(b, 100, 1) ?: post_to(a, a->ah, qpn, QV_QKEY + 1, 100) ?:
	       post_to(a, a->ah, qpn, 0, 100) ?: qv_no_wc(l, b->rcq, 30) ?:
	       post_to(a, a->ah, qpn, 0x80000000, 100) ?: qv_received(b, IB_WC_SUCCESS, &wc) ?:
	       receive(b, 100, 2) ?: set_qkey(b, 0x80001234) ?:
	       post_to(a, a->ah, qpn, QV_QKEY, 100) ?: post_to(a, a->ah, qpn, 0x80001234, 100) ?:
	       qv_no_wc(l, b->rcq, 30) ?: set_qkey(a, 0x80001234) ?:
	       post_to(a, a->ah, qpn, 0x80001234, 100) ?: qv_received(b, IB_WC_SUCCESS, &wc);
}

static int no_receive(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src;
	struct ib_wc wc;
	int err = open_ud(l);

	if (err)
		return err;
	qv_sgl(a, &src, 0, 100, 1);
	return qv_post_send(a, &src, 1, IB_SEND_SIGNALED) ?: qv_sent(a, IB_WC_SUCCESS, &wc) ?:
	       qv_no_wc(l, b->rcq, 30) ?: datagram(l, 100);
}

/* The route header needs room as well. */
static int short_receive(struct qv_link *l, u32 room)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;
	int err = open_ud(l);

	if (err)
		return err;
	qv_sgl(a, &src, 0, 100, 1);
	qv_sgl(b, &dst, DATA, room, room ? 1 : 0);
	return qv_post_recv(b, &dst, 1) ?: receive(b, 100, 2) ?: qv_post_send(a, &src, 3, 0) ?:
	       qv_received(b, IB_WC_LOC_LEN_ERR, &wc) ?: qv_wait_state(b, IB_QPS_ERR) ?:
	       qv_flushed(b, b->rcq, 2, 3);
}

static int receive_bad_key(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;
	int err = open_ud(l);

	if (err)
		return err;
	qv_sgl(a, &src, 0, 100, 1);
	qv_sgl(b, &dst, DATA, 200, 1);
	dst.sge[0].lkey = 0x76543210;
	return qv_post_recv(b, &dst, 1) ?: qv_post_send(a, &src, 3, 0) ?:
	       qv_received(b, IB_WC_LOC_PROT_ERR, &wc) ?: qv_wait_state(b, IB_QPS_ERR) ?:
	       qv_no_wc(l, a->scq, 5);
}

/* In the receive's pieces, whatever their sizes are. */
static int pieces(struct qv_link *l, u32 n)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst, head = { .n = 1 };
	struct ib_wc wc;
	int err = open_ud(l);

	if (err)
		return err;
	qv_sgl(a, &src, 0, 900, n);
	qv_sgl_fill(a, &src, 4);
	qv_sgl(b, &dst, DATA, 900, n);
	head.sge[0] = (struct ib_sge) { b->dma, GRH, b->pd->local_dma_lkey };
	memcpy(&head.sge[1], dst.sge, n * sizeof(*dst.sge));
	head.n += n;
	return qv_post_recv(b, &head, 1) ?: qv_post_send(a, &src, 3, 0) ?:
	       qv_received(b, IB_WC_SUCCESS, &wc) ?: check_wc(l, &wc, 900) ?:
	       qv_sgl_check(b, &dst, 900, 4);
}

#define BATCH	32

/* Many at a time, as lists: each has its own lengths and data. */
static int many(struct qv_link *l, u32 rounds)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;
	u32 i, round, len;
	const u8 *grh;
	int err = open_ud(l);

	for (round = 0; round < rounds && !err; round++) {
		for (i = 0; i < BATCH && !err; i++) {
			qv_sgl(b, &dst, i * SZ_8K, GRH + 900, 1);
			err = qv_post_recv(b, &dst, i);
		}
		err = err ?: qv_sqd(a);
		for (i = 0; i < BATCH && !err; i++) {
			len = 100 + (i * 37 + round) % 800;
			qv_sgl(a, &src, i * SZ_8K, len, 1);
			qv_sgl_fill(a, &src, i + round);
			err = qv_post_send(a, &src, i, IB_SEND_SIGNALED);
		}
		err = err ?: qv_back_to_rts(a, IB_QPS_SQD);
		for (i = 0; i < BATCH && !err; i++) {
			len = 100 + (i * 37 + round) % 800;
			grh = b->mem + i * SZ_8K;
			memset(b->mem + i * SZ_8K + GRH + len, QV_UNUSED, 900 - len);
			qv_sgl(b, &dst, i * SZ_8K + GRH, len, 1);
			err = qv_sent(a, IB_WC_SUCCESS, &wc) ?:
			      qv_received(b, IB_WC_SUCCESS, &wc) ?: check_wc(l, &wc, len) ?:
			      (l->conf.family == 4 ? check_ipv4(l, grh, len) :
						     check_ipv6(l, grh, len)) ?:
			      qv_sgl_check(b, &dst, len, i + round);
			if (!err && wc.wr_id != i)
				err = qv_fail(l, "B: %u expected, not %llu", i, wc.wr_id);
		}
	}
	return err;
}

static struct ib_ah *address_of(struct qv_side *s, struct qv_side *to)
{
	struct rdma_ah_attr attr = {};

	attr.type = rdma_ah_find_type(s->dev, 1);
	rdma_ah_set_port_num(&attr, 1);
	rdma_ah_set_grh(&attr, (union ib_gid *)&to->gid->gid, 0, s->gid->index, 64, 0);
	return rdma_create_ah(s->pd, &attr, 0);
}

/* To itself and to the other one by turns. */
static int to_itself(struct qv_link *l, u32 rounds)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_ah *own;
	struct ib_wc wc;
	u32 i;
	int err = open_ud(l);

	if (err)
		return err;
	own = address_of(a, a);
	if (IS_ERR(own))
		return qv_fail(l, "rdma_create_ah: %ld", PTR_ERR(own));
	for (i = 0; i < rounds && !err; i++)
		err = receive(a, 100, 1) ?: receive(b, 100, 2) ?:
		      post_to(a, own, a->qp->qp_num, QV_QKEY, 100) ?:
		      post_to(a, a->ah, b->qp->qp_num, QV_QKEY, 100) ?:
		      qv_received(a, IB_WC_SUCCESS, &wc) ?: qv_received(b, IB_WC_SUCCESS, &wc);
	rdma_destroy_ah(own, 0);
	return err;
}

/* Queue pairs that are not there, and one that is not at that address. */
static int nobody(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_ah *own;
	int err = open_ud(l);

	if (err)
		return err;
	own = address_of(a, a);
	if (IS_ERR(own))
		return qv_fail(l, "rdma_create_ah: %ld", PTR_ERR(own));
	err = receive(b, 100, 1) ?: post_to(a, a->ah, b->qp->qp_num ^ 0x5a5a, QV_QKEY, 100) ?:
	      post_to(a, a->ah, 0, QV_QKEY, 100) ?: post_to(a, a->ah, 1, QV_QKEY, 100);
	if (!err && a->dev != b->dev)
		err = post_to(a, own, b->qp->qp_num, QV_QKEY, 100);
	err = err ?: qv_no_wc(l, b->rcq, 50);
	rdma_destroy_ah(own, 0);
	return err ?: datagram(l, 60);
}

/* Taken in from RTR on, and in SQD, but not before. */
static int states(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src;
	struct ib_wc wc;
	int err = open_ud(l);

	if (err)
		return err;
	qv_sgl(a, &src, 0, 100, 1);
	return qv_qp_walk(b, IB_QPS_INIT) ?: receive(b, 100, 1) ?: receive(b, 100, 2) ?:
	       qv_post_send(a, &src, 1, 0) ?: qv_no_wc(l, b->rcq, 30) ?:
	       qv_qp_to(b, IB_QPS_RTR) ?: qv_no_wc(l, b->rcq, 30) ?:
	       qv_post_send(a, &src, 2, 0) ?: qv_received(b, IB_WC_SUCCESS, &wc) ?:
	       qv_qp_to(b, IB_QPS_RTS) ?: qv_sqd(b) ?: qv_post_send(a, &src, 3, 0) ?:
	       qv_received(b, IB_WC_SUCCESS, &wc);
}

static const struct qv_case cases[] = {
	{ "0", size, 0, QV_OWN_LINK },
	{ "1", size, 1, QV_OWN_LINK },
	{ "3", size, 3, QV_OWN_LINK },
	{ "100", size, 100, QV_OWN_LINK },
	{ "longest", longest, 0, QV_OWN_LINK },
	{ "longest-1", longest, 1, QV_OWN_LINK },
	{ "imm-0", imm, 0, QV_OWN_LINK },
	{ "imm", imm, 1000, QV_OWN_LINK },
	{ "pieces", pieces, 4, QV_OWN_LINK },
	{ "wrong-requests", wrong_requests, 0, QV_OWN_LINK },
	{ "foreign-address", foreign_address, 0, QV_OWN_LINK },
	{ "address-gone", address_gone, 0, QV_OWN_LINK },
	{ "queue-keys", queue_keys, 0, QV_OWN_LINK },
	{ "no-receive", no_receive, 0, QV_OWN_LINK },
	{ "short-receive-0", short_receive, 0, QV_OWN_LINK },
	{ "short-receive-grh", short_receive, GRH, QV_OWN_LINK },
	{ "short-receive", short_receive, GRH + 99, QV_OWN_LINK },
	{ "receive-bad-key", receive_bad_key, 0, QV_OWN_LINK },
	{ "many", many, 10, QV_OWN_LINK },
	{ "to-itself", to_itself, 20, QV_OWN_LINK },
	{ "nobody", nobody, 0, QV_OWN_LINK },
	{ "states", states, 0, QV_OWN_LINK },
};

QV_GROUP(qv_ud, cases);
