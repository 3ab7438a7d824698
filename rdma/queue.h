/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two halves of a queue pair: the requester with its send queue, the
 * responder with its receive queue, and what waits in them. Locks are those
 * of qrdma.h.
 */
#ifndef QRDMA_QUEUE_H
#define QRDMA_QUEUE_H

#include <linux/in6.h>
#include <linux/mutex.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "ring.h"

struct qrdma_mr;

/* Where packets go: an address vector, made once from an ah_attr. */
struct qrdma_av {
	u8	family;		/* AF_INET or AF_INET6 */
	u8	tclass;		/* traffic class: DSCP and ECN bits */
	u8	hop_limit;
	u8	sgid_index;
	u32	flow_label;
	int	oif;		/* interface to leave by, 0: any */
	__be16	sport;		/* UDP source port */
	u8	sl;		/* service level, as it was given */
	u8	priority;	/* of the packets on this host */
	union {
		struct { __be32 saddr, daddr; } v4;
		struct { struct in6_addr saddr, daddr; } v6;
	};
};

/* A work request as the engine sees it: our own copy, checked when taken. */
struct qrdma_swqe {
	union {
		u64		wr_id;
		struct ib_cqe	*wr_cqe;
	};
	u8		opcode;		/* enum ib_wr_opcode */
	u8		send_flags;	/* IB_SEND_* */
	u8		num_sge;
	u8		status;		/* of a local operation that failed */
	u32		length;		/* payload bytes */
	u32		first_psn;
	u32		last_psn;
	u32		imm_or_key;	/* immediate as on the wire, or key */
	union {
		struct {
			u64	remote_addr;
			u32	rkey;
			u64	compare_add;
			u64	swap;
			u32	flush_length;
			u32	flush_bits;	/* as in the FETH */
		} rdma;
		struct {
			struct qrdma_av	av;
			u32	remote_qpn;
			u32	remote_qkey;
		} ud;
		struct {
			struct qrdma_mr *mr;
			u32	key;
			int	access;
		} reg;
		struct {
			u64	addr;
			u64	length;
			u32	lkey;
			u32	mw_rkey;
			u32	rkey;
			int	access;
		} bind;
	};
	union {
		DECLARE_FLEX_ARRAY(struct ib_sge, sge);
		DECLARE_FLEX_ARRAY(u8, inline_data);
	};
};

struct qrdma_rwqe {
	union {
		u64		wr_id;
		struct ib_cqe	*wr_cqe;
	};
	u8		num_sge;
	bool		bad;	/* a process's, and makes no sense */
	u32		length;
	struct ib_sge	sge[];
};

/**
 * struct qrdma_rring - a queue of receive work requests
 * @user: the queue proper where a process posts: an entry is taken out of it
 *        into @buf, which has room for one, when a message needs it
 * @lock: protects @head and the entries from @tail to it; any context
 * @head: posted; free running, written under @lock, read with acquire
 * @tail: consumed; owned by the responder
 * @buf: entries, struct qrdma_rwqe
 * @stride: bytes from one to the next
 * @mask: their number, a power of two, less one
 * @max_wr: entries that may be posted
 * @max_sge: scatter entries of each
 */
struct qrdma_rring {
	struct qrdma_ring *user;
	spinlock_t	lock;		/* protects posting */
	void		*buf;
	u32		stride;
	u32		mask;
	u32		max_wr;
	u8		max_sge;
	u32		head;
	u32		tail;
};

/**
 * struct qrdma_srq - a queue of receives that QPs share
 * @ibsrq: the core's part
 * @resizing: held while a process's ring is replaced; outside @ring.lock
 * @ring: its entries; @ring.lock protects all of it, and what follows
 * @limit: with fewer entries than these an event is due, once; 0: none
 * @work: raises the event
 */
struct qrdma_srq {
	struct ib_srq		ibsrq;
	struct mutex		resizing;	/* see above */
	struct qrdma_rring	ring;
	u32			limit;
	struct work_struct	work;
};

/* PSNs of answers that are in their place: from @from up to, not with, @to. */
struct qrdma_span {
	u32 from;
	u32 to;
};

/* So many may lie behind gaps; what would make another is thrown away. */
#define QRDMA_SPANS	16

