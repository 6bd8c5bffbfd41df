/* Matrix products, softmax, layer norm and GELU on an A100 and an MI210, and the layer of a
 * GPT-3 on four A100s, against what LLMCompass (Zhang et al., ISCA 2024) measured. One suite,
 * three tables, told apart by their columns. */
#include "validate/gemm.h"

#include <string.h>

#include "device/device.h"
#include "graph/op_kinds.h"

enum { HALF = 2, MAX_DIM = 1 << 30 };

static const double product_tolerance = 0.10, vector_tolerance = 0.15;

static double run_alone(const struct arch *arch, const struct work *work, tick host)
{
	struct arena scratch = {0};
	struct arch called = *arch;
	struct op op = {.name = "op", .work = *work};
	struct graph g = {.name = "op", .ops = &op, .n_ops = 1};
	op_id id = 0;
	struct graph_part part = {&g, &id, 1};
	struct device_options options = {.intra_op_split = true};
	struct device_result result = {0};
	called.launch_overhead = host;
	device_run(&scratch, &called, &part, &options, &result);
	double seconds = ticks_to_s(result.makespan);
	arena_free(&scratch);
	return seconds;
}

double gemm_product_seconds(const struct arch *arch, const struct gemm *g)
{
	struct work work = {.core = CORE_TC,
		.batch = g->batch,
		.m = g->m,
		.n = g->n,
		.k = g->k,
		.a_bytes = HALF * g->batch * g->m * g->k,
		.b_bytes = HALF * g->batch * g->k * g->n,
		.c_bytes = HALF * g->batch * g->m * g->n};
	return run_alone(arch, &work, arch->host.gemm);
}

/* What the tables call an operator, and what the operator table does. */
static const struct {
	const char *name, *kind;
} vector_ops[] = {{"gelu", "gelu"}, {"layernorm", "layer_norm"}, {"softmax", "softmax"}};

static tick host_time(const struct arch *arch, enum op_class class)
{
	if (class == CLASS_SOFTMAX)
		return arch->host.softmax;
	return class == CLASS_NORM ? arch->host.norm : arch->host.elementwise;
}

static double vector_seconds(
	const struct arch *arch, const struct op_kind *kind, uint64_t rows, uint64_t cols)
{
	struct arena scratch = {0};
	struct tensor data = {.n_dims = 2, .dims = {rows, cols}, .elem_bytes = HALF};
	struct tensor gain = {.n_dims = 1, .dims = {cols}, .elem_bytes = HALF};
	const struct tensor *in[] = {&data, &gain}, *out[] = {&data};
	struct op_attrs attrs = {.axis = 1};
	struct op_view view = {kind, &attrs, in, kind->min_inputs, out, 1};
	struct pass_list list = {.a = &scratch};
	kind->passes(&view, &list);
	struct work work = {.core = CORE_VC,
		.vector = list.passes,
		.n_vector = list.n,
		.vector_read_bytes = HALF * rows * cols,
		.vector_write_bytes = HALF * rows * cols,
		.row_bytes = list.row_bytes,
		.again_bytes = list.again_bytes};
	double seconds = run_alone(arch, &work, host_time(arch, kind->class));
	arena_free(&scratch);
	return seconds;
}

bool gemm_vector_seconds(
	const struct arch *arch, const char *op, uint64_t rows, uint64_t cols, double *out)
{
	for (size_t i = 0; i < sizeof(vector_ops) / sizeof(*vector_ops); i++) {
		if (strcmp(vector_ops[i].name, op) != 0)
			continue;
		*out = vector_seconds(arch, op_kind_find(vector_ops[i].kind), rows, cols);
		return true;
	}
	return false;
}

bool gemm_read_device(const struct suite_context *context, const struct csv *t, size_t row,
	const char *device, struct arch *out, struct err *err)
{
	bool nvidia = strcmp(device, "A100") == 0;
	if (!nvidia && strcmp(device, "MI210") != 0)
		return err_set(err, ERR_INPUT,
			"%s:%zu: unknown device '%s', expected A100 or MI210", t->path,
			t->lines[row], device);
	return arch_read(context->a,
		arena_printf(context->a, "%s/models/accelerators/%s.json", context->data_root,
			nvidia ? "a100-80" : "mi210"),
		out, err);
}

static bool read_dims(const struct csv *t, size_t row, const char *const *columns, size_t n,
	uint64_t *out, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (!csv_uint(t, row, suite_column(t, columns[i]), &out[i], err))
			return false;
		if (out[i] == 0 || out[i] > MAX_DIM)
			return err_set(err, ERR_INPUT, "%s:%zu: %s is from 1 to %d", t->path,
				t->lines[row], columns[i], MAX_DIM);
	}
	return true;
}

/* One mean for each device. */
struct means {
	struct suite_mean a100, mi210;
};

