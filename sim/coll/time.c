/* Closed-form costs of schedules. */
#include <string.h>

#include "coll/internal.h"

/* Ports of all ranks: when what came before is over, and what the round at hand adds. */
struct ports {
	struct arena a;
	uint32_t n;
	double *ready, *after;
	double *out, *in; /* bytes of the round */
	double alpha, beta, end;
};

static void ports_open(struct ports *p, uint32_t n_ranks, double alpha_s, double beta_s)
{
	*p = (struct ports){.n = n_ranks, .alpha = alpha_s, .beta = beta_s};
	p->ready = arena_array(&p->a, n_ranks, double);
	p->after = arena_array(&p->a, n_ranks, double);
	p->out = arena_array(&p->a, n_ranks, double);
	p->in = arena_array(&p->a, n_ranks, double);
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static void play_round(struct ports *p, const struct coll_step *steps, size_t n, uint64_t divisor)
{
	for (size_t i = 0; i < n; i++) {
		double payload = (double)steps[i].bytes / (double)divisor;
		p->out[steps[i].src] += payload;
		p->in[steps[i].dst] += payload;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t src = steps[i].src, dst = steps[i].dst;
		double done = larger(p->ready[src], p->ready[dst]) + p->alpha +
			      larger(p->out[src], p->in[dst]) * p->beta;
		p->after[src] = larger(p->after[src], done);
		p->after[dst] = larger(p->after[dst], done);
		p->end = larger(p->end, done);
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t ends[2] = {steps[i].src, steps[i].dst};
		for (int k = 0; k < 2; k++) {
			p->ready[ends[k]] = p->after[ends[k]];
			p->out[ends[k]] = p->in[ends[k]] = 0;
		}
	}
}

double coll_time(const struct coll_schedule *s, uint32_t n_ranks, double alpha_s, double beta_s)
{
	struct ports p;
	ports_open(&p, n_ranks, alpha_s, beta_s);
	for (uint32_t i = 0, last; i < s->n_steps; i = last) {
		last = i;
		while (last < s->n_steps && s->steps[last].round == s->steps[i].round)
			last++;
		play_round(&p, s->steps + i, last - i, s->bytes_divisor);
	}
	arena_free(&p.a);
	return p.end;
}

double coll_call_time(const struct coll_call *c, double alpha_s, double beta_s)
{
	struct coll_rounds rounds;
	struct ports p;
	struct err err = {0};
	if (!coll_rounds_begin(&rounds, c, &err))
		return -1;
	ports_open(&p, c->n_ranks, alpha_s, beta_s);
	for (uint32_t r = 0; r < rounds.frame.n_rounds; r++) {
		uint32_t n;
		const struct coll_step *steps = coll_rounds_get(&rounds, r, &n);
		play_round(&p, steps, n, rounds.frame.bytes_divisor);
	}
	coll_rounds_end(&rounds);
	arena_free(&p.a);
	return p.end;
}

double coll_busbw_factor(enum coll_kind kind, uint32_t n_ranks)
{
	double n = n_ranks;
	switch (kind) {
	case COLL_ALLREDUCE:
		return 2 * (n - 1) / n;
	case COLL_ALLGATHER:
	case COLL_REDUCESCATTER:
	case COLL_GATHER:
	case COLL_SCATTER:
	case COLL_ALLTOALL:
		return (n - 1) / n;
	case COLL_BROADCAST:
	case COLL_REDUCE:
	case COLL_HALO:
		return 1;
	case COLL_BARRIER:
		return 0;
	}
	return 0;
}
