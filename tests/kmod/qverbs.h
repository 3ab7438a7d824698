/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * qverbs: cases that test an RDMA device through the kernel's verbs. Each case
 * gets a link, two queue pairs (RC unless it says otherwise) that are connected
 * to each other, does what it does, and returns 0, or what qv_fail() returned
 * after it noted what was expected and what came.
 */
#ifndef QVERBS_H
#define QVERBS_H

#include <linux/atomic.h>
#include <linux/scatterlist.h>
#include <linux/wait.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#define QV_MEM_SIZE	(2U << 20)
#define QV_MEM_PAGES	(QV_MEM_SIZE / PAGE_SIZE)
#define QV_MAX_SGE	8
#define QV_UNUSED	0xee	/* memory that nobody may have written */
#define QV_QKEY		0x11aa22bb
#define QV_WAIT_MS	20000	/* for what must come; emulated machines are slow */

enum { QV_A, QV_B };

/* What a link is made with; a case may change it before it opens the link. */
struct qv_conf {
	int		family;		/* 4 or 6 */
	enum ib_mtu	mtu;
	unsigned int	count;		/* messages of the long cases */
	u8		timeout;
	u8		retry_cnt;
	u8		rnr_retry;
	u8		min_rnr_timer;
	u32		wr;		/* of each queue */
	u32		cqe;
	u32		rd_atomic;
	int		access;		/* qp_access_flags */
	u32		rq_psn_skew;	/* B expects this much less than A sends */
	enum ib_sig_type sig;
	enum ib_qp_type	type;		/* of the queue pairs */
	u32		srq;		/* entries of a shared receive queue, if any */
	struct qv_link	*share;		/* use this link's protection domains */
	bool		lossy;		/* the wire loses packets */
};

/*
 * struct qv_side - one end of a link
 * @link: the link
 * @dev: the device; the other end's may be the same
 * @gid: source address
 * @pd: protection domain
 * @scq: completion queue of what is sent
 * @rcq: completion queue of what is received
 * @qp: the queue pair
 * @srq: shared receive queue of @qp and others, where the run wants one
 * @ah: where its datagrams go: to the other side
 * @cap: what @qp was given when it asked for what struct qv_conf says
 * @psn: that it begins to send with
 * @mem: QV_MEM_SIZE bytes
 * @dma: DMA address of @mem
 * @events: a bit for each enum ib_event_type seen
 * @wait: woken by each event and each call of a CQ's handler
 * @send_calls: calls of @scq's handler
 * @recv_calls: calls of @rcq's handler
 * @on_recv: called by @rcq's handler
 * @priv: the case's own
 */
struct qv_side {
	struct qv_link			*link;
	struct ib_device		*dev;
	const struct ib_gid_attr	*gid;
	struct ib_pd			*pd;
	struct ib_cq			*scq;
	struct ib_cq			*rcq;
	struct ib_qp			*qp;
	struct ib_srq			*srq;
	struct ib_ah			*ah;
	struct ib_qp_cap		cap;
	u32				psn;
	u8				*mem;
	u64				dma;
	unsigned long			events;
	wait_queue_head_t		wait;
	atomic_t			send_calls;
	atomic_t			recv_calls;
	void				(*on_recv)(struct qv_side *s);
	void				*priv;
};

struct qv_link {
	struct qv_conf	conf;
	struct qv_side	side[2];
	char		*why;		/* of the failure */
	const bool	*stop;		/* a device goes away: end early */
};

struct qv_sgl {
	struct ib_sge	sge[QV_MAX_SGE];
	int		n;
};

/*
 * struct qv_mr - memory of a side behind a key, its pages in reverse order
 * @side: whose memory
 * @mr: the region
 * @sg: an entry for each page
 * @first: first page of the side's memory
 * @pages: how many
 * @offset: of the first byte in its page
 * @len: bytes
 * @iova: address of the first byte to users of the key
 * @rkey: the key of the last registration
 */
struct qv_mr {
	struct qv_side		*side;
	struct ib_mr		*mr;
	struct scatterlist	*sg;
	u32			first;
	u32			pages;
	u32			offset;
	u32			len;
	u64			iova;
	u32			rkey;
};

/* flags: the case opens its link itself */
#define QV_OWN_LINK	BIT(0)

