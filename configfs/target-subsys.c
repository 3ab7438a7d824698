// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/config/quarry/subsystems, but for namespaces/ below each.
 * Process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <quarry/target.h>
#include "internal.h"

struct subsys_item {
	struct config_group	group;
	struct config_group	allowed_hosts;
	struct qcfs_namespaces	namespaces;
	struct qtgt_subsys	*subsys;
	struct mutex		identity_lock; /* changes of the identity */
};

static struct subsys_item *to_subsys(struct config_item *item)
{
	return container_of(to_config_group(item), struct subsys_item, group);
}

static void subsys_get(struct config_item *item, struct qtgt_subsys_config *cfg)
{
	qtgt_subsys_get_config(to_subsys(item)->subsys, cfg);
}

static int subsys_inval(struct config_item *item, const char *attr,
			const char *why)
{
	pr_err_ratelimited("subsystem %s: %s %s\n", config_item_name(item),
			   attr, why);
	return -EINVAL;
}

static ssize_t subsys_attr_allow_any_host_show(struct config_item *item,
					       char *page)
{
	struct qtgt_subsys_config cfg;

	subsys_get(item, &cfg);
	return sysfs_emit(page, "%d\n", cfg.any_host);
}

static ssize_t subsys_attr_allow_any_host_store(struct config_item *item,
						const char *page, size_t count)
{
	bool any;
	int err;

	if (kstrtobool(page, &any))
		return subsys_inval(item, "attr_allow_any_host",
				    "must be 0 or 1");
	err = qtgt_subsys_set_any_host(to_subsys(item)->subsys, any);
	return err ? : count;
}

CONFIGFS_ATTR(subsys_, attr_allow_any_host);

/* Each of these changes one field of the identity, under the item's lock. */
static ssize_t identity_store(struct config_item *item, const char *page,
			      size_t count,
			      int (*parse)(struct config_item *item,
					   const char *page,
					   struct qtgt_identity *id))
{
	struct subsys_item *subsys = to_subsys(item);
	struct qtgt_subsys_config cfg;
	int err;

	mutex_lock(&subsys->identity_lock);
	qtgt_subsys_get_config(subsys->subsys, &cfg);
	err = parse(item, page, &cfg.id);
	if (!err)
		err = qtgt_subsys_set_identity(subsys->subsys, &cfg.id);
	mutex_unlock(&subsys->identity_lock);
	return err ? : count;
}

static ssize_t subsys_attr_version_show(struct config_item *item, char *page)
{
	struct qtgt_subsys_config cfg;
	u32 ver;

	subsys_get(item, &cfg);
	ver = cfg.id.ver;
	if (NVME_TERTIARY(ver))
		return sysfs_emit(page, "%u.%u.%u\n", (u32)NVME_MAJOR(ver),
				  (u32)NVME_MINOR(ver),
				  (u32)NVME_TERTIARY(ver));
	return sysfs_emit(page, "%u.%u\n", (u32)NVME_MAJOR(ver),
			  (u32)NVME_MINOR(ver));
}

static int parse_version(struct config_item *item, const char *page,
			 struct qtgt_identity *id)
{
	unsigned int major, minor, tertiary = 0;
	int n;

	n = sscanf(page, "%u.%u.%u\n", &major, &minor, &tertiary);
	if (n < 2 || major > U16_MAX || minor > U8_MAX || tertiary > U8_MAX)
		return subsys_inval(item, "attr_version",
				    "must be like 1.3 or 1.3.0");
	id->ver = NVME_VS(major, minor, tertiary);
	return 0;
}

static ssize_t subsys_attr_version_store(struct config_item *item,
					 const char *page, size_t count)
{
	return identity_store(item, page, count, parse_version);
}

CONFIGFS_ATTR(subsys_, attr_version);

/* Text for Identify: printable ASCII only, NVMe base 2.0 section 1.5. */
static int get_text(struct config_item *item, const char *attr,
		    const char *page, char *buf, size_t size)
{
	const char *c;

	if (qcfs_get_line(page, buf, size))
		return subsys_inval(item, attr, "is empty or too long");
	for (c = buf; *c; c++)
		if (*c < 0x20 || *c > 0x7e)
			return subsys_inval(item, attr, "must be ASCII");
	return 0;
}

static ssize_t subsys_attr_serial_show(struct config_item *item, char *page)
{
	struct qtgt_subsys_config cfg;

	subsys_get(item, &cfg);
	return sysfs_emit(page, "%.*s\n", QTGT_SN_LEN, cfg.id.serial);
}

static int parse_serial(struct config_item *item, const char *page,
			struct qtgt_identity *id)
{
	char buf[QTGT_SN_LEN + 1];
	int err;

