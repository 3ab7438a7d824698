// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions and their keys. Verbs run in process context; look-ups in
 * the packet path, under RCU. A copy holds its region by a count of users;
 * who takes the region's validity away waits for them, so that no byte moves
 * after an invalidation has completed.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/random.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "path.h"
#include "verbs-compat.h"

/*
 * All regions of the module by the index in their key: a key's PD tells
 * whose it is. Changed under its own lock, read under RCU.
 */
static DEFINE_XARRAY(mrs);

#define KEY_INDEX(key)	((key) >> 8)

/* Give the region a key and make it visible to look-ups. */
static int publish(struct qrdma_mr *mr)
{
	u32 key;
	int err;

	/* Drawn at random: no key tells anything of another. */
	do {
		key = get_random_u32();
		if (!KEY_INDEX(key))
			key |= 1U << 31;
		mr->key = key;
		mr->ibmr.lkey = key;
		mr->ibmr.rkey = key;
		err = xa_insert(&mrs, KEY_INDEX(key), mr, GFP_KERNEL);
	} while (err == -EBUSY);
	return err;
}

static struct ib_mr *get_dma_mr(struct ib_pd *pd, int access)
{
	struct qrdma_mr *mr;
	int err;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->ibmr.device = pd->device;
	mr->ibmr.pd = pd;
	mr->type = QRDMA_MR_DMA;
	mr->access = access;
	mr->length = U64_MAX;
	mr->state = QRDMA_MR_VALID;
	err = publish(mr);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

/* The core asks for the verb; user contexts do not exist yet. */
static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				 u64 virt_addr, int access,
				 QRDMA_REG_USER_MR_DMAH
				 struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
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

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->pages = kvcalloc(max_num_sg, sizeof(*mr->pages), GFP_KERNEL);
	if (!mr->pages) {
		err = -ENOMEM;
		goto err_free_mr;
	}
	mr->ibmr.device = pd->device;
	mr->ibmr.pd = pd;
	mr->type = QRDMA_MR_FAST_REG;
	mr->max_pages = max_num_sg;
	mr->state = QRDMA_MR_FREE;
	err = publish(mr);
	if (err)
		goto err_free_pages;
	return &mr->ibmr;

err_free_pages:
	kvfree(mr->pages);
err_free_mr:
	kfree(mr);
	return ERR_PTR(err);
}

/* Make the region unusable, and wait until no copy uses it any more. */
static void revoke(struct qrdma_mr *mr)
{
	WRITE_ONCE(mr->state, QRDMA_MR_FREE);
	smp_mb(); /* pairs with the one in qrdma_mr_get() */
	while (atomic_read(&mr->users))
		cpu_relax();
}

static int dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct qrdma_mr *mr = to_qmr(ibmr);

	xa_erase(&mrs, KEY_INDEX(mr->key));
	revoke(mr);
	kvfree(mr->pages);
	kfree_rcu(mr, rcu);
	return 0;
}

static int set_page(struct ib_mr *ibmr, u64 addr)
{
	struct qrdma_mr *mr = to_qmr(ibmr);

	if (mr->nr_pages == mr->max_pages)
		return -ENOMEM;
	mr->pages[mr->nr_pages++] = addr;
	return 0;
}

static int map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sgl, int nents,
		     unsigned int *sg_offset)
{
	struct qrdma_mr *mr = to_qmr(ibmr);

	/* The page list of a valid region is in use. */
	if (mr->type != QRDMA_MR_FAST_REG ||
	    READ_ONCE(mr->state) != QRDMA_MR_FREE)
		return -EINVAL;
	mr->nr_pages = 0;
	return ib_sg_to_pages(ibmr, sgl, nents, sg_offset, set_page);
}

int qrdma_mr_register(struct qrdma_mr *mr, struct ib_pd *pd, u32 key,
		      int access)
{
	struct ib_mr *ibmr = &mr->ibmr;

	if (ibmr->pd != pd || mr->type != QRDMA_MR_FAST_REG ||
	    KEY_INDEX(key) != KEY_INDEX(mr->key) ||
	    READ_ONCE(mr->state) != QRDMA_MR_FREE)
		return -EINVAL;
	mr->key = key;
	mr->access = access;
	mr->iova = ibmr->iova;
	mr->length = ibmr->length;
	mr->page_shift = ilog2(ibmr->page_size);
	mr->offset = ibmr->iova & (ibmr->page_size - 1);
	/* What is read after the state was found valid is all new. */
	smp_store_release(&mr->state, QRDMA_MR_VALID);
	return 0;
}

int qrdma_mr_invalidate(struct ib_pd *pd, u32 key, bool remote)
{
	struct qrdma_mr *mr;
	int err = -EINVAL;

	rcu_read_lock();
	mr = xa_load(&mrs, KEY_INDEX(key));
	if (!mr || mr->ibmr.pd != pd || mr->type != QRDMA_MR_FAST_REG ||
	    READ_ONCE(mr->key) != key)
		goto unlock;
	/* IBTA 10.6.5: a peer may invalidate what it was given rights on. */
	if (remote && !(READ_ONCE(mr->access) & (IB_ACCESS_REMOTE_READ |
						 IB_ACCESS_REMOTE_WRITE |
						 IB_ACCESS_REMOTE_ATOMIC)))
		goto unlock;
	if (cmpxchg(&mr->state, QRDMA_MR_VALID, QRDMA_MR_FREE) != QRDMA_MR_VALID) {
		/* Locally, a region that is free already is no error. */
		err = remote ? -EINVAL : 0;
		goto unlock;
	}
	revoke(mr);
	err = 0;
unlock:
	rcu_read_unlock();
	return err;
}

static bool allows(const struct qrdma_mr *mr, int access, u64 iova, u64 len)
{
	if ((mr->access & access) != access)
		return false;
	if (mr->type == QRDMA_MR_DMA)
		return iova + len >= iova;
	return iova >= mr->iova && len <= mr->length &&
	       iova - mr->iova <= mr->length - len;
}

struct qrdma_mr *qrdma_mr_get(struct ib_pd *pd, u32 key, int access, u64 iova,
			      u64 len)
{
	struct qrdma_mr *mr;

	rcu_read_lock();
	mr = xa_load(&mrs, KEY_INDEX(key));
	if (!mr || mr->ibmr.pd != pd)
		goto none;
	atomic_inc(&mr->users);
	smp_mb__after_atomic(); /* pairs with the one in revoke() */
	if (smp_load_acquire(&mr->state) != QRDMA_MR_VALID ||
	    mr->key != key || !allows(mr, access, iova, len)) {
		atomic_dec(&mr->users);
		goto none;
	}
	rcu_read_unlock();
	return mr;
none:
	rcu_read_unlock();
	return NULL;
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
	.reg_user_mr = reg_user_mr,
	.alloc_mr = alloc_mr,
	.dereg_mr = dereg_mr,
	.map_mr_sg = map_mr_sg,
};
