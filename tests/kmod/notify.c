// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notification of completion queues: once for each request of it, for any or
 * for solicited completions, and not without a request.
 */
#include "qverbs.h"

#define QUIET_MS 30

/* An empty message, until its receive has completed. */
static int message(struct qv_link *l, int flags)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl none = {};
	struct ib_wc wc;

	return qv_post_recv(b, &none, 1) ?:
	       qv_post_send(a, &none, 2, IB_SEND_SIGNALED | flags) ?:
	       qv_sent(a, IB_WC_SUCCESS, &wc) ?: qv_received(b, IB_WC_SUCCESS, &wc);
}

/* @counter of @s stands at @want, and stays there. */
static int calls_of(struct qv_side *s, atomic_t *counter, int want)
{
	struct qv_link *l = s->link;

	if (!wait_event_timeout(s->wait, atomic_read(counter) >= want,
				msecs_to_jiffies(QV_WAIT_MS)))
		return qv_fail(l, "%d calls of the handler expected, not %d", want,
			       atomic_read(counter));
	if (wait_event_timeout(s->wait, atomic_read(counter) > want, msecs_to_jiffies(QUIET_MS)))
		return qv_fail(l, "%d calls of the handler expected, not %d", want,
			       atomic_read(counter));
	return 0;
}

static int receive_calls(struct qv_side *s, int want)
{
	return calls_of(s, &s->recv_calls, want);
}

static int send_calls(struct qv_side *s, int want)
{
	return calls_of(s, &s->send_calls, want);
}

static int arm(struct qv_link *l, struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	int err = ib_req_notify_cq(cq, flags);

	return err ? qv_fail(l, "ib_req_notify_cq: %d", err) : 0;
}

static int unarmed(struct qv_link *l, u32 unused)
{
	return message(l, IB_SEND_SOLICITED) ?: receive_calls(&l->side[QV_B], 0) ?:
	       send_calls(&l->side[QV_A], 0);
}

static int once(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];

	return arm(l, b->rcq, IB_CQ_NEXT_COMP) ?: message(l, 0) ?:
	       receive_calls(b, 1) ?: message(l, 0) ?: receive_calls(b, 1) ?:
	       arm(l, b->rcq, IB_CQ_NEXT_COMP) ?: message(l, 0) ?: receive_calls(b, 2);
}

static int of_sends(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];

	return arm(l, a->scq, IB_CQ_NEXT_COMP) ?: message(l, 0) ?:
	       send_calls(a, 1) ?: receive_calls(a, 0);
}

static int solicited(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];

	return arm(l, b->rcq, IB_CQ_SOLICITED) ?: message(l, 0) ?:
	       receive_calls(b, 0) ?: message(l, IB_SEND_SOLICITED) ?:
	       receive_calls(b, 1) ?: message(l, IB_SEND_SOLICITED) ?:
	       receive_calls(b, 1);
}

/* The bit counts where it ends a message of several packets too. */
static int solicited_long(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;

	qv_sgl(a, &src, 0, len, 1);
	qv_sgl(b, &dst, 0, len, 1);
	return arm(l, b->rcq, IB_CQ_SOLICITED) ?: qv_post_recv(b, &dst, 1) ?:
	       qv_post_send(a, &src, 2, IB_SEND_SOLICITED) ?:
	       qv_received(b, IB_WC_SUCCESS, &wc) ?: receive_calls(b, 1);
}

static int solicited_write(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, none = {};
	struct ib_wc wc;
	struct qv_mr m;
	int err;

	qv_sgl(a, &src, 0, len, 1);
	err = qv_mr_make(b, &m, len, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE) ?:
	      arm(l, b->rcq, IB_CQ_SOLICITED) ?: qv_post_recv(b, &none, 1) ?:
	      qv_post_rdma(a, IB_WR_RDMA_WRITE_WITH_IMM, &src, m.iova, m.rkey,
			   IB_SEND_SOLICITED) ?:
	      qv_received(b, IB_WC_SUCCESS, &wc) ?: receive_calls(b, 1);
	qv_mr_free(&m);
	return err;
}

/* IBTA 11.4.2.2: a completion in error counts as solicited. */
static int solicited_error(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	struct qv_sgl none = {};
	struct ib_wc wc;

	return arm(l, b->rcq, IB_CQ_SOLICITED) ?: qv_post_recv(b, &none, 1) ?:
	       qv_qp_to(b, IB_QPS_ERR) ?: qv_received(b, IB_WC_WR_FLUSH_ERR, &wc) ?:
	       receive_calls(b, 1);
}

/* Asked for both, any completion will do; in either order. */
static int both(struct qv_link *l, u32 weaker_last)
{
	struct qv_side *b = &l->side[QV_B];

	return arm(l, b->rcq, weaker_last ? IB_CQ_NEXT_COMP : IB_CQ_SOLICITED) ?:
	       arm(l, b->rcq, weaker_last ? IB_CQ_SOLICITED : IB_CQ_NEXT_COMP) ?:
	       message(l, 0) ?: receive_calls(b, 1);
}

static int report_missed(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl none = {};
	struct ib_wc wc;
	int n, err;

	n = ib_req_notify_cq(b->rcq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS);
	if (n)
		return qv_fail(l, "missed completions of an empty queue: %d", n);
	err = qv_post_recv(b, &none, 1) ?: qv_post_send(a, &none, 2, IB_SEND_SIGNALED) ?:
	      qv_sent(a, IB_WC_SUCCESS, &wc) ?: receive_calls(b, 1);
	if (err)
		return err;
	n = ib_req_notify_cq(b->rcq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS);
	if (n <= 0)
		return qv_fail(l, "one missed completion was not told: %d", n);
	return qv_received(b, IB_WC_SUCCESS, &wc);
}

static const struct qv_case cases[] = {
	{ "unarmed", unarmed },
	{ "once", once },
	{ "of-sends", of_sends },
	{ "solicited", solicited },
	{ "solicited-long", solicited_long, 30000 },
	{ "solicited-write", solicited_write, 30000 },
	{ "solicited-error", solicited_error },
	{ "both-any-last", both, 0 },
	{ "both-solicited-last", both, 1 },
	{ "missed", report_missed },
};

QV_GROUP(qv_notify, cases);
