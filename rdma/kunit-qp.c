// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: which changes of a queue pair are allowed, every move from a state
 * to another and every attribute. IBTA volume 1, 10.3.1 and table 91 (queue
 * pair state transition properties). What is allowed is the core's to say;
 * ours are the ranges, and that there are no alternate paths.
 */
#include <kunit/test.h>
#include "path.h"

/* A move that is allowed; all others are not. */
struct move {
	enum ib_qp_state from, to;
	int required, optional;
};

#define NO_ALT	(IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE)

static const struct move rc_moves[] = {
	{ IB_QPS_RESET, IB_QPS_INIT,
	  IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS, 0 },
	{ IB_QPS_INIT, IB_QPS_INIT,
	  0, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS },
	{ IB_QPS_INIT, IB_QPS_RTR,
	  IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
	  IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER,
	  IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX },
	{ IB_QPS_RTR, IB_QPS_RTS,
	  IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
	  IB_QP_MAX_QP_RD_ATOMIC,
	  IB_QP_CUR_STATE | NO_ALT | IB_QP_ACCESS_FLAGS |
	  IB_QP_MIN_RNR_TIMER },
	{ IB_QPS_RTS, IB_QPS_RTS,
	  0, IB_QP_CUR_STATE | NO_ALT | IB_QP_ACCESS_FLAGS |
	  IB_QP_MIN_RNR_TIMER },
	{ IB_QPS_RTS, IB_QPS_SQD, 0, IB_QP_EN_SQD_ASYNC_NOTIFY },
	{ IB_QPS_SQD, IB_QPS_SQD,
	  0, IB_QP_PORT | IB_QP_AV | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
	  IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC |
	  IB_QP_MAX_DEST_RD_ATOMIC | NO_ALT | IB_QP_ACCESS_FLAGS |
	  IB_QP_PKEY_INDEX | IB_QP_MIN_RNR_TIMER },
	{ IB_QPS_SQD, IB_QPS_RTS,
	  0, IB_QP_CUR_STATE | NO_ALT | IB_QP_ACCESS_FLAGS |
	  IB_QP_MIN_RNR_TIMER },
	/* The core lets it, but no RC queue pair is ever in SQE. */
	{ IB_QPS_SQE, IB_QPS_RTS, 0, 0 },
};

static const struct move gsi_moves[] = {
	{ IB_QPS_RESET, IB_QPS_INIT, IB_QP_PKEY_INDEX | IB_QP_QKEY, 0 },
	{ IB_QPS_INIT, IB_QPS_INIT, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY },
	{ IB_QPS_INIT, IB_QPS_RTR, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY },
	{ IB_QPS_RTR, IB_QPS_RTS,
	  IB_QP_SQ_PSN, IB_QP_CUR_STATE | IB_QP_QKEY },
	{ IB_QPS_RTS, IB_QPS_RTS, 0, IB_QP_CUR_STATE | IB_QP_QKEY },
	{ IB_QPS_RTS, IB_QPS_SQD, 0, IB_QP_EN_SQD_ASYNC_NOTIFY },
	{ IB_QPS_SQD, IB_QPS_SQD, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY },
	{ IB_QPS_SQD, IB_QPS_RTS, 0, IB_QP_CUR_STATE | IB_QP_QKEY },
	{ IB_QPS_SQE, IB_QPS_RTS, 0, IB_QP_CUR_STATE | IB_QP_QKEY },
};

