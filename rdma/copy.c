// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies between packets and memory, and the lending of memory to packets as
 * page fragments. The only file that touches the memory of a region. Runs
 * with bottom halves off; every access looks its key up and checks it.
 */
#include <linux/mm.h>
#include "path.h"

/* A walk over the contiguous pieces of a part of a scatter list. */
struct walk {
	struct ib_pd		*pd;
	const struct ib_sge	*sge;
	u32			num;	/* entries left, this one included */
	u32			off;	/* into this entry */
	int			access;
};

static void walk_init(struct walk *w, struct ib_pd *pd,
		      const struct ib_sge *sge, u32 num, u32 off, int access)
{
	while (num && off >= sge->length) {
		off -= sge->length;
		sge++;
		num--;
	}
	*w = (struct walk) {
		.pd = pd, .sge = sge, .num = num, .off = off, .access = access,
	};
}

/*
 * The next piece, of @len bytes at most; @len becomes its size. The region
 * behind it is held in @mr (NULL for kernel memory as such).
 */
static void *walk_next(struct walk *w, u32 *len, struct qrdma_mr **mr)
{
	const struct ib_sge *sge;
	u64 addr;
	void *p;

	*mr = NULL;
	while (w->num && w->off == w->sge->length) {
		w->sge++;
		w->num--;
		w->off = 0;
	}
	if (!w->num)
		return NULL;
	sge = w->sge;
	addr = sge->addr + w->off;
	*len = min(*len, sge->length - w->off);
	if (sge->lkey == QRDMA_LOCAL_DMA_LKEY && !w->pd->uobject) {
		p = ib_virt_dma_to_ptr(addr);
	} else {
		*mr = qrdma_mr_get(w->pd, sge->lkey, w->access, addr, *len);
		if (!*mr)
			return NULL;
		p = qrdma_mr_piece(*mr, addr, len);
	}
	w->off += *len;
	return p;
}

static void walk_put(struct qrdma_mr *mr)
{
	if (mr)
		qrdma_mr_put(mr);
}

/* Like skb_copy_bits(), for a packet that may be the head of a list. */
static void read_skb(const struct sk_buff *skb, u32 off, void *to, u32 len)
{
	const struct skb_shared_info *si = skb_shinfo(skb);
	u32 head = skb_headlen(skb);
	u32 n;
	int i;

	if (off < head) {
		n = min(len, head - off);
		memcpy(to, skb->data + off, n);
		to += n;
		len -= n;
		off = 0;
	} else {
		off -= head;
	}
	for (i = 0; len && i < si->nr_frags; i++) {
		const skb_frag_t *f = &si->frags[i];
		u32 size = skb_frag_size(f);

		if (off >= size) {
			off -= size;
			continue;
		}
		n = min(len, size - off);
		memcpy(to, skb_frag_address(f) + off, n);
		to += n;
		len -= n;
		off = 0;
	}
}

int qrdma_copy_to_sges(struct ib_pd *pd, const struct ib_sge *sge, u32 num,
		       u32 off, const struct sk_buff *skb, u32 skb_off,
		       u32 len)
{
	struct qrdma_mr *mr;
	struct walk w;
	void *p;

	walk_init(&w, pd, sge, num, off, IB_ACCESS_LOCAL_WRITE);
	while (len) {
		u32 n = len;

		p = walk_next(&w, &n, &mr);
		if (!p)
			return -EFAULT;
		read_skb(skb, skb_off, p, n);
		walk_put(mr);
		skb_off += n;
		len -= n;
	}
	return 0;
}

int qrdma_copy_buf_to_sges(struct ib_pd *pd, const struct ib_sge *sge, u32 num,
			   u32 off, const void *from, u32 len)
{
	struct qrdma_mr *mr;
	struct walk w;
	void *p;

	walk_init(&w, pd, sge, num, off, IB_ACCESS_LOCAL_WRITE);
	while (len) {
		u32 n = len;

		p = walk_next(&w, &n, &mr);
		if (!p)
			return -EFAULT;
		memcpy(p, from, n);
		walk_put(mr);
		from += n;
		len -= n;
	}
	return 0;
}

