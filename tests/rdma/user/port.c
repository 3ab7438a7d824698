// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the device says of itself, held against what it does.
 *
 * usage: port DEVICE limits	of sizes
 *        port DEVICE counts	of objects
 *        port DEVICE events	prints asynchronous events until it is killed
 */
#include "lib.h"

static struct ibv_device_attr attr;

static int qp_possible(const struct end *e, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr init = {
		.send_cq = e->cq, .recv_cq = e->cq, .qp_type = IBV_QPT_RC, .cap = cap,
	};
	struct ibv_qp *qp = ibv_create_qp(e->pd, &init);

	if (!qp)
		return 0;
	must(init.cap.max_send_wr >= cap.max_send_wr && init.cap.max_recv_wr >= cap.max_recv_wr);
	must(init.cap.max_send_wr <= (__u32)attr.max_qp_wr);
	must(init.cap.max_recv_wr <= (__u32)attr.max_qp_wr);
	must(!ibv_destroy_qp(qp));
	return 1;
}

static void qp_limits(const struct end *e)
{
	const __u32 wrs = attr.max_qp_wr, sges = attr.max_sge;
	unsigned int more;

	for (more = 0; more < 2; more++) {
		must(qp_possible(e, (struct ibv_qp_cap) {
			.max_send_wr = wrs + more, .max_recv_wr = 1,
			.max_send_sge = 1, .max_recv_sge = 1 }) == !more);
		must(qp_possible(e, (struct ibv_qp_cap) {
			.max_send_wr = 1, .max_recv_wr = wrs + more,
			.max_send_sge = 1, .max_recv_sge = 1 }) == !more);
		must(qp_possible(e, (struct ibv_qp_cap) {
			.max_send_wr = 1, .max_recv_wr = 1,
			.max_send_sge = sges + more, .max_recv_sge = 1 }) == !more);
		must(qp_possible(e, (struct ibv_qp_cap) {
			.max_send_wr = 1, .max_recv_wr = 1,
			.max_send_sge = 1, .max_recv_sge = sges + more }) == !more);
	}
}

static void queue_limits(const struct end *e)
{
	struct ibv_srq_init_attr init;
	unsigned int more;
	struct ibv_srq *srq;
	struct ibv_cq *cq;

	for (more = 0; more < 2; more++) {
		cq = ibv_create_cq(e->ctx, attr.max_cqe + more, NULL, NULL, 0);
		must((!cq) == more);
		must(!cq || (cq->cqe <= attr.max_cqe && !ibv_destroy_cq(cq)));
		init = (struct ibv_srq_init_attr) {
			.attr = { .max_wr = attr.max_srq_wr + more, .max_sge = 1 },
		};
		srq = ibv_create_srq(e->pd, &init);
		must((!srq) == more && (!srq || !ibv_destroy_srq(srq)));
		init = (struct ibv_srq_init_attr) {
			.attr = { .max_wr = 1, .max_sge = attr.max_srq_sge + more },
		};
		srq = ibv_create_srq(e->pd, &init);
		must((!srq) == more && (!srq || !ibv_destroy_srq(srq)));
	}
}

/* A QP of that path MTU and that many READs, as far as the port lets it. */
static int connectable(struct end *e, enum ibv_mtu mtu, int reads)
{
	struct ibv_qp_attr qp_attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = mtu,
		.dest_qp_num = e->qp->qp_num, .max_dest_rd_atomic = reads,
		.ah_attr = {
			.is_global = 1, .port_num = 1, .grh = { .hop_limit = 8 },
		},
	};
	int gid, err;

	must(!ibv_close_device(open_device(ibv_get_device_name(e->ctx->device), &gid)));
	qp_attr.ah_attr.grh.sgid_index = gid;
	must(!ibv_query_gid(e->ctx, 1, gid, &qp_attr.ah_attr.grh.dgid));
	must(!end_to_init(e));
	err = ibv_modify_qp(e->qp, &qp_attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			    IBV_QP_MIN_RNR_TIMER);
	must(!err || err == EINVAL);
	end_reset(e);
	return !err;
}

