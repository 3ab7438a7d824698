// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors of requests, of their local memory, of the peer's receives; retries
 * and how long they take; what posting itself refuses.
 */
#include <linux/delay.h>
#include <linux/sizes.h>
#include "qverbs.h"

static int both_in_error(struct qv_link *l)
{
	return qv_wait_state(&l->side[QV_A], IB_QPS_ERR) ?:
	       qv_wait_state(&l->side[QV_B], IB_QPS_ERR);
}

/* The message is longer than the receive by one byte. */
static int short_receive(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;

	qv_sgl(a, &src, 0, len + 1, 1);
	qv_sgl(b, &dst, 0, len, len ? 1 : 0);
	return qv_post_recv(b, &dst, 1) ?: qv_post_send(a, &src, 2, IB_SEND_SIGNALED) ?:
	       qv_received(b, IB_WC_LOC_LEN_ERR, &wc) ?:
	       qv_sent(a, IB_WC_REM_INV_REQ_ERR, &wc) ?: both_in_error(l);
}

static int receive_bad_key(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;

	qv_sgl(a, &src, 0, len, 1);
	qv_sgl(b, &dst, 0, len, 1);
	dst.sge[0].lkey = 0x76543210;
	return qv_post_recv(b, &dst, 1) ?: qv_post_send(a, &src, 2, IB_SEND_SIGNALED) ?:
	       qv_received(b, IB_WC_LOC_PROT_ERR, &wc) ?:
	       qv_sent(a, IB_WC_REM_OP_ERR, &wc) ?: both_in_error(l);
}

/* The receiver may not write to what it named. */
static int receive_read_only(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst = { .n = 1 };
	struct ib_wc wc;
	struct qv_mr m;
	int err;

	qv_sgl(a, &src, 0, len, 1);
	err = qv_mr_make(b, &m, len, IB_ACCESS_REMOTE_READ);
	if (!err) {
		dst.sge[0] = (struct ib_sge) { m.iova, len, m.mr->lkey };
		err = qv_post_recv(b, &dst, 1) ?: qv_post_send(a, &src, 2, IB_SEND_SIGNALED) ?:
		      qv_received(b, IB_WC_LOC_PROT_ERR, &wc) ?:
		      qv_sent(a, IB_WC_REM_OP_ERR, &wc) ?: qv_mr_unused(&m, 0, len);
	}
	qv_mr_free(&m);
	return err;
}

/* The peer does not see anything of it. */
static int send_bad_key(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;
	int err;

	qv_sgl(a, &src, 0, len, 2);
	src.sge[1].lkey = 0x76543210;
	qv_sgl(b, &dst, 0, len, 1);
	err = qv_post_recv(b, &dst, 1) ?: qv_post_send(a, &src, 2, IB_SEND_SIGNALED) ?:
	      qv_sent(a, IB_WC_LOC_PROT_ERR, &wc) ?: qv_wait_state(a, IB_QPS_ERR);
	if (!err && qv_qp_state(b) != IB_QPS_RTS)
		err = qv_fail(l, "B left RTS for A's error");
	return err;
}

static int read_bad_key(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl dst;
	struct ib_wc wc;
	struct qv_mr m;
	int err;

	qv_sgl(a, &dst, 0, 5000, 1);
	dst.sge[0].lkey = 0x76543210;
	err = qv_mr_make(&l->side[QV_B], &m, 5000, IB_ACCESS_REMOTE_READ) ?:
	      qv_post_rdma(a, IB_WR_RDMA_READ, &dst, m.iova, m.rkey, IB_SEND_SIGNALED) ?:
	      qv_sent(a, IB_WC_LOC_PROT_ERR, &wc) ?: qv_wait_state(a, IB_QPS_ERR);
	qv_mr_free(&m);
	return err;
}

static int wait_rnr(struct qv_link *l, u32 retries, u32 least_ms)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	ktime_t begin = ktime_get();
	struct qv_sgl src;
	struct ib_wc wc;
	s64 ms;
	int err;

	qv_sgl(a, &src, 0, 5000, 1);
	err = qv_post_send(a, &src, 2, 0) ?:
	      qv_sent(a, IB_WC_RNR_RETRY_EXC_ERR, &wc) ?: qv_wait_state(a, IB_QPS_ERR);
	ms = ktime_ms_delta(ktime_get(), begin);
	if (!err && ms < least_ms)
		err = qv_fail(l, "%u retries in %lld ms, at least %u ms expected",
			      retries, ms, least_ms);
	if (!err && qv_qp_state(b) != IB_QPS_RTS)
		err = qv_fail(l, "B left RTS for having no receive");
	return err;
}

/* No receive is posted; the peer's wish is 20.48 ms of patience. */
static int rnr_exceeded(struct qv_link *l, u32 retries)
{
	l->conf.rnr_retry = retries;
	l->conf.min_rnr_timer = IB_RNR_TIMER_020_48;
	return qv_open(l) ?: wait_rnr(l, retries, retries * 20);
}

