// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a process may do with queues and connections, and what not; memory is
 * in memory.c. Prints a line for each case that holds, and ends at the first
 * that does not.
 *
 * usage: cases DEVICE [CASE]...
 */
#include <poll.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include "lib.h"

static const char *dev;

/* A mapped queue lives as long as it is mapped, and is its context's only. */
static void mappings(void)
{
	struct mapping m[16];
	struct end a, b;
	char *copies[16];
	int n, i, fd;

	end_open(&a, dev);
	n = find_mappings(m, 16);
	must(n == 3);
	end_open(&b, dev);
	fd = a.ctx->cmd_fd;
	for (i = 0; i < n; i++) {
		copies[i] = mmap(NULL, m[i].size, PROT_READ | PROT_WRITE,
				 MAP_SHARED, fd, m[i].offset);
		must(copies[i] != MAP_FAILED);
		must(!memcmp(copies[i], m[i].start, m[i].size));
		/* A page more, a page less, a page later, a copy of its own. */
		must(mmap(NULL, m[i].size + PAGE, PROT_READ, MAP_SHARED, fd,
			  m[i].offset) == MAP_FAILED);
		must(m[i].size == PAGE ||
		     mmap(NULL, m[i].size - PAGE, PROT_READ, MAP_SHARED, fd,
			  m[i].offset) == MAP_FAILED);
		must(m[i].size == PAGE ||
		     mmap(NULL, m[i].size - PAGE, PROT_READ, MAP_SHARED, fd,
			  m[i].offset + PAGE) == MAP_FAILED);
		must(mmap(NULL, m[i].size, PROT_READ, MAP_PRIVATE, fd,
			  m[i].offset) == MAP_FAILED);
	}
	must(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 1 << 30) == MAP_FAILED);
	/* Queues of the first context are not to be had from a third. */
	end_close(&b);
	b.ctx = open_device(dev, &i);
	for (i = 0; i < n; i++)
		must(mmap(NULL, m[i].size, PROT_READ, MAP_SHARED, b.ctx->cmd_fd,
			  m[i].offset) == MAP_FAILED);
	must(!ibv_close_device(b.ctx));
	end_close(&a);
	for (i = 0; i < n; i++) {
		memset(copies[i], 0xa5, m[i].size);
		must(!munmap(copies[i], m[i].size));
	}
	end_open(&a, dev);
	must(!ibv_destroy_qp(a.qp));
	must(mmap(NULL, m[0].size, PROT_READ, MAP_SHARED, a.ctx->cmd_fd,
		  m[0].offset) == MAP_FAILED ||
	     mmap(NULL, m[1].size, PROT_READ, MAP_SHARED, a.ctx->cmd_fd,
		  m[1].offset) == MAP_FAILED);
	end_create_qp(&a, DEPTH);
	end_close(&a);
}

/* What is posted too early is refused, and is not sent later. */
static void states(void)
{
	struct ibv_send_wr wr;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_sge sge;
	struct end a, b;
	int i;

	end_open(&a, dev);
	end_open(&b, dev);
	memcpy(a.buf, "early", sizeof("early"));
	sge = sge_of(&a, 0, 64);
	wr = make_wr(IBV_WR_RDMA_WRITE, &sge, (uintptr_t)b.buf, b.mr->rkey);
	must(post(&a, &wr) == EINVAL);
	must(post_recv(&a, &sge, 1) == EINVAL);
	must(!end_to_init(&a) && !end_to_init(&b));
	for (i = 0; i < 5; i++)
		must(post(&a, &wr) == EINVAL);
	must(!post_recv(&b, &sge, 1));
	must(!end_to_rts(&a, &b) && !end_to_rts(&b, &a));
	wr.wr.rdma.remote_addr += 64;
	memcpy(a.buf, "late", sizeof("late"));
	wr.wr_id = 77;
	must(!post(&a, &wr));
	must(wait_wc(a.cq).wr_id == 77);
	must(!b.buf[0] && !strcmp(b.buf + 64, "late"));

	/* Receives that are posted to a QP in error are flushed. */
	must(!ibv_modify_qp(b.qp, &attr, IBV_QP_STATE));
	must(wait_wc(b.cq).status == IBV_WC_WR_FLUSH_ERR);
	for (i = 0; i < 3; i++) {
		struct ibv_wc wc;

		must(!post_recv(&b, &sge, 100 + i));
		wc = wait_wc(b.cq);
		must(wc.status == IBV_WC_WR_FLUSH_ERR && (int)wc.wr_id == 100 + i);
		usleep(30000);
	}
	/* And what is sent, too. */
	must(!post(&b, &wr));
	must(wait_wc(b.cq).status == IBV_WC_WR_FLUSH_ERR);
	/* A reset drops what lies in the queues. */
	must(!post_recv(&b, &sge, 200));
	end_reset(&a);
	end_reset(&b);
	pair_connect(&a, &b);
	for (i = 0; i < 3 * DEPTH; i++)
		must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
	pair_close(&a, &b);
}

