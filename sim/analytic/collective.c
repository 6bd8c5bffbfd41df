#include "analytic/analytic.h"

#include <stddef.h>
#include <string.h>

/* What a form is a function of, counts as doubles because they multiply seconds. */
struct terms {
	double ranks, bytes;
	double part;           /* bytes of one rank's ceil(bytes / ranks) share */
	double share;          /* (ranks - 1) / ranks of the bytes */
	double log_up;         /* ceil(log2 ranks) */
	double log_down, core; /* floor(log2 ranks) and the power of two of it */
	bool folds;            /* ranks is no power of two: the surplus ones fold into the others */
	uint32_t n;
};

/* Steps, bytes and bytes added up, on the critical way. */
struct cost {
	double steps, bytes, added;
};

static struct cost ring_gather(const struct terms *t)
{
	return (struct cost){t->ranks - 1, (t->ranks - 1) * t->part, 0};
}

static struct cost ring_reduce(const struct terms *t)
{
	struct cost c = ring_gather(t);
	c.added = c.bytes;
	return c;
}

static struct cost ring_twice(const struct terms *t)
{
	struct cost once = ring_reduce(t);
	return (struct cost){2 * once.steps, 2 * once.bytes, once.added};
}

/* Bruck's all-gather and the binomial gather: step k moves min(2^k, ranks - 2^k) blocks. */
static struct cost doubling_blocks(const struct terms *t)
{
	return (struct cost){t->log_up, t->share, 0};
}

static struct cost pairwise(const struct terms *t)
{
	return (struct cost){t->ranks - 1, t->share, 0};
}

static struct cost neighbor_exchange(const struct terms *t)
{
	return (struct cost){t->ranks / 2, t->share, 0};
}

static struct cost binomial(const struct terms *t)
{
	return (struct cost){t->log_up, t->log_up * t->bytes, 0};
}

static struct cost binomial_twice(const struct terms *t)
{
	return (struct cost){2 * t->log_up, 2 * t->log_up * t->bytes, t->log_up * t->bytes};
}

static struct cost scatter_ring(const struct terms *t)
{
	struct cost ring = ring_gather(t);
	return (struct cost){t->log_up + ring.steps, t->share + ring.bytes, 0};
}

static struct cost dissemination(const struct terms *t)
{
	return (struct cost){t->log_up, 0, 0};
}

static struct cost recursive_doubling(const struct terms *t)
{
	double fold = t->folds ? 2 : 0;
	return (struct cost){t->log_down + fold, (t->log_down + fold) * t->bytes,
		(t->log_down + fold / 2) * t->bytes};
}

static struct cost halving(const struct terms *t)
{
	double halves = (t->core - 1) / t->core * t->bytes;
	struct cost c = {t->log_down, halves, halves};
	if (t->folds) {
		c.steps += 2;
		c.bytes += t->bytes + t->bytes / t->ranks;
		c.added += t->bytes;
	}
	return c;
}

static struct cost rabenseifner(const struct terms *t)
{
	double fold = t->folds ? 2 : 0;
	double halves = (t->core - 1) / t->core;
	return (struct cost){2 * t->log_down + fold, (2 * halves + fold) * t->bytes,
		(halves + fold / 2) * t->bytes};
}

/* Step k moves the blocks whose number has bit k set. */
static struct cost bruck_alltoall(const struct terms *t)
{
	uint64_t blocks = 0;
	for (uint32_t k = 0; UINT64_C(1) << k < t->n; k++) {
		uint64_t half = UINT64_C(1) << k, tail = t->n % (2 * half);
		blocks += t->n / (2 * half) * half + (tail > half ? tail - half : 0);
	}
	return (struct cost){t->log_up, t->bytes / t->ranks * (double)blocks, 0};
}

enum counts { ANY, EVEN, POWER_OF_TWO };

struct form {
	const char *name;
	enum counts counts;
	struct cost (*cost)(const struct terms *t);
};

// clang-format off
static const struct form forms[] = {
	{"a2a_bruck",    ANY,          bruck_alltoall},
	{"a2a_pair",     ANY,          pairwise},
	{"ag_bruck",     ANY,          doubling_blocks},
	{"ag_neighbor",  EVEN,         neighbor_exchange},
	{"ag_rdb",       POWER_OF_TWO, doubling_blocks},
	{"ag_ring",      ANY,          ring_gather},
	{"ar_rab",       ANY,          rabenseifner},
	{"ar_rdb",       ANY,          recursive_doubling},
	{"ar_redbcast",  ANY,          binomial_twice},
	{"ar_ring",      ANY,          ring_twice},
	{"barrier_diss", ANY,          dissemination},
	{"bc_binom",     ANY,          binomial},
	{"bc_vdg",       ANY,          scatter_ring},
	{"gather_binom", ANY,          doubling_blocks},
	{"rs_rhalv",     ANY,          halving},
	{"rs_ring",      ANY,          ring_reduce},
};

const char *const analytic_collective_names[] = {
	"a2a_bruck", "a2a_pair", "ag_bruck", "ag_neighbor", "ag_rdb", "ag_ring", "ar_rab", "ar_rdb",
	"ar_redbcast", "ar_ring", "barrier_diss", "bc_binom", "bc_vdg", "gather_binom", "rs_rhalv", "rs_ring",
	NULL,
};
// clang-format on

enum { N_FORMS = sizeof(forms) / sizeof(forms[0]) };

static const struct form *form_find(const char *name)
{
	for (size_t i = 0; i < N_FORMS; i++)
		if (strcmp(forms[i].name, name) == 0)
			return &forms[i];
	return NULL;
}

static bool form_counts(const struct form *form, uint32_t n)
{
	switch (form->counts) {
	case ANY:
		return n > 0;
	case EVEN:
		return n > 0 && (n % 2 == 0 || n == 1);
	case POWER_OF_TWO:
		return n > 0 && (n & (n - 1)) == 0;
	}
	return false;
}

static struct terms terms_of(uint32_t n, uint64_t bytes)
{
	uint32_t log_down = 0;
	while (log_down < 31 && UINT32_C(2) << log_down <= n)
		log_down++;
	uint32_t core = UINT32_C(1) << log_down;
	bool folds = core != n;
	return (struct terms){
		.ranks = (double)n,
		.bytes = (double)bytes,
		.part = (double)div_ceil(bytes, n),
		.share = (double)(n - 1) / (double)n * (double)bytes,
		.log_up = (double)(log_down + (folds ? 1 : 0)),
		.log_down = (double)log_down,
		.core = (double)core,
		.folds = folds,
		.n = n,
	};
}

double analytic_collective_s(
	const char *name, uint32_t n_ranks, uint64_t bytes, const struct alpha_beta *ab)
{
	const struct form *form = form_find(name);
	if (!form || !form_counts(form, n_ranks))
		return -1;
	if (n_ranks == 1)
		return 0;
	struct terms t = terms_of(n_ranks, bytes);
	struct cost c = form->cost(&t);
	return c.steps * ab->alpha + c.bytes * ab->beta + c.added * ab->gamma;
}
