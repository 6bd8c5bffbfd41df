#include <stdlib.h>
#include <string.h>

#include "analytic/plan_step.h"
#include "base/file.h"
#include "cli/internal.h"
#include "run/run.h"

/* What a simulation is made of; everything lives in the request's arena. */
struct simulation {
	struct degrees degrees;
	struct plan_options options;
	struct graph model, forward, train, unsliced;
	struct arch arch;
	struct topo topo;
	bool has_topology;
	struct plan plan;
	struct run_config config;
	struct run_result run;
};

static bool parse_gemm(const char *text, struct gemm *out, struct err *err)
{
	uint64_t v[3];
	const char *at = text;
	for (int i = 0; i < 3; i++) {
		char *end;
		v[i] = strtoull(at, &end, 10);
		if (*at < '0' || *at > '9' || v[i] == 0 || v[i] > (1u << 30) ||
			*end != (i < 2 ? 'x' : '\0'))
			return err_set(err, ERR_USAGE,
				"--gemm '%s', expected MxNxK, each from 1 to %u", text, 1u << 30);
		at = end + 1;
	}
	*out = (struct gemm){.batch = 1, .m = v[0], .n = v[1], .k = v[2]};
	return true;
}

static json_t *gemm_json(const struct arch *arch, const struct gemm *g)
{
	struct array_shape array = {arch->tc_rows, arch->tc_cols, arch->dataflow, arch->fold_mode};
	struct work work = {.core = CORE_TC,
		.batch = 1,
		.m = g->m,
		.n = g->n,
		.k = g->k,
		.a_bytes = g->m * g->k * arch->mac_bytes,
		.b_bytes = g->k * g->n * arch->mac_bytes,
		.c_bytes = g->m * g->n * arch->mac_bytes};
	struct core_share share = {.tcs = 1, .vcs = 1, .sram_bytes = arch->sram_bytes};
	struct cycles cycles = arch_gemm_cycles(&array, g);
	struct sram_accesses sram = arch_gemm_sram(&array, g);
	struct op_cost cost;
	arch_op_cost(arch, &work, &share, &cost);
	json_t *root = json_object(), *parts = json_object();
	json_object_set_new(root, "accelerator", json_string(arch->name));
	json_object_set_new(root, "m", json_integer((json_int_t)g->m));
	json_object_set_new(root, "n", json_integer((json_int_t)g->n));
	json_object_set_new(root, "k", json_integer((json_int_t)g->k));
	json_object_set_new(root, "rows", json_integer(arch->tc_rows));
	json_object_set_new(root, "cols", json_integer(arch->tc_cols));
	json_object_set_new(root, "dataflow", json_string(dataflow_name(arch->dataflow)));
	json_object_set_new(root, "fold_mode", json_string(fold_mode_name(arch->fold_mode)));
	json_object_set_new(root, "cycles", json_integer((json_int_t)cycles.n));
	json_object_set_new(
		root, "time_s", json_real(ticks_to_s(cycles_to_ticks(cycles, arch->clock_hz))));
	json_object_set_new(root, "dram_bytes",
		json_integer((json_int_t)(cost.dram_read_bytes + cost.dram_write_bytes)));
	json_object_set_new(root, "sram_accesses",
		json_integer(
			(json_int_t)(sram.input_reads + sram.weight_reads + sram.output_writes)));
	json_object_set_new(parts, "input_reads", json_integer((json_int_t)sram.input_reads));
	json_object_set_new(parts, "weight_reads", json_integer((json_int_t)sram.weight_reads));
	json_object_set_new(parts, "output_writes", json_integer((json_int_t)sram.output_writes));
	json_object_set_new(root, "sram", parts);
	json_object_set_new(root, "utilisation",
		json_real((double)(g->m * g->n * g->k) /
			  ((double)cycles.n * arch->tc_rows * arch->tc_cols)));
	return root;
}

