/* A net of fully connected layers with |x| behind each tensor, on a group of devices and its
 * replicas: its model for the schemes, the serial result, and what devices have. */
#ifndef TESTS_PLAN_NUMERIC_NET_H
#define TESTS_PLAN_NUMERIC_NET_H

#include "numeric_matrix.h"

enum { NET_MAX_LAYERS = 8 };

/* From tensor to tensor; several layers may read one, and the outputs of several add up. */
struct net_layer {
	uint32_t in, out;
	enum scheme_slice slice;
};

struct net_tensor {
	uint32_t features;
	uint64_t rows;
	struct spread x, z, dx, dz; /* z: before |.| */
	int64_t *want_x, *want_z, *want_dx;
};

struct net {
	struct arena a;
	struct rng rng;
	const struct net_layer *layers;
	uint32_t n_layers, n_tensors, n_procs;
	uint64_t rows; /* of all samples, filled up so that groups have as many */
	struct net_tensor tensors[NET_MAX_LAYERS + 1];
	struct spread w[NET_MAX_LAYERS], y[NET_MAX_LAYERS], dw[NET_MAX_LAYERS];
	int64_t *want_w[NET_MAX_LAYERS], *want_dw[NET_MAX_LAYERS];
	struct scheme_layer described[NET_MAX_LAYERS];
	struct scheme_model model;
	struct scheme_question q;
	const struct scheme *scheme;
	struct player player;
};

struct net_case {
	const char *scheme;
	uint32_t pr, pc, depth;
	uint64_t batch, tokens; /* rows of a sample */
	const struct net_layer *layers;
	uint32_t n_layers;
	bool first; /* nothing trained stands in front */
	bool even;  /* features divide by Pr */
};

/* Describes, schedules and computes serially. */
void net_begin(struct net *n, const struct net_case *c, uint64_t seed);
void net_end(struct net *n); /* all tasks are played */

uint32_t net_coordinate(const struct net *n, uint32_t p, const char *dim);
uint64_t net_inputs(const struct net *n, uint32_t layer);
uint64_t net_outputs(const struct net *n, uint32_t layer);
/* Rows of a device's group, all columns of a tensor; all weights of a layer. */
struct block net_group(const struct net *n, uint32_t p, uint32_t tensor);
struct block net_weights(const struct net *n, uint32_t layer);
struct product net_product(struct net *n, uint32_t layer);

bool net_last_writer(const struct net *n, uint32_t layer); /* of those that write its output */
/* x from the outputs of all layers that write a tensor, wherever all of these are held. */
void net_activate(struct net *n, uint32_t tensor);
/* dz from dx, or from what is given for the last tensor, wherever z is held. */
void net_derive(struct net *n, uint32_t tensor);

/* Gradients of weights over devices that have the same ones; those of `has` are right. */
void net_reduce_gradient(struct net *n, uint32_t layer, uint32_t n_ranks, const struct blocks *has);
/* x, or dx, of a tensor. */
void net_check(const struct net *n, uint32_t tensor, const struct blocks *has, bool back);
void net_settle(struct net *n, struct spread *s);

/* Two readers and two writers of a pair, a layer that is not split, a pair, and one before the
 * loss. */
struct net_case net_case_of(const char *scheme, uint32_t pr, uint32_t pc);

#endif
