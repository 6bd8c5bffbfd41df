/* The result goes to standard output or -o FILE; nothing else does. */
#include <stdio.h>

#include "base/file.h"
#include "cli/internal.h"

bool write_text(struct request *q, const struct text *out, struct err *err)
{
	progress_clear(q);
	return file_write(q->output ? q->output : "-", out->data, out->n, err);
}

bool write_json(struct request *q, json_t *result, struct err *err)
{
	struct text out = {0};
	q->report.interrupted = interrupted();
	report_write_json(&q->report, result, &out);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

bool write_csv(struct request *q, const struct table *t, struct err *err)
{
	struct text out = {0};
	table_print_csv(t, &out);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}
