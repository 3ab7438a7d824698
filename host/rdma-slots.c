// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a queue: commands, response buffers and memory regions, made
 * with the queue and mapped once, so that a command allocates and maps none
 * of them. Runs in process context while the queue is set up or taken down.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/gfp.h>
#include <linux/slab.h>
#include "host.h"

static int alloc_rsps(struct qhost_queue *queue)
{
	size_t size = array_size(queue->nr_rsps, sizeof(*queue->cqes));
	unsigned int i;

	queue->rsps = kvcalloc(queue->nr_rsps, sizeof(*queue->rsps),
			       GFP_KERNEL);
	if (!queue->rsps)
		return -ENOMEM;
	queue->cqes = alloc_pages_exact(size, GFP_KERNEL | __GFP_ZERO);
	if (!queue->cqes)
		goto err_free_rsps;
	queue->cqes_dma = ib_dma_map_single(queue->ibdev, queue->cqes, size,
					    DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(queue->ibdev, queue->cqes_dma))
		goto err_free_cqes;

	for (i = 0; i < queue->nr_rsps; i++) {
		struct qhost_rsp *rsp = &queue->rsps[i];

		rsp->data = &queue->cqes[i];
		rsp->sge.addr = queue->cqes_dma + i * sizeof(*queue->cqes);
		qhost_init_rsp(queue, rsp);
	}
	return 0;

err_free_cqes:
	free_pages_exact(queue->cqes, size);
err_free_rsps:
	kvfree(queue->rsps);
	return -ENOMEM;
}

static void free_rsps(struct qhost_queue *queue)
{
	size_t size = array_size(queue->nr_rsps, sizeof(*queue->cqes));

	ib_dma_unmap_single(queue->ibdev, queue->cqes_dma, size,
			    DMA_FROM_DEVICE);
	free_pages_exact(queue->cqes, size);
	kvfree(queue->rsps);
}

static int alloc_cmds(struct qhost_queue *queue)
{
	size_t size = array_size(queue->nr_slots, sizeof(*queue->cmds));

	queue->cmds = alloc_pages_exact(size, GFP_KERNEL | __GFP_ZERO);
	if (!queue->cmds)
		return -ENOMEM;
	queue->cmds_dma = ib_dma_map_single(queue->ibdev, queue->cmds, size,
					    DMA_TO_DEVICE);
	if (ib_dma_mapping_error(queue->ibdev, queue->cmds_dma)) {
		free_pages_exact(queue->cmds, size);
		return -ENOMEM;
	}
	return 0;
}

static void free_cmds(struct qhost_queue *queue)
{
	size_t size = array_size(queue->nr_slots, sizeof(*queue->cmds));

	ib_dma_unmap_single(queue->ibdev, queue->cmds_dma, size,
			    DMA_TO_DEVICE);
	free_pages_exact(queue->cmds, size);
}

static void free_slot(struct qhost_slot *slot)
{
	ib_dereg_mr(slot->mr);
	kfree(slot->ranges);
}

static int alloc_slot(struct qhost_queue *queue, unsigned int i)
{
	struct qhost_slot *slot = &queue->slots[i];
	struct qhost_ctrl *ctrl = queue->ctrl;

	if (queue->qid) {
		slot->ranges = kcalloc(QHOST_DSM_RANGES, sizeof(*slot->ranges),
				       GFP_KERNEL);
		if (!slot->ranges)
			return -ENOMEM;
	}
	slot->mr = ib_alloc_mr(ctrl->pd, IB_MR_TYPE_MEM_REG,
			       ctrl->pages_per_mr);
	if (IS_ERR(slot->mr)) {
		kfree(slot->ranges);
		return PTR_ERR(slot->mr);
	}
	slot->cmd = &queue->cmds[i];
	slot->cmd_dma = queue->cmds_dma + i * sizeof(*queue->cmds);
	qhost_init_slot(queue, slot);
	return 0;
}

static int post_rsps(struct qhost_queue *queue)
{
	unsigned int i;
	int err;

	for (i = 0; i < queue->nr_rsps; i++) {
		err = ib_post_recv(queue->qp, &queue->rsps[i].wr, NULL);
		if (err)
			return err;
	}
	return 0;
}

/**
 * qhost_slots_alloc() - make the memory of a queue and post its receives
 * @queue: the queue; its queue pair exists and has sent nothing
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM or what the device says.
 */
int qhost_slots_alloc(struct qhost_queue *queue)
{
	unsigned int i;
	int err;

	err = alloc_rsps(queue);
	if (err)
		return err;
	err = alloc_cmds(queue);
	if (err)
		goto err_free_rsps;
	err = -ENOMEM;
	queue->slots = kvcalloc(queue->nr_slots, sizeof(*queue->slots),
				GFP_KERNEL);
	if (!queue->slots)
		goto err_free_cmds;
	for (i = 0; i < queue->nr_slots; i++) {
		err = alloc_slot(queue, i);
		if (err)
			goto err_free_slots;
	}
	/*
	 * What is posted belongs to the queue pair. If that fails half way,
	 * the memory goes with the queue, after the queue pair.
	 */
	return post_rsps(queue);

err_free_slots:
	while (i--)
		free_slot(&queue->slots[i]);
	kvfree(queue->slots);
err_free_cmds:
	free_cmds(queue);
err_free_rsps:
	free_rsps(queue);
	queue->slots = NULL;
	return err;
}

/**
 * qhost_slots_free() - free the memory of a queue
 * @queue: the queue; its queue pair is gone
 *
 * Context: process, may sleep.
 */
void qhost_slots_free(struct qhost_queue *queue)
{
	unsigned int i;

	if (!queue->slots)
		return;
	for (i = 0; i < queue->nr_slots; i++)
		free_slot(&queue->slots[i]);
	kvfree(queue->slots);
	queue->slots = NULL;
	free_cmds(queue);
	free_rsps(queue);
}
