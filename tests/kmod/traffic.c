// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many messages of all kinds under way at a time, all data compared; and
 * objects that are destroyed amid them.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include "qverbs.h"

#define SLOTS	16
#define SLOT	SZ_32K
#define REGION	SZ_1M		/* offset of the slots behind a key, in B's memory */
#define ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
		 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

enum { OP_SEND, OP_WRITE, OP_WRITE_IMM, OP_READ, OP_ADD, OPS };

struct slot {
	u32		kind;
	u32		len;
	u32		seed;
	struct qv_sgl	a;
	struct qv_sgl	b;	/* a receive's memory */
};

static bool takes_receive(const struct slot *t)
{
	return t->kind == OP_SEND || t->kind == OP_WRITE_IMM;
}

static void make_slot(struct qv_link *l, struct qv_mr *m, struct slot *t, int i, u32 seed)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	u32 n = 1 + get_random_u32_below(3);

	t->kind = get_random_u32_below(OPS);
	t->seed = seed;
	t->len = t->kind == OP_ADD ? 8 : get_random_u32_below(seed & 1 ? 30000 : 200);
	qv_sgl(a, &t->a, i * SLOT, t->len, t->kind == OP_ADD ? 1 : n);
	qv_sgl(b, &t->b, i * SLOT, t->kind == OP_SEND ? t->len : 8, 1);
	if (t->kind == OP_READ)
		qv_mr_fill(m, i * SLOT, t->len, seed);
	else if (t->kind == OP_ADD)
		*(u64 *)qv_mr_at(m, i * SLOT) = seed;
	else
		qv_sgl_fill(a, &t->a, seed);
}

static int post_slot(struct qv_link *l, struct qv_mr *m, struct slot *t, int i)
{
	static const enum ib_wr_opcode codes[] = {
		[OP_WRITE] = IB_WR_RDMA_WRITE, [OP_WRITE_IMM] = IB_WR_RDMA_WRITE_WITH_IMM,
		[OP_READ] = IB_WR_RDMA_READ,
	};
	struct qv_side *a = &l->side[QV_A];
	u64 addr = m->iova + i * SLOT;

	if (t->kind == OP_SEND)
		return qv_post_send(a, &t->a, addr, IB_SEND_SIGNALED);
	if (t->kind == OP_ADD)
		return qv_post_atomic(a, IB_WR_ATOMIC_FETCH_AND_ADD, &t->a, addr, m->rkey, 7, 0);
	return qv_post_rdma(a, codes[t->kind], &t->a, addr, m->rkey, IB_SEND_SIGNALED);
}

static int check_add(struct qv_link *l, struct qv_mr *m, struct slot *t, int i)
{
	u64 found = *(u64 *)(l->side[QV_A].mem + (t->a.sge[0].addr - l->side[QV_A].dma));
	u64 left = *(u64 *)qv_mr_at(m, i * SLOT);

	if (found != t->seed || left != t->seed + 7)
		return qv_fail(l, "fetch and add of %u: returned %llu, left %llu",
			       t->seed, found, left);
	return 0;
}

static int check_slot(struct qv_link *l, struct qv_mr *m, struct slot *t, int i)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_wc wc;
	int err;

	err = takes_receive(t) ? qv_received(b, IB_WC_SUCCESS, &wc) : 0;
	if (!err && takes_receive(t) && wc.wr_id != i)
		err = qv_fail(l, "receive %d expected, not %llu", i, wc.wr_id);
	if (err)
		return err;
	switch (t->kind) {
	case OP_SEND:
		return qv_sgl_check(b, &t->b, t->len, t->seed);
	case OP_READ:
		return qv_sgl_check(a, &t->a, t->len, t->seed);
	case OP_ADD:
		return check_add(l, m, t, i);
	default:
		return qv_mr_check(m, i * SLOT, t->len, t->seed);
	}
}

static void clear_slots(struct qv_link *l)
{
	memset(l->side[QV_A].mem, QV_UNUSED, SLOTS * SLOT);
	memset(l->side[QV_B].mem, QV_UNUSED, SLOTS * SLOT);
}

/* As many messages as there are slots. */
static int one_round(struct qv_link *l, struct qv_mr *m, struct slot *slots, u32 seed)
{
	struct qv_side *a = &l->side[QV_A];
	struct ib_wc wc;
	int i, err = 0;

	clear_slots(l);
	for (i = 0; i < SLOTS && !err; i++) {
		make_slot(l, m, &slots[i], i, seed + i);
		if (takes_receive(&slots[i]))
			err = qv_post_recv(&l->side[QV_B], &slots[i].b, i);
	}
	for (i = 0; i < SLOTS && !err; i++)
		err = post_slot(l, m, &slots[i], i);
	for (i = 0; i < SLOTS && !err; i++) {
		err = qv_sent(a, IB_WC_SUCCESS, &wc);
		if (!err && wc.wr_id != m->iova + i * SLOT)
			err = qv_fail(l, "request %d expected to complete, another did", i);
		err = err ?: check_slot(l, m, &slots[i], i);
	}
	return err;
}

