# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Results of a suite as TAP lines on stdout, on the host and in the guest: ok, not_ok, skip,
# run_case, run_gtest. Needs SRN_TREE and SLOW; makes WORK, a directory for scraps.

set -m

WORK=$(mktemp -d)
export WORK
CASE_TIMEOUT=${CASE_TIMEOUT:-$((120 * SLOW))}
CASE_LINES=${CASE_LINES:-60}
tap_count=0
tap_failed=0

diag() { echo "# ${*//$'\n'/$'\n'# }"; }
# awk ends the last line where the file does not: a result stands on a line of its own.
diag_file() { tail -n "${2:-60}" "$1" | awk '{ print "#   " $0 }'; }

ok() {
	echo "ok $((++tap_count)) $*"
}

not_ok() {
	echo "not ok $((++tap_count)) $*"
	tap_failed=$((tap_failed + 1))
}

# skip NAME WHY...
skip() {
	echo "ok $((++tap_count)) $1 # SKIP ${*:2}"
}

# die WHY...: the suite cannot go on.
die() {
	not_ok "${SUITE:-suite} can go on: $*"
	exit 1
}

# The guest looks at its kernel's log around each test; the host's is not ours.
dmesg_lines() { echo 0; }
dmesg_clean_since() { :; }
dmesg_tests_since() { :; }

# run_limited SECONDS COMMAND...: COMMAND may be a function; it gets a process group of
# its own, and all of that dies when the time is up. 124 then.
run_limited() {
	local limit=$1 pid waker rc=0

	shift
	set -m	# a subshell has lost it
	("$@") &
	pid=$!
	(
		sleep "$limit"
		: >"$WORK/late.$pid"
		kill -TERM -- "-$pid" && sleep 3
		kill -KILL -- "-$pid"
	) >/dev/null 2>&1 &
	waker=$!
	{
		wait "$pid" || rc=$?
		kill -KILL -- "-$waker"
		wait "$waker"
	} 2>/dev/null
	[ ! -e "$WORK/late.$pid" ] || rc=124
	return $rc
}

# run_case NAME COMMAND...: one test. It fails with COMMAND's status, by taking longer
# than CASE_TIMEOUT, or by what the kernel says meanwhile. Then the last CASE_LINES are shown of what
# it said.
run_case() {
	local name=$1 log=$WORK/case.log lines rc=0 began=$SECONDS

	shift
	lines=$(dmesg_lines)
	run_limited "$CASE_TIMEOUT" "$@" >"$log" 2>&1 </dev/null || rc=$?
	[ $((SECONDS - began)) -lt 5 ] || diag "$((SECONDS - began)) s: $name"
	if [ $rc != 0 ]; then
		diag "status $rc of: $*"
		diag_file "$log" "$CASE_LINES"
		not_ok "$name"
	elif ! dmesg_clean_since "$lines"; then
		not_ok "$name (kernel log)"
	else
		said_counters "$log"
		ok "$name"
	fi
	return $rc
}

# said_counters FILE: what was counted and is excused, of a test that passes.
said_counters() { sed -nE 's/^[^ ]+ (also )?counted [a-z_]+ \+[0-9]/#   &/p' "$1"; }

# gtest_filter GLOB: as GoogleTest wants it. A person writes RcOrder.* and means
# Ip/RcOrder.Name/V4 as well.
gtest_filter() {
	local wider='s,[^:]+,&:*/&:&/*:*/&/*,g'

	sed -E "$wider" <<<"${1%%-*}" | tr -d '\n'
	[[ $1 != *-* ]] || sed -E "$wider" <<<"${1#*-}" | sed 's/^/-/' | tr -d '\n'
	echo
}

