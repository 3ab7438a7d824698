/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the control plane, as configfs/main.c puts them together. */
#ifndef QCFS_INTERNAL_H
#define QCFS_INTERNAL_H

#include <linux/configfs.h>

/* Attributes of the root folder itself: discovery_nqn. */
extern struct configfs_attribute *qcfs_target_root_attrs[];

/* Each adds its default groups below the root; the root is not live yet. */
void qcfs_devices_add(struct config_group *root);
void qcfs_target_add(struct config_group *root);
void qcfs_connections_add(struct config_group *root);

/* The target's parts; target.c puts them together. */
struct qtgt_host;
struct qtgt_subsys;

extern struct config_group qcfs_subsystems;

void qcfs_hosts_init(struct config_group *hosts);
void qcfs_subsystems_init(struct config_group *subsystems);
void qcfs_ports_init(struct config_group *ports);

/* namespaces/ below a subsystem: @namespaces is a member of its object. */
struct qcfs_namespaces {
	struct config_group	group;
	struct qtgt_subsys	*subsys;
};

void qcfs_namespaces_init(struct qcfs_namespaces *namespaces);

/* What a link points to; NULL where it is something else. */
struct qtgt_host *qcfs_item_host(struct config_item *item);
struct qtgt_subsys *qcfs_item_subsys(struct config_item *item);

/*
 * The core allocates names of CONFIGFS_ITEM_NAME_LEN characters and more, and
 * does not tell when it cannot; then it oopses at the first link to the item.
 * False: there is no name, and nothing to undo but the memory of the item.
 */
static inline bool qcfs_item_init(struct config_item *item, const char *name,
				  const struct config_item_type *type)
{
	config_item_init_type_name(item, name, type);
	return config_item_name(item);
}

static inline bool qcfs_group_init(struct config_group *group, const char *name,
				   const struct config_item_type *type)
{
	config_group_init_type_name(group, name, type);
	return config_item_name(&group->cg_item);
}

/* A line without its end in @buf; -EINVAL where it is empty or too long. */
int qcfs_get_line(const char *page, char *buf, size_t size);

#endif
