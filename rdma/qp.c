// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue pairs: create, modify, query, destroy. Process context; the state
 * itself may change in any context, see qrdma_qp_fail().
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <kunit-hooks.h>
#include "path.h"
#include "verbs-compat.h"

/*
 * All QPs of the module by number, QP1 excepted: dev->gsi has it. Changed
 * under its own lock, read under RCU: destroy waits a grace period.
 */
static DEFINE_XARRAY_ALLOC(qps);
static u32 next_qpn;

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

static bool set_state(struct qrdma_qp *qp, enum ib_qp_state from,
		      enum ib_qp_state to)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&qp->state_lock, flags);
	ok = qp->state == from;
	if (ok)
		WRITE_ONCE(qp->state, to);
	spin_unlock_irqrestore(&qp->state_lock, flags);
	return ok;
}

void qrdma_qp_queue_work(struct qrdma_qp *qp)
{
	KUNIT_STATIC_STUB_REDIRECT(qrdma_qp_queue_work, qp);
	queue_work(quarry_bh_wq, &qp->work);
}

void qrdma_qp_fail(struct qrdma_qp *qp)
{
	unsigned long flags;
	bool failed = false;

	spin_lock_irqsave(&qp->state_lock, flags);
	if (qp->state != IB_QPS_RESET && qp->state != IB_QPS_ERR) {
		WRITE_ONCE(qp->state, IB_QPS_ERR);
		failed = true;
	}
	spin_unlock_irqrestore(&qp->state_lock, flags);
	if (failed)
		qrdma_qp_queue_work(qp);
}

static void event(struct qrdma_qp *qp, enum ib_event_type type)
{
	struct ib_event ev = {
		.device = qp->ibqp.device,
		.element.qp = &qp->ibqp,
		.event = type,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&ev, qp->ibqp.qp_context);
}

/* One at a time for a queue: who comes meanwhile leaves a mark. */
static void call_handler(struct qrdma_cq *cq)
{
	unsigned long flags;
	bool mine, again;

	if (!cq->ibcq.comp_handler)
		return;
	spin_lock_irqsave(&cq->lock, flags);
	mine = !cq->notifying;
	cq->notify_again = !mine;
	cq->notifying = true;
	spin_unlock_irqrestore(&cq->lock, flags);
	while (mine) {
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
		spin_lock_irqsave(&cq->lock, flags);
		again = cq->notify_again;
		cq->notify_again = false;
		cq->notifying = again;
		spin_unlock_irqrestore(&cq->lock, flags);
		mine = again;
	}
}

