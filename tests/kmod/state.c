// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state table of a queue pair, IBTA volume 1, table 91: each move from each
 * state with the right attributes, without each one that is required, and
 * with each that does not belong to it. What may be posted in which state.
 */
#include "qverbs.h"

/* Attributes that a move must and may bring along. */
struct attrs {
	int required;
	int optional;
};

struct move {
	enum ib_qp_state from;
	enum ib_qp_state to;
	struct attrs rc;
	struct attrs uc;
	struct attrs ud;
};

#define TO_INIT		(IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS)
#define TO_INIT_UD	(IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY)
#define TO_RTR_UC	(IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN)
#define TO_RTR		(TO_RTR_UC | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER)
#define TO_RTS		(IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | \
			 IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC)
#define LATER_UC	(IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS)
#define LATER_UD	(IB_QP_CUR_STATE | IB_QP_QKEY)
#define LATER		(LATER_UC | IB_QP_MIN_RNR_TIMER)
#define IN_SQD_UC	(IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | IB_QP_AV)
#define IN_SQD		(IN_SQD_UC | IB_QP_MIN_RNR_TIMER | IB_QP_PORT | IB_QP_TIMEOUT | \
			 IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC | \
			 IB_QP_MAX_DEST_RD_ATOMIC)
#define NOTIFY		IB_QP_EN_SQD_ASYNC_NOTIFY
/* Automatic path migration is an option of a device; it is left out. */
#define MIGRATION	(IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE)

static const struct move moves[] = {
	{ IB_QPS_RESET, IB_QPS_RESET },
	{ IB_QPS_RESET, IB_QPS_INIT, { TO_INIT }, { TO_INIT }, { TO_INIT_UD } },
	{ IB_QPS_INIT, IB_QPS_RESET },
	{ IB_QPS_INIT, IB_QPS_ERR },
	{ IB_QPS_INIT, IB_QPS_INIT, { 0, TO_INIT }, { 0, TO_INIT }, { 0, TO_INIT_UD } },
	{ IB_QPS_INIT, IB_QPS_RTR, { TO_RTR, IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX },
	  { TO_RTR_UC, IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX },
	  { 0, IB_QP_QKEY | IB_QP_PKEY_INDEX } },
	{ IB_QPS_RTR, IB_QPS_RESET },
	{ IB_QPS_RTR, IB_QPS_ERR },
	{ IB_QPS_RTR, IB_QPS_RTS, { TO_RTS, LATER }, { IB_QP_SQ_PSN, LATER_UC },
	  { IB_QP_SQ_PSN, LATER_UD } },
	{ IB_QPS_RTS, IB_QPS_RESET },
	{ IB_QPS_RTS, IB_QPS_ERR },
	{ IB_QPS_RTS, IB_QPS_RTS, { 0, LATER }, { 0, LATER_UC }, { 0, LATER_UD } },
	{ IB_QPS_RTS, IB_QPS_SQD, { 0, NOTIFY }, { 0, NOTIFY }, { 0, NOTIFY } },
	{ IB_QPS_SQD, IB_QPS_RESET },
	{ IB_QPS_SQD, IB_QPS_ERR },
	{ IB_QPS_SQD, IB_QPS_RTS, { 0, LATER }, { 0, LATER_UC }, { 0, LATER_UD } },
	{ IB_QPS_SQD, IB_QPS_SQD, { 0, IN_SQD }, { 0, IN_SQD_UC },
	  { 0, IB_QP_QKEY | IB_QP_PKEY_INDEX } },
	{ IB_QPS_SQE, IB_QPS_RESET },
	{ IB_QPS_SQE, IB_QPS_ERR },
	{ IB_QPS_SQE, IB_QPS_RTS, {}, { 0, LATER_UC }, { 0, LATER_UD } },
	{ IB_QPS_ERR, IB_QPS_RESET },
	{ IB_QPS_ERR, IB_QPS_ERR },
};

static const enum ib_qp_state states[] = {
	IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD, IB_QPS_SQE, IB_QPS_ERR,
};

static const struct move *find_move(enum ib_qp_state from, enum ib_qp_state to)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(moves); i++)
		if (moves[i].from == from && moves[i].to == to)
			return &moves[i];
	return NULL;
}

