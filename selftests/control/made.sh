# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Suites that are made up, and the runner on them in a boot of their own: what it makes of the
# faults that srn_fault.ko commits, which is built here, too.
: "${made:?}"

# tree_of KERNEL: for modules.
tree_of() {
	local dir

	case $1 in
	stock) scripts/find-kernel && return ;;
	uml) dir=$(selftests/uml/kernel) ;;
	debug) dir=$(selftests/qemu/debug-kernel) ;;
	race) dir=$(selftests/qemu/debug-kernel --race) ;;
	esac || return
	echo "$dir/build"
}

# build_fault KERNEL ARCH: the module that commits them.
build_fault() {
	local dir

	dir=$(tree_of "$1") && mkdir -p "$made/$1" &&
		cp selftests/control/{Kbuild,srn_fault.c} "$made/$1/" &&
		make --no-print-directory -C "$dir" "M=$made/$1" ARCH="$2" modules
}

# make_suite HOME NAME KERNEL BODY
make_suite() {
	{
		printf '# %s: GPL-2.0-only\n# PLAN=no\n' SPDX-License-Identifier
		printf 'commits() { insmod %s "fault=$1" && rmmod srn_fault; }\n' "$made/$3/srn_fault.ko"
		printf '%s\n' "$4"
	} >"$1/made/$2.suite"
}

# run_made HOME KERNEL NAME...: the runner, on suites made up below HOME. Its report stays there.
run_made() {
	local home=$1 kernel=$2 name made_up=()

	(
		here=$home logs=$home/logs
		mkdir -p "$logs"
		for name in results select plan boots; do
			# shellcheck source=/dev/null
			. "selftests/lib/$name.sh"
		done
		for name in "${@:3}"; do
			made_up+=("made/$name|$kernel|1|4500|wall|$(header "$here/made/$name.suite" TIMEOUT 60)")
		done
		run_boot "$kernel" 1 4500 wall "${made_up[@]}"
		report "$logs"
	) >"$home/report" 2>&1
}

# prepare HOME: what the runner calls by its own place is the tree's.
prepare() {
	rm -rf "$1"
	mkdir -p "$1"/{made,qemu}
	ln -s "$SRN_TREE/selftests/lib" "$1/lib"
	printf '#!/bin/sh\nexec %q "$@"\n' "$SRN_TREE/selftests/qemu/vm" >"$1/qemu/vm"
	chmod +x "$1/qemu/vm"
}

# boot_with KERNEL BOOT NAME BODY [NAME BODY]...: one boot, and these suites in it.
boot_with() {
	local kernel=$1 home=$made/$1/$2 names=()

	shift 2
	prepare "$home"
	while [ $# -gt 0 ]; do
		make_suite "$home" "$1" "$kernel" "$2"
		names+=("$1")
		shift 2
	done
	run_made "$home" "$kernel" "${names[@]}"
}

# reports KERNEL BOOT TEXT...: the runner's report of that boot failed, and has each of these.
reports() {
	local report=$made/$1/$2/report text rc=0

	for text in "${@:3}"; do
		grep -qF -- "$text" "$report" || { echo "not reported: $text" && rc=1; }
	done
	tail -n 1 "$report" | grep -qE ', [1-9][0-9]* failed,' || { echo "nothing failed" && rc=1; }
	[ $rc = 0 ] || tail -n 60 "$report"
	return $rc
}
