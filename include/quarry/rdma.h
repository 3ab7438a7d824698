/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the control plane may ask of the RDMA device. All of it runs in
 * process context and may sleep.
 */
#ifndef QUARRY_RDMA_H
#define QUARRY_RDMA_H

#include <linux/types.h>

struct net;

int qrdma_init(void);
void qrdma_exit(void);

/**
 * qrdma_device_create() - make an RDMA device on a network interface
 * @name: the device's name, as "rdma link show" will print it
 * @net: the network namespace to look the interface up in
 * @ifname: name of the interface
 *
 * The device lives until qrdma_device_delete(), "rdma link delete", the end
 * of its interface or the end of the module, whichever comes first.
 *
 * Context: process, may sleep; takes the RTNL for a short time.
 * Return: 0, -ENODEV (no such interface), -EINVAL (not an Ethernet-like
 * interface, or a bad name), -EEXIST (the name or the interface is taken),
 * -EADDRINUSE (UDP port 4791 is in use in @net), -ENOMEM. A line in the
 * log says which.
 */
int qrdma_device_create(const char *name, struct net *net, const char *ifname);

/**
 * qrdma_device_delete() - take an RDMA device down
 * @name: its name
 *
 * Context: process, may sleep.
 * Return: 0, or -ENODEV where no device of ours has that name.
 */
int qrdma_device_delete(const char *name);

/**
 * qrdma_device_exists() - is there a device of ours by that name?
 * @name: its name
 *
 * Context: process, may sleep.
 * Return: whether there is.
 */
bool qrdma_device_exists(const char *name);

#endif