static const struct move uc_moves[] = {
	{ IB_QPS_RESET, IB_QPS_INIT,
	  IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS, 0 },
	{ IB_QPS_INIT, IB_QPS_INIT,
	  0, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS },
	{ IB_QPS_INIT, IB_QPS_RTR,
	  IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN,
	  IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX },
	{ IB_QPS_RTR, IB_QPS_RTS,
	  IB_QP_SQ_PSN, IB_QP_CUR_STATE | NO_ALT | IB_QP_ACCESS_FLAGS },
	{ IB_QPS_RTS, IB_QPS_RTS,
	  0, IB_QP_CUR_STATE | NO_ALT | IB_QP_ACCESS_FLAGS },
	{ IB_QPS_RTS, IB_QPS_SQD, 0, IB_QP_EN_SQD_ASYNC_NOTIFY },
	{ IB_QPS_SQD, IB_QPS_SQD,
	  0, IB_QP_AV | NO_ALT | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX },
	{ IB_QPS_SQD, IB_QPS_RTS,
	  0, IB_QP_CUR_STATE | NO_ALT | IB_QP_ACCESS_FLAGS },
	{ IB_QPS_SQE, IB_QPS_RTS,
	  0, IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS },
};

static const struct move ud_moves[] = {
	{ IB_QPS_RESET, IB_QPS_INIT,
	  IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY, 0 },
	{ IB_QPS_INIT, IB_QPS_INIT,
	  0, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY },
	{ IB_QPS_INIT, IB_QPS_RTR, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY },
	{ IB_QPS_RTR, IB_QPS_RTS,
	  IB_QP_SQ_PSN, IB_QP_CUR_STATE | IB_QP_QKEY },
	{ IB_QPS_RTS, IB_QPS_RTS, 0, IB_QP_CUR_STATE | IB_QP_QKEY },
	{ IB_QPS_RTS, IB_QPS_SQD, 0, IB_QP_EN_SQD_ASYNC_NOTIFY },
	{ IB_QPS_SQD, IB_QPS_SQD, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY },
	{ IB_QPS_SQD, IB_QPS_RTS, 0, IB_QP_CUR_STATE | IB_QP_QKEY },
	{ IB_QPS_SQE, IB_QPS_RTS, 0, IB_QP_CUR_STATE | IB_QP_QKEY },
};

static const struct {
	const struct move *moves;
	int count;
} tables[] = {
	[IB_QPT_GSI] = { gsi_moves, ARRAY_SIZE(gsi_moves) },
	[IB_QPT_RC] = { rc_moves, ARRAY_SIZE(rc_moves) },
	[IB_QPT_UC] = { uc_moves, ARRAY_SIZE(uc_moves) },
	[IB_QPT_UD] = { ud_moves, ARRAY_SIZE(ud_moves) },
};

/* What any queue pair may do, but for a move from RESET to ERR. */
static const struct move any_move = {};

static const struct move *find_move(enum ib_qp_type type,
				    enum ib_qp_state from, enum ib_qp_state to)
{
	const struct move *moves = tables[type].moves;
	int i;

	if (to == IB_QPS_RESET || (to == IB_QPS_ERR && from != IB_QPS_RESET))
		return &any_move;
	for (i = 0; i < tables[type].count; i++)
		if (moves[i].from == from && moves[i].to == to)
			return &moves[i];
	return NULL;
}

/* Values that are right for every attribute. */
static struct ib_qp_attr good_attr(enum ib_qp_state from, enum ib_qp_state to)
{
	return (struct ib_qp_attr) {
		.qp_state = to,
		.cur_qp_state = from,
		.path_mtu = IB_MTU_1024,
		.port_num = 1,
	};
}

static void check_move(struct kunit *test, enum ib_qp_type type,
		       enum ib_qp_state from, enum ib_qp_state to)
{
	const struct move *move = find_move(type, from, to);
	struct ib_qp_attr attr = good_attr(from, to);
	int bit, mask, err, want;

	for (bit = 0; bit < 31; bit++) {
		mask = IB_QP_STATE | (move ? move->required : 0);
		if (mask & BIT(bit) && bit) {
			/* One that is required is missing. */
			mask &= ~BIT(bit);
			want = -EINVAL;
		} else {
			mask |= BIT(bit);
			want = -EINVAL;
			if (move && !bit)
				want = 0;
			else if (move && (move->optional & BIT(bit)))
				want = NO_ALT & BIT(bit) ? -EOPNOTSUPP : 0;
		}
		err = qrdma_qp_check_modify(type, from, &attr, mask);
		KUNIT_EXPECT_EQ_MSG(test, err, want,
				    "type %d, %d to %d, bit %d", type, from,
				    to, bit);
	}
}