/* The region's first byte is aligned, for atomics. */
static int make_region(struct qv_link *l, struct qv_mr *m)
{
	return qv_mr_alloc(&l->side[QV_B], m, SLOTS * SLOT / PAGE_SIZE) ?:
	       qv_mr_map(m, REGION / PAGE_SIZE, 0, SLOTS * SLOT) ?: qv_mr_reg(m, ACCESS);
}

/* A device goes away, or a signal has come. */
static bool told_to_end(struct qv_link *l)
{
	return READ_ONCE(*l->stop) || signal_pending(current);
}

static int mixed(struct qv_link *l, u32 forever)
{
	struct slot *slots = kcalloc(SLOTS, sizeof(*slots), GFP_KERNEL);
	struct qv_mr m = {};
	u32 done = 0;
	int err;

	err = slots ? make_region(l, &m) : -ENOMEM;
	while (!err && (forever || done < l->conf.count) && !told_to_end(l)) {
		err = one_round(l, &m, slots, done);
		done += SLOTS;
	}
	qv_mr_free(&m);
	kfree(slots);
	/* The end of what has none is no failure. */
	return forever && told_to_end(l) ? 0 : err;
}

/* READs of one size after the other, many under way. */
static int reads(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A];
	u32 sent = 0, done = 0, n = l->conf.count;
	struct qv_mr m = {};
	struct qv_sgl dst;
	struct ib_wc wc;
	int err;

	err = make_region(l, &m);
	qv_mr_fill(&m, 0, len, 1);
	while (!err && done < n) {
		for (; sent < n && sent - done < SLOTS && !err; sent++) {
			qv_sgl(a, &dst, sent % SLOTS * SLOT, len, 2);
			err = qv_post_rdma(a, IB_WR_RDMA_READ, &dst, m.iova, m.rkey,
					   IB_SEND_SIGNALED);
		}
		err = err ?: qv_sent(a, IB_WC_SUCCESS, &wc);
		qv_sgl(a, &dst, done++ % SLOTS * SLOT, len, 2);
		err = err ?: qv_sgl_check(a, &dst, len, 1);
	}
	qv_mr_free(&m);
	return err;
}

/* A's WRITEs, by a thread that takes what comes until it is told to stop. */
struct writer {
	struct qv_link	*l;
	struct qv_mr	*m;
	unsigned long	done;
	u32		status;		/* of the first that failed */
};

static void reap_writes(struct writer *w)
{
	struct ib_wc wc;

	while (ib_poll_cq(w->l->side[QV_A].scq, 1, &wc) > 0) {
		if (wc.status == IB_WC_SUCCESS)
			w->done++;
		else if (!w->status)
			WRITE_ONCE(w->status, wc.status);
	}
}

static int write_on(void *arg)
{
	struct writer *w = arg;
	struct qv_side *a = &w->l->side[QV_A];
	const struct ib_send_wr *bad;
	struct qv_sgl src;
	struct ib_rdma_wr wr = {
		.wr.opcode = IB_WR_RDMA_WRITE, .wr.send_flags = IB_SEND_SIGNALED,
		.remote_addr = w->m->iova, .rkey = w->m->rkey,
	};

	qv_sgl(a, &src, 0, 20000, 2);
	wr.wr.sg_list = src.sge;
	wr.wr.num_sge = src.n;
	while (!kthread_should_stop()) {
		if (ib_post_send(a->qp, &wr.wr, &bad))
			usleep_range(50, 100);
		reap_writes(w);
	}
	return 0;
}

/* Destroy something of B while A writes to it, then look at what A got. */
static int under_writes(struct qv_link *l, int (*destroy)(struct writer *w),
			enum ib_wc_status status)
{
	struct qv_mr m = {};
	struct writer w = { .l = l, .m = &m };
	struct task_struct *thread;
	int i, err;

	err = make_region(l, &m);
	if (!err) {
		thread = kthread_run(write_on, &w, "qverbs-writer");
		if (IS_ERR(thread))
			return PTR_ERR(thread);
		for (i = 0; i < 2000 && READ_ONCE(w.done) < 50; i++)
			usleep_range(500, 1000);
		err = destroy(&w);
		for (i = 0; i < QV_WAIT_MS && !READ_ONCE(w.status); i++)
			usleep_range(500, 1000);
		kthread_stop(thread);
		if (!err && w.status != status)
			err = qv_fail(l, "A: '%s' expected, not '%s' after %lu",
				      ib_wc_status_msg(status),
				      ib_wc_status_msg(w.status), w.done);
	}
	qv_mr_free(&m);
	return err;
}

