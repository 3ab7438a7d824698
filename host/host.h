/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The initiator's own structures and the functions its files share.
 *
 * A controller (struct qhost_ctrl) is one association with a target. It has
 * an admin queue and I/O queues (struct qhost_queue), each an RDMA connection
 * of its own, and a disk for each namespace (struct qhost_ns). Every command
 * is a block-layer request: its private part is struct qhost_request, and
 * while it is with the device it owns the slot (struct qhost_slot) of its
 * tag, where all that the RDMA device reads or writes for it lives.
 *
 * Who completes requests: only the one who polls a queue's CQ, and, once the
 * queue pair is drained and polling has ended, the take-down (controller.c).
 * So a slot needs no lock: from the post to the last completion it is the
 * poller's, before and after it belongs to the context that has the request.
 *
 * Locks, those on the left taken first:
 *   tag_lock, queue->lock		mutexes of set-up and take-down
 *   ns_lock, q->limits_lock		mutexes of the namespaces
 *   list_lock (main.c)			mutex, taken alone
 *   poll_lock, ctrl->lock		spinlocks, softirq; the latter is the
 *					innermost, and taken from any context
 */
#ifndef QHOST_INTERNAL_H
#define QHOST_INTERNAL_H

#include <linux/blk-mq.h>
#include <linux/device.h>
#include <linux/irq_poll.h>
#include <linux/mutex.h>
#include <linux/nvme.h>
#include <linux/nvme-rdma.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <quarry/host.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

/* A command id is a tag and a generation, so that a stale one is seen. */
#define QHOST_TAG_BITS		10
#define QHOST_TAG_MASK		(QHOST_MAX_QUEUE_SIZE - 1)
static_assert(QHOST_MAX_QUEUE_SIZE == 1 << QHOST_TAG_BITS);

/* Requests kept free for Connect and Keep Alive. */
#define QHOST_ADMIN_RESERVED	2
#define QHOST_IO_RESERVED	1

/*
 * The admin queue: one entry of its SQ stays empty, one is for the
 * asynchronous event request, whose slot comes after those of the tags.
 */
#define QHOST_ADMIN_TAGS	NVME_AQ_MQ_TAG_DEPTH
#define QHOST_AEN_TAG		QHOST_ADMIN_TAGS

/* Data segments that a capsule may gather beside the command. */
#define QHOST_INLINE_SEGS	4
/* Scatterlist entries in the request itself: 128 KiB of unaligned pages. */
#define QHOST_FIRST_SEGS	33
/* The largest transfer a memory region is made for, in 4 KiB pages. */
#define QHOST_MAX_PAGES		(SZ_1M / SZ_4K)
/* Ranges of one discard; they live in the slot, so nothing is allocated. */
#define QHOST_DSM_RANGES	16
/* Completions taken from a CQ at once. */
#define QHOST_POLL_BATCH	16

/* The page size of fast registration and of NVMe structures. */
#define QHOST_PAGE_SHIFT	12
#define QHOST_PAGE_SIZE		BIT(QHOST_PAGE_SHIFT)

#define QHOST_ADMIN_TIMEOUT	(10 * HZ)
#define QHOST_IO_TIMEOUT	(30 * HZ)
#define QHOST_CM_TIMEOUT	(10 * HZ)
#define QHOST_RESOLVE_TIMEOUT	3000	/* ms */

#define QHOST_MAX_RETRIES	5

/* The private part of a block-layer request. */
struct qhost_request {
	struct qhost_slot *slot;
	union nvme_result result;
	/* NVMe status without the phase bit, or an errno where negative */
	int status;
	u8 retries;
	/* data: entries before and after DMA mapping, 0 where there is none */
	int nents;
	int dma_nents;
	struct sg_table sgt;
	/* of a passthrough request: the command to send */
	struct nvme_command cmd;
	struct scatterlist sg[QHOST_FIRST_SEGS];
};

