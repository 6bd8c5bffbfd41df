#include "report/plot.h"

#include <math.h>
#include <string.h>

/* Names come from files of users: single quotes are the only ones within which gnuplot runs no
 * command between backquotes. A line break would end the string. */
static void add_quoted(struct text *out, const char *before, const char *s)
{
	text_add(out, "%s'", before);
	for (; *s; s++) {
		if (*s == '\'')
			text_add(out, "'");
		if (*s != '\n' && *s != '\r')
			text_add_bytes(out, s, 1);
	}
	text_add(out, "'");
}

/* A column of data, where there is nothing but the quotes themselves. */
static void add_cell(struct text *out, const char *s)
{
	text_add(out, " \"");
	for (; *s; s++)
		if (*s != '"' && *s != '\\' && *s != '\n' && *s != '\r')
			text_add_bytes(out, s, 1);
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
		add_cell(out, p->points[i].series);
		text_add(out, "\n");
	}
	text_add(out, "e\n");
}

/* Names are no markup. */
static void add_head(const char *title, const char *x, const char *y, struct text *out)
{
	text_add(out, "set termoption noenhanced\n");
	add_quoted(out, "set title ", title);
	add_quoted(out, "\nset xlabel ", x);
	add_quoted(out, "\nset ylabel ", y);
	text_add(out, "\nset key outside\nset grid\n");
}

static void add_terminal(const char *file, const char *terminal, uint32_t width, struct text *out)
{
	if (!file)
		return;
	text_add(out, "set terminal %s size %u,600\n", terminal, width);
	add_quoted(out, "set output ", file);
	text_add(out, "\n");
}

void report_plot(const struct plot *p, const char *file, const char *terminal, struct text *out)
{
	add_terminal(file, terminal, 900, out);
	add_head(p->title, p->x, p->y, out);
	text_add(out, "%s%s", p->log_x ? "set logscale x 2\n" : "",
		p->log_y ? "set logscale y 10\n" : "");
	if (p->bars)
		add_bars(p, out);
	else
		add_series(p, out);
}

static const double *bar_of(const struct stacks *p, uint32_t place, uint32_t bar)
{
	return p->values + ((size_t)place * p->n_bars + bar) * p->n_parts;
}

/* Heights of the sums up to each part; whole bars are drawn, the highest first, each over those
 * behind it. */
static void add_stack_data(const struct stacks *p, uint32_t bar, double width, struct text *out)
{
	text_add(out, "$bar%u << EOD\n", bar);
	for (uint32_t place = 0; place < p->n_places; place++) {
		const double *parts = bar_of(p, place, bar);
		double sum = 0, left = (bar - (p->n_bars - 1) / 2.0) * width;
		if (isnan(parts[0]))
			continue;
		text_add(out, "%.4f", place + left);
		for (uint32_t k = 0; k < p->n_parts; k++)
			text_add(out, " %.9g", sum += parts[k]);
		text_add(out, "\n");
	}
	text_add(out, "EOD\n");
}

/* Pixels: of a plot and its margins, of a slanted and of an upright label. */
enum { NARROWEST = 1000, WIDEST = 4000, MARGINS = 150, SLANTED = 30, UPRIGHT = 13 };

static uint32_t width_of(const struct stacks *p)
{
	uint64_t width = MARGINS + (uint64_t)p->n_places * UPRIGHT;
	return width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : (uint32_t)width;
}

/* As many as can be read: slanted, upright, or every so many of them. */
static void add_places(const struct stacks *p, struct text *out)
{
	uint32_t room = width_of(p) - MARGINS;
	bool slanted = p->n_places <= room / SLANTED;
	uint32_t step = slanted ? 1 : (p->n_places - 1) / (room / UPRIGHT) + 1;
	text_add(out, "set xtics rotate by %d%s (", slanted ? -30 : -90,
		slanted ? "" : " font ',8'");
	for (uint32_t i = 0; i < p->n_places; i += step) {
		add_quoted(out, i > 0 ? ", " : "", p->places[i]);
		text_add(out, " %u", i);
	}
	text_add(out, ")\nset xrange [-0.6:%.1f]\nset yrange [0:*]\n", p->n_places - 0.4);
}

/* Colours that are told apart by everybody (Okabe and Ito, 2008). */
static const char *const colours[STACK_PARTS] = {
	"#0072b2", "#e69f00", "#d55e00", "#009e73", "#56b4e9", "#cc79a7", "#f0e442", "#999999"};
static const double shades[STACK_BARS] = {0.95, 0.65, 0.4, 0.2};

static bool has_bar(const struct stacks *p, uint32_t bar)
{
	for (uint32_t i = 0; i < p->n_places; i++)
		if (!isnan(bar_of(p, i, bar)[0]))
			return true;
	return false;
}

static void add_bar_parts(const struct stacks *p, uint32_t bar, bool titled, struct text *out)
{
	for (uint32_t k = p->n_parts; k-- > 0;) {
		text_add(out,
			"  $bar%u using 1:%u with boxes lc rgb \"%s\" fs solid %.2f border lc rgb "
			"\"#404040\" ",
			bar, k + 2, colours[k], shades[bar]);
		if (titled)
			add_quoted(out, "title ", p->parts[k]);
		else
			text_add(out, "notitle");
		text_add(out, ", \\\n");
	}
}

/* Shades of the bars, for the key alone. */
static void add_key(const struct stacks *p, struct text *out)
{
	for (uint32_t b = 0; p->n_bars > 1 && b < p->n_bars; b++) {
		text_add(out, "  NaN with boxes lc rgb \"black\" fs solid %.2f ", shades[b]);
		add_quoted(out, "title ", p->bars[b]);
		text_add(out, ", \\\n");
	}
}

void report_stacks(const struct stacks *p, const char *file, const char *terminal, struct text *out)
{
	double width = 0.8 / p->n_bars;
	bool titled = true;
	add_terminal(file, terminal, width_of(p), out);
	add_head(p->title, p->x, p->y, out);
	text_add(out,
		"set key bottom center horizontal outside Left reverse\nset grid noxtics\n"
		"set boxwidth %.4f\n",
		width * 0.92);
	add_places(p, out);
	if (p->y_max > 0)
		text_add(out, "set yrange [0:%.9g]\n", p->y_max);
	for (uint32_t b = 0; b < p->n_bars; b++)
		if (has_bar(p, b))
			add_stack_data(p, b, width, out);
	text_add(out, "plot \\\n");
	for (uint32_t b = 0; b < p->n_bars; b++) {
		if (!has_bar(p, b))
			continue;
		add_bar_parts(p, b, titled, out);
		titled = false;
	}
	add_key(p, out);
	text_add(out, "  NaN notitle\n");
}
