#include "graph/onnx.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/onnx_internal.h"

static bool has_text(const char *s)
{
	return s && s[0];
}

/* The operator set of ai.onnx that the file was written for; 1 where it does not say. */
static int64_t operator_set(const Onnx__ModelProto *model)
{
	int64_t version = 1;
	for (size_t i = 0; i < model->n_opset_import; i++) {
		const Onnx__OperatorSetIdProto *set = model->opset_import[i];
		bool standard = !has_text(set->domain) || strcmp(set->domain, "ai.onnx") == 0;
		if (standard && set->version > version)
			version = set->version;
	}
	return version;
}

static bool look_up(struct onnx_reader *r, struct onnx_node *node, struct err *err)
{
	const Onnx__NodeProto *p = node->proto;
	node->in = arena_array(r->scratch, p->n_input + 1, struct onnx_value *);
	for (size_t i = 0; i < p->n_input; i++) {
		if (!has_text(p->input[i]))
			continue;
		struct onnx_value *v = onnx_find_value(r, p->input[i]);
		if (!v || v->state == ONNX_UNMADE)
			return onnx_fail(node, err, "it reads '%s', which nothing before it makes",
				p->input[i]);
		node->in[i] = v;
		node->n_in = i + 1;
	}
	node->out = arena_array(r->scratch, p->n_output + 1, struct onnx_value *);
	node->n_out = p->n_output;
	for (size_t i = 0; i < p->n_output; i++) {
		if (!has_text(p->output[i]))
			continue;
		node->out[i] = onnx_find_value(r, p->output[i]);
		assert(node->out[i]);
		if (node->out[i]->state != ONNX_UNMADE)
			return onnx_fail(
				node, err, "it makes '%s', which exists already", p->output[i]);
	}
	return true;
}

static bool check_operands(const struct onnx_node *node, struct err *err)
{
	const struct onnx_op *op = node->op;
	if (node->n_in < op->min_in || node->n_in > op->max_in)
		return onnx_fail(node, err, "%zu to %zu inputs are expected, there are %zu",
			op->min_in, op->max_in, node->n_in);
	for (size_t i = 0; i < op->min_in; i++)
		if (!node->in[i])
			return onnx_fail(node, err, "input %zu is missing", i);
	if (node->n_out == 0 || !node->out[0])
		return onnx_fail(node, err, "it has no output");
	return true;
}

static bool read_node(struct onnx_reader *r, struct onnx_node *node, struct err *err)
{
	bool done = false;
	if (!look_up(r, node, err) || !check_operands(node, err))
		return false;
	if (node->op->fold && !node->op->fold(r, node, &done, err))
		return false;
	if (done)
		return true;
	if (!node->op->build)
		return onnx_fail(
			node, err, "it can only be read where its inputs are known from the file");
	return node->op->build(r, node, err);
}

static bool check_outputs(const struct onnx_reader *r, struct err *err)
{
	for (size_t i = 0; i < r->graph->n_output; i++) {
		const char *name = r->graph->output[i]->name;
		const struct onnx_value *v = has_text(name) ? onnx_find_value(r, name) : NULL;
		if (!v || v->state == ONNX_UNMADE)
			return err_set(err, ERR_INPUT, "output '%s' is not made by any node",
				has_text(name) ? name : "");
	}
	return true;
}

/* "/models/resnet50.onnx.gz" -> "resnet50" */
static const char *model_name(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	size_t n = strcspn(base, ".");
	for (const char *dot = strstr(base, ".onnx"); dot; dot = strstr(dot + 1, ".onnx"))
		n = (size_t)(dot - base);
	return n > 0 ? arena_strndup(a, base, n) : "model";
}

static void describe(struct onnx_reader *r, const Onnx__ModelProto *model, struct graph *out)
{
	out->name = model_name(r->a, r->path);
	out->path = arena_strdup(r->a, r->path);
	out->source = arena_printf(r->a, "ONNX file, operator set %" PRId64 "%s%s%s%s", r->opset,
		has_text(model->producer_name) ? ", by " : "",
		has_text(model->producer_name) ? model->producer_name : "",
		has_text(model->producer_version) ? " " : "",
		has_text(model->producer_version) ? model->producer_version : "");
	out->batch = r->batch;
	out->tokens_per_sample = r->tokens;
	out->tp = 1;
	out->warnings = r->warnings;
	out->n_warnings = r->n_warnings;
}

bool onnx_read_nodes(struct onnx_reader *r, struct err *err)
{
	const Onnx__GraphProto *g = r->scope->graph;
	const char **names = onnx_name_nodes(r);
	for (size_t i = 0; i < g->n_node; i++) {
		struct onnx_node node = {
			.proto = g->node[i],
			.op = onnx_op_of(r, g->node[i]),
			.name = names[i],
		};
		if (!read_node(r, &node, err))
			return false;
	}
	return true;
}

static bool read_model(struct onnx_reader *r, struct graph *out, struct err *err)
{
	struct onnx_scope scope = {.graph = r->graph, .prefix = ""};
	r->scope = &scope;
	return onnx_check_operators(r, r->graph, err) && onnx_collect_values(r, &scope, err) &&
	       onnx_add_inputs(r, err) && onnx_read_nodes(r, err) && check_outputs(r, err) &&
	       onnx_simplify(r, out, err);
}

bool onnx_read(struct arena *a, const char *path, struct bytes data,
	const struct graph_options *options, struct graph *out, struct err *err)
{
	if (options->tp > 1)
		return err_set(err, ERR_USAGE,
			"%s: an ONNX file cannot be sliced over %u tensor-parallel devices, only a "
			"workload "
			"file can",
			path, options->tp);
	struct arena scratch = {0};
	const Onnx__ModelProto *model = onnx_unpack(&scratch, path, data, err);
	if (!model) {
		arena_free(&scratch);
		return false;
	}
	struct onnx_reader r = {
		.a = a,
		.scratch = &scratch,
		.path = path,
		.graph = model->graph,
		.options = options,
		.opset = operator_set(model),
	};
	builder_init(&r.builder, &scratch, options->elem_bytes ? options->elem_bytes : 2);
	bool ok = read_model(&r, out, err);
	if (ok)
		describe(&r, model, out);
	else
		err_prefix(err, "%s: ", path);
	arena_free(&scratch);
	return ok;
}
