// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unreliable connections, IBTA volume 1, 9.8.2: a message comes whole or not
 * at all, and the sender never hears of it.
 */
#include <linux/sizes.h>
#include "qverbs.h"

#define ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)

static int open_uc(struct qv_link *l)
{
	l->conf.type = IB_QPT_UC;
	return qv_open(l);
}

/* A WRITE is not told of; an empty message behind it is. */
static int behind(struct qv_link *l)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl none = {};
	struct ib_wc wc;

	return qv_post_recv(b, &none, 7) ?: qv_post_send(a, &none, 8, IB_SEND_SIGNALED) ?:
	       qv_sent(a, IB_WC_SUCCESS, &wc) ?: qv_received(b, IB_WC_SUCCESS, &wc);
}

static int write_len(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src;
	struct ib_wc wc;
	struct qv_mr m;
	int err;

	qv_sgl(a, &src, 0, len, 3);
	qv_sgl_fill(a, &src, len);
	err = qv_mr_make(b, &m, len + 32, ACCESS) ?:
	      qv_post_rdma(a, IB_WR_RDMA_WRITE, &src, m.iova + 16, m.rkey, IB_SEND_SIGNALED) ?:
	      qv_sent(a, IB_WC_SUCCESS, &wc) ?: behind(l) ?: qv_mr_check(&m, 16, len, len) ?:
	      qv_mr_unused(&m, 0, 16) ?: qv_mr_unused(&m, len + 16, 16);
	if (!err && wc.opcode != IB_WC_RDMA_WRITE)
		err = qv_fail(l, "A: IB_WC_RDMA_WRITE expected, not opcode %d", wc.opcode);
	qv_mr_free(&m);
	return err;
}

static int write(struct qv_link *l, u32 len)
{
	return open_uc(l) ?: write_len(l, len);
}

static int write_about_mtu(struct qv_link *l, u32 more)
{
	return open_uc(l) ?: write_len(l, ib_mtu_enum_to_int(l->conf.mtu) + more);
}

static int write_imm(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, none = {};
	struct qv_mr m = {};
	struct ib_wc wc;
	int err;

	err = open_uc(l);
	if (err)
		return err;
	qv_sgl(a, &src, 0, len, 1);
	qv_sgl_fill(a, &src, len);
	err = qv_mr_make(b, &m, len + 1, ACCESS) ?: qv_post_recv(b, &none, 9) ?:
	      qv_post_rdma(a, IB_WR_RDMA_WRITE_WITH_IMM, &src, m.iova, m.rkey, 0) ?:
	      qv_received(b, IB_WC_SUCCESS, &wc) ?: qv_mr_check(&m, 0, len, len);
	if (!err && (wc.opcode != IB_WC_RECV_RDMA_WITH_IMM || wc.byte_len != len ||
		     wc.ex.imm_data != cpu_to_be32(0x1badcafe) || wc.src_qp != a->qp->qp_num))
		err = qv_fail(l, "B: opcode %d, %u bytes, immediate %#x, from %#x", wc.opcode,
			      wc.byte_len, be32_to_cpu(wc.ex.imm_data), wc.src_qp);
	err = err ?: qv_no_wc(l, a->scq, 10);
	qv_mr_free(&m);
	return err;
}

/* What needs an answer cannot be asked for. */
static int no_answers(struct qv_link *l, u32 opcode)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl sgl;
	struct ib_atomic_wr wr = {};
	const struct ib_send_wr *bad = NULL;
	int err = open_uc(l);

	if (err)
		return err;
	qv_sgl(a, &sgl, 0, 8, 1);
	wr.wr.opcode = opcode;
	wr.wr.sg_list = sgl.sge;
	wr.wr.num_sge = 1;
	err = ib_post_send(a->qp, &wr.wr, &bad);
	if (err != -EINVAL || bad != &wr.wr)
		return qv_fail(l, "-EINVAL expected for opcode %u, not %d", opcode, err);
	return behind(l);
}

