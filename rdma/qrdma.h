/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The objects of the RDMA device and what its files ask of each other.
 *
 * Locks: doc/locking.md has their order. In short, from the outside in:
 * qp->mutex; sq.lock or rq.lock (never both), which are taken with bottom
 * halves off; then srq->ring.lock, cq->lock, state_lock, post_lock, which may
 * be taken in any context.
 */
#ifndef QRDMA_QRDMA_H
#define QRDMA_QRDMA_H

#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/dst_cache.h>
#include <rdma/ib_verbs.h>
#include "queue.h"
#include "ring.h"
#include "wire.h"

/* Limits, enforced at what query_device says. */
#define QRDMA_MAX_QP		65536
#define QRDMA_MAX_CQ		65536
#define QRDMA_MAX_MR		BIT(20)
#define QRDMA_MAX_MW		BIT(18)
#define QRDMA_MAX_PD		65536
#define QRDMA_MAX_AH		65536
/* Less one, as a process's ring has one slot that is never filled. */
#define QRDMA_MAX_QP_WR		(16384 - 1)
#define QRDMA_MAX_CQE		(BIT(20) - 1)
#define QRDMA_MAX_SRQ_WR	(16384 - 1)
#define QRDMA_MAX_SRQ		65536
#define QRDMA_MAX_GROUPS	1024
#define QRDMA_MAX_GROUP_QP	1024
#define QRDMA_MAX_SGE		32
#define QRDMA_MAX_INLINE	512
#define QRDMA_MAX_RD_ATOMIC	128
#define QRDMA_MAX_FR_PAGES	512
#define QRDMA_MAX_MSG		0x80000000U
#define QRDMA_PKEY_TBL_LEN	1
#define QRDMA_GID_TBL_LEN	256
/* The key that names all kernel memory to local work requests. */
#define QRDMA_LOCAL_DMA_LKEY	0

/* Counters of a device, kept per CPU; stats.c has their names. */
enum qrdma_counter {
	QRDMA_CNT_TX_PKTS,
	QRDMA_CNT_RX_PKTS,
	QRDMA_CNT_TX_LISTS,
	QRDMA_CNT_RX_LISTS,
	QRDMA_CNT_TX_ERRORS,
	QRDMA_CNT_RX_ICRC_ENCAPSULATED,
	QRDMA_CNT_RX_MALFORMED,
	QRDMA_CNT_RX_NO_QP,
	QRDMA_CNT_RX_BAD_KEY,
	QRDMA_CNT_RX_MSG_DROPPED,
	QRDMA_CNT_OUT_OF_SEQUENCE,
	QRDMA_CNT_DUPLICATE_REQUEST,
	QRDMA_CNT_PACKET_SEQ_ERR,
	QRDMA_CNT_IMPLIED_NAK_SEQ_ERR,
	QRDMA_CNT_LOCAL_ACK_TIMEOUT_ERR,
	QRDMA_CNT_RNR_NAK_SENT,
	QRDMA_CNT_RNR_NAK_RETRY_ERR,
	QRDMA_CNT_RETRY_EXCEEDED,
	QRDMA_CNT_TAIL_PROBES,
	QRDMA_CNT_RETRANSMITTED,
	QRDMA_CNT_RX_READ_REQUESTS,
	QRDMA_CNT_RX_WRITE_REQUESTS,
	QRDMA_CNT_RX_ATOMIC_REQUESTS,
	QRDMA_CNT_REQ_REMOTE_ACCESS_ERRORS,
	QRDMA_CNT_RESP_REMOTE_ACCESS_ERRORS,
	QRDMA_CNT_REQ_REMOTE_INVALID_REQUEST,
	QRDMA_CNT_RESP_LOCAL_LENGTH_ERROR,
	QRDMA_CNT_REQ_CQE_ERROR,
	QRDMA_CNT_REQ_CQE_FLUSH_ERROR,
	QRDMA_CNT_RESP_CQE_ERROR,
	QRDMA_CNT_RESP_CQE_FLUSH_ERROR,
	QRDMA_CNT_OUT_OF_BUFFER,
	QRDMA_NUM_COUNTERS
};

struct qrdma_stats {
	u64 cnt[QRDMA_NUM_COUNTERS];
};