/* Seven retries are as many as it takes. */
static int rnr_late(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;
	int i, err = 0;

	for (i = 0; i < 10 && !err; i++) {
		qv_sgl(a, &src, i * SZ_32K, len, 1);
		qv_sgl_fill(a, &src, i);
		err = qv_post_send(a, &src, i, IB_SEND_SIGNALED);
	}
	err = err ?: qv_no_wc(l, a->scq, 100);
	for (i = 0; i < 10 && !err; i++) {
		qv_sgl(b, &dst, i * SZ_32K, len, 1);
		err = qv_post_recv(b, &dst, i) ?: qv_sent(a, IB_WC_SUCCESS, &wc) ?:
		      qv_received(b, IB_WC_SUCCESS, &wc) ?: qv_sgl_check(b, &dst, len, i);
		if (!err && i == 4)
			err = qv_no_wc(l, a->scq, 20);
	}
	return err;
}

static int rnr_write_imm(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst;
	struct ib_wc wc;
	struct qv_mr m;
	int err;

	qv_sgl(a, &src, 0, len, 1);
	qv_sgl_fill(a, &src, 6);
	qv_sgl(b, &dst, SZ_1M, 1, 1);
	err = qv_mr_make(b, &m, len, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE) ?:
	      qv_post_rdma(a, IB_WR_RDMA_WRITE_WITH_IMM, &src, m.iova, m.rkey,
			   IB_SEND_SIGNALED) ?:
	      qv_no_wc(l, a->scq, 20) ?: qv_post_recv(b, &dst, 1) ?:
	      qv_sent(a, IB_WC_SUCCESS, &wc) ?: qv_received(b, IB_WC_SUCCESS, &wc) ?:
	      qv_mr_check(&m, 0, len, 6);
	qv_mr_free(&m);
	return err;
}

static int exceed(struct qv_link *l, int (*post)(struct qv_link *l), u32 retries)
{
	struct qv_side *a = &l->side[QV_A];
	u32 least, most, timeout_us = (4096U << l->conf.timeout) / 1000;
	ktime_t begin = ktime_get();
	struct ib_wc wc;
	s64 ms;
	int err;

	/* IBTA 9.7.6.1.3: the timer is from one to four times the timeout. */
	least = retries * timeout_us / 1000;
	most = 4 * (retries + 1) * timeout_us / 1000 + 2000;
	err = post(l) ?: qv_sent(a, IB_WC_RETRY_EXC_ERR, &wc) ?: qv_wait_state(a, IB_QPS_ERR);
	ms = ktime_ms_delta(ktime_get(), begin);
	if (!err && (ms < least || ms > most))
		err = qv_fail(l, "gave up after %lld ms, %u to %u ms expected", ms, least, most);
	return err;
}

static int post_long_send(struct qv_link *l)
{
	struct qv_sgl src;

	qv_sgl(&l->side[QV_A], &src, 0, 30000, 1);
	return qv_post_send(&l->side[QV_A], &src, 2, IB_SEND_SIGNALED);
}

static int post_read(struct qv_link *l)
{
	struct qv_sgl dst;

	qv_sgl(&l->side[QV_A], &dst, 0, 30000, 1);
	return qv_post_rdma(&l->side[QV_A], IB_WR_RDMA_READ, &dst, 0x1000, 1, 0);
}

static int post_atomic(struct qv_link *l)
{
	struct qv_sgl dst;

	qv_sgl(&l->side[QV_A], &dst, 0, 8, 1);
	return qv_post_atomic(&l->side[QV_A], IB_WR_ATOMIC_FETCH_AND_ADD, &dst, 0x1000, 1, 1, 0);
}

/* The peer's queue pair is there no more. */
static int peer_gone(struct qv_link *l, u32 arg)
{
	static int (*const posts[])(struct qv_link *l) = {
		post_long_send, post_read, post_atomic,
	};

	l->conf.timeout = 13;	/* 33.5 ms */
	l->conf.retry_cnt = arg & 0xff;
	return qv_open(l) ?: qv_ping(l) ?: qv_qp_to(&l->side[QV_B], IB_QPS_RESET) ?:
	       exceed(l, posts[arg >> 8], arg & 0xff);
}

/* Timeout 0 has no end. */
static int no_timeout(struct qv_link *l, u32 unused)
{
	l->conf.timeout = 0;
	l->conf.retry_cnt = 1;
	return qv_open(l) ?: qv_ping(l) ?: qv_qp_to(&l->side[QV_B], IB_QPS_RESET) ?:
	       post_long_send(l) ?: qv_no_wc(l, l->side[QV_A].scq, 400);
}

