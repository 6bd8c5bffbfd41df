#include "graph/onnx_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool onnx_fail(const struct onnx_node *node, struct err *err, const char *fmt, ...)
{
	char text[ERR_TEXT];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(
		err, ERR_INPUT, "node '%s' (%s): %s", node->name, node->proto->op_type, text);
}

const Onnx__AttributeProto *onnx_attr(const Onnx__NodeProto *node, const char *name)
{
	for (size_t i = 0; i < node->n_attribute; i++)
		if (node->attribute[i]->name && strcmp(node->attribute[i]->name, name) == 0)
			return node->attribute[i];
	return NULL;
}

int64_t onnx_attr_int(const struct onnx_node *node, const char *name, int64_t otherwise)
{
	const Onnx__AttributeProto *attr = onnx_attr(node->proto, name);
	return attr && attr->has_i ? attr->i : otherwise;
}

const char *onnx_attr_text(struct onnx_reader *r, const struct onnx_node *node, const char *name)
{
	const Onnx__AttributeProto *attr = onnx_attr(node->proto, name);
	if (!attr || !attr->has_s || attr->s.len > 255)
		return "";
	return arena_strndup(r->scratch, (const char *)attr->s.data, attr->s.len);
}

bool onnx_int_list(const struct onnx_node *node, const char *name, size_t input,
	struct onnx_ints *out, struct err *err)
{
	*out = (struct onnx_ints){0};
	const Onnx__AttributeProto *attr = onnx_attr(node->proto, name);
	if (attr) {
		static const int64_t none[1];
		*out = (struct onnx_ints){attr->n_ints > 0 ? attr->ints : none, attr->n_ints};
		return true;
	}
	if (input >= node->n_in || !node->in[input])
		return true;
	const struct onnx_value *v = node->in[input];
	if (v->state == ONNX_CONSTANT && v->elsewhere)
		return onnx_fail(node, err,
			"the content of '%s' (%s) lies in another file, '%s', which is not read",
			v->name, name, v->elsewhere);
	if (!v->ints)
		return onnx_fail(node, err,
			"'%s' (%s) must be small whole numbers that are known from the file",
			v->name, name);
	*out = (struct onnx_ints){v->ints, (size_t)onnx_elements(v)};
	return true;
}

bool onnx_axis(
	const struct onnx_node *node, int64_t axis, uint32_t n_dims, uint32_t *out, struct err *err)
{
	if (axis < -(int64_t)n_dims || axis >= (int64_t)n_dims)
		return onnx_fail(node, err, "axis %" PRId64 " is outside an input of %u dimensions",
			axis, n_dims);
	*out = (uint32_t)(axis < 0 ? axis + n_dims : axis);
	return true;
}
