/* What is computed: operators, tensors, shapes.
 *
 * A forward graph comes from a workload file or an ONNX file, for one micro-batch on one device
 * of a tensor-parallel group. graph_fuse() merges vector operators into their producers,
 * graph_train() adds the backward pass and the parameter updates. All arrays live in the
 * caller's arena; ids are indices. Operators stand in topological order: every predecessor of an
 * operator has a smaller id. */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"

typedef uint32_t op_id;
typedef uint32_t tensor_id;
#define GRAPH_NONE UINT32_MAX

enum { GRAPH_MAX_DIMS = 8 };

enum tensor_class {
	TENSOR_INPUT,      /* fed from outside: samples, token ids, masks */
	TENSOR_PARAM,      /* trained */
	TENSOR_CONST,      /* known, not trained: shapes, running statistics, frozen weights */
	TENSOR_ACTIVATION, /* made by an operator */
};

struct tensor {
	const char *name;
	enum tensor_class class;
	uint32_t n_dims;
	uint64_t dims[GRAPH_MAX_DIMS];
	uint32_t elem_bytes;
	op_id producer; /* GRAPH_NONE unless an activation */
};

/* Which hardware an operator holds while it runs. */
enum core {
	CORE_NONE,  /* costs nothing: reshape, view, parameter node */
	CORE_TC,    /* one tensor core */
	CORE_VC,    /* one vector core */
	CORE_TC_VC, /* a fused operator: one of each, together */
	CORE_LINK,  /* a tensor-parallel collective */
};

/* One pass of a vector core over data. Cycles by WHAM's vector estimator (arXiv 2404.14632,
 * released code; L = lanes of the cores used):
 *   ELEMENTWISE  ceil(numel / L) * lane_cycles
 *   SOFTMAX      (numel / row) * ceil(row / L) + 10 + ceil(numel / L) * lane_cycles   (lane_cycles 10; log-softmax 13)
 *   REDUCE       (numel / row) * (ceil(row / L) + lane_cycles)                        (lane_cycles 10: mean) */
enum vector_form { VECTOR_ELEMENTWISE, VECTOR_SOFTMAX, VECTOR_REDUCE };

struct vector_work {
	enum vector_form form;
	uint64_t numel; /* elements that the pass visits */
	uint64_t row;   /* elements of one softmax or reduction row; divides numel */
	uint32_t lane_cycles;
};

/* The convolution behind a GEMM, so that its traffic can be counted without materialised im2col.
 * All zero for a plain GEMM. dX and dW carry the convolution of their forward operator. */
struct conv_work {
	uint64_t images, in_h, in_w, in_channels; /* of all groups together */
	uint64_t out_h, out_w, out_channels;
	uint32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
};

/* Collectives over the tensor-parallel group. Sequence parallelism (Korthikanti et al., arXiv
 * 2205.05198) has the second and third in place of each all-reduce, with the same bytes over the
 * links. */
enum link_kind { LINK_ALLREDUCE, LINK_ALLGATHER, LINK_REDUCESCATTER };

/* What an operator asks of the machine. */
struct work {
	enum core core;
	/* Tensor core: `batch` independent GEMMs, each m x k times k x n. batch = groups for a
	 * grouped convolution, batch * heads for attention. batch is 0 when there is no
	 * tensor-core work. */
	uint64_t batch, m, n, k;
	/* Where the GEMM's stationary/streamed operands come from; bytes of each operand over
	 * all batches, each counted once (compulsory traffic): a is m x k, b is k x n, c is m x
	 * n. For a convolution, a is the input image, not the im2col matrix. */
	uint64_t a_bytes, b_bytes, c_bytes;
	struct conv_work conv;
	/* Vector core: passes in order. A fused operator keeps the passes of all its members. */
	const struct vector_work *vector;
	uint32_t n_vector;
	/* Compulsory traffic of the vector passes that the GEMM operands above do not cover
	 * already: for a stand-alone vector operator its inputs and outputs; for a fused one
	 * only what the tail reads from elsewhere (parameters). A bias is counted here too. In a
	 * training graph a fused operator also writes what its backward pass reads from inside
	 * it. */
	uint64_t vector_read_bytes, vector_write_bytes;
	/* The longest row that a norm or a softmax needs whole before it can write, and what is
	 * read a second time when such a row does not fit on the chip: not compulsory, so not in
	 * vector_read_bytes. */
	uint64_t row_bytes, again_bytes;
	/* Collective over the tensor-parallel group: payload by nccl-tests' convention
	 * (all-gather: what comes out, reduce-scatter: what goes in). */
	enum link_kind link;
	uint64_t collective_bytes;
};

enum op_pass {
	PASS_FORWARD,
	PASS_BACKWARD_DATA,   /* dX, and the whole backward of an operator without parameters */
	PASS_BACKWARD_WEIGHT, /* dW */
	PASS_UPDATE,          /* optimiser step of one parameter tensor */
};

enum { N_PASSES = 4 };

