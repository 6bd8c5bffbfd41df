/* Model, batch and domain parallelism of one training iteration on a grid of Pr x Pc processes,
 * in closed form: Eq. 3 to 9 of Gholami, Azad, Jin, Keutzer, Buluc, "Integrated Model, Batch and
 * Domain Parallelism in Training Neural Networks" (SPAA 2018, arXiv 1712.04432v3) as printed,
 * and corrected. */
#ifndef ANALYTIC_INTEGRATED_H
#define ANALYTIC_INTEGRATED_H

#include <stdbool.h>
#include <stdint.h>

#include "analytic/analytic.h"
#include "base/arena.h"
#include "base/err.h"
#include "graph/graph.h"

/* A layer with weights; counts are per sample. */
struct integrated_layer {
	const char *name;
	bool conv;        /* false: fully connected */
	uint64_t weights; /* without biases; of all groups together */
	uint64_t d_in,
		d_out; /* activations that it reads and writes, before any pooling that follows */
	/* Height, width and channels; a fully connected layer knows those of the image that was
	 * flattened for it, or has zeros. */
	uint32_t in_h, in_w, in_c, out_h, out_w, out_c;
	uint32_t kernel_h, kernel_w;
};

/* Convolutions and products with a trained matrix, in order; names are the graph's. Returns how
 * many. */
uint32_t integrated_layers(
	struct arena *a, const struct graph *forward, struct integrated_layer **out);

/* What the Pr dimension of the grid does to a layer. */
enum integrated_way {
	INTEGRATED_BATCH,  /* further samples: all P processes hold all weights */
	INTEGRATED_MODEL,  /* parts of the outputs, so parts of the weights */
	INTEGRATED_DOMAIN, /* strips of the image's height; convolutions only */
};
enum { N_INTEGRATED_WAYS = 3 };
const char *integrated_way_name(enum integrated_way way); /* "batch" */

struct integrated_grid {
	uint32_t pr, pc; /* P = pr x pc */
};

struct integrated_case {
	const struct integrated_layer *layers;
	uint32_t n_layers;
	uint64_t batch;              /* samples of an iteration over all processes */
	struct integrated_grid grid; /* of all layers, */
	struct integrated_grid
		conv;              /* unless convolutions have their own, with the same P: pr > 0 */
	struct alpha_beta machine; /* s, s per byte */
	uint32_t word_bytes;
};

/* How the equations are read. */
struct integrated_rules {
	const char *name;
	/* Name of the all-reduce that is run, "ar_rab" or "ar_ring" of analytic_collective_s():
	 * its own latency and folding, whole words, and halos with two neighbours through one
	 * port. NULL: as printed, which is Rabenseifner's of a power of two for every count, and
	 * one neighbour. */
	const char *all_reduce;
	enum integrated_way conv, fc;
	/* Calibrated on the paper's figures, which the printed equations do not give; zero
	 * elsewhere. An all-gather of so many words a sample in front of the fully connected
	 * layers; the halo of all convolutions in place of Eq. 9's. */
	uint32_t extra_gather_words, halo_words, halo_messages;
	/* The gradient that a layer hands back has the size of its input, and the first layer
	 * hands back none; false: of its output, as Eq. 3, 8 and 9 print. */
	bool gradient_of_input;
	/* Width and channels of the backward halo are those of the next layer's input (Eq. 9);
	 * false: of the layer's output (Eq. 7). */
	bool halo_of_next;
};

/* Sorted by name, NULL at the end: "eq7" (halos, the rest batch), "eq8-all", "eq8-fc"
 * (convolutions batch), "eq8-din-all" and "eq8-din-fc" (gradient_of_input), "eq9" (convolutions
 * domain, backward halo of Eq. 7), "eq9-printed" (of Eq. 9), "exact-all", "exact-domain",
 * "exact-fc", and the calibrated "fit-fig6", "fit-fig7". Eq. 3 is eq8-all on P x 1, Eq. 4 on 1 x
 * P. */
extern const struct integrated_rules *const integrated_variants[];
const struct integrated_rules *integrated_variant(
	const char *name, struct err *err); /* or NULL, ERR_USAGE with the nearest */

/* Seconds of an iteration that are communication. */
struct integrated_terms {
	double all_gather;    /* Y in the forward pass, over Pr */
	double dx_all_reduce; /* gradient of the input, over Pr */
	double dw_all_reduce; /* gradient of the weights, over Pc, or P where they are not split */
	double halo_forward, halo_backward;
	double redistribute; /* between layers of different ways */
};
double integrated_terms_s(const struct integrated_terms *t); /* their sum */

void integrated_add(struct integrated_terms *sum, const struct integrated_terms *t);

/* One layer in one way; INFINITY in the halo of a fully connected domain layer, which Eq. 7 does
 * not cover. */
struct integrated_terms integrated_layer_terms(const struct integrated_case *c,
	const struct integrated_rules *rules, uint32_t layer, enum integrated_way way);

/* All layers in the ways of the rules. As in the equations nothing is redistributed. */
struct integrated_terms integrated_comm(
	const struct integrated_case *c, const struct integrated_rules *rules);

/* Eq. 5: above so many samples batch parallelism moves fewer words than model parallelism: 2 |W|
 * / (3 d_out). */
double integrated_crossover_batch(const struct integrated_layer *layer);

/* What `layer` costs because the layer before it went another way, forward and backward, over
 * its d_in. Into model from another way: Eq. 6 over Pr for the samples of one of the Pc groups;
 * backward each process has its part already, since dX was all-reduced. Out of model: the same
 * all-gather, backward. Between batch and domain: a pairwise all-to-all over Pr each way. */
double integrated_redistribute_s(const struct integrated_case *c, uint32_t layer,
	enum integrated_way before, enum integrated_way way);

/* One way for each layer, n_layers of them, with what redistribution between them costs.
 * Calibrated terms of the rules are left out. */
struct integrated_terms integrated_ways_comm(const struct integrated_case *c,
	const struct integrated_rules *rules, const enum integrated_way *ways);

/* Fills ways[n_layers] so that integrated_ways_comm() is least, by dynamic programming over
 * (layer, way); among equals the first of the enum. At least one layer. Ways that
 * integrated_check_layer() refuses are not taken; false when a layer has no other. */
bool integrated_choose(struct arena *a, const struct integrated_case *c,
	const struct integrated_rules *rules, enum integrated_way *ways,
	struct integrated_terms *out);

/* N / batch, or rounded up to whole iterations. */
double integrated_iterations(uint64_t samples, uint64_t batch, bool whole);

/* Seconds of an iteration. `overlap`, the rule behind Fig. 8: the gradient's all-reduce hides
 * behind all of the computation, nothing else hides: compute + model + max(0, batch - compute). */
double integrated_iteration_s(const struct integrated_terms *t, double compute, bool overlap);

/* Bytes of one process: `copies` of its weights (2: with gradients, 3: with momentum) and both
 * activations of each layer. */
double integrated_memory_bytes(
	const struct integrated_case *c, const struct integrated_rules *rules, uint32_t copies);

/* ERR_INPUT with the layer and the rule: Pr above a layer's outputs, a halo higher than the
 * strip that a process has, a fully connected layer in strips. */
bool integrated_check_layer(
	const struct integrated_case *c, uint32_t layer, enum integrated_way way, struct err *err);
/* Also Pr x Pc != `processes`, fewer samples than Pc, zero latency, bandwidth or word, and
 * activations of 1e18 bytes or more. */
bool integrated_check(const struct integrated_case *c, const struct integrated_rules *rules,
	uint32_t processes, struct err *err);

#endif