static int destroy_b_qp(struct writer *w)
{
	struct qv_side *b = &w->l->side[QV_B];

	ib_destroy_qp(b->qp);
	b->qp = NULL;
	return 0;
}

static int destroy_qp(struct qv_link *l, u32 unused)
{
	l->conf.timeout = 12;
	l->conf.retry_cnt = 2;
	return qv_open(l) ?: under_writes(l, destroy_b_qp, IB_WC_RETRY_EXC_ERR);
}

/* No byte of the memory changes once the key has been given back. */
static int memory_rests(struct writer *w)
{
	struct qv_side *b = &w->l->side[QV_B];

	memset(b->mem + REGION, QV_UNUSED, SLOTS * SLOT);
	usleep_range(20000, 30000);
	if (memchr_inv(b->mem + REGION, QV_UNUSED, SLOTS * SLOT))
		return qv_fail(w->l, "memory was written after its key was given back");
	return 0;
}

static int deregister(struct writer *w)
{
	ib_dereg_mr(w->m->mr);
	w->m->mr = NULL;
	return memory_rests(w);
}

static int dereg_mr(struct qv_link *l, u32 unused)
{
	return under_writes(l, deregister, IB_WC_REM_ACCESS_ERR);
}

static int invalidate(struct writer *w)
{
	return qv_mr_invalidate(w->m) ?: memory_rests(w);
}

static int local_invalidate(struct qv_link *l, u32 unused)
{
	return under_writes(l, invalidate, IB_WC_REM_ACCESS_ERR);
}

static int fail_b(struct writer *w)
{
	return qv_qp_to(&w->l->side[QV_B], IB_QPS_ERR);
}

/* A responder in error answers nothing. */
static int peer_error(struct qv_link *l, u32 unused)
{
	l->conf.timeout = 12;
	l->conf.retry_cnt = 2;
	return qv_open(l) ?: under_writes(l, fail_b, IB_WC_RETRY_EXC_ERR);
}

/* A's own queue pair, with all that is under way. */
static int destroy_requester(struct qv_link *l, u32 rounds)
{
	struct qv_sgl src, dst;
	int i, err = 0;

	while (rounds-- && !err) {
		err = qv_open(l);
		if (err)
			break;
		qv_sgl(&l->side[QV_A], &src, 0, 30000, 2);
		qv_sgl(&l->side[QV_B], &dst, 0, 30000, 2);
		for (i = 0; i < 40 && !err; i++)
			err = qv_post_recv(&l->side[QV_B], &dst, i) ?:
			      qv_post_send(&l->side[QV_A], &src, i, 0);
		qv_close(l);
	}
	return err;
}

static int open_close(struct qv_link *l, u32 rounds)
{
	int err = 0;

	while (rounds-- && !err) {
		err = qv_open(l) ?: qv_ping(l);
		qv_close(l);
	}
	return err;
}

static const struct qv_case cases[] = {
	{ "mixed", mixed, 0 },
	{ "reads", reads, 20000 },
	{ "destroy-qp", destroy_qp, 0, QV_OWN_LINK },
	{ "destroy-requester", destroy_requester, 10, QV_OWN_LINK },
	{ "dereg-mr", dereg_mr },
	{ "local-invalidate", local_invalidate },
	{ "peer-error", peer_error, 0, QV_OWN_LINK },
	{ "open-close", open_close, 20, QV_OWN_LINK },
};

QV_GROUP(qv_traffic, cases);

/* A message each way now and then: a connection that others try to disturb. */
static int idle(struct qv_link *l, u32 unused)
{
	int err = 0;

	while (!err && !told_to_end(l)) {
		err = qv_ping(l);
		msleep_interruptible(10);
	}
	return told_to_end(l) ? 0 : err;
}

/* Nothing: the queue pairs are there, with a receive each. */
static int quiet(struct qv_link *l, u32 unused)
{
	struct qv_sgl dst;
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		qv_sgl(&l->side[i], &dst, 0, 64, 1);
		err = qv_post_recv(&l->side[i], &dst, 0);
	}
	while (!err && !told_to_end(l))
		msleep_interruptible(10);
	return err;
}

static const struct qv_case endless_cases[] = {
	{ "mixed", mixed, 1 },
	{ "idle", idle },
	{ "quiet", quiet },
};

QV_GROUP(qv_endless, endless_cases);
