// SPDX-License-Identifier: GPL-2.0-only
/* Set-up of target/. */
#include <quarry/target.h>

int qtgt_init(void)
{
	return 0;
}

void qtgt_exit(void)
{
}