struct op_kind; /* one row of the operator table, graph/op_kinds.h */

/* The work of an operator as a workload file gives it outright. Every value is final. */
struct given_work {
	uint64_t batch, m, n, k;            /* given_gemm, as in struct work */
	uint64_t a_bytes, b_bytes, c_bytes; /* likewise */
	uint64_t elements;                  /* vector: one pass over them */
	uint64_t read_bytes, write_bytes;   /* vector */
	uint64_t elem_bytes;                /* of the result */
	uint32_t cycles, backward_cycles;   /* vector: lane cycles for each element */
};

/* Attributes of convolution and pooling, normalisation, and so on. Unused ones are zero. */
struct op_attrs {
	uint32_t kernel[2], stride[2], dilation[2], pad_begin[2], pad_end[2];
	uint32_t group;
	uint32_t
		axis; /* softmax, concat, slice, split, flatten, reduce; layer norm: first normalised axis */
	uint32_t n_axes; /* reduce_mean: axes reduced from `axis` on; 0 means all that follow */
	bool keep_dims;  /* reduce_mean: reduced axes stay as 1 */
	bool transpose_a, transpose_b; /* matmul and gemm: the last two dimensions are swapped */
	uint32_t perm[GRAPH_MAX_DIMS]; /* transpose */
	uint64_t shape[16]; /* reshape: new shape; split: sizes of the parts along `axis` */
	uint32_t n_shape;
	uint64_t begin, end; /* slice along `axis` */
	uint32_t count;      /* top_k: how many; expert_dispatch: experts; recurrent: gates */
	const struct given_work *given; /* given_gemm, vector */
};

struct op {
	const char *
		name; /* unique in the graph: "encoder.3.attention.qkv", "encoder.3.attention.qkv/dX" */
	const struct op_kind *kind;
	enum op_pass pass;
	uint32_t layer; /* unit of pipeline partition, 0 .. n_layers-1, in order */
	bool recomputable; /* attention core: what selective recomputation runs again (Korthikanti et al. 2022) */
	op_id forward; /* backward and update operators: the forward operator that they belong to; a forward one: itself */
	const tensor_id *inputs, *outputs; /* forward operators only */
	uint32_t n_inputs, n_outputs;
	const op_id *preds; /* operators that must have ended, ascending, without duplicates */
	uint32_t n_preds;
	const struct op_attrs *attrs; /* never NULL; may be shared */
	struct work work;
	/* A fused operator: the names of what it absorbed, in order, itself first. NULL otherwise. */
	const char *const *members;
	uint32_t n_members;
	const struct op *parts; /* the members as they were before fusion, n_members of them */
};

/* Something odd in a file that was read all the same. */
struct graph_warning {
	const char *code; /* "unknown_operator" */
	const char *text; /* with the file */
	uint32_t count;   /* of nodes */
};

struct graph {
	const char *name, *source;
	const char *path; /* file it came from */
	struct op *ops;
	uint32_t n_ops;
	struct tensor *tensors;
	uint32_t n_tensors;
	uint32_t n_layers;
	const char **layer_names; /* n_layers */
	const uint32_t
		*cuts; /* layers where a workload file wants a pipeline stage to begin; ascending */
	uint32_t n_cuts;
	uint64_t batch;             /* samples in a micro-batch */
	uint64_t tokens_per_sample; /* sequence length; 0 where samples are not sequences */
	uint32_t tp;                /* devices that the tensors are sliced over */
	uint64_t
		parameters; /* trained elements of the whole model (not sliced), shared tensors once */
	const struct graph_warning *warnings; /* n_warnings */
	uint32_t n_warnings;
};

/* "seq=512": replaces a parameter of the workload file, or a dynamic dimension of an ONNX file. */
struct graph_override {
	const char *name;
	uint64_t value;
};

struct graph_options {
	uint64_t batch; /* micro-batch; 0: the file's own, or 1 */
	uint32_t tp;    /* 0 means 1. ONNX files cannot be sliced: more than 1 is refused */
	/* With tp above 1: norms, dropouts and residuals work on a slice of the sequence. Only
	 * for workload files with "sequence_parallel". */
	bool sequence_parallel;
	uint32_t elem_bytes; /* of activations and parameters: 2 (bf16, fp16) or 4; 0 means 2 */
	const struct graph_override *overrides; /* workload parameters */
	uint32_t n_overrides;
	const char *variant; /* of a workload file: "18.4b"; NULL: the file's own parameters */
	const struct graph_override *dims; /* ONNX dynamic dimensions */
	uint32_t n_dims;
	bool lenient; /* operators of an ONNX file that are not known cost nothing, with a warning */
};

/* Reads a workload file (JSON) or an ONNX file, plain or gzip, told apart by content. ERR_INPUT
 * with file:line:column (JSON) or file and node name (ONNX) and the operator for whatever does
 * not fit; heads, features or experts that `tp` does not divide are ERR_INPUT with the rule. */