static const struct attrs *attrs_of(const struct move *m, enum ib_qp_type type)
{
	return type == IB_QPT_RC ? &m->rc : type == IB_QPT_UC ? &m->uc : &m->ud;
}

/* A request whose memory is not there stops the send queue of UC and UD. */
static int to_sqe(struct qv_side *s)
{
	struct qv_sgl src;
	struct ib_wc wc;

	qv_sgl(s, &src, 0, 100, 1);
	src.sge[0].lkey = 0x76543210;
	return qv_post_send(s, &src, 1, 0) ?: qv_sent(s, IB_WC_LOC_PROT_ERR, &wc) ?:
	       qv_wait_state(s, IB_QPS_SQE);
}

/* Into @from; by way of RESET. */
static int enter(struct qv_side *s, enum ib_qp_state from)
{
	if (from == IB_QPS_ERR)
		return qv_qp_walk(s, IB_QPS_INIT) ?: qv_qp_to(s, IB_QPS_ERR);
	if (from == IB_QPS_SQE)
		return qv_qp_walk(s, IB_QPS_RTS) ?: to_sqe(s);
	return qv_qp_walk(s, from);
}

static int modify(struct qv_side *s, enum ib_qp_state from, enum ib_qp_state to, int mask)
{
	struct ib_qp_attr attr = {};

	qv_fill_attr(s, to, &attr);
	attr.cur_qp_state = from;
	return ib_modify_qp(s->qp, &attr, mask | IB_QP_STATE);
}

static int allowed(struct qv_side *s, const struct move *m, int mask)
{
	int err = enter(s, m->from);

	if (err)
		return err;
	err = modify(s, m->from, m->to, mask);
	if (err)
		return qv_fail(s->link, "state %d to %d with %#x: %d", m->from, m->to, mask, err);
	if (qv_qp_state(s) != m->to)
		return qv_fail(s->link, "state %d expected, it is in %d", m->to, qv_qp_state(s));
	return 0;
}

static int refused(struct qv_side *s, enum ib_qp_state from, enum ib_qp_state to, int mask)
{
	int err;

	if (qv_qp_state(s) != from) {
		err = enter(s, from);
		if (err)
			return err;
	}
	err = modify(s, from, to, mask);
	if (err != -EINVAL)
		return qv_fail(s->link, "state %d to %d with %#x: -EINVAL expected, not %d",
			       from, to, mask, err);
	if (qv_qp_state(s) != from)
		return qv_fail(s->link, "a forbidden move from %d led to %d", from, qv_qp_state(s));
	return 0;
}

static int try_move(struct qv_side *s, const struct move *m)
{
	const struct attrs *with = attrs_of(m, s->link->conf.type);
	int bit, err;

	err = allowed(s, m, with->required);
	for (bit = 0; bit <= ilog2(IB_QP_DEST_QPN) && !err; bit++) {
		if (BIT(bit) & (MIGRATION | IB_QP_STATE | IB_QP_CUR_STATE | IB_QP_CAP))
			continue;
		if (BIT(bit) & with->required)
			err = refused(s, m->from, m->to, with->required & ~BIT(bit));
		else if (BIT(bit) & with->optional)
			err = allowed(s, m, with->required | BIT(bit));
		else
			err = refused(s, m->from, m->to, with->required | BIT(bit));
	}
	return err ?: allowed(s, m, with->required | with->optional);
}

/* All moves from one state. */
static int table(struct qv_link *l, u32 from)
{
	struct qv_side *a = &l->side[QV_A];
	const struct move *m;
	int i, err = 0;

	for (i = 0; i < ARRAY_SIZE(states) && !err; i++) {
		m = find_move(from, states[i]);
		if (m)
			err = try_move(a, m);
		else if (from != IB_QPS_RESET || states[i] != IB_QPS_ERR)
			err = refused(a, from, states[i], 0) ?:
			      refused(a, from, states[i], TO_INIT) ?:
			      refused(a, from, states[i], TO_INIT_UD) ?:
			      refused(a, from, states[i], TO_RTR) ?:
			      refused(a, from, states[i], TO_RTS);
	}
	return err;
}

