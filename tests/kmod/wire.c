// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wires that lose the packets one tells them to: netfilter hooks in the two
 * namespaces that a wire joins, which count the RoCE packets that come in by
 * the interface of the wire's name.
 *
 *	echo 'NAME FD FD' > /sys/kernel/debug/qverbs/wires
 *	echo 'END NTH MS BOTH KIND' > /sys/kernel/debug/qverbs/NAME/rule
 *
 * FD are open files of the namespaces. A rule counts the packets of a KIND
 * (any, or see kind_of()) that come in at an END (0 or 1). The NTH, from 1, is
 * lost: alone where MS is 0, with all that follows for so many milliseconds, or
 * for ever where MS is -1; what comes in at the other end is lost as well where
 * BOTH is 1. NTH 0 heals. Each write starts anew. Reading tells: packets at
 * either end, those lost, lists of packets (which a loss would hit as one), and
 * the kind of the first that was lost.
 */
#include <linux/debugfs.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/seq_file.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/udp.h>
#include <net/net_namespace.h>
#include <rdma/ib_pack.h>
#include "qverbs.h"

#define ROCE_PORT	4791
/* Of a MAD's attribute id: behind UDP header, BTH, DETH. */
#define MAD_ATTR_OFF	(8 + 12 + 8 + 16)
#define KIND_LEN	8

struct wire_end {
	struct wire		*wire;
	struct net		*net;
	struct nf_hook_ops	ops[2];
};

struct wire {
	struct list_head	list;
	char			name[IFNAMSIZ];	/* of the interface at each end */
	struct dentry		*dir;
	struct wire_end		end[2];

	spinlock_t		lock;		/* protects all below */
	unsigned int		at;		/* the rule: which end */
	unsigned int		nth;		/* 0: none */
	int			ms;
	unsigned int		both;
	char			kind[KIND_LEN];
	unsigned int		matched;
	u64			until;		/* ns; dead until then */
	unsigned int		seen[2];
	unsigned int		lost;
	unsigned int		lists;
	const char		*first;		/* kind of the first lost */
};

/* Protects the list of wires. */
static DEFINE_MUTEX(wires_lock);
static LIST_HEAD(wires);
static struct dentry *top;

/* Of the connection manager: IBTA volume 1, table 99. */
static const char *const cm_kinds[] = {
	"req", "mra", "rej", "rep", "rtu", "dreq", "drep",
};

static const char *kind_of(u8 opcode, u16 attr)
{
	if (opcode == IB_OPCODE_UD_SEND_ONLY) {
		attr -= 0x10;
		return attr < ARRAY_SIZE(cm_kinds) ? cm_kinds[attr] : "mad";
	}
	switch (opcode) {
	case IB_OPCODE_RC_SEND_FIRST ... IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE:
	case IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE:
	case IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE:
		return "send";
	case IB_OPCODE_RC_RDMA_WRITE_FIRST ... IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE:
		return "write";
	case IB_OPCODE_RC_RDMA_READ_REQUEST:
		return "read";
	case IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST ... IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY:
		return "answer";
	case IB_OPCODE_RC_ACKNOWLEDGE:
		return "ack";
	default:
		return "other";
	}
}

/* Whether a packet is lost that comes in at @end. */
static bool lose(struct wire *w, unsigned int end, const char *kind, bool list)
{
	u64 now = ktime_get_ns();
	bool lost = false;

	spin_lock_bh(&w->lock);
	w->seen[end]++;
	w->lists += list;
	if (end == w->at && w->nth && (!strcmp(w->kind, "any") || !strcmp(w->kind, kind)) &&
	    ++w->matched == w->nth) {
		lost = true;
		if (w->ms)
			w->until = w->ms < 0 ? U64_MAX : now + (u64)w->ms * NSEC_PER_MSEC;
	}
	if (now < w->until && (end == w->at || w->both))
		lost = true;
	if (lost && !w->lost++)
		w->first = kind;
	spin_unlock_bh(&w->lock);
	return lost;
}

static unsigned int judge(struct wire_end *e, struct sk_buff *skb, int off,
			  const struct nf_hook_state *state)
{
	struct udphdr _uh, *uh = skb_header_pointer(skb, off, sizeof(_uh), &_uh);
	__be16 attr = 0;
	u8 opcode;

	if (strcmp(state->in->name, e->wire->name) || !uh || uh->dest != htons(ROCE_PORT) ||
	    skb_copy_bits(skb, off + sizeof(_uh), &opcode, sizeof(opcode)))
		return NF_ACCEPT;
	if (opcode == IB_OPCODE_UD_SEND_ONLY &&
	    skb_copy_bits(skb, off + MAD_ATTR_OFF, &attr, sizeof(attr)))
		return NF_ACCEPT;
	return lose(e->wire, e - e->wire->end, kind_of(opcode, ntohs(attr)),
		    skb_is_gso(skb)) ? NF_DROP : NF_ACCEPT;
}

