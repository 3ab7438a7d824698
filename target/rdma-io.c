// SPDX-License-Identifier: GPL-2.0-only
/*
 * NVMe/RDMA, what happens for each command.
 *
 * Receive, RDMA READ and SEND completions of a queue run one at a time, in
 * softirq. A command of an I/O queue is parsed there, its memory taken and its
 * data fetched. Only what may sleep goes to the queue's worker: execution,
 * admin commands, and memory that could not be had in one run.
 *
 * Responses are gathered where commands complete in numbers, because a device
 * sends what is posted at once in fewer packets and the host takes it in fewer
 * turns: while the worker runs, until it ends; in interrupts, until the next
 * softirq. A command that is alone is answered on the spot.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/blkdev.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "rdma.h"

static void queue_error(struct qtgt_rdma_queue *queue, const char *why,
			enum ib_wc_status status)
{
	pr_warn_ratelimited("queue %u: %s failed: %s\n", queue->core.qid, why,
			    ib_wc_status_msg(status));
	if (queue->core.ctrl)
		qtgt_ctrl_fatal(queue->core.ctrl, "its connection failed");
	else
		qtgt_rdma_disconnect(&queue->core);
}

/* Commands are run where they come in; follow when that place has changed. */
static void note_cpu(struct qtgt_rdma_queue *queue)
{
	int cpu = raw_smp_processor_id();

	if (likely(cpu == queue->cpu)) {
		queue->elsewhere = 0;
	} else if (queue->cpu < 0 || ++queue->elsewhere == QTGT_RDMA_MOVE) {
		WRITE_ONCE(queue->cpu, cpu);
		queue->elsewhere = 0;
	}
}

static void place_worker(struct qtgt_rdma_queue *queue)
{
	int cpu = READ_ONCE(queue->cpu);

	if (likely(cpu == queue->worker_cpu))
		return;
	/* It fails for a CPU that has gone offline; any other will do. */
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
	queue->worker_cpu = cpu;
}

static void do_later(struct qtgt_rdma_rsp *rsp,
		     void (*step)(struct qtgt_rdma_rsp *rsp))
{
	struct qtgt_rdma_queue *queue = rsp->queue;

	rsp->step = step;
	if (!llist_add(&rsp->node, &queue->todo))
		return;
	note_cpu(queue);
	kthread_queue_work(queue->worker, &queue->todo_work);
}

static void execute(struct qtgt_rdma_rsp *rsp)
{
	rsp->req.execute(&rsp->req);
}

/* Run a command whose data is here, where it may be run. */
static void start(struct qtgt_rdma_rsp *rsp, bool can_sleep)
{
	if (can_sleep || rsp->req.atomic)
		execute(rsp);
	else
		do_later(rsp, execute);
}

