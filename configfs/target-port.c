// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/config/quarry/ports: addresses, the subsystems offered there,
 * ANA groups and referrals. Process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <quarry/target.h>
#include "internal.h"

#define MAX_CONNECT_TIMEOUT	3600	/* seconds */

/* A port, or a referral: both have an address. */
struct port_item {
	struct config_group	group;
	struct config_group	subsystems;
	struct config_group	referrals;
	struct config_group	ana_groups;
	struct config_group	ana_default;
	struct qtgt_port	*port;
	bool			referral;
	struct mutex		lock;	/* changes of the configuration */
};

struct name {
	u8		value;
	const char	*name;
};

static const struct name trtypes[] = {
	{ NVMF_TRTYPE_RDMA, "rdma" },
	{ NVMF_TRTYPE_FC, "fc" },
	{ NVMF_TRTYPE_TCP, "tcp" },
	{ NVMF_TRTYPE_LOOP, "loop" },
};

static const struct name adrfams[] = {
	{ NVMF_ADDR_FAMILY_IP4, "ipv4" },
	{ NVMF_ADDR_FAMILY_IP6, "ipv6" },
	{ NVMF_ADDR_FAMILY_IB, "ib" },
	{ NVMF_ADDR_FAMILY_FC, "fc" },
	{ NVMF_ADDR_FAMILY_LOOP, "loop" },
};

static const struct name treqs[] = {
	{ NVMF_TREQ_NOT_SPECIFIED, "not specified" },
	{ NVMF_TREQ_REQUIRED, "required" },
	{ NVMF_TREQ_NOT_REQUIRED, "not required" },
};

static const struct name qptypes[] = {
	{ NVMF_RDMA_QPTYPE_CONNECTED, "connected" },
	{ NVMF_RDMA_QPTYPE_DATAGRAM, "datagram" },
};

static const struct name ana_states[] = {
	{ NVME_ANA_OPTIMIZED, "optimized" },
	{ NVME_ANA_NONOPTIMIZED, "non-optimized" },
	{ NVME_ANA_INACCESSIBLE, "inaccessible" },
	{ NVME_ANA_PERSISTENT_LOSS, "persistent-loss" },
	{ NVME_ANA_CHANGE, "change" },
};

static const struct name *by_name(const struct name *names, size_t n,
				  const char *page)
{
	for (; n; n--, names++)
		if (sysfs_streq(page, names->name))
			return names;
	return NULL;
}

/* A line with the name of @value, or an empty one. */
static ssize_t emit_name(char *page, const struct name *names, size_t n,
			 u8 value)
{
	for (; n; n--, names++)
		if (names->value == value)
			return sysfs_emit(page, "%s\n", names->name);
	return sysfs_emit(page, "\n");
}

static struct port_item *to_port(struct config_item *item)
{
	return container_of(to_config_group(item), struct port_item, group);
}

static void port_get(struct config_item *item, struct qtgt_port_config *cfg)
{
	qtgt_port_get_config(to_port(item)->port, cfg);
}

static const char *port_kind(struct config_item *item)
{
	return to_port(item)->referral ? "referral" : "port";
}

static int port_inval(struct config_item *item, const char *attr,
		      const char *why)
{
	pr_err_ratelimited("%s %s: %s %s\n", port_kind(item),
			   config_item_name(item), attr, why);
	return -EINVAL;
}

static int port_fixed(struct config_item *item, const char *attr)
{
	pr_err_ratelimited("%s %s: %s is fixed while %s\n", port_kind(item),
			   config_item_name(item), attr,
			   to_port(item)->referral ? "it is enabled" :
						     "a subsystem is linked");
	return -EACCES;
}

typedef int (*port_parse_fn)(struct config_item *item, const char *page,
			     size_t count, struct qtgt_port_config *cfg);

