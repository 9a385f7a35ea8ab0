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
dmesg_bad+='|lockdep was off|workqueue lockup|bad page|segfault at'

# The kernel's own noise, none of it after a fault. One reason a line.
# - mitigations that the emulated processor cannot have, told at boot
dmesg_allow='Spectre V2 : WARNING|RETBleed: WARNING|MDS CPU bug|TAA CPU bug'

# dmesg_reports FILE...: print the bad lines; true if there are any.
dmesg_reports() {
	grep -hE -- "$dmesg_bad" "$@" | grep -vE -- "$dmesg_allow"
}

# dmesg_context FILE: the bad lines with what follows each of them.
dmesg_context() {
	grep -nE -A 30 -- "$dmesg_bad" "$1" | grep -vE -- "$dmesg_allow" | head -n 120
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
