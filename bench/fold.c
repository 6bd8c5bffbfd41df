/* What folding brings. In one run: a ring all-reduce over 1,024 devices folded and message by
 * message (ratio at least 100, times within 0.1 %), the growth of the folded one from 64 to
 * 16,384 devices (at most as N log N, below 2 GB), and a repeated question (below 10 us). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "run/run.h"

enum { BYTES = 1 << 20, SIZES = 5 };

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double peak_mb(void)
{
	struct rusage self, children;
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	long kb = self.ru_maxrss > children.ru_maxrss ? self.ru_maxrss : children.ru_maxrss;
	return (double)kb / 1024;
}

struct sample {
	double wall_s;
	tick simulated;
	bool folded;
};

static struct sample cost(const struct topo *topo, enum run_fold fold, struct run_memo *memo)
{
	struct arena a = {0};
	struct err err = {0};
	struct run_result run;
	uint32_t *devices = arena_array(&a, topo->n_devices, uint32_t);
	for (uint32_t i = 0; i < topo->n_devices; i++)
		devices[i] = i;
	struct coll_request request = {.algo = coll_find(COLL_ALLREDUCE, "ring"),
		.devices = devices,
		.n_devices = topo->n_devices,
		.bytes = BYTES};
	struct run_config config = {.topo = topo, .net = NET_SIMGRID, .fold = fold, .memo = memo};
	double start = seconds();
	if (!run_coll(&a, &request, &config, &run, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	struct sample s = {seconds() - start, run.end, run.folded};
	arena_free(&a);
	return s;
}

static struct topo ring_of(struct arena *a, uint32_t n)
{
	struct topo topo;
	struct err err = {0};
	if (!topo_parse(a, arena_printf(a, "ring:%u,bw=50GB/s,lat=500ns", n), &topo, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	return topo;
}

static bool compare_with_whole(void)
{
	struct arena a = {0};
	struct topo topo = ring_of(&a, 1024);
	double best = HUGE_VAL;
	struct sample folded = {0};
	for (int turn = 0; turn < 5; turn++) {
		folded = cost(&topo, RUN_FOLD_AUTO, NULL);
		best = folded.wall_s < best ? folded.wall_s : best;
	}
	struct sample whole = cost(&topo, RUN_FOLD_OFF, NULL);
	double ratio = whole.wall_s / best;
	double gap =
		fabs((double)folded.simulated - (double)whole.simulated) / (double)whole.simulated;
	printf("ring of 1024, all-reduce of 1 MiB: folded %.4f s, message by message %.2f s, ratio "
	       "%.0f, times differ by %.5f %%\n",
		best, whole.wall_s, ratio, 100 * gap);
	arena_free(&a);
	return folded.folded && !whole.folded && ratio >= 100 && gap <= 0.001;
}

/* The exponent of the fit time = c N^x over all sizes, a constant start-up taken off. */
static bool fit_growth(void)
{
	static const uint32_t sizes[SIZES] = {64, 256, 1024, 4096, 16384};
	double wall[SIZES];
	for (int i = 0; i < SIZES; i++) {
		struct arena a = {0};
		struct topo topo = ring_of(&a, sizes[i]);
		wall[i] = HUGE_VAL;
		for (int turn = 0; turn < 3; turn++) {
			struct sample s = cost(&topo, RUN_FOLD_AUTO, NULL);
			wall[i] = s.wall_s < wall[i] ? s.wall_s : wall[i];
		}
		printf("  %5u devices: %.4f s\n", sizes[i], wall[i]);
		arena_free(&a);
	}
	double allowed = wall[0] * 16384.0 * log2(16384) / (64 * log2(64));
	double exponent = log(wall[SIZES - 1] / wall[0]) / log(16384.0 / 64);
	printf("  grows as N^%.2f; N log N would allow %.2f s; peak %.0f MB\n", exponent, allowed,
		peak_mb());
	return wall[SIZES - 1] <= allowed && peak_mb() < 2048;
}

static bool ask_again(void)
{
	struct arena a = {0};
	struct topo topo = ring_of(&a, 1024);
	struct run_memo *memo = run_memo_create(&topo, NET_SIMGRID);
	struct sample first = cost(&topo, RUN_FOLD_AUTO, memo);
	double best = HUGE_VAL;
	bool equal = true;
	for (int turn = 0; turn < 1000; turn++) {
		struct sample s = cost(&topo, RUN_FOLD_AUTO, memo);
		best = s.wall_s < best ? s.wall_s : best;
		equal = equal && s.simulated == first.simulated;
	}
	printf("asked again: %.2f us, first %.0f us\n", best * 1e6, first.wall_s * 1e6);
	run_memo_destroy(memo);
	arena_free(&a);
	return equal && best < 10e-6;
}

int main(void)
{
	bool ok = compare_with_whole();
	ok = fit_growth() && ok;
	ok = ask_again() && ok;
	return ok ? 0 : 1;
}
