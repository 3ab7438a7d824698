# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Namespaces, wires, and what happens on them.

# ns_pair A B: two namespaces joined by veth.
#
#   +----- A -----+           +----- B -----+
#   | eth0        |===========| eth0        |
#   | 10.1.0.1/24 |  MTU 4200 | 10.1.0.2/24 |
#   | fd01::1/64  |           | fd01::2/64  |
#   +-------------+           +-------------+
ns_pair() {
	local ns number=0
	modprobe veth
	for ns in "$1" "$2"; do
		echo "netns add $ns"
		defer ip netns del "$ns"
	done | ip -batch -
	ip -n "$1" link add eth0 type veth peer name eth0 netns "$2"
	for ns in "$1" "$2"; do
		number=$((number + 1))
		ip -n "$ns" -batch - <<-END
			link set lo up
			link set eth0 mtu 4200 up
			addr add 10.1.0.$number/24 dev eth0
			addr add fd01::$number/64 dev eth0 nodad
		END
	done
}

in_ns() { ip netns exec "$@"; }

# with_net NS COMMAND...: with the network of NS ('' for this one), but our
# mounts: for what is set up through configfs.
with_net() {
	local ns=$1
	shift
	${ns:+nsenter "--net=/run/netns/$ns"} "$@"
}

# A test may have removed it already.
end_link() { [[ ! -e /sys/class/net/$1 ]] || ip link del "$1"; }

# captured FILE NS DEV WHAT... -- COMMAND...: the packets that DEV of NS ('' for
# this one) sees meanwhile, none missing. WHAT: tcpdump's options and filter.
# The kernel sets aside as much for each packet as -s allows: by default (256
# KiB) the buffer is full after a few hundred on a loopback.
captured() {
	local file=$1 ns=$2 dev=$3 what=() pid
	shift 3
	while [[ $1 != -- ]]; do
		what+=("$1")
		shift
	done
	shift
	: >"$file.log"
	${ns:+nsenter "--net=/run/netns/$ns"} tcpdump --immediate-mode -s 6000 -B 40000 -i "$dev" -w "$file" \
		"${what[@]}" 2>"$file.log" &
	pid=$!
	wait_for 10 grep -qs 'listening on' "$file.log"
	"$@"
	kill -INT "$pid"
	wait "$pid" || :
	grep -q '^0 packets dropped by kernel' "$file.log"
}

# veth_pair A B: the same without namespaces, for what lives in the first one.
veth_pair() {
	modprobe veth
	ip link add "$1" mtu 4200 type veth peer name "$2" mtu 4200
	defer ip link del "$1"
	ip link set "$1" up
	ip link set "$2" up
}

# netem DEV WHAT..., e.g. netem eth0 loss 1%. A list of packets is one packet
# to netem, as the device splits it only behind: none is made where the device
# takes one at a time.
netem() {
	local dev=$1
	shift
	modprobe sch_netem
	ip link set "$dev" gso_max_segs 1
	tc qdisc replace dev "$dev" root netem limit 10000 "$@"
	defer end_netem "$dev"
}

# ns_netem NS DEV WHAT...
ns_netem() {
	local ns=$1 dev=$2
	shift 2
	modprobe sch_netem
	ip -n "$ns" link set "$dev" gso_max_segs 1
	tc -n "$ns" qdisc replace dev "$dev" root netem limit 10000 "$@"
}

end_netem() {
	tc qdisc del dev "$1" root 2>/dev/null || :
	ip link set "$1" gso_max_segs 65535
}
