/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data path: what its files (recv, request, complete, respond, execute,
 * copy, cq, mr, qp) ask of each other.
 */
#ifndef QRDMA_PATH_H
#define QRDMA_PATH_H

#include "qrdma.h"
#include "verbs-compat.h"

/* Packets on the wire, not acknowledged, that a requester may have. */
#define QRDMA_WINDOW		256
/* Packets of READ responses that it may have asked for, but for one READ. */
#define QRDMA_READ_WINDOW	512
/* PSNs that one message may take: half of what can be told apart. */
#define QRDMA_MAX_MSG_PSNS	BIT(22)
/* Packets built before they are handed down: twice what IP takes in a list. */
#define QRDMA_LIST_MAX		30
/* Packets after which an answer is asked for though there is more to send. */
#define QRDMA_ACK_ASK		64
/* An acknowledge may wait so long for company, twice at most, in ns. */
#define QRDMA_ACK_DELAY		(500 * NSEC_PER_USEC)
/* Packets that may go unacknowledged for that. */
#define QRDMA_ACK_EVERY		16
/* Packets sent in one go before the rest is left to the QP's work. */
#define QRDMA_BUDGET		256

static inline struct qrdma_swqe *qrdma_swqe(const struct qrdma_sq *sq, u32 i)
{
	return sq->buf + (size_t)(i & sq->mask) * sq->stride;
}

static inline struct qrdma_rwqe *qrdma_rwqe(const struct qrdma_rring *r, u32 i)
{
	return r->buf + (size_t)(i & r->mask) * r->stride;
}

/* Receives that are posted and not taken; under the lock of who takes them. */
static inline u32 qrdma_rring_posted(const struct qrdma_rring *ring)
{
	if (unlikely(ring->user))
		return (qrdma_ring_producer(ring->user) - ring->tail) &
		       ring->user->mask;
	return READ_ONCE(ring->head) - ring->tail;
}

/* Packets that @len bytes of payload take; a message has one at least. */
static inline u32 qrdma_npkts(const struct qrdma_qp *qp, u32 len)
{
	return len ? DIV_ROUND_UP(len, qp->mtu) : 1;
}

/*
 * What is answered by more than an acknowledge, as a READ is: all that counts
 * against max_rd_atomic. Opcodes in the engines are below 64.
 */
static inline bool qrdma_is_read_or_atomic(u8 opcode)
{
	return BIT_ULL(opcode) & (BIT_ULL(IB_WR_RDMA_READ) |
				  BIT_ULL(IB_WR_ATOMIC_CMP_AND_SWP) |
				  BIT_ULL(IB_WR_ATOMIC_FETCH_AND_ADD) |
				  BIT_ULL(IB_WR_ATOMIC_WRITE) |
				  BIT_ULL(IB_WR_FLUSH));
}

/* Those that are answered by the value that was there. */
static inline bool qrdma_is_atomic(u8 opcode)
{
	return opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
}

static inline bool qrdma_is_local(u8 opcode)
{
	return BIT_ULL(opcode) & (BIT_ULL(IB_WR_REG_MR) |
				  BIT_ULL(IB_WR_LOCAL_INV) |
				  BIT_ULL(IB_WR_BIND_MW));
}

/* ring.c: processes and what they map */
extern const struct ib_device_ops qrdma_ring_ops;

/* take.c: what processes post */
/**
 * qrdma_sq_doorbell() - take in and send what a process has posted
 * @qp: the QP, of a process
 *
 * Context: process. Any number of threads at a time.
 * Return: 0, or -EINVAL where the state allows no posting: what was posted is
 * dropped then.
 */
int qrdma_sq_doorbell(struct qrdma_qp *qp);
/* Drop what is posted and not sent; nothing is under way. Under sq.lock. */
void qrdma_sq_skip(struct qrdma_qp *qp);
/*
 * The next receive of a process's queue, or NULL, into the slot of @to, which
 * is its own or that of a QP that shares it. Under the locks of both.
 */
struct qrdma_rwqe *qrdma_rring_take(struct qrdma_rring *ring,
				    struct qrdma_rring *to);
/* Drop all that is posted, likewise. */
void qrdma_rring_skip(struct qrdma_rring *ring);

