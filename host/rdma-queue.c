// SPDX-License-Identifier: GPL-2.0-only
/*
 * A queue's RDMA connection: made step by step by rdma_cm in the context of
 * the one who connects, watched by the CM's event handler (process context)
 * from then on, stopped and closed by the take-down.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/net_namespace.h>
#include "host.h"

#define IRQ_POLL_WEIGHT		256
#define MAX_RETRIES		7

/* Send credits: as many again as half the requests, see rdma-io.c. */
static unsigned int send_credits(const struct qhost_queue *queue)
{
	return queue->nr_slots + queue->nr_slots / 2;
}

/* Registration and send each, an invalidation per slot, one for the drain. */
static unsigned int send_entries(const struct qhost_queue *queue)
{
	return 2 * send_credits(queue) + queue->nr_slots + 1;
}

static unsigned int recv_entries(const struct qhost_queue *queue)
{
	return queue->nr_rsps + 1;
}

static void qp_event(struct ib_event *event, void *context)
{
	struct qhost_queue *queue = context;

	switch (event->event) {
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
	case IB_EVENT_DEVICE_FATAL:
		qhost_ctrl_fail(queue->ctrl, ib_event_msg(event->event));
		break;
	default:
		break;
	}
}

static void cq_async_event(struct ib_event *event, void *context)
{
	struct qhost_queue *queue = context;

	qhost_ctrl_fail(queue->ctrl, ib_event_msg(event->event));
}

static int create_cq(struct qhost_queue *queue)
{
	struct ib_cq_init_attr attr = {
		.cqe = send_entries(queue) + recv_entries(queue),
		.comp_vector = queue->qid ? (queue->qid - 1) %
			       queue->ibdev->num_comp_vectors : 0,
	};

	if (attr.cqe > queue->ibdev->attrs.max_cqe) {
		qhost_err(queue->ctrl,
			  "%s has no completion queue of %u entries, try a smaller queue_size\n",
			  queue->ibdev->name, attr.cqe);
		return -EINVAL;
	}
	queue->cq = ib_create_cq(queue->ibdev, qhost_cq_event, cq_async_event,
				 queue, &attr);
	if (IS_ERR(queue->cq)) {
		int err = PTR_ERR(queue->cq);

		queue->cq = NULL;
		return err;
	}
	irq_poll_init(&queue->iop, IRQ_POLL_WEIGHT, qhost_irq_poll);
	if (!queue->polled)
		ib_req_notify_cq(queue->cq, IB_CQ_NEXT_COMP);
	return 0;
}

