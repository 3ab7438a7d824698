// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that writes whatever it likes to the queues it maps, while it
 * posts, rings doorbells from several threads, modifies, registers and
 * destroys. None of it may have an effect on anybody else; the process itself
 * only has to live. It maps its queues a second time: librxe trusts what is
 * in them, and unmaps its own before they are destroyed.
 *
 * usage: hostile DEVICE SECONDS SEED
 */
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include "lib.h"

#define QPS		6
#define QKEY		0x55
#define RINGS		32
#define QP_DEPTH	(DEPTH - 1)	/* so that a queue has DEPTH slots */
#define HEADER		(sizeof(struct rxe_queue_buf) / 4)
#define QUEUE_SIZE(slots, size) \
	((sizeof(struct rxe_queue_buf) + (slots) * (size) + PAGE - 1) & -PAGE)

/* Ends of a connection, of one with shared receive queues, of datagrams. */
static struct end a, b, others[4];
static struct end *ends[QPS] = {
	&a, &b, &others[0], &others[1], &others[2], &others[3],
};

static struct ibv_ah *handles_of[2];
static struct ibv_mr *bindable[2];
static struct ibv_mw *windows[2][2];
static struct ring {
	struct mapping map;
	struct end *end;
} rings[RINGS];
static int nr_rings;
static void *mapped[2 * RINGS];
static int nr_mapped;
static __u32 handles[QPS];
static bool over;
static unsigned int seed;

static unsigned int draw(unsigned int *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* A doorbell by itself, as librxe sends it. */
static void doorbell(int i)
{
	struct ib_uverbs_post_send_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send cmd;
	} req = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_POST_SEND,
			.in_words = sizeof(req) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.cmd = {
			.response = (uintptr_t)&resp, .qp_handle = handles[i],
			.wqe_size = sizeof(struct ib_uverbs_send_wr),
		},
	};

	if (write(ends[i]->ctx->cmd_fd, &req, sizeof(req)) < 0)
		return;
}

/* Now and then true. */
static bool rarely(unsigned int *r)
{
	return !(draw(r) % 64);
}

static struct ibv_sge some_memory(unsigned int *r, const struct end *e)
{
	return (struct ibv_sge) {
		.addr = (uintptr_t)e->buf + draw(r) % (BUF_SIZE / 2),
		.length = rarely(r) ? draw(r) : draw(r) % 9000,
		.lkey = rarely(r) ? draw(r) : e->mr->lkey,
	};
}

/* One that binds or ends a window, or an operation of annex A19. */
static void forge_rare(struct end *e, struct rxe_send_wqe *w, unsigned int *r)
{
	const int side = e->pd != a.pd;
	struct ibv_mw *mw = windows[side][draw(r) % 2], *peers = windows[!side][draw(r) % 2];
	const __u64 there = (uintptr_t)ends[!side]->buf + draw(r) % (BUF_SIZE / 2);

	switch (draw(r) % 5) {
	case 0:
		w->wr.opcode = IBV_WR_BIND_MW;
		w->wr.wr.mw.addr = (uintptr_t)e->buf + draw(r) % BUF_SIZE;
		w->wr.wr.mw.length = rarely(r) ? ~0ULL : draw(r) % (BUF_SIZE / 2);
		w->wr.wr.mw.mr_lkey = rarely(r) ? draw(r) : bindable[side]->lkey;
		/* The key's last byte is the binder's choice. */
		w->wr.wr.mw.mw_rkey = (mw->rkey & ~0xff) | draw(r) % 4;
		w->wr.wr.mw.rkey = draw(r) % 4;
		w->wr.wr.mw.access = rarely(r) ? draw(r) : ALL_ACCESS & draw(r);
		break;
	case 1:
		w->wr.opcode = IBV_WR_LOCAL_INV;
		w->wr.ex.invalidate_rkey = (mw->rkey & ~0xff) | draw(r) % 4;
		break;
	case 2:
		w->wr.opcode = IBV_WR_RDMA_WRITE;
		w->wr.wr.rdma.remote_addr = there;
		w->wr.wr.rdma.rkey = (peers->rkey & ~0xff) | draw(r) % 4;
		break;
	case 3:
		w->wr.opcode = IBV_WR_ATOMIC_WRITE;
		w->wr.wr.rdma.remote_addr = rarely(r) ? there : there & ~7;
		w->wr.wr.rdma.rkey = ends[!side]->mr->rkey;
		break;
	default:
		w->wr.opcode = IBV_WR_FLUSH;
		w->wr.wr.flush.remote_addr = there;
		w->wr.wr.flush.length = draw(r) % 9000;
		w->wr.wr.flush.rkey = ends[!side]->mr->rkey;
		w->wr.wr.flush.type = rarely(r) ? draw(r) : IBV_FLUSH_GLOBAL;
		w->wr.wr.flush.level = rarely(r) ? draw(r) : draw(r) % 2;
	}
}