static void notify_events(struct qrdma_qp *qp, u32 flags)
{
	static const struct {
		u32 flag;
		enum ib_event_type type;
	} events[] = {
		{ QRDMA_NT_COMM_EST, IB_EVENT_COMM_EST },
		{ QRDMA_NT_SQ_DRAINED, IB_EVENT_SQ_DRAINED },
		{ QRDMA_NT_QP_FATAL, IB_EVENT_QP_FATAL },
		{ QRDMA_NT_QP_REQ_ERR, IB_EVENT_QP_REQ_ERR },
		{ QRDMA_NT_QP_ACCESS_ERR, IB_EVENT_QP_ACCESS_ERR },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (flags & events[i].flag)
			event(qp, events[i].type);
	if (flags & QRDMA_NT_SEND_CQ_ERR)
		qrdma_cq_overflow(qp->send_cq);
	if (flags & QRDMA_NT_RECV_CQ_ERR)
		qrdma_cq_overflow(qp->recv_cq);
}

void qrdma_qp_notify(struct qrdma_qp *qp, const struct qrdma_notify *nt)
{
	if (nt->flags & QRDMA_NT_SEND_CQ)
		call_handler(qp->send_cq);
	if (nt->flags & QRDMA_NT_RECV_CQ)
		call_handler(qp->recv_cq);
	if (unlikely(nt->flags & ~(QRDMA_NT_SEND_CQ | QRDMA_NT_RECV_CQ)))
		notify_events(qp, nt->flags);
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

static int check_init(const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (init->qp_type != IB_QPT_RC && init->qp_type != IB_QPT_GSI)
		return -EOPNOTSUPP;
	if (init->create_flags || init->srq)
		return -EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq ||
	    cap->max_send_wr > QRDMA_MAX_QP_WR ||
	    cap->max_recv_wr > QRDMA_MAX_QP_WR ||
	    cap->max_send_sge > QRDMA_MAX_SGE ||
	    cap->max_recv_sge > QRDMA_MAX_SGE ||
	    cap->max_inline_data > QRDMA_MAX_INLINE)
		return -EINVAL;
	return 0;
}

static int init_sq(struct qrdma_sq *sq, const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;
	u32 size = roundup_pow_of_two(max(cap->max_send_wr, 1U));

	spin_lock_init(&sq->post_lock);
	spin_lock_init(&sq->lock);
	sq->max_wr = cap->max_send_wr;
	sq->max_sge = cap->max_send_sge;
	sq->max_inline = cap->max_inline_data;
	sq->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	sq->mask = size - 1;
	sq->stride = ALIGN(sizeof(struct qrdma_swqe) +
			   max_t(u32, sq->max_sge * sizeof(struct ib_sge),
				 sq->max_inline), sizeof(u64));
	sq->ip_id = get_random_u16();
	sq->buf = kvcalloc(size, sq->stride, GFP_KERNEL);
	return sq->buf ? 0 : -ENOMEM;
}

static int init_rq(struct qrdma_rq *rq, const struct ib_qp_init_attr *init)
{
	struct qrdma_rring *ring = &rq->ring;
	u32 size = roundup_pow_of_two(max(init->cap.max_recv_wr, 1U));

	spin_lock_init(&rq->lock);
	spin_lock_init(&ring->lock);
	ring->max_wr = init->cap.max_recv_wr;
	ring->max_sge = init->cap.max_recv_sge;
	ring->mask = size - 1;
	ring->stride = struct_size_t(struct qrdma_rwqe, sge, ring->max_sge);
	rq->ip_id = get_random_u16();
	ring->buf = kvcalloc(size, ring->stride, GFP_KERNEL);
	return ring->buf ? 0 : -ENOMEM;
}

static void free_queues(struct qrdma_qp *qp)
{
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

static int create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		     struct ib_udata *udata)
{
	struct qrdma_qp *qp = to_qqp(ibqp);
	int err;

	err = check_init(init);
	if (err)
		return err;
	qp->dev = to_qdev(ibqp->device);
	qp->type = init->qp_type;
	if (atomic_inc_return(&qp->dev->nr_qps) > QRDMA_MAX_QP) {
		err = -ENOMEM;
		goto err_uncount;
	}
	/* Who uses the device keeps its code. */
	if (qp->type != IB_QPT_GSI && !try_module_get(THIS_MODULE)) {
		err = -ENODEV;
		goto err_uncount;
	}
	qp->state = IB_QPS_RESET;
	qp->send_cq = to_qcq(init->send_cq);
	qp->recv_cq = to_qcq(init->recv_cq);
	qp->init = *init;
	qp->mtu = QRDMA_MAX_PAYLOAD;
	mutex_init(&qp->mutex);
	spin_lock_init(&qp->state_lock);
	INIT_WORK(&qp->work, work);
	qrdma_timer_init(qp);

	err = init_sq(&qp->sq, init);
	if (!err)
		err = init_rq(&qp->rq, init);
	if (!err)
		err = dst_cache_init(&qp->dst, GFP_KERNEL);
	if (err)
		goto err_free_queues;
	err = publish(qp);
	if (err)
		goto err_free_dst;
	return 0;

err_free_dst:
	dst_cache_destroy(&qp->dst);
err_free_queues:
	free_queues(qp);
	if (qp->type != IB_QPT_GSI)
		module_put(THIS_MODULE);
err_uncount:
	atomic_dec(&qp->dev->nr_qps);
	return err;
}

/*
 * Stop all that runs for the QP: receive, sends and handlers (bottom halves
 * off, so an RCU grace period waits for them), its timer, its work.
 */
static void quiesce(struct qrdma_qp *qp)
{
	if (qp->type == IB_QPT_RC)
		qrdma_rq_ack_now(qp);
	spin_lock_irq(&qp->state_lock);
	WRITE_ONCE(qp->state, IB_QPS_RESET);
	spin_unlock_irq(&qp->state_lock);
	/* Who saw the old state may start the timer until this is over. */
	synchronize_rcu_expedited();
	hrtimer_cancel(&qp->timer);
	hrtimer_cancel(&qp->ack_timer);
	cancel_work_sync(&qp->work);
}

static int destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct qrdma_qp *qp = to_qqp(ibqp);

	unpublish(qp);
	quiesce(qp);
	dst_cache_destroy(&qp->dst);
	free_queues(qp);
	atomic_dec(&qp->dev->nr_qps);
	if (qp->type != IB_QPT_GSI)
		module_put(THIS_MODULE);
	return 0;
}

