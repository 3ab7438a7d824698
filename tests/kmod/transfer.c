// SPDX-License-Identifier: GPL-2.0-only
/*
 * Posting work and waiting for what becomes of it.
 */
#include <linux/delay.h>
#include <linux/sched/signal.h>
#include "qverbs.h"

int qv_post(struct qv_side *s, const struct ib_send_wr *wr)
{
	struct ib_ud_wr ud = {
		.wr = *wr,
		.ah = s->ah,
		.remote_qpn = qv_peer(s)->qp->qp_num,
		.remote_qkey = QV_QKEY,
	};
	bool datagram = s->link->conf.type == IB_QPT_UD;
	const struct ib_send_wr *bad = NULL;
	int err = ib_post_send(s->qp, datagram ? &ud.wr : wr, &bad);

	return err ? qv_fail(s->link, "%c: ib_post_send: %d", qv_letter(s), err) : 0;
}

int qv_post_recv(struct qv_side *s, const struct qv_sgl *sgl, u64 id)
{
	struct ib_recv_wr wr = {
		.wr_id = id,
		.sg_list = (struct ib_sge *)sgl->sge,
		.num_sge = sgl->n,
	};
	const struct ib_recv_wr *bad;
	int err = s->srq ? ib_post_srq_recv(s->srq, &wr, &bad) : ib_post_recv(s->qp, &wr, &bad);

	return err ? qv_fail(s->link, "%c: ib_post_recv: %d", qv_letter(s), err) : 0;
}

int qv_post_send(struct qv_side *s, const struct qv_sgl *sgl, u64 id, int flags)
{
	struct ib_send_wr wr = {
		.wr_id = id,
		.opcode = IB_WR_SEND,
		.send_flags = flags,
		.sg_list = (struct ib_sge *)sgl->sge,
		.num_sge = sgl->n,
	};

	return qv_post(s, &wr);
}

int qv_post_rdma(struct qv_side *s, enum ib_wr_opcode op, const struct qv_sgl *sgl,
		 u64 addr, u32 rkey, int flags)
{
	struct ib_rdma_wr wr = {
		.wr.wr_id = addr,
		.wr.opcode = op,
		.wr.send_flags = flags,
		.wr.sg_list = (struct ib_sge *)sgl->sge,
		.wr.num_sge = sgl->n,
		.wr.ex.imm_data = cpu_to_be32(0x1badcafe),
		.remote_addr = addr,
		.rkey = rkey,
	};

	return qv_post(s, &wr.wr);
}

int qv_post_atomic(struct qv_side *s, enum ib_wr_opcode op, const struct qv_sgl *sgl,
		   u64 addr, u32 rkey, u64 compare_add, u64 swap)
{
	struct ib_atomic_wr wr = {
		.wr.wr_id = addr,
		.wr.opcode = op,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.sg_list = (struct ib_sge *)sgl->sge,
		.wr.num_sge = sgl->n,
		.remote_addr = addr,
		.rkey = rkey,
		.compare_add = compare_add,
		.swap = swap,
	};

	return qv_post(s, &wr.wr);
}

/* One completion, within @ms milliseconds. */
int qv_poll(struct qv_link *l, struct ib_cq *cq, struct ib_wc *wc, u32 ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	int n;

	while (!(n = ib_poll_cq(cq, 1, wc))) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		if (READ_ONCE(*l->stop) || signal_pending(current))
			return qv_fail(l, "ended from outside");
		usleep_range(20, 60);
	}
	return n == 1 ? 0 : qv_fail(l, "ib_poll_cq: %d", n);
}

int qv_no_wc(struct qv_link *l, struct ib_cq *cq, u32 ms)
{
	struct ib_wc wc;
	int err = qv_poll(l, cq, &wc, ms);

	if (err == -ETIMEDOUT)
		return 0;
	return err ?: qv_fail(l, "no completion expected, one came: id %llu, %s",
			      wc.wr_id, ib_wc_status_msg(wc.status));
}

/* What is posted as @first to @last is flushed in that order, and nothing else. */
int qv_flushed(struct qv_side *s, struct ib_cq *cq, int first, int last)
{
	struct ib_wc wc;
	int i;

	for (i = first; i < last; i++) {
		if (qv_poll(s->link, cq, &wc, QV_WAIT_MS))
			return qv_fail(s->link, "%c: completion of %d did not come",
				       qv_letter(s), i);
		if (wc.status != IB_WC_WR_FLUSH_ERR)
			return qv_fail(s->link, "%c: %d ended with '%s', not flushed",
				       qv_letter(s), i, ib_wc_status_msg(wc.status));
		if (wc.wr_id != i)
			return qv_fail(s->link, "%c: flush of %d expected, not of %llu",
				       qv_letter(s), i, wc.wr_id);
	}
	return qv_no_wc(s->link, cq, 10);
}

/*
 * A responder in error answers nothing. Where the NAK that told of it is lost,
 * all that the requester can see is silence.
 */
static bool as_expected(struct qv_side *s, enum ib_wc_status found,
			enum ib_wc_status status)
{
	if (found == status)
		return true;
	if (!s->link->conf.lossy || found != IB_WC_RETRY_EXC_ERR)
		return false;
	return status == IB_WC_REM_ACCESS_ERR || status == IB_WC_REM_INV_REQ_ERR ||
	       status == IB_WC_REM_OP_ERR;
}

static int expect(struct qv_side *s, struct ib_cq *cq, const char *which,
		  enum ib_wc_status status, struct ib_wc *wc)
{
	int err = qv_poll(s->link, cq, wc, QV_WAIT_MS);

	if (err == -ETIMEDOUT)
		return qv_fail(s->link, "%c: no completion of a %s, '%s' expected",
			       qv_letter(s), which, ib_wc_status_msg(status));
	if (err)
		return err;
	if (!as_expected(s, wc->status, status))
		return qv_fail(s->link, "%c: %s %llu ended with '%s', '%s' expected",
			       qv_letter(s), which, wc->wr_id,
			       ib_wc_status_msg(wc->status), ib_wc_status_msg(status));
	return 0;
}

/* The next completion of what @s sent; it must have this status. */
int qv_sent(struct qv_side *s, enum ib_wc_status status, struct ib_wc *wc)
{
	return expect(s, s->scq, "request", status, wc);
}

int qv_received(struct qv_side *s, enum ib_wc_status status, struct ib_wc *wc)
{
	return expect(s, s->rcq, "receive", status, wc);
}

/* A short message each way: the link works. */
int qv_ping(struct qv_link *l)
{
	struct qv_sgl from, to;
	struct qv_side *s;
	struct ib_wc wc;
	int i, err;

	for (i = 0; i < 2; i++) {
		s = &l->side[i];
		qv_sgl(s, &from, 0, 40, 1);
		qv_sgl(qv_peer(s), &to, 4096, s->link->conf.type == IB_QPT_UD ? 80 : 40, 1);
		err = qv_post_recv(qv_peer(s), &to, 77);
		if (!err)
			err = qv_post_send(s, &from, 78, IB_SEND_SIGNALED);
		if (!err)
			err = qv_sent(s, IB_WC_SUCCESS, &wc);
		if (!err)
			err = qv_received(qv_peer(s), IB_WC_SUCCESS, &wc);
		if (err)
			return err;
	}
	return 0;
}