static enum dma_data_direction data_dir(const struct qtgt_rdma_rsp *rsp)
{
	return nvme_is_write(&rsp->req.cmd) ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

/* One run of pages and one work request: nothing here sleeps. */
static bool map_one_run(struct qtgt_rdma_rsp *rsp, gfp_t gfp)
{
	struct ib_device *ibdev = rsp->queue->dev->ibdev;
	struct qtgt_req *req = &rsp->req;
	struct page *page;
	u64 dma;

	rsp->order = get_order(req->sgl.len);
	page = qtgt_buf_get(rsp->order, gfp);
	if (unlikely(!page))
		return false;
	dma = ib_dma_map_page(ibdev, page, 0, req->sgl.len, data_dir(rsp));
	if (unlikely(ib_dma_mapping_error(ibdev, dma))) {
		qtgt_buf_put(page, rsp->order);
		return false;
	}

	sg_set_page(rsp->sg, page, req->sgl.len, 0);
	req->sg = rsp->sg;
	req->sg_cnt = 1;
	rsp->data = QTGT_RDMA_ONE_RUN;
	rsp->mapped = true;
	rsp->data_sge.addr = dma;
	rsp->data_sge.length = req->sgl.len;
	rsp->data_wr.remote_addr = req->sgl.addr;
	rsp->data_wr.rkey = req->sgl.key;
	return true;
}

static void free_runs(struct scatterlist *sgl, unsigned int order)
{
	struct scatterlist *sg;

	for (sg = sgl; sg; sg = sg_next(sg))
		if (sg_page(sg))
			qtgt_buf_put(sg_page(sg), order);
	kfree(sgl);
}

static struct scatterlist *alloc_runs(u32 len, unsigned int order,
				      unsigned int *cnt)
{
	u32 run = PAGE_SIZE << order;
	unsigned int n = DIV_ROUND_UP(len, run);
	struct scatterlist *sgl;
	struct page *page;
	unsigned int i;

	sgl = kcalloc(n, sizeof(*sgl), GFP_NOIO);
	if (!sgl)
		return NULL;
	sg_init_table(sgl, n);
	for (i = 0; i < n; i++) {
		page = qtgt_buf_get(order, GFP_NOIO);
		if (!page) {
			free_runs(sgl, order);
			return NULL;
		}
		sg_set_page(&sgl[i], page, min(len, run), 0);
		len -= min(len, run);
	}
	*cnt = n;
	return sgl;
}

/* The smallest runs of which few enough make up the largest transfer. */
static unsigned int small_order(void)
{
	return get_order(QTGT_MAX_DATA_LEN / QTGT_RDMA_MAX_RUNS);
}

static bool map_many_runs(struct qtgt_rdma_rsp *rsp)
{
	struct qtgt_rdma_queue *queue = rsp->queue;
	struct qtgt_req *req = &rsp->req;
	unsigned int noio;
	int n;

	rsp->order = min_t(unsigned int, small_order(),
			   get_order(req->sgl.len));
	req->sg = alloc_runs(req->sgl.len, rsp->order, &req->sg_cnt);
	if (!req->sg)
		return false;
	/* Reclaim could write to a device that is served here. */
	noio = memalloc_noio_save();
	n = rdma_rw_ctx_init(&rsp->rw, queue->qp, queue->cm_id->port_num,
			     req->sg, req->sg_cnt, 0, req->sgl.addr,
			     req->sgl.key, data_dir(rsp));
	memalloc_noio_restore(noio);
	if (n < 0) {
		free_runs(req->sg, rsp->order);
		req->sg = NULL;
		return false;
	}
	rsp->data = QTGT_RDMA_MANY_RUNS;
	rsp->mapped = true;
	return true;
}

static void unmap(struct qtgt_rdma_rsp *rsp)
{
	struct qtgt_rdma_queue *queue = rsp->queue;

	if (!rsp->mapped)
		return;
	rsp->mapped = false;
	if (likely(rsp->data == QTGT_RDMA_ONE_RUN))
		ib_dma_unmap_page(queue->dev->ibdev, rsp->data_sge.addr,
				  rsp->data_sge.length, data_dir(rsp));
	else
		rdma_rw_ctx_destroy(&rsp->rw, queue->qp,
				    queue->cm_id->port_num, rsp->req.sg,
				    rsp->req.sg_cnt, data_dir(rsp));
}

/**
 * qtgt_rdma_free_data() - give back the memory of a command's data
 * @rsp: response that has been sent, or never will be
 *
 * Context: softirq or process.
 */
void qtgt_rdma_free_data(struct qtgt_rdma_rsp *rsp)
{
	unmap(rsp);
	if (rsp->data == QTGT_RDMA_ONE_RUN)
		qtgt_buf_put(sg_page(rsp->sg), rsp->order);
	else if (rsp->data == QTGT_RDMA_MANY_RUNS)
		free_runs(rsp->req.sg, rsp->order);
	rsp->data = QTGT_RDMA_NO_DATA;
}

/* Returns the receive buffer, and with it a slot of the host's queue. */
static void recycle_cmd(struct qtgt_rdma_queue *queue,
			struct qtgt_rdma_cmd *cmd)
{
	struct ib_device *ibdev = queue->dev->ibdev;
	int i;

