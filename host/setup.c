// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bringing a controller up, step by step, and taking it down in phases. Runs
 * in process context: set-up in that of the user who connects, the stop of
 * the queues always in the controller's fail_work, the rest of the take-down
 * in fail_work after a loss and with the user otherwise.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/cpumask.h>
#include <linux/inet.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "host-block.h"
#include "host.h"

static int parse_address(struct qhost_ctrl *ctrl, const char *what,
			 const char *text, const char *port,
			 struct sockaddr_storage *addr)
{
	int err;

	err = inet_pton_with_scope(ctrl->net, ctrl->opts.adrfam, text, port,
				   addr);
	if (err) {
		qhost_err(ctrl, "%s \"%s\"%s%s is not an IP address%s\n", what,
			  text, port ? " port " : "", port ?: "",
			  ctrl->opts.adrfam ? " of the family addr_adrfam" : "");
		return -EINVAL;
	}
	return 0;
}

static int parse_addresses(struct qhost_ctrl *ctrl)
{
	const struct qhost_options *opts = &ctrl->opts;
	int err;

	err = parse_address(ctrl, "addr_traddr", opts->traddr, opts->trsvcid,
			    &ctrl->addr);
	if (err || !opts->host_traddr[0])
		return err;
	err = parse_address(ctrl, "host_traddr", opts->host_traddr, NULL,
			    &ctrl->src_addr);
	if (err)
		return err;
	if (ctrl->addr.ss_family != ctrl->src_addr.ss_family) {
		qhost_err(ctrl, "addr_traddr and host_traddr are of different families\n");
		return -EINVAL;
	}
	return 0;
}

/* More queues of a kind than processors would have nobody to use them. */
static void clamp_queues(struct qhost_ctrl *ctrl)
{
	unsigned int cpus = num_online_cpus();

	if (max(ctrl->opts.nr_io_queues, ctrl->opts.nr_poll_queues) > cpus)
		qhost_info(ctrl, "no more than %u queues of a kind, one for each processor\n",
			   cpus);
	ctrl->opts.nr_io_queues = min(ctrl->opts.nr_io_queues, cpus);
	ctrl->opts.nr_poll_queues = min(ctrl->opts.nr_poll_queues, cpus);
}

static int alloc_queues(struct qhost_ctrl *ctrl)
{
	unsigned int i, nr;

	clamp_queues(ctrl);
	nr = 1 + ctrl->opts.nr_io_queues + ctrl->opts.nr_poll_queues;
	ctrl->queues = kvcalloc(nr, sizeof(*ctrl->queues), GFP_KERNEL);
	if (!ctrl->queues)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		struct qhost_queue *queue = &ctrl->queues[i];

		queue->ctrl = ctrl;
		queue->qid = i;
		mutex_init(&queue->lock);
		spin_lock_init(&queue->poll_lock);
	}
	WRITE_ONCE(ctrl->nr_queues, nr);
	return 0;
}

/* Tag set and request queue in one, out of the way of fail_work. */
static int alloc_set(struct qhost_ctrl *ctrl, struct blk_mq_tag_set *set,
		     struct request_queue **qp)
{
	struct request_queue *q;
	int err;

	set->numa_node = NUMA_NO_NODE;
	set->cmd_size = sizeof(struct qhost_request);
	set->driver_data = ctrl;
	mutex_lock(&ctrl->tag_lock);
	err = blk_mq_alloc_tag_set(set);
	if (err)
		goto out;
	q = blk_mq_alloc_queue(set, NULL, NULL);
	if (IS_ERR(q)) {
		err = PTR_ERR(q);
		blk_mq_free_tag_set(set);
		goto out;
	}
	*qp = q;
out:
	mutex_unlock(&ctrl->tag_lock);
	return err;
}

static void free_set(struct qhost_ctrl *ctrl, struct blk_mq_tag_set *set,
		     struct request_queue **qp)
{
	if (!*qp)
		return;
	blk_mq_destroy_queue(*qp);
	blk_put_queue(*qp);
	*qp = NULL;
	blk_mq_free_tag_set(set);
}

