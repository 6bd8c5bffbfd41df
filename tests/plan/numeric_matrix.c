#include "numeric_matrix.h"

#include <stdio.h>

#include "suite.h"

static bool wants(const void *what, uint32_t proc, uint64_t i)
{
	const struct blocks *b = what;
	uint64_t row = i / b->cols, col = i % b->cols;
	const struct block *of = &b->of[proc];
	return row >= of->r0 && row < of->r1 && col >= of->c0 && col < of->c1;
}

struct wish blocks_wish(const struct blocks *b)
{
	return (struct wish){wants, b};
}

struct block block_rows(struct block b, uint32_t n, uint32_t k)
{
	uint64_t rows = b.r1 - b.r0;
	return (struct block){
		b.r0 + numeric_cut(rows, n, k), b.r0 + numeric_cut(rows, n, k + 1), b.c0, b.c1};
}

struct block block_cols(struct block b, uint32_t n, uint32_t k)
{
	uint64_t cols = b.c1 - b.c0;
	return (struct block){
		b.r0, b.r1, b.c0 + numeric_cut(cols, n, k), b.c0 + numeric_cut(cols, n, k + 1)};
}

void matrix_put(struct spread *s, const struct blocks *b, const int64_t *values)
{
	for (uint32_t p = 0; p < s->n_procs; p++)
		for (uint64_t i = 0; i < s->n; i++)
			if (wants(b, p, i))
				spread_put(s, p, i, values[i]);
}

void matrix_keep(struct spread *s, const struct blocks *b)
{
	for (uint32_t p = 0; p < s->n_procs; p++)
		for (uint64_t i = 0; i < s->n; i++)
			if (!wants(b, p, i))
				spread_drop(s, p, i);
}

void matrix_check(const struct spread *s, const struct wish *w, const int64_t *values)
{
	uint64_t wrong = 0, missing = 0;
	for (uint64_t i = 0; i < s->n; i++) {
		uint32_t owners = 0;
		for (uint32_t p = 0; p < s->n_procs; p++) {
			if (!w->wants(w->what, p, i))
				continue;
			owners++;
			wrong += !spread_holds(s, p, i) || spread_get(s, p, i) != values[i];
		}
		missing += owners == 0;
	}
	if (wrong + missing > 0)
		printf("\n%s of %llu: %llu wrong, %llu missing", s->name, (unsigned long long)s->n,
			(unsigned long long)wrong, (unsigned long long)missing);
	CU_ASSERT_EQUAL(wrong + missing, 0);
}

void product_forward(
	const struct product *m, uint32_t p, const struct block *w, uint64_t r0, uint64_t r1)
{
	for (uint64_t r = r0; r < r1; r++)
		for (uint64_t o = w->c0; o < w->c1; o++) {
			int64_t sum = 0;
			for (uint64_t i = w->r0; i < w->r1; i++)
				sum += spread_get(m->x, p, r * m->inputs + i) *
				       spread_get(m->w, p, i * m->outputs + o);
			spread_add(m->y, p, r * m->outputs + o, sum);
		}
}

void product_dw(const struct product *m, struct spread *dw, const struct spread *dy, uint32_t p,
	const struct block *w, uint64_t r0, uint64_t r1)
{
	for (uint64_t i = w->r0; i < w->r1; i++)
		for (uint64_t o = w->c0; o < w->c1; o++) {
			int64_t sum = 0;
			for (uint64_t r = r0; r < r1; r++)
				sum += spread_get(m->x, p, r * m->inputs + i) *
				       spread_get(dy, p, r * m->outputs + o);
			spread_add(dw, p, i * m->outputs + o, sum);
		}
}

void product_dx(const struct product *m, struct spread *dx, const struct spread *dy, uint32_t p,
	const struct block *w, uint64_t r0, uint64_t r1)
{
	for (uint64_t r = r0; r < r1; r++)
		for (uint64_t i = w->r0; i < w->r1; i++) {
			int64_t sum = 0;
			for (uint64_t o = w->c0; o < w->c1; o++)
				sum += spread_get(m->w, p, i * m->outputs + o) *
				       spread_get(dy, p, r * m->outputs + o);
			spread_add(dx, p, r * m->inputs + i, sum);
		}
}

