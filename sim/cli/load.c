/* Names and numbers of the command line become models, accelerators, topologies and plans. */
#include <stdlib.h>
#include <string.h>

#include "cli/internal.h"

static bool dims_of(struct request *q, struct graph_options *o, struct err *err)
{
	struct graph_override *dims = arena_array(q->a, q->dims.n + 1, struct graph_override);
	for (uint32_t i = 0; i < q->dims.n; i++) {
		const char *eq = strchr(q->dims.items[i], '=');
		char *end = NULL;
		uint64_t v = eq ? strtoull(eq + 1, &end, 10) : 0;
		if (!eq || eq == q->dims.items[i] || eq[1] < '0' || eq[1] > '9' || *end != '\0' ||
			v == 0 || v > UINT32_MAX)
			return err_set(err, ERR_USAGE,
				"--dim: '%s', expected NAME=N with N at least 1", q->dims.items[i]);
		dims[i] = (struct graph_override){.name = arena_strndup(q->a, q->dims.items[i],
							  (size_t)(eq - q->dims.items[i])),
			.value = v};
	}
	o->dims = dims;
	o->n_dims = q->dims.n;
	return true;
}

static bool elem_bytes_of(const struct request *q, uint32_t *out, struct err *err)
{
	static const char *const names[] = {"bf16", "fp16", "fp32"};
	static const uint32_t bytes[] = {2, 2, 4};
	for (size_t i = 0; i < 3; i++) {
		if (!q->dtype || strcmp(q->dtype, names[i]) == 0) {
			*out = bytes[i];
			return true;
		}
	}
	return err_set(
		err, ERR_USAGE, "unknown --dtype '%s', expected bf16, fp16 or fp32", q->dtype);
}

/* A model is read more than once; its warnings count once. */
static void warn_of_graph(struct request *q, const struct graph *g)
{
	for (uint32_t i = 0; i < g->n_warnings; i++) {
		bool seen = false;
		for (uint32_t j = 0; j < q->graph_warnings.n; j++)
			seen |= strcmp(q->graph_warnings.items[j], g->warnings[i].text) == 0;
		if (seen)
			continue;
		arena_push(q->a, q->graph_warnings.items, q->graph_warnings.n,
			q->graph_warnings.cap) = g->warnings[i].text;
		for (uint32_t n = 0; n < g->warnings[i].count; n++)
			report_warn(q->a, &q->report, g->warnings[i].code, g->warnings[i].text);
	}
}

bool load_model(struct request *q, const char *name, uint64_t batch, uint32_t tp, struct graph *out,
	struct err *err)
{
	struct graph_options o = {.batch = batch, .tp = tp, .sequence_parallel = q->sp && tp > 1};
	const char *colon = strchr(name, ':');
	const char *base = colon ? arena_strndup(q->a, name, (size_t)(colon - name)) : name;
	const char *path = data_find(q, "model", "models/workloads", base, err);
	o.lenient = q->lenient;
	if (!path || !elem_bytes_of(q, &o.elem_bytes, err) || !dims_of(q, &o, err) ||
		(colon && !graph_parse_overrides(q->a, colon + 1, &o, err)) ||
		!graph_read(q->a, path, &o, out, err))
		return false;
	warn_of_graph(q, out);
	return true;
}

bool load_arch(struct request *q, const char *name, struct arch *out, struct err *err)
{
	bool spec = name && arch_is_spec(name);
	struct arch base;
	const char *path = data_find(
		q, "accelerator", "models/accelerators", name && !spec ? name : "tpuv2", err);
	if (!path || !arch_read(q->a, path, &base, err))
		return false;
	if (spec)
		return arch_parse(q->a, name, &base, out, err);
	*out = base;
	return true;
}

static bool read_topology(struct request *q, const char *name, struct topo *out, struct err *err)
{
	bool spec = topo_is_spec(name);
	const char *path = spec ? NULL : data_find(q, "topology", "topologies", name, err);
	if (spec ? !topo_parse(q->a, name, out, err) : !path || !topo_read(q->a, path, out, err))
		return false;
	for (uint32_t i = 0; i < out->n_warnings; i++)
		report_warn(q->a, &q->report, "topology", out->warnings[i]);
	return true;
}

bool load_topology(struct request *q, const char *name, struct topo *out, struct err *err)
{
	return read_topology(q, name, out, err) && load_changes(q, out, err);
}

bool load_healthy_topology(struct request *q, const char *name, struct topo *out, struct err *err)
{
	struct topo_changes scales = {.bw_scale = q->bw_scale, .lat_scale = q->lat_scale};
	return read_topology(q, name, out, err) && topo_change(q->a, &scales, out, err);
}

bool load_fold(struct request *q, enum run_fold *out, struct err *err)
{
	*out = RUN_FOLD_AUTO;
	if (q->fold && !run_fold_find(q->fold, out))
		return err_set(
			err, ERR_USAGE, "unknown --fold '%s', expected auto, on or off", q->fold);
	return true;
}

