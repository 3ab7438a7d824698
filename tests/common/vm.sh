# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For commands inside a VM: the module, and the other VM of a pair.

# Load quarry.ko with the modules that it needs.
load_quarry() {
	local needs
	[[ ! -d /sys/module/quarry ]] || return 0
	needs=$(modinfo -F depends "$QUARRY_KO")
	# shellcheck disable=SC2086 # a list of words
	[[ ! $needs ]] || modprobe -a ${needs//,/ } || return
	insmod "$QUARRY_KO"
}

unload_quarry() { rmmod quarry; }

# Run a shell command in the other VM, as ssh would: its output comes here, its
# status is ours. Without arguments the command is read from stdin. Functions
# of tests/common, and of the test that is running, can be used in it.
peer() {
	local other=a base text
	[[ $QUARRY_VM == b ]] || other=b
	text=${*:-$(cat)}
	base=/results/$other/requests/$BASHPID-$RANDOM
	printf '%s\n' "cd /tree; export SLOW=${SLOW:-1}" "source tests/common/all.sh" \
		"${TEST_FILE:+source $TEST_FILE; unset -f test}" "$text" >"$base.new"
	mv "$base.new" "$base.req"
	peer_wait "$base" "/results/$other/gone"
}

peer_wait() {
	local base=$1 gone=$2 idle
	exec {idle}<> <(:)
	until [[ -e $base.rc ]]; do
		[[ ! -e $gone ]] || { echo "peer: the other VM is gone" >&2; return 125; }
		read -rt 0.05 -u "$idle" || :
	done
	exec {idle}>&-
	cat "$base.out"
	return "$(<"$base.rc")"
}

# What a VM does that only serves its peer.
serve_peer() {
	local idle
	exec {idle}<> <(:)
	until [[ -e /results/a/status || -e /results/a/gone ]]; do
		read -rt 0.1 -u "$idle" || :
	done
}
