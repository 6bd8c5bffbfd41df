#include "onnx_maker.h"

#include <string.h>

void maker_init(struct onnx_maker *m, struct arena *a)
{
	*m = (struct onnx_maker){.a = a};
	onnx__model_proto__init(&m->model);
	onnx__graph_proto__init(&m->graph);
	onnx__operator_set_id_proto__init(&m->set);
	m->set.has_version = true;
	m->set.version = 9;
	m->model.has_ir_version = true;
	m->model.ir_version = 3;
	m->sets[0] = &m->set;
	m->model.n_opset_import = 1;
	m->model.opset_import = m->sets;
	m->model.graph = &m->graph;
	m->model.producer_name = arena_strdup(a, "make_onnx");
	m->graph.name = arena_strdup(a, "test");
	m->into = &m->graph;
}

static int64_t *copy_ints(struct arena *a, const int64_t *values, size_t n)
{
	int64_t *copy = arena_array(a, n + 1, int64_t);
	if (n > 0)
		memcpy(copy, values, n * sizeof(*copy));
	return copy;
}

static Onnx__ValueInfoProto *new_value(
	struct onnx_maker *m, const char *name, const int64_t *dims, size_t n)
{
	Onnx__ValueInfoProto *v = arena_new(m->a, Onnx__ValueInfoProto);
	Onnx__TypeProto *type = arena_new(m->a, Onnx__TypeProto);
	Onnx__TypeProto__Tensor *tensor = arena_new(m->a, Onnx__TypeProto__Tensor);
	Onnx__TensorShapeProto *shape = arena_new(m->a, Onnx__TensorShapeProto);
	onnx__value_info_proto__init(v);
	onnx__type_proto__init(type);
	onnx__type_proto__tensor__init(tensor);
	onnx__tensor_shape_proto__init(shape);
	v->name = arena_strdup(m->a, name);
	v->type = type;
	type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
	type->tensor_type = tensor;
	tensor->has_elem_type = true;
	tensor->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
	tensor->shape = shape;
	shape->n_dim = n;
	shape->dim = arena_array(m->a, n + 1, Onnx__TensorShapeProto__Dimension *);
	for (size_t i = 0; i < n; i++) {
		shape->dim[i] = arena_new(m->a, Onnx__TensorShapeProto__Dimension);
		onnx__tensor_shape_proto__dimension__init(shape->dim[i]);
		if (dims[i] == -1)
			continue;
		shape->dim[i]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
		shape->dim[i]->dim_value = dims[i];
	}
	return v;
}

void maker_input(struct onnx_maker *m, const char *name, const int64_t *dims, size_t n)
{
	arena_push(m->a, m->graph.input, m->graph.n_input, m->cap_inputs) =
		new_value(m, name, dims, n);
}

void maker_open(struct onnx_maker *m, size_t axis, const char *name)
{
	Onnx__ValueInfoProto *input = m->graph.input[m->graph.n_input - 1];
	Onnx__TensorShapeProto__Dimension *dim = input->type->tensor_type->shape->dim[axis];
	dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
	dim->dim_param = arena_strdup(m->a, name);
}

void maker_output(struct onnx_maker *m, const char *name)
{
	arena_push(m->a, m->into->output, m->into->n_output, m->cap_outputs) =
		new_value(m, name, NULL, 0);
}

static Onnx__TensorProto *new_tensor(
	struct onnx_maker *m, int32_t type, const int64_t *dims, size_t n)
{
	Onnx__TensorProto *t = arena_new(m->a, Onnx__TensorProto);
	onnx__tensor_proto__init(t);
	t->has_data_type = true;
	t->data_type = type;
	t->n_dims = n;
	t->dims = copy_ints(m->a, dims, n);
	return t;
}

Onnx__TensorProto *maker_weight(
	struct onnx_maker *m, const char *name, const int64_t *dims, size_t n)
{
	Onnx__TensorProto *t = new_tensor(m, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, dims, n);
	t->name = arena_strdup(m->a, name);
	arena_push(m->a, m->graph.initializer, m->graph.n_initializer, m->cap_weights) = t;
	return t;
}

Onnx__TensorProto *maker_list(
	struct onnx_maker *m, const char *name, const int64_t *values, size_t n)
{
	Onnx__TensorProto *t = maker_weight(m, name, &(int64_t){(int64_t)n}, 1);
	t->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
	t->n_int64_data = n;
	t->int64_data = copy_ints(m->a, values, n);
	return t;
}

Onnx__TensorProto *maker_reals(
	struct onnx_maker *m, const char *name, const double *values, size_t n)
{
	Onnx__TensorProto *t = maker_weight(m, name, &(int64_t){(int64_t)n}, 1);
	t->n_float_data = n;
	t->float_data = arena_array(m->a, n + 1, float);
	for (size_t i = 0; i < n; i++)
		t->float_data[i] = (float)values[i];
	return t;
}

void maker_scalar(struct onnx_maker *m, const char *name, double value)
{
	maker_reals(m, name, &value, 1)->n_dims = 0;
}

void maker_inside(struct onnx_maker *m, Onnx__GraphProto *graph)
{
	if (m->into == &m->graph) {
		m->outer_nodes = m->cap_nodes;
		m->outer_outputs = m->cap_outputs;
	}
	m->into = graph ? graph : &m->graph;
	m->cap_nodes = graph ? 0 : m->outer_nodes;
	m->cap_outputs = graph ? 0 : m->outer_outputs;
}

