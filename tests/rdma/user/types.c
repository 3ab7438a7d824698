// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a process may do with datagrams, unreliable connections and shared
 * receive queues. Prints a line for each case that holds, and ends at the
 * first that does not.
 *
 * usage: types DEVICE
 */
#include <pthread.h>
#include "lib.h"

#define QKEY	0x1234

static const char *dev;

/* Make the QP anew, of another type or with a shared queue. */
static void change_qp(struct end *e, enum ibv_qp_type type)
{
	must(!ibv_destroy_qp(e->qp));
	e->type = type;
	end_create_qp(e, DEPTH);
}

static struct ibv_send_wr datagram(struct ibv_sge *sge, struct ibv_ah *ah,
				   const struct end *to)
{
	struct ibv_send_wr wr = make_wr(IBV_WR_SEND, sge, 0, 0);

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = to->qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	return wr;
}

static void flush_sqe(struct end *e)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE,
	};

	must(!ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE));
}

/* An address handle is its own protection domain's, as long as it lives. */
static void handles(void)
{
	struct ibv_ah *ah, *foreign, *gone;
	struct ibv_send_wr wr;
	struct ibv_sge sge, into;
	struct rxe_queue_buf *sq;
	struct rxe_send_wqe *last, *next;
	struct ibv_pd *pd;
	struct ibv_wc wc;
	struct end a, b;
	int i;

	end_open(&b, dev);
	end_open(&a, dev);
	change_qp(&b, IBV_QPT_UD);
	change_qp(&a, IBV_QPT_UD);
	must(!end_to_rts_ud(&a, QKEY) && !end_to_rts_ud(&b, QKEY));
	sq = queue_of(512);
	pd = ibv_alloc_pd(a.ctx);
	must(pd);
	ah = make_ah(a.pd, &b);
	foreign = make_ah(pd, &b);
	gone = make_ah(a.pd, &b);
	must(ah && foreign && gone);
	into = sge_of(&b, 0, 4096);
	sge = sge_of(&a, 0, 100);
	memset(a.buf, 'x', 100);
	for (i = 0; i < 3 * DEPTH; i++) {
		must(!post_recv(&b, &into, i));
		wr = datagram(&sge, ah, &b);
		must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
		wc = wait_wc(b.cq);
		must(wc.status == IBV_WC_SUCCESS && wc.byte_len == 140);
		must(wc.wc_flags & IBV_WC_GRH && wc.src_qp == a.qp->qp_num);
		must(!memcmp(b.buf + 40, a.buf, 100));
	}
	/* Another's. */
	wr = datagram(&sge, foreign, &b);
	must(do_wr(&a, &wr) == IBV_WC_LOC_QP_OP_ERR);
	flush_sqe(&a);
	must(!post_recv(&b, &into, 7));
	wr = datagram(&sge, gone, &b);
	must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
	must(wait_wc(b.cq).status == IBV_WC_SUCCESS);
	/* A number that is nobody's: the last request once more, but for it. */
	next = (void *)(sq->data + ((size_t)sq->producer_index <<
				    sq->log2_elem_size));
	last = (void *)(sq->data + ((size_t)((sq->producer_index - 1) &
			sq->index_mask) << sq->log2_elem_size));
	must(last->wr.wr.ud.ah_num);
	memcpy(next, last, 512);
	next->wr.wr.ud.ah_num += 1000;
	sq->producer_index = (sq->producer_index + 1) & sq->index_mask;
	wr = datagram(&sge, ah, &b);
	must(!post(&a, &wr));
	must(wait_wc(a.cq).status == IBV_WC_LOC_QP_OP_ERR);
	must(wait_wc(a.cq).status == IBV_WC_WR_FLUSH_ERR);
	flush_sqe(&a);
	must(!ibv_destroy_ah(gone));
	must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
	must(!ibv_destroy_ah(foreign) && !ibv_destroy_ah(ah));
	must(!ibv_dealloc_pd(pd));
	pair_close(&a, &b);
}

/* A wrong request ends the send queue of an unreliable QP, no more. */
static void unreliable(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_send_wr wr;
	struct ibv_qp_attr attr;
	struct ibv_sge sge;
	struct end a, b;

	end_open(&a, dev);
	end_open(&b, dev);
	change_qp(&a, IBV_QPT_UC);
	change_qp(&b, IBV_QPT_UC);
	pair_connect(&a, &b);
	memset(a.buf, 'u', 100000);
	sge = sge_of(&a, 0, 100000);
	wr = make_wr(IBV_WR_RDMA_WRITE_WITH_IMM, &sge, (uintptr_t)b.buf,
		     b.mr->rkey);
	wr.imm_data = 5;
	must(!post_recv(&b, NULL, 3));
	must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
	must(wait_wc(b.cq).imm_data == 5);
	must(!memcmp(a.buf, b.buf, 100000));

	wr.opcode = IBV_WR_RDMA_READ;
	must(do_wr(&a, &wr) == IBV_WC_LOC_QP_OP_ERR);
	must(!ibv_query_qp(a.qp, &attr, IBV_QP_STATE, &init));
	must(attr.qp_state == IBV_QPS_SQE);
	flush_sqe(&a);
	wr.opcode = IBV_WR_RDMA_WRITE;
	must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
	pair_close(&a, &b);
}

static struct ibv_srq *make_srq(struct end *e, int max_wr)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = max_wr, .max_sge = 2 },
	};

	e->srq = ibv_create_srq(e->pd, &init);
	must(e->srq && init.attr.max_wr >= (__u32)max_wr);
	return e->srq;
}

