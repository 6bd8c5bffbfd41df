/* Which layers split features between them: shared by the files that read a model. */
#ifndef PLAN_SCHEME_FEATURES_H
#define PLAN_SCHEME_FEATURES_H

#include "plan/scheme_model.h"

/* Fills slice and depth of all layers; `layer_of` has the layer of each operator, or
 * GRAPH_NONE. */
void scheme_follow_features(struct arena *a, const struct graph *g, const uint32_t *layer_of,
	struct scheme_layer *layers, uint32_t n_layers);

#endif
