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

# Its processes are the host's, so they get a group in which they end together.
start_uml() {
	local me=$1

	setsid "$image" "mem=${memory}M" "umid=vm$me" "uml_dir=$sockets" \
		rootfstype=hostfs rootflags=/ ro "init=$here/../uml/init" \
		con=null con0=fd:0,fd:1 quiet log_buf_len=16M loglevel=5 panic=-1 oops=panic kasan_multi_shot \
		"srn.out=$out" "srn.me=$me" </dev/null >"$out/console.$me" 2>"$out/uml.$me" &
	pids[me]=$!
}