static int create_qp(struct qhost_queue *queue)
{
	struct ib_qp_init_attr attr = {
		.event_handler = qp_event,
		.qp_context = queue,
		.send_cq = queue->cq,
		.recv_cq = queue->cq,
		.cap.max_send_wr = send_entries(queue),
		.cap.max_recv_wr = recv_entries(queue),
		.cap.max_send_sge = 1 + queue->inline_segs,
		.cap.max_recv_sge = 1,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	int err;

	if (attr.cap.max_send_wr > queue->ibdev->attrs.max_qp_wr) {
		qhost_err(queue->ctrl,
			  "%s has no send queue of %u entries, try a smaller queue_size\n",
			  queue->ibdev->name, attr.cap.max_send_wr);
		return -EINVAL;
	}
	err = rdma_create_qp(queue->cm_id, queue->ctrl->pd, &attr);
	if (err)
		return err;
	queue->qp = queue->cm_id->qp;
	return 0;
}

/* The CM's device is known: take it, and make what the queue needs of it. */
static int create_ib(struct qhost_queue *queue)
{
	struct qhost_ctrl *ctrl = queue->ctrl;
	int err;

	err = qhost_device_bind(ctrl, queue->cm_id->device);
	if (err) {
		qhost_err(ctrl, "RDMA device %s cannot be used: %pe\n",
			  queue->cm_id->device->name, ERR_PTR(err));
		return err;
	}
	queue->ibdev = ctrl->ibdev;
	queue->inline_segs = min_t(u32, QHOST_INLINE_SEGS,
				   queue->ibdev->attrs.max_send_sge - 1);
	atomic_set(&queue->sq_credit, send_credits(queue));
	atomic_set(&queue->sq_unsignalled, 0);
	queue->sig_batch = max(queue->nr_slots / 4, 1U);

	err = create_cq(queue);
	if (err)
		goto err_log;
	err = create_qp(queue);
	if (err)
		goto err_log;
	err = qhost_slots_alloc(queue);
	if (err)
		goto err_log;
	return 0;

err_log:
	/* What was made goes in qhost_queue_close(). */
	qhost_err(ctrl, "queue %u: no resources on %s: %pe\n", queue->qid,
		  queue->ibdev->name, ERR_PTR(err));
	return err;
}

/* The target says no: turn its reason into words and an errno. */
static int rejected(struct qhost_queue *queue, struct rdma_cm_event *ev)
{
	const struct nvme_rdma_cm_rej *rej;
	const char *why = rdma_reject_msg(queue->cm_id, ev->status);
	u8 len;

	rej = rdma_consumer_reject_data(queue->cm_id, ev, &len);
	if (rej && len >= sizeof(*rej))
		why = nvme_rdma_cm_msg(le16_to_cpu(rej->sts));
	qhost_err(queue->ctrl, "queue %u: refused by %s port %s: %s\n",
		  queue->qid, queue->ctrl->opts.traddr,
		  queue->ctrl->opts.trsvcid, why);
	return -ECONNREFUSED;
}

/*
 * The reply carries the size of the controller's receive queue: no more
 * commands than that may be out. Iff it is missing, ours is taken for good.
 */
static void read_reply(struct qhost_queue *queue, struct rdma_cm_event *ev)
{
	const struct nvme_rdma_cm_rep *rep = ev->param.conn.private_data;

	if (!rep || ev->param.conn.private_data_len < sizeof(*rep) ||
	    le16_to_cpu(rep->recfmt) != NVME_RDMA_CM_FMT_1_0 || !rep->crqsize)
		return;
	queue->crqsize = min_t(unsigned int, queue->size,
			       le16_to_cpu(rep->crqsize));
}

static int event_error(struct qhost_queue *queue, struct rdma_cm_event *ev)
{
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return 0;
	case RDMA_CM_EVENT_ESTABLISHED:
		read_reply(queue, ev);
		return 0;
	case RDMA_CM_EVENT_REJECTED:
		return rejected(queue, ev);
	default:
		qhost_err(queue->ctrl, "queue %u: %s: %pe\n", queue->qid,
			  rdma_event_msg(ev->event), ERR_PTR(ev->status));
		return ev->status < 0 ? ev->status : -EHOSTUNREACH;
	}
}

static int cm_handler(struct rdma_cm_id *cm_id, struct rdma_cm_event *ev)
{
	struct qhost_queue *queue = cm_id->context;
	struct qhost_ctrl *ctrl = queue->ctrl;

	switch (ev->event) {
	case RDMA_CM_EVENT_DISCONNECTED:
		qhost_ctrl_fail(ctrl, "the target has closed the connection");
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		qhost_ctrl_fail(ctrl, "the local address has changed");
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		qhost_ctrl_fail(ctrl, "the RDMA device is being removed");
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		/*
		 * The link-layer address of the target has changed, or of one
		 * with the same IP address in another network namespace. The
		 * device follows, or its silence tells.
		 */
		if (qhost_queue_live(queue))
			break;
		fallthrough;
	default:
		queue->cm_error = event_error(queue, ev);
		/* Pairs with smp_load_acquire() in cm_done(). */
		smp_store_release(&queue->cm_done, true);
		wake_up_all(&ctrl->wait);
		break;
	}
	return 0;
}

static bool cm_done(const struct qhost_queue *queue)
{
	/* Pairs with smp_store_release() in cm_handler(). */
	return smp_load_acquire(&queue->cm_done);
}

