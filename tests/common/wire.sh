# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Wires that break where they are told to: tests/kmod/wire.c says how.

wires=/sys/kernel/debug/qverbs

# make_wire NAME A B: the interfaces of this name in two namespaces, which are
# joined, become one. Lists of packets are split before they arrive, so that
# one can be lost.
make_wire() {
	local a b ns
	load_qverbs
	for ns in "$2" "$3"; do
		with_net "$ns" ethtool -K "$1" tx-gso-list off
	done
	exec {a}<"$(net_file "$2")" {b}<"$(net_file "$3")"
	echo "$1 $a $b" >"$wires/wires"
	exec {a}<&- {b}<&-
}

net_file() { [[ ! $1 ]] && echo /proc/self/ns/net || echo "/run/netns/$1"; }

# break_wire NAME END NTH MS BOTH KIND
break_wire() { echo "${*:2}" >"$wires/$1/rule"; }

# How many packets it has lost, and which was the first.
wire_lost() { awk '{ print $3, $5 }' "$wires/$1/rule"; }

# wires COUNT [T H]: namespaces t and h, joined by so many wires w0, w1... with a
# device of ours at each end: t0 and h0, t1 and h1... T and H are other names
# for the namespaces, '' for the first one, which is all that the stock target
# and initiator know.
#
#   +------- t -------+           +------- h -------+
#   | w0  t0          |===========| w0  h0          |
#   | 10.1.0.1/24     |           | 10.1.0.2/24     |
#   | fd01:0::1/64    |           | fd01:0::2/64    |
#   | w1  t1          |===========| w1  h1          |
#   | 10.1.1.1/24 ... |           | 10.1.1.2/24 ... |
#   +-----------------+           +-----------------+
#
# The addresses differ because ib_core, when it hears of a neighbour, does not
# look whose namespace that is in.
wires() {
	local i t=${2-t} h=${3-h} ns
	modprobe veth
	load_qverbs
	load_quarry
	for ns in $t $h; do
		ip netns add "$ns"
		defer ip netns del "$ns"
	done
	for ((i = 0; i < $1; i++)); do
		echo "link add w$i mtu 4200 type veth peer name w$i mtu 4200 netns ${h:-1}"
	done | ip ${t:+-n "$t"} -batch -
	wire_ends 2 "$1" | ip ${h:+-n "$h"} -batch -
	wire_ends 1 "$1" | ip ${t:+-n "$t"} -batch -
	for ((i = 0; i < $1; i++)); do
		make_wire "w$i" "$t" "$h"
		with_net "$t" rdma link add "t$i" type quarry netdev "w$i"
		defer del_rdma_device "t$i"
		with_net "$h" rdma link add "h$i" type quarry netdev "w$i"
		defer del_rdma_device "h$i"
	done
	for ((i = 0; i < $1; i++)); do
		wait_for 5 verbs_ready "t$i"
		wait_for 5 verbs_ready "h$i"
	done
}

# wire_ends NUMBER COUNT: what ip has to do at one end.
wire_ends() {
	local i
	for ((i = 0; i < $2; i++)); do
		echo "link set w$i up"
		echo "addr add 10.1.$i.$1/24 dev w$i"
		echo "addr add fd01:$i::$1/64 dev w$i nodad"
	done
}

# wires_target ROOT [ATTRIBUTE=VALUE...]: a target in $port_ns, or t, at all
# addresses; the attributes are its ports'.
wires_target() {
	local root=$1 port address=0.0.0.0 setting
	shift
	null_blk nb0 64
	make_subsystem "$root" quarry-test
	make_namespace "$root" quarry-test 1 /dev/nb0
	for port in 1 2; do
		make_port "$root" "$port" "$address"
		for setting in "$@"; do
			write_attr "${setting#*=}" "/sys/kernel/config/$root/ports/$port/${setting%%=*}"
		done
		port_ns=${port_ns-t} link_port "$root" "$port" quarry-test
		address=::
	done
}
