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
	const double *reals;        /* likewise, of a real one */
	const char *elsewhere;      /* the other file that holds the content, or NULL */
	struct onnx_value *same_as; /* a constant that this one is another name of, or NULL */
	struct onnx_value
		*turned; /* a constant matrix that this one is the transpose of, or NULL */
};

/* The names that a graph or a branch of an If can see: its own, then those around it. */
struct onnx_scope {
	const struct onnx_scope *around; /* NULL for the model's graph */
	const Onnx__GraphProto *graph;
	const char *prefix;        /* of the names of its nodes: "" or "IF/" */
	struct onnx_value *values; /* sorted by name */
	size_t n_values;
};

/* What is known of a tensor of the builder besides its shape. */
struct onnx_note {
	bool real;    /* of real numbers */
	bool weight;  /* read where an operator has its weights */
	bool trained; /* a constant that is trained; found last */
	bool has_scalar;
	double scalar; /* the one element of a constant */
};

struct onnx_reader {
	struct arena *a;       /* of the caller: what the graph keeps */
	struct arena *scratch; /* gone when the file has been read */
	const char *path;
	const Onnx__GraphProto *graph;  /* of the model */
	const struct onnx_scope *scope; /* what is being read */
	const struct graph_options *options;
	int64_t opset;
	uint64_t file_batch,
		batch;   /* first dimension of the first input: in the file, and as asked for */
	uint64_t tokens; /* sequence length, 0 without one */
	struct builder builder;  /* the file as it is; patterns are found when it is complete */
	struct onnx_note *notes; /* for each of its tensors, as far as there are some */
	uint32_t n_notes, cap_notes;
	const uint32_t *n_uses; /* for each of its tensors, once all of them are there */
	uint64_t n_kept;        /* numbers of content that folding has made */
	bool has_tensor_core_op;
	struct graph_warning *warnings; /* in `a` */
	uint32_t n_warnings, cap_warnings;
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
	bool stays; /* in the pipeline layer of the operator before, even on a tensor core */
};

/* onnx_wire.c: the model of a file, in `a`, checked so that no field lies outside the data, no
 * text is other than UTF-8 and no nesting is too deep for recursion. NULL with ERR_INPUT
 * otherwise. */
const Onnx__ModelProto *onnx_unpack(
	struct arena *a, const char *path, struct bytes data, struct err *err);

/* onnx.c: reads the nodes of the scope in order. */
bool onnx_read_nodes(struct onnx_reader *r, struct err *err);

/* onnx_check.c */

/* ERR_INPUT with all operators of a graph that are not in the table, how often and where first;
 * a warning for each of them with graph_options.lenient. */
bool onnx_check_operators(struct onnx_reader *r, const Onnx__GraphProto *g, struct err *err);
/* A name for each node of the scope that no other has: its own, or type and number. */
const char **onnx_name_nodes(struct onnx_reader *r);
/* The row of a node: that of its operator, or with graph_options.lenient that of an unknown one. */
const struct onnx_op *onnx_op_of(struct onnx_reader *r, const Onnx__NodeProto *node);

/* onnx_values.c */

/* Fills scope->values: initialisers as constants, everything else unmade. */
bool onnx_collect_values(struct onnx_reader *r, struct onnx_scope *scope, struct err *err);
/* In the scope or around it; NULL when there is none. */
struct onnx_value *onnx_find_value(const struct onnx_reader *r, const char *name);
/* Sets type, shape and, where it is small and of numbers, content. */
bool onnx_set_constant(
	struct onnx_reader *r, struct onnx_value *v, const Onnx__TensorProto *t, struct err *err);
/* A constant of `n` whole numbers; of no dimension when `scalar`. */
void onnx_set_ints(struct onnx_value *v, const int64_t *ints, size_t n, bool scalar);
/* 0 for an empty one; UINT64_MAX when it does not fit. */
uint64_t onnx_elements(const struct onnx_value *v);

/* onnx_content.c: numbers of constants. */

bool onnx_is_real(int64_t type); /* enum Onnx__TensorProto__DataType */
bool onnx_is_whole(int64_t type);
bool onnx_is_known(const struct onnx_value *v);
/* Whether content of `n` numbers is made: of no long list, and of no file that makes very many. */
bool onnx_keeps(struct onnx_reader *r, uint64_t n);
/* Element i of a known constant. */
double onnx_number(const struct onnx_value *v, size_t i);
/* Numbers of a real tensor in `a`, or NULL where the file does not hold as many as `n`. */
const double *onnx_reals(struct arena *a, const Onnx__TensorProto *t, size_t n);
/* The dimensions of `in` broadcast together into `out` as NumPy does. */
bool onnx_broadcast(const struct onnx_node *node, struct onnx_value *out, struct err *err);
/* Which element of `in` is broadcast to element i of `out`. */
size_t onnx_source(const struct onnx_value *in, const struct onnx_value *out, size_t i);
/* Content of `out` (dims set) from that of `in`: element (i0, i1, ...) is number first + sum of
 * steps[d] * i_d. Without content where `in` has none or `out` is too long. */
void onnx_pick(struct onnx_reader *r, struct onnx_value *out, const struct onnx_value *in,
	int64_t first, const int64_t steps[GRAPH_MAX_DIMS]);
/* Steps of row order. */
void onnx_row_steps(const struct onnx_value *v, int64_t steps[GRAPH_MAX_DIMS]);

