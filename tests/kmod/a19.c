// SPDX-License-Identifier: GPL-2.0-only
/*
 * Atomic write, IBTA volume 1, annex A19: eight bytes that are there whole or
 * not at all, in order with what is written before and behind.
 */
#include "qverbs.h"

#define ACCESS (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)

static int post(struct qv_side *a, u64 value, u32 len, u64 addr, u32 rkey)
{
	struct ib_rdma_wr wr = {
		.wr.opcode = IB_WR_ATOMIC_WRITE, .wr.wr_id = value, .wr.num_sge = 1,
		.wr.send_flags = IB_SEND_SIGNALED,
		.remote_addr = addr, .rkey = rkey,
	};
	const struct ib_send_wr *bad;
	struct ib_sge sge;

	/* Where it stands until the request has completed. */
	*(u64 *)(a->mem + value % 64 * 8) = value;
	sge = (struct ib_sge) { a->dma + value % 64 * 8, len, a->pd->local_dma_lkey };
	wr.wr.sg_list = &sge;
	return ib_post_send(a->qp, &wr.wr, &bad);
}

static int there(struct qv_mr *m, u32 off, u64 want)
{
	u64 got = READ_ONCE(*(u64 *)qv_mr_at(m, off));

	return got == want ? 0 : qv_fail(m->side->link, "B: %#llx expected, not %#llx", want, got);
}

static int value(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];
	struct ib_wc wc;
	struct qv_mr m;
	int err;

	/* Byte 16 of the region is aligned. */
	err = qv_mr_make(&l->side[QV_B], &m, 4096, ACCESS) ?:
	      post(a, 0x1122334455667788, 8, m.iova + 16, m.rkey) ?:
	      qv_sent(a, IB_WC_SUCCESS, &wc) ?: there(&m, 16, 0x1122334455667788) ?:
	      qv_mr_unused(&m, 0, 16) ?: qv_mr_unused(&m, 24, 4072);
	if (!err && wc.opcode != IB_WC_ATOMIC_WRITE)
		err = qv_fail(l, "A: IB_WC_ATOMIC_WRITE expected, not opcode %d", wc.opcode);
	qv_mr_free(&m);
	return err ?: qv_ping(l);
}

static int wrong_length(struct qv_link *l, u32 len)
{
	int err = post(&l->side[QV_A], 1, len, 0, 0);

	return err == -EINVAL ? qv_ping(l) : qv_fail(l, "-EINVAL expected, not %d", err);
}

enum { MISALIGNED, BAD_KEY, PAST_END, NO_RIGHT, QP_RIGHT };

static int refused(struct qv_link *l, u32 why)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	bool invalid = why == MISALIGNED || why == QP_RIGHT;
	struct qv_mr m = {};
	struct ib_wc wc;
	u64 addr;
	int err;

	if (why == QP_RIGHT)
		l->conf.access = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC;
	err = qv_open(l);
	if (err)
		return err;
	err = qv_mr_make(b, &m, 4096, why == NO_RIGHT ? IB_ACCESS_REMOTE_READ : ACCESS);
	addr = m.iova + (why == MISALIGNED ? 20 : why == PAST_END ? 4096 : 16);
	err = err ?: post(a, 7, 8, addr, why == BAD_KEY ? ib_inc_rkey(m.rkey) : m.rkey) ?:
	      qv_sent(a, invalid ? IB_WC_REM_INV_REQ_ERR : IB_WC_REM_ACCESS_ERR, &wc) ?:
	      qv_wait_event(b, invalid ? IB_EVENT_QP_REQ_ERR : IB_EVENT_QP_ACCESS_ERR) ?:
	      qv_mr_unused(&m, 0, 4096);
	qv_mr_free(&m);
	return err;
}

/* Values that only grow: whoever looks sees one after the other. */
static int growing(struct qv_link *l, u32 rd_atomic)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_mr m = {};
	u64 i, sent = 0, seen, last = 0;
	struct ib_wc wc;
	int err;

	l->conf.rd_atomic = rd_atomic;
	err = qv_open(l) ?: qv_mr_make(&l->side[QV_B], &m, 4096, ACCESS);
	if (!err)
		*(u64 *)qv_mr_at(&m, 16) = 0;
	for (i = 1; i <= l->conf.count && !err; i++) {
		while (!err && sent < l->conf.count && sent - i + 1 < 32)
			err = post(a, ++sent, 8, m.iova + 16, m.rkey);
		err = err ?: qv_sent(a, IB_WC_SUCCESS, &wc);
		seen = READ_ONCE(*(u64 *)qv_mr_at(&m, 16));
		if (!err && (wc.wr_id != i || seen < i || seen < last || seen > sent))
			err = qv_fail(l, "write %llu of %llu completed, %llu there after %llu",
				      wc.wr_id, i, seen, last);
		last = seen;
	}
	err = err ?: there(&m, 16, l->conf.count);
	qv_mr_free(&m);
	return err;
}

/* The flag that says that the data are there. */
static int behind_write(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	unsigned long end = jiffies + msecs_to_jiffies(QV_WAIT_MS);
	struct qv_mr m = {};
	struct qv_sgl src;
	struct ib_wc wc;
	int err;

	err = qv_mr_make(b, &m, len + 4096, ACCESS);
	qv_sgl(a, &src, 1 << 20, len, 1);
	qv_sgl_fill(a, &src, 5);
	if (!err)
		*(u64 *)qv_mr_at(&m, 16) = 0;
	err = err ?: qv_post_rdma(a, IB_WR_RDMA_WRITE, &src, m.iova + 4096, m.rkey, 0) ?:
	      post(a, 9, 8, m.iova + 16, m.rkey);
	/* Whoever sees it sees what was written before. */
	while (!err && smp_load_acquire((u64 *)qv_mr_at(&m, 16)) != 9) {
		if (time_after(jiffies, end))
			err = qv_fail(l, "B: the value does not come");
		cpu_relax();
	}
	err = err ?: qv_mr_check(&m, 4096, len, 5) ?: qv_sent(a, IB_WC_SUCCESS, &wc);
	qv_mr_free(&m);
	return err;
}

static const struct qv_case cases[] = {
	{ "value", value },
	{ "wrong-length-4", wrong_length, 4 },
	{ "wrong-length-16", wrong_length, 16 },
	{ "misaligned", refused, MISALIGNED, QV_OWN_LINK },
	{ "bad-key", refused, BAD_KEY, QV_OWN_LINK },
	{ "past-end", refused, PAST_END, QV_OWN_LINK },
	{ "no-right", refused, NO_RIGHT, QV_OWN_LINK },
	{ "qp-right", refused, QP_RIGHT, QV_OWN_LINK },
	{ "growing-1", growing, 1, QV_OWN_LINK },
	{ "growing-16", growing, 16, QV_OWN_LINK },
	{ "behind-write", behind_write, 50000 },
};

QV_GROUP(qv_a19, cases);
