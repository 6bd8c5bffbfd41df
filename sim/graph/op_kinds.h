/* The operators: one sorted table, one row per kind. Adding an operator is adding a row to
 * op_kinds.c (and a shape or work function to op_shape.c or op_work.c when none of those there
 * fits).
 *
 * Lane cycles are those of WHAM's vector estimator (arXiv 2404.14632, released code): relu 1/1
 * (forward / backward), tanh 27/2, sigmoid, hard_sigmoid and silu 12/2, hard_swish 14/15, add,
 * sub and mul 1/1 per gradient, div 10/10 and 11, pow and sqrt 15/16, erf 15/15, norms 1/1,
 * dropout 2/1, softmax 10/2, log-softmax 13/2, negative log-likelihood 2/2, pooling kh*kw per
 * output and 1 per input, mean 10 per row. Kinds that it lacks are built from its primitives,
 * LUT 1, ADD 1, SUB 1, MUL 1, MAC 1, COMP 1, DIV 10, SQRT 15, EXP = one LUT (its sigmoid is LUT
 * + ADD + DIV = 12), ERF 15 and POW 15:
 *   exp            one LUT; back dy y: MUL                                                          = 1, 1
 *   gelu forward   0.5 x (1 + erf(x / sqrt 2))      MUL + ERF + ADD + MUL + MUL                       = 19
 *   gelu backward  dy (Phi(x) + x phi(x))           MUL + ERF + MAC, MUL + LUT + MUL, MAC, MUL        = 22
 *   gelu_tanh      0.5 x (1 + t), t = tanh(c x (1 + a x^2)): MUL + MAC + MUL + MUL + TANH 27 for t,
 *                  ADD + MUL + MUL                                                                    = 34
 *   gelu_tanh back t again: 31; dt = c (1 + 3 a x^2) (1 - t^2): MAC + MUL + MUL + SUB + MUL;
 *                  dy (0.5 (1 + t) + 0.5 x dt): ADD + MUL + MUL + MAC + MUL                           = 41
 *   log            one LUT; back dy / x: DIV                                                        = 1, 10
 *   lrn forward    x / (k + a sum x^2)^b            size MAC + MAC + POW + DIV                        = size + 26
 *   lrn backward   s again: size MAC + MAC; dy y / s: MUL + DIV; its sum: size MAC; s^-b from y / x: DIV;
 *                  dy s^-b - c x sum: MUL + MUL + MUL + SUB                                    = 2 size + 26
 *   rotary         x cos + rotated x sin: MUL + MAC; back the same by the opposite angle            = 2, 2
 *   masked_softmax softmax and WHAM's masked fill, 10 + 1; back as softmax: a masked output is 0    = 11, 2
 *   reduce_sum     a mean without its division
 *   cross_entropy  log-softmax over the classes, then the negative log-likelihood, once per row
 *   elu            COMP + LUT + SUB + MUL = 4; back COMP + ADD + MUL                                 = 3
 *   softplus       log(1 + exp x): LUT + ADD + LUT = 3; back sigmoid and MUL                        = 13
 *   reciprocal     DIV = 10; back dy y y: MUL + MUL                                                 = 2
 *   prelu          COMP + MUL; back likewise for each gradient                                      = 2, 2
 *   abs, compare, maximum, round, where, reduce_max, arg_max   COMP = 1; cum_sum ADD = 1
 *   resize         one MAC for each neighbour of each output element, and again backward
 *   gru_cell forward    2 sigmoid, tanh, r n: MUL, (1 - z) n + z h: SUB + MUL + MAC                  = 55 for each h
 *   gru_cell backward   3 derivatives of 2; dz and dn: SUB + MUL; dr: MUL + MUL; r dn: MUL; z dh: MUL + ADD
 *                                                                              = 15 for each h, 5 for each gate
 *   lstm_cell forward   3 sigmoid, 2 tanh, c = f c + i g: MUL + MAC, h = o tanh c: MUL      = 93 for each h
 *   lstm_cell backward  tanh c again 27; do, di, dg, df, dc: 5 MUL; dc from dh: MUL + tanh' 2 + ADD; 3 sigmoid' and
 *                       tanh': 4 x 2                                          = 44 for each h, 11 for each gate
 *   top_k          COMP for each input and rank                                                       = k
 *   expert_dispatch, expert_combine   a copy of each routed row 1, MAC with its weight 1
 *   embedding_bag  ADD of each row that is looked up 1; only these rows are read
 * WHAM's hard_tanh is 27/2, sin and cos 13/2, addcmul (here mul_add) 1/1 per gradient, masked
 * fill 1/1.
 *
 * Passes over memory. What normalises a row needs the whole row before it can write its first
 * element. Where a row does not fit on the chip it is read once more: softmax, norms over the
 * last axis and cross-entropy have rows along their axis; batch norm is one row, because its
 * statistics are complete only with the last image (struct work: row_bytes, again_bytes).
 * Backward likewise, with the gradient that came in. An embedding costs no cycles, as in WHAM,
 * but bytes: forward the labels, the row of each and the output; backward the labels, the
 * gradient that came in, and each row of the table's gradient once in and once out (sparse: rows
 * that no label names are left alone). What a row means in numbers is in tests/graph/kernels.c,
 * which a new row needs too: a test holds its backward pass, with no more than what it saves,
 * against finite differences (tests/graph/test_autodiff.c). Elements of a sum or bias gradient
 * are free: WHAM's Sum is a Nop. */