struct bad_wqe {
	const char *what;
	enum ibv_wc_status status;
	void (*spoil)(struct rxe_send_wqe *wqe);
};

static void bad_opcode(struct rxe_send_wqe *w) { w->wr.opcode = 0xff; }
static void bad_reg(struct rxe_send_wqe *w) { w->wr.opcode = 0x20; }
static void bad_big(struct rxe_send_wqe *w) { w->wr.opcode = 1U << 31; }
static void bad_sges(struct rxe_send_wqe *w) { w->dma.num_sge = 5; }
static void bad_many(struct rxe_send_wqe *w) { w->dma.num_sge = ~0; }

static void bad_inline(struct rxe_send_wqe *w)
{
	w->wr.send_flags |= IBV_SEND_INLINE;
	w->dma.length = ~0;
}

static void bad_inline_read(struct rxe_send_wqe *w)
{
	w->wr.send_flags |= IBV_SEND_INLINE;
	w->wr.opcode = IBV_WR_RDMA_READ;
	w->dma.length = 8;
}

static void bad_length(struct rxe_send_wqe *w)
{
	w->dma.num_sge = 2;
	w->dma.sge[0].length = ~0;
	w->dma.sge[1].length = ~0;
}

static void bad_atomic(struct rxe_send_wqe *w)
{
	w->wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	w->dma.sge[0].length = 4;
}

static void bad_key(struct rxe_send_wqe *w) { w->dma.sge[0].lkey ^= 1; }
static void bad_inv(struct rxe_send_wqe *w) { w->wr.opcode = IBV_WR_LOCAL_INV; }

/* The call that carries work requests has nothing to say here. */
static void post_by_call(const struct end *a)
{
	struct ib_uverbs_post_send_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send cmd;
		struct ib_uverbs_send_wr wr;
	} req = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_POST_SEND,
			.in_words = sizeof(req) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.cmd = {
			.response = (uintptr_t)&resp,
			.qp_handle = a->qp->handle, .wr_count = 1,
			.wqe_size = sizeof(req.wr),
		},
		.wr = { .opcode = IB_UVERBS_WR_SEND },
	};

	must(write(a->ctx->cmd_fd, &req, sizeof(req)) < 0);
	must(errno == EINVAL && resp.bad_wr == 1);
}

/* What librxe would never put into a queue ends that work request. */
static void bad_requests(void)
{
	static const struct bad_wqe bad[] = {
		{ "opcode", IBV_WC_LOC_QP_OP_ERR, bad_opcode },
		{ "REG_MR", IBV_WC_LOC_QP_OP_ERR, bad_reg },
		{ "opcode of 32 bits", IBV_WC_LOC_QP_OP_ERR, bad_big },
		{ "one SGE too many", IBV_WC_LOC_QP_OP_ERR, bad_sges },
		{ "SGEs", IBV_WC_LOC_QP_OP_ERR, bad_many },
		{ "inline length", IBV_WC_LOC_QP_OP_ERR, bad_inline },
		{ "inline READ", IBV_WC_LOC_QP_OP_ERR, bad_inline_read },
		{ "length", IBV_WC_LOC_LEN_ERR, bad_length },
		{ "atomic of 4 bytes", IBV_WC_LOC_LEN_ERR, bad_atomic },
		{ "key", IBV_WC_LOC_PROT_ERR, bad_key },
		{ "key to invalidate", IBV_WC_MW_BIND_ERR, bad_inv },
	};
	struct rxe_send_wqe *wqe;
	struct rxe_queue_buf *sq;
	struct ibv_send_wr wr, *none;
	struct ibv_sge sge;
	struct end a, b;
	unsigned int i;

	end_open(&b, dev);
	end_open(&a, dev);
	pair_connect(&a, &b);
	sq = queue_of(512);
	sge = sge_of(&a, 0, 8);
	wr = make_wr(IBV_WR_RDMA_WRITE, &sge, (uintptr_t)b.buf, b.mr->rkey);
	for (i = 0; i < NUM(bad); i++) {
		struct ibv_wc wc;

		must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
		/* Fill in a slot as librxe does, spoil it, ring the bell. */
		wqe = (void *)(sq->data + ((size_t)sq->producer_index <<
					   sq->log2_elem_size));
		memset(wqe, 0, sizeof(*wqe));
		wqe->wr.wr_id = 1000 + i;
		wqe->wr.opcode = IBV_WR_RDMA_WRITE;
		wqe->wr.wr.rdma.remote_addr = (uintptr_t)b.buf;
		wqe->wr.wr.rdma.rkey = b.mr->rkey;
		wqe->dma.length = 8;
		wqe->dma.num_sge = 1;
		memcpy(wqe->dma.sge, &sge, sizeof(sge));
		bad[i].spoil(wqe);
		sq->producer_index = (sq->producer_index + 1) & sq->index_mask;
		must(!post(&a, &wr));
		wc = wait_wc(a.cq);
		if (wc.wr_id != 1000 + i || wc.status != bad[i].status)
			die("%s: %s", bad[i].what, ibv_wc_status_str(wc.status));
		must(wait_wc(a.cq).status == IBV_WC_WR_FLUSH_ERR);
		pair_again(&a, &b);
	}
	post_by_call(&a);
	must(ibv_post_send(a.qp, &wr, &none) == 0);
	must(wait_wc(a.cq).status == IBV_WC_SUCCESS);
	pair_close(&a, &b);
}

