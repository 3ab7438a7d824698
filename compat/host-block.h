/* SPDX-License-Identifier: GPL-2.0-only */
/* What the initiator needs of the block layer, in the form of each kernel. */
#ifndef COMPAT_HOST_BLOCK_H
#define COMPAT_HOST_BLOCK_H

#include <linux/blk-mq.h>
#include <linux/version.h>

/* 6.14 made merging the rule and dropped the flag that asked for it. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define COMPAT_MQ_F_MERGE	BLK_MQ_F_SHOULD_MERGE
#else
#define COMPAT_MQ_F_MERGE	0
#endif

/* Larger blocks than a page came with 6.15. */
#ifdef BLK_MAX_BLOCK_SIZE
#define COMPAT_MAX_BLOCK_SIZE	BLK_MAX_BLOCK_SIZE
#else
#define COMPAT_MAX_BLOCK_SIZE	PAGE_SIZE
#endif

static inline int compat_rq_map_sg(struct request *rq, struct scatterlist *sg)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
	return blk_rq_map_sg(rq->q, rq, sg);
#else
	return blk_rq_map_sg(rq, sg);
#endif
}

static inline int compat_rq_map_kern(struct request *rq, void *buf,
				     unsigned int len, gfp_t gfp)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
	return blk_rq_map_kern(rq->q, rq, buf, len, gfp);
#else
	return blk_rq_map_kern(rq, buf, len, gfp);
#endif
}

/* Commit new limits while no request is in flight; releases limits_lock. */
static inline int compat_limits_commit_frozen(struct request_queue *q,
					      struct queue_limits *lim)
	__releases(&q->limits_lock)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
	int err;

	blk_mq_freeze_queue(q);
	err = queue_limits_commit_update(q, lim);
	blk_mq_unfreeze_queue(q);
	return err;
#else
	return queue_limits_commit_update_frozen(q, lim);
#endif
}

#endif
