// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a controller: its states, its creation and end, what starts a
 * connection and what ends it. Runs in process context, but for
 * qhost_ctrl_fail(), which may be called from any.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/idr.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "host.h"
#include "trace.h"

static DEFINE_IDA(instances);

static const char *const state_names[] = {
	[QHOST_NEW]		= "new",
	[QHOST_CONNECTING]	= "connecting",
	[QHOST_LIVE]		= "live",
	[QHOST_RESETTING]	= "resetting",
	[QHOST_DELETING]	= "deleting",
	[QHOST_DEAD]		= "dead",
};

static_assert(ARRAY_SIZE(state_names) == QHOST_NR_STATES);

/* From which state to which. A failed controller never becomes live. */
static const u8 allowed_moves[] = {
	[QHOST_NEW]		= BIT(QHOST_CONNECTING) | BIT(QHOST_DELETING),
	[QHOST_CONNECTING]	= BIT(QHOST_LIVE) | BIT(QHOST_DEAD),
	[QHOST_LIVE]		= BIT(QHOST_RESETTING) | BIT(QHOST_DELETING),
	[QHOST_RESETTING]	= BIT(QHOST_DEAD),
	[QHOST_DELETING]	= BIT(QHOST_DEAD),
	[QHOST_DEAD]		= BIT(QHOST_DELETING),
};

static_assert(ARRAY_SIZE(allowed_moves) == QHOST_NR_STATES);

static bool move_locked(struct qhost_ctrl *ctrl, enum qhost_state to)
{
	enum qhost_state from = ctrl->state;

	lockdep_assert_held(&ctrl->lock);
	if (!(allowed_moves[from] & BIT(to)))
		return false;
	if (to == QHOST_LIVE && ctrl->failed)
		return false;
	WRITE_ONCE(ctrl->state, to);
	trace_qhost_state(ctrl, from, to);
	return true;
}

/**
 * qhost_ctrl_move() - change the state of a controller
 * @ctrl: the controller
 * @to: the new state
 *
 * The only place but qhost_ctrl_fail() where a state changes.
 *
 * Context: any; takes the controller's lock.
 * Return: false where the table does not allow it.
 */
bool qhost_ctrl_move(struct qhost_ctrl *ctrl, enum qhost_state to)
{
	unsigned long flags;
	bool moved;

	spin_lock_irqsave(&ctrl->lock, flags);
	moved = move_locked(ctrl, to);
	spin_unlock_irqrestore(&ctrl->lock, flags);
	return moved;
}

/**
 * qhost_ctrl_state() - the state of a controller at this moment
 * @ctrl: the controller
 *
 * Context: any.
 * Return: the state.
 */
enum qhost_state qhost_ctrl_state(const struct qhost_ctrl *ctrl)
{
	return READ_ONCE(ctrl->state);
}

/**
 * qhost_state_name() - a state in a word
 * @state: the state
 *
 * Context: any.
 * Return: its name.
 */
const char *qhost_state_name(enum qhost_state state)
{
	return state_names[state];
}

/**
 * qhost_ctrl_device() - the name of a controller's device
 * @ctrl: the controller
 *
 * Context: any.
 * Return: its name, "quarryN", valid as long as the controller.
 */
const char *qhost_ctrl_device(const struct qhost_ctrl *ctrl)
{
	return dev_name(&ctrl->dev);
}

/*
 * Mark a controller as failed and have fail_work stop its queues, unless
 * that was done before. The work is queued under the lock, so who finds the
 * mark can wait for the work.
 */
static bool mark_failed(struct qhost_ctrl *ctrl)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&ctrl->lock, flags);
	first = !ctrl->failed;
	if (first) {
		WRITE_ONCE(ctrl->failed, true);
		if (ctrl->state == QHOST_LIVE)
			move_locked(ctrl, QHOST_RESETTING);
		queue_work(qhost_wq, &ctrl->fail_work);
	}
	spin_unlock_irqrestore(&ctrl->lock, flags);
	if (first)
		wake_up_all(&ctrl->wait);
	return first;
}

