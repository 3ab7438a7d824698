// SPDX-License-Identifier: GPL-2.0-only
/*
 * NVMe/RDMA, queues: made by a connection request, ended by one work. Process
 * context except where noted.
 *
 * A queue ends in phases, in release_work() only:
 *  1. qtgt_rdma_disconnect(), from any context, moves the state and queues the
 *     work; whoever moves it first, does so;
 *  2. the connection is broken, so that every work request completes;
 *  3. fetches of data end, if need be without their completion;
 *  4. commands end: those that the block layer or the worker hold;
 *  5. completions end;
 *  6. memory, verbs objects and at last the cm_id go, for the end of which
 *     rdma_cm waits when the device is removed.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/nvme.h>
#include <linux/nvme-rdma.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include <linux/sched.h>
#include <uapi/linux/sched/types.h>
#include "compat.h"
#include "rdma.h"

/* Protects the two lists below. */
static DEFINE_MUTEX(rdma_mutex);
static LIST_HEAD(rdma_queues);
static LIST_HEAD(rdma_devices);

static void rdma_dev_free(struct kref *ref)
{
	struct qtgt_rdma_device *dev = container_of(ref,
						    struct qtgt_rdma_device,
						    ref);

	lockdep_assert_held(&rdma_mutex);
	list_del(&dev->entry);
	ib_dealloc_pd(dev->pd);
	kfree(dev);
}

static void rdma_dev_put(struct qtgt_rdma_device *dev)
{
	mutex_lock(&rdma_mutex);
	kref_put(&dev->ref, rdma_dev_free);
	mutex_unlock(&rdma_mutex);
}

static struct qtgt_rdma_device *rdma_dev_create(struct ib_device *ibdev)
{
	struct qtgt_rdma_device *dev;
	int err;

	lockdep_assert_held(&rdma_mutex);
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	dev->pd = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(dev->pd)) {
		err = PTR_ERR(dev->pd);
		kfree(dev);
		return ERR_PTR(err);
	}
	dev->ibdev = ibdev;
	kref_init(&dev->ref);
	list_add(&dev->entry, &rdma_devices);
	return dev;
}

static struct qtgt_rdma_device *rdma_dev_get(struct ib_device *ibdev)
{
	struct qtgt_rdma_device *dev;

	mutex_lock(&rdma_mutex);
	list_for_each_entry(dev, &rdma_devices, entry) {
		if (dev->ibdev == ibdev) {
			kref_get(&dev->ref);
			goto out_unlock;
		}
	}
	dev = rdma_dev_create(ibdev);
out_unlock:
	mutex_unlock(&rdma_mutex);
	return dev;
}

/* Receive buffers. */

static void cmd_free(struct qtgt_rdma_queue *queue, struct qtgt_rdma_cmd *cmd)
{
	if (!cmd->data)
		return;
	if (cmd->wr.num_sge == 2)
		ib_dma_unmap_page(queue->dev->ibdev, cmd->sge[1].addr,
				  queue->inline_size, DMA_FROM_DEVICE);
	__free_pages(cmd->data, get_order(queue->inline_size));
}

static int cmd_init(struct qtgt_rdma_queue *queue, unsigned int i)
{
	struct qtgt_rdma_cmd *cmd = &queue->cmds[i];
	struct ib_device *ibdev = queue->dev->ibdev;

	cmd->sqe = &queue->sqes[i];
	cmd->cqe.done = qtgt_rdma_recv_done;
	cmd->wr.wr_cqe = &cmd->cqe;
	cmd->wr.sg_list = cmd->sge;
	cmd->wr.num_sge = 1;
	cmd->sge[0].addr = queue->sqes_dma + i * sizeof(*cmd->sqe);
	cmd->sge[0].length = sizeof(*cmd->sqe);
	cmd->sge[0].lkey = queue->dev->pd->local_dma_lkey;
	if (!queue->inline_size)
		return 0;

	cmd->data = alloc_pages(GFP_KERNEL | __GFP_COMP,
				get_order(queue->inline_size));
	if (!cmd->data)
		return -ENOMEM;
	cmd->sge[1].addr = ib_dma_map_page(ibdev, cmd->data, 0,
					   queue->inline_size,
					   DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(ibdev, cmd->sge[1].addr))
		return -ENOMEM;
	cmd->sge[1].length = queue->inline_size;
	cmd->sge[1].lkey = queue->dev->pd->local_dma_lkey;
	cmd->wr.num_sge = 2;
	return 0;
}