static void port_limits(struct end *e)
{
	struct ibv_port_attr port, none;
	union ibv_gid gid;
	__u16 pkey;

	must(!ibv_query_port(e->ctx, 1, &port) && ibv_query_port(e->ctx, 2, &none));
	must(port.link_layer == IBV_LINK_LAYER_ETHERNET && port.max_mtu == IBV_MTU_4096);
	must(connectable(e, port.active_mtu, attr.max_qp_rd_atom));
	must(!connectable(e, port.active_mtu, attr.max_qp_rd_atom + 1));
	must(port.active_mtu == IBV_MTU_4096 ||
	     !connectable(e, port.active_mtu + 1, attr.max_qp_rd_atom));
	must(!ibv_query_gid(e->ctx, 1, port.gid_tbl_len - 1, &gid));
	must(ibv_query_gid(e->ctx, 1, port.gid_tbl_len, &gid));
	must(!ibv_query_pkey(e->ctx, 1, 0, &pkey) && pkey == 0xffff);
	must(port.pkey_tbl_len == 1 && ibv_query_pkey(e->ctx, 1, 1, &pkey));
	printf("active MTU %d\n", 128 << port.active_mtu);
}

static void limits(const char *dev)
{
	struct end e;

	end_open(&e, dev);
	must(!ibv_query_device(e.ctx, &attr));
	must(attr.phys_port_cnt == 1 && attr.node_guid && attr.sys_image_guid);
	qp_limits(&e);
	queue_limits(&e);
	port_limits(&e);
	end_close(&e);
}

/* As many as there may be, less those that are the kernel's. */
static void domains(const struct end *e)
{
	static struct ibv_pd *pds[1 << 20];
	int i, n;

	must(attr.max_pd < (int)NUM(pds));
	for (n = 0; n <= attr.max_pd; n++) {
		pds[n] = ibv_alloc_pd(e->ctx);
		if (!pds[n])
			break;
	}
	must(n < attr.max_pd && n > attr.max_pd - 20);
	for (i = 0; i < n; i++)
		must(!ibv_dealloc_pd(pds[i]));
	pds[0] = ibv_alloc_pd(e->ctx);
	must(pds[0] && !ibv_dealloc_pd(pds[0]));
}

/* 239.0.x.y */
static union ibv_gid group(int i)
{
	return (union ibv_gid) {
		.raw = { [10] = 0xff, [11] = 0xff, [12] = 239, [14] = i >> 8, [15] = i },
	};
}

static void groups(struct end *e)
{
	union ibv_gid gid;
	int i;

	must(!ibv_destroy_qp(e->qp));
	e->type = IBV_QPT_UD;
	end_create_qp(e, 1);
	must(!end_to_rts_ud(e, 1));
	for (i = 0; i < attr.max_mcast_grp; i++) {
		gid = group(i + 1);
		must(!ibv_attach_mcast(e->qp, &gid, 0));
	}
	gid = group(i + 1);
	must(ibv_attach_mcast(e->qp, &gid, 0));
	while (i--) {
		gid = group(i + 1);
		must(!ibv_detach_mcast(e->qp, &gid, 0));
	}
}

static void counts(const char *dev)
{
	struct end e;

	end_open(&e, dev);
	must(!ibv_query_device(e.ctx, &attr));
	domains(&e);
	groups(&e);
	end_close(&e);
	printf("so many domains and groups\n");
}

static void events(const char *dev)
{
	struct ibv_async_event event;
	struct ibv_context *ctx;
	int gid;

	ctx = open_device(dev, &gid);
	printf("ready\n");
	for (;;) {
		must(!ibv_get_async_event(ctx, &event));
		printf("%s\n", ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
	}
}

int main(int argc, char **argv)
{
	must(argc > 2);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(argv[2], "limits"))
		limits(argv[1]);
	else if (!strcmp(argv[2], "counts"))
		counts(argv[1]);
	else
		events(argv[1]);
	return 0;
}
