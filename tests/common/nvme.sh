# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Targets and initiators, stock and ours. ROOT is nvmet or quarry: what lies
# below /sys/kernel/config/ROOT is the same for both.

hostnqn=nqn.2014-08.org.nvmexpress:uuid:0f01fb42-9f7f-4856-b0b3-51e60b8de349
hostid=0f01fb42-9f7f-4856-b0b3-51e60b8de349

load_target() {
	case $1 in
	quarry) load_quarry ;;
	nvmet) modprobe -a nvmet nvmet_rdma nvmet_tcp ;;
	esac
}

# A test may have removed what its clean-up removes.
rmdir_if() { [[ ! -d $1 ]] || rmdir "$1"; }
rm_if() { [[ ! -L $1 ]] || rm "$1"; }

# make_subsystem ROOT NQN: any host may connect.
make_subsystem() {
	local dir=/sys/kernel/config/$1/subsystems/$2
	load_target "$1"
	mkdir "$dir"
	defer rmdir_if "$dir"
	write_attr 1 "$dir/attr_allow_any_host"
}

# make_namespace ROOT NQN NSID DEVICE
make_namespace() {
	local dir=/sys/kernel/config/$1/subsystems/$2/namespaces/$3
	mkdir "$dir"
	defer rmdir_if "$dir"
	write_attr "$4" "$dir/device_path"
	write_attr 1 "$dir/enable"
}

# make_port ROOT ID ADDRESS [TRTYPE [SERVICE]]
make_port() {
	local dir=/sys/kernel/config/$1/ports/$2 address=$3 family=ipv4
	[[ $address != *:* ]] || family=ipv6
	load_target "$1"
	mkdir "$dir"
	defer rmdir_if "$dir"
	write_attr "${4:-rdma}" "$dir/addr_trtype"
	write_attr "$family" "$dir/addr_adrfam"
	write_attr "$address" "$dir/addr_traddr"
	write_attr "${5:-4420}" "$dir/addr_trsvcid"
}

# link_port ROOT ID NQN: listens in the network namespace $port_ns.
link_port() {
	local root=/sys/kernel/config/$1
	with_net "${port_ns:-}" ln -s "$root/subsystems/$3" "$root/ports/$2/subsystems/$3"
	defer rm_if "$root/ports/$2/subsystems/$3"
}

# export_device ROOT NQN DEVICE ADDRESS [PORT-ID [TRTYPE [SERVICE]]]
export_device() {
	make_subsystem "$1" "$2"
	make_namespace "$1" "$2" 1 "$3"
	make_port "$1" "${5:-1}" "$4" "${6:-rdma}" "${7:-4420}"
	link_port "$1" "${5:-1}" "$2"
}

# nvme_connect NQN ADDRESS [TRTYPE [arguments of nvme connect]]: the stock
# initiator; prints the first namespace's device.
nvme_connect() {
	local nqn=$1 address=$2 transport=${3:-rdma} log=${FULL:-/dev/null}
	shift $(($# > 3 ? 3 : $#))
	modprobe -a "nvme_$transport"
	if ! nvme connect -t "$transport" -a "$address" -s 4420 -n "$nqn" \
		--hostnqn="$hostnqn" --hostid="$hostid" "$@" >>"$log" 2>&1; then
		echo "nvme connect -t $transport -a $address -n $nqn failed" >&2
		return 1
	fi
	defer nvme_disconnect "$nqn"
	wait_for 10 nvme_device "$nqn" >>"$log"
	nvme_device "$nqn"
}

nvme_disconnect() { nvme disconnect -n "$1" >>"${FULL:-/dev/null}" 2>&1; }

# The block device of a subsystem's first namespace. The paths below a
# multipath device have no node.
nvme_device() {
	local dir
	for dir in /sys/block/nvme*n*; do
		[[ -e $dir/device/subsysnqn && $(<"$dir/device/subsysnqn") == "$1" ]] || continue
		is_disk "/dev/${dir##*/}" || continue
		echo "/dev/${dir##*/}"
		return 0
	done
	return 1
}

# quarry_connect NAME NQN ADDRESS [ATTRIBUTE=VALUE...]: our initiator; prints
# the first namespace's device.
quarry_connect() {
	local name=$1 nqn=$2 address=$3 dir=/sys/kernel/config/quarry/connections/$1 setting family=ipv4
	[[ $address != *:* ]] || family=ipv6
	shift 3
	load_quarry
	mkdir "$dir"
	defer quarry_forget "$name"
	for setting in addr_traddr="$address" addr_adrfam=$family subsysnqn="$nqn" hostnqn="$hostnqn" "$@"; do
		write_attr "${setting#*=}" "$dir/${setting%%=*}"
	done
	quarry_reconnect "$name"
}

# Connect what has been set up, from the network namespace $connect_ns, and
# print its first namespace's device.
quarry_reconnect() {
	local dir=/sys/kernel/config/quarry/connections/$1
	# shellcheck disable=SC2016 # for the inner shell
	with_net "${connect_ns:-}" sh -c 'echo 1 >"$1"' - "$dir/connect"
	wait_for 10 quarry_state "$1" live
	wait_for 10 is_disk "/dev/$(<"$dir/device")n1"
	echo "/dev/$(<"$dir/device")n1"
}

quarry_state() { [[ $(<"/sys/kernel/config/quarry/connections/$1/state") == "$2" ]]; }

quarry_disconnect() { write_attr 0 "/sys/kernel/config/quarry/connections/$1/connect"; }

quarry_forget() {
	local dir=/sys/kernel/config/quarry/connections/$1
	[[ -d $dir ]] || return 0
	quarry_state "$1" new || quarry_disconnect "$1" || :
	rmdir "$dir"
}
