// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compare-and-swap and fetch-and-add: what they return, what they leave, and
 * that many at a time from several queue pairs lose none.
 */
#include <linux/slab.h>
#include "qverbs.h"

#define ATOMIC_ACCESS (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_ATOMIC)

struct counter {
	struct qv_mr	m;
	u64		*value;		/* at offset 24 of the region, aligned */
	u64		addr;
};

static int make_counter(struct qv_side *s, struct counter *c)
{
	int err = qv_mr_make(s, &c->m, 64, ATOMIC_ACCESS);

	if (err)
		return err;
	c->value = (u64 *)qv_mr_at(&c->m, 24);
	c->addr = c->m.iova + 24;
	return 0;
}

/* One operation; it must find @found and leave @left. */
static int one(struct qv_link *l, struct counter *c, enum ib_wr_opcode op,
	       u64 x, u64 y, u64 found, u64 left)
{
	enum ib_wc_opcode want = op == IB_WR_ATOMIC_CMP_AND_SWP ?
				 IB_WC_COMP_SWAP : IB_WC_FETCH_ADD;
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl dst;
	struct ib_wc wc;
	u64 got;
	int err;

	qv_sgl(a, &dst, 8, 8, 1);
	err = qv_post_atomic(a, op, &dst, c->addr, c->m.rkey, x, y) ?:
	      qv_sent(a, IB_WC_SUCCESS, &wc);
	if (err)
		return err;
	if (wc.opcode != want)
		return qv_fail(l, "completion opcode %d expected, not %d", want, wc.opcode);
	memcpy(&got, a->mem + 8, 8);
	if (got != found)
		return qv_fail(l, "%#llx expected to be returned, not %#llx", found, got);
	if (READ_ONCE(*c->value) != left)
		return qv_fail(l, "%#llx expected in memory, not %#llx", left, *c->value);
	return qv_mr_unused(&c->m, 0, 24) ?: qv_mr_unused(&c->m, 32, 32);
}

static int values(struct qv_link *l, u32 unused)
{
	const enum ib_wr_opcode swap = IB_WR_ATOMIC_CMP_AND_SWP, add = IB_WR_ATOMIC_FETCH_AND_ADD;
	u64 big = 0xfedcba9876543210ULL;
	struct counter c;
	int err;

	err = make_counter(&l->side[QV_B], &c);
	if (!err) {
		*c.value = 7;
		err = one(l, &c, swap, 7, big, 7, big) ?:
		      one(l, &c, swap, 7, 9, big, big) ?:
		      one(l, &c, swap, big, 0, big, 0) ?:
		      one(l, &c, add, 5, 0, 0, 5) ?:
		      one(l, &c, add, big, 0, 5, big + 5) ?:
		      one(l, &c, add, -6ULL, 0, big + 5, big - 1) ?:
		      one(l, &c, add, 0, 0, big - 1, big - 1);
	}
	qv_mr_free(&c.m);
	return err;
}

/* The eight bytes that come back go to two pieces. */
static int split(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl dst = { .n = 2, .sge = {
		{ a->dma + 100, 3, a->pd->local_dma_lkey },
		{ a->dma + 200, 5, a->pd->local_dma_lkey },
	} };
	struct counter c;
	struct ib_wc wc;
	u8 got[8];
	int err;

	err = make_counter(&l->side[QV_B], &c);
	if (!err) {
		*c.value = 0x1122334455667788ULL;
		err = qv_post_atomic(a, IB_WR_ATOMIC_FETCH_AND_ADD, &dst, c.addr, c.m.rkey, 1, 0) ?:
		      qv_sent(a, IB_WC_SUCCESS, &wc);
	}
	memcpy(got, a->mem + 100, 3);
	memcpy(got + 3, a->mem + 200, 5);
	if (!err && *(u64 *)got != 0x1122334455667788ULL)
		err = qv_fail(l, "wrong value in two pieces: %8ph", got);
	qv_mr_free(&c.m);
	return err;
}

