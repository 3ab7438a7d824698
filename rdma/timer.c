// SPDX-License-Identifier: GPL-2.0-only
/*
 * The requester's timer: lost tails, lost answers, waits for a receiver that
 * is not ready. It is not moved with each packet: it runs through, and when
 * it fires it asks whether the peer has answered anything since it was
 * started. The first time-outs come after a few round trips and send one
 * packet as a probe; only silence as long as the QP's own timeout counts as
 * a retry. Runs in softirq; state under sq.lock.
 */
#include <linux/ktime.h>
#include <kunit-hooks.h>
#include "path.h"
#include "verbs-compat.h"

/* See qrdma_timer_flush(). */
#define FLUSH_MIN	(10 * NSEC_PER_MSEC)
#define FLUSH_MAX	(128 * FLUSH_MIN)

/* Atomic reserves are filled up again by then. */
#define STARVED_WAIT	NSEC_PER_MSEC

#define RTO_UNKNOWN	(20 * NSEC_PER_MSEC)
#define RTO_MIN		(4 * NSEC_PER_MSEC)
#define RTO_MAX		(4ULL * NSEC_PER_SEC)

/* IBTA table 45, in units of 10 us. */
static const u32 rnr_10us[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256,
	384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384,
	24576, 32768, 49152,
};

static bool sending(const struct qrdma_qp *qp)
{
	enum ib_qp_state state = READ_ONCE(qp->state);

	return state == IB_QPS_RTS || state == IB_QPS_SQD;
}

/* The QP's timeout attribute in ns, 9.7.6.1.3; 0 is no time-out at all. */
static u64 local_ack_timeout(const struct qrdma_sq *sq)
{
	return sq->timeout ? 4096ULL << sq->timeout : 0;
}

static u64 rto(const struct qrdma_sq *sq)
{
	u64 limit = local_ack_timeout(sq) ?: RTO_MAX;
	u64 t = sq->srtt ? max_t(u64, 4 * sq->srtt, RTO_MIN) : RTO_UNKNOWN;

	return min(t << min(sq->backoff, 10U), limit);
}

/* Where every timer of a QP is started. */
VISIBLE_IF_KUNIT void qrdma_timer_start(struct hrtimer *timer, u64 ns)
{
	KUNIT_STATIC_STUB_REDIRECT(qrdma_timer_start, timer, ns);
	hrtimer_start(timer, ns_to_ktime(ns), HRTIMER_MODE_REL_SOFT);
}

void qrdma_timer_arm(struct qrdma_qp *qp)
{
	struct qrdma_sq *sq = &qp->sq;
	u64 now;

	lockdep_assert_held(&sq->lock);
	if (sq->timer_on || sq->rnr_wait || !sending(qp))
		return;
	now = ktime_get_ns();
	if (sq->timer_una != sq->una || !sq->backoff)
		sq->stall_start = now;
	sq->timer_on = true;
	sq->timer_una = sq->una;
	if (!sq->rtt_start && !sq->rewound && !qrdma_gap_open(sq) &&
	    sq->psn == sq->max_psn) {
		sq->rtt_start = now;
		sq->rtt_psn = qrdma_psn_add(sq->psn, QRDMA_PSN_MASK);
	}
	qrdma_timer_start(&qp->timer, rto(sq));
}

void qrdma_timer_sq_starved(struct qrdma_qp *qp)
{
	struct qrdma_sq *sq = &qp->sq;

	lockdep_assert_held(&sq->lock);
	if (sq->rnr_wait || !sending(qp))
		return;
	sq->timer_on = true;
	qrdma_timer_start(&qp->timer, STARVED_WAIT);
}

void qrdma_timer_rq_starved(struct qrdma_qp *qp)
{
	struct qrdma_rq *rq = &qp->rq;

	lockdep_assert_held(&rq->lock);
	/* In the error state as well: the peer is to hear why. */
	if (rq->ack_timer_on || READ_ONCE(qp->state) == IB_QPS_RESET)
		return;
	rq->ack_timer_on = true;
	qrdma_timer_start(&qp->ack_timer, STARVED_WAIT);
}

