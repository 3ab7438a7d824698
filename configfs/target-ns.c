// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/config/quarry/subsystems/NQN/namespaces. Process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/hex.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <quarry/target.h>
#include "internal.h"

struct ns_item {
	struct config_group	group;
	struct qtgt_ns		*ns;
};

static struct ns_item *to_ns_item(struct config_item *item)
{
	return container_of(to_config_group(item), struct ns_item, group);
}

static struct qtgt_ns *to_ns(struct config_item *item)
{
	return to_ns_item(item)->ns;
}

static int ns_inval(struct config_item *item, const char *attr,
		    const char *why)
{
	pr_err_ratelimited("subsystem %s, namespace %s: %s %s\n",
			   config_item_name(item->ci_parent->ci_parent),
			   config_item_name(item), attr, why);
	return -EINVAL;
}

static ssize_t ns_device_path_show(struct config_item *item, char *page)
{
	ssize_t n = qtgt_ns_get_path(to_ns(item), page, PAGE_SIZE - 1);

	page[n++] = '\n';
	return n;
}

static ssize_t ns_device_path_store(struct config_item *item, const char *page,
				    size_t count)
{
	size_t len = strcspn(page, "\n");
	struct qtgt_ns_config cfg;
	char *path;
	int err;

	qtgt_ns_get_config(to_ns(item), &cfg);
	if (!len && !cfg.enabled)
		return ns_inval(item, "device_path", "must not be empty");
	path = kmemdup_nul(page, len, GFP_KERNEL);
	if (!path)
		return -ENOMEM;
	err = qtgt_ns_set_path(to_ns(item), path);
	kfree(path);
	return err ? : count;
}

CONFIGFS_ATTR(ns_, device_path);

static ssize_t ns_device_uuid_show(struct config_item *item, char *page)
{
	struct qtgt_ns_config cfg;

	qtgt_ns_get_config(to_ns(item), &cfg);
	return sysfs_emit(page, "%pUb\n", &cfg.uuid);
}

static ssize_t ns_device_uuid_store(struct config_item *item, const char *page,
				    size_t count)
{
	struct qtgt_ns_config cfg;
	uuid_t uuid;
	int err;

	qtgt_ns_get_config(to_ns(item), &cfg);
	if (uuid_parse(page, &uuid)) {
		if (!cfg.enabled)
			return ns_inval(item, "device_uuid", "must be a UUID");
		uuid = cfg.uuid;
	}
	err = qtgt_ns_set_uuid(to_ns(item), &uuid);
	return err ? : count;
}

CONFIGFS_ATTR(ns_, device_uuid);

static ssize_t ns_device_nguid_show(struct config_item *item, char *page)
{
	struct qtgt_ns_config cfg;

	qtgt_ns_get_config(to_ns(item), &cfg);
	return sysfs_emit(page, "%pUb\n", cfg.nguid);
}

/* 32 hexadecimal digits, with a dash or colon allowed after each two. */
static int parse_nguid(const char *page, size_t count, u8 *nguid)
{
	const char *p = page, *end = page + count;
	int i;

	for (i = 0; i < 16; i++) {
		if (p + 2 > end || !isxdigit(p[0]) || !isxdigit(p[1]))
			return -EINVAL;
		nguid[i] = hex_to_bin(p[0]) << 4 | hex_to_bin(p[1]);
		p += 2;
		if (p < end && (*p == '-' || *p == ':'))
			p++;
	}
	return 0;
}

static ssize_t ns_device_nguid_store(struct config_item *item,
				     const char *page, size_t count)
{
	struct qtgt_ns_config cfg;
	u8 nguid[16];
	int err;

	qtgt_ns_get_config(to_ns(item), &cfg);
	if (parse_nguid(page, count, nguid)) {
		if (!cfg.enabled)
			return ns_inval(item, "device_nguid",
					"must be 32 hexadecimal digits");
		memcpy(nguid, cfg.nguid, sizeof(nguid));
	}
	err = qtgt_ns_set_nguid(to_ns(item), nguid);
	return err ? : count;
}

CONFIGFS_ATTR(ns_, device_nguid);

static ssize_t ns_ana_grpid_show(struct config_item *item, char *page)
{
	struct qtgt_ns_config cfg;

	qtgt_ns_get_config(to_ns(item), &cfg);
	return sysfs_emit(page, "%u\n", cfg.anagrpid);
}