/* Each of these changes one field of the configuration, under the lock. */
static ssize_t port_store(struct config_item *item, const char *attr,
			  const char *page, size_t count, port_parse_fn parse)
{
	struct port_item *port = to_port(item);
	struct qtgt_port_config cfg;
	int err;

	if (qtgt_port_enabled(port->port))
		return port_fixed(item, attr);

	mutex_lock(&port->lock);
	qtgt_port_get_config(port->port, &cfg);
	err = parse(item, page, count, &cfg);
	if (!err) {
		err = qtgt_port_set_config(port->port, &cfg);
		if (err)
			port_fixed(item, attr);
	}
	mutex_unlock(&port->lock);
	return err ? : count;
}

static ssize_t port_addr_adrfam_show(struct config_item *item, char *page)
{
	struct qtgt_port_config cfg;

	port_get(item, &cfg);
	return emit_name(page, adrfams, ARRAY_SIZE(adrfams), cfg.adrfam);
}

static int parse_adrfam(struct config_item *item, const char *page,
			size_t count, struct qtgt_port_config *cfg)
{
	const struct name *n = by_name(adrfams, ARRAY_SIZE(adrfams), page);

	if (!n)
		return port_inval(item, "addr_adrfam", "must be ipv4 or ipv6");
	cfg->adrfam = n->value;
	return 0;
}

static ssize_t port_addr_adrfam_store(struct config_item *item,
				      const char *page, size_t count)
{
	return port_store(item, "addr_adrfam", page, count, parse_adrfam);
}

CONFIGFS_ATTR(port_, addr_adrfam);

static ssize_t port_addr_treq_show(struct config_item *item, char *page)
{
	struct qtgt_port_config cfg;

	port_get(item, &cfg);
	return emit_name(page, treqs, ARRAY_SIZE(treqs),
			 cfg.treq & NVME_TREQ_SECURE_CHANNEL_MASK);
}

static int parse_treq(struct config_item *item, const char *page, size_t count,
		      struct qtgt_port_config *cfg)
{
	const struct name *n = by_name(treqs, ARRAY_SIZE(treqs), page);

	if (!n)
		return port_inval(item, "addr_treq",
				  "must be \"not specified\", \"required\" or \"not required\"");
	cfg->treq = (cfg->treq & ~NVME_TREQ_SECURE_CHANNEL_MASK) | n->value;
	return 0;
}

static ssize_t port_addr_treq_store(struct config_item *item, const char *page,
				    size_t count)
{
	return port_store(item, "addr_treq", page, count, parse_treq);
}

CONFIGFS_ATTR(port_, addr_treq);

static ssize_t port_addr_traddr_show(struct config_item *item, char *page)
{
	struct qtgt_port_config cfg;

	port_get(item, &cfg);
	return sysfs_emit(page, "%s\n", cfg.traddr);
}

/* The first word of @page, or nothing; false where it is too long. */
static bool get_word(const char *page, char *buf, size_t size)
{
	const char *word = skip_spaces(page);
	size_t len = strcspn(word, " \t\r\n\v\f");

	if (len >= size)
		return false;
	memcpy(buf, word, len);
	buf[len] = '\0';
	return true;
}

static int parse_traddr(struct config_item *item, const char *page,
			size_t count, struct qtgt_port_config *cfg)
{
	if (count > NVMF_TRADDR_SIZE ||
	    !get_word(page, cfg->traddr, sizeof(cfg->traddr)))
		return port_inval(item, "addr_traddr", "is too long");
	return 0;
}

static ssize_t port_addr_traddr_store(struct config_item *item,
				      const char *page, size_t count)
{
	return port_store(item, "addr_traddr", page, count, parse_traddr);
}

CONFIGFS_ATTR(port_, addr_traddr);

static ssize_t port_addr_trsvcid_show(struct config_item *item, char *page)
{
	struct qtgt_port_config cfg;

	port_get(item, &cfg);
	return sysfs_emit(page, "%s\n", cfg.trsvcid);
}

static int parse_trsvcid(struct config_item *item, const char *page,
			 size_t count, struct qtgt_port_config *cfg)
{
	if (count > NVMF_TRSVCID_SIZE ||
	    !get_word(page, cfg->trsvcid, sizeof(cfg->trsvcid)))
		return port_inval(item, "addr_trsvcid", "is too long");
	return 0;
}

