#include "coll/coll.h"

#include <string.h>

#include "coll/internal.h"

const struct coll_algo *const coll_algos[] = {
	&coll_allreduce_rabenseifner,
	&coll_allreduce_recdbl,
	&coll_allreduce_ring,
	&coll_allgather_bruck,
	&coll_allgather_recdbl,
	&coll_allgather_ring,
	&coll_reducescatter_ring,
	&coll_broadcast_binomial,
	&coll_reduce_binomial,
	&coll_gather_binomial,
	&coll_scatter_binomial,
	&coll_alltoall_pairwise,
	&coll_barrier_dissemination,
	NULL,
};
enum { N_ALGOS = sizeof(coll_algos) / sizeof(*coll_algos) - 1 };

const struct coll_algo *coll_find(enum coll_kind kind, const char *name)
{
	const struct coll_algo *first = NULL;
	for (unsigned i = 0; i < N_ALGOS; i++) {
		if (coll_algos[i]->kind != kind)
			continue;
		if (strcmp(coll_algos[i]->name, name ? name : "ring") == 0)
			return coll_algos[i];
		if (!first)
			first = coll_algos[i];
	}
	return name ? NULL : first;
}

const struct coll_algo *coll_get(enum coll_kind kind, const char *name, struct err *err)
{
	const struct coll_algo *algo = coll_find(kind, name);
	if (algo)
		return algo;
	const char *names[N_ALGOS];
	size_t n = 0;
	struct text list = {0};
	for (unsigned i = 0; i < N_ALGOS; i++)
		if (coll_algos[i]->kind == kind) {
			text_add(&list, "%s%s", n > 0 ? ", " : "", coll_algos[i]->name);
			names[n++] = coll_algos[i]->name;
		}
	const char *near = name ? text_nearest(name, names, n) : NULL;
	err_set(err, ERR_USAGE, "no algorithm '%s' for %s, expected one of %s%s%s%s",
		name ? name : "", coll_kind_name(kind), n > 0 ? list.data : "(none)",
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	text_free(&list);
	return NULL;
}

static bool find_kind(const char *name, enum coll_kind *kind, struct err *err)
{
	if (coll_kind_find(name, kind))
		return true;
	const char *names[N_COLL_KINDS];
	for (unsigned i = 0; i < N_COLL_KINDS; i++)
		names[i] = coll_kind_name((enum coll_kind)i);
	const char *near = text_nearest(name, names, N_COLL_KINDS);
	return err_set(err, ERR_USAGE, "unknown collective '%s', expected such as %s", name,
		near ? near : "allreduce");
}

static bool parse_one(const char *text, size_t n, struct coll_choice *choice, struct err *err)
{
	struct arena a = {0};
	char *word = arena_strndup(&a, text, n);
	char *eq = strchr(word, '=');
	enum coll_kind kind;
	bool ok;
	if (!eq) {
		ok = err_set(err, ERR_USAGE,
			"'%s' is not KIND=ALGORITHM, expected such as allreduce=ring", word);
	} else {
		*eq = '\0';
		ok = find_kind(word, &kind, err);
		if (ok && choice->algo[kind])
			ok = err_set(err, ERR_USAGE, "'%s' appears twice", word);
		if (ok)
			ok = (choice->algo[kind] = coll_get(kind, eq + 1, err)) != NULL;
	}
	arena_free(&a);
	return ok;
}

bool coll_parse_choice(const char *text, struct coll_choice *choice, struct err *err)
{
	*choice = (struct coll_choice){{NULL}};
	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = text + strcspn(text, ",");
		if (!parse_one(text, (size_t)(end - text), choice, err))
			return false;
		if (*end == ',' && end[1] == '\0')
			return err_set(err, ERR_USAGE, "nothing after the last ','");
	}
	return true;
}

double coll_time(const struct coll_schedule *s, uint32_t n_ranks, double alpha_s, double beta_s)
{
	struct arena a = {0};
	double *ready = arena_array(&a, n_ranks, double); /* when all earlier rounds are over */
	double *after = arena_array(&a, n_ranks, double); /* ... and the one at hand */
	double end = 0;
	for (uint32_t i = 0; i < s->n_steps; i++) {
		const struct coll_step *step = &s->steps[i];
		if (i > 0 && s->steps[i - 1].round != step->round)
			memcpy(ready, after, n_ranks * sizeof(*ready));
		double start =
			ready[step->src] > ready[step->dst] ? ready[step->src] : ready[step->dst];
		double payload = (double)step->bytes / (double)s->bytes_divisor;
		double done = start + alpha_s + payload * beta_s;
		if (done > after[step->src])
			after[step->src] = done;
		if (done > after[step->dst])
			after[step->dst] = done;
		end = done > end ? done : end;
	}
	arena_free(&a);
	return end;
}

double coll_busbw_factor(enum coll_kind kind, uint32_t n_ranks)
{
	double n = n_ranks;
	switch (kind) {
	case COLL_ALLREDUCE:
		return 2 * (n - 1) / n;
	case COLL_ALLGATHER:
	case COLL_REDUCESCATTER:
	case COLL_GATHER:
	case COLL_SCATTER:
	case COLL_ALLTOALL:
		return (n - 1) / n;
	case COLL_BROADCAST:
	case COLL_REDUCE:
		return 1;
	case COLL_BARRIER:
		return 0;
	}
	return 0;
}