static void free_cmds(struct qtgt_rdma_queue *queue)
{
	unsigned int i;

	for (i = 0; i < queue->nr_cmds; i++)
		cmd_free(queue, &queue->cmds[i]);
	ib_dma_unmap_single(queue->dev->ibdev, queue->sqes_dma,
			    queue->nr_cmds * sizeof(*queue->sqes),
			    DMA_FROM_DEVICE);
	kfree(queue->sqes);
	kvfree(queue->cmds);
}

static int alloc_cmds(struct qtgt_rdma_queue *queue)
{
	struct ib_device *ibdev = queue->dev->ibdev;
	unsigned int n = queue->nr_cmds, i;

	queue->cmds = kvcalloc(n, sizeof(*queue->cmds), GFP_KERNEL);
	if (!queue->cmds)
		return -ENOMEM;
	queue->sqes = kcalloc(n, sizeof(*queue->sqes), GFP_KERNEL);
	if (!queue->sqes)
		goto err_free_cmds;
	queue->sqes_dma = ib_dma_map_single(ibdev, queue->sqes,
					    n * sizeof(*queue->sqes),
					    DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(ibdev, queue->sqes_dma))
		goto err_free_sqes;
	for (i = 0; i < n; i++) {
		if (cmd_init(queue, i)) {
			free_cmds(queue);
			return -ENOMEM;
		}
	}
	return 0;

err_free_sqes:
	kfree(queue->sqes);
err_free_cmds:
	kvfree(queue->cmds);
	return -ENOMEM;
}

/* Responses. */

static void rsp_init(struct qtgt_rdma_queue *queue, unsigned int i)
{
	struct qtgt_rdma_rsp *rsp = &queue->rsps[i];
	u32 lkey = queue->dev->pd->local_dma_lkey;

	rsp->queue = queue;
	rsp->req.queue = &queue->core;
	rsp->req.cqe = &queue->cqes[i];
	sg_init_table(rsp->sg, 1);

	rsp->send_cqe.done = qtgt_rdma_send_done;
	rsp->send_wr.wr_cqe = &rsp->send_cqe;
	rsp->send_wr.sg_list = &rsp->send_sge;
	rsp->send_wr.num_sge = 1;
	rsp->send_wr.send_flags = IB_SEND_SIGNALED;
	rsp->send_sge.addr = queue->cqes_dma + i * sizeof(*queue->cqes);
	rsp->send_sge.length = sizeof(*queue->cqes);
	rsp->send_sge.lkey = lkey;

	rsp->read_cqe.done = qtgt_rdma_read_done;
	rsp->data_wr.wr.sg_list = &rsp->data_sge;
	rsp->data_wr.wr.num_sge = 1;
	rsp->data_sge.lkey = lkey;

	rsp->next_free = queue->free_rsps;
	queue->free_rsps = rsp;
}

static void free_rsps(struct qtgt_rdma_queue *queue)
{
	ib_dma_unmap_single(queue->dev->ibdev, queue->cqes_dma,
			    queue->nr_rsps * sizeof(*queue->cqes),
			    DMA_TO_DEVICE);
	kfree(queue->cqes);
	kvfree(queue->rsps);
}

static int alloc_rsps(struct qtgt_rdma_queue *queue)
{
	struct ib_device *ibdev = queue->dev->ibdev;
	unsigned int n = queue->nr_rsps;

	queue->rsps = kvcalloc(n, sizeof(*queue->rsps), GFP_KERNEL);
	if (!queue->rsps)
		return -ENOMEM;
	queue->cqes = kcalloc(n, sizeof(*queue->cqes), GFP_KERNEL);
	if (!queue->cqes)
		goto err_free_rsps;
	queue->cqes_dma = ib_dma_map_single(ibdev, queue->cqes,
					    n * sizeof(*queue->cqes),
					    DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ibdev, queue->cqes_dma))
		goto err_free_cqes;
	/* Backwards, so that the first is used first. */
	while (n--)
		rsp_init(queue, n);
	return 0;

