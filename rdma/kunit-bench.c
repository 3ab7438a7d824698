// SPDX-License-Identifier: GPL-2.0-only
/* See kunit-bench.h. Process context, in the thread of a KUnit test. */
#include <kunit/static_stub.h>
#include <linux/unaligned.h>
#include <rdma/ib_mad.h>
#include "kunit-bench.h"
#include "net.h"

static const u8 bench_ip[2][4] = { { 10, 0, 0, 1 }, { 10, 0, 0, 2 } };

static struct qrdma_bench *current_bench(void)
{
	struct kunit *test = kunit_get_current_test();

	return test ? test->priv : NULL;
}

/* In place of qrdma_tx_send(): keep what is sent. */
static void keep_sent(struct qrdma_dev *dev, const struct qrdma_av *av,
		      struct dst_cache *cache, struct qrdma_tx *tx)
{
	struct qrdma_bench *b = current_bench();
	struct sk_buff *skb, *next;

	for (skb = tx->head; skb; skb = next) {
		next = skb->next;
		skb_mark_not_on_list(skb);
		/* A softirq on top of the test may send for others. */
		if (dev == &b->dev)
			__skb_queue_tail(&b->sent, skb);
		else
			kfree_skb(skb);
	}
	*tx = (struct qrdma_tx){};
	if (dev == &b->dev && b->on_send) {
		/* What the peer sends meanwhile is another batch. */
		const struct qrdma_rx outer = b->rx;
		const bool in_batch = b->in_batch;

		b->in_batch = false;
		b->on_send(b);
		b->rx = outer;
		b->in_batch = in_batch;
	}
}

/* In place of qrdma_timer_start(): nothing expires by itself. */
static void note_timer(struct hrtimer *timer, u64 ns)
{
	struct qrdma_bench *b = current_bench();

	if (timer == &b->qp.timer) {
		b->timer_starts++;
		b->timer_ns = ns;
	} else if (timer == &b->qp.ack_timer) {
		b->ack_timer_starts++;
		b->ack_timer_ns = ns;
	} else {
		hrtimer_start(timer, ns_to_ktime(ns), HRTIMER_MODE_REL_SOFT);
	}
}

/* In place of qrdma_qp_queue_work(): see qrdma_bench_work(). */
static void note_work(struct qrdma_qp *qp)
{
	struct qrdma_bench *b = current_bench();

	if (qp == &b->qp)
		b->works++;
	else
		schedule_work(&qp->work);
}

/* Like qrdma_skb_alloc(), with room for all that comes around. */
static struct sk_buff *new_skb(u32 size)
{
	struct sk_buff *skb = alloc_skb(SZ_256 + size + 8, GFP_ATOMIC);

	if (skb)
		skb_reserve(skb, SZ_256);
	return skb;
}

/* In place of it. */
static struct sk_buff *alloc_some(u32 size)
{
	struct qrdma_bench *b = current_bench();

	if (!b->memory)
		return NULL;
	b->memory--;
	return new_skb(size);
}

void qrdma_bench_memory(struct qrdma_bench *b, u32 packets)
{
	b->memory = packets;
	kunit_activate_static_stub(b->test, qrdma_skb_alloc, alloc_some);
}

void qrdma_bench_memory_back(struct qrdma_bench *b)
{
	kunit_deactivate_static_stub(b->test, qrdma_skb_alloc);
}

static void set_gid(union ib_gid *gid, u8 family, int side)
{
	if (family == AF_INET) {
		memset(gid, 0, 10);
		memset(gid->raw + 10, 0xff, 2);
		memcpy(gid->raw + 12, bench_ip[side], 4);
	} else {
		memset(gid, 0, sizeof(*gid));
		gid->raw[0] = 0xfd;
		gid->raw[15] = 1 + side;
	}
}

