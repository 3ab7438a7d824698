// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast groups of a device: which QPs are in them, and the membership of
 * its interface, by IGMP or MLD, that goes with the first and ends with the
 * last. A group is a multicast GID, which is an IPv6 group, or an IPv4 group
 * mapped into IPv6. Attach and detach run in process context, look-ups in
 * softirq under RCU. IBTA volume 1, 10.5.2.
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include "path.h"

static u32 hash_of(const union ib_gid *gid)
{
	return jhash2((const u32 *)gid->raw, sizeof(*gid) / sizeof(u32), 0);
}

static int join_ipv4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (!in_dev)
		return -ENODEV;
	ip_mc_inc_group(in_dev, addr);
	return 0;
}

static void leave_ipv4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	/* Where it is gone, its memberships are. */
	if (in_dev)
		ip_mc_dec_group(in_dev, addr);
}

#if IS_ENABLED(CONFIG_IPV6)
static int join_ipv6(struct net_device *ndev, const struct in6_addr *addr)
{
	return ipv6_dev_mc_inc(ndev, addr);
}

static void leave_ipv6(struct net_device *ndev, const struct in6_addr *addr)
{
	ipv6_dev_mc_dec(ndev, addr);
}
#else
static int join_ipv6(struct net_device *ndev, const struct in6_addr *addr)
{
	return -EAFNOSUPPORT;
}

static void leave_ipv6(struct net_device *ndev, const struct in6_addr *addr)
{
}
#endif

/* The interface may be on its way to another namespace, whose groups are its own. */
static bool moved(const struct qrdma_dev *dev)
{
	ASSERT_RTNL();
	return !net_eq(dev_net(dev->ndev), dev->net);
}

static int join(struct qrdma_dev *dev, const union ib_gid *gid)
{
	const struct in6_addr *addr = (const struct in6_addr *)gid;
	struct net_device *ndev = dev->ndev;
	int err;

	rtnl_lock();
	if (moved(dev))
		err = -ENODEV;
	else if (ipv6_addr_v4mapped(addr))
		err = join_ipv4(ndev, addr->s6_addr32[3]);
	else
		err = join_ipv6(ndev, addr);
	rtnl_unlock();
	return err;
}

static void leave(struct qrdma_dev *dev, const union ib_gid *gid)
{
	const struct in6_addr *addr = (const struct in6_addr *)gid;
	struct net_device *ndev = dev->ndev;

	rtnl_lock();
	/* Else it left them when it went. */
	if (!moved(dev)) {
		if (ipv6_addr_v4mapped(addr))
			leave_ipv4(ndev, addr->s6_addr32[3]);
		else
			leave_ipv6(ndev, addr);
	}
	rtnl_unlock();
}

struct qrdma_group *qrdma_group_find(struct qrdma_dev *dev,
				     const union ib_gid *gid)
{
	struct qrdma_group *group;

	hash_for_each_possible_rcu(dev->groups, group, node, hash_of(gid),
				   lockdep_is_held(&dev->groups_mutex))
		if (!memcmp(&group->gid, gid, sizeof(*gid)))
			return group;
	return NULL;
}

static struct qrdma_member *member_find(struct qrdma_group *group,
					const struct qrdma_qp *qp)
{
	struct qrdma_member *m;

	list_for_each_entry(m, &group->members, list)
		if (m->qp == qp)
			return m;
	return NULL;
}

static struct qrdma_group *group_create(struct qrdma_dev *dev,
					const union ib_gid *gid)
{
	struct qrdma_group *group;
	int err;

	lockdep_assert_held(&dev->groups_mutex);
	if (dev->nr_groups == QRDMA_MAX_GROUPS)
		return ERR_PTR(-ENOMEM);
	group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group)
		return ERR_PTR(-ENOMEM);
	group->gid = *gid;
	INIT_LIST_HEAD(&group->members);
	err = join(dev, gid);
	if (err) {
		kfree(group);
		return ERR_PTR(err);
	}
	dev->nr_groups++;
	hash_add_rcu(dev->groups, &group->node, hash_of(gid));
	return group;
}

static void group_put(struct qrdma_dev *dev, struct qrdma_group *group)
{
	lockdep_assert_held(&dev->groups_mutex);
	if (group->nr_members)
		return;
	dev->nr_groups--;
	hash_del_rcu(&group->node);
	leave(dev, &group->gid);
	kfree_rcu(group, rcu);
}

/* A second time it is in the group as it was. */
static int attach(struct qrdma_dev *dev, struct qrdma_qp *qp,
		  const union ib_gid *gid)
{
	struct qrdma_group *group = qrdma_group_find(dev, gid);
	struct qrdma_member *m;

	lockdep_assert_held(&dev->groups_mutex);
	if (group && member_find(group, qp))
		return 0;
	if (group && group->nr_members == QRDMA_MAX_GROUP_QP)
		return -ENOMEM;
	m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	if (!m)
		return -ENOMEM;
	if (!group)
		group = group_create(dev, gid);
	if (IS_ERR(group)) {
		kfree(m);
		return PTR_ERR(group);
	}
	m->qp = qp;
	group->nr_members++;
	list_add_tail_rcu(&m->list, &group->members);
	return 0;
}

static int detach(struct qrdma_dev *dev, struct qrdma_qp *qp,
		  const union ib_gid *gid)
{
	struct qrdma_group *group = qrdma_group_find(dev, gid);
	struct qrdma_member *m = group ? member_find(group, qp) : NULL;

	lockdep_assert_held(&dev->groups_mutex);
	if (!m)
		return -EINVAL;
	list_del_rcu(&m->list);
	kfree_rcu(m, rcu);
	group->nr_members--;
	group_put(dev, group);
	return 0;
}

static int attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct qrdma_dev *dev = to_qdev(ibqp->device);
	int err;

	mutex_lock(&dev->groups_mutex);
	err = attach(dev, to_qqp(ibqp), gid);
	mutex_unlock(&dev->groups_mutex);
	return err;
}

static int detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct qrdma_dev *dev = to_qdev(ibqp->device);
	int err;

	mutex_lock(&dev->groups_mutex);
	err = detach(dev, to_qqp(ibqp), gid);
	mutex_unlock(&dev->groups_mutex);
	return err;
}

const struct ib_device_ops qrdma_mcast_ops = {
	.attach_mcast = attach_mcast,
	.detach_mcast = detach_mcast,
};
