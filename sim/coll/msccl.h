/* An MSCCL algorithm as it is written: what each threadblock of each rank does. */
#ifndef COLL_MSCCL_H
#define COLL_MSCCL_H

#include "base/file.h"
#include "coll/internal.h"

enum msccl_op {
	MSCCL_CPY,
	MSCCL_NOP,
	MSCCL_R,
	MSCCL_RCS,
	MSCCL_RE,
	MSCCL_RRC,
	MSCCL_RRCS,
	MSCCL_RRS,
	MSCCL_S
};
enum { N_MSCCL_OPS = 9 };

struct msccl_op_kind {
	const char *name;
	bool receives, sends;
	bool reads;  /* the source buffer */
	bool adds;   /* what it received, or the destination, to what it read */
	bool writes; /* the destination buffer */
};
extern const struct msccl_op_kind msccl_ops[N_MSCCL_OPS]; /* sorted by name */

enum msccl_buffer { MSCCL_INPUT, MSCCL_OUTPUT, MSCCL_SCRATCH };

struct msccl_place {
	enum msccl_buffer buffer;
	uint32_t offset;
};

struct msccl_step {
	enum msccl_op op;
	struct msccl_place src, dst;
	uint32_t count;            /* chunks */
	uint32_t block;            /* index in msccl.blocks */
	uint32_t dep_tb, dep_step; /* of the same rank; PROG_NONE: on nothing */
	unsigned long line;
};

struct msccl_block {
	uint32_t rank, id;         /* id: within the rank */
	uint32_t send, recv, chan; /* PROG_NONE: to or from nobody */
	uint32_t first, n_steps;   /* in msccl.steps */
	unsigned long line;
};

struct msccl {
	const char *path, *name;
	enum coll_kind kind;
	bool in_place;
	uint32_t n_ranks;
	uint32_t n_chunks;      /* that the vector by nccl-tests' convention is cut into */
	uint32_t *n_of_rank[3]; /* chunks of each rank's buffers, by enum msccl_buffer */
	struct msccl_block *blocks;
	uint32_t n_blocks, cap_blocks;
	struct msccl_step *steps;
	uint32_t n_steps, cap_steps;
};

/* ERR_INPUT with line and column. */
bool msccl_parse(struct arena *a, const char *path, struct msccl *out, struct err *err);

/* Steps in an order in which each comes after those that it waits for. */
struct msccl_order {
	uint32_t *steps;  /* n_steps of them */
	uint32_t *sender; /* of each step that receives: the step that sends; else PROG_NONE */
	uint32_t *round;  /* of each step: messages on the longest chain before it */
	uint32_t n_rounds;
};
/* ERR_ANSWER for a deadlock, or sends and receives that do not match. */
bool msccl_order(struct arena *a, const struct msccl *m, struct msccl_order *out, struct err *err);
/* Executes with symbolic chunks. */
bool msccl_verify(const struct msccl *m, const struct msccl_order *order, struct err *err);

/* "rank 0, threadblock 1, step 2 (r)" */
const char *msccl_place_name(struct arena *a, const struct msccl *m, uint32_t step);

#endif