/* cq.c */
extern const struct ib_device_ops qrdma_cq_ops;
/**
 * qrdma_cq_post() - add a completion
 * @cq: the queue
 * @wc: copied
 * @solicited: counts for a queue that is armed for solicited completions
 * @nt: the handlers to call once the caller has dropped its locks
 * @send: which of @nt's
 *
 * Context: any.
 * Return: true, or false where the queue is or was too full: it is in error
 * for good, and the QP must go there as well.
 */
bool qrdma_cq_post(struct qrdma_cq *cq, const struct ib_wc *wc, bool solicited,
		   struct qrdma_notify *nt, bool send);

/* Entries that are not consumed; under cq->lock. */
u32 qrdma_cq_fill(const struct qrdma_cq *cq);

/* restrack.c */
extern const struct ib_device_ops qrdma_restrack_ops;

/* notify.c */
/**
 * qrdma_cq_due() - is the handler to be called for one more completion?
 * @cq: moderated; its lock is held
 * @solicited: nobody waits with this one
 *
 * Return: true, or false where a timer sees to it later.
 */
bool qrdma_cq_due(struct qrdma_cq *cq, bool solicited);
void qrdma_cq_init_timer(struct qrdma_cq *cq);
int qrdma_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
/* Have the QP share the fate of its queues, or no more. Context: process. */
void qrdma_cq_attach(struct qrdma_qp *qp);
void qrdma_cq_detach(struct qrdma_qp *qp);
/* A completion of the QP found no room. Any lock of the QP may be held. */
void qrdma_qp_cq_failed(struct qrdma_qp *qp);
/**
 * qrdma_qp_notify() - call the handlers that an engine left to be called
 * @qp: the QP
 * @nt: what the engine left
 *
 * Context: bottom halves off, no lock of a QP held. Handlers may post.
 */
void qrdma_qp_notify(struct qrdma_qp *qp, const struct qrdma_notify *nt);

/* mr.c */
extern const struct ib_device_ops qrdma_mr_ops;
#define QRDMA_WHOLE_MR		U64_MAX
void qrdma_mr_table_exit(void);
/**
 * qrdma_mr_get() - look a key up, check what it allows, hold the region
 * @pd: of the queue whose work request has the key
 * @lkey: local key
 * @access: IB_ACCESS_* that the key must grant; 0 for a local read
 * @iova: first byte, as the key names it
 * @len: bytes; QRDMA_WHOLE_MR: all of the region, whatever @iova is
 *
 * A region held cannot be invalidated or deregistered: who does so waits,
 * spinning, so hold it for one packet only.
 *
 * Context: bottom halves off, until qrdma_mr_put().
 * Return: the region or NULL.
 */
struct qrdma_mr *qrdma_mr_get(const struct ib_pd *pd, u32 lkey, int access,
			      u64 iova, u64 len);
/* The same for a key that the peer of @qp uses; it may be a window's. */
struct qrdma_mr *qrdma_mr_get_remote(const struct qrdma_qp *qp, u32 rkey,
				     int access, u64 iova, u64 len);
void qrdma_mr_put(struct qrdma_mr *mr);
/**
 * qrdma_mr_piece() - the memory behind an address
 * @mr: held
 * @iova: within it
 * @len: in: bytes wanted; out: bytes that are contiguous
 *
 * Return: kernel address of the first byte.
 */
void *qrdma_mr_piece(const struct qrdma_mr *mr, u64 iova, u32 *len);
/* Carry out a REG_MR or a (local or remote) invalidate; 0 or -EINVAL. */
int qrdma_mr_register(struct qrdma_mr *mr, struct ib_pd *pd, u32 key,
		      int access);
int qrdma_mr_invalidate(const struct qrdma_qp *qp, u32 key, bool remote);

/* For the verbs of mr.c and umem.c, in process context. */
struct qrdma_mr *qrdma_mr_new(struct ib_pd *pd, enum qrdma_mr_type type);
void qrdma_mr_free(struct qrdma_mr *mr);
/* Give a region its key and make it visible to look-ups. */
int qrdma_mr_publish(struct qrdma_mr *mr);
void qrdma_mr_unpublish(struct qrdma_mr *mr);
/*
 * Make a region unusable, wait for those who use it; -EBUSY where windows are
 * bound to it. And the mirror of it.
 */
