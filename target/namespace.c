// SPDX-License-Identifier: GPL-2.0-only
/*
 * Namespaces: made, enabled, looked up for a command, disabled while commands
 * run, ended. All but the look-up runs in process context.
 *
 * A namespace is in its subsystem's array from creation to destruction. Its
 * reference is live while it is enabled; that is what a command needs.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/slab.h>
#include "internal.h"

static const struct qtgt_backend_ops *const backends[] = {
	&qtgt_bdev_ops,
};

static void ns_idle(struct percpu_ref *ref)
{
	complete(&container_of(ref, struct qtgt_ns, ref)->idle);
}

struct qtgt_ns *qtgt_ns_create(struct qtgt_subsys *subsys, u32 nsid)
{
	struct qtgt_ns *ns;
	int err;

	if (!nsid || nsid == NVME_NSID_ALL) {
		pr_err_ratelimited("subsystem %s: %#x is not a namespace ID\n",
				   subsys->nqn, nsid);
		return ERR_PTR(-EINVAL);
	}

	ns = kzalloc(sizeof(*ns), GFP_KERNEL);
	if (!ns)
		return ERR_PTR(-ENOMEM);
	ns->nsid = nsid;
	ns->subsys = subsys;
	kref_get(&subsys->ref);
	ns->anagrpid = QTGT_DEFAULT_ANAGRP;
	uuid_gen(&ns->uuid);
	init_completion(&ns->idle);
	mutex_init(&ns->toggle);

	err = percpu_ref_init(&ns->ref, ns_idle, PERCPU_REF_INIT_DEAD,
			      GFP_KERNEL);
	if (err)
		goto err_free_ns;
	err = xa_insert(&subsys->namespaces, nsid, ns, GFP_KERNEL);
	if (err == -EBUSY)
		pr_err_ratelimited("subsystem %s: namespace %u exists already\n",
				   subsys->nqn, nsid);
	if (err)
		goto err_exit_ref;
	qtgt_ana_ns_add(ns->anagrpid);
	return ns;

err_exit_ref:
	percpu_ref_exit(&ns->ref);
err_free_ns:
	qtgt_subsys_put(subsys);
	kfree(ns);
	return ERR_PTR(err);
}

void qtgt_ns_destroy(struct qtgt_ns *ns)
{
	qtgt_ns_disable(ns);
	qtgt_ana_ns_del(ns->anagrpid);
	xa_erase(&ns->subsys->namespaces, ns->nsid);

	/* A look-up may still see it, and finds its reference dead. */
	synchronize_rcu();
	percpu_ref_exit(&ns->ref);
	mutex_destroy(&ns->toggle);
	qtgt_subsys_put(ns->subsys);
	kfree(ns->path);
	kfree(ns);
}

void qtgt_ns_get_config(struct qtgt_ns *ns, struct qtgt_ns_config *cfg)
{
	mutex_lock(&ns->subsys->lock);
	cfg->uuid = ns->uuid;
	memcpy(cfg->nguid, ns->nguid, sizeof(cfg->nguid));
	cfg->anagrpid = ns->anagrpid;
	cfg->buffered_io = ns->buffered_io;
	cfg->enabled = ns->enabled;
	mutex_unlock(&ns->subsys->lock);
}

ssize_t qtgt_ns_get_path(struct qtgt_ns *ns, char *buf, size_t len)
{
	ssize_t n;

	mutex_lock(&ns->subsys->lock);
	/* An unset path reads as the kernel prints a null pointer. */
	n = scnprintf(buf, len, "%s", ns->path ? : "(null)");
	mutex_unlock(&ns->subsys->lock);
	return n;
}

static bool ns_is_fixed(struct qtgt_ns *ns, const char *attr)
{
	lockdep_assert_held(&ns->subsys->lock);
	if (ns->enabled)
		pr_err_ratelimited("subsystem %s, namespace %u: %s is fixed while it is enabled\n",
				   ns->subsys->nqn, ns->nsid, attr);
	return ns->enabled;
}