static ssize_t ns_ana_grpid_store(struct config_item *item, const char *page,
				  size_t count)
{
	u32 grpid;
	int err;

	err = kstrtou32(page, 0, &grpid);
	if (err) {
		ns_inval(item, "ana_grpid", "must be a number");
		return err;
	}
	err = qtgt_ns_set_anagrp(to_ns(item), grpid);
	return err ? : count;
}

CONFIGFS_ATTR(ns_, ana_grpid);

static ssize_t ns_enable_show(struct config_item *item, char *page)
{
	struct qtgt_ns_config cfg;

	qtgt_ns_get_config(to_ns(item), &cfg);
	return sysfs_emit(page, "%d\n", cfg.enabled);
}

static ssize_t ns_enable_store(struct config_item *item, const char *page,
			       size_t count)
{
	bool on;
	int err = 0;

	if (kstrtobool(page, &on))
		return ns_inval(item, "enable", "must be 0 or 1");
	if (on)
		err = qtgt_ns_enable(to_ns(item));
	else
		qtgt_ns_disable(to_ns(item));
	return err ? : count;
}

CONFIGFS_ATTR(ns_, enable);

static ssize_t ns_buffered_io_show(struct config_item *item, char *page)
{
	struct qtgt_ns_config cfg;

	qtgt_ns_get_config(to_ns(item), &cfg);
	return sysfs_emit(page, "%d\n", cfg.buffered_io);
}

static ssize_t ns_buffered_io_store(struct config_item *item, const char *page,
				    size_t count)
{
	bool on;
	int err;

	if (kstrtobool(page, &on))
		return ns_inval(item, "buffered_io", "must be 0 or 1");
	err = qtgt_ns_set_buffered_io(to_ns(item), on);
	return err ? : count;
}

CONFIGFS_ATTR(ns_, buffered_io);

static ssize_t ns_revalidate_size_store(struct config_item *item,
					const char *page, size_t count)
{
	bool on;
	int err;

	if (kstrtobool(page, &on) || !on)
		return ns_inval(item, "revalidate_size", "takes a 1 only");
	err = qtgt_ns_revalidate(to_ns(item));
	return err ? : count;
}

CONFIGFS_ATTR_WO(ns_, revalidate_size);

static struct configfs_attribute *ns_attrs[] = {
	&ns_attr_device_path,
	&ns_attr_device_nguid,
	&ns_attr_device_uuid,
	&ns_attr_ana_grpid,
	&ns_attr_enable,
	&ns_attr_buffered_io,
	&ns_attr_revalidate_size,
	NULL,
};

static void ns_release(struct config_item *item)
{
	struct ns_item *ns = to_ns_item(item);

	qtgt_ns_destroy(ns->ns);
	kfree(ns);
}

static struct configfs_item_operations ns_item_ops = {
	.release	= ns_release,
};

static const struct config_item_type ns_type = {
	.ct_item_ops	= &ns_item_ops,
	.ct_attrs	= ns_attrs,
	.ct_owner	= THIS_MODULE,
};

static struct config_group *namespaces_make(struct config_group *group,
					    const char *name)
{
	struct qcfs_namespaces *namespaces =
		container_of(group, struct qcfs_namespaces, group);
	struct ns_item *ns;
	u32 nsid;
	int err;

	err = kstrtou32(name, 0, &nsid);
	if (err) {
		pr_err_ratelimited("subsystem %s: %s is not a namespace ID\n",
				   config_item_name(group->cg_item.ci_parent),
				   name);
		return ERR_PTR(err);
	}
	ns = kzalloc(sizeof(*ns), GFP_KERNEL);
	if (!ns)
		return ERR_PTR(-ENOMEM);
	ns->ns = qtgt_ns_create(namespaces->subsys, nsid);
	if (IS_ERR(ns->ns)) {
		err = PTR_ERR(ns->ns);
		goto err_free;
	}
	if (!qcfs_group_init(&ns->group, name, &ns_type)) {
		err = -ENOMEM;
		goto err_destroy;
	}
	return &ns->group;

err_destroy:
	qtgt_ns_destroy(ns->ns);
err_free:
	kfree(ns);
	return ERR_PTR(err);
}

static struct configfs_group_operations namespaces_group_ops = {
	.make_group	= namespaces_make,
};

static const struct config_item_type namespaces_type = {
	.ct_group_ops	= &namespaces_group_ops,
	.ct_owner	= THIS_MODULE,
};

void qcfs_namespaces_init(struct qcfs_namespaces *namespaces)
{
	config_group_init_type_name(&namespaces->group, "namespaces",
				    &namespaces_type);
}