struct qrdma_dev {
	struct ib_device	ibdev;	/* first: ib_core allocates it */
	struct net_device	*ndev;	/* held until the device is freed */
	netdevice_tracker	ndev_tracker;
	struct list_head	list;	/* all devices, see device.c */
	struct qrdma_stats __percpu *stats;
	struct qrdma_qp __rcu	*gsi;	/* QP1 */
	atomic_t		nr_qps;	/* objects, for the limits above */
	atomic_t		nr_cqs;
	atomic_t		nr_srqs;
	atomic_t		nr_mrs;
	atomic_t		nr_mws;
	atomic_t		nr_pds;
	atomic_t		nr_ahs;
	struct net		*net;	/* of @ndev; see net_exit() in net.c */
	struct work_struct	gone;	/* @ndev leaves: unregister */
	bool			going;	/* under the device list's mutex */
	bool			up;	/* port state last told, likewise */
	bool			ready;	/* registered: packets may look at it */
	struct mutex		groups_mutex; /* protects the two below */
	DECLARE_HASHTABLE(groups, 6);	/* read under RCU */
	u32			nr_groups;
};

/* A QP in a multicast group; @list under groups_mutex, read under RCU. */
struct qrdma_member {
	struct list_head	list;
	struct qrdma_qp		*qp;
	struct rcu_head		rcu;
};

struct qrdma_group {
	struct hlist_node	node;
	union ib_gid		gid;
	struct list_head	members;
	u32			nr_members;
	struct rcu_head		rcu;
};

struct qrdma_uctx {
	struct ib_ucontext ibuc;
};

struct qrdma_pd {
	struct ib_pd ibpd;
};

struct qrdma_ah {
	struct ib_ah	ibah;
	struct qrdma_av	av;
	u32		num;	/* by which a process names it; 0: the kernel's */
};

/**
 * struct qrdma_cq - a completion queue
 * @ibcq: the core's part
 * @lock: protects all that follows; any context
 * @resizing: held while a process's ring is replaced; outside @lock
 * @ring: completions of a kernel user, a power of two of them
 * @user: those of a process
 * @mask: slots of the ring less one
 * @size: entries that it holds
 * @head: entries produced; free running
 * @tail: entries consumed; free running, of a kernel user
 * @notify: armed by req_notify_cq; 0, IB_CQ_SOLICITED or IB_CQ_NEXT_COMP
 * @overflowed: a completion found no room; the queue is in error for good
 * @notifying: somebody is calling the handler
 * @notify_again: and is to call it once more
 * @mod_count: so many completions are told of at once; 0: each
 * @mod_period: or as many as come in that time, in us
 * @held: completions since the handler was due, and held back
 * @timer: ends the time
 * @senders: QPs whose requests complete here
 * @receivers: QPs whose receives do
 */
struct qrdma_cq {
	struct ib_cq	ibcq;
	struct mutex	resizing;	/* see above */
	spinlock_t	lock;		/* protects all below */
	struct ib_wc	*ring;
	struct qrdma_ring *user;
	u32		mask;
	u32		size;
	u32		head;
	u32		tail;
	u8		notify;
	bool		overflowed;
	bool		notifying;
	bool		notify_again;
	u16		mod_count;
	u16		mod_period;
	u32		held;
	struct hrtimer	timer;
	struct list_head senders;
	struct list_head receivers;
};

enum qrdma_mr_type {
	QRDMA_MR_DMA,		/* all of kernel memory */
	QRDMA_MR_FAST_REG,
	QRDMA_MR_USER,		/* a process's pinned pages */
	QRDMA_MR_WINDOW_1,	/* memory windows: what they are bound to */
	QRDMA_MR_WINDOW_2,
};

enum qrdma_mr_state {
	QRDMA_MR_FREE,		/* may be registered */
	QRDMA_MR_VALID,
};

/**
 * struct qrdma_mr - a memory region
 * @ibmr: the core's part; its PD is under @lock, too
 * @umem: the pinned pages behind it, of a process's
 * @rcu: frees it after the last look-up
 * @users: data copies under way; see qrdma_mr_get()
 * @lock: serialises changes of @state and all below; readers hold @users
 * @state: enum qrdma_mr_state
 * @type: enum qrdma_mr_type
 * @key: the key in force, index and generation
 * @access: IB_ACCESS_* in force
 * @iova: address of the first byte, as the key's users name it
 * @length: bytes
 * @page_shift: of the entries of @pages
 * @offset: of @iova in the first page
 * @nr_pages: entries of @pages in use
 * @max_pages: entries of @pages and @next_pages allocated
 * @pages: kernel addresses, each aligned to its page
 * @next_pages: list that ib_map_mr_sg() makes for the next registration,
 *              while this one may still be in force
 * @nr_next: its entries
 * @windows: that are bound to it; while there are any, it stays as it is
 * @parent: of a window, the region that it is bound to; has the pages
 * @owner: of a window, serial of the QP that bound it
 */
