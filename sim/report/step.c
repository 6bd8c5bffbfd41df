/* A training step: totals, where the time goes, stages, links, and the operators of one device. */
#include "report/energy.h"
#include "report/internal.h"
#include "report/report.h"

struct step_figures {
	double seconds, samples_per_s, tokens_per_s, mfu, tflops_per_device, energy_j;
	uint32_t n_devices;
	double model_macs; /* of the whole step */
};

static double micro_batches_of_step(const struct step_report *s)
{
	return (double)s->degrees->batch / (double)s->degrees->micro_batch;
}

const struct arch *arch_of_stage(const struct step_report *s, uint32_t stage)
{
	return &s->archs[s->n_archs == 1 ? 0 : stage];
}

static struct step_figures figures_of(const struct step_report *s)
{
	struct step_figures f = {.seconds = ticks_to_s(s->run->end)};
	double peak = 0;
	for (uint32_t i = 0; i < s->plan->n_stages; i++)
		peak += s->degrees->tp * s->degrees->dp * arch_peak_macs_per_s(arch_of_stage(s, i));
	f.n_devices = s->degrees->pp * s->degrees->tp * s->degrees->dp;
	f.model_macs = (double)s->train_macs * micro_batches_of_step(s);
	if (f.seconds > 0) {
		f.samples_per_s = (double)s->degrees->batch / f.seconds;
		f.tokens_per_s = f.samples_per_s * (double)s->model->tokens_per_sample;
		f.mfu = f.model_macs / (f.seconds * peak);
		f.tflops_per_device = 2 * f.model_macs / f.seconds / f.n_devices / 1e12;
	}
	f.energy_j = step_energy_j(s);
	return f;
}

/* Means over ranks, so that the shares add up to the step. */
struct shares {
	double compute, tp, dp, pp, bubble, optimizer;
};

static struct shares shares_of(const struct run_result *run)
{
	struct shares sh = {0};
	double n = run->n_ranks > 0 ? run->n_ranks : 1;
	for (uint32_t r = 0; r < run->n_ranks; r++) {
		const struct run_rank *k = &run->ranks[r];
		sh.compute += ticks_to_s(k->forward + k->backward + k->other_compute) / n;
		sh.optimizer += ticks_to_s(k->optimizer) / n;
		sh.tp += ticks_to_s(k->tp_exposed) / n;
		sh.dp += ticks_to_s(k->dp_exposed) / n;
		sh.pp += ticks_to_s(k->pp_exposed) / n;
		sh.bubble += ticks_to_s(k->bubble) / n;
	}
	return sh;
}

/* How many operators of each kind the model has, by name. */
static json_t *kinds_json(const struct graph *g)
{
	json_t *kinds = json_object();
	for (uint32_t i = 0; i < g->n_ops; i++) {
		const char *name = op_kind_name(g->ops[i].kind);
		json_int_t n = json_integer_value(json_object_get(kinds, name));
		if (g->ops[i].pass == PASS_FORWARD)
			json_object_set_new(kinds, name, json_integer(n + 1));
	}
	return kinds;
}

static json_t *model_json(const struct step_report *s)
{
	json_t *m = json_object();
	put_text(m, "name", s->model->name);
	put_uint(m, "parameters", s->model->parameters);
	put_uint(m, "forward_macs",
		graph_macs(s->model, 1u << PASS_FORWARD) *
			(s->degrees->batch / s->degrees->micro_batch));
	put_uint(m, "operators", s->model->n_ops);
	put(m, "operators_by_kind", kinds_json(s->model));
	put_uint(m, "layers", s->model->n_layers);
	return m;
}

static json_t *breakdown_json(const struct run_result *run)
{
	struct shares sh = shares_of(run);
	json_t *b = json_object();
	put_real(b, "compute_s", sh.compute);
	put_real(b, "tp_exposed_s", sh.tp);
	put_real(b, "dp_exposed_s", sh.dp);
	put_real(b, "pp_exposed_s", sh.pp);
	put_real(b, "bubble_s", sh.bubble);
	put_real(b, "optimizer_s", sh.optimizer);
	return b;
}

