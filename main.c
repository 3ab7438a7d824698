// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module entry and exit: a ladder of the four folders' own set-up, and its
 * mirror. Runs in process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/module.h>
#include <quarry/configfs.h>
#include <quarry/host.h>
#include <quarry/rdma.h>
#include <quarry/target.h>

static int __init quarry_init(void)
{
	int err;

	err = qrdma_init();
	if (err)
		return err;
	err = qtgt_init();
	if (err)
		goto err_exit_rdma;
	err = qhost_init();
	if (err)
		goto err_exit_target;
	err = qcfs_init();
	if (err)
		goto err_exit_host;
	return 0;

err_exit_host:
	qhost_exit();
err_exit_target:
	qtgt_exit();
err_exit_rdma:
	qrdma_exit();
	return err;
}

static void __exit quarry_exit(void)
{
	qcfs_exit();
	qhost_exit();
	qtgt_exit();
	qrdma_exit();
}

module_init(quarry_init);
module_exit(quarry_exit);

MODULE_DESCRIPTION("Software RDMA device, NVMe over Fabrics target and initiator");
MODULE_LICENSE("GPL");