static int setup_admin(struct qhost_ctrl *ctrl)
{
	struct blk_mq_tag_set *set = &ctrl->admin_set;
	int err;

	err = qhost_queue_open(ctrl, 0, NVME_AQ_DEPTH, false);
	if (err)
		return err;
	set->ops = &qhost_admin_mq_ops;
	set->nr_hw_queues = 1;
	set->queue_depth = QHOST_ADMIN_TAGS;
	set->reserved_tags = QHOST_ADMIN_RESERVED;
	set->timeout = QHOST_ADMIN_TIMEOUT;
	set->flags = BLK_MQ_F_NO_SCHED_BY_DEFAULT;
	err = alloc_set(ctrl, set, &ctrl->admin_q);
	if (err)
		return err;
	err = qhost_queue_start(&ctrl->queues[0]);
	if (err)
		return err;
	err = qhost_connect_queue(ctrl, 0);
	if (err)
		return err;
	err = qhost_enable(ctrl);
	if (err)
		return err;
	/* From here on the target wants to hear of us. */
	qhost_start_keep_alive(ctrl);
	return qhost_identify_ctrl(ctrl);
}

/* The entries of an I/O submission queue: as asked, as far as both can. */
static void choose_depth(struct qhost_ctrl *ctrl)
{
	unsigned int depth = ctrl->opts.queue_size;

	depth = min_t(unsigned int, depth, NVME_CAP_MQES(ctrl->cap) + 1);
	if (ctrl->maxcmd)
		depth = min_t(unsigned int, depth, ctrl->maxcmd);
	/* One entry stays empty, one is for Connect, one must be left. */
	ctrl->depth = max(depth, QHOST_IO_RESERVED + 2U);
	if (ctrl->depth != ctrl->opts.queue_size)
		qhost_info(ctrl, "queue_size %u, as the controller takes no more\n",
			   ctrl->depth);
}

/* How many queues of each kind, when the controller gives @count in all. */
static void choose_queues(struct qhost_ctrl *ctrl, unsigned int count)
{
	unsigned int asked = ctrl->opts.nr_io_queues +
			     ctrl->opts.nr_poll_queues;

	if (count < asked)
		qhost_info(ctrl, "%u I/O queues, as the controller gives no more\n",
			   count);
	ctrl->nr_default_queues = min(ctrl->opts.nr_io_queues, count);
	WRITE_ONCE(ctrl->nr_queues, 1 + count);
}

static void choose_inline(struct qhost_ctrl *ctrl, struct qhost_queue *queue)
{
	u64 bytes = (u64)ctrl->ioccsz * 16 - sizeof(struct nvme_command);

	/*
	 * NVMe base 2.0, figure 275: SGLS bit 20 is the in-capsule offset,
	 * and the data begin ICDOFF after the command.
	 */
	if (!(ctrl->sgls & BIT(20)) || ctrl->icdoff)
		bytes = 0;
	queue->inline_bytes = min_t(u64, bytes,
				    QHOST_INLINE_SEGS * QHOST_PAGE_SIZE);
}

static int open_io_queues(struct qhost_ctrl *ctrl)
{
	unsigned int i, depth = ctrl->depth;
	struct qhost_queue *queue;
	int err;

	for (i = 1; i < ctrl->nr_queues; i++) {
		queue = &ctrl->queues[i];
		choose_inline(ctrl, queue);
		err = qhost_queue_open(ctrl, i, ctrl->depth,
				       i > ctrl->nr_default_queues);
		if (err)
			return err;
		depth = min(depth, queue->crqsize);
	}
	if (depth < QHOST_IO_RESERVED + 2) {
		qhost_err(ctrl, "the controller's queues take %u commands, which is too few\n",
			  depth);
		return -EPROTO;
	}
	ctrl->depth = depth;
	return 0;
}

static int setup_io(struct qhost_ctrl *ctrl)
{
	struct blk_mq_tag_set *set = &ctrl->io_set;
	unsigned int i, count;
	int err;

	count = ctrl->nr_queues - 1;
	err = qhost_set_queue_count(ctrl, &count);
	if (err)
		return err;
	choose_queues(ctrl, count);
	choose_depth(ctrl);
	err = open_io_queues(ctrl);
	if (err)
		return err;

	set->ops = &qhost_io_mq_ops;
	set->nr_hw_queues = ctrl->nr_queues - 1;
	set->nr_maps = count > ctrl->nr_default_queues ? HCTX_MAX_TYPES : 1;
	/* One entry of a submission queue stays empty. */
	set->queue_depth = ctrl->depth - 1;
	set->reserved_tags = QHOST_IO_RESERVED;
	set->timeout = QHOST_IO_TIMEOUT;
	set->flags = COMPAT_MQ_F_MERGE | BLK_MQ_F_NO_SCHED_BY_DEFAULT;
	err = alloc_set(ctrl, set, &ctrl->connect_q);
	if (err)
		return err;
	for (i = 1; i < ctrl->nr_queues; i++) {
		err = qhost_queue_start(&ctrl->queues[i]);
		if (!err)
			err = qhost_connect_queue(ctrl, i);
		if (err)
			return err;
	}
	return 0;
}

