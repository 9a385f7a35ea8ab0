# SPDX-License-Identifier: GPL-2.0-only
#
# Folds what was sampled of a counted machine into rooms, dearest first: how much of a request goes to
# each. Three inputs: `nm -A` of the module's object files, the table that srnbench printed, and
# `perf report -F sample,comm,dso,sym -t '|'`, told apart by their form.
#
# usage: awk -v top=N -f rooms.awk NM TABLE REPORT
#        awk -v vm=N -f rooms.awk NM REPORT
#
# The second is of a VM that is no counted one, where it matters who idles: 'share|N|ROOM|SAMPLES', for apart.awk, in
# which srn is one room, but for its CRC and its copies.
#
# A symbol of ours belongs to the object file that defines it; what the compiler inlined, to who called
# it. A static name of several files is counted under all of their names. The kernel's symbols are sorted
# by their names.

function claim(symbol, room) {
	if (!(symbol in owner))
		owner[symbol] = room
	else if (!index("+" owner[symbol] "+", "+" room "+"))
		owner[symbol] = owner[symbol] "+" room
}

# Instructions of a request: the clock counts each as a nanosecond. A row's name says its bytes.
# Of connections it is a pair, of registrations one.
function cost(name, unit, figure, words, n, i, bytes) {
	if (unit == "us")
		return figure * 1e3
	if (unit == "kop/s")
		return 1e6 / figure
	if (unit == "1/s")
		return 1e9 / figure
	n = split(name, words, " ")
	for (i = 2; i <= n; i++)
		bytes = words[i] == "KiB" ? words[i - 1] * 1024 : words[i] == "MiB" ? words[i - 1] * 1048576 : bytes
	return bytes * (unit == "GB/s" ? 1 : 1e3) / figure
}

function kernel_room(symbol) {
	if (symbol ~ /^(pv_native_safe_halt|native_safe_halt|default_idle|mwait_idle|acpi_safe_halt)/)
		return "idle"
	if (symbol ~ /^_*(virtqueue|virtnet|vring|virtio|vp_|start_xmit|free_old_xmit|detach_buf|receive_(buf|mergeable)|add_recvbuf|try_fill_recv|page_to_skb|skb_recv_done|skb_xmit_done)/)
		return "virtio"
	if (symbol ~ /^_*(memcpy|memmove|copy_|rep_movs|skb_copy_bits)/)
		return "copy"
	if (symbol ~ /^_*crc32/)
		return "CRC"
	if (symbol ~ /^_*(memset|clear_page)/)
		return "zeroing"
	if (symbol ~ /^_*(kmem_|kmalloc|kfree|slab|page_frag|alloc_|free_|get_page|put_page|skb_|build_skb|napi_build|napi_skb|consume_skb)/)
		return "skb, memory"
	if (symbol ~ /^_*(raw_(spin|read|write)_|rt_mutex|mutex_|queued_(spin|read|write)|rwsem|down_(read|write)|up_(read|write))/)
		return "locks"
	if (symbol ~ /^_*(ip(6|v4|v6|t|6t)?_|iptunnel|fib|udp|inet|raw_(rcv|local|v4|v6)|netif|dev_|veth|nf_|neigh|eth_|net_|enqueue_to_backlog|process_backlog|validate_xmit|dst_|rt_dst|rt6_|br_|xfrm|tcp|sock_|sk_)/)
		return "stack"
	if (symbol ~ /^rxe_/)
		return "rxe"
	if (symbol ~ /(syscall|sysret|sysvec|ioctl|entry_|uverbs|security_|tomoyo|apparmor|fdget|fget|fput)/)
		return "system call"
	return "kernel, other"
}

function room_of(dso, symbol) {
	if (dso ~ /srn-rdma/)
		return "provider"
	if (dso ~ /^srnbench/)
		return "program"
	if (dso !~ /^\[/)
		return "libraries"
	return symbol in owner ? "srn: " owner[symbol] : kernel_room(symbol)
}

# Of a VM: rooms that are large.
function coarse(room) {
	if (room ~ /^srn: (crc|icrc)/)
		return "CRC"
	if (room == "srn: copy")
		return "copy"
	if (room ~ /^srn: /)
		return "srn"
	if (room ~ /^(program|libraries|provider)$/)
		return "program, polling too"
	return room
}

function trim(text) {
	gsub(/^ +| +$/, "", text)
	return text
}

# room.o:0000000000000040 T symbol
/^[^ |]+\.o:[0-9a-f]+ [TtWw] / {
	n = split($1, path, /[\/:]/)
	claim($3, substr(path[n - 1], 1, length(path[n - 1]) - 2))
	next
}

# name, unit, figure: columns of 28, 8 and 12
/ (us|[MG]B\/s|kop\/s|1\/s) +[0-9.]+ *$/ {
	row = trim(substr($0, 1, 28))
	request = cost(row, trim(substr($0, 29, 8)), trim(substr($0, 37, 12)) + 0)
	next
}

# samples |command |object |[k] symbol. What idles costs nothing, and perf is not of the request.
split($0, f, "|") == 4 {
	symbol = trim(f[4])
	sub(/^\[.\] /, "", symbol)
	if (vm) {
		samples[trim(f[2]) ~ /^perf/ ? "perf" : coarse(room_of(trim(f[3]), symbol))] += f[1]
		next
	}
	if (trim(f[2]) ~ /^(swapper|perf)/ || trim(f[3]) ~ /^ld-linux/)
		next
	samples[room_of(trim(f[3]), symbol)] += f[1]
	all += f[1]
}

END {
	if (vm) {
		for (room in samples)
			printf "share|%s|%s|%d\n", vm, room, samples[room]
		exit
	}
	if (!all || !request) {
		print "rooms.awk: no samples, or no row" > "/dev/stderr"
		exit 1
	}
	printf "%s: %d instructions a request\n", row, request
	sort = "sort -t '|' -k 2,2nr -k 4,4 | head -n " (top ? top : 24) " | tr -d '|'"
	for (room in samples)
		printf "|%12.0f|%7.1f %%|  %s\n", request * samples[room] / all, 100 * samples[room] / all, room | sort
	close(sort)
}
