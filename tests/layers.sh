#!/bin/sh
# Fails when a folder of sim/ includes a header of a folder that stands after it in the list of
# layers, or another folder's internal.h.
# usage: layers.sh SOURCE_ROOT
cd "$1/sim" || exit 2
order=$(sed -n "s/^layers = \[\(.*\)\]/\1/p" meson.build | tr -d "',")
[ -n "$order" ] || { echo "sim/meson.build: no list of layers"; exit 2; }
before=
bad=0
for layer in $order; do
	before="$before $layer"
	for inc in $(sed -n 's/^#include "\([a-z_]*\/[a-z_]*\)\.h".*/\1/p' "$layer"/*.[ch] | sort -u); do
		folder=${inc%%/*}
		case " $before " in
		*" $folder "*) ;;
		*) echo "sim/$layer includes $inc.h, which stands after it"; bad=1 ;;
		esac
		if [ "${inc#*/}" = internal ] && [ "$folder" != "$layer" ]; then
			echo "sim/$layer includes $inc.h, which belongs to $folder alone"
			bad=1
		fi
	done
done
for folder in */; do
	case " $order " in
	*" ${folder%/} "*) ;;
	*) echo "sim/$folder is not in the list of layers"; bad=1 ;;
	esac
done
exit $bad
