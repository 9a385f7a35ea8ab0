# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Which results a suite must have: plan/ROOM.NAME.KERNEL has their names, sorted, one a line, and
# "# SKIP why" behind those that are skipped there. What the plan names and nobody reports has
# failed, and so has a skip that it does not name: a suite that ends early, and tests that find a
# reason not to run, would else only make the sum smaller. So has a suite without a plan. SRN_PLAN=1
# writes plans anew, of suites without a failure.
: "${here:?}" "${failed_here?}"

plans=$here/plan

# plan_of NAME: its file. NAME is 'ROOM/NAME' of a suite on the host, 'ROOM/NAME [KERNEL]' of
# others. Where a suite has other tests with SRN_LONG, so has its plan; without a plan for that, the
# usual one holds.
plan_of() {
	local suite=${1%% *} kernel=host long=''

	[[ $1 != *' ['*']' ]] || { kernel=${1##*[} && kernel=${kernel%]}; }
	[ -z "${SRN_LONG-}" ] || ! reads_long "$suite" || long=.long
	[ -n "${SRN_PLAN-}" ] || [ -e "$plans/${suite//\//.}.$kernel$long" ] || long=
	echo "$plans/${suite//\//.}.$kernel$long"
}

reads_long() { grep -q 'SRN_LONG' <(grep -v '^#' "$here/$1.suite" 2>/dev/null); }

# A suite whose results are the tree's files says PLAN=no: they have no names of their own.
has_no_plan() { [ "$(header "$here/${1%% *}.suite" PLAN yes 2>/dev/null)" = no ]; }

# results_of TAPFILE...: as a plan has them. Lines of the runner have no number.
results_of() { cat "$@" | sed -nE 's/^(not )?ok [0-9]+ (- )?//p' | LC_ALL=C sort; }

names() { sed '/^#/d;s/ # SKIP.*//' "$1" | LC_ALL=C sort; }
skips() { sed -n '/^#/d;s/ # SKIP.*//p' "$1" | LC_ALL=C sort; }
# only_in A B: lines, both sorted.
only_in() { LC_ALL=C comm -23 "$1" "$2"; }

# keep_to_plan SUITE TAPFILE...
keep_to_plan() {
	local name=$1 plan results

	shift
	plan=$(plan_of "$name")
	results=$(mktemp)
	results_of "$@" >"$results"
	if [ -n "${SRN_PLAN-}" ]; then
		write_plan "$name" "$plan" "$results"
	else
		compare_skips "$name" "$plan" "$results"
		compare_names "$name" "$plan" "$results"
	fi
	rm -f "$results"
}

write_plan() {
	[ "$failed_here" = 0 ] && [ -z "${SRN_FILTER-}" ] && ! has_no_plan "$1" || return 0
	mkdir -p "$plans"
	{ printf '# %s: GPL-2.0-only\n' SPDX-License-Identifier && cat "$3"; } >"$2"
}

compare_skips() {
	local name=$1 plan=$2 results=$3 test

	[ -e "$plan" ] || plan=/dev/null
	while IFS= read -r test; do
		fail "$name: $test: is skipped, which $(basename "$plan") does not expect"
	done < <(only_in <(skips "$results") <(skips "$plan"))
	while IFS= read -r test; do
		unplanned+=("$name: $test: runs, although its skip is expected")
	done < <(LC_ALL=C comm -12 <(skips "$plan") <(only_in <(names "$results") <(skips "$results")))
}

# The long run has suites and kernels of its own, which few people run.
lacks_plan() {
	if [ -n "${SRN_LONG-}" ]; then
		unplanned+=("$1: no plan")
	elif [ "$failed_here" = 0 ] && [ -z "${SRN_FILTER-}" ]; then
		fail "$1: no plan (SRN_PLAN=1 writes one)"
	fi
}

# What a failure kept from running is none of its own.
compare_names() {
	local name=$1 plan=$2 results=$3 test missing

	if [ ! -e "$plan" ]; then
		has_no_plan "$name" || lacks_plan "$name"
		return 0
	fi
	while IFS= read -r test; do
		unplanned+=("$name: $test: is in no plan")
	done < <(only_in <(names "$results") <(names "$plan"))
	[ "$failed_here" = 0 ] && [ -z "${SRN_FILTER-}${SRN_ROUNDS-}" ] || return 0
	missing=$(only_in <(names "$plan") <(names "$results"))
	[ -n "$missing" ] || return 0
	printf '# no result: %s\n' "${missing//$'\n'/$'\n# no result: '}"
	fail "$name: $(wc -l <<<"$missing") planned results are missing"
}