/* Nobody waits for the message; the next one finds a receive. */
static int no_receive(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;
	int err = open_uc(l);

	if (err)
		return err;
	qv_sgl(a, &src, 0, len, 1);
	qv_sgl(b, &dst, 0, len, 1);
	qv_sgl_fill(a, &src, 1);
	err = qv_post_send(a, &src, 1, IB_SEND_SIGNALED) ?: qv_sent(a, IB_WC_SUCCESS, &wc) ?:
	      qv_no_wc(l, b->rcq, 50) ?: qv_post_recv(b, &dst, 2);
	qv_sgl_fill(a, &src, 2);
	return err ?: qv_no_wc(l, b->rcq, 10) ?: qv_post_send(a, &src, 3, 0) ?:
	       qv_received(b, IB_WC_SUCCESS, &wc) ?: qv_sgl_check(b, &dst, len, 2);
}

static int write_imm_no_receive(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, none = {};
	struct qv_mr m = {};
	struct ib_wc wc;
	int err = open_uc(l);

	if (err)
		return err;
	qv_sgl(a, &src, 0, len, 1);
	err = qv_mr_make(b, &m, len, ACCESS) ?:
	      qv_post_rdma(a, IB_WR_RDMA_WRITE_WITH_IMM, &src, m.iova, m.rkey, IB_SEND_SIGNALED) ?:
	      qv_sent(a, IB_WC_SUCCESS, &wc) ?: qv_no_wc(l, b->rcq, 50) ?:
	      qv_post_recv(b, &none, 1) ?: qv_no_wc(l, b->rcq, 10) ?: behind(l);
	qv_mr_free(&m);
	return err;
}

/* The receive fails, and so does its QP; the sender does not hear of it. */
static int receive_fails(struct qv_link *l, enum ib_wc_status status, struct qv_sgl *dst)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, none = {};
	struct ib_wc wc;

	qv_sgl(a, &src, 0, 5000, 1);
	return qv_post_recv(b, dst, 1) ?: qv_post_recv(b, &none, 2) ?:
	       qv_post_send(a, &src, 3, IB_SEND_SIGNALED) ?: qv_sent(a, IB_WC_SUCCESS, &wc) ?:
	       qv_received(b, status, &wc) ?: qv_wait_state(b, IB_QPS_ERR) ?:
	       qv_flushed(b, b->rcq, 2, 3) ?: qv_post_send(a, &none, 4, IB_SEND_SIGNALED) ?:
	       qv_sent(a, IB_WC_SUCCESS, &wc);
}

static int short_receive(struct qv_link *l, u32 len)
{
	struct qv_sgl dst;
	int err = open_uc(l);

	if (err)
		return err;
	qv_sgl(&l->side[QV_B], &dst, 0, len, len ? 1 : 0);
	return receive_fails(l, IB_WC_LOC_LEN_ERR, &dst);
}

static int receive_bad_key(struct qv_link *l, u32 unused)
{
	struct qv_sgl dst;
	int err = open_uc(l);

	if (err)
		return err;
	qv_sgl(&l->side[QV_B], &dst, 0, 6000, 1);
	dst.sge[0].lkey = 0x76543210;
	return receive_fails(l, IB_WC_LOC_PROT_ERR, &dst);
}

enum { BAD_KEY, BAD_RANGE, NO_RIGHT, QP_RIGHT };

