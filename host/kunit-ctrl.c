// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: from which state of a controller to which, and what a status means
 * to whom. The states are those of the configfs attribute; for statuses, NVMe
 * base 2.0, figures 93 to 98, and what the kernel's block layer makes of them
 * with the stock driver.
 */
#include <kunit/test.h>
#include "host.h"

static struct qhost_ctrl *make_ctrl(struct kunit *test)
{
	struct qhost_ctrl *ctrl = kunit_kzalloc(test, sizeof(*ctrl),
						GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctrl);
	spin_lock_init(&ctrl->lock);
	ctrl->name = "kunit";
	return ctrl;
}

static const char *const names[] = {
	"new", "connecting", "live", "resetting", "deleting", "dead",
};

static void state_names(struct kunit *test)
{
	int i;

	KUNIT_ASSERT_EQ(test, QHOST_NR_STATES, ARRAY_SIZE(names));
	for (i = 0; i < ARRAY_SIZE(names); i++)
		KUNIT_EXPECT_STREQ(test, qhost_state_name(i), names[i]);
}

/* Rows: from; columns: to. Both in the order of the names. */
static const char *const moves[] = {
	/*	     NCLRDX */
	/* new */	".C..D.",
	/* connecting */"..L..X",
	/* live */	"...RD.",
	/* resetting */	".....X",
	/* deleting */	".....X",
	/* dead */	"....D.",
};

static void check_moves(struct kunit *test, bool failed)
{
	struct qhost_ctrl *ctrl = make_ctrl(test);
	enum qhost_state from, to;

	ctrl->failed = failed;
	for (from = 0; from < QHOST_NR_STATES; from++)
		for (to = 0; to < QHOST_NR_STATES; to++) {
			bool want = moves[from][to] != '.';

			/* What has failed is never live again. */
			if (failed && to == QHOST_LIVE)
				want = false;
			ctrl->state = from;
			KUNIT_EXPECT_EQ_MSG(test, qhost_ctrl_move(ctrl, to),
					    want, "%s to %s", names[from],
					    names[to]);
			KUNIT_EXPECT_EQ(test, qhost_ctrl_state(ctrl),
					want ? to : from);
		}
}

static void state_moves(struct kunit *test)
{
	check_moves(test, false);
}

static void state_moves_failed(struct kunit *test)
{
	check_moves(test, true);
}

static struct kunit_case ctrl_cases[] = {
	KUNIT_CASE(state_names),
	KUNIT_CASE(state_moves),
	KUNIT_CASE(state_moves_failed),
	{}
};

static struct kunit_suite ctrl_suite = {
	.name = "quarry_host_ctrl",
	.test_cases = ctrl_cases,
};

/* What is not here is an I/O error. Status code type and status code. */
static const struct {
	u16 status;
	blk_status_t blk;
} blk_statuses[] = {
	{ 0x001, BLK_STS_NOTSUPP },		/* invalid opcode */
	{ 0x002, BLK_STS_NOTSUPP },		/* invalid field */
	{ 0x00b, BLK_STS_NOTSUPP },		/* invalid namespace */
	{ 0x020, BLK_STS_MEDIUM },		/* write protected */
	{ 0x021, BLK_STS_TARGET },		/* command interrupted */
	{ 0x080, BLK_STS_TARGET },		/* LBA out of range */
	{ 0x081, BLK_STS_NOSPC },		/* capacity exceeded */
	{ 0x082, BLK_STS_TARGET },		/* namespace not ready */
	{ 0x083, BLK_STS_RESV_CONFLICT },	/* reservation conflict */
	{ 0x180, BLK_STS_NOTSUPP },		/* conflicting attributes */
	{ 0x182, BLK_STS_MEDIUM },		/* read-only range */
	{ 0x280, BLK_STS_MEDIUM },		/* write fault */
	{ 0x281, BLK_STS_MEDIUM },		/* unrecovered read error */
	{ 0x282, BLK_STS_PROTECTION },		/* guard check */
	{ 0x283, BLK_STS_PROTECTION },		/* application tag check */
	{ 0x284, BLK_STS_PROTECTION },		/* reference tag check */
	{ 0x285, BLK_STS_MEDIUM },		/* compare failure */
	{ 0x286, BLK_STS_MEDIUM },		/* access denied */
	{ 0x287, BLK_STS_MEDIUM },		/* unwritten block */
	{ 0x300, BLK_STS_TRANSPORT },		/* internal path error */
	{ 0x360, BLK_STS_TRANSPORT },		/* controller pathing error */
	{ 0x370, BLK_STS_TRANSPORT },		/* host pathing error */
};

static blk_status_t expected_blk(u16 status)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(blk_statuses); i++)
		if (blk_statuses[i].status == status)
			return blk_statuses[i].blk;
	return BLK_STS_IOERR;
}

