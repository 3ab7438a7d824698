/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the control plane may ask of the target. All of it runs in process
 * context and may sleep. Each refusal leaves one line in the log.
 *
 * Objects are made and ended by the control plane, and never used by it after
 * their destroy function. Connections may keep the memory alive for longer.
 */
#ifndef QUARRY_TARGET_H
#define QUARRY_TARGET_H

#include <linux/nvme.h>
#include <linux/types.h>
#include <linux/uuid.h>

#define QTGT_SN_LEN		20	/* Identify Controller SN, bytes */
#define QTGT_MN_LEN		40	/* Identify Controller MN, bytes */
#define QTGT_FR_LEN		8	/* Identify Controller FR, bytes */
#define QTGT_MAX_ANAGRPS	128
#define QTGT_DEFAULT_ANAGRP	1
#define QTGT_MAX_QUEUES		128	/* I/O queues of one controller */

struct qtgt_host;
struct qtgt_ns;
struct qtgt_port;
struct qtgt_subsys;

int qtgt_init(void);
void qtgt_exit(void);

/**
 * qtgt_host_create() - make a host that subsystems can be opened to
 * @nqn: its qualified name
 *
 * Return: the host, which the caller ends with qtgt_host_destroy(); -ENOMEM.
 */
struct qtgt_host *qtgt_host_create(const char *nqn);

/**
 * qtgt_host_destroy() - end a host
 * @host: host that no subsystem allows any more
 */
void qtgt_host_destroy(struct qtgt_host *host);

/**
 * struct qtgt_identity - what Identify Controller tells of a subsystem
 * @ver: value of the VS property
 * @serial: serial number, padded with spaces, not terminated
 * @model: model number
 * @firmware: firmware revision
 * @ieee_oui: 24 bits of vendor OUI
 *
 * Fixed from the first Identify on: hosts remember it.
 */
struct qtgt_identity {
	u32	ver;
	char	serial[QTGT_SN_LEN];
	char	model[QTGT_MN_LEN + 1];
	char	firmware[QTGT_FR_LEN + 1];
	u32	ieee_oui;
};

/**
 * struct qtgt_subsys_config - the attributes of a subsystem
 * @id: what hosts see
 * @any_host: every host may connect
 * @cntlid_min: lowest controller ID given out
 * @cntlid_max: highest controller ID given out
 * @qid_max: I/O queues allowed to one controller
 */
struct qtgt_subsys_config {
	struct qtgt_identity	id;
	bool			any_host;
	u16			cntlid_min;
	u16			cntlid_max;
	u16			qid_max;
};

/**
 * qtgt_subsys_create() - make an empty NVM subsystem
 * @nqn: its qualified name
 *
 * Return: the subsystem, which the caller ends with qtgt_subsys_destroy();
 * -EINVAL where @nqn is that of the discovery service or too long, -ENOMEM.
 */
struct qtgt_subsys *qtgt_subsys_create(const char *nqn);

/**
 * qtgt_subsys_destroy() - end a subsystem
 * @subsys: subsystem without namespaces, that no port offers any more
 *
 * Its controllers are told to go; the memory goes with the last of them.
 */
void qtgt_subsys_destroy(struct qtgt_subsys *subsys);

/**
 * qtgt_subsys_get_config() - read the attributes
 * @subsys: subsystem
 * @cfg: where to put them
 */
void qtgt_subsys_get_config(struct qtgt_subsys *subsys,
			    struct qtgt_subsys_config *cfg);

/**
 * qtgt_subsys_set_identity() - change what hosts see of a subsystem
 * @subsys: subsystem
 * @id: the new values
 *
 * Return: 0, or -EINVAL once a host has seen the old values.
 */
int qtgt_subsys_set_identity(struct qtgt_subsys *subsys,
			     const struct qtgt_identity *id);

/**
 * qtgt_subsys_set_any_host() - open a subsystem to all hosts, or to named ones
 * @subsys: subsystem
 * @any: open to all
 *
 * Return: 0, or -EINVAL where @any and hosts are named.
 */
int qtgt_subsys_set_any_host(struct qtgt_subsys *subsys, bool any);

/**
 * qtgt_subsys_set_cntlids() - choose the controller IDs given out
 * @subsys: subsystem
 * @min: lowest, 0 to keep it
 * @max: highest, 0 to keep it
 *
 * Return: 0, or -EINVAL where the range would be empty.
 */
int qtgt_subsys_set_cntlids(struct qtgt_subsys *subsys, u16 min, u16 max);

/**
 * qtgt_subsys_set_qid_max() - limit the I/O queues of a controller
 * @subsys: subsystem
 * @qid_max: 1 to QTGT_MAX_QUEUES
 *
 * Connected hosts are sent away, so that they connect with the new number.
 *
 * Return: 0, or -EINVAL.
 */
int qtgt_subsys_set_qid_max(struct qtgt_subsys *subsys, u16 qid_max);

