// SPDX-License-Identifier: GPL-2.0-only
/*
 * The root of the control plane, /sys/kernel/config/quarry. Its folders come
 * from device.c, target.c and connection.c. Runs in process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/module.h>
#include <quarry/configfs.h>
#include "internal.h"

static const struct config_item_type root_type = {
	.ct_attrs = qcfs_target_root_attrs,
	.ct_owner = THIS_MODULE,
};

static struct configfs_subsystem qcfs_subsys = {
	.su_group = {
		.cg_item = {
			.ci_namebuf = "quarry",
			.ci_type = &root_type,
		},
	},
};

int qcfs_init(void)
{
	int err;

	config_group_init(&qcfs_subsys.su_group);
	mutex_init(&qcfs_subsys.su_mutex);
	qcfs_devices_add(&qcfs_subsys.su_group);
	qcfs_target_add(&qcfs_subsys.su_group);
	qcfs_connections_add(&qcfs_subsys.su_group);

	err = configfs_register_subsystem(&qcfs_subsys);
	if (err)
		pr_err("configfs: registration failed: %d\n", err);
	return err;
}

void qcfs_exit(void)
{
	configfs_unregister_subsystem(&qcfs_subsys);
}
