// SPDX-License-Identifier: GPL-2.0-only
/*
 * SEND and its variants: sizes about the MTU, several pieces on both sides,
 * immediate data, remote invalidation, the solicited bit.
 */
#include <linux/sizes.h>
#include <linux/slab.h>
#include "qverbs.h"

static int check_recv_wc(struct qv_link *l, const struct ib_wc *wc, u32 len, int flags)
{
	if (wc->opcode != IB_WC_RECV)
		return qv_fail(l, "B: IB_WC_RECV expected, not opcode %d", wc->opcode);
	if (wc->byte_len != len)
		return qv_fail(l, "B: byte_len %u expected, not %u", len, wc->byte_len);
	if ((wc->wc_flags & (IB_WC_WITH_IMM | IB_WC_WITH_INVALIDATE)) != flags)
		return qv_fail(l, "B: wc_flags %#x expected, not %#x", flags, wc->wc_flags);
	if (wc->qp != l->side[QV_B].qp || wc->wr_id != 5)
		return qv_fail(l, "B: wrong QP or wr_id %llu in the completion", wc->wr_id);
	return 0;
}

static int check_send_wc(struct qv_link *l, const struct ib_wc *wc)
{
	if (wc->opcode != IB_WC_SEND || wc->qp != l->side[QV_A].qp || wc->wr_id != 6)
		return qv_fail(l, "A: wrong opcode %d, QP or wr_id %llu in the completion",
			       wc->opcode, wc->wr_id);
	return 0;
}

/* @len bytes from @from pieces to a receive of @to pieces and @room more. */
static int transfer(struct qv_link *l, u32 len, int from, int to, u32 room)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;
	int err;

	memset(b->mem, QV_UNUSED, QV_MEM_SIZE);
	qv_sgl(a, &src, 3, len, from);
	qv_sgl(b, &dst, 1, len + room, to);
	qv_sgl_fill(a, &src, len);
	err = qv_post_recv(b, &dst, 5);
	if (!err)
		err = qv_post_send(a, &src, 6, IB_SEND_SIGNALED);
	if (!err)
		err = qv_sent(a, IB_WC_SUCCESS, &wc);
	if (!err)
		err = check_send_wc(l, &wc);
	if (!err)
		err = qv_received(b, IB_WC_SUCCESS, &wc);
	if (!err)
		err = check_recv_wc(l, &wc, len, 0);
	if (!err)
		err = qv_sgl_check(b, &dst, len, len);
	return err;
}

static int size(struct qv_link *l, u32 len)
{
	return transfer(l, len, 1, 1, 0) ?: transfer(l, len, 1, 1, 100);
}

/* @delta from a whole number of packets. */
static int about_mtu(struct qv_link *l, u32 delta)
{
	u32 mtu = ib_mtu_enum_to_int(l->conf.mtu);

	return size(l, mtu + delta) ?: size(l, 2 * mtu + delta) ?: size(l, 17 * mtu + delta);
}

static int pieces(struct qv_link *l, u32 n)
{
	return transfer(l, 40, n, 1, 0) ?: transfer(l, 40, 1, n, 0) ?:
	       transfer(l, 5003, n, 3, 0) ?: transfer(l, 70001, 2, n, 0) ?:
	       transfer(l, 9000, n, n, 777);
}

static int imm(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_send_wr wr = {
		.wr_id = 6, .opcode = IB_WR_SEND_WITH_IMM,
		.send_flags = IB_SEND_SIGNALED, .ex.imm_data = cpu_to_be32(0x12345678),
	};
	struct qv_sgl src, dst;
	struct ib_wc wc;
	int err;

	qv_sgl(a, &src, 0, len, 1);
	qv_sgl(b, &dst, 0, len, 1);
	qv_sgl_fill(a, &src, 9);
	wr.sg_list = src.sge;
	wr.num_sge = src.n;
	err = qv_post_recv(b, &dst, 5) ?: qv_post(a, &wr);
	if (!err)
		err = qv_sent(a, IB_WC_SUCCESS, &wc) ?: check_send_wc(l, &wc);
	if (!err)
		err = qv_received(b, IB_WC_SUCCESS, &wc) ?:
		      check_recv_wc(l, &wc, len, IB_WC_WITH_IMM);
	if (!err && wc.ex.imm_data != wr.ex.imm_data)
		err = qv_fail(l, "immediate data %#x expected, not %#x",
			      be32_to_cpu(wr.ex.imm_data), be32_to_cpu(wc.ex.imm_data));
	return err ?: qv_sgl_check(b, &dst, len, 9);
}

