// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ports, the subsystems they offer, and referrals. Process context.
 *
 * A referral is a port of another target: it has an address, and never
 * listens.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/slab.h>
#include "internal.h"

LIST_HEAD(qtgt_ports);

static const struct qtgt_transport_ops *const transports[] = {
	&qtgt_rdma_ops,
};

static struct qtgt_port *port_alloc(u16 portid)
{
	struct qtgt_port *port;

	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return NULL;
	kref_init(&port->ref);
	INIT_LIST_HEAD(&port->entry);
	INIT_LIST_HEAD(&port->subsystems);
	INIT_LIST_HEAD(&port->referrals);
	INIT_LIST_HEAD(&port->referral_entry);
	port->cfg.portid = portid;
	port->cfg.adrfam = NVMF_ADDR_FAMILY_MAX;
	port->cfg.inline_data_size = -1;
	port->cfg.max_queue_size = -1;
	port->cfg.connect_timeout = QTGT_CONNECT_TIMEOUT;
	return port;
}

struct qtgt_port *qtgt_port_create(u16 portid)
{
	struct qtgt_port *port = port_alloc(portid);

	if (!port)
		return ERR_PTR(-ENOMEM);
	port->cfg.treq = NVMF_TREQ_DISABLE_SQFLOW;
	memset(port->ana_state, NVME_ANA_INACCESSIBLE, sizeof(port->ana_state));
	port->ana_state[QTGT_DEFAULT_ANAGRP] = NVME_ANA_OPTIMIZED;

	down_write(&qtgt_config_sem);
	list_add_tail(&port->entry, &qtgt_ports);
	up_write(&qtgt_config_sem);
	return port;
}

struct qtgt_port *qtgt_referral_create(void)
{
	return port_alloc(0) ? : ERR_PTR(-ENOMEM);
}

void qtgt_port_destroy(struct qtgt_port *port)
{
	down_write(&qtgt_config_sem);
	list_del_init(&port->entry);
	up_write(&qtgt_config_sem);
	qtgt_port_put(port);
}

/**
 * qtgt_port_get() - take a reference
 * @port: port
 *
 * Context: any.
 * Return: @port.
 */
struct qtgt_port *qtgt_port_get(struct qtgt_port *port)
{
	kref_get(&port->ref);
	return port;
}

static void port_free(struct kref *ref)
{
	struct qtgt_port *port = container_of(ref, struct qtgt_port, ref);

	WARN_ON_ONCE(port->enabled);
	kfree(port);
}

/**
 * qtgt_port_put() - drop a reference
 * @port: port
 *
 * Context: any.
 */
void qtgt_port_put(struct qtgt_port *port)
{
	kref_put(&port->ref, port_free);
}

void qtgt_port_get_config(struct qtgt_port *port, struct qtgt_port_config *cfg)
{
	down_read(&qtgt_config_sem);
	*cfg = port->cfg;
	up_read(&qtgt_config_sem);
}

int qtgt_port_set_config(struct qtgt_port *port,
			 const struct qtgt_port_config *cfg)
{
	int err = 0;

	down_write(&qtgt_config_sem);
	if (port->enabled)
		err = -EACCES;
	else
		port->cfg = *cfg;
	up_write(&qtgt_config_sem);
	return err;
}

bool qtgt_port_enabled(struct qtgt_port *port)
{
	return READ_ONCE(port->enabled);
}

static struct qtgt_port_link *find_link(struct qtgt_port *port,
					struct qtgt_subsys *subsys)
{
	struct qtgt_port_link *link;

	lockdep_assert_held(&qtgt_config_sem);
	list_for_each_entry(link, &port->subsystems, entry)
		if (link->subsys == subsys)
			return link;
	return NULL;
}

/* What the administrator leaves open, the transport chooses. */
static void port_choose_sizes(struct qtgt_port *port)
{
	const struct qtgt_transport_ops *ops = port->ops;
	struct qtgt_port_config *cfg = &port->cfg;

	if (cfg->inline_data_size < 0)
		cfg->inline_data_size = ops->default_inline_size;
	if (cfg->inline_data_size > ops->max_inline_size) {
		pr_warn_ratelimited("port %u: param_inline_data_size %d is lowered to %d\n",
				    cfg->portid, cfg->inline_data_size,
				    ops->max_inline_size);
		cfg->inline_data_size = ops->max_inline_size;
	}
	/* Identify tells it in units of 16 bytes. */
	cfg->inline_data_size = round_down(cfg->inline_data_size, 16);

	if (cfg->max_queue_size < 0)
		cfg->max_queue_size = ops->default_queue_size;
	if (cfg->max_queue_size > ops->max_queue_size)
		pr_warn_ratelimited("port %u: param_max_queue_size %d is lowered to %u\n",
				    cfg->portid, cfg->max_queue_size,
				    ops->max_queue_size);
	cfg->max_queue_size = clamp_t(int, cfg->max_queue_size,
				      QTGT_MIN_QUEUE_SIZE, ops->max_queue_size);
}

