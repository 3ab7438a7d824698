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

#endif
