#include "coll/coll.h"

#include <string.h>

#include "coll/internal.h"

const struct coll_algo *const coll_algos[] = {
	&coll_allreduce_biring,
	&coll_allreduce_dbtree,
	&coll_allreduce_direct,
	&coll_allreduce_hierarchical,
	&coll_allreduce_rabenseifner,
	&coll_allreduce_recdbl,
	&coll_allreduce_redbcast,
	&coll_allreduce_ring,
	&coll_allreduce_rings,
	&coll_allreduce_torus,
	&coll_allreduce_colours,
	&coll_allgather_bruck,
	&coll_allgather_direct,
	&coll_allgather_neighbor,
	&coll_allgather_recdbl,
	&coll_allgather_ring,
	&coll_reducescatter_direct,
	&coll_reducescatter_halving,
	&coll_reducescatter_pairwise,
	&coll_reducescatter_ring,
	&coll_broadcast_binomial,
	&coll_broadcast_chain,
	&coll_broadcast_vandegeijn,
	&coll_reduce_binomial,
	&coll_reduce_chain,
	&coll_reduce_rabenseifner,
	&coll_gather_binomial,
	&coll_gather_chain,
	&coll_gather_direct,
	&coll_scatter_binomial,
	&coll_scatter_chain,
	&coll_scatter_direct,
	&coll_alltoall_bruck,
	&coll_alltoall_direct,
	&coll_alltoall_pairwise,
	&coll_alltoall_twolevel,
	&coll_barrier_dissemination,
	&coll_halo_line,
	&coll_halo_neighbors,
	NULL,
};
enum { N_ALGOS = sizeof(coll_algos) / sizeof(*coll_algos) - 1 };

static const char *const defaults[N_COLL_KINDS] = {
	[COLL_ALLREDUCE] = "ring",
	[COLL_ALLGATHER] = "ring",
	[COLL_REDUCESCATTER] = "ring",
	[COLL_BROADCAST] = "binomial",
	[COLL_REDUCE] = "binomial",
	[COLL_GATHER] = "binomial",
	[COLL_SCATTER] = "binomial",
	[COLL_ALLTOALL] = "pairwise",
	[COLL_BARRIER] = "dissemination",
	[COLL_HALO] = "neighbors",
};

const struct coll_algo *coll_find(enum coll_kind kind, const char *name)
{
	for (unsigned i = 0; i < N_ALGOS; i++)
		if (coll_algos[i]->kind == kind &&
			strcmp(coll_algos[i]->name, name ? name : defaults[kind]) == 0)
			return coll_algos[i];
	return NULL;
}

static const struct {
	const char *name;
	enum coll_kind kind;
	const char *algo;
} short_names[] = {
	{"a2a_bruck", COLL_ALLTOALL, "bruck"},
	{"a2a_pair", COLL_ALLTOALL, "pairwise"},
	{"ag_bruck", COLL_ALLGATHER, "bruck"},
	{"ag_neighbor", COLL_ALLGATHER, "neighbor"},
	{"ag_rdb", COLL_ALLGATHER, "recdbl"},
	{"ag_ring", COLL_ALLGATHER, "ring"},
	{"ar_rab", COLL_ALLREDUCE, "rabenseifner"},
	{"ar_rdb", COLL_ALLREDUCE, "recdbl"},
	{"ar_redbcast", COLL_ALLREDUCE, "redbcast"},
	{"ar_ring", COLL_ALLREDUCE, "ring"},
	{"barrier_diss", COLL_BARRIER, "dissemination"},
	{"bc_binom", COLL_BROADCAST, "binomial"},
	{"bc_vdg", COLL_BROADCAST, "vandegeijn"},
	{"gather_binom", COLL_GATHER, "binomial"},
	{"rs_rhalv", COLL_REDUCESCATTER, "halving"},
	{"rs_ring", COLL_REDUCESCATTER, "ring"},
};

const struct coll_algo *coll_find_short(const char *name)
{
	for (size_t i = 0; i < sizeof(short_names) / sizeof(*short_names); i++)
		if (strcmp(short_names[i].name, name) == 0)
			return coll_find(short_names[i].kind, short_names[i].algo);
	return NULL;
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

static bool has_suffix(const char *text, const char *suffix)
{
	size_t n = strlen(text), m = strlen(suffix);
	return n >= m && strcmp(text + n - m, suffix) == 0;
}

const struct coll_algo *coll_load(
	struct arena *a, enum coll_kind kind, const char *name, struct err *err)
{
	const struct coll_algo *algo;
	if (!name || !has_suffix(name, ".xml"))
		return coll_get(kind, name, err);
	if (!coll_read_msccl(a, name, &algo, err))
		return NULL;
	if (algo->kind == kind)
		return algo;
	err_set(err, ERR_INPUT, "%s: is an algorithm for %s, not for %s", name,
		coll_kind_name(algo->kind), coll_kind_name(kind));
	return NULL;
}

bool coll_policy_find(const char *name, enum coll_policy *out)
{
	*out = COLL_FIXED;
	if (name && strcmp(name, "auto") == 0)
		*out = COLL_AUTO;
	if (name && strcmp(name, "nccl") == 0)
		*out = COLL_NCCL;
	return *out != COLL_FIXED;
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
		if (ok && (choice->algo[kind] || choice->policy[kind] != COLL_FIXED))
			ok = err_set(err, ERR_USAGE, "'%s' appears twice", word);
		if (ok && !coll_policy_find(eq + 1, &choice->policy[kind]))
			ok = (choice->algo[kind] = coll_get(kind, eq + 1, err)) != NULL;
	}
	arena_free(&a);
	return ok;
}

bool coll_parse_choice(const char *text, struct coll_choice *choice, struct err *err)
{
	*choice = (struct coll_choice){0};
	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = text + strcspn(text, ",");
		if (!parse_one(text, (size_t)(end - text), choice, err))
			return false;
		if (*end == ',' && end[1] == '\0')
			return err_set(err, ERR_USAGE, "nothing after the last ','");
	}
	return true;
}

/* What NCCL has beside the default: all-reduce has both, the others have this one. */
static const char *nccl_has(enum coll_kind kind)
{
	switch (kind) {
	case COLL_ALLREDUCE:
		return "dbtree";
	case COLL_BROADCAST:
	case COLL_REDUCE:
		return "chain";
	case COLL_GATHER:
	case COLL_SCATTER:
	case COLL_ALLTOALL:
		return "direct";
	case COLL_ALLGATHER:
	case COLL_REDUCESCATTER:
	case COLL_BARRIER:
	case COLL_HALO:
		return NULL;
	}
	return NULL;
}

const struct coll_algo *coll_nccl_pick(
	enum coll_kind kind, uint32_t n_ranks, uint64_t bytes, double alpha_s, double beta_s)
{
	const struct coll_algo *algo = coll_find(kind, nccl_has(kind));
	struct coll_call tree = {.algo = algo, .n_ranks = n_ranks, .bytes = bytes};
	if (kind != COLL_ALLREDUCE)
		return coll_fits(algo, n_ranks) ? algo : coll_find(kind, NULL);
	double n = n_ranks, chunk = (double)div_ceil(bytes, n_ranks);
	double ring_s = 2 * (n - 1) * (alpha_s + chunk * beta_s);
	return coll_call_time(&tree, alpha_s, beta_s) < ring_s ? algo : coll_find(kind, "ring");
}
