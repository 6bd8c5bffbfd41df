/* Shared by the readers of a workload file: workload.c (document), workload_item.c (lists, templates),
 * workload_op.c (one operator), workload_attrs.c (its attributes). */
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
};

struct tp_copy {
	tensor_id from, to;
};

struct workload {
	struct arena *a;
	const struct graph_options *options;
	struct doc_at root, templates;
	bool has_templates;
	struct builder b;
	struct scope scope;  /* parameters, batch, tp */
	struct place inputs; /* of the model */
	uint64_t batch;
	uint32_t tp;
	uint32_t sp; /* devices that the sequence is sliced over between matrix products: tp or 1 */
	uint32_t depth;  /* of templates in templates */
	bool joins_next; /* the open layer takes the next item too */
	bool sliced;     /* some operator carries `shard` */
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
};

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

void place_add(struct workload *w, struct place *place, const char *name, tensor_id id);

bool workload_op(
	struct workload *w, const struct doc_at *item, struct place *place, struct err *err);
bool workload_items(
	struct workload *w, const struct doc_at *list, struct place *place, struct err *err);

#endif
