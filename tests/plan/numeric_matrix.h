/* Matrices spread over processes in blocks, and a schedule whose collectives are carried out one
 * after the other as an algorithm asks for them. */
#ifndef TESTS_PLAN_NUMERIC_MATRIX_H
#define TESTS_PLAN_NUMERIC_MATRIX_H

#include "numeric.h"
#include "plan/scheme.h"

enum { MATRIX_MAX_PROCS = 32 };

/* Rows and columns, each up to the end. */
struct block {
	uint64_t r0, r1, c0, c1;
};

/* One block for each process, of a matrix with so many columns. */
struct blocks {
	uint64_t cols;
	struct block of[MATRIX_MAX_PROCS];
};

struct wish blocks_wish(const struct blocks *b);
struct block block_rows(struct block b, uint32_t n, uint32_t k); /* part k of n */
struct block block_cols(struct block b, uint32_t n, uint32_t k);

void matrix_put(struct spread *s, const struct blocks *b, const int64_t *values);
void matrix_keep(struct spread *s, const struct blocks *b); /* and drops the rest */
/* All that processes want is there and right, and somebody wants each element. */
void matrix_check(const struct spread *s, const struct wish *w, const int64_t *values);

/* y += x w over the block of w and the rows, as summands; its derivatives. Columns of w are those
 * of y, rows of w are columns of x. */
struct product {
	struct spread *x, *w, *y;
	uint64_t inputs, outputs; /* columns of x, of y */
};
void product_forward(
	const struct product *m, uint32_t p, const struct block *w, uint64_t r0, uint64_t r1);
void product_dw(const struct product *m, struct spread *dw, const struct spread *dy, uint32_t p,
	const struct block *w, uint64_t r0, uint64_t r1);
void product_dx(const struct product *m, struct spread *dx, const struct spread *dy, uint32_t p,
	const struct block *w, uint64_t r0, uint64_t r1);

/* Walks the tasks of a schedule. */
struct player {
	struct arena *a;
	struct iteration it;
	uint32_t next;
	bool even; /* every group and process moves as much as any other */
	uint32_t word_bytes;
};

struct step {
	uint32_t layer;
	enum iteration_term term;
	enum coll_kind kind;
	uint32_t n_ranks; /* 1: no collective */
};

/* The next task, which is to be this one, moves these, one wish for each: by gather, all-reduce,
 * reduce-scatter or exchange. Its bytes are those of a group, or what a process sends, as the mean
 * over all of them, rounded up. What one process has by itself is the sum. */
void play(struct player *pl, const struct step *s, struct spread *const *of,
	const struct wish *wishes, uint32_t n);
void play_blocks(
	struct player *pl, const struct step *s, struct spread *of, const struct blocks *to);
void play_end(const struct player *pl);

#endif