static bool simulate_gemm(struct request *q, struct err *err)
{
	struct gemm g;
	struct arch arch;
	if (!parse_gemm(q->gemm, &g, err) || !load_arch(q, q->accel, &arch, err))
		return false;
	if (q->fold_mode && !fold_mode_find(q->fold_mode, &arch.fold_mode))
		return err_set(err, ERR_USAGE,
			"unknown --fold-mode '%s', expected serial or pipelined", q->fold_mode);
	json_t *result = gemm_json(&arch, &g);
	if (q->json)
		return write_json(q, result, err);
	struct text out = {0};
	text_add(&out, "%s on one %ux%u array (%s, %s): %jd cycles, utilisation %.1f %%\n", q->gemm,
		arch.tc_rows, arch.tc_cols, dataflow_name(arch.dataflow),
		fold_mode_name(arch.fold_mode),
		(intmax_t)json_integer_value(json_object_get(result, "cycles")),
		100 * json_real_value(json_object_get(result, "utilisation")));
	text_add(&out, "DRAM %jd bytes, SRAM %jd words\n",
		(intmax_t)json_integer_value(json_object_get(result, "dram_bytes")),
		(intmax_t)json_integer_value(json_object_get(result, "sram_accesses")));
	json_decref(result);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

/* Several devices and no topology: a switch that gives every device its full link bandwidth. */
static bool choose_topology(struct request *q, struct simulation *s, struct err *err)
{
	uint32_t n = s->degrees.pp * s->degrees.tp * s->degrees.dp;
	char bw[UNIT_TEXT];
	s->has_topology = n > 1 || q->topology;
	if (q->topology)
		return load_topology(q, q->topology, &s->topo, err);
	uint64_t bytes_per_s = s->arch.links * s->arch.link_bytes_per_s;
	if (n > 1 && bytes_per_s == 0)
		return err_set(err, ERR_INPUT,
			"%s has no links, expected --topology for %u devices", s->arch.name, n);
	if (bytes_per_s == 0)
		bytes_per_s = 1;
	unit_print_exact(bw, UNIT_BANDWIDTH, bytes_per_s);
	const char *spec = arena_printf(q->a, "crossbar:%u,bw=%s,lat=500ns", n, bw);
	if (n > 1)
		report_warn(q->a, &q->report, "no_topology",
			arena_printf(q->a, "no --topology: %u devices on one switch, %s", n, spec));
	return topo_parse(q->a, spec, &s->topo, err);
}

static bool load_graphs(struct request *q, struct simulation *s, struct err *err)
{
	struct graph fused, unsliced;
	const char *name = q->models.items[0];
	struct train_options train = {.optimizer = s->options.optimizer};
	if (!load_model(q, name, s->degrees.micro_batch, 1, &s->model, err) ||
		!load_model(q, name, s->degrees.micro_batch, s->degrees.tp, &s->forward, err))
		return false;
	graph_fuse(q->a, &s->forward, &fused);
	graph_train(q->a, &fused, &train, &s->train);
	graph_train(q->a, &s->model, &train, &unsliced);
	s->unsliced = unsliced;
	return true;
}

static bool prepare(struct request *q, struct simulation *s, struct err *err)
{
	if (q->models.n != 1)
		return err_set(err, ERR_USAGE,
			q->models.n == 0 ? "expected --model, e.g. --model bert-large"
					 : "simulate takes one --model");
	if (q->files.n > 0)
		return err_set(err, ERR_USAGE, "unexpected argument '%s', models go to --model",
			q->files.items[0]);
	if (!load_arch(q, q->accel, &s->arch, err) || !load_plan_options(q, &s->options, err) ||
		!load_degrees(q, q->models.items[0], &s->degrees, err))
		return false;
	s->options.intra_op_split = !q->intra_op || strcmp(q->intra_op, "split") == 0;
	if (q->fold_mode && !fold_mode_find(q->fold_mode, &s->arch.fold_mode))
		return err_set(err, ERR_USAGE,
			"unknown --fold-mode '%s', expected serial or pipelined", q->fold_mode);
	if (!choose_topology(q, s, err) || !load_net(q, &s->config.net, err) ||
		!load_choice(q, &s->config.choice, err) || !load_graphs(q, s, err))
		return false;
	if (!s->has_topology)
		s->config.net = NET_ANALYTIC;
	s->config.topo = &s->topo;
	s->config.keep_spans = q->trace != NULL;
	return plan_build(q->a, &s->train, &s->arch, 1, &s->degrees, &s->options, &s->plan, err) &&
	       prog_check(&s->plan.prog, err);
}

static bool write_side_files(struct request *q, const struct simulation *s, struct err *err)
{
	struct text out = {0};
	bool ok = true;
	if (q->trace) {
		report_timeline(&s->plan.prog, &s->run, &out);
		ok = file_write(q->trace, out.data, out.n, err);
	}
	text_free(&out);
	return ok;
}

static bool dump_prog(struct request *q, const struct simulation *s, struct err *err)
{
	struct text out = {0};
	if (!q->dump_prog)
		return true;
	prog_write(&s->plan.prog, &out);
	bool ok = file_write(q->dump_prog, out.data, out.n, err);
	text_free(&out);
	return ok;
}

static bool write_step(struct request *q, const struct simulation *s, struct err *err)
{
	struct step_report r = {.model = &s->model,
		.forward = &s->forward,
		.archs = &s->arch,
		.n_archs = 1,
		.degrees = &s->degrees,
		.options = &s->options,
		.plan = &s->plan,
		.topo = s->has_topology ? &s->topo : NULL,
		.net = s->config.net,
		.run = &s->run,
		.analytic_step = analytic_plan_step(
			q->a, &s->plan, &s->degrees, s->has_topology ? &s->topo : NULL)
					 .total,
		.train_macs = graph_macs(&s->unsliced,
			1u << PASS_FORWARD | 1u << PASS_BACKWARD_DATA | 1u << PASS_BACKWARD_WEIGHT),
		.layers = q->layers};
	if (q->json)
		return write_json(q, report_step_json(q->a, &r), err);
	if (q->csv) {
		struct table t;
		report_layers_table(q->a, &r, &t);
		return write_csv(q, &t, err);
	}
	struct text out = {0};
	report_step_text(q->a, &r, &out);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

static bool run_simulate(struct request *q, struct err *err)
{
	struct simulation s = {0};
	if (q->gemm)
		return simulate_gemm(q, err);
	if (!prepare(q, &s, err) || !dump_prog(q, &s, err))
		return false;
	if (q->dry_run) {
		struct text out = {0};
		text_add(&out,
			"%s on %u devices: %u stages, %u micro-batches, %u tasks of stage 0\n",
			s.model.name, prog_n_ranks(&s.plan.prog), s.plan.n_stages,
			s.plan.n_micro_batches, s.plan.prog.roles[0].n_tasks);
		bool ok = write_text(q, &out, err);
		text_free(&out);
		return ok;
	}
	return run_prog(q->a, &s.plan.prog, &s.config, &s.run, err) &&
	       write_side_files(q, &s, err) && write_step(q, &s, err);
}

const struct command command_simulate = {
	.name = "simulate",
	.usage = "simulate --model NAME|FILE [options]  |  simulate --gemm MxNxK [options]",
	.summary = "one training step of a model on accelerators and a network",
	.examples = "  wham simulate --model resnet50 --accel tpuv2 --batch 8 --layers\n"
		    "  wham simulate --model bert-large --pp 4 --topology "
		    "ring:4,bw=100GB/s,lat=1us --json\n"
		    "  wham simulate --model megatron-gpt --tp 2 --dp 4 --topology torus:2x4 "
		    "--trace step.json.gz\n"
		    "  wham simulate --gemm 1024x1024x1024 --accel "
		    "TC=1x128x128,VC=1x128,SRAM=32MiB --fold-mode serial\n",
	.run = run_simulate,
};
