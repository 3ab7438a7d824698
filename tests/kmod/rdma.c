// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA WRITE and READ: sizes about the MTU, several pieces, offsets, immediate
 * data, order against SENDs, fences.
 */
#include <linux/sizes.h>
#include "qverbs.h"

#define ALL_ACCESS (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
		    IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

static int one_write(struct qv_link *l, struct qv_mr *m, u32 off, u32 len, int n)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl src;
	struct ib_wc wc;
	int err;

	memset(l->side[QV_B].mem, QV_UNUSED, QV_MEM_SIZE);
	qv_sgl(a, &src, 5, len, n);
	qv_sgl_fill(a, &src, len + off);
	err = qv_post_rdma(a, IB_WR_RDMA_WRITE, &src, m->iova + off, m->rkey,
			   IB_SEND_SIGNALED) ?:
	      qv_sent(a, IB_WC_SUCCESS, &wc);
	if (err)
		return err;
	if (wc.opcode != IB_WC_RDMA_WRITE)
		return qv_fail(l, "A: IB_WC_RDMA_WRITE expected, not %d", wc.opcode);
	return qv_mr_check(m, off, len, len + off) ?: qv_mr_unused(m, 0, off) ?:
	       qv_mr_unused(m, off + len, m->len - off - len);
}

static int write_size(struct qv_link *l, u32 len)
{
	struct qv_mr m;
	int err;

	err = qv_mr_make(&l->side[QV_B], &m, len + 5000, ALL_ACCESS) ?:
	      one_write(l, &m, 0, len, 1) ?: one_write(l, &m, 4999, len, 1) ?:
	      one_write(l, &m, 5000, len, 1);
	qv_mr_free(&m);
	return err;
}

static int write_about_mtu(struct qv_link *l, u32 delta)
{
	u32 mtu = ib_mtu_enum_to_int(l->conf.mtu);

	return write_size(l, mtu + delta) ?: write_size(l, 3 * mtu + delta);
}

static int write_pieces(struct qv_link *l, u32 n)
{
	struct qv_mr m;
	int err;

	err = qv_mr_make(&l->side[QV_B], &m, 60000, ALL_ACCESS) ?:
	      one_write(l, &m, 0, 40, n) ?: one_write(l, &m, 3, 5001, n) ?:
	      one_write(l, &m, 0, 60000, n);
	qv_mr_free(&m);
	return err;
}

static int check_imm_wc(struct qv_link *l, struct ib_wc *wc, u32 len)
{
	if (wc->opcode != IB_WC_RECV_RDMA_WITH_IMM || wc->wr_id != 5)
		return qv_fail(l, "B: IB_WC_RECV_RDMA_WITH_IMM expected, not %d, id %llu",
			       wc->opcode, wc->wr_id);
	if (!(wc->wc_flags & IB_WC_WITH_IMM) || wc->ex.imm_data != cpu_to_be32(0x1badcafe))
		return qv_fail(l, "B: no or wrong immediate data: flags %#x, %#x",
			       wc->wc_flags, be32_to_cpu(wc->ex.imm_data));
	if (wc->byte_len != len)
		return qv_fail(l, "B: byte_len %u expected, not %u", len, wc->byte_len);
	return 0;
}

/* It takes a receive, whose memory it leaves alone. */
static int write_imm(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;
	struct qv_mr m;
	int err;

	qv_sgl(a, &src, 0, len, 1);
	qv_sgl_fill(a, &src, 3);
	qv_sgl(b, &dst, SZ_1M, 64, 1);
	err = qv_mr_make(b, &m, len + 1, ALL_ACCESS) ?:
	      qv_post_recv(b, &dst, 5) ?:
	      qv_post_rdma(a, IB_WR_RDMA_WRITE_WITH_IMM, &src, m.iova, m.rkey,
			   IB_SEND_SIGNALED) ?:
	      qv_sent(a, IB_WC_SUCCESS, &wc);
	if (!err && wc.opcode != IB_WC_RDMA_WRITE)
		err = qv_fail(l, "A: IB_WC_RDMA_WRITE expected, not %d", wc.opcode);
	if (!err)
		err = qv_received(b, IB_WC_SUCCESS, &wc) ?: check_imm_wc(l, &wc, len) ?:
		      qv_mr_check(&m, 0, len, 3) ?: qv_mr_unused(&m, len, 1) ?:
		      qv_sgl_check(b, &dst, 0, 0);
	qv_mr_free(&m);
	return err;
}