err_free_cqes:
	kfree(queue->cqes);
err_free_rsps:
	kvfree(queue->rsps);
	return -ENOMEM;
}

/* Verbs objects. */

static void qp_event(struct ib_event *event, void *context)
{
	struct qtgt_rdma_queue *queue = context;

	if (event->event == IB_EVENT_COMM_EST)
		rdma_notify(queue->cm_id, event->event);
	else if (event->event != IB_EVENT_QP_LAST_WQE_REACHED)
		pr_warn_ratelimited("queue %u: %s\n", queue->core.qid,
				    ib_event_msg(event->event));
}

/*
 * Every response can be on the send queue at once, with the work requests for
 * its data: so nobody has to count. A device that has not so many gets fewer
 * responses, and commands wait for one.
 */
static unsigned int size_send_queue(struct qtgt_rdma_queue *queue,
				    struct ib_qp_init_attr *attr)
{
	const struct ib_device_attr *da = &queue->dev->ibdev->attrs;
	u32 max_sge = min_t(u32, QTGT_RDMA_MAX_SGE, da->max_send_sge);
	u32 read_sge = min_t(u32, max_sge, da->max_sge_rd ? : 1);
	u32 per_data = DIV_ROUND_UP(QTGT_RDMA_MAX_RUNS, read_sge);
	u32 cqes = da->max_cqe, wrs = da->max_qp_wr;
	u32 mrs = 0, per_rsp, room;

	/* One is to drain the queue with; receives complete as well. */
	room = min(wrs, cqes - min(cqes, queue->nr_cmds + 1));
	room -= min(room, 1U);

	/* Registration, invalidation and transfer, for each region. */
	if (!queue->fast || da->max_sgl_rd)
		mrs = rdma_rw_mr_factor(queue->dev->ibdev,
					queue->cm_id->port_num,
					QTGT_MAX_DATA_LEN >> PAGE_SHIFT);
	per_rsp = 1 + max(per_data, 3 * mrs);

	/* A response is free again only when the host has acknowledged it. */
	queue->nr_rsps = min_t(u32, 2 * queue->nr_cmds, room / per_rsp);
	attr->cap.max_send_sge = max_sge;
	/* One more to drain the queue with. */
	attr->cap.max_send_wr = queue->nr_rsps * per_rsp + 1;
	return mrs;
}

static int create_qp(struct qtgt_rdma_queue *queue, unsigned int mrs,
		     struct ib_qp_init_attr *attr)
{
	u32 wrs = attr->cap.max_send_wr;

	attr->qp_context = queue;
	attr->event_handler = qp_event;
	attr->qp_type = IB_QPT_RC;
	attr->sq_sig_type = IB_SIGNAL_REQ_WR;
	attr->cap.max_recv_wr = queue->nr_cmds + 1;
	attr->cap.max_recv_sge = queue->inline_size ? 2 : 1;

	/*
	 * The core adds work requests for each context; take as many off, and
	 * leave it the memory regions.
	 */
	attr->cap.max_rdma_ctxs = queue->nr_rsps * mrs;
	attr->cap.max_send_wr -= 3 * attr->cap.max_rdma_ctxs;

	queue->nr_cqe = queue->nr_cmds + 1 + wrs;
	queue->cq = ib_cq_pool_get(queue->dev->ibdev, queue->nr_cqe, -1,
				   IB_POLL_SOFTIRQ);
	if (IS_ERR(queue->cq))
		return PTR_ERR(queue->cq);
	attr->send_cq = queue->cq;
	attr->recv_cq = queue->cq;
	return rdma_create_qp(queue->cm_id, queue->dev->pd, attr);
}

static void destroy_verbs(struct qtgt_rdma_queue *queue)
{
	rdma_destroy_qp(queue->cm_id);
	ib_cq_pool_put(queue->cq, queue->nr_cqe);
}

static int post_recvs(struct qtgt_rdma_queue *queue)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < queue->nr_cmds && !err; i++)
		err = ib_post_recv(queue->qp, &queue->cmds[i].wr, NULL);
	return err;
}

