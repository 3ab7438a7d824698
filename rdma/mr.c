// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions and their keys. Verbs run in process context; look-ups in
 * the packet path, under RCU. A copy holds its region by a count of users;
 * who takes the region's validity away waits for them, so that no byte moves
 * after an invalidation has completed.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <rdma/ib_umem.h>
#include "path.h"
#include "verbs-compat.h"

/*
 * All regions of the module by the index in their key: a key's PD tells
 * whose it is. Changed under its own lock, read under RCU.
 */
static DEFINE_XARRAY(mrs);

#define KEY_INDEX(key)	((key) >> 8)

void qrdma_mr_table_exit(void)
{
	unsigned long i = 0;

	WARN_ON(xa_find(&mrs, &i, ULONG_MAX, XA_PRESENT));
	/* Where memory ran out, nodes without an entry are left. */
	xa_destroy(&mrs);
}

int qrdma_mr_publish(struct qrdma_mr *mr)
{
	int err, tries = 1000;
	u32 key;

	/* Drawn at random: no key tells anything of another. */
	do {
		key = get_random_u32();
		if (!KEY_INDEX(key))
			key |= 1U << 31;
		mr->key = key;
		mr->ibmr.lkey = key;
		mr->ibmr.rkey = key;
		err = xa_insert(&mrs, KEY_INDEX(key), mr, GFP_KERNEL);
	} while (err == -EBUSY && --tries);
	return err == -EBUSY ? -ENOMEM : err;
}

/* Regions and windows have a limit each. */
static atomic_t *count_of(struct qrdma_dev *dev, enum qrdma_mr_type type,
			  int *max)
{
	bool window = type == QRDMA_MR_WINDOW_1 || type == QRDMA_MR_WINDOW_2;

	*max = window ? QRDMA_MAX_MW : QRDMA_MAX_MR;
	return window ? &dev->nr_mws : &dev->nr_mrs;
}

struct qrdma_mr *qrdma_mr_new(struct ib_pd *pd, enum qrdma_mr_type type)
{
	struct qrdma_mr *mr;
	atomic_t *count;
	int max;

	count = count_of(to_qdev(pd->device), type, &max);
	if (!qrdma_count_in(count, max))
		return ERR_PTR(-ENOMEM);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr) {
		atomic_dec(count);
		return ERR_PTR(-ENOMEM);
	}
	spin_lock_init(&mr->lock);
	mr->ibmr.device = pd->device;
	mr->ibmr.pd = pd;
	mr->type = type;
	return mr;
}

void qrdma_mr_free(struct qrdma_mr *mr)
{
	int max;

	atomic_dec(count_of(to_qdev(mr->ibmr.device), mr->type, &max));
	kvfree(mr->next_pages);
	kvfree(mr->pages);
	ib_umem_release(mr->umem);
	kfree_rcu(mr, rcu);
}

static struct ib_mr *get_dma_mr(struct ib_pd *pd, int access)
{
	struct qrdma_mr *mr;
	int err;

	mr = qrdma_mr_new(pd, QRDMA_MR_DMA);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->access = access;
	mr->length = U64_MAX;
	mr->state = QRDMA_MR_VALID;
	err = qrdma_mr_publish(mr);
	if (err) {
		qrdma_mr_free(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

static struct ib_mr *alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			      u32 max_num_sg)
{
	struct qrdma_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > QRDMA_MAX_FR_PAGES)
		return ERR_PTR(-EINVAL);

	mr = qrdma_mr_new(pd, QRDMA_MR_FAST_REG);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->pages = kvcalloc(max_num_sg, sizeof(*mr->pages), GFP_KERNEL);
	mr->next_pages = kvcalloc(max_num_sg, sizeof(*mr->pages), GFP_KERNEL);
	if (!mr->pages || !mr->next_pages) {
		err = -ENOMEM;
		goto err_free;
	}
	mr->max_pages = max_num_sg;
	mr->state = QRDMA_MR_FREE;
	err = qrdma_mr_publish(mr);
	if (err)
		goto err_free;
	return &mr->ibmr;

err_free:
	qrdma_mr_free(mr);
	return ERR_PTR(err);
}

struct qrdma_mr *qrdma_mr_find(u32 key)
{
	return xa_load(&mrs, KEY_INDEX(key));
}

void qrdma_mr_unpublish(struct qrdma_mr *mr)
{
	xa_erase(&mrs, KEY_INDEX(mr->key));
}

void qrdma_mr_wait(struct qrdma_mr *mr)
{
	smp_mb(); /* state before users; pairs with the one in qrdma_mr_get() */
	while (atomic_read(&mr->users))
		cpu_relax();
	smp_acquire__after_ctrl_dep();
}

int qrdma_mr_suspend(struct qrdma_mr *mr)
{
	int err = 0;

	spin_lock_bh(&mr->lock);
	if (atomic_read(&mr->windows))
		err = -EBUSY;
	else
		WRITE_ONCE(mr->state, QRDMA_MR_FREE);
	spin_unlock_bh(&mr->lock);
	if (!err)
		qrdma_mr_wait(mr);
	return err;
}

void qrdma_mr_resume(struct qrdma_mr *mr)
{
	spin_lock_bh(&mr->lock);
	/* pairs with the acquire in qrdma_mr_get() */
	smp_store_release(&mr->state, QRDMA_MR_VALID);
	spin_unlock_bh(&mr->lock);
}

static int dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct qrdma_mr *mr = to_qmr(ibmr);
	int err;

