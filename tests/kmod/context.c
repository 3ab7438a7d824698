// SPDX-License-Identifier: GPL-2.0-only
/*
 * Posting from every context that the verbs allow: hard interrupt, soft
 * interrupt, interrupts off, from within a completion queue's handler.
 */
#include <linux/irq_work.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include "qverbs.h"

#define N 30

/* Work to be posted in some context, and what became of it. */
struct poster {
	struct qv_side		*s;
	struct irq_work		irq;
	struct timer_list	timer;
	struct completion	done;
	u32			len;
	int			err;
};

/* A receive for the peer's message, then one of our own. */
static void post_pair(struct poster *p)
{
	struct qv_side *s = p->s;
	struct qv_sgl src, dst;
	struct ib_send_wr swr = { .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED,
				  .sg_list = src.sge };
	struct ib_recv_wr rwr = { .sg_list = dst.sge, .num_sge = 1 };
	const struct ib_send_wr *bad_send;
	const struct ib_recv_wr *bad_recv;

	qv_sgl(s, &src, 0, p->len, 1);
	qv_sgl(s, &dst, 1 << 20, p->len, 1);
	swr.num_sge = src.n;
	rwr.num_sge = dst.n;
	p->err = ib_post_recv(s->qp, &rwr, &bad_recv) ?: ib_post_send(s->qp, &swr, &bad_send);
}

static void in_irq_work(struct irq_work *work)
{
	struct poster *p = container_of(work, struct poster, irq);

	if (!in_hardirq())
		p->err = -EINVAL;
	else
		post_pair(p);
	complete(&p->done);
}

static void in_timer(struct timer_list *timer)
{
	struct poster *p = container_of(timer, struct poster, timer);

	if (in_hardirq() || !in_softirq())
		p->err = -EINVAL;
	else
		post_pair(p);
	complete(&p->done);
}

enum { HARD_IRQ, SOFT_IRQ, IRQS_OFF, BH_OFF, SPINLOCK };

static void post_in(struct poster *p, u32 context)
{
	static DEFINE_SPINLOCK(lock);
	unsigned long flags;

	switch (context) {
	case HARD_IRQ:
		irq_work_queue(&p->irq);
		break;
	case SOFT_IRQ:
		mod_timer(&p->timer, jiffies);
		break;
	case IRQS_OFF:
		local_irq_save(flags);
		post_pair(p);
		local_irq_restore(flags);
		complete(&p->done);
		break;
	case BH_OFF:
		local_bh_disable();
		post_pair(p);
		local_bh_enable();
		complete(&p->done);
		break;
	case SPINLOCK:
		spin_lock_irqsave(&lock, flags);
		post_pair(p);
		spin_unlock_irqrestore(&lock, flags);
		complete(&p->done);
		break;
	}
	wait_for_completion(&p->done);
}

static int post_by(struct poster *p, struct qv_side *s, u32 context, u32 len)
{
	p->s = s;
	p->len = len;
	init_completion(&p->done);
	p->irq = IRQ_WORK_INIT_HARD(in_irq_work);
	timer_setup(&p->timer, in_timer, 0);
	post_in(p, context);
	irq_work_sync(&p->irq);
	timer_delete_sync(&p->timer);
	return p->err ? qv_fail(s->link, "posting: %d", p->err) : 0;
}

static int round_in(struct qv_link *l, struct poster *p, u32 context, u32 len)
{
	struct ib_wc wc;
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++)
		err = post_by(p, &l->side[i], context, len);
	for (i = 0; i < 2 && !err; i++)
		err = qv_sent(&l->side[i], IB_WC_SUCCESS, &wc) ?:
		      qv_received(&l->side[i], IB_WC_SUCCESS, &wc);
	return err;
}

static int posting(struct qv_link *l, u32 context)
{
	struct poster *p = kzalloc(sizeof(*p), GFP_KERNEL);
	int i, err = p ? 0 : -ENOMEM;

	for (i = 0; i < N && !err; i++)
		err = round_in(l, p, context, i % 3 * 10000);
	kfree(p);
	return err;
}

/* A game of ball between the handlers of the two receive queues. */
struct game {
	atomic_t	hits;
	int		err;
	u32		len;
};

#define HITS 500

static int hit(struct qv_side *s)
{
	struct game *g = s->priv;
	struct qv_sgl src, dst;
	struct ib_send_wr swr = { .opcode = IB_WR_SEND };
	struct ib_recv_wr rwr = {};
	const struct ib_send_wr *bad_send;
	const struct ib_recv_wr *bad_recv;

	qv_sgl(s, &src, 0, g->len, 1);
	qv_sgl(s, &dst, 1 << 20, g->len, 1);
	swr.sg_list = src.sge;
	swr.num_sge = src.n;
	/* Now and then a completion, or the queue never empties. */
	if (atomic_inc_return(&g->hits) % 16 < 2)
		swr.send_flags = IB_SEND_SIGNALED;
	rwr.sg_list = dst.sge;
	rwr.num_sge = dst.n;
	return ib_post_recv(s->qp, &rwr, &bad_recv) ?: ib_post_send(s->qp, &swr, &bad_send);
}

static void strike_back(struct qv_side *s)
{
	struct game *g = s->priv;
	struct ib_wc wc;

	do {
		while (ib_poll_cq(s->scq, 1, &wc) > 0)
			;
		while (ib_poll_cq(s->rcq, 1, &wc) > 0) {
			if (wc.status != IB_WC_SUCCESS)
				g->err = wc.status;
			else if (atomic_read(&g->hits) < HITS && !g->err)
				g->err = hit(s);
		}
	} while (ib_req_notify_cq(s->rcq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0);
}

static int in_handler(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct game g = { .len = len };
	struct qv_sgl dst;
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		l->side[i].priv = &g;
		l->side[i].on_recv = strike_back;
		ib_req_notify_cq(l->side[i].rcq, IB_CQ_NEXT_COMP);
		qv_sgl(&l->side[i], &dst, 1 << 20, len, 1);
		err = qv_post_recv(&l->side[i], &dst, 0);
	}
	err = err ?: hit(a);
	if (!err && !wait_event_timeout(b->wait, atomic_read(&g.hits) >= HITS || g.err,
					msecs_to_jiffies(QV_WAIT_MS)))
		err = qv_fail(l, "the ball was lost after %d hits", atomic_read(&g.hits));
	if (!err && g.err)
		err = qv_fail(l, "after %d hits: %d", atomic_read(&g.hits), g.err);
	/* After this no handler runs: the game is on this stack. */
	qv_close(l);
	return err;
}

static const struct qv_case cases[] = {
	{ "hard-interrupt", posting, HARD_IRQ },
	{ "soft-interrupt", posting, SOFT_IRQ },
	{ "interrupts-off", posting, IRQS_OFF },
	{ "bottom-halves-off", posting, BH_OFF },
	{ "spinlock", posting, SPINLOCK },
	{ "in-handler-0", in_handler, 0 },
	{ "in-handler", in_handler, 100 },
	{ "in-handler-long", in_handler, 9000 },
};

QV_GROUP(qv_context, cases);
