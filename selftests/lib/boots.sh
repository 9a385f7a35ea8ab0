# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# How the runner runs suites: on the host, or in VMs that as many suites as possible share.
# Each ends in settle().
: "${here:?}" "${logs:?}"

boot=0

run_host() {
	local name tap seconds rc began=$SECONDS

	IFS='|' read -r name _ _ _ seconds <<<"$1"
	title "$name on the host"
	tap=$logs/${name//\//.}.tap
	KERNEL=host timeout -k 10 "$seconds" "$here/lib/run-suite" \
		"$here/$name.suite" >"$tap" 2>&1 </dev/null
	rc=$?
	settle "$name" $rc $((SECONDS - began)) "$tap"
	spent+=("$((SECONDS - began)) $name on the host")
}

# run_boot KERNEL VMS MTU SUITE...: all of these in one boot. What is left when a VM dies
# gets another boot.
run_boot() {
	local kernel=$1 vms=$2 mtu=$3 out label rc=0 began=$SECONDS left=()

	shift 3
	label="$kernel kernel, $vms VM(s), MTU $mtu"
	boot=$((boot + 1))
	out=$logs/boot$boot
	title "$label"
	start_boot "$kernel" "$vms" "$mtu" "$out" "$@" 2>"$out.err" || rc=$?
	settle_boot "$kernel" "$vms" "$out" "$@"
	took $began "$label"
	if [ $rc = 0 ]; then
		pass
	else
		cat "$out.err"
		fail "$label: the boot ended with status $rc (log of boot$boot)"
	fi
	[ ${#left[@]} = 0 ] || run_boot "$kernel" "$vms" "$mtu" "${left[@]}"
}

# start_boot KERNEL VMS MTU OUT SUITE...
start_boot() {
	local kernel=$1 vms=$2 mtu=$3 out=$4 args=() total=60 id=0 suite name seconds

	shift 4
	for suite; do
		IFS='|' read -r name _ _ _ seconds <<<"$suite"
		id=$((id + 1))
		args+=("$id:$seconds:$here/$name.suite")
		total=$((total + seconds + 30))
	done
	rm -rf "$out"
	"$here/qemu/vm" -q -n "$vms" -k "$kernel" -m "$mtu" -t "$total" -o "$out" \
		-e "SRN_LONG=${SRN_LONG-}" -e "SRN_ROUNDS=${SRN_ROUNDS-}" \
		-e "SRN_FILTER=${SRN_FILTER-}" \
		"$here/lib/guest-suites" "${args[@]}"
}

# settle_boot KERNEL VMS OUT SUITE...: sets left: the suites behind the one in which the VM
# died.
settle_boot() {
	local kernel=$1 vms=$2 out=$3 id=0 suite name me

	shift 3
	for suite; do
		shift
		name="${suite%%|*} [$kernel]"
		id=$((id + 1))
		for ((me = 1; me <= vms; me++)); do
			[ -e "$out/suite.$id.$me.tap" ] || : >"$out/suite.$id.$me.tap"
		done
		if ! finished "$out/suite.$id" "$vms"; then
			count "$name" '?' "$out"/suite.$id.*.tap
			fail "$name: the VM died or hung in it"
			left=("$@")
			return
		fi
		settle "$name" "$(status_of "$out/suite.$id" "$vms")" \
			"$(cat "$out/suite.$id.1.seconds")" "$out"/suite.$id.*.tap
	done
}

finished() {
	local me

	for ((me = 1; me <= $2; me++)); do
		[ -e "$1.$me.rc" ] || return 1
	done
}

status_of() {
	local me rc=0

	for ((me = 1; me <= $2; me++)); do
		[ "$(cat "$1.$me.rc")" = 0 ] || rc=$(cat "$1.$me.rc")
	done
	echo "$rc"
}

# run_all SUITE...: boots are dear in an emulated machine, so suites that want the same one
# share it. Those of the debug kernel come last: it may still be in the making.
run_all() {
	local suite key keys=() late=() group name kernel vms mtu

	for suite; do
		IFS='|' read -r name kernel vms mtu _ <<<"$suite"
		if [ "$kernel" = host ]; then
			run_host "$suite"
			continue
		fi
		key="$kernel|$vms|$mtu"
		[[ " ${keys[*]-} ${late[*]-} " = *" $key "* ]] && continue
		if [ "$kernel" = debug ]; then late+=("$key"); else keys+=("$key"); fi
	done
	for key in ${keys[@]+"${keys[@]}"} ${late[@]+"${late[@]}"}; do
		group=()
		for suite; do
			[[ $suite != *"|$key|"* ]] || group+=("$suite")
		done
		IFS='|' read -r kernel vms mtu <<<"$key"
		[ "$kernel" != debug ] || await_aside
		run_boot "$kernel" "$vms" "$mtu" "${group[@]}"
	done
}