/**
 * qhost_ctrl_fail() - a controller's connection is lost
 * @ctrl: the controller
 * @why: the reason, for the log
 *
 * Returns at once. All that is in flight will end with an error.
 *
 * Context: any.
 */
void qhost_ctrl_fail(struct qhost_ctrl *ctrl, const char *why)
{
	if (mark_failed(ctrl))
		qhost_warn(ctrl, "lost: %s\n", why);
}

/* Stop the queues without a word, and wait until they are. */
static void stop(struct qhost_ctrl *ctrl)
{
	mark_failed(ctrl);
	flush_work(&ctrl->fail_work);
}

/*
 * If the controller was live, all of it goes from here. Otherwise the one
 * who connects or disconnects goes on, and finds every command failing.
 */
static void fail_work(struct work_struct *work)
{
	struct qhost_ctrl *ctrl = container_of(work, struct qhost_ctrl,
					       fail_work);

	qhost_stop_queues(ctrl);
	if (qhost_ctrl_state(ctrl) != QHOST_RESETTING)
		return;
	qhost_teardown(ctrl);
	qhost_ctrl_move(ctrl, QHOST_DEAD);
}

/**
 * qhost_queue_scan() - look at the namespaces soon
 * @ctrl: the controller; only a live one is scanned
 * @delay: in how many jiffies
 *
 * Context: any.
 */
void qhost_queue_scan(struct qhost_ctrl *ctrl, unsigned long delay)
{
	if (qhost_ctrl_state(ctrl) == QHOST_LIVE)
		mod_delayed_work(qhost_wq, &ctrl->scan_work, delay);
}

static void release(struct device *dev)
{
	struct qhost_ctrl *ctrl = container_of(dev, struct qhost_ctrl, dev);

	ida_free(&instances, ctrl->instance);
	put_net(ctrl->net);
	kfree(ctrl->name);
	kfree(ctrl);
	qhost_object_put();
}

/**
 * qhost_ctrl_get() - take a reference to a controller
 * @ctrl: the controller
 *
 * Context: any.
 */
void qhost_ctrl_get(struct qhost_ctrl *ctrl)
{
	get_device(&ctrl->dev);
}

/**
 * qhost_ctrl_put() - drop a reference to a controller
 * @ctrl: the controller
 *
 * Context: process, may sleep.
 */
void qhost_ctrl_put(struct qhost_ctrl *ctrl)
{
	put_device(&ctrl->dev);
}

static void init_ctrl(struct qhost_ctrl *ctrl)
{
	spin_lock_init(&ctrl->lock);
	mutex_init(&ctrl->tag_lock);
	mutex_init(&ctrl->ns_lock);
	init_waitqueue_head(&ctrl->wait);
	INIT_LIST_HEAD(&ctrl->namespaces);
	INIT_WORK(&ctrl->fail_work, fail_work);
	INIT_WORK(&ctrl->aen_work, qhost_aen_work);
	INIT_DELAYED_WORK(&ctrl->scan_work, qhost_scan_work);
	INIT_DELAYED_WORK(&ctrl->keep_alive_work, qhost_keep_alive_work);
	ctrl->state = QHOST_NEW;
}

/**
 * qhost_ctrl_create() - make a controller that is not connected yet
 * @name: the name of the connection, for the log
 * @opts: what to connect to, and how; copied
 * @net: the network namespace to connect from
 *
 * Context: process, may sleep.
 * Return: the controller with one reference, which the caller owns, or an
 * ERR_PTR().
 */
struct qhost_ctrl *qhost_ctrl_create(const char *name,
				     const struct qhost_options *opts,
				     struct net *net)
{
	struct qhost_ctrl *ctrl;
	int err = -ENOMEM;

