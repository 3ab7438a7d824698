// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast, IBTA volume 1, 10.5.2: who is attached gets a copy, wherever he
 * is, and nobody else does.
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <linux/sizes.h>
#include <net/ipv6.h>
#include <rdma/ib_pack.h>
#include "qverbs.h"

#define GRH	40
#define LEN	300
#define SLOT	SZ_4K

/* A group of our own for each test of a run, or not one at all. */
static void group(struct qv_link *l, u8 number, union ib_gid *gid)
{
	if (l->conf.family == 4)
		ipv6_addr_set_v4mapped(htonl(0xefc80100 + number), (struct in6_addr *)gid);
	else
		ipv6_addr_set((struct in6_addr *)gid, htonl(0xff0e0000), 0, 0,
			      htonl(0xc80100 + number));
}

static int attach(struct qv_link *l, struct ib_qp *qp, u8 number, int want)
{
	union ib_gid gid;
	int err;

	group(l, number, &gid);
	err = ib_attach_mcast(qp, &gid, 0);
	return err == want ? 0 : qv_fail(l, "attach: %d expected, not %d", want, err);
}

static int detach(struct qv_link *l, struct ib_qp *qp, u8 number, int want)
{
	union ib_gid gid;
	int err;

	group(l, number, &gid);
	err = ib_detach_mcast(qp, &gid, 0);
	return err == want ? 0 : qv_fail(l, "detach: %d expected, not %d", want, err);
}

/* From A to whoever is in the group. */
static int send_key(struct qv_link *l, u8 number, u32 seed, u32 qkey)
{
	struct qv_side *a = &l->side[QV_A];
	struct rdma_ah_attr attr = {};
	const struct ib_send_wr *bad;
	struct ib_ud_wr wr = {
		.wr.opcode = IB_WR_SEND, .wr.send_flags = IB_SEND_SIGNALED,
		.remote_qpn = IB_MULTICAST_QPN, .remote_qkey = qkey,
	};
	union ib_gid gid;
	struct qv_sgl src;
	struct ib_wc wc;
	int err;

	group(l, number, &gid);
	attr.type = rdma_ah_find_type(a->dev, 1);
	rdma_ah_set_port_num(&attr, 1);
	rdma_ah_set_grh(&attr, &gid, 0, a->gid->index, 1, 0);
	wr.ah = rdma_create_ah(a->pd, &attr, 0);
	if (IS_ERR(wr.ah))
		return qv_fail(l, "rdma_create_ah: %ld", PTR_ERR(wr.ah));
	qv_sgl(a, &src, 0, LEN, 1);
	qv_sgl_fill(a, &src, seed);
	wr.wr.sg_list = src.sge;
	wr.wr.num_sge = src.n;
	err = ib_post_send(a->qp, &wr.wr, &bad);
	err = err ? qv_fail(l, "ib_post_send: %d", err) : qv_sent(a, IB_WC_SUCCESS, &wc);
	rdma_destroy_ah(wr.ah, 0);
	return err;
}

static int send(struct qv_link *l, u8 number, u32 seed)
{
	return send_key(l, number, seed, QV_QKEY);
}

static int receive(struct qv_side *s, u32 slot)
{
	struct qv_sgl dst;

	qv_sgl(s, &dst, SZ_1M + slot * SLOT, GRH + LEN, 1);
	return qv_post_recv(s, &dst, slot);
}

static int received(struct qv_side *s, u32 slot, u32 seed)
{
	struct qv_link *l = s->link;
	struct qv_sgl dst;
	struct ib_wc wc;
	int err = qv_received(s, IB_WC_SUCCESS, &wc);

	if (err)
		return err;
	if (wc.wr_id != slot || wc.byte_len != GRH + LEN || !(wc.wc_flags & IB_WC_GRH) ||
	    wc.src_qp != l->side[QV_A].qp->qp_num)
		return qv_fail(l, "%c: receive %llu, %u bytes, from QP %#x", qv_letter(s),
			       wc.wr_id, wc.byte_len, wc.src_qp);
	qv_sgl(s, &dst, SZ_1M + slot * SLOT + GRH, LEN, 1);
	return qv_sgl_check(s, &dst, LEN, seed);
}

