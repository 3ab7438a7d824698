// SPDX-License-Identifier: GPL-2.0-only
/*
 * SQD, IBTA volume 1, 10.3.1.5: what was begun is brought to its end, then the
 * event; what may be changed meanwhile, and what only then.
 */
#include <linux/sizes.h>
#include "qverbs.h"

#define N 24

static int modify(struct qv_side *s, struct ib_qp_attr *attr, int mask, int want)
{
	int err;

	attr->qp_state = IB_QPS_SQD;
	err = ib_modify_qp(s->qp, attr, mask | IB_QP_STATE);
	if (err != want)
		return qv_fail(s->link, "%c: attributes %#x in SQD: %d expected, not %d",
			       qv_letter(s), mask, want, err);
	return 0;
}

static int draining(struct qv_side *s, bool want)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	int err = ib_query_qp(s->qp, &attr, -1, &init);

	if (err || attr.qp_state != IB_QPS_SQD || attr.sq_draining != want)
		return qv_fail(s->link, "%c: SQD, draining %d expected, not state %d, draining %d",
			       qv_letter(s), want, attr.qp_state, attr.sq_draining);
	return 0;
}

static int no_event(struct qv_side *s, enum ib_event_type event)
{
	if (wait_event_timeout(s->wait, test_bit(event, &s->events), msecs_to_jiffies(50)))
		return qv_fail(s->link, "%c: event '%s' came", qv_letter(s), ib_event_msg(event));
	return 0;
}

/* A request is begun, and waits for the peer's receive. */
static int begin(struct qv_link *l, struct qv_sgl *src)
{
	struct qv_side *a = &l->side[QV_A];

	l->conf.min_rnr_timer = IB_RNR_TIMER_020_48;
	qv_sgl(a, src, 0, 5000, 1);
	return qv_qp_walk(&l->side[QV_B], IB_QPS_RTS) ?:
	       qv_post_send(a, src, 1, IB_SEND_SIGNALED) ?: qv_sqd(a);
}

static int end(struct qv_link *l, struct qv_sgl *dst)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_wc wc;

	qv_sgl(b, dst, 0, 5000, 1);
	return qv_post_recv(b, dst, 2) ?: qv_sent(a, IB_WC_SUCCESS, &wc) ?:
	       qv_received(b, IB_WC_SUCCESS, &wc) ?: qv_wait_event(a, IB_EVENT_SQ_DRAINED) ?:
	       draining(a, false);
}

/*
 * What requests under way use is not changed; what the responder uses is, and
 * does not make the event forgotten.
 */
static int attributes(struct qv_link *l, u32 unused)
{
	struct ib_qp_attr attr = { .timeout = 19, .retry_cnt = 5, .rnr_retry = 6,
				   .max_rd_atomic = 1, .min_rnr_timer = 3, .port_num = 1 };
	static const int sender[] = { IB_QP_TIMEOUT, IB_QP_RETRY_CNT, IB_QP_RNR_RETRY,
				      IB_QP_MAX_QP_RD_ATOMIC, IB_QP_PORT, IB_QP_PKEY_INDEX };
	struct qv_side *a = &l->side[QV_A];
	struct ib_qp_init_attr init;
	struct ib_qp_attr got = {};
	struct qv_sgl src, dst;
	int i, err, all = 0;

	err = qv_qp_walk(a, IB_QPS_RTS) ?: begin(l, &src) ?: draining(a, true);
	for (i = 0; i < ARRAY_SIZE(sender) && !err; i++) {
		err = modify(a, &attr, sender[i], -EINVAL);
		all |= sender[i];
	}
	err = err ?: modify(a, &attr, IB_QP_MIN_RNR_TIMER, 0) ?: draining(a, true) ?:
	      no_event(a, IB_EVENT_SQ_DRAINED) ?: end(l, &dst) ?: modify(a, &attr, all, 0);
	if (!err && ib_query_qp(a->qp, &got, -1, &init))
		err = qv_fail(l, "ib_query_qp failed");
	if (!err && (got.timeout != 19 || got.retry_cnt != 5 || got.rnr_retry != 6 ||
		     got.max_rd_atomic != 1 || got.min_rnr_timer != 3))
		err = qv_fail(l, "A: what was set in SQD does not come back");
	return err ?: qv_back_to_rts(a, IB_QPS_SQD) ?: qv_ping(l);
}

static int no_notify(struct qv_link *l, u32 unused)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_SQD };
	struct qv_side *a = &l->side[QV_A];

	if (ib_modify_qp(a->qp, &attr, IB_QP_STATE))
		return qv_fail(l, "A does not go to SQD");
	return no_event(a, IB_EVENT_SQ_DRAINED) ?: qv_back_to_rts(a, IB_QPS_SQD) ?: qv_ping(l);
}

