# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What tries mutations: copies of the tree, their builds, and the suites on them. A verdict is a
# line in $room/verdicts/NAME: killed, survived or error, and what is known of it.
: "${tree:?}" "${build:?}" "${room:?}" "${here:?}" "${jobs:?}" "${full?}" "${baseline?}"
declare -A mut_file mut_seen mut_why
declare -a chosen

limit_default=300	# seconds of a suite of which it is not known how long it takes

# copy_tree COPY: the sources alone. The test programs are the tree's own, since no mutation is in
# them; modules and provider stay from the last time, as objects that may still be good. A file that
# was mutated gets the time of the copy, or its object would stay, too.
copy_tree() {
	local copy=$1

	mkdir -p "$copy/build/cmake"
	rsync -rlpc --delete --exclude=/build --exclude=/.git "$tree/" "$copy/"
	[ -e "$copy/build/cmake/selftests" ] ||
		ln -s "$build/cmake/selftests" "$copy/build/cmake/selftests"
}

kernel_build() {
	local dir

	dir=$("$here/uml/kernel") && echo "$dir/build"
}

# host_programs unit|bench: the tests that run without a VM, the provider's or srnbench's.
host_programs() {
	case $1 in
	unit) echo provider/srn_provider_abi_test provider/srn_provider_test ;;
	bench) echo tools/srnbench/srn_bench_test ;;
	esac
}

# build_copy COPY LOG unit|bench|vm: what these tests, or the suites in a VM, need of it.
build_copy() {
	local make=(make -C "$1" --no-print-directory JOBS=1)

	{
		if [ "$3" = vm ]; then
			"${make[@]}" provider && "${make[@]}" module "KDIR=$kdir" ARCH=um KUNIT=1
		else
			build_unit "$1/build/unit" "$3"
		fi
	} >>"$2" 2>&1
}

# build_unit DIRECTORY unit|bench: of the copy that it is in.
build_unit() {
	local programs

	read -ra programs <<<"$(host_programs "$2")"
	[ -e "$1/build.ninja" ] ||
		cmake -S "$1/../../userspace" -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=Release || return
	cmake --build "$1" -j 1 --target "${programs[@]##*/}"
}

# limit_of SUITE: seconds after which it hangs: thrice what it takes without a fault.
limit_of() {
	local took

	took=$(sed -n "s/^$1 //p" "$room/took" 2>/dev/null | sort -n | tail -n 1)
	echo $((took ? took * 3 + 60 : limit_default))
}

# unit_fails COPY LOG unit|bench: says what failed; true if something did.
unit_fails() {
	local program failed

	for program in $(host_programs "$3"); do
		GTEST_FAIL_FAST=1 timeout -k 5 60 "$1/build/unit/$program" >"$2" 2>&1 && continue
		failed=$(sed -n 's/^\[  FAILED  \] \([^ ]*\).*/\1/p' "$2" | head -n 1)
		echo "$3: ${failed:-${program##*/} died or hangs}"
		return 0
	done
	return 1
}

# boot COPY OUT ITEM...: suites in a VM. Prints killed, survived or error, and why.
boot() {
	local copy=$1 out=$2 rc=0 args=() total=60 item limit

	shift 2
	for item; do
		limit=$(limit_of "${item%%=*}")
		args+=("$limit:$item")
		total=$((total + limit + 30))
	done
	rm -rf "$out"
	SRN_BUILD=$copy/build "$copy/selftests/qemu/vm" -q -k uml -t "$total" -o "$out" \
		-e "MUTANT_ALL=${MUTANT_ALL-}" "$copy/selftests/lib/guest-mutant" "${args[@]}" \
		>"$out.vm" 2>&1 || rc=$?
	rm -rf "$out/modules"
	if [ -e "$out/unknown" ]; then
		echo "error $(cat "$out/unknown")"
	elif [ -e "$out/failed" ]; then
		echo "killed by $(cat "$out/failed")"
	elif [ $rc = 0 ]; then
		echo survived
	elif [ $rc = 97 ]; then
		echo "killed by what the kernel says at the end ($out)"
	elif [ $rc = 98 ] && [ ! -e "$out/suite.1.1.tap" ] &&
		! dmesg_reports "$out/console.1" >/dev/null; then
		echo "error no suite began ($out)"
	elif [ $rc = 98 ]; then
		echo "killed: the kernel died or hangs ($out)"
	else
		echo "error status $rc of the VM ($out)"
	fi
}

# items NAME: its suites in a VM, as boot() takes them.
items() {
	local item

	for item in ${mut_seen[$1]}; do
		[ -z "$(host_programs "$item")" ] || continue
		[ -z "$full" ] || item=${item%%=*}
		echo "$item"
	done
}

