/* What a node asks for: whether it can be replayed, its bytes, its time. */
#include <inttypes.h>
#include <stdlib.h>

#include "trace/chakra.h"

#define TICKS_PER_US (TICKS_PER_S / 1000000)
enum { LONGEST_S = 1000000 }; /* of one node, and of a rank */

/* As numbered in the schema (CollectiveCommType). */
static const enum coll_kind coll_kinds[] = {COLL_ALLREDUCE, COLL_REDUCE, COLL_ALLGATHER,
	COLL_GATHER, COLL_SCATTER, COLL_BROADCAST, COLL_ALLTOALL, COLL_REDUCESCATTER,
	COLL_REDUCESCATTER, COLL_BARRIER};
enum { N_COMM_TYPES = sizeof(coll_kinds) / sizeof(*coll_kinds) };

enum coll_kind et_coll(const struct et_node *node)
{
	return coll_kinds[node->value[KEY_COMM_TYPE]];
}

static uint64_t clamped(u128 v)
{
	return v > UINT64_MAX ? UINT64_MAX : (uint64_t)v;
}

uint64_t et_bytes(const struct et_set *set, const struct et_node *node)
{
	uint32_t elem = set->options->elem_bytes ? set->options->elem_bytes : 1;
	u128 bytes = (u128)(uint64_t)node->value[KEY_COMM_SIZE] * elem;
	if (node->type != ET_COLL)
		return clamped(bytes);
	/* the traces count what a rank puts in */
	if (et_coll(node) == COLL_ALLGATHER || et_coll(node) == COLL_GATHER)
		bytes *= set->groups[node->group].n_ranks;
	return et_coll(node) == COLL_BARRIER ? 0 : clamped(bytes);
}

tick et_duration(const struct et_set *set, const struct et_node *node)
{
	const struct trace_options *o = set->options;
	uint32_t elem = o->elem_bytes ? o->elem_bytes : 1;
	tick compute = 0, memory = 0;
	if (node->duration_us > 0)
		return node->duration_us * TICKS_PER_US;
	if (o->ops_per_s > 0 && node->value[KEY_NUM_OPS] > 0)
		compute = ticks_ceil((uint64_t)node->value[KEY_NUM_OPS], o->ops_per_s);
	if (o->bytes_per_s > 0 && node->value[KEY_TENSOR_SIZE] > 0)
		memory = ticks_ceil((uint64_t)node->value[KEY_TENSOR_SIZE] * elem, o->bytes_per_s);
	return compute > memory ? compute : memory;
}

static bool fail(struct et_set *set, uint32_t rank, const struct et_node *node, const char *what,
	struct err *err)
{
	return err_set(err, ERR_INPUT, "%s: %s", et_place(set->a, &set->ranks[rank], node), what);
}

static bool check_end(struct et_set *set, uint32_t rank, const struct et_node *node,
	enum et_key key, struct err *err)
{
	bool send = key == KEY_COMM_DST;
	if (!et_has(node, key))
		return fail(set, rank, node,
			send ? "a send without comm_dst" : "a receive without comm_src", err);
	if (node->value[key] < 0 || node->value[key] >= set->n_ranks)
		return err_set(err, ERR_INPUT,
			"%s: %s rank %" PRIi64 ", the set has ranks 0 to %" PRIu32,
			et_place(set->a, &set->ranks[rank], node),
			send ? "sends to" : "receives from", node->value[key], set->n_ranks - 1);
	return true;
}

static bool check_sizes(
	struct et_set *set, uint32_t rank, const struct et_node *node, struct err *err)
{
	const enum et_key keys[] = {KEY_COMM_SIZE, KEY_NUM_OPS, KEY_TENSOR_SIZE};
	uint32_t elem = set->options->elem_bytes ? set->options->elem_bytes : 1;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (node->value[keys[i]] < 0)
			return fail(set, rank, node, "a size below 0", err);
	if ((u128)(uint64_t)node->value[KEY_TENSOR_SIZE] * elem > INT64_MAX)
		return fail(set, rank, node, "tensor_size is too large", err);
	if (node->duration_us > UINT64_C(1000000) * LONGEST_S)
		return fail(set, rank, node, "duration_micros is more than 1e12", err);
	const struct trace_options *o = set->options;
	if ((o->ops_per_s && (uint64_t)node->value[KEY_NUM_OPS] / o->ops_per_s >= LONGEST_S) ||
		(o->bytes_per_s && (uint64_t)node->value[KEY_TENSOR_SIZE] * elem / o->bytes_per_s >=
					   LONGEST_S))
		return fail(set, rank, node, "more work than a million seconds", err);
	return true;
}

