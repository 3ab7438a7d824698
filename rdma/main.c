// SPDX-License-Identifier: GPL-2.0-only
/* Set-up of rdma/, a ladder and its mirror. Runs in process context. */
#include <quarry/rdma.h>
#include "path.h"

int qrdma_init(void)
{
	int err;

	err = qrdma_icrc_init();
	if (err)
		return err;
	qrdma_qp_table_init();
	err = qrdma_net_init();
	if (err)
		goto err_exit_tables;
	err = qrdma_dev_init();
	if (err)
		goto err_exit_net;
	return 0;

err_exit_net:
	qrdma_net_exit();
err_exit_tables:
	qrdma_mr_table_exit();
	qrdma_ah_table_exit();
	qrdma_qp_table_exit();
	qrdma_icrc_exit();
	return err;
}

void qrdma_exit(void)
{
	qrdma_dev_exit();
	qrdma_net_exit();
	qrdma_mr_table_exit();
	qrdma_ah_table_exit();
	qrdma_qp_table_exit();
	qrdma_icrc_exit();
}
