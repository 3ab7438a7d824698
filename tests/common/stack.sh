# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The whole of ours: device, target, initiator.

# stack_pair MIB: devices q0 and q1 on the two ends of a wire between
# namespaces, a target behind q0; prints the disk that the initiator makes.
stack_pair() {
	ns_pair va vb
	load_quarry
	in_ns va rdma link add q0 type quarry netdev eth0
	defer del_rdma_device q0
	in_ns vb rdma link add q1 type quarry netdev eth0
	defer del_rdma_device q1
	wait_for 5 rdma_ready q0
	wait_for 5 rdma_ready q1
	null_blk nb0 "$1"
	port_ns=va export_device quarry quarry-test /dev/nb0 10.1.0.1 >&2
	connect_ns=vb quarry_connect c1 quarry-test 10.1.0.1
}

# stack_verify DEV [fio arguments]: mixed sizes, depth 32, two jobs, at random.
stack_verify() {
	local dev=$1
	shift
	fio_verify "$dev" --numjobs=2 --size=32m --offset_increment=32m "$@"
}
