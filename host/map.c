// SPDX-License-Identifier: GPL-2.0-only
/*
 * The data of a command: from the request to what the capsule says of it,
 * either the data themselves or a keyed SGL for a memory region that is
 * registered with the very list of work requests that sends the command.
 * Runs in the context of submission and of completion; allocates nothing up
 * to QHOST_FIRST_SEGS segments.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/scatterlist.h>
#include <linux/unaligned.h>
#include "host-block.h"
#include "host.h"

static void free_sg(struct qhost_request *req)
{
	sg_free_table_chained(&req->sgt, QHOST_FIRST_SEGS);
}

/* Fill the scatterlist, req->nents says with how many entries. */
static int fill_sg(struct qhost_request *req, struct request *rq)
{
	unsigned int segs = blk_rq_nr_phys_segments(rq);
	struct bio_vec bv;
	int err;

	req->sgt.sgl = req->sg;
	if (segs == 1) {
		bv = req_bvec(rq);
		sg_init_table(req->sg, 1);
		sg_set_page(req->sg, bv.bv_page, bv.bv_len, bv.bv_offset);
		req->sgt.orig_nents = 1;
		req->nents = 1;
		return 0;
	}
	err = sg_alloc_table_chained(&req->sgt, segs, req->sg,
				     QHOST_FIRST_SEGS);
	if (err)
		return err;
	req->nents = compat_rq_map_sg(rq, req->sgt.sgl);
	return 0;
}

/**
 * qhost_map_none() - say in a command that it has no data
 * @cmd: the command
 *
 * Context: any.
 */
void qhost_map_none(struct nvme_command *cmd)
{
	struct nvme_keyed_sgl_desc *sg = &cmd->common.dptr.ksgl;

	cmd->common.flags |= NVME_CMD_SGL_METABUF;
	memset(sg, 0, sizeof(*sg));
	sg->type = NVME_KEY_SGL_FMT_DATA_DESC << 4;
}

/* The data go with the capsule: NVMe over RDMA transport, in-capsule data. */
static void map_inline(struct qhost_queue *queue, struct qhost_slot *slot,
		       struct qhost_request *req)
{
	struct nvme_sgl_desc *desc = &slot->cmd->common.dptr.sgl;
	struct ib_sge *sge = &slot->sge[1];
	struct scatterlist *sg;
	u32 len = 0;
	int i;

	for_each_sg(req->sgt.sgl, sg, req->dma_nents, i) {
		sge->addr = sg_dma_address(sg);
		sge->length = sg_dma_len(sg);
		sge->lkey = queue->ctrl->pd->local_dma_lkey;
		len += sge->length;
		sge++;
	}
	slot->send.num_sge = 1 + req->dma_nents;
	/* The device may need the pages until the ACK: see rdma-io.c. */
	slot->send.send_flags = IB_SEND_SIGNALED;

	*desc = (struct nvme_sgl_desc) {
		.length = cpu_to_le32(len),
		.type = NVME_SGL_FMT_DATA_DESC << 4 | NVME_SGL_FMT_OFFSET,
	};
}

/* The target reads or writes the data by RDMA, under a key of this request. */
static int map_region(struct qhost_slot *slot, struct qhost_request *req,
		      enum dma_data_direction dir)
{
	struct nvme_keyed_sgl_desc *desc = &slot->cmd->common.dptr.ksgl;
	struct ib_mr *mr = slot->mr;
	int n;

	n = ib_map_mr_sg(mr, req->sgt.sgl, req->dma_nents, NULL,
			 QHOST_PAGE_SIZE);
	if (unlikely(n != req->dma_nents))
		return n < 0 ? n : -EINVAL;

	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	slot->reg.key = mr->rkey;
	slot->reg.access = dir == DMA_TO_DEVICE ? IB_ACCESS_REMOTE_READ :
			   IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	slot->mr_used = true;

	desc->addr = cpu_to_le64(mr->iova);
	put_unaligned_le24(mr->length, desc->length);
	put_unaligned_le32(mr->rkey, desc->key);
	desc->type = NVME_KEY_SGL_FMT_DATA_DESC << 4 | NVME_SGL_FMT_INVALIDATE;
	return 0;
}

/**
 * qhost_map() - map the data of a request and describe them in its command
 * @queue: the queue
 * @slot: the slot; its command is built but for flags and data pointer
 * @rq: the request
 *
 * Context: any that may submit; does not sleep.
 * Return: BLK_STS_OK, BLK_STS_RESOURCE where a later try may succeed, or
 * BLK_STS_IOERR. qhost_unmap() undoes it.
 */
blk_status_t qhost_map(struct qhost_queue *queue, struct qhost_slot *slot,
		       struct request *rq)
{
	struct qhost_request *req = blk_mq_rq_to_pdu(rq);
	enum dma_data_direction dir = rq_dma_dir(rq);

	req->nents = 0;
	slot->mr_used = false;
	slot->send.num_sge = 1;
	slot->send.send_flags = 0;
	if (!blk_rq_nr_phys_segments(rq)) {
		qhost_map_none(slot->cmd);
		return BLK_STS_OK;
	}

	if (unlikely(fill_sg(req, rq)))
		return BLK_STS_RESOURCE;
	req->dma_nents = ib_dma_map_sg(queue->ibdev, req->sgt.sgl, req->nents,
				       dir);
	if (unlikely(req->dma_nents <= 0))
		goto err_free_sg;

	slot->cmd->common.flags |= NVME_CMD_SGL_METABUF;
	if (dir == DMA_TO_DEVICE && req->dma_nents <= queue->inline_segs &&
	    blk_rq_payload_bytes(rq) <= queue->inline_bytes)
		map_inline(queue, slot, req);
	else if (unlikely(map_region(slot, req, dir)))
		goto err_unmap;
	return BLK_STS_OK;

err_unmap:
	ib_dma_unmap_sg(queue->ibdev, req->sgt.sgl, req->nents, dir);
err_free_sg:
	free_sg(req);
	req->nents = 0;
	return BLK_STS_IOERR;
}

/**
 * qhost_unmap() - give the data of a request back to the processor
 * @queue: the queue
 * @rq: the request; the device has no more use for its data
 *
 * Context: any.
 */
void qhost_unmap(struct qhost_queue *queue, struct request *rq)
{
	struct qhost_request *req = blk_mq_rq_to_pdu(rq);

	if (!req->nents)
		return;
	ib_dma_unmap_sg(queue->ibdev, req->sgt.sgl, req->nents, rq_dma_dir(rq));
	free_sg(req);
	req->nents = 0;
}
