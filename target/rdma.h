/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NVMe/RDMA transport: listening (rdma-listen.c), queues made and ended
 * (rdma-queue.c), and what happens for each command (rdma-io.c).
 */
#ifndef QTGT_RDMA_H
#define QTGT_RDMA_H

#include <linux/kthread.h>
#include <linux/irq_poll.h>
#include <linux/llist.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <rdma/rw.h>
#include "internal.h"

#define QTGT_RDMA_MAX_INLINE	SZ_16K
#define QTGT_RDMA_BACKLOG	128
/* The most runs of pages that the data of one command is spread over. */
#define QTGT_RDMA_MAX_RUNS	32
#define QTGT_RDMA_MAX_SGE	16
#define QTGT_RDMA_BATCH		16	/* responses posted at once */
/* Commands in a row on another CPU that make the worker move there. */
#define QTGT_RDMA_MOVE		16

struct qtgt_rdma_queue;

/* One per RDMA device in use; its PD. */
struct qtgt_rdma_device {
	struct ib_device	*ibdev;
	struct ib_pd		*pd;
	struct kref		ref;
	struct list_head	entry;
};

/* A receive buffer: a submission queue entry and room for data behind it. */
struct qtgt_rdma_cmd {
	struct ib_cqe		cqe;
	struct ib_recv_wr	wr;
	struct ib_sge		sge[2];
	struct nvme_command	*sqe;
	struct page		*data;
	u32			byte_len;	/* while it waits for a rsp */
	struct list_head	entry;		/* in queue->waiting */
};

/* What becomes of the data of a command. */
enum qtgt_rdma_data {
	QTGT_RDMA_NO_DATA,
	QTGT_RDMA_CAPSULE,	/* in the receive buffer */
	QTGT_RDMA_ONE_RUN,	/* one run of pages, one work request of ours */
	QTGT_RDMA_MANY_RUNS,	/* several, by way of rdma_rw */
};

/* A command under way, and its response. */
struct qtgt_rdma_rsp {
	struct qtgt_req		req;
	struct qtgt_rdma_queue	*queue;
	struct qtgt_rdma_cmd	*cmd;	/* held for its data, or NULL */
	u8			data;		/* enum qtgt_rdma_data */
	u8			order;		/* of each run of pages */
	bool			mapped;

	/* What the queue's worker is to do next. */
	void			(*step)(struct qtgt_rdma_rsp *rsp);
	struct llist_node	node;	/* in queue->todo or queue->done */
	struct qtgt_rdma_rsp	*next_free;

	struct ib_cqe		send_cqe;
	struct ib_send_wr	send_wr;
	struct ib_sge		send_sge;

	struct ib_cqe		read_cqe;
	struct ib_rdma_wr	data_wr;
	struct ib_sge		data_sge;
	struct scatterlist	sg[1];
	struct rdma_rw_ctx	rw;
	u32			capsule_data;
	u32			fetching;	/* a completion is to come; xchg() */
};

enum qtgt_rdma_state {
	QTGT_RDMA_CONNECTING,
	QTGT_RDMA_LIVE,
	QTGT_RDMA_DISCONNECTING,
};

struct qtgt_rdma_queue {
	struct qtgt_queue	core;
	struct ib_qp		*qp;
	struct qtgt_rdma_device	*dev;
	bool			fast;	/* data may be mapped in softirq */
	u16			host_qid;

	/* Used by completions only, of which one runs at a time. */
	struct qtgt_rdma_rsp	*free_rsps;
	struct list_head	waiting;	/* commands without a rsp */
	unsigned int		in_flight;	/* commands with a rsp */

	struct llist_head	todo;
	struct kthread_work	todo_work;
	struct kthread_worker	*worker;	/* runs todo_work, nothing else */
	int			cpu;		/* that commands come in on */
	int			worker_cpu;	/* that the worker is bound to */
	unsigned int		elsewhere;	/* commands in a row not on cpu */
	bool			gathering;	/* the worker takes responses */
	struct llist_head	done;		/* responses to be posted */
	struct irq_poll		done_poll;

	enum qtgt_rdma_state	state;		/* by cmpxchg() */
	struct work_struct	release_work;
	struct list_head	entry;		/* in all queues */

	struct rdma_cm_id	*cm_id;
	struct ib_cq		*cq;
	unsigned int		nr_cqe;
	struct qtgt_rdma_rsp	*rsps;
	unsigned int		nr_rsps;
	struct nvme_completion	*cqes;
	u64			cqes_dma;
	struct qtgt_rdma_cmd	*cmds;
	unsigned int		nr_cmds;
	struct nvme_command	*sqes;
	u64			sqes_dma;
	u32			inline_size;
};

static inline struct qtgt_rdma_queue *qtgt_rdma_queue(struct qtgt_queue *queue)
{
	return container_of(queue, struct qtgt_rdma_queue, core);
}

/* rdma-listen.c */
int qtgt_rdma_accept(struct rdma_cm_id *cm_id, struct qtgt_port *port,
		     const struct rdma_conn_param *param);

/* rdma-queue.c */
void qtgt_rdma_disconnect(struct qtgt_queue *queue);
void qtgt_rdma_disconnect_port(const struct qtgt_port *port);

/* rdma-io.c */
void qtgt_rdma_respond(struct qtgt_req *req);
void qtgt_rdma_recv_done(struct ib_cq *cq, struct ib_wc *wc);
void qtgt_rdma_send_done(struct ib_cq *cq, struct ib_wc *wc);
void qtgt_rdma_read_done(struct ib_cq *cq, struct ib_wc *wc);
void qtgt_rdma_todo_work(struct kthread_work *work);
int qtgt_rdma_done_poll(struct irq_poll *iop, int budget);
bool qtgt_rdma_abandon_fetch(struct qtgt_rdma_rsp *rsp);
void qtgt_rdma_free_data(struct qtgt_rdma_rsp *rsp);

#endif
