#!/bin/sh
# An installed program finds its data, its SimGrid module and its golden tables. install.sh BUILD
set -e
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
DESTDIR=$place meson install -C "$1" --no-rebuild --quiet
wham=$(find "$place" -path '*/bin/wham')
cd /
unset WHAM_DATA WHAM_SOURCE_ROOT WHAM_MODULE_DIR
"$wham" list models | grep -q '^bert-large'
"$wham" topology cost ring:4 --bytes 1MiB --csv >"$place/cost"
"$wham" validate memory -q >"$place/memory"
"$wham" plan --model alexnet --batch 64 --devices 4 --csv >"$place/plan"
grep -q ',' "$place/cost"
grep -q ',' "$place/plan"
