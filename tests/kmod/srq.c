// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared receive queues, IBTA volume 1, 10.2.9: their limits, events and
 * resizing; many queue pairs on one; what becomes of a QP's last receive.
 */
#include <linux/sizes.h>
#include "qverbs.h"

#define ENTRIES	64
#define PAIRS	8

static int open_srq(struct qv_link *l)
{
	l->conf.srq = ENTRIES;
	return qv_open(l);
}

/* One message to B; it takes the queue's next receive, which is @id. */
static int message(struct qv_link *l, u32 len, u64 id)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src;
	struct ib_wc wc;
	int err;

	qv_sgl(a, &src, 0, len, 1);
	err = qv_post_send(a, &src, 1, IB_SEND_SIGNALED) ?: qv_sent(a, IB_WC_SUCCESS, &wc) ?:
	      qv_received(b, IB_WC_SUCCESS, &wc);
	if (!err && (wc.wr_id != id || wc.qp != b->qp))
		err = qv_fail(l, "B: receive %llu expected, not %llu", id, wc.wr_id);
	return err;
}

static int post_some(struct qv_side *b, u32 first, u32 n)
{
	struct qv_sgl dst;
	u32 i;
	int err = 0;

	qv_sgl(b, &dst, 0, 20000, 1);
	for (i = first; i < first + n && !err; i++)
		err = qv_post_recv(b, &dst, i);
	return err;
}

static int wrong_sizes(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	const struct ib_device_attr *attrs = &b->dev->attrs;
	struct ib_srq_init_attr wrong[] = {
		{ .attr = { .max_wr = 0, .max_sge = 1 } },
		{ .attr = { .max_wr = attrs->max_srq_wr + 1, .max_sge = 1 } },
		{ .attr = { .max_wr = 1, .max_sge = attrs->max_srq_sge + 1 } },
		{ .attr = { .max_wr = 1, .max_sge = 1 }, .srq_type = IB_SRQT_TM,
		  .ext.cq = b->rcq },
	};
	struct ib_srq *srq;
	int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		srq = ib_create_srq(b->pd, &wrong[i]);
		if (IS_ERR(srq))
			continue;
		ib_destroy_srq(srq);
		return qv_fail(l, "wrong queue %d was made", i);
	}
	return 0;
}

static int query(struct qv_side *b, u32 max_wr, u32 limit)
{
	struct ib_srq_attr attr = {};
	int err = ib_query_srq(b->srq, &attr);

	if (err)
		return qv_fail(b->link, "ib_query_srq: %d", err);
	if (attr.max_wr < max_wr || attr.max_sge < QV_MAX_SGE || attr.srq_limit != limit)
		return qv_fail(b->link, "%u entries of %u, limit %u", attr.max_wr,
			       attr.max_sge, attr.srq_limit);
	return 0;
}

static int modify(struct qv_side *b, u32 mask, u32 value, int want)
{
	struct ib_srq_attr attr = { .max_wr = value, .srq_limit = value };
	int err = ib_modify_srq(b->srq, &attr, mask);

	if (err != want)
		return qv_fail(b->link, "attribute %#x of %u: %d expected, not %d", mask, value,
			       want, err);
	return 0;
}

static int full(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	struct ib_sge sge[QV_MAX_SGE * 8] = {};
	struct ib_recv_wr wr = {}, two[2] = { { .next = &two[1] } };
	const struct ib_recv_wr *bad = NULL;
	struct ib_srq_attr attr = {};
	int err = open_srq(l);

	if (err)
		return err;
	err = query(b, ENTRIES, 0);
	if (!err && ib_query_srq(b->srq, &attr))
		err = qv_fail(l, "ib_query_srq");
	err = err ?: post_some(b, 0, attr.max_wr - 1);
	if (err)
		return err;
	err = ib_post_srq_recv(b->srq, two, &bad);
	if (err != -ENOMEM || bad != &two[1])
		return qv_fail(l, "-ENOMEM expected for one too many, not %d", err);
	err = message(l, 10, 0);
	if (err)
		return err;
	wr.sg_list = sge;
	wr.num_sge = attr.max_sge + 1;
	if (wr.num_sge > ARRAY_SIZE(sge))
		return qv_fail(l, "%u pieces", wr.num_sge);
	err = ib_post_srq_recv(b->srq, &wr, &bad);
	if (err != -EINVAL || bad != &wr)
		return qv_fail(l, "-EINVAL expected for too many pieces, not %d", err);
	wr.num_sge = 0;
	err = ib_post_recv(b->qp, &wr, &bad);
	if (err != -EINVAL || bad != &wr)
		return qv_fail(l, "-EINVAL expected for a receive of the QP's own, not %d", err);
	return message(l, 10, 1);
}