bool load_net(struct request *q, enum net_kind *out, struct err *err)
{
	*out = NET_SIMGRID;
	if (q->network && !net_kind_find(q->network, out))
		return err_set(err, ERR_USAGE,
			"unknown --network '%s', expected simgrid or analytic", q->network);
	return true;
}

bool load_choice(struct request *q, struct coll_choice *out, struct err *err)
{
	*out = (struct coll_choice){0};
	return !q->collective || coll_parse_choice(q->collective, out, err);
}

static bool divide_devices(const struct request *q, struct degrees *d, struct err *err)
{
	uint64_t used = (uint64_t)d->pp * d->tp;
	if (q->devices == 0)
		return true;
	if (q->devices % used != 0)
		return err_set(err, ERR_INPUT, "%ju devices do not divide into pp %u x tp %u",
			(uintmax_t)q->devices, d->pp, d->tp);
	if (q->dp > 0 && used * q->dp != q->devices)
		return err_set(err, ERR_INPUT,
			"pp %u x tp %u x dp %ju is not the %ju devices that were asked for", d->pp,
			d->tp, (uintmax_t)q->dp, (uintmax_t)q->devices);
	d->dp = (uint32_t)(q->devices / used);
	return true;
}

/* Without --micro-batch: all of a pipeline-less step at once when --batch says how much, else
 * the model's own. Without --batch: one micro-batch, or four for each stage of a pipeline, which
 * keeps the bubble below a quarter. */
bool load_degrees(struct request *q, const char *model, struct degrees *out, struct err *err)
{
	struct graph g;
	*out = (struct degrees){.pp = q->pp > 0 ? (uint32_t)q->pp : 1,
		.tp = q->tp > 0 ? (uint32_t)q->tp : 1,
		.dp = q->dp > 0 ? (uint32_t)q->dp : 1,
		.batch = q->batch,
		.micro_batch = q->micro_batch};
	if (!divide_devices(q, out, err))
		return false;
	if (q->sp && out->tp == 1)
		return err_set(err, ERR_USAGE, "--sp needs --tp of at least 2");
	if (out->micro_batch == 0 && out->batch > 0 && out->pp == 1 && out->batch % out->dp == 0)
		out->micro_batch = out->batch / out->dp;
	if (!load_model(q, model, out->micro_batch, 1, &g, err))
		return false;
	out->micro_batch = g.batch;
	if (out->batch > 0 && q->micro_batch == 0 && out->batch % (out->dp * out->micro_batch) != 0)
		out->micro_batch = 1;
	if (out->batch == 0)
		out->batch = out->micro_batch * out->dp * (out->pp > 1 ? 4 * out->pp : 1);
	return degrees_check(out, &g, err);
}

static bool optimizer_of(const struct request *q, enum optimizer *out, struct err *err)
{
	static const char *const names[] = {"sgd", "momentum", "adam"};
	static const enum optimizer values[] = {OPTIMIZER_SGD, OPTIMIZER_MOMENTUM, OPTIMIZER_ADAM};
	*out = OPTIMIZER_ADAM;
	for (size_t i = 0; i < 3; i++) {
		if (q->optimizer && strcmp(q->optimizer, names[i]) == 0) {
			*out = values[i];
			return true;
		}
	}
	return !q->optimizer ||
	       err_set(err, ERR_USAGE, "unknown --optimizer '%s', expected sgd, momentum or adam",
		       q->optimizer);
}

bool load_plan_options(struct request *q, struct plan_options *out, struct err *err)
{
	*out = (struct plan_options){.schedule = SCHEDULE_1F1B,
		.recompute = RECOMPUTE_AUTO,
		.partition = PARTITION_BALANCED,
		.check_memory = true};
	if (q->schedule && !schedule_find(q->schedule, &out->schedule))
		return err_set(err, ERR_USAGE, "unknown --schedule '%s', expected gpipe or 1f1b",
			q->schedule);
	if (q->recompute && !recompute_find(q->recompute, &out->recompute))
		return err_set(err, ERR_USAGE,
			"unknown --recompute '%s', expected none, selective, full or auto",
			q->recompute);
	if (q->partition && !partition_find(q->partition, &out->partition))
		return err_set(err, ERR_USAGE,
			"unknown --partition '%s', expected uniform or balanced", q->partition);
	if (q->intra_op && strcmp(q->intra_op, "one") != 0 && strcmp(q->intra_op, "split") != 0)
		return err_set(err, ERR_USAGE, "unknown --intra-op '%s', expected one or split",
			q->intra_op);
	if (q->fidelity && !fidelity_find(q->fidelity, &out->fidelity))
		return err_set(err, ERR_USAGE, "unknown --fidelity '%s', expected fluid or tile",
			q->fidelity);
	return optimizer_of(q, &out->optimizer, err);
}