	ctrl = kzalloc(sizeof(*ctrl), GFP_KERNEL);
	if (!ctrl)
		return ERR_PTR(-ENOMEM);
	ctrl->name = kstrdup(name, GFP_KERNEL);
	if (!ctrl->name)
		goto err_free;
	ctrl->instance = ida_alloc(&instances, GFP_KERNEL);
	if (ctrl->instance < 0) {
		err = ctrl->instance;
		goto err_free;
	}
	ctrl->opts = *opts;
	ctrl->net = get_net(net);
	init_ctrl(ctrl);
	qhost_object_get();

	device_initialize(&ctrl->dev);
	ctrl->dev.class = &qhost_class;
	ctrl->dev.groups = qhost_ctrl_groups;
	ctrl->dev.release = release;
	err = dev_set_name(&ctrl->dev, "quarry%d", ctrl->instance);
	if (err) {
		qhost_ctrl_put(ctrl);
		return ERR_PTR(err);
	}
	qhost_list_add(ctrl);
	return ctrl;

err_free:
	kfree(ctrl->name);
	kfree(ctrl);
	return ERR_PTR(err);
}

/**
 * qhost_ctrl_connect() - connect a new controller and find its namespaces
 * @ctrl: the controller; nobody else connects or disconnects it meanwhile
 *
 * Context: process, sleeps; a signal ends it.
 * Return: 0 with the controller live and its disks there, or an errno with
 * the controller dead: -EINVAL (address, or what the target refuses),
 * -ENODEV (no RDMA device), -ECONNREFUSED, -ETIMEDOUT, -ENOENT (no such
 * subsystem), -EACCES (this host is not allowed) and others. The log has the
 * reason. qhost_ctrl_disconnect() is due in any case.
 */
int qhost_ctrl_connect(struct qhost_ctrl *ctrl)
{
	int err;

	if (!qhost_ctrl_move(ctrl, QHOST_CONNECTING))
		return -EINVAL;
	err = qhost_setup(ctrl);
	if (!err && !qhost_ctrl_move(ctrl, QHOST_LIVE))
		err = -ECONNRESET;
	if (err) {
		qhost_err(ctrl, "not connected: %pe\n", ERR_PTR(err));
		stop(ctrl);
		qhost_teardown(ctrl);
		qhost_ctrl_move(ctrl, QHOST_DEAD);
		return err;
	}
	qhost_info(ctrl, "%s is %s at %s port %s, %u I/O queues of %u\n",
		   qhost_ctrl_device(ctrl), ctrl->opts.subsysnqn,
		   ctrl->opts.traddr, ctrl->opts.trsvcid, ctrl->nr_queues - 1,
		   ctrl->depth);
	/* From here on fail_work may take all of it down at any moment. */
	qhost_queue_scan(ctrl, 0);
	flush_delayed_work(&ctrl->scan_work);
	if (qhost_failed(ctrl)) {
		flush_work(&ctrl->fail_work);
		return -ECONNRESET;
	}
	return 0;
}

/**
 * qhost_ctrl_disconnect() - end a controller in whatever state it is
 * @ctrl: the controller; the caller's reference stays his
 *
 * What is dirty in the page cache is written first, as far as the target
 * still takes it. Must be called once before the last qhost_ctrl_put().
 *
 * Context: process, sleeps.
 */
void qhost_ctrl_disconnect(struct qhost_ctrl *ctrl)
{
	/* A loss that is being dealt with comes to its end first. */
	while (!qhost_ctrl_move(ctrl, QHOST_DELETING))
		flush_work(&ctrl->fail_work);

	cancel_delayed_work_sync(&ctrl->scan_work);
	qhost_remove_namespaces(ctrl, false);
	cancel_delayed_work_sync(&ctrl->keep_alive_work);
	if (ctrl->admin_q)
		qhost_shutdown(ctrl);
	stop(ctrl);
	qhost_teardown(ctrl);
	qhost_list_del(ctrl);
}