static int open_ud(struct qv_link *l)
{
	l->conf.type = IB_QPT_UD;
	return qv_open(l);
}

/* Only while it is a member, and only of that group. */
static int member(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	int err = open_ud(l);

	if (err)
		return err;
	err = receive(b, 0) ?: receive(b, 1) ?: send(l, 1, 1) ?: qv_no_wc(l, b->rcq, 20) ?:
	      attach(l, b->qp, 1, 0) ?: send(l, 1, 2) ?: received(b, 0, 2) ?:
	      send(l, 2, 3) ?: qv_no_wc(l, b->rcq, 20) ?:
	      send_key(l, 1, 4, QV_QKEY + 1) ?: qv_no_wc(l, b->rcq, 20) ?:
	      detach(l, b->qp, 2, -EINVAL);
	return err ?: detach(l, b->qp, 1, 0) ?: send(l, 1, 5) ?: qv_no_wc(l, b->rcq, 20);
}

static int twice(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	int i, err = open_ud(l);

	for (i = 0; i < 4 && !err; i++)
		err = receive(b, i);
	err = err ?: attach(l, b->qp, 1, 0) ?: attach(l, b->qp, 2, 0) ?: send(l, 1, 1) ?:
	      send(l, 2, 2) ?: received(b, 0, 1) ?: received(b, 1, 2) ?:
	      detach(l, b->qp, 1, 0) ?: send(l, 1, 3) ?: send(l, 2, 4) ?: received(b, 2, 4) ?:
	      attach(l, b->qp, 1, 0) ?: send(l, 1, 5) ?: received(b, 3, 5) ?:
	      qv_no_wc(l, b->rcq, 10);
	return err ?: detach(l, b->qp, 1, 0) ?: detach(l, b->qp, 2, 0) ?:
	       detach(l, b->qp, 2, -EINVAL);
}

#define QPS	6

/* As many copies as there are members; the sender is one as well. */
static int many(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_qp *own, *qp[QPS] = {};
	struct ib_wc wc;
	u32 seen = 0;
	int i, err = open_ud(l);

	if (err)
		return err;
	own = b->qp;
	for (i = 0; i < QPS && !err; i++) {
		b->qp = qv_make_qp(b);
		if (IS_ERR(b->qp)) {
			err = qv_fail(l, "ib_create_qp: %ld", PTR_ERR(b->qp));
			break;
		}
		qp[i] = b->qp;
		err = qv_qp_walk(b, IB_QPS_RTS) ?: receive(b, i) ?: attach(l, b->qp, 3, 0);
	}
	b->qp = own;
	err = err ?: receive(a, 20) ?: attach(l, a->qp, 3, 0) ?: send(l, 3, 6) ?:
	      received(a, 20, 6) ?: detach(l, a->qp, 3, 0);
	for (i = 0; i < QPS && !err; i++) {
		err = qv_received(b, IB_WC_SUCCESS, &wc);
		if (!err && (wc.wr_id >= QPS || wc.qp != qp[wc.wr_id]))
			err = qv_fail(l, "B: the copy came to another QP");
		seen |= BIT(wc.wr_id);
	}
	if (!err && seen != BIT(QPS) - 1)
		err = qv_fail(l, "B: copies came to QPs %#x", seen);
	for (i = 0; i < QPS; i++) {
		if (!qp[i])
			continue;
		err = err ?: detach(l, qp[i], 3, 0);
		ib_destroy_qp(qp[i]);
	}
	return err ?: qv_no_wc(l, b->rcq, 10);
}

