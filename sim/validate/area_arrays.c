/* How much of their peak the arrays reach on convolutions. */
#include "validate/area.h"

enum { IMAGES = 8 };

static const char *const nets[] = {"alexnet", "resnet18", "resnet50", "vgg16"};
enum { N_NETS = sizeof(nets) / sizeof(*nets) };

static double utilisation(const struct arch *arch, const struct graph *g)
{
	struct core_share share = {arch->tc_count, arch->vc_count, arch->sram_bytes};
	double macs = 0, cycles = 0;
	for (uint32_t i = 0; i < g->n_ops; i++) {
		struct op_cost cost;
		if (g->ops[i].work.conv.images == 0)
			continue;
		arch_op_cost(arch, &g->ops[i].work, &share, &cost);
		macs += (double)cost.macs;
		cycles += (double)cost.tc.n;
	}
	return macs / (cycles * arch->tc_count * arch->tc_rows * arch->tc_cols);
}

bool area_conv_utilisation(
	const struct suite_context *context, const struct arch *arch, double *out, struct err *err)
{
	const struct graph_options options = {.batch = IMAGES};
	double sum = 0;
	for (size_t i = 0; i < N_NETS; i++) {
		struct graph g;
		const char *path = arena_printf(
			context->a, "%s/models/workloads/%s.json", context->data_root, nets[i]);
		if (!graph_read(context->a, path, &options, &g, err))
			return false;
		sum += utilisation(arch, &g);
	}
	*out = sum / N_NETS;
	return true;
}