/* Likewise for receives; the peer is told that it is not its fault. */
static void bad_receives(void)
{
	struct rxe_recv_wqe *wqe;
	struct rxe_queue_buf *rq;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct end a, b;
	int i;

	end_open(&a, dev);
	end_open(&b, dev);
	pair_connect(&a, &b);
	rq = queue_of(128);
	for (i = 0; i < 4; i++) {
		sge = sge_of(&b, 0, 64);
		must(!post_recv(&b, &sge, 5));
		wqe = (void *)(rq->data + ((size_t)rq->consumer_index <<
					   rq->log2_elem_size));
		must(wqe->wr_id == 5);
		if (i < 2)
			wqe->dma.num_sge = i ? ~0 : 5;
		else if (i == 2)
			wqe->dma.sge[0].lkey ^= 1;
		else
			wqe->dma.sge[0].length = 7;
		sge = sge_of(&a, 0, 8);
		wr = make_wr(IBV_WR_SEND, &sge, 0, 0);
		must(do_wr(&a, &wr) == (i < 3 ? IBV_WC_REM_OP_ERR :
						IBV_WC_REM_INV_REQ_ERR));
		must(wait_wc(b.cq).status == (i < 2 ? IBV_WC_LOC_QP_OP_ERR :
					      i < 3 ? IBV_WC_LOC_PROT_ERR :
						      IBV_WC_LOC_LEN_ERR));
		pair_again(&a, &b);
	}
	pair_close(&a, &b);
}

struct flood {
	struct end *e;
	unsigned int count;
	int err;
};

static void *flood(void *arg)
{
	struct flood *f = arg;
	struct ibv_sge sge = sge_of(f->e, 0, 64);
	struct ibv_send_wr wr = make_wr(IBV_WR_SEND, &sge, 0, 0);
	unsigned int i;

	for (i = 0; i < f->count && !f->err;) {
		wr.wr_id = i;
		f->err = post(f->e, &wr);
		if (f->err == ENOMEM) { /* full */
			f->err = 0;
			usleep(100);
			continue;
		}
		i++;
	}
	return NULL;
}

