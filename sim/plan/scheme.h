/* Schemes of parallelism beside the integrated grid, as schedules of the same kind: a group of Pr
 * devices shares a model in the scheme's way, and Pc such groups are replicas that share the
 * batch. What moves is in words of one training iteration, in one pass over the samples of the
 * group; nothing overlaps, as in the closed forms of plan/grid.h.
 *
 * The volumes are those of the sources named at each scheme; r = (Pr - 1) / Pr, b samples, s
 * positions, h features, 12 h^2 weights of a transformer layer. "Sent" is what one device sends.
 *
 * Rows say: Pr; forward; backward; gradients, over which devices.
 *
 * context-gather  any. AG K,V. AG K,V; RS dK,dV. AR over Pr Pc.
 * context-ring    any. Pr - 1 hops of K,V. As many of K,V and of dK,dV. AR over Pr Pc.
 *    Liu et al. 2023 (Ring Attention, arXiv 2310.01889): 6 b s h_kv r sent, h_kv = h kv_heads /
 *    heads. The hops of K and V are played as a ring all-gather, those of dK and dV as a ring
 *    reduce-scatter: the same messages. A ring that starts dK and dV at their owner makes one
 *    hop more.
 * cube-3d         q^3. AG A, AG B, RS C. The same for each of dA, dB. AR over Pc.
 *    Agarwal et al. 1995 (IBM J. R&D 39); Bian et al. 2021 (arXiv 2105.14450): a product C = A B
 *    on q x q x q devices sends (q-1)/q^3 (|A|+|B|+|C|); dA = dC B^T and dB = A^T dC are two more,
 *    each of which gathers dC: to keep it for the second would save |C| of them.
 * expert          any. A2A out and back. The same. AR over Pc; of what is no expert over Pr Pc.
 *    Lepikhin et al. 2020 (GShard, arXiv 2006.16668): 2 k t h r sent each way, t tokens of a
 *    device, top-k; balanced load, capacity factor 1. Samples are shared over all devices.
 * fsdp            any. AG W. AG W. RS over Pr, then AR over Pc.
 *    Rajbhandari et al. 2020 (ZeRO stage 3, arXiv 1910.02054); Zhao et al. 2023 (FSDP and HSDP,
 *    arXiv 2304.11277): 3 |W| r sent, 36 h^2 r. Layer by layer; samples over all devices.
 * megatron        any. AR behind row layers. AR of dX of column layers. AR over Pc.
 *    Shoeybi et al. 2019 (arXiv 1909.08053): 4 AR of b s h for a transformer layer, 8 b s h r sent.
 * megatron-sp     any. AG before and RS behind pairs. AG, RS, and AG of inputs again. AR over Pc;
 *                 of what is whole over Pr Pc.
 *    Korthikanti et al. 2022 (arXiv 2205.05198): 8 b s h r sent, and 2 b s h r to gather inputs
 *    again.
 * summa-2d        q^2. AG A, AG B. AG B, RS dA; AG A, RS dB. AR over Pc.
 *    van de Geijn and Watts 1997 (SUMMA); Xu et al. 2021 (Optimus, arXiv 2104.05343): (q-1)/q^2
 *    (|A|+|B|) sent for each of the three products. Panels are gathered, not broadcast one by one.
 * tesseract-2.5d  q^2 d. As summa-2d, of |A| / d. The same. AR over d Pc.
 *    Solomonik and Demmel 2011; Wang et al. 2021 (Tesseract, arXiv 2105.14500), 1 < d <= q.
 * ulysses         any. A2A of q, k, v, out. Of d out, dq, dk, dv. AR over Pr Pc.
 *    Jacobs et al. 2023 (DeepSpeed Ulysses, arXiv 2309.14509): (2 + 2 h_kv/h) b s h r / Pr sent
 *    each way.
 * zero-2          any. Nothing. Nothing. RS over Pr, AR over Pc, and in the end AG W over Pr.
 *    ZeRO stage 2: 2 |W| r sent, 24 h^2 r. Samples over all devices.
 *
 * A layer that nothing trained stands in front of makes no dX. Layers that read the same tensor
 * share what gathers it and what reduces its gradient. */
