#!/bin/sh
# Models and platforms of other people, read where WHAM_SHARED says.
# usage: shared.sh WHAM
wham=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
if [ -z "$WHAM_SHARED" ]; then
	echo "skipped: WHAM_SHARED not set"
	exit 77
fi
bad=0
complain() {
	echo "$1"
	bad=1
}
out=$(mktemp)
trap 'rm -f "$out"' EXIT

"$wham" simulate --model "$WHAM_SHARED/data/onnx/light_resnet50.onnx" --accel tpuv2 --batch 8 --layers --json >"$out" ||
	complain "light_resnet50: exit $?"
[ "$(grep -c '"kind": "conv"' "$out")" = 53 ] || complain "light_resnet50: not 53 convolutions"
[ "$(grep -c '"kind": "gemm"' "$out")" = 1 ] || complain "light_resnet50: not 1 gemm"
[ "$(grep -c '"m": ' "$out")" = 54 ] || complain "light_resnet50: not 54 rows with m"
grep -q '"m": 100352,' "$out" || complain "light_resnet50: conv1 is not 8 x 112 x 112 rows"

for model in light_vgg19 light_bvlc_alexnet light_squeezenet mnist; do
	"$wham" simulate --model "$WHAM_SHARED/data/onnx/$model.onnx" --batch 4 >"$out" 2>&1 ||
		complain "$model: exit $? $(head -1 "$out")"
done

# MSCCL: one step of half the bytes each way; a cycle of four steps.
"$wham" topology cost crossbar:2,bw=1GB/s,lat=0.5us --collective allgather --bytes 2MB --csv \
	--algo "$WHAM_SHARED/cases/msccl01_ag2_ok.xml" >"$out" || complain "msccl01: exit $?"
grep -q ',allgather,ag2,2,2000000,1001.000000,' "$out" || complain "msccl01: not 1001 us"
"$wham" topology cost crossbar:2 --collective allgather \
	--algo "$WHAM_SHARED/cases/msccl02_ag2_deadlock.xml" >"$out" 2>&1
[ $? = 1 ] || complain "msccl02: not exit 1"
grep -q 'deadlock in the schedule, 4 steps in a cycle: gpu 0 threadblock 0 step 0' "$out" ||
	complain "msccl02: the cycle is not named"

# Whatever the file, an answer or one reason: never a signal.
for file in "$WHAM_SHARED"/data/onnx/*.onnx "$WHAM_SHARED"/cases/*; do
	"$wham" simulate --model "$file" >"$out" 2>&1
	status=$?
	[ $status -lt 6 ] || complain "$file: exit $status"
	[ -s "$out" ] || complain "$file: silence"
done
for file in "$WHAM_SHARED"/data/simgrid/examples/platforms/*.xml; do
	"$wham" topology cost "$file" --bytes 1MB --ranks 0-1 >"$out" 2>&1
	status=$?
	[ $status -lt 6 ] || complain "$file: exit $status"
	[ -s "$out" ] || complain "$file: silence"
done
exit $bad
