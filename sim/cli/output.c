/* The result goes to standard output or -o FILE; nothing else does. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/internal.h"

bool check_outputs(const struct request *q, struct err *err)
{
	const struct {
		const char *option, *path;
	} files[] = {
		{"csv-links", q->csv_links},
		{"dot", q->dot},
		{"dump-graph", q->dump_graph},
		{"dump-prog", q->dump_prog},
		{"trace", q->trace},
		{"output", q->output ? q->output : "-"},
	};
	const char *printed = NULL; /* on standard output */
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		bool to_stdout = files[i].path && strcmp(files[i].path, "-") == 0;
		if (printed && to_stdout)
			return err_set(err, ERR_USAGE,
				"--%s -: standard output is that of the result, expected a file, "
				"or the result in one by -o FILE",
				printed);
		if (to_stdout)
			printed = files[i].option;
		else if (files[i].path && !file_can_write(files[i].path, err))
			return false;
	}
	return check_plot(q, err);
}

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

bool write_links_file(struct request *q, const struct table *t, struct err *err)
{
	struct text out = {0};
	table_print_csv(t, &out);
	bool ok = file_write(q->csv_links, out.data, out.n, err);
	text_free(&out);
	return ok;
}

bool write_links(
	struct request *q, const struct topo *topo, const struct run_result *run, struct err *err)
{
	struct table t;
	if (!q->csv_links)
		return true;
	if (topo->platform_xml)
		return err_set(err, ERR_USAGE,
			"--csv-links: %s is a SimGrid platform, whose links only SimGrid knows",
			topo->name);
	report_links_begin(q->a, &t);
	report_links_add(&t, topo, "", run);
	return write_links_file(q, &t, err);
}
