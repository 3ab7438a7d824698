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
	exec {a}<"/run/netns/$2" {b}<"/run/netns/$3"
	echo "$1 $a $b" >"$wires/wires"
	exec {a}<&- {b}<&-
}

# break_wire NAME END NTH MS BOTH KIND
break_wire() { echo "${*:2}" >"$wires/$1/rule"; }

# How many packets it has lost, and which was the first.
wire_lost() { awk '{ print $3, $5 }' "$wires/$1/rule"; }

# wires COUNT: namespaces t and h, joined by so many wires w0, w1... with a
# device of ours at each end: t0 and h0, t1 and h1...
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
	local i ns
	modprobe veth
	load_qverbs
	load_quarry
	for ns in t h; do
		ip netns add "$ns"
		defer ip netns del "$ns"
	done
	for ((i = 0; i < $1; i++)); do
		echo "link add w$i mtu 4200 type veth peer name w$i mtu 4200 netns h"
	done | ip -n t -batch -
	wire_ends 1 "$1" | ip -n t -batch -
	wire_ends 2 "$1" | ip -n h -batch -
	for ((i = 0; i < $1; i++)); do
		make_wire "w$i" t h
		for ns in t h; do
			with_net "$ns" rdma link add "$ns$i" type quarry netdev "w$i"
			defer del_rdma_device "$ns$i"
		done
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

# wires_target ROOT [ATTRIBUTE=VALUE...]: a target in t, at all addresses; the
# attributes are its ports'.
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
		port_ns=t link_port "$root" "$port" quarry-test
		address=::
	done
}
