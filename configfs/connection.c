// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/config/quarry/connections: the initiator. A connection is a
 * folder with what to connect to; writing 1 to connect makes a controller of
 * it, writing 0 ends it. Runs in process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/ctype.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <quarry/host.h>
#include "internal.h"

struct connection {
	struct config_item item;
	/* protects opts; held while connecting and disconnecting */
	struct mutex lock;
	struct qhost_options opts;
	/* hostid was given, it does not follow from hostnqn */
	bool hostid_given;
	/* protects ctrl, so that it can be looked at while lock is held */
	spinlock_t ctrl_lock;
	/* changes with both locks held */
	struct qhost_ctrl *ctrl;
};

static struct connection *to_connection(struct config_item *item)
{
	return container_of(item, struct connection, item);
}

#define refuse(conn, fmt, ...)						\
	pr_err_ratelimited("connection %s: " fmt,			\
			   config_item_name(&(conn)->item), ##__VA_ARGS__)

static struct qhost_ctrl *get_ctrl(struct connection *conn)
{
	struct qhost_ctrl *ctrl;

	spin_lock(&conn->ctrl_lock);
	ctrl = conn->ctrl;
	if (ctrl)
		qhost_ctrl_get(ctrl);
	spin_unlock(&conn->ctrl_lock);
	return ctrl;
}

static void set_ctrl(struct connection *conn, struct qhost_ctrl *ctrl)
{
	lockdep_assert_held(&conn->lock);
	spin_lock(&conn->ctrl_lock);
	conn->ctrl = ctrl;
	spin_unlock(&conn->ctrl_lock);
}

/* A dead controller is no more than a name: the attributes are free again. */
static bool is_connected(struct connection *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->ctrl && qhost_ctrl_state(conn->ctrl) != QHOST_DEAD;
}

/* Take the lock for a change of @attr, if one is allowed. */
static int begin_change(struct connection *conn, const char *attr)
{
	mutex_lock(&conn->lock);
	if (!is_connected(conn))
		return 0;
	mutex_unlock(&conn->lock);
	refuse(conn, "%s is fixed while connected\n", attr);
	return -EACCES;
}

static void end_change(struct connection *conn)
{
	mutex_unlock(&conn->lock);
}

/* Without the blanks and the newline around it. */
static void trim(const char **page, size_t *len)
{
	while (*len && isspace((*page)[*len - 1]))
		(*len)--;
	while (*len && isspace(**page)) {
		(*page)++;
		(*len)--;
	}
}

static int set_string(struct connection *conn, const char *attr, char *to,
		      size_t size, const char *page, size_t len)
{
	int err;

	trim(&page, &len);
	if (len >= size) {
		refuse(conn, "%s takes at most %zu characters\n", attr,
		       size - 1);
		return -EINVAL;
	}
	err = begin_change(conn, attr);
	if (err)
		return err;
	memcpy(to, page, len);
	to[len] = '\0';
	end_change(conn);
	return 0;
}

static ssize_t show_string(struct connection *conn, const char *from,
			   char *page)
{
	ssize_t len;

	mutex_lock(&conn->lock);
	len = sysfs_emit(page, "%s\n", from);
	mutex_unlock(&conn->lock);
	return len;
}

static int set_number(struct connection *conn, const char *attr,
		      unsigned int *to, unsigned int min, unsigned int max,
		      const char *page)
{
	unsigned int value;
	int err;

	err = kstrtouint(page, 0, &value);
	if (!err && (value < min || value > max))
		err = -EINVAL;
	if (err) {
		refuse(conn, "%s takes a number from %u to %u\n", attr, min,
		       max);
		return err;
	}
	err = begin_change(conn, attr);
	if (err)
		return err;
	*to = value;
	end_change(conn);
	return 0;
}

#define STRING_ATTR(_name, _field)					\
static ssize_t connection_##_name##_show(struct config_item *item,	\
					 char *page)			\
{									\
	struct connection *conn = to_connection(item);			\
									\
	return show_string(conn, conn->opts._field, page);		\
}									\
									\
static ssize_t connection_##_name##_store(struct config_item *item,	\
					  const char *page, size_t len)	\
{									\
	struct connection *conn = to_connection(item);			\
	int err;							\
									\
	err = set_string(conn, #_name, conn->opts._field,		\
			 sizeof(conn->opts._field), page, len);		\
	return err ? err : len;						\
}									\
CONFIGFS_ATTR(connection_, _name)

#define NUMBER_ATTR(_name, _min, _max)					\
static ssize_t connection_##_name##_show(struct config_item *item,	\
					 char *page)			\
{									\
	struct connection *conn = to_connection(item);			\
									\
	return sysfs_emit(page, "%u\n", READ_ONCE(conn->opts._name));	\
}									\
									\
static ssize_t connection_##_name##_store(struct config_item *item,	\
					  const char *page, size_t len)	\
{									\
	struct connection *conn = to_connection(item);			\
	int err;							\
									\
	err = set_number(conn, #_name, &conn->opts._name, _min, _max,	\
			 page);						\
	return err ? err : len;						\
}									\
CONFIGFS_ATTR(connection_, _name)