static int table_uc(struct qv_link *l, u32 from)
{
	l->conf.type = IB_QPT_UC;
	return qv_open(l) ?: table(l, from);
}

static int table_ud(struct qv_link *l, u32 from)
{
	l->conf.type = IB_QPT_UD;
	return qv_open(l) ?: table(l, from);
}

static int wrong_current(struct qv_link *l, u32 unused)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS, .cur_qp_state = IB_QPS_SQD };
	int err = ib_modify_qp(l->side[QV_A].qp, &attr, IB_QP_STATE | IB_QP_CUR_STATE);

	if (err != -EINVAL)
		return qv_fail(l, "-EINVAL expected for a wrong current state, not %d", err);
	return qv_ping(l);
}

/* A move with this attribute must fail. */
static int not_with(struct qv_side *s, struct ib_qp_attr *attr, int mask, const char *what)
{
	if (!ib_modify_qp(s->qp, attr, mask))
		return qv_fail(s->link, "%s was taken", what);
	return 0;
}

/* The core looks the port up unchecked before it asks the driver: past it. */
static int not_with_port(struct qv_side *s, struct ib_qp_attr *attr, int mask, u32 port)
{
	int err;

	attr->port_num = port;
	err = s->dev->ops.modify_qp(s->qp, attr, mask, NULL);
	attr->port_num = 1;
	return err ? 0 : qv_fail(s->link, "port %u was taken", port);
}

static int wrong_init(struct qv_side *s)
{
	struct ib_qp_attr attr = {};
	int err, mask = qv_fill_attr(s, IB_QPS_INIT, &attr);

	err = not_with_port(s, &attr, mask, 2) ?: not_with_port(s, &attr, mask, 0);
	attr.pkey_index = 9999;
	return err ?: not_with(s, &attr, mask, "partition key 9999");
}

static int wrong_rtr(struct qv_side *s)
{
	struct ib_qp_attr attr = {};
	int err, mask = qv_fill_attr(s, IB_QPS_RTR, &attr);
	enum ib_mtu mtu = attr.path_mtu;
	u8 rd_atomic = attr.max_dest_rd_atomic;

	attr.path_mtu = 0;
	err = not_with(s, &attr, mask, "MTU 0");
	attr.path_mtu = 6;
	err = err ?: not_with(s, &attr, mask, "MTU 6");
	attr.path_mtu = mtu;
	attr.max_dest_rd_atomic = 255;
	err = err ?: not_with(s, &attr, mask, "255 READs at a time");
	attr.max_dest_rd_atomic = rd_atomic;
	attr.ah_attr.ah_flags = 0;
	return err ?: not_with(s, &attr, mask, "an address without a GID");
}

static int wrong_rts(struct qv_side *s)
{
	struct ib_qp_attr attr = {};
	int mask = qv_fill_attr(s, IB_QPS_RTS, &attr);

	attr.max_rd_atomic = 255;
	return not_with(s, &attr, mask, "255 READs at a time");
}

/* Values that the specification or the device does not know. */
static int wrong_values(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];

	return qv_qp_to(a, IB_QPS_RESET) ?: wrong_init(a) ?:
	       qv_qp_to(a, IB_QPS_INIT) ?: wrong_rtr(a) ?:
	       qv_qp_to(a, IB_QPS_RTR) ?: wrong_rts(a) ?: qv_qp_to(a, IB_QPS_RTS) ?:
	       qv_qp_walk(&l->side[QV_B], IB_QPS_RTS) ?: qv_ping(l);
}

