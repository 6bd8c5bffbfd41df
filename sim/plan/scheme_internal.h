/* What the files of the schemes share. */
#ifndef PLAN_SCHEME_INTERNAL_H
#define PLAN_SCHEME_INTERNAL_H

#include "plan/scheme.h"

/* Joined dimensions of a collective: those of the group by their position, or the replicas. */
enum { OVER_0 = 1 << 0, OVER_1 = 1 << 1, OVER_2 = 1 << 2, OVER_GROUP = 7, OVER_REPLICAS = 1 << 3 };

struct scheme_emitter {
	const struct scheme *scheme;
	const struct scheme_question *q;
	struct arena *a;
	struct prog_builder *builder;
	struct prog_grid grid;
	uint32_t first_dim; /* of the group */
	uint32_t front, n_tasks, cap_terms, cap_layers;
	enum iteration_term *terms;
	uint32_t *layers;
};

/* A collective of whole words after everything so far; nothing over one rank. */
struct scheme_move {
	enum iteration_term term;
	enum coll_kind kind;
	uint32_t over;
	uint64_t words;
	const char *algo; /* NULL: the question's */
};
void scheme_emit(struct scheme_emitter *e, uint32_t layer, const struct scheme_move *m);
void scheme_emit_compute(struct scheme_emitter *e, uint32_t layer, enum task_phase phase);

/* dW of a layer of which a device holds one in `parts`. */
void scheme_emit_gradient(struct scheme_emitter *e, uint32_t layer, uint32_t over, uint32_t parts);

/* Samples of one group; of one device where samples are shared over all of them. */
uint64_t scheme_group_samples(const struct scheme_question *q);
uint64_t scheme_device_samples(const struct scheme_question *q);

/* Checks that several schemes have. */
bool scheme_need_samples(const struct scheme_question *q, uint64_t parts, struct err *err);
bool scheme_need_linear(const struct scheme_question *q, const char *scheme, struct err *err);
bool scheme_need_no_experts(const struct scheme_question *q, const char *scheme, struct err *err);
/* Heads of all attentions divide over `n`. */
bool scheme_need_heads(const struct scheme_question *q, uint32_t n, struct err *err);
/* There are attentions, and their sequences divide over Pr. */
bool scheme_need_sequences(const struct scheme_question *q, const char *scheme, struct err *err);

void scheme_one_dim(const struct scheme_question *q, struct prog_grid *g); /* "pr" */

uint32_t scheme_square_root(uint32_t n); /* 0: n is no square */
uint32_t scheme_cube_root(uint32_t n);   /* 0: n is no cube */

extern const struct scheme scheme_context_gather, scheme_context_ring, scheme_cube_3d,
	scheme_expert, scheme_fsdp, scheme_megatron, scheme_megatron_sp, scheme_summa_2d,
	scheme_tesseract_25d, scheme_ulysses, scheme_zero_2;

#endif
