// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues: what overflows takes all its queue pairs along; handlers
 * that are called less often, by count and by time.
 */
#include <linux/slab.h>
#include "qverbs.h"

#define QPS	4

struct on_cq {
	struct qv_side	*s;
	struct ib_qp	*qp;
	atomic_t	fatal;
	atomic_t	other;
};

static void count_event(struct ib_event *ev, void *context)
{
	struct on_cq *u = context;

	if (ev->event == IB_EVENT_QP_FATAL && ev->element.qp == u->qp)
		atomic_inc(&u->fatal);
	else
		atomic_inc(&u->other);
	wake_up(&u->s->wait);
}

/* On @scq and @rcq; in RTS, connected to the peer's own QP. */
static int make_qp(struct qv_side *s, struct on_cq *u, struct ib_cq *scq, struct ib_cq *rcq)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .event_handler = count_event, .qp_context = u,
		.send_cq = scq, .recv_cq = rcq, .sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct ib_qp *own = s->qp;
	int err;

	u->s = s;
	u->qp = ib_create_qp(s->pd, &init);
	if (IS_ERR(u->qp))
		return qv_fail(s->link, "ib_create_qp: %ld", PTR_ERR(u->qp));
	s->qp = u->qp;
	err = qv_qp_walk(s, IB_QPS_RTS);
	s->qp = own;
	return err;
}

static void free_qp(struct on_cq *u)
{
	if (!IS_ERR_OR_NULL(u->qp))
		ib_destroy_qp(u->qp);
}

static int ended(struct on_cq *u)
{
	struct qv_side *s = u->s;
	struct ib_qp *own = s->qp;
	int err;

	if (!wait_event_timeout(s->wait, atomic_read(&u->fatal), msecs_to_jiffies(QV_WAIT_MS)))
		return qv_fail(s->link, "A: no fatal event of a QP on the queue");
	s->qp = u->qp;
	err = qv_wait_state(s, IB_QPS_ERR);
	s->qp = own;
	wait_event_timeout(s->wait, atomic_read(&u->fatal) > 1, msecs_to_jiffies(10));
	if (!err && (atomic_read(&u->fatal) != 1 || atomic_read(&u->other)))
		err = qv_fail(s->link, "A: %d fatal events and %d others of one QP",
			      atomic_read(&u->fatal), atomic_read(&u->other));
	return err;
}

static int overflow(struct qv_link *l)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED };
	const struct ib_send_wr *bad;
	struct qv_sgl none = {};
	struct ib_wc wc;
	int i, err = 0, n = a->scq->cqe + 1;

	for (i = 0; i < n && !err; i++) {
		wr.wr_id = i;
		err = qv_post_recv(b, &none, i) ?: ib_post_send(a->qp, &wr, &bad) ?:
		      qv_received(b, IB_WC_SUCCESS, &wc);
	}
	return err ?: qv_wait_event(a, IB_EVENT_CQ_ERR) ?: qv_wait_state(a, IB_QPS_ERR) ?:
	       qv_wait_event(a, IB_EVENT_QP_FATAL);
}

/* Whoever sends to it, receives to it, or comes to it later. */
static int all_end(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];
	struct on_cq *u = kcalloc(QPS, sizeof(*u), GFP_KERNEL);
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED };
	const struct ib_send_wr *bad;
	struct ib_wc wc;
	int i, err;

	if (!u)
		return -ENOMEM;
	l->conf.cqe = 8;
	err = qv_open(l);
	if (err)
		goto out;
	err = make_qp(a, &u[0], a->scq, a->scq) ?: make_qp(a, &u[1], a->scq, a->rcq) ?:
	      make_qp(a, &u[2], a->rcq, a->scq) ?: overflow(l);
	for (i = 0; i < 3 && !err; i++)
		err = ended(&u[i]);
	/* What was in the queue before is not lost. */
	for (i = 0; i < a->scq->cqe && !err; i++) {
		err = qv_sent(a, IB_WC_SUCCESS, &wc);
		if (!err && wc.wr_id != i)
			err = qv_fail(l, "A: %d expected, not %llu", i, wc.wr_id);
	}
	err = err ?: make_qp(a, &u[3], a->scq, a->rcq) ?: ib_post_send(u[3].qp, &wr, &bad) ?:
	      ended(&u[3]);
	for (i = 0; i < QPS; i++)
		free_qp(&u[i]);