static int post_srq(struct end *e, struct ibv_sge *sge, __u64 wr_id)
{
	struct ibv_recv_wr wr = {
		.wr_id = wr_id, .sg_list = sge, .num_sge = !!sge,
	}, *bad;

	return ibv_post_srq_recv(e->srq, &wr, &bad);
}

/* Two QPs take from one queue, in its order; the limit is told once. */
static void shared(void)
{
	struct ibv_srq_attr attr = { .srq_limit = 10 };
	struct ibv_async_event event;
	struct end a, b, c, d;
	struct ibv_send_wr wr;
	struct rxe_queue_buf *queue;
	struct rxe_recv_wqe *wqe;
	struct ibv_srq *srq;
	struct ibv_sge sge;
	struct ibv_wc wc;
	int i;

	end_open(&a, dev);
	end_open(&b, dev);
	srq = make_srq(&b, 30);
	queue = queue_of(128);
	change_qp(&b, IBV_QPT_RC);
	pair_connect(&a, &b);
	c = a;
	d = b;
	end_create_qp(&c, DEPTH);
	end_create_qp(&d, DEPTH);
	pair_connect(&c, &d);
	sge = sge_of(&b, 0, 64);
	for (i = 0; i < 30; i++)
		must(!post_srq(&b, &sge, i));
	must(!ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	wr = make_wr(IBV_WR_SEND, NULL, 0, 0);
	for (i = 0; i < 30; i++) {
		must(do_wr(i & 1 ? &a : &c, &wr) == IBV_WC_SUCCESS);
		wc = wait_wc(b.cq);
		must(wc.status == IBV_WC_SUCCESS && wc.wr_id == (__u64)i);
		must(wc.qp_num == (i & 1 ? b.qp->qp_num : d.qp->qp_num));
	}
	do
		must(!ibv_get_async_event(b.ctx, &event));
	while (event.event_type != IBV_EVENT_SRQ_LIMIT_REACHED);
	must(event.element.srq == srq);
	ibv_ack_async_event(&event);
	must(!ibv_query_srq(srq, &attr) && !attr.srq_limit);
	must(attr.max_wr >= 30 && attr.max_sge >= 2);

	/* One that makes no sense ends the QP that took it; not the other. */
	for (i = 0; i < 5; i++)
		must(!post_srq(&b, &sge, 100 + i));
	wqe = (void *)(queue->data + ((size_t)queue->consumer_index <<
				      queue->log2_elem_size));
	must(wqe->wr_id == 100);
	wqe->dma.num_sge = 3;
	must(do_wr(&a, &wr) == IBV_WC_REM_OP_ERR);
	must(wait_wc(b.cq).status == IBV_WC_LOC_QP_OP_ERR);
	must(do_wr(&c, &wr) == IBV_WC_SUCCESS);
	must(wait_wc(b.cq).wr_id == 101);
	must(!ibv_destroy_qp(c.qp) && !ibv_destroy_qp(d.qp));
	must(!ibv_destroy_qp(b.qp) && !ibv_destroy_srq(srq));
	b.srq = NULL;
	end_create_qp(&b, DEPTH);
	pair_close(&a, &b);
}

static void *flood(void *arg)
{
	struct ibv_send_wr wr = make_wr(IBV_WR_SEND, NULL, 0, 0);
	int i;

	for (i = 0; i < 10000; i++)
		must(do_wr(arg, &wr) == IBV_WC_SUCCESS);
	return NULL;
}

/* A queue changes its size under traffic; every entry is used, once. */
static void resizing(void)
{
	static const int sizes[] = { 100, 3000, 40, 9000 };
	struct ibv_srq_attr attr = {};
	__u64 posted = 0, received = 0;
	pthread_t thread;
	struct end a, b;
	struct ibv_wc wc;
	unsigned int turn = 0;
	int err;

	end_open(&a, dev);
	end_open(&b, dev);
	make_srq(&b, 100);
	change_qp(&b, IBV_QPT_RC);
	pair_connect(&a, &b);
	must(!pthread_create(&thread, NULL, flood, &a));
	while (received < 10000) {
		while (posted < received + 30 && posted < 10000)
			must(!post_srq(&b, NULL, posted++));
		if (!(turn++ % 20)) {
			attr.max_wr = sizes[turn / 20 % NUM(sizes)];
			must(!ibv_modify_srq(b.srq, &attr, IBV_SRQ_MAX_WR));
			must(!ibv_query_srq(b.srq, &attr));
			must(attr.max_wr >= (__u32)sizes[turn / 20 %
							 NUM(sizes)]);
		}
		while (ibv_poll_cq(b.cq, 1, &wc) > 0) {
			must(wc.status == IBV_WC_SUCCESS);
			must(wc.wr_id == received++);
		}
	}
	must(!pthread_join(thread, NULL));
	/* Not to less than what is posted. */
	attr.max_wr = 100;
	must(!ibv_modify_srq(b.srq, &attr, IBV_SRQ_MAX_WR));
	for (posted = 0; posted < 50; posted++)
		must(!post_srq(&b, NULL, posted));
	attr.max_wr = 20;
	err = ibv_modify_srq(b.srq, &attr, IBV_SRQ_MAX_WR);
	must(err == EINVAL);
	must(!ibv_destroy_qp(b.qp) && !ibv_destroy_srq(b.srq));
	b.srq = NULL;
	end_create_qp(&b, DEPTH);
	pair_close(&a, &b);
}

static const struct test_case cases[] = {
	{ "handles", handles },
	{ "unreliable", unreliable },
	{ "shared", shared },
	{ "resizing", resizing },
};

int main(int argc, char **argv)
{
	must(argc > 1);
	dev = argv[1];
	return run_cases(cases, NUM(cases), argc, argv);
}