static int in_use(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	int err = open_srq(l);

	if (err)
		return err;
	err = ib_destroy_srq_user(b->srq, NULL);
	if (err != -EBUSY)
		return qv_fail(l, "-EBUSY expected, not %d", err);
	return post_some(b, 0, 1) ?: message(l, 10, 0);
}

static int no_limit_event(struct qv_side *b)
{
	if (wait_event_timeout(b->wait, test_bit(IB_EVENT_SRQ_LIMIT_REACHED, &b->events),
			       msecs_to_jiffies(30)))
		return qv_fail(b->link, "B: a limit event came");
	return 0;
}

/* Once, when there are fewer than the limit; then not until it is set anew. */
static int limit(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	int i, err = open_srq(l);

	err = err ?: post_some(b, 0, 10) ?: modify(b, IB_SRQ_LIMIT, ENTRIES * 1000, -EINVAL) ?:
	      modify(b, IB_SRQ_LIMIT, 5, 0) ?: query(b, ENTRIES, 5);
	for (i = 0; i < 5 && !err; i++)
		err = message(l, 100, i);
	err = err ?: no_limit_event(b) ?: message(l, 100, 5) ?:
	      qv_wait_event(b, IB_EVENT_SRQ_LIMIT_REACHED) ?: query(b, ENTRIES, 0);
	clear_bit(IB_EVENT_SRQ_LIMIT_REACHED, &b->events);
	err = err ?: message(l, 100, 6) ?: no_limit_event(b);
	/* There are three: fewer than these at once. */
	return err ?: modify(b, IB_SRQ_LIMIT, 3, 0) ?: no_limit_event(b) ?:
	       modify(b, IB_SRQ_LIMIT, 4, 0) ?: qv_wait_event(b, IB_EVENT_SRQ_LIMIT_REACHED);
}

/* Larger, smaller, too small; what is posted stays, in its order. */
static int resize(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	u32 i;
	int err = open_srq(l);

	if (err)
		return err;
	if (!(b->dev->attrs.device_cap_flags & IB_DEVICE_SRQ_RESIZE))
		return modify(b, IB_SRQ_MAX_WR, 2 * ENTRIES, -EINVAL);
	err = post_some(b, 0, 40);
	for (i = 0; i < 30 && !err; i++)
		err = message(l, 10, i);
	err = err ?: post_some(b, 40, 30) ?: modify(b, IB_SRQ_MAX_WR, 200, 0) ?:
	      query(b, 200, 0) ?: post_some(b, 70, 110) ?: modify(b, IB_SRQ_MAX_WR, 149, -EINVAL) ?:
	      modify(b, IB_SRQ_MAX_WR, 0, -EINVAL) ?:
	      modify(b, IB_SRQ_MAX_WR, b->dev->attrs.max_srq_wr + 1, -EINVAL);
	for (; i < 150 && !err; i++)
		err = message(l, 10, i);
	err = err ?: modify(b, IB_SRQ_MAX_WR, 30, 0) ?: modify(b, IB_SRQ_MAX_WR, 29, -EINVAL);
	for (; i < 180 && !err; i++)
		err = message(l, 10, i);
	return err;
}

/* While messages come in, whose receives are partly taken already. */
static int resize_under_traffic(struct qv_link *l, u32 rounds)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;
	u32 round, i;
	int err = open_srq(l);

	for (round = 0; round < rounds && !err; round++) {
		for (i = 0; i < 20 && !err; i++) {
			qv_sgl(b, &dst, i * SZ_32K, 20000, 2);
			qv_sgl(a, &src, i * SZ_32K, 20000, 1);
			qv_sgl_fill(a, &src, round + i);
			err = qv_post_recv(b, &dst, i) ?:
			      qv_post_send(a, &src, i, IB_SEND_SIGNALED) ?:
			      modify(b, IB_SRQ_MAX_WR, 64 + 64 * (i & 3), 0);
		}
		for (i = 0; i < 20 && !err; i++) {
			qv_sgl(b, &dst, i * SZ_32K, 20000, 2);
			err = qv_sent(a, IB_WC_SUCCESS, &wc) ?:
			      qv_received(b, IB_WC_SUCCESS, &wc) ?:
			      qv_sgl_check(b, &dst, 20000, round + i);
			if (!err && wc.wr_id != i)
				err = qv_fail(l, "B: %u expected, not %llu", i, wc.wr_id);
		}
	}
	return err;
}

