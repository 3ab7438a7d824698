// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sending: from an empty skb to a list of packets in the IP stack. A list
 * goes through routing, netfilter and queueing as one fraglist GSO packet;
 * lo and veth hand it over whole, other devices get it split by the stack.
 * Runs with bottom halves off, and never sleeps.
 */
#include <linux/if_ether.h>
#include <net/dst_cache.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <kunit-hooks.h>
#include <rdma-net.h>
#include "net.h"

/* Room for the largest pad and the ICRC, behind the shared info. */
#define TRAILER_ROOM	8
/* What follows the BTH is aligned for the CRC's vector unit. */
#define HEADROOM	(ALIGN(LL_MAX_HEADER + sizeof(struct ipv6hdr) + \
			       sizeof(struct udphdr), 16) + 4)
static_assert(!((HEADROOM + sizeof(struct qrdma_bth)) % 16));

struct sk_buff *qrdma_skb_alloc(u32 size)
{
	/* Without frags the trailer is put behind the payload. */
	u32 want = HEADROOM + size + TRAILER_ROOM;
	u32 room = SKB_DATA_ALIGN(want) +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;
	void *data;

	KUNIT_STATIC_STUB_REDIRECT(qrdma_skb_alloc, size);
	data = napi_alloc_frag(room + SKB_DATA_ALIGN(TRAILER_ROOM));
	if (likely(data)) {
		skb = napi_build_skb(data, room);
		if (unlikely(!skb))
			skb_free_frag(data);
	} else {
		/* Large fragments are the first to run out. */
		skb = alloc_skb(want, GFP_ATOMIC | __GFP_NOWARN);
	}
	if (unlikely(!skb))
		return NULL;
	skb_reserve(skb, HEADROOM);
	return skb;
}

/*
 * The bytes behind the shared info belong to the skb's head but not to its
 * buffer: nothing that pulls data into the head can run over them. They are in
 * its true size already.
 */
static void *trailer_frag(struct sk_buff *skb, u32 len)
{
	u32 counted = 0;
	struct page *page;
	u8 *p;

	if (likely(skb->head_frag)) {
		p = (u8 *)skb_shinfo(skb) +
		    SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
		page = virt_to_head_page(p);
		get_page(page);
	} else {
		p = napi_alloc_frag(TRAILER_ROOM);
		if (!p)
			return NULL;
		page = virt_to_head_page(p);
		counted = TRAILER_ROOM;
	}
	skb_fill_page_desc(skb, skb_shinfo(skb)->nr_frags, page,
			   p - (u8 *)page_address(page), len);
	skb->len += len;
	skb->data_len += len;
	skb->truesize += counted;
	return p;
}

static void push_udp(struct sk_buff *skb, const struct qrdma_av *av)
{
	u32 len = skb->len + sizeof(struct udphdr);
	struct udphdr *uh = __skb_push(skb, sizeof(*uh));

	skb_reset_transport_header(skb);
	uh->source = av->sport;
	uh->dest = htons(QRDMA_UDP_PORT);
	uh->len = htons(len);
	uh->check = 0;
}

static void push_ipv4(struct sk_buff *skb, const struct qrdma_av *av, u16 id)
{
	u32 len = skb->len + sizeof(struct iphdr);
	struct iphdr *iph = __skb_push(skb, sizeof(*iph));

	skb_reset_network_header(skb);
	iph->version = 4;
	iph->ihl = sizeof(*iph) / 4;
	iph->tos = av->tclass;
	iph->tot_len = htons(len);
	iph->id = htons(id);
	iph->frag_off = htons(IP_DF);
	iph->ttl = av->hop_limit;
	iph->protocol = IPPROTO_UDP;
	iph->saddr = av->v4.saddr;
	iph->daddr = av->v4.daddr;
	ip_send_check(iph);
	skb->protocol = htons(ETH_P_IP);
}

static void push_ipv6(struct sk_buff *skb, const struct qrdma_av *av)
{
	u32 len = skb->len;
	struct ipv6hdr *iph = __skb_push(skb, sizeof(*iph));

	skb_reset_network_header(skb);
	ip6_flow_hdr(iph, av->tclass, htonl(av->flow_label));
	iph->payload_len = htons(len);
	iph->nexthdr = IPPROTO_UDP;
	iph->hop_limit = av->hop_limit;
	iph->saddr = av->v6.saddr;
	iph->daddr = av->v6.daddr;
	skb->protocol = htons(ETH_P_IPV6);
}

