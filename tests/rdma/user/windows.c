// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory windows, IBTA volume 1, 10.6.7: what a window grants and to whom, what
 * may be bound to what, and when it ends.
 *
 * usage: windows DEVICE [CASE]...
 */
#include <pthread.h>
#include "lib.h"

#define LEN	20000
#define AT	5000	/* of a window in its region */

static const char *dev;

/* B's whole buffer, for windows to be bound to. */
static struct ibv_mr *region(struct end *b, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(b->pd, b->buf, BUF_SIZE, access);

	must(mr);
	return mr;
}

static struct ibv_mw_bind_info info(struct ibv_mr *mr, __u64 addr, __u64 len, int access)
{
	return (struct ibv_mw_bind_info) {
		.mr = mr, .addr = addr, .length = len, .mw_access_flags = access,
	};
}

static struct ibv_mw_bind_info usual(struct end *b, struct ibv_mr *mr, int access)
{
	return info(mr, (uintptr_t)b->buf + AT, LEN, access);
}

#define RW (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
#define BIND (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND)

/* By the verb of type 1. */
static enum ibv_wc_status bind_1(struct end *b, struct ibv_mw *mw, struct ibv_mw_bind_info i)
{
	struct ibv_mw_bind bind = {
		.wr_id = 1, .send_flags = IBV_SEND_SIGNALED, .bind_info = i,
	};
	struct ibv_wc wc;

	must(!ibv_bind_mw(b->qp, mw, &bind));
	wc = wait_wc(b->cq);
	must(wc.status || wc.opcode == IBV_WC_BIND_MW);
	return wc.status;
}

/* By a work request, with the key's next generation. */
static enum ibv_wc_status bind_2(struct end *b, struct ibv_mw *mw, struct ibv_mw_bind_info i)
{
	struct ibv_send_wr wr = {
		.wr_id = 1, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = mw, .rkey = ibv_inc_rkey(mw->rkey), .bind_info = i },
	};
	enum ibv_wc_status status = do_wr(b, &wr);

	if (!status)
		mw->rkey = wr.bind_mw.rkey;
	return status;
}

static enum ibv_wc_status rdma(struct end *a, enum ibv_wr_opcode op, __u64 addr, __u32 len,
			       __u32 rkey)
{
	struct ibv_sge sge = sge_of(a, 0, len);
	struct ibv_send_wr wr = make_wr(op, &sge, addr, rkey);

	return do_wr(a, &wr);
}

static void writes(struct end *a, struct end *b, __u64 addr, __u32 rkey, size_t there)
{
	memset(a->buf, rand(), LEN);
	memset(b->buf, 0, BUF_SIZE);
	must(!rdma(a, IBV_WR_RDMA_WRITE, addr, LEN, rkey));
	must(!memcmp(a->buf, b->buf + there, LEN));
	must(!b->buf[there - 1] && !b->buf[there + LEN]);
}

/* Refused: the peer gets an error, and nothing is written. */
static void refuses(struct end *a, struct end *b, enum ibv_wr_opcode op, __u64 addr,
		    __u32 len, __u32 rkey)
{
	static char zero[BUF_SIZE];

	memset(a->buf, 0x55, LEN);
	memset(b->buf, 0, BUF_SIZE);
	must(rdma(a, op, addr, len, rkey) == IBV_WC_REM_ACCESS_ERR);
	must(!memcmp(b->buf, zero, BUF_SIZE));
	pair_again(a, b);
}

static __u64 start(const struct end *b) { return (uintptr_t)b->buf + AT; }