/* The receiver that is not ready is asked again until the queue has one. */
static int late(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;
	int err = open_srq(l);

	if (err)
		return err;
	qv_sgl(a, &src, 0, len, 1);
	qv_sgl(b, &dst, 0, len, 1);
	qv_sgl_fill(a, &src, 3);
	return qv_post_send(a, &src, 1, IB_SEND_SIGNALED) ?: qv_no_wc(l, a->scq, 20) ?:
	       qv_post_recv(b, &dst, 2) ?: qv_sent(a, IB_WC_SUCCESS, &wc) ?:
	       qv_received(b, IB_WC_SUCCESS, &wc) ?: qv_sgl_check(b, &dst, len, 3);
}

struct pairs {
	struct ib_qp *a[PAIRS];
	struct ib_qp *b[PAIRS];
};

static void use_pair(struct qv_link *l, const struct pairs *p, int i)
{
	l->side[QV_A].qp = p->a[i];
	l->side[QV_B].qp = p->b[i];
}

/* The link's own queue pairs are the first. */
static int make_pairs(struct qv_link *l, struct pairs *p)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	int i, err = 0;

	*p = (struct pairs) { .a[0] = a->qp, .b[0] = b->qp };
	for (i = 1; i < PAIRS && !err; i++) {
		p->a[i] = qv_make_qp(a);
		p->b[i] = qv_make_qp(b);
		if (IS_ERR(p->a[i]) || IS_ERR(p->b[i]))
			return qv_fail(l, "ib_create_qp failed");
		use_pair(l, p, i);
		err = qv_qp_walk(a, IB_QPS_RTS) ?: qv_qp_walk(b, IB_QPS_RTS);
	}
	use_pair(l, p, 0);
	return err;
}

static void free_pairs(struct qv_link *l, struct pairs *p)
{
	int i;

	use_pair(l, p, 0);
	for (i = 1; i < PAIRS; i++) {
		if (!IS_ERR_OR_NULL(p->a[i]))
			ib_destroy_qp(p->a[i]);
		if (!IS_ERR_OR_NULL(p->b[i]))
			ib_destroy_qp(p->b[i]);
	}
}

static int send_numbered(struct qv_side *a, u32 slot, u32 len, u32 seed)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND_WITH_IMM, .wr_id = slot,
				 .send_flags = IB_SEND_SIGNALED, .ex.imm_data = cpu_to_be32(seed) };
	struct qv_sgl src;

	qv_sgl(a, &src, slot * SZ_32K, len, 1);
	qv_sgl_fill(a, &src, seed);
	wr.sg_list = src.sge;
	wr.num_sge = src.n;
	return qv_post(a, &wr);
}

static int check_shared(struct qv_link *l, const struct pairs *p, u32 len)
{
	struct qv_side *b = &l->side[QV_B];
	struct qv_sgl dst;
	struct ib_wc wc;
	u32 seed;
	int err = qv_received(b, IB_WC_SUCCESS, &wc);

	if (err)
		return err;
	seed = be32_to_cpu(wc.ex.imm_data);
	if (wc.qp != p->b[seed % PAIRS] || wc.src_qp != p->a[seed % PAIRS]->qp_num ||
	    wc.byte_len != len)
		return qv_fail(l, "B: message %u came to another QP", seed);
	qv_sgl(b, &dst, wc.wr_id * SZ_32K, len, 1);
	return qv_sgl_check(b, &dst, len, seed) ?: qv_post_recv(b, &dst, wc.wr_id);
}

/* Each message in the receive that its completion names, none twice. */
static int shared(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl dst;
	struct pairs p;
	u32 i, round;
	struct ib_wc wc;
	int err = open_srq(l);

	if (err)
		return err;
	err = make_pairs(l, &p);
	/* Fewer receives than messages: some have to wait. */
	for (i = 0; i < 3 * PAIRS / 2 && !err; i++) {
		qv_sgl(b, &dst, i * SZ_32K, len, 1);
		err = qv_post_recv(b, &dst, i);
	}
	for (round = 0; round < 10 && !err; round++) {
		for (i = 0; i < 2 * PAIRS && !err; i++) {
			use_pair(l, &p, i % PAIRS);
			err = send_numbered(a, i, len, round * 2 * PAIRS + i);
		}
		for (i = 0; i < 2 * PAIRS && !err; i++)
			err = check_shared(l, &p, len) ?: qv_sent(a, IB_WC_SUCCESS, &wc);
	}
	free_pairs(l, &p);
	return err;
}