void qrdma_timer_rnr(struct qrdma_qp *qp, u8 code)
{
	struct qrdma_sq *sq = &qp->sq;

	lockdep_assert_held(&sq->lock);
	if (!sending(qp))
		return;
	sq->rnr_wait = true;
	sq->timer_on = true;
	qrdma_timer_start(&qp->timer, rnr_10us[code] * 10000ULL);
}

/* False where the QP's patience is at its end. */
static bool count_retry(struct qrdma_qp *qp)
{
	struct qrdma_sq *sq = &qp->sq;
	u64 limit = local_ack_timeout(sq), now = ktime_get_ns();

	if (!limit || now - sq->stall_start < limit)
		return true;
	qrdma_count(qp->dev, QRDMA_CNT_LOCAL_ACK_TIMEOUT_ERR);
	if (!sq->retries_left)
		return false;
	sq->retries_left--;
	sq->stall_start = now;
	return true;
}

static void timed_out(struct qrdma_qp *qp, struct qrdma_notify *nt)
{
	struct qrdma_sq *sq = &qp->sq;

	if (!count_retry(qp)) {
		qrdma_count(qp->dev, QRDMA_CNT_RETRY_EXCEEDED);
		if (sq->tail != sq->fresh)
			qrdma_sq_complete(qp, IB_WC_RETRY_EXC_ERR, nt);
		qrdma_qp_fail(qp);
		return;
	}
	qrdma_count(qp->dev, QRDMA_CNT_TAIL_PROBES);
	sq->backoff++;
	sq->probing = true;
	if (!qrdma_gap_open(sq) || !qrdma_gap_again(qp, QRDMA_REWIND_TIMEOUT))
		qrdma_sq_rewind(qp, sq->una, QRDMA_REWIND_TIMEOUT);
	qrdma_sq_run(qp, nt);
	/* Where not even the probe could be sent. */
	qrdma_timer_arm(qp);
}

void qrdma_timer_ack(struct qrdma_qp *qp, u64 word)
{
	struct qrdma_rq *rq = &qp->rq;

	lockdep_assert_held(&rq->lock);
	if (rq->ack_timer_on || !sending(qp))
		return;
	rq->ack_timer_on = true;
	rq->ack_armed = word;
	qrdma_timer_start(&qp->ack_timer, QRDMA_ACK_DELAY);
}

void qrdma_timer_flush(struct qrdma_qp *qp, bool found)
{
	struct qrdma_rq *rq = &qp->rq;

	lockdep_assert_held(&rq->lock);
	rq->flush_wait = found ? FLUSH_MIN :
				 clamp_t(u64, 2 * rq->flush_wait, FLUSH_MIN,
					 FLUSH_MAX);
	qrdma_timer_start(&qp->ack_timer, rq->flush_wait);
}

VISIBLE_IF_KUNIT enum hrtimer_restart qrdma_timer_fire(struct hrtimer *timer)
{
	struct qrdma_qp *qp = container_of(timer, struct qrdma_qp, timer);
	struct qrdma_sq *sq = &qp->sq;
	struct qrdma_notify nt = {};

	spin_lock(&sq->lock);
	sq->timer_on = false;
	if (!sending(qp)) {
		/* Nothing to wait for any more. */
	} else if (sq->rnr_wait || sq->starved) {
		/* The peer lets us wait again and again, and meanwhile this is stuck. */
		if (sq->rnr_wait && qrdma_gap_open(sq) &&
		    sq->una == sq->timer_una)
			qrdma_gap_again(qp, QRDMA_REWIND_TIMEOUT);
		sq->rnr_wait = false;
		sq->starved = false;
		qrdma_sq_run(qp, &nt);
		qrdma_timer_arm(qp);
	} else if (sq->una == sq->max_psn) {
		/* All is answered; the next packet starts the timer anew. */
	} else if (sq->una != sq->timer_una) {
		qrdma_timer_arm(qp);
	} else {
		timed_out(qp, &nt);
	}
	spin_unlock(&sq->lock);
	qrdma_qp_notify(qp, &nt);
	return HRTIMER_NORESTART;
}

void qrdma_timer_init(struct qrdma_qp *qp)
{
	hrtimer_setup(&qp->timer, qrdma_timer_fire, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	hrtimer_setup(&qp->ack_timer, qrdma_rq_ack_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}
