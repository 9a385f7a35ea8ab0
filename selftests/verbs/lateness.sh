# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For suites whose programs try to keep a CPU from scheduling: the kernel's own watchdogs, set to bite
# early.

lockup=/proc/sys/kernel/watchdog_thresh
stall=/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout

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
