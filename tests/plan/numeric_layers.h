/* A chain of convolutions and fully connected layers, each followed by |x| and perhaps a pooling:
 * forward and backward on all of it, and on what one process has. */
#ifndef TESTS_PLAN_NUMERIC_LAYERS_H
#define TESTS_PLAN_NUMERIC_LAYERS_H

#include "numeric.h"
#include "plan/grid.h"

struct chain_layer {
	/* A fully connected layer reads rows and columns of one as a 1 x 1 convolution of
	 * channels; what it reads was an image of image_h x image_w x image_c. */
	uint32_t in_h, in_w, in_c, out_h, out_w, out_c;
	uint32_t image_h, image_w, image_c;
	uint32_t kernel, stride, pad, groups;
	bool conv;
	bool pools; /* sums of 2 x 2 behind it */
};

uint64_t chain_inputs(const struct chain_layer *l); /* of a sample: height, width, channel */
uint64_t chain_outputs(const struct chain_layer *l);
uint64_t chain_weights(const struct chain_layer *l); /* output, row, column, input of the group */

struct grid_layer chain_grid_layer(struct arena *a, const struct chain_layer *l, uint32_t index);

/* What a pass has of a layer. */
struct chain_arrays {
	struct spread x, y, w, dx, dy, dw;
};
struct chain_arrays chain_arrays_new(
	struct arena *a, const struct chain_layer *l, uint32_t n_procs, uint64_t samples);

/* Samples, rows and channels, each up to the end. */
struct chain_box {
	uint64_t s0, s1;
	uint32_t h0, h1, c0, c1;
};

/* The product and its two derivatives on one process: outputs of the box; weights of its channels,
 * summed over it; inputs of the box from the output channels c0 .. c1, as summands or whole. */
void chain_forward(const struct chain_layer *l, struct chain_arrays *v, uint32_t p,
	const struct chain_box *out);
void chain_dw(const struct chain_layer *l, struct chain_arrays *v, uint32_t p,
	const struct chain_box *out);
struct chain_channels {
	uint32_t c0, c1;
	bool whole;
};
void chain_dx(const struct chain_layer *l, struct chain_arrays *v, uint32_t p,
	const struct chain_box *in, const struct chain_channels *out);

/* Whether row `row` of the output reads row `h` of the input. */
bool chain_reads(const struct chain_layer *l, uint32_t row, uint32_t h);

/* Whatever can be made of what a process holds: the input of the next layer from y; dy from the
 * gradient of that input. */
void chain_link(
	const struct chain_layer *front, const struct spread *y, struct spread *x, uint32_t p);
void chain_link_back(const struct chain_layer *front, const struct spread *dx,
	const struct spread *y, struct spread *dy, uint32_t p);

/* All of it on process 0 of arrays that have one; dy of the last layer is given. */
void chain_run(const struct chain_layer *layers, uint32_t n, struct chain_arrays *v);

#endif
