/* Shared by the readers of a workload file: workload.c (document), workload_variant.c
 * (variants), workload_item.c (lists, templates), workload_op.c (one operator), workload_attrs.c
 * (its attributes), workload_given.c (work given outright), workload_params.c (its parameters). */
#ifndef GRAPH_WORKLOAD_INTERNAL_H
#define GRAPH_WORKLOAD_INTERNAL_H

#include "base/doc.h"
#include "graph/expr.h"
#include "graph/internal.h"

struct named {
	const char *name;
	tensor_id id;
};

/* Where an item stands: the tensors and parameters that it can name. */
struct place {
	const struct place *outer; /* looked into after `named`; NULL at the end */
	struct named *named;
	uint32_t n, cap;
	const struct scope *scope;
	const char *prefix; /* of operator names: "" or "encoder.3." */
	tensor_id last;     /* result of the item before; GRAPH_NONE */
	bool top;           /* items are layers */
	bool recompute;     /* everything in it is recomputable */
};

struct tp_copy {
	tensor_id from, to;
};

struct workload {
	struct arena *a;
	const struct graph_options *options;
	struct doc_at root, templates, variants, variant, variant_parameters;
	bool has_templates, has_variant;
	struct builder b;
	struct scope scope;  /* parameters, batch, tp */
	struct place inputs; /* of the model */
	uint64_t batch;
	uint32_t tp;
	uint32_t sp; /* devices that the sequence is sliced over between matrix products: tp or 1 */
	uint32_t depth;  /* of templates in templates */
	bool joins_next; /* the open layer takes the next item too */
	bool sliced;     /* some operator or parameter is */
	uint32_t *cuts;
	uint32_t n_cuts, cap_cuts;
	struct tp_copy *copies;
	uint32_t n_copies, cap_copies;
};

enum shard { SHARD_NONE, SHARD_COLUMN, SHARD_ROW };

/* The attributes of one operator as the file has them. */
struct op_args {
	struct op_attrs attrs;
	uint64_t features, rows, pad_to;
	bool bias, has_axis, has_shape, recompute;
	enum shard shard;
	const char *weight;
	struct given_work given;
};

/* Finds the variant that the options name, if any. ERR_USAGE when there is none of that name. */
bool workload_find_variant(struct workload *w, const char *path, struct err *err);
/* Refuses parameters of the variant that are not in the NULL-terminated list. */
bool workload_check_variant(struct workload *w, const char *const *names, struct err *err);
/* A key of the variant, else of the file. */
bool workload_variant_key(struct workload *w, const char *key, struct doc_at *at);
bool workload_variant_parameter(struct workload *w, const char *name, struct doc_at *at);

/* A whole number, or an expression in a string, that is at least `min`. */
bool workload_number(struct doc_at at, const struct scope *scope, uint64_t min, uint64_t *value,
	struct err *err);

/* A list of 1 to `max` numbers of at least `min`, to be read into `values`. */
struct number_list {
	uint64_t min;
	uint32_t max;
	uint64_t *values; /* the caller's, room for `max` */
	uint32_t n;       /* found */
};
bool workload_numbers(
	struct doc_at at, const struct scope *scope, struct number_list *list, struct err *err);

/* Refuses keys that `kind` does not take and reads the others. */
bool workload_attrs(struct workload *w, const struct doc_at *item, const struct scope *scope,
	const struct op_kind *kind, struct op_args *args, struct err *err);

/* Tensors named by "in", or the default. */
bool workload_inputs(struct workload *w, const struct doc_at *item, const struct place *place,
	const tensor_id **ids, uint32_t *n, struct err *err);

/* An operator of a workload file while it is read. */
struct reading {
	struct workload *w;
	const struct doc_at *item;
	const char *name; /* full */
	const struct op_kind *kind;
	struct op_args args;
	tensor_id inputs[4]; /* the first few; parameters follow what the file names */
	const tensor_id *given;
	uint32_t n;
	bool recompute; /* that of the place */
	struct err *err;
};

/* True when `there`; else the complaint that the operator lacks `key`. */
bool workload_need(struct reading *r, bool there, const char *key);

/* Adds the parameters that the operator's kind brings with it as further inputs. */
bool workload_parameters(struct reading *r);

/* {"parameter": NAME, ...}: a parameter that stands by itself. */
bool workload_parameter(
	struct workload *w, const struct doc_at *item, struct place *place, struct err *err);

/* Work, bytes and shape of given_gemm and vector, with defaults for what is left out. */
bool workload_given(struct reading *r);

void place_add(struct workload *w, struct place *place, const char *name, tensor_id id);

bool workload_op(
	struct workload *w, const struct doc_at *item, struct place *place, struct err *err);
bool workload_items(
	struct workload *w, const struct doc_at *list, struct place *place, struct err *err);

#endif