#ifndef PLAN_SCHEME_H
#define PLAN_SCHEME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "plan/grid.h"
#include "plan/iteration.h"
#include "plan/scheme_model.h"

/* Names of coll/coll.h; NULL: "bruck", "rabenseifner", "halving", "pairwise", which are the
 * grid's. What they send beyond the volumes above where a group is no power of two is part of the
 * schedule. context-ring always has "ring". */
struct scheme_algos {
	const char *all_gather, *all_reduce, *reduce_scatter, *all_to_all;
};

struct scheme_question {
	const struct scheme_model *model;
	uint64_t batch;      /* samples of an iteration over all devices */
	uint32_t pr, pc;     /* devices of a group, groups */
	uint32_t depth;      /* d of tesseract-2.5d; 0: scheme_depth() */
	uint32_t word_bytes; /* of activations, weights and gradients */
	struct scheme_algos algos;
	const struct grid_times *times; /* of scheme_share()'s products, one a layer; NULL: none */
	bool pc_fastest; /* neighbours in rank order are replicas; otherwise one group */
};

/* What one device has of a layer: one in so many parts of each. */
struct scheme_share {
	/* Of the product that it computes, rows being those of the group's samples. */
	uint32_t rows, in, out, banks;
	/* Of what it keeps: weights; their gradients and the optimiser's copies; and of the group's
	 * samples the activations that the layer reads and writes. */
	uint32_t weights, copies, x, y;
};

struct scheme_emitter;

/* One scheme: a row of the table. */
struct scheme {
	const char *name; /* "summa-2d" */
	const char *doc;  /* one line for users */
	/* Why this question has no answer: the model, Pr, or the samples. */
	bool (*check)(const struct scheme_question *q, struct err *err);
	/* Dimensions of a group into g; their product is Pr. */
	void (*dims)(const struct scheme_question *q, struct prog_grid *g);
	/* Tasks of a layer; `finish` (or NULL) those behind the last backward pass. */
	void (*forward)(struct scheme_emitter *e, uint32_t layer);
	void (*backward)(struct scheme_emitter *e, uint32_t layer);
	void (*finish)(struct scheme_emitter *e);
	struct scheme_share (*share)(const struct scheme_question *q, uint32_t layer);
};

/* Sorted by name, NULL at the end. */
extern const struct scheme *const schemes[];
const struct scheme *scheme_find(const char *name, struct err *err); /* or NULL, ERR_USAGE */

/* The largest d with Pr = q^2 d and 1 < d <= q; 0 when there is none. More copies move less between
 * devices (Solomonik and Demmel 2011); others with the same Pr may be asked for by name. */
uint32_t scheme_depth(uint32_t pr);

/* ERR_INPUT with the layer or number and the rule: a group of one device, a number that is no
 * square, heads that do not divide, fewer samples than devices that share them, a convolution
 * where linear layers are needed, more than 64 TiB in one collective. */
bool scheme_check(const struct scheme *s, const struct scheme_question *q, struct err *err);

/* One iteration as a prog of one role whose tasks follow one another. Terms: TERM_FORWARD,
 * TERM_BACKWARD, TERM_DW_ALL_REDUCE (the last entry of each row above), and TERM_COMPUTE with
 * `times`. Layers are those of the model. Dimensions are the group's (see each row), then "pc". */
bool scheme_schedule(struct arena *a, const struct scheme *s, const struct scheme_question *q,
	struct iteration *out, struct err *err);

struct scheme_share scheme_share(
	const struct scheme *s, const struct scheme_question *q, uint32_t layer);

/* Bytes of one device: weights, `copies` - 1 further ones (2: with gradients, 3: with momentum),
 * and both activations of each layer, as grid_memory_bytes(). What is gathered for a moment is
 * not counted. */
double scheme_memory_bytes(
	const struct scheme *s, const struct scheme_question *q, uint32_t copies);

#endif