static void make_queues(struct qrdma_bench *b, enum ib_qp_type type)
{
	const struct ib_cq_init_attr attr = { .cqe = 64 };
	struct ib_qp_init_attr init = {
		.qp_type = type,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.send_cq = &b->scq.ibcq,
		.recv_cq = &b->rcq.ibcq,
		.cap = {
			.max_send_wr = 16,
			.max_recv_wr = 16,
			.max_send_sge = 2,
			.max_recv_sge = 2,
		},
	};

	b->scq.ibcq.device = &b->dev.ibdev;
	b->rcq.ibcq.device = &b->dev.ibdev;
	b->qp.ibqp.device = &b->dev.ibdev;
	b->qp.ibqp.pd = &b->pd;
	KUNIT_ASSERT_EQ(b->test, 0,
			qrdma_cq_ops.create_cq(&b->scq.ibcq, &attr, NULL));
	KUNIT_ASSERT_EQ(b->test, 0,
			qrdma_cq_ops.create_cq(&b->rcq.ibcq, &attr, NULL));
	KUNIT_ASSERT_EQ(b->test, 0,
			qrdma_qp_ops.create_qp(&b->qp.ibqp, &init, NULL));
	b->created = true;
	b->mr = qrdma_mr_ops.get_dma_mr(&b->pd, IB_ACCESS_LOCAL_WRITE |
					IB_ACCESS_REMOTE_WRITE |
					IB_ACCESS_REMOTE_READ |
					IB_ACCESS_REMOTE_ATOMIC);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(b->test, b->mr);
}

static void modify(struct qrdma_bench *b, enum ib_qp_state state,
		   struct ib_qp_attr *attr, int mask)
{
	attr->qp_state = state;
	KUNIT_ASSERT_EQ(b->test, 0,
			qrdma_qp_ops.modify_qp(&b->qp.ibqp, attr,
					       mask | IB_QP_STATE, NULL));
}

/* An unreliable connection has less to be told. */
static void to_rts(struct qrdma_bench *b, u8 family, bool reliable)
{
	struct ib_qp_attr attr = {
		.port_num = 1,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_REMOTE_READ |
				   IB_ACCESS_REMOTE_ATOMIC,
		.path_mtu = IB_MTU_256,
		.dest_qp_num = BENCH_DQPN,
		.rq_psn = BENCH_PSN,
		.sq_psn = BENCH_PSN,
		.max_dest_rd_atomic = BENCH_RD_ATOMIC,
		.max_rd_atomic = BENCH_RD_ATOMIC,
		.min_rnr_timer = BENCH_RNR_TIMER,
		.timeout = BENCH_TIMEOUT,
		.retry_cnt = BENCH_RETRY,
		.rnr_retry = BENCH_RNR_RETRY,
	};

	set_gid(&b->sgid.gid, family, 0);
	attr.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_grh(&attr.ah_attr, NULL, 0, 0, 64, 0);
	attr.ah_attr.grh.sgid_attr = &b->sgid;
	set_gid(&attr.ah_attr.grh.dgid, family, 1);
	modify(b, IB_QPS_INIT, &attr,
	       IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	modify(b, IB_QPS_RTR, &attr,
	       IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
	       (reliable ? IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER : 0));
	modify(b, IB_QPS_RTS, &attr,
	       IB_QP_SQ_PSN |
	       (reliable ? IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			   IB_QP_MAX_QP_RD_ATOMIC : 0));
}

static void gsi_to_rts(struct qrdma_bench *b)
{
	struct ib_qp_attr attr = {
		.qkey = IB_QP1_QKEY,
		.sq_psn = BENCH_PSN,
	};

	modify(b, IB_QPS_INIT, &attr, IB_QP_PKEY_INDEX | IB_QP_QKEY);
	modify(b, IB_QPS_RTR, &attr, 0);
	modify(b, IB_QPS_RTS, &attr, IB_QP_SQ_PSN);
}

struct qrdma_bench *qrdma_bench_open(struct kunit *test, u8 family,
				     enum ib_qp_type type)
{
	struct qrdma_bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, b);
	b->test = test;
	__skb_queue_head_init(&b->sent);
	test->priv = b;
	b->mem = kunit_kzalloc(test, BENCH_MEM, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, b->mem);
	for (i = 0; i < BENCH_MEM; i++)
		b->mem[i] = i;
	b->dev.ndev = &b->ndev;
	b->dev.net = &init_net;
	b->ndev.mtu = 4200;
	b->pd.device = &b->dev.ibdev;
	b->dev.stats = alloc_percpu(struct qrdma_stats);
	KUNIT_ASSERT_TRUE(test, !!b->dev.stats);

	kunit_activate_static_stub(test, qrdma_tx_send, keep_sent);
	kunit_activate_static_stub(test, qrdma_timer_start, note_timer);
	kunit_activate_static_stub(test, qrdma_qp_queue_work, note_work);
	make_queues(b, type);
	if (type == IB_QPT_RC || type == IB_QPT_UC)
		to_rts(b, family, type == IB_QPT_RC);
	else
		gsi_to_rts(b);
	b->works = 0;
	return b;
}