/**
 * struct qrdma_sq - the requester: send queue, sending, completing
 * @user: where a process posts, of as many slots as @buf
 * @post_lock: protects @head and the entries behind it; any context
 * @buf: entries, struct qrdma_swqe
 * @stride: bytes from one to the next
 * @mask: their number, a power of two, less one
 * @max_wr: entries that may be posted
 * @max_inline: bytes of inline data of each
 * @max_sge: gather entries of each
 * @sig_all: every work request leaves a completion
 * @head: posted; free running, written under @post_lock
 * @lock: protects all that follows; bottom halves off
 * @tail: oldest work request that is not completed; read without the lock
 * @cur: work request that is sent next
 * @cur_pkt: its packet that is sent next
 * @fresh: the first work request that was never sent
 * @psn: of the next packet to be sent
 * @una: oldest PSN that is not acknowledged
 * @max_psn: the first PSN never sent
 * @heard: the peer has carried out all requests before this PSN
 * @asked: what is missing before this PSN has been asked for again
 * @mend: where asking for it goes on, up to @asked
 * @nr_spans: entries of @spans
 * @spans: answers that came out of turn, behind @una and a gap; in order,
 *         with a gap between any two
 * @ack_asked: the PSN after the last one that asked for an answer
 * @rd_atomic: READs and atomics that are sent and not answered
 * @max_rd_atomic: limit of that
 * @read_psns: PSNs of those that are the peer's to send
 * @repair: the packet that was last sent again because of a NAK, or will be
 * @repair_due: it is still to be sent
 * @repairing: it is or was sent by itself, while new ones were
 * @keeps: the peer keeps what comes behind a gap
 * @asking: one packet was sent alone, to find that out
 * @go_backs: gaps after which all is sent again without asking
 * @starved: a packet could not be built for want of memory
 * @ip_id: IPv4 identification of the next packet
 * @retry_cnt: QP attribute; 0 to 7
 * @rnr_retry: QP attribute; 0 to 7, 7 for ever
 * @retries_left: of @retry_cnt since the last answer
 * @rnr_left: of @rnr_retry since the last answer
 * @timeout: QP attribute; 4.096 us << timeout, 0 for never
 * @running: somebody is sending; he will see what is new
 * @probing: a timer expired: one packet only until the peer answers
 * @rnr_wait: the peer has no receive posted; the timer ends the wait
 * @sqd_told: the drained event was sent, or is not wanted
 * @rewound: sending was taken up again at @una, and no answer came since
 * @timer_on: the timer is running
 * @timer_una: @una when it was started
 * @rtt_psn: the packet whose answer ends a measurement of the round trip
 * @rtt_start: its start in ns; 0 where none is under way
 * @srtt: smoothed round-trip time in ns, 0 where unknown
 * @backoff: time-outs without an answer in between
 * @stall_start: ns; the peer's silence counts from here
 */
struct qrdma_sq {
	struct qrdma_ring	*user;
	spinlock_t		post_lock;	/* protects posting */
	void			*buf;
	u32			stride;
	u32			mask;
	u32			max_wr;
	u32			max_inline;
	u8			max_sge;
	bool			sig_all;
	u32			head;

	/* protects all below */
	spinlock_t		lock ____cacheline_aligned_in_smp;
	u32			tail;
	u32			cur;
	u32			cur_pkt;
	u32			fresh;
	u32			psn;
	u32			una;
	u32			max_psn;
	u32			heard;
	u32			asked;
	u32			mend;
	u32			ack_asked;
	u32			rd_atomic;
	u32			max_rd_atomic;
	s32			read_psns;
	u16			ip_id;
	u8			retry_cnt;
	u8			rnr_retry;
	u8			retries_left;
	u8			rnr_left;
	u8			timeout;
	bool			running;
	bool			probing;
	bool			rnr_wait;
	bool			rewound;
	bool			starved;
	bool			repair_due;
	bool			repairing;
	bool			keeps;
	bool			asking;
	u8			go_backs;
	u32			repair;
	bool			sqd_told;
	bool			timer_on;
	u32			timer_una;
	u32			rtt_psn;
	u32			backoff;
	u64			rtt_start;
	u64			srtt;
	u64			stall_start;
	u32			nr_spans;
	struct qrdma_span	spans[QRDMA_SPANS];
};