int qrdma_skb_seal(struct sk_buff *skb, const struct qrdma_av *av, u16 ip_id)
{
	struct qrdma_bth *bth = (struct qrdma_bth *)skb->data;
	u32 pad = -skb->len & 3;
	__le32 icrc;
	u8 *trailer;

	if (!skb_is_nonlinear(skb))
		trailer = skb_put(skb, pad + QRDMA_ICRC_SIZE);
	else if (skb_shinfo(skb)->nr_frags < MAX_SKB_FRAGS)
		trailer = trailer_frag(skb, pad + QRDMA_ICRC_SIZE);
	else
		trailer = NULL;
	if (unlikely(!trailer))
		return -ENOMEM;
	memset(trailer, 0, pad);
	bth->flags = (bth->flags & ~QRDMA_BTH_PAD_MASK) | pad << QRDMA_BTH_PAD_SHIFT;

	push_udp(skb, av);
	if (av->family == AF_INET)
		push_ipv4(skb, av, ip_id);
	else
		push_ipv6(skb, av);

	icrc = qrdma_icrc_compute(skb, skb->data, av->family, av->sport,
				  qrdma_encap_len(av->family),
				  skb->len - qrdma_encap_len(av->family) -
				  QRDMA_ICRC_SIZE);
	memcpy(trailer + pad, &icrc, sizeof(icrc));
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->priority = av->priority;
	return 0;
}

void qrdma_tx_add(struct qrdma_tx *tx, struct sk_buff *skb)
{
	skb->next = NULL;
	if (tx->tail)
		tx->tail->next = skb;
	else
		tx->head = skb;
	tx->tail = skb;
	tx->count++;
}

static struct dst_entry *route_ipv4(struct qrdma_dev *dev,
				    const struct qrdma_av *av,
				    struct dst_cache *cache)
{
	struct flowi4 fl = {
		.flowi4_oif = av->oif,
		.flowi4_proto = IPPROTO_UDP,
		.saddr = av->v4.saddr,
		.daddr = av->v4.daddr,
		.fl4_sport = av->sport,
		.fl4_dport = htons(QRDMA_UDP_PORT),
	};
	struct rtable *rt;

	/* An address of this host may belong to another interface. */
	if (inet_addr_type(dev->net, av->v4.daddr) == RTN_LOCAL)
		fl.flowi4_oif = 0;
	compat_flowi4_set_tos(&fl, av->tclass);
	rt = ip_route_output_key(dev->net, &fl);
	if (IS_ERR(rt))
		return NULL;
	if (cache)
		dst_cache_set_ip4(cache, &rt->dst, av->v4.saddr);
	return &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *route_ipv6(struct qrdma_dev *dev,
				    const struct qrdma_av *av,
				    struct dst_cache *cache)
{
	struct flowi6 fl = {
		.flowi6_oif = av->oif,
		.flowi6_proto = IPPROTO_UDP,
		.flowlabel = ip6_make_flowinfo(av->tclass, htonl(av->flow_label)),
		.saddr = av->v6.saddr,
		.daddr = av->v6.daddr,
		.fl6_sport = av->sport,
		.fl6_dport = htons(QRDMA_UDP_PORT),
	};
	struct dst_entry *dst;

	if (!(ipv6_addr_type(&av->v6.daddr) & IPV6_ADDR_LINKLOCAL) &&
	    ipv6_chk_addr(dev->net, &av->v6.daddr, NULL, 0))
		fl.flowi6_oif = 0;
	dst = compat_ip6_route(dev->net, &fl);
	if (IS_ERR(dst))
		return NULL;
	if (dst->error) {
		dst_release(dst);
		return NULL;
	}
	if (cache)
		dst_cache_set_ip6(cache, dst, &av->v6.saddr);
	return dst;
}
#else
static struct dst_entry *route_ipv6(struct qrdma_dev *dev,
				    const struct qrdma_av *av,
				    struct dst_cache *cache)
{
	return NULL;
}
#endif

/* The way to the peer, with a reference. */
static struct dst_entry *route(struct qrdma_dev *dev, const struct qrdma_av *av,
			       struct dst_cache *cache)
{
	struct dst_entry *dst = cache ? dst_cache_get(cache) : NULL;

	if (likely(dst))
		return dst;
	if (av->family == AF_INET)
		return route_ipv4(dev, av, cache);
	return route_ipv6(dev, av, cache);
}

/* What one list may be. */
struct tx_limit {
	u32 mtu;	/* bytes of a packet from its IP header */
	u32 bytes;	/* bytes of the whole from the head's IP header */
	u32 segs;
};

static struct tx_limit tx_limit(const struct dst_entry *dst, bool ipv6)
{
	const struct net_device *out = dst->dev;

