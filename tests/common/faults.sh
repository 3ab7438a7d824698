# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Allocations that fail because we want them to, by the kernel's fault
# injection. They strike where the stack has a function of a range: of one
# function, or of all of quarry.ko, so that what fails is ours or called by us.
#
#   faults_begin; beneath quarry            nothing fails yet
#   every_allocation WHAT DO UNDO [GONE]    each in turn, then all from each on
#   faults_at PERCENT; ...; faults_off      at random, in every context
#   fault_once N                            the Nth from now, in every context
#   faults_done MINIMUM                     so many must have failed
#
# A test that uses it wants REQUIRES="config:FAULT_INJECTION_STACKTRACE_FILTER
# config:FAILSLAB config:FAIL_PAGE_ALLOC".

fault_root=/sys/kernel/debug
fault_kinds=(failslab fail_page_alloc)
# Failures that each kind is good for: what is missing of them has happened.
fault_limit=1000000000
fault_granted=0
fault_past=0

fault_set() {
	local kind
	for kind in "${fault_kinds[@]}"; do
		write_attr "$2" "$fault_root/$kind/$1"
	done
}

# Caches whose objects the kernel's own checks keep count with: a failure there
# is none of the code's, and would switch the check off.
pick_caches() {
	local file
	for file in /sys/kernel/slab/*/failslab; do
		[[ $file != */kmemleak* && $file != */debug_objects* ]] || continue
		echo 1 >"$file" 2>/dev/null || :
	done
	write_attr Y "$fault_root/failslab/cache-filter"
}

faults_begin() {
	local kind
	[[ -d $fault_root/failslab ]] || mount -t debugfs none "$fault_root"
	for kind in "$fault_root"/fail_*/; do
		# Whatever else there is must not count fail-nth down.
		[[ ! -e $kind/require-end ]] || write_attr 1 "$kind/require-end"
	done
	fault_set probability 0
	fault_set interval 1
	fault_set space 0
	fault_set verbose 0
	fault_set task-filter Y
	fault_set ignore-gfp-wait N
	write_attr N "$fault_root/fail_page_alloc/ignore-gfp-highmem"
	write_attr 0 "$fault_root/fail_page_alloc/min-order"
	pick_caches
	fault_grant "$fault_limit"
	defer faults_end
}

# Allow so many failures from here on.
fault_grant() {
	((!fault_granted)) || fault_past=$(fault_count)
	fault_granted=$1
	fault_set times "$1"
}

faults_end() {
	faults_off
	fault_set times 0
	fault_granted=0
	write_attr N "$fault_root/failslab/cache-filter"
}

# All that has failed since faults_begin.
fault_count() {
	local kind left sum=$fault_past
	for kind in "${fault_kinds[@]}"; do
		left=$(<"$fault_root/$kind/times")
		sum=$((sum + fault_granted - left))
	done
	echo "$sum"
}

# beneath quarry | FUNCTION [STACK-DEPTH]: where allocations may fail from here
# on. A small depth leaves out what lies far below.
beneath() {
	local first last
	read -r first last < <(fault_range "$1")
	[[ $last ]] || fail "the kernel knows no function $1"
	# The last function of a module has some length, too.
	[[ $1 != quarry ]] || last=$(printf '%x' $((0x$last + 4096)))
	fault_set require-start "0x$first"
	fault_set require-end "0x$last"
	fault_set stacktrace-depth "${2:-32}"
}

# The first address, and the first one behind it. Addresses of equal length
# sort as text.
fault_range() {
	if [[ $1 == quarry ]]; then
		awk '$4 == "[quarry]" && $2 ~ /[tT]/ { print $1 }' /proc/kallsyms | sort | sed -n '1p; $p' | xargs
	else
		awk '$2 ~ /[tT]/ { print $1, $3 }' /proc/kallsyms | sort |
			awk -v name="$1" 'first && $1 != first { print first, $1; exit } $2 == name && !first { first = $1 }'
	fi
}

