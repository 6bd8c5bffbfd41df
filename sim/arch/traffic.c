/* DRAM traffic of GEMMs through a buffer of limited size, in closed form.
 *
 * Each of the `batch` GEMMs runs by the cheapest of four loop orders:
 *   everything fits    a + b + c                         the three operands fit the buffer
 *   output stationary  a nN + b nM + c                   nM x nN tiles of c, one after the other
 *   a stationary       a + b nM + c + 2 (nK - 1) p       nM x nK tiles of a, each loaded once
 *   b stationary       a nN + b + c + 2 (nK - 1) p       nK x nN tiles of b, each loaded once
 * with p the partial sums (4 bytes each), written and read again for every further slice of k. The
 * tiles of an order fill at most half of the buffer: the other half is being loaded (double
 * buffering). What streams past a stationary tile does so in slabs of SLAB elements. A buffer too
 * small for any order costs a n + b m + c: no reuse at all.
 *
 * One tile count of an order goes through 1, 2, 3, 4, 6, 8, 12, ..., the other then is the
 * smallest that fits. A bigger buffer admits every choice that a smaller one does, so more SRAM
 * never means more traffic, and no choice goes below the compulsory a + b + c. A convolution
 * counts its input image (a_bytes), never the im2col matrix; lines shared by neighbouring tiles
 * stay in the buffer. */
#include "arch/internal.h"

enum {
	SLAB = 32, /* elements: a burst of 64 bytes of bf16 */
	PARTIAL_BYTES = 4,
};

/* One GEMM of the batch: its own bytes decide what fits. */
struct problem {
	uint64_t m, n, k;
	uint64_t a_row, b_column; /* bytes of one row of a and one column of b, rounded up */
	uint64_t a_all, b_all;    /* bytes over the batch, as the traffic counts them */
	uint64_t compulsory;      /* a + b + c over the batch */
	uint64_t partials_all;    /* bytes of all partial sums over the batch */
	uint64_t room;            /* half of the buffer */
};

struct choice {
	enum tile_order order;
	uint64_t a_times, b_times, partial_times; /* partial sums go out and come back so often */
	uint64_t bytes;
};

/* Keeps the better one; fills in the bytes of `c`. */
static void consider(struct choice *best, const struct problem *p, struct choice c)
{
	u128 bytes = (u128)(c.a_times - 1) * p->a_all + (u128)(c.b_times - 1) * p->b_all +
		     (u128)2 * c.partial_times * p->partials_all + p->compulsory;
	if (bytes >= best->bytes)
		return;
	*best = c;
	best->bytes = (uint64_t)bytes;
}

/* The tile counts that are tried: 1, 2, 3, 4, 6, 8, 12, 16, ... and `most`. */
static uint64_t next_count(uint64_t n, uint64_t most)
{
	if (n == 1)
		return min_u64(2, most);
	bool is_power = (n & (n - 1)) == 0;
	return min_u64(is_power ? n / 2 * 3 : n / 3 * 4, most);
}

/* Bytes of `depth` of the k elements of a row or column of `bytes`. */
static uint64_t slab_bytes(const struct problem *p, uint64_t bytes, uint64_t depth)
{
	return div_ceil(clamp_u64((u128)bytes * depth), p->k);
}

/* How many lines of `line` bytes fit beside `fixed` bytes. */
static uint64_t lines_that_fit(const struct problem *p, u128 fixed, u128 line)
{
	return fixed < p->room ? (p->room - (uint64_t)fixed) / clamp_u64(line) : 0;
}

/* c in tiles of mt x nt: the partial sums of one tile and the slabs of a and b that feed it must
 * fit. */