static int same(struct qv_link *l, const struct ib_qp_attr *set, const struct ib_qp_attr *got)
{
	const struct {
		const char *name;
		u32 set;
		u32 got;
	} values[] = {
		{ "qp_state", set->qp_state, got->qp_state },
		{ "path_mtu", set->path_mtu, got->path_mtu },
		{ "rq_psn", set->rq_psn, got->rq_psn },
		{ "sq_psn", set->sq_psn, got->sq_psn },
		{ "dest_qp_num", set->dest_qp_num, got->dest_qp_num },
		{ "qp_access_flags", set->qp_access_flags, got->qp_access_flags },
		{ "pkey_index", set->pkey_index, got->pkey_index },
		{ "port_num", set->port_num, got->port_num },
		{ "max_rd_atomic", set->max_rd_atomic, got->max_rd_atomic },
		{ "max_dest_rd_atomic", set->max_dest_rd_atomic, got->max_dest_rd_atomic },
		{ "min_rnr_timer", set->min_rnr_timer, got->min_rnr_timer },
		{ "timeout", set->timeout, got->timeout },
		{ "retry_cnt", set->retry_cnt, got->retry_cnt },
		{ "rnr_retry", set->rnr_retry, got->rnr_retry },
		{ "sgid_index", set->ah_attr.grh.sgid_index, got->ah_attr.grh.sgid_index },
		{ "hop_limit", set->ah_attr.grh.hop_limit, got->ah_attr.grh.hop_limit },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		if (values[i].set != values[i].got)
			return qv_fail(l, "%s: %u expected, not %u", values[i].name,
				       values[i].set, values[i].got);
	if (memcmp(&got->ah_attr.grh.dgid, &set->ah_attr.grh.dgid, sizeof(union ib_gid)))
		return qv_fail(l, "another destination GID came back");
	return 0;
}

/* ib_query_qp() returns what was set. */
static int query(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];
	struct ib_qp_init_attr init = {};
	struct ib_qp_attr set = {}, got = {};
	int err;

	qv_fill_attr(a, IB_QPS_RTS, &set);
	err = ib_query_qp(a->qp, &got, -1, &init);
	if (err)
		return qv_fail(l, "ib_query_qp: %d", err);
	err = same(l, &set, &got);
	if (err)
		return err;
	if (init.send_cq != a->scq || init.recv_cq != a->rcq || init.qp_type != IB_QPT_RC)
		return qv_fail(l, "other queues or another type came back");
	if (got.cap.max_send_wr < l->conf.wr || got.cap.max_recv_sge < QV_MAX_SGE)
		return qv_fail(l, "smaller queues came back");
	return 0;
}

static int post_error(struct qv_side *s, bool recv)
{
	struct ib_send_wr swr = { .opcode = IB_WR_SEND };
	const struct ib_send_wr *bad_send = NULL;
	struct ib_recv_wr rwr = {};
	const struct ib_recv_wr *bad_recv = NULL;
	int err;

	err = recv ? ib_post_recv(s->qp, &rwr, &bad_recv) : ib_post_send(s->qp, &swr, &bad_send);
	if (!err)
		return qv_fail(s->link, "%s was taken in state %d", recv ? "a receive" : "a send",
			       qv_qp_state(s));
	if (bad_send != (recv ? NULL : &swr) || bad_recv != (recv ? &rwr : NULL))
		return qv_fail(s->link, "bad_wr does not point at the request");
	return 0;
}

static int posting(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl none = {};

	return qv_qp_walk(a, IB_QPS_RESET) ?: post_error(a, false) ?: post_error(a, true) ?:
	       qv_qp_walk(a, IB_QPS_INIT) ?: post_error(a, false) ?: qv_post_recv(a, &none, 1) ?:
	       qv_qp_to(a, IB_QPS_RTR) ?: post_error(a, false) ?: qv_post_recv(a, &none, 2) ?:
	       qv_no_wc(l, a->scq, 10) ?: qv_no_wc(l, a->rcq, 10);
}

/* A receiver that is not ready to send yet; the first request tells it. */
static int established(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl none = {};
	struct ib_wc wc;

	return qv_qp_walk(b, IB_QPS_RTR) ?: qv_post_recv(b, &none, 1) ?:
	       qv_post_send(a, &none, 2, IB_SEND_SIGNALED) ?:
	       qv_sent(a, IB_WC_SUCCESS, &wc) ?: qv_received(b, IB_WC_SUCCESS, &wc) ?:
	       qv_wait_event(b, IB_EVENT_COMM_EST) ?: qv_qp_to(b, IB_QPS_RTS) ?: qv_ping(l);
}

/* What comes in INIT is dropped; the sender tries again until RTR. */
static int receive_in_init(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl none = {};
	struct ib_wc wc;

	return qv_qp_walk(b, IB_QPS_INIT) ?: qv_post_recv(b, &none, 1) ?:
	       qv_post_send(a, &none, 2, IB_SEND_SIGNALED) ?: qv_no_wc(l, b->rcq, 100) ?:
	       qv_qp_to(b, IB_QPS_RTR) ?:
	       qv_sent(a, IB_WC_SUCCESS, &wc) ?: qv_received(b, IB_WC_SUCCESS, &wc);
}

