// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of queues: flushing in order, draining, SQD, reset, a completion
 * queue that overflows.
 */
#include <linux/delay.h>
#include <linux/sizes.h>
#include "qverbs.h"

#define N 40

/* Requests that wait for the peer's receive; half of them are not signalled. */
static int flush_sends(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl src;
	int i, err = 0;

	qv_sgl(a, &src, 0, len, 1);
	for (i = 0; i < N && !err; i++)
		err = qv_post_send(a, &src, i, i & 1 ? IB_SEND_SIGNALED : 0);
	err = err ?: qv_qp_to(a, IB_QPS_ERR) ?: qv_flushed(a, a->scq, 0, N);
	/* What is posted now is flushed too. */
	for (i = 0; i < N && !err; i++)
		err = qv_post_send(a, &src, i, 0);
	return err ?: qv_flushed(a, a->scq, 0, N);
}

static int flush_receives(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	struct qv_sgl none = {};
	int i, err = 0;

	for (i = 0; i < N && !err; i++)
		err = qv_post_recv(b, &none, i);
	err = err ?: qv_qp_to(b, IB_QPS_ERR) ?: qv_flushed(b, b->rcq, 0, N);
	for (i = 0; i < N && !err; i++)
		err = qv_post_recv(b, &none, i);
	return err ?: qv_flushed(b, b->rcq, 0, N);
}

/* Those before a failed request succeed, those behind it are flushed. */
static int flush_behind(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, none = {};
	struct ib_wc wc;
	int i, err = 0;

	qv_sgl(a, &src, 0, 3000, 1);
	for (i = 0; i < 10 && !err; i++)
		err = qv_post_recv(b, &none, i);
	for (i = 0; i < 5 && !err; i++)
		err = qv_post_send(a, &none, i, IB_SEND_SIGNALED);
	err = err ?: qv_post_rdma(a, IB_WR_RDMA_WRITE, &src, 0x1000, 0x1234567, 0);
	for (i = 0; i < 5 && !err; i++) {
		/* The queue may have failed already: then these are flushed too. */
		err = qv_post_send(a, &none, i, 0);
	}
	for (i = 0; i < 5 && !err; i++)
		err = qv_sent(a, IB_WC_SUCCESS, &wc) ?: qv_received(b, IB_WC_SUCCESS, &wc);
	return err ?: qv_sent(a, IB_WC_REM_ACCESS_ERR, &wc) ?:
	       qv_flushed(a, a->scq, 0, 5) ?: qv_flushed(b, b->rcq, 5, 10);
}

/* IBTA 10.3.1: RESET takes the requests away without a completion. */
static int reset(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, none = {};
	int i, err = 0;

	qv_sgl(a, &src, 0, 9000, 1);
	for (i = 0; i < N && !err; i++)
		err = qv_post_send(a, &src, i, IB_SEND_SIGNALED) ?:
		      qv_post_recv(a, &none, i);
	err = err ?: qv_qp_to(a, IB_QPS_RESET) ?: qv_qp_to(b, IB_QPS_RESET) ?:
	      qv_no_wc(l, a->scq, 30) ?: qv_no_wc(l, a->rcq, 5);
	/* The same QPs serve again. */
	return err ?: qv_qp_walk(a, IB_QPS_RTS) ?: qv_qp_walk(b, IB_QPS_RTS) ?: qv_ping(l) ?:
	       qv_no_wc(l, a->scq, 5) ?: qv_no_wc(l, a->rcq, 5);
}

struct drain {
	struct ib_cqe	cqe;
	atomic_t	*done;
	int		wrong;
};

static void drained(struct ib_cq *cq, struct ib_wc *wc)
{
	struct drain *d = container_of(wc->wr_cqe, struct drain, cqe);

	if (wc->status != IB_WC_WR_FLUSH_ERR)
		d->wrong = wc->status;
	atomic_inc(d->done);
}

static int post_for_drain(struct qv_side *s, struct drain *d)
{
	struct ib_send_wr send = { .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED,
				   .wr_cqe = &d->cqe };
	struct ib_recv_wr recv = { .wr_cqe = &d->cqe };
	const struct ib_recv_wr *bad;
	int i, err = 0;

	for (i = 0; i < 10 && !err; i++)
		err = qv_post(s, &send) ?: ib_post_recv(s->qp, &recv, &bad);
	return err;
}

/* ib_drain_qp() returns when all completions have been handled. */
static int drain_on(struct qv_link *l, struct ib_cq *cq)
{
	struct qv_side *a = &l->side[QV_A];
	atomic_t done = ATOMIC_INIT(0);
	struct drain d = { .cqe.done = drained, .done = &done };
	struct ib_cq *scq = a->scq, *rcq = a->rcq;
	struct ib_qp *qp = a->qp;
	int err;

	a->scq = cq;
	a->rcq = cq;
	a->qp = qv_make_qp(a);
	err = IS_ERR(a->qp) ? PTR_ERR(a->qp) : 0;
	if (!err) {
		/* The peer's number is right, A's in B is not: nothing is answered. */
		err = qv_qp_walk(a, IB_QPS_RTS) ?: post_for_drain(a, &d);
		ib_drain_qp(a->qp);
		if (!err && atomic_read(&done) != 20)
			err = qv_fail(l, "20 flushed before the drain ended, not %d",
				      atomic_read(&done));
		if (!err && d.wrong)
			err = qv_fail(l, "flushed with '%s'", ib_wc_status_msg(d.wrong));
		ib_destroy_qp(a->qp);
	}
	a->qp = qp;
	a->scq = scq;
	a->rcq = rcq;
	return err;
}