/* A WRITE that is not allowed leaves no trace at all. */
static int write_refused(struct qv_link *l, u32 why)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_mr m = {};
	struct qv_sgl src;
	struct ib_wc wc;
	int err;

	if (why == QP_RIGHT)
		l->conf.access = 0;
	err = open_uc(l);
	if (err)
		return err;
	qv_sgl(a, &src, 0, 5000, 1);
	qv_sgl_fill(a, &src, 1);
	err = qv_mr_make(b, &m, 6000, why == NO_RIGHT ? IB_ACCESS_LOCAL_WRITE : ACCESS) ?:
	      qv_post_rdma(a, IB_WR_RDMA_WRITE, &src, m.iova + (why == BAD_RANGE ? 1001 : 0),
			   why == BAD_KEY ? ib_inc_rkey(m.rkey) : m.rkey, IB_SEND_SIGNALED) ?:
	      qv_sent(a, IB_WC_SUCCESS, &wc) ?: behind(l) ?: qv_mr_unused(&m, 0, 6000);
	if (!err && (b->events || qv_qp_state(b) != IB_QPS_RTS))
		err = qv_fail(l, "B: state %d, events %#lx", qv_qp_state(b), b->events);
	qv_mr_free(&m);
	return err;
}

/* Its sender stops amid a message: the receive is there for the next one. */
static int broken_off(struct qv_link *l, u32 opcode)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst, bad;
	struct qv_mr m = {};
	struct ib_wc wc;
	int err = open_uc(l);

	if (err)
		return err;
	qv_sgl(a, &bad, 0, 20000, 2);
	bad.sge[1].lkey = 0x76543210;
	qv_sgl(a, &src, SZ_64K, 12000, 1);
	qv_sgl_fill(a, &src, 3);
	qv_sgl(b, &dst, SZ_1M, 20000, 1);
	err = qv_mr_make(b, &m, 20000, ACCESS) ?: qv_post_recv(b, &dst, 1) ?:
	      qv_post_rdma(a, opcode, &bad, m.iova, m.rkey, 0) ?:
	      qv_sent(a, IB_WC_LOC_PROT_ERR, &wc) ?: qv_wait_state(a, IB_QPS_SQE) ?:
	      qv_no_wc(l, b->rcq, 20) ?: qv_back_to_rts(a, IB_QPS_SQE) ?:
	      qv_post_send(a, &src, 2, 0) ?: qv_received(b, IB_WC_SUCCESS, &wc);
	if (!err && wc.byte_len != 12000)
		err = qv_fail(l, "B: 12000 bytes expected, not %u", wc.byte_len);
	err = err ?: qv_sgl_check(b, &dst, 12000, 3);
	qv_mr_free(&m);
	return err;
}

/* The receiver knows no number that it could miss before the first message. */
static int ahead(struct qv_link *l, u32 skew)
{
	l->conf.rq_psn_skew = skew;
	return open_uc(l) ?: behind(l) ?: write_len(l, 9000);
}

static int peer_gone(struct qv_link *l, u32 n)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl src;
	struct ib_wc wc;
	u32 i;
	int err = open_uc(l) ?: qv_qp_to(&l->side[QV_B], IB_QPS_RESET);

	if (err)
		return err;
	qv_sgl(a, &src, 0, 9000, 1);
	for (i = 0; i < n && !err; i++)
		err = qv_post_send(a, &src, i, IB_SEND_SIGNALED) ?: qv_sent(a, IB_WC_SUCCESS, &wc);
	return err;
}

static int established(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];

	return open_uc(l) ?: qv_qp_walk(b, IB_QPS_RTR) ?: behind(l) ?:
	       qv_wait_event(b, IB_EVENT_COMM_EST) ?: qv_qp_to(b, IB_QPS_RTS) ?: qv_ping(l);
}

/* Packets of another type do not get through to the QP. */
static int from_rc(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl none = {};
	struct ib_wc wc;
	int err;

	l->conf.timeout = 12;
	l->conf.retry_cnt = 1;
	err = qv_open(l);
	if (err)
		return err;
	ib_destroy_qp(b->qp);
	l->conf.type = IB_QPT_UC;
	b->qp = qv_make_qp(b);
	if (IS_ERR(b->qp))
		return qv_fail(l, "ib_create_qp: %ld", PTR_ERR(b->qp));
	err = qv_qp_walk(b, IB_QPS_RTS) ?: qv_post_recv(b, &none, 1);
	l->conf.type = IB_QPT_RC;
	return err ?: qv_qp_walk(a, IB_QPS_RTS) ?: qv_post_send(a, &none, 2, 0) ?:
	       qv_sent(a, IB_WC_RETRY_EXC_ERR, &wc) ?: qv_no_wc(l, b->rcq, 10);
}

