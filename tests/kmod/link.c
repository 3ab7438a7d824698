// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making and unmaking a link: on each of two devices a protection domain,
 * completion queues, a queue pair and memory, connected by ib_modify_qp() as
 * IBTA volume 1, 11.2.5.2 has it. Process context.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/random.h>
#include <net/ipv6.h>
#include "qverbs.h"

int qv_fail(struct qv_link *l, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	/* The first failure is the cause of those that follow. */
	if (!l->why)
		l->why = kvasprintf(GFP_KERNEL, fmt, args);
	va_end(args);
	return -EPROTO;
}

static void note_event(struct ib_event *ev, void *context)
{
	struct qv_side *s = context;

	set_bit(ev->event, &s->events);
	wake_up(&s->wait);
}

static void send_done(struct ib_cq *cq, void *context)
{
	struct qv_side *s = context;

	atomic_inc(&s->send_calls);
	wake_up(&s->wait);
}

static void recv_done(struct ib_cq *cq, void *context)
{
	struct qv_side *s = context;

	atomic_inc(&s->recv_calls);
	if (s->on_recv)
		s->on_recv(s);
	wake_up(&s->wait);
}

/* How much the address is to our liking; 0: not at all. */
static int gid_fits(const struct ib_gid_attr *attr, int family)
{
	const struct in6_addr *addr = (const struct in6_addr *)&attr->gid;
	int is = ipv6_addr_v4mapped(addr) ? 4 : 6;

	if (attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP || is != family ||
	    ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL)
		return 0;
	/* The connection manager takes loopback addresses for any address. */
	if (ipv6_addr_loopback(addr) ||
	    (is == 4 && ipv4_is_loopback(addr->s6_addr32[3])))
		return 1;
	return 2;
}

static int find_gid(struct qv_side *s)
{
	const struct ib_gid_attr *attr;
	struct ib_port_attr port;
	int i, err, fits, best = 0;

	err = ib_query_port(s->dev, 1, &port);
	if (err)
		return qv_fail(s->link, "ib_query_port: %d", err);
	for (i = 0; i < port.gid_tbl_len; i++) {
		attr = rdma_get_gid_attr(s->dev, 1, i);
		if (IS_ERR(attr))
			continue;
		fits = gid_fits(attr, s->link->conf.family);
		if (fits > best)
			swap(s->gid, attr);
		best = max(best, fits);
		if (attr)
			rdma_put_gid_attr(attr);
	}
	if (best)
		return 0;
	return qv_fail(s->link, "device %s has no IPv%d address",
		       dev_name(&s->dev->dev), s->link->conf.family);
}

static int make_memory(struct qv_side *s)
{
	s->mem = alloc_pages_exact(QV_MEM_SIZE, GFP_KERNEL);
	if (!s->mem)
		return qv_fail(s->link, "no memory");
	memset(s->mem, QV_UNUSED, QV_MEM_SIZE);
	s->dma = ib_dma_map_single(s->dev, s->mem, QV_MEM_SIZE, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(s->dev, s->dma))
		return qv_fail(s->link, "ib_dma_map_single failed");
	return 0;
}

static int make_cqs(struct qv_side *s)
{
	struct ib_cq_init_attr attr = { .cqe = s->link->conf.cqe };

	s->scq = ib_create_cq(s->dev, send_done, note_event, s, &attr);
	if (IS_ERR(s->scq))
		return qv_fail(s->link, "ib_create_cq: %ld", PTR_ERR(s->scq));
	s->rcq = ib_create_cq(s->dev, recv_done, note_event, s, &attr);
	if (IS_ERR(s->rcq))
		return qv_fail(s->link, "ib_create_cq: %ld", PTR_ERR(s->rcq));
	return 0;
}

static int make_srq(struct qv_side *s)
{
	struct ib_srq_init_attr init = {
		.event_handler = note_event,
		.srq_context = s,
		.attr = { .max_wr = s->link->conf.srq, .max_sge = QV_MAX_SGE },
	};

	if (!init.attr.max_wr)
		return 0;
	s->srq = ib_create_srq(s->pd, &init);
	if (IS_ERR(s->srq))
		return qv_fail(s->link, "ib_create_srq: %ld", PTR_ERR(s->srq));
	return 0;
}

/* A further QP like the side's own; an ERR_PTR where that fails. */
struct ib_qp *qv_make_qp(struct qv_side *s)
{
	const struct qv_conf *conf = &s->link->conf;
	struct ib_qp_init_attr init = {
		.qp_type = conf->type,
		.event_handler = note_event,
		.qp_context = s,
		.send_cq = s->scq,
		.recv_cq = s->rcq,
		.srq = s->srq,
		.sq_sig_type = conf->sig,
		.cap = {
			.max_send_wr = conf->wr,
			.max_recv_wr = conf->wr,
			.max_send_sge = QV_MAX_SGE,
			.max_recv_sge = QV_MAX_SGE,
		},
	};
	struct ib_qp *qp = ib_create_qp(s->pd, &init);

