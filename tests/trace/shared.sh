#!/bin/sh
# Chakra traces of other people, read where WHAM_SHARED says.
# usage: shared.sh WHAM
wham=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
if [ -z "$WHAM_SHARED" ]; then
	echo "skipped: WHAM_SHARED not set"
	exit 77
fi
data=$WHAM_SHARED/data/chakra
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
out=$scratch/out
bad=0
complain() {
	echo "$1"
	bad=1
}

# Every microbenchmark on every kind of network.
for n in 4 8 16; do
	for kind in all_gather all_reduce all_to_all reduce_scatter; do
		for topology in ring:$n full:$n crossbar:$n; do
			"$wham" replay "$data/astra_sim_examples/$kind/${n}npus_1MB" --topology $topology,bw=50GiB/s,lat=500ns --strict >"$out" 2>&1 ||
				complain "$kind $topology: exit $? $(head -1 "$out")"
			grep -q "^$n ranks over" "$out" || complain "$kind $topology: not $n ranks"
		done
	done
done

# 14 messages of 128 KiB at 50 GiB/s and 500 ns, and 7 x 7 us of reduction.
"$wham" replay "$data/astra_sim_examples/custom_collectives/custom_ring_allreduce_8npus_1MB" --topology ring:8,bw=50GiB/s,lat=500ns >"$out" 2>&1 ||
	complain "custom ring: exit $?"
grep -q 'step time 90.1797 us, 112 messages' "$out" || complain "custom ring: $(head -1 "$out")"

# Whole training steps, as elements of 2 bytes on accelerators that time them; the same again as a prog.
set -- "$data"/stage_generated/gpt_8L*
"$wham" replay "$1" --topology crossbar:8,bw=50GiB/s,lat=500ns --accel h100 --dump-prog "$scratch/gpt.prog" >"$out" 2>"$scratch/err" ||
	complain "gpt: exit $?"
grep -q '712 collectives' "$out" || complain "gpt: $(head -1 "$out")"
grep -q 'counts elements' "$scratch/err" || complain "gpt: no warning of elements"
"$wham" replay "$scratch/gpt.prog" --topology crossbar:8,bw=50GiB/s,lat=500ns >"$scratch/again" 2>&1
cmp -s "$out" "$scratch/again" || complain "gpt: its prog has another time"
set -- "$data"/stage_generated/llama*.tar.gz
"$wham" replay "$1" --topology crossbar:64,bw=50GiB/s,lat=500ns --accel h100 --elem-bytes 2 >"$out" 2>&1 ||
	complain "llama: exit $? $(head -1 "$out")"
grep -q '^64 ranks over' "$out" || complain "llama: not 64 ranks"

# One rank of a recording of PyTorch: dangling ids, and control dependencies in circles.
"$wham" replay "$data/feeder_tests_trace.tar.gz" --topology ring:2 >"$out" 2>&1
[ $? = 4 ] || complain "feeder: exit $?, expected 4"
grep -q 'form a cycle' "$out" || complain "feeder: $(head -1 "$out")"
"$wham" replay "$data/feeder_tests_trace.tar.gz" --topology ring:2 --lenient >"$out" 2>&1 || complain "feeder: exit $?"
grep -q '(1277 times)' "$out" || complain "feeder: not 1277 dangling dependencies"

# Recordings of other kinds are refused with a reason.
for file in "$data"/*.tgz "$data"/json_trace.tar.gz "$WHAM_SHARED"/data/pytorch_et/* "$WHAM_SHARED"/data/goal/*; do
	[ -f "$file" ] || continue
	"$wham" replay "$file" --topology ring:2 >"$out" 2>&1
	status=$?
	[ $status = 4 ] || complain "$file: exit $status, expected 4"
	[ -s "$out" ] || complain "$file: silence"
done
exit $bad
