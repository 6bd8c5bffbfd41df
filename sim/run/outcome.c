#include <stdlib.h>
#include <string.h>

#include "run/internal.h"

/* The outcome on its way from a child process: numbers one after the other, lowest seven bits
 * first, each byte also saying whether more follow. A double goes as its bits. Both sides are the
 * same program. */

enum { OUTCOME_VERSION = 2 };
enum { DIGIT_BITS = 7, DIGIT_MASK = 127, DIGIT_MORE = 128, NUMBER_MAX = 10 };

static void put(struct text *out, uint64_t v)
{
	char digits[NUMBER_MAX];
	size_t n = 0;
	for (; v > DIGIT_MASK; v >>= DIGIT_BITS)
		digits[n++] = (char)(DIGIT_MORE | (v & DIGIT_MASK));
	digits[n++] = (char)v;
	text_add_bytes(out, digits, n);
}

static void put_double(struct text *out, double v)
{
	uint64_t bits;
	memcpy(&bits, &v, sizeof(bits));
	put(out, bits);
}

/* Everything is read in the order in which it was put; what is missing reads as 0 and clears
 * `ok`. */
struct in {
	struct bytes data;
	size_t at;
	bool ok;
};

static uint64_t get_u64(struct in *in)
{
	uint64_t v = 0;
	for (unsigned shift = 0; in->at < in->data.n && shift < 64; shift += DIGIT_BITS) {
		unsigned digit = (unsigned char)in->data.data[in->at++];
		v |= (uint64_t)(digit & DIGIT_MASK) << shift;
		if (!(digit & DIGIT_MORE))
			return v;
	}
	in->ok = false;
	return 0;
}

static uint32_t get_u32(struct in *in)
{
	uint64_t v = get_u64(in);
	in->ok = in->ok && v <= UINT32_MAX;
	return in->ok ? (uint32_t)v : 0;
}

static double get_double(struct in *in)
{
	uint64_t bits = get_u64(in);
	double v;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* How many things of at least `size` numbers follow. */
static uint32_t get_count(struct in *in, size_t size)
{
	uint32_t n = get_u32(in);
	in->ok = in->ok && n <= (in->data.n - in->at) / size;
	return in->ok ? n : 0;
}

static void put_ranks(struct engine *e, struct text *out)
{
	put(out, e->n_ranks);
	for (uint32_t i = 0; i < e->n_ranks; i++) {
		account(e, i);
		const struct run_rank *r = &e->ranks[i].sums;
		const tick shares[] = {r->forward, r->backward, r->optimizer, r->other_compute,
			r->tp_exposed, r->dp_exposed, r->pp_exposed, r->bubble, r->end};
		for (size_t k = 0; k < sizeof(shares) / sizeof(*shares); k++)
			put(out, shares[k]);
	}
}

static void get_ranks(struct in *in, struct arena *a, struct run_result *out)
{
	out->n_ranks = get_count(in, 9);
	out->ranks = arena_array(a, (size_t)out->n_ranks + 1, struct run_rank);
	for (uint32_t i = 0; i < out->n_ranks; i++) {
		struct run_rank *r = &out->ranks[i];
		tick *const shares[] = {&r->forward, &r->backward, &r->optimizer, &r->other_compute,
			&r->tp_exposed, &r->dp_exposed, &r->pp_exposed, &r->bubble, &r->end};
		for (size_t k = 0; k < sizeof(shares) / sizeof(*shares); k++)
			*shares[k] = get_u64(in);
	}
}

static void put_colls(const struct engine *e, struct text *out)
{
	put(out, e->n_colls);
	for (uint32_t i = 0; i < e->n_colls; i++) {
		const struct run_coll *c = &e->colls[i];
		put(out, (uint32_t)c->kind);
		put(out, e->coll_groups[i]);
		put(out, c->first_rank);
		put(out, c->n_ranks);
		put(out, c->bytes);
		put(out, c->first_entered);
		put(out, c->start);
		put(out, c->end);
	}
}

static void get_colls(struct in *in, struct arena *a, const struct prog *p, struct run_result *out)
{
	out->n_colls = get_count(in, 8);
	out->colls = arena_array(a, (size_t)out->n_colls + 1, struct run_coll);
	for (uint32_t i = 0; i < out->n_colls; i++) {
		struct run_coll *c = &out->colls[i];
		uint32_t kind = get_u32(in), group = get_u32(in);
		in->ok = in->ok && kind < N_COLL_KINDS && group < p->n_groups;
		c->kind = (enum coll_kind)kind;
		c->group = in->ok ? p->groups[group].name : "";
		c->first_rank = get_u32(in);
		c->n_ranks = get_u32(in);
		c->bytes = get_u64(in);
		c->first_entered = get_u64(in);
		c->start = get_u64(in);
		c->end = get_u64(in);
	}
}

static void put_links(const struct engine *e, struct text *out)
{
	struct arena scratch = {0};
	uint32_t n = 0;
	struct run_link *links = NULL;
	if (e->net->link_bytes)
		links = links_busiest(&scratch, e->net->topo, e->net->link_bytes, e->end,
			e->config->all_links ? UINT32_MAX : LINKS_MAX, &n);
	put(out, n);
	for (uint32_t i = 0; i < n; i++) {
		put(out, links[i].link);
		put_double(out, links[i].bytes);
		put_double(out, links[i].utilisation);
	}
	arena_free(&scratch);
}

static void get_links(struct in *in, struct arena *a, struct run_result *out)
{
	out->n_links = get_count(in, 3);
	out->links = arena_array(a, (size_t)out->n_links + 1, struct run_link);
	for (uint32_t i = 0; i < out->n_links; i++) {
		out->links[i].link = get_u32(in);
		out->links[i].bytes = get_double(in);
		out->links[i].utilisation = get_double(in);
	}
}

static int compare_spans(const void *a, const void *b)
{
	const struct run_span *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->task > y->task) - (x->task < y->task);
}

