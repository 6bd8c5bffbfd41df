/* Closed forms beside which the simulation is laid. */
#ifndef ANALYTIC_ANALYTIC_H
#define ANALYTIC_ANALYTIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/units.h"

/* A machine where every message costs alpha + bytes * beta, single port, full duplex, and adding
 * what a message brought costs bytes * gamma. Seconds and seconds per byte. */
struct alpha_beta {
	double alpha, beta, gamma;
};

/* Seconds of one collective by the name that published tables use: "ar_ring", "ar_rab",
 * "ar_rdb", "ar_redbcast", "ag_ring", "ag_bruck", "ag_rdb", "ag_neighbor", "rs_ring",
 * "rs_rhalv", "bc_binom", "bc_vdg", "a2a_pair", "a2a_bruck", "gather_binom", "barrier_diss".
 * Step-exact: ring algorithms move ceil(bytes / n) a step, Bruck and halving exact fractions,
 * other counts than powers of two as MPICH folds them (Thakur, Rabenseifner, Gropp 2005; Chan et
 * al. 2007). `bytes` is the full vector (all-to-all: a rank's whole send buffer). With gamma,
 * all-reduces and reduce-scatters add (n - 1) / n of the bytes where halves or rings are added, all
 * of them in each step where whole vectors are. Returns a
 * negative number for a name or a count that has no form. */
double analytic_collective_s(
	const char *name, uint32_t n_ranks, uint64_t bytes, const struct alpha_beta *ab);

/* Names of all forms, sorted, NULL at the end. */
extern const char *const analytic_collective_names[];

/* A training step of a pipeline. Times of one micro-batch on each stage, collectives of the
 * stage included. */
struct analytic_stage {
	tick forward, backward, update; /* update and gradient reduction: once a step */
	tick gradient_reduction;
	uint64_t send_bytes; /* to the next stage */
};

struct analytic_step {
	const struct analytic_stage *stages;
	uint32_t n_stages, n_micro_batches;
	tick link_latency;
	uint64_t link_bytes_per_s; /* 0: transfers last their latency only */
	bool one_f_one_b;          /* 1F1B; false: GPipe */
};

/* (m + p - 1) x slowest stage + transfers on the critical way + the largest (gradient reduction
 * + update); Huang et al. 2019, Narayanan et al. 2021. Also its terms, which add up to it.
 *
 * With t = forward + backward of a stage and c = latency + bytes / bandwidth between two stages:
 * compute + bubble = sum of t + (m - 1) x largest t, which is (m + p - 1) t over even stages.
 * The first micro-batch goes all the way down and back, 2 x sum of c. GPipe hides all other
 * transfers: exact where one stage has both the slowest forward and the slowest backward and
 * every c is shorter than the next stage's task, otherwise a lower bound. 1F1B holds one
 * micro-batch less at every next stage, so that a transfer and the gradient that comes back
 * stand in a loop: a run of stages i..j passes one micro-batch per (sum of t + 2 x sum of c) /
 * (j - i + 1), and the slowest run sets the pace. Its excess over the largest t, m - 1 times,
 * counts to `transfer`. An upper bound, tight for many micro-batches; exact for even stages
 * without transfer time. */
struct analytic_estimate {
	tick total;
	tick compute;  /* m x slowest stage */
	tick bubble;   /* sum over the other stages, once each: (p - 1) x slowest over even ones */
	tick transfer; /* activations and gradients that cannot hide */
	tick reduction, update;
};
struct analytic_estimate analytic_step_time(const struct analytic_step *step);

#endif
