# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A VM that is a process: what ../qemu/vm does otherwise for User-Mode Linux. No wires to
# another VM: one at a time, with one CPU; but several of them may run.
: "${here:?}" "${vms:?}" "${out?}" "${sockets?}"
# Nothing has to be made for a lock of these; who else may take it makes a machine slower, no more.
cpu_locks=/sys/devices/system/cpu

# Sets image and modules.
find_uml() {
	local dir

	[ "$vms" = 1 ] || die "User-Mode Linux runs alone"
	dir=$("$here/../uml/kernel")
	image=$dir/linux
	modules=$(printf '%s\n' "$dir"/mods/lib/modules/*)
	: "${memory:=1024}"
}

# Sets cpu: one of ours that no other such machine has, until this one has ended; empty if there is none, or
# if that can't be told. A machine with one CPU is a kernel and a program that run by turns, and each turn on
# another CPU, which has to be woken first, makes a system call take three times as long: 50 us for 14, where
# this machine is a VM, too. A machine that is tried again has the same.
choose_cpu() {
	local n

	[ -z "${cpu_lock-}" ] || return 0
	for n in $(own_cpus); do
		{ exec {cpu_lock}<"$cpu_locks/cpu$n"; } 2>/dev/null || break
		cpu=$n
		! flock -n "$cpu_lock" || return 0
		exec {cpu_lock}<&-
	done
	cpu='' cpu_lock=''
}

# own_cpus: their numbers, a line each
own_cpus() {
	local range

	sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr , '\n' | while IFS= read -r range; do
		seq "${range%-*}" "${range#*-}"
	done
}

# on_cpu COMMAND...
on_cpu() { ${cpu:+taskset -c "$cpu"} "$@"; }

# Its processes are the host's, so they get a group in which they end together.
start_uml() {
	local me=$1

	choose_cpu
	on_cpu setsid "$image" "mem=${memory}M" "umid=vm$me" "uml_dir=$sockets" \
		rootfstype=hostfs rootflags=/ ro "init=$here/../uml/init" \
		con=null con0=fd:0,fd:1 quiet log_buf_len=16M loglevel=5 panic=-1 oops=panic kasan_multi_shot \
		"srn.out=$out" "srn.me=$me" </dev/null >"$out/console.$me" 2>"$out/uml.$me" &
	pids[me]=$!
}
