// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a side: scatter lists of several pieces, fast registration of
 * pages in reverse order, a pattern written and looked for. What nobody may
 * write holds QV_UNUSED.
 */
#include <linux/slab.h>
#include "qverbs.h"

#define GAP	72	/* between the pieces of a scatter list */

static u8 pattern(u32 seed, u32 i)
{
	return seed * 29 + i + (i >> 8) * 3 + (i >> 16) * 7;
}

static u8 *at_addr(struct qv_side *s, u64 addr)
{
	return s->mem + (addr - s->dma);
}

/*
 * @len bytes in @n pieces of unlike size, from offset @at on, the last piece
 * lowest, gaps between them.
 */
void qv_sgl(struct qv_side *s, struct qv_sgl *sgl, u32 at, u32 len, int n)
{
	u32 part, left = len, addr = at + len + n * GAP;
	int i;

	if (!len)
		n = 0;
	sgl->n = n;
	for (i = 0; i < n; i++) {
		part = i == n - 1 ? left : min(left, len / n + (i & 1 ? 5 : -3) * (n > 1));
		addr -= part + GAP;
		left -= part;
		sgl->sge[i].addr = s->dma + addr;
		sgl->sge[i].length = part;
		sgl->sge[i].lkey = s->pd->local_dma_lkey;
	}
}

void qv_sgl_fill(struct qv_side *s, const struct qv_sgl *sgl, u32 seed)
{
	u32 i, done = 0;
	u8 *p;
	int n;

	for (n = 0; n < sgl->n; n++) {
		p = at_addr(s, sgl->sge[n].addr);
		for (i = 0; i < sgl->sge[n].length; i++)
			p[i] = pattern(seed, done++);
	}
}

static int check_gap(struct qv_side *s, const u8 *gap, int n)
{
	u8 *wrong = memchr_inv(gap, QV_UNUSED, GAP);

	if (wrong)
		return qv_fail(s->link, "%c: byte %td behind piece %d was written",
			       qv_letter(s), wrong - gap, n);
	return 0;
}

/* The first @len bytes are the pattern, and nothing behind them was written. */
int qv_sgl_check(struct qv_side *s, const struct qv_sgl *sgl, u32 len, u32 seed)
{
	u32 i, done = 0;
	u8 *p, want;
	int n;

	for (n = 0; n < sgl->n; n++) {
		p = at_addr(s, sgl->sge[n].addr);
		for (i = 0; i < sgl->sge[n].length; i++, done++) {
			want = done < len ? pattern(seed, done) : QV_UNUSED;
			if (p[i] != want)
				return qv_fail(s->link, "%c: byte %u of %u: %#x expected, not %#x",
					       qv_letter(s), done, len, want, p[i]);
		}
		if (check_gap(s, p + i, n))
			return -EPROTO;
	}
	return 0;
}

int qv_mr_alloc(struct qv_side *s, struct qv_mr *m, u32 pages)
{
	*m = (struct qv_mr) { .side = s };
	m->sg = kvcalloc(pages, sizeof(*m->sg), GFP_KERNEL);
	if (!m->sg)
		return qv_fail(s->link, "no memory");
	m->mr = ib_alloc_mr(s->pd, IB_MR_TYPE_MEM_REG, pages);
	if (IS_ERR(m->mr))
		return qv_fail(s->link, "ib_alloc_mr of %u pages: %ld", pages, PTR_ERR(m->mr));
	m->rkey = m->mr->rkey;
	return 0;
}

static void unmap(struct qv_mr *m)
{
	if (m->pages)
		ib_dma_unmap_sg(m->side->dev, m->sg, m->pages, DMA_BIDIRECTIONAL);
	m->pages = 0;
}

