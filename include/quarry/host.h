/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the control plane may ask of the initiator. All of it runs in process
 * context and may sleep, except where a function says otherwise.
 */
#ifndef QUARRY_HOST_H
#define QUARRY_HOST_H

#include <linux/if.h>
#include <linux/nvme.h>
#include <linux/types.h>
#include <linux/uuid.h>

struct net;
struct qhost_ctrl;

/* The life of a controller; host/controller.c has the table of moves. */
enum qhost_state {
	QHOST_NEW,
	QHOST_CONNECTING,
	QHOST_LIVE,
	QHOST_RESETTING,
	QHOST_DELETING,
	QHOST_DEAD,
	QHOST_NR_STATES
};

/* Bounds of what a user may ask for. */
#define QHOST_MAX_QUEUES		65535
#define QHOST_MIN_QUEUE_SIZE		16
#define QHOST_MAX_QUEUE_SIZE		1024
#define QHOST_MAX_KEEP_ALIVE		65535

/**
 * struct qhost_options - what a connection is made from
 * @traddr:		address of the target, as text
 * @trsvcid:		its port, as text
 * @adrfam:		AF_INET, AF_INET6, or AF_UNSPEC for whichever @traddr is
 * @host_traddr:	local address to connect from, empty for any
 * @host_iface:		local interface to connect from, empty for any
 * @subsysnqn:		name of the subsystem
 * @hostnqn:		name of this host
 * @hostid:		identifier of this host
 * @nr_io_queues:	I/O queues wanted, at least 1
 * @nr_poll_queues:	queues for polled I/O wanted besides
 * @queue_size:		entries in an I/O submission queue
 * @keep_alive_tmo:	keep-alive time-out in seconds, 0 for none
 */
struct qhost_options {
	char traddr[NVMF_TRADDR_SIZE];
	char trsvcid[NVMF_TRSVCID_SIZE];
	unsigned short adrfam;
	char host_traddr[NVMF_TRADDR_SIZE];
	char host_iface[IFNAMSIZ];
	char subsysnqn[NVMF_NQN_SIZE + 1];
	char hostnqn[NVMF_NQN_SIZE + 1];
	uuid_t hostid;
	unsigned int nr_io_queues;
	unsigned int nr_poll_queues;
	unsigned int queue_size;
	unsigned int keep_alive_tmo;
};

int qhost_init(void);
void qhost_exit(void);

void qhost_options_init(struct qhost_options *opts);

struct qhost_ctrl *qhost_ctrl_create(const char *name,
				     const struct qhost_options *opts,
				     struct net *net);
int qhost_ctrl_connect(struct qhost_ctrl *ctrl);
void qhost_ctrl_disconnect(struct qhost_ctrl *ctrl);
void qhost_ctrl_get(struct qhost_ctrl *ctrl);
void qhost_ctrl_put(struct qhost_ctrl *ctrl);

enum qhost_state qhost_ctrl_state(const struct qhost_ctrl *ctrl);
const char *qhost_state_name(enum qhost_state state);
const char *qhost_ctrl_device(const struct qhost_ctrl *ctrl);

#endif
