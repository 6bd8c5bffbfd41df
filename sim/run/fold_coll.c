/* A collective alone, folded. */
#include <assert.h>

#include "run/internal.h"

/* What the group looks like, as if it were run message by message. */
static struct coll_shape shape_of(
	struct arena *a, const struct coll_request *request, const struct run_config *config)
{
	struct prog prog;
	struct run_config alone = *config;
	lone_prog(a, request, &prog);
	alone.device_of_rank = request->devices;
	struct plans plans = {.a = a,
		.prog = &prog,
		.config = &alone,
		.teams = arena_array(a, prog.n_groups, struct plan_team)};
	return plan_shape(&plans, prog.roles[0].tasks[0].group, request->algo);
}

static void fill(struct arena *a, const struct coll_request *request, const struct folded *f,
	struct run_result *out)
{
	uint32_t n_groups = request->n_groups ? request->n_groups : 1;
	*out = (struct run_result){.end = f->time,
		.folded = true,
		.n_messages = f->n_messages,
		.sent_bytes = f->sent_bytes,
		.n_colls = n_groups,
		.colls = arena_array(a, n_groups, struct run_coll)};
	out->coll_bytes[request->algo->kind] = request->bytes * n_groups;
	for (uint32_t g = 0; g < n_groups; g++)
		out->colls[g] = (struct run_coll){.kind = request->algo->kind,
			.group = "rank",
			.first_rank = g * request->n_devices,
			.n_ranks = request->n_devices,
			.bytes = request->bytes,
			.end = f->time};
	out->links = arena_grow(a, f->links, f->n_links, f->n_links, sizeof(*f->links));
	out->n_links = f->n_links;
}

static struct folded *find(struct run_memo *m, const struct coll_request *request,
	const struct run_config *config, struct err *err)
{
	uint32_t n_groups = request->n_groups ? request->n_groups : 1;
	struct arena scratch = {0};
	struct coll_shape shape = {0};
	bool counted = request->algo->kind == COLL_ALLTOALL && n_groups == 1;
	struct fold_question q = {.algo = request->algo,
		.layout = fold_layout(m, request->devices, request->n_devices, n_groups),
		.bytes = request->bytes,
		.chunk_bytes = config->chunk_bytes,
		.reduce_bytes_per_s = config->reduce_bytes_per_s,
		.shape = &shape,
		.usual_shape = !config->shape,
		.counts = counted ? config->counts : NULL};
	if (!q.usual_shape || !fold_knows(m, &q))
		shape = shape_of(&scratch, request, config);
	struct folded *f = fold_add(m, &q, err);
	if (f && !fold_solve(m, config->stop, err))
		f = NULL;
	if (f) {
		fold_sum(m, f);
		fold_find_links(m, f);
	}
	arena_free(&scratch);
	return f;
}

bool fold_coll(struct arena *a, const struct coll_request *request, const struct run_config *config,
	struct run_result *out, bool *exact, struct err *err)
{
	struct run_memo *m =
		config->memo ? config->memo : run_memo_create(config->topo, config->net);
	assert(memo_is_of(m, config));
	struct folded *f = find(m, request, config, err);
	if (f) {
		fill(a, request, f, out);
		*exact = out->exact = f->exact;
	}
	if (!config->memo)
		run_memo_destroy(m);
	return f != NULL;
}