/* A READ or atomic that is answered, or may have to be answered again. */
struct qrdma_rres {
	u8	kind;		/* 0 (free), QRDMA_RRES_* */
	bool	dup;
	u32	first_psn;
	u32	last_psn;
	u32	psn;		/* next response's */
	u32	msn;
	u64	va;
	u32	rkey;
	u32	resid;
	u64	orig;		/* atomic: the value before */
};

/* The result of an atomic, kept for duplicates of the request. */
struct qrdma_atomic {
	bool	valid;
	u32	psn;
	u64	orig;
};

#define QRDMA_RRES_READ		1
#define QRDMA_RRES_ATOMIC	2

/**
 * struct qrdma_rq - the responder
 * @lock: protects all of it but the posting side of @ring; bottom halves off
 * @ring: receive work requests; of a shared queue, the one that is in use
 * @srq: shared queue, or NULL
 * @pull: takes the next receive into @ring; NULL where it is posted there
 * @pd: of the receives' memory
 * @last_told: the event was raised that no more of @srq's will be used
 * @psn: expected
 * @msn: message sequence number
 * @flags: QRDMA_OP_* of the last packet of the open message, 0 for none
 * @running: somebody is sending answers; he will see what is new
 * @nak_sent: the peer was told of the gap at @psn
 * @rnr_sent: the peer was told to send the request at @psn later
 * @established: the first request was seen
 * @early: copies of requests that came before the one at @psn, in order
 * @ahead: the last PSN that has come, kept or not, where @early has any
 * @ack_owed: an acknowledge is to be sent
 * @ack_syndrome: its AETH syndrome
 * @ack_psn: its PSN
 * @ack_now: it does not wait for company
 * @ack_later: one that waits for the requester to take it along; PSN
 *             and MSN in one word, 0 for none. Also changed without @lock
 * @ack_sent: PSN up to which the peer has been answered, as far as is known
 * @ack_armed: @ack_later when the timer was started
 * @ack_timer_on: the timer is running
 * @starved: an answer could not be built for want of memory
 * @ack_skip: so many are to be sent without waiting
 * @ack_penalty: what @ack_skip becomes when one has waited in vain
 * @min_rnr_timer: QP attribute, for RNR NAKs
 * @flush_wait: ns until a process's queue is looked at again, in error
 * @access: QP attribute qp_access_flags
 * @ip_id: IPv4 identification of the next packet
 * @wqe: receive that the open SEND fills
 * @done: payload bytes of the open message that are placed
 * @va: where the open WRITE goes on
 * @rkey: its key
 * @resid: its bytes still to come
 * @atomics: results of the latest @max_dest_rd atomics; a ring
 * @atomics_head: entries made; free running
 * @res: READs and atomics, the latest ones; a ring
 * @res_mask: entries of @res, a power of two, less one
 * @max_dest_rd: QP attribute max_dest_rd_atomic
 * @res_head: entries made; free running
 * @out_tail: entries answered; free running
 * @dups: of those that are not, the ones asked for again
 */
struct qrdma_rq {
	/* protects all below but the posting side of ring */
	spinlock_t		lock ____cacheline_aligned_in_smp;
	struct qrdma_rring	ring;
	struct qrdma_srq	*srq;
	struct qrdma_rwqe	*(*pull)(struct qrdma_rq *rq);
	struct ib_pd		*pd;
	u32			psn;
	u32			msn;
	u32			flags;
	bool			last_told;
	bool			running;
	bool			nak_sent;
	bool			rnr_sent;
	bool			established;
	bool			ack_owed;
	bool			ack_now;
	bool			ack_timer_on;
	bool			starved;
	u8			ack_syndrome;
	u8			min_rnr_timer;
	u16			ip_id;
	u32			ack_psn;
	u32			ack_sent;
	u32			ack_skip;
	u32			ack_penalty;
	u64			ack_armed;
	u64			flush_wait;
	atomic64_t		ack_later;
	u32			access;

	struct sk_buff_head	early;
	u32			ahead;
	struct qrdma_rwqe	*wqe;
	u32			done;
	u64			va;
	u32			rkey;
	u32			resid;

	struct qrdma_atomic	*atomics;
	u32			atomics_head;
	struct qrdma_rres	*res;
	u32			res_mask;
	u32			max_dest_rd;
	u32			res_head;
	u32			out_tail;
	u32			dups;
};

#endif