static void check_moves(struct kunit *test, enum ib_qp_type type)
{
	enum ib_qp_state from, to;

	for (from = IB_QPS_RESET; from <= IB_QPS_ERR; from++)
		for (to = IB_QPS_RESET; to <= IB_QPS_ERR; to++)
			check_move(test, type, from, to);
}

static void qp_moves_rc(struct kunit *test)
{
	check_moves(test, IB_QPT_RC);
}

static void qp_moves_uc(struct kunit *test)
{
	check_moves(test, IB_QPT_UC);
}

static void qp_moves_ud(struct kunit *test)
{
	check_moves(test, IB_QPT_UD);
}

static void qp_moves_gsi(struct kunit *test)
{
	check_moves(test, IB_QPT_GSI);
}

/* Without a new state, the attributes that may change within it: 11.2.5.2. */
static void qp_same_state(struct kunit *test)
{
	struct ib_qp_attr attr = good_attr(IB_QPS_RTS, IB_QPS_RESET);

	KUNIT_EXPECT_EQ(test, 0,
			qrdma_qp_check_modify(IB_QPT_RC, IB_QPS_RTS, &attr,
					      IB_QP_MIN_RNR_TIMER));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			qrdma_qp_check_modify(IB_QPT_RC, IB_QPS_RTS, &attr,
					      IB_QP_TIMEOUT));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			qrdma_qp_check_modify(IB_QPT_RC, IB_QPS_RTR, &attr,
					      IB_QP_MIN_RNR_TIMER));
}

/* The state that the caller takes it to be in must be the one it is in. */
static void qp_current_state(struct kunit *test)
{
	enum ib_qp_state cur;

	for (cur = IB_QPS_RESET; cur <= IB_QPS_ERR; cur++) {
		struct ib_qp_attr attr = good_attr(cur, IB_QPS_RTS);

		KUNIT_EXPECT_EQ(test, cur == IB_QPS_RTS ? 0 : -EINVAL,
				qrdma_qp_check_modify(IB_QPT_RC, IB_QPS_RTS,
						      &attr, IB_QP_STATE |
						      IB_QP_CUR_STATE));
	}
}

enum bound {
	PORT, PKEY_INDEX, MTU, TIMEOUT, RETRY, RNR_RETRY, RNR_TIMER,
	RD_ATOMIC, DEST_RD_ATOMIC, DEST_QPN, SQ_PSN, RQ_PSN,
};

static void set_bound(struct ib_qp_attr *attr, enum bound which, u32 value)
{
	switch (which) {
	case PORT:
		attr->port_num = value;
		break;
	case PKEY_INDEX:
		attr->pkey_index = value;
		break;
	case MTU:
		attr->path_mtu = value;
		break;
	case TIMEOUT:
		attr->timeout = value;
		break;
	case RETRY:
		attr->retry_cnt = value;
		break;
	case RNR_RETRY:
		attr->rnr_retry = value;
		break;
	case RNR_TIMER:
		attr->min_rnr_timer = value;
		break;
	case RD_ATOMIC:
		attr->max_rd_atomic = value;
		break;
	case DEST_RD_ATOMIC:
		attr->max_dest_rd_atomic = value;
		break;
	case DEST_QPN:
		attr->dest_qp_num = value;
		break;
	case SQ_PSN:
		attr->sq_psn = value;
		break;
	case RQ_PSN:
		attr->rq_psn = value;
		break;
	}
}

