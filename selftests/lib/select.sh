# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Which suites the runner runs: those whose name is asked for, on the kernels that their
# heads name. Sets suites, left_out and others.

suites=()	# NAME|KERNEL|VMS|MTU|CLOCK|SECONDS
left_out=()	# long ones, without SRN_LONG
others=()	# of kernels that are not in SRN_KERNELS

# selected NAME PATTERN...
selected() {
	local name=$1 pattern wanted=0 positive=0

	shift
	for pattern; do
		case $pattern in
		!*) [[ $name != *"${pattern#!}"* ]] || return 1 ;;
		*)
			positive=1
			[[ $name != *"$pattern"* ]] || wanted=1
			;;
		esac
	done
	[ $positive = 0 ] || [ $wanted = 1 ]
}

# header FILE NAME DEFAULT: value of '# NAME=value' among the first lines.
header() {
	local value

	value=$(sed -n "1,25s/^\(# *\)\{0,1\}$2=[\"']\{0,1\}\([^\"']*\)[\"']\{0,1\} *$/\2/p" "$1" | head -n 1)
	echo "${value:-$3}"
}

# filter_reaches FILE NAME PATTERN...: with SRN_FILTER only suites whose tests can be picked one
# by one. One that picks tests itself runs them a second time, on another kernel or wire: it is
# meant when its whole name is asked for, and then the filter takes the place of its own.
filter_reaches() {
	local file=$1 name=$2

	shift 2
	[ -n "${SRN_FILTER-}" ] || return 0
	grep -qE '^[[:space:]]*run_(gtest|kunit|on_exact_clock) ' "$file" || return
	! grep -q -e '--gtest_filter=' "$file" || [[ " $* " = *" $name "* ]]
}

# find_suites DIRECTORY PATTERN...
find_suites() {
	local dir=$1 file name kernel

	shift
	for file in "$dir"/*/*.suite; do
		name=${file#"$dir"/}
		name=${name%.suite}
		selected "$name" "$@" && filter_reaches "$file" "$name" "$@" || continue
		for kernel in $(header "$file" KERNEL stock); do
			add_suite "$file" "$name" "$kernel"
		done
	done
}

add_suite() {
	local file=$1 name=$2 kernel=$3 seconds clock

	if ! is_wanted "$file" "$kernel"; then
		others+=("$name [$kernel]")
		return
	fi
	if [ -z "${SRN_LONG-}" ] && [[ " $(header "$file" LONG '') " = *" $kernel "* ]]; then
		left_out+=("$name [$kernel]")
		return
	fi
	seconds=$(header "$file" TIMEOUT 600)
	[[ $kernel != @(debug|race) ]] || seconds=$((seconds * 5))
	# These machines share the processors with the host's suites and the debug kernel, or with each other.
	[ "$kernel" != uml ] || seconds=$((seconds * 3))
	clock=$(header "$file" CLOCK wall)
	suites+=("$name|$kernel|$(header "$file" VMS 1)|$(header "$file" MTU 4500)|$clock|$seconds")
}

# is_wanted FILE KERNEL: among SRN_KERNELS. A suite of the host that boots a kernel itself runs
# with the suites of that.
is_wanted() {
	local kernel=$2

	[ "$kernel" != host ] || kernel=$(header "$1" WITH host)
	[[ " ${SRN_KERNELS-host uml stock cloud debug} " = *" $kernel "* ]]
}

# need KERNEL: a suite runs on it.
need() { printf '%s\n' "${suites[@]}" | grep -q "|$1|"; }

# need_only KERNEL: no suite runs anywhere else.
need_only() { ! printf '%s\n' "${suites[@]}" | grep -qv "|$1|"; }

# need_suite PATTERN: a suite runs whose ROOM/NAME matches it, as grep does.
need_suite() { printf '%s\n' "${suites[@]%%|*}" | grep -q "$1"; }