struct qrdma_mr {
	struct ib_mr		ibmr;
	struct ib_umem		*umem;
	struct rcu_head		rcu;
	atomic_t		users;
	spinlock_t		lock;	/* see above */
	int			state;
	enum qrdma_mr_type	type;
	u32			key;
	int			access;
	u64			iova;
	u64			length;
	u32			page_shift;
	u32			offset;
	u32			nr_pages;
	u32			max_pages;
	u64			*pages;
	u64			*next_pages;
	u32			nr_next;
	atomic_t		windows;
	struct qrdma_mr		*parent;
	u64			owner;
};

/* A memory window: a region without pages of its own, see mw.c. */
struct qrdma_mw {
	struct ib_mw	ibmw;
	struct qrdma_mr	*win;
};

struct qrdma_qp {
	struct ib_qp		ibqp;
	struct qrdma_dev	*dev;
	enum ib_qp_state	state;	/* written under state_lock */
	u32			mtu;	/* payload bytes a packet */
	u32			dqpn;
	u32			qkey;	/* of datagrams; written under rq.lock */
	u8			type;	/* enum ib_qp_type */
	u8			transport; /* IB_OPCODE_RC, _UC or _UD */
	bool			connected; /* to one peer, RC or UC */
	struct qrdma_av		av;
	struct dst_cache	dst;
	struct qrdma_cq		*send_cq;
	struct qrdma_cq		*recv_cq;
	struct list_head	send_link; /* of send_cq; under its lock */
	struct list_head	recv_link; /* of recv_cq; likewise */
	unsigned long		flags;	/* QRDMA_QP_* */
	u64			serial;	/* no other QP ever has it */

	struct qrdma_sq		sq;
	struct qrdma_rq		rq;

	struct hrtimer		timer;
	struct hrtimer		ack_timer;
	struct work_struct	work;	/* on the bottom-half queue */
	atomic_t		nt_left;	/* QRDMA_NT_*, for the work */

	spinlock_t		state_lock;	/* protects changes of state */
	struct mutex		mutex;	/* modify and query: protects attr */
	struct ib_qp_attr	attr;
	struct ib_qp_init_attr	init;
};

/* A completion queue of the QP's failed, and the QP with it. */
#define QRDMA_QP_CQ_FAILED	0

/* One received packet. Offsets are from skb->data. */
struct qrdma_pkt {
	struct sk_buff			*skb;
	const void			*ip;	/* IPv4 or IPv6 header */
	u8				family;
	u32				bth_off;
	u32				len;	/* from BTH to the end of the ICRC */
	const struct qrdma_opcode	*op;
	u8				opcode;
	u32				psn;
	u32				qpn;
	bool				ack_req;
	bool				solicited;
	bool				pkey_ok;
	const u8			*hdr;	/* BTH and what follows, linear */
	u32				payload_off;
	u32				payload;	/* bytes without pad */
	u8				buf[QRDMA_MAX_HDR];
};

/* A list of packets on its way out: same address vector, in order. */
struct qrdma_tx {
	struct sk_buff	*head;
	struct sk_buff	*tail;
	u32		count;
};

/* Who is to be told once the QP's lock is dropped: QRDMA_NT_*. */
struct qrdma_notify {
	u32 flags;
};

#define QRDMA_NT_SEND_CQ	BIT(0)	/* call the send queue's handler */
#define QRDMA_NT_RECV_CQ	BIT(1)
#define QRDMA_NT_SEND_CQ_ERR	BIT(2)	/* the queue overflowed */
#define QRDMA_NT_RECV_CQ_ERR	BIT(3)
#define QRDMA_NT_COMM_EST	BIT(4)	/* asynchronous events of the QP */
#define QRDMA_NT_SQ_DRAINED	BIT(5)
#define QRDMA_NT_QP_FATAL	BIT(6)
#define QRDMA_NT_QP_REQ_ERR	BIT(7)
#define QRDMA_NT_QP_ACCESS_ERR	BIT(8)
#define QRDMA_NT_LAST_WQE	BIT(9)
#define QRDMA_NT_OF_CQS		(QRDMA_NT_SEND_CQ | QRDMA_NT_RECV_CQ | \
				 QRDMA_NT_SEND_CQ_ERR | QRDMA_NT_RECV_CQ_ERR)