/* A work request that would be right but for a field or two. */
static void forge_send(struct end *e, void *slot, unsigned int *r)
{
	static const __u8 opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND_WITH_IMM,
		IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_RDMA_WRITE,
	};
	struct end *peer = e == &a ? &b : &a;
	struct rxe_send_wqe *w = slot;
	struct ibv_sge sge;
	int i;

	w->wr.opcode = rarely(r) ? draw(r) : opcodes[draw(r) % 8];
	w->wr.send_flags = draw(r) & ~IBV_SEND_INLINE;
	if (rarely(r))
		w->wr.send_flags |= IBV_SEND_INLINE;
	if (w->wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    w->wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		w->wr.wr.atomic.remote_addr =
			(uintptr_t)peer->buf + (draw(r) % BUF_SIZE & ~7);
		w->wr.wr.atomic.rkey = peer->mr->rkey;
	} else {
		w->wr.wr.rdma.remote_addr =
			(uintptr_t)peer->buf + draw(r) % (BUF_SIZE / 2);
		w->wr.wr.rdma.rkey = rarely(r) ? draw(r) : peer->mr->rkey;
	}
	if (!(draw(r) % 8)) { /* a datagram, where it is one's turn */
		w->wr.opcode = IBV_WR_SEND;
		w->wr.wr.ud.remote_qpn = others[2 + draw(r) % 2].qp->qp_num;
		w->wr.wr.ud.remote_qkey = QKEY;
		w->wr.wr.ud.ah_num = draw(r) % 8;
	}
	if (!(draw(r) % 8))
		forge_rare(e, w, r);
	w->dma.length = rarely(r) ? draw(r) : draw(r) % 64;
	w->dma.num_sge = rarely(r) ? draw(r) : draw(r) % 5;
	for (i = 0; i < 4; i++) {
		sge = some_memory(r, e);
		memcpy(&w->dma.sge[i], &sge, sizeof(sge));
	}
}

static void forge_recv(struct end *e, void *slot, unsigned int *r)
{
	struct rxe_recv_wqe *w = slot;
	struct ibv_sge sge;
	int i;

	w->dma.num_sge = rarely(r) ? draw(r) : 4;
	for (i = 0; i < 4; i++) {
		sge = some_memory(r, e);
		sge.length = 9000;
		memcpy(&w->dma.sge[i], &sge, sizeof(sge));
	}
}