static ssize_t port_addr_trsvcid_store(struct config_item *item,
				       const char *page, size_t count)
{
	return port_store(item, "addr_trsvcid", page, count, parse_trsvcid);
}

CONFIGFS_ATTR(port_, addr_trsvcid);

static ssize_t port_addr_trtype_show(struct config_item *item, char *page)
{
	struct qtgt_port_config cfg;

	port_get(item, &cfg);
	return emit_name(page, trtypes, ARRAY_SIZE(trtypes), cfg.trtype);
}

/* A port listens by RDMA only; a referral may be to anything. */
static int parse_trtype(struct config_item *item, const char *page,
			size_t count, struct qtgt_port_config *cfg)
{
	const struct name *n = by_name(trtypes, ARRAY_SIZE(trtypes), page);

	if (!n || (n->value != NVMF_TRTYPE_RDMA && !to_port(item)->referral))
		return port_inval(item, "addr_trtype", "must be rdma");
	cfg->trtype = n->value;
	cfg->qptype = n->value == NVMF_TRTYPE_RDMA ?
		      NVMF_RDMA_QPTYPE_CONNECTED : 0;
	return 0;
}

static ssize_t port_addr_trtype_store(struct config_item *item,
				      const char *page, size_t count)
{
	return port_store(item, "addr_trtype", page, count, parse_trtype);
}

CONFIGFS_ATTR(port_, addr_trtype);

static ssize_t port_addr_tsas_show(struct config_item *item, char *page)
{
	struct qtgt_port_config cfg;

	port_get(item, &cfg);
	return emit_name(page, qptypes, ARRAY_SIZE(qptypes), cfg.qptype);
}

static int parse_tsas(struct config_item *item, const char *page, size_t count,
		      struct qtgt_port_config *cfg)
{
	const struct name *n = by_name(qptypes, ARRAY_SIZE(qptypes), page);

	if (!n || n->value != cfg->qptype)
		return port_inval(item, "addr_tsas",
				  "must be connected, after addr_trtype is rdma");
	return 0;
}

static ssize_t port_addr_tsas_store(struct config_item *item, const char *page,
				    size_t count)
{
	return port_store(item, "addr_tsas", page, count, parse_tsas);
}

CONFIGFS_ATTR(port_, addr_tsas);

static ssize_t port_addr_portid_show(struct config_item *item, char *page)
{
	struct qtgt_port_config cfg;

	port_get(item, &cfg);
	return sysfs_emit(page, "%u\n", cfg.portid);
}

static int parse_portid(struct config_item *item, const char *page,
			size_t count, struct qtgt_port_config *cfg)
{
	if (kstrtou16(page, 0, &cfg->portid))
		return port_inval(item, "addr_portid",
				  "must be a number of 16 bits");
	return 0;
}

static ssize_t port_addr_portid_store(struct config_item *item,
				      const char *page, size_t count)
{
	return port_store(item, "addr_portid", page, count, parse_portid);
}

CONFIGFS_ATTR(port_, addr_portid);

static ssize_t port_param_inline_data_size_show(struct config_item *item,
						char *page)
{
	struct qtgt_port_config cfg;

	port_get(item, &cfg);
	return sysfs_emit(page, "%d\n", cfg.inline_data_size);
}

static int parse_inline_data_size(struct config_item *item, const char *page,
				  size_t count, struct qtgt_port_config *cfg)
{
	if (kstrtoint(page, 0, &cfg->inline_data_size))
		return port_inval(item, "param_inline_data_size",
				  "must be a number");
	return 0;
}

static ssize_t port_param_inline_data_size_store(struct config_item *item,
						 const char *page, size_t count)
{
	return port_store(item, "param_inline_data_size", page, count,
			  parse_inline_data_size);
}

CONFIGFS_ATTR(port_, param_inline_data_size);

static ssize_t port_param_max_queue_size_show(struct config_item *item,
					      char *page)
{
	struct qtgt_port_config cfg;

	port_get(item, &cfg);
	return sysfs_emit(page, "%d\n", cfg.max_queue_size);
}

