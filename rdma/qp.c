// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue pairs: create, destroy, reset, and their work. Process context, but
 * for the work and what it calls.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <kunit-hooks.h>
#include <rdma/uverbs_ioctl.h>
#include "path.h"
#include "verbs-compat.h"

/*
 * All QPs of the module by number, QP1 excepted: dev->gsi has it. Changed
 * under its own lock, read under RCU: destroy waits a grace period.
 */
static DEFINE_XARRAY_ALLOC(qps);
static u32 next_qpn;
static atomic64_t last_serial;

void qrdma_qp_table_init(void)
{
	/* Where numbering starts is not to be guessed, nor reused at once. */
	next_qpn = get_random_u32_below(QRDMA_QPN_MASK - 2) + 2;
}

void qrdma_qp_table_exit(void)
{
	unsigned long i = 0;

	WARN_ON(xa_find(&qps, &i, ULONG_MAX, XA_PRESENT));
	/* Where memory ran out, nodes without an entry are left. */
	xa_destroy(&qps);
}

struct qrdma_qp *qrdma_qp_find(u32 qpn)
{
	return xa_load(&qps, qpn);
}

void qrdma_qp_queue_work(struct qrdma_qp *qp)
{
	KUNIT_STATIC_STUB_REDIRECT(qrdma_qp_queue_work, qp);
	queue_work(quarry_bh_wq, &qp->work);
}

/* Run both engines. Context: bottom halves off, no lock of the QP held. */
static void run(struct qrdma_qp *qp)
{
	struct qrdma_notify nt = {
		.flags = atomic_xchg(&qp->nt_left, 0),
	};

	spin_lock(&qp->sq.lock);
	qrdma_sq_run(qp, &nt);
	spin_unlock(&qp->sq.lock);

	spin_lock(&qp->rq.lock);
	if (qp->state == IB_QPS_ERR)
		qrdma_rq_flush(qp, &nt);
	qrdma_rq_run(qp, &nt);
	spin_unlock(&qp->rq.lock);

	qrdma_qp_notify(qp, &nt);
}

static void work(struct work_struct *work)
{
	local_bh_disable();
	run(container_of(work, struct qrdma_qp, work));
	local_bh_enable();
}

/* What a QP's type decides of how its packets look. */
static const struct {
	bool	known;
	bool	connected;
	u8	transport;
} kinds[] = {
	[IB_QPT_GSI] = { true, false, IB_OPCODE_UD },
	[IB_QPT_RC] = { true, true, IB_OPCODE_RC },
	[IB_QPT_UC] = { true, true, IB_OPCODE_UC },
	[IB_QPT_UD] = { true, false, IB_OPCODE_UD },
};

static int check_init(const struct ib_device *ibdev,
		      const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (init->qp_type > IB_QPT_UD || !kinds[init->qp_type].known ||
	    init->create_flags || init->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq ||
	    init->send_cq->device != ibdev || init->recv_cq->device != ibdev ||
	    (init->srq && (init->srq->device != ibdev ||
			   init->qp_type == IB_QPT_GSI)) ||
	    cap->max_send_wr > QRDMA_MAX_QP_WR ||
	    cap->max_recv_wr > QRDMA_MAX_QP_WR ||
	    cap->max_send_sge > QRDMA_MAX_SGE ||
	    cap->max_recv_sge > QRDMA_MAX_SGE ||
	    cap->max_inline_data > QRDMA_MAX_INLINE)
		return -EINVAL;
	return 0;
}

