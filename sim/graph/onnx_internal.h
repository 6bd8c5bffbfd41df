/* What the files of the ONNX reader share. */
#ifndef GRAPH_ONNX_INTERNAL_H
#define GRAPH_ONNX_INTERNAL_H

#include "graph/internal.h"
#include "graph/onnx.h"
#include "graph/onnx.pb-c.h"

/* Largest constant whose content is kept: shapes, axes, sizes, indices. */
enum { ONNX_MAX_INTS = 1024 };

enum onnx_state {
	ONNX_UNMADE,   /* its node has not been read yet */
	ONNX_CONSTANT, /* known from the file alone */
	ONNX_TENSOR,   /* an input of the model, or made by an operator of the graph */
};

/* A named value of the file. */
struct onnx_value {
	const char *name;
	enum onnx_state state;
	tensor_id tensor; /* GRAPH_NONE for a constant until an operator reads it */
	int32_t type;     /* enum Onnx__TensorProto__DataType; 0 when not known */
	uint32_t n_dims;
	uint64_t dims[GRAPH_MAX_DIMS];
	const int64_t *ints;        /* content of an integer constant in row order, or NULL */
	const char *elsewhere;      /* the other file that holds the content, or NULL */
	struct onnx_value *same_as; /* a constant that this one is another name of, or NULL */
	struct onnx_value
		*turned; /* a constant matrix that this one is the transpose of, or NULL */
};

struct onnx_reader {
	struct arena *a;       /* of the caller: what the graph keeps */
	struct arena *scratch; /* gone when the file has been read */
	const char *path;
	const Onnx__GraphProto *graph;
	const struct graph_options *options;
	int64_t opset;
	uint64_t file_batch,
		batch;   /* first dimension of the first input: in the file, and as asked for */
	uint64_t tokens; /* sequence length, 0 without one */
	struct onnx_value *values; /* sorted by name */
	size_t n_values;
	struct builder builder;
	bool has_tensor_core_op;
};

struct onnx_op;

/* A node with its operands looked up. */
struct onnx_node {
	const Onnx__NodeProto *proto;
	const struct onnx_op *op;
	const char *name;       /* unique */
	struct onnx_value **in; /* NULL for an optional input that is left out */
	size_t n_in;
	struct onnx_value **out; /* likewise */
	size_t n_out;
};

/* Which constant inputs of an operator are trained. */
enum onnx_trained {
	TRAINED_NONE,
	TRAINED_WEIGHTS, /* inputs 1 and 2 */
	TRAINED_ANY,     /* all */
	TRAINED_CHANNEL, /* at least one dimension, and at most one that is not 1: bias and scale */
};

typedef bool onnx_fold(
	struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err);
typedef bool onnx_build(struct onnx_reader *r, const struct onnx_node *node, struct err *err);

struct onnx_op {
	const char *name;
	const char *kind; /* row of op_kinds.c; NULL when `build` says which */
	enum onnx_trained trained;
	size_t min_in, max_in;
	/* Makes the outputs, as constants or as other names of the first input, and sets `done`;
	 * or leaves both alone. NULL: never. */
	onnx_fold *fold;
	/* Appends the operators. NULL: the node can only be folded. */
	onnx_build *build;
};

struct onnx_ints {
	const int64_t *at;
	size_t n;
};

/* One operator of the graph to append for a node. */
struct onnx_step {
	const char *kind;             /* NULL: that of the node's row */
	const char *part;             /* NULL, or what tells it from the node's other operators */
	struct onnx_value *const *in; /* NULL: the inputs of the node that are there */
	size_t n_in;
	struct onnx_value *const *out; /* NULL: the outputs of the node */
	size_t n_out;
	struct op_attrs attrs;
};

/* onnx_wire.c: the model of a file, in `a`, checked so that no field lies outside the data, no
 * text is other than UTF-8 and no nesting is too deep for recursion. NULL with ERR_INPUT
 * otherwise. */
const Onnx__ModelProto *onnx_unpack(
	struct arena *a, const char *path, struct bytes data, struct err *err);

