# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What in a kernel log is a failure. Used by the host on whole logs and by the guest
# after each test.

dmesg_bad='WARNING:|\bBUG\b|Oops|KASAN:|UBSAN:|KCSAN:|Call Trace|Kernel panic'
dmesg_bad+='|general protection|double fault|stack segment|Unable to handle'
dmesg_bad+='|possible .*dependency|possible recursive locking|INFO: trying to register'
dmesg_bad+='|inconsistent lock state|suspicious RCU|bad unlock balance|lock held when'
dmesg_bad+='|still has locks held|sleeping function called|scheduling while atomic'
dmesg_bad+='|blocked for more than|soft lockup|hard LOCKUP|detected (expedited )?stalls'
dmesg_bad+='|self-detected stall|page allocation failure|Out of memory|invoked oom-killer'
dmesg_bad+='|kmemleak was off|leak detector disabled'
dmesg_bad+='|unreferenced object|new suspected memory leaks|ODEBUG:|refcount_t:'
dmesg_bad+='|list_add|list_del|corruption|ref_tracker:|waiting for .* to become free'
dmesg_bad+='|lockdep was off|CPUs, its kernel found|workqueue lockup|bad page|segfault at|traps: .* trap '
dmesg_bad+='|Dead loop on virtual device|Attempt to release|Slab cache still has objects'
dmesg_bad+='|kobject_add_internal failed|cannot create duplicate'

# The kernel's own noise, none of it after a fault. One reason a line.
# - mitigations that the emulated processor cannot have, told at boot
dmesg_allow='Spectre V2 : WARNING|RETBleed: WARNING|MDS CPU bug|TAA CPU bug'
# - data races between others: KCSAN's strict rules find many in any kernel. Neither of the two
#   functions may be of srn, by its name or by its module's.
not_srn='([^s ]|s[^r ]|sr[^n ]|srn[^_ ])[^ ]*( \[([^]s]|s[^]r]|sr[^]n]|srn[^]])[^]]*\])?'
dmesg_allow+="|BUG: KCSAN: data-race in $not_srn( / $not_srn)?\$"

# - an object in sysfs for which there is no memory, said without a stack trace, where tests let
#   allocations fail (ENOMEM); any other error counts. In a log of several suites it can't be told
#   whose it is; each has been looked at by itself then.
dmesg_allow_always=$dmesg_allow
dmesg_allow+='|kobject_add_internal failed for [^ ]+ \(error: -12 '
# - and one for a debugging aid of references, told once: it counts them without their owners then
dmesg_allow+='|ref_tracker: memory allocation failure, unreliable refcount tracker'

# dmesg_of_suite FILE: what is looked at from here on is the log of this suite.
dmesg_of_suite() {
	case $1 in
	*/fault/*) ;;
	*) dmesg_allow=$dmesg_allow_always ;;
	esac
}

# without_cgroup_oom FILE...: a control group reached its limit and a program in it was killed for
# that, which the kernel tells in a hundred lines. No fault, where a test sets limits; nowhere
# else are there any. Lines without the last one, that of the killing, stay.
without_cgroup_oom() {
	awk '/invoked oom-killer:/ { held = ""; inside = 1 }
		!inside { print; next }
		{ held = held $0 "\n"; lines++ }
		/Memory cgroup out of memory: Killed process/ { held = ""; inside = lines = 0 }
		lines > 200 { printf "%s", held; held = ""; inside = lines = 0 }
		END { printf "%s", held }' "$@"
}

# dmesg_reports FILE...: print the bad lines; true if there are any.
dmesg_reports() {
	without_cgroup_oom "$@" | grep -E -- "$dmesg_bad" | grep -vE -- "$dmesg_allow"
}

# dmesg_context FILE: the bad lines with what follows each of them.
dmesg_context() {
	without_cgroup_oom "$1" | grep -nE -A 30 -- "$dmesg_bad" | grep -vE -- "$dmesg_allow" | head -n 120
}

# dmesg_tests FILE: the tests during which there were bad lines: programs announce theirs.
dmesg_tests() {
	grep -E -- "$dmesg_bad|srn-test: " "$1" | grep -vE -- "$dmesg_allow" |
		awk '/srn-test: / { test = $NF; next } !said[test]++ { print test }'
}

# QEMU 7.2's TCG now and then restores garbage as EFLAGS, and the guest dies of a
# double fault with bits set in it (22 and up) that no processor can set. This and
# nothing else is the emulator's fault.
is_tcg_eflags_fault() {
	local eflags

	grep -q 'double fault' "$1" || return 1
	eflags=$(sed -n '/double fault/,$s/.*EFLAGS: *\([0-9a-f]\{8\}\).*/\1/p' "$1" |
		head -n 1)
	[ -n "$eflags" ] && [ $((0x$eflags >> 22)) -ne 0 ]
}

# TCG also runs, now and then, a breakpoint that the kernel set and took away again while
# it patched its own code (static keys): "Oops: int3", although the byte before the
# instruction pointer is not 0xcc any more. A CPU that traps there has found 0xcc.
is_tcg_stale_int3() {
	local byte

	grep -q 'Oops: int3' "$1" || return 1
	byte=$(sed -n '/Oops: int3/,$s/.*Code: .* \([0-9a-f][0-9a-f]\) <[0-9a-f][0-9a-f]> .*/\1/p' "$1" |
		head -n 1)
	[ -n "$byte" ] && [ "$byte" != cc ]
}

# before_tcg_fault CONSOLE: what the kernel said before it met one of these faults.
before_tcg_fault() { sed '/double fault\|Oops: int3/,$d' "$1"; }