/*
 * What a tag owns on a queue: work requests that are filled in once as far as
 * they never change, the command, a memory region.
 */
struct qhost_slot {
	struct ib_send_wr send;
	struct ib_reg_wr reg;
	struct ib_sge sge[1 + QHOST_INLINE_SEGS];
	struct ib_cqe send_cqe;
	struct ib_cqe reg_cqe;
	struct ib_cqe inv_cqe;
	struct qhost_queue *queue;
	struct request *rq;
	struct nvme_command *cmd;
	struct nvme_dsm_range *ranges;
	struct ib_mr *mr;
	struct qhost_slot *next;
	u64 cmd_dma;
	/* what the request still waits for: see host/rdma-io.c */
	atomic_t pending;
	/* sends that the completion of @send accounts for */
	int retires;
	__u16 command_id;
	u8 generation;
	/* the response has not come yet */
	bool awaiting;
	/* @mr is registered for the request, until a remote invalidation */
	bool mr_used;
};

/* A buffer for a response capsule. */
struct qhost_rsp {
	struct ib_recv_wr wr;
	struct ib_sge sge;
	struct ib_cqe cqe;
	struct nvme_completion *data;
};

enum {
	/* Connected, commands may be sent. */
	QHOST_Q_LIVE,
};

struct qhost_queue {
	/* Constant while the queue is open. */
	struct qhost_ctrl *ctrl;
	struct ib_device *ibdev;
	struct ib_qp *qp;
	struct ib_cq *cq;
	struct qhost_slot *slots;
	unsigned int nr_slots;
	unsigned int sig_batch;
	/* bytes and segments of data that fit into a command capsule */
	unsigned int inline_bytes;
	unsigned int inline_segs;
	u16 qid;
	bool polled;
	unsigned long flags;

	/* Send queue entries: see host/rdma-io.c for the account. */
	atomic_t sq_credit ____cacheline_aligned_in_smp;
	atomic_t sq_unsignalled;

	/*
	 * The poller's: he who has the irq_poll instance scheduled, and on a
	 * polled queue he who holds poll_lock.
	 */
	struct irq_poll iop ____cacheline_aligned_in_smp;
	struct ib_recv_wr *repost;
	struct io_comp_batch *iob;
	struct ib_wc wc[QHOST_POLL_BATCH];
	/* protects the above against other pollers of a polled queue */
	spinlock_t poll_lock;

	/* Set-up and take-down. */
	struct rdma_cm_id *cm_id;
	/*
	 * protects QHOST_Q_LIVE against a stop that overtakes the start, and
	 * the post of an asynchronous event request against the stop
	 */
	struct mutex lock;
	unsigned int size;
	unsigned int crqsize;
	/* set by the CM's handler when what was asked for has come */
	bool cm_done;
	int cm_error;
	bool drained;
	struct qhost_rsp *rsps;
	unsigned int nr_rsps;
	struct nvme_command *cmds;
	struct nvme_completion *cqes;
	struct nvme_dsm_range *ranges;
	u64 cmds_dma;
	u64 cqes_dma;
};

struct qhost_ctrl {
	/* Constant from the connect on. */
	struct qhost_queue *queues;
	unsigned int nr_queues;
	unsigned int nr_default_queues;
	struct ib_pd *pd;
	unsigned int pages_per_mr;

	struct device dev;
	int instance;
	char *name;
	struct qhost_options opts;
	struct net *net;
	struct sockaddr_storage addr;
	struct sockaddr_storage src_addr;

	/* protects @state, @failed and what hangs on both being one */
	spinlock_t lock;
	enum qhost_state state;
	/* the queues are being stopped, or have been; never goes back */
	bool failed;
	/* woken when a CM event has come, @failed is set, @ibdev is cleared */
	wait_queue_head_t wait;
	/* in host/main.c's list of controllers */
	struct list_head entry;
	/* set while any resource of the RDMA device is held */
	struct ib_device *ibdev;