int qrdma_copy_from_sges(struct ib_pd *pd, const struct ib_sge *sge, u32 num,
			 u32 off, void *to, u32 len)
{
	struct qrdma_mr *mr;
	struct walk w;
	void *p;

	walk_init(&w, pd, sge, num, off, 0);
	while (len) {
		u32 n = len;

		p = walk_next(&w, &n, &mr);
		if (!p)
			return -EFAULT;
		memcpy(to, p, n);
		walk_put(mr);
		to += n;
		len -= n;
	}
	return 0;
}

int qrdma_copy_to_mr(const struct qrdma_qp *qp, u32 rkey, u64 va,
		     const struct sk_buff *skb, u32 skb_off, u32 len)
{
	struct qrdma_mr *mr;

	mr = qrdma_mr_get_remote(qp, rkey, IB_ACCESS_REMOTE_WRITE, va, len);
	if (!mr)
		return -EFAULT;
	while (len) {
		u32 n = len;
		void *p = qrdma_mr_piece(mr, va, &n);

		read_skb(skb, skb_off, p, n);
		skb_off += n;
		va += n;
		len -= n;
	}
	qrdma_mr_put(mr);
	return 0;
}

int qrdma_copy_from_mr(const struct qrdma_qp *qp, u32 rkey, u64 va, void *to,
		       u32 len)
{
	struct qrdma_mr *mr;

	mr = qrdma_mr_get_remote(qp, rkey, IB_ACCESS_REMOTE_READ, va, len);
	if (!mr)
		return -EFAULT;
	while (len) {
		u32 n = len;
		void *p = qrdma_mr_piece(mr, va, &n);

		memcpy(to, p, n);
		to += n;
		va += n;
		len -= n;
	}
	qrdma_mr_put(mr);
	return 0;
}

/* May the pages of @p to @p + @len be lent to the network? */
static bool lendable(const void *p, u32 len)
{
	const void *page = (const void *)((unsigned long)p & PAGE_MASK);

	for (; page < p + len; page += PAGE_SIZE)
		if (!virt_addr_valid(page) ||
		    !sendpage_ok(virt_to_page(page)))
			return false;
	return true;
}

static bool add_frags(struct sk_buff *skb, void *p, u32 len)
{
	while (len) {
		u32 in_page = offset_in_page(p);
		u32 n = min_t(u32, len, PAGE_SIZE - in_page);
		struct page *page = virt_to_page(p);
		int i = skb_shinfo(skb)->nr_frags;

		if (skb_can_coalesce(skb, i, page, in_page)) {
			skb_frag_size_add(&skb_shinfo(skb)->frags[i - 1], n);
		} else {
			/* One is left for the trailer. */
			if (i >= MAX_SKB_FRAGS - 1)
				return false;
			get_page(page);
			skb_fill_page_desc(skb, i, page, in_page, n);
		}
		skb->len += n;
		skb->data_len += n;
		skb->truesize += n;
		p += n;
		len -= n;
	}
	return true;
}

static void drop_frags(struct sk_buff *skb)
{
	int i;

	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++)
		put_page(skb_frag_page(&skb_shinfo(skb)->frags[i]));
	skb_shinfo(skb)->nr_frags = 0;
	skb->len -= skb->data_len;
	skb->truesize -= skb->data_len;
	skb->data_len = 0;
}

int qrdma_frags_from_sges(struct ib_pd *pd, const struct ib_sge *sge, u32 num,
			  u32 off, struct sk_buff *skb, u32 len)
{
	u32 linear = skb->len;
	struct qrdma_mr *mr;
	struct walk w;
	void *p;

	walk_init(&w, pd, sge, num, off, 0);
	while (len) {
		u32 n = len;
		bool ok;

		p = walk_next(&w, &n, &mr);
		if (!p) {
			drop_frags(skb);
			return -EFAULT;
		}
		if (!skb->data_len &&
		    skb->len - linear + n <= QRDMA_LEND_LINEAR) {
			skb_put_data(skb, p, n);
			ok = true;
		} else {
			ok = lendable(p, n) && add_frags(skb, p, n);
		}
		walk_put(mr);
		if (!ok) {
			drop_frags(skb);
			return -EAGAIN;
		}
		len -= n;
	}
	return 0;
}
