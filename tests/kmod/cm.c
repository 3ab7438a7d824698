// SPDX-License-Identifier: GPL-2.0-only
/*
 * The connection manager over QP1 of both devices: connect with private data,
 * reject, disconnect, an address where nobody listens. The identifiers live in
 * the namespaces of the devices' interfaces.
 */
#include <linux/inet.h>
#include <net/ipv6.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>
#include "qverbs.h"

#define PORT 18515

/* One identifier and what has been told about it. */
struct end {
	struct qv_link		*l;
	struct rdma_cm_id	*id;
	wait_queue_head_t	wait;
	unsigned long		events;
	int			status;
	u8			data[16];
	struct rdma_cm_id	*child;		/* of a listener */
};

static const char refusal[16] = "go away, please";

static void refuse(struct rdma_cm_id *id)
{
	rdma_reject(id, refusal, sizeof(refusal), IB_CM_REJ_CONSUMER_DEFINED);
}

static int on_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct end *e = id->context;

	/*
	 * A request that comes twice, as the wire doubled it or lost the answer,
	 * is a new one to the core once the first has been answered with a
	 * rejection. Not 0: the core ends it.
	 */
	if (ev->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		if (e->child) {
			refuse(id);
			return -EBUSY;
		}
		e->child = id;
	}
	if (ev->param.conn.private_data_len >= sizeof(e->data) &&
	    (ev->event == RDMA_CM_EVENT_CONNECT_REQUEST ||
	     ev->event == RDMA_CM_EVENT_ESTABLISHED || ev->event == RDMA_CM_EVENT_REJECTED) &&
	    ev->param.conn.private_data)
		memcpy(e->data, ev->param.conn.private_data, sizeof(e->data));
	e->status = ev->status;
	set_bit(ev->event, &e->events);
	wake_up(&e->wait);
	return 0;
}

static int await(struct end *e, enum rdma_cm_event_type event)
{
	if (!wait_event_timeout(e->wait, test_bit(event, &e->events),
				msecs_to_jiffies(QV_WAIT_MS)))
		return qv_fail(e->l, "'%s' expected, events seen: %#lx, status %d",
			       rdma_event_msg(event), e->events, e->status);
	return 0;
}

static void sockaddr_of(const struct ib_gid_attr *gid, u16 port, struct sockaddr_storage *ss)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;
	const struct in6_addr *addr = (const struct in6_addr *)&gid->gid;

	memset(ss, 0, sizeof(*ss));
	if (ipv6_addr_v4mapped(addr)) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		in->sin_addr.s_addr = addr->s6_addr32[3];
	} else {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		in6->sin6_addr = *addr;
	}
}

static struct net *net_of(const struct ib_gid_attr *gid)
{
	struct net_device *ndev;
	struct net *net;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(gid);
	net = IS_ERR(ndev) ? &init_net : dev_net(ndev);
	rcu_read_unlock();
	return net;
}

static int make_id(struct end *e, struct qv_side *s)
{
	e->l = s->link;
	init_waitqueue_head(&e->wait);
	e->id = rdma_create_id(net_of(s->gid), on_event, e, RDMA_PS_TCP, IB_QPT_RC);
	return IS_ERR(e->id) ? qv_fail(e->l, "rdma_create_id: %ld", PTR_ERR(e->id)) : 0;
}

static int start_server(struct end *e, struct qv_side *s)
{
	struct sockaddr_storage addr;
	int err = make_id(e, s);

	if (err)
		return err;
	sockaddr_of(s->gid, PORT, &addr);
	err = rdma_bind_addr(e->id, (struct sockaddr *)&addr) ?: rdma_listen(e->id, 4);
	return err ? qv_fail(e->l, "rdma_bind_addr or rdma_listen: %d", err) : 0;
}