struct qrdma_bench *qrdma_bench_open_prompt(struct kunit *test)
{
	struct qrdma_bench *b = qrdma_bench_open(test, AF_INET, IB_QPT_RC);

	b->qp.rq.ack_skip = 1000;
	return b;
}

void qrdma_bench_exit(struct kunit *test)
{
	struct qrdma_bench *b = test->priv;

	if (!b)
		return;
	if (!IS_ERR_OR_NULL(b->mr))
		qrdma_mr_ops.dereg_mr(b->mr, NULL);
	if (b->created)
		qrdma_qp_ops.destroy_qp(&b->qp.ibqp, NULL);
	qrdma_cq_ops.destroy_cq(&b->rcq.ibcq, NULL);
	qrdma_cq_ops.destroy_cq(&b->scq.ibcq, NULL);
	__skb_queue_purge(&b->sent);
	free_percpu(b->dev.stats);
}

void qrdma_bench_post(struct qrdma_bench *b, u64 id, enum ib_wr_opcode opcode,
		      u32 len)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)b->mem,
		.length = len,
		.lkey = QRDMA_LOCAL_DMA_LKEY,
	};
	struct ib_rdma_wr rdma = {
		.remote_addr = BENCH_VA,
		.rkey = BENCH_RKEY,
	};
	struct ib_atomic_wr atomic = {
		.remote_addr = BENCH_VA,
		.rkey = BENCH_RKEY,
	};
	bool is_atomic = opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
			 opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
	struct ib_send_wr *wr = is_atomic ? &atomic.wr : &rdma.wr;
	const struct ib_send_wr *bad;

	wr->wr_id = id;
	wr->opcode = opcode;
	wr->send_flags = IB_SEND_SIGNALED;
	wr->sg_list = &sge;
	wr->num_sge = !!len;
	KUNIT_ASSERT_EQ(b->test, 0, qrdma_post_send(&b->qp.ibqp, wr, &bad));
}

void qrdma_bench_post_recv(struct qrdma_bench *b, u64 id, u32 len)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)b->mem,
		.length = len,
		.lkey = QRDMA_LOCAL_DMA_LKEY,
	};
	const struct ib_recv_wr wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = !!len,
	};
	const struct ib_recv_wr *bad;

	KUNIT_ASSERT_EQ(b->test, 0, qrdma_post_recv(&b->qp.ibqp, &wr, &bad));
}

void qrdma_bench_begin(struct qrdma_bench *b)
{
	local_bh_disable();
	rcu_read_lock();
	/* For sparse: qrdma_bench_end() has the lock from here. */
	__release(RCU);
	qrdma_rx_begin(&b->rx, &init_net);
	b->in_batch = true;
}

void qrdma_bench_end(struct qrdma_bench *b)
{
	qrdma_rx_end(&b->rx);
	__acquire(RCU);
	rcu_read_unlock();
	local_bh_enable();
	b->in_batch = false;
}

/* The way from the peer is the way to it, turned round. */
static void peer_av(const struct qrdma_bench *b, struct qrdma_av *av)
{
	*av = b->qp.av;
	if (av->family == AF_INET)
		swap(av->v4.saddr, av->v4.daddr);
	else
		swap(av->v6.saddr, av->v6.daddr);
}

