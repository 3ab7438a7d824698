// SPDX-License-Identifier: GPL-2.0-only
/*
 * One of each kind of packet that an RC queue pair sends, for whoever listens
 * on the wire: requests first, middle, last and only, their answers, and the
 * kinds of NAK.
 */
#include "qverbs.h"

#define ACCESS (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
		IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

/* Lengths whose packets are an only; a first and a last; a middle between. */
static u32 length_of(struct qv_link *l, int i)
{
	u32 mtu = ib_mtu_enum_to_int(l->conf.mtu);
	const u32 lengths[] = { 0, 1, 2, 3, 64, mtu, mtu + 1, 3 * mtu + 3 };

	return i < ARRAY_SIZE(lengths) ? lengths[i] : U32_MAX;
}

static int send_one(struct qv_link *l, enum ib_wr_opcode opcode, u32 len, u32 key)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_send_wr wr = { .opcode = opcode, .send_flags = IB_SEND_SIGNALED };
	struct qv_sgl src, dst;
	struct ib_wc wc;

	qv_sgl(a, &src, 0, len, 1);
	qv_sgl(b, &dst, 1 << 20, len, 1);
	qv_sgl_fill(a, &src, len);
	wr.sg_list = src.sge;
	wr.num_sge = src.n;
	if (opcode == IB_WR_SEND_WITH_INV)
		wr.ex.invalidate_rkey = key;
	else
		wr.ex.imm_data = cpu_to_be32(0xcafe0000 + len);
	return qv_post_recv(b, &dst, 1) ?: qv_post(a, &wr) ?: qv_sent(a, IB_WC_SUCCESS, &wc) ?:
	       qv_received(b, IB_WC_SUCCESS, &wc) ?: qv_sgl_check(b, &dst, len, len);
}

static int sends(struct qv_link *l, u32 opcode)
{
	struct qv_mr m = {};
	int i, err;

	err = qv_mr_make(&l->side[QV_B], &m, 100, ACCESS);
	for (i = 0; !err && length_of(l, i) != U32_MAX; i++) {
		if (i && opcode == IB_WR_SEND_WITH_INV)
			err = qv_mr_reg(&m, ACCESS);
		err = err ?: send_one(l, opcode, length_of(l, i), m.rkey);
	}
	qv_mr_free(&m);
	return err;
}

static int rdma(struct qv_link *l, u32 opcode)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl sgl, none = {};
	struct qv_mr m = {};
	struct ib_wc wc;
	int i, err;

	err = qv_mr_make(b, &m, 20000, ACCESS);
	for (i = 0; !err && length_of(l, i) != U32_MAX; i++) {
		qv_sgl(a, &sgl, 0, length_of(l, i), 1);
		if (opcode == IB_WR_RDMA_WRITE_WITH_IMM)
			err = qv_post_recv(b, &none, 1);
		err = err ?: qv_post_rdma(a, opcode, &sgl, m.iova + i, m.rkey, IB_SEND_SIGNALED) ?:
		      qv_sent(a, IB_WC_SUCCESS, &wc);
		if (!err && opcode == IB_WR_RDMA_WRITE_WITH_IMM)
			err = qv_received(b, IB_WC_SUCCESS, &wc);
	}
	qv_mr_free(&m);
	return err;
}

static int atomics(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_mr m = {};
	struct qv_sgl dst;
	struct ib_wc wc;
	int err;

	qv_sgl(a, &dst, 0, 8, 1);
	err = qv_mr_make(&l->side[QV_B], &m, 64, ACCESS) ?:
	      qv_post_atomic(a, IB_WR_ATOMIC_FETCH_AND_ADD, &dst, m.iova, m.rkey, 3, 0) ?:
	      qv_sent(a, IB_WC_SUCCESS, &wc) ?:
	      qv_post_atomic(a, IB_WR_ATOMIC_CMP_AND_SWP, &dst, m.iova, m.rkey, 3, 4) ?:
	      qv_sent(a, IB_WC_SUCCESS, &wc);
	qv_mr_free(&m);
	return err;
}

static int nak_sequence(struct qv_link *l, u32 unused)
{
	struct qv_sgl none = {};
	struct ib_wc wc;

	l->conf.rq_psn_skew = 2;
	l->conf.timeout = 10;
	l->conf.retry_cnt = 1;
	return qv_open(l) ?: qv_post_send(&l->side[QV_A], &none, 1, 0) ?:
	       qv_sent(&l->side[QV_A], IB_WC_RETRY_EXC_ERR, &wc);
}

static int nak_invalid(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl src, none = {};
	struct ib_wc wc;

	qv_sgl(a, &src, 0, 10, 1);
	return qv_post_recv(&l->side[QV_B], &none, 1) ?: qv_post_send(a, &src, 1, 0) ?:
	       qv_sent(a, IB_WC_REM_INV_REQ_ERR, &wc);
}

static int nak_access(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl src;
	struct ib_wc wc;

	qv_sgl(a, &src, 0, 10, 1);
	return qv_post_rdma(a, IB_WR_RDMA_WRITE, &src, 0x1000, 0x12345678, 0) ?:
	       qv_sent(a, IB_WC_REM_ACCESS_ERR, &wc);
}

static int nak_operation(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;

	qv_sgl(a, &src, 0, 10, 1);
	qv_sgl(b, &dst, 0, 10, 1);
	dst.sge[0].lkey = 0x76543210;
	return qv_post_recv(b, &dst, 1) ?: qv_post_send(a, &src, 1, 0) ?:
	       qv_sent(a, IB_WC_REM_OP_ERR, &wc);
}

static int nak_rnr(struct qv_link *l, u32 unused)
{
	struct qv_sgl none = {};
	struct ib_wc wc;

	return qv_post_send(&l->side[QV_A], &none, 1, IB_SEND_SIGNALED) ?:
	       qv_no_wc(l, l->side[QV_A].scq, 20) ?:
	       qv_post_recv(&l->side[QV_B], &none, 1) ?:
	       qv_sent(&l->side[QV_A], IB_WC_SUCCESS, &wc);
}

static const struct qv_case cases[] = {
	{ "send", sends, IB_WR_SEND },
	{ "send-imm", sends, IB_WR_SEND_WITH_IMM },
	{ "send-inv", sends, IB_WR_SEND_WITH_INV },
	{ "write", rdma, IB_WR_RDMA_WRITE },
	{ "write-imm", rdma, IB_WR_RDMA_WRITE_WITH_IMM },
	{ "read", rdma, IB_WR_RDMA_READ },
	{ "atomics", atomics },
	{ "nak-sequence", nak_sequence, 0, QV_OWN_LINK },
	{ "nak-invalid", nak_invalid },
	{ "nak-access", nak_access },
	{ "nak-operation", nak_operation },
	{ "nak-rnr", nak_rnr },
};

QV_GROUP(qv_kinds, cases);
