# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Tracepoints of the kernel.

tracing=/sys/kernel/tracing

# trace_events KIB EVENT...: from here on, e.g. irq/softirq_entry or quarry_rdma
# for all of a system's, with so much room for each processor.
trace_events() {
	local size=$1 event
	shift
	mountpoint -q $tracing || mount -t tracefs tracefs $tracing
	: >$tracing/trace
	echo "$size" >$tracing/buffer_size_kb
	defer trace_forget
	for event in "$@"; do
		echo 1 >"$tracing/events/$event/enable"
	done
}

# What has been traced stays, in $tracing/trace.
trace_stop() { echo 0 >$tracing/events/enable; }

trace_forget() {
	trace_stop
	echo 1408 >$tracing/buffer_size_kb
	: >$tracing/trace
}
