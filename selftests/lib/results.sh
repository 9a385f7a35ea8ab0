# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The runner's results: counts TAP lines, remembers what failed and what took how long, and
# writes the end of the report.

passed=0 failed=0 skipped=0
hits=0		# results of tests, not of the runner's own steps
failed_here=0	# of the suite that was counted last
failures=()
unstable=()	# tests that failed, and passed when they were run again (tap.sh)
unstable_borne=3	# so many of a whole run; more are a failure
unplanned=()	# results that no plan names, suites without a plan
spent=()	# 'SECONDS WHAT' for each step of the runner

title() { printf '\n== %s\n' "$*"; }

pass() { passed=$((passed + 1)); }

fail() {
	failed=$((failed + 1))
	failures+=("$1")
	echo "not ok $1"
}

# check NAME COMMAND...: a step of the runner's own as a test.
check() {
	local name=$1 began=$SECONDS rc=0

	shift
	"$@" || rc=1
	took $((SECONDS - began)) "$name"
	if [ $rc = 0 ]; then pass; else fail "$name"; fi
}

# took SECONDS WHAT: says and keeps how long a step took.
took() {
	spent+=("$1 $2")
	echo "$2: $1 s"
}

# count SUITE SECONDS TAPFILE...: adds up the TAP lines, shows what failed with what was
# said right before it. Sets failed_here.
count() {
	local name=$1 seconds=$2 line comments='' p=0 f=0 s=0

	shift 2
	while IFS= read -r line; do
		case $line in
		'ok '*'# SKIP'*)
			s=$((s + 1))
			comments=''
			;;
		'ok '*'# UNSTABLE')
			p=$((p + 1))
			unstable+=("$name: ${line#ok }")
			printf '%sunstable %s: %s\n' "$comments" "$name" "${line#ok }"
			comments=''
			;;
		'ok '*)
			p=$((p + 1))
			comments=''
			;;
		'not ok '*)
			f=$((f + 1))
			failures+=("$name: ${line#not ok }")
			printf '%snot ok %s: %s\n' "$comments" "$name" "${line#not ok }"
			comments=''
			;;
		*) comments+="$line"$'\n' ;;
		esac
	done < <(cat "$@")
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
	failed_here=$f
	printf '%s: %d passed, %d failed, %d skipped, %s s\n' "$name" $p $f $s "$seconds"
}

# settle SUITE STATUS SECONDS TAPFILE...: a suite has ended. Without a result, or with a
# status that no failed test explains, it failed.
settle() {
	local name=$1 status=$2 results

	shift 2
	count "$name" "$@"
	shift
	# The runner's own lines, on the kernel's log and so on, have no number and are no
	# results.
	results=$(cat "$@" | grep -cE '^(not )?ok [0-9]')
	hits=$((hits + results))
	if [ "$results" = 0 ] && [ "$status" = 0 ] && filtered_out "$@"; then
		echo "$name: no test matches '$SRN_FILTER'"
	elif [ "$results" = 0 ]; then
		cat "$@"
		fail "$name: no result, status $status"
	elif [ "$status" != 0 ] && [ $failed_here = 0 ]; then
		tail -n 20 "$@"
		fail "$name: status $status"
	fi
	keep_to_plan "$name" "$@"
}

# filtered_out TAPFILE...: the suite said that it has tests, and SRN_FILTER none of them.
filtered_out() {
	[ -n "${SRN_FILTER-}" ] && cat "$@" | grep -q '^# filter: no test of '
}

# list TITLE LINE...: nothing without a line.
list() {
	[ $# -gt 1 ] || return 0
	title "$1"
	shift
	printf '%s\n' "$@"
}

# judge_unstable: few are borne, and none that is so twice, of which chance is no likely reason.
judge_unstable() {
	local test

	[ ${#unstable[@]} != 0 ] || return 0
	if [ ${#unstable[@]} -gt $unstable_borne ]; then
		fail "${#unstable[@]} tests are unstable, and at most $unstable_borne may be"
	fi
	while read -r test; do
		fail "$test is unstable more than once"
	done < <(printf '%s\n' "${unstable[@]}" | sed -E 's/^[^:]*: [0-9]+ //;s/ # UNSTABLE$//' | sort | uniq -d)
}

# report LOGS [LEFT-OUT...]: the end of all; its last line is the sum. True if nothing
# failed.
report() {
	local logs=$1 line

	shift
	if [ -n "${SRN_FILTER-}" ] && [ $hits = 0 ]; then
		fail "no test matches SRN_FILTER='$SRN_FILTER'"
	fi
	judge_unstable
	list "not run without SRN_LONG=1" "$@"
	list "not as planned (SRN_PLAN=1 writes plans anew)" ${unplanned[@]+"${unplanned[@]}"}
	title "$SECONDS s, logs in $logs"
	for line in ${spent[@]+"${spent[@]}"}; do
		printf '%6d s  %s\n' "${line%% *}" "${line#* }"
	done
	list "${#unstable[@]} unstable: failed, then passed by themselves (selftests/README.rst)" \
		${unstable[@]+"${unstable[@]}"}
	# Last, where a report's end is all that is kept of it.
	list "failed" ${failures[@]+"${failures[@]}"}
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed = 0 ]
}
