// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls below libibverbs, with less room for the driver's part of the
 * answer or the question than there is to say: refused, and nothing is left.
 * With more room than that, they do what they are asked.
 *
 * usage: abi DEVICE [CASE]...
 */
#include <rdma/ib_user_verbs.h>
#include "lib.h"

static const char *dev;

/* A request with its header in front; 0 or what went wrong. */
static int call(struct ibv_context *ctx, __u32 command, void *req, size_t in, size_t out)
{
	struct ib_uverbs_cmd_hdr *hdr = req;

	*hdr = (struct ib_uverbs_cmd_hdr) {
		.command = command, .in_words = in / 4, .out_words = out / 4,
	};
	errno = 0;
	return write(ctx->cmd_fd, req, in) == (ssize_t)in ? 0 : errno;
}

static void destroy(struct ibv_context *ctx, __u32 command, __u32 handle)
{
	__u32 resp[4];
	/* All of these have the same beginning. */
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_cq cmd;
	} req = { .cmd = { .response = (uintptr_t)resp } };

	req.cmd.cq_handle = handle;
	must(!call(ctx, command, &req, sizeof(req), sizeof(struct ib_uverbs_destroy_cq_resp)));
}

static void completion_queue(void)
{
	struct {
		struct ib_uverbs_create_cq_resp core;
		__u64 driver[16];
	} resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_cq cmd;
	} req = { .cmd = { .response = (uintptr_t)&resp, .cqe = 100, .comp_channel = -1 } };
	struct end e;
	size_t more;

	end_open(&e, dev);
	for (more = 0; more < sizeof(struct mminfo); more += 4)
		must(call(e.ctx, IB_USER_VERBS_CMD_CREATE_CQ, &req, sizeof(req),
			  sizeof(resp.core) + more) == EINVAL);
	for (; more <= sizeof(resp.driver); more += 8) {
		must(!call(e.ctx, IB_USER_VERBS_CMD_CREATE_CQ, &req, sizeof(req),
			   sizeof(resp.core) + more));
		must(resp.core.cqe >= 100);
		destroy(e.ctx, IB_USER_VERBS_CMD_DESTROY_CQ, resp.core.cq_handle);
	}
	end_close(&e);
}

static void shared_queue(void)
{
	struct {
		struct ib_uverbs_create_srq_resp core;
		__u64 driver[16];
	} resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_srq cmd;
	} req = { .cmd = { .response = (uintptr_t)&resp, .max_wr = 10, .max_sge = 1 } };
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_modify_srq cmd;
	} modify = { .cmd = { .attr_mask = IBV_SRQ_MAX_WR, .max_wr = 20 } };
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_srq cmd;
	} end = { .cmd = { .response = (uintptr_t)&resp } };
	struct end e;
	size_t more;

	end_open(&e, dev);
	req.cmd.pd_handle = e.pd->handle;
	for (more = 0; more < sizeof(struct rxe_create_srq_resp); more += 4)
		must(call(e.ctx, IB_USER_VERBS_CMD_CREATE_SRQ, &req, sizeof(req),
			  sizeof(resp.core) + more) == EINVAL);
	must(!call(e.ctx, IB_USER_VERBS_CMD_CREATE_SRQ, &req, sizeof(req), sizeof(resp)));
	/* A resize that does not say where the new mapping is to be told. */
	modify.cmd.srq_handle = resp.core.srq_handle;
	must(call(e.ctx, IB_USER_VERBS_CMD_MODIFY_SRQ, &modify, sizeof(modify), 0) == EINVAL);
	/* A limit needs nothing of the kind. */
	modify.cmd.attr_mask = IBV_SRQ_LIMIT;
	modify.cmd.srq_limit = 3;
	must(!call(e.ctx, IB_USER_VERBS_CMD_MODIFY_SRQ, &modify, sizeof(modify), 0));
	end.cmd.srq_handle = resp.core.srq_handle;
	must(!call(e.ctx, IB_USER_VERBS_CMD_DESTROY_SRQ, &end, sizeof(end),
		   sizeof(struct ib_uverbs_destroy_srq_resp)));
	end_close(&e);
}

static void queue_pair(void)
{
	struct {
		struct ib_uverbs_create_qp_resp core;
		__u64 driver[16];
	} resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_qp cmd;
	} req = {
		.cmd = {
			.response = (uintptr_t)&resp, .max_send_wr = 10, .max_recv_wr = 10,
			.max_send_sge = 1, .max_recv_sge = 1, .qp_type = IBV_QPT_RC,
		},
	};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_qp cmd;
	} end = { .cmd = { .response = (uintptr_t)&resp } };
	struct end e;
	size_t more;

	end_open(&e, dev);
	req.cmd.pd_handle = e.pd->handle;
	req.cmd.send_cq_handle = e.cq->handle;
	req.cmd.recv_cq_handle = e.cq->handle;
	for (more = 0; more < sizeof(struct rxe_create_qp_resp); more += 4)
		must(call(e.ctx, IB_USER_VERBS_CMD_CREATE_QP, &req, sizeof(req),
			  sizeof(resp.core) + more) == EINVAL);
	must(!call(e.ctx, IB_USER_VERBS_CMD_CREATE_QP, &req, sizeof(req), sizeof(resp)));
	end.cmd.qp_handle = resp.core.qp_handle;
	must(!call(e.ctx, IB_USER_VERBS_CMD_DESTROY_QP, &end, sizeof(end),
		   sizeof(struct ib_uverbs_destroy_qp_resp)));
	end_close(&e);
}

static void address_handle(void)
{
	struct {
		struct ib_uverbs_create_ah_resp core;
		__u64 driver[4];
	} resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_ah cmd;
	} req = {
		.cmd = {
			.response = (uintptr_t)&resp,
			.attr = { .is_global = 1, .port_num = 1, .grh = { .hop_limit = 8 } },
		},
	};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_ah cmd;
	} end = {};
	union ibv_gid gid;
	struct end e;
	int index;

	end_open(&e, dev);
	must(!ibv_close_device(open_device(dev, &index)));
	must(!ibv_query_gid(e.ctx, 1, index, &gid));
	memcpy(req.cmd.attr.grh.dgid, gid.raw, sizeof(gid));
	req.cmd.attr.grh.sgid_index = index;
	req.cmd.pd_handle = e.pd->handle;
	must(call(e.ctx, IB_USER_VERBS_CMD_CREATE_AH, &req, sizeof(req), sizeof(resp.core)) ==
	     EINVAL);
	must(!call(e.ctx, IB_USER_VERBS_CMD_CREATE_AH, &req, sizeof(req),
		   sizeof(resp.core) + sizeof(struct rxe_create_ah_resp)));
	end.cmd.ah_handle = resp.core.ah_handle;
	must(!call(e.ctx, IB_USER_VERBS_CMD_DESTROY_AH, &end, sizeof(end), 0));
	end_close(&e);
}

static const struct test_case cases[] = {
	{ "completion-queue", completion_queue },
	{ "shared-queue", shared_queue },
	{ "queue-pair", queue_pair },
	{ "address-handle", address_handle },
};

int main(int argc, char **argv)
{
	must(argc > 1);
	dev = argv[1];
	return run_cases(cases, NUM(cases), argc, argv);
}
