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
#include "plan/grid.h"

struct integrated_case {
	struct grid_question q;
	struct alpha_beta machine; /* s, s per byte */
};

/* How the equations are read. */
struct integrated_rules {
	const char *name;
	/* Name of the all-reduce that is run, "ar_rab" or "ar_ring" of analytic_collective_s(): the
	 * schedule of plan/grid.h, with its own latency and folding, whole samples and words,
	 * halos with two neighbours at once through one port, and what has to move between layers
	 * of different ways. NULL: as printed, which is Rabenseifner's of a power of two for every
	 * count, one neighbour, and nothing moved in between. */
	const char *all_reduce;
	enum grid_way conv, fc;
	/* Calibrated on the paper's figures, which the printed equations do not give; zero
	 * elsewhere. An all-gather of so many words a sample in front of the fully connected
	 * layers; the halo of all convolutions in place of Eq. 9's. */
	uint32_t extra_gather_words, halo_words, halo_messages;
	/* The gradient that a layer hands back has the size of its input, and `first` layers
	 * hand back none; false: of its output, as Eq. 3, 8 and 9 print. */
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

/* One layer in one way; infinite in the halo of a fully connected domain layer, which Eq. 7 does
 * not cover. */
struct integrated_terms integrated_layer_terms(const struct integrated_case *c,
	const struct integrated_rules *rules, uint32_t layer, enum grid_way way);

/* All layers in the ways of the rules. */
struct integrated_terms integrated_comm(
	const struct integrated_case *c, const struct integrated_rules *rules);

/* Eq. 5: above so many samples batch parallelism moves fewer words than model parallelism: 2 |W|
 * / (3 d_out). */
double integrated_crossover_batch(const struct grid_layer *layer);

/* What `layer` costs because the layer before it went another way, forward and (but for `first`
 * layers) backward, over its d_in: Eq. 6 for the gathers of grid_moves(), a pairwise all-to-all for
 * its exchanges. */
double integrated_redistribute_s(const struct integrated_case *c,
	const struct integrated_rules *rules, uint32_t layer, enum grid_way before,
	enum grid_way way);

/* One layer in its way of ways[n_layers], and what moves in front of it. */
struct integrated_terms integrated_ways_layer(const struct integrated_case *c,
	const struct integrated_rules *rules, const enum grid_way *ways, uint32_t layer);

/* One way for each layer, n_layers of them, with what redistribution between them costs.
 * Calibrated terms of the rules are left out. */
struct integrated_terms integrated_ways_comm(const struct integrated_case *c,
	const struct integrated_rules *rules, const enum grid_way *ways);

/* Fills ways[n_layers] so that communication and computation together, integrated_ways_comm() and
 * the seconds compute_s[layer x N_GRID_WAYS + way], are least, one thing after the other, by dynamic
 * programming over (layer, way); among equals the first of the enum. NULL: communication alone. At
 * least one layer. Ways that grid_check_layer() refuses or that take infinitely long are not taken;
 * false when a layer has no other. `out` is the communication. */
bool integrated_choose(struct arena *a, const struct integrated_case *c,
	const struct integrated_rules *rules, const double *compute_s, enum grid_way *ways,
	struct integrated_terms *out);

/* N / batch, or rounded up to whole iterations. */
double integrated_iterations(uint64_t samples, uint64_t batch, bool whole);

/* Seconds of an iteration. `overlap`, the rule behind Fig. 8: the gradient's all-reduce hides
 * behind all of the computation, nothing else hides: compute + model + max(0, batch - compute). */
double integrated_iteration_s(const struct integrated_terms *t, double compute, bool overlap);

/* The ways of the rules: ways[n_layers]. */
void integrated_ways(
	const struct integrated_case *c, const struct integrated_rules *rules, enum grid_way *ways);

/* grid_check() and grid_check_layer() of all layers, and a latency, a bandwidth and a word above
 * zero. */
bool integrated_check(const struct integrated_case *c, const struct integrated_rules *rules,
	uint32_t processes, struct err *err);

#endif