/* onnx_check.c */

/* ERR_INPUT with all operators that are not in the table, how often and where first. */
bool onnx_check_operators(struct onnx_reader *r, struct err *err);
/* A name for each node that no other has: its own, or type and number. */
const char **onnx_name_nodes(struct onnx_reader *r);

/* onnx_values.c */

/* Fills r->values: initialisers as constants, everything else unmade. */
bool onnx_collect_values(struct onnx_reader *r, struct err *err);
struct onnx_value *onnx_find_value(const struct onnx_reader *r, const char *name);
/* Sets type, shape and, where it is small and of whole numbers, content. */
bool onnx_set_constant(
	struct onnx_reader *r, struct onnx_value *v, const Onnx__TensorProto *t, struct err *err);
/* A constant of `n` whole numbers; of no dimension when `scalar`. */
void onnx_set_ints(struct onnx_value *v, const int64_t *ints, size_t n, bool scalar);
/* 0 for an empty one; UINT64_MAX when it does not fit. */
uint64_t onnx_elements(const struct onnx_value *v);

/* onnx_inputs.c: the inputs of the model, with batch and open dimensions settled. */
bool onnx_add_inputs(struct onnx_reader *r, struct err *err);

/* onnx_attrs.c */

/* "node 'x' (Conv): " and the message; ERR_INPUT; returns false. */
bool onnx_fail(const struct onnx_node *node, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
const Onnx__AttributeProto *onnx_attr(const Onnx__NodeProto *node, const char *name);
int64_t onnx_attr_int(const struct onnx_node *node, const char *name, int64_t otherwise);
/* Whole numbers from the attribute `name`, or from input number `input` in newer operator sets.
 * `ints` is NULL when there is neither. An input whose content is not known is an error. */
bool onnx_int_list(const struct onnx_node *node, const char *name, size_t input,
	struct onnx_ints *out, struct err *err);
/* An axis of a value with `n_dims` dimensions; negative ones count from the end. */
bool onnx_axis(const struct onnx_node *node, int64_t axis, uint32_t n_dims, uint32_t *out,
	struct err *err);

/* onnx_window.c: kernel, stride, dilation and padding of a two-dimensional window over `in`.
 * auto_pad and ceil_mode become explicit padding. `weight` gives the kernel of a convolution;
 * it is NULL for pooling. */
bool onnx_window(const struct onnx_node *node, const struct onnx_value *in,
	const struct onnx_value *weight, struct op_attrs *attrs, struct err *err);

/* onnx_build.c */

/* Appends one operator to the graph and makes its outputs. */
bool onnx_append(struct onnx_reader *r, const struct onnx_node *node, const struct onnx_step *step,
	struct err *err);
/* Makes `out` another name of `in`. */
void onnx_alias(struct onnx_value *out, struct onnx_value *in);

/* onnx_ops.c: NULL for an unknown operator; all of them, sorted by name. */
const struct onnx_op *onnx_find_op(const char *name);
const struct onnx_op *onnx_ops(size_t *n);

/* onnx_fold.c */
onnx_fold onnx_fold_add, onnx_fold_cast, onnx_fold_concat, onnx_fold_constant, onnx_fold_div,
	onnx_fold_filled, onnx_fold_gather, onnx_fold_identity, onnx_fold_mul, onnx_fold_same,
	onnx_fold_shape, onnx_fold_sub;

/* onnx_move.c, onnx_slice.c and onnx_math.c */
onnx_build onnx_build_concat, onnx_build_flatten, onnx_build_gather, onnx_build_reshape,
	onnx_build_slice, onnx_build_split, onnx_build_squeeze, onnx_build_transpose,
	onnx_build_unsqueeze;
onnx_build onnx_build_all, onnx_build_conv, onnx_build_first, onnx_build_gemm,
	onnx_build_layer_norm, onnx_build_lrn, onnx_build_matmul, onnx_build_pool,
	onnx_build_reduce_mean, onnx_build_softmax, onnx_build_sum;

#endif
