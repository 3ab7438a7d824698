/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by net.c, send.c and device.c only. */
#ifndef QRDMA_NET_H
#define QRDMA_NET_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include "qrdma.h"

/* Bytes of IP and UDP header before the BTH, as this device writes them. */
static inline u32 qrdma_ip_len(u8 family)
{
	return family == AF_INET ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
}

static inline u32 qrdma_encap_len(u8 family)
{
	return qrdma_ip_len(family) + sizeof(struct udphdr);
}

void qrdma_dev_exit_net(struct net *net);

#endif
