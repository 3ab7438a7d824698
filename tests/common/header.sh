# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For who runs tests, on the machine and in its VMs, from the tree's folder.

# header GROUP/NUMBER NAME: a variable of a test's header, which is plain
# assignments.
header() {
	local line
	while read -r line; do
		[[ $line == "$2="* ]] || continue
		line=${line#*=}
		line=${line#\"}
		echo "${line%\"}"
		return
	done <"tests/$1"
}
