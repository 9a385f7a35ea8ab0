# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For suites whose programs try to keep a CPU from scheduling: the kernel's own watchdogs, set to bite
# early, and its tracer of the longest stretch with interrupts or preemption off.

lockup=/proc/sys/kernel/watchdog_thresh
stall=/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout
tracing=/sys/kernel/tracing

# set_limit FILE SECONDS: what the kernel goes by from here on. A file that is not there, or that takes
# another value, is a failure.
set_limit() { echo "$2" >"$1" && [ "$(cat "$1")" = "$2" ]; }

# watch_closely LOCKUP STALL: until the suite ends the kernel reports a CPU that schedules nothing for
# twice LOCKUP seconds, and one for which RCU waits STALL seconds.
watch_closely() {
	# shellcheck disable=SC2064 # what they are now
	trap "echo $(cat $lockup) >$lockup; echo $(cat $stall) >$stall" EXIT
	run_case "the soft lockup detector takes its limit" set_limit $lockup "$1"
	run_case "RCU's stall detector takes its limit" set_limit $stall "$2"
}

# trace_stretches: from here on the kernel keeps the longest one. Not function by function, which takes
# longer than what is measured.
trace_stretches() {
	echo 0 >$tracing/options/function-trace && echo preemptirqsoff >$tracing/current_tracer &&
		[ "$(cat $tracing/current_tracer)" = preemptirqsoff ]
}

# stretches_below MILLISECONDS: ends what trace_stretches began.
stretches_below() {
	local longest

	longest=$(cat $tracing/tracing_max_latency)
	diag "longest stretch with interrupts or preemption off: $longest us of $(($1 * 1000))," \
		"$(sed -n 's/^# *=> \(started\|ended\) at: /\1 at /p' $tracing/trace | tr '\n' ' ')"
	echo nop >$tracing/current_tracer
	run_case "some stretch with interrupts or preemption off was seen" [ "$longest" -gt 0 ]
	run_case "none was too long" [ "$longest" -lt $(($1 * 1000)) ]
}
