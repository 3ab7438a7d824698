// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a device: made by "rdma link add" or configfs, registered with
 * ib_core, ended by whichever comes first of "rdma link delete", configfs,
 * its interface, its namespace, the module, or an rdma_rxe that is unloaded
 * (it ends all devices of its driver id). All paths meet in dealloc_driver().
 * Runs in process context.
 *
 * The interface is handed to the core by .get_netdev and never by
 * ib_device_set_netdev(): rxe takes what ib_device_get_by_netdev() finds for
 * its own.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/net_namespace.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_netlink.h>
#include <quarry/rdma.h>
#include "net.h"
#include "path.h"

/*
 * Protects the list of devices (readers of the path use RCU) and the fields
 * of struct qrdma_dev that say so. Taken inside the RTNL.
 */
static DEFINE_MUTEX(dev_mutex);
static LIST_HEAD(dev_list);
/* Devices that dealloc_driver() has not finished with. */
static atomic_t nr_devs = ATOMIC_INIT(0);
static struct workqueue_struct *dev_wq;

#define refuse(name, fmt, ...) \
	pr_err_ratelimited("device %s: " fmt "\n", name, ##__VA_ARGS__)

/*
 * A device that is found on the list stays in memory while dev_mutex is held;
 * get_device() keeps it there longer.
 */
static struct qrdma_dev *dev_by_name(const char *name)
{
	struct qrdma_dev *dev;

	lockdep_assert_held(&dev_mutex);

	list_for_each_entry(dev, &dev_list, list)
		if (!strcmp(dev_name(&dev->ibdev.dev), name))
			return dev;
	return NULL;
}

static struct qrdma_dev *dev_by_ndev(const struct net_device *ndev)
{
	struct qrdma_dev *dev;

	lockdep_assert_held(&dev_mutex);

	list_for_each_entry(dev, &dev_list, list)
		if (dev->ndev == ndev)
			return dev;
	return NULL;
}

struct qrdma_dev *qrdma_dev_find_by_gid(struct net *net, const union ib_gid *gid)
{
	const struct ib_gid_attr *attr;
	struct qrdma_dev *dev;

	list_for_each_entry_rcu(dev, &dev_list, list) {
		/* Before that, the core's tables of it are not there. */
		if (dev->net != net || !smp_load_acquire(&dev->ready))
			continue;
		attr = rdma_find_gid_by_port(&dev->ibdev, gid,
					     IB_GID_TYPE_ROCE_UDP_ENCAP, 1,
					     NULL);
		if (!IS_ERR(attr)) {
			rdma_put_gid_attr(attr);
			return dev;
		}
	}
	return NULL;
}

struct qrdma_dev *qrdma_dev_find_by_ndev(const struct net_device *ndev)
{
	struct qrdma_dev *dev;

	list_for_each_entry_rcu(dev, &dev_list, list)
		/* pairs with the release in dev_register() */
		if (dev->ndev == ndev && smp_load_acquire(&dev->ready))
			return dev;
	return NULL;
}

/* Tell the users of the device when its port comes or goes. */
static void update_port(struct qrdma_dev *dev)
{
	bool up = netif_running(dev->ndev) && netif_carrier_ok(dev->ndev);
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = 1,
		.event = up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
	};

	lockdep_assert_held(&dev_mutex);

	if (up == dev->up || !ib_device_try_get(&dev->ibdev))
		return;
	dev->up = up;
	ib_dispatch_event(&event);
	ib_device_put(&dev->ibdev);
}

/*
 * Take @dev down and drop the reference the caller got with get_device().
 * Whoever comes second waits for the first.
 */
static void dev_unregister(struct qrdma_dev *dev)
{
	ib_unregister_device(&dev->ibdev);
	put_device(&dev->ibdev.dev);
}

static void gone_work(struct work_struct *work)
{
	dev_unregister(container_of(work, struct qrdma_dev, gone));
}

/* From here on nobody can keep @dev from going. */
static void dev_get_to_end(struct qrdma_dev *dev)
{
	lockdep_assert_held(&dev_mutex);

	dev->going = true;
	get_device(&dev->ibdev.dev);
}

/*
 * The last of a device, called by the core when all its objects are gone.
 * Only the look-ups of received packets may still hold it, under RCU.
 */
static void dealloc_driver(struct ib_device *ibdev)
{
	struct qrdma_dev *dev = to_qdev(ibdev);

	if (dev->ndev) {
		mutex_lock(&dev_mutex);
		list_del_rcu(&dev->list);
		mutex_unlock(&dev_mutex);
		qrdma_net_put(dev->net);
		synchronize_rcu();
		netdev_put(dev->ndev, &dev->ndev_tracker);
	}
	free_percpu(dev->stats);
	atomic_dec(&nr_devs);
	wake_up_var(&nr_devs);
}

static const struct ib_device_ops device_ops = {
	.dealloc_driver = dealloc_driver,
};

