/* The schedule behind the exact closed forms, on SimGrid: on a crossbar they are the same; on
 * other networks the difference is shown, and which grid is the best there. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "run/run.h"
#include "topo/topo.h"
#include "validate/integrated.h"

/* SimGrid counts in picoseconds and 1024ths of a byte. */
static const double held_to = 1e-4;
enum { BATCH = 2048 };

/* One grid on one network. */
struct trial {
	const struct topo *topo;
	struct integrated_case c;
	struct integrated_rules rules;
	const char *all_reduce; /* of the schedule, the one that the rules cost */
	const char *network;
	bool shows; /* where no closed form holds: ring all-reduces with ring all-gathers */
};

/* Seconds of each layer, forward and backward, as carried out and in closed form. */
static bool simulate(const struct trial *t, double *layers, double *forms, struct err *err)
{
	struct arena a = {0};
	struct iteration it;
	struct run_result run;
	enum grid_way *ways = arena_array(&a, t->c.q.n_layers, enum grid_way);
	bool rings = strcmp(t->all_reduce, "ring") == 0 && t->shows;
	struct grid_options options = {
		.all_reduce = t->all_reduce, .all_gather = rings ? "ring" : NULL};
	struct run_config config = {
		.topo = t->topo, .net = NET_SIMGRID, .fold = RUN_FOLD_AUTO, .task_ends = true};
	integrated_ways(&t->c, &t->rules, ways);
	for (uint32_t i = 0; i < t->c.q.n_layers; i++) {
		struct integrated_terms terms = integrated_ways_layer(&t->c, &t->rules, ways, i);
		forms[i] = integrated_terms_s(&terms);
	}
	bool ok = grid_schedule(&a, &t->c.q, ways, &options, &it, err) &&
		  run_prog(&a, &it.prog, &config, &run, err);
	for (uint32_t i = 0; ok && i < run.n_task_ends; i++) {
		tick start = i > 0 ? run.task_ends[i - 1] : 0;
		layers[it.layers[i]] += ticks_to_s(run.task_ends[i] - start);
	}
	arena_free(&a);
	return ok;
}

static bool parse(struct arena *a, const char *network, const struct alpha_beta *m,
	struct topo *out, struct err *err)
{
	char bw[UNIT_TEXT], lat[UNIT_TEXT];
	unit_print_exact(bw, UNIT_BANDWIDTH, (uint64_t)llround(1 / m->beta));
	unit_print_exact(lat, UNIT_TIME, (tick)llround(m->alpha / 2 * (double)TICKS_PER_S));
	return topo_parse(a, arena_printf(a, "%s,bw=%s,lat=%s", network, bw, lat), out, err);
}

/* Every layer of every grid of `p` processes that the rules allow. */
static bool hold_grids(const struct suite_context *context, struct trial *t, uint32_t p,
	struct suite_report *out, struct err *err)
{
	struct arena *a = context->a;
	uint32_t n = t->c.q.n_layers;
	for (uint32_t pr = 1; pr <= p; pr++) {
		struct err why;
		t->c.q.grid = (struct process_grid){pr, p / pr};
		if (p % pr != 0 || !integrated_check(&t->c, &t->rules, p, &why))
			continue;
		double *layers = arena_array(a, n, double), *forms = arena_array(a, n, double);
		if (!simulate(t, layers, forms, err))
			return false;
		for (uint32_t i = 0; i < n; i++)
			suite_add(a, out,
				arena_printf(a, "%s %ux%u %s, %s: crossbar", t->rules.name, pr,
					p / pr, t->c.q.layers[i].name, t->all_reduce),
				forms[i], layers[i], held_to);
	}
	return true;
}

static const struct {
	const char *rules, *form, *all_reduce;
	uint32_t processes;
} held[] = {
	{"exact-all", "ar_rab", "rabenseifner", 64},
	{"exact-fc", "ar_rab", "rabenseifner", 64},
	{"exact-domain", "ar_rab", "rabenseifner", 64},
	{"exact-all", "ar_rab", "rabenseifner", 60},
	{"exact-all", "ar_ring", "ring", 60},
	{"exact-domain", "ar_ring", "ring", 45},
};

static bool take_rules(
	const char *name, const char *form, struct integrated_rules *out, struct err *err)
{
	const struct integrated_rules *rules = integrated_variant(name, err);
	if (!rules)
		return false;
	*out = *rules;
	out->all_reduce = form;
	return true;
}

static bool hold_crossbar(const struct suite_context *context, const struct integrated_case *c,
	struct suite_report *out, struct err *err)
{
	for (size_t i = 0; i < sizeof(held) / sizeof(*held); i++) {
		struct topo topo;
		struct trial t = {.topo = &topo, .c = *c, .all_reduce = held[i].all_reduce};
		const char *network = arena_printf(context->a, "crossbar:%u", held[i].processes);
		if (!take_rules(held[i].rules, held[i].form, &t.rules, err) ||
			!parse(context->a, network, &c->machine, &topo, err) ||
			!hold_grids(context, &t, held[i].processes, out, err))
			return false;
	}
	return true;
}