static int drain(struct qv_link *l, u32 context)
{
	struct ib_cq *cq = ib_alloc_cq(l->side[QV_A].dev, NULL, 256, 0, context);
	int err;

	if (IS_ERR(cq))
		return qv_fail(l, "ib_alloc_cq: %ld", PTR_ERR(cq));
	err = drain_on(l, cq);
	ib_free_cq(cq);
	return err;
}

static int reap_some(struct qv_link *l, int *done)
{
	struct ib_wc wc;

	for (; !qv_poll(l, l->side[QV_A].scq, &wc, 30); ++*done)
		if (wc.status != IB_WC_SUCCESS || wc.wr_id != *done)
			return qv_fail(l, "%d expected to succeed, %llu ended with '%s'", *done,
				       wc.wr_id, ib_wc_status_msg(wc.status));
	return 0;
}

/* In the midst of sending: the event, then silence, then the rest. */
static int sqd_while_sending(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	int i, done = 0, err = 0;

	for (i = 0; i < N && !err; i++) {
		qv_sgl(b, &dst, i * SZ_32K, len, 1);
		err = qv_post_recv(b, &dst, i);
	}
	for (i = 0; i < N && !err; i++) {
		qv_sgl(a, &src, i * SZ_32K, len, 1);
		err = qv_post_send(a, &src, i, IB_SEND_SIGNALED);
	}
	err = err ?: qv_sqd(a) ?: qv_wait_event(a, IB_EVENT_SQ_DRAINED) ?:
	      reap_some(l, &done) ?: qv_no_wc(l, a->scq, 30);
	if (!err && qv_qp_state(a) != IB_QPS_SQD)
		err = qv_fail(l, "state SQD expected, it is in %d", qv_qp_state(a));
	err = err ?: qv_back_to_rts(a, IB_QPS_SQD);
	while (!err && done < N) {
		i = done;
		err = reap_some(l, &done);
		if (!err && i == done)
			err = qv_fail(l, "only %d of %d were sent after SQD", done, N);
	}
	return err ?: qv_ping(l);
}

/* Taken in SQD, sent in RTS. Receiving goes on all the time. */
static int sqd_post(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl none = {};
	struct ib_wc wc;

	return qv_sqd(a) ?: qv_wait_event(a, IB_EVENT_SQ_DRAINED) ?:
	       qv_post_recv(b, &none, 1) ?: qv_post_send(a, &none, 2, IB_SEND_SIGNALED) ?:
	       qv_no_wc(l, a->scq, 50) ?:
	       qv_post_recv(a, &none, 3) ?: qv_post_send(b, &none, 4, IB_SEND_SIGNALED) ?:
	       qv_received(a, IB_WC_SUCCESS, &wc) ?: qv_sent(b, IB_WC_SUCCESS, &wc) ?:
	       qv_back_to_rts(a, IB_QPS_SQD) ?: qv_sent(a, IB_WC_SUCCESS, &wc) ?:
	       qv_received(b, IB_WC_SUCCESS, &wc);
}

static int sqd_error(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl none = {};
	int i, err;

	err = qv_sqd(a) ?: qv_wait_event(a, IB_EVENT_SQ_DRAINED);
	for (i = 0; i < 10 && !err; i++)
		err = qv_post_send(a, &none, i, 0);
	return err ?: qv_qp_to(a, IB_QPS_ERR) ?: qv_flushed(a, a->scq, 0, 10);
}

/* More completions than the queue holds: it fails, and its QP with it. */
static int overflow(struct qv_link *l, u32 of_receives)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B], *victim;
	struct qv_sgl none = {};
	struct ib_wc wc;
	int i, n, err;

	l->conf.cqe = 8;
	l->conf.wr = 100;
	err = qv_open(l);
	if (err)
		return err;
	victim = of_receives ? b : a;
	n = victim->scq->cqe + 3;
	if (n > l->conf.wr)
		return qv_fail(l, "queue of 8 asked for, %d given", victim->scq->cqe);
	for (i = 0; i < n && !err; i++) {
		err = qv_post_recv(b, &none, i) ?:
		      ib_post_send(a->qp, &(struct ib_send_wr) {
				.opcode = IB_WR_SEND, .wr_id = i,
				.send_flags = of_receives ? 0 : IB_SEND_SIGNALED,
			}, &(const struct ib_send_wr *) { NULL });
		if (!of_receives && !err)
			qv_poll(l, b->rcq, &wc, 1000);
	}
	return err ?: qv_wait_event(victim, IB_EVENT_CQ_ERR) ?:
	       qv_wait_state(victim, IB_QPS_ERR);
}

static const struct qv_case cases[] = {
	{ "sends", flush_sends, 9000 },
	{ "sends-0", flush_sends, 0 },
	{ "receives", flush_receives },
	{ "behind", flush_behind },
	{ "reset", reset },
	{ "drain-softirq", drain, IB_POLL_SOFTIRQ },
	{ "drain-workqueue", drain, IB_POLL_WORKQUEUE },
	{ "drain-direct", drain, IB_POLL_DIRECT },
	{ "sqd-while-sending", sqd_while_sending, 30000 },
	{ "sqd-post", sqd_post },
	{ "sqd-error", sqd_error },
	{ "overflow-send", overflow, 0, QV_OWN_LINK },
	{ "overflow-receive", overflow, 1, QV_OWN_LINK },
};

QV_GROUP(qv_flush, cases);