	if (!IS_ERR(qp))
		s->cap = init.cap;
	return qp;
}

static int open_side(struct qv_side *s)
{
	struct qv_link *share = s->link->conf.share;
	int err;

	init_waitqueue_head(&s->wait);
	s->psn = get_random_u32() & 0xffffff;
	err = find_gid(s);
	if (err)
		return err;
	if (share)
		s->pd = share->side[s - s->link->side].pd;
	else
		s->pd = ib_alloc_pd(s->dev, 0);
	if (IS_ERR(s->pd))
		return qv_fail(s->link, "ib_alloc_pd: %ld", PTR_ERR(s->pd));
	err = make_memory(s);
	if (!err)
		err = make_cqs(s);
	if (!err)
		err = make_srq(s);
	if (err)
		return err;
	s->qp = qv_make_qp(s);
	if (IS_ERR(s->qp))
		return qv_fail(s->link, "ib_create_qp: %ld", PTR_ERR(s->qp));
	return 0;
}

static void close_side(struct qv_side *s)
{
	if (!IS_ERR_OR_NULL(s->ah))
		rdma_destroy_ah(s->ah, 0);
	if (!IS_ERR_OR_NULL(s->qp))
		ib_destroy_qp(s->qp);
	if (!IS_ERR_OR_NULL(s->srq))
		ib_destroy_srq(s->srq);
	if (!IS_ERR_OR_NULL(s->rcq))
		ib_destroy_cq(s->rcq);
	if (!IS_ERR_OR_NULL(s->scq))
		ib_destroy_cq(s->scq);
	if (s->dma && !ib_dma_mapping_error(s->dev, s->dma))
		ib_dma_unmap_single(s->dev, s->dma, QV_MEM_SIZE, DMA_BIDIRECTIONAL);
	if (s->mem)
		free_pages_exact(s->mem, QV_MEM_SIZE);
	if (!IS_ERR_OR_NULL(s->pd) && !s->link->conf.share)
		ib_dealloc_pd(s->pd);
	if (s->gid)
		rdma_put_gid_attr(s->gid);
}

static void attr_init(struct qv_side *s, struct ib_qp_attr *attr)
{
	attr->port_num = 1;
	attr->pkey_index = 0;
	attr->qp_access_flags = s->link->conf.access;
	attr->qkey = QV_QKEY;
}

/* Kernel users bring the link layer address along; here it is known. */
static void fill_dmac(struct qv_side *peer, struct rdma_ah_attr *attr)
{
	struct net_device *ndev;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(peer->gid);
	if (!IS_ERR(ndev) && ndev->addr_len == ETH_ALEN)
		memcpy(attr->roce.dmac, ndev->dev_addr, ETH_ALEN);
	rcu_read_unlock();
}

static void fill_ah_attr(struct qv_side *s, struct rdma_ah_attr *attr)
{
	struct qv_side *peer = qv_peer(s);

	attr->type = rdma_ah_find_type(s->dev, 1);
	rdma_ah_set_port_num(attr, 1);
	rdma_ah_set_grh(attr, (union ib_gid *)&peer->gid->gid, 0, s->gid->index, 64, 0);
	fill_dmac(peer, attr);
}

static void attr_rtr(struct qv_side *s, struct ib_qp_attr *attr)
{
	const struct qv_conf *conf = &s->link->conf;
	struct qv_side *peer = qv_peer(s);

	attr->path_mtu = conf->mtu;
	attr->dest_qp_num = peer->qp->qp_num;
	attr->rq_psn = peer->psn;
	if (qv_letter(s) == 'B')
		attr->rq_psn = (attr->rq_psn - conf->rq_psn_skew) & 0xffffff;
	attr->max_dest_rd_atomic = conf->rd_atomic;
	attr->min_rnr_timer = conf->min_rnr_timer;
	fill_ah_attr(s, &attr->ah_attr);
}

static void attr_rts(struct qv_side *s, struct ib_qp_attr *attr)
{
	const struct qv_conf *conf = &s->link->conf;

	attr->timeout = conf->timeout;
	attr->retry_cnt = conf->retry_cnt;
	attr->rnr_retry = conf->rnr_retry;
	attr->sq_psn = s->psn;
	attr->max_rd_atomic = conf->rd_atomic;
}

