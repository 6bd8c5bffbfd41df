#!/bin/sh
# Fuzzes one target with libFuzzer. usage: tests/fuzz/run.sh NAME [SECONDS [FOLDER]]
# Needs clang. Builds in FOLDER (build-fuzz), which keeps the corpus that grows and whatever crashes.
set -eu
name=$1 seconds=${2:-600} folder=${3:-build-fuzz}
root=$(cd "$(dirname "$0")/../.." && pwd)
flags=fuzzer-no-link,address,undefined
[ -e "$folder/build.ninja" ] || CC=clang meson setup "$folder" "$root" -Db_lundef=false \
	"-Dc_args=-fsanitize=$flags -fno-sanitize-recover=undefined" "-Dc_link_args=-fsanitize=address,undefined" >/dev/null
ninja -C "$folder" "tests/fuzz/fuzz_$name" >/dev/null
# the same objects, with libFuzzer's main instead of replay.c's
libraries=$(find "$folder/tests/fuzz" "$folder/sim" -name "lib*.a" | sort)
mkdir -p "$folder/corpus-$name"
clang -fsanitize=fuzzer,address,undefined -o "$folder/libfuzzer_$name" \
	"$folder/tests/fuzz/libfuzz_$name.a" -Wl,--start-group $libraries -Wl,--end-group \
	$(pkg-config --libs jansson libprotobuf-c zlib) -lmd -lm
cp -n "$root/tests/fuzz/corpus/$name"/* "$folder/corpus-$name/"
[ -e "$root/tests/fuzz/$name.dict" ] && dict=-dict=$root/tests/fuzz/$name.dict || dict=
exec "$folder/libfuzzer_$name" -max_total_time="$seconds" -timeout=10 -max_len=8192 $dict \
	-artifact_prefix="$folder/" "$folder/corpus-$name"
