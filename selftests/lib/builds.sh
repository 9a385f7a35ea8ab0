# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the runner builds before it runs anything.

: "${tree:?}" "${logs:?}"

aside=	# process that builds while suites run

build_all() {
	[ -z "${SRN_NO_BUILD-}" ] || return 0
	title "build"
	if need_only uml; then build "provider" provider; else build "module and provider" all; fi
	build "user space" tests
	! need uml || build "User-Mode Linux and module" module-uml
	if need_suite 'sanitize/\(host\|verbs\|races\)'; then
		build "user space with ASan and UBSan" tests-asan
		build "user space with TSan" tests-tsan
	elif need_suite sanitize/; then
		build "the provider's threads with TSan" tests-threads
	fi
	! need_suite fuzz/host || build "libFuzzer programs" fuzz-host
	! need uml || ! need_suite '/fuzz$' || build "module that counts, for the fuzzers" module-fuzz
	! need cloud || build "module for the cloud kernel" module-cloud
	! need race || build "kernel with KCSAN and module" module-race
	! need debug || build_aside
}

# build WHAT TARGET
build() {
	check "build: $1" logged "$2" env CMAKE_CXX_COMPILER_LAUNCHER="$(launcher)" \
		make -C "$tree" --no-print-directory "$2"
}

# What starts the compiler of user space, as a list of CMake's, which a build directory keeps: ccache, so
# that what any clone compiled before is not compiled again. Files of precompiled headers (of others, all)
# want this sloppiness; by depend mode each byte of a header counts all the same.
launcher() {
	command -v ccache >/dev/null || return 0
	printf '%s;' env CCACHE_DIR="${SRN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/srn}/ccache" CCACHE_MAXSIZE=1G \
		CCACHE_BASEDIR="$tree" CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros
	echo ccache
}

# The debug kernel takes a quarter of an hour, once, and nothing needs it before its first
# boot. Until then it is built with what the other suites leave of the processors: they wait for
# each other a good part of their time. SCHED_IDLE alone would not do: a kernel with autogroups
# shares by sessions first, and each VM is one.
build_aside() {
	aside_began=$(date +%s)
	setsid chrt -i 0 bash -c 'echo 19 2>/dev/null >/proc/self/autogroup; exec "$@"' aside \
		make -C "$tree" --no-print-directory module-debug >"$logs/module-debug.log" 2>&1 &
	aside=$!
	trap 'kill -- -"$aside" 2>/dev/null' EXIT
}

# await_aside: before the first boot that needs it.
await_aside() {
	[ -n "$aside" ] || return 0
	title "debug kernel"
	check "build: wait for debug kernel and module" logged_aside
	aside=
}

logged_aside() {
	local log=$logs/module-debug.log rc=0

	wait "$aside" || rc=$?
	[ $rc = 0 ] || tail -n 60 "$log"
	echo "debug kernel and module: built in $(($(stat -c %Y "$log") - aside_began)) s"
	return $rc
}

# logged NAME COMMAND...: shows the end of the log of a command that fails.
logged() {
	local log=$logs/$1.log

	shift
	"$@" >"$log" 2>&1 && return
	tail -n 60 "$log"
	return 1
}