/* One of several QPs ends; what is in the queue is the others'. */
static int last_wqe(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct pairs p;
	int err = open_srq(l);

	if (err)
		return err;
	err = make_pairs(l, &p) ?: post_some(b, 0, 5) ?: message(l, 100, 0);
	if (!err && test_bit(IB_EVENT_QP_LAST_WQE_REACHED, &b->events))
		err = qv_fail(l, "B: the event came too early");
	err = err ?: qv_qp_to(b, IB_QPS_ERR) ?:
	      qv_wait_event(b, IB_EVENT_QP_LAST_WQE_REACHED) ?: qv_no_wc(l, b->rcq, 20);
	use_pair(l, &p, 1);
	err = err ?: message(l, 100, 1);
	free_pairs(l, &p);
	/* The one that ended serves again. */
	clear_bit(IB_EVENT_QP_LAST_WQE_REACHED, &b->events);
	return err ?: qv_qp_walk(b, IB_QPS_RTS) ?: qv_qp_walk(a, IB_QPS_RTS) ?:
	       message(l, 100, 2) ?: qv_qp_to(b, IB_QPS_ERR) ?:
	       qv_wait_event(b, IB_EVENT_QP_LAST_WQE_REACHED);
}

/* Amid a message: the receive that it has taken is flushed, no other one. */
static int last_wqe_amid(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl bad;
	struct ib_wc wc;
	int err;

	l->conf.type = IB_QPT_UC;
	err = open_srq(l);
	if (err)
		return err;
	qv_sgl(a, &bad, 0, 20000, 2);
	bad.sge[1].lkey = 0x76543210;
	return post_some(b, 5, 3) ?: qv_post_send(a, &bad, 1, 0) ?:
	       qv_sent(a, IB_WC_LOC_PROT_ERR, &wc) ?: qv_no_wc(l, b->rcq, 20) ?:
	       qv_qp_to(b, IB_QPS_ERR) ?: qv_flushed(b, b->rcq, 5, 6) ?:
	       qv_wait_event(b, IB_EVENT_QP_LAST_WQE_REACHED);
}

static int drain(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	struct ib_cq *cq = ib_alloc_cq(b->dev, NULL, 256, 0, IB_POLL_WORKQUEUE);
	struct ib_cq *scq = b->scq, *rcq = b->rcq;
	struct ib_qp *own;
	ktime_t begin;
	int err;

	if (IS_ERR(cq))
		return qv_fail(l, "ib_alloc_cq: %ld", PTR_ERR(cq));
	err = open_srq(l) ?: post_some(b, 0, 3);
	if (!err) {
		scq = b->scq;
		rcq = b->rcq;
		own = b->qp;
		b->scq = cq;
		b->rcq = cq;
		b->qp = qv_make_qp(b);
		begin = ktime_get();
		if (IS_ERR(b->qp)) {
			err = qv_fail(l, "ib_create_qp: %ld", PTR_ERR(b->qp));
		} else {
			err = qv_qp_walk(b, IB_QPS_RTS);
			ib_drain_qp(b->qp);
			ib_destroy_qp(b->qp);
		}
		b->qp = own;
		b->scq = scq;
		b->rcq = rcq;
		/* The core waits a minute for an event that does not come. */
		if (!err && ktime_ms_delta(ktime_get(), begin) > 20000)
			err = qv_fail(l, "the drain took %lld ms",
				      ktime_ms_delta(ktime_get(), begin));
	}
	ib_free_cq(cq);
	return err ?: message(l, 10, 0);
}

