/* SPDX-License-Identifier: GPL-2.0-only */
/* What rdma/ needs of the network stack, in the form of each kernel. */
#ifndef COMPAT_RDMA_NET_H
#define COMPAT_RDMA_NET_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/version.h>
#include <net/addrconf.h>
#include <net/inet_dscp.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp_tunnel.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <net/gso.h>
#endif

/* udp_tunnel takes the socket's sock instead of the socket from 7.1 on. */
static inline void compat_udp_tunnel_setup(struct net *net, struct socket *sock,
					   struct udp_tunnel_sock_cfg *cfg)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
	setup_udp_tunnel_sock(net, sock, cfg);
#else
	setup_udp_tunnel_sock(net, sock->sk, cfg);
#endif
}

static inline void compat_udp_tunnel_release(struct socket *sock)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
	udp_tunnel_sock_release(sock);
#else
	udp_tunnel_sock_release(sock->sk);
#endif
}

/* The TOS of a route look-up is a DSCP from 6.18 on. */
static inline void compat_flowi4_set_tos(struct flowi4 *fl, u8 tos)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
	fl->flowi4_tos = tos & INET_DSCP_MASK;
#else
	fl->flowi4_dscp = inet_dsfield_to_dscp(tos);
#endif
}

#if IS_ENABLED(CONFIG_IPV6)
static inline struct dst_entry *compat_ip6_route(struct net *net,
						 struct flowi6 *fl)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
	return ipv6_stub->ipv6_dst_lookup_flow(net, NULL, fl, NULL);
#else
	return ip6_dst_lookup_flow(net, NULL, fl, NULL);
#endif
}
#endif

/* IPv4 got a limit of its own with big TCP, in 6.3. */
static inline unsigned int compat_gso_max_size(const struct net_device *dev,
					       bool ipv6)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	if (!ipv6)
		return READ_ONCE(dev->gso_ipv4_max_size);
#endif
	return READ_ONCE(dev->gso_max_size);
}

#endif