static int wrong_caps(struct qv_link *l, u32 unused)
{
	struct qv_side *a = &l->side[QV_A];
	struct ib_device_attr *attrs = &a->dev->attrs;
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .send_cq = a->scq, .recv_cq = a->rcq,
	};
	struct ib_qp_cap wrong[] = {
		{ .max_send_wr = attrs->max_qp_wr + 1 },
		{ .max_recv_wr = attrs->max_qp_wr + 1 },
		{ .max_send_sge = attrs->max_send_sge + 1 },
		{ .max_recv_sge = attrs->max_recv_sge + 1 },
		{ .max_inline_data = 1 << 20 },
	};
	struct ib_cq_init_attr cq = { .cqe = attrs->max_cqe + 1 };
	struct ib_cq *too_long;
	struct ib_qp *qp;
	int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		init.cap = wrong[i];
		qp = ib_create_qp(a->pd, &init);
		if (IS_ERR(qp))
			continue;
		ib_destroy_qp(qp);
		return qv_fail(l, "a QP beyond the device's limit %d was made", i);
	}
	too_long = ib_create_cq(a->dev, NULL, NULL, NULL, &cq);
	if (!IS_ERR(too_long)) {
		ib_destroy_cq(too_long);
		return qv_fail(l, "a CQ beyond the device's limit was made");
	}
	return 0;
}

/* What is behind a bad request is flushed, and so is what is posted later. */
static int sqe(struct qv_link *l, u32 type)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	struct qv_sgl src, dst, bad;
	struct ib_wc wc;
	int i, err;

	l->conf.type = type;
	err = qv_open(l);
	if (err)
		return err;
	qv_sgl(a, &src, 0, 60, 1);
	qv_sgl(b, &dst, 4096, 100, 1);
	bad = src;
	bad.sge[0].lkey = 0x76543210;
	for (i = 0; i < 3 && !err; i++)
		err = qv_post_recv(b, &dst, i);
	err = err ?: qv_sqd(a) ?: qv_post_send(a, &src, 0, IB_SEND_SIGNALED) ?:
	      qv_post_send(a, &bad, 1, 0) ?: qv_post_send(a, &src, 2, 0) ?:
	      qv_post_send(a, &src, 3, 0) ?: qv_back_to_rts(a, IB_QPS_SQD) ?:
	      qv_sent(a, IB_WC_SUCCESS, &wc) ?: qv_received(b, IB_WC_SUCCESS, &wc) ?:
	      qv_sent(a, IB_WC_LOC_PROT_ERR, &wc) ?: qv_flushed(a, a->scq, 2, 4) ?:
	      qv_wait_state(a, IB_QPS_SQE);
	for (i = 4; i < 8 && !err; i++)
		err = qv_post_send(a, &src, i, 0);
	err = err ?: qv_flushed(a, a->scq, 4, 8) ?: qv_no_wc(l, b->rcq, 10);
	/* It receives all the time, and sends again when it is told to. */
	qv_sgl(a, &dst, 4096, 100, 1);
	return err ?: qv_post_recv(a, &dst, 9) ?: qv_post_send(b, &src, 8, IB_SEND_SIGNALED) ?:
	       qv_received(a, IB_WC_SUCCESS, &wc) ?: qv_sent(b, IB_WC_SUCCESS, &wc) ?:
	       qv_back_to_rts(a, IB_QPS_SQE) ?: qv_post_send(a, &src, 10, IB_SEND_SIGNALED) ?:
	       qv_sent(a, IB_WC_SUCCESS, &wc) ?: qv_received(b, IB_WC_SUCCESS, &wc);
}

/* Receives stay where they are until the whole QP is in error. */
static int sqe_to_err(struct qv_link *l, u32 type)
{
	struct qv_side *a = &l->side[QV_A];
	struct qv_sgl none = {};

	l->conf.type = type;
	return qv_open(l) ?: qv_post_recv(a, &none, 0) ?: to_sqe(a) ?:
	       qv_no_wc(l, a->rcq, 10) ?: qv_qp_to(a, IB_QPS_ERR) ?:
	       qv_flushed(a, a->rcq, 0, 1);
}