static void type_1(void)
{
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct end a, b, c, d;
	__u32 old;

	pair_open(&a, &b, dev);
	mr = region(&b, BIND);
	mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_1);
	must(mw && mw->rkey != mr->rkey);
	refuses(&a, &b, IBV_WR_RDMA_WRITE, start(&b), 1, mw->rkey);
	must(!bind_1(&b, mw, usual(&b, mr, RW)));
	writes(&a, &b, start(&b), mw->rkey, AT);
	must(!rdma(&a, IBV_WR_RDMA_READ, start(&b), LEN, mw->rkey));
	/* One byte before, one behind, and the region's own key. */
	refuses(&a, &b, IBV_WR_RDMA_WRITE, start(&b) - 1, 10, mw->rkey);
	refuses(&a, &b, IBV_WR_RDMA_WRITE, start(&b) + 1, LEN, mw->rkey);
	refuses(&a, &b, IBV_WR_RDMA_WRITE, start(&b), 1, mr->rkey);
	refuses(&a, &b, IBV_WR_ATOMIC_FETCH_AND_ADD, start(&b), 8, mw->rkey);
	/* Anew, as often as one likes: the key before is void. */
	old = mw->rkey;
	must(!bind_1(&b, mw, info(mr, start(&b) + 4096, LEN, IBV_ACCESS_REMOTE_WRITE)));
	must(mw->rkey != old);
	writes(&a, &b, start(&b) + 4096, mw->rkey, AT + 4096);
	refuses(&a, &b, IBV_WR_RDMA_WRITE, start(&b) + 4096, 1, old);
	refuses(&a, &b, IBV_WR_RDMA_READ, start(&b) + 4096, 1, mw->rkey);
	/* Bound to nothing. */
	must(!bind_1(&b, mw, info(mr, start(&b), 0, 0)));
	refuses(&a, &b, IBV_WR_RDMA_WRITE, start(&b), 1, mw->rkey);
	must(!bind_1(&b, mw, usual(&b, mr, RW)));
	/* The peer of any QP of the domain may use it, of another one not. */
	pair_open(&c, &d, dev);
	refuses(&c, &d, IBV_WR_RDMA_WRITE, start(&b), 1, mw->rkey);
	must(!ibv_dealloc_mw(mw) && !ibv_dereg_mr(mr));
	pair_close(&c, &d);
	pair_close(&a, &b);
}

/* A second QP in B's domain, and its peer. */
static void second(struct end *a, struct end *b, struct end *c, struct end *d)
{
	end_open(c, dev);
	end_open(d, dev);
	must(!ibv_destroy_qp(d->qp));
	must(!ibv_dereg_mr(d->mr) && !ibv_dealloc_pd(d->pd));
	must(!ibv_destroy_cq(d->cq) && !ibv_destroy_comp_channel(d->chan));
	must(!ibv_close_device(d->ctx));
	d->ctx = b->ctx;
	d->pd = b->pd;
	d->cq = b->cq;
	d->mr = NULL;
	end_create_qp(d, DEPTH);
	pair_connect(c, d);
	(void)a;
}

static void second_close(struct end *c, struct end *d)
{
	end_close(c);
	must(!ibv_destroy_qp(d->qp));
	munmap(d->buf, BUF_SIZE);
}

static void type_2(void)
{
	struct ibv_send_wr wr;
	struct end a, b, c, d;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	__u32 old;

	pair_open(&a, &b, dev);
	second(&a, &b, &c, &d);
	mr = region(&b, BIND);
	mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);
	must(mw);
	must(!bind_2(&b, mw, usual(&b, mr, RW | IBV_ACCESS_REMOTE_ATOMIC)));
	writes(&a, &b, start(&b), mw->rkey, AT);
	must(!rdma(&a, IBV_WR_ATOMIC_FETCH_AND_ADD, start(&b), 8, mw->rkey));
	/* It is that QP's alone. */
	refuses(&c, &b, IBV_WR_RDMA_WRITE, start(&b), 1, mw->rkey);
	end_reset(&c);
	end_reset(&d);
	pair_again(&a, &b);
	pair_connect(&c, &d);
	/* Bound once until it is invalidated. */
	must(bind_2(&b, mw, usual(&b, mr, RW)) == IBV_WC_MW_BIND_ERR);
	pair_again(&a, &b);
	writes(&a, &b, start(&b), mw->rkey, AT);
	wr = make_wr(IBV_WR_LOCAL_INV, NULL, 0, 0);
	wr.invalidate_rkey = mw->rkey;
	/* Not by another QP. */
	must(do_wr(&d, &wr) != IBV_WC_SUCCESS);
	end_reset(&c);
	end_reset(&d);
	pair_connect(&c, &d);
	writes(&a, &b, start(&b), mw->rkey, AT);
	must(!do_wr(&b, &wr));
	refuses(&a, &b, IBV_WR_RDMA_WRITE, start(&b), 1, mw->rkey);
	old = mw->rkey;
	must(!bind_2(&d, mw, usual(&b, mr, RW)));
	writes(&c, &b, start(&b), mw->rkey, AT);
	refuses(&c, &b, IBV_WR_RDMA_WRITE, start(&b), 1, old);
	/* Its QP goes: nobody's any more. */
	end_reset(&c);
	end_reset(&d);
	must(!ibv_destroy_qp(d.qp));
	end_create_qp(&d, DEPTH);
	pair_connect(&c, &d);
	must(rdma(&c, IBV_WR_RDMA_WRITE, start(&b), 1, mw->rkey) == IBV_WC_REM_ACCESS_ERR);
	must(!ibv_dealloc_mw(mw) && !ibv_dereg_mr(mr));
	second_close(&c, &d);
	pair_close(&a, &b);
}