/* onnx_inputs.c: the inputs of the model, with batch and open dimensions settled. */
bool onnx_add_inputs(struct onnx_reader *r, struct err *err);
/* The names of the scalar whole-number inputs, for a message: " 'sr'", or NULL. */
const char *onnx_scalar_inputs(const struct onnx_reader *r);
/* The size of a dimension as the options give it: its own value, --dim NAME, or 0. */
uint64_t onnx_dim_value(const struct onnx_reader *r, const Onnx__TensorShapeProto__Dimension *dim);

/* onnx_attrs.c */

/* "node 'x' (Conv): " and the message; ERR_INPUT; returns false. */
bool onnx_fail(const struct onnx_node *node, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
const Onnx__AttributeProto *onnx_attr(const Onnx__NodeProto *node, const char *name);
int64_t onnx_attr_int(const struct onnx_node *node, const char *name, int64_t otherwise);
/* The text of a string attribute, "" where it is absent or longer than 255 bytes. */
const char *onnx_attr_text(struct onnx_reader *r, const struct onnx_node *node, const char *name);
/* Whole numbers from the attribute `name`, or from input number `input` in newer operator sets.
 * `ints` is NULL when there is neither. An input whose content is not known is an error. */
bool onnx_int_list(const struct onnx_node *node, const char *name, size_t input,
	struct onnx_ints *out, struct err *err);
/* An axis of a value with `n_dims` dimensions; negative ones count from the end. */
bool onnx_axis(const struct onnx_node *node, int64_t axis, uint32_t n_dims, uint32_t *out,
	struct err *err);

/* onnx_window.c: kernel, stride, dilation and padding of a window over the last one or two
 * dimensions of `in`; one is the second of two. auto_pad and ceil_mode become explicit padding.
 * `weight` gives the kernel of a convolution; it is NULL for pooling. */
bool onnx_window(const struct onnx_node *node, const struct onnx_value *in,
	const struct onnx_value *weight, struct op_attrs *attrs, struct err *err);
/* A window of a transposed convolution: the padding is that of its output. */
bool onnx_window_transposed(const struct onnx_node *node, const struct onnx_value *in,
	const struct onnx_value *weight, struct op_attrs *attrs, struct err *err);

/* onnx_build.c */

/* Appends one operator to the graph and makes its outputs. */
bool onnx_append(struct onnx_reader *r, const struct onnx_node *node, const struct onnx_step *step,
	struct err *err);
/* Makes `out` another name of `in`. */
void onnx_alias(struct onnx_value *out, struct onnx_value *in);
/* The tensor of a constant or made value; GRAPH_NONE without one. */
tensor_id onnx_tensor(const struct onnx_value *v);
struct onnx_note *onnx_note_of(struct onnx_reader *r, tensor_id id);
/* A value of the reader's own, with the dimensions of a step's result to come. */
struct onnx_value *onnx_new_value(struct onnx_reader *r);
/* Appends a `kind` of one input whose result has the dimensions `to`; `part` as in a step. The
 * result replaces *v. */
bool onnx_reshaped(struct onnx_reader *r, const struct onnx_node *node, const char *part,
	struct onnx_value **v, const struct onnx_ints *to, struct err *err);

/* onnx_simplify.c: the graph of the reader's builder as it goes out: without what no output of the
 * model needs, with patterns of several nodes as one operator, and with the class of each
 * constant. */
bool onnx_simplify(struct onnx_reader *r, struct graph *out, struct err *err);

/* onnx_trained.c: sets note->trained. */
void onnx_find_trained(struct onnx_reader *r);

/* onnx_match.c */

/* The operators of a pattern; the last of them stays in its place. */
struct onnx_match {
	const char *kind;
	tensor_id inputs[3];
	uint32_t n_inputs;
	struct op_attrs attrs;
	op_id inner[24]; /* the others */
	uint32_t n_inner;
};

/* Whether a norm or an activation that exporters write in pieces ends with operator `last`. */
bool onnx_match(const struct onnx_reader *r, op_id last, struct onnx_match *out);

/* onnx_ops.c: NULL for an unknown operator; all of them, sorted by name. */
const struct onnx_op *onnx_find_op(const char *name);
const struct onnx_op *onnx_ops(size_t *n);

/* onnx_fold.c and onnx_fold_math.c */
onnx_fold onnx_fold_cast, onnx_fold_concat, onnx_fold_constant, onnx_fold_filled, onnx_fold_gather,
	onnx_fold_identity, onnx_fold_math, onnx_fold_range, onnx_fold_reduce, onnx_fold_same,
	onnx_fold_shape, onnx_fold_size, onnx_fold_where;

/* onnx_move.c, onnx_slice.c, onnx_math.c, onnx_reduce.c, onnx_place.c, onnx_einsum.c,
 * onnx_recurrent.c, onnx_if.c */
onnx_build onnx_build_concat, onnx_build_depth, onnx_build_expand, onnx_build_flatten,
	onnx_build_gather, onnx_build_gather_nd, onnx_build_if, onnx_build_in_place,
	onnx_build_index_shape, onnx_build_one_hot, onnx_build_pad, onnx_build_reshape,
	onnx_build_resize, onnx_build_slice, onnx_build_split, onnx_build_squeeze, onnx_build_tile,
	onnx_build_top_k, onnx_build_transpose, onnx_build_unknown, onnx_build_unsqueeze;
onnx_build onnx_build_all, onnx_build_conv, onnx_build_conv_transpose, onnx_build_einsum,
	onnx_build_first, onnx_build_gelu, onnx_build_gemm, onnx_build_global_max, onnx_build_gru,
	onnx_build_layer_norm, onnx_build_lrn, onnx_build_lstm, onnx_build_matmul, onnx_build_norm,
	onnx_build_pool, onnx_build_reduce, onnx_build_rnn, onnx_build_softmax, onnx_build_sum;

#endif
