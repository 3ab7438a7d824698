// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of a queue pair and its attributes: modify, query, and the moves
 * that errors make. Verbs run in process context under qp->mutex; errors come
 * in any context. Which attributes a verb may and must bring along for which
 * move, by type, is the core's table of IBTA volume 1, table 91.
 */
#include <linux/delay.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <kunit-hooks.h>
#include "path.h"
#include "trace.h"

/* Where an error takes a QP. */
static const u8 after_error[] = {
	[IB_QPS_RESET] = IB_QPS_RESET,
	[IB_QPS_INIT] = IB_QPS_ERR,
	[IB_QPS_RTR] = IB_QPS_ERR,
	[IB_QPS_RTS] = IB_QPS_ERR,
	[IB_QPS_SQD] = IB_QPS_ERR,
	[IB_QPS_SQE] = IB_QPS_ERR,
	[IB_QPS_ERR] = IB_QPS_ERR,
};

/* And one of its send queue, where the type lets it live on to receive. */
static const u8 after_sq_error[] = {
	[IB_QPS_RESET] = IB_QPS_RESET,
	[IB_QPS_INIT] = IB_QPS_INIT,
	[IB_QPS_RTR] = IB_QPS_RTR,
	[IB_QPS_RTS] = IB_QPS_SQE,
	[IB_QPS_SQD] = IB_QPS_SQE,
	[IB_QPS_SQE] = IB_QPS_SQE,
	[IB_QPS_ERR] = IB_QPS_ERR,
};

static_assert(ARRAY_SIZE(after_error) == IB_QPS_ERR + 1);
static_assert(ARRAY_SIZE(after_sq_error) == IB_QPS_ERR + 1);

/* Where every change of state is made. */
static void move(struct qrdma_qp *qp, enum ib_qp_state to)
{
	lockdep_assert_held(&qp->state_lock);
	if (qp->state == to)
		return;
	trace_qrdma_state(qp, qp->state, to);
	WRITE_ONCE(qp->state, to);
}

void qrdma_qp_stop(struct qrdma_qp *qp)
{
	spin_lock_irq(&qp->state_lock);
	move(qp, IB_QPS_RESET);
	spin_unlock_irq(&qp->state_lock);
}

/* By a verb: not where an error has come first. */
static bool set_state(struct qrdma_qp *qp, enum ib_qp_state from,
		      enum ib_qp_state to)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&qp->state_lock, flags);
	ok = qp->state == from;
	if (ok)
		move(qp, to);
	spin_unlock_irqrestore(&qp->state_lock, flags);
	return ok;
}

static void fail(struct qrdma_qp *qp, const u8 *after)
{
	unsigned long flags;
	bool moved;

	spin_lock_irqsave(&qp->state_lock, flags);
	moved = qp->state != after[qp->state];
	move(qp, after[qp->state]);
	spin_unlock_irqrestore(&qp->state_lock, flags);
	if (moved)
		qrdma_qp_queue_work(qp);
}

void qrdma_qp_fail(struct qrdma_qp *qp)
{
	fail(qp, after_error);
}

void qrdma_sq_fail(struct qrdma_qp *qp)
{
	fail(qp, qp->type == IB_QPT_RC ? after_error : after_sq_error);
}

