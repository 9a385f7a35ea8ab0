# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What gcov counted, of several boots and of programs on the host, as one figure.
: "${out:?}" "${unreached:?}"

quiet_lcov() {
	lcov --quiet "$@" 2>>"$out/lcov.log" || { echo "coverage: lcov failed ($out/lcov.log)"; return 1; }
}

# capture WHAT NUMBER OBJECTS...: the counts that lie beside the objects, which go.
capture() {
	local what=$1 number=$2 dir args=()

	shift 2
	[ -n "$(find "$@" -name '*.gcda' -print -quit)" ] || return 0
	for dir; do
		args+=(--directory "$dir")
	done
	quiet_lcov --capture "${args[@]}" --output-file "$out/$what.$number.info" || return
	find "$@" -name '*.gcda' -delete
}

# fetch_counts FROM OBJECTS...: what a machine left, under the whole path of each object.
fetch_counts() {
	local from=$1 dir

	shift
	for dir; do
		[ ! -d "$from$dir" ] || rsync -r --include='*/' --include='*.gcda' --exclude='*' \
			"$from$dir/" "$dir/"
	done
}

# add_up WHAT KEEP LEAVE-OUT OBJECTS...: sets $out/WHAT.info: of what was counted on the host and
# in check/bootN/counts.*, one after the other, the files that match KEEP and not LEAVE-OUT.
add_up() {
	local what=$1 keep=$2 drop=$3 dir number=0 parts=() info

	shift 3
	rm -f "$out/$what".*info
	capture "$what" host "$@" || return
	for dir in "$out"/check/boot*/counts.*; do
		fetch_counts "$dir" "$@"
		capture "$what" $((++number)) "$@" || return
	done
	for info in "$out/$what".*.info; do
		[ ! -e "$info" ] || parts+=(--add-tracefile "$info")
	done
	[ ${#parts[@]} != 0 ] || { echo "coverage: no counts of the $what"; return 1; }
	quiet_lcov "${parts[@]}" --output-file "$out/$what.sum" &&
		quiet_lcov --extract "$out/$what.sum" "$keep" --output-file "$out/$what.sum" &&
		quiet_lcov --remove "$out/$what.sum" "$drop" --output-file "$out/$what.info"
}

# missed WHAT: FILE:LINE of each line that never ran.
missed() {
	awk -F'[:,]' '/^SF:/ { n = split($2, part, "/"); file = part[n] }
		/^DA:/ && $3 == 0 { print file ":" $2 }' "$out/$1.info"
}

# never_called WHAT: FILE: FUNCTION.
never_called() {
	awk -F'[:,]' '/^SF:/ { n = split($2, part, "/"); file = part[n] }
		/^FNDA:0,/ { print file ": " $3 }' "$out/$1.info" | c++filt | LC_ALL=C sort -u
}

# judge_functions WHAT: true if the list of the unreached has each function that nobody called. What
# it has of others is said.
judge_functions() {
	local what=$1 never known line function

	never_called "$what" >"$out/$what.never"
	mapfile -t never <"$out/$what.never"
	echo "functions of the $what that nobody called: ${#never[@]}"
	while IFS= read -r line; do
		known=()
		for function in ${never[@]+"${never[@]}"}; do
			# shellcheck disable=SC2053 # the list has patterns
			[[ $function != ${line%% # *} ]] || known+=("$function")
		done
		if [ ${#known[@]} != 0 ]; then
			echo "  $line"
			printf '%s\n' "${known[@]}" >>"$out/$what.known"
		elif grep -q "^SF:.*/${line%%:*}\$" "$out/$what.info"; then
			echo "  $line: but all of it is called"
		fi
	done < <(sed '/^#/d' "$unreached")
	touch "$out/$what.known"
	LC_ALL=C sort -u "$out/$what.known" | LC_ALL=C comm -23 "$out/$what.never" - >"$out/$what.new"
	rm "$out/$what.known"
	[ -s "$out/$what.new" ] || return 0
	sed 's/^/  /;1i these are not in the list:' "$out/$what.new"
	return 1
}

# judge WHAT GOAL: the figure, and true if it is not below the goal.
judge() {
	local what=$1 goal=$2

	missed "$what" >"$out/$what.missed"
	awk -F: -v what="$what" -v goal="$goal" '
		/^LF:/ { lines += $2 }
		/^LH:/ { hit += $2 }
		END {
			percent = lines ? 100 * hit / lines : 0
			printf "coverage of the %s: %.1f %% of %d lines (goal %s %%)\n",
				what, percent, lines, goal
			exit !(percent >= goal)
		}' "$out/$what.info"
}