struct qv_case {
	const char	*name;
	int		(*fn)(struct qv_link *l, u32 arg);
	u32		arg;
	unsigned int	flags;
};

struct qv_group {
	const char		*name;
	const struct qv_case	*cases;
	unsigned int		nr;
};

#define QV_GROUP(group, cases) \
	const struct qv_group group = { &(#group)[3], cases, ARRAY_SIZE(cases) }

extern const struct qv_group qv_send, qv_write, qv_read, qv_atomic, qv_mr,
	qv_access, qv_error, qv_flush, qv_state, qv_notify, qv_context,
	qv_traffic, qv_endless, qv_kinds, qv_cm, qv_late, qv_types, qv_drain, qv_uc, qv_lossy,
	qv_ud, qv_srq, qv_cq, qv_mcast, qv_group,
	qv_a19;

/* link.c */
int qv_open(struct qv_link *l);
void qv_close(struct qv_link *l);
int qv_fill_attr(struct qv_side *s, enum ib_qp_state to, struct ib_qp_attr *attr);
int qv_qp_to(struct qv_side *s, enum ib_qp_state state);
int qv_qp_walk(struct qv_side *s, enum ib_qp_state state);
enum ib_qp_state qv_qp_state(struct qv_side *s);
int qv_wait_state(struct qv_side *s, enum ib_qp_state state);
int qv_wait_event(struct qv_side *s, enum ib_event_type event);
struct ib_qp *qv_make_qp(struct qv_side *s);
int qv_sqd(struct qv_side *s);
int qv_back_to_rts(struct qv_side *s, enum ib_qp_state from);
__printf(2, 3) int qv_fail(struct qv_link *l, const char *fmt, ...);

static inline struct qv_side *qv_peer(struct qv_side *s)
{
	return &s->link->side[s == &s->link->side[QV_A]];
}

static inline char qv_letter(const struct qv_side *s)
{
	return s == &s->link->side[QV_A] ? 'A' : 'B';
}

/* memory.c */
void qv_sgl(struct qv_side *s, struct qv_sgl *sgl, u32 at, u32 len, int n);
void qv_sgl_fill(struct qv_side *s, const struct qv_sgl *sgl, u32 seed);
int qv_sgl_check(struct qv_side *s, const struct qv_sgl *sgl, u32 len, u32 seed);
int qv_mr_alloc(struct qv_side *s, struct qv_mr *m, u32 pages);
int qv_mr_map(struct qv_mr *m, u32 first, u32 offset, u32 len);
int qv_mr_reg(struct qv_mr *m, int access);
int qv_mr_make(struct qv_side *s, struct qv_mr *m, u32 len, int access);
int qv_mr_invalidate(struct qv_mr *m);
void qv_mr_free(struct qv_mr *m);
u8 *qv_mr_at(const struct qv_mr *m, u32 off);
void qv_mr_fill(struct qv_mr *m, u32 off, u32 len, u32 seed);
int qv_mr_check(struct qv_mr *m, u32 off, u32 len, u32 seed);
int qv_mr_unused(struct qv_mr *m, u32 off, u32 len);

/* transfer.c */
int qv_post(struct qv_side *s, const struct ib_send_wr *wr);
int qv_post_recv(struct qv_side *s, const struct qv_sgl *sgl, u64 id);
int qv_post_send(struct qv_side *s, const struct qv_sgl *sgl, u64 id, int flags);
int qv_post_rdma(struct qv_side *s, enum ib_wr_opcode op, const struct qv_sgl *sgl,
		 u64 addr, u32 rkey, int flags);
int qv_post_atomic(struct qv_side *s, enum ib_wr_opcode op, const struct qv_sgl *sgl,
		   u64 addr, u32 rkey, u64 compare_add, u64 swap);
int qv_poll(struct qv_link *l, struct ib_cq *cq, struct ib_wc *wc, u32 ms);
int qv_flushed(struct qv_side *s, struct ib_cq *cq, int first, int last);
int qv_no_wc(struct qv_link *l, struct ib_cq *cq, u32 ms);
int qv_sent(struct qv_side *s, enum ib_wc_status status, struct ib_wc *wc);
int qv_received(struct qv_side *s, enum ib_wc_status status, struct ib_wc *wc);
int qv_ping(struct qv_link *l);

/* wire.c */
struct dentry;
void qv_wires_init(struct dentry *dir);
void qv_wires_exit(void);

#endif
