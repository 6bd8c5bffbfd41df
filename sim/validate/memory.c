/* Memory of Megatron's four models on a device of the first stage: Korthikanti et al., arXiv
 * 2205.05198, figure 1 (GiB of parameters and optimizer states, of activations without and with
 * sequence parallelism and selective recomputation) and figure 7 (activations in per cent of those
 * without either).
 *
 * What the paper counts, so that its values come out:
 *   - the matrices of the transformer layers, 12 hidden^2 / tp elements each; no biases, norms or
 *     embeddings;
 *   - 18 bytes an element: weight 2, gradient 4, copy and two moments of Adam 12;
 *   - activations of the transformer layers (equation 2 to 4); nothing of embedding, loss or what
 *     is made again;
 *   - 1F1B with pp micro-batches in flight; 175B and 530B interleaved with 3 pieces of the model a
 *     device. */
#include <string.h>

#include "plan/plan.h"
#include "validate/internal.h"

/* Tables 3 and 5 of the paper. tp is 8, the sequence 2048, the vocabulary 51200. Sorted by name. */
struct megatron {
	const char *name;
	uint32_t layers, hidden, heads, pp, chunks;
	uint64_t micro_batch;
};

static const struct megatron models[] = {
	{"gpt3-175B", 96, 12288, 96, 8, 3, 1},
	{"megatron-1T", 128, 25600, 160, 64, 1, 1},
	{"megatron-22B", 48, 6144, 64, 1, 1, 4},
	{"turing-530B", 105, 20480, 128, 35, 3, 1},
};

static const struct megatron *find_model(const char *name)
{
	for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++)
		if (strcmp(models[i].name, name) == 0)
			return &models[i];
	return NULL;
}

static bool read_train(struct arena *a, const char *root, const struct megatron *m, bool sequence,
	struct graph *train, struct err *err)
{
	struct graph forward;
	struct graph_options o = {.batch = m->micro_batch, .tp = 8, .sequence_parallel = sequence};
	const char *path = arena_printf(a, "%s/models/workloads/megatron-gpt.json", root);
	const char *shape = arena_printf(
		a, "layers=3,hidden=%u,heads=%u,seq=2048,vocab=51200", m->hidden, m->heads);
	if (!graph_parse_overrides(a, shape, &o, err) || !graph_read(a, path, &o, &forward, err))
		return false;
	graph_train(a, &forward, &(struct train_options){OPTIMIZER_ADAM}, train);
	return true;
}

/* The middle one of three layers has nothing of embedding and head. */
static struct stage_memory middle(const struct graph *train, enum recompute recompute)
{
	struct memory_request r = {.train = train,
		.first_layer = 1,
		.end_layer = 2,
		.optimizer = OPTIMIZER_ADAM,
		.recompute = recompute,
		.in_flight = 1};
	return plan_stage_memory(&r);
}

static uint64_t matrix_elements(const struct graph *train)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < train->n_ops; i++) {
		const struct op *op = &train->ops[i];
		for (uint32_t j = 0; op->pass == PASS_FORWARD && op->layer == 1 && j < op->n_inputs;
			j++) {
			const struct tensor *t = &train->tensors[op->inputs[j]];
			if (t->class == TENSOR_PARAM && t->n_dims == 2)
				n += tensor_elements(t);
		}
	}
	return n;
}

static double gib(uint64_t bytes)
{
	return (double)bytes / 0x1p30;
}

/* Bytes of the activations of a first stage by recomputation, without and with sequence
 * parallelism. */
struct activations {
	uint64_t none[2], selective[2], full;
};

static uint64_t of_stage(const struct megatron *m, const struct graph *train, enum recompute how)
{
	uint32_t layers_of_chunk = m->layers / (m->pp * m->chunks);
	return middle(train, how).micro_batch_bytes * layers_of_chunk *
	       schedule_chunks_in_flight(m->pp, m->chunks);
}