static void put_rank_spans(const struct engine *e, uint32_t rank, struct text *out)
{
	const struct rank_state *r = &e->ranks[rank];
	uint32_t n = e->tables[r->role].n_tasks;
	struct arena scratch = {0};
	struct run_span *spans = arena_array(&scratch, (size_t)n + 1, struct run_span);
	for (uint32_t i = 0; i < n; i++)
		spans[i] = (struct run_span){.rank = rank,
			.role = r->role,
			.task = i,
			.start = r->starts[i],
			.end = r->ends[i]};
	qsort(spans, n, sizeof(*spans), compare_spans);
	for (uint32_t i = 0; i < n; i++) {
		put(out, rank);
		put(out, r->role);
		put(out, spans[i].task);
		put(out, spans[i].start);
		put(out, spans[i].end);
	}
	arena_free(&scratch);
}

static void put_spans(const struct engine *e, struct text *out)
{
	put(out, e->config->keep_spans ? (uint32_t)e->n_tasks : 0);
	for (uint32_t rank = 0; rank < e->n_ranks && e->config->keep_spans; rank++)
		put_rank_spans(e, rank, out);
}

static void get_spans(struct in *in, struct arena *a, struct run_result *out)
{
	out->n_spans = get_count(in, 5);
	out->spans = arena_array(a, (size_t)out->n_spans + 1, struct run_span);
	for (uint32_t i = 0; i < out->n_spans; i++) {
		struct run_span *s = &out->spans[i];
		s->rank = get_u32(in);
		s->role = get_u32(in);
		s->task = get_u32(in);
		s->start = get_u64(in);
		s->end = get_u64(in);
	}
}

static void put_task_ends(const struct engine *e, struct text *out)
{
	uint32_t n = e->task_ends ? e->prog->roles[0].n_tasks : 0;
	put(out, n);
	for (uint32_t i = 0; i < n; i++)
		put(out, e->task_ends[i]);
}

static void get_task_ends(struct in *in, struct arena *a, struct run_result *out)
{
	out->n_task_ends = get_count(in, 1);
	tick *ends = arena_array(a, (size_t)out->n_task_ends + 1, tick);
	for (uint32_t i = 0; i < out->n_task_ends; i++)
		ends[i] = get_u64(in);
	out->task_ends = ends;
}

void outcome_write(struct engine *e, struct text *out)
{
	put(out, OUTCOME_VERSION);
	put(out, e->end);
	for (unsigned i = 0; i < N_COLL_KINDS; i++)
		put(out, e->coll_bytes[i]);
	put(out, e->p2p_bytes);
	put(out, e->net->n_sent);
	put_double(out, e->net->sent_bytes);
	put_double(out, prog_energy_j(e->prog));
	put_ranks(e, out);
	put_colls(e, out);
	put_links(e, out);
	put_spans(e, out);
	put_task_ends(e, out);
}

bool outcome_read(struct arena *a, const struct prog *p, struct bytes reply, struct run_result *out,
	struct err *err)
{
	struct in in = {.data = reply, .ok = true};
	*out = (struct run_result){.exact = true};
	in.ok = get_u32(&in) == OUTCOME_VERSION;
	out->end = get_u64(&in);
	for (unsigned i = 0; i < N_COLL_KINDS; i++)
		out->coll_bytes[i] = get_u64(&in);
	out->p2p_bytes = get_u64(&in);
	out->n_messages = get_u64(&in);
	out->sent_bytes = get_double(&in);
	out->energy_j = get_double(&in);
	get_ranks(&in, a, out);
	get_colls(&in, a, p, out);
	get_links(&in, a, out);
	get_spans(&in, a, out);
	get_task_ends(&in, a, out);
	if (!in.ok || in.at != reply.n)
		return err_set(err, ERR_INTERNAL, "the outcome of the run is damaged (%zu bytes)",
			reply.n);
	return true;
}
