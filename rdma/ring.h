/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queues that a process maps: send, receive and completion queues of user
 * QPs, in the layout of the soft-RoCE user ABI. All of such a queue, indices
 * included, is the process's to write to at any time. So what is read is read
 * once, and masked or copied before it is looked at; and what the kernel
 * writes is written from the kernel's own copy.
 */
#ifndef QRDMA_RING_H
#define QRDMA_RING_H

#include <linux/compiler.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_rxe.h>

/**
 * struct qrdma_ring - a queue that a process maps
 * @entry: the mapping's offset and its references
 * @buf: what is mapped; see above
 * @mask: number of slots less one: a full ring has one slot free
 * @shift: log2 of the bytes of a slot
 */
struct qrdma_ring {
	struct rdma_user_mmap_entry	entry;
	struct rxe_queue_buf		*buf;
	u32				mask;
	u32				shift;
};

/* Slots of a ring that holds @n entries. */
static inline u32 qrdma_ring_slots(u32 n)
{
	return roundup_pow_of_two(n + 1);
}

static inline void *qrdma_ring_slot(const struct qrdma_ring *ring, u32 i)
{
	return ring->buf->data + ((size_t)(i & ring->mask) << ring->shift);
}

/* What the process has produced; its slots may be read after this. */
static inline u32 qrdma_ring_producer(const struct qrdma_ring *ring)
{
	/* pairs with the release in librxe */
	return smp_load_acquire(&ring->buf->producer_index) & ring->mask;
}

/* What it has consumed; those slots may be written after this. */
static inline u32 qrdma_ring_consumer(const struct qrdma_ring *ring)
{
	/* pairs with the release in librxe */
	return smp_load_acquire(&ring->buf->consumer_index) & ring->mask;
}

/* Free running indices of ours, as the process is to see them. */
static inline void qrdma_ring_set_producer(struct qrdma_ring *ring, u32 i)
{
	/* pairs with the acquire in librxe */
	smp_store_release(&ring->buf->producer_index, i & ring->mask);
}

static inline void qrdma_ring_set_consumer(struct qrdma_ring *ring, u32 i)
{
	/* pairs with the acquire in librxe */
	smp_store_release(&ring->buf->consumer_index, i & ring->mask);
}

/**
 * qrdma_ring_create() - make a queue for a process
 * @udata: of the verb that asks for it
 * @slots: a power of two
 * @size: bytes of an entry
 * @info: filled in with what the process needs to map it
 *
 * Charged to the process's memory cgroup.
 *
 * Context: process, may sleep.
 * Return: the ring, or an error pointer.
 */
struct qrdma_ring *qrdma_ring_create(struct ib_udata *udata, u32 slots,
				     u32 size, struct mminfo *info);
/**
 * qrdma_ring_destroy() - the mirror of it
 * @ring: may be NULL. Memory that is mapped stays until it is unmapped
 *
 * Context: process, may sleep.
 */
void qrdma_ring_destroy(struct qrdma_ring *ring);

#endif
