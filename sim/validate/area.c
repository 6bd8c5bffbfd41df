/* Die area and TDP of the compact `chip` model against public figures, and of the `accelergy22` closed form against check values of the published table. */
#include <string.h>

#include "arch/arch.h"
#include "arch/area.h"
#include "validate/internal.h"

struct row {
	const char *accelerator, *model, *quantity;
	double reference, tolerance;
};

static bool read_row(const struct csv *t, size_t i, struct row *out, struct err *err)
{
	out->accelerator = csv_cell(t, i, suite_column(t, "accelerator"));
	out->model = csv_cell(t, i, suite_column(t, "model"));
	out->quantity = csv_cell(t, i, suite_column(t, "quantity"));
	if (!csv_number(t, i, suite_column(t, "reference"), &out->reference, err) ||
		!csv_number(t, i, suite_column(t, "tolerance"), &out->tolerance, err))
		return false;
	if (!area_model_find(out->model))
		return err_set(err, ERR_INPUT, "%s: row %zu: unknown area model '%s'", t->path,
			i + 1, out->model);
	if (strcmp(out->quantity, "area_mm2") != 0 && strcmp(out->quantity, "tdp_w") != 0)
		return err_set(err, ERR_INPUT,
			"%s: row %zu: unknown quantity '%s', expected area_mm2 or tdp_w", t->path,
			i + 1, out->quantity);
	return true;
}

static bool read_arch(
	const struct suite_context *context, const char *name, struct arch *out, struct err *err)
{
	struct arch base;
	bool spec = arch_is_spec(name);
	const char *path = arena_printf(context->a, "%s/models/accelerators/%s.json",
		context->data_root, spec ? "tpuv2" : name);
	if (!arch_read(context->a, path, &base, err))
		return false;
	if (spec)
		return arch_parse(context->a, name, &base, out, err);
	*out = base;
	return true;
}

static bool run(const struct suite_context *context, const struct csv *t, struct suite_report *out,
	struct err *err)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		struct row row;
		struct arch arch;
		if (!read_row(t, i, &row, err) || !read_arch(context, row.accelerator, &arch, err))
			return false;
		arch.area_model = area_model_find(row.model);
		bool is_area = strcmp(row.quantity, "area_mm2") == 0;
		suite_add(context->a, out,
			arena_printf(
				context->a, "%s %s (%s)", row.accelerator, row.quantity, row.model),
			row.reference, is_area ? arch_area_mm2(&arch) : arch_tdp_w(&arch),
			row.tolerance);
	}
	out->note =
		"chip: four of its constants were fitted on TPUv1 to TPUv4, so these rows are a "
		"calibration; accelergy22: exact to the printed digits";
	return true;
}

static const char *const columns_needed[] = {
	"accelerator", "model", "quantity", "reference", "tolerance", "source", NULL};

const struct suite suite_area = {
	.name = "area",
	.summary = "die area and TDP against public chips",
	.table = "area.csv",
	.columns = columns_needed,
	.run = run,
};