static int init_sq(struct qrdma_sq *sq, const struct ib_qp_init_attr *init,
		   bool user)
{
	const struct ib_qp_cap *cap = &init->cap;
	u32 size = user ? qrdma_ring_slots(cap->max_send_wr) :
			  roundup_pow_of_two(max(cap->max_send_wr, 1U));

	spin_lock_init(&sq->post_lock);
	spin_lock_init(&sq->lock);
	sq->max_wr = cap->max_send_wr;
	sq->max_sge = cap->max_send_sge;
	sq->max_inline = cap->max_inline_data;
	sq->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	sq->mask = size - 1;
	/* The value of an atomic write needs as much as that at least. */
	sq->stride = ALIGN(sizeof(struct qrdma_swqe) +
			   max3(sq->max_sge * (u32)sizeof(struct ib_sge),
				sq->max_inline, (u32)sizeof(u64)), sizeof(u64));
	sq->ip_id = get_random_u16();
	sq->buf = kvcalloc(size, sq->stride, GFP_KERNEL_ACCOUNT);
	return sq->buf ? 0 : -ENOMEM;
}

static struct qrdma_rwqe *pull_user(struct qrdma_rq *rq)
{
	return qrdma_rring_take(&rq->ring, &rq->ring);
}

/*
 * With a shared queue or a process's, the own one has room for the entry that
 * is in use.
 */
static int init_rq(struct qrdma_qp *qp, struct ib_qp_init_attr *init, bool user)
{
	struct qrdma_rq *rq = &qp->rq;
	struct qrdma_rring *ring = &rq->ring;
	u32 size;

	spin_lock_init(&rq->lock);
	spin_lock_init(&ring->lock);
	__skb_queue_head_init(&rq->early);
	rq->pd = qp->ibqp.pd;
	if (user)
		rq->pull = pull_user;
	if (init->srq) {
		rq->pull = qrdma_srq_take;
		rq->srq = to_qsrq(init->srq);
		rq->pd = init->srq->pd;
		init->cap.max_recv_wr = 0;
		init->cap.max_recv_sge = 0;
	}
	size = user ? 1 : roundup_pow_of_two(max(init->cap.max_recv_wr, 1U));
	ring->max_wr = init->cap.max_recv_wr;
	ring->max_sge = init->srq ? rq->srq->ring.max_sge :
				    init->cap.max_recv_sge;
	ring->mask = size - 1;
	ring->stride = struct_size_t(struct qrdma_rwqe, sge, ring->max_sge);
	rq->ip_id = get_random_u16();
	ring->buf = kvcalloc(size, ring->stride, GFP_KERNEL_ACCOUNT);
	return ring->buf ? 0 : -ENOMEM;
}

/* The queues that a process posts to; it may post as many as they have room. */
static int init_user(struct qrdma_qp *qp, struct ib_qp_cap *cap,
		     struct ib_udata *udata)
{
	struct qrdma_rring *rring = &qp->rq.ring;
	struct rxe_create_qp_resp resp = {};
	struct qrdma_sq *sq = &qp->sq;
	struct qrdma_ring *ring;
	size_t sges;

	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	sges = sq->max_sge * sizeof(struct rxe_sge);
	ring = qrdma_ring_create(udata, sq->mask + 1,
				 sizeof(struct rxe_send_wqe) +
				 max3(sges, (size_t)sq->max_inline,
				      sizeof(u64)), &resp.sq_mi);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	sq->user = ring;
	cap->max_send_wr = ring->mask;
	if (qp->rq.srq)
		return ib_copy_to_udata(udata, &resp, sizeof(resp));
	sges = rring->max_sge * sizeof(struct rxe_sge);
	ring = qrdma_ring_create(udata, qrdma_ring_slots(cap->max_recv_wr),
				 sizeof(struct rxe_recv_wqe) + sges,
				 &resp.rq_mi);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	rring->user = ring;
	cap->max_recv_wr = ring->mask;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static int init_queues(struct qrdma_qp *qp, struct ib_qp_init_attr *init,
		       struct ib_udata *udata)
{
	int err;