	/*
	 * protects the set of request queues on the two tag sets against the
	 * take-down, which must see all of them or none
	 */
	struct mutex tag_lock;
	struct blk_mq_tag_set admin_set;
	struct blk_mq_tag_set io_set;
	struct request_queue *admin_q;
	struct request_queue *connect_q;

	/* protects @namespaces */
	struct mutex ns_lock;
	struct list_head namespaces;

	struct work_struct fail_work;
	struct work_struct aen_work;
	struct delayed_work scan_work;
	struct delayed_work keep_alive_work;
	/* scan_work's own: how often it has not seen all, in a row */
	u8 scan_tries;
	u32 aen_result;
	u16 aen_status;

	/* What the controller says of itself. */
	u64 cap;
	u32 vs;
	u16 cntlid;
	u16 oncs;
	u16 maxcmd;
	u16 awupf;
	u16 crdt[3];
	u8 vwc;
	u8 mdts;
	u32 oaes;
	u32 sgls;
	u32 ioccsz;
	u32 icdoff;
	u32 rtd3e;
	u32 nn;
	char serial[20];
	char model[40];
	char firmware[8];
	unsigned int depth;
	unsigned int max_hw_sectors;
	unsigned int max_zeroes_pages;
	u32 dmrsl;
	u8 dmrl;
	bool added;
};

/* How a namespace is known, whatever controller it is reached through. */
struct qhost_ns_ids {
	u8 eui64[NVME_NIDT_EUI64_LEN];
	u8 nguid[NVME_NIDT_NGUID_LEN];
	uuid_t uuid;
	u8 csi;
};

struct qhost_ns {
	struct qhost_ctrl *ctrl;
	struct gendisk *disk;
	struct list_head entry;
	u32 nsid;
	u8 lba_shift;
	bool deac;
	bool seen;
	struct qhost_ns_ids ids;
};

static inline bool qhost_failed(const struct qhost_ctrl *ctrl)
{
	return READ_ONCE(ctrl->failed);
}

static inline bool qhost_queue_live(const struct qhost_queue *queue)
{
	return test_bit(QHOST_Q_LIVE, &queue->flags);
}

/* Give the command in a slot an id of its own and hand it to the device. */
static inline void qhost_stamp_slot(struct qhost_queue *queue,
				    struct qhost_slot *slot, unsigned int tag)
{
	slot->generation++;
	slot->command_id = tag | slot->generation << QHOST_TAG_BITS;
	slot->cmd->common.command_id = slot->command_id;
	ib_dma_sync_single_for_device(queue->ibdev, slot->cmd_dma,
				      sizeof(*slot->cmd), DMA_TO_DEVICE);
}

