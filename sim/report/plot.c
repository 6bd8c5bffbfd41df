/* Scripts for gnuplot, data included. */
#include <string.h>

#include "report/internal.h"
#include "report/report.h"

static void add_label(struct text *out, const char *s)
{
	for (; *s; s++)
		if (*s != '"' && *s != '\\' && *s != '\n')
			text_add_bytes(out, s, 1);
}

static void add_quoted(struct text *out, const char *before, const char *s)
{
	text_add(out, "%s\"", before);
	add_label(out, s);
	text_add(out, "\"");
}

static bool starts_series(const struct plot *p, uint32_t i)
{
	return i == 0 || strcmp(p->points[i - 1].series, p->points[i].series) != 0;
}

static void add_lines(const struct plot *p, struct text *out)
{
	for (uint32_t i = 0; i < p->n_points; i++) {
		if (starts_series(p, i))
			text_add(out, "%s%s", i ? "e\n" : "", "");
		text_add(out, "%.9g %.9g\n", p->points[i].x, p->points[i].y);
	}
	text_add(out, "e\n");
}

static void add_series(const struct plot *p, struct text *out)
{
	const char *before = "plot ";
	for (uint32_t i = 0; i < p->n_points; i++) {
		if (!starts_series(p, i))
			continue;
		text_add(out, "%s'-' using 1:2 with linespoints title ", before);
		add_quoted(out, "", p->points[i].series);
		before = ", ";
	}
	text_add(out, "\n");
	add_lines(p, out);
}

static void add_bars(const struct plot *p, struct text *out)
{
	text_add(out, "set style fill solid 0.6\nset boxwidth 0.7\nset xtics rotate by -30\n"
		      "set yrange [0:*]\nplot '-' using 1:2:xtic(3) with boxes notitle\n");
	for (uint32_t i = 0; i < p->n_points; i++) {
		text_add(out, "%u %.9g", i, p->points[i].y);
		add_quoted(out, " ", p->points[i].series);
		text_add(out, "\n");
	}
	text_add(out, "e\n");
}

void report_plot(const struct plot *p, const char *file, const char *terminal, struct text *out)
{
	if (file) {
		text_add(out, "set terminal %s size 900,600\n", terminal);
		add_quoted(out, "set output ", file);
		text_add(out, "\n");
	}
	add_quoted(out, "set title ", p->title);
	add_quoted(out, "\nset xlabel ", p->x);
	add_quoted(out, "\nset ylabel ", p->y);
	text_add(out, "\nset key outside\nset grid\n%s%s", p->log_x ? "set logscale x 2\n" : "",
		p->log_y ? "set logscale y 10\n" : "");
	if (p->bars)
		add_bars(p, out);
	else
		add_series(p, out);
}
