/* The operators of a GPT-3 layer, sliced over tensor-parallel devices, and their sum. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "validate/gemm.h"

/* All-reduce over NVLink as NCCL's own tuning model has it (v2.10, src/graph/tuning.cc): ring
 * with the simple protocol, 20 GB/s of each NVLink 3, 3.4 us a step, 8.4 us a call. */
static const uint64_t nvlink_bytes_per_s = 20000000000;
static const tick ring_step = 3400000, ring_call = 8400000;

static const double prefill_tolerance = 0.10, decode_tolerance = 0.15;

enum { HALF = 2, MAX_SIZE = 1 << 20 };

/* A layer of one device. */
struct layer {
	struct arch arch;
	uint64_t batch, queries, keys; /* tokens of a sample that ask, and that are asked */
	uint64_t hidden, heads, tp;
	bool decode;
};

/* `text` starts with `form`, whose every '#' stands for a whole number from 1 to MAX_SIZE. */
static bool match(const char *text, const char *form, uint64_t *out)
{
	for (; *form; form++) {
		if (*form != '#') {
			if (*text++ != *form)
				return false;
			continue;
		}
		char *end;
		*out = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
		if (*out == 0 || *out > MAX_SIZE)
			return false;
		text = end;
		out++;
	}
	return true;
}

/* "4xA100 TP4" */
static bool match_system(struct arena *a, const char *text, const char **device, uint64_t *tp)
{
	const char *x = strchr(text, 'x'), *space = strchr(text, ' ');
	uint64_t devices;
	if (!x || !space || space < x || !match(text, "#x", &devices))
		return false;
	*device = arena_strndup(a, x + 1, (size_t)(space - x - 1));
	return match(space, " TP#", tp);
}

static bool read_layer(const struct suite_context *context, const struct csv *t, size_t row,
	struct layer *out, struct err *err)
{
	const char *system = csv_cell(t, row, suite_column(t, "system"));
	const char *model = csv_cell(t, row, suite_column(t, "model"));
	const char *phase = csv_cell(t, row, suite_column(t, "phase")), *device;
	uint64_t tp, model_size[2], phase_size[2];
	bool decode = match(phase, "decode bs# kv#", phase_size);
	if (!match_system(context->a, system, &device, &tp) ||
		!match(model, "GPT-3 layer d# h#", model_size) ||
		(!decode && !match(phase, "prefill bs# s#", phase_size)))
		return err_set(err, ERR_INPUT,
			"%s:%zu: expected e.g. '4xA100 TP4', 'GPT-3 layer d12288 h96', "
			"'prefill bs8 s2048' or 'decode bs8 kv3072'",
			t->path, t->lines[row]);
	if (model_size[0] % model_size[1] != 0 || model_size[1] % tp != 0)
		return err_set(err, ERR_INPUT,
			"%s:%zu: heads do not divide the width, or devices the heads", t->path,
			t->lines[row]);
	*out = (struct layer){.batch = phase_size[0],
		.queries = decode ? 1 : phase_size[1],
		.keys = phase_size[1],
		.hidden = model_size[0],
		.heads = model_size[1],
		.tp = tp,
		.decode = decode};
	return gemm_read_device(context, t, row, device, &out->arch, err);
}

static double product(const struct layer *l, uint64_t batch, uint64_t m, uint64_t n, uint64_t k)
{
	struct gemm g = {batch, m, n, k};
	return gemm_product_seconds(&l->arch, &g);
}

static double vector(const struct layer *l, const char *op, uint64_t rows, uint64_t cols)
{
	double seconds = 0;
	gemm_vector_seconds(&l->arch, op, rows, cols, &seconds);
	return seconds;
}

static uint64_t tokens(const struct layer *l)
{
	return l->batch * l->queries;
}

static double query_key_value(const struct layer *l)
{
	return 3 * product(l, 1, tokens(l), l->hidden / l->tp, l->hidden);
}

static double scores(const struct layer *l)
{
	return product(l, l->batch * l->heads / l->tp, l->queries, l->keys, l->hidden / l->heads);
}

static double attend(const struct layer *l)
{
	return product(l, l->batch * l->heads / l->tp, l->queries, l->hidden / l->heads, l->keys);
}

static double project(const struct layer *l)
{
	return product(l, 1, tokens(l), l->hidden, l->hidden / l->tp);
}

static double widen(const struct layer *l)
{
	return product(l, 1, tokens(l), 4 * l->hidden / l->tp, l->hidden);
}

static double narrow(const struct layer *l)
{
	return product(l, 1, tokens(l), l->hidden, 4 * l->hidden / l->tp);
}

static double softmax(const struct layer *l)
{
	return vector(l, "softmax", l->batch * l->heads / l->tp * l->queries, l->keys);
}

static double norm(const struct layer *l)
{
	return vector(l, "layernorm", tokens(l), l->hidden);
}

static double gelu(const struct layer *l)
{
	return vector(l, "gelu", tokens(l), 4 * l->hidden / l->tp);
}

static double all_reduce(const struct layer *l)
{
	struct device_link link = {(uint32_t)l->tp, l->arch.links * nvlink_bytes_per_s, ring_step};
	return ticks_to_s(ring_call + device_link_time(&link, HALF * tokens(l) * l->hidden));
}

/* Sorted by the table's names. */
static const struct {
	const char *name;
	double (*seconds)(const struct layer *l);
} ops[] = {
	{"A_mul_V", attend},
	{"AllReduce_FFN", all_reduce},
	{"AllReduce_MHA", all_reduce},
	{"GeLU", gelu},
	{"LayerNorm_FFN", norm},
	{"LayerNorm_MHA", norm},
	{"Q_K_V", query_key_value},
	{"Q_mul_K", scores},
	{"Softmax", softmax},
	{"W1_proj", widen},
	{"W2_proj", narrow},
	{"Wo_proj", project},
};

static bool find_seconds(const char *name, const struct layer *l, double *out)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		if (strcmp(ops[i].name, name) != 0)
			continue;
		*out = ops[i].seconds(l);
		return true;
	}
	return false;
}

bool gemm_run_layers(const struct suite_context *context, const struct csv *t,
	struct suite_report *out, struct err *err)
{
	double sum = 0;
	for (size_t i = 0; i < t->n_rows; i++) {
		const char *op = csv_cell(t, i, suite_column(t, "op"));
		struct layer layer = {0};
		double ms = 0, seconds = 0;
		if (!read_layer(context, t, i, &layer, err) ||
			!csv_number(t, i, suite_column(t, "measured_ms"), &ms, err))
			return false;
		const char *label = arena_printf(
			context->a, "GPT-3 %s %s ms", layer.decode ? "decode" : "prefill", op);
		if (strcmp(op, "TOTAL") == 0) {
			suite_add(context->a, out, label, ms, 1e3 * sum,
				layer.decode ? decode_tolerance : prefill_tolerance);
			sum = 0;
			continue;
		}
		if (!find_seconds(op, &layer, &seconds))
			return err_set(err, ERR_INPUT,
				"%s:%zu: unknown op '%s', expected e.g. Q_K_V", t->path,
				t->lines[i], op);
		sum += seconds;
		suite_show(context->a, out, label, ms, 1e3 * seconds, NULL);
	}
	return true;
}