int qrdma_mr_suspend(struct qrdma_mr *mr);
void qrdma_mr_resume(struct qrdma_mr *mr);
/* Whatever has the key's index; its lock tells if it is it. RCU read side. */
struct qrdma_mr *qrdma_mr_find(u32 key);
/* Wait until no copy uses a region that has been made unusable. */
void qrdma_mr_wait(struct qrdma_mr *mr);

/* mw.c; bottom halves off. 0 or -EINVAL */
extern const struct ib_device_ops qrdma_mw_ops;
int qrdma_mw_bind(const struct qrdma_qp *qp, const struct qrdma_swqe *wqe);
int qrdma_mw_invalidate(const struct qrdma_qp *qp, struct qrdma_mr *win,
			u32 key, bool remote);

/* umem.c */
struct ib_mr *qrdma_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access,
				QRDMA_REG_USER_MR_DMAH struct ib_udata *udata);
struct ib_mr *qrdma_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *pd, struct ib_udata *udata);

/* copy.c; all with bottom halves off */
/* Packet to memory: 0, or -EFAULT where a key does not allow it. */
int qrdma_copy_to_sges(struct ib_pd *pd, const struct ib_sge *sge, u32 num,
		       u32 off, const struct sk_buff *skb, u32 skb_off,
		       u32 len);
int qrdma_copy_to_mr(const struct qrdma_qp *qp, u32 rkey, u64 va,
		     const struct sk_buff *skb, u32 skb_off, u32 len);
/* Memory to a buffer. */
int qrdma_copy_from_sges(struct ib_pd *pd, const struct ib_sge *sge, u32 num,
			 u32 off, void *to, u32 len);
int qrdma_copy_from_mr(const struct qrdma_qp *qp, u32 rkey, u64 va, void *to,
		       u32 len);
/* A buffer to memory. */
int qrdma_copy_buf_to_sges(struct ib_pd *pd, const struct ib_sge *sge, u32 num,
			   u32 off, const void *from, u32 len);
/* So much of the payload's beginning is copied where it comes in short
 * pieces: a header, say, in front of the data proper.
 */
#define QRDMA_LEND_LINEAR	128

/**
 * qrdma_frags_from_sges() - payload as page fragments, without a copy
 * @pd: of the QP
 * @sge: gather list
 * @num: its entries
 * @off: bytes of it to skip
 * @skb: packet to add to; has room for QRDMA_LEND_LINEAR
 * @len: bytes to add
 *
 * Return: 0, -EFAULT (key), or -EAGAIN where a page must not be lent to the
 * network: nothing is added then, copy instead.
 */
int qrdma_frags_from_sges(struct ib_pd *pd, const struct ib_sge *sge, u32 num,
			  u32 off, struct sk_buff *skb, u32 len);

/* mcast.c */
extern const struct ib_device_ops qrdma_mcast_ops;
/* A group of the device, or NULL. Context: RCU read side, or groups_mutex. */
struct qrdma_group *qrdma_group_find(struct qrdma_dev *dev,
				     const union ib_gid *gid);

/* qp.c */
extern const struct ib_device_ops qrdma_qp_ops;
void qrdma_qp_table_init(void);
void qrdma_qp_table_exit(void);
/* Context: RCU read side. */
struct qrdma_qp *qrdma_qp_find(u32 qpn);
/* Let the QP's work run both engines once more. Context: any. */
void qrdma_qp_queue_work(struct qrdma_qp *qp);
/* Back to how it was created. Context: process, qp->mutex held. */
void qrdma_qp_reset(struct qrdma_qp *qp);

/* state.c */
/* The owner ends the QP, or starts it anew: from here on it is in RESET. */
void qrdma_qp_stop(struct qrdma_qp *qp);
/**
 * qrdma_qp_fail() - move a QP to the error state
 * @qp: the QP
 *
 * The flush happens in the QP's work. Any lock of the QP may be held.
 */
