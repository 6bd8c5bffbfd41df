#include <string.h>

#include "plan/internal.h"

/* All that decides a price, as words; `hash` only saves comparisons. */
struct memo {
	const uint64_t *words;
	size_t n_words;
	uint64_t hash;
	struct price price;
};

struct pricer {
	struct arena *a;
	const struct graph *g;
	const struct arch *archs;
	struct device_options options;
	uint32_t *local; /* by operator: its place in the list plus 1; all zero between calls */
	uint64_t *key;
	size_t n_key, cap_key;
	struct memo *memos;
	uint32_t n_memos, cap_memos;
};

struct pricer *pricer_create(struct arena *a, const struct graph *g, const struct arch *archs,
	const struct device_options *options)
{
	struct pricer *p = arena_new(a, struct pricer);
	*p = (struct pricer){
		.a = a,
		.g = g,
		.archs = archs,
		.options = *options,
		.local = arena_array(a, g->n_ops, uint32_t),
	};
	return p;
}

static void key_add(struct pricer *p, uint64_t word)
{
	arena_push(p->a, p->key, p->n_key, p->cap_key) = word;
}

static void key_add_conv(struct pricer *p, const struct conv_work *c)
{
	const uint64_t words[] = {c->images, c->in_h, c->in_w, c->in_channels, c->out_h, c->out_w,
		c->out_channels, c->kernel_h, c->kernel_w, c->stride_h, c->stride_w, c->dilation_h,
		c->dilation_w};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		key_add(p, words[i]);
}

static void key_add_work(struct pricer *p, const struct work *w)
{
	const uint64_t words[] = {w->core, w->link, w->batch, w->m, w->n, w->k, w->a_bytes,
		w->b_bytes, w->c_bytes, w->vector_read_bytes, w->vector_write_bytes, w->row_bytes,
		w->again_bytes, w->collective_bytes, w->n_vector};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		key_add(p, words[i]);
	key_add_conv(p, &w->conv);
	for (uint32_t i = 0; i < w->n_vector; i++) {
		key_add(p, w->vector[i].form);
		key_add(p, w->vector[i].numel);
		key_add(p, w->vector[i].row);
		key_add(p, w->vector[i].lane_cycles);
	}
}

static void key_add_preds(struct pricer *p, const struct op *op)
{
	for (uint32_t i = 0; i < op->n_preds; i++)
		if (p->local[op->preds[i]])
			key_add(p, p->local[op->preds[i]]);
	key_add(p, 0);
}

static void key_build(struct pricer *p, uint32_t arch, const op_id *ids, uint32_t n)
{
	p->n_key = 0;
	key_add(p, arch);
	for (uint32_t i = 0; i < n; i++)
		p->local[ids[i]] = i + 1;
	for (uint32_t i = 0; i < n; i++) {
		key_add_work(p, &p->g->ops[ids[i]].work);
		key_add_preds(p, &p->g->ops[ids[i]]);
	}
	for (uint32_t i = 0; i < n; i++)
		p->local[ids[i]] = 0;
}

/* FNV-1a over words instead of bytes. */
static uint64_t key_hash(const uint64_t *words, size_t n)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < n; i++)
		h = (h ^ words[i]) * UINT64_C(0x100000001b3);
	return h;
}

static const struct memo *memo_find(const struct pricer *p, uint64_t hash)
{
	for (uint32_t i = 0; i < p->n_memos; i++) {
		const struct memo *m = &p->memos[i];
		if (m->hash == hash && m->n_words == p->n_key &&
			memcmp(m->words, p->key, p->n_key * sizeof(*p->key)) == 0)
			return m;
	}
	return NULL;
}

static struct price simulate(
	const struct pricer *p, uint32_t arch, const op_id *ids, uint32_t n_ids)
{
	struct arena scratch = {0};
	struct device_result result;
	struct graph_part ops = {p->g, ids, n_ids};
	device_run(&scratch, &p->archs[arch], &ops, &p->options, &result);
	struct price price = {result.makespan, result.energy_j, result.macs, result.counts};
	arena_free(&scratch);
	return price;
}

struct price pricer_price(struct pricer *p, uint32_t arch, const op_id *ids, uint32_t n_ids)
{
	if (n_ids == 0)
		return (struct price){0};
	key_build(p, arch, ids, n_ids);
	uint64_t hash = key_hash(p->key, p->n_key);
	const struct memo *known = memo_find(p, hash);
	if (known)
		return known->price;
	struct price price = simulate(p, arch, ids, n_ids);
	uint64_t *words = arena_array(p->a, p->n_key, uint64_t);
	memcpy(words, p->key, p->n_key * sizeof(*words));
	arena_push(p->a, p->memos, p->n_memos, p->cap_memos) =
		(struct memo){.words = words, .n_words = p->n_key, .hash = hash, .price = price};
	return price;
}

uint32_t pricer_n_runs(const struct pricer *p)
{
	return p->n_memos;
}
