/* Collectives alone: message by message as a prog of one task, or folded. */
#include <stdlib.h>
#include <string.h>

#include "run/internal.h"

bool run_fold_find(const char *name, enum run_fold *out)
{
	static const char *const names[] = {
		[RUN_FOLD_OFF] = "off", [RUN_FOLD_AUTO] = "auto", [RUN_FOLD_ON] = "on"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		*out = (enum run_fold)i;
		return true;
	}
	return false;
}

static bool check(
	const struct coll_request *request, const struct run_config *config, struct err *err)
{
	uint64_t n = (uint64_t)request->n_devices * (request->n_groups ? request->n_groups : 1);
	if (request->n_devices == 0 || n > PROG_MAX_RANKS)
		return err_set(err, ERR_INPUT, "a collective over %llu devices, expected 1 to %d",
			(unsigned long long)n, PROG_MAX_RANKS);
	for (uint64_t i = 0; i < n; i++)
		if (request->devices[i] >= config->topo->n_devices)
			return err_set(err, ERR_INPUT,
				"device %u, but topology '%s' has %u devices", request->devices[i],
				config->topo->name, config->topo->n_devices);
	const struct coll_algo *algo = request->algo;
	if (!coll_fits(algo, request->n_devices))
		return err_set(err, ERR_USAGE, "%s by %s does not work on %u ranks",
			coll_kind_name(algo->kind), algo->name, request->n_devices);
	return true;
}

void lone_prog(struct arena *a, const struct coll_request *request, struct prog *out)
{
	uint32_t n_groups = request->n_groups ? request->n_groups : 1;
	struct prog_grid grid = {
		.n_dims = 2, .names = {"rank", "group"}, .sizes = {request->n_devices, n_groups}};
	struct prog_builder *b = prog_build(a, &grid);
	uint32_t lo[2] = {0, 0}, hi[2] = {request->n_devices - 1, n_groups - 1};
	prog_add_role(b, "all", lo, hi);
	struct prog_task task = {.kind = TASK_COLL,
		.cost = PROG_NONE,
		.peer.dim = PROG_NONE,
		.coll = request->algo->kind,
		.group = prog_add_group(b, 1),
		.bytes = request->bytes};
	prog_add_task(b, &task);
	prog_finish(b, out);
}

static bool run_whole(struct arena *a, const struct coll_request *request,
	const struct run_config *config, struct run_result *out, struct err *err)
{
	struct prog p;
	struct run_config alone = *config;
	alone.fold = RUN_FOLD_OFF;
	lone_prog(a, request, &p);
	alone.choice = (struct coll_choice){0};
	alone.choice.algo[request->algo->kind] = request->algo;
	alone.device_of_rank = request->devices;
	return run_prog(a, &p, &alone, out, err);
}

bool run_coll(struct arena *a, const struct coll_request *request, const struct run_config *config,
	struct run_result *out, struct err *err)
{
	bool exact = false;
	if (!check(request, config, err))
		return false;
	if (config->fold == RUN_FOLD_OFF)
		return run_whole(a, request, config, out, err);
	if (config->topo->platform_xml) {
		if (config->fold == RUN_FOLD_ON)
			return err_set(err, ERR_INTERNAL,
				"'%s' is a SimGrid platform, whose routes are not known: it cannot "
				"be "
				"folded, use --fold off",
				config->topo->name);
		return run_whole(a, request, config, out, err);
	}
	if (!fold_coll(a, request, config, out, &exact, err))
		return false;
	if (exact || config->fold == RUN_FOLD_ON)
		return true;
	return run_whole(a, request, config, out, err);
}
