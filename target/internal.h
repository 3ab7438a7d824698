/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the target share. Core, transport and backend meet in
 * two tables: struct qtgt_transport_ops and struct qtgt_backend_ops.
 *
 * Order of locks: qtgt_config_sem, ns->toggle, subsys->lock, ctrl->lock. qtgt_ana_lock is
 * taken under any of them.
 */
#ifndef QTGT_INTERNAL_H
#define QTGT_INTERNAL_H

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/nvme.h>
#include <linux/percpu-refcount.h>
#include <linux/rwsem.h>
#include <linux/scatterlist.h>
#include <linux/xarray.h>
#include <quarry/target.h>

#define QTGT_DEFAULT_VS		NVME_VS(1, 3, 0)
#define QTGT_MAX_NAMESPACES	1024	/* enabled ones of a subsystem */
#define QTGT_MIN_QUEUE_SIZE	16
#define QTGT_MAX_QUEUE_SIZE	1024
#define QTGT_MDTS		8	/* as a power of two of 4 KiB */
#define QTGT_MAX_DATA_LEN	(SZ_4K << QTGT_MDTS)
#define QTGT_AER_SLOTS		4
#define QTGT_ERROR_SLOTS	128
#define QTGT_KAS		10	/* keep-alive granularity, 100 ms units */
#define QTGT_DISC_KATO_MS	120000	/* for a discovery host without one */
/*
 * How long a connection may be without Connect, in seconds, where the port does
 * not say. A host makes the connections of all its queues first, and each takes
 * five seconds more where a message of the connection manager is lost.
 */
#define QTGT_CONNECT_TIMEOUT	30
#define QTGT_INLINE_BVECS	4

#define QTGT_NO_ERROR_LOC	U16_MAX

#define QTGT_NS_ENABLED		XA_MARK_0	/* in subsys->namespaces */

struct qtgt_backend_ops;
struct qtgt_ctrl;
struct qtgt_queue;
struct qtgt_req;

/*
 * qtgt_config_sem: write to change, read to walk
 *  - port->subsystems, port->referrals, port->enabled, port->cfg
 *  - subsys->hosts, subsys->any_host, subsys->cntlid_min and _max
 *  - the list of ports, the generation counter and the unique name of the
 *    discovery service
 * A controller is made under the read side, so that unlinking a port or
 * forbidding a host sees it or keeps it from being made.
 */
extern struct rw_semaphore qtgt_config_sem;

/* Controllers, queues and timers; unbound. */
extern struct workqueue_struct *qtgt_wq;
/* Commands that must be able to sleep; on the CPU that received them. */

extern struct qtgt_subsys *qtgt_disc_subsys;
extern struct list_head qtgt_ports;	/* under qtgt_config_sem */

struct qtgt_host {
	char	*nqn;
};

struct qtgt_host_link {
	struct list_head	entry;
	struct qtgt_host	*host;
};

struct qtgt_subsys {
	enum nvme_subsys_type	type;
	struct kref		ref;
	char			*nqn;

	/*
	 * @lock protects @ctrls, @id, @discovered, @nr_enabled, @qid_max and
	 * the configuration of the namespaces. Look-ups in @namespaces go by
	 * RCU, and count as one only where the reference is live.
	 */
	struct mutex		lock;
	struct list_head	ctrls;
	struct xarray		namespaces;
	unsigned int		nr_enabled;
	struct qtgt_identity	id;
	bool			discovered;
	u16			qid_max;

	/* Under qtgt_config_sem. */
	struct list_head	hosts;
	bool			any_host;
	u16			cntlid_min;
	u16			cntlid_max;
};

struct qtgt_ns {
	/* Read for each command. */
	struct percpu_ref		ref;
	const struct qtgt_backend_ops	*ops;
	struct block_device		*bdev;
	loff_t				size;
	u32				nsid;
	u32				anagrpid;
	u8				blksize_shift;
	bool				readonly;

	struct mutex			toggle;		/* one (un)does at a time */

	/* Under subsys->lock. */
	struct qtgt_subsys		*subsys;
	struct file			*file;
	char				*path;
	uuid_t				uuid;
	u8				nguid[16];
	bool				buffered_io;
	bool				enabled;
	struct completion		idle;
};

