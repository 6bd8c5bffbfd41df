/* Names, and the frame of every search. */
#include <math.h>
#include <string.h>

#include "search/internal.h"

struct named {
	const char *name;
	int value;
};

static const struct named metrics[] = {
	{"perf-per-tdp", METRIC_PERF_PER_TDP},
	{"throughput", METRIC_THROUGHPUT},
};

static const struct named modes[] = {
	{"common", MODE_COMMON},
	{"individual", MODE_INDIVIDUAL},
};

static const struct named *find(const struct named *table, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	}
	return NULL;
}

bool metric_find(const char *name, enum metric *out)
{
	const struct named *n = find(metrics, sizeof(metrics) / sizeof(*metrics), name);
	if (n)
		*out = (enum metric)n->value;
	return n != NULL;
}

bool search_mode_find(const char *name, enum search_mode *out)
{
	const struct named *n = find(modes, sizeof(modes) / sizeof(*modes), name);
	if (n)
		*out = (enum search_mode)n->value;
	return n != NULL;
}

const struct search_algo *const search_algos[] = {
	&search_exhaustive,
	&search_random,
	&search_wham,
	NULL,
};

const struct search_algo *search_algo_get(const char *name, struct err *err)
{
	enum { MAX_NAMES = sizeof(search_algos) / sizeof(*search_algos) };
	const char *names[MAX_NAMES];
	size_t n = 0;
	for (; search_algos[n]; n++) {
		names[n] = search_algos[n]->name;
		if (strcmp(names[n], name) == 0)
			return search_algos[n];
	}
	const char *near = text_nearest(name, names, n);
	if (near)
		err_set(err, ERR_USAGE, "unknown search algorithm '%s', did you mean '%s'?", name,
			near);
	else
		err_set(err, ERR_USAGE,
			"unknown search algorithm '%s', expected exhaustive, random or wham", name);
	return NULL;
}

void search_progress(const struct run_state *s, double best)
{
	const struct search_config *config = s->problem.config;
	if (config->progress)
		config->progress(config->progress_ctx, s->out->oracle_calls, best);
}

bool search_spent(const struct run_state *s)
{
	const struct search_config *config = s->problem.config;
	if (config->stop && config->stop())
		return true;
	return config->max_calls > 0 && s->out->oracle_calls >= config->max_calls;
}

void search_keep(struct run_state *run, struct candidates *found, const struct point_result *r)
{
	run->out->oracle_calls += r->calls;
	if (r->fits) {
		struct candidate c =
			candidate_make(run->arena, &run->problem, &r->design, r->score);
		for (uint32_t i = 0; i < run->problem.n_stages; i++) {
			c.costs[i] = r->costs[i];
			c.known[i] = true;
		}
		candidates_add(found, &c);
	}
	search_progress(run, found->n > 0 ? found->list[0].score : 0);
}

static bool check_config(const struct search_config *config, struct err *err)
{
	if (config->n_workloads == 0)
		return err_set(err, ERR_USAGE, "a search needs a workload");
	if (config->mode == MODE_INDIVIDUAL && config->n_workloads > 1)
		return err_set(err, ERR_USAGE,
			"mode individual searches one workload at a time, got %u; mode common "
			"finds one design for all",
			config->n_workloads);
	if (config->top_k == 0)
		return err_set(err, ERR_USAGE, "at least one design has to be kept (top k)");
	return true;
}

bool search_drive(struct arena *a, const struct search_config *config, search_propose *propose,
	struct search_result *out, struct err *err)
{
	struct run_state run = {.arena = a, .out = out};
	struct candidates found;
	*out = (struct search_result){0};
	return check_config(config, err) && problem_build(a, config, &run.problem, err) &&
	       problem_check_fits(&run.problem, err) && propose(&run, &found, err) &&
	       global_finish(&run, &found, err);
}

bool search_run(struct arena *a, const struct search_algo *algo, const struct search_config *config,
	struct search_result *out, struct err *err)
{
	return algo->run(a, config, out, err);
}