static int create_verbs(struct qtgt_rdma_queue *queue,
			struct ib_qp_init_attr *attr, unsigned int mrs)
{
	int err;

	err = create_qp(queue, mrs, attr);
	if (err) {
		if (!IS_ERR_OR_NULL(queue->cq))
			ib_cq_pool_put(queue->cq, queue->nr_cqe);
		return err;
	}
	queue->qp = queue->cm_id->qp;
	err = post_recvs(queue);
	if (err) {
		ib_drain_qp(queue->qp);
		destroy_verbs(queue);
	}
	return err;
}

/* The whole queue. */

static void release_work(struct work_struct *work);

static int alloc_memory(struct qtgt_rdma_queue *queue)
{
	struct ib_qp_init_attr attr = { };
	unsigned int mrs;
	int err;

	mrs = size_send_queue(queue, &attr);
	if (!queue->nr_rsps)
		return -ENOMEM;
	err = alloc_rsps(queue);
	if (err)
		return err;
	err = alloc_cmds(queue);
	if (err)
		goto err_free_rsps;
	err = create_verbs(queue, &attr, mrs);
	if (err)
		goto err_free_cmds;
	return 0;

err_free_cmds:
	free_cmds(queue);
err_free_rsps:
	free_rsps(queue);
	return err;
}

static void free_memory(struct qtgt_rdma_queue *queue)
{
	unsigned int i;

	for (i = 0; i < queue->nr_rsps; i++)
		qtgt_rdma_free_data(&queue->rsps[i]);
	destroy_verbs(queue);
	free_cmds(queue);
	free_rsps(queue);
}

/*
 * The thread that runs a queue's commands: they may sleep in submit_bio(), and
 * a device that makes them must not hold up other queues. SCHED_BATCH: it does
 * not push aside who runs on its CPU, as a sender on the same host or the next
 * softirq does, and so finds more commands at once when it gets its turn.
 */
static struct kthread_worker *make_worker(u16 qid)
{
	const struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_BATCH,
	};
	struct kthread_worker *worker;

	worker = compat_kthread_run_worker(0, "quarry_tgt/%u", qid);
	if (!IS_ERR(worker))
		sched_setattr_nocheck(worker->task, &attr);
	return worker;
}

static struct qtgt_rdma_queue *queue_create(struct rdma_cm_id *cm_id,
					    struct qtgt_port *port, u16 qid,
					    unsigned int nr_cmds)
{
	struct qtgt_rdma_queue *queue;
	int err = -ENOMEM;

	queue = kzalloc(sizeof(*queue), GFP_KERNEL);
	if (!queue)
		return ERR_PTR(-ENOMEM);
	queue->cm_id = cm_id;
	queue->host_qid = qid;
	queue->nr_cmds = nr_cmds;
	/* An admin queue takes no data in its capsules. */
	queue->inline_size = qid ? port->cfg.inline_data_size : 0;
	/* iWARP fetches data into registered memory only. */
	queue->fast = !rdma_protocol_iwarp(cm_id->device, cm_id->port_num);
	INIT_LIST_HEAD(&queue->waiting);
	INIT_LIST_HEAD(&queue->entry);
	init_llist_head(&queue->todo);
	init_llist_head(&queue->done);
	irq_poll_init(&queue->done_poll, QTGT_RDMA_BATCH, qtgt_rdma_done_poll);
	kthread_init_work(&queue->todo_work, qtgt_rdma_todo_work);
	INIT_WORK(&queue->release_work, release_work);

	queue->cpu = -1;
	queue->worker_cpu = -1;
	queue->worker = make_worker(qid);
	if (IS_ERR(queue->worker)) {
		err = PTR_ERR(queue->worker);
		goto err_free_queue;
	}
	err = qtgt_queue_init(&queue->core, &qtgt_rdma_ops, port);
	if (err)
		goto err_destroy_worker;
	queue->dev = rdma_dev_get(cm_id->device);
	if (IS_ERR(queue->dev)) {
		err = PTR_ERR(queue->dev);
		goto err_exit_core;
	}
	err = alloc_memory(queue);
	if (err)
		goto err_put_device;
	return queue;

err_put_device:
	rdma_dev_put(queue->dev);
err_exit_core:
	qtgt_queue_stop(&queue->core);
	qtgt_queue_wait(&queue->core);
	qtgt_queue_exit(&queue->core);
err_destroy_worker:
	kthread_destroy_worker(queue->worker);
err_free_queue:
	kfree(queue);
	return ERR_PTR(err);
}

