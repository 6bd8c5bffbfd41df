/* What the files of suite gemm share: one operator on one device, called from the host alone, as
 * the tables measured it. Half precision. Seconds: the call on the host (struct host_times) in
 * place of the launch overhead, then as the device runs it on all cores. */
#ifndef VALIDATE_GEMM_H
#define VALIDATE_GEMM_H

#include "arch/arch.h"
#include "validate/internal.h"

double gemm_product_seconds(const struct arch *arch, const struct gemm *g);

/* "softmax" or "layernorm" over the last of rows x cols, or "gelu" of each element, with the
 * passes of the operator table. False when it is another one. */
bool gemm_vector_seconds(
	const struct arch *arch, const char *op, uint64_t rows, uint64_t cols, double *out);

/* "A100" or "MI210"; `t` and `row` are for the text of an error. */
bool gemm_read_device(const struct suite_context *context, const struct csv *t, size_t row,
	const char *device, struct arch *out, struct err *err);

/* Adds the rows of a table of GPT-3 layers. */
bool gemm_run_layers(const struct suite_context *context, const struct csv *t,
	struct suite_report *out, struct err *err);

#endif