static struct moved move(
	enum coll_kind kind, struct spread *s, const struct team *t, const struct wish *w)
{
	if (kind == COLL_ALLGATHER)
		return spread_gather(s, t, w);
	if (kind == COLL_REDUCESCATTER)
		return spread_reduce_scatter(s, t, w);
	if (kind == COLL_ALLTOALL)
		return spread_exchange(s, t, w);
	CU_ASSERT_EQUAL_FATAL(kind, COLL_ALLREDUCE);
	return spread_reduce(s, t, w);
}

/* Everything that a group moves. */
static struct moved move_all(enum coll_kind kind, const struct team *t, struct spread *const *of,
	const struct wish *wishes, uint32_t n)
{
	struct moved all = {0};
	for (uint32_t i = 0; i < n; i++) {
		struct moved m = move(kind, of[i], t, &wishes[i]);
		all.words += m.words;
		all.most += m.most;
		all.fresh += m.fresh;
	}
	return all;
}

static bool is_next(const struct player *pl, const struct step *s)
{
	const struct prog_role *role = &pl->it.prog.roles[0];
	const struct prog_task *t = &role->tasks[pl->next];
	bool same = pl->next < role->n_tasks && t->kind == TASK_COLL && t->coll == s->kind &&
		    pl->it.layers[pl->next] == s->layer && pl->it.terms[pl->next] == s->term &&
		    prog_group_size(&pl->it.prog, t->group) == s->n_ranks;
	if (!same)
		printf("\ntask %u of %u is '%s', expected %s of layer %u, %s over %u", pl->next,
			role->n_tasks, pl->next < role->n_tasks ? t->label : "", //
			coll_kind_name(s->kind), s->layer, iteration_term_name(s->term),
			s->n_ranks);
	return same;
}

void play(struct player *pl, const struct step *s, struct spread *const *of,
	const struct wish *wishes, uint32_t n)
{
	uint64_t words = 0, most = 0, teams = 0, fresh = 0;
	bool shares = s->kind == COLL_ALLTOALL, gathers = s->kind == COLL_ALLGATHER;
	for (uint32_t p = 0; s->n_ranks == 1 && p < of[0]->n_procs; p++)
		for (uint32_t i = 0; i < n; i++)
			spread_settle(of[i], p);
	if (s->n_ranks == 1)
		return;
	CU_ASSERT_TRUE_FATAL(is_next(pl, s));
	const struct prog_task *task = &pl->it.prog.roles[0].tasks[pl->next++];
	for (uint32_t p = 0; p < of[0]->n_procs; p++) {
		struct team t = team_of(pl->a, &pl->it.prog, task, p);
		if (t.ranks[0] != p)
			continue;
		struct moved m = move_all(s->kind, &t, of, wishes, n);
		uint64_t one = shares ? m.most : m.words;
		words += m.words;
		fresh += m.fresh;
		most = one > most ? one : most;
		teams += shares ? t.n : 1;
		if (gathers && pl->even)
			CU_ASSERT_EQUAL(m.most * t.n, m.words);
	}
	if (div_ceil(words, teams) * pl->word_bytes != task->bytes)
		printf("\n%s: %llu words in %llu parts, %llu bytes", task->label,
			(unsigned long long)words, (unsigned long long)teams,
			(unsigned long long)task->bytes);
	CU_ASSERT_EQUAL(div_ceil(words, teams) * pl->word_bytes, task->bytes);
	CU_ASSERT_TRUE(fresh > 0 || !(gathers || shares));
	if (pl->even)
		CU_ASSERT_EQUAL(most * pl->word_bytes, task->bytes);
}

void play_blocks(
	struct player *pl, const struct step *s, struct spread *of, const struct blocks *to)
{
	struct wish w = blocks_wish(to);
	play(pl, s, &of, &w, 1);
}

void play_end(const struct player *pl)
{
	CU_ASSERT_EQUAL(pl->next, pl->it.prog.roles[0].n_tasks);
}
