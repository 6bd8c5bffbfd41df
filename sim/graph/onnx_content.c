#include "graph/onnx_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_KEPT = 1 << 24 };

bool onnx_is_real(int64_t type)
{
	return type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT ||
	       type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 ||
	       type == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16 ||
	       type == ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE;
}

bool onnx_is_whole(int64_t type)
{
	return type == ONNX__TENSOR_PROTO__DATA_TYPE__INT32 ||
	       type == ONNX__TENSOR_PROTO__DATA_TYPE__INT64 ||
	       type == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL;
}

bool onnx_is_known(const struct onnx_value *v)
{
	return v->state == ONNX_CONSTANT && (v->ints || v->reals);
}

bool onnx_keeps(struct onnx_reader *r, uint64_t n)
{
	if (n > ONNX_MAX_INTS || r->n_kept > MAX_KEPT)
		return false;
	r->n_kept += n;
	return true;
}

double onnx_number(const struct onnx_value *v, size_t i)
{
	return v->ints ? (double)v->ints[i] : v->reals[i];
}

/* IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits. */
static double half(uint32_t bits)
{
	uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
	double v = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
		   : exponent == 0 ? ldexp((double)fraction, -24)
				   : ldexp((double)(fraction | 1024), (int)exponent - 25);
	return bits & 0x8000 ? -v : v;
}

static double single(uint32_t bits)
{
	float v;
	memcpy(&v, &bits, sizeof(v));
	return (double)v;
}

static double real_of(int32_t type, uint64_t bits)
{
	double v;
	switch (type) {
	case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16:
		return half((uint32_t)bits & 0xffff);
	case ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16:
		return single((uint32_t)bits << 16);
	case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT:
		return single((uint32_t)bits);
	}
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static size_t real_bytes(int32_t type)
{
	switch (type) {
	case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16:
	case ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16:
		return 2;
	case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT:
		return 4;
	}
	return 8;
}

static void unpack_raw(const Onnx__TensorProto *t, size_t n, double *out)
{
	size_t bytes = real_bytes(t->data_type);
	for (size_t i = 0; i < n; i++) {
		uint64_t bits = 0;
		for (size_t b = 0; b < bytes; b++)
			bits |= (uint64_t)t->raw_data.data[i * bytes + b] << (8 * b);
		out[i] = real_of(t->data_type, bits);
	}
}

const double *onnx_reals(struct arena *a, const Onnx__TensorProto *t, size_t n)
{
	double *out = arena_array(a, n + 1, double);
	if (t->raw_data.len > 0 && t->raw_data.len == n * real_bytes(t->data_type))
		unpack_raw(t, n, out);
	else if (t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT && t->n_float_data == n)
		for (size_t i = 0; i < n; i++)
			out[i] = (double)t->float_data[i];
	else if (t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE && t->n_double_data == n)
		memcpy(out, t->double_data, n * sizeof(*out));
	else if (real_bytes(t->data_type) == 2 && t->n_int32_data == n)
		for (size_t i = 0; i < n; i++)
			out[i] = real_of(t->data_type, (uint32_t)t->int32_data[i]);
	else
		return NULL;
	return out;
}

bool onnx_broadcast(const struct onnx_node *node, struct onnx_value *out, struct err *err)
{
	out->n_dims = 0;
	for (size_t k = 0; k < node->n_in; k++) {
		const struct onnx_value *in = node->in[k];
		uint32_t n = in && in->n_dims > out->n_dims ? in->n_dims : out->n_dims;
		uint64_t dims[GRAPH_MAX_DIMS] = {0};
		for (uint32_t i = 0; in && i < n; i++) {
			uint64_t da = i < n - out->n_dims ? 1 : out->dims[i - (n - out->n_dims)];
			uint64_t db = i < n - in->n_dims ? 1 : in->dims[i - (n - in->n_dims)];
			if (da != db && da != 1 && db != 1)
				return onnx_fail(node, err,
					"dimensions %" PRIu64 " and %" PRIu64
					" differ and neither is 1",
					da, db);
			dims[i] = da == 1 ? db : da;
		}
		if (!in)
			continue;
		out->n_dims = n;
		memcpy(out->dims, dims, sizeof(dims));
	}
	return true;
}

size_t onnx_source(const struct onnx_value *in, const struct onnx_value *out, size_t i)
{
	size_t at = 0, stride = 1;
	for (uint32_t d = 0; d < in->n_dims; d++) {
		size_t dim = (size_t)in->dims[in->n_dims - 1 - d];
		size_t wide = (size_t)out->dims[out->n_dims - 1 - d];
		at += stride * (dim == 1 ? 0 : i % wide);
		stride *= dim;
		i /= wide;
	}
	return at;
}

void onnx_row_steps(const struct onnx_value *v, int64_t steps[GRAPH_MAX_DIMS])
{
	uint64_t step = 1;
	for (uint32_t i = v->n_dims; i-- > 0; step *= v->dims[i])
		steps[i] = (int64_t)step;
}

void onnx_pick(struct onnx_reader *r, struct onnx_value *out, const struct onnx_value *in,
	int64_t first, const int64_t steps[GRAPH_MAX_DIMS])
{
	uint64_t n = onnx_elements(out);
	int64_t *ints = NULL;
	double *reals = NULL;
	bool keeps = (in->ints || in->reals) && onnx_keeps(r, n);
	if (keeps && in->ints)
		ints = arena_array(r->scratch, n + 1, int64_t);
	if (keeps && in->reals)
		reals = arena_array(r->scratch, n + 1, double);
	for (uint64_t i = 0; (ints || reals) && i < n; i++) {
		int64_t at = first;
		uint64_t left = i;
		for (uint32_t d = out->n_dims; d-- > 0; left /= out->dims[d])
			at += steps[d] * (int64_t)(left % out->dims[d]);
		if (ints)
			ints[i] = in->ints[at];
		if (reals)
			reals[i] = in->reals[at];
	}
	out->ints = ints;
	out->reals = reals;
}
