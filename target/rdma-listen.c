// SPDX-License-Identifier: GPL-2.0-only
/*
 * NVMe/RDMA, listening on ports. Process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/inet.h>
#include <linux/nsproxy.h>
#include <linux/nvme.h>
#include <linux/nvme-rdma.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include "rdma.h"

#define REPAIR_DELAY	(5 * HZ)

/* port->transport of a port that listens. */
struct listener {
	struct qtgt_port	*port;
	struct net		*net;
	struct sockaddr_storage	addr;

	/*
	 * Protects @cm_id and @stopping. Not taken by the handler of @cm_id,
	 * as whoever destroys that waits for it.
	 */
	struct mutex		lock;
	struct rdma_cm_id	*cm_id;
	bool			stopping;
	struct delayed_work	repair_work;
};

static int listen_cm_event(struct rdma_cm_id *cm_id,
			   struct rdma_cm_event *event)
{
	struct listener *l = cm_id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return qtgt_rdma_accept(cm_id, l->port, &event->param.conn);
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* Destroys it, for which the removal waits; listens anew. */
		queue_delayed_work(qtgt_wq, &l->repair_work, 0);
		return 0;
	default:
		pr_warn_ratelimited("port %u: unexpected event: %s\n",
				    l->port->cfg.portid,
				    rdma_event_msg(event->event));
		return 0;
	}
}

static int listen_start(struct listener *l)
{
	struct sockaddr *addr = (struct sockaddr *)&l->addr;
	struct rdma_cm_id *cm_id;
	int err;

	lockdep_assert_held(&l->lock);
	cm_id = rdma_create_id(l->net, listen_cm_event, l, RDMA_PS_TCP,
			       IB_QPT_RC);
	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	/* IPv4 and IPv6 may listen on the same number. */
	err = rdma_set_afonly(cm_id, 1);
	if (err)
		goto err_destroy_id;
	err = rdma_bind_addr(cm_id, addr);
	if (err)
		goto err_destroy_id;
	err = rdma_listen(cm_id, QTGT_RDMA_BACKLOG);
	if (err)
		goto err_destroy_id;
	l->cm_id = cm_id;
	return 0;

err_destroy_id:
	rdma_destroy_id(cm_id);
	return err;
}

static void listen_stop(struct listener *l)
{
	lockdep_assert_held(&l->lock);
	if (l->cm_id)
		rdma_destroy_id(l->cm_id);
	l->cm_id = NULL;
}

/* The address has moved, or its device has gone and may come back. */
static void repair_work(struct work_struct *work)
{
	struct listener *l = container_of(to_delayed_work(work),
					  struct listener, repair_work);

	mutex_lock(&l->lock);
	listen_stop(l);
	if (l->stopping)
		goto out_unlock;
	if (listen_start(l))
		queue_delayed_work(qtgt_wq, &l->repair_work, REPAIR_DELAY);
	else
		pr_info_ratelimited("port %u: listens again\n",
				    l->port->cfg.portid);
out_unlock:
	mutex_unlock(&l->lock);
}

static int parse_address(struct listener *l)
{
	const struct qtgt_port_config *cfg = &l->port->cfg;
	int family, err;

	switch (cfg->adrfam) {
	case NVMF_ADDR_FAMILY_IP4:
		family = AF_INET;
		break;
	case NVMF_ADDR_FAMILY_IP6:
		family = AF_INET6;
		break;
	default:
		pr_err_ratelimited("port %u: addr_adrfam must be ipv4 or ipv6\n",
				   cfg->portid);
		return -EINVAL;
	}
	err = inet_pton_with_scope(l->net, family, cfg->traddr, cfg->trsvcid,
				   &l->addr);
	if (err)
		pr_err_ratelimited("port %u: addr_traddr \"%s\" or addr_trsvcid \"%s\" is malformed\n",
				   cfg->portid, cfg->traddr, cfg->trsvcid);
	return err;
}

static int rdma_add_port(struct qtgt_port *port)
{
	struct listener *l;
	int err;

	l = kzalloc(sizeof(*l), GFP_KERNEL);
	if (!l)
		return -ENOMEM;
	l->port = port;
	l->net = get_net(current->nsproxy->net_ns);
	mutex_init(&l->lock);
	INIT_DELAYED_WORK(&l->repair_work, repair_work);
	err = parse_address(l);
	if (err)
		goto err_free_listener;

	mutex_lock(&l->lock);
	err = listen_start(l);
	mutex_unlock(&l->lock);
	if (err) {
		pr_err_ratelimited("port %u: cannot listen on %pISpc: %d%s\n",
				   port->cfg.portid, &l->addr, err,
				   err == -ENODEV ?
				   " (no RDMA device has this address)" : "");
		goto err_free_listener;
	}
	port->transport = l;
	pr_info("port %u: listens on %pISpc\n", port->cfg.portid, &l->addr);
	return 0;

err_free_listener:
	mutex_destroy(&l->lock);
	put_net(l->net);
	kfree(l);
	return err;
}

static void rdma_remove_port(struct qtgt_port *port)
{
	struct listener *l = port->transport;

	/* Ends the handler, and with it what queues the work. */
	mutex_lock(&l->lock);
	l->stopping = true;
	listen_stop(l);
	mutex_unlock(&l->lock);
	cancel_delayed_work_sync(&l->repair_work);

	/* Now none can join those without a controller. */
	qtgt_rdma_disconnect_port(port);
	port->transport = NULL;
	mutex_destroy(&l->lock);
	put_net(l->net);
	kfree(l);
}

static bool is_any(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET6)
		return ipv6_addr_any(&((struct sockaddr_in6 *)addr)->sin6_addr);
	return ((struct sockaddr_in *)addr)->sin_addr.s_addr ==
	       htonl(INADDR_ANY);
}

/* A port that listens on any address is known to a host by the one it used. */
static void rdma_disc_traddr(struct qtgt_queue *core, char *traddr, size_t len)
{
	struct rdma_cm_id *cm_id = qtgt_rdma_queue(core)->cm_id;
	struct listener *l = core->port->transport;

	lockdep_assert_held(&qtgt_config_sem);
	if (l && is_any(&l->addr))
		snprintf(traddr, len, "%pISc", &cm_id->route.addr.src_addr);
	else
		strscpy(traddr, core->port->cfg.traddr, len);
}

const struct qtgt_transport_ops qtgt_rdma_ops = {
	.trtype			= NVMF_TRTYPE_RDMA,
	.keyed_sgls		= true,
	.max_queue_size		= NVME_RDMA_MAX_QUEUE_SIZE,
	.default_queue_size	= NVME_RDMA_DEFAULT_QUEUE_SIZE,
	.default_inline_size	= PAGE_SIZE,
	.max_inline_size	= QTGT_RDMA_MAX_INLINE,
	.respond		= qtgt_rdma_respond,
	.add_port		= rdma_add_port,
	.remove_port		= rdma_remove_port,
	.disconnect		= qtgt_rdma_disconnect,
	.disc_traddr		= rdma_disc_traddr,
};