static int port_enable(struct qtgt_port *port)
{
	int err, i;

	lockdep_assert_held_write(&qtgt_config_sem);
	port->ops = NULL;
	for (i = 0; i < ARRAY_SIZE(transports); i++)
		if (transports[i]->trtype == port->cfg.trtype)
			port->ops = transports[i];
	if (!port->ops) {
		pr_err_ratelimited("port %u: addr_trtype is not set\n",
				   port->cfg.portid);
		return -EINVAL;
	}

	port_choose_sizes(port);
	err = port->ops->add_port(port);
	if (err)
		return err;
	WRITE_ONCE(port->enabled, true);
	return 0;
}

static void port_disable(struct qtgt_port *port)
{
	lockdep_assert_held_write(&qtgt_config_sem);
	WRITE_ONCE(port->enabled, false);
	port->ops->remove_port(port);
}

int qtgt_port_link(struct qtgt_port *port, struct qtgt_subsys *subsys)
{
	struct qtgt_port_link *link;
	int err = 0;

	link = kmalloc(sizeof(*link), GFP_KERNEL);
	if (!link)
		return -ENOMEM;
	link->subsys = subsys;

	down_write(&qtgt_config_sem);
	if (find_link(port, subsys)) {
		pr_err_ratelimited("port %u: offers subsystem %s already\n",
				   port->cfg.portid, subsys->nqn);
		err = -EEXIST;
		goto err_unlock;
	}
	if (list_empty(&port->subsystems)) {
		err = port_enable(port);
		if (err)
			goto err_unlock;
	}
	list_add_tail(&link->entry, &port->subsystems);
	qtgt_disc_port_changed(port, subsys);
	up_write(&qtgt_config_sem);
	return 0;

err_unlock:
	up_write(&qtgt_config_sem);
	kfree(link);
	return err;
}

void qtgt_port_unlink(struct qtgt_port *port, struct qtgt_subsys *subsys)
{
	struct qtgt_port_link *link;

	down_write(&qtgt_config_sem);
	link = find_link(port, subsys);
	if (!link)
		goto out_unlock;

	/* No controller is made any more from here on; send away the others. */
	list_del(&link->entry);
	kfree(link);
	qtgt_subsys_disconnect(subsys, port);
	qtgt_disc_port_changed(port, subsys);
	if (list_empty(&port->subsystems))
		port_disable(port);
out_unlock:
	up_write(&qtgt_config_sem);
}

void qtgt_referral_enable(struct qtgt_port *parent, struct qtgt_port *referral,
			  bool on)
{
	down_write(&qtgt_config_sem);
	if (referral->enabled != on) {
		WRITE_ONCE(referral->enabled, on);
		if (on)
			list_add_tail(&referral->referral_entry,
				      &parent->referrals);
		else
			list_del_init(&referral->referral_entry);
		qtgt_disc_port_changed(parent, NULL);
	}
	up_write(&qtgt_config_sem);
}

/**
 * qtgt_port_find_subsys() - find what a Connect names
 * @port: port that it came in by
 * @nqn: name of a subsystem, terminated
 *
 * Context: qtgt_config_sem held.
 * Return: the subsystem, of which the caller holds a reference, or NULL where
 * @port does not offer it.
 */
struct qtgt_subsys *qtgt_port_find_subsys(struct qtgt_port *port,
					  const char *nqn)
{
	struct qtgt_subsys *subsys = NULL;
	struct qtgt_port_link *link;

	lockdep_assert_held(&qtgt_config_sem);
	if (!strcmp(nqn, NVME_DISC_SUBSYS_NAME) ||
	    !strcmp(nqn, qtgt_disc_subsys->nqn)) {
		if (port->enabled)
			subsys = qtgt_disc_subsys;
	} else {
		list_for_each_entry(link, &port->subsystems, entry)
			if (!strcmp(link->subsys->nqn, nqn))
				subsys = link->subsys;
	}
	if (subsys)
		kref_get(&subsys->ref);
	return subsys;
}
