# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests of the initiator have in common: the stock target over rxe,
# in the same VM.

stock_nqn=quarry-test
stock_address=10.2.0.1
connections=/sys/kernel/config/quarry/connections

# An interface with an address. A test may have removed it already.
net_device() {
	modprobe dummy numdummies=0
	ip link add dummy0 type dummy
	defer end_link dummy0
	ip -batch - <<-END
		link set dummy0 mtu 4200 up
		addr add $stock_address/24 dev dummy0
		addr add fd02::1/64 dev dummy0 nodad
	END
}

# The same, with rxe on it.
stock_device() {
	net_device
	rdma_device rxe rxe0 dummy0
}

# The same, with a device of ours. As long as rxe is loaded it has the port.
our_device() {
	modprobe -rq rdma_rxe
	net_device
	rdma_device quarry quarry0 dummy0
}

# stock_target [MIB [ATTRIBUTE=VALUE...]]: exports a null_blk, /dev/nb0.
stock_target() {
	local size=${1:-256}
	shift $(($# > 1 ? 1 : $#))
	stock_device
	null_blk nb0 "$size" "$@"
	export_device nvmet "$stock_nqn" /dev/nb0 "$stock_address"
}

# host_connect NAME [ATTRIBUTE=VALUE...]: to the stock target.
host_connect() {
	local name=$1
	shift
	quarry_connect "$name" "$stock_nqn" "$stock_address" "$@"
}

# host_prepare NAME [ATTRIBUTE=VALUE...]: the folder only, not connected.
host_prepare() {
	local name=$1 setting
	shift
	load_quarry
	mkdir "$connections/$name"
	defer quarry_forget "$name"
	for setting in addr_traddr="$stock_address" subsysnqn="$stock_nqn" "$@"; do
		write_attr "${setting#*=}" "$connections/$name/${setting%%=*}"
	done
}

# Read and write at random, until it ends by itself or by an error. To be run
# in the background.
host_load() {
	trap - ERR
	(cd /tmp && exec fio --name=load --filename="$1" --rw=randrw --bsrange=4k-128k \
		--ioengine=io_uring --direct=1 --iodepth=32 --numjobs=2 --time_based \
		--runtime="${2:-60}" --eta=never) >>"$FULL" 2>&1
}

# in_flight DEV: requests that the device has not answered.
in_flight() { awk '{ exit !($1 + $2 > 0) }' "/sys/block/${1##*/}/inflight"; }

# The I/O that runs as PID must fail, soon.
must_fail() {
	local pid=$1 seconds=$2
	wait_for "$seconds" not kill -0 "$pid" 2>/dev/null || fail "I/O hangs"
	! wait "$pid" || fail "I/O did not fail"
}

# disk_stat DEV FIELD: of /sys/block/DEV/stat, counted from 1.
disk_stat() { awk -v n="$2" '{ print $n }' "/sys/block/${1##*/}/stat"; }
