// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that the responder must refuse, IBTA volume 1, 9.7.4.1: each kind
 * with each defect. The requester gets the status that the NAK names, both
 * queue pairs end in error, and no byte of the memory has changed.
 */
#include <linux/slab.h>
#include "qverbs.h"

#define LEN 9007

enum { OP_WRITE, OP_WRITE_IMM, OP_READ, OP_ATOMIC };

enum defect {
	GENERATION,	/* the key's lower eight bits */
	INDEX,		/* its upper bits */
	PAST_END,	/* by one byte */
	BEFORE_START,
	WRAP,		/* the range goes over the end of the address space */
	NO_RIGHT,	/* the region allows all but this */
	INVALIDATED,	/* locally, before */
	OTHER_PD,
	QP_RIGHT,	/* the QP does not allow it */
	MISALIGNED,
};

#define CASE(op, defect) ((op) | (defect) << 8)

struct request {
	u64 addr;
	u32 rkey;
	u32 len;
};

static int right_of(u32 op)
{
	static const int rights[] = {
		[OP_WRITE] = IB_ACCESS_REMOTE_WRITE, [OP_WRITE_IMM] = IB_ACCESS_REMOTE_WRITE,
		[OP_READ] = IB_ACCESS_REMOTE_READ, [OP_ATOMIC] = IB_ACCESS_REMOTE_ATOMIC,
	};

	return rights[op];
}

static int all_but(int right)
{
	return (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
		IB_ACCESS_REMOTE_ATOMIC) & ~right;
}

/* A request as it would be right, then with its defect. */
static void make_request(struct qv_mr *m, u32 op, enum defect defect, struct request *r)
{
	r->len = op == OP_ATOMIC ? 8 : 5000;
	r->addr = m->iova + 16;
	r->rkey = m->rkey;
	switch (defect) {
	case GENERATION:
		r->rkey = ib_inc_rkey(r->rkey);
		break;
	case INDEX:
		r->rkey ^= 0x00010000;
		break;
	case PAST_END:
		r->addr = m->iova + LEN + 1 - r->len;
		break;
	case BEFORE_START:
		r->addr = m->iova - (op == OP_ATOMIC ? 8 : 1);
		break;
	case WRAP:
		r->addr = op == OP_ATOMIC ? -8ULL : -100ULL;
		break;
	case MISALIGNED:
		r->addr += 4;
		break;
	default:
		break;
	}
}

