/* ResNet-50's 54 layers on a 128x128 array, as a user asks for them: the whole process `wham
 * simulate
 * --layers`, from exec to exit. SCALE-Sim v3 takes 295 CPU seconds and 7 GB for the same layers. Asserts
 * at most 10 ms of processor time (the median of RUNS), 20 MB, and 54 layers.
 * usage: bench_resnet50 WHAM */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 21, LAYERS = 54 };

struct sample {
	double cpu_ms;
	long max_rss_kib;
	int n_layers;
};

static double ms_of(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec * 1e-3;
}

/* Rows of convolutions and products. */
static int count_layers(FILE *out)
{
	char line[4096];
	int n = 0;
	while (fgets(line, sizeof(line), out))
		n += strstr(line, "\"kind\": \"conv\"") || strstr(line, "\"kind\": \"gemm\"");
	return n;
}

static struct sample run(const char *wham)
{
	int ends[2], status = 0;
	struct rusage before, after;
	getrusage(RUSAGE_CHILDREN, &before);
	if (pipe(ends) != 0)
		abort();
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl(wham, wham, "simulate", "--model", "resnet50", "--batch", "1", "--accel",
			"TC=1x128x128,VC=1x128,SRAM=14MiB", "--layers", "--json", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	FILE *out = fdopen(ends[0], "r");
	assert(child > 0 && out);
	struct sample s = {.n_layers = count_layers(out)};
	fclose(out);
	waitpid(child, &status, 0);
	assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	getrusage(RUSAGE_CHILDREN, &after);
	s.cpu_ms = ms_of(after.ru_utime) + ms_of(after.ru_stime) - ms_of(before.ru_utime) -
		   ms_of(before.ru_stime);
	s.max_rss_kib = after.ru_maxrss;
	return s;
}

static int compare(const void *x, const void *y)
{
	const double *a = x, *b = y;
	return *a < *b ? -1 : *a > *b;
}

int main(int argc, char **argv)
{
	assert(argc == 2);
	double cpu_ms[RUNS];
	struct sample s = {0};
	for (int i = 0; i < RUNS; i++) {
		s = run(argv[1]);
		assert(s.n_layers == LAYERS);
		cpu_ms[i] = s.cpu_ms;
	}
	qsort(cpu_ms, RUNS, sizeof(cpu_ms[0]), compare);
	double mb = (double)s.max_rss_kib * 1024e-6;
	printf("%d layers, whole process: %.2f ms of processor time (median of %d), %.1f MB\n",
		LAYERS, cpu_ms[RUNS / 2], RUNS, mb);
	assert(cpu_ms[RUNS / 2] < 10 && mb < 20);
	return 0;
}