/* All there can be; Do Not Retry, More and the retry delay do not matter. */
static void status_blk(struct kunit *test)
{
	static const u16 others[] = { 0, 0x4000, 0x2000, 0x1800, 0x7800 };
	int status, i;

	for (status = 1; status < 0x800; status++)
		for (i = 0; i < ARRAY_SIZE(others); i++)
			KUNIT_EXPECT_TRUE_MSG(test,
					      qhost_blk_status(status | others[i]) ==
					      expected_blk(status), "%#x",
					      status | others[i]);
	/* An errno: the connection was lost. */
	KUNIT_EXPECT_TRUE(test, qhost_blk_status(-ECONNRESET) ==
			  BLK_STS_TRANSPORT);
	KUNIT_EXPECT_TRUE(test, qhost_blk_status(-ETIMEDOUT) ==
			  BLK_STS_TRANSPORT);
}

static void status_errno(struct kunit *test)
{
	int status;

	KUNIT_EXPECT_EQ(test, qhost_status_errno(0, false), 0);
	KUNIT_EXPECT_EQ(test, qhost_status_errno(-EINTR, true), -EINTR);
	/* Never success, and never what is no errno. */
	for (status = 1; status < 0x800; status++) {
		KUNIT_EXPECT_TRUE(test,
				  IS_ERR_VALUE((long)qhost_status_errno(status, false)));
		KUNIT_EXPECT_TRUE(test,
				  IS_ERR_VALUE((long)qhost_status_errno(status, true)));
	}
	KUNIT_EXPECT_EQ(test, qhost_status_errno(0x4002, false), -EINVAL);
	KUNIT_EXPECT_EQ(test, qhost_status_errno(0x4006, false), -EIO);
	KUNIT_EXPECT_EQ(test, qhost_status_errno(0x4001, false), -EOPNOTSUPP);
}

/* Command specific statuses mean other things to a Connect than to a Write. */
static void status_of_connect(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, qhost_status_errno(0x4184, true), -EACCES);
	KUNIT_EXPECT_EQ(test, qhost_status_errno(0x4182, true), -EINVAL);
	KUNIT_EXPECT_EQ(test, qhost_status_errno(0x0181, true), -EBUSY);
	KUNIT_EXPECT_EQ(test, qhost_status_errno(0x4182, false), -EROFS);
	KUNIT_EXPECT_STREQ(test, qhost_status_name(0x4184, true),
			   "this host is not allowed");
	KUNIT_EXPECT_STREQ(test, qhost_status_name(0x4182, false),
			   "write to a read-only range");
	/* What has no name for Connect has its own. */
	KUNIT_EXPECT_STREQ(test, qhost_status_name(0x4002, true),
			   "invalid field");
	KUNIT_EXPECT_STREQ(test, qhost_status_name(0x7ff, true), "error");
}

/* Base, figure 93: Do Not Retry. */
static void status_retry(struct kunit *test)
{
	struct qhost_request *req;
	struct request *rq;
	int i;

	rq = kunit_kzalloc(test, sizeof(*rq) + sizeof(*req), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rq);
	req = blk_mq_rq_to_pdu(rq);
	for (i = 0; i < QHOST_MAX_RETRIES; i++) {
		req->retries = i;
		KUNIT_EXPECT_TRUE(test, qhost_may_retry(rq, 0x0006));
		KUNIT_EXPECT_TRUE(test, qhost_may_retry(rq, 0x2006));
		KUNIT_EXPECT_FALSE(test, qhost_may_retry(rq, 0x4006));
		KUNIT_EXPECT_FALSE(test, qhost_may_retry(rq, -ECONNRESET));
	}
	req->retries = QHOST_MAX_RETRIES;
	KUNIT_EXPECT_FALSE(test, qhost_may_retry(rq, 0x0006));

	req->retries = 0;
	rq->cmd_flags = REQ_OP_READ | REQ_FAILFAST_DRIVER;
	KUNIT_EXPECT_FALSE(test, qhost_may_retry(rq, 0x0006));
	rq->cmd_flags = REQ_OP_DRV_IN;
	KUNIT_EXPECT_FALSE(test, qhost_may_retry(rq, 0x0006));
	rq->cmd_flags = REQ_OP_WRITE;
	KUNIT_EXPECT_TRUE(test, qhost_may_retry(rq, 0x0006));
}

static struct kunit_case status_cases[] = {
	KUNIT_CASE(status_blk),
	KUNIT_CASE(status_errno),
	KUNIT_CASE(status_of_connect),
	KUNIT_CASE(status_retry),
	{}
};

static struct kunit_suite status_suite = {
	.name = "quarry_host_status",
	.test_cases = status_cases,
};

kunit_test_suites(&ctrl_suite, &status_suite);
