/* Message rate of our seam to SimGrid against a bare SimGrid program doing the same ring in the
 * same run. The two take turns; the medians are compared. Fails below 0.8, or when the simulated
 * ends differ.
 * usage: bench_net BARE_PROGRAM */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "net/net.h"

enum { RANKS = 64, ROUNDS = 1000, TURNS = 7, BYTES = 9000000 };

struct sample {
	double cpu_s, end_s;
};

struct ring;
struct rank {
	struct net_msg msg;
	struct ring *ring;
	uint32_t n_sent, n_got;
	bool idle; /* what it sent last has arrived */
};
struct ring {
	struct rank ranks[RANKS];
	double start_s;
};

/* Both are one thread; what else the machine does must not count. */
static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The next round starts when the last message has left and the last one from the left is there. */
static void advance(struct net *net, struct rank *rank)
{
	if (!rank->idle || rank->n_got < rank->n_sent || rank->n_sent == ROUNDS)
		return;
	rank->idle = false;
	rank->n_sent++;
	net_send(net, &rank->msg);
}

static void done(struct net *net, struct net_msg *msg)
{
	struct rank *from = msg->owner, *to = &from->ring->ranks[msg->dst];
	from->idle = true;
	to->n_got++;
	advance(net, from);
	advance(net, to);
}

static void start(struct net *net, void *ctx)
{
	struct ring *ring = ctx;
	ring->start_s = cpu_s();
	for (uint32_t i = 0; i < RANKS; i++) {
		struct rank *rank = &ring->ranks[i];
		*rank = (struct rank){.ring = ring, .idle = true};
		rank->msg = (struct net_msg){.src = i,
			.dst = (i + 1) % RANKS,
			.bytes = BYTES,
			.done = done,
			.owner = rank};
		advance(net, rank);
	}
}

static bool finish(struct net *net, void *ctx, struct text *reply, struct err *err)
{
	const struct ring *ring = ctx;
	text_add(reply, "%.9f %.15f\n", cpu_s() - ring->start_s, ticks_to_s(net->des->now));
	return net->n_sent == (uint64_t)RANKS * ROUNDS ||
	       err_set(err, ERR_INTERNAL, "%" PRIu64 " messages were sent", net->n_sent);
}

static bool parse_sample(const char *text, struct sample *out)
{
	return sscanf(text, "%lf %lf", &out->cpu_s, &out->end_s) == 2;
}

static bool run_ours(const struct topo *t, const struct topo_pair *pairs, struct sample *out)
{
	struct arena a = {0};
	struct err err = {0};
	struct bytes reply;
	struct ring *ring = arena_new(&a, struct ring);
	struct net_job job = {start, finish, ring, pairs, RANKS};
	bool ok = net_run(&a, NET_SIMGRID, t, &job, &reply, &err) && parse_sample(reply.data, out);
	if (!ok)
		fprintf(stderr, "ours: %s\n", err.text);
	arena_free(&a);
	return ok;
}

static bool run_bare(const char *program, const char *platform, struct sample *out)
{
	char command[4096], line[256];
	snprintf(command, sizeof(command), "'%s' '%s' %d %d %d", program, platform, RANKS, ROUNDS,
		BYTES);
	FILE *pipe = popen(command, "r");
	bool ok = pipe && fgets(line, sizeof(line), pipe) && parse_sample(line, out);
	if (pipe && pclose(pipe) != 0)
		ok = false;
	if (!ok)
		fprintf(stderr, "cannot run %s\n", command);
	return ok;
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

static double median(double *values)
{
	qsort(values, TURNS, sizeof(*values), compare_doubles);
	return values[TURNS / 2];
}

/* Rounding to ticks may move each of our rounds by half a tick. */
static bool same_end(double ours_s, double bare_s)
{
	double off = ours_s > bare_s ? ours_s - bare_s : bare_s - ours_s;
	return off <= ROUNDS * 1e-12;
}

static int compare(const struct topo *t, const struct topo_pair *pairs, const char *program,
	const char *platform)
{
	double ours[TURNS], bare[TURNS];
	for (int i = 0; i < TURNS; i++) {
		struct sample a = {0}, b = {0};
		if (!run_bare(program, platform, &b) || !run_ours(t, pairs, &a))
			return 1;
		if (!same_end(a.end_s, b.end_s)) {
			fprintf(stderr, "simulated ends differ: %.12f and %.12f s\n", a.end_s,
				b.end_s);
			return 1;
		}
		ours[i] = (double)RANKS * ROUNDS / a.cpu_s;
		bare[i] = (double)RANKS * ROUNDS / b.cpu_s;
	}
	double o = median(ours), b = median(bare);
	printf("ring of %d, %d rounds: ours %.0f messages/s, bare SimGrid %.0f messages/s, ratio "
	       "%.2f\n",
		RANKS, ROUNDS, o, b, o / b);
	return o / b >= 0.8 ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct arena a = {0};
	struct topo t;
	struct err err = {0};
	struct text xml = {0};
	struct topo_pair pairs[RANKS];
	char path[] = "/tmp/bench_net_XXXXXX.xml";
	if (argc != 2) {
		fprintf(stderr, "usage: bench_net BARE_PROGRAM\n");
		return 2;
	}
	for (uint32_t i = 0; i < RANKS; i++)
		pairs[i] = (struct topo_pair){i, (i + 1) % RANKS};
	int fd = mkstemps(path, 4);
	bool ok = fd >= 0 && topo_parse(&a, "ring:64,bw=450GB/s,lat=100ns", &t, &err);
	if (ok) {
		topo_write_platform(&t, pairs, RANKS, &xml);
		ok = write(fd, xml.data, xml.n) == (ssize_t)xml.n;
	}
	int status = ok ? compare(&t, pairs, argv[1], path) : 1;
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	text_free(&xml);
	arena_free(&a);
	return status;
}
