// SPDX-License-Identifier: GPL-2.0-only
/* /sys/kernel/config/quarry/{hosts,subsystems,ports}: the target. */
#include "internal.h"

struct configfs_attribute *qcfs_target_root_attrs[] = {
	NULL,
};

void qcfs_target_add(struct config_group *root)
{
}
