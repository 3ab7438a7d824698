# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# RDMA devices: ours, and the stock kernel's to compare with.

# load_rdma TYPE: quarry, rxe or siw. rdma_rxe owns the UDP port as long as it is
# loaded, so it goes at the end.
load_rdma() {
	case $1 in
	quarry) load_quarry ;;
	rxe)
		modprobe rdma_rxe
		defer unload rdma_rxe
		;;
	*) modprobe "$1" ;;
	esac
}

# rdma_device TYPE NAME NETDEV
rdma_device() {
	local type=$1 name=$2 netdev=$3
	load_rdma "$type"
	rdma link add "$name" type "$type" netdev "$netdev"
	defer del_rdma_device "$name"
	wait_for 5 rdma_ready "$name"
}

unload() { [[ ! -d /sys/module/$1 ]] || rmmod "$1"; }

# A test may have removed it already.
del_rdma_device() {
	[[ ! -e /sys/class/infiniband/$1 ]] || rdma link delete "$1"
}

# Active, and an address known. The first of the table may be free: the kernel
# leaves it so where a bond was without an interface for a moment.
rdma_ready() {
	[[ $(</sys/class/infiniband/"$1"/ports/1/state) == *ACTIVE* ]] &&
		grep -qs . /sys/class/infiniband/"$1"/ports/1/gid_attrs/ndevs/[0-9]
}

# rdma_counter NAME COUNTER: one hardware counter of port 1.
rdma_counter() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"; }

# The stock kernel's iWARP device, on an interface of its own: 10.2.0.1, fd02::1.
siw_device() {
	net_device
	rdma_device siw siw0 dummy0
}

# Of connections nothing is left here: a target ends its half in its own time.
no_connections() {
	local qps ids
	qps=$(rdma resource show qp)
	ids=$(rdma resource show cm_id | grep -v LISTEN || :)
	[[ $qps != *"type RC"* && ! $ids ]]
}