static void reset(struct qrdma_qp *qp)
{
	struct qrdma_sq *sq = &qp->sq;
	struct qrdma_rq *rq = &qp->rq;

	quiesce(qp);
	spin_lock_bh(&sq->lock);
	sq->tail = sq->head;
	sq->cur = sq->head;
	sq->fresh = sq->head;
	sq->cur_pkt = 0;
	sq->rd_atomic = 0;
	sq->read_psns = 0;
	sq->starved = false;
	sq->probing = false;
	sq->rnr_wait = false;
	sq->rewound = false;
	sq->timer_on = false;
	sq->rtt_start = 0;
	sq->srtt = 0;
	sq->backoff = 0;
	spin_unlock_bh(&sq->lock);

	spin_lock_bh(&rq->lock);
	rq->ring.tail = rq->ring.head;
	rq->flags = 0;
	rq->wqe = NULL;
	rq->msn = 0;
	rq->nak_sent = false;
	rq->rnr_sent = false;
	rq->established = false;
	rq->ack_owed = false;
	rq->ack_timer_on = false;
	rq->ack_armed = 0;
	rq->ack_skip = 0;
	rq->out_tail = rq->res_head;
	rq->dups = 0;
	spin_unlock_bh(&rq->lock);
	memset(&qp->attr, 0, sizeof(qp->attr));
}

static int check_attr(const struct ib_qp_attr *attr, int mask)
{
	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (mask & (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE))
		return -EOPNOTSUPP;
	if (((mask & IB_QP_PORT) && attr->port_num != 1) ||
	    ((mask & IB_QP_PKEY_INDEX) &&
	     attr->pkey_index >= QRDMA_PKEY_TBL_LEN) ||
	    ((mask & IB_QP_PATH_MTU) &&
	     (attr->path_mtu < IB_MTU_256 || attr->path_mtu > IB_MTU_4096)) ||
	    ((mask & IB_QP_TIMEOUT) && attr->timeout > 31) ||
	    ((mask & IB_QP_RETRY_CNT) && attr->retry_cnt > 7) ||
	    ((mask & IB_QP_RNR_RETRY) && attr->rnr_retry > 7) ||
	    ((mask & IB_QP_MIN_RNR_TIMER) && attr->min_rnr_timer > 31) ||
	    ((mask & IB_QP_MAX_QP_RD_ATOMIC) &&
	     attr->max_rd_atomic > QRDMA_MAX_RD_ATOMIC) ||
	    ((mask & IB_QP_MAX_DEST_RD_ATOMIC) &&
	     attr->max_dest_rd_atomic > QRDMA_MAX_RD_ATOMIC) ||
	    ((mask & IB_QP_DEST_QPN) && attr->dest_qp_num > QRDMA_QPN_MASK) ||
	    ((mask & IB_QP_SQ_PSN) && attr->sq_psn > QRDMA_PSN_MASK) ||
	    ((mask & IB_QP_RQ_PSN) && attr->rq_psn > QRDMA_PSN_MASK))
		return -EINVAL;
	return 0;
}

/* Memory for the answers to READs and atomics; more than may be under way,
 * for those that are asked for again.
 */