/* No request at all may be posted, nor a receive. */
static int no_queues(struct qv_link *l, u32 type)
{
	struct qv_side *a = &l->side[QV_A];
	struct ib_send_wr swr = { .opcode = IB_WR_SEND };
	const struct ib_send_wr *bad_send = NULL;
	struct ib_recv_wr rwr = {};
	const struct ib_recv_wr *bad_recv = NULL;
	int err;

	l->conf.type = type;
	l->conf.wr = 0;
	err = qv_open(l);
	if (err)
		return err;
	if (a->cap.max_send_wr || a->cap.max_recv_wr)
		return 0; /* more than asked for */
	err = ib_post_send(a->qp, &swr, &bad_send);
	if (err != -ENOMEM || bad_send != &swr)
		return qv_fail(l, "-ENOMEM expected for a send, not %d", err);
	err = ib_post_recv(a->qp, &rwr, &bad_recv);
	if (err != -ENOMEM || bad_recv != &rwr)
		return qv_fail(l, "-ENOMEM expected for a receive, not %d", err);
	return 0;
}

static const struct qv_case cases[] = {
	{ "from-reset", table, IB_QPS_RESET },
	{ "from-init", table, IB_QPS_INIT },
	{ "from-rtr", table, IB_QPS_RTR },
	{ "from-rts", table, IB_QPS_RTS },
	{ "from-sqd", table, IB_QPS_SQD },
	{ "from-err", table, IB_QPS_ERR },
	{ "wrong-current", wrong_current },
	{ "wrong-values", wrong_values },
	{ "query", query },
	{ "posting", posting },
	{ "established", established },
	{ "receive-in-init", receive_in_init },
	{ "wrong-caps", wrong_caps },
};

QV_GROUP(qv_state, cases);

static const struct qv_case types[] = {
	{ "uc-from-reset", table_uc, IB_QPS_RESET, QV_OWN_LINK },
	{ "uc-from-init", table_uc, IB_QPS_INIT, QV_OWN_LINK },
	{ "uc-from-rtr", table_uc, IB_QPS_RTR, QV_OWN_LINK },
	{ "uc-from-rts", table_uc, IB_QPS_RTS, QV_OWN_LINK },
	{ "uc-from-sqd", table_uc, IB_QPS_SQD, QV_OWN_LINK },
	{ "uc-from-sqe", table_uc, IB_QPS_SQE, QV_OWN_LINK },
	{ "uc-from-err", table_uc, IB_QPS_ERR, QV_OWN_LINK },
	{ "ud-from-reset", table_ud, IB_QPS_RESET, QV_OWN_LINK },
	{ "ud-from-init", table_ud, IB_QPS_INIT, QV_OWN_LINK },
	{ "ud-from-rtr", table_ud, IB_QPS_RTR, QV_OWN_LINK },
	{ "ud-from-rts", table_ud, IB_QPS_RTS, QV_OWN_LINK },
	{ "ud-from-sqd", table_ud, IB_QPS_SQD, QV_OWN_LINK },
	{ "ud-from-sqe", table_ud, IB_QPS_SQE, QV_OWN_LINK },
	{ "ud-from-err", table_ud, IB_QPS_ERR, QV_OWN_LINK },
	{ "uc-sqe", sqe, IB_QPT_UC, QV_OWN_LINK },
	{ "ud-sqe", sqe, IB_QPT_UD, QV_OWN_LINK },
	{ "uc-sqe-to-err", sqe_to_err, IB_QPT_UC, QV_OWN_LINK },
	{ "ud-sqe-to-err", sqe_to_err, IB_QPT_UD, QV_OWN_LINK },
	{ "rc-no-queues", no_queues, IB_QPT_RC, QV_OWN_LINK },
	{ "uc-no-queues", no_queues, IB_QPT_UC, QV_OWN_LINK },
	{ "ud-no-queues", no_queues, IB_QPT_UD, QV_OWN_LINK },
};

QV_GROUP(qv_types, types);