static bool check_comm(
	struct et_set *set, uint32_t rank, const struct et_node *node, struct err *err)
{
	int64_t type = node->value[KEY_COMM_TYPE];
	if (node->type == ET_COLL &&
		(!et_has(node, KEY_COMM_TYPE) || type < 0 || type >= N_COMM_TYPES))
		return fail(set, rank, node, "a collective without a comm_type of 0 to 9", err);
	if (!et_has(node, KEY_COMM_SIZE) &&
		!(node->type == ET_COLL && et_coll(node) == COLL_BARRIER))
		return fail(set, rank, node, "communication without comm_size", err);
	if (node->type == ET_SEND)
		return check_end(set, rank, node, KEY_COMM_DST, err);
	return node->type != ET_RECV || check_end(set, rank, node, KEY_COMM_SRC, err);
}

static bool check_node(struct et_set *set, uint32_t rank, struct et_node *node, struct err *err)
{
	const struct trace_options *o = set->options;
	const struct et_rank *r = &set->ranks[rank];
	bool comm = node->type == ET_SEND || node->type == ET_RECV || node->type == ET_COLL;
	if (!check_sizes(set, rank, node, err))
		return false;
	if (node->type == ET_INVALID && !o->lenient)
		return fail(
			set, rank, node, "a node of no known type (--lenient passes over it)", err);
	if (node->type == ET_INVALID)
		trace_warn(set->a, set->trace, "invalid_node", "%s has no known type",
			et_place(set->a, r, node));
	if (comm && node->value[KEY_IS_CPU_OP]) {
		trace_warn(set->a, set->trace, "communication_on_host",
			"%s is an operation of the processor: its recorded time is kept",
			et_place(set->a, r, node));
		node->type = ET_COMP;
		comm = false;
	}
	bool works = node->value[KEY_NUM_OPS] > 0 || node->type == ET_MEM_LOAD ||
		     node->type == ET_MEM_STORE;
	if (!comm && works && et_duration(set, node) == 0)
		trace_warn(set->a, set->trace, "untimed_operation",
			"%s has work but no duration and takes no time (--accel gives it one)",
			et_place(set->a, r, node));
	return !comm || check_comm(set, rank, node, err);
}

struct end {
	uint32_t src, dst;
	int64_t tag;
	struct et_node *node;
};

static int end_order(const void *x, const void *y)
{
	const struct end *a = x, *b = y;
	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	if (a->dst != b->dst)
		return a->dst < b->dst ? -1 : 1;
	return (a->tag > b->tag) - (a->tag < b->tag);
}

static void number_channels(struct et_set *set)
{
	struct arena scratch = {0};
	struct end *ends = NULL;
	uint32_t n = 0, cap = 0;
	for (uint32_t r = 0; r < set->n_ranks; r++)
		for (uint32_t i = 0; i < set->ranks[r].n_nodes; i++) {
			struct et_node *node = &set->ranks[r].nodes[i];
			bool send = node->type == ET_SEND;
			if (!send && node->type != ET_RECV)
				continue;
			arena_push(&scratch, ends, n, cap) =
				(struct end){send ? r : (uint32_t)node->value[KEY_COMM_SRC],
					send ? (uint32_t)node->value[KEY_COMM_DST] : r,
					node->value[KEY_COMM_TAG], node};
		}
	if (n > 0)
		qsort(ends, n, sizeof(*ends), end_order);
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0 && end_order(&ends[i - 1], &ends[i]) != 0)
			set->n_channels++;
		ends[i].node->channel = set->n_channels;
	}
	set->n_channels++;
	arena_free(&scratch);
}

static bool check_rank(struct et_set *set, uint32_t r, struct err *err)
{
	u128 sum = 0;
	for (uint32_t i = 0; i < set->ranks[r].n_nodes; i++) {
		struct et_node *node = &set->ranks[r].nodes[i];
		if (!check_node(set, r, node, err))
			return false;
		sum += et_duration(set, node);
	}
	return sum <= (u128)LONGEST_S * TICKS_PER_S ||
	       err_set(err, ERR_INPUT, "%s: more work than a million seconds", set->ranks[r].path);
}

bool et_check_nodes(struct et_set *set, struct err *err)
{
	for (uint32_t r = 0; r < set->n_ranks; r++)
		if (!check_rank(set, r, err))
			return false;
	number_channels(set);
	return true;
}

bool et_check_bytes(struct et_set *set, struct err *err)
{
	for (uint32_t r = 0; r < set->n_ranks; r++)
		for (uint32_t i = 0; i < set->ranks[r].n_nodes; i++) {
			const struct et_node *node = &set->ranks[r].nodes[i];
			bool comm = node->type == ET_SEND || node->type == ET_RECV ||
				    node->type == ET_COLL;
			if (comm && et_bytes(set, node) > PROG_MAX_BYTES)
				return fail(set, r, node, "comm_size is more than 64 TiB", err);
		}
	return true;
}
