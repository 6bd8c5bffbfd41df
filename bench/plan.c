/* Grids of AlexNet as a user asks for them, whole processes of `wham plan` from exec to exit. Asserts,
 * in processor time with the children that SimGrid runs in: every grid of 512 processes in closed
 * form in 10 ms (the median of RUNS), executed on SimGrid in 5 s, and every grid of 8,192 executed
 * in 60 s; and that each grid has its time, but for the four with Pr above the 1,000 outputs of fc8. usage: bench_plan WHAM */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 11 };

struct question {
	const char *batch, *devices, *network, *topology; /* topology: NULL for the default */
	int n_grids;
	double limit_ms;
};

static double ms_of(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec * 1e-3;
}

static double children_ms(void)
{
	struct rusage u;
	getrusage(RUSAGE_CHILDREN, &u);
	return ms_of(u.ru_utime) + ms_of(u.ru_stime);
}

static void ask(const char *wham, const struct question *q)
{
	const char *argv[24] = {wham, "plan", "--model", "alexnet", "--dtype", "fp32", "--variant",
		"exact-fc", "--csv", "--batch", q->batch, "--devices", q->devices, "--network",
		q->network};
	if (q->topology) {
		argv[15] = "--topology";
		argv[16] = q->topology;
		argv[17] = "--fold";
		argv[18] = "on";
	}
	/* execv() does not write to the strings. */
	union {
		const char **in;
		char **out;
	} args = {argv};
	execv(wham, args.out);
	_exit(127);
}

/* How many commas stand before a column. */
static int find_column(const char *header, const char *name)
{
	int n = 0;
	const char *at = strstr(header, name);
	assert(at);
	for (const char *c = header; c < at; c++)
		n += *c == ',';
	return n;
}

/* Rows whose time is there and above zero. */
static int count_grids(FILE *out, const char *column)
{
	char line[4096];
	int n = 0, k = -1;
	while (fgets(line, sizeof(line), out)) {
		const char *cell = line;
		if (k < 0) {
			k = find_column(line, column);
			continue;
		}
		for (int i = 0; i < k && cell; i++) {
			cell = strchr(cell, ',');
			cell = cell ? cell + 1 : NULL;
		}
		n += cell && strtod(cell, NULL) > 0;
	}
	return n;
}

static double run(const char *wham, const struct question *q)
{
	int ends[2], status = 0;
	double before = children_ms();
	if (pipe(ends) != 0)
		abort();
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		ask(wham, q);
	}
	close(ends[1]);
	FILE *out = fdopen(ends[0], "r");
	assert(child > 0 && out);
	int n = count_grids(
		out, strcmp(q->network, "simgrid") == 0 ? "simulated_comm_ms" : "analytic_comm_ms");
	fclose(out);
	waitpid(child, &status, 0);
	assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert(n == q->n_grids);
	return children_ms() - before;
}

static int compare(const void *x, const void *y)
{
	const double *a = x, *b = y;
	return *a < *b ? -1 : *a > *b;
}

static double median(const char *wham, const struct question *q, int runs)
{
	double ms[RUNS];
	for (int i = 0; i < runs; i++)
		ms[i] = run(wham, q);
	qsort(ms, (size_t)runs, sizeof(ms[0]), compare);
	printf("%d grids of %4s processes, %s%s%s: %.1f ms\n", q->n_grids, q->devices, q->network,
		q->topology ? " on " : "", q->topology ? q->topology : "", ms[runs / 2]);
	assert(ms[runs / 2] < q->limit_ms);
	return ms[runs / 2];
}

int main(int argc, char **argv)
{
	static const struct question analytic = {"2048", "512", "analytic", NULL, 10, 10},
				     simulated = {"2048", "512", "simgrid", NULL, 10, 5e3},
				     large = {"8192", "8192", "simgrid", NULL, 10, 60e3},
				     torus = {"8192", "8192", "simgrid",
					     "torus:16x16x32,bw=6GB/s,lat=1us", 10, 60e3};
	assert(argc == 2);
	double closed = median(argv[1], &analytic, RUNS);
	double folded = median(argv[1], &simulated, 3);
	median(argv[1], &large, 1);
	median(argv[1], &torus, 1);
	printf("executed / closed form, 512 processes: %.1f times\n", folded / closed);
	return 0;
}