# run_gtest PROGRAM [ARG...]: each test of a GoogleTest program is a test of ours. Also
# those that never ran because the program died. SRN_FILTER takes the place of the
# program's own filter.
run_gtest() {
	local program=$1 log=$WORK/gtest.log lines rc=0 name filter=() unstable

	name=$(basename "$program")
	[ -z "${SRN_FILTER-}" ] || filter=("--gtest_filter=$(gtest_filter "$SRN_FILTER")")
	: >"$WORK/unstable"
	lines=$(dmesg_lines)
	run_limited "${GTEST_TIMEOUT:-$((600 * SLOW))}" "$@" ${filter[@]+"${filter[@]}"} \
		>"$log" 2>&1 </dev/null || rc=$?
	# Not in $(): there what run_limited starts gets no process group, and can't be ended.
	[ $rc != 1 ] || unstable_tests "$log" "$@" >"$WORK/unstable"
	unstable=$(cat "$WORK/unstable")
	awk -v program="$name" -v status="$rc" -v filter="${SRN_FILTER-}" -v unstable="$unstable" \
		-f "$SRN_TREE/selftests/lib/gtest2tap.awk" "$log" >"$WORK/tap"
	renumber "$WORK/tap"
	[ -z "$unstable" ] || [ "$unstable" != "$(failed_tests "$log" | cut -d' ' -f1)" ] || rc=0
	if ! dmesg_clean_since "$lines"; then
		diag "reported during: $(dmesg_tests_since "$lines" | tr '\n' ' ')"
		not_ok "$name: kernel log"
		rc=97
	fi
	return $rc
}

# A test that depends on time fails once in some thousand runs, since the machine stood still, and of
# thousands of tests one does in each run. Where a suite has said MAY_BE_LATE=1, a test that fails in the
# default run is run again by itself. If it passes each time it is told as unstable, with all that it said
# when it failed, and the runner bears few of these (results.sh). Nothing is run again where a person chose
# the tests, in the long run, for mutants, where more than two failed, where anything else is wrong with
# the program, its status included; and what the kernel reports is a failure all the same.
unstable_times=3
unstable_most=2

# failed_tests LOG: 'NAME MILLISECONDS' of each, if they are all that GoogleTest found wrong; else none.
failed_tests() {
	local num

	num=$(sed -nE 's/^\[  FAILED  \] ([0-9]+) tests?, listed below:$/\1/p' "$1")
	! grep -q '^ *[0-9]* FAILED TEST SUITE' "$1" || return 0
	! fails_outside "$1" || return 0
	sed -nE 's/^\[  FAILED  \] ([^ ,]+).* \(([0-9]+) ms\)$/\1 \2/p' "$1" >"$WORK/failed"
	[ "$(wc -l <"$WORK/failed")" != "$num" ] || cat "$WORK/failed"
}

# fails_outside LOG: something failed that is no test: an environment, a listener.
fails_outside() {
	awk '/^\[ RUN      \] / { inside = 1 }
		!inside && /: Failure$/ { found = 1 }
		/^\[ .* ms\)$/ { inside = 0 }
		END { exit !found }' "$1"
}

# unstable_tests LOG PROGRAM [ARG...]: those of failed_tests that pass now. A filter behind the
# program's own is the one that counts.
unstable_tests() {
	local failed test ms

	[ -n "${MAY_BE_LATE-}" ] && [ -z "${SRN_FILTER-}${SRN_LONG-}${SRN_STRICT-}${GTEST_FAIL_FAST-}" ] ||
		return 0
	mapfile -t failed < <(failed_tests "$1")
	shift
	[ ${#failed[@]} -le $unstable_most ] || return 0
	for test in ${failed[@]+"${failed[@]}"}; do
		ms=${test#* }
		! passes_again "${test% *}" $(((10 + ms / 300) * SLOW)) "$@" || echo "${test% *}"
	done
}

# passes_again TEST SECONDS PROGRAM [ARG...]
passes_again() {
	local test=$1 limit=$2 i

	shift 2
	for ((i = 0; i < unstable_times; i++)); do
		run_limited "$limit" "$@" "--gtest_filter=$test" >"$WORK/again.log" 2>&1 </dev/null &&
			grep -q '^\[  PASSED  \] 1 test' "$WORK/again.log" || return
	done
}

# renumber FILE: TAP lines into this suite's count; of a file, as a pipe's end has no variables of ours.
renumber() {
	local line

	while IFS= read -r line; do
		case $line in
		'ok - '*) echo "ok $((++tap_count)) ${line#ok - }" ;;
		'not ok - '*) not_ok "${line#not ok - }" ;;
		*) echo "$line" ;;
		esac
	done <"$1"
}

# tree_files: what is, or will be, in the repository.
tree_files() {
	git ls-files -co --exclude-standard 2>/dev/null ||
		find . -type f ! -path './build/*' ! -path './.git/*' | sed 's,^\./,,'
}

# suite_end: the last word of a suite.
suite_end() {
	rm -rf "$WORK"
	[ $tap_failed = 0 ] || exit 1
	exit 0
}