static int wrong(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	union ib_gid unicast;
	int err = qv_open(l) ?: attach(l, b->qp, 1, -EINVAL);

	if (err)
		return err;
	qv_close(l);
	err = open_ud(l);
	if (err)
		return err;
	unicast = b->gid->gid;
	if (ib_attach_mcast(b->qp, &unicast, 0) != -EINVAL)
		return qv_fail(l, "B: attached to its own address");
	err = attach(l, b->qp, 1, 0);
	if (!err && ib_destroy_qp(b->qp) != -EBUSY)
		err = qv_fail(l, "B: destroyed while it is in a group");
	return err ?: detach(l, b->qp, 1, 0);
}

/* In a group until a signal comes, for whoever looks from outside. */
static int hold(struct qv_link *l, u32 number)
{
	struct qv_side *b = &l->side[QV_B];
	int err = open_ud(l) ?: attach(l, b->qp, number, 0);
	struct ib_wc wc;

	if (err)
		return err;
	qv_poll(l, b->rcq, &wc, 60000);
	return detach(l, b->qp, number, 0);
}

/* Users of an IPv4 group on an interface, or -1. */
static int users_of(struct in_device *in, __be32 addr)
{
	struct ip_mc_list *im;

	for (im = rtnl_dereference(in->mc_list); im; im = rtnl_dereference(im->next_rcu))
		if (im->multiaddr == addr)
			return im->users;
	return -1;
}

/* Somebody joins where the interface is now, and the device leaves what it had. */
static int leave_elsewhere(struct qv_link *l, struct net_device *ndev, u32 number)
{
	struct ib_qp *qp = l->side[QV_B].qp;
	struct in_device *in;
	union ib_gid gid;
	__be32 addr;
	int err, n;

	group(l, number, &gid);
	addr = ((struct in6_addr *)&gid)->s6_addr32[3];
	rtnl_lock();
	in = __in_dev_get_rtnl(ndev);
	if (in)
		ip_mc_inc_group(in, addr);
	rtnl_unlock();
	if (!in)
		return qv_fail(l, "the interface has no IPv4");
	err = detach(l, qp, number, 0);
	rtnl_lock();
	n = users_of(in, addr);
	if (!err && n != 1)
		err = qv_fail(l, "the group of the other namespace has %d users, not 1", n);
	if (n > 0)
		ip_mc_dec_group(in, addr);
	rtnl_unlock();
	return err ?: attach(l, qp, number + 1, -ENODEV);
}

/*
 * In a group while the interface is moved to another namespace. The device has
 * to go, but lives until this client of its lets go.
 */
static int moved(struct qv_link *l, u32 number)
{
	struct qv_side *b = &l->side[QV_B];
	int i, err = open_ud(l);
	struct net_device *ndev;
	struct net *home;

	if (err)
		return err;
	ndev = ib_device_get_netdev(b->dev, 1);
	if (!ndev)
		return qv_fail(l, "B has no interface");
	home = dev_net(ndev);
	err = attach(l, b->qp, number, 0);
	for (i = 0; !err && i < QV_WAIT_MS / 20 && net_eq(dev_net(ndev), home); i++)
		msleep(20);
	if (!err && net_eq(dev_net(ndev), home))
		err = detach(l, b->qp, number, 0) ?: qv_fail(l, "the interface is where it was");
	else
		err = err ?: leave_elsewhere(l, ndev, number);
	dev_put(ndev);
	return err;
}

static const struct qv_case cases[] = {
	{ "member", member, 0, QV_OWN_LINK },
	{ "twice", twice, 0, QV_OWN_LINK },
	{ "many", many, 0, QV_OWN_LINK },
	{ "wrong", wrong, 0, QV_OWN_LINK },
};

/* These wait for what is done outside. */
static const struct qv_case hold_cases[] = {
	{ "hold", hold, 9, QV_OWN_LINK },
	{ "moved", moved, 9, QV_OWN_LINK },
};

QV_GROUP(qv_mcast, cases);
QV_GROUP(qv_group, hold_cases);
