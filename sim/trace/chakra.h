/* Inside the reader of Chakra execution traces (schema 0.0.4): one file per rank, nodes with
 * dependencies.
 *
 *     chakra.c         the format: files to ranks, then the steps below
 *     chakra_wire.c    bytes to nodes
 *     chakra_attr.c    their attributes
 *     chakra_nodes.c   what a node asks for
 *     chakra_deps.c    dependencies by id to indices; cycles
 *     chakra_groups.c  who takes part in which collective
 *     chakra_order.c   the order in which each device does its nodes
 *     chakra_emit.c    nodes to tasks */
#ifndef TRACE_CHAKRA_H
#define TRACE_CHAKRA_H

#include "trace/internal.h"
#include "trace/wire.h"

/* As numbered in the schema. */
enum et_type {
	ET_INVALID,
	ET_METADATA,
	ET_MEM_LOAD,
	ET_MEM_STORE,
	ET_COMP,
	ET_SEND,
	ET_RECV,
	ET_COLL
};
enum { N_ET_TYPES = 8 };

/* The attributes that are read. Any width of integer is taken, and text and reals that are whole
 * numbers. */
enum et_key {
	KEY_COMM_DST,
	KEY_COMM_GROUP,
	KEY_COMM_SIZE,
	KEY_COMM_SRC,
	KEY_COMM_TAG,
	KEY_COMM_TYPE,
	KEY_INVOLVED_DIM, /* 1 when every dimension takes part, else 0 */
	KEY_IS_CPU_OP,
	KEY_NUM_OPS,
	KEY_TENSOR_SIZE,
	N_ET_KEYS,
};

struct et_node {
	uint64_t id;
	const char *name; /* "" when there is none */
	enum et_type type;
	const uint64_t *dep_ids; /* data dependencies, then control dependencies */
	uint32_t n_data, n_deps;
	uint64_t duration_us;
	uint32_t has; /* bit for each et_key */
	int64_t value[N_ET_KEYS];
	const char *pg_name;   /* NULL when absent */
	const char *in_values; /* of "inputs": the groups of process_group:init */
	/* Found later. */
	const uint32_t *deps; /* indices in the rank; n_deps of them */
	uint32_t group;       /* collectives */
	uint32_t channel;     /* sends and receives: same ends and tag, same number */
};

struct et_rank {
	const char *path, *name; /* of the file */
	struct et_node *nodes;
	uint32_t n_nodes;
	const char *schema; /* "" when unknown */
};

/* Members of a collective, as named in the set. */
struct et_group {
	const char *name;
	const uint32_t *ranks; /* ascending */
	uint32_t n_ranks;
};

struct et_set {
	struct arena *a;
	const struct trace_options *options;
	struct trace *trace; /* for warnings */
	struct et_rank *ranks;
	uint32_t n_ranks;
	struct et_group *groups;
	uint32_t n_groups, cap_groups;
	uint32_t n_channels;
};

/* Users of node i of a rank: users[first[i]] .. users[first[i + 1] - 1]. */
struct et_users {
	uint32_t *first, *users;
};
struct et_users et_users(struct arena *a, const struct et_rank *rank);

/* A value of an attribute, whatever member of the union it came in. */
struct et_value {
	enum { VALUE_NONE, VALUE_NUMBER, VALUE_TEXT, VALUE_BOOLS } kind;
	int64_t number;
	const char *text;
	bool all; /* of a list of booleans */
	bool odd; /* a number that is not whole or does not fit */
};

/* False when `w` is damaged. Text lives in `a`. */
bool et_read_attribute(struct arena *a, struct wire w, const char **name, struct et_value *value);
/* Keeps what is of use. ERR_INPUT for a number that is none. */
bool et_set_attribute(struct et_set *set, const struct et_rank *rank, struct et_node *node,
	const char *name, struct et_value v, struct err *err);

bool et_has(const struct et_node *node, enum et_key key);
/* "w.3.et: node 12 'name'" */
const char *et_place(struct arena *a, const struct et_rank *rank, const struct et_node *node);

bool et_decode(struct et_set *set, struct et_rank *rank, struct bytes content, struct err *err);

/* Fills deps. What names no node is dropped with a warning; a cycle is ERR_INPUT with its nodes,
 * unless leaving out control dependencies opens it and the reading is lenient. */
bool et_resolve(struct et_set *set, struct et_rank *rank, struct err *err);

/* Groups of a file of the form {"1": [0, 1], ...}, then of process_group:init nodes, then of the
 * nodes. */
bool et_read_groups(struct et_set *set, const struct trace_file *file, struct err *err);
bool et_find_groups(struct et_set *set, struct err *err);

/* Refuses nodes that cannot be replayed, numbers channels. The second needs the groups. */
bool et_check_nodes(struct et_set *set, struct err *err);
bool et_check_bytes(struct et_set *set, struct err *err);

/* The kind of a collective that was checked. */
enum coll_kind et_coll(const struct et_node *node);

/* The order in which each rank does its nodes: a list schedule of all ranks together. Of the nodes
 * whose dependencies are met, a device, a host and a remote memory each take the one with the
 * lowest id; messages and collectives take no time but wait for each other, the k-th receive of a
 * channel for the k-th send, the collectives of a group for each other by id. What would wait for
 * ever goes on as if it did not: prog_check() and the run then say why. */
struct et_order {
	uint64_t *place;      /* by node of all ranks: base[rank] + node */
	const uint32_t *base; /* n_ranks + 1 */
	uint64_t *largest;    /* collectives: the most bytes that any member names, else 0 */
};
struct et_order et_schedule(struct et_set *set);

/* Payload of a send, receive or collective; collectives by nccl-tests' convention. */
uint64_t et_bytes(const struct et_set *set, const struct et_node *node);

/* How long a node keeps its device or its host busy. */
tick et_duration(const struct et_set *set, const struct et_node *node);

void et_emit(struct et_set *set, const struct et_order *order, struct prog *out);

#endif
