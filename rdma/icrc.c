// SPDX-License-Identifier: GPL-2.0-only
/*
 * The invariant CRC of RoCE v2, IBTA annex A17.3.3: a CRC-32 over the packet
 * from its IP header to the end of the pad, with all that a router may change
 * counted as ones. Runs in any context but hard interrupt.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <crc32.h>
#include "qrdma.h"

/* More than these bytes of linear data are not worth a copy. */
#define MERGE_MAX	48

static struct compat_crc32 crc_alg;
/* The CRC of the eight bytes of ones that stand for a local route header. */
static u32 crc_start __ro_after_init;

/**
 * qrdma_icrc_init() - find the CRC's implementation
 *
 * Context: process.
 * Return: 0 or the error of the crypto API.
 */
int qrdma_icrc_init(void)
{
	u8 ones[8];
	int err;

	memset(ones, 0xff, sizeof(ones));
	crc_start = crc32_le(~0, ones, sizeof(ones));
	err = compat_crc32_init(&crc_alg);
	if (err)
		pr_err("no CRC-32 in the kernel's crypto API: %d\n", err);
	return err;
}

/** qrdma_icrc_exit() - the mirror of qrdma_icrc_init() */
void qrdma_icrc_exit(void)
{
	compat_crc32_exit(&crc_alg);
}

static u32 mask_ipv4(u8 *buf, const void *ip, u32 len)
{
	struct iphdr *iph = (struct iphdr *)buf;

	memcpy(iph, ip, sizeof(*iph));
	iph->tos = 0xff;
	iph->ttl = 0xff;
	iph->check = (__force __sum16)0xffff;
	iph->tot_len = htons(sizeof(*iph) + len);
	return sizeof(*iph);
}

static u32 mask_ipv6(u8 *buf, const void *ip, u32 len)
{
	struct ipv6hdr *iph = (struct ipv6hdr *)buf;

	memcpy(iph, ip, sizeof(*iph));
	*(__be32 *)iph = htonl(0x6fffffff);
	iph->hop_limit = 0xff;
	iph->payload_len = htons(len);
	return sizeof(*iph);
}

static u32 mask_udp(u8 *buf, __be16 sport, u32 len)
{
	struct udphdr *uh = (struct udphdr *)buf;

	uh->source = sport;
	uh->dest = htons(QRDMA_UDP_PORT);
	uh->len = htons(len);
	uh->check = (__force __sum16)0xffff;
	return sizeof(*uh);
}

/* Bytes [@off, @off + @len) of @skb, which holds them all. */
static u32 crc_skb(u32 crc, const struct sk_buff *skb, u32 off, u32 len)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	u32 start = skb_headlen(skb);
	u32 n;
	int i;

	if (off < start) {
		n = min(len, start - off);
		crc = compat_crc32_le(&crc_alg, crc, skb->data + off, n);
		off += n;
		len -= n;
	}
	for (i = 0; len && i < info->nr_frags; i++) {
		const skb_frag_t *frag = &info->frags[i];
		u32 end = start + skb_frag_size(frag);

		if (off < end) {
			n = min(len, end - off);
			crc = compat_crc32_le(&crc_alg, crc,
					      skb_frag_address(frag) + off - start,
					      n);
			off += n;
			len -= n;
		}
		start = end;
	}
	return crc;
}

__le32 qrdma_icrc_compute(const struct sk_buff *skb, const void *ip, u8 family,
			  __be16 sport, u32 bth_off, u32 len)
{
	u32 udp_len = sizeof(struct udphdr) + len + QRDMA_ICRC_SIZE;
	u32 linear, take, n;
	u32 crc = crc_start;
	u8 buf[sizeof(struct ipv6hdr) + sizeof(struct udphdr) +
	       sizeof(struct qrdma_bth) + MERGE_MAX] __aligned(8);

	if (family == AF_INET)
		n = mask_ipv4(buf, ip, udp_len);
	else
		n = mask_ipv6(buf, ip, udp_len);
	n += mask_udp(buf + n, sport, udp_len);

	/* One pass over the headers, with the transport headers if short. */
	linear = skb_headlen(skb) > bth_off ? skb_headlen(skb) - bth_off : 0;
	take = min(len, linear);
	if (take < sizeof(struct qrdma_bth) ||
	    take > sizeof(struct qrdma_bth) + MERGE_MAX)
		take = sizeof(struct qrdma_bth);
	if (take <= linear)
		memcpy(buf + n, skb->data + bth_off, take);
	else if (skb_copy_bits(skb, bth_off, buf + n, take))
		return 0;
	buf[n + offsetof(struct qrdma_bth, dqpn)] = 0xff;
	crc = crc32_le(crc, buf, n + take);

	crc = crc_skb(crc, skb, bth_off + take, len - take);
	return cpu_to_le32(~crc);
}