	err = qrdma_mr_suspend(mr);
	if (err)
		return err;
	qrdma_mr_unpublish(mr);
	/* It may have been registered once more in between. */
	qrdma_mr_suspend(mr);
	qrdma_mr_free(mr);
	return 0;
}

static int set_page(struct ib_mr *ibmr, u64 addr)
{
	struct qrdma_mr *mr = to_qmr(ibmr);

	if (mr->nr_next == mr->max_pages)
		return -ENOMEM;
	mr->next_pages[mr->nr_next++] = addr;
	return 0;
}

/* The registration in force is not touched: its end may be queued only. */
static int map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sgl, int nents,
		     unsigned int *sg_offset)
{
	struct qrdma_mr *mr = to_qmr(ibmr);

	if (mr->type != QRDMA_MR_FAST_REG)
		return -EINVAL;
	mr->nr_next = 0;
	return ib_sg_to_pages(ibmr, sgl, nents, sg_offset, set_page);
}

int qrdma_mr_register(struct qrdma_mr *mr, struct ib_pd *pd, u32 key,
		      int access)
{
	struct ib_mr *ibmr = &mr->ibmr;
	u32 offset = ibmr->iova & (ibmr->page_size - 1);
	u32 nr_pages = mr->nr_next ?: mr->nr_pages;
	int err = -EINVAL;

	if (ibmr->pd != pd || mr->type != QRDMA_MR_FAST_REG ||
	    KEY_INDEX(key) != KEY_INDEX(mr->key) ||
	    DIV_ROUND_UP_ULL((u64)offset + ibmr->length, ibmr->page_size) >
	    nr_pages)
		return -EINVAL;

	spin_lock(&mr->lock);
	if (mr->state != QRDMA_MR_FREE)
		goto unlock;
	/* Whoever made it free has waited for the readers of all this. */
	if (mr->nr_next) /* else the same list once more */
		swap(mr->pages, mr->next_pages);
	mr->nr_pages = nr_pages;
	mr->nr_next = 0;
	mr->key = key;
	mr->access = access;
	mr->iova = ibmr->iova;
	mr->length = ibmr->length;
	mr->page_shift = ilog2(ibmr->page_size);
	mr->offset = offset;
	/* pairs with the acquire in qrdma_mr_get() */
	smp_store_release(&mr->state, QRDMA_MR_VALID);
	err = 0;
unlock:
	spin_unlock(&mr->lock);
	return err;
}

/* IBTA 10.6.5: a peer may invalidate what it was given rights on. */
static bool remote_may_invalidate(const struct qrdma_mr *mr)
{
	return mr->access & (IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE |
			     IB_ACCESS_REMOTE_ATOMIC);
}

static int invalidate(struct qrdma_mr *mr, u32 key, bool remote)
{
	int err = -EINVAL;

	spin_lock(&mr->lock);
	if (mr->key != key || (remote && !remote_may_invalidate(mr)) ||
	    atomic_read(&mr->windows))
		goto unlock;
	/* Locally, a region that is free already is no error. */
	if (mr->state == QRDMA_MR_VALID || !remote)
		err = 0;
	WRITE_ONCE(mr->state, QRDMA_MR_FREE);
unlock:
	spin_unlock(&mr->lock);
	/* Whoever made it free, the caller may rely on no byte moving now. */
	if (!err)
		qrdma_mr_wait(mr);
	return err;
}