/* The peer takes it back with a message; not one of type 1. */
static void invalidate_by_peer(void)
{
	struct ibv_send_wr wr;
	struct ibv_mw *mw, *one;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	struct end a, b;

	pair_open(&a, &b, dev);
	mr = region(&b, BIND);
	mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);
	one = ibv_alloc_mw(b.pd, IBV_MW_TYPE_1);
	must(mw && one && !bind_2(&b, mw, usual(&b, mr, RW)) &&
	     !bind_1(&b, one, usual(&b, mr, RW)));
	wr = make_wr(IBV_WR_SEND_WITH_INV, NULL, 0, 0);
	wr.invalidate_rkey = mw->rkey;
	must(!post_recv(&b, NULL, 7));
	must(!do_wr(&a, &wr));
	wc = wait_wc(b.cq);
	must(!wc.status && wc.wc_flags & IBV_WC_WITH_INV && wc.invalidated_rkey == mw->rkey);
	refuses(&a, &b, IBV_WR_RDMA_WRITE, start(&b), 1, mw->rkey);
	wr.invalidate_rkey = one->rkey;
	must(!post_recv(&b, NULL, 8));
	must(do_wr(&a, &wr) != IBV_WC_SUCCESS);
	pair_again(&a, &b);
	writes(&a, &b, start(&b), one->rkey, AT);
	must(!ibv_dealloc_mw(mw) && !ibv_dealloc_mw(one) && !ibv_dereg_mr(mr));
	pair_close(&a, &b);
}

static void zero_based(void)
{
	struct ibv_mr *mr, *based;
	struct ibv_mw *mw;
	struct end a, b;

	pair_open(&a, &b, dev);
	mr = region(&b, BIND);
	mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);
	must(mw && !bind_2(&b, mw, usual(&b, mr, RW | IBV_ACCESS_ZERO_BASED)));
	writes(&a, &b, 0, mw->rkey, AT);
	refuses(&a, &b, IBV_WR_RDMA_WRITE, 1, LEN, mw->rkey);
	refuses(&a, &b, IBV_WR_RDMA_WRITE, start(&b), 1, mw->rkey);
	must(!ibv_dealloc_mw(mw));
	/* In a region that begins at zero itself. */
	based = region(&b, BIND | IBV_ACCESS_ZERO_BASED);
	mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);
	must(mw && !bind_2(&b, mw, info(based, AT, LEN, RW)));
	writes(&a, &b, AT, mw->rkey, AT);
	refuses(&a, &b, IBV_WR_RDMA_WRITE, AT - 1, 1, mw->rkey);
	must(!ibv_dealloc_mw(mw) && !ibv_dereg_mr(mr) && !ibv_dereg_mr(based));
	pair_close(&a, &b);
}

/* Each is an error of the bind, and nothing is granted. */
static void wrong_binds(void)
{
	struct ibv_mr *mr, *no_bind, *read_only, *foreign;
	struct ibv_mw *mw, *other;
	struct ibv_mw bogus;
	struct end a, b;
	unsigned int i;

	pair_open(&a, &b, dev);
	mr = region(&b, BIND);
	no_bind = region(&b, IBV_ACCESS_LOCAL_WRITE);
	read_only = region(&b, IBV_ACCESS_MW_BIND);
	foreign = ibv_reg_mr(a.pd, a.buf, BUF_SIZE, BIND);
	mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);
	other = ibv_alloc_mw(a.pd, IBV_MW_TYPE_2);
	must(foreign && mw && other);
	const struct ibv_mw_bind_info wrong[] = {
		usual(&b, no_bind, RW),
		usual(&b, read_only, IBV_ACCESS_REMOTE_WRITE),
		usual(&b, read_only, IBV_ACCESS_REMOTE_ATOMIC),
		info(foreign, (uintptr_t)a.buf, LEN, RW),
		info(mr, (uintptr_t)b.buf - 1, LEN, RW),
		info(mr, (uintptr_t)b.buf + 1, BUF_SIZE, RW),
		info(mr, -100ULL, 200, RW),
		info(mr, start(&b), 0, RW),
		usual(&b, mr, RW | IBV_ACCESS_MW_BIND),
	};

	for (i = 0; i < NUM(wrong); i++) {
		if (bind_2(&b, mw, wrong[i]) != IBV_WC_MW_BIND_ERR)
			die("wrong bind %u was taken", i);
		pair_again(&a, &b);
	}
	must(!bind_2(&b, mw, usual(&b, read_only, IBV_ACCESS_REMOTE_READ)));
	/* Windows of another domain, and ones that are none. */
	must(bind_2(&b, other, usual(&b, mr, RW)) == IBV_WC_MW_BIND_ERR);
	pair_again(&a, &b);
	bogus = *mw;
	bogus.rkey = mr->rkey;
	must(bind_2(&b, &bogus, usual(&b, mr, RW)) == IBV_WC_MW_BIND_ERR);
	pair_again(&a, &b);
	bogus.rkey = 0x12345678;
	must(bind_2(&b, &bogus, usual(&b, mr, RW)) == IBV_WC_MW_BIND_ERR);
	pair_again(&a, &b);
	must(!ibv_dealloc_mw(mw) && !ibv_dealloc_mw(other));
	must(!ibv_dereg_mr(foreign) && !ibv_dereg_mr(read_only) && !ibv_dereg_mr(no_bind) &&
	     !ibv_dereg_mr(mr));
	pair_close(&a, &b);
}

