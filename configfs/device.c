// SPDX-License-Identifier: GPL-2.0-only
/* /sys/kernel/config/quarry/devices: the RDMA devices. */
#include "internal.h"

void qcfs_devices_add(struct config_group *root)
{
}