/* A queue changes its size, again and again, and no completion is missing. */
static void resizing(void)
{
	static const int sizes[] = { 1000, 300, 5000, 260, 70000, 400 };
	__u64 sent = 0, received = 0;
	struct flood f = { .count = 20000 };
	struct ibv_sge sge;
	struct ibv_wc wc;
	pthread_t thread;
	struct end a, b;
	unsigned int i, turn = 0;

	pair_open(&a, &b, dev);
	sge = sge_of(&b, 0, 64);
	f.e = &a;
	for (i = 0; i < DEPTH; i++)
		must(!post_recv(&b, &sge, received + i));
	must(!pthread_create(&thread, NULL, flood, &f));
	while (sent < f.count || received < f.count) {
		if (!(turn++ % 50)) {
			must(!ibv_resize_cq(a.cq, sizes[turn / 50 % 6]));
			must(a.cq->cqe >= sizes[turn / 50 % 6]);
			must(!ibv_resize_cq(b.cq, sizes[turn / 50 % 5]));
		}
		while (ibv_poll_cq(b.cq, 1, &wc) > 0) {
			must(wc.status == IBV_WC_SUCCESS);
			must(wc.wr_id == received);
			must(!post_recv(&b, &sge, received++ + DEPTH));
		}
		while (ibv_poll_cq(a.cq, 1, &wc) > 0) {
			must(wc.status == IBV_WC_SUCCESS);
			must(wc.wr_id == sent++);
		}
	}
	pthread_join(thread, NULL);
	must(!f.err);
	/* Not to less than lies in it; what lies in it stays. */
	must(!ibv_resize_cq(a.cq, 300));
	f.count = 40;
	flood(&f);
	for (i = 0; i < 40; i++)
		wait_wc(b.cq);
	usleep(20000);
	must(ibv_resize_cq(a.cq, 20) == EINVAL);
	must(ibv_resize_cq(a.cq, 1 << 30) == EINVAL);
	must(!ibv_resize_cq(a.cq, 40));
	for (i = 0; i < 40; i++)
		must(wait_wc(a.cq).wr_id == i);
	pair_close(&a, &b);
}

/* An armed queue tells once, and of solicited completions if asked so. */
static void events(void)
{
	struct pollfd pfd = { .events = POLLIN };
	struct ibv_send_wr wr;
	struct ibv_cq *cq;
	struct end a, b;
	void *context;
	int i;

	pair_open(&a, &b, dev);
	pfd.fd = b.chan->fd;
	for (i = 0; i < 2 * DEPTH; i++) {
		bool only_solicited = i & 1, solicited = i & 2;

		must(!post_recv(&b, NULL, 1));
		must(!ibv_req_notify_cq(b.cq, only_solicited));
		must(!poll(&pfd, 1, 0));
		wr = make_wr(IBV_WR_SEND, NULL, 0, 0);
		if (solicited)
			wr.send_flags |= IBV_SEND_SOLICITED;
		must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
		if (only_solicited && !solicited) {
			must(!poll(&pfd, 1, 10));
			must(!post_recv(&b, NULL, 1));
			wr.send_flags |= IBV_SEND_SOLICITED;
			must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
			must(wait_wc(b.cq).status == IBV_WC_SUCCESS);
		}
		must(poll(&pfd, 1, 5000) == 1);
		must(!ibv_get_cq_event(b.chan, &cq, &context) && cq == b.cq);
		ibv_ack_cq_events(cq, 1);
		must(wait_wc(b.cq).status == IBV_WC_SUCCESS);
	}
	pair_close(&a, &b);
}

/* A queue that overflows says so, and its QPs are in error. */
static void overflow(void)
{
	struct ibv_async_event event;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_send_wr wr;
	struct ibv_cq *cq;
	struct end a, b;
	int i, n;

	end_open(&a, dev);
	end_open(&b, dev);
	cq = a.cq;
	must(!ibv_destroy_qp(a.qp));
	a.cq = ibv_create_cq(a.ctx, 3, NULL, NULL, 0);
	must(a.cq);
	end_create_qp(&a, DEPTH);
	pair_connect(&a, &b);
	n = a.cq->cqe;
	wr = make_wr(IBV_WR_RDMA_WRITE, NULL, 0, 0);
	for (i = 0; i <= n; i++)
		must(!post(&a, &wr));
	do
		must(!ibv_get_async_event(a.ctx, &event));
	while (event.event_type != IBV_EVENT_CQ_ERR);
	must(event.element.cq == a.cq);
	ibv_ack_async_event(&event);
	must(!ibv_query_qp(a.qp, &attr, IBV_QP_STATE, &init));
	must(attr.qp_state == IBV_QPS_ERR);
	for (i = 0; i < n; i++)
		must(wait_wc(a.cq).status == IBV_WC_SUCCESS);
	must(!ibv_destroy_qp(a.qp));
	must(!ibv_destroy_cq(a.cq));
	a.cq = cq;
	end_create_qp(&a, DEPTH);
	pair_close(&a, &b);
}

static const struct test_case cases[] = {
	{ "mappings", mappings },
	{ "states", states },
	{ "bad-requests", bad_requests },
	{ "bad-receives", bad_receives },
	{ "resizing", resizing },
	{ "events", events },
	{ "overflow", overflow },
};

int main(int argc, char **argv)
{
	must(argc > 1);
	dev = argv[1];
	return run_cases(cases, NUM(cases), argc, argv);
}