/* What the peer is sent has numbers that it does not expect yet. */
static int ahead(struct qv_link *l, u32 skew)
{
	l->conf.timeout = 12;
	l->conf.retry_cnt = 2;
	l->conf.rq_psn_skew = skew;
	return qv_open(l) ?: exceed(l, post_long_send, 2);
}

static int post_until_full(struct qv_link *l, u32 *posted)
{
	struct qv_side *a = &l->side[QV_A];
	struct ib_send_wr wr = { .opcode = IB_WR_SEND }, two[2];
	const struct ib_send_wr *bad = NULL;
	int err = 0;

	for (*posted = 0; *posted < a->cap.max_send_wr; ++*posted) {
		wr.wr_id = *posted;
		wr.send_flags = *posted & 1 ? IB_SEND_SIGNALED : 0;
		err = qv_post(a, &wr);
		if (err)
			return err;
	}
	two[0] = wr;
	two[1] = wr;
	two[0].next = &two[1];
	err = ib_post_send(a->qp, two, &bad);
	if (err != -ENOMEM)
		return qv_fail(l, "-ENOMEM expected for request %u, not %d", *posted, err);
	if (bad != two)
		return qv_fail(l, "bad_wr does not point at the request");
	return 0;
}

/* All that was taken is carried out, and then there is room again. */
static int send_queue_full(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl none = {};
	u32 i, n, last = 0;
	struct ib_wc wc;
	int err;

	err = post_until_full(l, &n);
	for (i = 0; i < n && !err; i++)
		err = qv_post_recv(b, &none, i) ?: qv_received(b, IB_WC_SUCCESS, &wc);
	for (i = 1; i < n && !err; i += 2) {
		err = qv_sent(a, IB_WC_SUCCESS, &wc);
		last = wc.wr_id;
	}
	/* The last odd number below n. */
	if (!err && last != ((n - 2) | 1))
		err = qv_fail(l, "last completion is of %u, posted were %u", last, n);
	return err ?: qv_no_wc(l, a->scq, 20) ?: qv_ping(l);
}

static int receive_queue_full(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	struct ib_recv_wr wr = {};
	const struct ib_recv_wr *bad = NULL;
	u32 i;
	int err = 0;

	for (i = 0; i < b->cap.max_recv_wr && !err; i++)
		err = ib_post_recv(b->qp, &wr, &bad);
	if (err)
		return qv_fail(l, "receive %u of %u: %d", i, b->cap.max_recv_wr, err);
	err = ib_post_recv(b->qp, &wr, &bad);
	if (err != -ENOMEM || bad != &wr)
		return qv_fail(l, "-ENOMEM expected, not %d", err);
	return 0;
}

/* The requests before a wrong one are carried out, those behind are not. */
static int bad_in_list(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct ib_sge sge[QV_MAX_SGE * 8] = {};
	struct ib_send_wr wr[3];
	const struct ib_send_wr *bad = NULL;
	struct qv_sgl none = {};
	struct ib_wc wc;
	int i, err;

	for (i = 0; i < 3; i++)
		wr[i] = (struct ib_send_wr) {
			.next = i < 2 ? &wr[i + 1] : NULL, .opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED, .wr_id = i,
		};
	wr[1].sg_list = sge;
	wr[1].num_sge = a->cap.max_send_sge + 1;
	if (wr[1].num_sge > ARRAY_SIZE(sge))
		return qv_fail(l, "%u pieces asked for, %u given", QV_MAX_SGE, a->cap.max_send_sge);
	err = qv_post_recv(b, &none, 1) ?: qv_post_recv(b, &none, 2);
	if (err)
		return err;
	err = ib_post_send(a->qp, wr, &bad);
	if (err != -EINVAL && err != -ENOMEM)
		return qv_fail(l, "-EINVAL expected for too many pieces, not %d", err);
	if (bad != &wr[1])
		return qv_fail(l, "bad_wr does not point at the second request");
	return qv_sent(a, IB_WC_SUCCESS, &wc) ?: qv_received(b, IB_WC_SUCCESS, &wc) ?:
	       qv_no_wc(l, a->scq, 20) ?: qv_no_wc(l, b->rcq, 5);
}

static int receive_too_many_pieces(struct qv_link *l, u32 unused)
{
	struct qv_side *b = &l->side[QV_B];
	struct ib_sge sge[QV_MAX_SGE * 8] = {};
	struct ib_recv_wr wr = { .sg_list = sge, .num_sge = b->cap.max_recv_sge + 1 };
	const struct ib_recv_wr *bad = NULL;
	int err = ib_post_recv(b->qp, &wr, &bad);

	if (err != -EINVAL || bad != &wr)
		return qv_fail(l, "-EINVAL expected, not %d", err);
	return qv_ping(l);
}