/* 64 devices each, every link as fast as a port of the crossbar; of the fat tree half as many
 * links lead up from a leaf as devices are below it. */
static const char *const networks[] = {"ring:64", "torus:8x8", "fattree:8x8,oversubscription=2"};
enum { PROCESSES = 64 };

struct best {
	uint32_t pr; /* 0: none yet */
	double s;
};

static void take_less(struct best *best, uint32_t pr, double s)
{
	if (best->pr == 0 || s < best->s)
		*best = (struct best){pr, s};
}

/* What is said of one network in the end. */
struct summary {
	const char *worst, *changes;
	double difference;      /* of `worst`, relative to the closed form */
	struct best exact, run; /* of the trial that is under way */
};

static bool show_grid(const struct suite_context *context, const struct trial *t,
	struct suite_report *out, struct summary *sum, struct err *err)
{
	struct arena *a = context->a;
	uint32_t pr = t->c.q.grid.pr;
	uint32_t n = t->c.q.n_layers;
	double *layers = arena_array(a, n, double), *forms = arena_array(a, n, double);
	double form = 0, ours = 0;
	const char *label =
		arena_printf(a, "%s %ux%u, %s", t->rules.name, pr, t->c.q.grid.pc, t->all_reduce);
	if (!simulate(t, layers, forms, err))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		form += forms[i];
		ours += layers[i];
	}
	suite_show(a, out, arena_printf(a, "%s: %s", label, t->network), form, ours, NULL);
	take_less(&sum->exact, pr, form);
	take_less(&sum->run, pr, ours);
	if (!sum->worst || fabs(ours / form - 1) > fabs(sum->difference)) {
		sum->difference = ours / form - 1;
		sum->worst = label;
	}
	return true;
}

static bool show_network(const struct suite_context *context, struct trial *t,
	struct suite_report *out, struct summary *sum, struct err *err)
{
	struct arena *a = context->a;
	sum->exact = sum->run = (struct best){0};
	for (uint32_t pr = 1; pr <= PROCESSES; pr *= 2) {
		struct err why = {0};
		t->c.q.grid = (struct process_grid){pr, PROCESSES / pr};
		if (integrated_check(&t->c, &t->rules, PROCESSES, &why) &&
			!show_grid(context, t, out, sum, err))
			return false;
	}
	const char *what = arena_printf(a, "%s, %s", t->rules.name, t->all_reduce);
	suite_show(a, out, arena_printf(a, "%s: Pr of the best grid: %s", what, t->network),
		sum->exact.pr, sum->run.pr, NULL);
	if (sum->exact.pr != sum->run.pr)
		sum->changes = arena_printf(a, "%s%s%s %ux%u in place of %ux%u",
			sum->changes ? sum->changes : "", sum->changes ? "; " : "", what,
			sum->run.pr, PROCESSES / sum->run.pr, sum->exact.pr,
			PROCESSES / sum->exact.pr);
	return true;
}

/* What the equations assume, and what rings of neighbours do. */
static const struct {
	const char *rules, *form, *all_reduce;
} shown[] = {
	{"exact-fc", "ar_rab", "rabenseifner"},
	{"exact-fc", "ar_ring", "ring"},
	{"exact-domain", "ar_rab", "rabenseifner"},
	{"exact-domain", "ar_ring", "ring"},
};

static bool show_networks(const struct suite_context *context, const struct integrated_case *c,
	struct suite_report *out, struct err *err)
{
	for (size_t n = 0; n < sizeof(networks) / sizeof(*networks); n++) {
		struct summary sum = {0};
		for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
			struct topo topo;
			struct trial t = {.topo = &topo,
				.c = *c,
				.network = networks[n],
				.all_reduce = shown[i].all_reduce,
				.shows = true};
			if (!take_rules(shown[i].rules, shown[i].form, &t.rules, err) ||
				!parse(context->a, networks[n], &c->machine, &topo, err) ||
				!show_network(context, &t, out, &sum, err))
				return false;
		}
		out->note = arena_printf(context->a, "%s\n%s: up to %+.1f %% (%s); best grids: %s.",
			out->note, networks[n], 100 * sum.difference, sum.worst,
			sum.changes ? sum.changes : "the same");
	}
	return true;
}

bool integrated_run_schedules(const struct suite_context *context,
	const struct integrated_case *paper, struct suite_report *out, struct err *err)
{
	struct integrated_case c = *paper;
	c.q.batch = BATCH;
	c.machine.beta = integrated_paper_beta(true);
	return hold_crossbar(context, &c, out, err) && show_networks(context, &c, out, err);
}
