// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a controller and a namespace say of themselves in sysfs:
 * /sys/class/quarry/quarryN and /sys/block/quarryNnM. Runs in process
 * context.
 */
#include <linux/blkdev.h>
#include <linux/sysfs.h>
#include "host.h"

static struct qhost_ctrl *to_ctrl(struct device *dev)
{
	return container_of(dev, struct qhost_ctrl, dev);
}

static ssize_t state_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  qhost_state_name(qhost_ctrl_state(to_ctrl(dev))));
}
static DEVICE_ATTR_RO(state);

static ssize_t transport_show(struct device *dev,
			      struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "rdma\n");
}
static DEVICE_ATTR_RO(transport);

static ssize_t address_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	const struct qhost_options *opts = &to_ctrl(dev)->opts;
	int len;

	len = sysfs_emit(buf, "traddr=%s,trsvcid=%s", opts->traddr,
			 opts->trsvcid);
	if (opts->host_traddr[0])
		len += sysfs_emit_at(buf, len, ",host_traddr=%s",
				     opts->host_traddr);
	if (opts->host_iface[0])
		len += sysfs_emit_at(buf, len, ",host_iface=%s",
				     opts->host_iface);
	return len + sysfs_emit_at(buf, len, "\n");
}
static DEVICE_ATTR_RO(address);

static ssize_t subsysnqn_show(struct device *dev,
			      struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", to_ctrl(dev)->opts.subsysnqn);
}
static DEVICE_ATTR_RO(subsysnqn);

static ssize_t hostnqn_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%s\n", to_ctrl(dev)->opts.hostnqn);
}
static DEVICE_ATTR_RO(hostnqn);

static ssize_t hostid_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%pU\n", &to_ctrl(dev)->opts.hostid);
}
static DEVICE_ATTR_RO(hostid);

static ssize_t cntlid_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%u\n", to_ctrl(dev)->cntlid);
}
static DEVICE_ATTR_RO(cntlid);

static ssize_t queue_count_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", to_ctrl(dev)->nr_queues);
}
static DEVICE_ATTR_RO(queue_count);

static ssize_t sqsize_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%u\n", to_ctrl(dev)->depth - 1);
}
static DEVICE_ATTR_RO(sqsize);

/* Strings of fixed length, padded with blanks: NVMe base 2.0, 1.4.2. */
static ssize_t emit_padded(char *buf, const char *from, size_t size)
{
	return sysfs_emit(buf, "%.*s\n", (int)size, from);
}

static ssize_t model_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	const struct qhost_ctrl *ctrl = to_ctrl(dev);

	return emit_padded(buf, ctrl->model, sizeof(ctrl->model));
}
static DEVICE_ATTR_RO(model);

static ssize_t serial_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	const struct qhost_ctrl *ctrl = to_ctrl(dev);

	return emit_padded(buf, ctrl->serial, sizeof(ctrl->serial));
}
static DEVICE_ATTR_RO(serial);

static ssize_t firmware_rev_show(struct device *dev,
				 struct device_attribute *attr, char *buf)
{
	const struct qhost_ctrl *ctrl = to_ctrl(dev);

	return emit_padded(buf, ctrl->firmware, sizeof(ctrl->firmware));
}
static DEVICE_ATTR_RO(firmware_rev);

static struct attribute *ctrl_attrs[] = {
	&dev_attr_state.attr,
	&dev_attr_transport.attr,
	&dev_attr_address.attr,
	&dev_attr_subsysnqn.attr,
	&dev_attr_hostnqn.attr,
	&dev_attr_hostid.attr,
	&dev_attr_cntlid.attr,
	&dev_attr_queue_count.attr,
	&dev_attr_sqsize.attr,
	&dev_attr_model.attr,
	&dev_attr_serial.attr,
	&dev_attr_firmware_rev.attr,
	NULL,
};

static const struct attribute_group ctrl_group = {
	.attrs = ctrl_attrs,
};

const struct attribute_group *qhost_ctrl_groups[] = {
	&ctrl_group,
	NULL,
};

static struct qhost_ns *to_ns(struct device *dev)
{
	return dev_to_disk(dev)->private_data;
}

static ssize_t nsid_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%u\n", to_ns(dev)->nsid);
}
static DEVICE_ATTR_RO(nsid);

static ssize_t uuid_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%pU\n", &to_ns(dev)->ids.uuid);
}
static DEVICE_ATTR_RO(uuid);

static ssize_t nguid_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "%pU\n", to_ns(dev)->ids.nguid);
}
static DEVICE_ATTR_RO(nguid);

/* The same forms as the kernel's own NVMe driver gives: udev knows them. */
static ssize_t wwid_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	const struct qhost_ns_ids *ids = &to_ns(dev)->ids;

	if (!uuid_is_null(&ids->uuid))
		return sysfs_emit(buf, "uuid.%pU\n", &ids->uuid);
	if (memchr_inv(ids->nguid, 0, sizeof(ids->nguid)))
		return sysfs_emit(buf, "eui.%16phN\n", ids->nguid);
	return sysfs_emit(buf, "eui.%8phN\n", ids->eui64);
}
static DEVICE_ATTR_RO(wwid);

static struct attribute *ns_attrs[] = {
	&dev_attr_nsid.attr,
	&dev_attr_uuid.attr,
	&dev_attr_nguid.attr,
	&dev_attr_wwid.attr,
	NULL,
};

static const struct attribute_group ns_group = {
	.attrs = ns_attrs,
};

const struct attribute_group *qhost_ns_groups[] = {
	&ns_group,
	NULL,
};