/* A batch of received packets, see recv.c. */
struct qrdma_rx {
	struct net		*net;
	const struct net_device	*in;	/* where they came in, or NULL */
	struct qrdma_qp		*qp;	/* of the run, or NULL */
	int			side;
	struct qrdma_notify	nt;
};

static inline struct qrdma_dev *to_qdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct qrdma_dev, ibdev);
}

static inline struct qrdma_qp *to_qqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct qrdma_qp, ibqp);
}

static inline struct qrdma_cq *to_qcq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct qrdma_cq, ibcq);
}

static inline struct qrdma_srq *to_qsrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct qrdma_srq, ibsrq);
}

/* Count an object of a device, up to a limit. */
static inline bool qrdma_count_in(atomic_t *count, int max)
{
	if (likely(atomic_inc_return(count) <= max))
		return true;
	atomic_dec(count);
	return false;
}

static inline struct qrdma_mr *to_qmr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct qrdma_mr, ibmr);
}

static inline struct qrdma_mw *to_qmw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct qrdma_mw, ibmw);
}

static inline bool qrdma_is_window(const struct qrdma_mr *mr)
{
	return mr->type == QRDMA_MR_WINDOW_1 || mr->type == QRDMA_MR_WINDOW_2;
}

static inline struct qrdma_ah *to_qah(struct ib_ah *ibah)
{
	return container_of(ibah, struct qrdma_ah, ibah);
}

static inline void qrdma_count(const struct qrdma_dev *dev,
			       enum qrdma_counter c)
{
	this_cpu_inc(dev->stats->cnt[c]);
}

static inline void qrdma_count_n(const struct qrdma_dev *dev,
				 enum qrdma_counter c, u64 n)
{
	this_cpu_add(dev->stats->cnt[c], n);
}

/* Count a completion in error: all of them as @any, those of a flush as well. */
static inline void qrdma_count_error(const struct qrdma_dev *dev,
				     enum ib_wc_status status,
				     enum qrdma_counter any,
				     enum qrdma_counter flush)
{
	qrdma_count(dev, any);
	if (status == IB_WC_WR_FLUSH_ERR)
		qrdma_count(dev, flush);
}

/* Payload bytes that a packet may have on the port as it is now. */
static inline u32 qrdma_dev_mtu(const struct qrdma_dev *dev)
{
	int room = (int)READ_ONCE(dev->ndev->mtu) - QRDMA_MTU_OVERHEAD;

	return ib_mtu_enum_to_int(ib_mtu_int_to_enum(room));
}

/* device.c: the device, its netdev and its namespace */
int qrdma_dev_init(void);
void qrdma_dev_exit(void);
/**
 * qrdma_dev_find_by_gid() - the device that owns an address
 * @net: network namespace
 * @gid: the address as a GID
 *
 * Context: RCU read side.
 * Return: the device, valid until the end of the RCU section, or NULL.
 */
struct qrdma_dev *qrdma_dev_find_by_gid(struct net *net, const union ib_gid *gid);
/* The device of an interface. Context and result as above. */
struct qrdma_dev *qrdma_dev_find_by_ndev(const struct net_device *ndev);

/* verbs.c: everything that is not QP, CQ or MR */
extern const struct ib_device_ops qrdma_dev_ops;
int qrdma_av_from_attr(const struct rdma_ah_attr *attr, struct qrdma_av *av);
void qrdma_ah_table_exit(void);
/**
 * qrdma_av_of_ah() - the address vector of an address handle of a process
 * @pd: of the QP that uses it
 * @num: the handle's number
 * @av: filled in
 *
 * Context: process.
 * Return: whether there is such a handle in @pd.
 */
bool qrdma_av_of_ah(struct ib_pd *pd, u32 num, struct qrdma_av *av);
/* The UDP source port of a connection: from its flow label, or hashed. */
static inline __be16 qrdma_sport(const struct rdma_ah_attr *attr, u32 lqpn,
				 u32 rqpn)
{
	u32 fl = attr->grh.flow_label;

	if (!fl)
		fl = rdma_calc_flow_label(lqpn, rqpn);
	return cpu_to_be16(rdma_flow_label_to_udp_sport(fl));
}

