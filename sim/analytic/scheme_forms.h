/* Formulas of single schemes, shared by the files of analytic/scheme*. */
#ifndef ANALYTIC_SCHEME_FORMS_H
#define ANALYTIC_SCHEME_FORMS_H

#include "analytic/scheme.h"

/* A question with what all formulas are made of. */
struct scheme_form {
	const struct scheme_question *q;
	const struct alpha_beta *machine;
	const char *all_gather, *all_reduce, *reduce_scatter, *all_to_all; /* forms; see below */
	const char *none; /* a form that was asked for and that does not work; NULL: all did */
	uint64_t samples; /* of a group */
	struct scheme_terms *out;
};

/* Seconds of words over n ranks. */
double scheme_gather(struct scheme_form *f, uint32_t n, uint64_t words);
double scheme_reduce(struct scheme_form *f, uint32_t n, uint64_t words);
double scheme_scatter(struct scheme_form *f, uint32_t n, uint64_t words); /* reduce-scatter */
double scheme_exchange(struct scheme_form *f, uint32_t n, uint64_t words);

/* Sorted by the scheme's name. */
struct scheme_formula {
	const char *name;
	void (*add)(struct scheme_form *f); /* all layers, to f->out */
};
extern const struct scheme_formula scheme_formulas[];
extern const size_t n_scheme_formulas;

#endif