out:
	kfree(u);
	return err;
}

/* Empty messages to B; its receives complete. */
static int messages(struct qv_link *l, int n, int flags)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl none = {};
	struct ib_wc wc;
	int i, err = 0;

	for (i = 0; i < n && !err; i++)
		err = qv_post_recv(b, &none, i) ?:
		      qv_post_send(a, &none, i, IB_SEND_SIGNALED | flags) ?:
		      qv_sent(a, IB_WC_SUCCESS, &wc) ?: qv_received(b, IB_WC_SUCCESS, &wc);
	return err;
}

static int calls(struct qv_side *b, int want, u32 ms)
{
	if (!wait_event_timeout(b->wait, atomic_read(&b->recv_calls) >= want,
				msecs_to_jiffies(QV_WAIT_MS)) ||
	    wait_event_timeout(b->wait, atomic_read(&b->recv_calls) > want, msecs_to_jiffies(ms)))
		return qv_fail(b->link, "B: %d calls of the handler expected, not %d", want,
			       atomic_read(&b->recv_calls));
	return 0;
}

static int moderate(struct qv_side *b, u16 count, u16 period)
{
	int err = rdma_set_cq_moderation(b->rcq, count, period) ?:
		  ib_req_notify_cq(b->rcq, IB_CQ_NEXT_COMP);

	return err ? qv_fail(b->link, "moderation by %u, %u us: %d", count, period, err) : 0;
}

#define LONG	60000	/* us */

/* Not before the eighth, and then once. */
static int by_count(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	int round, err = 0;

	for (round = 0; round < 3 && !err; round++) {
		ktime_t begin = ktime_get();

		err = moderate(b, 8, LONG) ?: messages(l, 7, 0);
		/* A machine that slow has seen the time run out. */
		if (!err && ktime_us_delta(ktime_get(), begin) < LONG / 2 &&
		    atomic_read(&b->recv_calls) != round)
			err = qv_fail(l, "B: called before the eighth completion");
		err = err ?: messages(l, 1, 0) ?: calls(b, round + 1, 5) ?:
		      messages(l, 3, 0) ?: calls(b, round + 1, 100);
	}
	return err;
}

/* The time runs from the first completion that is held back. */
static int by_time(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	ktime_t begin;
	s64 us;
	int err;

	err = moderate(b, 100, LONG) ?: calls(b, 0, 100);
	begin = ktime_get();
	err = err ?: messages(l, 3, 0) ?: calls(b, 1, 0);
	us = ktime_us_delta(ktime_get(), begin);
	if (!err && us < LONG)
		err = qv_fail(l, "B: called after %lld us, not %u", us, LONG);
	return err ?: messages(l, 1, 0) ?: calls(b, 1, 100);
}

/* Who asks for an answer does not wait, and what is held comes along. */
static int solicited(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];

	return moderate(b, 100, LONG) ?: messages(l, 3, 0) ?: messages(l, 1, IB_SEND_SOLICITED) ?:
	       calls(b, 1, 0) ?: moderate(b, 100, LONG) ?: messages(l, 1, IB_SEND_SOLICITED) ?:
	       calls(b, 2, 100);
}

/* Switched off, what was held is told of, and each one from then on. */
static int off(struct qv_link *l, u32 count)
{
	struct qv_side *b = &l->side[QV_B];

	return moderate(b, 100, LONG) ?: messages(l, 3, 0) ?: moderate(b, count, count ? 100 : 0) ?:
	       calls(b, 1, 100) ?: moderate(b, count, count ? 100 : 0) ?:
	       messages(l, 1, 0) ?: calls(b, 2, 20);
}

/* Errors are not held back. */
static int flushed(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	struct qv_sgl none = {};
	int i, err;

	err = moderate(b, 100, LONG);
	for (i = 0; i < 5 && !err; i++)
		err = qv_post_recv(b, &none, i);
	return err ?: qv_qp_to(b, IB_QPS_ERR) ?: calls(b, 1, 100) ?: qv_flushed(b, b->rcq, 0, 5);
}

static const struct qv_case cases[] = {
	{ "all-end", all_end, 0, QV_OWN_LINK },
	{ "by-count", by_count },
	{ "by-time", by_time },
	{ "solicited", solicited },
	{ "off-0", off, 0 },
	{ "off-1", off, 1 },
	{ "flushed", flushed },
};

QV_GROUP(qv_cq, cases);
