// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that came before one that is missing. The responder keeps copies of
 * them until that has come, and then carries all of them out in their order:
 * the wire is go-back-N's, where a requester may be told by one acknowledge of
 * more than it has sent again. Runs in softirq under rq.lock.
 */
#include <linux/atomic.h>
#include "path.h"

/*
 * Packets that are kept for all queue pairs, and those that each of them may
 * keep in any case: peers that leave gaps on purpose get no more of the host's
 * memory, and take from others no more than the first.
 */
#define EARLY_ALL	4096
#define EARLY_OWN	16

static atomic_t kept;

static u32 psn_of(const struct sk_buff *skb)
{
	return qrdma_bth_psn((const struct qrdma_bth *)skb->data);
}

void qrdma_early_free(struct sk_buff *skb)
{
	kfree_skb(skb);
	atomic_dec(&kept);
}

/* From the BTH to the end of the ICRC; the packet may be a part of a list. */
static struct sk_buff *copy_of(const struct qrdma_pkt *pkt)
{
	struct sk_buff *skb = alloc_skb(pkt->len, GFP_ATOMIC | __GFP_NOWARN);

	if (!skb)
		return NULL;
	if (skb_copy_bits(pkt->skb, pkt->bth_off, skb_put(skb, pkt->len),
			  pkt->len)) {
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

/* All but what may differ from one sending to the next: AckReq, and the ICRC. */
static bool same_request(const struct sk_buff *a, const struct sk_buff *b)
{
	const u32 bth = sizeof(struct qrdma_bth);

	return a->len == b->len && !memcmp(a->data, b->data, 2) &&
	       !memcmp(a->data + bth, b->data + bth,
		       a->len - bth - QRDMA_ICRC_SIZE);
}

/*
 * It has come twice. Where the two differ, one of them is not the peer's, and
 * nobody knows which.
 */
static bool seen_again(struct qrdma_rq *rq, struct sk_buff *skb,
		       const struct qrdma_pkt *pkt)
{
	struct sk_buff *again = copy_of(pkt);
	bool same = again && same_request(again, skb);
	bool oldest = skb == skb_peek(&rq->early);

	if (again && !same) {
		__skb_unlink(skb, &rq->early);
		qrdma_early_free(skb);
	}
	kfree_skb(again);
	return same && oldest;
}

bool qrdma_early_keep(struct qrdma_rq *rq, const struct qrdma_pkt *pkt)
{
	struct sk_buff *skb, *before;

	lockdep_assert_held(&rq->lock);
	if (qrdma_psn_diff(pkt->psn, rq->psn) >= QRDMA_WINDOW)
		return false;
	skb_queue_reverse_walk(&rq->early, before) {
		s32 d = qrdma_psn_diff(pkt->psn, psn_of(before));

		if (!d)
			return seen_again(rq, before, pkt);
		if (d > 0)
			break;
	}
	if (atomic_inc_return(&kept) > EARLY_ALL &&
	    skb_queue_len(&rq->early) >= EARLY_OWN)
		goto full;
	skb = copy_of(pkt);
	if (!skb)
		goto full;
	/* Behind the queue's head, where there is none before it. */
	__skb_queue_after(&rq->early, before, skb);
	return false;
full:
	atomic_dec(&kept);
	return false;
}

struct sk_buff *qrdma_early_next(struct qrdma_rq *rq, struct qrdma_pkt *pkt)
{
	struct sk_buff *skb;
	s32 d;

	lockdep_assert_held(&rq->lock);
	while ((skb = skb_peek(&rq->early))) {
		d = qrdma_psn_diff(psn_of(skb), rq->psn);
		if (d > 0)
			return NULL;
		__skb_unlink(skb, &rq->early);
		*pkt = (struct qrdma_pkt){ .skb = skb, .len = skb->len };
		if (!d && qrdma_pkt_parse(pkt))
			return skb;
		/* Within the answer to a READ that was not there before. */
		qrdma_early_free(skb);
	}
	return NULL;
}

void qrdma_early_drop(struct qrdma_rq *rq)
{
	struct sk_buff *skb;

	lockdep_assert_held(&rq->lock);
	while ((skb = __skb_dequeue(&rq->early)))
		qrdma_early_free(skb);
}
