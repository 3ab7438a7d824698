// SPDX-License-Identifier: GPL-2.0-only
/*
 * The core's half of a queue, as a transport makes and ends it. Process
 * context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include "internal.h"

static void queue_idle(struct percpu_ref *ref)
{
	complete(&container_of(ref, struct qtgt_queue, ref)->idle);
}

static void connect_work(struct work_struct *work)
{
	struct qtgt_queue *queue = container_of(to_delayed_work(work),
						struct qtgt_queue,
						connect_work);

	if (READ_ONCE(queue->ctrl))
		return;
	pr_warn_ratelimited("port %u: a connection is ended: no Connect in %u seconds\n",
			    queue->port->cfg.portid,
			    queue->port->cfg.connect_timeout);
	queue->ops->disconnect(queue);
}

/**
 * qtgt_queue_init() - make the core's half of a queue
 * @queue: zeroed memory in the transport's queue
 * @ops: the transport
 * @port: port that the host came in by
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM; undone by qtgt_queue_stop(), qtgt_queue_wait() and
 * qtgt_queue_exit().
 */
int qtgt_queue_init(struct qtgt_queue *queue,
		    const struct qtgt_transport_ops *ops,
		    struct qtgt_port *port)
{
	int err;

	err = percpu_ref_init(&queue->ref, queue_idle, 0, GFP_KERNEL);
	if (err)
		return err;
	init_completion(&queue->idle);
	INIT_DELAYED_WORK(&queue->connect_work, connect_work);
	atomic64_set(&queue->consumed, 0);
	queue->ops = ops;
	queue->port = qtgt_port_get(port);
	return 0;
}

/**
 * qtgt_queue_accepted() - a host has the connection now, and owes us Connect
 * @queue: queue that the transport is about to accept the connection of
 *
 * Context: process, may sleep.
 */
void qtgt_queue_accepted(struct qtgt_queue *queue)
{
	u32 timeout = queue->port->cfg.connect_timeout;

	if (timeout)
		queue_delayed_work(qtgt_wq, &queue->connect_work,
				   (unsigned long)timeout * HZ);
}

/**
 * qtgt_queue_stop() - take no more commands
 * @queue: queue on which every transfer of data has failed or will
 *
 * Context: process, may sleep.
 */
void qtgt_queue_stop(struct qtgt_queue *queue)
{
	cancel_delayed_work_sync(&queue->connect_work);
	percpu_ref_kill(&queue->ref);
	/* Async event requests wait for something to happen: this is it. */
	qtgt_events_stop(queue);
}

/**
 * qtgt_queue_wait() - wait for the commands that a stopped queue still has
 * @queue: queue
 *
 * Afterwards no response is posted any more. Those that may still have held a
 * command: the block layer, the queue's worker, a transfer of data.
 *
 * Context: process, may sleep.
 */
void qtgt_queue_wait(struct qtgt_queue *queue)
{
	wait_for_completion(&queue->idle);
}

/**
 * qtgt_queue_exit() - part a stopped queue from its controller
 * @queue: queue
 *
 * Context: process, may sleep.
 */
void qtgt_queue_exit(struct qtgt_queue *queue)
{
	struct qtgt_ctrl *ctrl = queue->ctrl;

	if (ctrl) {
		mutex_lock(&ctrl->lock);
		ctrl->queues[queue->qid] = NULL;
		mutex_unlock(&ctrl->lock);
		/* Taking down may have kept the host from keeping it alive. */
		WRITE_ONCE(ctrl->traffic, true);
		qtgt_ctrl_put(ctrl);
	}
	qtgt_port_put(queue->port);
	percpu_ref_exit(&queue->ref);
}
