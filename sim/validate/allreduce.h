/* All-reduces as NCCL runs them: a machine, its algorithms and protocols. */
#ifndef VALIDATE_ALLREDUCE_H
#define VALIDATE_ALLREDUCE_H

#include "run/run.h"
#include "validate/internal.h"

/* How NCCL moves the data: `simple` fills the links, the others start sooner and carry flags
 * with the data (NCCL's LL and LL128). */
struct nccl_protocol {
	const char *name;
	double share;  /* of the bandwidth of every link */
	tick overhead; /* of a call */
};

enum { NCCL_MAX_PROTOCOLS = 3, NCCL_MAX_ALGOS = 3 };
struct nccl_machine {
	const char *topology; /* shipped; calibrated */
	const char *algos[NCCL_MAX_ALGOS];
	struct nccl_protocol protocols[NCCL_MAX_PROTOCOLS];
};

/* Two machines of which measurements are known: see allreduce.c. */
extern const struct nccl_machine nccl_a100x4, nccl_a100x8, nccl_v100x8;

/* A machine of `topo` alone: ring, rings and double binary tree, no time of the call. */
extern const struct nccl_machine nccl_plain;

/* The cheapest of the machine's algorithms and protocols over devices 0 .. n-1, in seconds. */
bool nccl_allreduce_s(const struct suite_context *context, const struct nccl_machine *machine,
	const struct topo *topo, const struct coll_request *request, double *seconds,
	struct err *err);

/* Reads the table that nccl-tests prints, or the file of its -J, as a csv with the columns
 * nccl_collective, nccl_ranks, nccl_bytes and nccl_us (out of place; in place where that is all
 * there is). Another file is read as a csv. Where the devices are not listed the number of ranks
 * follows from busbw / algbw. */
bool nccl_table_read(struct arena *a, const char *path, struct csv *out, struct err *err);

#endif
