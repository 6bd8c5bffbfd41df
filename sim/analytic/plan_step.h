/* The closed form of a planned step, so that it can stand beside the simulation of the same plan. */
#ifndef ANALYTIC_PLAN_STEP_H
#define ANALYTIC_PLAN_STEP_H

#include "analytic/analytic.h"
#include "base/arena.h"
#include "plan/plan.h"
#include "topo/topo.h"

/* Stage times from the plan's device simulation; each collective as a ring of alpha-beta
 * messages, 2(n-1) steps for an all-reduce (n-1 for the others), where alpha is the latency of
 * the longest route between neighbours of the ring and 1/beta its narrowest link, nothing
 * shared; messages between stages likewise. Rank r is on device r. `topo` NULL, or a SimGrid
 * platform whose routes are not known: communication counts as free. */
struct analytic_estimate analytic_plan_step(
	struct arena *a, const struct plan *plan, const struct degrees *d, const struct topo *topo);

#endif