/* Wait for the event that the last call to the CM leads to. */
static int wait_cm(struct qhost_queue *queue, const char *what)
{
	struct qhost_ctrl *ctrl = queue->ctrl;
	long left;

	left = wait_event_interruptible_timeout(ctrl->wait,
						cm_done(queue) ||
						qhost_failed(ctrl),
						QHOST_CM_TIMEOUT);
	if (left < 0)
		return -EINTR;
	if (cm_done(queue)) {
		queue->cm_done = false;
		return queue->cm_error;
	}
	if (qhost_failed(ctrl))
		return -ECONNRESET;
	qhost_err(ctrl, "queue %u: %s: no answer from %s\n", queue->qid, what,
		  ctrl->opts.traddr);
	return -ETIMEDOUT;
}

static int resolve_addr(struct qhost_queue *queue)
{
	struct qhost_ctrl *ctrl = queue->ctrl;
	struct sockaddr *src = NULL;
	int err;

	if (ctrl->src_addr.ss_family)
		src = (struct sockaddr *)&ctrl->src_addr;
	err = rdma_resolve_addr(queue->cm_id, src,
				(struct sockaddr *)&ctrl->addr,
				QHOST_RESOLVE_TIMEOUT);
	if (err) {
		qhost_err(ctrl, "address %s cannot be resolved: %pe\n",
			  ctrl->opts.traddr, ERR_PTR(err));
		return err;
	}
	return wait_cm(queue, "address");
}

static int resolve_route(struct qhost_queue *queue)
{
	int err;

	err = rdma_resolve_route(queue->cm_id, QHOST_RESOLVE_TIMEOUT);
	if (err) {
		qhost_err(queue->ctrl, "no route to %s: %pe\n",
			  queue->ctrl->opts.traddr, ERR_PTR(err));
		return err;
	}
	return wait_cm(queue, "route");
}

/* NVMe over RDMA: the private data of the request say which queue this is. */
static int connect_cm(struct qhost_queue *queue)
{
	struct nvme_rdma_cm_req priv = {
		.recfmt = cpu_to_le16(NVME_RDMA_CM_FMT_1_0),
		.qid = cpu_to_le16(queue->qid),
		.hrqsize = cpu_to_le16(queue->size),
		.hsqsize = cpu_to_le16(queue->size - 1),
		.cntlid = cpu_to_le16(queue->qid ? queue->ctrl->cntlid : 0),
	};
	struct rdma_conn_param param = {
		.qp_num = queue->qp->qp_num,
		.flow_control = 1,
		.responder_resources = min_t(u32, U8_MAX,
				queue->ibdev->attrs.max_qp_rd_atom),
		.retry_count = MAX_RETRIES,
		.rnr_retry_count = MAX_RETRIES,
		.private_data = &priv,
		.private_data_len = sizeof(priv),
	};
	int err;

	err = rdma_connect(queue->cm_id, &param);
	if (err) {
		qhost_err(queue->ctrl, "queue %u: cannot connect: %pe\n",
			  queue->qid, ERR_PTR(err));
		return err;
	}
	return wait_cm(queue, "connect");
}

static int bind_iface(struct qhost_queue *queue)
{
	struct qhost_ctrl *ctrl = queue->ctrl;
	struct net_device *dev;

	if (!ctrl->opts.host_iface[0])
		return 0;
	dev = dev_get_by_name(ctrl->net, ctrl->opts.host_iface);
	if (!dev) {
		qhost_err(ctrl, "there is no interface %s\n",
			  ctrl->opts.host_iface);
		return -ENODEV;
	}
	queue->cm_id->route.addr.dev_addr.bound_dev_if = dev->ifindex;
	dev_put(dev);
	return 0;
}

/**
 * qhost_queue_open() - connect a queue to the target
 * @ctrl: the controller
 * @qid: which of its queues, 0 for the admin queue
 * @size: entries in the submission queue
 * @polled: completions are taken by pollers, not by interrupt
 *
 * Whatever it returns, qhost_queue_close() undoes it.
 *
 * Context: process, sleeps; a signal ends it.
 * Return: 0, or an errno after a line in the log.
 */