/* A region is there, and as it is, for as long as a window is bound to it. */
static void region_in_use(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct end a, b;

	pair_open(&a, &b, dev);
	mr = region(&b, BIND);
	mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);
	must(mw && !bind_2(&b, mw, usual(&b, mr, RW)));
	must(ibv_dereg_mr(mr));
	must(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, BIND));
	writes(&a, &b, start(&b), mw->rkey, AT);
	/* Its key is the peer's only. */
	sge = sge_of(&b, AT, 8);
	sge.lkey = mw->rkey;
	wr = make_wr(IBV_WR_SEND, &sge, 0, 0);
	must(!post_recv(&a, NULL, 1));
	must(do_wr(&b, &wr) == IBV_WC_LOC_PROT_ERR);
	pair_again(&a, &b);
	must(!ibv_dealloc_mw(mw));
	must(!ibv_dereg_mr(mr));
	pair_close(&a, &b);
}

struct writer {
	struct end *a;
	__u64 addr;
	__u32 rkey;
	bool stop;
	unsigned int done;
};

/* Writes until it is told to stop; that some are refused is the point. */
static void *write_on(void *arg)
{
	struct writer *w = arg;

	while (!__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE) &&
	       !rdma(w->a, IBV_WR_RDMA_WRITE, w->addr, LEN, w->rkey))
		w->done++;
	return NULL;
}

/* After the invalidation has completed, not a byte moves any more. */
static void under_traffic(void)
{
	struct ibv_send_wr inv = make_wr(IBV_WR_LOCAL_INV, NULL, 0, 0);
	static char copy[LEN];
	unsigned int round, done = 0;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct end a, b;

	pair_open(&a, &b, dev);
	mr = region(&b, BIND);
	mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);
	must(mw);
	for (round = 0; round < 20; round++) {
		struct writer w = { .a = &a, .addr = start(&b) };
		pthread_t thread;

		must(!bind_2(&b, mw, usual(&b, mr, RW)));
		w.rkey = mw->rkey;
		memset(a.buf, round, LEN);
		must(!pthread_create(&thread, NULL, write_on, &w));
		usleep(2000 + 500 * round);
		inv.invalidate_rkey = mw->rkey;
		must(!do_wr(&b, &inv));
		memset(b.buf + AT, 0xee, LEN);
		memcpy(copy, b.buf + AT, LEN);
		usleep(2000);
		must(!memcmp(copy, b.buf + AT, LEN));
		__atomic_store_n(&w.stop, true, __ATOMIC_RELEASE);
		must(!pthread_join(thread, NULL));
		done += w.done;
		pair_again(&a, &b);
	}
	must(done > 20);
	must(!ibv_dealloc_mw(mw) && !ibv_dereg_mr(mr));
	pair_close(&a, &b);
}

/* What is left bound goes with the process. */
static void left_bound(void)
{
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct end a, b;

	pair_open(&a, &b, dev);
	mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);
	mr = region(&b, BIND);
	must(mw && !bind_2(&b, mw, usual(&b, mr, RW)));
	mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_1);
	must(mw && !bind_1(&b, mw, usual(&b, mr, RW)));
}

static const struct test_case cases[] = {
	{ "type-1", type_1 },
	{ "type-2", type_2 },
	{ "invalidate-by-peer", invalidate_by_peer },
	{ "zero-based", zero_based },
	{ "wrong-binds", wrong_binds },
	{ "region-in-use", region_in_use },
	{ "under-traffic", under_traffic },
	{ "left-bound", left_bound },
};

int main(int argc, char **argv)
{
	must(argc > 1);
	dev = argv[1];
	return run_cases(cases, NUM(cases), argc, argv);
}
