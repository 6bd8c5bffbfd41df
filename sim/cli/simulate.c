#include <assert.h>
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

/* Several devices and no topology: a switch that gives every device its full link bandwidth. */
static bool choose_topology(struct request *q, struct simulation *s, struct err *err)
{
	uint32_t n = s->degrees.pp * s->degrees.tp * s->degrees.dp;
	char bw[UNIT_TEXT];
	s->has_topology = n > 1 || q->topology;
	if (q->given_topology) {
		s->topo = *q->given_topology;
		return true;
	}
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
	return topo_parse(q->a, spec, &s->topo, err) && load_changes(q, &s->topo, err);
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

static bool place(struct request *q, struct simulation *s, struct err *err)
{
	struct placement p;
	if (!load_placement(q, &s->topo, prog_n_ranks(&s->plan.prog), &p, err))
		return false;
	s->config.device_of_rank = p.device_of_rank;
	s->config.compute_ppm = p.compute_ppm;
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
	s->config.keep_spans = q->trace != NULL || q->memory;
	s->config.all_links = q->csv_links != NULL;
	struct plan_input in = {&s->train, &s->arch, 1, &s->degrees, &s->options};
	return plan_build(q->a, &in, &s->plan, err) && prog_check(&s->plan.prog, err) &&
	       place(q, s, err);
}

bool simulate_on(struct request *q, const struct topo *topo, struct run_result *run,
	struct run_result *alone, struct err *err)
{
	struct simulation *s = arena_new(q->a, struct simulation);
	uint32_t n_files = q->files.n;
	q->files.n = 0;
	q->given_topology = topo;
	bool ok = prepare(q, s, err);
	q->files.n = n_files;
	q->given_topology = NULL;
	s->config.keep_spans = false;
	ok = ok && run_prog(q->a, &s->plan.prog, &s->config, run, err);
	s->config.net = NET_ANALYTIC;
	return ok && run_prog(q->a, &s->plan.prog, &s->config, alone, err);
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

static bool dump_graph(struct request *q, const struct simulation *s, struct err *err)
{
	struct text out = {0};
	if (!q->dump_graph)
		return true;
	size_t n = strlen(q->dump_graph);
	if (n > 4 && strcmp(q->dump_graph + n - 4, ".dot") == 0)
		report_graph_dot(&s->train, &out);
	else
		report_graph_text(&s->train, &out);
	bool ok = file_write(q->dump_graph, out.data, out.n, err);
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
		.train = &s->train,
		.layers = q->layers || q->all_operators,
		.all_operators = q->all_operators,
		.critical_path = q->critical_path,
		.memory = q->memory};
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
	if (!prepare(q, &s, err) || !dump_graph(q, &s, err) || !dump_prog(q, &s, err))
		return false;
	if (q->dry_run) {
		struct text out = {0};
		assert(s.plan.prog.n_roles > 0 && s.plan.prog.roles);
		text_add(&out,
			"%s on %u devices: %u stages, %u micro-batches, %u tasks of stage 0\n",
			s.model.name, prog_n_ranks(&s.plan.prog), s.plan.n_stages,
			s.plan.n_micro_batches, s.plan.prog.roles[0].n_tasks);
		bool ok = write_text(q, &out, err);
		text_free(&out);
		return ok;
	}
	return run_prog(q->a, &s.plan.prog, &s.config, &s.run, err) &&
	       write_side_files(q, &s, err) && write_links(q, &s.topo, &s.run, err) &&
	       write_step(q, &s, err);
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
