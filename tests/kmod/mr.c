// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fast registration: sizes up to the device's most, offsets, registration
 * again and again with new keys, and what must be refused locally.
 */
#include <linux/sizes.h>
#include "qverbs.h"

#define WRITE_ACCESS (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)

/* A writes the region's first, last and middle bytes. */
static int use(struct qv_mr *m, u32 seed)
{
	struct qv_link *l = m->side->link;
	struct qv_side *a = &l->side[QV_A];
	u32 off[] = { 0, m->len / 2, m->len - min(m->len, 9000U) };
	u32 i, n = min(m->len, 9000U);
	struct qv_sgl src;
	struct ib_wc wc;
	int err = 0;

	for (i = 0; i < 3 && !err; i++) {
		n = min(n, m->len - off[i]);
		qv_sgl(a, &src, 0, n, 1);
		qv_sgl_fill(a, &src, seed + i);
		err = qv_post_rdma(a, IB_WR_RDMA_WRITE, &src, m->iova + off[i], m->rkey,
				   IB_SEND_SIGNALED) ?:
		      qv_sent(a, IB_WC_SUCCESS, &wc) ?:
		      qv_mr_check(m, off[i], n, seed + i);
	}
	return err;
}

static int pages(struct qv_link *l, u32 n)
{
	struct qv_side *b = &l->side[QV_B];
	u32 most = min_t(u32, b->dev->attrs.max_fast_reg_page_list_len, QV_MEM_PAGES);
	struct qv_mr m;
	int err;

	if (!n)
		n = most;
	err = qv_mr_alloc(b, &m, n) ?:
	      qv_mr_map(&m, 0, 0, n * PAGE_SIZE) ?: qv_mr_reg(&m, WRITE_ACCESS) ?:
	      use(&m, n) ?: qv_mr_invalidate(&m);
	/* With bytes missing at both ends. */
	if (!err)
		err = qv_mr_map(&m, 0, 4093, (n - 1) * PAGE_SIZE + 2) ?:
		      qv_mr_reg(&m, WRITE_ACCESS) ?: use(&m, n + 1);
	qv_mr_free(&m);
	return err;
}

static int too_many_pages(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	u32 most = b->dev->attrs.max_fast_reg_page_list_len;
	struct ib_mr *mr = ib_alloc_mr(b->pd, IB_MR_TYPE_MEM_REG, most + 1);

	if (IS_ERR(mr))
		return 0;
	ib_dereg_mr(mr);
	return qv_fail(l, "a region of %u pages was given, the device's most is %u",
		       most + 1, most);
}

/* More scatter entries than pages: only what fits is mapped. */
static int map_too_much(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	struct qv_mr m, small;
	unsigned int skip = 0;
	int err, n = 0;

	err = qv_mr_alloc(b, &m, 4) ?: qv_mr_map(&m, 0, 0, 4 * PAGE_SIZE);
	if (!err)
		err = qv_mr_alloc(b, &small, 2);
	if (!err) {
		n = ib_map_mr_sg(small.mr, m.sg, 4, &skip, PAGE_SIZE);
		if (n != 2)
			err = qv_fail(l, "2 of 4 pages expected to be mapped, not %d", n);
		qv_mr_free(&small);
	}
	qv_mr_free(&m);
	return err;
}

/* Through all generations of a key and once more. */
static int again(struct qv_link *l, u32 rounds)
{
	struct qv_side *b = &l->side[QV_B];
	struct qv_mr m;
	u32 i, key;
	int err;

	err = qv_mr_alloc(b, &m, 8);
	key = m.rkey;
	for (i = 0; i < rounds && !err; i++) {
		err = qv_mr_map(&m, i % 16, i % PAGE_SIZE, 5 * PAGE_SIZE + i) ?:
		      qv_mr_reg(&m, WRITE_ACCESS);
		if (!err && (m.rkey >> 8 != key >> 8 || m.rkey == key))
			err = qv_fail(l, "key %#x became %#x", key, m.rkey);
		key = m.rkey;
		if (!err && i % 16 == 0)
			err = use(&m, i);
		if (!err)
			err = qv_mr_invalidate(&m);
	}
	qv_mr_free(&m);
	return err;
}

/* The chain that ULPs post: registration and SEND together, none signalled. */
static int chain(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_reg_wr reg = {
		.wr.opcode = IB_WR_REG_MR, .access = WRITE_ACCESS,
	};
	struct ib_send_wr send = {
		.opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED, .wr_id = 3,
	};
	struct qv_sgl none = {};
	struct ib_wc wc;
	struct qv_mr m;
	int err;

	err = qv_mr_alloc(b, &m, 4) ?: qv_mr_map(&m, 1, 17, 9000) ?:
	      qv_post_recv(a, &none, 1);
	if (!err) {
		ib_update_fast_reg_key(m.mr, 0x5a);
		m.rkey = m.mr->rkey;
		reg.mr = m.mr;
		reg.key = m.rkey;
		reg.wr.next = &send;
		err = qv_post(b, &reg.wr) ?: qv_received(a, IB_WC_SUCCESS, &wc) ?:
		      use(&m, 4) ?: qv_sent(b, IB_WC_SUCCESS, &wc);
		if (!err && wc.wr_id != 3)
			err = qv_fail(l, "B: a completion of the registration came");
	}
	qv_mr_free(&m);
	return err;
}

