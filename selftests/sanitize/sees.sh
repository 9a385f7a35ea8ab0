# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash

# sees BUILD FAULT WORDS: the program that makes the fault dies with these words.
sees() {
	local said

	! said=$("$SRN_BUILD/$1/selftests/sanitize/srn_sanitizer_control" "$2" 2>&1) || return
	echo "$said"
	grep -q "$3" <<<"$said"
}
