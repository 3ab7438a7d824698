// SPDX-License-Identifier: GPL-2.0-only
/*
 * UDP port 4791 of each network namespace that has a device: sockets that own
 * it and a netfilter hook that takes its packets before they are split for
 * the sockets. Set-up runs in process context, receiving in softirq.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/module.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/ip.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/udp.h>
#include <rdma/ib_addr.h>
#include <rdma-net.h>
#include "net.h"

/* Of each namespace. Protected by net_mutex. */
struct qrdma_net {
	unsigned int	users;	/* devices */
	struct socket	*sk4;
	struct socket	*sk6;	/* NULL where the kernel has no IPv6 */
};

static unsigned int net_id __read_mostly;
/* Protects struct qrdma_net of all namespaces. */
static DEFINE_MUTEX(net_mutex);

/* One packet, whose IP header is at @ip and UDP header at @udp_off. */
static void rx_one(struct qrdma_rx *rx, struct sk_buff *skb, const void *ip,
		   u8 family, const struct udphdr *uh, int udp_off, u32 udp_len)
{
	u32 len = udp_len - sizeof(*uh);

	if (unlikely(udp_len < sizeof(*uh) + sizeof(struct qrdma_bth) +
			       QRDMA_ICRC_SIZE || len & 3)) {
		qrdma_rx_drop(rx->net, ip, family, QRDMA_CNT_RX_MALFORMED);
		return;
	}
	qrdma_rx_packet(rx, skb, ip, family, uh->source, udp_off + sizeof(*uh),
			len);
}

/*
 * A listed packet: skb->data is behind its headers, which are in place. A
 * tap may share it, so it is only read.
 */
static void rx_listed(struct qrdma_rx *rx, struct sk_buff *skb, u8 family)
{
	int ip_off = -(int)qrdma_encap_len(family);
	const struct udphdr *uh;

	if (unlikely(skb_network_offset(skb) != ip_off ||
		     skb_headroom(skb) < -ip_off || skb_has_frag_list(skb)))
		return;
	uh = (const struct udphdr *)skb->data - 1;
	if (unlikely(uh->dest != htons(QRDMA_UDP_PORT)))
		return;
	rx_one(rx, skb, skb_network_header(skb), family, uh,
	       -(int)sizeof(*uh), skb->len + sizeof(*uh));
}

/* A list, whole: its head carries the lengths of all. */
static void rx_list(struct qrdma_rx *rx, struct sk_buff *skb, u8 family,
		    const struct udphdr *uh, int udp_off)
{
	struct sk_buff *seg;

	rx_one(rx, skb, skb_network_header(skb), family, uh, udp_off,
	       skb_pagelen(skb) - udp_off);
	skb_walk_frags(skb, seg)
		rx_listed(rx, seg, family);
}

/* A packet by itself; @skb->data is at or before the UDP header. */
static void rx_single(struct qrdma_rx *rx, struct sk_buff *skb, u8 family,
		      const struct udphdr *uh, int udp_off)
{
	u32 udp_len = ntohs(uh->len);

	if (unlikely(udp_len != skb->len - udp_off || skb_has_frag_list(skb) ||
		     (uh->check && nf_checksum(skb, NF_INET_LOCAL_IN, udp_off,
					       IPPROTO_UDP,
					       family == AF_INET ? NFPROTO_IPV4 :
								   NFPROTO_IPV6)))) {
		qrdma_rx_drop(rx->net, skb_network_header(skb), family,
			      QRDMA_CNT_RX_MALFORMED);
		return;
	}
	rx_one(rx, skb, skb_network_header(skb), family, uh, udp_off, udp_len);
}