	err = init_sq(&qp->sq, init, udata);
	if (!err)
		err = init_rq(qp, init, udata);
	if (!err && udata)
		err = init_user(qp, &init->cap, udata);
	return err;
}

static void free_queues(struct qrdma_qp *qp)
{
	qrdma_ring_destroy(qp->rq.ring.user);
	qrdma_ring_destroy(qp->sq.user);
	kfree(qp->rq.atomics);
	kfree(qp->rq.res);
	kvfree(qp->rq.ring.buf);
	kvfree(qp->sq.buf);
}

/* Make the QP known by its number. */
static int publish(struct qrdma_qp *qp)
{
	struct qrdma_dev *dev = qp->dev;
	u32 qpn;
	int err;

	if (qp->type == IB_QPT_GSI) {
		if (cmpxchg((struct qrdma_qp __force **)&dev->gsi, NULL, qp))
			return -EBUSY;
		qp->ibqp.qp_num = 1;
		return 0;
	}
	/* Known before it is found: reserve the number, then fill it in. */
	err = xa_alloc_cyclic(&qps, &qpn, NULL, XA_LIMIT(2, QRDMA_QPN_MASK - 1),
			      &next_qpn, GFP_KERNEL);
	if (err < 0)
		return err;
	qp->ibqp.qp_num = qpn;
	xa_store(&qps, qpn, qp, GFP_KERNEL);
	return 0;
}

static void unpublish(struct qrdma_qp *qp)
{
	if (qp->type == IB_QPT_GSI)
		RCU_INIT_POINTER(qp->dev->gsi, NULL);
	else
		xa_erase(&qps, qp->ibqp.qp_num);
}

/*
 * A kernel user of the device keeps its code. The core's own QP1 does not,
 * nor does a process: its objects go with the device.
 */
static bool holds_module(const struct qrdma_qp *qp)
{
	return qp->type != IB_QPT_GSI && !qp->ibqp.uobject;
}

static bool hold_module(const struct qrdma_qp *qp)
{
	return !holds_module(qp) || try_module_get(THIS_MODULE);
}

static void release_module(const struct qrdma_qp *qp)
{
	if (holds_module(qp))
		module_put(THIS_MODULE);
}

static int create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		     struct ib_udata *udata)
{
	struct qrdma_qp *qp = to_qqp(ibqp);
	int err;

	err = check_init(ibqp->device, init);
	if (err)
		return err;
	qp->dev = to_qdev(ibqp->device);
	qp->type = init->qp_type;
	qp->connected = kinds[qp->type].connected;
	qp->transport = kinds[qp->type].transport;
	if (!qrdma_count_in(&qp->dev->nr_qps, QRDMA_MAX_QP))
		return -ENOMEM;
	if (!hold_module(qp)) {
		err = -ENODEV;
		goto err_uncount;
	}
	qp->state = IB_QPS_RESET;
	qp->serial = atomic64_inc_return(&last_serial);
	qp->send_cq = to_qcq(init->send_cq);
	qp->recv_cq = to_qcq(init->recv_cq);
	qp->mtu = QRDMA_MAX_PAYLOAD;
	mutex_init(&qp->mutex);
	spin_lock_init(&qp->state_lock);
	INIT_WORK(&qp->work, work);
	qrdma_timer_init(qp);

	err = init_queues(qp, init, udata);
	if (!err)
		err = dst_cache_init(&qp->dst, GFP_KERNEL_ACCOUNT);
	if (err)
		goto err_free_queues;
	qp->init = *init;
	err = publish(qp);
	if (err)
		goto err_free_dst;
	qrdma_cq_attach(qp);
	return 0;

err_free_dst:
	dst_cache_destroy(&qp->dst);
err_free_queues:
	free_queues(qp);
	release_module(qp);
err_uncount:
	atomic_dec(&qp->dev->nr_qps);
	return err;
}

/*
 * The work that was to call handlers will not run. What the queues' handlers
 * have to be told outlasts the QP: a queue that is armed no more, with a
 * completion in it, would be waited for in vain. Events of the QP do not.
 */
