// SPDX-License-Identifier: GPL-2.0-only
/*
 * Subsystems and the hosts that may use them. Process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/hex.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <generated/utsrelease.h>
#include "internal.h"

DECLARE_RWSEM(qtgt_config_sem);

struct qtgt_host *qtgt_host_create(const char *nqn)
{
	struct qtgt_host *host;

	host = kzalloc(sizeof(*host), GFP_KERNEL);
	if (!host)
		return ERR_PTR(-ENOMEM);
	host->nqn = kstrdup(nqn, GFP_KERNEL);
	if (!host->nqn) {
		kfree(host);
		return ERR_PTR(-ENOMEM);
	}
	return host;
}

void qtgt_host_destroy(struct qtgt_host *host)
{
	kfree(host->nqn);
	kfree(host);
}

static void identity_init(struct qtgt_identity *id)
{
	u8 serial[QTGT_SN_LEN / 2];

	/* Controllers last no longer than the module, so any number will do. */
	get_random_bytes(serial, sizeof(serial));
	bin2hex(id->serial, serial, sizeof(serial));
	strscpy(id->model, "Linux");
	strscpy(id->firmware, UTS_RELEASE);
	id->ver = QTGT_DEFAULT_VS;
}

/**
 * qtgt_subsys_alloc() - make a subsystem of any type
 * @nqn: its qualified name
 * @type: NVM or discovery
 *
 * Context: process, may sleep.
 * Return: the subsystem with one reference, or -ENOMEM.
 */
struct qtgt_subsys *qtgt_subsys_alloc(const char *nqn,
				      enum nvme_subsys_type type)
{
	struct qtgt_subsys *subsys;

	subsys = kzalloc(sizeof(*subsys), GFP_KERNEL);
	if (!subsys)
		return ERR_PTR(-ENOMEM);
	subsys->nqn = kstrdup(nqn, GFP_KERNEL);
	if (!subsys->nqn) {
		kfree(subsys);
		return ERR_PTR(-ENOMEM);
	}
	subsys->type = type;
	subsys->qid_max = type == NVME_NQN_NVME ? QTGT_MAX_QUEUES : 0;
	subsys->cntlid_min = NVME_CNTLID_MIN;
	subsys->cntlid_max = NVME_CNTLID_MAX;
	identity_init(&subsys->id);
	kref_init(&subsys->ref);
	mutex_init(&subsys->lock);
	INIT_LIST_HEAD(&subsys->ctrls);
	INIT_LIST_HEAD(&subsys->hosts);
	xa_init(&subsys->namespaces);
	return subsys;
}

static void subsys_free(struct kref *ref)
{
	struct qtgt_subsys *subsys = container_of(ref, struct qtgt_subsys, ref);
	unsigned long i = 0;

	/* Nodes without an entry may be left, from when memory ran out. */
	WARN_ON_ONCE(xa_find(&subsys->namespaces, &i, ULONG_MAX, XA_PRESENT));
	WARN_ON_ONCE(!list_empty(&subsys->hosts));
	xa_destroy(&subsys->namespaces);
	mutex_destroy(&subsys->lock);
	kfree(subsys->nqn);
	kfree(subsys);
}

/**
 * qtgt_subsys_put() - drop a reference
 * @subsys: subsystem
 *
 * Context: process, may sleep.
 */
void qtgt_subsys_put(struct qtgt_subsys *subsys)
{
	kref_put(&subsys->ref, subsys_free);
}

struct qtgt_subsys *qtgt_subsys_create(const char *nqn)
{
	bool taken;

	if (strlen(nqn) > NVMF_NQN_SIZE) {
		pr_err_ratelimited("subsystem %.32s...: the name is longer than %d bytes\n",
				   nqn, NVMF_NQN_SIZE);
		return ERR_PTR(-EINVAL);
	}

	down_read(&qtgt_config_sem);
	taken = !strcmp(nqn, NVME_DISC_SUBSYS_NAME) ||
		!strcmp(nqn, qtgt_disc_subsys->nqn);
	up_read(&qtgt_config_sem);
	if (taken) {
		pr_err_ratelimited("subsystem %s: this is the name of the discovery service\n",
				   nqn);
		return ERR_PTR(-EINVAL);
	}
	return qtgt_subsys_alloc(nqn, NVME_NQN_NVME);
}

void qtgt_subsys_destroy(struct qtgt_subsys *subsys)
{
	qtgt_subsys_disconnect(subsys, NULL);
	qtgt_subsys_put(subsys);
}

void qtgt_subsys_get_config(struct qtgt_subsys *subsys,
			    struct qtgt_subsys_config *cfg)
{
	down_read(&qtgt_config_sem);
	mutex_lock(&subsys->lock);
	cfg->id = subsys->id;
	cfg->qid_max = subsys->qid_max;
	cfg->any_host = subsys->any_host;
	cfg->cntlid_min = subsys->cntlid_min;
	cfg->cntlid_max = subsys->cntlid_max;
	mutex_unlock(&subsys->lock);
	up_read(&qtgt_config_sem);
}

