// SPDX-License-Identifier: GPL-2.0-only
/*
 * Posting while the queue pair does not take it, or changes its mind.
 *
 * usage: posting DEVICE [CASE...]
 */
#include <pthread.h>
#include "lib.h"

#define ROUNDS	400
#define RING	16383	/* as many receives as a queue holds */

static const char *dev;

struct poster {
	struct end *e;
	bool over;
	bool taken;	/* the last one, which is the only one to succeed */
};

/* Until one is taken. */
static void *keep_posting(void *arg)
{
	struct poster *p = arg;
	struct ibv_send_wr wr = make_wr(IBV_WR_RDMA_WRITE, NULL, 0, 0);

	wr.wr_id = 2;
	while (!p->taken && !__atomic_load_n(&p->over, __ATOMIC_ACQUIRE))
		p->taken = !post(p->e, &wr);
	return NULL;
}

/*
 * One thread posts from before the queue pair can send, where each is refused,
 * until one is not; meanwhile another makes it ready and posts, too. Of what
 * is not refused nothing may be lost.
 */
static void early(void)
{
	struct ibv_send_wr wr = make_wr(IBV_WR_RDMA_WRITE, NULL, 0, 0);
	struct end a, b;
	unsigned int i;

	end_open(&a, dev);
	end_open(&b, dev);
	for (i = 0; i < ROUNDS; i++) {
		struct poster p = { .e = &a };
		bool mine = false, others = false;
		pthread_t thread;

		must(!end_to_init(&b) && !end_to_rts(&b, &a));
		must(!end_to_init(&a));
		must(!pthread_create(&thread, NULL, keep_posting, &p));
		must(!end_to_rts(&a, &b));
		wr.wr_id = 1;
		must(!post(&a, &wr));
		while (!mine) {
			struct ibv_wc wc = wait_wc(a.cq);

			must(wc.status == IBV_WC_SUCCESS);
			mine = wc.wr_id == 1;
			others |= wc.wr_id == 2;
		}
		__atomic_store_n(&p.over, true, __ATOMIC_RELEASE);
		must(!pthread_join(thread, NULL));
		while (p.taken && !others)
			others = wait_wc(a.cq).wr_id == 2;
		end_reset(&a);
		end_reset(&b);
	}
	pair_close(&a, &b);
}

/* A queue in error whose receives come all at once, by one store. */
static void at_once(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct rxe_queue_buf *rq;
	struct ibv_cq *cq;
	unsigned int i;
	struct end a;

	end_open(&a, dev);
	must(!ibv_destroy_qp(a.qp));
	cq = a.cq;
	a.cq = ibv_create_cq(a.ctx, RING + 100, NULL, NULL, 0);
	must(a.cq);
	end_create_qp(&a, RING);
	rq = queue_of(128);
	must(!end_to_init(&a));
	must(!ibv_modify_qp(a.qp, &attr, IBV_QP_STATE));
	must(rq->index_mask == RING);
	rq->producer_index = (rq->producer_index + RING) & rq->index_mask;
	for (i = 0; i < RING; i++)
		must(wait_wc(a.cq).status == IBV_WC_WR_FLUSH_ERR);
	must(!ibv_destroy_qp(a.qp));
	must(!ibv_destroy_cq(a.cq));
	a.cq = cq;
	end_create_qp(&a, DEPTH);
	end_close(&a);
}

static const struct test_case cases[] = {
	{ "early", early },
	{ "at-once", at_once },
};

int main(int argc, char **argv)
{
	must(argc > 1);
	dev = argv[1];
	return run_cases(cases, NUM(cases), argc, argv);
}