# try NAME COPY: prints the verdict.
try() {
	local name=$1 copy=$2 log=$room/logs/$1 failed suites=() broken item

	copy_tree "$copy"
	if is_stale "$name" "$copy"; then
		echo "error: stale, its text stands $(places "$name" "$copy") times in ${mut_file[$name]}"
		return
	fi
	make_mutation "$name" "$copy"
	broken="error: does not build ($log.build)"
	for item in unit bench; do
		[[ " ${mut_seen[$name]} " = *" $item "* ]] || continue
		build_copy "$copy" "$log.build" $item || { echo "$broken"; return; }
		failed=$(unit_fails "$copy" "$log.$item" $item) && { echo "killed by $failed"; return; }
	done
	mapfile -t suites < <(items "$name")
	[ ${#suites[@]} != 0 ] || { echo survived; return; }
	build_copy "$copy" "$log.build" vm || { echo "$broken"; return; }
	boot "$copy" "$log" "${suites[@]}"
}

# next_of: takes the index of the next mutation.
next_of() {
	local n

	exec 7>>"$room/next.lock"
	flock 7
	n=$(cat "$room/next")
	echo $((n + 1)) >"$room/next"
	flock -u 7
	echo "$n"
}

# worker COPY
worker() {
	local copy=$1 i name verdict began

	while i=$(next_of) && [ "$i" -lt ${#chosen[@]} ]; do
		name=${chosen[i]}
		began=$SECONDS
		verdict=$(try "$name" "$copy")
		echo "$verdict" >"$room/verdicts/$name"
		[[ $verdict != survived* ]] || [ -z "${mut_why[$name]}" ] ||
			verdict+=", as it should: ${mut_why[$name]//$'\n'/ }"
		printf '%-32s %4d s  %s\n' "$name" $((SECONDS - began)) "$verdict"
	done
}

# union SUITE: which of its tests the chosen mutations want, for a run without a fault. Of KUnit, which
# takes one glob, each by itself.
union() {
	local name item globs=''

	for name in "${chosen[@]}"; do
		for item in $(items "$name"); do
			case $item in
			"$1") echo "$1" && return ;;
			"$1="*) [[ :$globs: = *":${item#*=}:"* ]] || globs+=:${item#*=} ;;
			esac
		done
	done
	[ -n "$globs" ] || return 0
	globs=${globs#:}
	[ "$1" != kunit ] || globs=${globs//:/$'\n'kunit=}
	echo "$1=$globs"
}

# any_unit unit|bench: whether these are wanted.
any_unit() {
	local name

	for name in "${chosen[@]}"; do
		[[ " ${mut_seen[$name]} " != *" $1 "* ]] || return 0
	done
	return 1
}

# What fails without a fault kills nothing.
try_baseline() {
	local copy=$room/copy1 log=$room/logs/baseline.build verdict failed suites=() suite item

	copy_tree "$copy"
	for item in unit bench; do
		any_unit $item || continue
		build_copy "$copy" "$log" $item || die "the tree does not build ($log)"
		! failed=$(unit_fails "$copy" "$room/logs/baseline.$item" $item) || die "without a fault: $failed"
	done
	for suite in kunit wire verbs; do
		mapfile -tO ${#suites[@]} suites < <(union $suite)
	done
	[ ${#suites[@]} != 0 ] || return 0
	build_copy "$copy" "$log" vm || die "the tree does not build ($log)"
	verdict=$(boot "$copy" "$room/logs/baseline" "${suites[@]}")
	[ "$verdict" = survived ] || die "without a fault: $verdict"
	cp "$room/logs/baseline/took" "$room/took"
	note "without a fault the suites pass: $(tr '\n' ' ' <"$room/took")"
}

try_all() {
	local i pids=()

	kdir=$(kernel_build) || die "no kernel"
	[ -z "$baseline" ] || try_baseline
	echo 0 >"$room/next"
	for ((i = 1; i <= jobs; i++)); do
		worker "$room/copy$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
}

# sum: from the verdicts in $room/verdicts.
sum() {
	local name verdict killed=0 survived=0 errors=0 unexplained=0

	for name in "${chosen[@]}"; do
		verdict=$(cat "$room/verdicts/$name" 2>/dev/null || echo error)
		case $verdict in
		killed*) killed=$((killed + 1)) ;;
		survived*)
			survived=$((survived + 1))
			[ -n "${mut_why[$name]}" ] || unexplained=$((unexplained + 1))
			;;
		*) errors=$((errors + 1)) ;;
		esac
	done
	echo "${#chosen[@]} mutations, $killed killed, $survived survived, $errors in error"
	[ $unexplained = 0 ] && [ $errors = 0 ]
}
