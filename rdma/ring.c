// SPDX-License-Identifier: GPL-2.0-only
/*
 * User contexts, and the queues that are mapped into them. An offset to map
 * counts in its own context only. Runs in process context.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/uverbs_ioctl.h>
#include "path.h"

static int alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	return 0;
}

static void dealloc_ucontext(struct ib_ucontext *ibuc)
{
}

/*
 * The device goes while processes have it open: the core destroys their
 * objects, and what they have mapped is plain memory that nobody reads.
 */
static void disassociate_ucontext(struct ib_ucontext *ibuc)
{
}

struct qrdma_ring *qrdma_ring_create(struct ib_udata *udata, u32 slots,
				     u32 size, struct mminfo *info)
{
	struct qrdma_uctx *uctx =
		rdma_udata_to_drv_context(udata, struct qrdma_uctx, ibuc);
	u32 shift = order_base_2(size);
	struct qrdma_ring *ring;
	size_t bytes;
	int err;

	bytes = PAGE_ALIGN(sizeof(*ring->buf) + ((size_t)slots << shift));
	if (bytes > U32_MAX)
		return ERR_PTR(-EINVAL);
	ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);
	if (!ring)
		return ERR_PTR(-ENOMEM);
	ring->mask = slots - 1;
	ring->shift = shift;
	ring->buf = __vmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!ring->buf) {
		kfree(ring);
		return ERR_PTR(-ENOMEM);
	}
	ring->buf->log2_elem_size = shift;
	ring->buf->index_mask = ring->mask;
	err = rdma_user_mmap_entry_insert(&uctx->ibuc, &ring->entry, bytes);
	if (err) {
		vfree(ring->buf);
		kfree(ring);
		return ERR_PTR(err);
	}
	*info = (struct mminfo) {
		.offset = rdma_user_mmap_get_offset(&ring->entry),
		.size = bytes,
	};
	return ring;
}

void qrdma_ring_destroy(struct qrdma_ring *ring)
{
	if (ring)
		rdma_user_mmap_entry_remove(&ring->entry);
}

/* The last reference to an entry is gone; pages that are mapped have their own. */
static void mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct qrdma_ring *ring = container_of(entry, struct qrdma_ring, entry);

	vfree(ring->buf);
	kfree(ring);
}

static int map_pages(struct vm_area_struct *vma, void *buf)
{
	unsigned long addr = vma->vm_start;
	int err;

	for (; addr < vma->vm_end; addr += PAGE_SIZE, buf += PAGE_SIZE) {
		err = vm_insert_page(vma, addr, vmalloc_to_page(buf));
		if (err)
			return err;
	}
	return 0;
}

static int mmap_ring(struct ib_ucontext *ibuc, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	struct qrdma_ring *ring;
	int err;

	entry = rdma_user_mmap_entry_get(ibuc, vma);
	if (!entry)
		return -EINVAL;
	ring = container_of(entry, struct qrdma_ring, entry);
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	err = map_pages(vma, ring->buf);
	rdma_user_mmap_entry_put(entry);
	return err;
}

const struct ib_device_ops qrdma_ring_ops = {
	.alloc_ucontext = alloc_ucontext,
	.dealloc_ucontext = dealloc_ucontext,
	.disassociate_ucontext = disassociate_ucontext,
	.mmap = mmap_ring,
	.mmap_free = mmap_free,

	INIT_RDMA_OBJ_SIZE(ib_ucontext, qrdma_uctx, ibuc),
};
