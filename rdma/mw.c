// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory windows. A window has a key of its own, and while it is bound it
 * shares the pages of a region, which cannot go or change meanwhile. So to the
 * path a window is a region like others, but for whom it serves: type 1 any QP
 * of its domain, type 2 the QP that it was bound on (2B). Verbs run in process
 * context, binding and invalidation with bottom halves off. IBTA volume 1,
 * 10.6.7.
 */
#include <linux/slab.h>
#include "path.h"

#define WINDOW_ACCESS	(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_ATOMIC)

static int alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct qrdma_mr *win;
	int err;

	win = qrdma_mr_new(ibmw->pd, ibmw->type == IB_MW_TYPE_1 ?
			   QRDMA_MR_WINDOW_1 : QRDMA_MR_WINDOW_2);
	if (IS_ERR(win))
		return PTR_ERR(win);
	win->state = QRDMA_MR_FREE;
	err = qrdma_mr_publish(win);
	if (err) {
		qrdma_mr_free(win);
		return err;
	}
	to_qmw(ibmw)->win = win;
	ibmw->rkey = win->key;
	return 0;
}

/* No byte moves through it any more; let its region go. */
static void unbind(struct qrdma_mr *win)
{
	lockdep_assert_held(&win->lock);
	WRITE_ONCE(win->state, QRDMA_MR_FREE);
	qrdma_mr_wait(win);
	if (win->parent)
		atomic_dec(&win->parent->windows);
	win->parent = NULL;
	win->pages = NULL;
}

static int dealloc_mw(struct ib_mw *ibmw)
{
	struct qrdma_mr *win = to_qmw(ibmw)->win;

	qrdma_mr_unpublish(win);
	spin_lock_bh(&win->lock);
	unbind(win);
	/* Whoever has just found it cannot bind it any more. */
	win->key = 0;
	spin_unlock_bh(&win->lock);
	qrdma_mr_free(win);
	return 0;
}

/* C10-72 to C10-75: what a region must grant for such a window. */
static bool region_grants(const struct qrdma_mr *mr, const struct ib_pd *pd,
			  const struct qrdma_swqe *wqe)
{
	u64 addr = wqe->bind.addr, len = wqe->bind.length;

	if (mr->ibmr.pd != pd || mr->key != wqe->bind.lkey ||
	    READ_ONCE(mr->state) != QRDMA_MR_VALID ||
	    (mr->type != QRDMA_MR_USER && mr->type != QRDMA_MR_FAST_REG) ||
	    !(mr->access & IB_ACCESS_MW_BIND))
		return false;
	if (wqe->bind.access & (IB_ACCESS_REMOTE_WRITE |
				IB_ACCESS_REMOTE_ATOMIC) &&
	    !(mr->access & IB_ACCESS_LOCAL_WRITE))
		return false;
	return addr >= mr->iova && len <= mr->length &&
	       addr - mr->iova <= mr->length - len;
}

/* The part of a region that a window shows. */
struct view {
	u64	*pages;
	u32	page_shift;
	u32	offset;
};

/* From here on the region cannot go or change. */
static int hold_region(const struct qrdma_mr *win, struct qrdma_mr *mr,
		       const struct qrdma_swqe *wqe, struct view *v)
{
	int err = -EINVAL;
	u64 off;

	/* A region is not a window: there is no circle. */
	spin_lock_nested(&mr->lock, SINGLE_DEPTH_NESTING);
	if (region_grants(mr, win->ibmr.pd, wqe)) {
		atomic_inc(&mr->windows);
		off = wqe->bind.addr - mr->iova + mr->offset;
		v->page_shift = mr->page_shift;
		v->pages = mr->pages + (off >> mr->page_shift);
		v->offset = off & ((1U << mr->page_shift) - 1);
		err = 0;
	}
	spin_unlock(&mr->lock);
	return err;
}

static bool may_bind(const struct qrdma_mr *win, const struct qrdma_swqe *wqe)
{
	/* What the owner himself may do is the region's business. */
	int access = wqe->bind.access & ~IB_ACCESS_LOCAL_WRITE;

	if (win->key != wqe->bind.mw_rkey)
		return false;
	if (win->type == QRDMA_MR_WINDOW_1)
		return !(access & ~WINDOW_ACCESS);
	/* o10-37.2: bound once; and never to nothing. */
	return win->state == QRDMA_MR_FREE && wqe->bind.length &&
	       !(access & ~(WINDOW_ACCESS | IB_ZERO_BASED));
}

static int bind(const struct qrdma_qp *qp, struct qrdma_mr *win,
		struct qrdma_mr *mr, const struct qrdma_swqe *wqe)
{
	struct view v = {};
	int err;

	lockdep_assert_held(&win->lock);
	if (!may_bind(win, wqe))
		return -EINVAL;
	/* Type 1, to nothing: it is unbound. */
	if (!wqe->bind.length)
		mr = NULL;
	else if (!mr)
		return -EINVAL;
	if (mr) {
		err = hold_region(win, mr, wqe, &v);
		if (err)
			return err;
	}
	unbind(win);
	win->parent = mr;
	win->pages = v.pages;
	win->page_shift = v.page_shift;
	win->offset = v.offset;
	win->key = (win->key & ~0xff) | (wqe->bind.rkey & 0xff);
	win->access = wqe->bind.access & WINDOW_ACCESS;
	win->iova = wqe->bind.access & IB_ZERO_BASED ? 0 : wqe->bind.addr;
	win->length = wqe->bind.length;
	win->owner = qp->serial;
	if (mr) /* pairs with the acquire in qrdma_mr_get() */
		smp_store_release(&win->state, QRDMA_MR_VALID);
	return 0;
}

int qrdma_mw_bind(const struct qrdma_qp *qp, const struct qrdma_swqe *wqe)
{
	struct qrdma_mr *win, *mr;
	int err = -EINVAL;

	rcu_read_lock();
	win = qrdma_mr_find(wqe->bind.mw_rkey);
	mr = qrdma_mr_find(wqe->bind.lkey);
	if (win && qrdma_is_window(win) && win->ibmr.pd == qp->ibqp.pd &&
	    (!mr || !qrdma_is_window(mr))) {
		spin_lock(&win->lock);
		err = bind(qp, win, mr, wqe);
		spin_unlock(&win->lock);
	}
	rcu_read_unlock();
	return err;
}

int qrdma_mw_invalidate(const struct qrdma_qp *qp, struct qrdma_mr *win,
			u32 key, bool remote)
{
	int err = -EINVAL;

	spin_lock(&win->lock);
	if (win->key == key && win->type == QRDMA_MR_WINDOW_2 &&
	    (win->state == QRDMA_MR_VALID ? win->owner == qp->serial :
					    !remote)) {
		unbind(win);
		err = 0;
	}
	spin_unlock(&win->lock);
	return err;
}

const struct ib_device_ops qrdma_mw_ops = {
	.alloc_mw = alloc_mw,
	.dealloc_mw = dealloc_mw,

	INIT_RDMA_OBJ_SIZE(ib_mw, qrdma_mw, ibmw),
};