/* The RTNL keeps @ndev in its namespace and from being unregistered. */
static int check_ndev(const char *name, struct net *net, struct net_device *ndev)
{
	ASSERT_RTNL();
	lockdep_assert_held(&dev_mutex);

	if (ndev->reg_state != NETREG_REGISTERED || !net_eq(dev_net(ndev), net)) {
		refuse(name, "interface %s is going away", ndev->name);
		return -ENODEV;
	}
	if (ndev->type != ARPHRD_ETHER && ndev->type != ARPHRD_LOOPBACK) {
		refuse(name, "%s is not an Ethernet-like interface", ndev->name);
		return -EINVAL;
	}
	if (is_vlan_dev(ndev)) {
		refuse(name, "%s is a VLAN: the device of the interface below serves it",
		       ndev->name);
		return -EINVAL;
	}
	if (dev_by_ndev(ndev)) {
		refuse(name, "interface %s has a device already", ndev->name);
		return -EEXIST;
	}
	if (dev_by_name(name)) {
		refuse(name, "there is a device of that name already");
		return -EEXIST;
	}
	return 0;
}

static int dev_claim_ndev(struct qrdma_dev *dev, const char *name,
			  struct net *net, struct net_device *ndev)
{
	int err;

	err = qrdma_net_get(net);
	if (err) {
		refuse(name, "cannot listen for RoCE on %s: %d", ndev->name, err);
		return err;
	}

	rtnl_lock();
	mutex_lock(&dev_mutex);
	err = check_ndev(name, net, ndev);
	if (!err) {
		netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);
		dev->ndev = ndev;
		dev->net = net;
		list_add_tail_rcu(&dev->list, &dev_list);
	}
	mutex_unlock(&dev_mutex);
	rtnl_unlock();
	if (err)
		qrdma_net_put(net);
	return err;
}

static __be64 make_guid(const struct net_device *ndev)
{
	u8 eui[8];
	__be64 guid;

	if (ndev->addr_len == ETH_ALEN && is_valid_ether_addr(ndev->dev_addr))
		addrconf_addr_eui48(eui, ndev->dev_addr);
	else
		get_random_bytes(eui, sizeof(eui));
	eui[7] |= !memchr_inv(eui, 0, sizeof(eui));
	memcpy(&guid, eui, sizeof(guid));
	return guid;
}

static void set_up(struct qrdma_dev *dev)
{
	struct ib_device *ibdev = &dev->ibdev;

	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_online_cpus();
	ibdev->local_dma_lkey = QRDMA_LOCAL_DMA_LKEY;
	ibdev->node_guid = make_guid(dev->ndev);
	strscpy(ibdev->node_desc, "quarry", sizeof(ibdev->node_desc));
	ib_mark_name_assigned_by_user(ibdev);
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				  BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);

	ib_set_device_ops(ibdev, &qrdma_dev_ops);
	ib_set_device_ops(ibdev, &qrdma_qp_ops);
	ib_set_device_ops(ibdev, &qrdma_cq_ops);
	ib_set_device_ops(ibdev, &qrdma_srq_ops);
	ib_set_device_ops(ibdev, &qrdma_mr_ops);
	ib_set_device_ops(ibdev, &qrdma_mw_ops);
	ib_set_device_ops(ibdev, &qrdma_mcast_ops);
	ib_set_device_ops(ibdev, &qrdma_ring_ops);
	ib_set_device_ops(ibdev, &qrdma_stats_ops);
	ib_set_device_ops(ibdev, &qrdma_restrack_ops);
}

/* Register, and see to what happened to the interface meanwhile. */
static int dev_register(struct qrdma_dev *dev, const char *name)
{
	bool going;
	int err;

	/* Once registered, others may end it: keep the memory. */
	get_device(&dev->ibdev.dev);
	err = ib_register_device(&dev->ibdev, name, NULL);
	if (err) {
		if (err == -ENFILE)
			err = -EEXIST;
		refuse(name, "ib_core does not take it: %d%s", err,
		       err == -EEXIST ? ", the name is taken" : "");
		ib_dealloc_device(&dev->ibdev);
		put_device(&dev->ibdev.dev);
		return err;
	}

	/* pairs with the acquire in qrdma_dev_find_by_gid() */
	smp_store_release(&dev->ready, true);
	mutex_lock(&dev_mutex);
	going = dev->going;
	if (!going)
		update_port(dev);
	mutex_unlock(&dev_mutex);
	if (!going) {
		put_device(&dev->ibdev.dev);
		return 0;
	}
	refuse(name, "its interface is going away");
	dev_unregister(dev);
	return -ENODEV;
}