	/* The stack compares with the link header in place. */
	return (struct tx_limit){
		.mtu = dst_mtu(dst),
		.bytes = min(compat_gso_max_size(out, ipv6) - 1u -
			     out->hard_header_len, (u32)IP_MAX_MTU),
		.segs = max(READ_ONCE(out->gso_max_segs), (u16)1),
	};
}

static struct sk_buff *tx_pop(struct qrdma_tx *tx)
{
	struct sk_buff *skb = tx->head;

	tx->head = skb->next;
	skb_mark_not_on_list(skb);
	tx->count--;
	return skb;
}

/* The next packet that fits the path, or NULL when there is none. */
static struct sk_buff *tx_next(struct qrdma_dev *dev, struct qrdma_tx *tx,
			       const struct tx_limit *limit)
{
	while (tx->head && unlikely(tx->head->len > limit->mtu)) {
		qrdma_count(dev, QRDMA_CNT_TX_ERRORS);
		kfree_skb(tx_pop(tx));
	}
	return tx->head;
}

/* The stack counts the ids of a list up from its head's when it splits it. */
static bool id_follows(const struct sk_buff *head, const struct sk_buff *skb,
		       u32 segs)
{
	return head->protocol != htons(ETH_P_IP) ||
	       ntohs(ip_hdr(skb)->id) == (u16)(ntohs(ip_hdr(head)->id) + segs);
}

/* Hang packets of @tx on @head until a limit is met; return their number. */
static u32 tx_collect(struct qrdma_dev *dev, struct qrdma_tx *tx,
		      const struct tx_limit *limit, struct sk_buff *head,
		      u32 encap)
{
	struct sk_buff **where = &skb_shinfo(head)->frag_list;
	u32 own = head->len - encap;
	struct sk_buff *skb;
	u32 segs = 1;

	while (segs < limit->segs && (skb = tx_next(dev, tx, limit)) &&
	       id_follows(head, skb, segs) &&
	       head->len + skb->len - encap <= limit->bytes) {
		tx_pop(tx);
		__skb_pull(skb, encap);
		*where = skb;
		where = &skb->next;
		head->len += skb->len;
		head->data_len += skb->len;
		head->truesize += skb->truesize;
		segs++;
	}
	if (segs > 1) {
		struct skb_shared_info *info = skb_shinfo(head);

		info->gso_size = own;
		info->gso_segs = segs;
		info->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;
		udp_hdr(head)->len = htons(head->len - encap +
					   sizeof(struct udphdr));
	}
	return segs;
}

static void tx_free(struct qrdma_dev *dev, struct qrdma_tx *tx)
{
	qrdma_count_n(dev, QRDMA_CNT_TX_ERRORS, tx->count);
	kfree_skb_list(tx->head);
	*tx = (struct qrdma_tx){};
}

void qrdma_tx_send(struct qrdma_dev *dev, const struct qrdma_av *av,
		   struct dst_cache *cache, struct qrdma_tx *tx)
{
	bool ipv6 = av->family == AF_INET6;
	struct tx_limit limit;
	struct dst_entry *dst;
	struct sk_buff *head;
	u32 segs;
	int err;

	KUNIT_STATIC_STUB_REDIRECT(qrdma_tx_send, dev, av, cache, tx);
	if (!tx->head)
		return;
	dst = route(dev, av, cache);
	if (unlikely(!dst)) {
		tx_free(dev, tx);
		return;
	}

	limit = tx_limit(dst, ipv6);
	while ((head = tx_next(dev, tx, &limit))) {
		tx_pop(tx);
		segs = tx_collect(dev, tx, &limit, head,
				  qrdma_encap_len(av->family));
		if (tx->head)
			dst_hold(dst);
		skb_dst_set(head, dst);
		err = ipv6 ? ip6_local_out(dev->net, NULL, head) :
			     ip_local_out(dev->net, NULL, head);
		if (unlikely(net_xmit_eval(err)))
			qrdma_count_n(dev, QRDMA_CNT_TX_ERRORS, segs);
		else
			qrdma_count_n(dev, QRDMA_CNT_TX_PKTS, segs);
		qrdma_count(dev, QRDMA_CNT_TX_LISTS);
		if (!tx->head)
			dst = NULL;
	}
	dst_release(dst);
	*tx = (struct qrdma_tx){};
}
