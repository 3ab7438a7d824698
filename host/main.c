// SPDX-License-Identifier: GPL-2.0-only
/*
 * Set-up of the initiator, the list of its controllers, and what becomes of
 * them when an RDMA device goes. Runs in process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/module.h>
#include "host.h"

struct workqueue_struct *qhost_wq;

const struct class qhost_class = {
	.name = "quarry",
};

/* protects controllers, and each one's ibdev against a device that goes */
static DEFINE_MUTEX(list_lock);
static LIST_HEAD(controllers);

/* The name and the identifier of this host, where the user gives none. */
static uuid_t default_hostid;

/*
 * Controllers and namespaces that exist, and one for the module itself. A
 * disk that is open outlives its connection, so the module's end waits.
 */
static atomic_t objects = ATOMIC_INIT(1);
static DECLARE_COMPLETION(objects_gone);

/**
 * qhost_object_get() - count one more object that the module must outlive
 *
 * Context: any.
 */
void qhost_object_get(void)
{
	atomic_inc(&objects);
}

/**
 * qhost_object_put() - the object is freed
 *
 * Context: any.
 */
void qhost_object_put(void)
{
	if (atomic_dec_and_test(&objects))
		complete(&objects_gone);
}

/**
 * qhost_options_init() - the defaults of a new connection
 * @opts: what to fill
 *
 * Context: any.
 */
void qhost_options_init(struct qhost_options *opts)
{
	memset(opts, 0, sizeof(*opts));
	snprintf(opts->trsvcid, sizeof(opts->trsvcid), "%u", NVME_RDMA_IP_PORT);
	snprintf(opts->hostnqn, sizeof(opts->hostnqn),
		 "nqn.2014-08.org.nvmexpress:uuid:%pUb", &default_hostid);
	uuid_copy(&opts->hostid, &default_hostid);
	opts->nr_io_queues = num_online_cpus();
	opts->queue_size = NVME_RDMA_DEFAULT_QUEUE_SIZE;
	opts->keep_alive_tmo = 5;
}

/**
 * qhost_list_add() - make a controller known to the removal of devices
 * @ctrl: the controller
 *
 * Context: process, may sleep.
 */
void qhost_list_add(struct qhost_ctrl *ctrl)
{
	mutex_lock(&list_lock);
	list_add_tail(&ctrl->entry, &controllers);
	mutex_unlock(&list_lock);
}

/**
 * qhost_list_del() - the mirror of qhost_list_add()
 * @ctrl: the controller
 *
 * Context: process, may sleep.
 */
void qhost_list_del(struct qhost_ctrl *ctrl)
{
	mutex_lock(&list_lock);
	list_del(&ctrl->entry);
	mutex_unlock(&list_lock);
}

static int device_add_one(struct ib_device *ibdev);
static void device_remove_one(struct ib_device *ibdev, void *client_data);

static struct ib_client ib_client = {
	.name = "quarry_host",
	.add = device_add_one,
	.remove = device_remove_one,
};

/* The client data say no more than that the device may be used. */
static int device_add_one(struct ib_device *ibdev)
{
	ib_set_client_data(ibdev, &ib_client, ibdev);
	return 0;
}

static struct qhost_ctrl *find_on_device(struct ib_device *ibdev)
{
	struct qhost_ctrl *ctrl;

	lockdep_assert_held(&list_lock);
	list_for_each_entry(ctrl, &controllers, entry) {
		if (ctrl->ibdev == ibdev) {
			qhost_ctrl_get(ctrl);
			return ctrl;
		}
	}
	return NULL;
}

/* Fail every controller on the device and wait until it has let go. */
static void device_remove_one(struct ib_device *ibdev, void *client_data)
{
	struct qhost_ctrl *ctrl;

	mutex_lock(&list_lock);
	ib_set_client_data(ibdev, &ib_client, NULL);
	while ((ctrl = find_on_device(ibdev))) {
		mutex_unlock(&list_lock);
		qhost_ctrl_fail(ctrl, "the RDMA device is being removed");
		wait_event(ctrl->wait, !READ_ONCE(ctrl->ibdev));
		qhost_ctrl_put(ctrl);
		mutex_lock(&list_lock);
	}
	mutex_unlock(&list_lock);
}

/**
 * qhost_device_bind() - take the RDMA device that a controller is reached by
 * @ctrl: the controller
 * @ibdev: the device, held by a CM identifier of the caller
 *
 * All queues of a controller are on one device, and have one protection
 * domain, which no other controller shares: the keys that one target gets
 * are of no use to another.
 *
 * Context: process, may sleep.
 * Return: 0, -ENODEV where the device is being removed, -EXDEV where the
 * controller is on another one, -EOPNOTSUPP where it cannot register memory
 * by work request, or what ib_alloc_pd() says. The first success is undone by
 * qhost_device_unbind().
 */
int qhost_device_bind(struct qhost_ctrl *ctrl, struct ib_device *ibdev)
{
	struct ib_pd *pd;
	int err = 0;

	mutex_lock(&list_lock);
	if (ctrl->ibdev) {
		err = ctrl->ibdev == ibdev ? 0 : -EXDEV;
		goto out;
	}
	if (!ib_get_client_data(ibdev, &ib_client)) {
		err = -ENODEV;
		goto out;
	}
	if (!(ibdev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    ibdev->attrs.max_fast_reg_page_list_len < 2) {
		err = -EOPNOTSUPP;
		goto out;
	}
	pd = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(pd)) {
		err = PTR_ERR(pd);
		goto out;
	}
	ctrl->pd = pd;
	/* One page more, as a transfer need not begin at a page's start. */
	ctrl->pages_per_mr = min_t(u32, QHOST_MAX_PAGES + 1,
				   ibdev->attrs.max_fast_reg_page_list_len);
	WRITE_ONCE(ctrl->ibdev, ibdev);
out:
	mutex_unlock(&list_lock);
	return err;
}

/**
 * qhost_device_unbind() - let go of the RDMA device
 * @ctrl: the controller; all its queues are closed
 *
 * Context: process, may sleep.
 */
void qhost_device_unbind(struct qhost_ctrl *ctrl)
{
	if (!ctrl->ibdev)
		return;
	ib_dealloc_pd(ctrl->pd);
	mutex_lock(&list_lock);
	ctrl->pd = NULL;
	WRITE_ONCE(ctrl->ibdev, NULL);
	mutex_unlock(&list_lock);
	wake_up_all(&ctrl->wait);
}

/**
 * qhost_init() - set the initiator up
 *
 * Context: process, may sleep.
 * Return: 0 or an errno.
 */
int qhost_init(void)
{
	int err;

	uuid_gen(&default_hostid);
	qhost_wq = alloc_workqueue("quarry_host", WQ_UNBOUND | WQ_MEM_RECLAIM,
				   0);
	if (!qhost_wq)
		return -ENOMEM;
	err = class_register(&qhost_class);
	if (err)
		goto err_destroy_wq;
	err = ib_register_client(&ib_client);
	if (err)
		goto err_unregister_class;
	return 0;

err_unregister_class:
	class_unregister(&qhost_class);
err_destroy_wq:
	destroy_workqueue(qhost_wq);
	return err;
}

/**
 * qhost_exit() - take the initiator down
 *
 * No connection exists any more, as each holds the module. What may remain
 * are the objects behind disks that are being closed right now.
 *
 * Context: process, sleeps.
 */
void qhost_exit(void)
{
	qhost_object_put();
	wait_for_completion(&objects_gone);
	ib_unregister_client(&ib_client);
	class_unregister(&qhost_class);
	destroy_workqueue(qhost_wq);
}
