/* The waist: what each device does, without network time. A plan of a model and a recorded trace
 * both end in a `struct prog`; it has a text form (prog_read, prog_write) that round-trips. See
 * the notes on meaning in the comments of each type. */
#ifndef PROG_PROG_H
#define PROG_PROG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "base/units.h"

enum { PROG_MAX_DIMS = 8, PROG_MAX_RANKS = 1 << 18 };
#define PROG_MAX_BYTES (UINT64_C(1) << 46) /* of one message or collective: 64 TiB */
#define PROG_NONE UINT32_MAX

/* rank = c[0] + size[0] * (c[1] + size[1] * (...)): the first dimension varies fastest. */
struct prog_grid {
	uint32_t n_dims;
	const char *names[PROG_MAX_DIMS];
	uint32_t sizes[PROG_MAX_DIMS];
};

struct prog_cost {
	const char *key;
	tick duration;
	double energy_j; /* 0 when not known */
};

enum coll_kind {
	COLL_ALLREDUCE,
	COLL_ALLGATHER,
	COLL_REDUCESCATTER,
	COLL_BROADCAST,
	COLL_REDUCE,
	COLL_GATHER,
	COLL_SCATTER,
	COLL_ALLTOALL,
	COLL_BARRIER,
	COLL_HALO, /* with the neighbours in a box; `bytes` to each of them */
};
enum { N_COLL_KINDS = 10 };
const char *coll_kind_name(enum coll_kind kind); /* "allreduce", "allgather", ... */
bool coll_kind_find(const char *name, enum coll_kind *out);

/* A family of groups: all ranks that differ only in the joined dimensions (bit i of dims_mask:
 * dimension i), or one explicit list. */
struct prog_group {
	const char *name;   /* "tp", "dp*cp", "g7" */
	uint32_t dims_mask; /* 0 for an explicit list */
	const uint32_t *ranks;
	uint32_t n_ranks;
};

/* The other end of a message: an offset along a dimension ("pp+1"), or a rank. */
struct prog_peer {
	uint32_t dim; /* PROG_NONE: `rank` counts */
	int32_t offset;
	uint32_t rank;
};

enum task_kind { TASK_COMPUTE, TASK_SEND, TASK_RECV, TASK_COLL, TASK_WAIT, TASK_MARK };

/* Which share of the step a compute task counts to in the breakdown. */
enum task_phase { PHASE_NONE, PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER };

struct prog_task {
	uint32_t id; /* as written; unique in its role, ascending */
	enum task_kind kind;
	enum task_phase phase; /* compute: text form "compute f phase forward" */
	uint32_t stream;       /* 0 computes */
	const uint32_t *after; /* indices (not ids) of tasks of the same role */
	uint32_t n_after;
	uint32_t cost;         /* compute: index into costs, or PROG_NONE with `duration` */
	tick duration;         /* compute without a cost, wait */
	struct prog_peer peer; /* send, recv */
	const char *tag; /* send, recv; interned: equal tags are equal pointers. NULL when none */
	bool eager;      /* send: frees the stream at once */
	uint64_t bytes;  /* send, recv, coll (nccl-tests' convention of the kind) */
	enum coll_kind coll;
	uint32_t group;    /* coll: index into groups */
	uint32_t root;     /* coll with a root: position in the group */
	const char *algo;  /* coll: NULL chooses by the run's configuration */
	const char *label; /* mark; others: NULL or a name for timelines */
	const char *place; /* "file:line" or NULL */
};

/* lo <= coordinate <= hi in every dimension (full range by default), or an explicit list of
 * ranks. */
struct prog_role {
	const char *name;
	uint32_t lo[PROG_MAX_DIMS], hi[PROG_MAX_DIMS];
	const uint32_t *ranks;
	uint32_t n_ranks; /* explicit list; 0 when the ranges count */
	const struct prog_task *tasks;
	uint32_t n_tasks;
	const char *place;
};

struct prog {
	const char *path;
	struct prog_grid grid;
	const struct prog_cost *costs;
	uint32_t n_costs;
	const struct prog_group *groups; /* those that tasks use */
	uint32_t n_groups;
	const struct prog_role *roles; /* every rank has exactly one */
	uint32_t n_roles;
};

uint32_t prog_n_ranks(const struct prog *p);
uint32_t prog_coord(const struct prog_grid *grid, uint32_t rank, uint32_t dim);

/* Index of the role that `rank` runs. */
uint32_t prog_role_of(const struct prog *p, uint32_t rank);

/* The rank that `peer` means for `rank`; PROG_NONE when it falls off the grid (no wrap). */
uint32_t prog_peer_rank(const struct prog *p, uint32_t rank, const struct prog_peer *peer);