struct qtgt_port {
	struct kref			ref;
	struct qtgt_port_config		cfg;
	u8				ana_state[QTGT_MAX_ANAGRPS + 1];
	const struct qtgt_transport_ops	*ops;
	void				*transport;	/* its own data */
	bool				enabled;
	struct list_head		entry;		/* in all ports */
	struct list_head		subsystems;	/* qtgt_port_link */
	struct list_head		referrals;
	struct list_head		referral_entry;
};

struct qtgt_port_link {
	struct list_head	entry;
	struct qtgt_subsys	*subsys;
};

/* Events a host may be told of; each at most once until it reads the log. */
enum qtgt_event {
	QTGT_EVENT_NS_CHANGED,
	QTGT_EVENT_ANA,
	QTGT_EVENT_DISC_CHANGED,
	QTGT_NR_EVENTS
};

struct qtgt_ctrl {
	struct kref		ref;
	struct qtgt_subsys	*subsys;
	struct qtgt_port	*port;
	u64			cap;
	uuid_t			hostid;
	u16			cntlid;
	u16			max_qid;
	char			hostnqn[NVMF_NQN_FIELD_LEN];
	struct list_head	entry;		/* in subsys->ctrls */
	bool			traffic;	/* a command since the last tick */
	u32			csts;		/* written under @lock */
	u32			cc;		/* written under @lock */
	unsigned long		fatal;		/* bit 0: said once */

	/*
	 * @lock protects @queues, @dying, @kato, the events and the list of
	 * changed namespaces.
	 */
	struct mutex		lock;
	struct qtgt_queue	**queues;	/* by queue ID */
	bool			dying;
	u32			kato;		/* seconds */
	u32			aen_enabled;
	unsigned long		events;		/* to be told */
	unsigned long		events_masked;	/* told, log not yet read */
	struct qtgt_req		*aers[QTGT_AER_SLOTS];
	unsigned int		nr_aers;
	__le32			*changed_ns;
	u32			nr_changed_ns;	/* U32_MAX: too many */

	struct work_struct	event_work;
	struct work_struct	fatal_work;
	struct delayed_work	ka_work;

	/* Protects the two below; taken by completions in any context. */
	spinlock_t		error_lock;
	u64			error_count;
	struct nvme_error_slot	errors[QTGT_ERROR_SLOTS];
};

/*
 * The core's half of a queue; the transport embeds it. A reference is held
 * for each command between its arrival and the posting of its response.
 */
struct qtgt_queue {
	struct percpu_ref		ref;
	struct qtgt_ctrl		*ctrl;	/* set once, by Connect */
	const struct qtgt_transport_ops	*ops;
	struct qtgt_port		*port;
	u16				qid;
	u16				size;
	bool				no_sqflow;
	bool				stopping;	/* see qtgt_events_stop() */
	struct delayed_work		connect_work;	/* waits for Connect */
	atomic64_t			consumed;	/* entries, for SQHD */
	struct completion		idle;
};

/* How many bytes an SGL must describe. */
enum qtgt_len_rule {
	QTGT_LEN_EXACT,
	QTGT_LEN_AT_LEAST,
};

/* Where the data of a command is, after qtgt_req_init() has checked it. */
struct qtgt_sgl {
	u64	addr;		/* or offset into the capsule's data */
	u32	len;		/* bytes, 0: no data */
	u32	key;
	bool	in_capsule;
	bool	invalidate;
};

struct qtgt_req {
	struct nvme_command	cmd;		/* our copy */
	struct nvme_completion	*cqe;
	struct qtgt_queue	*queue;
	struct qtgt_ns		*ns;
	void			(*execute)(struct qtgt_req *req);

	struct qtgt_sgl		sgl;
	u32			data_len;	/* what the command implies */
	u8			len_rule;
	bool			atomic;		/* execute() never sleeps */
	u16			error_loc;
	u64			error_slba;

	struct scatterlist	*sg;
	unsigned int		sg_cnt;

	/* For the backend. */
	struct bio		bio;
	struct bio_vec		bvecs[QTGT_INLINE_BVECS];
};