static int parse_max_queue_size(struct config_item *item, const char *page,
				size_t count, struct qtgt_port_config *cfg)
{
	if (kstrtoint(page, 0, &cfg->max_queue_size))
		return port_inval(item, "param_max_queue_size",
				  "must be a number");
	return 0;
}

static ssize_t port_param_max_queue_size_store(struct config_item *item,
					       const char *page, size_t count)
{
	return port_store(item, "param_max_queue_size", page, count,
			  parse_max_queue_size);
}

CONFIGFS_ATTR(port_, param_max_queue_size);

static ssize_t port_param_connect_timeout_show(struct config_item *item,
					       char *page)
{
	struct qtgt_port_config cfg;

	port_get(item, &cfg);
	return sysfs_emit(page, "%u\n", cfg.connect_timeout);
}

static int parse_connect_timeout(struct config_item *item, const char *page,
				 size_t count, struct qtgt_port_config *cfg)
{
	u32 seconds;

	if (kstrtou32(page, 0, &seconds) || seconds > MAX_CONNECT_TIMEOUT)
		return port_inval(item, "param_connect_timeout",
				  "must be 0 to 3600 seconds");
	cfg->connect_timeout = seconds;
	return 0;
}

static ssize_t port_param_connect_timeout_store(struct config_item *item,
						const char *page, size_t count)
{
	return port_store(item, "param_connect_timeout", page, count,
			  parse_connect_timeout);
}

CONFIGFS_ATTR(port_, param_connect_timeout);

static ssize_t port_param_pi_enable_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "0\n");
}

static ssize_t port_param_pi_enable_store(struct config_item *item,
					  const char *page, size_t count)
{
	bool on;

	if (kstrtobool(page, &on) || on)
		return port_inval(item, "param_pi_enable",
				  "must be 0: protection information is not there");
	if (qtgt_port_enabled(to_port(item)->port))
		return port_fixed(item, "param_pi_enable");
	return count;
}

CONFIGFS_ATTR(port_, param_pi_enable);

static struct configfs_attribute *port_attrs[] = {
	&port_attr_addr_adrfam,
	&port_attr_addr_treq,
	&port_attr_addr_traddr,
	&port_attr_addr_trsvcid,
	&port_attr_addr_trtype,
	&port_attr_addr_tsas,
	&port_attr_param_inline_data_size,
	&port_attr_param_max_queue_size,
	&port_attr_param_connect_timeout,
	&port_attr_param_pi_enable,
	NULL,
};

static void port_release(struct config_item *item)
{
	struct port_item *port = to_port(item);

	qtgt_port_destroy(port->port);
	mutex_destroy(&port->lock);
	kfree(port);
}

static struct configfs_item_operations port_item_ops = {
	.release	= port_release,
};

static const struct config_item_type port_type = {
	.ct_attrs	= port_attrs,
	.ct_item_ops	= &port_item_ops,
	.ct_owner	= THIS_MODULE,
};

/* subsystems/: links to what the port offers. */

static int port_subsys_link(struct config_item *parent,
			    struct config_item *target)
{
	struct qtgt_subsys *subsys = qcfs_item_subsys(target);

	if (!subsys)
		return port_inval(parent->ci_parent, "subsystems",
				  "takes links to subsystems only");
	return qtgt_port_link(to_port(parent->ci_parent)->port, subsys);
}

static void port_subsys_unlink(struct config_item *parent,
			       struct config_item *target)
{
	qtgt_port_unlink(to_port(parent->ci_parent)->port,
			 qcfs_item_subsys(target));
}

static struct configfs_item_operations port_subsys_item_ops = {
	.allow_link	= port_subsys_link,
	.drop_link	= port_subsys_unlink,
};

static const struct config_item_type port_subsys_type = {
	.ct_item_ops	= &port_subsys_item_ops,
	.ct_owner	= THIS_MODULE,
};

/* referrals/: other discovery services. */

static ssize_t referral_enable_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", qtgt_port_enabled(to_port(item)->port));
}