/* Split what one stack or card has put together in another way than ours. */
static void rx_segment(struct qrdma_rx *rx, struct sk_buff *skb, u8 family)
{
	struct sk_buff *segs, *seg, *next;
	struct udphdr _uh, *uh;
	int udp_off;

	if (skb_shinfo(skb)->gso_type & SKB_GSO_UDP) {
		kfree_skb(skb); /* would come out as IP fragments */
		return;
	}
	__skb_push(skb, skb->data - skb_mac_header(skb));
	segs = __skb_gso_segment(skb, NETIF_F_SG | NETIF_F_IP_CSUM |
				      NETIF_F_IPV6_CSUM, false);
	if (IS_ERR_OR_NULL(segs)) {
		kfree_skb(skb);
		return;
	}
	consume_skb(skb);
	skb_list_walk_safe(segs, seg, next) {
		skb_mark_not_on_list(seg);
		udp_off = skb_transport_offset(seg);
		uh = skb_header_pointer(seg, udp_off, sizeof(_uh), &_uh);
		if (uh && uh->dest == htons(QRDMA_UDP_PORT))
			rx_single(rx, seg, family, uh, udp_off);
		consume_skb(seg);
	}
}

/* Is this GSO packet a list as a sender or GRO made it? */
static bool is_list(const struct sk_buff *skb, int udp_off)
{
	return skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST &&
	       skb_has_frag_list(skb) &&
	       skb_pagelen(skb) - udp_off - sizeof(struct udphdr) ==
		       skb_shinfo(skb)->gso_size;
}

/*
 * Free a received packet, list and all. One by one, the members go to this
 * CPU's cache, where the next to send finds them; in a heap they would not.
 */
static void rx_free(struct sk_buff *skb)
{
	struct sk_buff *seg, *next;

	if (skb_has_frag_list(skb) && !skb_cloned(skb)) {
		seg = skb_shinfo(skb)->frag_list;
		skb_frag_list_init(skb);
		skb_list_walk_safe(seg, seg, next)
			napi_consume_skb(seg, 1);
	}
	napi_consume_skb(skb, 1);
}

/* Hand @skb to the receiver and free it. */
static void rx_skb(const struct nf_hook_state *state, struct sk_buff *skb,
		   u8 family, const struct udphdr *uh, int udp_off)
{
	struct qrdma_rx rx;

	qrdma_rx_begin(&rx, state->net);
	rx.in = state->in;
	if (!skb_is_gso(skb)) {
		rx_single(&rx, skb, family, uh, udp_off);
	} else if (is_list(skb, udp_off)) {
		rx_list(&rx, skb, family, uh, udp_off);
	} else {
		rx_segment(&rx, skb, family);
		skb = NULL;
	}
	qrdma_rx_end(&rx);
	if (skb)
		rx_free(skb);
}

static unsigned int hook_ipv4(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	const struct iphdr *iph = ip_hdr(skb);
	struct udphdr _uh, *uh;

	if (iph->protocol != IPPROTO_UDP || iph->ihl != sizeof(*iph) / 4 ||
	    ip_is_fragment(iph))
		return NF_ACCEPT;
	uh = skb_header_pointer(skb, sizeof(*iph), sizeof(_uh), &_uh);
	if (!uh || uh->dest != htons(QRDMA_UDP_PORT))
		return NF_ACCEPT;
	rx_skb(state, skb, AF_INET, uh, sizeof(*iph));
	return NF_STOLEN;
}

static unsigned int hook_ipv6(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	const struct ipv6hdr *iph = ipv6_hdr(skb);
	struct udphdr _uh, *uh;

	if (iph->nexthdr != IPPROTO_UDP)
		return NF_ACCEPT;
	uh = skb_header_pointer(skb, sizeof(*iph), sizeof(_uh), &_uh);
	if (!uh || uh->dest != htons(QRDMA_UDP_PORT))
		return NF_ACCEPT;
	rx_skb(state, skb, AF_INET6, uh, sizeof(*iph));
	return NF_STOLEN;
}

static const struct nf_hook_ops hooks[] = {
	{
		.hook = hook_ipv4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	},
#if IS_ENABLED(CONFIG_IPV6)
	{
		.hook = hook_ipv6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP6_PRI_LAST,
	},
#endif
};

/*
 * What the hooks leave gets here: headers with options, which the ICRC has no
 * rule for. The port is ours, so nobody else gets to see it.
 */
static int encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	kfree_skb(skb);
	return 0;
}