	err = get_text(item, "attr_serial", page, buf, sizeof(buf));
	if (!err)
		memcpy_and_pad(id->serial, sizeof(id->serial), buf,
			       strlen(buf), ' ');
	return err;
}

static ssize_t subsys_attr_serial_store(struct config_item *item,
					const char *page, size_t count)
{
	return identity_store(item, page, count, parse_serial);
}

CONFIGFS_ATTR(subsys_, attr_serial);

static ssize_t subsys_attr_model_show(struct config_item *item, char *page)
{
	struct qtgt_subsys_config cfg;

	subsys_get(item, &cfg);
	return sysfs_emit(page, "%s\n", cfg.id.model);
}

static int parse_model(struct config_item *item, const char *page,
		       struct qtgt_identity *id)
{
	return get_text(item, "attr_model", page, id->model, sizeof(id->model));
}

static ssize_t subsys_attr_model_store(struct config_item *item,
				       const char *page, size_t count)
{
	return identity_store(item, page, count, parse_model);
}

CONFIGFS_ATTR(subsys_, attr_model);

static ssize_t subsys_attr_firmware_show(struct config_item *item, char *page)
{
	struct qtgt_subsys_config cfg;

	subsys_get(item, &cfg);
	return sysfs_emit(page, "%s\n", cfg.id.firmware);
}

static int parse_firmware(struct config_item *item, const char *page,
			  struct qtgt_identity *id)
{
	return get_text(item, "attr_firmware", page, id->firmware,
			sizeof(id->firmware));
}

static ssize_t subsys_attr_firmware_store(struct config_item *item,
					  const char *page, size_t count)
{
	return identity_store(item, page, count, parse_firmware);
}

CONFIGFS_ATTR(subsys_, attr_firmware);

static ssize_t subsys_attr_ieee_oui_show(struct config_item *item, char *page)
{
	struct qtgt_subsys_config cfg;

	subsys_get(item, &cfg);
	return sysfs_emit(page, "0x%06x\n", cfg.id.ieee_oui);
}

static int parse_ieee_oui(struct config_item *item, const char *page,
			  struct qtgt_identity *id)
{
	u32 val;
	int err;

	err = kstrtou32(page, 0, &val);
	if (!err && val > 0xffffff)
		err = -EINVAL;
	if (err) {
		subsys_inval(item, "attr_ieee_oui", "must be a number of 24 bits");
		return err;
	}
	id->ieee_oui = val;
	return 0;
}

static ssize_t subsys_attr_ieee_oui_store(struct config_item *item,
					  const char *page, size_t count)
{
	return identity_store(item, page, count, parse_ieee_oui);
}

CONFIGFS_ATTR(subsys_, attr_ieee_oui);

static int get_u16(struct config_item *item, const char *attr,
		   const char *page, u16 *val)
{
	if (sscanf(page, "%hu\n", val) != 1 || !*val)
		return subsys_inval(item, attr,
				    "must be a number of 16 bits above 0");
	return 0;
}

static ssize_t subsys_attr_cntlid_min_show(struct config_item *item, char *page)
{
	struct qtgt_subsys_config cfg;

	subsys_get(item, &cfg);
	return sysfs_emit(page, "%u\n", cfg.cntlid_min);
}

static ssize_t subsys_attr_cntlid_min_store(struct config_item *item,
					    const char *page, size_t count)
{
	u16 val;
	int err;

	err = get_u16(item, "attr_cntlid_min", page, &val);
	if (!err)
		err = qtgt_subsys_set_cntlids(to_subsys(item)->subsys, val, 0);
	return err ? : count;
}

CONFIGFS_ATTR(subsys_, attr_cntlid_min);

static ssize_t subsys_attr_cntlid_max_show(struct config_item *item, char *page)
{
	struct qtgt_subsys_config cfg;

	subsys_get(item, &cfg);
	return sysfs_emit(page, "%u\n", cfg.cntlid_max);
}

static ssize_t subsys_attr_cntlid_max_store(struct config_item *item,
					    const char *page, size_t count)
{
	u16 val;
	int err;

	err = get_u16(item, "attr_cntlid_max", page, &val);
	if (!err)
		err = qtgt_subsys_set_cntlids(to_subsys(item)->subsys, 0, val);
	return err ? : count;
}

CONFIGFS_ATTR(subsys_, attr_cntlid_max);

static ssize_t subsys_attr_qid_max_show(struct config_item *item, char *page)
{
	struct qtgt_subsys_config cfg;

	subsys_get(item, &cfg);
	return sysfs_emit(page, "%u\n", cfg.qid_max);
}

