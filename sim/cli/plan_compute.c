/* How long the processes of `wham plan` compute: an accelerator, or a table of times. */
#include <math.h>
#include <string.h>

#include "cli/plan.h"
#include "plan/grid_compute.h"

struct computing {
	struct request *q;
	const char *model_name, *name;
	struct arch arch;
	struct grid_compute *compute; /* NULL: the table */
	struct grid_table table;
};

const char *plan_computing_name(const struct computing *c)
{
	return c->name;
}

/* Plain SGD, as in the closed forms, where weights and their gradients are all that there is. */
static bool read_graph(
	void *context, struct arena *a, uint64_t samples, struct graph *out, struct err *err)
{
	const struct computing *c = context;
	struct graph forward, fused;
	struct train_options train = {.optimizer = OPTIMIZER_SGD};
	if (!load_model(c->q, c->model_name, samples, 1, &forward, err))
		return false;
	graph_fuse(a, &forward, &fused);
	graph_train(a, &fused, &train, out);
	return true;
}

static bool load_table(struct request *q, struct computing *c, struct err *err)
{
	const char *path =
		data_find(q, "table of compute times", "models/compute", q->compute, err);
	if (!path || !grid_compute_table_read(q->a, path, &c->table, err))
		return false;
	c->name = arena_printf(q->a, "table %s", q->compute);
	return true;
}

struct computing *plan_computing(
	struct request *q, const char *model, const struct planning *p, struct err *err)
{
	struct computing *c = arena_new(q->a, struct computing);
	*c = (struct computing){.q = q, .model_name = model};
	if (q->compute && q->accel) {
		err_set(err, ERR_USAGE, "--accel and --compute exclude each other");
		return NULL;
	}
	if (q->compute)
		return load_table(q, c, err) ? c : NULL;
	if (!load_arch(q, q->accel, &c->arch, err))
		return NULL;
	c->name = arena_printf(q->a, "%s, one operator after the other", c->arch.name);
	c->compute = grid_compute_create(q->a, &(struct grid_compute_input){
						       .layers = p->c.q.layers,
						       .n_layers = p->c.q.n_layers,
						       .arch = &c->arch,
						       .options = {.intra_op_split = true},
						       .source = {read_graph, c},
					       });
	return c;
}

bool plan_compute_times(struct computing *c, const struct grid_question *q,
	const enum grid_way *ways, struct grid_times *out, struct err *err)
{
	return c->compute ? grid_compute_times(c->compute, q, ways, out, err)
			  : grid_compute_table_times(&c->table, q, out, err);
}

/* A table that lacks a time lacks it for every grid. */
bool plan_cannot_compute(
	struct computing *c, const struct err *why, struct grid_row *row, struct err *err)
{
	if (!c->compute || why->kind != ERR_INPUT) {
		*err = *why;
		return false;
	}
	row->uncomputed = arena_strdup(c->q->a, why->text);
	return true;
}

bool plan_compute_layer(struct computing *c, const struct grid_question *q, uint32_t layer,
	enum grid_way way, struct grid_times *out, struct err *err)
{
	if (c->compute)
		return grid_compute_layer(c->compute, q, layer, way, out, err);
	struct grid_times *all = arena_array(c->q->a, q->n_layers, struct grid_times);
	if (!grid_compute_table_times(&c->table, q, all, err))
		return false;
	*out = all[layer];
	return true;
}

const double *plan_compute_ways(
	struct request *q, struct computing *c, const struct grid_question *question)
{
	static const enum grid_way all[] = {GRID_BATCH, GRID_MODEL, GRID_DOMAIN};
	double *out = arena_array(q->a, (size_t)question->n_layers * N_GRID_WAYS, double);
	if (!c || !c->compute)
		return NULL;
	for (uint32_t i = 0; i < question->n_layers; i++)
		for (uint32_t w = 0; w < N_GRID_WAYS; w++) {
			struct grid_times t;
			struct err why;
			bool fits = grid_compute_layer(c->compute, question, i, all[w], &t, &why);
			out[(size_t)i * N_GRID_WAYS + all[w]] =
				fits ? ticks_to_s(t.forward + t.dx + t.dw) : (double)INFINITY;
		}
	return out;
}

double plan_compute_perfect_s(struct request *q, struct computing *c, const struct planning *p)
{
	struct grid_question whole = p->c.q;
	double sum = 0;
	whole.grid = (struct process_grid){1, 1};
	whole.conv = (struct process_grid){0};
	if (!c || !c->compute)
		return 0;
	for (uint32_t i = 0; i < whole.n_layers; i++) {
		struct grid_times t;
		struct err why;
		if (!grid_compute_layer(c->compute, &whole, i, GRID_BATCH, &t, &why))
			return 0;
		sum += ticks_to_s(t.forward + t.dx + t.dw);
	}
	return sum / p->processes;
}
