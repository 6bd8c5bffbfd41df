#include "search/search.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cli/internal.h"

struct mining {
	struct search_config config;
	struct workload *workloads;
	struct arch *baselines;
	struct topo topo;
	const char *budget_name;
};

static void show_progress(void *ctx, uint64_t calls, double best)
{
	char line[80];
	snprintf(line, sizeof(line), "search: %ju evaluations, best %.5g samples/s",
		(uintmax_t)calls, best);
	progress_show(ctx, line);
}

static bool load_workload(struct request *q, const char *name, struct workload *w, struct err *err)
{
	struct graph forward, fused, *train = arena_new(q->a, struct graph);
	*w = (struct workload){.weight = 1};
	if (!load_plan_options(q, &w->options, err) || !load_degrees(q, name, &w->degrees, err) ||
		!load_model(q, name, w->degrees.micro_batch, w->degrees.tp, &forward, err))
		return false;
	w->options.intra_op_split = q->intra_op && strcmp(q->intra_op, "split") == 0;
	struct train_options options = {.optimizer = w->options.optimizer};
	graph_fuse(q->a, &forward, &fused);
	graph_train(q->a, &fused, &options, train);
	w->name = forward.name;
	w->train = train;
	return true;
}

static bool load_workloads(struct request *q, struct mining *m, struct err *err)
{
	if (q->models.n == 0)
		return err_set(err, ERR_USAGE, "expected --model, e.g. --model bert-large");
	if (q->files.n > 0)
		return err_set(err, ERR_USAGE, "unexpected argument '%s', models go to --model",
			q->files.items[0]);
	m->workloads = arena_array(q->a, q->models.n, struct workload);
	for (uint32_t i = 0; i < q->models.n; i++)
		if (!load_workload(q, q->models.items[i], &m->workloads[i], err))
			return false;
	m->config.workloads = m->workloads;
	m->config.n_workloads = q->models.n;
	return true;
}

/* The reference comes first: ratios of several workloads are taken to it. */
static bool load_baselines(struct request *q, struct mining *m, struct err *err)
{
	static const char *const always[] = {"tpuv2", "nvdla"};
	m->baselines = arena_array(q->a, 3, struct arch);
	m->budget_name = q->budget_like ? q->budget_like : "tpuv2";
	if (!load_arch(q, m->budget_name, &m->baselines[0], err))
		return false;
	m->config.n_baselines = 1;
	for (size_t i = 0; i < 2; i++)
		if (strcmp(always[i], m->baselines[0].name) != 0 &&
			!load_arch(q, always[i], &m->baselines[m->config.n_baselines++], err))
			return false;
	m->config.baselines = m->baselines;
	if (!q->accel)
		m->config.base = m->baselines[0];
	else if (!load_arch(q, q->accel, &m->config.base, err))
		return false;
	m->config.budget.area_mm2 = arch_area_mm2(&m->baselines[0]);
	m->config.budget.tdp_w = arch_tdp_w(&m->baselines[0]);
	if (q->area_mm2 > 0 || q->tdp_w > 0)
		m->budget_name = "given";
	if (q->area_mm2 > 0)
		m->config.budget.area_mm2 = q->area_mm2;
	if (q->tdp_w > 0)
		m->config.budget.tdp_w = q->tdp_w;
	return true;
}

static uint32_t devices_needed(const struct mining *m)
{
	uint32_t most = 1;
	for (uint32_t i = 0; i < m->config.n_workloads; i++) {
		const struct degrees *d = &m->workloads[i].degrees;
		uint32_t n = d->pp * d->tp * d->dp;
		most = n > most ? n : most;
	}
	return most;
}

static bool place(struct request *q, struct mining *m, uint32_t n_ranks, struct err *err)
{
	struct placement p;
	if (!load_placement(q, &m->topo, n_ranks, &p, err))
		return false;
	m->config.device_of_rank = p.device_of_rank;
	m->config.compute_ppm = p.compute_ppm;
	return true;
}

static bool load_network(struct request *q, struct mining *m, struct err *err)
{
	uint32_t n = devices_needed(m);
	char bw[UNIT_TEXT];
	if (!load_net(q, &m->config.net, err) || !load_choice(q, &m->config.choice, err))
		return false;
	if (!q->topology && n == 1)
		return true;
	m->config.topo = &m->topo;
	if (q->topology)
		return load_topology(q, q->topology, &m->topo, err) && place(q, m, n, err);
	unit_print_exact(
		bw, UNIT_BANDWIDTH, m->config.base.links * m->config.base.link_bytes_per_s);
	const char *spec = arena_printf(q->a, "crossbar:%u,bw=%s,lat=500ns", n, bw);
	report_warn(q->a, &q->report, "no_topology",
		arena_printf(q->a, "no --topology: %u devices on one switch, %s", n, spec));
	return topo_parse(q->a, spec, &m->topo, err) && load_changes(q, &m->topo, err) &&
	       place(q, m, n, err);
}