static ssize_t subsys_attr_qid_max_store(struct config_item *item,
					 const char *page, size_t count)
{
	u16 val;
	int err;

	err = get_u16(item, "attr_qid_max", page, &val);
	if (!err)
		err = qtgt_subsys_set_qid_max(to_subsys(item)->subsys, val);
	return err ? : count;
}

CONFIGFS_ATTR(subsys_, attr_qid_max);

static ssize_t subsys_attr_pi_enable_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "0\n");
}

static ssize_t subsys_attr_pi_enable_store(struct config_item *item,
					   const char *page, size_t count)
{
	bool on;

	if (kstrtobool(page, &on) || on)
		return subsys_inval(item, "attr_pi_enable",
				    "must be 0: protection information is not there");
	return count;
}

CONFIGFS_ATTR(subsys_, attr_pi_enable);

static struct configfs_attribute *subsys_attrs[] = {
	&subsys_attr_attr_allow_any_host,
	&subsys_attr_attr_version,
	&subsys_attr_attr_serial,
	&subsys_attr_attr_cntlid_min,
	&subsys_attr_attr_cntlid_max,
	&subsys_attr_attr_model,
	&subsys_attr_attr_qid_max,
	&subsys_attr_attr_ieee_oui,
	&subsys_attr_attr_firmware,
	&subsys_attr_attr_pi_enable,
	NULL,
};

static void subsys_release(struct config_item *item)
{
	struct subsys_item *subsys = to_subsys(item);

	qtgt_subsys_destroy(subsys->subsys);
	mutex_destroy(&subsys->identity_lock);
	kfree(subsys);
}

static struct configfs_item_operations subsys_item_ops = {
	.release	= subsys_release,
};

static const struct config_item_type subsys_type = {
	.ct_item_ops	= &subsys_item_ops,
	.ct_attrs	= subsys_attrs,
	.ct_owner	= THIS_MODULE,
};

struct qtgt_subsys *qcfs_item_subsys(struct config_item *item)
{
	return item->ci_type == &subsys_type ? to_subsys(item)->subsys : NULL;
}

static int allowed_hosts_link(struct config_item *parent,
			      struct config_item *target)
{
	struct qtgt_host *host = qcfs_item_host(target);

	if (!host)
		return subsys_inval(parent->ci_parent, "allowed_hosts",
				    "takes links to hosts only");
	return qtgt_subsys_allow_host(to_subsys(parent->ci_parent)->subsys,
				      host);
}

static void allowed_hosts_unlink(struct config_item *parent,
				 struct config_item *target)
{
	qtgt_subsys_disallow_host(to_subsys(parent->ci_parent)->subsys,
				  qcfs_item_host(target));
}

static struct configfs_item_operations allowed_hosts_item_ops = {
	.allow_link	= allowed_hosts_link,
	.drop_link	= allowed_hosts_unlink,
};

static const struct config_item_type allowed_hosts_type = {
	.ct_item_ops	= &allowed_hosts_item_ops,
	.ct_owner	= THIS_MODULE,
};

static struct config_group *subsystems_make(struct config_group *group,
					    const char *name)
{
	struct subsys_item *subsys;
	int err;

	subsys = kzalloc(sizeof(*subsys), GFP_KERNEL);
	if (!subsys)
		return ERR_PTR(-ENOMEM);
	subsys->subsys = qtgt_subsys_create(name);
	if (IS_ERR(subsys->subsys)) {
		err = PTR_ERR(subsys->subsys);
		goto err_free;
	}
	if (!qcfs_group_init(&subsys->group, name, &subsys_type)) {
		err = -ENOMEM;
		goto err_destroy;
	}
	mutex_init(&subsys->identity_lock);

	subsys->namespaces.subsys = subsys->subsys;
	qcfs_namespaces_init(&subsys->namespaces);
	configfs_add_default_group(&subsys->namespaces.group, &subsys->group);

	config_group_init_type_name(&subsys->allowed_hosts, "allowed_hosts",
				    &allowed_hosts_type);
	configfs_add_default_group(&subsys->allowed_hosts, &subsys->group);
	return &subsys->group;

err_destroy:
	qtgt_subsys_destroy(subsys->subsys);
err_free:
	kfree(subsys);
	return ERR_PTR(err);
}

static struct configfs_group_operations subsystems_group_ops = {
	.make_group	= subsystems_make,
};

static const struct config_item_type subsystems_type = {
	.ct_group_ops	= &subsystems_group_ops,
	.ct_owner	= THIS_MODULE,
};

void qcfs_subsystems_init(struct config_group *subsystems)
{
	config_group_init_type_name(subsystems, "subsystems",
				    &subsystems_type);
}
