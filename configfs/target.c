// SPDX-License-Identifier: GPL-2.0-only
/*
 * The target's part of the control plane: hosts/, subsystems/, ports/ and
 * discovery_nqn, with the names, defaults and errors of the kernel's own
 * target. Process context.
 *
 * Each item holds an object of the target, whose configuration is locked
 * there. A linked or enabled item keeps the module, by its type's owner.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/module.h>
#include <quarry/target.h>
#include "internal.h"

static struct config_group hosts, ports;
struct config_group qcfs_subsystems;

int qcfs_get_line(const char *page, char *buf, size_t size)
{
	size_t len = strcspn(page, "\n");

	if (!len || len >= size)
		return -EINVAL;
	memcpy(buf, page, len);
	buf[len] = '\0';
	return 0;
}

static ssize_t root_discovery_nqn_show(struct config_item *item, char *page)
{
	ssize_t n = qtgt_discovery_get_nqn(page, PAGE_SIZE - 1);

	page[n++] = '\n';
	return n;
}

static bool subsystem_exists(const char *nqn)
{
	struct config_group *group = &qcfs_subsystems;
	struct config_item *item;

	mutex_lock(&group->cg_subsys->su_mutex);
	item = config_group_find_item(group, nqn);
	mutex_unlock(&group->cg_subsys->su_mutex);
	if (item)
		config_item_put(item);
	return item;
}

static ssize_t root_discovery_nqn_store(struct config_item *item,
					const char *page, size_t count)
{
	char nqn[NVMF_NQN_FIELD_LEN];
	int err;

	if (qcfs_get_line(page, nqn, sizeof(nqn))) {
		pr_err_ratelimited("discovery_nqn: must be a name of at most %d bytes\n",
				   NVMF_NQN_FIELD_LEN - 1);
		return -EINVAL;
	}
	if (subsystem_exists(nqn)) {
		pr_err_ratelimited("discovery_nqn: %s is the name of a subsystem\n",
				   nqn);
		return -EINVAL;
	}
	err = qtgt_discovery_set_nqn(nqn);
	return err ? : count;
}

CONFIGFS_ATTR(root_, discovery_nqn);

struct configfs_attribute *qcfs_target_root_attrs[] = {
	&root_attr_discovery_nqn,
	NULL,
};

void qcfs_target_add(struct config_group *root)
{
	qcfs_subsystems_init(&qcfs_subsystems);
	qcfs_ports_init(&ports);
	qcfs_hosts_init(&hosts);
	configfs_add_default_group(&qcfs_subsystems, root);
	configfs_add_default_group(&ports, root);
	configfs_add_default_group(&hosts, root);
}
