# SPDX-License-Identifier: GPL-2.0-only
# GoogleTest's own output to TAP lines. Unlike its JSON it is there when the program
# died: -v status= is how it ended, -v program= its name. -v filter= is the person's choice
# of tests: only then may there be none. -v unstable= names those, a line each, that passed when they
# were run again by themselves.

BEGIN {
	for (i = split(unstable, names, "\n"); i > 0; i--)
		passed_again[names[i]]
}

# What a test that passes says of counters is said (clean_path.cc).
function finish(verdict, why) {
	if (verdict == "ok")
		printf "%sok - %s: %s%s\n", said_of_counters, program, running, why
	else if (running in passed_again)
		printf "%sok - %s: %s # UNSTABLE\n", detail, program, running
	else
		printf "%snot ok - %s: %s%s\n", detail, program, running, why
	running = ""
	detail = ""
	said_of_counters = ""
}

/^\[==========\] Running [0-9]+ tests?/ { planned = $3; said = 1 }

/^\[ RUN      \] / { running = $4; detail = ""; seen++; next }

running != "" && /^\[ .* ms\)$/ { took = $0; gsub(/.*\(| ms\)/, "", took); ms[running] = took + 0 }
running != "" && /^\[       OK \] / { finish("ok", ""); next }
running != "" && /^\[  FAILED  \] / { failed++; finish("not ok", ""); next }
running != "" && /^\[  SKIPPED \] / {
	why = last
	finish("ok", " # SKIP " why)
	next
}

running != "" && /^# .* counted / { said_of_counters = said_of_counters $0 "\n" }
running != "" { detail = detail "#   " $0 "\n"; last = $0 }

# longest(): a suite's time is that of few tests.
function longest(   i, name, top) {
	for (i = 0; i < 10; i++) {
		top = ""
		for (name in ms)
			if (ms[name] >= 1000 && (top == "" || ms[name] > ms[top]))
				top = name
		if (top == "")
			return
		printf "# %d ms: %s\n", ms[top], top
		delete ms[top]
	}
}

END {
	longest()
	if (running != "") {
		failed++
		finish("not ok", " (the program ended in it, status " status ")")
	}
	for (; seen < planned; seen++)
		printf "not ok - %s: never ran\n", program
	if (said && !planned && status == 0 && filter != "")
		printf "# filter: no test of %s matches %s\n", program, filter
	else if (!planned)
		printf "not ok - %s: ran no test, status %s\n", program, status
	else if (status != 0 && !failed)
		printf "not ok - %s: status %s\n", program, status
}
