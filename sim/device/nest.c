/* Steps of an operator: which tiles each of them reads and writes. */
#include "device/internal.h"

enum { MAX_STEPS = 4 * ARCH_MAX_STEPS };

static uint64_t at_least_1(uint64_t n)
{
	return n > 0 ? n : 1;
}

/* Every step the same. */
static struct nest even(const struct op_cost *cost, uint64_t steps)
{
	return (struct nest){
		.outer = steps,
		.k_tiles = 1,
		.x = 1,
		.l = 1,
		.y = 1,
		.spread_read_bytes = cost->dram_read_bytes,
		.spread_write_bytes = cost->dram_write_bytes,
	};
}

/* One operand is the stationary one, `side` its steps along its own dimension and `other` those of
 * the streamed operand; *_tiles likewise. */
struct roles {
	uint64_t side, other, side_tiles, other_tiles;
	uint64_t stationary_bytes, streamed_bytes;
};

static struct nest nest_of(const struct tiling *t, const struct step_grid *g, const struct roles *r)
{
	uint64_t k_tiles = t->order == TILES_OUTPUT ? 1 : t->partial_times + 1;
	return (struct nest){
		.outer = at_least_1(g->batch) * r->side_tiles * r->other_tiles * k_tiles,
		.k_tiles = k_tiles,
		.x = div_ceil(r->other, r->other_tiles),
		.l = div_ceil(g->k, k_tiles),
		.y = div_ceil(r->side, r->side_tiles),
		.output_stationary = t->order == TILES_OUTPUT,
		.stationary_bytes = r->stationary_bytes,
		.streamed_bytes = r->streamed_bytes,
		.partial_bytes = t->partial_times * t->partial_bytes,
		.result_bytes = t->write_bytes,
	};
}

static struct nest gemm_nest(
	const struct work *w, const struct op_cost *cost, const struct tiling *t)
{
	const struct step_grid *g = &cost->steps;
	struct roles a = {g->m, g->n, t->b_times, t->a_times, t->a_times * w->a_bytes,
		t->b_times * w->b_bytes};
	struct roles b = {g->n, g->m, t->a_times, t->b_times, t->b_times * w->b_bytes,
		t->a_times * w->a_bytes};
	switch (t->order) {
	case TILES_NONE:
		break;
	case TILES_WHOLE:
		return nest_of(t, g, w->a_bytes <= w->b_bytes ? &a : &b);
	case TILES_OUTPUT:
	case TILES_A:
		return nest_of(t, g, &a);
	case TILES_B:
		return nest_of(t, g, &b);
	}
	return even(cost, step_grid_size(g));
}

void nest_build(
	const struct arch *arch, const struct work *w, const struct op_cost *cost, struct nest *out)
{
	struct tiling t = {.order = TILES_NONE};
	*out = even(cost, step_grid_size(&cost->steps));
	out->room = arch->sram_bytes / 2;
	if (cost->macs == 0)
		return;
	arch_gemm_tiling(w, arch->sram_bytes, &t);
	struct nest n = gemm_nest(w, cost, &t);
	u128 tiles = (u128)t.a_times * t.b_times * (t.partial_times + 1);
	if (t.order == TILES_NONE || tiles > MAX_STEPS || nest_steps(&n) > MAX_STEPS)
		return;
	n.spread_read_bytes = cost->dram_read_bytes - t.read_bytes;
	n.spread_write_bytes = cost->dram_write_bytes - t.write_bytes;
	n.room = t.order == TILES_WHOLE ? UINT64_MAX : out->room;
	*out = n;
}

uint64_t nest_steps(const struct nest *n)
{
	return n->outer * n->x * n->l * n->y;
}

/* The i-th of n nearly equal parts that add up to `total`. */
static uint64_t share(uint64_t total, uint64_t i, uint64_t n)
{
	if (total == 0)
		return 0;
	return (uint64_t)((u128)total * (i + 1) / n - (u128)total * i / n);
}

/* Partial sums come back for all k tiles but the first. */
static uint64_t partial_share(const struct nest *n, uint64_t outer, uint64_t place)
{
	uint64_t k_tile = outer % n->k_tiles;
	if (k_tile == 0)
		return 0;
	uint64_t nth = outer / n->k_tiles * (n->k_tiles - 1) + k_tile - 1;
	uint64_t total = n->outer / n->k_tiles * (n->k_tiles - 1);
	return share(n->partial_bytes, nth * n->x * n->y + place, total * n->x * n->y);
}

struct tile_step nest_step(const struct nest *n, uint64_t i)
{
	uint64_t inner = n->x * n->l * n->y, outer = i / inner, rest = i % inner;
	uint64_t y = rest % n->y, middle = rest / n->y;
	uint64_t x = n->output_stationary ? middle % n->x : middle / n->l;
	uint64_t l = n->output_stationary ? middle / n->x : middle % n->l;
	uint64_t steps = n->outer * inner, place = x * n->y + y;
	struct tile_step s = {
		.read_bytes = share(n->spread_read_bytes, i, steps),
		.write_bytes = share(n->spread_write_bytes, i, steps),
	};
	if (x == 0)
		s.read_bytes += share(
			n->stationary_bytes, (outer * n->l + l) * n->y + y, n->outer * n->l * n->y);
	if (y == 0)
		s.read_bytes += share(
			n->streamed_bytes, (outer * n->l + l) * n->x + x, n->outer * n->l * n->x);
	if (l == 0)
		s.read_bytes += partial_share(n, outer, place);
	if (l == n->l - 1)
		s.write_bytes +=
			share(n->result_bytes, outer * n->x * n->y + place, n->outer * n->x * n->y);
	return s;
}
