// SPDX-License-Identifier: GPL-2.0-only
/* Two ends of a connection; see lib.h. */
#include <time.h>
#include "lib.h"

double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static bool is_ipv4(const union ibv_gid *gid)
{
	static const __u8 prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, prefix, sizeof(prefix));
}

struct ibv_context *open_device(const char *name, int *gid)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	union ibv_gid g;
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (!ctx)
		die("cannot open %s", name);
	ibv_free_device_list(list);
	for (i = 0; !ibv_query_gid(ctx, 1, i, &g); i++) {
		if (is_ipv4(&g)) {
			*gid = i;
			return ctx;
		}
	}
	die("%s has no IPv4 address", name);
}

static int gid_index;

void end_create_qp(struct end *e, unsigned int depth)
{
	struct ibv_qp_init_attr init = {
		.send_cq = e->cq, .recv_cq = e->cq, .srq = e->srq,
		.qp_type = e->type ?: IBV_QPT_RC,
		.cap = {
			.max_send_wr = depth, .max_recv_wr = depth,
			.max_send_sge = 4, .max_recv_sge = 4,
			.max_inline_data = 64,
		},
	};

	e->qp = ibv_create_qp(e->pd, &init);
	must(e->qp);
	must(init.cap.max_send_wr >= depth);
	must(e->srq || init.cap.max_recv_wr >= depth);
}

void end_open(struct end *e, const char *dev)
{
	memset(e, 0, sizeof(*e));
	e->ctx = open_device(dev, &gid_index);
	e->pd = ibv_alloc_pd(e->ctx);
	e->chan = ibv_create_comp_channel(e->ctx);
	must(e->pd && e->chan);
	e->cq = ibv_create_cq(e->ctx, 4 * DEPTH, NULL, e->chan, 0);
	must(e->cq);
	e->buf = mmap(NULL, BUF_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(e->buf != MAP_FAILED);
	e->mr = ibv_reg_mr(e->pd, e->buf, BUF_SIZE, ALL_ACCESS);
	must(e->mr);
	end_create_qp(e, DEPTH);
}

void end_close(struct end *e)
{
	must(!ibv_destroy_qp(e->qp));
	if (e->mr)
		must(!ibv_dereg_mr(e->mr));
	must(!ibv_destroy_cq(e->cq));
	must(!ibv_destroy_comp_channel(e->chan));
	must(!ibv_dealloc_pd(e->pd));
	must(!ibv_close_device(e->ctx));
	munmap(e->buf, BUF_SIZE);
}

struct ibv_sge sge_of(const struct end *e, size_t off, __u32 len)
{
	return (struct ibv_sge) {
		.addr = (uintptr_t)e->buf + off,
		.length = len,
		.lkey = e->mr->lkey,
	};
}

struct ibv_ah *make_ah(struct ibv_pd *pd, const struct end *to)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .sgid_index = gid_index, .hop_limit = 8 },
	};

	must(!ibv_query_gid(to->ctx, 1, gid_index, &attr.grh.dgid));
	return ibv_create_ah(pd, &attr);
}

int end_to_rts_ud(struct end *e, __u32 qkey)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = qkey,
	};
	int err;

	err = ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			    IBV_QP_PORT | IBV_QP_QKEY);
	attr.qp_state = IBV_QPS_RTR;
	if (!err)
		err = ibv_modify_qp(e->qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	if (!err)
		err = ibv_modify_qp(e->qp, &attr, IBV_QP_STATE |
				    IBV_QP_SQ_PSN);
	return err;
}

int end_to_init(struct end *e)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = ALL_ACCESS,
	};

	return ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int end_to_rts(struct end *e, const struct end *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096,
		.dest_qp_num = peer->qp->qp_num, .rq_psn = 100,
		.max_dest_rd_atomic = 8, .min_rnr_timer = 1,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .sgid_index = gid_index, .hop_limit = 8 },
		},
	};
	int err;

	must(!ibv_query_gid(peer->ctx, 1, gid_index, &attr.ah_attr.grh.dgid));
	err = ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			    IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			    (e->type == IBV_QPT_UC ? 0 :
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	if (err)
		return err;
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = 100;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 8;
	return ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
			     (e->type == IBV_QPT_UC ? 0 :
			      IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			      IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
}

void end_reset(struct end *e)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_wc wc;

	must(!ibv_modify_qp(e->qp, &attr, IBV_QP_STATE));
	while (ibv_poll_cq(e->cq, 1, &wc) > 0)
		;
}

void pair_connect(struct end *a, struct end *b)
{
	must(!end_to_init(a) && !end_to_init(b));
	must(!end_to_rts(a, b) && !end_to_rts(b, a));
}

void pair_again(struct end *a, struct end *b)
{
	end_reset(a);
	end_reset(b);
	pair_connect(a, b);
}

void pair_open(struct end *a, struct end *b, const char *dev)
{
	end_open(a, dev);
	end_open(b, dev);
	pair_connect(a, b);
}

void pair_close(struct end *a, struct end *b)
{
	end_close(a);
	end_close(b);
}

struct ibv_send_wr make_wr(enum ibv_wr_opcode opcode, struct ibv_sge *sge,
			   __u64 raddr, __u32 rkey)
{
	struct ibv_send_wr wr = {
		.wr_id = 1, .opcode = opcode, .sg_list = sge, .num_sge = !!sge,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = raddr;
		wr.wr.atomic.rkey = rkey;
	} else {
		wr.wr.rdma.remote_addr = raddr;
		wr.wr.rdma.rkey = rkey;
	}
	return wr;
}

int post(struct end *e, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(e->qp, wr, &bad);
}

int post_recv(struct end *e, struct ibv_sge *sge, __u64 wr_id)
{
	struct ibv_recv_wr wr = {
		.wr_id = wr_id, .sg_list = sge, .num_sge = !!sge,
	}, *bad;

	return ibv_post_recv(e->qp, &wr, &bad);
}

struct ibv_wc wait_wc(struct ibv_cq *cq)
{
	double end = now() + 10;
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(cq, 1, &wc);
	} while (!n && now() < end);
	if (n != 1)
		die("no completion within ten seconds");
	return wc;
}

enum ibv_wc_status do_wr(struct end *e, struct ibv_send_wr *wr)
{
	must(!post(e, wr));
	return wait_wc(e->cq).status;
}

/* Mappings grow downwards. */
struct rxe_queue_buf *queue_of(size_t slot)
{
	struct mapping m[16];
	int n = find_mappings(m, 16), i;

	for (i = 0; i < n; i++) {
		struct rxe_queue_buf *q = m[i].start;

		if (1U << q->log2_elem_size == slot)
			return q;
	}
	die("no queue with slots of %zu bytes", slot);
}

int find_mappings(struct mapping *m, int max)
{
	unsigned long start, end, offset;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	int n = 0;

	must(f);
	while (n < max && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "/uverbs") ||
		    sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) != 3)
			continue;
		m[n++] = (struct mapping) {
			.start = (void *)start,
			.size = end - start,
			.offset = offset,
		};
	}
	fclose(f);
	return n;
}

static bool wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 2; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc == 2;
}

int run_cases(const struct test_case *cases, unsigned int count, int argc, char **argv)
{
	unsigned int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < count; i++) {
		if (!wanted(cases[i].name, argc, argv))
			continue;
		cases[i].run();
		printf("%s\n", cases[i].name);
	}
	return 0;
}
