# SPDX-License-Identifier: GPL-2.0-only
#
# What 64 KiB between two VMs cost their host, in microseconds of its processors, of which watched.sh has some seconds:
# a table of a row. Lines of the input:
#
#	row|NAME
#	share|VM|ROOM|SAMPLES		by rooms.awk, of all VM's vCPUs, those that were idle among them
#	moved|NAME|DIFFERENCE		of moved.sh, by vm2
#	begin|... and end|...		by clocks
#
# What a vCPU took as a program of the host's is parted as the samples in it are that were not idle; what it took in the
# host's kernel is named by itself. A guest does not see when it waits for a processor: that is in no room, and a
# sample of an idle vCPU is time, not a processor's. 64 KiB are those of frames, headers and all, in the direction
# that has more.

BEGIN { FS = "|" }

function kind(thread) { return thread ~ /^CPU / ? "vCPUs" : thread ~ /^qemu/ ? "main loop" : "other threads" }

# line NAME: microseconds of both VMs, by what each() says.
function line(name, one, two) { printf "  %-40s%10.0f%10.0f\n", name, one, two }

function each(vm, what) { return took[vm, what] / messages }

# in_room VM ROOM
function in_room(vm, room) {
	if (!(samples[vm] - idle[vm]))
		return 0
	return each(vm, "vCPUs, user") * share[vm, room] / (samples[vm] - idle[vm])
}

$1 == "row" { row = $2 }
$1 == "share" {
	samples[$2] += $4
	if ($3 == "idle")
		idle[$2] += $4
	else {
		share[$2, $3] += $4
		rooms[$3]
	}
}
$1 == "moved" { moved[$2] = $3 }
$1 == "begin" { sign = -1 }
$1 == "end" { sign = 1 }
# Of a thread that ended meanwhile nobody knows what it took: that is in "beside QEMU".
$2 == "thread" && sign < 0 {
	user[$3, $4] = $6
	kernel[$3, $4] = $7
	waited[$3, $4] = $8
}
$2 == "thread" && sign > 0 {
	took[$3, kind($5) ", user"] += $6 - user[$3, $4]
	took[$3, kind($5) ", kernel"] += $7 - kernel[$3, $4]
	took[$3, kind($5) ", waited"] += $8 - waited[$3, $4]
	all += $6 - user[$3, $4] + $7 - kernel[$3, $4]
}
$2 == "host" {
	busy += sign * $3
	unused += sign * $4
	stolen += sign * $5
}
$2 == "time" { time += sign * $3 }

END {
	bytes = moved["rx_bytes"] > moved["tx_bytes"] ? moved["rx_bytes"] : moved["tx_bytes"]
	if (!(bytes * moved["milliseconds"] * time * samples[1] * samples[2])) {
		print "apart.awk: nothing moved, or nobody looked" > "/dev/stderr"
		exit 1
	}
	rate = bytes / moved["milliseconds"] / 1000
	messages = time * rate / 65536
	printf "%s: %.1f MB/s, 64 KiB in %.0f us\n", row, rate, 65536 / rate
	printf "  %-40s%10s%10s\n", "us of the host's processors for 64 KiB", "vm1", "vm2"
	sort = "sort -k 1,1nr | cut -f 2-"
	for (room in rooms)
		printf "%f\t  %-40s%10.0f%10.0f\n", in_room(1, room) + in_room(2, room), room, in_room(1, room),
			in_room(2, room) | sort
	close(sort)
	for (i = split("vCPUs, kernel;main loop, user;main loop, kernel;other threads, user;other threads, kernel",
		       kinds, ";"); i > 0; i--)
		of[i] = kinds[i]
	for (i = 1; i in of; i++)
		line("QEMU: " of[i], each(1, of[i]), each(2, of[i]))
	printf "  %-40s%20.0f\n", "beside QEMU", (busy - all) / messages
	printf "  %-40s%20.0f\n", "idle", unused / messages
	if (stolen)
		printf "  %-40s%20.0f\n", "stolen by the host's own host", stolen / messages
	printf "us of time for 64 KiB\n"
	for (i = 1; i <= 2; i++)
		halted[i] = 65536 / rate * idle[i] / samples[i]
	line("a vCPU was halted", halted[1], halted[2])
	line("vCPUs waited for a processor, both", each(1, "vCPUs, waited"), each(2, "vCPUs, waited"))
	line("the main loop waited for one", each(1, "main loop, waited"), each(2, "main loop, waited"))
}
