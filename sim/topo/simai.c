/* SimAI's topology files: a line "NODES GPUS_PER_SERVER NVSWITCHES SWITCHES LINKS GPU_TYPE", the
 * numbers of the switches, then a line "SRC DST 200Gbps 0.0005ms ERROR_RATE" per cable. GPUs are
 * numbered first, then NVSwitches, then switches. Error rates must be numbers and are not used. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "topo/graph.h"

struct simai {
	const char *path;
	struct bytes text;
	size_t at;
	uint32_t line;
	char word[64];
	struct err *err;
};

/* Skips blanks. */
static bool ends(struct simai *s)
{
	while (s->at < s->text.n && isspace((unsigned char)s->text.data[s->at]))
		s->line += s->text.data[s->at++] == '\n';
	return s->at == s->text.n;
}

/* The next word of the file into `word`; false at the end, or for one that is too long. */
static bool next_word(struct simai *s, const char *what)
{
	size_t n = 0;
	(void)ends(s);
	while (s->at < s->text.n && !isspace((unsigned char)s->text.data[s->at]) &&
		n + 1 < sizeof(s->word))
		s->word[n++] = s->text.data[s->at++];
	s->word[n] = '\0';
	return n > 0 || err_set(s->err, ERR_INPUT, "%s:%" PRIu32 ": the file ends, expected %s",
				s->path, s->line, what);
}

static bool next_number(struct simai *s, const char *what, uint32_t most, uint32_t *out)
{
	char *end;
	if (!next_word(s, what))
		return false;
	unsigned long v = strtoul(s->word, &end, 10);
	if (!isdigit((unsigned char)s->word[0]) || *end != '\0' || v > most)
		return err_set(s->err, ERR_INPUT,
			"%s:%" PRIu32 ": '%s', expected %s: a whole number up to %" PRIu32, s->path,
			s->line, s->word, what, most);
	*out = (uint32_t)v;
	return true;
}

static bool next_quantity(struct simai *s, const char *what, enum unit_dim dim, uint64_t *out)
{
	if (!next_word(s, what))
		return false;
	if (!unit_parse(s->word, dim, out, s->err))
		return err_prefix(s->err, "%s:%" PRIu32 ": %s: ", s->path, s->line, what);
	if ((dim == UNIT_BANDWIDTH && *out == 0) || (dim == UNIT_TIME && *out > TOPO_MAX_LATENCY))
		return err_set(s->err, ERR_INPUT, "%s:%" PRIu32 ": %s %s is out of range", s->path,
			s->line, what, s->word);
	return true;
}

enum { NODES, PER_SERVER, NVSWITCHES, SWITCHES, LINKS, N_COUNTS };

static bool read_header(struct simai *s, uint32_t counts[N_COUNTS])
{
	static const char *const names[] = {"the number of nodes", "GPUs of a server",
		"the number of NVSwitches", "the number of switches", "the number of links"};
	for (int i = 0; i < N_COUNTS; i++)
		if (!next_number(s, names[i], i == LINKS ? TOPO_MAX_LINKS / 2 : TOPO_MAX_DEVICES,
			    &counts[i]))
			return false;
	if (!next_word(s, "the type of GPU"))
		return false;
	if (counts[NVSWITCHES] + counts[SWITCHES] >= counts[NODES])
		return err_set(s->err, ERR_INPUT,
			"%s:%" PRIu32 ": %" PRIu32 " nodes of which %" PRIu32
			" are switches, expected GPUs as well",
			s->path, s->line, counts[NODES], counts[NVSWITCHES] + counts[SWITCHES]);
	return true;
}

static bool add_nodes(struct simai *s, const uint32_t counts[N_COUNTS], struct topo_graph *g)
{
	uint32_t n_switches = counts[NVSWITCHES] + counts[SWITCHES];
	uint32_t n_gpus = counts[NODES] - n_switches;
	for (uint32_t i = 0; i < counts[NODES]; i++) {
		const char *kind = i < n_gpus                        ? "gpu"
				   : i < n_gpus + counts[NVSWITCHES] ? "nvswitch"
								     : "switch";
		topo_graph_node(g, arena_printf(g->a, "%s%" PRIu32, kind, i), i < n_gpus);
	}
	for (uint32_t i = 0; i < n_switches; i++) {
		uint32_t node = 0;
		if (!next_number(s, "the number of a switch", counts[NODES] - 1, &node))
			return false;
		if (node < n_gpus)
			return err_set(s->err, ERR_INPUT,
				"%s:%" PRIu32 ": switch %" PRIu32 ", but nodes below %" PRIu32
				" are GPUs",
				s->path, s->line, node, n_gpus);
	}
	return true;
}

static bool read_link(struct simai *s, uint32_t n_nodes, struct topo_graph *g)
{
	uint32_t from, to;
	struct topo_cable cable;
	char *end;
	if (!next_number(s, "the first end of a link", n_nodes - 1, &from) ||
		!next_number(s, "the second end of a link", n_nodes - 1, &to) ||
		!next_quantity(s, "bandwidth", UNIT_BANDWIDTH, &cable.bytes_per_s) ||
		!next_quantity(s, "latency", UNIT_TIME, &cable.latency) ||
		!next_word(s, "an error rate"))
		return false;
	double rate = strtod(s->word, &end);
	if (end == s->word || *end != '\0' || !(rate >= 0 && rate <= 1))
		return err_set(s->err, ERR_INPUT,
			"%s:%" PRIu32 ": '%s', expected an error rate from 0 to 1", s->path,
			s->line, s->word);
	if (from == to)
		return err_set(s->err, ERR_INPUT,
			"%s:%" PRIu32 ": the link leads from %" PRIu32 " to itself", s->path,
			s->line, from);
	topo_graph_cable(g, from, to, cable);
	return true;
}

bool topo_build_simai(
	struct arena *a, const char *path, struct bytes text, struct topo *out, struct err *err)
{
	struct simai s = {.path = path, .text = text, .line = 1, .err = err};
	struct topo_graph g = {.a = a};
	uint32_t counts[N_COUNTS] = {0};
	if (!read_header(&s, counts) || !add_nodes(&s, counts, &g))
		return false;
	for (uint32_t i = 0; i < counts[LINKS]; i++) {
		if (ends(&s))
			return err_set(err, ERR_INPUT,
				"%s:%" PRIu32 ": the file ends after %" PRIu32
				" links, line 1 promises %" PRIu32,
				path, s.line, i, counts[LINKS]);
		if (!read_link(&s, counts[NODES], &g))
			return false;
	}
	if (!ends(&s))
		return err_set(err, ERR_INPUT,
			"%s:%" PRIu32 ": more text after the %" PRIu32
			" links that line 1 promises",
			path, s.line, counts[LINKS]);
	return topo_graph_finish(&g, "simai", out, err) || err_prefix(err, "%s: ", path);
}
