/* The dies of two GPUs by block, as LLMCompass (Zhang et al., ISCA 2024, figure 6) took them from
 * photographs, beside the parts of the chip model. Shown, not held: the model has no GPU control. */
#include <string.h>

#include "arch/area.h"
#include "validate/area.h"

enum group { GROUP_CORES, GROUP_SRAM, GROUP_DRAM, GROUP_IO, GROUP_OTHER, GROUP_TOTAL, N_GROUPS };

static const char *const group_names[N_GROUPS] = {
	"cores", "global buffer", "memory interface", "links and PCIe", "all else", "die"};

/* Sorted by name. */
static const struct {
	const char *name;
	enum group group;
} blocks[] = {
	{"cores", GROUP_CORES},
	{"global buffer (L2)", GROUP_SRAM},
	{"memory PHY", GROUP_DRAM},
	{"memory control", GROUP_DRAM},
	{"off-chip PHY", GROUP_IO},
	{"off-chip control", GROUP_IO},
	{"on-chip interconnect", GROUP_OTHER},
	{"other", GROUP_OTHER},
	{"total", GROUP_TOTAL},
};

static bool find_group(const struct csv *t, size_t row, enum group *out, struct err *err)
{
	const char *name = csv_cell(t, row, suite_column(t, "component"));
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		if (strcmp(blocks[i].name, name) == 0) {
			*out = blocks[i].group;
			return true;
		}
	}
	return err_set(err, ERR_INPUT, "%s:%zu: unknown component '%s', expected e.g. cores",
		t->path, t->lines[row], name);
}

static bool add_die(const struct suite_context *context, const struct csv *t, const char *column,
	const char *accelerator, struct suite_report *out, struct err *err)
{
	double mm2[N_GROUPS] = {0};
	struct arch arch;
	struct area_parts p;
	for (size_t i = 0; i < t->n_rows; i++) {
		enum group group = GROUP_OTHER;
		double value;
		if (!find_group(t, i, &group, err) ||
			!csv_number(t, i, suite_column(t, column), &value, err))
			return false;
		mm2[group] += value;
	}
	if (!area_read_arch(context, accelerator, &arch, err))
		return false;
	arch_area_parts(&arch, &p);
	const double ours[N_GROUPS] = {
		p.tc + p.vc, p.sram, p.hbm, p.links + p.pcie, p.other, area_parts_sum(&p)};
	for (int g = 0; g < N_GROUPS; g++)
		suite_show(context->a, out,
			arena_printf(context->a, "%s %s mm2", accelerator, group_names[g]), mm2[g],
			ours[g], NULL);
	return true;
}

bool area_run_dies(const struct suite_context *context, const struct csv *t,
	struct suite_report *out, struct err *err)
{
	return add_die(context, t, "GA100_mm2", "a100-80", out, err) &&
	       add_die(context, t, "MI210(Aldebaran die)_mm2", "mi210", out, err);
}