/*
 * Each fetch must have completed before what is posted after it does. siw loses
 * those that wait behind a response that the end of the connection cut in two,
 * and a command that waits for its data would wait for ever.
 *
 * A receive completion that is under way may start one still, or have the worker
 * start one. So: drain, which waits for it; the worker; and drain again.
 */
static void end_fetches(struct qtgt_rdma_queue *queue)
{
	unsigned int i, lost = 0;

	ib_drain_qp(queue->qp);
	kthread_flush_work(&queue->todo_work);
	ib_drain_qp(queue->qp);
	for (i = 0; i < queue->nr_rsps; i++)
		lost += qtgt_rdma_abandon_fetch(&queue->rsps[i]);
	if (lost)
		pr_warn_ratelimited("queue %u: %s: no completion for %u fetches of data\n",
				    queue->core.qid, queue->dev->ibdev->name,
				    lost);
}

/* All but the cm_id. */
static void queue_destroy(struct qtgt_rdma_queue *queue)
{
	qtgt_queue_stop(&queue->core);
	end_fetches(queue);
	qtgt_queue_wait(&queue->core);
	/* These two may still post what was completed before the stop. */
	kthread_flush_work(&queue->todo_work);
	irq_poll_disable(&queue->done_poll);
	ib_drain_qp(queue->qp);
	kthread_destroy_worker(queue->worker);
	free_memory(queue);
	rdma_dev_put(queue->dev);
	qtgt_queue_exit(&queue->core);
}

static void release_work(struct work_struct *work)
{
	struct qtgt_rdma_queue *queue =
		container_of(work, struct qtgt_rdma_queue, release_work);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct rdma_cm_id *cm_id = queue->cm_id;

	mutex_lock(&rdma_mutex);
	list_del(&queue->entry);
	mutex_unlock(&rdma_mutex);

	/* Tells the host where it can; the QP must not depend on that. */
	rdma_disconnect(cm_id);
	ib_modify_qp(queue->qp, &attr, IB_QP_STATE);
	queue_destroy(queue);
	/* Waits for its handler; then nobody knows the queue any more. */
	rdma_destroy_id(cm_id);
	kfree(queue);
}

/**
 * qtgt_rdma_disconnect() - tell a queue to go
 * @core: the core's half of the queue
 *
 * Context: any; the queue cannot go while the caller uses it, because it is on
 * a list whose lock is held, or has a command, a completion or an event.
 */
void qtgt_rdma_disconnect(struct qtgt_queue *core)
{
	struct qtgt_rdma_queue *queue = qtgt_rdma_queue(core);

	if (xchg(&queue->state, QTGT_RDMA_DISCONNECTING) !=
	    QTGT_RDMA_DISCONNECTING)
		queue_work(qtgt_wq, &queue->release_work);
}

/**
 * qtgt_rdma_disconnect_port() - tell the queues of a port to go
 * @port: port that does not listen any more
 *
 * Context: process, may sleep.
 */
void qtgt_rdma_disconnect_port(const struct qtgt_port *port)
{
	struct qtgt_rdma_queue *queue;

	mutex_lock(&rdma_mutex);
	list_for_each_entry(queue, &rdma_queues, entry)
		if (queue->core.port == port)
			qtgt_rdma_disconnect(&queue->core);
	mutex_unlock(&rdma_mutex);
}

/* Events of a connection; the listener's are in rdma-listen.c. */
static int queue_cm_event(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct qtgt_rdma_queue *queue = cm_id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		cmpxchg(&queue->state, QTGT_RDMA_CONNECTING, QTGT_RDMA_LIVE);
		break;
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		qtgt_rdma_disconnect(&queue->core);
		break;
	default:
		pr_warn_ratelimited("queue %u: unexpected event: %s\n",
				    queue->core.qid,
				    rdma_event_msg(event->event));
	}
	return 0;
}