#define SLOTS	32

static int receive_slot(struct qv_side *b, u32 i, u32 len)
{
	struct qv_sgl dst;

	qv_sgl(b, &dst, i % SLOTS * SZ_32K, len, 1);
	return qv_post_recv(b, &dst, i % SLOTS);
}

static int send_numbered(struct qv_side *a, u32 i, u32 len)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND_WITH_IMM, .wr_id = i,
				 .send_flags = IB_SEND_SIGNALED, .ex.imm_data = cpu_to_be32(i) };
	struct qv_sgl src;

	qv_sgl(a, &src, 0, len, 1);
	qv_sgl_fill(a, &src, i);
	wr.sg_list = src.sge;
	wr.num_sge = src.n;
	return qv_post(a, &wr);
}

/* Whatever came is whole and newer than what came before. */
static int check_numbered(struct qv_link *l, const struct ib_wc *wc, u32 len, s64 *last)
{
	struct qv_side *b = &l->side[QV_B];
	u32 i = be32_to_cpu(wc->ex.imm_data);
	struct qv_sgl dst;

	if (wc->status != IB_WC_SUCCESS || wc->byte_len != len)
		return qv_fail(l, "B: message %u ended with '%s', %u bytes", i,
			       ib_wc_status_msg(wc->status), wc->byte_len);
	if (i <= *last)
		return qv_fail(l, "B: message %u came after %lld", i, *last);
	*last = i;
	qv_sgl(b, &dst, wc->wr_id * SZ_32K, len, 1);
	return qv_sgl_check(b, &dst, len, i) ?: qv_post_recv(b, &dst, wc->wr_id);
}

/* As many messages as the run says; how many of them came. */
static int exchange(struct qv_link *l, u32 len, u32 *came)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_wc wc;
	s64 last = -1;
	u32 i;
	int err = open_uc(l);

	*came = 0;
	for (i = 0; i < SLOTS && !err; i++)
		err = receive_slot(b, i, len);
	for (i = 0; i < l->conf.count && !err; i++) {
		err = send_numbered(a, i, len) ?: qv_sent(a, IB_WC_SUCCESS, &wc);
		while (!err && !qv_poll(l, b->rcq, &wc, i % SLOTS ? 0 : 5)) {
			err = check_numbered(l, &wc, len, &last);
			++*came;
		}
	}
	while (!err && !qv_poll(l, b->rcq, &wc, 100)) {
		err = check_numbered(l, &wc, len, &last);
		++*came;
	}
	if (!err && qv_qp_state(b) != IB_QPS_RTS)
		err = qv_fail(l, "B is in state %d", qv_qp_state(b));
	return err;
}

static int numbered(struct qv_link *l, u32 len)
{
	u32 came;
	int err = exchange(l, len, &came);

	if (!err && came != l->conf.count)
		err = qv_fail(l, "%u of %u messages came", came, l->conf.count);
	return err;
}

/* For a wire that loses a few packets: some messages, but by far not all. */
static int lossy(struct qv_link *l, u32 len)
{
	u32 came;
	int err = exchange(l, len, &came);

	if (!err && (came < l->conf.count / 2 || came == l->conf.count))
		err = qv_fail(l, "%u of %u messages came", came, l->conf.count);
	return err;
}