static int unknown_opcode(struct qv_link *l, u32 opcode)
{
	struct ib_send_wr wr = { .opcode = opcode, .send_flags = IB_SEND_SIGNALED };
	const struct ib_send_wr *bad = NULL;

	if (!ib_post_send(l->side[QV_A].qp, &wr, &bad))
		return qv_fail(l, "opcode %#x was taken", opcode);
	if (bad != &wr)
		return qv_fail(l, "bad_wr does not point at the request");
	return qv_ping(l);
}

/* An atomic takes eight bytes, no less and no more. */
static int atomic_length(struct qv_link *l, u32 len)
{
	struct qv_side *a = &l->side[QV_A];
	struct ib_atomic_wr wr = { .wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD,
				   .wr.send_flags = IB_SEND_SIGNALED };
	const struct ib_send_wr *bad = NULL;
	struct qv_sgl dst;
	struct ib_wc wc;

	qv_sgl(a, &dst, 0, len, 1);
	wr.wr.sg_list = dst.sge;
	wr.wr.num_sge = 1;
	if (ib_post_send(a->qp, &wr.wr, &bad))
		return qv_ping(l);
	return qv_sent(a, IB_WC_LOC_LEN_ERR, &wc);
}

static int unsignalled(struct qv_link *l, u32 n)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl none = {};
	struct ib_wc wc;
	int i, err = 0;

	for (i = 0; i < n && !err; i++)
		err = qv_post_recv(b, &none, i) ?:
		      qv_post_send(a, &none, i, i == n - 1 ? IB_SEND_SIGNALED : 0);
	for (i = 0; i < n && !err; i++)
		err = qv_received(b, IB_WC_SUCCESS, &wc);
	err = err ?: qv_sent(a, IB_WC_SUCCESS, &wc);
	if (!err && wc.wr_id != n - 1)
		err = qv_fail(l, "completion of %u expected, not of %llu", n - 1, wc.wr_id);
	return err ?: qv_no_wc(l, a->scq, 20);
}

/* IB_SIGNAL_ALL_WR: each completes, flag or no flag. */
static int all_signalled(struct qv_link *l, u32 n)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl none = {};
	struct ib_wc wc;
	int i, err;

	l->conf.sig = IB_SIGNAL_ALL_WR;
	err = qv_open(l);
	for (i = 0; i < n && !err; i++)
		err = qv_post_recv(b, &none, i) ?: qv_post_send(a, &none, i, 0);
	for (i = 0; i < n && !err; i++) {
		err = qv_sent(a, IB_WC_SUCCESS, &wc);
		if (!err && wc.wr_id != i)
			err = qv_fail(l, "completion of %u expected, not of %llu", i, wc.wr_id);
	}
	return err;
}

static const struct qv_case cases[] = {
	{ "short-receive-0", short_receive, 0 },
	{ "short-receive", short_receive, 100 },
	{ "short-receive-long", short_receive, 20000 },
	{ "receive-bad-key", receive_bad_key, 100 },
	{ "receive-bad-key-long", receive_bad_key, 20000 },
	{ "receive-read-only", receive_read_only, 5000 },
	{ "send-bad-key", send_bad_key, 100 },
	{ "send-bad-key-long", send_bad_key, 20000 },
	{ "read-bad-key", read_bad_key },
	{ "rnr-0", rnr_exceeded, 0, QV_OWN_LINK },
	{ "rnr-1", rnr_exceeded, 1, QV_OWN_LINK },
	{ "rnr-5", rnr_exceeded, 5, QV_OWN_LINK },
	{ "rnr-late", rnr_late, 100 },
	{ "rnr-late-long", rnr_late, 30000 },
	{ "rnr-write-imm", rnr_write_imm, 100 },
	{ "rnr-write-imm-long", rnr_write_imm, 30000 },
	{ "gone-send-0", peer_gone, 0, QV_OWN_LINK },
	{ "gone-send-3", peer_gone, 3, QV_OWN_LINK },
	{ "gone-read", peer_gone, 3 | 1 << 8, QV_OWN_LINK },
	{ "gone-atomic", peer_gone, 3 | 2 << 8, QV_OWN_LINK },
	{ "no-timeout", no_timeout, 0, QV_OWN_LINK },
	{ "ahead", ahead, 3, QV_OWN_LINK },
	{ "send-queue-full", send_queue_full },
	{ "receive-queue-full", receive_queue_full },
	{ "bad-in-list", bad_in_list },
	{ "receive-pieces", receive_too_many_pieces },
	{ "opcode-tso", unknown_opcode, IB_WR_LSO },
	{ "opcode-unknown", unknown_opcode, 0x77 },
	{ "atomic-4", atomic_length, 4 },
	{ "atomic-16", atomic_length, 16 },
	{ "unsignalled", unsignalled, 50 },
	{ "all-signalled", all_signalled, 50, QV_OWN_LINK },
};

QV_GROUP(qv_error, cases);