int qrdma_mr_invalidate(const struct qrdma_qp *qp, u32 key, bool remote)
{
	struct qrdma_mr *mr;
	int err = -EINVAL;

	rcu_read_lock();
	mr = qrdma_mr_find(key);
	if (mr && mr->ibmr.pd == qp->ibqp.pd) {
		if (mr->type == QRDMA_MR_FAST_REG)
			err = invalidate(mr, key, remote);
		else if (qrdma_is_window(mr))
			err = qrdma_mw_invalidate(qp, mr, key, remote);
	}
	rcu_read_unlock();
	return err;
}

/* A wild address is the user's mistake, not an oops here. */
static bool in_kernel_memory(u64 addr, u64 len)
{
	return addr + len >= addr && len &&
	       virt_addr_valid(ib_virt_dma_to_ptr(addr)) &&
	       virt_addr_valid(ib_virt_dma_to_ptr(addr + len - 1));
}

/* A window is there for the peer only, and of type 2, for one QP's. */
static bool window_serves(const struct qrdma_mr *win, const struct qrdma_qp *qp)
{
	return qp && (win->type == QRDMA_MR_WINDOW_1 ||
		      win->owner == qp->serial);
}

/* @qp is the one whose peer asks, or NULL. */
static bool allows(const struct qrdma_mr *mr, const struct qrdma_qp *qp,
		   int access, u64 iova, u64 len)
{
	if ((mr->access & access) != access)
		return false;
	if (unlikely(mr->type != QRDMA_MR_FAST_REG)) {
		if (mr->type == QRDMA_MR_DMA)
			return in_kernel_memory(iova, len);
		if (qrdma_is_window(mr) && !window_serves(mr, qp))
			return false;
	}
	return (iova >= mr->iova && len <= mr->length &&
		iova - mr->iova <= mr->length - len) ||
	       unlikely(len == QRDMA_WHOLE_MR);
}

static __always_inline struct qrdma_mr *get(const struct ib_pd *pd, u32 key,
					    const struct qrdma_qp *qp,
					    int access, u64 iova, u64 len)
{
	struct qrdma_mr *mr;

	rcu_read_lock();
	mr = qrdma_mr_find(key);
	if (!mr)
		goto none;
	atomic_inc(&mr->users);
	smp_mb__after_atomic(); /* pairs with qrdma_mr_wait() */
	/* pairs with the release in qrdma_mr_register() */
	if (smp_load_acquire(&mr->state) != QRDMA_MR_VALID ||
	    mr->ibmr.pd != pd || mr->key != key ||
	    !allows(mr, qp, access, iova, len)) {
		atomic_dec(&mr->users);
		goto none;
	}
	rcu_read_unlock();
	return mr;
none:
	rcu_read_unlock();
	return NULL;
}

struct qrdma_mr *qrdma_mr_get(const struct ib_pd *pd, u32 lkey, int access,
			      u64 iova, u64 len)
{
	return get(pd, lkey, NULL, access, iova, len);
}

struct qrdma_mr *qrdma_mr_get_remote(const struct qrdma_qp *qp, u32 rkey,
				     int access, u64 iova, u64 len)
{
	return get(qp->ibqp.pd, rkey, qp, access, iova, len);
}

void qrdma_mr_put(struct qrdma_mr *mr)
{
	smp_mb__before_atomic(); /* the copy is over before the count drops */
	atomic_dec(&mr->users);
}

void *qrdma_mr_piece(const struct qrdma_mr *mr, u64 iova, u32 *len)
{
	u64 off;
	u32 in_page, left;

	if (mr->type == QRDMA_MR_DMA)
		return ib_virt_dma_to_ptr(iova);
	off = iova - mr->iova + mr->offset;
	in_page = off & ((1U << mr->page_shift) - 1);
	left = (1U << mr->page_shift) - in_page;
	*len = min(*len, left);
	return ib_virt_dma_to_ptr(mr->pages[off >> mr->page_shift]) + in_page;
}

const struct ib_device_ops qrdma_mr_ops = {
	.get_dma_mr = get_dma_mr,
	.reg_user_mr = qrdma_reg_user_mr,
	.rereg_user_mr = qrdma_rereg_user_mr,
	.alloc_mr = alloc_mr,
	.dereg_mr = dereg_mr,
	.map_mr_sg = map_mr_sg,
};
