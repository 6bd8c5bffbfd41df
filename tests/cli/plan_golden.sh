#!/bin/sh
# Every row of the table of printed and calibrated equations, as `wham plan` answers it: each term and
# their sum within 1e-9, seconds of an epoch within half of their last digit; also where no such grid
# could be executed.
# usage: plan_golden.sh WHAM TABLE
wham=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
table=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2

variant_of() {
	case $1 in
	eq9_convdomain_fcmodel) echo eq9 ;;
	*) echo "$1" | tr _ - ;;
	esac
}

# One line for each grid: question, grid, terms, sum, seconds of an epoch as far as they are communication.
lines='
/"iterations_per_epoch"/ { iterations = $2 + 0 }
/"pr":/ && !done { pr = $2 + 0 }
/"pc":/ && !done { pc = $2 + 0 }
/"analytic_comm_s":/ { comm = $2 + 0 }
/"all_gather_s":/ { gather = $2 + 0 }
/"dx_all_reduce_s":/ { dx = $2 + 0 }
/"dw_all_reduce_s":/ { dw = $2 + 0 }
/"halo_forward_s":/ { halo = $2 + 0 }
/"halo_backward_s":/ { halo += $2 + 0 }
/"memory_bytes":/ { printf "%s,%d,%d %.17g %.17g %.17g %.17g %.17g %.17g\n", question, pr, pc, gather, dx, dw, halo, comm, comm * iterations }
/"best":/ { done = 1 }'

tail -n +2 "$table" | cut -d, -f1-4 | sort -u >questions
while IFS=, read -r variant unit batch processes; do
	"$wham" plan --model alexnet --variant "$(variant_of "$variant")" --beta-bw "6$unit/s" \
		--batch "$batch" --devices "$processes" --samples 1200000 --network analytic --json >out ||
		echo "wham plan: exit $? for $variant $unit $batch $processes"
	awk -v question="$variant,$unit,$batch,$processes" "$lines" out
done <questions >ours

compare='
function far(x, y, by) { d = x - y; return (d < 0 ? -d : d) > by }
NR == FNR { n_fields[$1] = NF; for (i = 2; i <= NF; i++) ours[$1, i] = $i; next }
FNR > 1 {
	split($0, row, ",")
	key = row[1] "," row[2] "," row[3] "," row[4] "," row[5] "," row[6]
	bad = n_fields[key] != 7
	for (i = 2; i <= 6; i++)
		bad = bad || far(ours[key, i], row[i + 5], 1e-9 * row[i + 5])
	bad = bad || far(ours[key, 7], row[13], 5.1e-7 + 1e-9 * row[13])
	n++
	if (bad) { wrong++; print "not as in the table: " $0 }
}
END { printf "%d rows, %d of them wrong\n", n, wrong; exit !(n > 0 && !wrong) }'
awk "$compare" ours "$table"