static ssize_t referral_enable_store(struct config_item *item,
				     const char *page, size_t count)
{
	struct port_item *parent = to_port(item->ci_parent->ci_parent);
	bool on;

	if (kstrtobool(page, &on))
		return port_inval(item, "enable", "must be 0 or 1");
	qtgt_referral_enable(parent->port, to_port(item)->port, on);
	return count;
}

CONFIGFS_ATTR(referral_, enable);

static struct configfs_attribute *referral_attrs[] = {
	&port_attr_addr_adrfam,
	&port_attr_addr_portid,
	&port_attr_addr_treq,
	&port_attr_addr_traddr,
	&port_attr_addr_trsvcid,
	&port_attr_addr_trtype,
	&referral_attr_enable,
	NULL,
};

static const struct config_item_type referral_type = {
	.ct_attrs	= referral_attrs,
	.ct_item_ops	= &port_item_ops,
	.ct_owner	= THIS_MODULE,
};

static struct config_group *referrals_make(struct config_group *group,
					   const char *name)
{
	struct port_item *referral;

	referral = kzalloc(sizeof(*referral), GFP_KERNEL);
	if (!referral)
		return ERR_PTR(-ENOMEM);
	referral->port = qtgt_referral_create();
	if (IS_ERR(referral->port))
		goto err_free;
	if (!qcfs_group_init(&referral->group, name, &referral_type))
		goto err_destroy;
	referral->referral = true;
	mutex_init(&referral->lock);
	return &referral->group;

err_destroy:
	qtgt_port_destroy(referral->port);
err_free:
	kfree(referral);
	return ERR_PTR(-ENOMEM);
}

/* While its parent is still there: the release may come later. */
static void referrals_notify(struct config_group *group,
			     struct config_item *item)
{
	qtgt_referral_enable(to_port(group->cg_item.ci_parent)->port,
			     to_port(item)->port, false);
}

static struct configfs_group_operations referrals_group_ops = {
	.make_group		= referrals_make,
	.disconnect_notify	= referrals_notify,
};

static const struct config_item_type referrals_type = {
	.ct_group_ops	= &referrals_group_ops,
	.ct_owner	= THIS_MODULE,
};

/* ana_groups/: states of groups of namespaces on this port. */

struct ana_item {
	struct config_group	group;
	struct port_item	*port;	/* held */
	u32			grpid;
};

static struct ana_item *to_ana(struct config_item *item)
{
	return container_of(to_config_group(item), struct ana_item, group);
}

static ssize_t emit_ana_state(char *page, struct port_item *port, u32 grpid)
{
	return emit_name(page, ana_states, ARRAY_SIZE(ana_states),
			 qtgt_port_ana_get(port->port, grpid));
}

static ssize_t set_ana_state(struct port_item *port, u32 grpid,
			     const char *page, size_t count)
{
	const struct name *n = by_name(ana_states, ARRAY_SIZE(ana_states),
				       page);

	if (!n) {
		pr_err_ratelimited("port %s, ANA group %u: there is no such ana_state\n",
				   config_item_name(&port->group.cg_item),
				   grpid);
		return -EINVAL;
	}
	qtgt_port_ana_set(port->port, grpid, n->value);
	return count;
}

static ssize_t ana_ana_state_show(struct config_item *item, char *page)
{
	return emit_ana_state(page, to_ana(item)->port, to_ana(item)->grpid);
}

static ssize_t ana_ana_state_store(struct config_item *item, const char *page,
				   size_t count)
{
	return set_ana_state(to_ana(item)->port, to_ana(item)->grpid, page,
			     count);
}

CONFIGFS_ATTR(ana_, ana_state);

static struct configfs_attribute *ana_attrs[] = {
	&ana_attr_ana_state,
	NULL,
};

static void ana_release(struct config_item *item)
{
	struct ana_item *ana = to_ana(item);

	qtgt_port_ana_del(ana->port->port, ana->grpid);
	config_group_put(&ana->port->group);
	kfree(ana);
}

static struct configfs_item_operations ana_item_ops = {
	.release	= ana_release,
};

static const struct config_item_type ana_type = {
	.ct_item_ops	= &ana_item_ops,
	.ct_attrs	= ana_attrs,
	.ct_owner	= THIS_MODULE,
};