	for (i = 0; i < cmd->wr.num_sge; i++)
		ib_dma_sync_single_for_device(ibdev, cmd->sge[i].addr,
					      cmd->sge[i].length,
					      DMA_FROM_DEVICE);
	atomic64_inc(&queue->core.consumed);
	/* It fails only where the connection is going away. */
	if (unlikely(ib_post_recv(queue->qp, &cmd->wr, NULL)))
		qtgt_rdma_disconnect(&queue->core);
}

/* Data in the capsule is used where it lies. */
static void use_capsule(struct qtgt_rdma_rsp *rsp)
{
	struct qtgt_req *req = &rsp->req;

	sg_set_page(rsp->sg, rsp->cmd->data, req->sgl.len, req->sgl.addr);
	req->sg = rsp->sg;
	req->sg_cnt = 1;
	rsp->data = QTGT_RDMA_CAPSULE;
}

static void fetch_data(struct qtgt_rdma_rsp *rsp)
{
	struct qtgt_rdma_queue *queue = rsp->queue;
	int err;

	rsp->fetching = 1;
	if (likely(rsp->data == QTGT_RDMA_ONE_RUN)) {
		rsp->data_wr.wr.opcode = IB_WR_RDMA_READ;
		rsp->data_wr.wr.send_flags = IB_SEND_SIGNALED;
		rsp->data_wr.wr.wr_cqe = &rsp->read_cqe;
		rsp->data_wr.wr.next = NULL;
		err = ib_post_send(queue->qp, &rsp->data_wr.wr, NULL);
	} else {
		err = rdma_rw_ctx_post(&rsp->rw, queue->qp,
				       queue->cm_id->port_num, &rsp->read_cqe,
				       NULL);
	}
	/*
	 * It fails only where the connection is going away, and a part of the
	 * chain may be posted. A completion ends the command, or the end of the
	 * queue.
	 */
	if (unlikely(err))
		qtgt_rdma_disconnect(&queue->core);
}

/* The data of the command has its memory: go on. */
static void data_ready(struct qtgt_rdma_rsp *rsp, bool can_sleep)
{
	if (nvme_is_write(&rsp->req.cmd)) {
		fetch_data(rsp);
		return;
	}
	/* Admin commands may fill less than the host has room for. */
	if (unlikely(!rsp->queue->core.qid))
		sg_zero_buffer(rsp->req.sg, rsp->req.sg_cnt, rsp->req.sgl.len,
			       0);
	start(rsp, can_sleep);
}

static void map_slow(struct qtgt_rdma_rsp *rsp)
{
	struct qtgt_rdma_queue *queue = rsp->queue;
	bool ok = false;

	if (queue->fast)
		ok = map_one_run(rsp, GFP_NOIO | __GFP_NORETRY);
	if (!ok)
		ok = map_many_runs(rsp);
	if (ok)
		data_ready(rsp, true);
	else
		qtgt_req_complete(&rsp->req, NVME_SC_INTERNAL);
}

static void handle(struct qtgt_rdma_rsp *rsp, bool can_sleep)
{
	struct qtgt_rdma_queue *queue = rsp->queue;
	struct qtgt_req *req = &rsp->req;

	if (qtgt_req_init(req, rsp->capsule_data))
		return;
	if (req->sgl.len && req->sgl.in_capsule) {
		use_capsule(rsp);
		start(rsp, can_sleep);
	} else if (!req->sgl.len) {
		start(rsp, can_sleep);
	} else if (can_sleep) {
		map_slow(rsp);
	} else if (likely(queue->fast && map_one_run(rsp, GFP_ATOMIC))) {
		data_ready(rsp, false);
	} else {
		do_later(rsp, map_slow);
	}
}

static void handle_slow(struct qtgt_rdma_rsp *rsp)
{
	handle(rsp, true);
}

/* Take a command in; false where there is no rsp for it yet. */
static bool take_cmd(struct qtgt_rdma_queue *queue, struct qtgt_rdma_cmd *cmd,
		     u32 byte_len)
{
	struct qtgt_rdma_rsp *rsp = queue->free_rsps;

	if (unlikely(!rsp))
		return false;
	/* A queue that is being stopped takes nothing in any more. */
	if (unlikely(!percpu_ref_tryget_live(&queue->core.ref)))
		return true;
	queue->free_rsps = rsp->next_free;
	queue->in_flight++;

	rsp->req.cmd = *cmd->sqe;
	rsp->req.sg = NULL;
	rsp->req.sg_cnt = 0;
	rsp->capsule_data = byte_len - sizeof(struct nvme_command);
	if (likely(!rsp->capsule_data)) {
		rsp->cmd = NULL;
		recycle_cmd(queue, cmd);
	} else {
		rsp->cmd = cmd;
	}

	/* Pairs with the cmpxchg() in install_queue_locked(): qid is valid. */
	if (likely(smp_load_acquire(&queue->core.ctrl) && queue->core.qid))
		handle(rsp, false);
	else
		do_later(rsp, handle_slow);
	return true;
}

/**
 * qtgt_rdma_recv_done() - a command capsule has come
 * @cq: completion queue
 * @wc: work completion
 *
 * Context: softirq, one completion of a queue at a time.
 */
void qtgt_rdma_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct qtgt_rdma_cmd *cmd = container_of(wc->wr_cqe,
						 struct qtgt_rdma_cmd, cqe);
	struct qtgt_rdma_queue *queue = wc->qp->qp_context;
	int i;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			queue_error(queue, "receive", wc->status);
		return;
	}
	/* The length of a write with immediate data is not that of @cmd. */
	if (unlikely(wc->opcode != IB_WC_RECV ||
		     wc->byte_len < sizeof(struct nvme_command))) {
		queue_error(queue, "receive of a whole command",
			    IB_WC_LOC_LEN_ERR);
		return;
	}

	for (i = 0; i < cmd->wr.num_sge; i++)
		ib_dma_sync_single_for_cpu(queue->dev->ibdev, cmd->sge[i].addr,
					   cmd->sge[i].length, DMA_FROM_DEVICE);
	if (unlikely(!list_empty(&queue->waiting) ||
		     !take_cmd(queue, cmd, wc->byte_len))) {
		cmd->byte_len = wc->byte_len;
		list_add_tail(&cmd->entry, &queue->waiting);
	}
}

