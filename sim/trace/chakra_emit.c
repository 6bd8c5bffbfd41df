/* Nodes in their order become tasks. */
#include <inttypes.h>
#include <stdlib.h>

#include "trace/chakra.h"

struct emitter {
	struct et_set *set;
	const struct et_order *order;
	struct prog_builder *builder;
	struct arena *a; /* scratch, of one rank */
	uint32_t rank;
	uint32_t *task_of; /* by node; PROG_NONE for what is passed over */
	/* What stands in for a node that is passed over. */
	struct task_list *instead;
	uint32_t *group_of; /* by group of the set: that of the prog, plus 1 */
};

struct task_list {
	uint32_t *tasks;
	uint32_t n, cap;
};

static int number_order(const void *x, const void *y)
{
	const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

/* Tasks that have to be done before the node, ascending. */
static struct task_list tasks_before(struct emitter *e, const struct et_node *node)
{
	struct task_list all = {0}, once = {0};
	for (uint32_t d = 0; d < node->n_deps; d++) {
		const struct task_list *l = &e->instead[node->deps[d]];
		if (e->task_of[node->deps[d]] != PROG_NONE)
			arena_push(e->a, all.tasks, all.n, all.cap) = e->task_of[node->deps[d]];
		for (uint32_t i = 0; i < l->n; i++)
			arena_push(e->a, all.tasks, all.n, all.cap) = l->tasks[i];
	}
	if (all.n > 0)
		qsort(all.tasks, all.n, sizeof(*all.tasks), number_order);
	for (uint32_t i = 0; i < all.n; i++)
		if (i == 0 || all.tasks[i] != all.tasks[i - 1])
			arena_push(e->a, once.tasks, once.n, once.cap) = all.tasks[i];
	return once;
}

static void set_message(struct emitter *e, const struct et_node *node, struct prog_task *task)
{
	bool send = node->type == ET_SEND;
	task->kind = send ? TASK_SEND : TASK_RECV;
	task->peer.dim = PROG_NONE;
	task->peer.rank = (uint32_t)node->value[send ? KEY_COMM_DST : KEY_COMM_SRC];
	task->bytes = et_bytes(e->set, node);
	task->tag = arena_printf(e->a, "t%" PRIi64, node->value[KEY_COMM_TAG]);
	/* messages that have nothing to do with each other do not queue for each other */
	task->stream = TRACE_FIRST_COMM_STREAM + e->set->n_groups + node->channel;
}

static void set_collective(
	struct emitter *e, const struct et_node *node, uint64_t largest, struct prog_task *task)
{
	const struct et_group *g = &e->set->groups[node->group];
	if (e->group_of[node->group] == 0)
		e->group_of[node->group] =
			1 + prog_add_group_list(e->builder,
				    arena_printf(e->set->a, "pg%s", g->name), g->ranks, g->n_ranks);
	task->kind = TASK_COLL;
	task->coll = et_coll(node);
	task->group = e->group_of[node->group] - 1;
	task->bytes = et_bytes(e->set, node);
	task->stream = TRACE_FIRST_COMM_STREAM + node->group;
	if (e->set->options->lenient && task->bytes != largest) {
		trace_warn(e->set->a, e->set->trace, "uneven_collective",
			"%s: the largest of its members counts",
			et_place(e->set->a, &e->set->ranks[e->rank], node));
		task->bytes = largest;
	}
}

static void set_work(struct emitter *e, const struct et_node *node, struct prog_task *task)
{
	task->kind = TASK_COMPUTE;
	task->duration = et_duration(e->set, node);
	if (node->type != ET_COMP)
		task->stream = TRACE_MEMORY_STREAM;
	else if (node->value[KEY_IS_CPU_OP])
		task->stream = TRACE_HOST_STREAM;
}

static void emit_node(struct emitter *e, uint32_t i)
{
	const struct et_rank *rank = &e->set->ranks[e->rank];
	const struct et_node *node = &rank->nodes[i];
	struct task_list before = tasks_before(e, node);
	struct prog_task task = {.cost = PROG_NONE,
		.after = before.tasks,
		.n_after = before.n,
		.label = node->name[0] ? node->name : NULL,
		.place = et_place(e->a, rank, node)};
	switch (node->type) {
	case ET_INVALID:
	case ET_METADATA:
		e->instead[i] = before;
		return;
	case ET_MEM_LOAD:
	case ET_MEM_STORE:
	case ET_COMP:
		set_work(e, node, &task);
		break;
	case ET_SEND:
	case ET_RECV:
		set_message(e, node, &task);
		break;
	case ET_COLL:
		set_collective(e, node, e->order->largest[e->order->base[e->rank] + i], &task);
		break;
	}
	e->task_of[i] = prog_add_task(e->builder, &task);
}

struct placed {
	uint64_t place;
	uint32_t node;
};

static int place_order(const void *x, const void *y)
{
	const struct placed *a = x, *b = y;
	return (a->place > b->place) - (a->place < b->place);
}

static void emit_rank(struct emitter *e)
{
	const struct et_rank *rank = &e->set->ranks[e->rank];
	struct placed *placed = arena_array(e->a, rank->n_nodes, struct placed);
	e->task_of = arena_array(e->a, rank->n_nodes, uint32_t);
	e->instead = arena_array(e->a, rank->n_nodes, struct task_list);
	for (uint32_t i = 0; i < rank->n_nodes; i++) {
		placed[i] = (struct placed){e->order->place[e->order->base[e->rank] + i], i};
		e->task_of[i] = PROG_NONE;
	}
	if (rank->n_nodes > 0)
		qsort(placed, rank->n_nodes, sizeof(*placed), place_order);
	prog_add_role(e->builder, arena_printf(e->a, "rank%" PRIu32, e->rank), &e->rank, &e->rank);
	for (uint32_t i = 0; i < rank->n_nodes; i++)
		emit_node(e, placed[i].node);
}

void et_emit(struct et_set *set, const struct et_order *order, struct prog *out)
{
	struct prog_grid grid = {.n_dims = 1, .names = {"rank"}, .sizes = {set->n_ranks}};
	struct emitter e = {.set = set,
		.order = order,
		.builder = prog_build(set->a, &grid),
		.group_of = arena_array(set->a, (size_t)set->n_groups + 1, uint32_t)};
	for (e.rank = 0; e.rank < set->n_ranks; e.rank++) {
		struct arena scratch = {0};
		e.a = &scratch;
		emit_rank(&e);
		arena_free(&scratch);
	}
	prog_finish(e.builder, out);
}
