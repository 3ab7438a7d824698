// SPDX-License-Identifier: GPL-2.0-only
/*
 * One object of each kind, each verb that may need memory, and a little
 * traffic. Where one fails the program ends there and leaves the rest to the
 * kernel: for allocations that fail.
 *
 * usage: objects DEVICE
 */
#include "lib.h"

static void shared_queue(struct end *e)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 10, .max_sge = 1 } };
	struct ibv_srq_attr attr = { .max_wr = 100 };

	must(!ibv_destroy_qp(e->qp));
	e->srq = ibv_create_srq(e->pd, &init);
	must(e->srq && !ibv_modify_srq(e->srq, &attr, IBV_SRQ_MAX_WR));
	end_create_qp(e, DEPTH);
}

static void windows(struct end *e)
{
	struct ibv_mr *mr = ibv_reg_mr(e->pd, e->buf, BUF_SIZE,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(e->pd, IBV_MW_TYPE_1);

	must(mr && mw);
	must(!ibv_dealloc_mw(mw) && !ibv_dereg_mr(mr));
}

/* A datagram QP in a group, and an address handle. */
static void group(struct end *e)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff, [12] = 239, [15] = 9 } };
	struct end u = *e;
	struct ibv_ah *ah;

	u.srq = NULL;
	u.type = IBV_QPT_UD;
	end_create_qp(&u, 4);
	must(!end_to_rts_ud(&u, 1));
	must(!ibv_attach_mcast(u.qp, &gid, 0));
	ah = make_ah(u.pd, &u);
	must(ah && !ibv_destroy_ah(ah));
	must(!ibv_detach_mcast(u.qp, &gid, 0) && !ibv_destroy_qp(u.qp));
}

int main(int argc, char **argv)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct end a, b;

	must(argc == 2);
	end_open(&a, argv[1]);
	end_open(&b, argv[1]);
	shared_queue(&b);
	pair_connect(&a, &b);
	must(!ibv_resize_cq(a.cq, 1000));
	sge = sge_of(&a, 0, 20000);
	wr = make_wr(IBV_WR_RDMA_WRITE, &sge, (uintptr_t)b.buf, b.mr->rkey);
	must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
	wr.opcode = IBV_WR_RDMA_READ;
	must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
	windows(&a);
	group(&a);
	must(!ibv_destroy_qp(b.qp) && !ibv_destroy_srq(b.srq));
	b.srq = NULL;
	end_create_qp(&b, DEPTH);
	pair_close(&a, &b);
	return 0;
}
