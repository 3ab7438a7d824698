// SPDX-License-Identifier: GPL-2.0-only
/* Set-up of host/. */
#include <quarry/host.h>

int qhost_init(void)
{
	return 0;
}

void qhost_exit(void)
{
}