/* As many as fit into the queue; what each returns was the value then. */
static int many(struct qv_link *l, u32 n)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl dst;
	struct counter c;
	struct ib_wc wc;
	u64 got;
	u32 i;
	int err;

	err = make_counter(&l->side[QV_B], &c);
	if (!err)
		*c.value = 1000;
	for (i = 0; i < n && !err; i++) {
		qv_sgl(a, &dst, i * 128, 8, 1);
		err = qv_post_atomic(a, IB_WR_ATOMIC_FETCH_AND_ADD, &dst, c.addr, c.m.rkey, 3, 0);
	}
	for (i = 0; i < n && !err; i++) {
		err = qv_sent(a, IB_WC_SUCCESS, &wc);
		memcpy(&got, a->mem + i * 128, 8);
		if (!err && got != 1000 + 3 * i)
			err = qv_fail(l, "operation %u of a row returned %llu", i, got);
	}
	if (!err && *c.value != 1000 + 3 * n)
		err = qv_fail(l, "sum %u expected, not %llu", 1000 + 3 * n, *c.value);
	qv_mr_free(&c.m);
	return err;
}

#define LINKS 4
#define ROUNDS 10
#define DEPTH 32

static int post_round(struct qv_link *l, const struct counter *c)
{
	struct qv_sgl dst;
	int i, err = 0;

	for (i = 0; i < DEPTH && !err; i++) {
		qv_sgl(&l->side[QV_A], &dst, i * 128, 8, 1);
		err = qv_post_atomic(&l->side[QV_A], IB_WR_ATOMIC_FETCH_AND_ADD, &dst,
				     c->addr, c->m.rkey, 1, 0);
	}
	return err;
}

/* All of one round; each number may have been returned only once. */
static int reap_round(struct qv_link *l, unsigned long *seen)
{
	struct ib_wc wc;
	int i, err;
	u64 got;

	for (i = 0; i < DEPTH; i++) {
		err = qv_sent(&l->side[QV_A], IB_WC_SUCCESS, &wc);
		if (err)
			return err;
		memcpy(&got, l->side[QV_A].mem + i * 128, 8);
		if (got >= LINKS * ROUNDS * DEPTH || test_and_set_bit(got, seen))
			return qv_fail(l, "value %llu was returned twice, or never was", got);
	}
	return 0;
}

static int concurrent_rounds(struct qv_link *links[], const struct counter *c,
			     unsigned long *seen)
{
	int i, round, err = 0;

	for (round = 0; round < ROUNDS && !err; round++) {
		for (i = 0; i < LINKS && !err; i++)
			err = post_round(links[i], c);
		for (i = 0; i < LINKS && !err; i++)
			err = reap_round(links[i], seen);
	}
	return err;
}

static int concurrent(struct qv_link *l, u32 unused)
{
	unsigned long *seen = bitmap_zalloc(LINKS * ROUNDS * DEPTH, GFP_KERNEL);
	struct qv_link *links[LINKS] = { l };
	struct counter c;
	int i, err;

	err = seen ? make_counter(&l->side[QV_B], &c) : -ENOMEM;
	if (!err)
		*c.value = 0;
	for (i = 1; i < LINKS && !err; i++) {
		links[i] = kmemdup(l, sizeof(*l), GFP_KERNEL);
		if (!links[i])
			return -ENOMEM;
		memset(links[i]->side, 0, sizeof(links[i]->side));
		links[i]->side[QV_A].dev = l->side[QV_A].dev;
		links[i]->side[QV_B].dev = l->side[QV_B].dev;
		links[i]->conf.share = l;
		err = qv_open(links[i]);
	}
	if (!err)
		err = concurrent_rounds(links, &c, seen);
	if (!err && *c.value != LINKS * ROUNDS * DEPTH)
		err = qv_fail(l, "sum %d expected, not %llu", LINKS * ROUNDS * DEPTH, *c.value);
	for (i = 1; i < LINKS && links[i]; i++) {
		if (links[i]->why)
			qv_fail(l, "connection %d: %s", i, links[i]->why);
		kfree(links[i]->why);
		qv_close(links[i]);
		kfree(links[i]);
	}
	if (seen)
		qv_mr_free(&c.m);
	bitmap_free(seen);
	return err;
}

static const struct qv_case cases[] = {
	{ "values", values },
	{ "split", split },
	{ "many", many, 60 },
	{ "concurrent", concurrent },
};

QV_GROUP(qv_atomic, cases);
