# SPDX-License-Identifier: GPL-2.0-only
# KUnit's KTAP, without the time stamps, to TAP lines: one for each test case. Rows of a
# parameterised test are shown when they fail, and counted as their test. -v filter= is the
# person's choice of tests: only then may there be none.

/^ +# Subtest: / && !/^        / { suite = $3; suites++; detail = ""; planned = began = 0; next }

/^    1\.\.[0-9]+/ { planned = substr($1, 4) + 0; next }

/^    (not )?ok [0-9]+ / {
	verdict = /^    not ok/ ? "not ok" : "ok"
	name = $0
	sub(/^ *(not )?ok [0-9]+ (- )?/, "", name)
	if (verdict == "not ok")
		printf "%s", detail
	printf "%s - %s.%s\n", verdict, suite, name
	cases++
	began++
	detail = ""
	next
}

# The verdict on the suite: nothing of its own, but a suite without a verdict ended early.
/^(not )?ok [0-9]+ / {
	if (suite != "" && began != planned)
		printf "not ok - %s: %d cases of %d\n", suite, began, planned
	verdicts++
	suite = ""
	next
}

suite != "" { detail = detail "#   " $0 "\n" }

END {
	if (!suites && filter != "")
		printf "# filter: no test of KUnit matches %s\n", filter
	else if (!cases)
		print "not ok - no KUnit case in the kernel's log"
	else if (verdicts < suites)
		printf "not ok - %d suites began, %d ended\n", suites, verdicts
}