/* stats.c */
extern const struct ib_device_ops qrdma_stats_ops;

/* icrc.c */
int qrdma_icrc_init(void);
void qrdma_icrc_exit(void);
/**
 * qrdma_icrc_compute() - the invariant CRC of a packet, IBTA annex A17.3.3
 * @skb: holds the packet
 * @ip: its IPv4 or IPv6 header; may stand anywhere
 * @family: AF_INET or AF_INET6
 * @sport: UDP source port
 * @bth_off: offset of the BTH from skb->data; the UDP header need not be there
 * @len: bytes from the BTH to the ICRC, without it
 *
 * The lengths in the IP and UDP headers count as those of this one packet,
 * whatever the headers say: the first packet of a list carries the list's.
 *
 * Context: any but hard interrupt.
 * Return: the ICRC as it stands on the wire.
 */
__le32 qrdma_icrc_compute(const struct sk_buff *skb, const void *ip, u8 family,
			  __be16 sport, u32 bth_off, u32 len);

/* net.c: addresses, sockets, sending lists, receiving lists */
int qrdma_net_init(void);
void qrdma_net_exit(void);
int qrdma_net_get(struct net *net);	/* open the port, or take a reference */
void qrdma_net_put(struct net *net);
/**
 * qrdma_skb_alloc() - a packet to be filled
 * @size: bytes of linear room for transport headers and copied payload,
 *        without pad and ICRC
 *
 * skb->data is where the BTH goes, skb->len is 0; use skb_put() and frags.
 *
 * Context: bottom halves off.
 * Return: the packet, or NULL.
 */
struct sk_buff *qrdma_skb_alloc(u32 size);
/**
 * qrdma_skb_seal() - finish a packet: pad, ICRC, UDP and IP header
 * @skb: BTH to end of payload; skb->data is at the BTH. The pad count is set
 *       in the BTH here.
 * @av: where it will go
 * @ip_id: IPv4 identification; counts up from packet to packet in a list
 *
 * Context: bottom halves off.
 * Return: 0 or -ENOMEM; the packet stays the caller's.
 */
int qrdma_skb_seal(struct sk_buff *skb, const struct qrdma_av *av, u16 ip_id);
/* qrdma_tx_add() - append a sealed packet to a list; takes it over */
void qrdma_tx_add(struct qrdma_tx *tx, struct sk_buff *skb);
/**
 * qrdma_tx_send() - hand a list to the network
 * @dev: sender
 * @av: the address vector of all its packets
 * @dst: route cache, or NULL to look the route up
 * @tx: the list; empty afterwards, whatever happens
 *
 * Cut into as few GSO lists as the limits of IP allow. A packet that cannot
 * be sent is lost, as on a wire: who needs it sends it again.
 *
 * Context: bottom halves off, no lock of a QP held.
 */
void qrdma_tx_send(struct qrdma_dev *dev, const struct qrdma_av *av,
		   struct dst_cache *dst, struct qrdma_tx *tx);

/* recv.c: from net.c to the responder and the completer */
/**
 * qrdma_rx_begin() - open a batch of received packets
 * @rx: the batch
 * @net: network namespace that they came to
 *
 * Context: softirq or bottom halves off, RCU read side, until qrdma_rx_end().
 */
void qrdma_rx_begin(struct qrdma_rx *rx, struct net *net);
/**
 * qrdma_rx_packet() - take in one packet
 * @rx: the batch
 * @skb: holds it; not changed, not kept
 * @ip: its network header
 * @family: AF_INET or AF_INET6
 * @sport: UDP source port
 * @bth_off: offset of the BTH from skb->data
 * @len: bytes from BTH to the end of the ICRC, as UDP length and skb bear out
 */
void qrdma_rx_packet(struct qrdma_rx *rx, struct sk_buff *skb, const void *ip,
		     u8 family, __be16 sport, u32 bth_off, u32 len);
void qrdma_rx_end(struct qrdma_rx *rx);
/* Count a packet that came to no QP, for the device that has its address. */
void qrdma_rx_drop(struct net *net, const void *ip, u8 family,
		   enum qrdma_counter counter);

#endif
