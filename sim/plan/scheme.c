/* Schemes of parallelism: the table, and what a question about any of them has in common. */
#include "plan/scheme.h"

#include <string.h>

#include "base/text.h"
#include "plan/scheme_internal.h"

// clang-format off
const struct scheme *const schemes[] = {
	&scheme_context_gather,
	&scheme_context_ring,
	&scheme_cube_3d,
	&scheme_expert,
	&scheme_fsdp,
	&scheme_megatron,
	&scheme_megatron_sp,
	&scheme_summa_2d,
	&scheme_tesseract_25d,
	&scheme_ulysses,
	&scheme_zero_2,
	NULL,
};
// clang-format on

const struct scheme *scheme_find(const char *name, struct err *err)
{
	const char *names[sizeof(schemes) / sizeof(*schemes)];
	size_t n = 0;
	for (; schemes[n]; n++) {
		names[n] = schemes[n]->name;
		if (strcmp(names[n], name) == 0)
			return schemes[n];
	}
	const char *near = text_nearest(name, names, n);
	err_set(err, ERR_USAGE, "unknown scheme '%s', %s '%s'%s", name,
		near ? "did you mean" : "expected e.g.", near ? near : "megatron", near ? "?" : "");
	return NULL;
}

uint64_t scheme_group_samples(const struct scheme_question *q)
{
	return div_ceil(q->batch, q->pc);
}

uint64_t scheme_device_samples(const struct scheme_question *q)
{
	return div_ceil(q->batch, (uint64_t)q->pr * q->pc);
}

uint32_t scheme_square_root(uint32_t n)
{
	uint32_t root = 1;
	while ((uint64_t)root * root < n)
		root++;
	return (uint64_t)root * root == n ? root : 0;
}

uint32_t scheme_cube_root(uint32_t n)
{
	uint32_t root = 1;
	while ((uint64_t)root * root * root < n)
		root++;
	return (uint64_t)root * root * root == n ? root : 0;
}

uint32_t scheme_depth(uint32_t pr)
{
	for (uint32_t q = 2; (uint64_t)q * q < pr; q++)
		if (pr % (q * q) == 0 && pr / (q * q) <= q)
			return pr / (q * q);
	return 0;
}

void scheme_one_dim(const struct scheme_question *q, struct prog_grid *g)
{
	*g = (struct prog_grid){.n_dims = 1, .names = {"pr"}, .sizes = {q->pr}};
}

bool scheme_need_samples(const struct scheme_question *q, uint64_t parts, struct err *err)
{
	uint64_t shares = parts * q->pc;
	return q->batch >= shares ||
	       err_set(err, ERR_INPUT,
		       "%s: a batch of %llu for %llu parts, expected at "
		       "least one sample for each",
		       q->model->name, (unsigned long long)q->batch, (unsigned long long)shares);
}

bool scheme_need_linear(const struct scheme_question *q, const char *scheme, struct err *err)
{
	const struct scheme_model *m = q->model;
	for (uint32_t i = 0; i < m->n_layers; i++) {
		const struct scheme_layer *l = &m->layers[i];
		if (l->grid.conv || l->recurrent)
			return err_set(err, ERR_INPUT, "%s: layer %s is %s, %s needs linear layers",
				m->name, l->grid.name, l->grid.conv ? "a convolution" : "recurrent",
				scheme);
	}
	return true;
}

bool scheme_need_no_experts(const struct scheme_question *q, const char *scheme, struct err *err)
{
	const struct scheme_model *m = q->model;
	for (uint32_t i = 0; i < m->n_layers; i++)
		if (m->layers[i].banks > 1)
			return err_set(err, ERR_INPUT,
				"%s: layer %s is a bank of %u matrices, %s needs one a layer",
				m->name, m->layers[i].grid.name, m->layers[i].banks, scheme);
	return true;
}

bool scheme_need_heads(const struct scheme_question *q, uint32_t n, struct err *err)
{
	const struct scheme_model *m = q->model;
	for (uint32_t i = 0; i < m->n_attentions; i++) {
		const struct scheme_attention *a = &m->attentions[i];
		bool kv = a->heads % n == 0;
		if (!kv || a->kv_heads % n != 0)
			return err_set(err, ERR_INPUT, "%s: %s %u do not divide over %u", m->name,
				kv ? "heads of keys and values" : "heads",
				kv ? a->kv_heads : a->heads, n);
	}
	return true;
}

bool scheme_need_sequences(const struct scheme_question *q, const char *scheme, struct err *err)
{
	const struct scheme_model *m = q->model;
	if (m->n_attentions == 0)
		return err_set(err, ERR_INPUT, "%s: no attention, %s needs one", m->name, scheme);
	for (uint32_t i = 0; i < m->n_attentions; i++) {
		const struct scheme_attention *a = &m->attentions[i];
		bool keys = a->q_positions % q->pr == 0;
		if (!keys || a->positions % q->pr != 0)
			return err_set(err, ERR_INPUT, "%s: %llu positions do not divide over %u",
				m->name, (unsigned long long)(keys ? a->positions : a->q_positions),
				q->pr);
	}
	return true;
}

/* In doubles: they could be more than fit in words of 64 bits. */
static bool check_sizes(const struct scheme_question *q, struct err *err)
{
	double samples = (double)scheme_group_samples(q), limit = (double)PROG_MAX_BYTES;
	for (uint32_t i = 0; i < q->model->n_layers; i++) {
		const struct grid_layer *l = &q->model->layers[i].grid;
		double most = samples * (double)(l->d_in > l->d_out ? l->d_in : l->d_out);
		if (most < (double)l->weights)
			most = (double)l->weights;
		if (most * q->word_bytes > limit)
			return err_set(err, ERR_INPUT,
				"%s: layer %s has more than 64 TiB in a group, expected less",
				q->model->name, l->name);
	}
	return true;
}

bool scheme_check(const struct scheme *s, const struct scheme_question *q, struct err *err)
{
	if (q->model->n_layers == 0)
		return err_set(err, ERR_INPUT,
			"%s: no layer has weights, expected some that a "
			"scheme can share",
			q->model->name);
	if (q->batch == 0 || q->word_bytes == 0 || q->pc == 0)
		return err_set(err, ERR_INPUT,
			"no samples, no bytes in a word or no groups, "
			"expected one at least");
	if (q->pr < 2)
		return err_set(err, ERR_INPUT, "a group of %u shares nothing, %s needs two devices",
			q->pr, s->name);
	if ((uint64_t)q->pr * q->pc > PROG_MAX_RANKS)
		return err_set(err, ERR_INPUT, "%u x %u devices, expected at most %u", q->pr, q->pc,
			(unsigned)PROG_MAX_RANKS);
	return scheme_need_samples(q, 1, err) && s->check(q, err) && check_sizes(q, err);
}

struct scheme_share scheme_share(
	const struct scheme *s, const struct scheme_question *q, uint32_t layer)
{
	return s->share(q, layer);
}

double scheme_memory_bytes(const struct scheme *s, const struct scheme_question *q, uint32_t copies)
{
	double words = 0, samples = (double)q->batch / q->pc;
	for (uint32_t i = 0; i < q->model->n_layers; i++) {
		const struct grid_layer *l = &q->model->layers[i].grid;
		struct scheme_share part = s->share(q, i);
		double weights = (double)l->weights;
		words += weights / part.weights;
		words += (copies - 1.0) * weights / part.copies;
		words += samples * ((double)l->d_in / part.x + (double)l->d_out / part.y);
	}
	return words * q->word_bytes;
}
