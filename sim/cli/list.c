#include <string.h>

#include "analytic/integrated.h"
#include "arch/energy.h"
#include "cli/internal.h"
#include "plan/scheme.h"
#include "search/search.h"

struct listing {
	const char *name;
	void (*collect)(struct request *q, struct names *out);
	/* more about each than the name, or NULL */
	bool (*describe)(struct request *q, const struct names *list, struct err *err);
};

static void add(struct request *q, struct names *list, const char *name)
{
	arena_push(q->a, list->items, list->n, list->cap) = name;
}

static void collect_accelerators(struct request *q, struct names *out)
{
	*out = data_names(q->a, "models/accelerators");
}

static void collect_algorithms(struct request *q, struct names *out)
{
	for (size_t i = 0; search_algos[i]; i++)
		add(q, out, search_algos[i]->name);
}

static void collect_collectives(struct request *q, struct names *out)
{
	for (size_t i = 0; coll_algos[i]; i++)
		add(q, out,
			arena_printf(q->a, "%s=%s", coll_kind_name(coll_algos[i]->kind),
				coll_algos[i]->name));
}

static void collect_compute(struct request *q, struct names *out)
{
	*out = data_names(q->a, "models/compute");
}

/* What the models of energy and power rest on. */
static void collect_constants(struct request *q, struct names *out)
{
	const struct energy_row *rows = energy_table();
	for (int i = 0; i < N_ENERGY_CONSTANTS; i++)
		add(q, out,
			arena_printf(q->a, "%s = %g %s: %s", rows[i].name, rows[i].value,
				rows[i].unit, rows[i].source));
}

static void collect_formats(struct request *q, struct names *out)
{
	static const char *const formats[] = {"algorithm: msccl (XML)",
		"measurement: nccl-tests (text or JSON)", "model: onnx",
		"model: wham workload (JSON)", "topology: nccl topology (XML)",
		"topology: simai topology (text)", "topology: simgrid platform (XML)",
		"topology: wham topology (JSON)", "trace: chakra execution trace (.et)",
		"trace: wham prog (text)"};
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		add(q, out, formats[i]);
}

static void collect_models(struct request *q, struct names *out)
{
	*out = data_names(q->a, "models/workloads");
}

/* The models themselves, with --verbose their variants too. */
static bool load_models(struct request *q, const struct names *list, struct graph **models,
	uint32_t *n, struct err *err)
{
	uint32_t cap = 0;
	struct graph one;
	for (uint32_t i = 0; i < list->n; i++) {
		struct graph_variants variants;
		if (!load_model(q, list->items[i], 0, 1, &one, err))
			return false;
		arena_push(q->a, *models, *n, cap) = one;
		if (!q->verbose)
			continue;
		if (!graph_read_variants(q->a, one.path, &variants, err))
			return false;
		for (uint32_t v = 0; v < variants.n; v++) {
			const char *name =
				arena_printf(q->a, "%s:%s", list->items[i], variants.names[v]);
			if (!load_model(q, name, 0, 1, &one, err))
				return false;
			arena_push(q->a, *models, *n, cap) = one;
		}
	}
	return true;
}

static bool describe_models(struct request *q, const struct names *list, struct err *err)
{
	struct graph *models = NULL;
	uint32_t n = 0;
	struct table t;
	struct text out = {0};
	if (!load_models(q, list, &models, &n, err))
		return false;
	if (q->json) {
		json_t *result = json_object(), *names = json_array();
		for (uint32_t i = 0; i < n; i++)
			json_array_append_new(names, json_string(models[i].name));
		json_object_set_new(result, "models", names);
		json_object_set_new(result, "details", report_models_json(models, n));
		return write_json(q, result, err);
	}
	report_models_table(q->a, models, n, &t);
	if (q->csv)
		return write_csv(q, &t, err);
	table_print(&t, &out, 0);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

static void collect_schemes(struct request *q, struct names *out)
{
	for (size_t i = 0; schemes[i]; i++)
		add(q, out, arena_printf(q->a, "%s: %s", schemes[i]->name, schemes[i]->doc));
}

static void collect_suites(struct request *q, struct names *out)
{
	for (size_t i = 0; suites[i]; i++)
		add(q, out, suites[i]->name);
}

static void collect_topologies(struct request *q, struct names *out)
{
	*out = data_names(q->a, "topologies");
	for (size_t i = 0; topo_families[i]; i++)
		add(q, out, topo_families[i]->usage);
}

static void collect_variants(struct request *q, struct names *out)
{
	add(q, out, "choice");
	for (size_t i = 0; integrated_variants[i]; i++)
		add(q, out, integrated_variants[i]->name);
}

static const struct listing listings[] = {
	{"accelerators", collect_accelerators, NULL},
	{"algorithms", collect_algorithms, NULL},
	{"collectives", collect_collectives, NULL},
	{"compute", collect_compute, NULL},
	{"constants", collect_constants, NULL},
	{"formats", collect_formats, NULL},
	{"models", collect_models, describe_models},
	{"schemes", collect_schemes, NULL},
	{"suites", collect_suites, NULL},
	{"topologies", collect_topologies, NULL},
	{"variants", collect_variants, NULL},
};
enum { N_LISTINGS = sizeof(listings) / sizeof(*listings) };

static const struct listing *listing_get(const char *name, struct err *err)
{
	const char *names[N_LISTINGS];
	for (size_t i = 0; i < N_LISTINGS; i++) {
		names[i] = listings[i].name;
		if (strcmp(name, names[i]) == 0)
			return &listings[i];
	}
	const char *near = text_nearest(name, names, N_LISTINGS);
	err_set(err, ERR_USAGE, "unknown list '%s'%s%s%s", name, near ? ", did you mean '" : "",
		near ? near : ", see 'wham help list'", near ? "'?" : "");
	return NULL;
}

static json_t *names_json(const struct names *list)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < list->n; i++)
		json_array_append_new(array, json_string(list->items[i]));
	return array;
}

static bool run_list(struct request *q, struct err *err)
{
	if (q->files.n != 1)
		return err_set(err, ERR_USAGE,
			"list takes one of models, accelerators, topologies, collectives, "
			"algorithms, compute, constants, formats, schemes, suites, variants");
	const struct listing *l = listing_get(q->files.items[0], err);
	struct names list = {0};
	if (!l)
		return false;
	l->collect(q, &list);
	if (l->describe)
		return l->describe(q, &list, err);
	if (q->json) {
		json_t *result = json_object();
		json_object_set_new(result, l->name, names_json(&list));
		return write_json(q, result, err);
	}
	struct text out = {0};
	for (uint32_t i = 0; i < list.n; i++)
		text_add(&out, "%s\n", list.items[i]);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

const struct command command_list = {
	.name = "list",
	.usage = "list "
		 "models|accelerators|topologies|collectives|algorithms|compute|constants|formats|"
		 "schemes|"
		 "suites|variants",
	.summary = "what is there by name",
	.examples = "  wham list models\n  wham list models --verbose --csv\n  wham list "
		    "collectives --json\n",
	.run = run_list,
};
