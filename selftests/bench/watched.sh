# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Where the time of two VMs goes while something flows between them: some seconds of it are sampled in both, and the
# host says (clocks) what time it gave to each of their threads meanwhile. run makes a table of it.

# The caller's: where a program's words go, and the port that it listens on.
: "${log:?}" "${port:?}"
watched_rows="srn, write 64 KiB;srn, read 64 KiB;rxe, write 64 KiB;"
watched_seconds=${SECONDS_EACH:-8} watched_count=0

can_watch() {
	sysctl -q kernel.perf_event_paranoid=-1 kernel.kptr_restrict=0 kernel.perf_cpu_time_max_percent=0
}

# crossing PACKETS: so many have crossed eth0 by now.
crossing() {
	[ $(($(</sys/class/net/eth0/statistics/rx_packets) + $(</sys/class/net/eth0/statistics/tx_packets))) -gt "$1" ]
}

# edge BEGIN|END DIRECTORY: of what is watched. vm2 asks the host.
edge() {
	moved_now >"$WORK/$1"
	[ "$ME" = 2 ] || return 0
	: >"$VM/ask.$1"
	wait_file "$VM/clocks.$1" 20 && mv "$VM/clocks.$1" "$2/"
}

# start_sampler: perf, which takes its time to begin, waits to be told.
start_sampler() {
	rm -f "$WORK"/perf.{data,ask,ack}
	mkfifo "$WORK"/perf.{ask,ack} && exec {ask}<>"$WORK/perf.ask" {ack}<>"$WORK/perf.ack" || return
	perf record -q -a -N -B -e cpu-clock -F 499 -D -1 --control "fifo:$WORK/perf.ask,$WORK/perf.ack" \
		-o "$WORK/perf.data" >"$WORK/perf.log" 2>&1 &
	sampler=$!
	tell_sampler ping || { kill $sampler; tail -n 3 "$WORK/perf.log"; return 1; }
}

# tell_sampler enable|disable|ping: and it has done so.
tell_sampler() {
	local word

	echo "$1" >&"$ask" && read -rt 180 -u "$ack" word && [ "$word" = ack ]
}

# keep_samples DIRECTORY: what it saw, for the host, which makes a report of it sooner.
keep_samples() {
	kill $sampler
	wait $sampler 2>/dev/null
	exec {ask}>&- {ack}>&-
	cat /proc/kallsyms >"$1/kallsyms.$ME" && cp "$WORK/perf.data" "$1/perf.$ME" && return
	tail -n 3 "$WORK/perf.log"
	return 1
}

# start_flow SERVER CLIENT: the command of this end. True if something flows.
start_flow() {
	local command=$2 far

	far=$(($(</sys/class/net/eth0/statistics/rx_packets) + $(</sys/class/net/eth0/statistics/tx_packets) + 3000))
	[ "$ME" = 2 ] || command=$1
	[ "$ME" = 1 ] || barrier ready || return
	$command >"$log" 2>&1 &
	flow=$!
	[ "$ME" = 2 ] || { wait_for -t 60 listening "$port" && barrier ready; } || return
	wait_for -t 60 crossing $far
}

# watched ROW SERVER CLIENT: commands as of between, which need not end by themselves.
watched() {
	local dir=$VM/profile/$((++watched_count)) sampler flow ask ack

	mkdir -p "$dir" && echo "$1" >"$dir/row"
	start_sampler && barrier sampler || return
	start_flow "$2" "$3" || { echo "$1: nothing flows"; tail -n 3 "$log"; return 1; }
	barrier flows && tell_sampler enable && edge begin "$dir" && sleep "$watched_seconds" &&
		edge end "$dir" && tell_sampler disable && barrier seen || return
	kill $flow 2>/dev/null || { echo "$1: it ended before"; tail -n 3 "$log"; return 1; }
	wait $flow 2>/dev/null
	moved_between "$WORK/begin" "$WORK/end" >"$dir/moved.$ME"
	echo "$1: $(moved_line <"$dir/moved.$ME")"
	keep_samples "$dir" && barrier watched
}
