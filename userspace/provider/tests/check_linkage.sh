#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# check_linkage.sh LIBRARY - the provider needs libibverbs and libc only, takes nothing from
# libstdc++, and shows no symbol of its own.
set -u
lib=$1
fail=0

complain() {
	echo "$lib: $*" >&2
	fail=1
}

for needed in $(readelf -d "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
	case $needed in
	libibverbs.so.1 | libc.so.6 | ld-linux*) ;;
	*) complain "needs $needed" ;;
	esac
done

undefined=$(nm -D --undefined-only "$lib" | awk '{ print $2 }')
echo "$undefined" | grep -q '^verbs_register_driver_' || complain "does not register itself"
for symbol in $(echo "$undefined" | grep -E '^(_Z|__cxa_|__gxx_)' | grep -v '^__cxa_finalize'); do
	complain "takes $symbol from a C++ runtime"
done

for symbol in $(nm -D --defined-only "$lib" | awk '{ print $3 }'); do
	complain "exports $symbol"
done

exit $fail