/**
 * qtgt_subsys_allow_host() - let a host connect
 * @subsys: subsystem
 * @host: host
 *
 * Return: 0, -EINVAL where every host may connect already, -EEXIST, -ENOMEM.
 */
int qtgt_subsys_allow_host(struct qtgt_subsys *subsys, struct qtgt_host *host);

/**
 * qtgt_subsys_disallow_host() - the reverse of qtgt_subsys_allow_host()
 * @subsys: subsystem
 * @host: host; one that was not allowed is ignored
 */
void qtgt_subsys_disallow_host(struct qtgt_subsys *subsys,
			       struct qtgt_host *host);

/**
 * struct qtgt_ns_config - the attributes of a namespace but its path
 * @uuid: UUID, all zero for none
 * @nguid: NGUID, all zero for none
 * @anagrpid: ANA group
 * @buffered_io: go through the page cache
 * @enabled: hosts can use it
 */
struct qtgt_ns_config {
	uuid_t	uuid;
	u8	nguid[16];
	u32	anagrpid;
	bool	buffered_io;
	bool	enabled;
};

/**
 * qtgt_ns_create() - make a namespace, not yet enabled
 * @subsys: subsystem
 * @nsid: namespace ID
 *
 * Return: the namespace, which the caller ends with qtgt_ns_destroy();
 * -EINVAL for an invalid @nsid, -EBUSY where it is taken, -ENOMEM.
 */
struct qtgt_ns *qtgt_ns_create(struct qtgt_subsys *subsys, u32 nsid);

/**
 * qtgt_ns_destroy() - disable a namespace and end it
 * @ns: namespace
 */
void qtgt_ns_destroy(struct qtgt_ns *ns);

/**
 * qtgt_ns_get_config() - read the attributes
 * @ns: namespace
 * @cfg: where to put them
 */
void qtgt_ns_get_config(struct qtgt_ns *ns, struct qtgt_ns_config *cfg);

/**
 * qtgt_ns_get_path() - read the path of what backs a namespace
 * @ns: namespace
 * @buf: where to put it
 * @len: size of @buf, bytes
 *
 * Return: bytes written without the terminating zero.
 */
ssize_t qtgt_ns_get_path(struct qtgt_ns *ns, char *buf, size_t len);

/**
 * qtgt_ns_set_path() - choose what backs a namespace
 * @ns: namespace
 * @path: block device
 *
 * Return: 0, -EBUSY while enabled, -ENOMEM.
 */
int qtgt_ns_set_path(struct qtgt_ns *ns, const char *path);

/**
 * qtgt_ns_set_uuid() - set the UUID
 * @ns: namespace
 * @uuid: value
 *
 * Return: 0, -EBUSY while enabled.
 */
int qtgt_ns_set_uuid(struct qtgt_ns *ns, const uuid_t *uuid);

/**
 * qtgt_ns_set_nguid() - set the NGUID
 * @ns: namespace
 * @nguid: 16 bytes
 *
 * Return: 0, -EBUSY while enabled.
 */
int qtgt_ns_set_nguid(struct qtgt_ns *ns, const u8 *nguid);

/**
 * qtgt_ns_set_buffered_io() - go through the page cache or not
 * @ns: namespace
 * @on: value
 *
 * Return: 0, -EINVAL while enabled.
 */
int qtgt_ns_set_buffered_io(struct qtgt_ns *ns, bool on);

/**
 * qtgt_ns_set_anagrp() - move a namespace to another ANA group
 * @ns: namespace
 * @grpid: group, 1 to QTGT_MAX_ANAGRPS
 *
 * Return: 0, -EINVAL.
 */
int qtgt_ns_set_anagrp(struct qtgt_ns *ns, u32 grpid);

/**
 * qtgt_ns_enable() - open what backs a namespace and show it to hosts
 * @ns: namespace; nothing happens where it is enabled already
 *
 * Return: 0, -EMFILE where the subsystem has too many, or why the path could
 * not be opened.
 */
int qtgt_ns_enable(struct qtgt_ns *ns);

/**
 * qtgt_ns_disable() - hide a namespace and wait for its commands to end
 * @ns: namespace; nothing happens where it is not enabled
 */
void qtgt_ns_disable(struct qtgt_ns *ns);

/**
 * qtgt_ns_revalidate() - look at the size anew and tell hosts if it changed
 * @ns: namespace
 *
 * Return: 0, -EINVAL while not enabled.
 */
int qtgt_ns_revalidate(struct qtgt_ns *ns);

/**
 * struct qtgt_port_config - the attributes of a port or a referral
 * @portid: port ID
 * @trtype: NVMF_TRTYPE_*, 0 for not yet chosen
 * @adrfam: NVMF_ADDR_FAMILY_*
 * @treq: NVMF_TREQ_*
 * @qptype: NVMF_RDMA_QPTYPE_*, 0 for another transport than RDMA
 * @traddr: address as text
 * @trsvcid: port number as text
 * @inline_data_size: bytes of data taken in a command capsule, -1 for the
 *	transport's choice
 * @max_queue_size: entries of an I/O queue, -1 for the transport's choice
 * @connect_timeout: seconds that a connection may be without Connect, 0 for any
 */
