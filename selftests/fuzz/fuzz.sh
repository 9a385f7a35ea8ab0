# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# How the suites run srn_fuzz: in User-Mode Linux on the module that counts what it runs through.
: "${KERNEL:?}" "${VM:?}" "${SRN_BUILD:?}" "${WORK:?}" "${dmesg_bad:?}" "${dmesg_allow:?}"

fuzz_module() {
	if [ "$KERNEL" = uml ]; then
		insmod "$SRN_BUILD/module-fuzz/drivers/infiniband/sw/srn/srn.ko"
	else
		modprobe srn
	fi
}

# fuzz_targets: the names of all.
fuzz_targets() { "$SRN_BUILD/cmake/selftests/fuzz/srn_fuzz" --list; }

# fuzz_case TARGET SECONDS: one test. How the coverage grew is shown; inputs that reach something
# new are left in /run/vm/fuzz, and the last ones if it breaks. How long it took is no part of the
# name: by that a plan of results knows a test again.
fuzz_case() {
	local target=$1 seconds=$2

	diag "$target: $seconds s"
	CASE_TIMEOUT=$((seconds + 300)) run_case "$target stands hostile input" fuzz "$@"
	diag_file "$WORK/table" 40
}

fuzz() {
	# Of a target that died: it is that one's failure alone.
	ip link delete v0 2>/dev/null
	"$SRN_BUILD/cmake/selftests/fuzz/srn_fuzz" "$1" --seconds "$2" --seed "${SRN_FUZZ_SEED:-0}" \
		--corpus "selftests/fuzz/corpus/$1" --keep "$VM/fuzz/$1" \
		--evidence "$VM/fuzz/evidence.$1" --bad-words "$dmesg_bad" \
		--allowed-words "$dmesg_allow" 2>&1 | tee "$WORK/table"
	return "${PIPESTATUS[0]}"
}
