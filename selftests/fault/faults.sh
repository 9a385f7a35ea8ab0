# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Allocations, and copies from and to a program, that fail: the kernel's fault injection, of
# which only what the module asks for counts, or whom it calls.

FAULTS=/sys/kernel/debug
FAULT_KINDS=(failslab fail_page_alloc fail_usercopy)

# set_fault NAME VALUE: for all kinds that have it.
set_fault() {
	local kind

	for kind in "${FAULT_KINDS[@]}"; do
		[ ! -e "$FAULTS/$kind/$1" ] || echo "$2" >"$FAULTS/$kind/$1" || return
	done
}

# text_of_srn: the first address of the module's functions and one behind the last of them.
text_of_srn() {
	awk '$4 == "[srn]" && $2 ~ /^[tT]$/ { print $1 }' /proc/kallsyms | sort |
		sed -n '1s/^/0x/p;$s/^/0x/p' | { read -r first; read -r last
			[ -n "$last" ] && echo "$first $((last + 4096))"; }
}

# text_of FUNCTION: the same of one of the kernel's.
text_of() {
	awk '$2 ~ /^[tT]$/ { print "0x" $1, $3 }' /proc/kallsyms | sort |
		awk -v name="$1" 'found { print $1; exit } $2 == name { printf "%s ", $1; found = 1 }'
}

# faults_within START END: only with these functions on the stack. Every allocation counts, those
# that may sleep and single pages as well, and a fault says nothing in the log. Nothing that
# kmemleak asks for fails, which it does for each of the others, and has a pool for.
faults_within() {
	local reject

	read -ra reject < <(text_of __alloc_object)
	[ ${#reject[@]} != 2 ] || {
		set_fault reject-start "${reject[0]}" && set_fault reject-end "${reject[1]}"
	} || return
	set_fault probability 0 && set_fault interval 1 && set_fault space 0 &&
		set_fault times -1 && set_fault verbose 0 && set_fault task-filter 0 &&
		set_fault ignore-gfp-wait 0 && set_fault ignore-gfp-highmem 0 &&
		set_fault min-order 0 && set_fault stacktrace-depth 32 &&
		set_fault require-start "$1" && set_fault require-end "$2"
}

# fail_one_in N KIND...: from now on, for everybody.
fail_one_in() {
	local interval=$1 kind

	shift
	for kind; do
		echo "$interval" >"$FAULTS/$kind/interval"
		echo 100 >"$FAULTS/$kind/probability"
	done
}

no_faults() { set_fault probability 0; }

# count_faults and faults_met: how often something failed since.
MANY=1000000
count_faults() { set_fault times $MANY; }
faults_met() {
	local kind sum=0

	for kind in "${FAULT_KINDS[@]}"; do
		sum=$((sum + MANY - $(cat "$FAULTS/$kind/times")))
	done
	echo $sum
}

# fails_at N COMMAND...: a program, by its path, the N-th of whose faults happens.
fails_at() {
	# shellcheck disable=SC2016
	bash -c 'echo "$0" >/proc/self/fail-nth; exec "$@"' "$@"
}