static int dev_create(const char *name, struct net *net, struct net_device *ndev)
{
	struct qrdma_dev *dev;
	int err;

	/* The core takes the name for a format. */
	if (!*name || strlen(name) >= IB_DEVICE_NAME_MAX || strpbrk(name, "%/")) {
		refuse(name, "not a name for a device");
		return -EINVAL;
	}
	dev = ib_alloc_device(qrdma_dev, ibdev);
	if (!dev)
		return -ENOMEM;
	atomic_inc(&nr_devs);
	INIT_WORK(&dev->gone, gone_work);
	mutex_init(&dev->groups_mutex);
	hash_init(dev->groups);
	ib_set_device_ops(&dev->ibdev, &device_ops);

	err = -ENOMEM;
	dev->stats = alloc_percpu(struct qrdma_stats);
	if (!dev->stats)
		goto err_dealloc;
	err = dev_claim_ndev(dev, name, net, ndev);
	if (err)
		goto err_dealloc;
	set_up(dev);
	return dev_register(dev, name);

err_dealloc:
	ib_dealloc_device(&dev->ibdev);
	return err;
}

static int newlink(const char *name, struct net_device *ndev)
{
	struct net *net;
	int err;

	rtnl_lock();
	net = maybe_get_net(dev_net(ndev));
	rtnl_unlock();
	if (!net)
		return -ENODEV;
	err = dev_create(name, net, ndev);
	put_net(net);
	return err;
}

int qrdma_device_create(const char *name, struct net *net, const char *ifname)
{
	struct net_device *ndev;
	int err;

	ndev = dev_get_by_name(net, ifname);
	if (!ndev) {
		refuse(name, "no interface named %s", ifname);
		return -ENODEV;
	}
	err = dev_create(name, net, ndev);
	dev_put(ndev);
	return err;
}

int qrdma_device_delete(const char *name)
{
	struct qrdma_dev *dev;

	mutex_lock(&dev_mutex);
	dev = dev_by_name(name);
	if (dev)
		dev_get_to_end(dev);
	mutex_unlock(&dev_mutex);
	if (!dev)
		return -ENODEV;
	dev_unregister(dev);
	return 0;
}

bool qrdma_device_exists(const char *name)
{
	bool exists;

	mutex_lock(&dev_mutex);
	exists = dev_by_name(name);
	mutex_unlock(&dev_mutex);
	return exists;
}

/* End all devices of @net, or of all namespaces where it is NULL. */
static void end_devices(struct net *net)
{
	struct qrdma_dev *dev, *found;

	do {
		found = NULL;
		mutex_lock(&dev_mutex);
		list_for_each_entry(dev, &dev_list, list) {
			if (!net || net_eq(dev->net, net)) {
				dev_get_to_end(dev);
				found = dev;
				break;
			}
		}
		mutex_unlock(&dev_mutex);
		if (found)
			dev_unregister(found);
	} while (found);
}

/**
 * qrdma_dev_exit_net() - end what devices a namespace has left
 * @net: the namespace, on its way out
 *
 * Context: process, may sleep.
 */
void qrdma_dev_exit_net(struct net *net)
{
	end_devices(net);
}

/* Under the RTNL: what takes it, as unregistering does, goes to a work. */
static int netdev_event(struct notifier_block *nb, unsigned long event, void *arg)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(arg);
	struct qrdma_dev *dev;

	mutex_lock(&dev_mutex);
	dev = dev_by_ndev(ndev);
	if (!dev)
		goto out;
	switch (event) {
	case NETDEV_UNREGISTER:
		dev_get_to_end(dev);
		if (!queue_work(dev_wq, &dev->gone))
			put_device(&dev->ibdev.dev);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		update_port(dev);
		break;
	}
out:
	mutex_unlock(&dev_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

static struct rdma_link_ops link_ops = {
	.type = "quarry",
	.newlink = newlink,
};

/**
 * qrdma_dev_init() - be ready to make devices
 *
 * Context: process, may sleep.
 * Return: 0 or a negative error.
 */
int qrdma_dev_init(void)
{
	int err;

	dev_wq = alloc_workqueue("quarry-dev", WQ_UNBOUND, 0);
	if (!dev_wq)
		return -ENOMEM;
	err = register_netdevice_notifier(&netdev_notifier);
	if (err)
		goto err_free_wq;
	rdma_link_register(&link_ops);
	return 0;

err_free_wq:
	destroy_workqueue(dev_wq);
	return err;
}

/**
 * qrdma_dev_exit() - end all devices, and make no more
 *
 * Context: process, may sleep.
 */
void qrdma_dev_exit(void)
{
	rdma_link_unregister(&link_ops);
	/* This tells the notifier that each interface leaves. */
	unregister_netdevice_notifier(&netdev_notifier);
	end_devices(NULL);
	/* Others may be ending some: wait for the tail of dealloc_driver(). */
	wait_var_event(&nr_devs, !atomic_read(&nr_devs));
	synchronize_rcu();
	destroy_workqueue(dev_wq);
}

MODULE_ALIAS_RDMA_LINK("quarry");