/* The key that B registered is of no use after a SEND that invalidates it. */
static int invalidate_with(struct qv_link *l, struct qv_mr *m, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_send_wr wr = {
		.wr_id = 6, .opcode = IB_WR_SEND_WITH_INV,
		.send_flags = IB_SEND_SIGNALED, .ex.invalidate_rkey = m->rkey,
	};
	struct qv_sgl src, dst;
	struct ib_wc wc;
	int err;

	qv_sgl(a, &src, 0, len, 1);
	qv_sgl(b, &dst, SZ_1M, len, 1);
	qv_sgl_fill(a, &src, 9);
	wr.sg_list = src.sge;
	wr.num_sge = src.n;
	err = qv_post_recv(b, &dst, 5) ?: qv_post(a, &wr);
	if (!err)
		err = qv_sent(a, IB_WC_SUCCESS, &wc) ?: check_send_wc(l, &wc);
	if (!err)
		err = qv_received(b, IB_WC_SUCCESS, &wc) ?:
		      check_recv_wc(l, &wc, len, IB_WC_WITH_INVALIDATE);
	if (!err && wc.ex.invalidate_rkey != m->rkey)
		err = qv_fail(l, "key %#x expected as invalidated, not %#x",
			      m->rkey, wc.ex.invalidate_rkey);
	return err ?: qv_sgl_check(b, &dst, len, 9);
}

static int use_after(struct qv_link *l, struct qv_mr *m)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl src;
	struct ib_wc wc;
	int err;

	qv_sgl(a, &src, 0, 8, 1);
	err = qv_post_rdma(a, IB_WR_RDMA_WRITE, &src, m->iova, m->rkey, IB_SEND_SIGNALED);
	return err ?: qv_sent(a, IB_WC_REM_ACCESS_ERR, &wc);
}

static int invalidate(struct qv_link *l, u32 len)
{
	struct qv_mr m;
	int err;

	err = qv_mr_make(&l->side[QV_B], &m, 10000,
			 IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE) ?:
	      invalidate_with(l, &m, len);
	/* What was invalidated can be registered again, then it is of use. */
	if (!err)
		err = qv_mr_reg(&m, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE) ?:
		      invalidate_with(l, &m, len) ?: use_after(l, &m);
	qv_mr_free(&m);
	return err;
}

/* An invalidation of nothing ends the connection, at least at the receiver. */
static int bogus_invalidate(struct qv_link *l, u32 key)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_send_wr wr = {
		.wr_id = 6, .opcode = IB_WR_SEND_WITH_INV,
		.send_flags = IB_SEND_SIGNALED, .ex.invalidate_rkey = key,
	};
	struct qv_sgl dst;
	struct ib_wc wc;
	int err;

	qv_sgl(b, &dst, 0, 64, 1);
	err = qv_post_recv(b, &dst, 5) ?: qv_post(a, &wr);
	if (err)
		return err;
	err = qv_wait_state(b, IB_QPS_ERR);
	if (!err && qv_poll(l, b->rcq, &wc, QV_WAIT_MS))
		return qv_fail(l, "B: the receive did not complete");
	if (!err && wc.status == IB_WC_SUCCESS)
		return qv_fail(l, "B: the receive succeeded");
	return err;
}

/* Neither may a peer invalidate what it has no right on. */
static int invalidate_local(struct qv_link *l, u32 unused)
{
	struct qv_mr m;
	int err;

	err = qv_mr_make(&l->side[QV_B], &m, 10000, IB_ACCESS_LOCAL_WRITE) ?:
	      bogus_invalidate(l, m.rkey);
	qv_mr_free(&m);
	return err;
}

#define MANY 32

struct batch {
	struct ib_send_wr	wr[MANY];
	struct qv_sgl		src[MANY];
	struct qv_sgl		dst[MANY];
};

static int prepare(struct qv_link *l, struct batch *t, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	int i, err = 0;

	for (i = 0; i < MANY && !err; i++) {
		qv_sgl(a, &t->src[i], i * SZ_32K, len, 2);
		qv_sgl(b, &t->dst[i], i * SZ_32K, len, 2);
		qv_sgl_fill(a, &t->src[i], i);
		t->wr[i] = (struct ib_send_wr) {
			.next = i < MANY - 1 ? &t->wr[i + 1] : NULL, .wr_id = i,
			.opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED,
			.sg_list = t->src[i].sge, .num_sge = t->src[i].n,
		};
		err = qv_post_recv(b, &t->dst[i], 100 + i);
	}
	return err;
}