static json_t *bytes_json(const struct run_result *run)
{
	json_t *b = json_object();
	for (uint32_t k = 0; k < N_COLL_KINDS; k++)
		if (run->coll_bytes[k] > 0)
			put_uint(b, coll_kind_name((enum coll_kind)k), run->coll_bytes[k]);
	put_uint(b, "sendrecv", run->p2p_bytes);
	return b;
}

static json_t *links_json(const struct topo *topo, const struct run_result *run)
{
	json_t *list = json_array();
	for (uint32_t i = 0; topo && i < run->n_links; i++) {
		json_t *l = json_object();
		put_text(l, "name", topo->links[run->links[i].link].name);
		put_real(l, "bytes", run->links[i].bytes);
		put_real(l, "utilisation", run->links[i].utilisation);
		json_array_append_new(list, l);
	}
	return list;
}

static json_t *stage_json(const struct step_report *s, uint32_t i)
{
	const struct stage *st = &s->plan->stages[i];
	json_t *o = json_object();
	put_uint(o, "stage", i);
	put_text(o, "accelerator", arch_of_stage(s, i)->name);
	put_uint(o, "first_layer", st->first_layer);
	put_uint(o, "end_layer", st->end_layer);
	put_uint(o, "cycles_forward", st->forward_cycles);
	put_uint(o, "cycles_backward", st->backward_cycles);
	put_time(o, "forward_s", st->forward);
	put_time(o, "backward_s", st->backward);
	put_time(o, "optimizer_s", st->update);
	put_text(o, "recompute", recompute_name(st->recompute));
	put_uint(o, "micro_batches_in_flight", st->in_flight);
	put_uint(o, "weights_bytes", st->memory.weights_bytes);
	put_uint(o, "gradients_bytes", st->memory.gradients_bytes);
	put_uint(o, "optimizer_bytes", st->memory.optimizer_bytes);
	put_uint(o, "activation_bytes", st->memory.activation_bytes);
	return o;
}

static void put_single_device(json_t *root, const struct step_report *s)
{
	u128 cycles = ((u128)s->run->end * s->archs[0].clock_hz + TICKS_PER_S - 1) / TICKS_PER_S;
	put_uint(root, "cycles_total", (uint64_t)cycles);
}

static json_t *degrees_json(const struct step_report *s)
{
	json_t *d = json_object();
	put_uint(d, "pp", s->degrees->pp);
	put_uint(d, "tp", s->degrees->tp);
	put_uint(d, "dp", s->degrees->dp);
	put_uint(d, "batch", s->degrees->batch);
	put_uint(d, "micro_batch", s->degrees->micro_batch);
	put_uint(d, "micro_batches", s->plan->n_micro_batches);
	put_text(d, "schedule", schedule_name(s->options->schedule));
	return d;
}

json_t *report_step_json(struct arena *a, const struct step_report *s)
{
	struct step_figures f = figures_of(s);
	json_t *root = json_object(), *memory = json_array(), *stages = json_array();
	double tdp = 0, area = 0;
	for (uint32_t i = 0; i < s->plan->n_stages; i++) {
		tdp += arch_tdp_w(arch_of_stage(s, i)) * s->degrees->tp * s->degrees->dp;
		area += arch_area_mm2(arch_of_stage(s, i)) * s->degrees->tp * s->degrees->dp;
		json_array_append_new(
			memory, json_integer((json_int_t)s->plan->stages[i].memory.total_bytes));
		json_array_append_new(stages, stage_json(s, i));
	}
	put(root, "model", model_json(s));
	put_text(root, "accelerator", s->archs[0].name);
	put(root, "degrees", degrees_json(s));
	put_uint(root, "devices", f.n_devices);
	put_text(root, "topology", s->topo ? s->topo->name : "none");
	put_text(root, "network", s->topo ? net_kind_name(s->net) : "none");
	put_real(root, "iteration_time_s", f.seconds);
	put_time(root, "analytic_time_s", s->analytic_step);
	put_real(root, "samples_per_s", f.samples_per_s);
	put_real(root, "tokens_per_s", f.tokens_per_s);
	put_real(root, "mfu", f.mfu);
	put_real(root, "tflops_per_device", f.tflops_per_device);
	put_real(root, "energy_j", f.energy_j);
	put(root, "energy", step_energy_json(s));
	put_real(root, "tdp_w", tdp);
	put_real(root, "area_mm2", area);
	put(root, "memory_bytes_per_device", memory);
	put(root, "breakdown", breakdown_json(s->run));
	put(root, "bytes", bytes_json(s->run));
	put(root, "links", links_json(s->topo, s->run));
	put(root, "stages", stages);
	if (f.n_devices == 1)
		put_single_device(root, s);
	if (s->memory)
		put(root, "memory", report_memory_json(s));
	if (s->layers)
		put(root, "layers", report_layers_json(a, s));
	if (s->critical_path)
		put(root, "critical_path", report_paths_json(a, s));
	return root;
}

