// SPDX-License-Identifier: GPL-2.0-only
/*
 * What "rdma resource show ... -dd" tells of the device's objects beyond what
 * the core knows of any. Runs in process context; the core holds the object.
 */
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>
#include "path.h"

struct detail {
	const char	*name;
	u64		value;
};

static int put(struct sk_buff *msg, const char *type, const struct detail *d,
	       int n)
{
	struct nlattr *table;
	int i;

	table = nla_nest_start_noflag(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;
	if (type && rdma_nl_put_driver_string(msg, "type", type))
		goto err_cancel;
	for (i = 0; i < n; i++)
		if (rdma_nl_put_driver_u64(msg, d[i].name, d[i].value))
			goto err_cancel;
	nla_nest_end(msg, table);
	return 0;

err_cancel:
	nla_nest_cancel(msg, table);
	return -EMSGSIZE;
}

static int fill_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct qrdma_qp *qp = to_qqp(ibqp);
	struct qrdma_sq *sq = &qp->sq;
	struct qrdma_rq *rq = &qp->rq;
	struct detail d[] = {
		{ "mtu", qp->mtu },
		{ "sq_size", sq->user ? sq->user->mask : sq->max_wr },
		{ "sq_posted" }, { "sq_sent" }, { "sq_unacked" },
		{ "rd_atomic" }, { "retries_left" }, { "rtt_ns" },
		{ "rq_size", rq->srq ? 0 : rq->ring.user ?
			     rq->ring.user->mask : rq->ring.max_wr },
		{ "rq_posted" }, { "msn" }, { "answers_due" },
	};

	spin_lock_bh(&sq->lock);
	d[2].value = READ_ONCE(sq->head) - sq->tail;
	d[3].value = sq->fresh - sq->tail;
	d[4].value = qrdma_psn_diff(sq->max_psn, sq->una);
	d[5].value = sq->rd_atomic;
	d[6].value = sq->retries_left;
	d[7].value = sq->srtt;
	spin_unlock_bh(&sq->lock);
	spin_lock_bh(&rq->lock);
	d[9].value = rq->srq ? 0 : qrdma_rring_posted(&rq->ring);
	d[10].value = rq->msn;
	d[11].value = rq->res_head - rq->out_tail;
	spin_unlock_bh(&rq->lock);
	return put(msg, NULL, d, ARRAY_SIZE(d));
}

static int fill_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct qrdma_cq *cq = to_qcq(ibcq);
	struct detail d[5];

	spin_lock_irq(&cq->lock);
	d[0] = (struct detail) { "entries", qrdma_cq_fill(cq) };
	d[1] = (struct detail) { "armed", cq->notify };
	d[2] = (struct detail) { "overflowed", cq->overflowed };
	d[3] = (struct detail) { "mod_count", cq->mod_count };
	d[4] = (struct detail) { "mod_period_us", cq->mod_period };
	spin_unlock_irq(&cq->lock);
	return put(msg, NULL, d, ARRAY_SIZE(d));
}

static int fill_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct qrdma_srq *srq = to_qsrq(ibsrq);
	struct detail d[3];

	spin_lock_irq(&srq->ring.lock);
	d[0] = (struct detail) { "size", srq->ring.max_wr };
	d[1] = (struct detail) { "posted", qrdma_rring_posted(&srq->ring) };
	d[2] = (struct detail) { "limit", srq->limit };
	spin_unlock_irq(&srq->ring.lock);
	return put(msg, NULL, d, ARRAY_SIZE(d));
}

static int fill_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	static const char * const types[] = {
		[QRDMA_MR_DMA] = "dma",
		[QRDMA_MR_FAST_REG] = "fast-reg",
		[QRDMA_MR_USER] = "user",
	};
	struct qrdma_mr *mr = to_qmr(ibmr);
	struct detail d[5];

	spin_lock_bh(&mr->lock);
	d[0] = (struct detail) { "valid", mr->state == QRDMA_MR_VALID };
	d[1] = (struct detail) { "access", mr->access };
	d[2] = (struct detail) { "pages", mr->nr_pages };
	d[3] = (struct detail) { "page_size", mr->page_shift ?
				 1UL << mr->page_shift : 0 };
	d[4] = (struct detail) { "windows", atomic_read(&mr->windows) };
	spin_unlock_bh(&mr->lock);
	return put(msg, types[mr->type], d, ARRAY_SIZE(d));
}

const struct ib_device_ops qrdma_restrack_ops = {
	.fill_res_cq_entry = fill_cq,
	.fill_res_mr_entry = fill_mr,
	.fill_res_qp_entry = fill_qp,
	.fill_res_srq_entry = fill_srq,
};
