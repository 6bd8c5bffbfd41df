#!/bin/sh
# Runs the cases of a file against the program, in a scratch folder.
# usage: cases.sh WHAM CASES
#
# A case is a few lines, and ends at an empty line:
#   ! COMMAND   prepares (sh, in the scratch folder)
#   $ ARGS      runs wham ARGS (words as the shell splits them; nothing: no arguments)
#   = N         its exit status (0 when left out)
#   1 TEXT      its standard output contains TEXT
#   2 TEXT      its standard error contains TEXT
#   ? COMMAND   succeeds afterwards; out and err hold what was printed
# Whatever the case, nothing may die by a signal or print an assertion or a backtrace.
wham=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cases=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
WHAM=$wham
export WHAM
n=0
bad=0
line_number=0
args=
given=
ran=

fail() {
	echo "$(basename "$cases"):$line_number: wham $args: $1"
	sed 's/^/    out: /' out 2>/dev/null | head -5
	sed 's/^/    err: /' err 2>/dev/null | head -5
	bad=$((bad + 1))
}

run() {
	if [ -z "$ran" ] && [ -n "$given" ]; then
		eval "\"\$wham\" $args" >out 2>err </dev/null
		status=$?
		ran=yes
		n=$((n + 1))
		if [ "$status" -ge 128 ] && [ "$status" != 130 ]; then fail "died by signal $((status - 128))"; fi
		if grep -qE 'Assertion|terminate called|AddressSanitizer|runtime error|Backtrace' out err; then
			fail "printed an assertion or a backtrace"
		fi
	fi
}

finish() {
	run
	if [ -n "$given" ] && [ -z "$checked" ] && [ "$status" != 0 ]; then fail "exit $status, expected 0"; fi
	args=
	given=
	ran=
	checked=
}

checked=
while IFS= read -r line || [ -n "$line" ]; do
	line_number=$((line_number + 1))
	text=${line#? }
	case $line in
	'#'*) ;;
	'') finish ;;
	'! '*) sh -c "$text" || fail "cannot prepare: $text" ;;
	'$ '*) finish; args=$text; given=yes ;;
	'$') finish; args=; given=yes ;;
	'= '*)
		run
		checked=yes
		[ "$status" = "$text" ] || fail "exit $status, expected $text"
		;;
	'1 '*) run; grep -qF -e "$text" out || fail "stdout lacks: $text" ;;
	'2 '*) run; grep -qF -e "$text" err || fail "stderr lacks: $text" ;;
	'? '*) run; sh -c "$text" || fail "not so: $text" ;;
	*) fail "cannot read the case: $line" ;;
	esac
done <"$cases"
finish
echo "$n runs, $bad complaints"
[ "$n" -gt 0 ] && [ "$bad" = 0 ]
