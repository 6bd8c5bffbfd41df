/* The text form of a prog. */
#include <string.h>

#include "trace/internal.h"

/* A file of text is taken for one, so that its errors have lines. */
static bool fits(const struct trace_input *in)
{
	const struct bytes *c = &in->files[0].content;
	size_t n = c->n < 4096 ? c->n : 4096;
	return in->n_files == 1 && memchr(c->data, '\0', n) == NULL;
}

static bool read(struct arena *a, const struct trace_input *in, const struct trace_options *options,
	struct trace *out, struct err *err)
{
	const struct trace_file *f = &in->files[0];
	return prog_parse(a, f->path, f->content.data, f->content.n, &out->prog, err);
}

const struct trace_format format_prog = {
	.name = "prog",
	.summary = "the text form of what each device does",
	.fits = fits,
	.read = read,
};
