#!/bin/sh
# Fails when a folder of sim/ defines an implementation (a public const struct with a body) that no
# table of that folder names, or when a table names one that is not defined.
# usage: tables.sh SOURCE_ROOT
cd "$1/sim" || exit 2
bad=0
found=0
for folder in */; do
	defined=$(sed -n 's/^const struct \(coll_algo\|topo_family\|search_algo\|suite\|command\) \([a-z0-9_]*\) = {.*/\2/p' \
		"$folder"*.c | sort)
	[ -n "$defined" ] || continue
	named=$(sed -n 's/^\t&\([a-z0-9_]*\),$/\1/p' "$folder"*.c | sort)
	found=$((found + $(printf '%s\n' "$defined" | wc -l)))
	if [ "$defined" != "$named" ]; then
		echo "sim/$folder: defined and listed implementations differ:"
		printf '%s\n' "$defined" >/tmp/tables.$$.defined
		printf '%s\n' "$named" | diff /tmp/tables.$$.defined -
		rm -f /tmp/tables.$$.defined
		bad=1
	fi
done
[ "$found" -ge 20 ] || { echo "only $found implementations found"; bad=1; }
exit $bad