void qrdma_qp_fail(struct qrdma_qp *qp);
/**
 * qrdma_sq_fail() - an error of the send queue alone
 * @qp: the QP
 *
 * UC and UD go to SQE and receive on, RC goes to the error state. Like
 * qrdma_qp_fail() otherwise.
 */
void qrdma_sq_fail(struct qrdma_qp *qp);
int qrdma_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);
int qrdma_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);

/* request.c */
/**
 * qrdma_sq_run() - send what may be sent
 * @qp: its sq.lock is held; dropped and taken again in between
 * @nt: see qrdma_qp_notify()
 *
 * Where somebody else is at it already, he will find the new work.
 */
void qrdma_sq_run(struct qrdma_qp *qp, struct qrdma_notify *nt);
/* Why a requester starts over, for who traces it. */
enum qrdma_rewind {
	QRDMA_REWIND_ANSWER_LOST,	/* to a READ; only that is sent again */
	QRDMA_REWIND_NAK,
	QRDMA_REWIND_RNR,
	QRDMA_REWIND_TIMEOUT,
	QRDMA_REWIND_REPAIR,		/* one packet only is sent again */
};

/* Take up sending again at @psn. */
void qrdma_sq_rewind(struct qrdma_qp *qp, u32 psn, enum qrdma_rewind why);
/* The work request that @psn is of; sq.fresh where it is of none yet. */
u32 qrdma_sq_find(const struct qrdma_sq *sq, u32 psn);
/* Point sq.cur to the work request that holds sq.psn. */
void qrdma_sq_seek(struct qrdma_qp *qp);
/* The opcode of a packet of @wqe over RC; IB_OPCODE_UC makes it one of UC. */
u8 qrdma_request_opcode(const struct qrdma_swqe *wqe, bool first, bool last);
/**
 * qrdma_build_request() - a packet, not sealed yet
 * @qp: its sq.lock is held
 * @wqe: what it is a part of
 * @opcode: of the packet
 * @psn: of the packet
 * @off: bytes of @wqe's payload before it
 * @payload: its own
 * @lend: share the payload's pages instead of a copy; see there
 *
 * Return: the packet; or -ENOMEM, -EFAULT (a key), -EAGAIN (cannot be lent).
 */
struct sk_buff *qrdma_build_request(struct qrdma_qp *qp,
				    const struct qrdma_swqe *wqe, u8 opcode,
				    u32 psn, u32 off, u32 payload, bool lend);
/* The same for the packet of @wqe, over RC, that @psn is of. */
struct sk_buff *qrdma_build_packet(struct qrdma_qp *qp,
				   const struct qrdma_swqe *wqe, u32 psn);
/* Part of the payload to a buffer: 0 or -EFAULT. */
int qrdma_copy_payload(struct qrdma_qp *qp, const struct qrdma_swqe *wqe,
		       u32 off, void *to, u32 len);
/*
 * A packet of @wqe could not be built: -ENOMEM waits for memory, any other error
 * ends the send queue. Under sq.lock.
 */
void qrdma_sq_not_built(struct qrdma_qp *qp, struct qrdma_swqe *wqe, int err);
/* Seal a packet and add it to a list; it is lost where memory is. */
void qrdma_sq_add(struct qrdma_qp *qp, struct qrdma_tx *tx,
		  struct sk_buff *skb);
/* Carry out the local operation at sq.cur, which was not before. */
void qrdma_sq_run_local(struct qrdma_qp *qp, struct qrdma_swqe *wqe,
			struct qrdma_notify *nt);

/* uc.c, ud.c: the two types that get no answers */
void qrdma_uc_fill(struct qrdma_qp *qp, struct qrdma_tx *tx,
		   struct qrdma_notify *nt);
void qrdma_uc_request(struct qrdma_qp *qp, const struct qrdma_pkt *pkt,
		      struct qrdma_notify *nt);
void qrdma_ud_fill(struct qrdma_qp *qp, struct qrdma_tx *tx,
		   struct qrdma_notify *nt);
void qrdma_ud_datagram(struct qrdma_qp *qp, const struct qrdma_pkt *pkt,
		       struct qrdma_notify *nt);

/* complete.c */
void qrdma_sq_response(struct qrdma_qp *qp, const struct qrdma_pkt *pkt,
		       struct qrdma_notify *nt);