static int resolve(struct end *e, struct qv_side *s)
{
	struct sockaddr_storage from, to;
	int err = make_id(e, s);

	if (err)
		return err;
	sockaddr_of(s->gid, 0, &from);
	sockaddr_of(qv_peer(s)->gid, PORT, &to);
	err = rdma_resolve_addr(e->id, (struct sockaddr *)&from, (struct sockaddr *)&to, 2000);
	if (err)
		return qv_fail(e->l, "rdma_resolve_addr: %d", err);
	err = await(e, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (err)
		return err;
	err = rdma_resolve_route(e->id, 2000);
	return err ? qv_fail(e->l, "rdma_resolve_route: %d", err) :
		     await(e, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int make_qp(struct rdma_cm_id *id, struct qv_side *s)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .send_cq = s->scq, .recv_cq = s->rcq,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	int err = rdma_create_qp(id, s->pd, &init);

	return err ? qv_fail(s->link, "rdma_create_qp: %d", err) : 0;
}

static void end_child(struct end *e)
{
	if (!e->child)
		return;
	if (e->child->qp)
		rdma_destroy_qp(e->child);
	rdma_destroy_id(e->child);
	e->child = NULL;
}

/* A listener before its child: after that no other child can come. */
static void end(struct end *e)
{
	if (!IS_ERR_OR_NULL(e->id)) {
		if (e->id->qp)
			rdma_destroy_qp(e->id);
		rdma_destroy_id(e->id);
	}
	end_child(e);
}

static int call_server(struct end *client, struct end *server)
{
	struct rdma_conn_param param = {
		.private_data = "0123456789abcdef", .private_data_len = 16,
		.responder_resources = 4, .initiator_depth = 4,
		.retry_count = 7, .rnr_retry_count = 7,
	};
	int err = rdma_connect(client->id, &param);

	if (err)
		return qv_fail(client->l, "rdma_connect: %d", err);
	err = await(server, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (!err && memcmp(server->data, "0123456789abcdef", 16))
		err = qv_fail(server->l, "wrong private data in the request: %16phN", server->data);
	return err;
}

static int accept(struct end *client, struct end *server)
{
	struct rdma_conn_param param = {
		.private_data = "fedcba9876543210", .private_data_len = 16,
		.responder_resources = 4, .initiator_depth = 4, .rnr_retry_count = 7,
	};
	int err;

	rdma_lock_handler(server->child);
	err = rdma_accept(server->child, &param);
	rdma_unlock_handler(server->child);
	if (err)
		return qv_fail(server->l, "rdma_accept: %d", err);
	err = await(client, RDMA_CM_EVENT_ESTABLISHED) ?:
	      await(server, RDMA_CM_EVENT_ESTABLISHED);
	if (!err && memcmp(client->data, "fedcba9876543210", 16))
		err = qv_fail(client->l, "wrong private data in the reply: %16phN", client->data);
	return err;
}

/* A message over the new connection: the link's own functions do it. */
static int talk(struct qv_link *l, struct end *client, struct end *server)
{
	struct ib_qp *qp[2] = { l->side[QV_A].qp, l->side[QV_B].qp };
	int err;

	l->side[QV_A].qp = client->id->qp;
	l->side[QV_B].qp = server->child->qp;
	err = qv_ping(l);
	l->side[QV_A].qp = qp[QV_A];
	l->side[QV_B].qp = qp[QV_B];
	return err;
}

static int hang_up(struct end *client, struct end *server)
{
	int err = rdma_disconnect(client->id);

	if (err)
		return qv_fail(client->l, "rdma_disconnect: %d", err);
	err = await(server, RDMA_CM_EVENT_DISCONNECTED);
	if (err)
		return err;
	/*
	 * The server's own is its answer. If that is lost, the client asks
	 * again after six seconds; an id that has gone through its time-wait
	 * by then but is still there does not answer, one that is gone does.
	 */
	rdma_disconnect(server->child);
	end_child(server);
	return await(client, RDMA_CM_EVENT_DISCONNECTED);
}

/* @rounds times; the server takes @ms to accept. */
static int lives(struct qv_link *l, u32 rounds, u32 ms)
{
	struct qv_side *a = &l->side[QV_A], *b = &l->side[QV_B];
	int err = 0;

	while (rounds-- && !err) {
		struct end client = {}, server = {};

		err = start_server(&server, b) ?: resolve(&client, a) ?: make_qp(client.id, a) ?:
		      call_server(&client, &server) ?: make_qp(server.child, b);
		if (!err)
			msleep(ms);
		err = err ?: accept(&client, &server) ?: talk(l, &client, &server) ?:
		      hang_up(&client, &server);
		end(&client);
		end(&server);
	}
	return err;
}

static int connect(struct qv_link *l, u32 rounds)
{
	return lives(l, rounds, 0);
}

/* The client asks again meanwhile, and is asked for patience. */
static int late(struct qv_link *l, u32 ms)
{
	return lives(l, 1, ms);
}

static int reject(struct qv_link *l, u32 unused)
{
	struct end client = {}, server = {};
	int err;

	err = start_server(&server, &l->side[QV_B]) ?: resolve(&client, &l->side[QV_A]) ?:
	      make_qp(client.id, &l->side[QV_A]) ?: call_server(&client, &server);
	if (!err) {
		refuse(server.child);
		err = await(&client, RDMA_CM_EVENT_REJECTED);
		if (!err && client.status != IB_CM_REJ_CONSUMER_DEFINED)
			err = qv_fail(l, "reason %d expected, not %d",
				      IB_CM_REJ_CONSUMER_DEFINED, client.status);
		if (!err && memcmp(client.data, refusal, sizeof(refusal)))
			err = qv_fail(l, "wrong private data in the rejection");
	}
	end(&client);
	end(&server);
	return err;
}

static int nobody(struct qv_link *l, u32 unused)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct end client = {};
	int err;

	err = resolve(&client, &l->side[QV_A]) ?: make_qp(client.id, &l->side[QV_A]);
	if (!err) {
		err = rdma_connect(client.id, &param);
		if (err)
			err = qv_fail(l, "rdma_connect: %d", err);
		err = err ?: await(&client, RDMA_CM_EVENT_REJECTED);
		if (!err && client.status != IB_CM_REJ_INVALID_SERVICE_ID)
			err = qv_fail(l, "reason %d expected, not %d",
				      IB_CM_REJ_INVALID_SERVICE_ID, client.status);
	}
	end(&client);
	return err;
}

static const struct qv_case cases[] = {
	{ "connect", connect, 1 },
	{ "connect-again", connect, 10 },
	{ "reject", reject },
	{ "nobody", nobody },
};

static const struct qv_case late_cases[] = {
	{ "late", late, 6000 },
};

QV_GROUP(qv_cm, cases);
QV_GROUP(qv_late, late_cases);