static size_t split_names(struct onnx_maker *m, const char *text, char ***names)
{
	size_t n = 0, cap = 0;
	*names = NULL;
	while (*text) {
		size_t length = strcspn(text, " ");
		bool none = length == 1 && text[0] == '-';
		arena_push(m->a, *names, n, cap) = arena_strndup(m->a, text, none ? 0 : length);
		text += length + strspn(text + length, " ");
	}
	return n;
}

void maker_node(struct onnx_maker *m, const char *op, const char *name, const char *inputs,
	const char *outputs)
{
	Onnx__NodeProto *node = arena_new(m->a, Onnx__NodeProto);
	onnx__node_proto__init(node);
	node->op_type = arena_strdup(m->a, op);
	node->name = arena_strdup(m->a, name);
	node->n_input = split_names(m, inputs, &node->input);
	node->n_output = split_names(m, outputs, &node->output);
	arena_push(m->a, m->into->node, m->into->n_node, m->cap_nodes) = node;
	m->node = node;
	m->cap_attrs = 0;
}

static Onnx__AttributeProto *new_attr(
	struct onnx_maker *m, const char *name, Onnx__AttributeProto__AttributeType type)
{
	Onnx__AttributeProto *attr = arena_new(m->a, Onnx__AttributeProto);
	onnx__attribute_proto__init(attr);
	attr->name = arena_strdup(m->a, name);
	attr->has_type = true;
	attr->type = type;
	arena_push(m->a, m->node->attribute, m->node->n_attribute, m->cap_attrs) = attr;
	return attr;
}

void maker_int(struct onnx_maker *m, const char *name, int64_t value)
{
	Onnx__AttributeProto *attr = new_attr(m, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
	attr->has_i = true;
	attr->i = value;
}

void maker_ints(struct onnx_maker *m, const char *name, const int64_t *values, size_t n)
{
	Onnx__AttributeProto *attr = new_attr(m, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
	attr->n_ints = n;
	attr->ints = copy_ints(m->a, values, n);
}

void maker_string(struct onnx_maker *m, const char *name, const char *value)
{
	Onnx__AttributeProto *attr =
		new_attr(m, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
	char *copy = arena_strdup(m->a, value);
	attr->has_s = true;
	attr->s.len = strlen(value);
	attr->s.data = (uint8_t *)copy;
}

void maker_tensor(struct onnx_maker *m, const char *name, const int64_t *dims, size_t n)
{
	new_attr(m, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR)->t =
		new_tensor(m, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, dims, n);
}

void maker_graph(struct onnx_maker *m, const char *name, Onnx__GraphProto *graph)
{
	new_attr(m, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH)->g = graph;
}

struct bytes maker_pack(struct onnx_maker *m)
{
	size_t n = onnx__model_proto__get_packed_size(&m->model);
	uint8_t *data = arena_array(m->a, n + 1, uint8_t);
	onnx__model_proto__pack(&m->model, data);
	return (struct bytes){(const char *)data, n};
}

#define DIMS(...) (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

void maker_small_model(struct onnx_maker *m)
{
	maker_input(m, "image", DIMS(1, 3, 16, 16));
	maker_weight(m, "conv1.weight", DIMS(8, 3, 3, 3));
	maker_weight(m, "conv1.bias", DIMS(8));
	maker_node(m, "Conv", "conv1", "image conv1.weight conv1.bias", "c1");
	maker_ints(m, "pads", DIMS(1, 1, 1, 1));
	maker_weight(m, "scale", DIMS(8));
	maker_weight(m, "shift", DIMS(8));
	maker_weight(m, "mean", DIMS(8));
	maker_weight(m, "variance", DIMS(8));
	maker_node(m, "BatchNormalization", "norm1", "c1 scale shift mean variance", "n1");
	maker_node(m, "Relu", "relu1", "n1", "r1");
	maker_node(m, "MaxPool", "pool1", "r1", "p1");
	maker_ints(m, "kernel_shape", DIMS(2, 2));
	maker_ints(m, "strides", DIMS(2, 2));
	maker_node(m, "Constant", "", "", "conv2.weight");
	maker_tensor(m, "value", DIMS(8, 4, 3, 3));
	maker_node(m, "Conv", "conv2", "p1 conv2.weight", "c2");
	maker_ints(m, "pads", DIMS(1, 1, 1, 1));
	maker_int(m, "group", 2);
	maker_node(m, "Add", "residual", "c2 p1", "a2");
	maker_node(m, "Relu", "relu2", "a2", "r2");
	maker_node(m, "GlobalAveragePool", "average", "r2", "g2");
	maker_list(m, "rows", DIMS(1, 8));
	maker_node(m, "Reshape", "rows", "g2 rows", "f2");
	maker_list(m, "fc.shape", DIMS(10, 8));
	maker_node(m, "ConstantOfShape", "", "fc.shape", "fc.weight");
	maker_weight(m, "fc.bias", DIMS(10));
	maker_node(m, "Gemm", "fc", "f2 fc.weight fc.bias", "y");
	maker_int(m, "transB", 1);
	maker_node(m, "Softmax", "softmax", "y", "p");
	maker_output(m, "p");
}