/**
 * struct qtgt_transport_ops - what the core asks of a transport
 * @trtype: NVMF_TRTYPE_*
 * @keyed_sgls: data is described by keyed SGLs
 * @max_queue_size: largest I/O queue, entries
 * @default_queue_size: where the port does not say
 * @default_inline_size: in-capsule data where the port does not say, bytes
 * @max_inline_size: largest in-capsule data, bytes
 * @respond: send req->cqe, and the data of a read before it; any context
 * @add_port: listen; may sleep
 * @remove_port: stop listening and tell the port's queues to go; may sleep
 * @disconnect: tell a queue to go; it does so later; any context
 * @disc_traddr: the address that the host of @queue should use for its port
 */
struct qtgt_transport_ops {
	u8	trtype;
	bool	keyed_sgls;
	u16	max_queue_size;
	u16	default_queue_size;
	int	default_inline_size;
	int	max_inline_size;
	void	(*respond)(struct qtgt_req *req);
	int	(*add_port)(struct qtgt_port *port);
	void	(*remove_port)(struct qtgt_port *port);
	void	(*disconnect)(struct qtgt_queue *queue);
	void	(*disc_traddr)(struct qtgt_queue *queue, char *traddr,
			       size_t len);
};

/**
 * struct qtgt_backend_ops - what the core asks of what backs a namespace
 * @name: for the log
 * @open: take ns->path; set ns->size and ns->blksize_shift; may sleep
 * @close: the reverse
 * @revalidate: read ns->size anew
 * @parse: choose req->execute and req->data_len for an I/O command; never
 *	sleeps; returns an NVMe status
 * @identify: fill the limits in Identify Namespace
 * @flush: make all data durable; may sleep; returns an NVMe status
 * @stats: add to operations and 512-byte units read and written
 */
struct qtgt_backend_ops {
	const char *name;
	int	(*open)(struct qtgt_ns *ns);
	void	(*close)(struct qtgt_ns *ns);
	void	(*revalidate)(struct qtgt_ns *ns);
	u16	(*parse)(struct qtgt_req *req);
	void	(*identify)(struct qtgt_ns *ns, struct nvme_id_ns *id);
	u16	(*flush)(struct qtgt_ns *ns);
	void	(*stats)(struct qtgt_ns *ns, u64 *ios, u64 *units);
};

extern const struct qtgt_backend_ops qtgt_bdev_ops;
extern const struct qtgt_transport_ops qtgt_rdma_ops;

static inline bool qtgt_is_discovery(const struct qtgt_subsys *subsys)
{
	return subsys->type != NVME_NQN_NVME;
}

static inline void qtgt_set_result(struct qtgt_req *req, u32 result)
{
	req->cqe->result.u32 = cpu_to_le32(result);
}

/* A status for a field at byte @loc of the submission queue entry. */
static inline u16 qtgt_bad_field(struct qtgt_req *req, u16 loc, u16 status)
{
	req->error_loc = loc;
	return status | NVME_STATUS_DNR;
}

static inline sector_t qtgt_lba_to_sector(const struct qtgt_ns *ns, u64 lba)
{
	return lba << (ns->blksize_shift - SECTOR_SHIFT);
}

/* main.c */
int qtgt_discovery_init(void);
void qtgt_discovery_exit(void);

/* subsys.c */
struct qtgt_subsys *qtgt_subsys_alloc(const char *nqn,
				      enum nvme_subsys_type type);
void qtgt_subsys_put(struct qtgt_subsys *subsys);
bool qtgt_host_allowed(struct qtgt_subsys *subsys, const char *hostnqn);

/* namespace.c */
u16 qtgt_req_find_ns(struct qtgt_req *req);
void qtgt_ns_check_size(struct qtgt_ns *ns);
void qtgt_ns_set_readonly(struct qtgt_ns *ns, bool on);

/* port.c */
struct qtgt_subsys *qtgt_port_find_subsys(struct qtgt_port *port,
					  const char *nqn);
struct qtgt_port *qtgt_port_get(struct qtgt_port *port);
void qtgt_port_put(struct qtgt_port *port);

/* ctrl.c */
u16 qtgt_ctrl_create(struct qtgt_req *req, const struct nvmf_connect_data *d,
		     u32 kato_ms, struct qtgt_ctrl **ctrlp);
struct qtgt_ctrl *qtgt_ctrl_find(struct qtgt_req *req,
				 const struct nvmf_connect_data *d);