STRING_ATTR(addr_traddr, traddr);
STRING_ATTR(addr_trsvcid, trsvcid);
STRING_ATTR(host_traddr, host_traddr);
STRING_ATTR(host_iface, host_iface);
STRING_ATTR(subsysnqn, subsysnqn);
NUMBER_ATTR(nr_io_queues, 1, QHOST_MAX_QUEUES);
NUMBER_ATTR(nr_poll_queues, 0, QHOST_MAX_QUEUES);
NUMBER_ATTR(queue_size, QHOST_MIN_QUEUE_SIZE, QHOST_MAX_QUEUE_SIZE);
NUMBER_ATTR(keep_alive_tmo, 0, QHOST_MAX_KEEP_ALIVE);

static const struct {
	const char *name;
	unsigned short family;
} families[] = {
	{ "auto", AF_UNSPEC },
	{ "ipv4", AF_INET },
	{ "ipv6", AF_INET6 },
};

static ssize_t connection_addr_adrfam_show(struct config_item *item,
					   char *page)
{
	unsigned short family = READ_ONCE(to_connection(item)->opts.adrfam);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		if (families[i].family == family)
			return sysfs_emit(page, "%s\n", families[i].name);
	}
	return -EINVAL;
}

static ssize_t connection_addr_adrfam_store(struct config_item *item,
					    const char *page, size_t len)
{
	struct connection *conn = to_connection(item);
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		if (!sysfs_streq(page, families[i].name))
			continue;
		err = begin_change(conn, "addr_adrfam");
		if (err)
			return err;
		conn->opts.adrfam = families[i].family;
		end_change(conn);
		return len;
	}
	refuse(conn, "addr_adrfam is auto, ipv4 or ipv6\n");
	return -EINVAL;
}
CONFIGFS_ATTR(connection_, addr_adrfam);

static ssize_t connection_hostnqn_show(struct config_item *item, char *page)
{
	struct connection *conn = to_connection(item);

	return show_string(conn, conn->opts.hostnqn, page);
}

/*
 * A name of the form that carries a UUID brings the identifier with it: a
 * target may insist that the two go together.
 */
static ssize_t connection_hostnqn_store(struct config_item *item,
					const char *page, size_t len)
{
	static const char prefix[] = "nqn.2014-08.org.nvmexpress:uuid:";
	struct connection *conn = to_connection(item);
	struct qhost_options *opts = &conn->opts;
	const char *nqn = page;
	size_t n = len;
	int err;

	trim(&nqn, &n);
	if (!n || n > NVMF_NQN_SIZE) {
		refuse(conn, "hostnqn takes 1 to %u characters\n",
		       NVMF_NQN_SIZE);
		return -EINVAL;
	}
	err = begin_change(conn, "hostnqn");
	if (err)
		return err;
	memcpy(opts->hostnqn, nqn, n);
	opts->hostnqn[n] = '\0';
	if (!conn->hostid_given && str_has_prefix(opts->hostnqn, prefix))
		uuid_parse(opts->hostnqn + sizeof(prefix) - 1, &opts->hostid);
	end_change(conn);
	return len;
}
CONFIGFS_ATTR(connection_, hostnqn);

static ssize_t connection_hostid_show(struct config_item *item, char *page)
{
	struct connection *conn = to_connection(item);
	ssize_t len;

	mutex_lock(&conn->lock);
	len = sysfs_emit(page, "%pUb\n", &conn->opts.hostid);
	mutex_unlock(&conn->lock);
	return len;
}

static ssize_t connection_hostid_store(struct config_item *item,
				       const char *page, size_t len)
{
	struct connection *conn = to_connection(item);
	const char *text = page;
	size_t n = len;
	uuid_t id;
	int err;

	trim(&text, &n);
	if (n != UUID_STRING_LEN || uuid_parse(text, &id)) {
		refuse(conn, "hostid is a UUID\n");
		return -EINVAL;
	}
	err = begin_change(conn, "hostid");
	if (err)
		return err;
	uuid_copy(&conn->opts.hostid, &id);
	conn->hostid_given = true;
	end_change(conn);
	return len;
}
CONFIGFS_ATTR(connection_, hostid);

static void disconnect(struct connection *conn)
{
	struct qhost_ctrl *ctrl = conn->ctrl;

	lockdep_assert_held(&conn->lock);
	if (!ctrl)
		return;
	qhost_ctrl_disconnect(ctrl);
	set_ctrl(conn, NULL);
	qhost_ctrl_put(ctrl);
}

