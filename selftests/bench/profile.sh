# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Where the instructions of a request go: perf samples the counted machine, one sample for each 50,000
# of them. Sampling makes a request about 5 % dearer, evenly.
: "${srnbench:?}" "${counted_rounds:?}" "${counted_seconds:?}"

# sampled DIRECTORY WORKLOAD [OPTION...]: leaves the table and the samples there, for rooms.awk.
sampled() {
	mkdir -p "$1"
	perf record -q -a -e cpu-clock -F 20000 -o "$WORK/perf.data" "$srnbench" --pair "srn=${PAIR:-srn0,srn1}" \
		--rounds "$counted_rounds" --seconds "$counted_seconds" --only "$2" "${@:3}" >"$1/table" &&
		perf report -q -i "$WORK/perf.data" --kallsyms=/proc/kallsyms -F sample,comm,dso,sym -t '|' \
			--stdio >"$1/samples"
}

# profile DIRECTORY [WORKLOAD]: each row of messages, and of what comes before them, or those that begin
# so. The memory of an idle QP is nothing that can be sampled.
profile() {
	local row rows n=0 kind

	sysctl -q kernel.perf_event_paranoid=-1 kernel.kptr_restrict=0 \
		kernel.perf_event_max_sample_rate=100000 kernel.perf_cpu_time_max_percent=0
	for kind in "" --setup; do
		mapfile -t rows < <("$srnbench" $kind --list)
		for row in "${rows[@]}"; do
			[[ $row = "${2-}"* && $row != 'idle QP'* ]] || continue
			sampled "$1/$((++n))" "$row" $kind || return
		done
	done
	[ $n != 0 ]
}