/* IBTA C9-88: a request without data checks no key. */
static int write_nothing(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl none = {};
	struct ib_wc wc;

	return qv_post_rdma(a, IB_WR_RDMA_WRITE, &none, 0, 0x87654321, IB_SEND_SIGNALED) ?:
	       qv_sent(a, IB_WC_SUCCESS, &wc) ?: qv_ping(l);
}

/* What was written before a SEND is there when the receive completes. */
static int write_then_send(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, from, to;
	struct ib_wc wc;
	struct qv_mr m;
	int i, err;

	qv_sgl(a, &from, SZ_1M, 16, 1);
	qv_sgl(b, &to, SZ_1M, 16, 1);
	err = qv_mr_make(b, &m, len, ALL_ACCESS);
	for (i = 0; i < 20 && !err; i++) {
		qv_sgl(a, &src, 0, len, 1);
		qv_sgl_fill(a, &src, i);
		err = qv_post_recv(b, &to, i) ?:
		      qv_post_rdma(a, IB_WR_RDMA_WRITE, &src, m.iova, m.rkey, 0) ?:
		      qv_post_send(a, &from, i, IB_SEND_SIGNALED) ?:
		      qv_received(b, IB_WC_SUCCESS, &wc) ?:
		      qv_mr_check(&m, 0, len, i) ?:
		      qv_sent(a, IB_WC_SUCCESS, &wc);
		if (!err && wc.opcode != IB_WC_SEND)
			err = qv_fail(l, "A: a completion of the unsignalled WRITE came");
	}
	qv_mr_free(&m);
	return err;
}

static int one_read(struct qv_link *l, struct qv_mr *m, u32 off, u32 len, int n)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl dst;
	struct ib_wc wc;
	int err;

	memset(a->mem, QV_UNUSED, QV_MEM_SIZE);
	qv_mr_fill(m, off, len, len + n);
	qv_sgl(a, &dst, 5, len, n);
	err = qv_post_rdma(a, IB_WR_RDMA_READ, &dst, m->iova + off, m->rkey,
			   IB_SEND_SIGNALED) ?:
	      qv_sent(a, IB_WC_SUCCESS, &wc);
	if (err)
		return err;
	if (wc.opcode != IB_WC_RDMA_READ)
		return qv_fail(l, "A: IB_WC_RDMA_READ expected, not %d", wc.opcode);
	return qv_sgl_check(a, &dst, len, len + n);
}

static int read_size(struct qv_link *l, u32 len)
{
	struct qv_mr m;
	int err;

	err = qv_mr_make(&l->side[QV_B], &m, len + 5000, ALL_ACCESS) ?:
	      one_read(l, &m, 0, len, 1) ?: one_read(l, &m, 5000, len, 1);
	qv_mr_free(&m);
	return err;
}

static int read_about_mtu(struct qv_link *l, u32 delta)
{
	u32 mtu = ib_mtu_enum_to_int(l->conf.mtu);

	return read_size(l, mtu + delta) ?: read_size(l, 2 * mtu + delta) ?:
	       read_size(l, 3 * mtu + delta);
}

static int read_pieces(struct qv_link *l, u32 n)
{
	struct qv_mr m;
	int err;

	err = qv_mr_make(&l->side[QV_B], &m, 60000, ALL_ACCESS) ?:
	      one_read(l, &m, 0, 40, n) ?: one_read(l, &m, 3, 5001, n) ?:
	      one_read(l, &m, 0, 60000, n);
	qv_mr_free(&m);
	return err;
}

static int read_nothing(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl none = {};
	struct ib_wc wc;

	return qv_post_rdma(a, IB_WR_RDMA_READ, &none, 0, 0x87654321, IB_SEND_SIGNALED) ?:
	       qv_sent(a, IB_WC_SUCCESS, &wc) ?: qv_ping(l);
}

/* More READs than may be under way at a time; they complete in order. */
static int read_many(struct qv_link *l, u32 depth)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl dst;
	struct qv_mr m = {};
	struct ib_wc wc;
	int i, err;

	l->conf.rd_atomic = depth;
	err = qv_open(l) ?: qv_mr_make(&l->side[QV_B], &m, 32 * 20000, ALL_ACCESS);
	for (i = 0; i < 32 && !err; i++) {
		qv_mr_fill(&m, i * 20000, 20000, i);
		qv_sgl(a, &dst, i * SZ_32K, 20000, 3);
		err = qv_post_rdma(a, IB_WR_RDMA_READ, &dst, m.iova + i * 20000, m.rkey,
				   IB_SEND_SIGNALED);
	}
	for (i = 0; i < 32 && !err; i++) {
		err = qv_sent(a, IB_WC_SUCCESS, &wc);
		if (!err && wc.wr_id != m.iova + i * 20000)
			err = qv_fail(l, "A: READ %d expected to complete, another did", i);
		qv_sgl(a, &dst, i * SZ_32K, 20000, 3);
		err = err ?: qv_sgl_check(a, &dst, 20000, i);
	}
	qv_mr_free(&m);
	return err;
}