/* The receives' memory is that of the queue's domain, not of the QP's. */
static int domains(struct qv_link *l, u32 of_queue)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ib_pd *own, *other;
	struct qv_sgl src, dst = { .n = 1 };
	struct qv_mr m = {};
	struct ib_qp *qp;
	struct ib_wc wc;
	int err = qv_open(l);

	if (err)
		return err;
	own = b->pd;
	other = ib_alloc_pd(b->dev, 0);
	if (IS_ERR(other))
		return qv_fail(l, "ib_alloc_pd: %ld", PTR_ERR(other));
	b->srq = ib_create_srq(own, &init);
	if (IS_ERR(b->srq)) {
		ib_dealloc_pd(other);
		return qv_fail(l, "ib_create_srq: %ld", PTR_ERR(b->srq));
	}
	/* The region is made by the QP that is there, in its domain. */
	err = qv_mr_make(b, &m, 100, IB_ACCESS_LOCAL_WRITE);
	dst.sge[0] = (struct ib_sge) { m.iova, 100, m.rkey };
	qp = b->qp;
	b->pd = other;
	if (!of_queue) {
		ib_destroy_srq(b->srq);
		b->srq = ib_create_srq(other, &init);
		b->pd = own;
	}
	b->qp = qv_make_qp(b);
	if (IS_ERR(b->srq) || IS_ERR(b->qp))
		err = qv_fail(l, "a queue or a QP could not be made");
	qv_sgl(a, &src, 0, 100, 1);
	qv_sgl_fill(a, &src, 7);
	err = err ?: qv_qp_walk(b, IB_QPS_RTS) ?: qv_qp_walk(a, IB_QPS_RTS) ?:
	      qv_post_recv(b, &dst, 1) ?: qv_post_send(a, &src, 2, 0) ?:
	      qv_received(b, of_queue ? IB_WC_SUCCESS : IB_WC_LOC_PROT_ERR, &wc) ?:
	      (of_queue ? qv_mr_check(&m, 0, 100, 7) : qv_mr_unused(&m, 0, 100));
	if (!IS_ERR(b->qp))
		ib_destroy_qp(b->qp);
	if (!IS_ERR(b->srq))
		ib_destroy_srq(b->srq);
	b->srq = NULL;
	b->qp = qp;
	b->pd = own;
	qv_mr_free(&m);
	ib_dealloc_pd(other);
	return err;
}

/* A message that is too long ends its QP; the queue lives on. */
static int short_receive(struct qv_link *l, u32 type)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;
	int err;

	l->conf.type = type;
	err = open_srq(l);
	if (err)
		return err;
	qv_sgl(a, &src, 0, 900, 1);
	qv_sgl(b, &dst, 0, 899, 1);
	err = qv_post_recv(b, &dst, 1) ?: post_some(b, 2, 3) ?: qv_post_send(a, &src, 2, 0) ?:
	      qv_received(b, IB_WC_LOC_LEN_ERR, &wc) ?:
	      qv_wait_event(b, IB_EVENT_QP_LAST_WQE_REACHED) ?: qv_no_wc(l, b->rcq, 10);
	if (type == IB_QPT_RC)
		err = err ?: qv_sent(a, IB_WC_REM_INV_REQ_ERR, &wc);
	return err ?: qv_qp_walk(b, IB_QPS_RTS) ?: qv_qp_walk(a, IB_QPS_RTS) ?: message(l, 100, 2);
}

static const struct qv_case cases[] = {
	{ "wrong-sizes", wrong_sizes },
	{ "full", full, 0, QV_OWN_LINK },
	{ "in-use", in_use, 0, QV_OWN_LINK },
	{ "limit", limit, 0, QV_OWN_LINK },
	{ "resize", resize, 0, QV_OWN_LINK },
	{ "resize-under-traffic", resize_under_traffic, 10, QV_OWN_LINK },
	{ "late", late, 100, QV_OWN_LINK },
	{ "late-long", late, 20000, QV_OWN_LINK },
	{ "shared-short", shared, 60, QV_OWN_LINK },
	{ "shared-long", shared, 20000, QV_OWN_LINK },
	{ "last-wqe", last_wqe, 0, QV_OWN_LINK },
	{ "last-wqe-amid", last_wqe_amid, 0, QV_OWN_LINK },
	{ "drain", drain, 0, QV_OWN_LINK },
	{ "domain-of-queue", domains, 1, QV_OWN_LINK },
	{ "domain-of-other", domains, 0, QV_OWN_LINK },
	{ "rc-short-receive", short_receive, IB_QPT_RC, QV_OWN_LINK },
	{ "uc-short-receive", short_receive, IB_QPT_UC, QV_OWN_LINK },
	{ "ud-short-receive", short_receive, IB_QPT_UD, QV_OWN_LINK },
};

QV_GROUP(qv_srq, cases);
