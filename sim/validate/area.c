/* Die area, its parts and TDP of the compact `chip` model against public figures, the
 * utilisation of arrays of several sizes, and the `accelergy22` closed form against check values
 * of the published table. A row without a tolerance is printed only. */
#include "validate/area.h"

#include <string.h>

#include "arch/area.h"

static double tc_mm2(const struct area_parts *p)
{
	return p->tc;
}

static double vc_mm2(const struct area_parts *p)
{
	return p->vc;
}

static double sram_mm2(const struct area_parts *p)
{
	return p->sram;
}

static double dram_mm2(const struct area_parts *p)
{
	return p->hbm;
}

static double pcie_mm2(const struct area_parts *p)
{
	return p->pcie;
}

/* Exactly one of the two is set; with neither it is the utilisation. */
static const struct quantity {
	const char *name;
	double (*whole)(const struct arch *arch);
	double (*part)(const struct area_parts *parts);
} quantities[] = {
	{"area_mm2", arch_area_mm2, NULL},
	{"conv_utilisation", NULL, NULL},
	{"dram_mm2", NULL, dram_mm2},
	{"idle_w", arch_idle_w, NULL},
	{"pcie_mm2", NULL, pcie_mm2},
	{"sram_mm2", NULL, sram_mm2},
	{"tc_mm2", NULL, tc_mm2},
	{"tdp_w", arch_tdp_w, NULL},
	{"vc_mm2", NULL, vc_mm2},
};

struct row {
	const char *accelerator, *model;
	const struct quantity *quantity;
	double reference, tolerance;
	bool held; /* to the tolerance */
};

static const struct quantity *find_quantity(const char *name)
{
	for (size_t i = 0; i < sizeof(quantities) / sizeof(*quantities); i++)
		if (strcmp(quantities[i].name, name) == 0)
			return &quantities[i];
	return NULL;
}

static bool read_row(const struct csv *t, size_t i, struct row *out, struct err *err)
{
	size_t tolerance = suite_column(t, "tolerance");
	const char *quantity = csv_cell(t, i, suite_column(t, "quantity"));
	out->accelerator = csv_cell(t, i, suite_column(t, "accelerator"));
	out->model = csv_cell(t, i, suite_column(t, "model"));
	out->quantity = find_quantity(quantity);
	out->held = csv_cell(t, i, tolerance)[0] != '\0';
	if (!csv_number(t, i, suite_column(t, "reference"), &out->reference, err) ||
		(out->held && !csv_number(t, i, tolerance, &out->tolerance, err)))
		return false;
	if (!area_model_find(out->model))
		return err_set(err, ERR_INPUT, "%s:%zu: unknown area model '%s'", t->path,
			t->lines[i], out->model);
	return out->quantity ||
	       err_set(err, ERR_INPUT,
		       "%s:%zu: unknown quantity '%s', expected e.g. area_mm2 or tdp_w", t->path,
		       t->lines[i], quantity);
}

bool area_read_arch(
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

static bool find_value(const struct suite_context *context, const struct quantity *q,
	const struct arch *arch, double *out, struct err *err)
{
	struct area_parts parts;
	if (!q->whole && !q->part)
		return area_conv_utilisation(context, arch, out, err);
	arch_area_parts(arch, &parts);
	*out = q->whole ? q->whole(arch) : q->part(&parts);
	return true;
}

/* Arrays of the same peak, the best first as the table has them: ours must fall too. */
struct ordering {
	const char *label;
	double last;
	bool falls;
};

static void follow(const struct suite_context *context, struct ordering *order,
	const char *accelerator, double ours)
{
	order->falls = !order->label || (order->falls && ours < order->last);
	order->label = order->label ? arena_printf(context->a, "%s > %s", order->label, accelerator)
				    : accelerator;
	order->last = ours;
}

static bool add_row(const struct suite_context *context, const struct row *row,
	struct ordering *order, struct suite_report *out, struct err *err)
{
	struct arch arch;
	double ours;
	const char *label = arena_printf(
		context->a, "%s %s (%s)", row->accelerator, row->quantity->name, row->model);
	if (!area_read_arch(context, row->accelerator, &arch, err))
		return false;
	arch.area_model = area_model_find(row->model);
	if (!find_value(context, row->quantity, &arch, &ours, err))
		return false;
	if (!row->quantity->whole && !row->quantity->part)
		follow(context, order, row->accelerator, ours);
	if (row->held)
		suite_add(context->a, out, label, row->reference, ours, row->tolerance);
	else
		suite_show(context->a, out, label, row->reference, ours, NULL);
	return true;
}

static bool run_chips(const struct suite_context *context, const struct csv *t,
	struct suite_report *out, struct err *err)
{
	struct ordering order = {0};
	for (size_t i = 0; i < t->n_rows; i++) {
		struct row row;
		if (!read_row(t, i, &row, err) || !add_row(context, &row, &order, out, err))
			return false;
	}
	if (order.label)
		suite_add(context->a, out, arena_printf(context->a, "1 if %s", order.label), 1,
			order.falls ? 1 : 0, 0);
	return true;
}

static const char *const chip_columns[] = {"accelerator", "model", "reference", "tolerance", NULL};
static const char *const die_columns[] = {"GA100_mm2", "MI210(Aldebaran die)_mm2", NULL};

static const struct suite_table tables[] = {
	{"quantity", chip_columns, run_chips},
	{"component", die_columns, area_run_dies},
};

static bool run(const struct suite_context *context, const struct csv *t, struct suite_report *out,
	struct err *err)
{
	out->note =
		"chip: four of its constants were fitted on TPUv1 to TPUv4, so these rows are a "
		"calibration; it makes no claim about GPUs. accelergy22: exact to the printed "
		"digits. Utilisation: the order is held, the figures are shown";
	return suite_run_table(tables, sizeof(tables) / sizeof(*tables), context, t, out, err);
}

static const char *const foreign[] = {"die_area_breakdown.csv", NULL};
static const char *const columns_needed[] = {NULL};

const struct suite suite_area = {
	.name = "area",
	.summary = "die area, its parts and TDP against public chips; sizes of arrays",
	.table = "area.csv",
	.foreign = foreign,
	.foreign_source = "PrincetonUniversity/LLMCompass, ae/figure6",
	.columns = columns_needed,
	.run = run,
};
