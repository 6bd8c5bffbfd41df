/* Whole-number expressions in workload files: "4*hidden", "(heads+2*kv_heads)*hidden/heads",
 * "max(512,seq)".
 *
 *     sum     = product { ("+" | "-") product }
 *     product = atom { ("*" | "/") atom }
 *     atom    = number | name | ("max" | "min") "(" sum "," sum ")" | "(" sum ")"
 * Values are 0 to 2^63-1. A division must come out even, a difference must not be negative. */
#ifndef GRAPH_EXPR_H
#define GRAPH_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct variable {
	const char *name;
	uint64_t value;
};

/* Names that an expression may use; looked for here first, then in `outer`. */
struct scope {
	const struct variable *variables;
	uint32_t n;
	const struct scope *outer;
};

/* ERR_INPUT without a position: what is wrong where in the expression, unknown names with the
 * nearest one. */
bool expr_value(const char *text, const struct scope *scope, uint64_t *value, struct err *err);

#endif