#ifndef GRAPH_OP_KINDS_H
#define GRAPH_OP_KINDS_H

#include "graph/graph.h"

/* WHAM's classes (released code, op_to_compute); fusion goes by them. */
enum op_class {
	CLASS_COMPLEX, /* convolution, matrix product */
	CLASS_NORM,
	CLASS_ACTIVATION,
	CLASS_INJECTIVE, /* element by element: add, mul, div, pow, sqrt */
	CLASS_REDUCTION,
	CLASS_POOLING,
	CLASS_DROPOUT,
	CLASS_SOFTMAX,
	CLASS_LOSS,
	CLASS_COLLECTIVE,
	CLASS_TRANSFORM, /* moves or views data; free */
	CLASS_GIVEN,     /* work given outright; never fused */
};

/* What the backward pass consists of. */
enum backward_rule {
	BACKWARD_VIEW, /* free: the gradient of the output is, or holds, that of the input */
	BACKWARD_GEMM, /* dX (m, k, n) and dW (k, n, m); also convolution and product of activations */
	BACKWARD_VECTOR,     /* one vector operator, gradients of parameters included */
	BACKWARD_COLLECTIVE, /* all-reduce of dX; all-gather and reduce-scatter are each other's */
	BACKWARD_LOOKUP, /* dW only: rows of the gradient that came in are added to those of the table's */
};

/* Tensors that the backward pass reads, besides parameters and the gradient of the output. */
enum op_saves {
	SAVES_INPUT = 1 << 0, /* the first input */
	SAVES_OTHERS =
		1 << 1, /* of the first two, each when the other needs a gradient: products */
	SAVES_OUTPUT = 1 << 2, /* the first output */
	SAVES_EXTRA = 1 << 3,  /* the second output, made for this purpose: a mask */
	SAVES_REST = 1 << 4,   /* the inputs after the first: divisor, gain, labels, mask, tables */
	/* Not saved: this input's gradient is that of the output itself, when they have the same
	 * size. */
	SHARES_FIRST = 1 << 5,
	SHARES_SECOND = 1 << 6,
	SHARES_THIRD = 1 << 7,
	/* Not saved: the gradient of the table stays a list of rows (PyTorch's
	 * EmbeddingBag(sparse=True), as DLRM uses it), so that an update visits only these, each
	 * lookup's once, where nothing else uses the table. */
	UPDATE_SPARSE = 1 << 8,
};