/* READs, and between them what needs no answer of its own. */
static int read_between_writes(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl src, dst;
	struct ib_wc wc;
	struct qv_mr m;
	int i, err;

	err = qv_mr_make(&l->side[QV_B], &m, len, ALL_ACCESS);
	for (i = 0; i < 10 && !err; i++) {
		qv_sgl(a, &src, i * SZ_32K, len, 1);
		qv_sgl(a, &dst, SZ_1M + i * SZ_32K, len, 1);
		qv_sgl_fill(a, &src, i);
		/*
		 * Without the fence, IBTA 10.8.3.3, a WRITE may overtake the
		 * READ before it: one whose answer is lost is carried out
		 * again, after the WRITE.
		 */
		err = qv_post_rdma(a, IB_WR_RDMA_WRITE, &src, m.iova, m.rkey, IB_SEND_FENCE) ?:
		      qv_post_rdma(a, IB_WR_RDMA_READ, &dst, m.iova, m.rkey, IB_SEND_SIGNALED);
	}
	/* Each READ sees the WRITE before it, and not the one behind. */
	for (i = 0; i < 10 && !err; i++) {
		qv_sgl(a, &dst, SZ_1M + i * SZ_32K, len, 1);
		err = qv_sent(a, IB_WC_SUCCESS, &wc) ?: qv_sgl_check(a, &dst, len, i);
	}
	qv_mr_free(&m);
	return err;
}

/* A fenced SEND takes what the READ before it brought. */
static int fence(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl via, to;
	struct ib_wc wc;
	struct qv_mr m;
	int i, err;

	err = qv_mr_make(b, &m, len, ALL_ACCESS);
	qv_sgl(a, &via, 0, len, 1);
	qv_sgl(b, &to, SZ_1M, len, 1);
	for (i = 0; i < 20 && !err; i++) {
		qv_mr_fill(&m, 0, len, i);
		err = qv_post_recv(b, &to, i) ?:
		      qv_post_rdma(a, IB_WR_RDMA_READ, &via, m.iova, m.rkey, 0) ?:
		      qv_post_send(a, &via, i, IB_SEND_SIGNALED | IB_SEND_FENCE) ?:
		      qv_received(b, IB_WC_SUCCESS, &wc) ?:
		      qv_sent(a, IB_WC_SUCCESS, &wc) ?: qv_sgl_check(b, &to, len, i);
	}
	qv_mr_free(&m);
	return err;
}

static const struct qv_case write_cases[] = {
	{ "0", write_nothing },
	{ "1", write_size, 1 },
	{ "3", write_size, 3 },
	{ "mtu-1", write_about_mtu, -1 },
	{ "mtu", write_about_mtu, 0 },
	{ "mtu+1", write_about_mtu, 1 },
	{ "64K+3", write_size, SZ_64K + 3 },
	{ "1M", write_size, SZ_1M },
	{ "2-pieces", write_pieces, 2 },
	{ "8-pieces", write_pieces, QV_MAX_SGE },
	{ "imm-0", write_imm, 0 },
	{ "imm-1", write_imm, 1 },
	{ "imm-long", write_imm, 30001 },
	{ "then-send", write_then_send, 20000 },
};

static const struct qv_case read_cases[] = {
	{ "0", read_nothing },
	{ "1", read_size, 1 },
	{ "3", read_size, 3 },
	{ "mtu-1", read_about_mtu, -1 },
	{ "mtu", read_about_mtu, 0 },
	{ "mtu+1", read_about_mtu, 1 },
	{ "64K+3", read_size, SZ_64K + 3 },
	{ "1M", read_size, SZ_1M },
	{ "2-pieces", read_pieces, 2 },
	{ "8-pieces", read_pieces, QV_MAX_SGE },
	{ "one-at-a-time", read_many, 1, QV_OWN_LINK },
	{ "four-at-a-time", read_many, 4, QV_OWN_LINK },
	{ "between-writes", read_between_writes, 20000 },
	{ "fence", fence, SZ_64K },
};

QV_GROUP(qv_write, write_cases);
QV_GROUP(qv_read, read_cases);
