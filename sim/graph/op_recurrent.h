/* Recurrent networks: the product of the hidden state with its weights, step after step, and the
 * cells of LSTM and GRU. The product with the inputs is a gemm over all steps at once, in front
 * of these. */
#ifndef GRAPH_OP_RECURRENT_H
#define GRAPH_OP_RECURRENT_H

#include "graph/op_kinds.h"

/* Gates from the inputs [..., steps, gates * hidden], weight [hidden, gates * hidden], bias:
 * gates, same shape. One product for each step, of as many rows as there are sequences. */
bool shape_recurrent(const struct op_view *v, struct op_shapes *out, struct err *err);
void work_recurrent(const struct op_view *v, struct work *w);

/* Gates [..., 4 hidden]: hidden state and cell state, both [..., hidden]. */
bool shape_lstm_cell(const struct op_view *v, struct op_shapes *out, struct err *err);

/* Gates [..., 3 hidden]: hidden state [..., hidden]. */
bool shape_gru_cell(const struct op_view *v, struct op_shapes *out, struct err *err);

#endif
