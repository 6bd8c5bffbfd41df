/* Algorithms that were read from a file, as schedules. */
#include "coll/msccl.h"

#include <stdlib.h>

/* Messages by round. */
struct message {
	uint32_t round, src, dst, count;
};
struct messages {
	uint32_t n, n_rounds, n_chunks;
	struct message *list;
	uint32_t *start; /* n_rounds + 1 */
};

static struct coll_frame frame(const struct coll_call *c)
{
	const struct messages *m = c->algo->data;
	return (struct coll_frame){m->n_rounds, m->n, m->n_chunks, m->n > 0 ? m->n : 1};
}

static void add_round(const struct coll_call *c, uint32_t r, struct steps *s)
{
	const struct messages *m = c->algo->data;
	for (uint32_t i = m->start[r]; i < m->start[r + 1]; i++)
		steps_add(s, &(struct coll_step){.src = m->list[i].src,
				     .dst = m->list[i].dst,
				     .bytes = c->bytes * m->list[i].count,
				     .range = {i, 1}});
}

static int compare_messages(const void *a, const void *b)
{
	const struct message *x = a, *y = b;
	if (x->round != y->round)
		return x->round < y->round ? -1 : 1;
	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	return (x->count > y->count) - (x->count < y->count);
}

static const struct messages *list_messages(
	struct arena *a, const struct msccl *m, const struct msccl_order *order)
{
	struct messages *out = arena_new(a, struct messages);
	uint32_t cap = 0;
	out->n_rounds = order->n_rounds;
	out->n_chunks = m->n_chunks;
	for (uint32_t i = 0; i < m->n_steps; i++) {
		const struct msccl_step *s = &m->steps[i];
		const struct msccl_block *b = &m->blocks[s->block];
		if (msccl_ops[s->op].sends)
			arena_push(a, out->list, out->n, cap) =
				(struct message){order->round[i], b->rank, b->send, s->count};
	}
	if (out->n > 0)
		qsort(out->list, out->n, sizeof(*out->list), compare_messages);
	out->start = arena_array(a, (size_t)out->n_rounds + 1, uint32_t);
	for (uint32_t r = 0, i = 0; r <= out->n_rounds; r++) {
		while (i < out->n && out->list[i].round < r)
			i++;
		out->start[r] = i;
	}
	return out;
}

bool coll_read_msccl(
	struct arena *a, const char *path, const struct coll_algo **out, struct err *err)
{
	struct arena scratch = {0};
	struct msccl m;
	struct msccl_order order;
	bool ok = msccl_parse(&scratch, path, &m, err) && msccl_order(&scratch, &m, &order, err) &&
		  msccl_verify(&m, &order, err);
	if (ok) {
		struct coll_algo *algo = arena_new(a, struct coll_algo);
		*algo = (struct coll_algo){.name = arena_strdup(a, m.name),
			.kind = m.kind,
			.frame = frame,
			.round = add_round,
			.only_ranks = m.n_ranks,
			.data = list_messages(a, &m, &order)};
		*out = algo;
	}
	arena_free(&scratch);
	return ok;
}