static void scribble_once(const struct ring *m, unsigned int *r)
{
	struct rxe_queue_buf *q = m->map.start;
	size_t size = m->map.size;
	__u32 *words = m->map.start;
	/* By size, as they were made: DEPTH slots of 512 and of 128 bytes. */
	bool sends = size == QUEUE_SIZE(DEPTH, 512);
	bool receives = size == QUEUE_SIZE(DEPTH, 128);
	char *slots = m->map.start + sizeof(*q);

	if (!sends && !receives) {
		/* For completions it would be an overflow, mostly. */
		q->consumer_index = draw(r) % 100000 ? q->producer_index :
						       draw(r);
		return;
	}
	if (rarely(r)) {
		switch (draw(r) % 5) {
		case 0:
			q->producer_index = draw(r);
			break;
		case 1:
			q->consumer_index = draw(r);
			break;
		case 2:
			words[HEADER + draw(r) % (size / 4 - HEADER)] = draw(r);
			break;
		default: /* what the kernel has told us, and knows itself */
			q->log2_elem_size = draw(r);
			q->index_mask = draw(r);
		}
		return;
	}
	if (receives)
		forge_recv(m->end, slots + draw(r) % DEPTH * 128, r);
	else
		forge_send(m->end, slots + draw(r) % DEPTH * 512, r);
	q->producer_index = (q->producer_index + 1) % DEPTH;
}

static void *scribble(void *arg)
{
	unsigned int r = seed + (uintptr_t)arg;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
		scribble_once(&rings[draw(&r) % nr_rings], &r);
	return NULL;
}

static void *ring_bells(void *arg)
{
	unsigned int r = seed + 100 + (uintptr_t)arg;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
		doorbell(draw(&r) % QPS);
	return NULL;
}

static void reconnect(int i)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct end *p = ends[i], *q = ends[i + 1];

	ibv_modify_qp(p->qp, &attr, IBV_QP_STATE);
	ibv_modify_qp(q->qp, &attr, IBV_QP_STATE);
	if (p->type == IBV_QPT_UD) {
		end_to_rts_ud(p, QKEY);
		end_to_rts_ud(q, QKEY);
		return;
	}
	end_to_init(p);
	end_to_init(q);
	end_to_rts(p, q);
	end_to_rts(q, p);
}

/* What is the owner's right goes on meanwhile. */
static void manage(unsigned int *r)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int i = draw(r) % 3 * 2;
	struct ibv_srq_attr srq = { .srq_limit = draw(r) % DEPTH };
	struct ibv_ah *ah;
	struct ibv_mr *mr;

	switch (draw(r) % 8) {
	case 0:
		attr.qp_state = IBV_QPS_ERR;
		ibv_modify_qp(ends[i]->qp, &attr, IBV_QP_STATE);
		break;
	case 1:
		mr = ibv_reg_mr(b.pd, b.buf, BUF_SIZE, ALL_ACCESS);
		if (mr)
			ibv_dereg_mr(mr);
		break;
	case 2:
		must(!ibv_query_qp(ends[i]->qp, &attr, IBV_QP_STATE, &init));
		break;
	case 3:
		ibv_req_notify_cq(ends[i]->cq, draw(r) % 2);
		if (!(draw(r) % 64))
			ibv_resize_cq(ends[i]->cq, 1 + draw(r) % 10000);
		ah = make_ah(a.pd, &b);
		must(ah && !ibv_destroy_ah(ah));
		break;
	case 4:
		ibv_modify_srq(others[0].srq, &srq, IBV_SRQ_LIMIT);
		break;
	default:
		reconnect(i);
	}
}

static bool have(const struct mapping *m)
{
	int i;

	for (i = 0; i < nr_mapped; i++)
		if (mapped[i] == m->start)
			return true;
	return false;
}

/* Map once more what is new since the last time; it belongs to @e. */
static void map_again(struct end *e)
{
	struct mapping m[2 * RINGS];
	int n = find_mappings(m, 2 * RINGS), i;

	for (i = 0; i < n; i++) {
		void *p;

		if (have(&m[i]))
			continue;
		must(nr_rings < RINGS);
		p = mmap(NULL, m[i].size, PROT_READ | PROT_WRITE, MAP_SHARED,
			 e->ctx->cmd_fd, m[i].offset);
		must(p != MAP_FAILED && !memcmp(p, m[i].start, m[i].size));
		mapped[nr_mapped++] = m[i].start;
		mapped[nr_mapped++] = p;
		rings[nr_rings] = (struct ring){ .map = m[i], .end = e };
		rings[nr_rings++].map.start = p;
	}
}