/* Members, ascending by the joined dimensions, of the group that `rank` belongs to; written to
 * `ranks` (room for prog_group_size()). Returns rank's position, or PROG_NONE when it is no
 * member. */
uint32_t prog_group_members(const struct prog *p, uint32_t group, uint32_t rank, uint32_t *ranks);
uint32_t prog_group_size(const struct prog *p, uint32_t group);

/* The k-th rank of a role, k < prog_role_size(): ascending for ranges, as listed for a list. */
uint32_t prog_role_size(const struct prog *p, uint32_t role);
uint32_t prog_role_rank(const struct prog *p, uint32_t role, uint32_t k);

/* The role of every rank, in one pass; PROG_NONE for a rank that has none. */
uint32_t *prog_role_map(struct arena *a, const struct prog *p);

/* A family has prog_group_n_teams() groups that share no rank. Says which of them `rank` is in
 * and where; false when in none. */
uint32_t prog_group_n_teams(const struct prog *p, uint32_t group);
bool prog_group_place(
	const struct prog *p, uint32_t group, uint32_t rank, uint32_t *team, uint32_t *position);

const char *task_kind_name(enum task_kind kind);    /* "compute", "send", ... */
const char *task_phase_name(enum task_phase phase); /* "none", "forward", ... */
bool coll_kind_has_root(enum coll_kind kind);

/* Text form, one statement a line:
 *     wham-prog 1
 *     grid DIM=SIZE ...                       once, first
 *     cost KEY = TIME [energy=JOULES"J"]      before the tasks that use it
 *     group NAME RANKS                        RANKS: "0 1 2 5" or "0..3 9"
 *     role NAME [DIM=LO[..HI]] ...            or: role NAME ranks RANKS
 *       ID compute KEY|TIME [phase forward|backward|optimizer]
 *       ID send PEER BYTES [tag TAG] [eager]  PEER: "pp+1" or a rank
 *       ID recv PEER BYTES [tag TAG]
 *       ID coll KIND GROUP BYTES [root N] [algo NAME]   GROUP: "tp", "cp*dp" or a group's name
 *       ID wait TIME
 *       ID mark LABEL
 *     every task: [after ID ...] [stream N] [name LABEL] [@PLACE]
 * TIME and BYTES are one word with a unit: 812.4us, 32MiB. IDs ascend within a role; `after` may
 * name a later task. A task without @PLACE gets "path:line". A word that has blanks or could be
 * taken for something else is written "in quotes", with \" \\ \n \t. `#` at the start of a word
 * starts a comment. Writing is canonical: prog_write() of what prog_parse() made of a written
 * text gives the same bytes.
 *
 * Errors are ERR_INPUT with path:line:column. The result is not yet validated as a whole:
 * prog_check(). */
bool prog_read(struct arena *a, const char *path, struct prog *out, struct err *err);
bool prog_parse(struct arena *a, const char *path, const char *data, size_t n, struct prog *out,
	struct err *err);
void prog_write(const struct prog *p, struct text *out);

/* Whether anybody has a task. */
bool prog_has_work(const struct prog *p);

/* Before anything runs: every rank has one role, every peer exists, groups have their members,
 * sends and receives match in number per (from, to, tag), collectives agree per group in order,
 * kind, bytes and root, dependencies are acyclic within a role. Malformed: ERR_INPUT. Counts
 * that do not match (an unmatched send, a mismatched collective): ERR_ANSWER, with both places. */
bool prog_check(const struct prog *p, struct err *err);

/* The ERR_INPUT half of prog_check() alone: a prog that may be run, though it may deadlock. */
bool prog_check_form(const struct prog *p, struct err *err);

/* Building in code: append to growing lists in an arena, then finish. */
struct prog_builder;
struct prog_builder *prog_build(struct arena *a, const struct prog_grid *grid);
uint32_t prog_add_cost(struct prog_builder *b, const char *key, tick duration,
	double energy_j); /* same key again: same index, same values */
uint32_t prog_add_group(struct prog_builder *b, uint32_t dims_mask);
uint32_t prog_add_group_list(
	struct prog_builder *b, const char *name, const uint32_t *ranks, uint32_t n_ranks);
/* Opens a role; tasks are appended to the last opened one. `lo` and `hi` have n_dims elements. */
void prog_add_role(
	struct prog_builder *b, const char *name, const uint32_t *lo, const uint32_t *hi);
void prog_add_role_list(
	struct prog_builder *b, const char *name, const uint32_t *ranks, uint32_t n_ranks);
/* Copies `task` (its `after` list and strings too) and returns its index; id is set to index +
 * 1. `tag` is interned. */
uint32_t prog_add_task(struct prog_builder *b, const struct prog_task *task);
void prog_finish(struct prog_builder *b, struct prog *out);

#endif