static unsigned int hook_ipv4(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	return ip_hdr(skb)->protocol == IPPROTO_UDP ?
	       judge(priv, skb, ip_hdrlen(skb), state) : NF_ACCEPT;
}

static unsigned int hook_ipv6(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	return ipv6_hdr(skb)->nexthdr == IPPROTO_UDP ?
	       judge(priv, skb, sizeof(struct ipv6hdr), state) : NF_ACCEPT;
}

static int rule_show(struct seq_file *m, void *unused)
{
	struct wire *w = m->private;

	spin_lock_bh(&w->lock);
	seq_printf(m, "%u %u %u %u %s\n", w->seen[0], w->seen[1], w->lost, w->lists,
		   w->first);
	spin_unlock_bh(&w->lock);
	return 0;
}

static int rule_open(struct inode *inode, struct file *file)
{
	return single_open(file, rule_show, inode->i_private);
}

static ssize_t rule_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct wire *w = ((struct seq_file *)file->private_data)->private;
	unsigned int at, nth, both;
	char text[64] = {}, kind[KIND_LEN];
	int ms;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	if (sscanf(text, "%u %u %d %u %7s", &at, &nth, &ms, &both, kind) != 5 || at > 1)
		return -EINVAL;
	spin_lock_bh(&w->lock);
	w->at = at;
	w->nth = nth;
	w->ms = ms;
	w->both = both;
	strscpy(w->kind, kind);
	w->matched = 0;
	w->until = 0;
	w->seen[0] = 0;
	w->seen[1] = 0;
	w->lost = 0;
	w->lists = 0;
	w->first = "none";
	spin_unlock_bh(&w->lock);
	return len;
}

static const struct file_operations rule_fops = {
	.owner = THIS_MODULE,
	.open = rule_open,
	.read = seq_read,
	.write = rule_write,
	.release = single_release,
};

static void close_end(struct wire_end *e)
{
	if (IS_ERR_OR_NULL(e->net))
		return;
	nf_unregister_net_hooks(e->net, e->ops, ARRAY_SIZE(e->ops));
	put_net(e->net);
}

static int open_end(struct wire *w, int i, int fd)
{
	struct wire_end *e = &w->end[i];
	struct net *net = get_net_ns_by_fd(fd);
	int err;

	if (IS_ERR(net))
		return PTR_ERR(net);
	e->wire = w;
	e->ops[0] = (struct nf_hook_ops) {
		.hook = hook_ipv4, .priv = e, .pf = NFPROTO_IPV4,
		.hooknum = NF_INET_PRE_ROUTING, .priority = NF_IP_PRI_FIRST,
	};
	e->ops[1] = (struct nf_hook_ops) {
		.hook = hook_ipv6, .priv = e, .pf = NFPROTO_IPV6,
		.hooknum = NF_INET_PRE_ROUTING, .priority = NF_IP6_PRI_FIRST,
	};
	err = nf_register_net_hooks(net, e->ops, ARRAY_SIZE(e->ops));
	if (err) {
		put_net(net);
		return err;
	}
	e->net = net;
	return 0;
}

static void wire_free(struct wire *w)
{
	debugfs_remove_recursive(w->dir);
	close_end(&w->end[0]);
	close_end(&w->end[1]);
	kfree(w);
}

static int wire_make(const char *name, int fd0, int fd1)
{
	struct wire *w = kzalloc(sizeof(*w), GFP_KERNEL);
	int err;

	if (!w)
		return -ENOMEM;
	spin_lock_init(&w->lock);
	w->first = "none";
	strscpy(w->name, name);
	err = open_end(w, 0, fd0) ?: open_end(w, 1, fd1);
	if (!err) {
		w->dir = debugfs_create_dir(name, top);
		err = PTR_ERR_OR_ZERO(w->dir);
	}
	if (err) {
		w->dir = NULL;
		wire_free(w);
		return err;
	}
	debugfs_create_file("rule", 0600, w->dir, w, &rule_fops);
	mutex_lock(&wires_lock);
	list_add(&w->list, &wires);
	mutex_unlock(&wires_lock);
	return 0;
}

static ssize_t wires_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char text[64] = {}, name[IFNAMSIZ];
	int fd[2], err;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	if (sscanf(text, "%15s %d %d", name, &fd[0], &fd[1]) != 3)
		return -EINVAL;
	err = wire_make(name, fd[0], fd[1]);
	return err ?: len;
}

static const struct file_operations wires_fops = {
	.owner = THIS_MODULE,
	.write = wires_write,
};

void qv_wires_init(struct dentry *dir)
{
	top = dir;
	debugfs_create_file("wires", 0200, dir, NULL, &wires_fops);
}

/* Nobody has any of the files open. */
void qv_wires_exit(void)
{
	struct wire *w, *next;

	list_for_each_entry_safe(w, next, &wires, list)
		wire_free(w);
}