static struct suite_mean *mean_of(struct means *means, const char *device)
{
	return strcmp(device, "A100") == 0 ? &means->a100 : &means->mi210;
}

static bool read_measured(
	const struct csv *t, size_t row, const char *column, double *out, struct err *err)
{
	if (!csv_number(t, row, suite_column(t, column), out, err))
		return false;
	return *out > 0 ||
	       err_set(err, ERR_INPUT, "%s:%zu: %s is not above 0", t->path, t->lines[row], column);
}

static bool run_products(const struct suite_context *context, const struct csv *t,
	struct suite_report *out, struct err *err)
{
	static const char *const dims[] = {"M", "N_as_listed", "K_as_listed"};
	struct means means = {0};
	for (size_t i = 0; i < t->n_rows; i++) {
		const char *device = csv_cell(t, i, suite_column(t, "device"));
		struct arch arch = {0};
		uint64_t d[3];
		double ms = 0;
		if (!gemm_read_device(context, t, i, device, &arch, err) ||
			!read_dims(t, i, dims, 3, d, err) ||
			!read_measured(t, i, "measured_ms", &ms, err))
			return false;
		struct gemm g = {1, d[0], d[1], d[2]};
		const char *label = arena_printf(context->a, "%s %jux%jux%ju ms", device,
			(uintmax_t)g.m, (uintmax_t)g.n, (uintmax_t)g.k);
		suite_show(context->a, out, label, ms, 1e3 * gemm_product_seconds(&arch, &g),
			mean_of(&means, device));
	}
	suite_add_mean(context->a, out, "A100 products, mean", &means.a100, product_tolerance);
	suite_add_mean(context->a, out, "MI210 products, mean", &means.mi210, product_tolerance);
	return true;
}

static bool run_vectors(const struct suite_context *context, const struct csv *t,
	struct suite_report *out, struct err *err)
{
	static const char *const dims[] = {"M", "N"};
	struct means means = {0};
	for (size_t i = 0; i < t->n_rows; i++) {
		const char *device = csv_cell(t, i, suite_column(t, "device"));
		const char *op = csv_cell(t, i, suite_column(t, "op"));
		struct arch arch = {0};
		uint64_t d[2];
		double seconds = 0, rate = 1;
		if (!gemm_read_device(context, t, i, device, &arch, err) ||
			!read_dims(t, i, dims, 2, d, err) ||
			!read_measured(t, i, "measured_Gelem_per_s", &rate, err))
			return false;
		if (!gemm_vector_seconds(&arch, op, d[0], d[1], &seconds))
			return err_set(err, ERR_INPUT,
				"%s:%zu: unknown op '%s', expected gelu, layernorm or softmax",
				t->path, t->lines[i], op);
		const char *label = arena_printf(context->a, "%s %s %jux%ju ms", device, op,
			(uintmax_t)d[0], (uintmax_t)d[1]);
		suite_show(context->a, out, label, 1e-6 * (double)(d[0] * d[1]) / rate,
			1e3 * seconds, mean_of(&means, device));
	}
	suite_add_mean(
		context->a, out, "A100 vector operators, mean", &means.a100, vector_tolerance);
	suite_add_mean(
		context->a, out, "MI210 vector operators, mean", &means.mi210, vector_tolerance);
	return true;
}

static const char *const product_columns[] = {
	"device", "M", "N_as_listed", "K_as_listed", "measured_ms", NULL};
static const char *const vector_columns[] = {"device", "op", "M", "N", NULL};
static const char *const layer_columns[] = {"system", "model", "op", "measured_ms", NULL};

static const struct suite_table tables[] = {
	{"measured_TFLOPs", product_columns, run_products},
	{"measured_Gelem_per_s", vector_columns, run_vectors},
	{"phase", layer_columns, gemm_run_layers},
};

static bool run(const struct suite_context *context, const struct csv *t, struct suite_report *out,
	struct err *err)
{
	out->note =
		"calibrated on llmcompass_matmul.csv and llmcompass_vector.csv, whose means are "
		"held: efficiencies, host times and kept rows of a100-80.json and mi210.json; "
		"llmcompass_layer.csv took no part, its totals are held";
	return suite_run_table(tables, sizeof(tables) / sizeof(*tables), context, t, out, err);
}

static const char *const tables_needed[] = {
	"llmcompass_matmul.csv", "llmcompass_vector.csv", "llmcompass_layer.csv", NULL};
static const char *const columns_needed[] = {NULL};

const struct suite suite_gemm = {
	.name = "gemm",
	.summary = "single operators and a GPT-3 layer on GPUs, against measurements",
	.foreign = tables_needed,
	.foreign_source = "PrincetonUniversity/LLMCompass, ae/figure5",
	.columns = columns_needed,
	.run = run,
};