# failing_nth N COMMAND...: with the Nth allocation of the command failing.
failing_nth() {
	local nth=$1
	shift
	(
		trap - ERR
		echo "$nth" >/proc/self/fail-nth
		[[ $(type -t "$1") != file ]] || exec "$@"
		"$@"
	)
}

# failing_after BYTES COMMAND...: with all failing once so much has been given.
failing_after() {
	local status=0
	write_attr "$1" "$fault_root/failslab/space"
	shift
	write_attr 100 "$fault_root/failslab/probability"
	(
		trap - ERR
		echo 1 >/proc/self/make-it-fail
		"$@"
	) || status=$?
	write_attr 0 "$fault_root/failslab/probability"
	write_attr 0 "$fault_root/failslab/space"
	return "$status"
}

# One trial of a loop. Sets `struck`: whether anything failed in it.
fault_trial() {
	local what=$1 undo=$2 gone=$3 failed_so_far status=0
	shift 3
	failed_so_far=$(fault_count)
	"$@" >>"$FULL" 2>&1 || status=$?
	struck=$(($(fault_count) - failed_so_far))
	trials=$((trials + 1))
	if [[ $status == 0 ]]; then
		survived=$((survived + 1))
		"$undo" >>"$FULL" 2>&1 || fail "$what: cannot be undone after $* succeeded"
	else
		[[ $struck != 0 ]] || fail "$what: $* failed by itself"
		"$gone" >>"$FULL" 2>&1 || fail "$what: something is left after $* failed"
	fi
}

# every_allocation WHAT DO UNDO [GONE]: DO with its first allocation failing,
# its second and so on, until none is left; then again with all of them failing
# from a point on. UNDO is called where DO succeeds all the same, GONE where it
# does not, and must find nothing of it left: `false` for what must not fail. In
# the end DO succeeds, at once. With sparse=N in front not each, but the first N
# and then one of more and more: for what allocates thousands of the same.
#
# DO runs in a shell of its own: what it does by another program it does last,
# with exec, and what comes before in the shell itself. errexit is off in it.
every_allocation() {
	local what=$1 do=$2 undo=$3 gone=${4:-true} nth space struck trials=0 survived=0 begun=$SECONDS
	for ((nth = 1; ; nth += 1 + nth / ${sparse:-1000000})); do
		fault_trial "$what" "$undo" "$gone" failing_nth "$nth" "$do"
		((struck)) || break
	done
	((nth > 1)) || fail "$what: has no allocation that could fail"
	echo "== $what: less than $nth allocations, $((trials - 1)) failed in turn, in spite of $((survived - 1)) it succeeded, $((SECONDS - begun)) s" >>"$FULL"
	trials=0 survived=0 begun=$SECONDS
	for ((space = 1; ; space += 64 + space / 4)); do
		fault_trial "$what" "$undo" "$gone" failing_after "$space" "$do"
		((struck)) || break
	done
	echo "== $what: all from a point on, $((trials - 1)) points, $((SECONDS - begun)) s" >>"$FULL"
	("$do") >>"$FULL" 2>&1 || fail "$what: fails when nothing makes it"
	"$undo" >>"$FULL" 2>&1 || fail "$what: cannot be undone when nothing fails"
	echo "$what: every allocation"
}

# faults_at PERCENT: in every context, kernel threads and softirq included.
faults_at() {
	fault_set task-filter N
	fault_set probability "$1"
}

# One failure of each kind, at about the Nth allocation from now.
fault_once() {
	fault_grant 1
	fault_set interval "$1"
	faults_at 100
}

faults_off() {
	fault_set probability 0
	fault_set task-filter Y
	fault_set interval 1
	fault_set space 0
	fault_grant "$fault_limit"
}

# faults_done MINIMUM: switch it off, and look at how many there were.
faults_done() {
	local count
	faults_off
	count=$(fault_count)
	echo "$count failures injected" >>"$TEST_RESULTS/counts"
	((count > $1)) || fail "only $count failures were injected"
	echo "more than $1 failures injected"
}