int qtgt_subsys_set_identity(struct qtgt_subsys *subsys,
			     const struct qtgt_identity *id)
{
	int err = 0;

	mutex_lock(&subsys->lock);
	if (subsys->discovered)
		err = -EINVAL;
	else
		subsys->id = *id;
	mutex_unlock(&subsys->lock);

	if (err)
		pr_err_ratelimited("subsystem %s: its identity is fixed since a host has seen it\n",
				   subsys->nqn);
	return err;
}

int qtgt_subsys_set_any_host(struct qtgt_subsys *subsys, bool any)
{
	int err = 0;

	down_write(&qtgt_config_sem);
	if (any && !list_empty(&subsys->hosts)) {
		err = -EINVAL;
	} else if (subsys->any_host != any) {
		subsys->any_host = any;
		qtgt_disc_subsys_changed(subsys, NULL);
	}
	up_write(&qtgt_config_sem);

	if (err)
		pr_err_ratelimited("subsystem %s: cannot be open to any host while allowed_hosts names some\n",
				   subsys->nqn);
	return err;
}

int qtgt_subsys_set_cntlids(struct qtgt_subsys *subsys, u16 min, u16 max)
{
	int err = 0;

	down_write(&qtgt_config_sem);
	min = min ? : subsys->cntlid_min;
	max = max ? : subsys->cntlid_max;
	if (min > max) {
		err = -EINVAL;
	} else {
		subsys->cntlid_min = min;
		subsys->cntlid_max = max;
	}
	up_write(&qtgt_config_sem);

	if (err)
		pr_err_ratelimited("subsystem %s: no controller ID lies between %u and %u\n",
				   subsys->nqn, min, max);
	return err;
}

int qtgt_subsys_set_qid_max(struct qtgt_subsys *subsys, u16 qid_max)
{
	if (qid_max < 1 || qid_max > QTGT_MAX_QUEUES) {
		pr_err_ratelimited("subsystem %s: attr_qid_max must be 1 to %d\n",
				   subsys->nqn, QTGT_MAX_QUEUES);
		return -EINVAL;
	}

	mutex_lock(&subsys->lock);
	subsys->qid_max = qid_max;
	mutex_unlock(&subsys->lock);
	qtgt_subsys_disconnect(subsys, NULL);
	return 0;
}

static struct qtgt_host_link *find_host(struct qtgt_subsys *subsys,
					const char *nqn)
{
	struct qtgt_host_link *link;

	lockdep_assert_held(&qtgt_config_sem);
	list_for_each_entry(link, &subsys->hosts, entry)
		if (!strcmp(link->host->nqn, nqn))
			return link;
	return NULL;
}

/**
 * qtgt_host_allowed() - may a host use a subsystem?
 * @subsys: subsystem; anyone may use the discovery service
 * @hostnqn: name of the host
 *
 * Context: qtgt_config_sem held.
 * Return: true if so.
 */
bool qtgt_host_allowed(struct qtgt_subsys *subsys, const char *hostnqn)
{
	lockdep_assert_held(&qtgt_config_sem);
	return subsys->any_host || qtgt_is_discovery(subsys) ||
	       find_host(subsys, hostnqn);
}

int qtgt_subsys_allow_host(struct qtgt_subsys *subsys, struct qtgt_host *host)
{
	struct qtgt_host_link *link;
	int err = 0;

	link = kmalloc(sizeof(*link), GFP_KERNEL);
	if (!link)
		return -ENOMEM;
	link->host = host;

	down_write(&qtgt_config_sem);
	if (subsys->any_host) {
		pr_err_ratelimited("subsystem %s: attr_allow_any_host is set, so allowed_hosts must stay empty\n",
				   subsys->nqn);
		err = -EINVAL;
	} else if (find_host(subsys, host->nqn)) {
		pr_err_ratelimited("subsystem %s: host %s is allowed already\n",
				   subsys->nqn, host->nqn);
		err = -EEXIST;
	} else {
		list_add_tail(&link->entry, &subsys->hosts);
		qtgt_disc_subsys_changed(subsys, host);
		link = NULL;
	}
	up_write(&qtgt_config_sem);

	kfree(link);
	return err;
}

void qtgt_subsys_disallow_host(struct qtgt_subsys *subsys,
			       struct qtgt_host *host)
{
	struct qtgt_host_link *link;

	down_write(&qtgt_config_sem);
	link = find_host(subsys, host->nqn);
	if (link) {
		list_del(&link->entry);
		qtgt_disc_subsys_changed(subsys, host);
	}
	up_write(&qtgt_config_sem);
	kfree(link);
}
