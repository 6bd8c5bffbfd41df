/* Progs in lockstep, folded. In one run: the same iteration of eight layers folded and message by
 * message (ratio at least 50, times equal to a tick a round), and the CPU time of all grids of 512
 * processes (below 1 s) and of 8,192 (below 15 s). Further arguments are topologies of 8,192
 * devices to be measured beside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "run/run.h"

enum { LAYERS = 8 };

static double cpu_of(int who)
{
	struct rusage u;
	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* Of this process and of the children that SimGrid ran in. */
static double cpu_s(void)
{
	return cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN);
}

static double peak_mb(void)
{
	struct rusage self, children;
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	long kb = self.ru_maxrss > children.ru_maxrss ? self.ru_maxrss : children.ru_maxrss;
	return (double)kb / 1024;
}

static void add(struct prog_builder *b, uint32_t layer, enum coll_kind kind, uint32_t dims)
{
	prog_add_task(b, &(struct prog_task){.kind = TASK_COLL,
				 .cost = PROG_NONE,
				 .peer.dim = PROG_NONE,
				 .coll = kind,
				 .group = prog_add_group(b, dims),
				 .bytes = (UINT64_C(1) << (14 + layer)) * 3,
				 .algo = kind == COLL_ALLGATHER ? "bruck" : "rabenseifner"});
	prog_add_task(b, &(struct prog_task){.kind = TASK_COMPUTE,
				 .cost = PROG_NONE,
				 .peer.dim = PROG_NONE,
				 .duration = 1000000});
}

static void build(struct arena *a, uint32_t pr, uint32_t pc, struct prog *out)
{
	struct prog_grid grid = {.n_dims = 2, .names = {"pr", "pc"}, .sizes = {pr, pc}};
	uint32_t lo[2] = {0, 0}, hi[2] = {pr - 1, pc - 1};
	struct prog_builder *b = prog_build(a, &grid);
	prog_add_role(b, "all", lo, hi);
	for (uint32_t i = 0; i < LAYERS; i++) {
		add(b, i, COLL_ALLGATHER, 1);
		add(b, i, COLL_ALLREDUCE, 1);
		add(b, i, COLL_ALLREDUCE, 2);
	}
	prog_finish(b, out);
}

struct sample {
	double cpu_s;
	tick simulated;
	bool folded;
};

static struct sample run(struct arena *a, const struct prog *p, const struct run_config *config)
{
	struct err err = {0};
	struct run_result out;
	double start = cpu_s();
	if (!run_prog(a, p, config, &out, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	return (struct sample){cpu_s() - start, out.end, out.folded};
}

static struct topo parse(struct arena *a, const char *text)
{
	struct topo topo;
	struct err err = {0};
	if (!topo_parse(a, text, &topo, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	return topo;
}

static bool compare_with_whole(void)
{
	struct arena a = {0};
	struct prog p;
	struct topo topo = parse(&a, "crossbar:512,bw=25GB/s,lat=1us");
	struct run_config config = {.topo = &topo, .net = NET_SIMGRID, .fold = RUN_FOLD_AUTO};
	build(&a, 16, 32, &p);
	struct sample folded = {0};
	double best = 1e9;
	for (int turn = 0; turn < 5; turn++) {
		folded = run(&a, &p, &config);
		best = folded.cpu_s < best ? folded.cpu_s : best;
	}
	config.fold = RUN_FOLD_OFF;
	struct sample whole = run(&a, &p, &config);
	tick gap = folded.simulated > whole.simulated ? folded.simulated - whole.simulated
						      : whole.simulated - folded.simulated;
	tick rounds = LAYERS * (4 + 8 + 10);
	printf("16 x 32 processes: folded %.4f s, message by message %.2f s, ratio %.0f, times "
	       "differ by %llu ps of %llu\n",
		best, whole.cpu_s, whole.cpu_s / best, (unsigned long long)gap,
		(unsigned long long)whole.simulated);
	arena_free(&a);
	return folded.folded && !whole.folded && gap <= rounds && whole.cpu_s >= 50 * best;
}

static bool sweep(const char *text, enum run_fold fold, double budget_s)
{
	struct arena a = {0};
	double start = cpu_s();
	struct topo topo = parse(&a, text);
	struct run_memo *memo = run_memo_create(&topo, NET_SIMGRID);
	struct run_config config = {.topo = &topo, .net = NET_SIMGRID, .fold = fold, .memo = memo};
	bool folded = true;
	tick least = TICK_MAX;
	uint32_t best = 0, n = 0;
	for (uint32_t pr = 1; pr <= topo.n_devices; pr *= 2, n++) {
		struct arena scratch = {0};
		struct prog p;
		build(&scratch, pr, topo.n_devices / pr, &p);
		struct sample s = run(&scratch, &p, &config);
		folded = folded && s.folded;
		if (s.simulated < least) {
			least = s.simulated;
			best = pr;
		}
		arena_free(&scratch);
	}
	double spent = cpu_s() - start;
	printf("%s: %u grids in %.2f s (budget %.0f s), best %u x %u with %.3f ms, peak %.0f MB\n",
		text, n, spent, budget_s, best, topo.n_devices / best, ticks_to_s(least) * 1e3,
		peak_mb());
	run_memo_destroy(memo);
	arena_free(&a);
	return folded && spent < budget_s;
}

int main(int argc, char **argv)
{
	bool ok = compare_with_whole();
	ok = sweep("crossbar:512,bw=25GB/s,lat=1us", RUN_FOLD_AUTO, 1) && ok;
	ok = sweep("crossbar:8192,bw=25GB/s,lat=1us", RUN_FOLD_AUTO, 15) && ok;
	for (int i = 1; i < argc; i++)
		ok = sweep(argv[i], RUN_FOLD_ON, 1e9) && ok;
	return ok ? 0 : 1;
}