/* The field's width in the header or the attribute, or what we have of it. */
static const struct {
	enum bound which;
	enum ib_qp_state from, to;
	u32 value;
	bool ok;
} bounds[] = {
	{ PORT, IB_QPS_RESET, IB_QPS_INIT, 0, false },
	{ PORT, IB_QPS_RESET, IB_QPS_INIT, 1, true },
	{ PORT, IB_QPS_RESET, IB_QPS_INIT, 2, false },
	{ PKEY_INDEX, IB_QPS_RESET, IB_QPS_INIT, 0, true },
	{ PKEY_INDEX, IB_QPS_RESET, IB_QPS_INIT, 1, false },
	{ MTU, IB_QPS_INIT, IB_QPS_RTR, 0, false },
	{ MTU, IB_QPS_INIT, IB_QPS_RTR, IB_MTU_256, true },
	{ MTU, IB_QPS_INIT, IB_QPS_RTR, IB_MTU_4096, true },
	{ MTU, IB_QPS_INIT, IB_QPS_RTR, IB_MTU_4096 + 1, false },
	{ DEST_QPN, IB_QPS_INIT, IB_QPS_RTR, 0xffffff, true },
	{ DEST_QPN, IB_QPS_INIT, IB_QPS_RTR, 0x1000000, false },
	{ RQ_PSN, IB_QPS_INIT, IB_QPS_RTR, 0xffffff, true },
	{ RQ_PSN, IB_QPS_INIT, IB_QPS_RTR, 0x1000000, false },
	{ RNR_TIMER, IB_QPS_INIT, IB_QPS_RTR, 31, true },
	{ RNR_TIMER, IB_QPS_INIT, IB_QPS_RTR, 32, false },
	{ DEST_RD_ATOMIC, IB_QPS_INIT, IB_QPS_RTR, 0, true },
	{ DEST_RD_ATOMIC, IB_QPS_INIT, IB_QPS_RTR, QRDMA_MAX_RD_ATOMIC, true },
	{ DEST_RD_ATOMIC, IB_QPS_INIT, IB_QPS_RTR, QRDMA_MAX_RD_ATOMIC + 1,
	  false },
	{ SQ_PSN, IB_QPS_RTR, IB_QPS_RTS, 0xffffff, true },
	{ SQ_PSN, IB_QPS_RTR, IB_QPS_RTS, 0x1000000, false },
	{ TIMEOUT, IB_QPS_RTR, IB_QPS_RTS, 31, true },
	{ TIMEOUT, IB_QPS_RTR, IB_QPS_RTS, 32, false },
	{ RETRY, IB_QPS_RTR, IB_QPS_RTS, 7, true },
	{ RETRY, IB_QPS_RTR, IB_QPS_RTS, 8, false },
	{ RNR_RETRY, IB_QPS_RTR, IB_QPS_RTS, 7, true },
	{ RNR_RETRY, IB_QPS_RTR, IB_QPS_RTS, 8, false },
	{ RD_ATOMIC, IB_QPS_RTR, IB_QPS_RTS, 0, true },
	{ RD_ATOMIC, IB_QPS_RTR, IB_QPS_RTS, QRDMA_MAX_RD_ATOMIC, true },
	{ RD_ATOMIC, IB_QPS_RTR, IB_QPS_RTS, QRDMA_MAX_RD_ATOMIC + 1, false },
};

static void qp_bounds(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(bounds); i++) {
		struct ib_qp_attr attr = good_attr(bounds[i].from,
						   bounds[i].to);
		const struct move *move = find_move(IB_QPT_RC, bounds[i].from,
						    bounds[i].to);

		set_bound(&attr, bounds[i].which, bounds[i].value);
		KUNIT_EXPECT_EQ_MSG(test, bounds[i].ok ? 0 : -EINVAL,
				    qrdma_qp_check_modify(IB_QPT_RC,
							  bounds[i].from,
							  &attr,
							  move->required |
							  IB_QP_STATE),
				    "attribute %d of %u", bounds[i].which,
				    bounds[i].value);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(qp_moves_rc),
	KUNIT_CASE(qp_moves_uc),
	KUNIT_CASE(qp_moves_ud),
	KUNIT_CASE(qp_moves_gsi),
	KUNIT_CASE(qp_same_state),
	KUNIT_CASE(qp_current_state),
	KUNIT_CASE(qp_bounds),
	{}
};

static struct kunit_suite suite = {
	.name = "quarry_rdma_qp",
	.test_cases = cases,
};

kunit_test_suite(suite);
