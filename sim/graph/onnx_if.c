#include "graph/onnx_internal.h"

#include <string.h>

/* A choice that is known when the file is read, or follows from the dimensions that were asked
 * for: the branch that is taken stands in the place of the If. */

enum { MAX_BRANCHES = 12 }; /* inside each other; the file format bounds it too */

static const Onnx__GraphProto *branch_of(const struct onnx_node *node, bool taken)
{
	const Onnx__AttributeProto *attr =
		onnx_attr(node->proto, taken ? "then_branch" : "else_branch");
	return attr ? attr->g : NULL;
}

static bool blame_condition(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	const char *numbers = onnx_scalar_inputs(r);
	if (!numbers)
		return onnx_fail(node, err,
			"control flow: '%s' is known only at run time, so that no branch can be "
			"chosen",
			node->in[0]->name);
	return onnx_fail(node, err,
		"control flow: '%s' is not known, so that no branch can be chosen; --dim NAME=N "
		"gives "
		"the value of an input that is a number:%s",
		node->in[0]->name, numbers);
}

static bool take_outputs(struct onnx_reader *r, const struct onnx_node *node,
	const Onnx__GraphProto *branch, struct err *err)
{
	if (branch->n_output != node->n_out)
		return onnx_fail(node, err, "the branch has %zu outputs and the node %zu",
			branch->n_output, node->n_out);
	for (size_t i = 0; i < node->n_out; i++) {
		const char *name = branch->output[i]->name;
		struct onnx_value *v = name && name[0] ? onnx_find_value(r, name) : NULL;
		if (!v || v->state == ONNX_UNMADE)
			return onnx_fail(node, err, "nothing makes output '%s' of the branch",
				name ? name : "");
		if (node->out[i])
			onnx_alias(node->out[i], v);
	}
	return true;
}

bool onnx_build_if(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	const struct onnx_value *condition = node->in[0];
	unsigned depth = 0;
	if (!onnx_is_known(condition) || onnx_elements(condition) != 1)
		return blame_condition(r, node, err);
	bool taken = onnx_number(condition, 0) > 0 || onnx_number(condition, 0) < 0;
	const Onnx__GraphProto *branch = branch_of(node, taken);
	for (const struct onnx_scope *s = r->scope; s; s = s->around)
		depth++;
	if (!branch)
		return onnx_fail(node, err, "it has no %s", taken ? "then_branch" : "else_branch");
	if (depth > MAX_BRANCHES)
		return onnx_fail(
			node, err, "more than %d branches inside each other", MAX_BRANCHES);
	struct onnx_scope scope = {
		.around = r->scope,
		.graph = branch,
		.prefix = arena_printf(r->scratch, "%s/", node->name),
	};
	if (!onnx_check_operators(r, branch, err) || !onnx_collect_values(r, &scope, err))
		return err_prefix(err, "node '%s' (If): ", node->name);
	r->scope = &scope;
	bool ok = onnx_read_nodes(r, err) && take_outputs(r, node, branch, err);
	r->scope = scope.around;
	return ok;
}