/* What must be set on the way to a state, by type of queue pair. */
static const int masks[IB_QPT_UD + 1][IB_QPS_RTS + 1] = {
	[IB_QPT_RC] = {
		[IB_QPS_INIT] = IB_QP_PORT | IB_QP_PKEY_INDEX | IB_QP_ACCESS_FLAGS,
		[IB_QPS_RTR] = IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			       IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER,
		[IB_QPS_RTS] = IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			       IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC,
	},
	[IB_QPT_UC] = {
		[IB_QPS_INIT] = IB_QP_PORT | IB_QP_PKEY_INDEX | IB_QP_ACCESS_FLAGS,
		[IB_QPS_RTR] = IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN,
		[IB_QPS_RTS] = IB_QP_SQ_PSN,
	},
	[IB_QPT_UD] = {
		[IB_QPS_INIT] = IB_QP_PORT | IB_QP_PKEY_INDEX | IB_QP_QKEY,
		[IB_QPS_RTS] = IB_QP_SQ_PSN,
	},
};

/* Fill in what the way to @to needs from its usual predecessor; the mask. */
int qv_fill_attr(struct qv_side *s, enum ib_qp_state to, struct ib_qp_attr *attr)
{
	attr_init(s, attr);
	attr_rtr(s, attr);
	attr_rts(s, attr);
	attr->qp_state = to;
	return IB_QP_STATE | (to <= IB_QPS_RTS ? masks[s->link->conf.type][to] : 0);
}

int qv_qp_to(struct qv_side *s, enum ib_qp_state state)
{
	struct ib_qp_attr attr = {};
	int mask = qv_fill_attr(s, state, &attr);
	int err = ib_modify_qp(s->qp, &attr, mask);

	return err ? qv_fail(s->link, "%c to state %d: %d", qv_letter(s), state, err) : 0;
}

/* From wherever it is, by RESET, to @state. */
int qv_qp_walk(struct qv_side *s, enum ib_qp_state state)
{
	static const enum ib_qp_state way[] = {
		IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD,
	};
	int i, err;

	for (i = 0; i < ARRAY_SIZE(way); i++) {
		err = qv_qp_to(s, way[i]);
		if (err || way[i] == state)
			return err;
	}
	return qv_qp_to(s, state);
}

enum ib_qp_state qv_qp_state(struct qv_side *s)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	if (ib_query_qp(s->qp, &attr, IB_QP_STATE, &init))
		return -1;
	return attr.qp_state;
}

int qv_wait_state(struct qv_side *s, enum ib_qp_state state)
{
	unsigned long end = jiffies + msecs_to_jiffies(QV_WAIT_MS);

	while (qv_qp_state(s) != state) {
		if (time_after(jiffies, end))
			return qv_fail(s->link, "%c: state %d expected, it is in %d",
				       qv_letter(s), state, qv_qp_state(s));
		usleep_range(200, 400);
	}
	return 0;
}

int qv_wait_event(struct qv_side *s, enum ib_event_type event)
{
	if (!wait_event_timeout(s->wait, test_bit(event, &s->events),
				msecs_to_jiffies(QV_WAIT_MS)))
		return qv_fail(s->link, "%c: event '%s' expected, events seen: %#lx",
			       qv_letter(s), ib_event_msg(event), s->events);
	return 0;
}

/* To SQD; the end of what is under way is told. */
int qv_sqd(struct qv_side *s)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_SQD, .en_sqd_async_notify = 1 };
	int err = ib_modify_qp(s->qp, &attr, IB_QP_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY);

	return err ? qv_fail(s->link, "%c to SQD: %d", qv_letter(s), err) : 0;
}

/* From SQD or SQE. */
int qv_back_to_rts(struct qv_side *s, enum ib_qp_state from)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS, .cur_qp_state = from };
	int err = ib_modify_qp(s->qp, &attr, IB_QP_STATE | IB_QP_CUR_STATE);

	return err ? qv_fail(s->link, "%c from state %d to RTS: %d", qv_letter(s), from, err) : 0;
}

static int make_ah(struct qv_side *s)
{
	struct rdma_ah_attr attr = {};

	fill_ah_attr(s, &attr);
	s->ah = rdma_create_ah(s->pd, &attr, 0);
	return IS_ERR(s->ah) ? qv_fail(s->link, "rdma_create_ah: %ld", PTR_ERR(s->ah)) : 0;
}

/* Both sides ready to send. */
int qv_open(struct qv_link *l)
{
	int i, err;

	for (i = 0; i < 2; i++) {
		l->side[i].link = l;
		err = open_side(&l->side[i]);
		if (err)
			return err;
	}
	for (i = 0; i < 2; i++) {
		err = qv_qp_walk(&l->side[i], IB_QPS_RTS);
		if (!err && l->conf.type == IB_QPT_UD)
			err = make_ah(&l->side[i]);
		if (err)
			return err;
	}
	return 0;
}

/* Whatever of the link there is; it can be opened again. */
void qv_close(struct qv_link *l)
{
	struct qv_side *s;

	for (s = l->side; s < l->side + 2; s++) {
		if (s->link)
			close_side(s);
		*s = (struct qv_side) { .dev = s->dev };
	}
}