/* Map @len bytes that begin at @offset in the last of the pages from @first. */
int qv_mr_map(struct qv_mr *m, u32 first, u32 offset, u32 len)
{
	u32 i, pages = DIV_ROUND_UP(offset + len, PAGE_SIZE);
	struct qv_side *s = m->side;
	unsigned int skip = offset;
	int n;

	unmap(m);
	m->first = first;
	m->offset = offset;
	m->len = len;
	sg_init_table(m->sg, pages);
	for (i = 0; i < pages; i++)
		sg_set_page(&m->sg[i], virt_to_page(s->mem + (first + pages - 1 - i) * PAGE_SIZE),
			    min_t(u32, PAGE_SIZE, offset + len - i * PAGE_SIZE), 0);
	n = ib_dma_map_sg(s->dev, m->sg, pages, DMA_BIDIRECTIONAL);
	if (n != pages)
		return qv_fail(s->link, "ib_dma_map_sg: %d of %u", n, pages);
	m->pages = pages;
	n = ib_map_mr_sg(m->mr, m->sg, pages, &skip, PAGE_SIZE);
	if (n != pages)
		return qv_fail(s->link, "ib_map_mr_sg: %u expected, not %d", pages, n);
	if (m->mr->length != len)
		return qv_fail(s->link, "ib_map_mr_sg: length %u expected, not %llu",
			       len, (u64)m->mr->length);
	m->iova = m->mr->iova;
	return 0;
}

/* Register what is mapped, with the key's next generation. */
int qv_mr_reg(struct qv_mr *m, int access)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.wr.send_flags = IB_SEND_SIGNALED,
		.mr = m->mr,
		.access = access,
	};
	struct ib_wc wc;
	int err;

	ib_update_fast_reg_key(m->mr, ib_inc_rkey(m->mr->rkey) & 0xff);
	wr.key = m->mr->rkey;
	m->rkey = m->mr->rkey;
	err = qv_post(m->side, &wr.wr);
	if (!err)
		err = qv_sent(m->side, IB_WC_SUCCESS, &wc);
	if (!err && wc.opcode != IB_WC_REG_MR)
		err = qv_fail(m->side->link, "IB_WC_REG_MR expected, not opcode %d", wc.opcode);
	return err;
}

/* All at once: @len bytes from page 1 of the memory, offset 40 in the page. */
int qv_mr_make(struct qv_side *s, struct qv_mr *m, u32 len, int access)
{
	int err;

	err = qv_mr_alloc(s, m, DIV_ROUND_UP(40 + len, PAGE_SIZE));
	if (!err)
		err = qv_mr_map(m, 1, 40, len);
	if (!err)
		err = qv_mr_reg(m, access);
	return err;
}

int qv_mr_invalidate(struct qv_mr *m)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = m->rkey,
	};
	struct ib_wc wc;
	int err;

	err = qv_post(m->side, &wr);
	if (!err)
		err = qv_sent(m->side, IB_WC_SUCCESS, &wc);
	if (!err && wc.opcode != IB_WC_LOCAL_INV)
		err = qv_fail(m->side->link, "IB_WC_LOCAL_INV expected, not opcode %d", wc.opcode);
	return err;
}

void qv_mr_free(struct qv_mr *m)
{
	if (!IS_ERR_OR_NULL(m->mr))
		ib_dereg_mr(m->mr);
	m->mr = NULL;
	if (m->sg)
		unmap(m);
	kvfree(m->sg);
	m->sg = NULL;
}

/* Where the byte at @off of the region is. */
u8 *qv_mr_at(const struct qv_mr *m, u32 off)
{
	u32 at = m->offset + off;
	u32 page = m->first + m->pages - 1 - at / PAGE_SIZE;

	return m->side->mem + page * PAGE_SIZE + at % PAGE_SIZE;
}

void qv_mr_fill(struct qv_mr *m, u32 off, u32 len, u32 seed)
{
	u32 i;

	for (i = 0; i < len; i++)
		*qv_mr_at(m, off + i) = pattern(seed, i);
}

int qv_mr_check(struct qv_mr *m, u32 off, u32 len, u32 seed)
{
	u32 i;
	u8 got;

	for (i = 0; i < len; i++) {
		got = *qv_mr_at(m, off + i);
		if (got != pattern(seed, i))
			return qv_fail(m->side->link, "%c: byte %u there: %#x expected, not %#x",
				       qv_letter(m->side), off + i, pattern(seed, i), got);
	}
	return 0;
}

int qv_mr_unused(struct qv_mr *m, u32 off, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (*qv_mr_at(m, off + i) != QV_UNUSED)
			return qv_fail(m->side->link, "%c: byte %u of the region was written",
				       qv_letter(m->side), off + i);
	return 0;
}