int qtgt_ns_set_path(struct qtgt_ns *ns, const char *path)
{
	char *copy;
	int err = 0;

	copy = kstrdup(path, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;

	mutex_lock(&ns->subsys->lock);
	if (ns_is_fixed(ns, "device_path"))
		err = -EBUSY;
	else
		swap(ns->path, copy);
	mutex_unlock(&ns->subsys->lock);
	kfree(copy);
	return err;
}

int qtgt_ns_set_uuid(struct qtgt_ns *ns, const uuid_t *uuid)
{
	int err = 0;

	mutex_lock(&ns->subsys->lock);
	if (ns_is_fixed(ns, "device_uuid"))
		err = -EBUSY;
	else
		ns->uuid = *uuid;
	mutex_unlock(&ns->subsys->lock);
	return err;
}

int qtgt_ns_set_nguid(struct qtgt_ns *ns, const u8 *nguid)
{
	int err = 0;

	mutex_lock(&ns->subsys->lock);
	if (ns_is_fixed(ns, "device_nguid"))
		err = -EBUSY;
	else
		memcpy(ns->nguid, nguid, sizeof(ns->nguid));
	mutex_unlock(&ns->subsys->lock);
	return err;
}

int qtgt_ns_set_buffered_io(struct qtgt_ns *ns, bool on)
{
	int err = 0;

	mutex_lock(&ns->subsys->lock);
	if (ns_is_fixed(ns, "buffered_io"))
		err = -EINVAL;
	else
		ns->buffered_io = on;
	mutex_unlock(&ns->subsys->lock);
	return err;
}

static int ns_open(struct qtgt_ns *ns)
{
	int err = -ENOTBLK;
	int i;

	lockdep_assert_held(&ns->subsys->lock);
	for (i = 0; i < ARRAY_SIZE(backends) && err == -ENOTBLK; i++) {
		ns->ops = backends[i];
		err = ns->ops->open(ns);
	}
	if (err == -ENOTBLK)
		pr_err_ratelimited("subsystem %s, namespace %u: %s%s\n",
				   ns->subsys->nqn, ns->nsid,
				   ns->buffered_io ? "buffered_io is not there yet for " :
						     "only block devices are served, not ",
				   ns->path);
	else if (err)
		pr_err_ratelimited("subsystem %s, namespace %u: cannot open %s: %d\n",
				   ns->subsys->nqn, ns->nsid,
				   ns->path ? : "an empty device_path", err);
	return err;
}

static int ns_enable_locked(struct qtgt_ns *ns)
{
	struct qtgt_subsys *subsys = ns->subsys;
	int err;

	lockdep_assert_held(&subsys->lock);
	if (ns->enabled)
		return 0;
	if (subsys->nr_enabled == QTGT_MAX_NAMESPACES) {
		pr_err_ratelimited("subsystem %s: %d namespaces are enabled, which is all there can be\n",
				   subsys->nqn, QTGT_MAX_NAMESPACES);
		return -EMFILE;
	}
	err = ns_open(ns);
	if (err)
		return err;

	ns->enabled = true;
	subsys->nr_enabled++;
	reinit_completion(&ns->idle);
	/* Pairs with the read barrier in qtgt_req_find_ns(). */
	smp_wmb();
	percpu_ref_reinit(&ns->ref);
	xa_set_mark(&subsys->namespaces, ns->nsid, QTGT_NS_ENABLED);
	qtgt_ns_changed(subsys, ns->nsid);
	return 0;
}

int qtgt_ns_enable(struct qtgt_ns *ns)
{
	int err;

	mutex_lock(&ns->toggle);
	mutex_lock(&ns->subsys->lock);
	err = ns_enable_locked(ns);
	mutex_unlock(&ns->subsys->lock);
	mutex_unlock(&ns->toggle);
	return err;
}

void qtgt_ns_disable(struct qtgt_ns *ns)
{
	struct qtgt_subsys *subsys = ns->subsys;

	mutex_lock(&ns->toggle);
	mutex_lock(&subsys->lock);
	if (!ns->enabled)
		goto out_unlock;

	/*
	 * Hide it, let the commands that hold it end, close it. Some of those
	 * commands need subsys->lock, so it cannot be held over the wait.
	 */
	xa_clear_mark(&subsys->namespaces, ns->nsid, QTGT_NS_ENABLED);
	percpu_ref_kill(&ns->ref);
	mutex_unlock(&subsys->lock);
	wait_for_completion(&ns->idle);
	mutex_lock(&subsys->lock);

	ns->ops->close(ns);
	ns->enabled = false;
	subsys->nr_enabled--;
	qtgt_ns_changed(subsys, ns->nsid);
out_unlock:
	mutex_unlock(&subsys->lock);
	mutex_unlock(&ns->toggle);
}

/**
 * qtgt_ns_check_size() - look at the size anew, tell hosts if it changed
 * @ns: namespace that the caller holds
 *
 * Context: process, may sleep.
 */
void qtgt_ns_check_size(struct qtgt_ns *ns)
{
	loff_t old;

	mutex_lock(&ns->subsys->lock);
	old = ns->size;
	ns->ops->revalidate(ns);
	if (ns->size != old)
		qtgt_ns_changed(ns->subsys, ns->nsid);
	mutex_unlock(&ns->subsys->lock);
}

int qtgt_ns_revalidate(struct qtgt_ns *ns)
{
	if (!percpu_ref_tryget_live(&ns->ref)) {
		pr_err_ratelimited("subsystem %s, namespace %u: must be enabled to look at its size\n",
				   ns->subsys->nqn, ns->nsid);
		return -EINVAL;
	}
	qtgt_ns_check_size(ns);
	percpu_ref_put(&ns->ref);
	return 0;
}

/**
 * qtgt_ns_set_readonly() - refuse writes, or take them again
 * @ns: namespace that the caller holds
 * @on: refuse
 *
 * Context: process, may sleep.
 */
void qtgt_ns_set_readonly(struct qtgt_ns *ns, bool on)
{
	mutex_lock(&ns->subsys->lock);
	WRITE_ONCE(ns->readonly, on);
	qtgt_ns_changed(ns->subsys, ns->nsid);
	mutex_unlock(&ns->subsys->lock);
}

/**
 * qtgt_req_find_ns() - find the namespace that a command names and hold it
 * @req: request of a connected queue
 *
 * Context: any; does not sleep.
 * Return: 0 with req->ns set, which qtgt_req_complete() lets go, or an NVMe
 * status. A namespace that exists but is disabled is a matter of this path
 * only, so that a multipath host tries another.
 */
u16 qtgt_req_find_ns(struct qtgt_req *req)
{
	u32 nsid = le32_to_cpu(req->cmd.common.nsid);
	struct qtgt_ns *ns;
	u16 status = 0;

	rcu_read_lock();
	ns = xa_load(&req->queue->ctrl->subsys->namespaces, nsid);
	if (unlikely(!ns))
		status = NVME_SC_INVALID_NS | NVME_STATUS_DNR;
	else if (unlikely(!percpu_ref_tryget_live(&ns->ref)))
		status = NVME_SC_INTERNAL_PATH_ERROR;
	rcu_read_unlock();

	if (unlikely(status)) {
		req->error_loc = offsetof(struct nvme_common_command, nsid);
		return status;
	}
	/* Pairs with the write barrier in ns_enable_locked(). */
	smp_rmb();
	req->ns = ns;
	return 0;
}

int qtgt_ns_set_anagrp(struct qtgt_ns *ns, u32 grpid)
{
	struct qtgt_ctrl *ctrl;
	u32 old;

	if (grpid < 1 || grpid > QTGT_MAX_ANAGRPS) {
		pr_err_ratelimited("subsystem %s, namespace %u: ana_grpid must be 1 to %d\n",
				   ns->subsys->nqn, ns->nsid, QTGT_MAX_ANAGRPS);
		return -EINVAL;
	}

	mutex_lock(&ns->subsys->lock);
	old = ns->anagrpid;
	qtgt_ana_ns_add(grpid);
	WRITE_ONCE(ns->anagrpid, grpid);
	qtgt_ana_ns_del(old);
	list_for_each_entry(ctrl, &ns->subsys->ctrls, entry)
		qtgt_event(ctrl, QTGT_EVENT_ANA);
	mutex_unlock(&ns->subsys->lock);
	return 0;
}
