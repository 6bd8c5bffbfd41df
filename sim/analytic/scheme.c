#include "analytic/scheme.h"

#include <string.h>

#include "analytic/scheme_forms.h"

/* The closed form of a collective's algorithm. */
struct algo_form {
	const char *algo, *form;
};

// clang-format off
static const struct algo_form gathers[] = {
	{"bruck", "ag_bruck"}, {"neighbor", "ag_neighbor"}, {"recdbl", "ag_rdb"}, {"ring", "ag_ring"}, {NULL, NULL}};
static const struct algo_form reduces[] = {
	{"rabenseifner", "ar_rab"}, {"recdbl", "ar_rdb"}, {"ring", "ar_ring"}, {NULL, NULL}};
static const struct algo_form scatters[] = {
	{"halving", "rs_rhalv"}, {"ring", "rs_ring"}, {NULL, NULL}};
static const struct algo_form exchanges[] = {
	{"bruck", "a2a_bruck"}, {"pairwise", "a2a_pair"}, {NULL, NULL}};
// clang-format on

double scheme_terms_s(const struct scheme_terms *t)
{
	return t->forward + t->backward + t->dw_all_reduce;
}

/* Of `standard` where no algorithm is named: what the schedule runs then. */
static bool find_form(const struct algo_form *table, const char *standard, const char *algo,
	const char **out, struct err *err)
{
	const char *name = algo ? algo : standard;
	for (; table->algo; table++)
		if (strcmp(table->algo, name) == 0) {
			*out = table->form;
			return true;
		}
	return err_set(err, ERR_INPUT, "algorithm '%s' has no closed form", name);
}

static bool find_forms(struct scheme_form *f, struct err *err)
{
	const struct scheme_algos *a = &f->q->algos;
	return find_form(gathers, "bruck", a->all_gather, &f->all_gather, err) &&
	       find_form(reduces, "rabenseifner", a->all_reduce, &f->all_reduce, err) &&
	       find_form(scatters, "halving", a->reduce_scatter, &f->reduce_scatter, err) &&
	       find_form(exchanges, "pairwise", a->all_to_all, &f->all_to_all, err);
}

static double seconds(struct scheme_form *f, const char *form, uint32_t n, uint64_t words)
{
	if (words == 0 || n == 1)
		return 0;
	double s = analytic_collective_s(form, n, words * f->q->word_bytes, f->machine);
	if (s < 0)
		f->none = form;
	return s;
}

double scheme_gather(struct scheme_form *f, uint32_t n, uint64_t words)
{
	return seconds(f, f->all_gather, n, words);
}

double scheme_reduce(struct scheme_form *f, uint32_t n, uint64_t words)
{
	return seconds(f, f->all_reduce, n, words);
}

double scheme_scatter(struct scheme_form *f, uint32_t n, uint64_t words)
{
	return seconds(f, f->reduce_scatter, n, words);
}

double scheme_exchange(struct scheme_form *f, uint32_t n, uint64_t words)
{
	return seconds(f, f->all_to_all, n, words);
}

static const struct scheme_formula *formula_of(const struct scheme *s)
{
	for (size_t i = 0; i < n_scheme_formulas; i++)
		if (strcmp(scheme_formulas[i].name, s->name) == 0)
			return &scheme_formulas[i];
	return NULL;
}

bool scheme_comm(const struct scheme *s, const struct scheme_question *q,
	const struct alpha_beta *machine, struct scheme_terms *out, struct err *err)
{
	struct scheme_form f = {.q = q, .machine = machine, .out = out};
	const struct scheme_formula *formula = formula_of(s);
	if (!formula)
		return err_set(err, ERR_INPUT, "scheme '%s' has no closed form", s->name);
	if (!scheme_check(s, q, err) || !find_forms(&f, err))
		return false;
	f.samples = div_ceil(q->batch, q->pc);
	*out = (struct scheme_terms){0};
	formula->add(&f);
	return !f.none ||
	       err_set(err, ERR_INPUT, "%s: no form '%s' for groups of this size", s->name, f.none);
}
