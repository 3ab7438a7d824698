// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module and its two files below /sys/kernel/debug/qverbs:
 *
 *	echo 'GROUP[/CASE] A B [family=6] [mtu=1024] [count=100] [type=uc] [srq=64]
 *	     [skip=C,C] [timeout=15] [lossy=1]' > run
 *	cat result
 *
 * A and B are RDMA devices, or one and the same. The write returns when all
 * cases are done; the result has a line for each, PASS or FAIL and why. As a
 * client of the devices the module ends a run when one of them goes away.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "qverbs.h"

struct device_entry {
	struct list_head list;
	struct ib_device *dev;
};

struct run {
	char			*what;
	char			*skip;
	struct ib_device	*dev[2];
	struct qv_conf		conf;
	unsigned int		ran;
	unsigned int		failed;
};

static const struct qv_group *const groups[] = {
	&qv_send, &qv_write, &qv_read, &qv_atomic, &qv_mr, &qv_access,
	&qv_error, &qv_flush, &qv_state, &qv_notify, &qv_context, &qv_traffic,
	&qv_endless, &qv_kinds, &qv_cm, &qv_late, &qv_types, &qv_drain, &qv_uc, &qv_lossy,
	&qv_ud, &qv_srq, &qv_cq, &qv_mcast, &qv_group,
	&qv_a19,
};

/* One run at a time; protects result. Taken before devices_lock. */
static DEFINE_MUTEX(run_lock);
/* Protects devices and used. */
static DEFINE_MUTEX(devices_lock);
static LIST_HEAD(devices);
static struct ib_device *used[2];
static bool stop;

static char *result;
static size_t result_len;
#define RESULT_SIZE	(256 << 10)

static __printf(1, 2) void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	result_len += vscnprintf(result + result_len, RESULT_SIZE - result_len, fmt, args);
	va_end(args);
}

static int add_device(struct ib_device *dev)
{
	struct device_entry *e = kzalloc(sizeof(*e), GFP_KERNEL);

	if (!e)
		return -ENOMEM;
	e->dev = dev;
	mutex_lock(&devices_lock);
	list_add_tail(&e->list, &devices);
	mutex_unlock(&devices_lock);
	return 0;
}

/* After this nothing of ours may be left on the device. */
static void remove_device(struct ib_device *dev, void *data)
{
	struct device_entry *e, *next;

	mutex_lock(&devices_lock);
	list_for_each_entry_safe(e, next, &devices, list) {
		if (e->dev == dev) {
			list_del(&e->list);
			kfree(e);
		}
	}
	if (used[0] == dev || used[1] == dev)
		WRITE_ONCE(stop, true);
	mutex_unlock(&devices_lock);
	/* The run that uses it sees that and ends. */
	mutex_lock(&run_lock);
	mutex_unlock(&run_lock);
}

static struct ib_client client = {
	.name = "qverbs",
	.add = add_device,
	.remove = remove_device,
};

static struct ib_device *find_device(const char *name)
{
	struct device_entry *e;

	lockdep_assert_held(&devices_lock);
	list_for_each_entry(e, &devices, list)
		if (!strcmp(dev_name(&e->dev->dev), name))
			return e->dev;
	return NULL;
}

static int use_devices(struct run *r, const char *a, const char *b)
{
	int err = 0;

	mutex_lock(&devices_lock);
	WRITE_ONCE(stop, false);
	r->dev[QV_A] = find_device(a);
	r->dev[QV_B] = find_device(b);
	if (!r->dev[QV_A] || !r->dev[QV_B])
		err = -ENODEV;
	else
		memcpy(used, r->dev, sizeof(used));
	mutex_unlock(&devices_lock);
	return err;
}

static void unuse_devices(void)
{
	mutex_lock(&devices_lock);
	used[0] = NULL;
	used[1] = NULL;
	mutex_unlock(&devices_lock);
}

static void default_conf(struct qv_conf *conf)
{
	*conf = (struct qv_conf) {
		.family = 4,
		.mtu = IB_MTU_1024,
		.count = 200,
		.timeout = 15,
		.retry_cnt = 6,
		.rnr_retry = 7,
		.min_rnr_timer = 12,
		.wr = 64,
		.cqe = 256,
		.rd_atomic = 16,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			  IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC,
		.sig = IB_SIGNAL_REQ_WR,
		.type = IB_QPT_RC,
	};
}

static int parse_type(struct run *r, const char *name)
{
	static const char *const names[] = {
		[IB_QPT_RC] = "rc", [IB_QPT_UC] = "uc", [IB_QPT_UD] = "ud",
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!names[i] || strcmp(names[i], name))
			continue;
		r->conf.type = i;
		return 0;
	}
	return -EINVAL;
}

