// SPDX-License-Identifier: GPL-2.0-only
/*
 * Set-up of the target, and its mirror. Process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include "internal.h"

struct workqueue_struct *qtgt_wq;

int qtgt_init(void)
{
	int err = -ENOMEM;

	qtgt_wq = alloc_workqueue("quarry_target", WQ_MEM_RECLAIM | WQ_UNBOUND,
				  0);
	if (!qtgt_wq)
		return err;
	err = qtgt_discovery_init();
	if (err)
		goto err_destroy_wq;
	return 0;

err_destroy_wq:
	destroy_workqueue(qtgt_wq);
	return err;
}

void qtgt_exit(void)
{
	/*
	 * No port is left. Queues that were told to go may still be going:
	 * each ends in one work, and its controller with the last of them.
	 */
	flush_workqueue(qtgt_wq);
	qtgt_discovery_exit();
	destroy_workqueue(qtgt_wq);
	qtgt_buf_drain();
}