/* Complete the oldest work request; its slot is free afterwards. */
void qrdma_sq_complete(struct qrdma_qp *qp, enum ib_wc_status status,
		       struct qrdma_notify *nt);
/* Complete local operations that have come to be the oldest. */
void qrdma_sq_reap(struct qrdma_qp *qp, struct qrdma_notify *nt);
void qrdma_sq_flush(struct qrdma_qp *qp, struct qrdma_notify *nt);

/* gap.c; all under sq.lock */
/* An answer is missing that the peer has given. */
static inline bool qrdma_gap_open(const struct qrdma_sq *sq)
{
	return qrdma_psn_diff(sq->heard, sq->una) > 0;
}

/* Has the answer at @psn, after sq.una, come before? */
bool qrdma_gap_known(const struct qrdma_sq *sq, u32 psn);
/* It has come, and is not known. */
void qrdma_gap_add(struct qrdma_sq *sq, u32 psn);
/* Move sq.una past what follows it without a gap. */
void qrdma_gap_close(struct qrdma_sq *sq);
/* After each move of sq.una. */
void qrdma_gap_moved(struct qrdma_sq *sq);
/* Nothing is under way. */
void qrdma_gap_reset(struct qrdma_sq *sq);
/* Have the oldest gap asked for again; false where that is under way anyway. */
bool qrdma_gap_again(struct qrdma_qp *qp, enum qrdma_rewind why);
/* The same where there is one that was not asked for yet. */
void qrdma_gap_look(struct qrdma_qp *qp);
/* A READ or atomic at sq.psn, up to @end, is sent again: no need to ask. */
void qrdma_gap_sent(struct qrdma_sq *sq, u32 end);
/* The next request of those, not sealed; or NULL. */
struct sk_buff *qrdma_gap_request(struct qrdma_qp *qp);

/* repair.c; all under sq.lock */
/* A sequence NAK at @psn, which is news: send that packet, or all from there. */
void qrdma_repair(struct qrdma_qp *qp, u32 psn);
/*
 * sq.una has moved, and sq.psn has not been moved past it yet. True where the
 * answer is to more than the packet that was sent alone.
 */
bool qrdma_repair_answered(struct qrdma_sq *sq);
/* And by an acknowledge that does not complain of anything. */
void qrdma_repair_acked(struct qrdma_qp *qp);
/* The packet that is to be sent by itself, not sealed; or NULL. */
struct sk_buff *qrdma_repair_packet(struct qrdma_qp *qp);

/* timer.c */
void qrdma_timer_init(struct qrdma_qp *qp);
void qrdma_timer_arm(struct qrdma_qp *qp);
void qrdma_timer_rnr(struct qrdma_qp *qp, u8 code);
/*
 * There was no memory for a packet: try again a little later, and have that
 * cost no retry. Under sq.lock and rq.lock.
 */
void qrdma_timer_sq_starved(struct qrdma_qp *qp);
void qrdma_timer_rq_starved(struct qrdma_qp *qp);
/* See to it that an acknowledge does not wait for ever; under rq.lock. */
void qrdma_timer_ack(struct qrdma_qp *qp, u64 word);
/*
 * A process posts receives without a call, to a QP in error as well: look for
 * them and flush them a little later, soon where some were @found just now.
 * Under rq.lock.
 */
void qrdma_timer_flush(struct qrdma_qp *qp, bool found);

/* post.c */
/* Is it an operation that the QP knows? */
bool qrdma_opcode_known(const struct qrdma_qp *qp, u32 opcode);
/* Send what was posted, in the caller's context where that may be. */
void qrdma_sq_kick(struct qrdma_qp *qp);
int qrdma_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr);
int qrdma_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr);
/* A list of receives into a queue; 0 or what is wrong with the one at *@wr. */
int qrdma_rring_post(struct qrdma_rring *ring, const struct ib_recv_wr **wr);

/* srq.c */
extern const struct ib_device_ops qrdma_srq_ops;
/* Take the next receive into the QP's own ring, where there is one. */
struct qrdma_rwqe *qrdma_srq_take(struct qrdma_rq *rq);