static uint64_t states_bytes(const struct megatron *m, const struct graph *train)
{
	struct stage_memory one = middle(train, RECOMPUTE_NONE);
	uint64_t all = graph_layer_memory(train, 1, 2).parameter_elements;
	uint64_t of_parameter =
		(one.weights_bytes + one.gradients_bytes + one.optimizer_bytes) / all;
	return matrix_elements(train) * of_parameter * (m->layers / m->pp);
}

struct figure {
	const char *column, *label;
	double ours, tolerance;
};

static bool add_figures(const struct suite_context *context, const struct csv *t, size_t row,
	const struct figure *figures, struct suite_report *out, struct err *err)
{
	const char *name = csv_cell(t, row, suite_column(t, "model"));
	for (const struct figure *f = figures; f->column; f++) {
		double reference;
		if (!csv_number(t, row, suite_column(t, f->column), &reference, err))
			return false;
		suite_add(context->a, out, arena_printf(context->a, "%s %s", name, f->label),
			reference, f->ours, f->tolerance);
	}
	return true;
}

static bool run_row(const struct suite_context *context, const struct csv *t, size_t row,
	struct arena *a, struct suite_report *out, struct err *err)
{
	const char *name = csv_cell(t, row, suite_column(t, "model"));
	const struct megatron *m = find_model(name);
	struct graph train[2];
	struct activations x;
	if (!m)
		return err_set(err, ERR_INPUT,
			"%s: row %zu: unknown model '%s', expected gpt3-175B, megatron-1T, "
			"megatron-22B or turing-530B",
			t->path, row + 1, name);
	for (int s = 0; s < 2; s++) {
		if (!read_train(a, context->data_root, m, s == 1, &train[s], err))
			return false;
		x.none[s] = of_stage(m, &train[s], RECOMPUTE_NONE);
		x.selective[s] = of_stage(m, &train[s], RECOMPUTE_SELECTIVE);
	}
	x.full = of_stage(m, &train[0], RECOMPUTE_FULL);
	double percent = 100 / (double)x.none[0];
	const struct figure figures[] = {
		{"param_opt_GiB", "parameters, optimizer GiB", gib(states_bytes(m, &train[0])), 0},
		{"act_none_GiB", "activations GiB", gib(x.none[0]), 0.03},
		{"act_seqsel_GiB", "sequence, selective GiB", gib(x.selective[1]), 0.03},
		{"act_pct_none", "none %", (double)x.none[0] * percent, 0.03},
		{"act_pct_seq", "sequence %", (double)x.none[1] * percent, 0.03},
		{"act_pct_sel", "selective %", (double)x.selective[0] * percent, 0.03},
		{"act_pct_seqsel", "both %", (double)x.selective[1] * percent, 0.03},
		{"act_pct_full", "full %", (double)x.full * percent, 0.03},
		{NULL, NULL, 0, 0},
	};
	return add_figures(context, t, row, figures, out, err);
}

static bool run(const struct suite_context *context, const struct csv *t, struct suite_report *out,
	struct err *err)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		struct arena a = {0};
		bool ok = run_row(context, t, i, &a, out, err);
		arena_free(&a);
		if (!ok)
			return false;
	}
	out->note = "bytes of the graph's tensors by the conventions of the paper: matrices of the "
		    "transformer layers alone, 18 bytes a parameter, first stage under 1F1B, "
		    "175B and 530B interleaved by 3; percentages were read off figure 7";
	return true;
}

static const char *const columns_needed[] = {"model", "param_opt_GiB", "act_none_GiB",
	"act_seqsel_GiB", "act_pct_none", "act_pct_seq", "act_pct_sel", "act_pct_seqsel",
	"act_pct_full", NULL};

const struct suite suite_memory = {
	.name = "memory",
	.summary = "parameters, optimizer states and activations of Megatron's models by "
		   "recomputation and sequence parallelism, against the published figures",
	.table = "megatron_memory.csv",
	.columns = columns_needed,
	.run = run,
};
