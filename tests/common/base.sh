# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What every test has: clean-up to be done at its end, waiting for a condition,
# giving up with a reason.

shopt -s inherit_errexit

# One list for both VMs of a pair, so that things go in the reverse of the
# order in which they came, wherever they are. A file, because a helper that
# prints a name is called in a subshell.
deferred=/results/deferred

# Have a command run at the test's end, in the VM that asks for it.
defer() { printf '%s %s\n' "$QUARRY_VM" "${*@Q}" >>"$deferred"; }

run_deferred() {
	local vm text failed=0
	[[ -e $deferred ]] || return 0
	while read -r vm text; do
		if [[ $vm == "$QUARRY_VM" ]]; then
			eval "$text" || { echo "cleaning up failed: $text"; failed=1; }
		else
			peer "$text" || { echo "cleaning up in VM $vm failed: $text"; failed=1; }
		fi
	done < <(tac "$deferred")
	rm -f "$deferred"
	return "$failed"
}

# pause SECONDS, without a process but for the first time.
pause() {
	[[ ${pause_from:-} ]] || exec {pause_from}<> <(:)
	read -rt "$1" -u "$pause_from" || :
}

# wait_for SECONDS COMMAND...: until the command succeeds. SECONDS is what it takes
# when all goes well, not a limit that is tested: a busy machine takes longer.
# SLOW: how many times slower than usual this kernel is.
wait_for() {
	local end=$((SECONDS + $1 * ${SLOW:-1} * ${PATIENCE:-4})) every=0.05
	[[ ${SLOW:-1} == 1 ]] || every=0.2
	shift
	until "$@"; do
		((SECONDS < end)) || { echo "waited in vain for: $*"; return 1; }
		pause $every
	done
}

# often COUNT: so many rounds, or fewer where each takes longer.
often() { echo $(($1 / ${SLOW:-1})); }

# step USUAL SLOW: the second where each takes longer.
step() { if [[ ${SLOW:-1} == 1 ]]; then echo "$1"; else echo "$2"; fi; }

not() { ! "$@"; }

# End the test as failed, or as one that this kernel cannot run.
fail() { echo "FAIL: $*"; exit 1; }
skip() { echo "$*" >"${TEST_RESULTS:-/results}/skip"; exit 77; }

# What the C library says of an error, e.g. EINVAL. They are asked for once in a VM.
error_text() {
	local list=/run/errors name text
	[[ -s $list ]] || python3 -c 'import errno, os
for name in dir(errno):
    if name.startswith("E"):
        print(name, os.strerror(getattr(errno, name)))' >$list
	while read -r name text; do
		[[ $name != "$1" ]] || { echo "$text"; return; }
	done <$list
	return 1
}

# expect_errno NAME COMMAND...: the command must fail, with that error's text.
# For writes to attributes: expect_errno EINVAL write_attr 7 /path
expect_errno() {
	local name=$1 want said
	shift
	want=$(error_text "$name")
	if said=$(LC_ALL=C "$@" 2>&1); then
		fail "$* succeeded, $name was expected"
	fi
	[[ $said == *"$want"* ]] || fail "$*: $name was expected, got: $said"
}

# write_attr VALUE FILE
write_attr() { printf '%s\n' "$1" >"$2"; }