static int open_socket(struct net *net, u8 family, struct socket **sock)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.encap_type = 1,
		.encap_rcv = encap_rcv,
	};
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(QRDMA_UDP_PORT),
		.ipv6_v6only = family == AF_INET6,
	};
	int err;

	err = udp_sock_create(net, &port, sock);
	if (err == -EADDRINUSE)
		pr_err("UDP port %u is in use in this network namespace: is rdma_rxe loaded?\n",
		       QRDMA_UDP_PORT);
	else if (err && err != -EAFNOSUPPORT)
		pr_err("cannot open UDP port %u for IPv%c: %d\n", QRDMA_UDP_PORT,
		       family == AF_INET ? '4' : '6', err);
	if (err)
		return err;
	compat_udp_tunnel_setup(net, *sock, &tunnel);
	return 0;
}

static int net_open(struct net *net, struct qrdma_net *qnet)
{
	int err;

	lockdep_assert_held(&net_mutex);

	err = open_socket(net, AF_INET, &qnet->sk4);
	if (err)
		return err;
	qnet->sk6 = NULL;
	if (IS_ENABLED(CONFIG_IPV6)) {
		err = open_socket(net, AF_INET6, &qnet->sk6);
		/* The kernel may have been started without IPv6. */
		if (err && err != -EAFNOSUPPORT)
			goto err_close_v4;
	}
	err = nf_register_net_hooks(net, hooks, ARRAY_SIZE(hooks));
	if (err)
		goto err_close_v6;
	return 0;

err_close_v6:
	if (qnet->sk6)
		compat_udp_tunnel_release(qnet->sk6);
err_close_v4:
	compat_udp_tunnel_release(qnet->sk4);
	return err;
}

static void net_close(struct net *net, struct qrdma_net *qnet)
{
	lockdep_assert_held(&net_mutex);

	nf_unregister_net_hooks(net, hooks, ARRAY_SIZE(hooks));
	if (qnet->sk6)
		compat_udp_tunnel_release(qnet->sk6);
	compat_udp_tunnel_release(qnet->sk4);
}

/**
 * qrdma_net_get() - open the RoCE port of a namespace, or take a reference
 * @net: the namespace
 *
 * Context: process, may sleep.
 * Return: 0, -EADDRINUSE where somebody else has the port, or another error;
 * the log says which.
 */
int qrdma_net_get(struct net *net)
{
	struct qrdma_net *qnet = net_generic(net, net_id);
	int err = 0;

	mutex_lock(&net_mutex);
	if (!qnet->users)
		err = net_open(net, qnet);
	if (!err)
		qnet->users++;
	mutex_unlock(&net_mutex);
	return err;
}

/**
 * qrdma_net_put() - drop a reference of qrdma_net_get()
 * @net: the namespace
 *
 * When it was the last one, no packet is received any more on return.
 *
 * Context: process, may sleep.
 */
void qrdma_net_put(struct net *net)
{
	struct qrdma_net *qnet = net_generic(net, net_id);

	mutex_lock(&net_mutex);
	if (!--qnet->users) {
		net_close(net, qnet);
		wake_up_var(&qnet->users);
	}
	mutex_unlock(&net_mutex);
}

static bool net_unused(struct qrdma_net *qnet)
{
	bool unused;

	mutex_lock(&net_mutex);
	unused = !qnet->users;
	mutex_unlock(&net_mutex);
	return unused;
}

/*
 * The interfaces of @net are gone, and so are their devices, but for those
 * that somebody is just taking down.
 */
static void __net_exit net_exit(struct net *net)
{
	struct qrdma_net *qnet = net_generic(net, net_id);

	qrdma_dev_exit_net(net);
	wait_var_event(&qnet->users, net_unused(qnet));
}

static struct pernet_operations net_ops = {
	.exit = net_exit,
	.id = &net_id,
	.size = sizeof(struct qrdma_net),
};

/**
 * qrdma_net_init() - be ready for qrdma_net_get()
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int qrdma_net_init(void)
{
	return register_pernet_subsys(&net_ops);
}

/** qrdma_net_exit() - the mirror of qrdma_net_init(); no device is left */
void qrdma_net_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
