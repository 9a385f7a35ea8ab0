# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Which results a suite must have: plan/ROOM.NAME.KERNEL has their names, sorted, one a line, and
# "# SKIP why" behind those that are skipped there. What the plan names and nobody reports has
# failed, and so has a skip that it does not name: a suite that ends early, and tests that find a
# reason not to run, would else only make the sum smaller. So has a result that it does not name,
# which could vanish again, and a suite without a plan. SRN_PLAN=1 writes plans anew, of suites
# without a failure.
#
# In three cases a plan names the least that there must be, and more is only said: with SRN_FILTER;
# the usual plan for a suite that makes more with SRN_LONG, where there is none for that; and the usual
# plan for a suite that SRN_ROUNDS tells how many rounds to make, of which it may be too few.
: "${here:?}" "${failed_here?}"

plans=$here/plan

# plan_of NAME: its file. NAME is 'ROOM/NAME' of a suite on the host, 'ROOM/NAME [KERNEL]' of
# others.
plan_of() {
	local suite=${1%% *} kernel=host long=''

	[[ $1 != *' ['*']' ]] || { kernel=${1##*[} && kernel=${kernel%]}; }
	[ -z "${SRN_LONG-}" ] || ! reads "$suite" SRN_LONG || has_own_rounds "$1" || long=.long
	[ -n "${SRN_PLAN-}" ] || [ -e "$plans/${suite//\//.}.$kernel$long" ] || long=
	echo "$plans/${suite//\//.}.$kernel$long"
}

# reads SUITE VARIABLE
reads() { grep -q "$2" <(grep -v '^#' "$here/$1.suite" 2>/dev/null); }

# The rounds of this run are not those of a plan.
has_own_rounds() { [ -n "${SRN_ROUNDS-}" ] && reads "${1%% *}" SRN_ROUNDS; }

# names_the_least NAME PLAN: there may be more than the plan has.
names_the_least() {
	[ -n "${SRN_FILTER-}" ] || has_own_rounds "$1" ||
		{ [ -n "${SRN_LONG-}" ] && reads "${1%% *}" SRN_LONG && [[ $2 != *.long ]]; }
}

# A suite whose results have no names of their own says so, and why: PLAN=no: WHY.
has_no_plan() { [[ $(header "$here/${1%% *}.suite" PLAN yes 2>/dev/null) = no* ]]; }

# results_of TAPFILE...: as a plan has them. Lines of the runner have no number.
results_of() { cat "$@" | sed -nE 's/ # UNSTABLE$//;s/^(not )?ok [0-9]+ (- )?//p' | LC_ALL=C sort; }
passes_of() { cat "$@" | sed -nE 's/ # UNSTABLE$//;s/^ok [0-9]+ (- )?//p' | LC_ALL=C sort; }

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
	elif [ -e "$plan" ]; then
		compare_skips "$name" "$plan" "$results"
		passes_of "$@" >"$results.ok"
		find_unplanned "$name" "$plan" "$results.ok"
		find_missing "$name" "$plan" "$results"
	else
		compare_skips "$name" /dev/null "$results"
		has_no_plan "$name" || lacks_plan "$name"
	fi
	rm -f "$results" "$results.ok"
}

write_plan() {
	[ "$failed_here" = 0 ] && [ -z "${SRN_FILTER-}" ] && ! has_own_rounds "$1" &&
		! has_no_plan "$1" || return 0
	mkdir -p "$plans"
	{ printf '# %s: GPL-2.0-only\n' SPDX-License-Identifier && cat "$3"; } >"$2"
}

compare_skips() {
	local name=$1 plan=$2 results=$3 test

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

# find_unplanned SUITE PLAN PASSED: what failed is a failure already, under whatever name.
find_unplanned() {
	local name=$1 plan=$2 new

	new=$(only_in <(names "$3") <(names "$plan"))
	[ -n "$new" ] || return 0
	if names_the_least "$name" "$plan"; then
		mapfile -t -O ${#unplanned[@]} unplanned < <(sed "s|^|$name: |;s|\$|: is in no plan|" <<<"$new")
		return
	fi
	printf '# in no plan: %s\n' "${new//$'\n'/$'\n# in no plan: '}"
	fail "$name: $(wc -l <<<"$new") results are not in $(basename "$plan") (SRN_PLAN=1 writes it anew)"
}

# find_missing SUITE PLAN RESULTS: what a failure kept from running is none of its own.
find_missing() {
	local name=$1 plan=$2 missing

	[ "$failed_here" = 0 ] && [ -z "${SRN_FILTER-}" ] || return 0
	missing=$(only_in <(names "$plan") <(names "$3"))
	! has_own_rounds "$name" || missing=$(grep -vxE 'round [0-9]+' <<<"$missing")
	[ -n "$missing" ] || return 0
	printf '# no result: %s\n' "${missing//$'\n'/$'\n# no result: '}"
	fail "$name: $(wc -l <<<"$missing") planned results are missing"
}