void qtgt_ctrl_put(struct qtgt_ctrl *ctrl);
void qtgt_ctrl_disconnect(struct qtgt_ctrl *ctrl);
void qtgt_subsys_disconnect(struct qtgt_subsys *subsys,
			    const struct qtgt_port *port);
void qtgt_ctrl_fatal(struct qtgt_ctrl *ctrl, const char *why);
void qtgt_ctrl_set_cc(struct qtgt_ctrl *ctrl, u32 cc);
void qtgt_ctrl_set_kato(struct qtgt_ctrl *ctrl, u32 ms);
u16 qtgt_ctrl_ready(struct qtgt_req *req);
void qtgt_exec_keep_alive(struct qtgt_req *req);
#if IS_ENABLED(CONFIG_KUNIT)
bool qtgt_cc_valid(const struct qtgt_ctrl *ctrl, u32 cc);
#endif

/* queue.c */
int qtgt_queue_init(struct qtgt_queue *queue,
		    const struct qtgt_transport_ops *ops,
		    struct qtgt_port *port);
void qtgt_queue_accepted(struct qtgt_queue *queue);
void qtgt_queue_stop(struct qtgt_queue *queue);
void qtgt_queue_wait(struct qtgt_queue *queue);
void qtgt_queue_exit(struct qtgt_queue *queue);

/* request.c */
int qtgt_req_init(struct qtgt_req *req, u32 capsule_data);
void qtgt_req_complete(struct qtgt_req *req, u16 status);
u16 qtgt_copy_to_data(struct qtgt_req *req, size_t off, const void *buf,
		      size_t len);
u16 qtgt_copy_from_data(struct qtgt_req *req, size_t off, void *buf,
			size_t len);
u16 qtgt_zero_data(struct qtgt_req *req, size_t off, size_t len);
u16 qtgt_bad_opcode(struct qtgt_req *req);
u16 qtgt_errno_status(struct qtgt_req *req, int err);
u16 qtgt_blk_status(struct qtgt_req *req, blk_status_t sts);

/* buffer.c */
struct page *qtgt_buf_get(unsigned int order, gfp_t gfp);
void qtgt_buf_put(struct page *page, unsigned int order);
void qtgt_buf_drain(void);

/* fabrics.c */
u16 qtgt_parse_connect(struct qtgt_req *req);
u16 qtgt_parse_fabrics(struct qtgt_req *req);

/* admin.c, identify.c, features.c, log-pages.c, discovery.c */
u16 qtgt_parse_admin(struct qtgt_req *req);
u16 qtgt_parse_any_admin(struct qtgt_req *req);
u16 qtgt_parse_discovery(struct qtgt_req *req);
void qtgt_exec_identify(struct qtgt_req *req);
void qtgt_identify_common(struct qtgt_req *req, struct nvme_id_ctrl *id);
u16 qtgt_parse_features(struct qtgt_req *req);
u32 qtgt_log_len(const struct nvme_command *cmd);
u16 qtgt_log_copy(struct qtgt_req *req, const void *log, size_t len);
u16 qtgt_parse_log_page(struct qtgt_req *req);

/* discovery.c */
void qtgt_disc_port_changed(struct qtgt_port *port, struct qtgt_subsys *subsys);
void qtgt_disc_subsys_changed(struct qtgt_subsys *subsys,
			      struct qtgt_host *host);

/* events.c */
void qtgt_event(struct qtgt_ctrl *ctrl, enum qtgt_event event);
void qtgt_event_log_read(struct qtgt_req *req, enum qtgt_event event);
void qtgt_events_init(struct qtgt_ctrl *ctrl);
void qtgt_events_stop(struct qtgt_queue *queue);
void qtgt_ns_changed(struct qtgt_subsys *subsys, u32 nsid);
u16 qtgt_parse_async_event(struct qtgt_req *req);
u16 qtgt_set_async_config(struct qtgt_req *req);

/* ana.c */
void qtgt_ana_ns_add(u32 grpid);
void qtgt_ana_ns_del(u32 grpid);
u16 qtgt_ana_check(struct qtgt_req *req);
void qtgt_exec_log_ana(struct qtgt_req *req);

#endif