static int post(struct qv_side *a, u32 op, const struct request *r)
{
	static const enum ib_wr_opcode codes[] = {
		[OP_WRITE] = IB_WR_RDMA_WRITE, [OP_WRITE_IMM] = IB_WR_RDMA_WRITE_WITH_IMM,
		[OP_READ] = IB_WR_RDMA_READ, [OP_ATOMIC] = IB_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct qv_sgl sgl;

	qv_sgl(a, &sgl, 0, r->len, 1);
	if (op == OP_ATOMIC)
		return qv_post_atomic(a, codes[op], &sgl, r->addr, r->rkey, 1, 0);
	if (op != OP_READ)
		memset(a->mem, 0x11, 6000);
	return qv_post_rdma(a, codes[op], &sgl, r->addr, r->rkey, IB_SEND_SIGNALED);
}

static int check_read_nothing(struct qv_side *a, const struct request *r)
{
	if (memchr_inv(a->mem, QV_UNUSED, r->len))
		return qv_fail(a->link, "A: refused, and data came all the same");
	return 0;
}

static int refused(struct qv_link *l, struct qv_mr *m, u32 op, enum defect defect)
{
	bool invalid = defect == QP_RIGHT || defect == MISALIGNED;
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl recv;
	struct request r;
	struct ib_wc wc;
	int err;

	make_request(m, op, defect, &r);
	qv_sgl(b, &recv, 1 << 20, 64, 1);
	err = qv_post_recv(b, &recv, 1) ?: post(a, op, &r) ?:
	      qv_sent(a, invalid ? IB_WC_REM_INV_REQ_ERR : IB_WC_REM_ACCESS_ERR, &wc) ?:
	      qv_wait_state(a, IB_QPS_ERR) ?: qv_wait_state(b, IB_QPS_ERR) ?:
	      qv_wait_event(b, invalid ? IB_EVENT_QP_REQ_ERR : IB_EVENT_QP_ACCESS_ERR) ?:
	      qv_received(b, IB_WC_WR_FLUSH_ERR, &wc) ?:
	      qv_mr_unused(m, 0, m->len);
	if (!err && (op == OP_READ || op == OP_ATOMIC))
		err = check_read_nothing(a, &r);
	return err;
}

/* The region hangs on another link's protection domain. */
static int other_pd(struct qv_link *l, u32 op)
{
	struct qv_link *other = kzalloc(sizeof(*other), GFP_KERNEL);
	struct qv_mr m = {};
	int err;

	if (!other)
		return -ENOMEM;
	other->conf = l->conf;
	other->stop = l->stop;
	other->side[QV_A].dev = l->side[QV_A].dev;
	other->side[QV_B].dev = l->side[QV_B].dev;
	err = qv_open(other);
	if (!err)
		err = qv_mr_make(&other->side[QV_B], &m, LEN, all_but(0));
	if (!err)
		err = refused(l, &m, op, OTHER_PD);
	qv_mr_free(&m);
	qv_close(other);
	if (other->why)
		qv_fail(l, "the other link: %s", other->why);
	kfree(other->why);
	kfree(other);
	return err;
}

static int refuse(struct qv_link *l, u32 arg)
{
	u32 op = arg & 0xff;
	enum defect defect = arg >> 8;
	struct qv_mr m = {};
	int err;

	if (defect == QP_RIGHT)
		l->conf.access = all_but(right_of(op));
	err = qv_open(l);
	if (!err && defect == OTHER_PD)
		return other_pd(l, op);
	if (!err)
		err = qv_mr_make(&l->side[QV_B], &m, LEN,
				 all_but(defect == NO_RIGHT ? right_of(op) : 0));
	if (!err && defect == INVALIDATED)
		err = qv_mr_invalidate(&m);
	if (!err)
		err = refused(l, &m, op, defect);
	qv_mr_free(&m);
	return err;
}

/* The region never was registered: its key is of no use yet. */
static int unregistered(struct qv_link *l, u32 op)
{
	struct qv_mr m;
	int err;

	err = qv_mr_alloc(&l->side[QV_B], &m, 4) ?: qv_mr_map(&m, 1, 40, LEN) ?:
	      refused(l, &m, op, INVALIDATED);
	qv_mr_free(&m);
	return err;
}

/* The region was given back. */
static int deregistered(struct qv_link *l, u32 op)
{
	struct qv_mr m, gone;
	int err;

	err = qv_mr_make(&l->side[QV_B], &m, LEN, all_but(0));
	gone = m;
	gone.sg = NULL;
	if (!err) {
		ib_dereg_mr(m.mr);
		m.mr = NULL;
		err = refused(l, &gone, op, INVALIDATED);
	}
	qv_mr_free(&m);
	return err;
}

/* The last byte may be used. */
static int up_to_the_end(struct qv_link *l, u32 op)
{
	struct qv_side *a = &l->side[QV_A];
	struct request r = { .len = op == OP_ATOMIC ? 8 : 5000 };
	struct ib_wc wc;
	struct qv_mr m;
	int err;

	err = qv_mr_make(&l->side[QV_B], &m, 9000, IB_ACCESS_LOCAL_WRITE | right_of(op));
	r.addr = m.iova + 9000 - r.len;
	r.rkey = m.rkey;
	if (!err)
		err = post(a, op, &r) ?: qv_sent(a, IB_WC_SUCCESS, &wc);
	qv_mr_free(&m);
	return err;
}

#define REFUSE(name, op, defect) { name, refuse, CASE(op, defect), QV_OWN_LINK }

static const struct qv_case cases[] = {
	{ "write-last-byte", up_to_the_end, OP_WRITE },
	{ "read-last-byte", up_to_the_end, OP_READ },
	{ "atomic-last-byte", up_to_the_end, OP_ATOMIC },
	REFUSE("write-generation", OP_WRITE, GENERATION),
	REFUSE("imm-generation", OP_WRITE_IMM, GENERATION),
	REFUSE("read-generation", OP_READ, GENERATION),
	REFUSE("atomic-generation", OP_ATOMIC, GENERATION),
	REFUSE("write-index", OP_WRITE, INDEX),
	REFUSE("imm-index", OP_WRITE_IMM, INDEX),
	REFUSE("read-index", OP_READ, INDEX),
	REFUSE("atomic-index", OP_ATOMIC, INDEX),
	REFUSE("write-past-end", OP_WRITE, PAST_END),
	REFUSE("imm-past-end", OP_WRITE_IMM, PAST_END),
	REFUSE("read-past-end", OP_READ, PAST_END),
	REFUSE("atomic-past-end", OP_ATOMIC, PAST_END),
	REFUSE("write-before-start", OP_WRITE, BEFORE_START),
	REFUSE("imm-before-start", OP_WRITE_IMM, BEFORE_START),
	REFUSE("read-before-start", OP_READ, BEFORE_START),
	REFUSE("atomic-before-start", OP_ATOMIC, BEFORE_START),
	REFUSE("write-wrap", OP_WRITE, WRAP),
	REFUSE("imm-wrap", OP_WRITE_IMM, WRAP),
	REFUSE("read-wrap", OP_READ, WRAP),
	REFUSE("atomic-wrap", OP_ATOMIC, WRAP),
	REFUSE("write-no-right", OP_WRITE, NO_RIGHT),
	REFUSE("imm-no-right", OP_WRITE_IMM, NO_RIGHT),
	REFUSE("read-no-right", OP_READ, NO_RIGHT),
	REFUSE("atomic-no-right", OP_ATOMIC, NO_RIGHT),
	REFUSE("write-invalidated", OP_WRITE, INVALIDATED),
	REFUSE("imm-invalidated", OP_WRITE_IMM, INVALIDATED),
	REFUSE("read-invalidated", OP_READ, INVALIDATED),
	REFUSE("atomic-invalidated", OP_ATOMIC, INVALIDATED),
	REFUSE("write-other-pd", OP_WRITE, OTHER_PD),
	REFUSE("imm-other-pd", OP_WRITE_IMM, OTHER_PD),
	REFUSE("read-other-pd", OP_READ, OTHER_PD),
	REFUSE("atomic-other-pd", OP_ATOMIC, OTHER_PD),
	REFUSE("write-qp-right", OP_WRITE, QP_RIGHT),
	REFUSE("imm-qp-right", OP_WRITE_IMM, QP_RIGHT),
	REFUSE("read-qp-right", OP_READ, QP_RIGHT),
	REFUSE("atomic-qp-right", OP_ATOMIC, QP_RIGHT),
	REFUSE("atomic-misaligned", OP_ATOMIC, MISALIGNED),
	{ "write-unregistered", unregistered, OP_WRITE },
	{ "read-unregistered", unregistered, OP_READ },
	{ "write-deregistered", deregistered, OP_WRITE },
	{ "read-deregistered", deregistered, OP_READ },
};

QV_GROUP(qv_access, cases);