/* Long messages are brought to their end, the others wait. */
static int drained(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	int i, sent, came, err = open_uc(l);
	struct ib_wc wc;

	if (err)
		return err;
	qv_sgl(a, &src, 0, len, 1);
	qv_sgl(b, &dst, 0, len, 1);
	for (i = 0; i < 20 && !err; i++)
		err = qv_post_recv(b, &dst, i);
	for (i = 0; i < 20 && !err; i++)
		err = qv_post_send(a, &src, i, IB_SEND_SIGNALED);
	err = err ?: qv_sqd(a) ?: qv_wait_event(a, IB_EVENT_SQ_DRAINED);
	for (sent = 0; !err && !qv_poll(l, a->scq, &wc, 20); sent++)
		if (wc.status != IB_WC_SUCCESS)
			err = qv_fail(l, "A: '%s'", ib_wc_status_msg(wc.status));
	for (came = 0; !err && came < sent; came++)
		err = qv_received(b, IB_WC_SUCCESS, &wc);
	err = err ?: qv_no_wc(l, b->rcq, 20) ?: qv_back_to_rts(a, IB_QPS_SQD);
	for (; !err && came < 20; came++)
		err = qv_received(b, IB_WC_SUCCESS, &wc);
	return err;
}

static const struct qv_case cases[] = {
	{ "write-0", write, 0, QV_OWN_LINK },
	{ "write-1", write, 1, QV_OWN_LINK },
	{ "write-mtu-1", write_about_mtu, -1, QV_OWN_LINK },
	{ "write-mtu", write_about_mtu, 0, QV_OWN_LINK },
	{ "write-mtu+1", write_about_mtu, 1, QV_OWN_LINK },
	{ "write-64K+3", write, SZ_64K + 3, QV_OWN_LINK },
	{ "write-imm-0", write_imm, 0, QV_OWN_LINK },
	{ "write-imm", write_imm, 30001, QV_OWN_LINK },
	{ "no-read", no_answers, IB_WR_RDMA_READ, QV_OWN_LINK },
	{ "no-swap", no_answers, IB_WR_ATOMIC_CMP_AND_SWP, QV_OWN_LINK },
	{ "no-add", no_answers, IB_WR_ATOMIC_FETCH_AND_ADD, QV_OWN_LINK },
	{ "no-invalidate", no_answers, IB_WR_SEND_WITH_INV, QV_OWN_LINK },
	{ "no-receive-0", no_receive, 0, QV_OWN_LINK },
	{ "no-receive", no_receive, 9000, QV_OWN_LINK },
	{ "write-imm-no-receive", write_imm_no_receive, 9000, QV_OWN_LINK },
	{ "short-receive-0", short_receive, 0, QV_OWN_LINK },
	{ "short-receive", short_receive, 4999, QV_OWN_LINK },
	{ "receive-bad-key", receive_bad_key, 0, QV_OWN_LINK },
	{ "write-bad-key", write_refused, BAD_KEY, QV_OWN_LINK },
	{ "write-bad-range", write_refused, BAD_RANGE, QV_OWN_LINK },
	{ "write-no-right", write_refused, NO_RIGHT, QV_OWN_LINK },
	{ "write-qp-right", write_refused, QP_RIGHT, QV_OWN_LINK },
	{ "broken-off-send", broken_off, IB_WR_SEND, QV_OWN_LINK },
	{ "broken-off-write", broken_off, IB_WR_RDMA_WRITE, QV_OWN_LINK },
	{ "ahead", ahead, 3, QV_OWN_LINK },
	{ "peer-gone", peer_gone, 20, QV_OWN_LINK },
	{ "established", established, 0, QV_OWN_LINK },
	{ "from-rc", from_rc, 0, QV_OWN_LINK },
	{ "numbered", numbered, 9001, QV_OWN_LINK },
	{ "numbered-short", numbered, 100, QV_OWN_LINK },
	{ "drained", drained, SZ_1M, QV_OWN_LINK },
};

static const struct qv_case lossy_cases[] = {
	{ "long", lossy, 9001, QV_OWN_LINK },
	{ "short", lossy, 100, QV_OWN_LINK },
};

QV_GROUP(qv_uc, cases);
QV_GROUP(qv_lossy, lossy_cases);