static void free_rsp(struct qtgt_rdma_queue *queue, struct qtgt_rdma_rsp *rsp)
{
	struct qtgt_rdma_cmd *cmd;

	qtgt_rdma_free_data(rsp);
	rsp->next_free = queue->free_rsps;
	queue->free_rsps = rsp;
	queue->in_flight--;

	if (likely(list_empty(&queue->waiting)))
		return;
	cmd = list_first_entry(&queue->waiting, struct qtgt_rdma_cmd, entry);
	list_del(&cmd->entry);
	take_cmd(queue, cmd, cmd->byte_len);
}

/**
 * qtgt_rdma_send_done() - a response has been sent, and its data before it
 * @cq: completion queue
 * @wc: work completion
 *
 * Context: softirq, one completion of a queue at a time.
 */
void qtgt_rdma_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct qtgt_rdma_rsp *rsp = container_of(wc->wr_cqe,
						 struct qtgt_rdma_rsp,
						 send_cqe);
	struct qtgt_rdma_queue *queue = rsp->queue;

	free_rsp(queue, rsp);
	if (unlikely(wc->status != IB_WC_SUCCESS &&
		     wc->status != IB_WC_WR_FLUSH_ERR))
		queue_error(queue, "sending a response", wc->status);
}

/**
 * qtgt_rdma_read_done() - the data of a write has come
 * @cq: completion queue
 * @wc: work completion
 *
 * Context: softirq, one completion of a queue at a time.
 */
void qtgt_rdma_read_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct qtgt_rdma_rsp *rsp = container_of(wc->wr_cqe,
						 struct qtgt_rdma_rsp,
						 read_cqe);
	struct qtgt_rdma_queue *queue = rsp->queue;

	/* One that was given up already: see end_fetches(). */
	if (unlikely(!xchg(&rsp->fetching, 0)))
		return;
	unmap(rsp);
	if (likely(wc->status == IB_WC_SUCCESS)) {
		start(rsp, false);
		return;
	}
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		queue_error(queue, "fetching data", wc->status);
	qtgt_req_complete(&rsp->req, NVME_SC_DATA_XFER_ERROR);
}

/**
 * qtgt_rdma_abandon_fetch() - end a command whose data will not come
 * @rsp: response of a queue on which no fetch is posted any more, nor completes
 *
 * Context: process.
 * Return: whether it waited for its data.
 */
bool qtgt_rdma_abandon_fetch(struct qtgt_rdma_rsp *rsp)
{
	if (!xchg(&rsp->fetching, 0))
		return false;
	qtgt_req_complete(&rsp->req, NVME_SC_DATA_XFER_ERROR);
	return true;
}

/* The data of a read goes first, in the same chain. */
static struct ib_send_wr *chain_data(struct qtgt_rdma_rsp *rsp)
{
	struct qtgt_rdma_queue *queue = rsp->queue;

	if (unlikely(rsp->data == QTGT_RDMA_MANY_RUNS)) {
		/* Mapped before the backend has filled it. */
		if (!ib_uses_virt_dma(queue->dev->ibdev))
			dma_sync_sg_for_device(queue->dev->ibdev->dma_device,
					       rsp->req.sg, rsp->req.sg_cnt,
					       DMA_TO_DEVICE);
		return rdma_rw_ctx_wrs(&rsp->rw, queue->qp,
				       queue->cm_id->port_num, NULL,
				       &rsp->send_wr);
	}

	ib_dma_sync_single_for_device(queue->dev->ibdev, rsp->data_sge.addr,
				      rsp->data_sge.length, DMA_TO_DEVICE);
	rsp->data_wr.wr.opcode = IB_WR_RDMA_WRITE;
	rsp->data_wr.wr.send_flags = 0;
	rsp->data_wr.wr.wr_cqe = NULL;
	rsp->data_wr.wr.next = &rsp->send_wr;
	return &rsp->data_wr.wr;
}