/* The group that always is; a part of its port. */

static struct port_item *default_to_port(struct config_item *item)
{
	return container_of(to_config_group(item), struct port_item,
			    ana_default);
}

static ssize_t ana_default_ana_state_show(struct config_item *item, char *page)
{
	return emit_ana_state(page, default_to_port(item), QTGT_DEFAULT_ANAGRP);
}

static ssize_t ana_default_ana_state_store(struct config_item *item,
					   const char *page, size_t count)
{
	return set_ana_state(default_to_port(item), QTGT_DEFAULT_ANAGRP, page,
			     count);
}

CONFIGFS_ATTR(ana_default_, ana_state);

static struct configfs_attribute *ana_default_attrs[] = {
	&ana_default_attr_ana_state,
	NULL,
};

static const struct config_item_type ana_default_type = {
	.ct_attrs	= ana_default_attrs,
	.ct_owner	= THIS_MODULE,
};

static struct config_group *ana_groups_make(struct config_group *group,
					    const char *name)
{
	struct port_item *port = to_port(group->cg_item.ci_parent);
	struct ana_item *ana;
	u32 grpid;
	int err;

	err = kstrtou32(name, 0, &grpid);
	if (err) {
		port_inval(&port->group.cg_item, "ana_groups",
			   "are named by numbers");
		return ERR_PTR(err);
	}
	ana = kzalloc(sizeof(*ana), GFP_KERNEL);
	if (!ana)
		return ERR_PTR(-ENOMEM);
	err = qtgt_port_ana_add(port->port, grpid);
	if (err)
		goto err_free;
	if (!qcfs_group_init(&ana->group, name, &ana_type)) {
		err = -ENOMEM;
		goto err_del;
	}
	ana->port = port;
	ana->grpid = grpid;
	config_group_get(&port->group);
	return &ana->group;

err_del:
	qtgt_port_ana_del(port->port, grpid);
err_free:
	kfree(ana);
	return ERR_PTR(err);
}

static struct configfs_group_operations ana_groups_group_ops = {
	.make_group	= ana_groups_make,
};

static const struct config_item_type ana_groups_type = {
	.ct_group_ops	= &ana_groups_group_ops,
	.ct_owner	= THIS_MODULE,
};

/* ports/ itself. */

static void add_folder(struct config_group *folder, const char *name,
		       const struct config_item_type *type,
		       struct config_group *parent)
{
	config_group_init_type_name(folder, name, type);
	configfs_add_default_group(folder, parent);
}

static struct config_group *ports_make(struct config_group *group,
				       const char *name)
{
	struct port_item *port;
	u16 portid;

	if (kstrtou16(name, 0, &portid)) {
		pr_err_ratelimited("port %s: must be named by a number of 16 bits\n",
				   name);
		return ERR_PTR(-EINVAL);
	}
	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return ERR_PTR(-ENOMEM);
	port->port = qtgt_port_create(portid);
	if (IS_ERR(port->port))
		goto err_free;
	if (!qcfs_group_init(&port->group, name, &port_type))
		goto err_destroy;
	mutex_init(&port->lock);
	add_folder(&port->subsystems, "subsystems", &port_subsys_type,
		   &port->group);
	add_folder(&port->referrals, "referrals", &referrals_type,
		   &port->group);
	add_folder(&port->ana_groups, "ana_groups", &ana_groups_type,
		   &port->group);
	add_folder(&port->ana_default, __stringify(QTGT_DEFAULT_ANAGRP),
		   &ana_default_type, &port->ana_groups);
	return &port->group;

err_destroy:
	qtgt_port_destroy(port->port);
err_free:
	kfree(port);
	return ERR_PTR(-ENOMEM);
}

static struct configfs_group_operations ports_group_ops = {
	.make_group	= ports_make,
};

static const struct config_item_type ports_type = {
	.ct_group_ops	= &ports_group_ops,
	.ct_owner	= THIS_MODULE,
};

void qcfs_ports_init(struct config_group *ports)
{
	config_group_init_type_name(ports, "ports", &ports_type);
}