bool graph_read(struct arena *a, const char *path, const struct graph_options *options,
	struct graph *out, struct err *err);

/* WHAM's fusion rules to a fixed point (released code, op_fusion):
 * 1. a tensor-core operator with exactly one successor, which is an activation, injective, norm, dropout or
 *    transformation whose other inputs are all parameters or constants, absorbs it; chains grow.
 * 2. an injective operator with exactly one successor that is injective, reduction or dropout, same rule.
 * Nothing is absorbed across layers. A fused operator keeps name, kind and attributes of its
 * first member and has the outputs of its last, then the masks of the others. Works on an
 * unfused forward graph; both graphs stay valid, and share memory. */
void graph_fuse(struct arena *a, const struct graph *in, struct graph *out);

enum optimizer { OPTIMIZER_SGD, OPTIMIZER_MOMENTUM, OPTIMIZER_ADAM };

struct train_options {
	enum optimizer optimizer;
};

/* Forward operators keep their ids; then backward operators in reverse order, then updates. dX
 * has the shape (m, k, n), dW (k, n, m) of its forward GEMM; no dX into inputs of the model;
 * gradients of a tensor with several uses are summed by the consumers' order; one update for
 * each parameter tensor (of the rows looked up where only embedding bags use it). Names: NAME/dX
 * and NAME/dW; NAME/dA and NAME/dB, both of pass dX, for a product of two activations;
 * NAME/dtail for what a fused operator absorbed, which comes before its dX and dW; TENSOR/sum
 * where gradients meet (pass dW when it is a parameter's); TENSOR/update. Views and tp_reduce
 * leave no backward operator, except a CORE_NONE one where several outputs join. An operator
 * whose outputs nobody uses is where a backward pass starts. A gradient that lookups make goes
 * straight into that of the table. A sum's gradients are that of its output: WHAM's cycles for
 * each, no bytes written. */
void graph_train(struct arena *a, const struct graph *in, const struct train_options *options,
	struct graph *out);

/* Ids of the operators with first <= layer < end whose pass bit is set: mask |= 1u <<
 * PASS_FORWARD. Ascending. */
uint32_t graph_select(struct arena *a, const struct graph *g, uint32_t first_layer,
	uint32_t end_layer, uint32_t pass_mask, op_id **ids);

/* Multiply-accumulates of one micro-batch on this device; `pass_mask` as above. */
uint64_t graph_macs(const struct graph *g, uint32_t pass_mask);

uint64_t tensor_elements(const struct tensor *t);
uint64_t tensor_bytes(const struct tensor *t);

/* Bytes that layers [first, end) keep, on this device. Activations: every tensor that the
 * backward pass reads, once, for one micro-batch. Parameters: elements of the slices held here. */
struct graph_memory {
	uint64_t parameter_elements;
	uint64_t activation_bytes;           /* no recomputation */
	uint64_t activation_selective_bytes; /* without the recomputable operators' own tensors */
	uint64_t boundary_bytes;             /* inputs of the layers only: full recomputation */
};
struct graph_memory graph_layer_memory(
	const struct graph *g, uint32_t first_layer, uint32_t end_layer);

/* The same for each layer of the range alone; `out` has room for end_layer - first_layer. */
void graph_each_layer_memory(
	const struct graph *g, uint32_t first_layer, uint32_t end_layer, struct graph_memory *out);

/* A tensor that layers keep for the backward pass, for one micro-batch on this device. */
struct graph_kept {
	tensor_id tensor;
	uint64_t bytes;
	bool selective; /* kept with selective recomputation too */
};

/* The tensors behind activation_bytes of graph_layer_memory(), the largest first, then by id.
 * Returns how many. */
uint32_t graph_kept_tensors(struct arena *a, const struct graph *g, uint32_t first_layer,
	uint32_t end_layer, struct graph_kept **out);

/* Those behind boundary_bytes, sorted likewise; a tensor that two layers read comes twice. */
uint32_t graph_layer_inputs(struct arena *a, const struct graph *g, uint32_t first_layer,
	uint32_t end_layer, struct graph_kept **out);

/* Bytes that flow from layer end-1 to layer end in the forward pass (the gradient back has the
 * same). */
uint64_t graph_boundary_bytes(const struct graph *g, uint32_t end_layer);

/* Names of the variants of a workload file, in the file's order. An ONNX file has none. */
struct graph_variants {
	const char **names;
	uint32_t n, cap;
};
bool graph_read_variants(
	struct arena *a, const char *path, struct graph_variants *out, struct err *err);

/* "seq=512,batch=4" after the colon of "bert-large:seq=512": appends to the list. A variant may
 * come first: "18.4b,seq=1024". */
bool graph_parse_overrides(
	struct arena *a, const char *text, struct graph_options *options, struct err *err);

const char *op_kind_name(const struct op_kind *kind);
const char *op_pass_name(enum op_pass pass); /* "forward", "dX", "dW", "update" */

#endif
