# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# All of the tests' library.
for library in /tree/tests/common/*.sh; do
	# shellcheck disable=SC1090
	[[ $library == */all.sh ]] || source "$library"
done
unset library
