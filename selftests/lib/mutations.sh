# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The lists of mutations, and how one is made in a copy of the tree. Records are separated by
# empty lines; a line of a record is KEY: VALUE, the value beginning behind one space:
#
#	name      what it is called
#	file      from the root of the tree
#	old       text of the file that is there once; several old lines are one text
#	new       what stands there instead; a record without it takes the text away
#	seen      suites, the cheapest first: unit, bench, kunit, wire, verbs; wire=GLOB runs only the
#	          tests of it that match. KUnit takes one glob: kunit=GLOB kunit=GLOB for two
#	survives  why no test can see it

# shellcheck disable=SC2034
mutations=()	# names, in the order of the lists
declare -A mut_file=() mut_old=() mut_new=() mut_seen=() mut_why=()

# check_seen LIST NAME ITEM: what names no test, or more than the suite can choose, would run none, and
# the mutation would survive them.
check_seen() {
	local suite=${3%%=*} glob=${3#*=}

	[[ " unit bench kunit wire verbs " = *" $suite "* ]] || die "$1: nobody runs '$3'"
	[ "$3" != "$suite" ] || return 0
	[ -n "$glob" ] || die "$1: '$3' chooses no test: $2"
	case $suite in
	unit | bench) die "$1: all of $suite runs, whatever '$3' says: $2" ;;
	kunit) [[ $glob != *[:,]* ]] || die "$1: KUnit takes one glob, not '$3': $2" ;;
	esac
}

# end_record LIST: keeps the record that was read, if there was one.
end_record() {
	local key

	[ ${#record[@]} != 0 ] || return 0
	for key in name file old seen; do
		[ -n "${record[$key]-}" ] || die "$1: a record without $key: ${record[name]-}"
	done
	for key in ${record[seen]}; do
		check_seen "$1" "${record[name]}" "$key"
	done
	key=${record[name]}
	[ -z "${mut_file[$key]-}" ] || die "$1: there is another $key"
	mutations+=("$key")
	mut_file[$key]=${record[file]} mut_old[$key]=${record[old]} mut_new[$key]=${record[new]-}
	mut_seen[$key]=${record[seen]} mut_why[$key]=${record[survives]-}
	record=()
}

# read_list LIST
read_list() {
	local list=$1 line key value
	local -A record=()

	while IFS= read -r line || [ -n "$line" ]; do
		case $line in
		'#'*) ;;
		'') end_record "$list" ;;
		*:*)
			key=${line%%:*} value=${line#*:}
			value=${value# }
			[[ " name file old new seen survives " = *" $key "* ]] ||
				die "$list: what is '$key'?"
			[ -z "${record[$key]+there}" ] || value=${record[$key]}$'\n'$value
			record[$key]=$value
			;;
		*) die "$list: no record has a line '$line'" ;;
		esac
	done <"$list"
	end_record "$list"
}

# text_of FILE: into $text, whole.
text_of() { IFS= read -rd '' text <"$1" || :; }

# places NAME TREE: how often its old text stands in its file.
places() {
	local text='' rest

	[ -r "$2/${mut_file[$1]}" ] || { echo 0; return; }
	text_of "$2/${mut_file[$1]}"
	rest=${text//"${mut_old[$1]}"/}
	echo $(((${#text} - ${#rest}) / ${#mut_old[$1]}))
}

# is_stale NAME TREE: the code has moved on, and its author should.
is_stale() { [ "$(places "$1" "$2")" != 1 ]; }

# make_mutation NAME TREE
make_mutation() {
	local file=$2/${mut_file[$1]} text=''

	text_of "$file"
	printf '%s' "${text/"${mut_old[$1]}"/"${mut_new[$1]}"}" >"$file"
}