#define qhost_err(ctrl, fmt, ...) \
	pr_err_ratelimited("connection %s: " fmt, (ctrl)->name, ##__VA_ARGS__)
#define qhost_warn(ctrl, fmt, ...) \
	pr_warn_ratelimited("connection %s: " fmt, (ctrl)->name, ##__VA_ARGS__)
#define qhost_info(ctrl, fmt, ...) \
	pr_info("connection %s: " fmt, (ctrl)->name, ##__VA_ARGS__)

/* main.c */
extern struct workqueue_struct *qhost_wq;
extern const struct class qhost_class;
void qhost_list_add(struct qhost_ctrl *ctrl);
void qhost_list_del(struct qhost_ctrl *ctrl);
int qhost_device_bind(struct qhost_ctrl *ctrl, struct ib_device *ibdev);
void qhost_device_unbind(struct qhost_ctrl *ctrl);
void qhost_object_get(void);
void qhost_object_put(void);

/* controller.c */
bool qhost_ctrl_move(struct qhost_ctrl *ctrl, enum qhost_state to);
void qhost_ctrl_fail(struct qhost_ctrl *ctrl, const char *why);
void qhost_queue_scan(struct qhost_ctrl *ctrl, unsigned long delay);

/* setup.c */
int qhost_setup(struct qhost_ctrl *ctrl);
void qhost_teardown(struct qhost_ctrl *ctrl);
void qhost_stop_queues(struct qhost_ctrl *ctrl);

/* fabrics.c */
int qhost_connect_queue(struct qhost_ctrl *ctrl, u16 qid);
int qhost_enable(struct qhost_ctrl *ctrl);
void qhost_shutdown(struct qhost_ctrl *ctrl);

/* admin.c */
int qhost_sync_cmd(struct qhost_ctrl *ctrl, struct nvme_command *cmd,
		   union nvme_result *result, void *buf, unsigned int len);
int qhost_sync_cmd_on(struct qhost_ctrl *ctrl, u16 qid,
		      struct nvme_command *cmd, union nvme_result *result,
		      void *buf, unsigned int len);
int qhost_identify(struct qhost_ctrl *ctrl, u8 cns, u32 nsid, void *buf);
int qhost_identify_ctrl(struct qhost_ctrl *ctrl);
int qhost_set_queue_count(struct qhost_ctrl *ctrl, unsigned int *count);
void qhost_start_keep_alive(struct qhost_ctrl *ctrl);
void qhost_keep_alive_work(struct work_struct *work);
int qhost_start_events(struct qhost_ctrl *ctrl);
void qhost_aen_work(struct work_struct *work);
int qhost_clear_changed_ns(struct qhost_ctrl *ctrl);

/* namespace.c */
void qhost_scan_work(struct work_struct *work);
void qhost_remove_namespaces(struct qhost_ctrl *ctrl, bool lost);

/* sysfs.c */
extern const struct attribute_group *qhost_ctrl_groups[];
extern const struct attribute_group *qhost_ns_groups[];

/* rdma-queue.c */
int qhost_queue_open(struct qhost_ctrl *ctrl, u16 qid, unsigned int size,
		     bool polled);
int qhost_queue_start(struct qhost_queue *queue);
void qhost_queue_stop(struct qhost_queue *queue);
void qhost_queue_close(struct qhost_queue *queue);

/* rdma-slots.c */
int qhost_slots_alloc(struct qhost_queue *queue);
void qhost_slots_free(struct qhost_queue *queue);

/* block.c */
extern const struct blk_mq_ops qhost_admin_mq_ops;
extern const struct blk_mq_ops qhost_io_mq_ops;
void qhost_complete_rq(struct request *rq);
void qhost_complete_batch(struct io_comp_batch *iob);

/* map.c */
blk_status_t qhost_map(struct qhost_queue *queue, struct qhost_slot *slot,
		       struct request *rq);
void qhost_unmap(struct qhost_queue *queue, struct request *rq);
void qhost_map_none(struct nvme_command *cmd);

/* rdma-io.c */
struct qhost_chain {
	const struct ib_send_wr *wr;
	struct qhost_slot *first;
	struct qhost_slot *last;
	int count;
};

bool qhost_chain_room(struct qhost_queue *queue);
void qhost_chain_unroom(struct qhost_queue *queue);
void qhost_chain_add(struct qhost_chain *chain, struct qhost_slot *slot);
void qhost_chain_post(struct qhost_queue *queue, struct qhost_chain *chain);
void qhost_cq_event(struct ib_cq *cq, void *context);
int qhost_irq_poll(struct irq_poll *iop, int budget);
int qhost_poll(struct qhost_queue *queue, struct io_comp_batch *iob);
void qhost_init_slot(struct qhost_queue *queue, struct qhost_slot *slot);
void qhost_init_rsp(struct qhost_queue *queue, struct qhost_rsp *rsp);
void qhost_post_aen(struct qhost_ctrl *ctrl);

/* status.c */
blk_status_t qhost_blk_status(int status);
bool qhost_may_retry(struct request *rq, int status);
const char *qhost_status_name(int status, bool connect);
int qhost_status_errno(int status, bool connect);

#endif
