#!/bin/sh
# Fails when a header of sim/ does not compile alone, twice, or has another guard than DIR_FILE_H.
# usage: headers.sh SOURCE_ROOT BUILD_ROOT COMPILER...
root=$1
build=$2
shift 2
cd "$root/sim" || exit 2
bad=0
for header in */*.h; do
	guard=$(printf '%s' "$header" | tr 'a-z/.' 'A-Z__')
	grep -qx "#ifndef $guard" "$header" && grep -qx "#define $guard" "$header" || {
		echo "sim/$header: expected the guard $guard"
		bad=1
	}
	printf '#include "%s"\n#include "%s"\ntypedef int not_empty;\n' "$header" "$header" |
		"$@" -std=c11 -D_POSIX_C_SOURCE=200809L -I. -I"$build/sim" -fsyntax-only -Wall -Wextra -Werror \
			-Wno-unused-parameter -x c - || {
		echo "sim/$header does not compile alone"
		bad=1
	}
done
exit $bad
