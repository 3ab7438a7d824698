// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/config/quarry/devices: the RDMA devices. A folder is a device,
 * made when 1 is written to "enable", on the interface that "netdev" names in
 * the writer's network namespace. Runs in process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <quarry/rdma.h>
#include "internal.h"

/**
 * struct qcfs_device - a folder below devices/
 * @group: the folder
 * @lock: taken outside of all of rdma/
 * @made: we made the device; it may have ended by itself since
 * @netdev: name of its interface
 */
struct qcfs_device {
	struct config_group	group;
	struct mutex		lock;	/* protects all that follows */
	bool			made;
	char			netdev[IFNAMSIZ];
};

static struct qcfs_device *to_device(struct config_item *item)
{
	return container_of(to_config_group(item), struct qcfs_device, group);
}

static const char *device_name(struct qcfs_device *d)
{
	return config_item_name(&d->group.cg_item);
}

/* The interface, or somebody else, may have ended the device. */
static bool device_enabled(struct qcfs_device *d)
{
	lockdep_assert_held(&d->lock);

	if (d->made && !qrdma_device_exists(device_name(d)))
		d->made = false;
	return d->made;
}

static ssize_t device_netdev_show(struct config_item *item, char *page)
{
	struct qcfs_device *d = to_device(item);
	ssize_t n;

	mutex_lock(&d->lock);
	n = sysfs_emit(page, "%s\n", d->netdev);
	mutex_unlock(&d->lock);
	return n;
}

static ssize_t device_netdev_store(struct config_item *item, const char *page,
				   size_t count)
{
	struct qcfs_device *d = to_device(item);
	size_t len = strcspn(page, "\n");
	ssize_t ret = count;

	mutex_lock(&d->lock);
	if (device_enabled(d)) {
		pr_err_ratelimited("device %s: netdev is fixed while it is enabled\n",
				   device_name(d));
		ret = -EACCES;
	} else if (!len || len >= IFNAMSIZ) {
		pr_err_ratelimited("device %s: netdev takes the name of an interface, 1 to %u characters\n",
				   device_name(d), IFNAMSIZ - 1);
		ret = -EINVAL;
	} else {
		memcpy(d->netdev, page, len);
		d->netdev[len] = '\0';
	}
	mutex_unlock(&d->lock);
	return ret;
}

static ssize_t device_enable_show(struct config_item *item, char *page)
{
	struct qcfs_device *d = to_device(item);
	ssize_t n;

	mutex_lock(&d->lock);
	n = sysfs_emit(page, "%d\n", device_enabled(d));
	mutex_unlock(&d->lock);
	return n;
}

static int device_enable(struct qcfs_device *d)
{
	int err;

	lockdep_assert_held(&d->lock);

	if (device_enabled(d))
		return 0;
	if (!d->netdev[0]) {
		pr_err_ratelimited("device %s: netdev is to be set before it is enabled\n",
				   device_name(d));
		return -EINVAL;
	}
	err = qrdma_device_create(device_name(d), current->nsproxy->net_ns,
				  d->netdev);
	d->made = !err;
	return err;
}

static void device_disable(struct qcfs_device *d)
{
	lockdep_assert_held(&d->lock);

	if (d->made)
		qrdma_device_delete(device_name(d));
	d->made = false;
}

static ssize_t device_enable_store(struct config_item *item, const char *page,
				   size_t count)
{
	struct qcfs_device *d = to_device(item);
	bool enable;
	int err = 0;

	if (kstrtobool(page, &enable)) {
		pr_err_ratelimited("device %s: enable takes 0 or 1\n",
				   device_name(d));
		return -EINVAL;
	}
	mutex_lock(&d->lock);
	if (enable)
		err = device_enable(d);
	else
		device_disable(d);
	mutex_unlock(&d->lock);
	return err ?: count;
}

CONFIGFS_ATTR(device_, netdev);
CONFIGFS_ATTR(device_, enable);

static struct configfs_attribute *device_attrs[] = {
	&device_attr_netdev,
	&device_attr_enable,
	NULL,
};

static void device_release(struct config_item *item)
{
	kfree(to_device(item));
}

static struct configfs_item_operations device_item_ops = {
	.release = device_release,
};

static const struct config_item_type device_type = {
	.ct_item_ops = &device_item_ops,
	.ct_attrs = device_attrs,
	.ct_owner = THIS_MODULE,
};

static struct config_group *devices_make(struct config_group *group,
					 const char *name)
{
	struct qcfs_device *d = kzalloc(sizeof(*d), GFP_KERNEL);

	if (!d)
		return ERR_PTR(-ENOMEM);
	mutex_init(&d->lock);
	if (!qcfs_group_init(&d->group, name, &device_type)) {
		kfree(d);
		return ERR_PTR(-ENOMEM);
	}
	return &d->group;
}

static void devices_drop(struct config_group *group, struct config_item *item)
{
	struct qcfs_device *d = to_device(item);

	mutex_lock(&d->lock);
	device_disable(d);
	mutex_unlock(&d->lock);
	config_item_put(item);
}

static struct configfs_group_operations devices_group_ops = {
	.make_group = devices_make,
	.drop_item = devices_drop,
};

static const struct config_item_type devices_type = {
	.ct_group_ops = &devices_group_ops,
	.ct_owner = THIS_MODULE,
};

static struct config_group devices_group;

void qcfs_devices_add(struct config_group *root)
{
	config_group_init_type_name(&devices_group, "devices", &devices_type);
	configfs_add_default_group(&devices_group, root);
}