/* In one list of requests; both queues complete in its order. */
static int many(struct qv_link *l, u32 len)
{
	struct batch *t = kzalloc(sizeof(*t), GFP_KERNEL);
	struct ib_wc wc;
	int i, err;

	err = t ? prepare(l, t, len) ?: qv_post(&l->side[QV_A], t->wr) : -ENOMEM;
	for (i = 0; i < MANY && !err; i++) {
		err = qv_sent(&l->side[QV_A], IB_WC_SUCCESS, &wc);
		if (!err && wc.wr_id != i)
			err = qv_fail(l, "A: completion %d expected, not %llu", i, wc.wr_id);
	}
	for (i = 0; i < MANY && !err; i++) {
		err = qv_received(&l->side[QV_B], IB_WC_SUCCESS, &wc);
		if (!err && wc.wr_id != 100 + i)
			err = qv_fail(l, "B: completion %d expected, not %llu", 100 + i, wc.wr_id);
		err = err ?: qv_sgl_check(&l->side[QV_B], &t->dst[i], len, i);
	}
	kfree(t);
	return err;
}

/* Both ends send at the same time. */
static int both_ways(struct qv_link *l, u32 len)
{
	struct qv_sgl src, dst;
	struct qv_side *s;
	struct ib_wc wc;
	int i, err = 0;

	for (i = 0; i < 20 && !err; i++) {
		s = &l->side[i & 1];
		qv_sgl(s, &dst, SZ_1M + i * SZ_32K, len, 1);
		err = qv_post_recv(s, &dst, i);
	}
	for (i = 0; i < 20 && !err; i++) {
		s = &l->side[i & 1];
		qv_sgl(s, &src, i * SZ_32K, len, 1);
		qv_sgl_fill(s, &src, i);
		err = qv_post_send(s, &src, i, IB_SEND_SIGNALED);
	}
	for (i = 0; i < 20 && !err; i++)
		err = qv_sent(&l->side[i & 1], IB_WC_SUCCESS, &wc) ?:
		      qv_received(&l->side[i & 1], IB_WC_SUCCESS, &wc);
	for (i = 0; i < 20 && !err; i++) {
		s = &l->side[!(i & 1)];
		qv_sgl(s, &dst, SZ_1M + (i ^ 1) * SZ_32K, len, 1);
		err = qv_sgl_check(s, &dst, len, i);
	}
	return err;
}

/* The sequence number wraps in the middle of it. */
static int psn_wrap(struct qv_link *l, u32 unused)
{
	int i, err;

	err = qv_open(l);
	for (i = 0; i < 2 && !err; i++)
		err = qv_qp_to(&l->side[i], IB_QPS_RESET);
	l->side[QV_A].psn = 0xfffffb;
	l->side[QV_B].psn = 0xffffff;
	for (i = 0; i < 2 && !err; i++)
		err = qv_qp_walk(&l->side[i], IB_QPS_RTS);
	return err ?: qv_ping(l) ?: size(l, SZ_64K) ?: both_ways(l, 20000) ?: qv_ping(l);
}

static int inline_data(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_send_wr wr = {
		.wr_id = 6, .opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED | IB_SEND_INLINE, .num_sge = 1,
	};
	const struct ib_send_wr *bad;
	struct ib_sge sge = { .length = a->cap.max_inline_data + 1 };

	/* More than was asked for at creation. */
	sge.addr = (uintptr_t)a->mem;
	wr.sg_list = &sge;
	if (!ib_post_send(a->qp, &wr, &bad))
		return qv_fail(l, "inline data of %u bytes was taken, the limit is %u",
			       sge.length, a->cap.max_inline_data);
	if (bad != &wr)
		return qv_fail(l, "bad_wr does not point at the request");
	return qv_no_wc(l, b->rcq, 20) ?: qv_ping(l);
}

static const struct qv_case cases[] = {
	{ "0", size, 0 },
	{ "1", size, 1 },
	{ "2", size, 2 },
	{ "3", size, 3 },
	{ "5", size, 5 },
	{ "mtu-1", about_mtu, -1 },
	{ "mtu", about_mtu, 0 },
	{ "mtu+1", about_mtu, 1 },
	{ "mtu-4", about_mtu, -4 },
	{ "64K+3", size, SZ_64K + 3 },
	{ "1M", size, SZ_1M },
	{ "2-pieces", pieces, 2 },
	{ "5-pieces", pieces, 5 },
	{ "8-pieces", pieces, QV_MAX_SGE },
	{ "imm-0", imm, 0 },
	{ "imm-1", imm, 1 },
	{ "imm-long", imm, 30001 },
	{ "inv-0", invalidate, 0 },
	{ "inv-7", invalidate, 7 },
	{ "inv-long", invalidate, 30002 },
	{ "inv-bogus", bogus_invalidate, 0x12345678 },
	{ "inv-local", invalidate_local },
	{ "many-short", many, 33 },
	{ "many-long", many, 30003 },
	{ "both-ways", both_ways, 30001 },
	{ "psn-wrap", psn_wrap, 0, QV_OWN_LINK },
	{ "inline-too-long", inline_data },
};

QV_GROUP(qv_send, cases);
