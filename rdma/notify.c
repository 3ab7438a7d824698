// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is told of what: handlers of completion queues, at once or moderated,
 * and asynchronous events. Engines only note what is due, see struct
 * qrdma_notify; handlers are called when they have dropped their locks, with
 * bottom halves off.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include "path.h"
#include "verbs-compat.h"

static void qp_event(struct qrdma_qp *qp, enum ib_event_type type)
{
	struct ib_event ev = {
		.device = qp->ibqp.device,
		.element.qp = &qp->ibqp,
		.event = type,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&ev, qp->ibqp.qp_context);
}

/* One at a time for a queue: who comes meanwhile leaves a mark. */
static void call_handler(struct qrdma_cq *cq)
{
	unsigned long flags;
	bool mine, again;

	if (!cq->ibcq.comp_handler)
		return;
	spin_lock_irqsave(&cq->lock, flags);
	mine = !cq->notifying;
	cq->notify_again = !mine;
	cq->notifying = true;
	spin_unlock_irqrestore(&cq->lock, flags);
	while (mine) {
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
		spin_lock_irqsave(&cq->lock, flags);
		again = cq->notify_again;
		cq->notify_again = false;
		cq->notifying = again;
		spin_unlock_irqrestore(&cq->lock, flags);
		mine = again;
	}
}

static void start_timer(struct qrdma_cq *cq, u32 us)
{
	hrtimer_start(&cq->timer, ns_to_ktime((u64)us * NSEC_PER_USEC),
		      HRTIMER_MODE_REL_SOFT);
}

bool qrdma_cq_due(struct qrdma_cq *cq, bool solicited)
{
	lockdep_assert_held(&cq->lock);
	if (solicited || cq->held + 1 >= cq->mod_count) {
		cq->held = 0;
		return true;
	}
	if (!cq->held++)
		start_timer(cq, cq->mod_period);
	return false;
}

static enum hrtimer_restart timer_fires(struct hrtimer *timer)
{
	struct qrdma_cq *cq = container_of(timer, struct qrdma_cq, timer);
	unsigned long flags;
	bool due;

	spin_lock_irqsave(&cq->lock, flags);
	due = cq->held;
	cq->held = 0;
	if (due)
		cq->notify = 0;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (due)
		call_handler(cq);
	return HRTIMER_NORESTART;
}

void qrdma_cq_init_timer(struct qrdma_cq *cq)
{
	hrtimer_setup(&cq->timer, timer_fires, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

/* A count without a time would hold the last ones back for ever. */
int qrdma_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct qrdma_cq *cq = to_qcq(ibcq);
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->mod_count = count > 1 && period ? count : 0;
	cq->mod_period = period;
	if (cq->held)
		start_timer(cq, 0);
	spin_unlock_irqrestore(&cq->lock, flags);
	return 0;
}

void qrdma_cq_attach(struct qrdma_qp *qp)
{
	struct qrdma_cq *scq = qp->send_cq, *rcq = qp->recv_cq;

	spin_lock_irq(&scq->lock);
	list_add(&qp->send_link, &scq->senders);
	spin_unlock_irq(&scq->lock);
	spin_lock_irq(&rcq->lock);
	list_add(&qp->recv_link, &rcq->receivers);
	spin_unlock_irq(&rcq->lock);
}

void qrdma_cq_detach(struct qrdma_qp *qp)
{
	struct qrdma_cq *scq = qp->send_cq, *rcq = qp->recv_cq;

	spin_lock_irq(&scq->lock);
	list_del(&qp->send_link);
	spin_unlock_irq(&scq->lock);
	spin_lock_irq(&rcq->lock);
	list_del(&qp->recv_link);
	spin_unlock_irq(&rcq->lock);
}

/* 11.6.3.2: what cannot be reported by a completion is so by an event. */
void qrdma_qp_cq_failed(struct qrdma_qp *qp)
{
	if (READ_ONCE(qp->state) == IB_QPS_RESET ||
	    test_and_set_bit(QRDMA_QP_CQ_FAILED, &qp->flags))
		return;
	atomic_or(QRDMA_NT_QP_FATAL, &qp->nt_left);
	qrdma_qp_fail(qp);
	qrdma_qp_queue_work(qp);
}

/* The queue is of no use any more, nor is any QP on it. */
static void cq_overflowed(struct qrdma_cq *cq)
{
	struct ib_event ev = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};
	unsigned long flags;
	struct qrdma_qp *qp;

	pr_err_ratelimited("%s: a completion queue of %u entries overflowed\n",
			   dev_name(&cq->ibcq.device->dev), cq->size);
	spin_lock_irqsave(&cq->lock, flags);
	list_for_each_entry(qp, &cq->senders, send_link)
		qrdma_qp_cq_failed(qp);
	list_for_each_entry(qp, &cq->receivers, recv_link)
		qrdma_qp_cq_failed(qp);
	spin_unlock_irqrestore(&cq->lock, flags);
	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&ev, cq->ibcq.cq_context);
}

static void notify_events(struct qrdma_qp *qp, u32 flags)
{
	static const struct {
		u32 flag;
		enum ib_event_type type;
	} events[] = {
		{ QRDMA_NT_COMM_EST, IB_EVENT_COMM_EST },
		{ QRDMA_NT_SQ_DRAINED, IB_EVENT_SQ_DRAINED },
		{ QRDMA_NT_QP_FATAL, IB_EVENT_QP_FATAL },
		{ QRDMA_NT_QP_REQ_ERR, IB_EVENT_QP_REQ_ERR },
		{ QRDMA_NT_QP_ACCESS_ERR, IB_EVENT_QP_ACCESS_ERR },
		{ QRDMA_NT_LAST_WQE, IB_EVENT_QP_LAST_WQE_REACHED },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (flags & events[i].flag)
			qp_event(qp, events[i].type);
	if (flags & QRDMA_NT_SEND_CQ_ERR)
		cq_overflowed(qp->send_cq);
	if (flags & QRDMA_NT_RECV_CQ_ERR)
		cq_overflowed(qp->recv_cq);
}

void qrdma_qp_notify(struct qrdma_qp *qp, const struct qrdma_notify *nt)
{
	if (nt->flags & QRDMA_NT_SEND_CQ)
		call_handler(qp->send_cq);
	if (nt->flags & QRDMA_NT_RECV_CQ)
		call_handler(qp->recv_cq);
	if (unlikely(nt->flags & ~(QRDMA_NT_SEND_CQ | QRDMA_NT_RECV_CQ)))
		notify_events(qp, nt->flags);
}