static bool load_goal(struct request *q, struct mining *m, struct err *err)
{
	if (q->metric && !metric_find(q->metric, &m->config.metric))
		return err_set(err, ERR_USAGE,
			"unknown --metric '%s', expected throughput or perf-per-tdp", q->metric);
	if (q->mode && !search_mode_find(q->mode, &m->config.mode))
		return err_set(err, ERR_USAGE, "unknown --mode '%s', expected individual or common",
			q->mode);
	m->config.budget.floor = m->config.metric == METRIC_PERF_PER_TDP ? 1 : 0;
	m->config.space =
		(struct search_space){.min_dim = q->min_dim > 0 ? (uint32_t)q->min_dim : 4,
			.max_dim = q->max_dim > 0 ? (uint32_t)q->max_dim : 256,
			.max_width = (uint32_t)q->max_width,
			.max_count = 4096,
			.min_sram_bytes = UINT64_C(2) << 20,
			.max_sram_bytes = UINT64_C(128) << 20};
	m->config.top_k = q->topk > 0 ? (uint32_t)q->topk : 10;
	m->config.hysteresis = 2;
	m->config.seed = q->seed > 0 ? q->seed : 1;
	m->config.max_calls = q->max_calls;
	m->config.jobs = q->jobs > 0 ? (uint32_t)q->jobs : 1;
	m->config.progress = show_progress;
	m->config.progress_ctx = q;
	m->config.stop = interrupted;
	return true;
}

/* Dimensions are halved from the largest to the smallest, so both are powers of two. */
static bool check_space(const struct search_space *s, struct err *err)
{
	const uint32_t dims[] = {
		s->min_dim, s->max_dim, s->max_width > 0 ? s->max_width : s->max_dim};
	for (size_t i = 0; i < 3; i++)
		if ((dims[i] & (dims[i] - 1)) != 0 || dims[i] > 4096)
			return err_set(err, ERR_USAGE,
				"a core dimension of %u, expected powers of two up to 4096",
				dims[i]);
	if (s->min_dim > s->max_dim || s->min_dim > dims[2])
		return err_set(err, ERR_USAGE,
			"--min-dim %u is larger than --max-dim or --max-width", s->min_dim);
	return true;
}

static double cpu_seconds(void)
{
	struct rusage self, children;
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	return (double)(self.ru_utime.tv_sec + children.ru_utime.tv_sec) +
	       1e-6 * (double)(self.ru_utime.tv_usec + children.ru_utime.tv_usec);
}

static void put_run(struct request *q, uint64_t calls)
{
	if (!q->report.run)
		q->report.run = json_object();
	json_object_set_new(q->report.run, "cpu_s", json_real(cpu_seconds()));
	json_object_set_new(q->report.run, "oracle_calls", json_integer((json_int_t)calls));
	json_object_set_new(
		q->report.run, "jobs", json_integer((json_int_t)(q->jobs ? q->jobs : 1)));
}

/* One search over the given workloads, appended to the text or to the list. */
static bool mine(struct request *q, const struct search_algo *algo, const struct mining *m,
	json_t *list, struct text *out, struct err *err)
{
	struct search_result result = {0};
	if (!search_run(q->a, algo, &m->config, &result, err))
		return false;
	struct search_report r = {.config = &m->config,
		.result = &result,
		.algo = algo->name,
		.budget_name = m->budget_name};
	put_run(q, result.oracle_calls);
	if (q->json) {
		json_array_append_new(list, report_search_json(&r));
	} else if (q->csv) {
		struct table t;
		report_search_table(q->a, &r, &t);
		table_print_csv(&t, out);
	} else {
		report_search_text(q->a, &r, out);
	}
	return true;
}

static bool mine_all(struct request *q, const struct search_algo *algo, struct mining *m,
	json_t *list, struct text *out, struct err *err)
{
	uint32_t n = m->config.n_workloads;
	if (m->config.mode == MODE_COMMON || n == 1)
		return mine(q, algo, m, list, out, err);
	for (uint32_t i = 0; i < n; i++) {
		m->config.workloads = &m->workloads[i];
		m->config.n_workloads = 1;
		if (!mine(q, algo, m, list, out, err))
			return false;
	}
	return true;
}

/* One search is the result itself; several are a list. */
static bool write_mined(struct request *q, json_t *list, const struct text *out, struct err *err)
{
	if (!q->json)
		return write_text(q, out, err);
	json_t *result;
	if (json_array_size(list) == 1) {
		result = json_incref(json_array_get(list, 0));
	} else {
		result = json_object();
		json_object_set(result, "searches", list);
	}
	return write_json(q, result, err);
}

static bool run_search(struct request *q, struct err *err)
{
	struct mining m = {0};
	const struct search_algo *algo = search_algo_get(q->algo ? q->algo : "wham", err);
	if (!algo || !load_workloads(q, &m, err) || !load_baselines(q, &m, err) ||
		!load_goal(q, &m, err) || !check_space(&m.config.space, err) ||
		!load_network(q, &m, err))
		return false;
	struct text out = {0};
	if (q->dry_run) {
		text_add(&out, "%s search, %u workloads, within %.1f mm2 and %.1f W\n", algo->name,
			m.config.n_workloads, m.config.budget.area_mm2, m.config.budget.tdp_w);
		bool ok = write_text(q, &out, err);
		text_free(&out);
		return ok;
	}
	json_t *list = json_array();
	bool ok = mine_all(q, algo, &m, list, &out, err) && write_mined(q, list, &out, err);
	json_decref(list);
	text_free(&out);
	return ok;
}

const struct command command_search = {
	.name = "search",
	.usage = "search --model NAME|FILE [--model ...] [options]",
	.summary = "mine the accelerator that trains a model fastest within area and power",
	.examples =
		"  wham search --model bert-large --budget-like tpuv2\n"
		"  wham search --model bert-large --pp 4 --topology ring:4,bw=100GB/s,lat=1us\n"
		"  wham search --model resnet50 --model bert-base --mode common --metric "
		"perf-per-tdp\n"
		"  wham search --model resnet18 --algo random --max-calls 500 --seed 7 --json\n",
	.run = run_search,
	.finishes = true,
};