static int set_max_dest_rd(struct qrdma_qp *qp, u32 n)
{
	u32 size = roundup_pow_of_two(2 * n + 2);
	struct qrdma_atomic *atomics;
	struct qrdma_rq *rq = &qp->rq;
	struct qrdma_rres *res;

	atomics = kcalloc(n, sizeof(*atomics), GFP_KERNEL);
	res = kcalloc(size, sizeof(*res), GFP_KERNEL);
	if (!res || !atomics) {
		kfree(res);
		kfree(atomics);
		return -ENOMEM;
	}
	spin_lock_bh(&rq->lock);
	swap(rq->res, res);
	swap(rq->atomics, atomics);
	rq->atomics_head = 0;
	rq->res_mask = size - 1;
	rq->max_dest_rd = n;
	rq->res_head = 0;
	rq->out_tail = 0;
	rq->dups = 0;
	spin_unlock_bh(&rq->lock);
	kfree(res);
	kfree(atomics);
	return 0;
}

static int set_av(struct qrdma_qp *qp, const struct ib_qp_attr *attr)
{
	struct qrdma_av av = {};
	int err;

	err = qrdma_av_from_attr(&attr->ah_attr, &av);
	if (err)
		return err;
	av.sport = qrdma_sport(&attr->ah_attr, qp->ibqp.qp_num,
			       qp->attr.dest_qp_num);
	qp->av = av;
	dst_cache_reset(&qp->dst);
	return 0;
}

static void apply_rq(struct qrdma_qp *qp, const struct ib_qp_attr *attr,
		     int mask)
{
	struct qrdma_rq *rq = &qp->rq;

	spin_lock_bh(&rq->lock);
	if (mask & IB_QP_RQ_PSN) {
		rq->psn = attr->rq_psn;
		rq->ack_sent = qrdma_psn_add(attr->rq_psn, QRDMA_PSN_MASK);
		rq->ack_penalty = 1;
	}
	if (mask & IB_QP_ACCESS_FLAGS)
		rq->access = attr->qp_access_flags;
	if (mask & IB_QP_MIN_RNR_TIMER)
		rq->min_rnr_timer = attr->min_rnr_timer;
	spin_unlock_bh(&rq->lock);
}

static void apply_sq(struct qrdma_qp *qp, const struct ib_qp_attr *attr,
		     int mask)
{
	struct qrdma_sq *sq = &qp->sq;

	spin_lock_bh(&sq->lock);
	if (mask & IB_QP_SQ_PSN) {
		sq->psn = attr->sq_psn;
		sq->una = attr->sq_psn;
		sq->max_psn = attr->sq_psn;
		sq->ack_asked = attr->sq_psn;
		sq->timer_una = attr->sq_psn;
	}
	if (mask & IB_QP_TIMEOUT)
		sq->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT) {
		sq->retry_cnt = attr->retry_cnt;
		sq->retries_left = attr->retry_cnt;
	}
	if (mask & IB_QP_RNR_RETRY) {
		sq->rnr_retry = attr->rnr_retry;
		sq->rnr_left = attr->rnr_retry;
	}
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		sq->max_rd_atomic = attr->max_rd_atomic;
	sq->sqd_told = !((mask & IB_QP_EN_SQD_ASYNC_NOTIFY) &&
			 attr->en_sqd_async_notify);
	spin_unlock_bh(&sq->lock);
}

/* Keep what query_qp is to return. */
static void remember(struct ib_qp_attr *to, const struct ib_qp_attr *attr,
		     int mask)
{
	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_PKEY_INDEX)
		to->pkey_index = attr->pkey_index;
	if (mask & IB_QP_PORT)
		to->port_num = attr->port_num;
	if (mask & IB_QP_QKEY)
		to->qkey = attr->qkey;
	if (mask & IB_QP_AV)
		to->ah_attr = attr->ah_attr;
	if (mask & IB_QP_PATH_MTU)
		to->path_mtu = attr->path_mtu;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = attr->dest_qp_num;
}

