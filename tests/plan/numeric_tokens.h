/* Layers on rows of tokens that devices share, alone or with attention or experts in between: what
 * devices have, and the serial result, which is that of one device with everything. */
#ifndef TESTS_PLAN_NUMERIC_TOKENS_H
#define TESTS_PLAN_NUMERIC_TOKENS_H

#include "numeric_matrix.h"

enum { TOKENS_LAYERS = 4 };

/* One device or many; the layers' inputs and outputs are x[i] and y[i]. */
struct tokens {
	struct arena a;
	struct player player;
	struct scheme_layer layers[TOKENS_LAYERS];
	struct scheme_model model;
	struct scheme_question q;
	uint32_t n_procs, samples; /* samples: of a group */
	uint64_t rows, group;      /* of a group of the case, also when alone */
	uint64_t inputs[TOKENS_LAYERS], outputs[TOKENS_LAYERS];
	struct spread x[TOKENS_LAYERS], y[TOKENS_LAYERS], dx[TOKENS_LAYERS], dy[TOKENS_LAYERS],
		w[TOKENS_LAYERS], dw[TOKENS_LAYERS];
	/* Attention. */
	uint32_t heads, kv_heads, q_size, v_size;
	bool by_heads;
	/* Experts. */
	uint32_t n_experts, routes;
};

struct tokens_case {
	const char *scheme;
	uint32_t pr, pc;
	uint64_t batch, positions;
	uint32_t heads, kv_heads, n_experts, routes;
};

/* Sizes of one case, on one device without a schedule or on all, with the same values. */
void tokens_begin(struct tokens *t, const struct tokens_case *c, bool alone, uint64_t seed);

uint32_t tokens_rank(const struct tokens *t, uint32_t p); /* in its group */
/* Rows of a group, of a matrix with `per` rows for a token; all of them or a device's own. */
struct block tokens_group_rows(const struct tokens *t, uint32_t p, uint64_t cols, uint64_t per);
struct blocks tokens_rows(const struct tokens *t, uint64_t cols, uint64_t per, bool own);
/* The matrices of a device's experts, which are rows of a bank. */
struct blocks tokens_bank(const struct tokens *t, uint32_t layer);

/* A layer that everybody has, on a device's own rows; backward with its all-reduce. */
void tokens_dense_forward(struct tokens *t, uint32_t layer);
void tokens_dense_backward(struct tokens *t, uint32_t layer);
void tokens_settle(struct tokens *t, struct spread *s);

/* Gradients, and the outputs of the last layer. */
void tokens_compare(const struct tokens *t, const struct tokens *alone);

#endif