static int every_time(struct qv_link *l, u32 type)
{
	struct qv_side *a = &l->side[QV_A];
	int i, err;

	l->conf.type = type;
	err = qv_open(l);
	for (i = 0; i < 5 && !err; i++) {
		err = qv_sqd(a) ?: qv_wait_event(a, IB_EVENT_SQ_DRAINED) ?:
		      draining(a, false);
		clear_bit(IB_EVENT_SQ_DRAINED, &a->events);
		err = err ?: qv_back_to_rts(a, IB_QPS_SQD) ?:
		      no_event(a, IB_EVENT_SQ_DRAINED) ?: qv_ping(l);
	}
	return err;
}

/* Ended while something is under way: that comes first in the flush. */
static int to_error(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl src;
	int i, err;

	err = begin(l, &src);
	for (i = 2; i < N && !err; i++)
		err = qv_post_send(a, &src, i, 0);
	return err ?: draining(a, true) ?: qv_qp_to(a, IB_QPS_ERR) ?:
	       qv_flushed(a, a->scq, 1, N);
}

/* The same address once more, while requests and answers go both ways. */
static int new_path(struct qv_side *s)
{
	struct ib_qp_attr attr = {};

	qv_fill_attr(s, IB_QPS_SQD, &attr);
	return qv_sqd(s) ?: qv_wait_event(s, IB_EVENT_SQ_DRAINED) ?:
	       modify(s, &attr, IB_QP_AV, 0) ?: qv_back_to_rts(s, IB_QPS_SQD);
}

static int path_under_traffic(struct qv_link *l, u32 rounds)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;
	u32 round, i;
	int err = 0;

	for (round = 0; round < rounds && !err; round++) {
		for (i = 0; i < N && !err; i++) {
			qv_sgl(b, &dst, i * SZ_32K, 20000, 1);
			qv_sgl(a, &src, i * SZ_32K, 20000, 1);
			qv_sgl_fill(a, &src, round + i);
			err = qv_post_recv(b, &dst, i) ?:
			      qv_post_send(a, &src, i, IB_SEND_SIGNALED);
		}
		clear_bit(IB_EVENT_SQ_DRAINED, &b->events);
		err = err ?: new_path(b);
		for (i = 0; i < N && !err; i++) {
			qv_sgl(b, &dst, i * SZ_32K, 20000, 1);
			err = qv_sent(a, IB_WC_SUCCESS, &wc) ?:
			      qv_received(b, IB_WC_SUCCESS, &wc) ?:
			      qv_sgl_check(b, &dst, 20000, round + i);
		}
	}
	return err;
}

static int post_adds(struct qv_side *a, struct qv_mr *m)
{
	struct qv_sgl sgl;
	int i, err = 0;

	for (i = 0; i < N && !err; i++) {
		qv_sgl(a, &sgl, i * 64, 8, 1);
		err = qv_post_atomic(a, IB_WR_ATOMIC_FETCH_AND_ADD, &sgl, m->iova, m->rkey, 1, 0);
	}
	return err;
}

/* The results that a peer may have to ask for again outlive the change. */
static int limit_under_atomics(struct qv_link *l, u32 rounds)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_qp_attr attr = {};
	struct qv_mr m = {};
	struct ib_wc wc;
	u32 round, i;
	int err;

	err = qv_mr_make(b, &m, 4096, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_ATOMIC);
	if (!err)
		*(u64 *)qv_mr_at(&m, 0) = 0;
	for (round = 0; round < rounds && !err; round++) {
		/* Never less than the peer may use. */
		attr.max_dest_rd_atomic = l->conf.rd_atomic + (round & 1) * 5;
		clear_bit(IB_EVENT_SQ_DRAINED, &b->events);
		err = post_adds(a, &m) ?: qv_sqd(b) ?: qv_wait_event(b, IB_EVENT_SQ_DRAINED) ?:
		      modify(b, &attr, IB_QP_MAX_DEST_RD_ATOMIC, 0) ?:
		      qv_back_to_rts(b, IB_QPS_SQD);
		for (i = 0; i < N && !err; i++)
			err = qv_sent(a, IB_WC_SUCCESS, &wc);
	}
	if (!err && *(u64 *)qv_mr_at(&m, 0) != rounds * N)
		err = qv_fail(l, "%u added one by one, %llu there", rounds * N,
			      *(u64 *)qv_mr_at(&m, 0));
	qv_mr_free(&m);
	return err;
}

static const struct qv_case cases[] = {
	{ "attributes", attributes },
	{ "no-notify", no_notify },
	{ "rc-every-time", every_time, IB_QPT_RC, QV_OWN_LINK },
	{ "uc-every-time", every_time, IB_QPT_UC, QV_OWN_LINK },
	{ "ud-every-time", every_time, IB_QPT_UD, QV_OWN_LINK },
	{ "to-error", to_error },
	{ "path-under-traffic", path_under_traffic, 10 },
	{ "limit-under-atomics", limit_under_atomics, 10 },
};

QV_GROUP(qv_drain, cases);
