/* Communication of the schemes of plan/scheme.h in closed form: their volumes, of the sources named
 * there, over the collectives that the schedule runs, each by analytic_collective_s(). */
#ifndef ANALYTIC_SCHEME_H
#define ANALYTIC_SCHEME_H

#include <stdbool.h>

#include "analytic/analytic.h"
#include "base/err.h"
#include "plan/scheme.h"

/* Seconds of an iteration that are communication, by the terms of the schedule. */
struct scheme_terms {
	double forward, backward, dw_all_reduce;
};
double scheme_terms_s(const struct scheme_terms *t); /* their sum */

/* For every layer, one device of a group of Pr, with n(X) the words of X, S the samples of a group
 * (of a device where said), W, X and Y its weights, inputs and outputs, first the layers that are
 * the first to read their input. Forward + backward + gradients:
 *   megatron        AR(Pr, S Y) of row layers + AR(Pr, S X) of first column layers that make dX
 *                   + AR(Pc, W / Pr)
 *   megatron-sp     AG(Pr, S X) + RS(Pr, S Y) + AG(Pr, S Y) + 2 of the former backward, AG and RS
 *   summa-2d        AG(q, S X / q) + AG(q, W / q); twice as much backward; AR(Pc, W / q^2)
 *   tesseract-2.5d  the same of S X / d; AR(d Pc, W / q^2)
 *   cube-3d         AG(q, S X / q^2) + AG(q, W / q^2) + RS(q, S Y / q^2); twice as much backward,
 *                   with AG and RS exchanged; AR(Pc, W / q^3)
 *   fsdp            AG(Pr, W) each way + RS(Pr, W) + AR(Pc, W / Pr)
 *   zero-2          RS(Pr, W) + AR(Pc, W / Pr) + AG(Pr, W)
 *   context-*       AG(Pr, S n(K,V)) each way and RS(Pr, S n(K,V)) + AR(P, W)
 *   ulysses         A2A(Pr, S n / Pr) of Q, K, V and the output, each way + AR(P, W)
 *   expert          2 A2A(Pr, S_device k t h) each way + AR(Pc, W / Pr) of experts, AR(P, W) of
 *                   others
 * ERR_INPUT as scheme_check(), or a collective that has no closed form. */
bool scheme_comm(const struct scheme *s, const struct scheme_question *q,
	const struct alpha_beta *machine, struct scheme_terms *out, struct err *err);

#endif