static struct sk_buff *build(struct qrdma_bench *b,
			     const struct qrdma_bench_pkt *pkt,
			     const struct qrdma_av *av)
{
	struct sk_buff *skb;
	u8 *bth;

	skb = new_skb(12 + pkt->ext_len + pkt->payload);
	if (!skb)
		return NULL;
	bth = skb_put_zero(skb, 12);
	bth[0] = pkt->opcode;
	bth[1] = pkt->flags;
	put_unaligned_be16(0xffff, bth + 2);
	put_unaligned_be32(b->qp.ibqp.qp_num, bth + 4);
	put_unaligned_be32(pkt->psn, bth + 8);
	if (pkt->ack_req)
		bth[8] |= 0x80;
	skb_put_data(skb, pkt->ext, pkt->ext_len);
	skb_put_data(skb, b->mem, pkt->payload);
	if (qrdma_skb_seal(skb, av, 0)) {
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

void qrdma_bench_deliver(struct qrdma_bench *b,
			 const struct qrdma_bench_pkt *pkt)
{
	bool alone = !b->in_batch;
	struct sk_buff *skb;
	struct qrdma_av av;
	u32 off;

	if (alone)
		qrdma_bench_begin(b);
	peer_av(b, &av);
	off = qrdma_encap_len(av.family);
	skb = build(b, pkt, &av);
	if (skb)
		qrdma_rx_packet(&b->rx, skb, skb->data, av.family, av.sport,
				off, skb->len - off);
	kfree_skb(skb);
	if (alone)
		qrdma_bench_end(b);
}

void qrdma_bench_aeth(struct qrdma_bench *b, u8 syndrome, u32 psn)
{
	const struct qrdma_bench_pkt pkt = {
		.opcode = IB_OPCODE_RC_ACKNOWLEDGE,
		.psn = psn & 0xffffff,
		.ext = { syndrome },
		.ext_len = 4,
	};

	qrdma_bench_deliver(b, &pkt);
}

/* A request without extended headers, or with four bytes of immediate data. */
void qrdma_bench_request(struct qrdma_bench *b, u8 opcode, u32 psn,
			 u32 payload, bool ack_req)
{
	const struct qrdma_bench_pkt pkt = {
		.opcode = opcode,
		.psn = psn & 0xffffff,
		.ack_req = ack_req,
		.ext_len = opcode == IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE ?
			   4 : 0,
		.payload = payload,
	};

	qrdma_bench_deliver(b, &pkt);
}

/* A READ or WRITE of the bench's memory, from @off on; asks for an answer. */
void qrdma_bench_rdma(struct qrdma_bench *b, u8 opcode, u32 psn, u32 off,
		      u32 len, u32 payload)
{
	struct qrdma_bench_pkt pkt = {
		.opcode = opcode,
		.psn = psn & 0xffffff,
		.ack_req = opcode != IB_OPCODE_RC_RDMA_READ_REQUEST,
		.ext_len = 16,
		.payload = payload,
	};

	put_unaligned_be64((uintptr_t)b->mem + off, pkt.ext);
	put_unaligned_be32(b->mr->rkey, pkt.ext + 8);
	put_unaligned_be32(len, pkt.ext + 12);
	qrdma_bench_deliver(b, &pkt);
}

void qrdma_bench_empty_write(struct qrdma_bench *b, u32 psn)
{
	qrdma_bench_rdma(b, WRITE_ONLY, psn, 0, 0, 0);
}

/* A READ's response; the AETH, where there is one, says ACK. */
void qrdma_bench_response(struct qrdma_bench *b, u8 opcode, u32 psn,
			  u32 payload)
{
	const struct qrdma_bench_pkt pkt = {
		.opcode = opcode,
		.psn = psn & 0xffffff,
		.ext = { 0x1f },
		.ext_len = opcode == IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE ?
			   0 : 4,
		.payload = payload,
	};

	qrdma_bench_deliver(b, &pkt);
}

void qrdma_bench_time_out(struct qrdma_bench *b)
{
	local_bh_disable();
	qrdma_timer_fire(&b->qp.timer);
	local_bh_enable();
}

void qrdma_bench_ack_time_out(struct qrdma_bench *b)
{
	local_bh_disable();
	qrdma_rq_ack_timer(&b->qp.ack_timer);
	local_bh_enable();
}

void qrdma_bench_work(struct qrdma_bench *b)
{
	b->works = 0;
	b->qp.work.func(&b->qp.work);
}

static const char *const kinds[256] = {
	[0x00] = "send-first", [0x01] = "send-middle", [0x02] = "send-last",
	[0x03] = "send-last-imm", [0x04] = "send", [0x05] = "send-imm",
	[0x06] = "write-first", [0x07] = "write-middle",
	[0x08] = "write-last", [0x09] = "write-last-imm", [0x0a] = "write",
	[0x0b] = "write-imm", [0x0c] = "read", [0x0d] = "resp-first",
	[0x0e] = "resp-middle", [0x0f] = "resp-last", [0x10] = "resp",
	[0x11] = "ack", [0x12] = "atomic", [0x13] = "swap", [0x14] = "add",
	[0x16] = "send-last-inv", [0x17] = "send-inv",
	[0x20] = "uc-send-first", [0x21] = "uc-send-middle",
	[0x22] = "uc-send-last", [0x24] = "uc-send", [0x2a] = "uc-write",
	[0x64] = "ud",
};

static int tell_answer(const u8 *bth, char *to, size_t size)
{
	static const char *const names[] = { "ack", "rnr", "?", "nak" };
	u32 psn = get_unaligned_be24(bth + 9);
	u32 msn = get_unaligned_be24(bth + 13);
	u8 syndrome = bth[12];

	if (syndrome == 0x1f)
		return scnprintf(to, size, "ack:%06x/%u", psn, msn);
	return scnprintf(to, size, "%s%u:%06x/%u", names[syndrome >> 5 & 3],
			 syndrome & 0x1f, psn, msn);
}

static int tell_packet(const u8 *bth, char *to, size_t size)
{
	int n;

	if (bth[0] == 0x11)
		return tell_answer(bth, to, size);
	n = scnprintf(to, size, "%s:%06x", kinds[bth[0]] ?: "?",
		      get_unaligned_be24(bth + 9));
	if (bth[0] == 0x0c)
		n += scnprintf(to + n, size - n, "@%llx+%u",
			       get_unaligned_be64(bth + 12),
			       get_unaligned_be32(bth + 24));
	if (bth[8] & 0x80)
		n += scnprintf(to + n, size - n, "!");
	return n;
}

const char *qrdma_bench_sent(struct qrdma_bench *b)
{
	u32 off = qrdma_encap_len(b->qp.av.family ?: AF_INET);
	struct sk_buff *skb;
	size_t n = 0;

	b->text[0] = 0;
	while ((skb = __skb_dequeue(&b->sent))) {
		if (n)
			n += scnprintf(b->text + n, sizeof(b->text) - n, " ");
		n += tell_packet(skb->data + off, b->text + n,
				 sizeof(b->text) - n);
		kfree_skb(skb);
	}
	return b->text;
}

static const char *status_text(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_SUCCESS:
		return "";
	case IB_WC_WR_FLUSH_ERR:
		return ":flushed";
	case IB_WC_RETRY_EXC_ERR:
		return ":retries";
	case IB_WC_RNR_RETRY_EXC_ERR:
		return ":rnr";
	case IB_WC_REM_INV_REQ_ERR:
		return ":invalid";
	case IB_WC_REM_ACCESS_ERR:
		return ":access";
	case IB_WC_REM_OP_ERR:
		return ":operation";
	case IB_WC_BAD_RESP_ERR:
		return ":response";
	case IB_WC_LOC_LEN_ERR:
		return ":length";
	case IB_WC_LOC_PROT_ERR:
		return ":protection";
	case IB_WC_MW_BIND_ERR:
		return ":bind";
	default:
		return ":?";
	}
}

static const char *tell_completions(struct qrdma_bench *b, struct ib_cq *cq)
{
	struct ib_wc wc;
	size_t n = 0;

	b->text[0] = 0;
	while (qrdma_cq_ops.poll_cq(cq, 1, &wc) == 1)
		n += scnprintf(b->text + n, sizeof(b->text) - n, "%s%llu%s",
			       n ? " " : "", wc.wr_id, status_text(wc.status));
	return b->text;
}

const char *qrdma_bench_done(struct qrdma_bench *b)
{
	return tell_completions(b, &b->scq.ibcq);
}

const char *qrdma_bench_received(struct qrdma_bench *b)
{
	return tell_completions(b, &b->rcq.ibcq);
}

u64 qrdma_bench_count(struct qrdma_bench *b, enum qrdma_counter counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(b->dev.stats, cpu)->cnt[counter];
	return sum;
}