static int parse_option(struct run *r, char *word)
{
	char *value = strchr(word, '=');
	unsigned int n;
	int err;

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	if (!strcmp(word, "skip")) {
		r->skip = value;
		return 0;
	}
	if (!strcmp(word, "type"))
		return parse_type(r, value);
	err = kstrtouint(value, 0, &n);
	if (err)
		return err;
	if (!strcmp(word, "family") && (n == 4 || n == 6))
		r->conf.family = n;
	else if (!strcmp(word, "mtu") && n >= 256)
		r->conf.mtu = ib_mtu_int_to_enum(n);
	else if (!strcmp(word, "count"))
		r->conf.count = n;
	else if (!strcmp(word, "srq"))
		r->conf.srq = n;
	else if (!strcmp(word, "timeout") && n < 32)
		r->conf.timeout = n;
	else if (!strcmp(word, "lossy"))
		r->conf.lossy = n;
	else
		return -EINVAL;
	return 0;
}

static int parse(struct run *r, char *text)
{
	char *a, *b, *word;
	int err;

	default_conf(&r->conf);
	text = strim(text);
	r->what = strsep(&text, " ");
	a = strsep(&text, " ");
	b = strsep(&text, " ");
	if (!a || !b)
		return -EINVAL;
	while ((word = strsep(&text, " "))) {
		err = parse_option(r, word);
		if (err)
			return err;
	}
	return use_devices(r, a, b);
}

/* Whether @name is one of a list with commas. */
static bool listed(const char *list, const char *name)
{
	size_t len = strlen(name);
	const char *at = list;

	while (at && (at = strstr(at, name))) {
		if ((at == list || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
		at++;
	}
	return false;
}

static void run_case(struct run *r, const struct qv_group *g, const struct qv_case *c)
{
	struct qv_link *l = kzalloc(sizeof(*l), GFP_KERNEL);
	ktime_t begin = ktime_get();
	int err = 0;

	if (!l)
		return;
	l->conf = r->conf;
	l->stop = &stop;
	l->side[QV_A].dev = r->dev[QV_A];
	l->side[QV_B].dev = r->dev[QV_B];
	if (!(c->flags & QV_OWN_LINK))
		err = qv_open(l);
	if (!err)
		err = c->fn(l, c->arg);
	qv_close(l);
	r->ran++;
	if (err) {
		r->failed++;
		say("FAIL %s/%s: %s\n", g->name, c->name, l->why ?: "without a reason");
	} else {
		say("PASS %s/%s %lld ms\n", g->name, c->name,
		    ktime_ms_delta(ktime_get(), begin));
	}
	kfree(l->why);
	kfree(l);
}

static bool wanted(const struct run *r, const struct qv_group *g, const struct qv_case *c)
{
	size_t len = strlen(g->name);

	if (strncmp(r->what, g->name, len))
		return false;
	if (r->what[len])
		return r->what[len] == '/' && !strcmp(r->what + len + 1, c->name);
	return !listed(r->skip, c->name);
}

static int run_all(struct run *r)
{
	int i, j;

	for (i = 0; i < ARRAY_SIZE(groups); i++)
		for (j = 0; j < groups[i]->nr; j++)
			if (!READ_ONCE(stop) && !signal_pending(current) &&
			    wanted(r, groups[i], &groups[i]->cases[j]))
				run_case(r, groups[i], &groups[i]->cases[j]);
	say("%u passed, %u failed\n", r->ran - r->failed, r->failed);
	return r->ran ? 0 : -ENOENT;
}

static ssize_t run_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct run r = {};
	char *text;
	int err;

	if (len >= PAGE_SIZE)
		return -EINVAL;
	text = memdup_user_nul(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	mutex_lock(&run_lock);
	result_len = 0;
	err = parse(&r, text);
	if (!err) {
		err = run_all(&r);
		unuse_devices();
	}
	mutex_unlock(&run_lock);
	kfree(text);
	return err ?: len;
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.write = run_write,
};

static int result_show(struct seq_file *m, void *unused)
{
	mutex_lock(&run_lock);
	seq_write(m, result, result_len);
	mutex_unlock(&run_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(result);

static struct dentry *dir;

static int __init qverbs_init(void)
{
	int err;

	result = kvmalloc(RESULT_SIZE, GFP_KERNEL);
	if (!result)
		return -ENOMEM;
	err = ib_register_client(&client);
	if (err) {
		kvfree(result);
		return err;
	}
	dir = debugfs_create_dir("qverbs", NULL);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	debugfs_create_file("result", 0400, dir, NULL, &result_fops);
	qv_wires_init(dir);
	return 0;
}

static void __exit qverbs_exit(void)
{
	qv_wires_exit();
	debugfs_remove_recursive(dir);
	ib_unregister_client(&client);
	kvfree(result);
}

module_init(qverbs_init);
module_exit(qverbs_exit);
MODULE_DESCRIPTION("Tests of RDMA devices by the kernel's verbs");
MODULE_LICENSE("GPL");
