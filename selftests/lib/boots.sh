# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# How the runner runs suites: on the host, or in VMs that as many suites as possible share.
# Each ends in settle().
: "${here:?}" "${logs:?}"

boot=0

run_host() {
	local name tap seconds rc began=$SECONDS

	IFS='|' read -r name _ _ _ _ seconds <<<"$1"
	title "$name on the host"
	tap=$logs/${name//\//.}.tap
	KERNEL=host timeout -k 10 "$seconds" "$here/lib/run-suite" \
		"$here/$name.suite" >"$tap" 2>&1 </dev/null
	rc=$?
	settle "$name" $rc $((SECONDS - began)) "$tap"
	spent+=("$((SECONDS - began)) $name on the host")
}

# run_boot KERNEL VMS MTU CLOCK SUITE...: all of these in one boot. What is left when a VM dies
# gets another boot.
run_boot() {
	local rc=0

	boot=$((boot + 1))
	title "$(label_of "$@")"
	start_boot $boot "$@" || rc=$?
	end_boot $boot $rc "$@"
}

label_of() {
	[ "$4" = wall ] || set -- "$1" "$2" "$3, $4 for a clock"
	echo "$1 kernel, $2 VM(s), MTU $3"
}

# end_boot BOOT STATUS KERNEL VMS MTU CLOCK SUITE...
end_boot() {
	local number=$1 rc=$2 machine=("${@:3:4}") out label left=()

	shift 6
	out=$logs/boot$number
	label=$(label_of "${machine[@]}")
	settle_boot "${machine[@]:0:2}" "$out" "$@"
	took "$(cat "$out.seconds")" "$label"
	if [ "$rc" = 0 ]; then
		pass
	else
		cat "$out.err"
		fail "$label: the boot ended with status $rc (log of boot$number)"
	fi
	[ ${#left[@]} = 0 ] || run_boot "${machine[@]}" "${left[@]}"
}

# Who does not need the whole machine runs beside others.
# begin_beside KERNEL VMS MTU CLOCK SUITE..., and end_beside, which awaits all of them.
declare -A beside	# by boot: process, and what it is of, as words without blanks

begin_beside() {
	boot=$((boot + 1))
	title "$(label_of "$@"), beside what follows"
	start_boot $boot "$@" &
	beside[$boot]="$! $*"
}

end_beside() {
	local number rc words

	for number in $(printf '%s\n' "${!beside[@]}" | sort -n); do
		rc=0
		read -ra words <<<"${beside[$number]}"
		unset "beside[$number]"
		wait "${words[0]}" || rc=$?
		title "$(label_of "${words[@]:1}"), which ran beside what is above"
		end_boot "$number" $rc "${words[@]:1}"
	done
}

runs_beside() {
	local words

	for words in "${beside[@]}"; do
		! kill -0 "${words%% *}" 2>/dev/null || return 0
	done
	return 1
}

# start_boot BOOT KERNEL VMS MTU CLOCK SUITE...: how long it took is in bootN.seconds.
start_boot() {
	local out=$logs/boot$1 kernel=$2 vms=$3 mtu=$4 clock=$5 args=() total=60 id=0 suite name seconds
	local machine=() began=$SECONDS rc=0

	shift 5
	[ "$clock" = wall ] || machine=(-i)
	for suite; do
		IFS='|' read -r name _ _ _ _ seconds <<<"$suite"
		id=$((id + 1))
		args+=("$id:$seconds:$here/$name.suite")
		total=$((total + seconds + 30))
	done
	rm -rf "$out"
	"$here/qemu/vm" -q ${machine[@]+"${machine[@]}"} -n "$vms" -k "$kernel" -m "$mtu" -t "$total" -o "$out" \
		-e "SRN_LONG=${SRN_LONG-}" -e "SRN_ROUNDS=${SRN_ROUNDS-}" \
		-e "SRN_FILTER=${SRN_FILTER-}" -e "SRN_SEED=${SRN_SEED-}" -e "SRN_STRICT=${SRN_STRICT-}" \
		-e "SRN_MODE_SECONDS=${SRN_MODE_SECONDS-}" -e "SRN_FLOOD_SECONDS=${SRN_FLOOD_SECONDS-}" \
		-e "SRN_FUZZ_SECONDS=${SRN_FUZZ_SECONDS-}" -e "SRN_FUZZ_SEED=${SRN_FUZZ_SEED-}" \
		"$here/lib/guest-suites" "${args[@]}" 2>"$out.err" || rc=$?
	echo $((SECONDS - began)) >"$out.seconds"
	return $rc
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
	local suite key keys=() late=() first=() counted=() name kernel vms mtu clock

	for suite; do
		IFS='|' read -r name kernel vms mtu clock _ <<<"$suite"
		key="$kernel|$vms|$mtu|$clock"
		[[ " ${first[*]-} ${counted[*]-} ${keys[*]-} ${late[*]-} " != *" $key "* ]] || continue
		case $kernel:$clock in
		host:*) ;;
		debug:*) late+=("$key") ;;
		uml:*) first+=("$key") ;;
		*:instructions) counted+=("$key") ;;
		*) keys+=("$key") ;;
		esac
	done
	run_first "$@"
	for key in "${first[@]:1}" "${counted[@]:1}" ${keys[@]+"${keys[@]}"}; do
		run_key "$key" "$@"
	done
	[ ${#late[@]} = 0 ] || run_last "$@"
	end_beside
}

# is_wide: two boots at a time have more processors each than one has on a machine with two.
is_wide() { [ "$(nproc)" -ge 4 ]; }

# Two at a time runs what needs no more than one processor:
# - the host's suites, but for moments;
# - User-Mode Linux: its suites (of run_all's first key) are two boots for that;
# - what counts instructions: its clock does not see who else is there;
# - the debug kernel with one VM: an emulator keeps its two processors waiting for each other, and together
#   they take as much as one.

# run_first SUITE...: the first half of User-Mode Linux's suites, beside them those of the host and what counts
# instructions. If there is no debug kernel, the second half is beside the first.
run_first() {
	local suite

	begin_half 0 "$@"
	for suite; do
		[[ $suite != *'|host|'* ]] || run_host "$suite"
	done
	[ ${#counted[@]} = 0 ] || boot_key "${counted[0]}" "$@"
	[ ${#late[@]} != 0 ] || begin_half 1 "$@"
	end_beside
}

# run_last SUITE...: the debug kernel, beside it the second half of User-Mode Linux's suites.
run_last() {
	local key

	await_aside
	end_beside
	begin_half 1 "$@"
	boot_key "${late[0]}" "$@"
	for key in "${late[@]:1}"; do
		run_key "$key" "$@"
	done
}

# begin_half 0|1 SUITE...: of User-Mode Linux's.
begin_half() {
	local half=$1 machine=() group=() part

	shift
	[ ${#first[@]} != 0 ] || return 0
	find_group "${first[0]}" "$@"
	part=$(((${#group[@]} + 1) / 2))
	if [ "$half" = 0 ]; then group=("${group[@]:0:part}"); else group=("${group[@]:part}"); fi
	[ ${#group[@]} = 0 ] || begin_beside "${machine[@]}" "${group[@]}"
}

# boot_key KEY SUITE...: a boot for the suites with this key, whatever runs beside.
boot_key() {
	local machine=() group=()

	find_group "$@"
	run_boot "${machine[@]}" "${group[@]}"
}

# run_key KEY SUITE...: a boot for the suites with this key. On a wide machine two run at a time.
run_key() {
	local machine=() group=()

	find_group "$@"
	if [[ $1 = *'|wall' ]] && is_wide; then
		runs_beside || {
			end_beside
			begin_beside "${machine[@]}" "${group[@]}"
			return
		}
	else
		end_beside
	fi
	run_boot "${machine[@]}" "${group[@]}"
}

# find_group KEY SUITE...: sets machine, the words of the key, and group, the suites that have it.
find_group() {
	local key=$1 suite

	shift
	IFS='|' read -ra machine <<<"$key"
	for suite; do
		[[ $suite != *"|$key|"* ]] || group+=("$suite")
	done
}
