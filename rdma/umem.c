// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions of processes: pinned pages, reached through the kernel's own
 * mapping of them. Runs in process context. The pages stay the process's to
 * write to: whoever sends from them sends a copy.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>
#include "path.h"
#include "verbs-compat.h"

/* Sizes that an entry of a region's page list may have. */
#define PAGE_SIZES	GENMASK(ilog2(SZ_1G), PAGE_SHIFT)

/* What a registration puts into a region. */
struct backing {
	struct ib_umem	*umem;
	u64		*pages;
	u32		nr_pages;
	u32		page_shift;
};

static void release(struct backing *b)
{
	kvfree(b->pages);
	ib_umem_release(b->umem);
}

/* Pieces as large as physical memory allows: few, for huge pages. */
static int list_pages(struct backing *b)
{
	struct ib_block_iter iter;
	unsigned long size;
	u32 i = 0;

	size = ib_umem_find_best_pgsz(b->umem, PAGE_SIZES, b->umem->address);
	if (!size)
		return -EINVAL;
	b->page_shift = ilog2(size);
	b->nr_pages = ib_umem_num_dma_blocks(b->umem, size);
	b->pages = kvcalloc(b->nr_pages, sizeof(*b->pages), GFP_KERNEL_ACCOUNT);
	if (!b->pages)
		return -ENOMEM;
	rdma_umem_for_each_dma_block(b->umem, &iter, size)
		b->pages[i++] = rdma_block_iter_dma_address(&iter);
	return 0;
}

static int pin(struct backing *b, struct ib_device *ibdev, u64 start,
	       u64 length, int access)
{
	int err;

	*b = (struct backing){};
	b->umem = compat_umem_get(ibdev, start, length, access);
	if (IS_ERR(b->umem))
		return PTR_ERR(b->umem);
	err = list_pages(b);
	if (err)
		release(b);
	return err;
}

/* Put new pages in and take the old ones out. Nobody reads them meanwhile. */
static void swap_backing(struct qrdma_mr *mr, struct backing *b)
{
	u32 page_size = 1U << b->page_shift;

	swap(mr->umem, b->umem);
	swap(mr->pages, b->pages);
	mr->nr_pages = b->nr_pages;
	mr->page_shift = b->page_shift;
	mr->offset = mr->umem->address & (page_size - 1);
}

static void set_range(struct qrdma_mr *mr, u64 iova, u64 length, int access)
{
	mr->iova = access & IB_ZERO_BASED ? 0 : iova;
	mr->length = length;
}

struct ib_mr *qrdma_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access,
				QRDMA_REG_USER_MR_DMAH struct ib_udata *udata)
{
	struct qrdma_mr *mr;
	struct backing b;
	int err;

	if (QRDMA_HAS_DMAH)
		return ERR_PTR(-EOPNOTSUPP);
	mr = qrdma_mr_new(pd, QRDMA_MR_USER);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	err = pin(&b, pd->device, start, length, access);
	if (err)
		goto err_free;
	swap_backing(mr, &b);
	set_range(mr, iova, length, access);
	mr->access = access;
	mr->state = QRDMA_MR_VALID;
	err = qrdma_mr_publish(mr);
	if (err)
		goto err_free;
	return &mr->ibmr;

err_free:
	qrdma_mr_free(mr);
	return ERR_PTR(err);
}

/*
 * Pages pinned for reading only, and now to be written to, have to be pinned
 * anew: from the same addresses, which mean something to their owner only.
 */
static int pin_again(struct backing *b, const struct qrdma_mr *mr, int access)
{
	if (mr->umem->owning_mm != current->mm)
		return -EPERM;
	return pin(b, mr->ibmr.device, mr->umem->address, mr->umem->length,
		   access);
}

/*
 * In place: the keys stay. All that can fail is done before the old
 * registration is touched; packets that come in between find no valid key.
 */
struct ib_mr *qrdma_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *pd, struct ib_udata *udata)
{
	struct qrdma_mr *mr = to_qmr(ibmr);
	struct backing b = {};
	int err = 0;

	if (flags & ~IB_MR_REREG_SUPPORTED)
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	if (flags & IB_MR_REREG_TRANS)
		err = pin(&b, ibmr->device, start, length, access);
	else if (ib_access_writable(access) && !mr->umem->writable)
		err = pin_again(&b, mr, access);
	if (err)
		return ERR_PTR(err);

	/* Not where a window hangs on it. */
	err = qrdma_mr_suspend(mr);
	if (err) {
		release(&b);
		return ERR_PTR(err);
	}
	if (b.umem)
		swap_backing(mr, &b);
	if (flags & IB_MR_REREG_TRANS)
		set_range(mr, iova, length, access);
	if (flags & IB_MR_REREG_PD)
		ibmr->pd = pd;
	mr->access = access;
	qrdma_mr_resume(mr);
	release(&b);
	return NULL;
}
