// SPDX-License-Identifier: GPL-2.0-only
/*
 * Atomic write and flush, IBTA annex A19, as a process asks for them. Prints a
 * line for each case that holds, and ends at the first that does not.
 *
 * usage: annex DEVICE
 */
#include "lib.h"

#define ACCESS	(ALL_ACCESS | IBV_ACCESS_FLUSH_GLOBAL)

static const char *dev;

/* The two are posted by the newer calls only. */
static void create_qp_ex(struct end *e)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = e->cq, .recv_cq = e->cq, .pd = e->pd,
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_ATOMIC_WRITE |
				  IBV_QP_EX_WITH_RDMA_WRITE,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1 },
	};

	must(!ibv_destroy_qp(e->qp));
	e->qp = ibv_create_qp_ex(e->ctx, &init);
	must(e->qp);
}

/* What the peer may ask of B's QP. */
static void allow(struct end *b, int access)
{
	struct ibv_qp_attr attr = { .qp_access_flags = access };

	must(!ibv_modify_qp(b->qp, &attr, IBV_QP_ACCESS_FLAGS));
}

static void reconnect(struct end *a, struct end *b)
{
	pair_again(a, b);
	allow(b, ACCESS);
}

static void open_both(struct end *a, struct end *b)
{
	end_open(a, dev);
	end_open(b, dev);
	create_qp_ex(a);
	pair_connect(a, b);
	allow(b, ACCESS);
}

static struct ibv_mr *region(struct end *b, size_t off, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(b->pd, b->buf + off, len, access);

	must(mr);
	return mr;
}

static enum ibv_wc_status write8(struct end *a, __u32 rkey, __u64 addr, __u64 value)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(a->qp);
	struct ibv_wc wc;

	ibv_wr_start(qp);
	qp->wr_id = 5;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(qp, rkey, addr, &value);
	must(!ibv_wr_complete(qp));
	wc = wait_wc(a->cq);
	must(wc.wr_id == 5 && (wc.status || wc.opcode == IBV_WC_ATOMIC_WRITE));
	return wc.status;
}

static enum ibv_wc_status flush(struct end *a, __u32 rkey, __u64 addr, size_t len, __u8 type,
				__u8 level)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(a->qp);
	struct ibv_wc wc;

	ibv_wr_start(qp);
	qp->wr_id = 6;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_flush(qp, rkey, addr, len, type, level);
	must(!ibv_wr_complete(qp));
	wc = wait_wc(a->cq);
	must(wc.wr_id == 6 && (wc.status || wc.opcode == IBV_WC_FLUSH));
	return wc.status;
}

static void atomic_write(void)
{
	const __u64 value = 0x0123456789abcdefULL;
	struct end a, b;
	__u64 there;
	int i;

	open_both(&a, &b);
	for (i = 0; i < 3 * DEPTH; i++) {
		must(!write8(&a, b.mr->rkey, (uintptr_t)b.buf + 8 * i, value + i));
		memcpy(&there, b.buf + 8 * i, sizeof(there));
		must(there == value + i);
	}
	must(write8(&a, b.mr->rkey, (uintptr_t)b.buf + 4, 1) == IBV_WC_REM_INV_REQ_ERR);
	reconnect(&a, &b);
	must(write8(&a, b.mr->rkey, (uintptr_t)b.buf + BUF_SIZE, 1) == IBV_WC_REM_ACCESS_ERR);
	reconnect(&a, &b);
	must(write8(&a, b.mr->rkey ^ 1, (uintptr_t)b.buf, 1) == IBV_WC_REM_ACCESS_ERR);
	reconnect(&a, &b);
	allow(&b, IBV_ACCESS_REMOTE_READ);
	must(write8(&a, b.mr->rkey, (uintptr_t)b.buf, 1) == IBV_WC_REM_INV_REQ_ERR);
	memcpy(&there, b.buf, sizeof(there));
	must(there == value);
	pair_close(&a, &b);
}

/* Aligned in name, but across two words or two pages: not a byte is written. */
static void aligned_in_name(void)
{
	static const __u64 at[] = { 0, PAGE - 16, PAGE - 8 };
	struct ibv_mr *mr;
	struct end a, b;
	size_t i;

	open_both(&a, &b);
	mr = region(&b, 9, 3 * PAGE, ACCESS | IBV_ACCESS_ZERO_BASED);
	for (i = 0; i < NUM(at); i++) {
		must(write8(&a, mr->rkey, at[i], -1) == IBV_WC_REM_ACCESS_ERR);
		reconnect(&a, &b);
	}
	for (i = 0; i < 4 * PAGE; i++)
		must(!b.buf[i]);
	must(!ibv_dereg_mr(mr));
	pair_close(&a, &b);
}

static void flushes(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct ibv_mr *mr;
	struct end a, b;

	open_both(&a, &b);
	mr = region(&b, PAGE, PAGE, ACCESS);
	sge = sge_of(&a, 0, PAGE);
	memset(a.buf, 'f', PAGE);
	wr = make_wr(IBV_WR_RDMA_WRITE, &sge, (uintptr_t)b.buf + PAGE, mr->rkey);
	must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
	must(!flush(&a, mr->rkey, (uintptr_t)b.buf + PAGE, PAGE, IBV_FLUSH_GLOBAL,
		    IBV_FLUSH_RANGE));
	must(b.buf[2 * PAGE - 1] == 'f');
	/* For all of a region it need not be said where. */
	must(!flush(&a, mr->rkey, 0, 0, IBV_FLUSH_GLOBAL, IBV_FLUSH_MR));
	must(flush(&a, mr->rkey, (uintptr_t)b.buf + PAGE + 1, PAGE, IBV_FLUSH_GLOBAL,
		   IBV_FLUSH_RANGE) == IBV_WC_REM_ACCESS_ERR);
	reconnect(&a, &b);
	must(flush(&a, mr->rkey ^ 1, 0, 0, IBV_FLUSH_GLOBAL, IBV_FLUSH_MR) ==
	     IBV_WC_REM_ACCESS_ERR);
	reconnect(&a, &b);
	/* A region without the right, and a QP without it. */
	must(flush(&a, b.mr->rkey, (uintptr_t)b.buf, 8, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE) ==
	     IBV_WC_REM_ACCESS_ERR);
	reconnect(&a, &b);
	allow(&b, ALL_ACCESS);
	must(flush(&a, mr->rkey, 0, 0, IBV_FLUSH_GLOBAL, IBV_FLUSH_MR) ==
	     IBV_WC_REM_INV_REQ_ERR);
	reconnect(&a, &b);
	/* Not said what for; and nothing here outlasts the power. */
	must(flush(&a, mr->rkey, 0, 0, 0, IBV_FLUSH_MR) == IBV_WC_LOC_QP_OP_ERR);
	reconnect(&a, &b);
	must(!ibv_reg_mr(b.pd, b.buf, PAGE, ACCESS | IBV_ACCESS_FLUSH_PERSISTENT));
	allow(&b, ACCESS | IBV_ACCESS_FLUSH_PERSISTENT);
	must(flush(&a, mr->rkey, 0, 0, IBV_FLUSH_PERSISTENT, IBV_FLUSH_MR) ==
	     IBV_WC_REM_ACCESS_ERR);
	must(!ibv_dereg_mr(mr));
	pair_close(&a, &b);
}

static const struct test_case cases[] = {
	{ "atomic-write", atomic_write },
	{ "aligned-in-name", aligned_in_name },
	{ "flush", flushes },
};

int main(int argc, char **argv)
{
	must(argc > 1);
	dev = argv[1];
	return run_cases(cases, NUM(cases), argc, argv);
}