static int cm_accept(struct qtgt_rdma_queue *queue,
		     const struct rdma_conn_param *host)
{
	struct nvme_rdma_cm_rep rep = {
		.recfmt = cpu_to_le16(NVME_RDMA_CM_FMT_1_0),
		.crqsize = cpu_to_le16(queue->nr_cmds),
	};
	struct rdma_conn_param param = {
		.rnr_retry_count = 7,	/* for ever */
		.flow_control = 1,
		.initiator_depth = min_t(u8, host->initiator_depth,
					 queue->dev->ibdev->attrs.max_qp_init_rd_atom),
		.private_data = &rep,
		.private_data_len = sizeof(rep),
	};

	return rdma_accept(queue->cm_id, &param);
}

/* What a host may ask for; 0 or an enum nvme_rdma_cm_status. */
static int check_request(const struct rdma_conn_param *param,
			 struct qtgt_port *port, u16 *qid, unsigned int *size)
{
	const struct nvme_rdma_cm_req *req = param->private_data;
	unsigned int max;

	if (!req || param->private_data_len < sizeof(*req))
		return NVME_RDMA_CM_INVALID_LEN;
	if (le16_to_cpu(req->recfmt) != NVME_RDMA_CM_FMT_1_0)
		return NVME_RDMA_CM_INVALID_RECFMT;
	*qid = le16_to_cpu(req->qid);
	if (*qid > QTGT_MAX_QUEUES)
		return NVME_RDMA_CM_INVALID_QID;

	/* 0's based in the request. */
	*size = le16_to_cpu(req->hsqsize) + 1;
	max = *qid ? port->cfg.max_queue_size : NVME_AQ_DEPTH;
	if (*size < 2 || *size > max)
		return NVME_RDMA_CM_INVALID_HSQSIZE;
	if (!req->hrqsize)
		return NVME_RDMA_CM_INVALID_HRQSIZE;
	return 0;
}

static void cm_reject(struct rdma_cm_id *cm_id, struct qtgt_port *port,
		      int status)
{
	struct nvme_rdma_cm_rej rej = {
		.recfmt = cpu_to_le16(NVME_RDMA_CM_FMT_1_0),
		.sts = cpu_to_le16(status),
	};

	pr_warn_ratelimited("port %u: a connection is refused: %s\n",
			    port->cfg.portid, nvme_rdma_cm_msg(status));
	rdma_reject(cm_id, &rej, sizeof(rej), IB_CM_REJ_CONSUMER_DEFINED);
}

/**
 * qtgt_rdma_accept() - make a queue for a connection request
 * @cm_id: the new connection
 * @port: port that it came in by
 * @param: what the host asks for
 *
 * Context: process, in the handler of @cm_id.
 * Return: 0, or an error with which the handler must return, so that rdma_cm
 * destroys @cm_id.
 */
int qtgt_rdma_accept(struct rdma_cm_id *cm_id, struct qtgt_port *port,
		     const struct rdma_conn_param *param)
{
	struct qtgt_rdma_queue *queue;
	unsigned int size = 0;
	u16 qid = 0;
	int err;

	err = check_request(param, port, &qid, &size);
	if (err) {
		cm_reject(cm_id, port, err);
		return -EINVAL;
	}
	queue = queue_create(cm_id, port, qid, size);
	if (IS_ERR(queue)) {
		pr_warn_ratelimited("port %u: no queue can be made: %ld\n",
				    port->cfg.portid, PTR_ERR(queue));
		cm_reject(cm_id, port, NVME_RDMA_CM_NO_RSC);
		return PTR_ERR(queue);
	}

	/* Its events and commands may come as soon as it is accepted. */
	cm_id->context = queue;
	cm_id->event_handler = queue_cm_event;
	mutex_lock(&rdma_mutex);
	list_add_tail(&queue->entry, &rdma_queues);
	mutex_unlock(&rdma_mutex);

	qtgt_queue_accepted(&queue->core);
	err = cm_accept(queue, param);
	if (err) {
		pr_warn_ratelimited("port %u: a connection cannot be accepted: %d\n",
				    port->cfg.portid, err);
		/* The queue has the cm_id and ends with it. */
		qtgt_rdma_disconnect(&queue->core);
	}
	return 0;
}