static struct ib_send_wr *first_wr(struct qtgt_rdma_rsp *rsp)
{
	struct qtgt_req *req = &rsp->req;

	if (req->sgl.invalidate && req->sgl.len) {
		rsp->send_wr.opcode = IB_WR_SEND_WITH_INV;
		rsp->send_wr.ex.invalidate_rkey = req->sgl.key;
	} else {
		rsp->send_wr.opcode = IB_WR_SEND;
	}
	rsp->send_wr.next = NULL;
	ib_dma_sync_single_for_device(rsp->queue->dev->ibdev,
				      rsp->send_sge.addr, rsp->send_sge.length,
				      DMA_TO_DEVICE);
	if (rsp->mapped && !nvme_is_write(&req->cmd) && !req->cqe->status)
		return chain_data(rsp);
	return &rsp->send_wr;
}

/* Post the responses of a list, linked by their nodes, in its order. */
static void post_responses(struct qtgt_rdma_queue *queue,
			   struct llist_node *list)
{
	struct ib_send_wr *first = NULL, **tail = &first;
	struct qtgt_rdma_rsp *rsp, *next;

	llist_for_each_entry_safe(rsp, next, list, node) {
		/* First, so that the host finds it when it has the response. */
		if (unlikely(rsp->cmd)) {
			recycle_cmd(queue, rsp->cmd);
			rsp->cmd = NULL;
		}
		*tail = first_wr(rsp);
		tail = &rsp->send_wr.next;
	}
	/*
	 * It fails only where the connection is going away. Then no completion
	 * brings these back, and the end of the queue does.
	 */
	if (unlikely(ib_post_send(queue->qp, first, NULL)))
		qtgt_rdma_disconnect(&queue->core);
}

static void post_done(struct qtgt_rdma_queue *queue)
{
	struct llist_node *list = llist_del_all(&queue->done);

	if (list)
		post_responses(queue, llist_reverse_order(list));
}

/**
 * qtgt_rdma_done_poll() - post the responses gathered in interrupts
 * @iop: done_poll of the queue
 * @budget: not used up, as there are never more than a queue has commands
 *
 * Context: softirq.
 * Return: less than @budget.
 */
int qtgt_rdma_done_poll(struct irq_poll *iop, int budget)
{
	struct qtgt_rdma_queue *queue =
		container_of(iop, struct qtgt_rdma_queue, done_poll);

	post_done(queue);
	irq_poll_complete(iop);
	if (!llist_empty(&queue->done))
		irq_poll_sched(iop);
	return 0;
}

/**
 * qtgt_rdma_todo_work() - the worker of a queue
 * @work: todo_work of the queue
 *
 * Context: process, may sleep.
 */
void qtgt_rdma_todo_work(struct kthread_work *work)
{
	struct qtgt_rdma_queue *queue =
		container_of(work, struct qtgt_rdma_queue, todo_work);
	struct qtgt_rdma_rsp *rsp, *next;
	struct llist_node *list;
	struct blk_plug plug;
	unsigned int n = 0;

	place_worker(queue);
	list = llist_reverse_order(llist_del_all(&queue->todo));
	if (!list)
		return;
	/* A plug and a batch pay only where there is something to gather. */
	if (!list->next) {
		rsp = llist_entry(list, struct qtgt_rdma_rsp, node);
		rsp->step(rsp);
		return;
	}

	WRITE_ONCE(queue->gathering, true);
	blk_start_plug(&plug);
	llist_for_each_entry_safe(rsp, next, list, node) {
		rsp->step(rsp);
		if (!(++n % QTGT_RDMA_BATCH))
			post_done(queue);
	}
	blk_finish_plug(&plug);
	WRITE_ONCE(queue->gathering, false);
	post_done(queue);
}

/**
 * qtgt_rdma_respond() - send a response, and the data of a read before it
 * @req: request of this transport
 *
 * Context: any.
 */
void qtgt_rdma_respond(struct qtgt_req *req)
{
	struct qtgt_rdma_rsp *rsp = container_of(req, struct qtgt_rdma_rsp,
						 req);
	struct qtgt_rdma_queue *queue = rsp->queue;

	if (READ_ONCE(queue->gathering) && in_task() &&
	    queue->worker->task == current) {
		llist_add(&rsp->node, &queue->done);
	} else if (!in_task() && READ_ONCE(queue->in_flight) > 1) {
		if (llist_add(&rsp->node, &queue->done))
			irq_poll_sched(&queue->done_poll);
	} else {
		rsp->node.next = NULL;
		post_responses(queue, &rsp->node);
	}
}
