// SPDX-License-Identifier: GPL-2.0-only
/* /sys/kernel/config/quarry/hosts. Process context. */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <quarry/target.h>
#include "internal.h"

struct host_item {
	struct config_group	group;
	struct qtgt_host	*host;
};

static struct host_item *to_host(struct config_item *item)
{
	return container_of(to_config_group(item), struct host_item, group);
}

static void host_release(struct config_item *item)
{
	struct host_item *host = to_host(item);

	qtgt_host_destroy(host->host);
	kfree(host);
}

static struct configfs_item_operations host_item_ops = {
	.release	= host_release,
};

static const struct config_item_type host_type = {
	.ct_item_ops	= &host_item_ops,
	.ct_owner	= THIS_MODULE,
};

struct qtgt_host *qcfs_item_host(struct config_item *item)
{
	return item->ci_type == &host_type ? to_host(item)->host : NULL;
}

static struct config_group *hosts_make(struct config_group *group,
				       const char *name)
{
	struct host_item *host;
	int err;

	host = kzalloc(sizeof(*host), GFP_KERNEL);
	if (!host)
		return ERR_PTR(-ENOMEM);
	host->host = qtgt_host_create(name);
	if (IS_ERR(host->host)) {
		err = PTR_ERR(host->host);
		goto err_free;
	}
	if (!qcfs_group_init(&host->group, name, &host_type)) {
		err = -ENOMEM;
		goto err_destroy;
	}
	return &host->group;

err_destroy:
	qtgt_host_destroy(host->host);
err_free:
	kfree(host);
	return ERR_PTR(err);
}

static struct configfs_group_operations hosts_group_ops = {
	.make_group	= hosts_make,
};

static const struct config_item_type hosts_type = {
	.ct_group_ops	= &hosts_group_ops,
	.ct_owner	= THIS_MODULE,
};

void qcfs_hosts_init(struct config_group *hosts)
{
	config_group_init_type_name(hosts, "hosts", &hosts_type);
}