static void tell_queues(struct qrdma_qp *qp)
{
	struct qrdma_notify nt = {
		.flags = atomic_xchg(&qp->nt_left, 0) & QRDMA_NT_OF_CQS,
	};

	local_bh_disable();
	qrdma_qp_notify(qp, &nt);
	local_bh_enable();
}

/*
 * Stop all that runs for the QP: receive, sends and handlers (bottom halves
 * off, so an RCU grace period waits for them), its timer, its work.
 */
static void quiesce(struct qrdma_qp *qp)
{
	if (qp->type == IB_QPT_RC)
		qrdma_rq_ack_now(qp);
	qrdma_qp_stop(qp);
	/* Who saw the old state may start the timer until this is over. */
	synchronize_rcu_expedited();
	hrtimer_cancel(&qp->timer);
	hrtimer_cancel(&qp->ack_timer);
	cancel_work_sync(&qp->work);
	spin_lock_bh(&qp->rq.lock);
	qrdma_early_drop(&qp->rq);
	spin_unlock_bh(&qp->rq.lock);
	tell_queues(qp);
}

static int destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct qrdma_qp *qp = to_qqp(ibqp);

	unpublish(qp);
	qrdma_cq_detach(qp);
	quiesce(qp);
	dst_cache_destroy(&qp->dst);
	free_queues(qp);
	atomic_dec(&qp->dev->nr_qps);
	release_module(qp);
	return 0;
}

void qrdma_qp_reset(struct qrdma_qp *qp)
{
	struct qrdma_sq *sq = &qp->sq;
	struct qrdma_rq *rq = &qp->rq;

	quiesce(qp);
	spin_lock_bh(&sq->lock);
	if (sq->user)
		qrdma_sq_skip(qp);
	sq->tail = sq->head;
	sq->cur = sq->head;
	sq->fresh = sq->head;
	sq->cur_pkt = 0;
	sq->rd_atomic = 0;
	sq->read_psns = 0;
	sq->starved = false;
	sq->repair_due = false;
	sq->repairing = false;
	sq->keeps = false;
	sq->asking = false;
	sq->go_backs = 0;
	sq->probing = false;
	sq->rnr_wait = false;
	sq->rewound = false;
	sq->timer_on = false;
	sq->rtt_start = 0;
	sq->srtt = 0;
	sq->backoff = 0;
	spin_unlock_bh(&sq->lock);

	spin_lock_bh(&rq->lock);
	if (rq->ring.user)
		qrdma_rring_skip(&rq->ring);
	rq->ring.tail = rq->ring.head;
	rq->flags = 0;
	rq->wqe = NULL;
	rq->msn = 0;
	rq->nak_sent = false;
	rq->rnr_sent = false;
	rq->established = false;
	rq->ack_owed = false;
	rq->ack_now = false;
	rq->ack_timer_on = false;
	rq->starved = false;
	rq->ack_armed = 0;
	/* One that came to wait meanwhile would go to the next peer. */
	atomic64_set(&rq->ack_later, 0);
	rq->ack_skip = 0;
	rq->flush_wait = 0;
	rq->out_tail = rq->res_head;
	rq->dups = 0;
	rq->atomics_head = 0;
	rq->last_told = false;
	spin_unlock_bh(&rq->lock);
	clear_bit(QRDMA_QP_CQ_FAILED, &qp->flags);
	qp->qkey = 0;
	memset(&qp->attr, 0, sizeof(qp->attr));
}

const struct ib_device_ops qrdma_qp_ops = {
	.create_qp = create_qp,
	.modify_qp = qrdma_modify_qp,
	.query_qp = qrdma_query_qp,
	.destroy_qp = destroy_qp,
	.post_send = qrdma_post_send,
	.post_recv = qrdma_post_recv,

	INIT_RDMA_OBJ_SIZE(ib_qp, qrdma_qp, ibqp),
};