static int connect(struct connection *conn)
{
	struct qhost_ctrl *ctrl;
	int err;

	lockdep_assert_held(&conn->lock);
	if (is_connected(conn)) {
		refuse(conn, "is connected already\n");
		return -EEXIST;
	}
	disconnect(conn);
	if (!conn->opts.traddr[0] || !conn->opts.trsvcid[0] ||
	    !conn->opts.subsysnqn[0]) {
		refuse(conn, "addr_traddr, addr_trsvcid and subsysnqn must be set first\n");
		return -EINVAL;
	}
	ctrl = qhost_ctrl_create(config_item_name(&conn->item), &conn->opts,
				 current->nsproxy->net_ns);
	if (IS_ERR(ctrl))
		return PTR_ERR(ctrl);
	set_ctrl(conn, ctrl);
	err = qhost_ctrl_connect(ctrl);
	if (err)
		disconnect(conn);
	return err;
}

static ssize_t connection_connect_show(struct config_item *item, char *page)
{
	struct qhost_ctrl *ctrl = get_ctrl(to_connection(item));
	bool live = false;

	if (ctrl) {
		live = qhost_ctrl_state(ctrl) == QHOST_LIVE;
		qhost_ctrl_put(ctrl);
	}
	return sysfs_emit(page, "%d\n", live);
}

static ssize_t connection_connect_store(struct config_item *item,
					const char *page, size_t len)
{
	struct connection *conn = to_connection(item);
	bool on;
	int err;

	err = kstrtobool(page, &on);
	if (err) {
		refuse(conn, "connect takes 1 or 0\n");
		return err;
	}
	mutex_lock(&conn->lock);
	if (on)
		err = connect(conn);
	else
		disconnect(conn);
	mutex_unlock(&conn->lock);
	return err ? err : len;
}
CONFIGFS_ATTR(connection_, connect);

static ssize_t connection_state_show(struct config_item *item, char *page)
{
	struct qhost_ctrl *ctrl = get_ctrl(to_connection(item));
	enum qhost_state state = QHOST_NEW;

	if (ctrl) {
		state = qhost_ctrl_state(ctrl);
		qhost_ctrl_put(ctrl);
	}
	return sysfs_emit(page, "%s\n", qhost_state_name(state));
}
CONFIGFS_ATTR_RO(connection_, state);

/* An empty line where there is no controller. */
static ssize_t connection_device_show(struct config_item *item, char *page)
{
	struct qhost_ctrl *ctrl = get_ctrl(to_connection(item));
	ssize_t len;

	if (!ctrl)
		return sysfs_emit(page, "\n");
	len = sysfs_emit(page, "%s\n", qhost_ctrl_device(ctrl));
	qhost_ctrl_put(ctrl);
	return len;
}
CONFIGFS_ATTR_RO(connection_, device);

static struct configfs_attribute *connection_attrs[] = {
	&connection_attr_addr_traddr,
	&connection_attr_addr_trsvcid,
	&connection_attr_addr_adrfam,
	&connection_attr_host_traddr,
	&connection_attr_host_iface,
	&connection_attr_subsysnqn,
	&connection_attr_hostnqn,
	&connection_attr_hostid,
	&connection_attr_nr_io_queues,
	&connection_attr_nr_poll_queues,
	&connection_attr_queue_size,
	&connection_attr_keep_alive_tmo,
	&connection_attr_connect,
	&connection_attr_state,
	&connection_attr_device,
	NULL,
};

/* The folder is gone and no attribute is open: nobody else has the lock. */
static void connection_release(struct config_item *item)
{
	struct connection *conn = to_connection(item);

	mutex_lock(&conn->lock);
	disconnect(conn);
	mutex_unlock(&conn->lock);
	kfree(conn);
}

static struct configfs_item_operations connection_item_ops = {
	.release = connection_release,
};

static const struct config_item_type connection_type = {
	.ct_item_ops = &connection_item_ops,
	.ct_attrs = connection_attrs,
	.ct_owner = THIS_MODULE,
};

static struct config_item *connections_make_item(struct config_group *group,
						 const char *name)
{
	struct connection *conn;

	conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	if (!conn)
		return ERR_PTR(-ENOMEM);
	mutex_init(&conn->lock);
	spin_lock_init(&conn->ctrl_lock);
	qhost_options_init(&conn->opts);
	if (!qcfs_item_init(&conn->item, name, &connection_type)) {
		kfree(conn);
		return ERR_PTR(-ENOMEM);
	}
	return &conn->item;
}

/* Here, not at the last reference, so that rmdir waits for the end. */
static void connections_drop_item(struct config_group *group,
				  struct config_item *item)
{
	struct connection *conn = to_connection(item);

	mutex_lock(&conn->lock);
	disconnect(conn);
	mutex_unlock(&conn->lock);
	config_item_put(item);
}

static struct configfs_group_operations connections_group_ops = {
	.make_item = connections_make_item,
	.drop_item = connections_drop_item,
};

static const struct config_item_type connections_type = {
	.ct_group_ops = &connections_group_ops,
	.ct_owner = THIS_MODULE,
};

static struct config_group connections_group;

void qcfs_connections_add(struct config_group *root)
{
	config_group_init_type_name(&connections_group, "connections",
				    &connections_type);
	configfs_add_default_group(&connections_group, root);
}