/* Registration of what is registered: an error of the send queue. */
static int twice(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	struct ib_reg_wr reg = {
		.wr.opcode = IB_WR_REG_MR, .wr.send_flags = IB_SEND_SIGNALED,
		.access = WRITE_ACCESS,
	};
	struct ib_wc wc;
	struct qv_mr m;
	int err;

	err = qv_mr_make(b, &m, 9000, WRITE_ACCESS);
	if (!err) {
		reg.mr = m.mr;
		reg.key = m.rkey;
		err = qv_post(b, &reg.wr);
	}
	if (!err && qv_poll(l, b->scq, &wc, QV_WAIT_MS))
		err = qv_fail(l, "no completion of the second registration");
	if (!err && wc.status != IB_WC_MW_BIND_ERR && wc.status != IB_WC_LOC_QP_OP_ERR)
		err = qv_fail(l, "second registration: '%s'", ib_wc_status_msg(wc.status));
	if (!err)
		err = qv_wait_state(b, IB_QPS_ERR);
	qv_mr_free(&m);
	return err;
}

/* A region of another protection domain. */
static int foreign(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	struct ib_pd *own = b->pd, *other = ib_alloc_pd(b->dev, 0);
	struct ib_reg_wr reg = {
		.wr.opcode = IB_WR_REG_MR, .wr.send_flags = IB_SEND_SIGNALED,
		.access = WRITE_ACCESS,
	};
	struct ib_wc wc;
	struct qv_mr m;
	int err;

	if (IS_ERR(other))
		return qv_fail(l, "ib_alloc_pd: %ld", PTR_ERR(other));
	b->pd = other;
	err = qv_mr_alloc(b, &m, 2) ?: qv_mr_map(&m, 0, 0, 5000);
	b->pd = own;
	if (!err) {
		reg.mr = m.mr;
		reg.key = m.rkey;
		err = qv_post(b, &reg.wr);
	}
	if (!err && qv_poll(l, b->scq, &wc, QV_WAIT_MS))
		err = qv_fail(l, "no completion of the registration");
	if (!err && wc.status == IB_WC_SUCCESS)
		err = qv_fail(l, "a region of another protection domain was registered");
	qv_mr_free(&m);
	ib_dealloc_pd(other);
	return err;
}

static int invalidate_bogus(struct qv_link *l, u32 key)
{
	struct qv_side *b = &l->side[QV_B];
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV, .send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = key,
	};
	struct ib_wc wc;
	int err = qv_post(b, &wr);

	if (!err && qv_poll(l, b->scq, &wc, QV_WAIT_MS))
		err = qv_fail(l, "no completion of the invalidation");
	if (!err && wc.status == IB_WC_SUCCESS)
		err = qv_fail(l, "a key that does not exist was invalidated");
	return err ?: qv_wait_state(b, IB_QPS_ERR);
}

/* The region's own memory, named by its local key. */
static int local_key(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst = { .n = 1 };
	struct ib_wc wc;
	struct qv_mr m;
	int err;

	err = qv_mr_make(b, &m, 9000, IB_ACCESS_LOCAL_WRITE);
	qv_sgl(a, &src, 0, 8000, 1);
	qv_sgl_fill(a, &src, 1);
	if (!err) {
		dst.sge[0] = (struct ib_sge) { m.iova + 1000, 8000, m.mr->lkey };
		err = qv_post_recv(b, &dst, 1) ?: qv_post_send(a, &src, 2, IB_SEND_SIGNALED) ?:
		      qv_received(b, IB_WC_SUCCESS, &wc) ?: qv_sent(a, IB_WC_SUCCESS, &wc) ?:
		      qv_mr_check(&m, 1000, 8000, 1) ?: qv_mr_unused(&m, 0, 1000);
	}
	qv_mr_free(&m);
	return err;
}

static const struct qv_case cases[] = {
	{ "1-page", pages, 1 },
	{ "2-pages", pages, 2 },
	{ "33-pages", pages, 33 },
	{ "most-pages", pages, 0 },
	{ "too-many-pages", too_many_pages },
	{ "map-too-much", map_too_much },
	{ "again", again, 300 },
	{ "chain", chain },
	{ "twice", twice },
	{ "foreign", foreign },
	{ "invalidate-bogus", invalidate_bogus, 0x12345678 },
	{ "local-key", local_key },
};

QV_GROUP(qv_mr, cases);
