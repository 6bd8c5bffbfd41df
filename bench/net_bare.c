/* The yardstick of bench/net.c: a ring written straight on SimGrid, one actor per rank and a
 * mailbox each.
 * usage: bench_net_bare PLATFORM RANKS ROUNDS BYTES; prints CPU seconds of the run and its simulated end. */
#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <xbt/config.h>

struct rank {
	sg_mailbox_t mine, right;
	long rounds, bytes;
};

static void play(int argc, char **argv)
{
	struct rank *me = sg_actor_self_get_data();
	for (long i = 0; i < me->rounds; i++) {
		sg_comm_t sent = sg_mailbox_put_async(me->right, me, me->bytes);
		sg_mailbox_get(me->mine);
		sg_comm_wait(sent);
	}
}

/* Both are one thread; what else the machine does must not count. */
static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void add_rank(struct rank *rank, long i, long n)
{
	char name[32];
	snprintf(name, sizeof(name), "d%ld", i);
	rank->mine = sg_mailbox_by_name(name);
	sg_actor_t actor = sg_actor_init(name, sg_host_by_name(name));
	snprintf(name, sizeof(name), "d%ld", (i + 1) % n);
	rank->right = sg_mailbox_by_name(name);
	sg_actor_set_data(actor, rank);
	sg_actor_start_(actor, (xbt_main_func_t)(void (*)(void))play, 0, NULL);
}

/* The settings of our network, spelled for the SimGrid this is built with. */
static void set_up(int *argc, char **argv)
{
	simgrid_init(argc, argv);
	sg_cfg_set_string("network/model", "CM02");
	sg_cfg_set_boolean("network/crosstraffic", "no");
	sg_cfg_set_double("network/TCP-gamma", 0);
	sg_cfg_set_double("network/loopback-lat", 0);
	sg_cfg_set_double(WHAM_PRECISION, 1e-12);
	sg_cfg_set_int("contexts/stack-size", 128);
}

int main(int argc, char **argv)
{
	set_up(&argc, argv);
	if (argc != 5) {
		fprintf(stderr, "usage: bench_net_bare PLATFORM RANKS ROUNDS BYTES\n");
		return 2;
	}
	long n = strtol(argv[2], NULL, 10);
	simgrid_load_platform(argv[1]);
	struct rank *ranks = calloc((size_t)n, sizeof(*ranks));
	if (!ranks)
		return 5;
	for (long i = 0; i < n; i++) {
		ranks[i].rounds = strtol(argv[3], NULL, 10);
		ranks[i].bytes = strtol(argv[4], NULL, 10);
		add_rank(&ranks[i], i, n);
	}
	double start = cpu_s();
	simgrid_run();
	printf("%.9f %.15f\n", cpu_s() - start, simgrid_get_clock());
	free(ranks);
	return 0;
}