/* Parameters that an operator of a workload file brings with it, named NAME.weight, NAME.bias. */
enum param_rule {
	PARAMS_NONE,
	PARAMS_GEMM,      /* weight [in, features], bias [features] */
	PARAMS_CONV,      /* weight [features, in/group, kh, kw], bias [features] */
	PARAMS_CHANNEL,   /* weight and bias [dims[1]] */
	PARAMS_LAST,      /* weight and bias [last dimension] */
	PARAMS_LAST_GAIN, /* weight [last dimension] */
	PARAMS_TABLE,     /* weight [rows, features] */
	PARAMS_RECURRENT, /* weight [last/gates, last], bias [last] */
};

/* Attributes that an operator of a workload file may carry (graph/workload.h). */
enum op_key {
	KEY_AXIS = 1 << 0,
	KEY_BIAS = 1 << 1,
	KEY_FEATURES = 1 << 2,
	KEY_GROUP = 1 << 3,
	KEY_KERNEL = 1 << 4, /* kernel, stride, pad, dilation */
	KEY_PAD_TO = 1 << 5,
	KEY_PARTS = 1 << 6,
	KEY_PERM = 1 << 7,
	KEY_RANGE = 1 << 8, /* begin, end */
	KEY_ROWS = 1 << 9,
	KEY_SHAPE = 1 << 10,
	KEY_SHARD = 1 << 11,
	KEY_SIZE = 1 << 12,
	KEY_TRANSPOSE = 1 << 13,
	KEY_WEIGHT = 1 << 14,
	KEY_AXES = 1 << 15, /* axes (how many), keep_dims */
	KEY_K = 1 << 16,
	KEY_EXPERTS = 1 << 17,
	KEY_GATES = 1 << 18,
	KEY_GIVEN_GEMM = 1 << 19, /* batch, m, n, k, a_bytes, b_bytes, c_bytes, bytes */
	KEY_GIVEN_VECTOR =
		1 << 20, /* elements, cycles, backward_cycles, read_bytes, write_bytes, bytes */
};

enum { OP_MAX_OUTPUTS = 16 };

/* An operator with its tensors looked up. */
struct op_view {
	const struct op_kind *kind;
	const struct op_attrs *attrs;
	const struct tensor *const *in;
	uint32_t n_in;
	const struct tensor *const *out;
	uint32_t n_out;
};

/* Output shapes. The rest of each output is filled by the builder. */
struct op_shapes {
	uint32_t n_out;
	struct tensor
		out[OP_MAX_OUTPUTS]; /* n_dims, dims; elem_bytes 0 means that of activations */
};

struct pass_list {
	struct arena *a;
	struct vector_work *passes;
	uint32_t n, cap;
	uint64_t row_bytes, again_bytes; /* as in struct work: the longest row; summed */
};

struct op_kind {
	const char *name;
	enum op_class class;
	enum core core; /* of the forward pass */
	uint32_t min_inputs, max_inputs;
	uint32_t forward_cycles; /* lane cycles for each element */
	uint32_t backward_cycles
		[2];    /* likewise, for the gradient of the first and of the second input */
	uint32_t saves; /* enum op_saves */
	enum backward_rule backward;
	enum param_rule params;
	uint32_t keys; /* enum op_key */
	/* Fills `out` or says why the inputs (view->out is not set) do not fit. */
	bool (*shape)(const struct op_view *view, struct op_shapes *out, struct err *err);
	/* Fills the tensor-core and collective part of `work`; NULL when there is none. Of a
	 * vector operator: the bytes, where they are not those of all inputs and outputs. */
	void (*work)(const struct op_view *view, struct work *work);
	/* Appends the vector passes; NULL when there are none. `grads`: bit i is set when input
	 * i needs a gradient. */
	void (*passes)(const struct op_view *view, struct pass_list *list);
	void (*backward_passes)(const struct op_view *view, uint32_t grads, struct pass_list *list);
};

/* The row called `name`, or NULL. */
const struct op_kind *op_kind_find(const char *name);

/* All rows, sorted by name. */
const struct op_kind *op_kinds(uint32_t *n);

/* NULL-terminated names of all rows, for text_nearest(). */
const char *const *op_kind_names(struct arena *a, uint32_t *n);

#endif
