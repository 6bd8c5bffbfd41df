/* The dimension points of a search and what fits the budget. */
#include "search/internal.h"

static uint32_t powers_of_two(uint32_t min, uint32_t max, uint32_t out[LATTICE_MAX])
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < 32; i++) {
		uint32_t d = UINT32_C(1) << i;
		if (d >= min && d <= max)
			out[n++] = d;
	}
	return n;
}

bool lattice_build(const struct search_space *space, struct lattice *out, struct err *err)
{
	*out = (struct lattice){0};
	uint32_t max_width = space->max_width ? space->max_width : space->max_dim;
	out->n_dim = powers_of_two(space->min_dim, space->max_dim, out->dims);
	out->n_width = powers_of_two(space->min_dim, max_width, out->widths);
	for (uint32_t i = 0; i < 63 && out->n_sram < LATTICE_MAX; i++) {
		uint64_t bytes = UINT64_C(1) << i;
		if (bytes >= space->min_sram_bytes && bytes <= space->max_sram_bytes)
			out->srams[out->n_sram++] = bytes;
	}
	if (out->n_dim == 0 || out->n_width == 0)
		return err_set(err, ERR_INPUT, "no power of two between %u and %u for core sizes",
			space->min_dim, out->n_dim == 0 ? space->max_dim : max_width);
	if (out->n_sram == 0)
		return err_set(err, ERR_INPUT,
			"no power of two between %llu and %llu bytes of SRAM",
			(unsigned long long)space->min_sram_bytes,
			(unsigned long long)space->max_sram_bytes);
	if (space->max_count == 0)
		return err_set(err, ERR_INPUT, "a search needs at least one core of each kind");
	out->n_points = out->n_dim * out->n_dim * out->n_width * out->n_sram;
	return true;
}

static uint32_t axis_size(const struct lattice *l, uint32_t axis)
{
	const uint32_t sizes[LATTICE_AXES] = {l->n_dim, l->n_dim, l->n_width, l->n_sram};
	return sizes[axis];
}

struct lattice_at lattice_locate(const struct lattice *l, uint32_t point)
{
	struct lattice_at where;
	for (uint32_t i = LATTICE_AXES; i-- > 0;) {
		where.at[i] = point % axis_size(l, i);
		point /= axis_size(l, i);
	}
	return where;
}

uint32_t lattice_point(const struct lattice *l, const struct lattice_at *where)
{
	uint32_t point = 0;
	for (uint32_t i = 0; i < LATTICE_AXES; i++)
		point = point * axis_size(l, i) + where->at[i];
	return point;
}

struct design lattice_design(const struct lattice *l, uint32_t point)
{
	struct lattice_at where = lattice_locate(l, point);
	return (struct design){
		.tc = 1,
		.rows = l->dims[where.at[0]],
		.cols = l->dims[where.at[1]],
		.vc = 1,
		.width = l->widths[where.at[2]],
		.sram_bytes = l->srams[where.at[3]],
	};
}

uint32_t lattice_depth(const struct lattice *l, uint32_t point)
{
	struct lattice_at where = lattice_locate(l, point);
	uint32_t depth = 0;
	for (uint32_t i = 0; i < LATTICE_AXES; i++)
		depth += axis_size(l, i) - 1 - where.at[i];
	return depth;
}

uint32_t lattice_children(const struct lattice *l, uint32_t point, uint32_t children[LATTICE_AXES])
{
	struct lattice_at where = lattice_locate(l, point);
	uint32_t n = 0;
	for (uint32_t i = 0; i < LATTICE_AXES; i++) {
		if (where.at[i] == 0)
			continue;
		where.at[i]--;
		children[n++] = lattice_point(l, &where);
		where.at[i]++;
	}
	return n;
}

uint32_t lattice_parents(const struct lattice *l, uint32_t point, uint32_t parents[LATTICE_AXES])
{
	struct lattice_at where = lattice_locate(l, point);
	uint32_t n = 0;
	for (uint32_t i = 0; i < LATTICE_AXES; i++) {
		if (where.at[i] + 1 == axis_size(l, i))
			continue;
		where.at[i]++;
		parents[n++] = lattice_point(l, &where);
		where.at[i]--;
	}
	return n;
}

struct arch design_arch(const struct design *d, const struct arch *base)
{
	struct arch arch = *base;
	arch.tc_count = d->tc;
	arch.tc_rows = d->rows;
	arch.tc_cols = d->cols;
	arch.vc_count = d->vc;
	arch.vc_width = d->width;
	arch.sram_bytes = d->sram_bytes;
	return arch;
}

void baseline_design(const struct arch *arch, struct design *out)
{
	*out = (struct design){
		.tc = arch->tc_count,
		.rows = arch->tc_rows,
		.cols = arch->tc_cols,
		.vc = arch->vc_count,
		.width = arch->vc_width,
		.sram_bytes = arch->sram_bytes,
	};
}

/* The budget is often the area and TDP of an accelerator, which has to fit itself whatever the
 * order of additions. */
static bool within(double value, double limit)
{
	return value <= limit * (1 + 1e-12);
}

bool design_fits(const struct search_config *config, const struct design *d)
{
	if (d->tc > config->space.max_count || d->vc > config->space.max_count)
		return false;
	struct arch arch = design_arch(d, &config->base);
	return within(arch_area_mm2(&arch), config->budget.area_mm2) &&
	       within(arch_tdp_w(&arch), config->budget.tdp_w);
}

static uint32_t max_count(const struct search_config *config, const struct design *d,
	uint32_t *count, struct design *trial)
{
	uint32_t lo = 0, hi = 1;
	*trial = *d;
	for (; hi <= config->space.max_count; hi *= 2) {
		*count = hi;
		if (!design_fits(config, trial))
			break;
		lo = hi;
	}
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		*count = mid;
		if (design_fits(config, trial))
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

uint32_t design_max_tc(const struct search_config *config, const struct design *d)
{
	struct design trial;
	return max_count(config, d, &trial.tc, &trial);
}

uint32_t design_max_vc(const struct search_config *config, const struct design *d)
{
	struct design trial;
	return max_count(config, d, &trial.vc, &trial);
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int design_compare(const struct design *a, const struct design *b)
{
	int order[] = {
		compare_u64(a->tc, b->tc),
		compare_u64(a->rows, b->rows),
		compare_u64(a->cols, b->cols),
		compare_u64(a->vc, b->vc),
		compare_u64(a->width, b->width),
		compare_u64(a->sram_bytes, b->sram_bytes),
	};
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		if (order[i] != 0)
			return order[i];
	}
	return 0;
}
