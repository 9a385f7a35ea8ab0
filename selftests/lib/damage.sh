# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# RC repairs what is lost, so programs pass that compare every byte while packets are lost. The
# counters tell: those that ../share/counters does not name may not move in a test that loses
# nothing on purpose.
: "${SRN_TREE:?}" "${WORK:?}"

# of_kind KIND...: the counters of these kinds, with a blank around each.
of_kind() {
	awk -v wanted=" $* " '/^[^#]/ {
		for (i = 2; i <= NF; i++)
			if (index(wanted, " " $i " ")) {
				printf " %s ", $1
				next
			}
	}' "$SRN_TREE/selftests/share/counters"
}
harmless=" lifespan $(of_kind traffic speed)" order=$(of_kind order)

# damage_now: 'DEVICE COUNTER VALUE' of each counter of damage. A device of another driver has
# none that is known. harmless_now: the others, which may say why.
damage_now() { counters_now is_damage; }
harmless_now() { counters_now is_harmless; }
is_harmless() { [[ $harmless = *" $1 "* ]]; }
is_damage() { ! is_harmless "$1"; }

# counters_now WHICH
counters_now() {
	local dir device file value

	for dir in /sys/class/infiniband/*/ports/1/hw_counters; do
		[ -e "$dir/sent_trains" ] || continue
		device=${dir#/sys/class/infiniband/}
		for file in "$dir"/*; do
			"$1" "${file##*/}" || continue
			{ read -r value <"$file"; } 2>/dev/null && echo "${device%%/*} ${file##*/} $value"
		done
	done
}

# damage_between BEFORE AFTER: what grew. A device that was not there before began with zeros.
damage_between() {
	awk 'FILENAME == ARGV[1] { before[$1, $2] = $3; next }
		$3 > before[$1, $2] + 0 { print $1 " counted " $2 " +" $3 - before[$1, $2] }' "$@"
}

# What is excused and what is harmless, a share of the traffic at most: else RC could lose each
# train once, and pass. 'COUNTER:OF', one in repair_share; more where keeps_order
# is false, as between emulated machines, which are late when their host is busy, and then send again
# what nobody has lost. A machine that stands still for a while sends much again: the floor. And a
# receiver that is not ready has the message sent again each time it says so, with what is behind it.
repairs="retransmitted_pkts:sent_pkts duplicate_request:rcvd_pkts"
repair_share() { if keeps_order; then echo 10; else echo 3; fi; }
repair_floor=64
repair_for_rnr=4

# repaired_too_much BEFORE AFTER: of all counters. A link that is made anew begins with zeros again.
repaired_too_much() {
	awk -v pairs="$repairs" -v share="$(repair_share)" -v floor=$repair_floor -v rnr=$repair_for_rnr '
		FILENAME == ARGV[1] { before[$1, $2] = $3; next }
		{
			grown[$1, $2] = $3 - ($3 < before[$1, $2] ? 0 : before[$1, $2])
			devices[$1]
		}
		END {
			for (i = split(pairs, pair, " "); i > 0; i--) {
				split(pair[i], name, ":")
				for (device in devices) {
					again = grown[device, name[1]]
					all = grown[device, name[2]]
					others = again - rnr * grown[device, "rnr_nak_retry_err"]
					if (others > floor && others * share > all)
						print device " counted " name[1] " +" again ", too many for " all " " name[2]
				}
			}
		}' "$@"
}

# resent_fits SENT AGAIN MISSED PROBES TIMEOUTS: packets sent, again of these, NAKs of a gap, probes and
# timeouts, where nothing was lost: what is sent again are probes, and for four at most one packet that an
# answer to them shows missing, as it was still waiting to be coupled. But a machine that stands still for a while
# sends more of these, and lets a queue pair time out, which then sends its window again: 256 packets at
# most. That is rare, or else the wire loses what nobody should lose.
resent_fits() {
	[ "$5" -le 2 ] && [ "$4" -le $(($1 / 33 + 8)) ] || return
	if [ "$5" = 0 ]; then
		[ "$3" = 0 ] && [ "$2" -ge "$4" ] && [ "$2" -le $(($4 + ($4 + 3) / 4)) ]
	else
		[ "$2" -le $(($4 + $5 * 256)) ]
	fi
}

# rnr_naks: how many all devices have sent. What a peer sends behind a message that has to wait is out
# of sequence.
rnr_naks() {
	cat /sys/class/infiniband/*/ports/1/hw_counters/send_rnr_err 2>/dev/null |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# note_damage FILE: what no_damage_since FILE compares with.
note_damage() {
	damage_now >"$1"
	harmless_now >"$1.harmless"
	rnr_naks >"$1.naks"
}

# excused CPUS: of lines of damage_between, those that tell of packets out of their order, where that
# may be: with more than one CPU, or "many".
excused() {
	local damage name

	[ "$1" != 1 ] || return 0
	while read -r damage; do
		name=${damage#* counted }
		[[ $order != *" ${name% *} "* ]] || echo "$damage"
	done
}

# steer CPUS: which of them take what comes in, by whatever netdev that is there now, in whatever
# namespace. A veth hands packets over on the CPU that sent them: with two, a queue pair's overtake each
# other, and UC loses messages by that. With one they stay in order, and so they do with RPS, which
# chooses one for each flow.
steer() {
	local ns set="for file in /sys/class/net/*/queues/rx-*/rps_cpus; do
		[ ! -e \$file ] || echo $1 >\$file || exit
	done"

	sh -c "$set" || return
	for ns in $(ip netns list | cut -d' ' -f1); do
		ip netns exec "$ns" sh -c "$set" || return
	done
}

# keeps_order: nobody on the way lets the packets of a queue pair overtake each other. A suite that sees
# to that where there are several CPUs, by steer(), says in_order=1.
keeps_order() { [ "$(nproc)" = 1 ] || [ -n "${in_order-}" ]; }

# undamaged COMMAND...: it succeeds, and no device that is there afterwards counted damage.
undamaged() {
	note_damage "$WORK/damage.before"
	"$@" || return
	no_damage_since "$WORK/damage.before"
}

# no_damage_since FILE: of note_damage. The core answers from a cache for some milliseconds.
no_damage_since() {
	local cpus=many

	sleep 0.05
	damage_now >"$WORK/damage.after"
	harmless_now >"$WORK/damage.after.harmless"
	[ -s "$WORK/damage.after" ] || [ ! -d /sys/module/srn ] || {
		echo "no device of srn to look at"
		return 1
	}
	damage_between "$1" "$WORK/damage.after" >"$WORK/damage.grown"
	repaired_too_much "$1.harmless" "$WORK/damage.after.harmless" >"$WORK/damage.repaired"
	[ -s "$WORK/damage.grown" ] || [ -s "$WORK/damage.repaired" ] || return 0
	echo "nothing was to be lost, and"
	cat "$WORK/damage.grown" "$WORK/damage.repaired"
	damage_between "$1.harmless" "$WORK/damage.after.harmless" | sed 's/ counted / also counted /'
	! keeps_order || [ "$(rnr_naks)" != "$(cat "$1.naks")" ] || cpus=1
	[ ! -s "$WORK/damage.repaired" ] &&
		[ "$(excused "$cpus" <"$WORK/damage.grown")" = "$(cat "$WORK/damage.grown")" ]
}