struct qtgt_port_config {
	u16	portid;
	u8	trtype;
	u8	adrfam;
	u8	treq;
	u8	qptype;
	char	traddr[NVMF_TRADDR_SIZE];
	char	trsvcid[NVMF_TRSVCID_SIZE];
	int	inline_data_size;
	int	max_queue_size;
	u32	connect_timeout;
};

/**
 * qtgt_port_create() - make a port, not yet listening
 * @portid: port ID
 *
 * Return: the port, which the caller ends with qtgt_port_destroy(); -ENOMEM.
 */
struct qtgt_port *qtgt_port_create(u16 portid);

/**
 * qtgt_port_destroy() - end a port or a referral
 * @port: port that offers no subsystem, or referral that is not enabled
 */
void qtgt_port_destroy(struct qtgt_port *port);

/**
 * qtgt_port_get_config() - read the attributes
 * @port: port or referral
 * @cfg: where to put them
 */
void qtgt_port_get_config(struct qtgt_port *port,
			  struct qtgt_port_config *cfg);

/**
 * qtgt_port_set_config() - change the attributes
 * @port: port or referral
 * @cfg: the new values
 *
 * Return: 0, -EACCES while a subsystem is linked or the referral enabled.
 */
int qtgt_port_set_config(struct qtgt_port *port,
			 const struct qtgt_port_config *cfg);

/**
 * qtgt_port_enabled() - does the port listen, is the referral shown?
 * @port: port or referral
 *
 * Return: true if so.
 */
bool qtgt_port_enabled(struct qtgt_port *port);

/**
 * qtgt_port_link() - offer a subsystem on a port
 * @port: port, which starts to listen with its first subsystem, in the network
 *	namespace of the caller
 * @subsys: subsystem
 *
 * Return: 0, -EEXIST where it is offered already, -EINVAL for an address that
 * cannot be parsed or a transport that is not there, -ENOMEM, or why the
 * address could not be listened on (-ENODEV where no RDMA device has it).
 */
int qtgt_port_link(struct qtgt_port *port, struct qtgt_subsys *subsys);

/**
 * qtgt_port_unlink() - the reverse of qtgt_port_link()
 * @port: port
 * @subsys: subsystem; one that was not linked is ignored
 *
 * Its controllers on this port are told to go.
 */
void qtgt_port_unlink(struct qtgt_port *port, struct qtgt_subsys *subsys);

/**
 * qtgt_port_ana_add() - make an ANA group with a state of its own on a port
 * @port: port
 * @grpid: group, 2 to QTGT_MAX_ANAGRPS
 *
 * Return: 0, -EINVAL.
 */
int qtgt_port_ana_add(struct qtgt_port *port, u32 grpid);

/**
 * qtgt_port_ana_del() - the reverse of qtgt_port_ana_add()
 * @port: port
 * @grpid: group
 */
void qtgt_port_ana_del(struct qtgt_port *port, u32 grpid);

/**
 * qtgt_port_ana_get() - read the state of an ANA group
 * @port: port
 * @grpid: group, 1 to QTGT_MAX_ANAGRPS
 *
 * Return: NVME_ANA_*
 */
enum nvme_ana_state qtgt_port_ana_get(struct qtgt_port *port, u32 grpid);

/**
 * qtgt_port_ana_set() - change the state of an ANA group and tell hosts
 * @port: port
 * @grpid: group, 1 to QTGT_MAX_ANAGRPS
 * @state: NVME_ANA_*
 */
void qtgt_port_ana_set(struct qtgt_port *port, u32 grpid,
		       enum nvme_ana_state state);

/**
 * qtgt_referral_create() - make a pointer to another discovery service
 *
 * Return: the referral, which the caller ends with qtgt_port_destroy();
 * -ENOMEM.
 */
struct qtgt_port *qtgt_referral_create(void);

/**
 * qtgt_referral_enable() - show a referral in a port's discovery log, or not
 * @parent: port
 * @referral: referral
 * @on: show it
 */
void qtgt_referral_enable(struct qtgt_port *parent, struct qtgt_port *referral,
			  bool on);

/**
 * qtgt_discovery_get_nqn() - read the unique name of the discovery service
 * @buf: where to put it
 * @len: size of @buf, bytes
 *
 * Return: bytes written without the terminating zero.
 */
ssize_t qtgt_discovery_get_nqn(char *buf, size_t len);

/**
 * qtgt_discovery_set_nqn() - change the unique name of the discovery service
 * @nqn: name
 *
 * The caller has seen to it that no subsystem has that name.
 *
 * Return: 0, -ENOMEM.
 */
int qtgt_discovery_set_nqn(const char *nqn);

#endif