/**
 * qhost_setup() - connect a controller
 * @ctrl: the controller, connecting
 *
 * Whatever it returns, qhost_teardown() undoes it.
 *
 * Context: process, sleeps; a signal ends it.
 * Return: 0, or an errno; mostly there is a line in the log then.
 */
int qhost_setup(struct qhost_ctrl *ctrl)
{
	int err;

	err = parse_addresses(ctrl);
	if (err)
		return err;
	err = alloc_queues(ctrl);
	if (err)
		return err;
	err = setup_admin(ctrl);
	if (err)
		return err;
	err = setup_io(ctrl);
	if (err)
		return err;
	err = device_add(&ctrl->dev);
	if (err)
		return err;
	ctrl->added = true;
	return qhost_start_events(ctrl);
}

static bool cancel(struct request *rq, void *data)
{
	struct qhost_request *req = blk_mq_rq_to_pdu(rq);

	if (blk_mq_rq_state(rq) != MQ_RQ_IN_FLIGHT)
		return true;
	req->slot->rq = NULL;
	req->slot->awaiting = false;
	/* timeout() may have said something else. */
	if (req->status >= 0)
		req->status = -ECONNRESET;
	blk_mq_complete_request(rq);
	return true;
}

static void cancel_set(struct blk_mq_tag_set *set)
{
	blk_mq_tagset_busy_iter(set, cancel, NULL);
	blk_mq_tagset_wait_completed_request(set);
}

/**
 * qhost_stop_queues() - stop all queues and end what is in flight
 * @ctrl: the controller, failed
 *
 * Afterwards every command ends at once with an error. In this order:
 *
 *  - No one is in the middle of posting (the quiesce), and no new request
 *    queue comes into being meanwhile (tag_lock).
 *  - The queues are no longer live, their queue pairs are in error and
 *    drained, the pollers have seen all: no completion comes any more.
 *  - So what is in flight is ours to end.
 *
 * Context: fail_work, sleeps.
 */
void qhost_stop_queues(struct qhost_ctrl *ctrl)
{
	unsigned int i;

	mutex_lock(&ctrl->tag_lock);
	if (ctrl->connect_q)
		blk_mq_quiesce_tagset(&ctrl->io_set);
	if (ctrl->admin_q)
		blk_mq_quiesce_tagset(&ctrl->admin_set);
	if (ctrl->queues) {
		for (i = 0; i < READ_ONCE(ctrl->nr_queues); i++)
			qhost_queue_stop(&ctrl->queues[i]);
	}
	if (ctrl->connect_q) {
		cancel_set(&ctrl->io_set);
		blk_mq_unquiesce_tagset(&ctrl->io_set);
	}
	if (ctrl->admin_q) {
		cancel_set(&ctrl->admin_set);
		blk_mq_unquiesce_tagset(&ctrl->admin_set);
	}
	mutex_unlock(&ctrl->tag_lock);
}

/**
 * qhost_teardown() - free what a controller whose queues are stopped holds
 * @ctrl: the controller; fail_work has run, or is the caller
 *
 * Who may still hold what, and where it is waited for:
 *
 *  - the works of the scan, of events and of keep-alive: their commands end
 *    with an error by now; waited for first;
 *  - the disks: removed; one that is open lives on without its queue, and
 *    references the controller, not its queues;
 *  - request queues and tag sets, whose hardware contexts point to our
 *    queues: freed before these;
 *  - the queues, whose CM handler and pollers end with them;
 *  - the RDMA device, which may be waiting to go.
 *
 * Context: process, sleeps.
 */
void qhost_teardown(struct qhost_ctrl *ctrl)
{
	unsigned int i;

	cancel_work_sync(&ctrl->aen_work);
	cancel_delayed_work_sync(&ctrl->scan_work);
	cancel_delayed_work_sync(&ctrl->keep_alive_work);
	qhost_remove_namespaces(ctrl, true);
	if (ctrl->added) {
		device_del(&ctrl->dev);
		ctrl->added = false;
	}
	free_set(ctrl, &ctrl->io_set, &ctrl->connect_q);
	free_set(ctrl, &ctrl->admin_set, &ctrl->admin_q);
	if (ctrl->queues) {
		for (i = 0; i < ctrl->nr_queues; i++)
			qhost_queue_close(&ctrl->queues[i]);
		kvfree(ctrl->queues);
		ctrl->queues = NULL;
	}
	qhost_device_unbind(ctrl);
}
