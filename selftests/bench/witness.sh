# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# perftest, which knows nothing of srn, as witness of srnbench's main rows; srnbench fold makes the table of
# what it says. Its programs are two processes, one for each end. siw is left out: its QPs connect by rdma_cm
# alone, and there a client of Debian's perftest crashes when it comes before its server listens.
: "${srnbench:?}"

# Rows: a program and its options, what its figure is multiplied by, the unit, which is better.
witness_rows=(
	"write 64 KiB|ib_write_bw -s 65536 -n 1000 --report_gbits --output=bandwidth|125|MB/s|more"
	"send 64 KiB|ib_send_bw -s 65536 -n 1000 --report_gbits --output=bandwidth|125|MB/s|more"
	"read 64 KiB|ib_read_bw -s 65536 -n 1000 --report_gbits --output=bandwidth|125|MB/s|more"
	"write 8 B|ib_write_bw -s 8 -n 5000 --output=message_rate|1000|kop/s|more"
)
# Who polls on the only CPU has it until the scheduler takes it; with events perftest did not end on rxe.
[ -n "${COUNT-}" ] || witness_rows+=("send 2 B, one way|ib_send_lat -s 2 -n 2000 --output=latency|1|us|less")
# Pairs: a device and its address, twice.
witness_pairs=("srn|srn0|10.1.0.1|srn1|10.1.0.2" "rxe|rxe0|10.2.0.1|rxe1|10.2.0.2")
witness_port=21000

# witness DEVICE ADDRESS DEVICE ADDRESS COMMAND...: what COMMAND says at the first device, whose other end is
# the second one, in $WORK/witness.
witness() {
	local a=$1 b=$3 gid_a gid_b log=$WORK/witness command

	gid_a=$(gid_index "$a" "$2") && gid_b=$(gid_index "$b" "$4") || return
	command=(timeout 120 "${@:5}" -F -p $((++witness_port)))
	"${command[@]}" -d "$b" -x "$gid_b" >"$log.server" 2>&1 &
	if ! wait_for listening $witness_port ||
		! "${command[@]}" -d "$a" -x "$gid_a" 127.0.0.1 >"$log" 2>&1; then
		kill $! 2>/dev/null
		wait
		tail -n 3 "$log" "$log.server" >&2
		return 1
	fi
	wait $!
}

# figure_line LOG FACTOR LINE: LINE with the one number that is in LOG.
figure_line() {
	awk -v factor="$2" -v line="$3" '/^ *[0-9.]+ *$/ { figure = $1 * factor }
		END { if (!(figure > 0)) exit 1; printf "%s|%.3f\n", line, figure }' "$1"
}

# witnesses ROUNDS FILE: rounds of all rows, the pairs in turn; a line for each figure in FILE.lines, the
# table's figures in FILE.json.
witnesses() {
	local round row pair name command factor unit better a a_ip b b_ip

	: >"$2.lines"
	for row in "${witness_rows[@]}"; do
		IFS='|' read -r name command factor unit better <<<"$row"
		for ((round = 0; round < $1; round++)); do
			for pair in "${witness_pairs[@]}"; do
				IFS='|' read -r pair a a_ip b b_ip <<<"$pair"
				# shellcheck disable=SC2086 # the options are words
				witness "$a" "$a_ip" "$b" "$b_ip" $command || return
				figure_line "$WORK/witness" "$factor" "$pair|$name|$unit|$better" >>"$2.lines" || return
			done
		done
	done
	"$srnbench" fold "$2.lines" --json "$2.json"
}
