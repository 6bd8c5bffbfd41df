#!/bin/sh
# Same bytes on two runs and for any number of jobs.
# usage: determinism.sh WHAM
wham=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
bad=0

# What may differ between equal runs stands in "run", the last member of the object.
result_of() {
	sed '/^  "run": {/,/^  }/d'
}

same() {
	name=$1
	shift
	"$wham" "$@" >first 2>/dev/null || { echo "$name: exit $?"; bad=1; return; }
	[ -s first ] || { echo "$name: no output"; bad=1; }
	"$wham" "$@" 2>/dev/null | cmp -s - first || { echo "$name: two runs differ"; bad=1; }
}

same simulate simulate --model bert-base --pp 2 --tp 2 --topology ring:4 --json
same cost topology cost torus:3x3 --algo all --bytes 3MB --json
same validate validate area --json

for model in resnet18 bert-base; do
	for jobs in 1 2 3 1; do
		"$wham" search --model $model --topk 5 --jobs $jobs --json 2>/dev/null | result_of >"s.$jobs.now"
		[ -s "s.$jobs.now" ] || { echo "search $model: no output"; bad=1; }
		if [ -f "s.$model" ]; then
			cmp -s "s.$jobs.now" "s.$model" || { echo "search $model --jobs $jobs differs"; bad=1; }
		else
			cp "s.$jobs.now" "s.$model"
		fi
	done
done
exit $bad