static int check_attr(const struct ib_qp_attr *attr, int mask)
{
	/* Paths do not migrate, and queues keep their size. */
	if (mask & ~IB_QP_ATTR_STANDARD_BITS ||
	    mask & (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE | IB_QP_CAP))
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

/* Answers that are due, and the latest results, from the old rings to new. */
static void move_answers(struct qrdma_rq *rq, struct qrdma_rres *res, u32 mask,
			 struct qrdma_atomic *atomics, u32 n)
{
	u32 i, head = 0, kept = min3(n, rq->max_dest_rd, rq->atomics_head);

	lockdep_assert_held(&rq->lock);
	for (i = rq->out_tail; i != rq->res_head; i++)
		res[head++ & mask] = rq->res[i & rq->res_mask];
	for (i = 0; i < kept; i++)
		atomics[i] = rq->atomics[(rq->atomics_head - kept + i) %
					 rq->max_dest_rd];
	rq->atomics_head = kept;
	rq->out_tail = 0;
	rq->res_head = head;
}

/*
 * Memory for the answers to READs and atomics; more than may be under way,
 * for those that are asked for again. What is there stays.
 */
static int set_max_dest_rd(struct qrdma_qp *qp, u32 n)
{
	struct qrdma_rq *rq = &qp->rq;
	u32 size = max(roundup_pow_of_two(2 * n + 2), rq->res_mask + 1);
	struct qrdma_atomic *atomics;
	struct qrdma_rres *res;

	atomics = kcalloc(n, sizeof(*atomics), GFP_KERNEL_ACCOUNT);
	res = kcalloc(size, sizeof(*res), GFP_KERNEL_ACCOUNT);
	if (!res || !atomics) {
		kfree(res);
		kfree(atomics);
		return -ENOMEM;
	}
	spin_lock_bh(&rq->lock);
	move_answers(rq, res, size - 1, atomics, n);
	swap(rq->res, res);
	swap(rq->atomics, atomics);
	rq->res_mask = size - 1;
	rq->max_dest_rd = n;
	spin_unlock_bh(&rq->lock);
	kfree(res);
	kfree(atomics);
	return 0;
}

/* Take the part of the one who sends, so that nobody else does. */
static void claim(spinlock_t *lock, bool *running)
{
	bool mine = false;

	while (!mine) {
		spin_lock_bh(lock);
		mine = !*running;
		*running = true;
		spin_unlock_bh(lock);
		if (!mine)
			usleep_range(10, 50);
	}
}

static void unclaim(spinlock_t *lock, bool *running)
{
	spin_lock_bh(lock);
	*running = false;
	spin_unlock_bh(lock);
}

/* The address vector is in use by whoever sends, which in SQD goes on. */
static int set_av(struct qrdma_qp *qp, const struct ib_qp_attr *attr)
{
	struct qrdma_av av = {};
	int err;

	err = qrdma_av_from_attr(&attr->ah_attr, &av);
	if (err)
		return err;
	av.sport = qrdma_sport(&attr->ah_attr, qp->ibqp.qp_num,
			       qp->attr.dest_qp_num);
	claim(&qp->sq.lock, &qp->sq.running);
	claim(&qp->rq.lock, &qp->rq.running);
	qp->av = av;
	dst_cache_reset(&qp->dst);
	unclaim(&qp->rq.lock, &qp->rq.running);
	unclaim(&qp->sq.lock, &qp->sq.running);
	/* For those who left their work to us. */
	qrdma_qp_queue_work(qp);
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
	if (mask & IB_QP_QKEY)
		WRITE_ONCE(qp->qkey, attr->qkey);
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
		qrdma_gap_reset(sq);
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
	if (mask & IB_QP_AV) {
		to->ah_attr = attr->ah_attr;
		/* The reference is the core's. */
		to->ah_attr.grh.sgid_attr = NULL;
	}
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
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		to->en_sqd_async_notify = attr->en_sqd_async_notify;
}

/* All that a transition sets is in place before the state is seen. */
static int apply(struct qrdma_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	int err;

	if (mask & IB_QP_PATH_MTU) {
		if (ib_mtu_enum_to_int(attr->path_mtu) >
		    qrdma_dev_mtu(qp->dev))
			return -EINVAL;
		qp->mtu = ib_mtu_enum_to_int(attr->path_mtu);
	}
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC) {
		err = set_max_dest_rd(qp, attr->max_dest_rd_atomic);
		if (err)
			return err;
	}
	if (mask & IB_QP_DEST_QPN) {
		qp->dqpn = attr->dest_qp_num;
		qp->attr.dest_qp_num = attr->dest_qp_num;
	}
	if (mask & IB_QP_AV) {
		err = set_av(qp, attr);
		if (err)
			return err;
	}
	remember(&qp->attr, attr, mask);
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

/* What those use that are on their way. */
#define DRAINED_ATTRS \
	(IB_QP_AV | IB_QP_PORT | IB_QP_PKEY_INDEX | IB_QP_TIMEOUT | \
	 IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC)

static bool draining(struct qrdma_qp *qp)
{
	bool yes;

	spin_lock_bh(&qp->sq.lock);
	yes = qp->state == IB_QPS_SQD && qp->sq.tail != qp->sq.fresh;
	spin_unlock_bh(&qp->sq.lock);
	return yes;
}

/* The drained event is due once, and only where it was asked for. */
static void prepare_drain(struct qrdma_qp *qp, const struct ib_qp_attr *attr,
			  int mask)
{
	spin_lock_bh(&qp->sq.lock);
	qp->sq.sqd_told = !((mask & IB_QP_EN_SQD_ASYNC_NOTIFY) &&
			    attr->en_sqd_async_notify);
	spin_unlock_bh(&qp->sq.lock);
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
		qrdma_qp_reset(qp);
		return 0;
	}
	if (next == IB_QPS_ERR) {
		qrdma_rq_ack_now(qp);
		qrdma_qp_fail(qp);
		drop_answers(qp);
		return 0;
	}
	/* 10.3.1.5: what is still under way keeps what it was started with. */
	if (cur == IB_QPS_SQD && mask & DRAINED_ATTRS && draining(qp))
		return -EINVAL;
	err = apply(qp, attr, mask);
	if (err)
		return err;
	if (next == IB_QPS_SQD && cur != IB_QPS_SQD)
		prepare_drain(qp, attr, mask);
	if (!set_state(qp, cur, next))
		return -EINVAL; /* it failed meanwhile */
	/* Back from SQD, or told to drain. */
	if (cur != next)
		qrdma_qp_queue_work(qp);
	return 0;
}

int qrdma_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct qrdma_qp *qp = to_qqp(ibqp);
	int err;

	mutex_lock(&qp->mutex);
	err = modify_locked(qp, attr, mask);
	mutex_unlock(&qp->mutex);
	return err;
}

int qrdma_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct qrdma_qp *qp = to_qqp(ibqp);

	mutex_lock(&qp->mutex);
	*attr = qp->attr;
	*init = qp->init;
	attr->qp_state = READ_ONCE(qp->state);
	attr->cur_qp_state = attr->qp_state;
	attr->cap = qp->init.cap;
	attr->sq_draining = draining(qp);
	spin_lock_bh(&qp->sq.lock);
	attr->sq_psn = qp->sq.psn;
	spin_unlock_bh(&qp->sq.lock);
	spin_lock_bh(&qp->rq.lock);
	attr->rq_psn = qp->rq.psn;
	spin_unlock_bh(&qp->rq.lock);
	mutex_unlock(&qp->mutex);
	return 0;
}
