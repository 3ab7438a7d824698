# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For commands inside a VM: the module, and the other VM of a pair.

# Load quarry.ko with the modules that it needs. Which these are is looked up
# once in a VM.
load_quarry() {
	local needs name missing=() list=/run/quarry-needs
	[[ ! -d /sys/module/quarry ]] || return 0
	[[ -s $list ]] || modinfo -F depends "$QUARRY_KO" >$list
	IFS=, read -ra needs <$list
	for name in "${needs[@]}"; do
		[[ -d /sys/module/$name ]] || missing+=("$name")
	done
	[[ ${#missing[@]} == 0 ]] || modprobe -a "${missing[@]}" || return
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
	base=/results/$other/requests/$BASHPID-$SRANDOM
	printf '%s\n' "export SLOW=${SLOW:-1}" "${TEST_FILE:+source $TEST_FILE; unset -f test}" \
		"$text" '# end of request' >"$base.req"
	peer_wait "$base" "/results/$other/gone"
}

peer_wait() {
	local base=$1 gone=$2 out status rounds=0
	until [[ -s $base.rc ]]; do
		[[ ! -e $gone ]] || { echo "peer: the other VM is gone" >&2; return 125; }
		if ((++rounds < 10)); then pause 0.05; else pause 0.2; fi
	done
	contents out "$base.out"
	printf '%s' "$out"
	read -r status <"$base.rc"
	# The other VM looks through what is there, many times a second.
	rm -f "$base".*
	return "$status"
}

# What a VM does that only serves its peer.
serve_peer() {
	until [[ -e /results/a/status || -e /results/a/gone ]]; do
		pause 0.5
	done
}
