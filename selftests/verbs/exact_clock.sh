# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For suites whose machine's clock counts its instructions (CLOCK=instructions). Where such a machine
# idles, its clock goes by its host's, and timers are late by what else runs there: so something runs
# whenever nothing does.

# run_on_exact_clock PROGRAM ARGS...: as run_gtest, and shows the figures that the tests print
run_on_exact_clock() {
	local filler

	chrt --idle 0 sh -c 'while :; do :; done' &
	filler=$!
	run_gtest "$@"
	kill $filler
	grep '^# ' "$WORK/gtest.log" | while read -r _ line; do diag "$line"; done
}