static void text_share(struct text *out, const char *name, double seconds, double total)
{
	if (seconds > 0)
		text_add(out, "  %-24s %10.4f ms %5.1f %%\n", name, seconds * 1e3,
			total > 0 ? 100 * seconds / total : 0);
}

static void text_stages(const struct step_report *s, struct text *out)
{
	uint32_t shown = s->plan->n_stages < 8 ? s->plan->n_stages : 8;
	for (uint32_t i = 0; i < shown; i++) {
		const struct stage *st = &s->plan->stages[i];
		char f[UNIT_TEXT], b[UNIT_TEXT], m[UNIT_TEXT];
		text_add(out, "stage %u: layers %u-%u, forward %s, backward %s, memory %s\n", i,
			st->first_layer, st->end_layer - 1, unit_print(f, UNIT_TIME, st->forward),
			unit_print(b, UNIT_TIME, st->backward),
			unit_print(m, UNIT_BYTES, st->memory.total_bytes));
	}
	if (shown < s->plan->n_stages)
		text_add(out, "... and %u more stages\n", s->plan->n_stages - shown);
}

void report_step_text(struct arena *a, const struct step_report *s, struct text *out)
{
	struct step_figures f = figures_of(s);
	struct shares sh = shares_of(s->run);
	const struct degrees *d = s->degrees;
	text_add(out, "%s on %u x %s, batch %ju (pp %u, tp %u, dp %u, micro-batch %ju)%s%s\n",
		s->model->name, f.n_devices, s->archs[0].name, (uintmax_t)d->batch, d->pp, d->tp,
		d->dp, (uintmax_t)d->micro_batch, s->topo ? ", over " : "",
		s->topo ? s->topo->name : "");
	text_add(out, "iteration time   %.6g ms (closed form %.6g ms)\n", f.seconds * 1e3,
		ticks_to_s(s->analytic_step) * 1e3);
	text_add(out, "throughput       %.6g samples/s", f.samples_per_s);
	if (s->model->tokens_per_sample > 0)
		text_add(out, ", %.6g tokens/s", f.tokens_per_s);
	text_add(out, "\nper device       %.4g TFLOP/s, MFU %.1f %%\n", f.tflops_per_device,
		100 * f.mfu);
	step_energy_text(s, out);
	text_add(out, "where the time goes (mean over devices)\n");
	text_share(out, "compute", sh.compute, f.seconds);
	text_share(out, "optimizer", sh.optimizer, f.seconds);
	text_share(out, "exposed tensor-parallel", sh.tp, f.seconds);
	text_share(out, "exposed data-parallel", sh.dp, f.seconds);
	text_share(out, "exposed pipeline", sh.pp, f.seconds);
	text_share(out, "bubble", sh.bubble, f.seconds);
	text_stages(s, out);
	for (uint32_t i = 0; s->topo && i < s->run->n_links && i < 3; i++)
		text_add(out, "busy link %s: %.4g MB, %.1f %% of the step\n",
			s->topo->links[s->run->links[i].link].name, s->run->links[i].bytes / 1e6,
			100 * s->run->links[i].utilisation);
	if (s->memory)
		report_memory_text(s, out);
	report_layers_text(a, s, out);
}