/* early.c; all under rq.lock */
/*
 * A request behind a gap: keep a copy, where there is room. True where it is the
 * oldest of them, and was there before.
 */
bool qrdma_early_keep(struct qrdma_rq *rq, const struct qrdma_pkt *pkt);
/*
 * Take out the one at rq.psn, told in @pkt, or NULL; qrdma_early_free() frees
 * it.
 */
struct sk_buff *qrdma_early_next(struct qrdma_rq *rq, struct qrdma_pkt *pkt);
void qrdma_early_free(struct sk_buff *skb);
/* Free all. */
void qrdma_early_drop(struct qrdma_rq *rq);

/* execute.c: what a request does to memory */
enum qrdma_verdict {
	QRDMA_OK,
	QRDMA_RNR,		/* no receive is posted */
	QRDMA_INV_REQ,
	QRDMA_REM_ACC,
	QRDMA_RECV_LEN,		/* the receive has completed: too short, */
	QRDMA_RECV_PROT,	/* or its memory is not what it should be */
};

enum qrdma_verdict qrdma_execute(struct qrdma_qp *qp,
				 const struct qrdma_pkt *pkt,
				 struct qrdma_notify *nt);
/* The next receive, or NULL; it stays in the ring until it is completed. */
struct qrdma_rwqe *qrdma_rq_next(struct qrdma_qp *qp);
/* Complete the receive that qrdma_rq_next() gave. */
void qrdma_rq_complete(struct qrdma_qp *qp, struct ib_wc *wc, bool solicited,
		       struct qrdma_notify *nt);

/*
 * Nothing more is taken: part of a list may have ended the QP, or a verb has
 * while the rest of it waited for rq.lock.
 */
static inline bool qrdma_rq_ended(const struct qrdma_qp *qp)
{
	enum ib_qp_state state = READ_ONCE(qp->state);

	return state == IB_QPS_ERR || state == IB_QPS_RESET;
}

/* The receive that qrdma_rq_next() gave ends in error. */
void qrdma_rq_receive_failed(struct qrdma_qp *qp, enum ib_wc_status status,
			     u32 src_qp, struct qrdma_notify *nt);

/* The first request tells who waits for it in RTR, IBTA 12.9.6. */
static inline void qrdma_rq_establish(struct qrdma_qp *qp,
				      struct qrdma_notify *nt)
{
	if (likely(qp->rq.established))
		return;
	qp->rq.established = true;
	if (qp->state == IB_QPS_RTR)
		nt->flags |= QRDMA_NT_COMM_EST;
}

/* recv.c: headers, lengths and opcode; all that can be said without a QP. */
bool qrdma_pkt_parse(struct qrdma_pkt *pkt);

/* respond.c */
void qrdma_rq_request(struct qrdma_qp *qp, const struct qrdma_pkt *pkt,
		      struct qrdma_notify *nt);
/* Does the packet continue the open message, or start one where none is? */
bool qrdma_rq_in_order(const struct qrdma_rq *rq, u32 flags);
void qrdma_rq_flush(struct qrdma_qp *qp, struct qrdma_notify *nt);
/* Send an acknowledge that waits. Context: process, no lock of the QP held. */
void qrdma_rq_ack_now(struct qrdma_qp *qp);
/* One has waited long enough. */
enum hrtimer_restart qrdma_rq_ack_timer(struct hrtimer *timer);
/*
 * The acknowledge that waits, as a packet not sealed yet, or NULL. For the
 * requester, which takes it along.
 */
struct sk_buff *qrdma_rq_take_ack(struct qrdma_qp *qp);
/* Send what the responder owes; like qrdma_sq_run(). */
void qrdma_rq_run(struct qrdma_qp *qp, struct qrdma_notify *nt);

#if IS_ENABLED(CONFIG_KUNIT)
/* Static elsewhere: for the tests, kunit-*.c. */
int qrdma_qp_check_modify(enum ib_qp_type type, enum ib_qp_state cur,
			  const struct ib_qp_attr *attr, int mask);
void qrdma_timer_start(struct hrtimer *timer, u64 ns);
enum hrtimer_restart qrdma_timer_fire(struct hrtimer *timer);
#endif

#endif
