// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory for the data of commands: one run of pages for each, so that it is
 * one entry of a scatterlist, of a work request and of a bio.
 *
 * What is given back waits on its CPU for the next command. Used from softirq
 * and process context, with bottom halves off around the lists.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include "internal.h"

#define BUF_ORDERS	(QTGT_MDTS + 12 - PAGE_SHIFT + 1)
#define BUF_SLOTS	32

/* At most this many bytes of each size stay with a CPU. */
#define BUF_KEEP	SZ_1M

/* Protected by bottom halves being off on its CPU. */
struct buf_cache {
	unsigned int	nr[BUF_ORDERS];
	struct page	*slots[BUF_ORDERS][BUF_SLOTS];
};

static DEFINE_PER_CPU(struct buf_cache, caches);

static unsigned int buf_keep(unsigned int order)
{
	return clamp_t(unsigned int, BUF_KEEP >> (order + PAGE_SHIFT), 2,
		       BUF_SLOTS);
}

/**
 * qtgt_buf_get() - get a run of pages
 * @order: its size, as a power of two of pages
 * @gfp: how hard to try
 *
 * The memory is not cleared, and may hold other hosts' data.
 *
 * Context: softirq or process.
 * Return: the first page, or NULL.
 */
struct page *qtgt_buf_get(unsigned int order, gfp_t gfp)
{
	struct page *page = NULL;
	struct buf_cache *cache;

	local_bh_disable();
	cache = this_cpu_ptr(&caches);
	if (likely(cache->nr[order]))
		page = cache->slots[order][--cache->nr[order]];
	local_bh_enable();

	if (unlikely(!page))
		page = alloc_pages(gfp | __GFP_COMP | __GFP_NOWARN, order);
	return page;
}

/**
 * qtgt_buf_put() - give a run of pages back
 * @page: its first page
 * @order: its size, as a power of two of pages
 *
 * Context: softirq or process.
 */
void qtgt_buf_put(struct page *page, unsigned int order)
{
	struct buf_cache *cache;

	/* A packet in some queue may still look at it: never reuse it then. */
	if (unlikely(page_ref_count(page) != 1))
		goto free;

	local_bh_disable();
	cache = this_cpu_ptr(&caches);
	if (likely(cache->nr[order] < buf_keep(order))) {
		cache->slots[order][cache->nr[order]++] = page;
		page = NULL;
	}
	local_bh_enable();
free:
	if (unlikely(page))
		put_page(page);
}

/**
 * qtgt_buf_drain() - free what waits on the CPUs
 *
 * Context: process; nobody uses the buffers any more.
 */
void qtgt_buf_drain(void)
{
	unsigned int cpu, order;

	for_each_possible_cpu(cpu) {
		struct buf_cache *cache = per_cpu_ptr(&caches, cpu);

		for (order = 0; order < BUF_ORDERS; order++)
			while (cache->nr[order])
				put_page(cache->slots[order][--cache->nr[order]]);
	}
}