static void open_windows(int i)
{
	bindable[i] = ibv_reg_mr(ends[i]->pd, ends[i]->buf, BUF_SIZE,
				 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	windows[i][0] = ibv_alloc_mw(ends[i]->pd, IBV_MW_TYPE_1);
	windows[i][1] = ibv_alloc_mw(ends[i]->pd, IBV_MW_TYPE_2);
	must(bindable[i] && windows[i][0] && windows[i][1]);
}

static void open_all(const char *dev)
{
	struct ibv_srq_init_attr srq = {
		.attr = { .max_wr = QP_DEPTH, .max_sge = 4 },
	};
	int i;

	nr_rings = 0;
	nr_mapped = 0;
	for (i = 0; i < 2; i++) {
		end_open(ends[i], dev);
		must(!ibv_destroy_qp(ends[i]->qp));
		end_create_qp(ends[i], QP_DEPTH);
		others[i] = *ends[i];
		others[i + 2] = *ends[i];
		others[i].srq = ibv_create_srq(ends[i]->pd, &srq);
		must(others[i].srq);
		others[i + 2].type = IBV_QPT_UD;
		end_create_qp(&others[i], QP_DEPTH);
		end_create_qp(&others[i + 2], QP_DEPTH);
		handles_of[i] = make_ah(ends[i]->pd, ends[i]);
		must(handles_of[i]);
		open_windows(i);
		map_again(ends[i]);
	}
	/* Completions, a shared queue, three of sends, two of receives. */
	must(nr_rings == 2 * (1 + 1 + 3 + 2));
	for (i = 0; i < QPS; i++)
		handles[i] = ends[i]->qp->handle;
}

static void round_of(const char *dev, unsigned int *r)
{
	double limit = now() + 0.7;
	pthread_t threads[4];
	int i;

	open_all(dev);
	for (i = 0; i < QPS; i += 2)
		reconnect(i);
	__atomic_store_n(&over, false, __ATOMIC_RELAXED);
	for (i = 0; i < 4; i++)
		must(!pthread_create(&threads[i], NULL,
				     i & 1 ? ring_bells : scribble,
				     (void *)(long)i));
	while (now() < limit)
		manage(r);
	/* Destroyed under their hands; a doorbell that is rung keeps it. */
	for (i = QPS; i--;)
		while (ibv_destroy_qp(ends[i]->qp))
			must(errno == EBUSY);
	for (i = 0; i < 2; i++) {
		must(!ibv_destroy_cq(ends[i]->cq));
		must(!ibv_destroy_srq(others[i].srq));
		must(!ibv_destroy_ah(handles_of[i]));
	}
	usleep(20000);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (i = 0; i < 4; i++)
		must(!pthread_join(threads[i], NULL));
	for (i = 0; i < nr_rings; i++)
		must(!munmap(rings[i].map.start, rings[i].map.size));
	for (i = 0; i < 2; i++) {
		must(!ibv_dealloc_mw(windows[i][0]) && !ibv_dealloc_mw(windows[i][1]));
		must(!ibv_dereg_mr(bindable[i]));
		must(!ibv_dereg_mr(ends[i]->mr));
		must(!ibv_destroy_comp_channel(ends[i]->chan));
		must(!ibv_dealloc_pd(ends[i]->pd));
		must(!ibv_close_device(ends[i]->ctx));
		munmap(ends[i]->buf, BUF_SIZE);
	}
}

int main(int argc, char **argv)
{
	unsigned int r;
	double limit;

	must(argc > 3);
	seed = atoi(argv[3]);
	r = seed + 1000;
	limit = now() + atof(argv[2]);
	while (now() < limit) {
		round_of(argv[1], &r);
		seed++;
	}
	printf("survived\n");
	return 0;
}
