# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A VM that is a process: what ../qemu/vm does otherwise for User-Mode Linux. No wires to
# another VM: one at a time, with one CPU; but several of them may run.
: "${here:?}" "${vms:?}" "${out?}" "${sockets?}"

# Sets image and modules.
find_uml() {
	local dir

	[ "$vms" = 1 ] || die "User-Mode Linux runs alone"
	dir=$("$here/../uml/kernel")
	image=$dir/linux
	modules=$(printf '%s\n' "$dir"/mods/lib/modules/*)
	: "${memory:=1024}"
}

# Sets cpu: one of ours that no other such machine has, if there is one, until this script ends. A machine
# with one CPU is a kernel and a program that run by turns, and each turn on another CPU, which has to be
# woken first, makes a system call take three times as long: 50 us for 14, where this machine is a VM, too.
choose_cpu() {
	local -a cpus
	local dir=${XDG_RUNTIME_DIR:-/tmp}/srn-uml.$UID n

	mapfile -t cpus < <(allowed_cpus)
	mkdir -p "$dir"
	for n in "${cpus[@]}"; do
		exec {cpu_lock}>"$dir/cpu$n"
		cpu=$n
		! flock -n "$cpu_lock" || return 0
		exec {cpu_lock}>&-
	done
	cpu=${cpus[$(($$ % ${#cpus[@]}))]}
}

# allowed_cpus: a line each
allowed_cpus() {
	local range

	taskset -cp $$ | sed 's/.*: //' | tr , '\n' | while IFS= read -r range; do
		seq "${range%-*}" "${range#*-}"
	done
}

# Its processes are the host's, so they get a group in which they end together.
start_uml() {
	local me=$1 cpu

	choose_cpu
	taskset -c "$cpu" setsid "$image" "mem=${memory}M" "umid=vm$me" "uml_dir=$sockets" \
		rootfstype=hostfs rootflags=/ ro "init=$here/../uml/init" \
		con=null con0=fd:0,fd:1 quiet log_buf_len=16M loglevel=5 panic=-1 oops=panic kasan_multi_shot \
		"srn.out=$out" "srn.me=$me" </dev/null >"$out/console.$me" 2>"$out/uml.$me" &
	pids[me]=$!
}
