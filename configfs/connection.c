// SPDX-License-Identifier: GPL-2.0-only
/* /sys/kernel/config/quarry/connections: the initiator. */
#include "internal.h"

void qcfs_connections_add(struct config_group *root)
{
}