static void output_stationary(const struct problem *p, struct choice *best)
{
	uint64_t depth = min_u64(p->k, SLAB);
	uint64_t a_slab = slab_bytes(p, p->a_row, depth);
	uint64_t b_slab = slab_bytes(p, p->b_column, depth);
	for (uint64_t n_m = 1;; n_m = next_count(n_m, p->m)) {
		if ((u128)(n_m - 1) * p->b_all + p->compulsory >= best->bytes)
			return;
		uint64_t mt = div_ceil(p->m, n_m);
		uint64_t nt =
			lines_that_fit(p, (u128)mt * a_slab, (u128)mt * PARTIAL_BYTES + b_slab);
		if (nt > 0)
			consider(best, p,
				(struct choice){TILES_OUTPUT, div_ceil(p->n, nt), n_m, 0, 0});
		if (n_m >= p->m)
			return;
	}
}

/* a stays in tiles of mt rows and kt columns while all of b's columns pass by. */
static void a_stationary(const struct problem *p, struct choice *best)
{
	uint64_t width = min_u64(p->n, SLAB);
	for (uint64_t n_k = 1;; n_k = next_count(n_k, p->k)) {
		if ((u128)2 * (n_k - 1) * p->partials_all + p->compulsory >= best->bytes)
			return;
		uint64_t kt = div_ceil(p->k, n_k);
		uint64_t mt = lines_that_fit(p, (u128)width * slab_bytes(p, p->b_column, kt),
			(u128)slab_bytes(p, p->a_row, kt) + (u128)width * PARTIAL_BYTES);
		if (mt > 0)
			consider(best, p,
				(struct choice){TILES_A, 1, div_ceil(p->m, mt), n_k - 1, 0});
		if (n_k >= p->k)
			return;
	}
}

static struct problem transposed(const struct problem *p)
{
	struct problem t = *p;
	t.m = p->n;
	t.n = p->m;
	t.a_row = p->b_column;
	t.b_column = p->a_row;
	t.a_all = p->b_all;
	t.b_all = p->a_all;
	return t;
}

static struct choice best_choice(const struct problem *p)
{
	struct choice best = {.bytes = UINT64_MAX};
	consider(&best, p, (struct choice){TILES_NONE, p->n, p->m, 0, 0});
	output_stationary(p, &best);
	a_stationary(p, &best);
	/* b stationary is a stationary of the transposed product. */
	struct problem t = transposed(p);
	struct choice other = {.bytes = best.bytes};
	a_stationary(&t, &other);
	if (other.bytes < best.bytes)
		best = (struct choice){
			TILES_B, other.b_times, other.a_times, other.partial_times, other.bytes};
	return best;
}

static struct problem problem_of(const struct work *w, uint64_t sram_bytes)
{
	uint64_t outputs = clamp_u64((u128)clamp_u64((u128)w->m * w->n) * w->batch);
	return (struct problem){
		.m = w->m,
		.n = w->n,
		.k = w->k,
		.a_row = div_ceil(div_ceil(w->a_bytes, w->batch), w->m),
		.b_column = div_ceil(div_ceil(w->b_bytes, w->batch), w->n),
		.a_all = w->a_bytes,
		.b_all = w->b_bytes,
		.compulsory = clamp_u64((u128)w->a_bytes + w->b_bytes + w->c_bytes),
		.partials_all = clamp_u64((u128)outputs * PARTIAL_BYTES),
		.room = sram_bytes / 2,
	};
}

void arch_gemm_tiling(const struct work *w, uint64_t sram_bytes, struct tiling *out)
{
	struct problem p = problem_of(w, sram_bytes);
	u128 one = (u128)div_ceil(w->a_bytes, w->batch) + div_ceil(w->b_bytes, w->batch) +
		   div_ceil(w->c_bytes, w->batch);
	struct choice best = {TILES_WHOLE, 1, 1, 0, p.compulsory};
	if (one > sram_bytes)
		best = best_choice(&p);
	uint64_t spilled = clamp_u64((u128)best.partial_times * p.partials_all);
	uint64_t written = clamp_u64((u128)spilled + w->c_bytes);
	*out = (struct tiling){
		.order = best.order,
		.a_times = best.a_times,
		.b_times = best.b_times,
		.partial_times = best.partial_times,
		.partial_bytes = p.partials_all,
		.read_bytes = best.bytes == UINT64_MAX ? UINT64_MAX : best.bytes - written,
		.write_bytes = written,
	};
}