int qhost_queue_open(struct qhost_ctrl *ctrl, u16 qid, unsigned int size,
		     bool polled)
{
	struct qhost_queue *queue = &ctrl->queues[qid];
	struct rdma_cm_id *cm_id;
	int err;

	queue->polled = polled;
	queue->size = size;
	queue->crqsize = size;
	queue->nr_slots = qid ? size - 1 : QHOST_ADMIN_TAGS + 1;
	queue->nr_rsps = queue->nr_slots + QHOST_POLL_BATCH;
	queue->cm_done = false;

	cm_id = rdma_create_id(ctrl->net, cm_handler, queue, RDMA_PS_TCP,
			       IB_QPT_RC);
	if (IS_ERR(cm_id)) {
		qhost_err(ctrl, "no RDMA connection identifier: %pe\n", cm_id);
		return PTR_ERR(cm_id);
	}
	queue->cm_id = cm_id;
	err = bind_iface(queue);
	if (err)
		return err;
	err = resolve_addr(queue);
	if (err)
		return err;
	err = create_ib(queue);
	if (err)
		return err;
	err = resolve_route(queue);
	if (err)
		return err;
	return connect_cm(queue);
}

/**
 * qhost_queue_start() - let commands through
 * @queue: an open queue
 *
 * Context: process, may sleep.
 * Return: 0, or -ECONNRESET where the controller has failed meanwhile.
 */
int qhost_queue_start(struct qhost_queue *queue)
{
	int err = 0;

	mutex_lock(&queue->lock);
	if (qhost_failed(queue->ctrl))
		err = -ECONNRESET;
	else
		set_bit(QHOST_Q_LIVE, &queue->flags);
	mutex_unlock(&queue->lock);
	return err;
}

/* Wait until the device has flushed all that was posted. */
static void drain(struct qhost_queue *queue)
{
	if (queue->drained)
		return;
	queue->drained = true;
	/* From now on nobody need poll any more. */
	if (queue->polled &&
	    ib_req_notify_cq(queue->cq, IB_CQ_NEXT_COMP |
			     IB_CQ_REPORT_MISSED_EVENTS) > 0)
		irq_poll_sched(&queue->iop);
	ib_drain_qp(queue->qp);
}

/**
 * qhost_queue_stop() - stop a queue and wait until the device is done with it
 * @queue: the queue, in whatever state
 *
 * Afterwards no completion of a request comes any more. Whoever could post
 * is kept out by the caller, who has the request queues quiesced.
 *
 * Context: process, sleeps.
 */
void qhost_queue_stop(struct qhost_queue *queue)
{
	mutex_lock(&queue->lock);
	if (test_and_clear_bit(QHOST_Q_LIVE, &queue->flags)) {
		rdma_disconnect(queue->cm_id);
		drain(queue);
	}
	mutex_unlock(&queue->lock);
}

/**
 * qhost_queue_close() - undo qhost_queue_open(), however far it got
 * @queue: the queue, stopped or never started
 *
 * The order: the queue pair, drained, after which nothing enters the CQ; the
 * softirq that may still poll it; the CQ and the memory; the CM identifier
 * last, as it holds the device. Its handler may run until then, and touches
 * nothing but the controller.
 *
 * Context: process, sleeps.
 */
void qhost_queue_close(struct qhost_queue *queue)
{
	if (!queue->cm_id)
		return;
	if (queue->qp) {
		drain(queue);
		rdma_destroy_qp(queue->cm_id);
		queue->qp = NULL;
	}
	if (queue->cq) {
		irq_poll_disable(&queue->iop);
		ib_destroy_cq(queue->cq);
		queue->cq = NULL;
	}
	qhost_slots_free(queue);
	rdma_destroy_id(queue->cm_id);
	queue->cm_id = NULL;
}