/* All that a transition sets is in place before the state is seen. */
static int apply(struct qrdma_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	int err;

	if (mask & IB_QP_PATH_MTU) {
		int room = READ_ONCE(qp->dev->ndev->mtu) - QRDMA_MTU_OVERHEAD;

		if (attr->path_mtu > ib_mtu_int_to_enum(room))
			return -EINVAL;
		qp->mtu = ib_mtu_enum_to_int(attr->path_mtu);
	}
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC) {
		err = set_max_dest_rd(qp, attr->max_dest_rd_atomic);
		if (err)
			return err;
	}
	if (mask & IB_QP_DEST_QPN)
		qp->dqpn = attr->dest_qp_num;
	remember(&qp->attr, attr, mask);
	if (mask & IB_QP_AV) {
		err = set_av(qp, attr);
		if (err)
			return err;
	}
	apply_rq(qp, attr, mask);
	apply_sq(qp, attr, mask);
	return 0;
}

/* The owner ends the QP: memory is not read for its peer any more. */
static void drop_answers(struct qrdma_qp *qp)
{
	struct qrdma_rq *rq = &qp->rq;

	spin_lock_bh(&rq->lock);
	rq->out_tail = rq->res_head;
	rq->dups = 0;
	rq->ack_owed = false;
	spin_unlock_bh(&rq->lock);
}

/* May a QP of this type in state @cur be modified so? */
VISIBLE_IF_KUNIT int qrdma_qp_check_modify(enum ib_qp_type type,
					   enum ib_qp_state cur,
					   const struct ib_qp_attr *attr,
					   int mask)
{
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : cur;

	if ((mask & IB_QP_CUR_STATE) && attr->cur_qp_state != cur)
		return -EINVAL;
	if (!ib_modify_qp_is_ok(cur, next, type, mask))
		return -EINVAL;
	return check_attr(attr, mask);
}

static int modify_locked(struct qrdma_qp *qp, struct ib_qp_attr *attr, int mask)
{
	enum ib_qp_state cur = READ_ONCE(qp->state), next;
	int err;

	lockdep_assert_held(&qp->mutex);
	err = qrdma_qp_check_modify(qp->type, cur, attr, mask);
	if (err)
		return err;
	next = mask & IB_QP_STATE ? attr->qp_state : cur;

	if (next == IB_QPS_RESET) {
		reset(qp);
		return 0;
	}
	if (next == IB_QPS_ERR) {
		qrdma_rq_ack_now(qp);
		qrdma_qp_fail(qp);
		drop_answers(qp);
		return 0;
	}
	err = apply(qp, attr, mask);
	if (err)
		return err;
	if (!set_state(qp, cur, next))
		return -EINVAL; /* it failed meanwhile */
	/* Back from SQD, or told to drain. */
	if (cur != next)
		qrdma_qp_queue_work(qp);
	return 0;
}

static int modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		     struct ib_udata *udata)
{
	struct qrdma_qp *qp = to_qqp(ibqp);
	int err;

	mutex_lock(&qp->mutex);
	err = modify_locked(qp, attr, mask);
	mutex_unlock(&qp->mutex);
	return err;
}

static int query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init)
{
	struct qrdma_qp *qp = to_qqp(ibqp);

	mutex_lock(&qp->mutex);
	*attr = qp->attr;
	*init = qp->init;
	attr->qp_state = READ_ONCE(qp->state);
	attr->cur_qp_state = attr->qp_state;
	attr->cap = qp->init.cap;
	spin_lock_bh(&qp->sq.lock);
	attr->sq_psn = qp->sq.psn;
	attr->sq_draining = attr->qp_state == IB_QPS_SQD &&
			    qp->sq.tail != qp->sq.fresh;
	spin_unlock_bh(&qp->sq.lock);
	spin_lock_bh(&qp->rq.lock);
	attr->rq_psn = qp->rq.psn;
	spin_unlock_bh(&qp->rq.lock);
	mutex_unlock(&qp->mutex);
	return 0;
}

const struct ib_device_ops qrdma_qp_ops = {
	.create_qp = create_qp,
	.modify_qp = modify_qp,
	.query_qp = query_qp,
	.destroy_qp = destroy_qp,
	.post_send = qrdma_post_send,
	.post_recv = qrdma_post_recv,

	INIT_RDMA_OBJ_SIZE(ib_qp, qrdma_qp, ibqp),
};
