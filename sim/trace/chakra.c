/* Chakra execution traces, schema 0.0.4 (github.com/mlcommons/chakra): a file for each rank,
 * PREFIX.RANK.et. A file of groups, {"1": [0, 1], ...}, may lie beside them. Sizes of all-gathers
 * and gathers are what one rank puts in.
 *
 * Repaired with a counted warning: dependencies on nodes that are not there; process groups that
 * cannot be read; communication that is said to run on the processor (it keeps its recorded time);
 * work without a duration (no time). Lenient reading repairs also: nodes of unknown type (passed
 * over), control dependencies within a cycle, unknown groups (all ranks), members of a collective
 * that name different sizes (the largest). */
#include "trace/chakra.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool has_ending(const char *name, const char *ending)
{
	size_t n = strlen(name), k = strlen(ending);
	return n > k && strcmp(name + n - k, ending) == 0;
}

static bool fits(const struct trace_input *in)
{
	for (uint32_t i = 0; i < in->n_files; i++)
		if (has_ending(in->files[i].name, ".et"))
			return true;
	return false;
}

/* "w.12.et" -> 12 and the length of "w"; a file without a number is rank 0 of a set of one. */
static bool parse_name(const char *name, size_t *prefix, uint32_t *rank)
{
	size_t end = strlen(name) - 3, at = end;
	uint64_t n = 0;
	while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	*rank = PROG_NONE;
	*prefix = end;
	if (at == end || (at > 0 && name[at - 1] != '.'))
		return true;
	for (size_t i = at; i < end; i++) {
		n = n * 10 + (uint64_t)(name[i] - '0');
		if (n >= PROG_MAX_RANKS)
			return false;
	}
	*rank = (uint32_t)n;
	*prefix = at > 0 ? at - 1 : 0;
	return true;
}

struct named {
	const struct trace_file *file;
	size_t prefix;
	uint32_t rank;
};

static int rank_order(const void *x, const void *y)
{
	const struct named *a = x, *b = y;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return strcmp(a->file->path, b->file->path);
}

static bool check_ranks(const struct named *list, uint32_t n, struct err *err)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct named *x = &list[i];
		if (x->prefix != list[0].prefix ||
			strncmp(x->file->name, list[0].file->name, x->prefix) != 0)
			return err_set(err, ERR_INPUT,
				"%s and %s are of different sets, expected one set at a time",
				list[0].file->path, x->file->path);
		if (i > 0 && x->rank == list[i - 1].rank)
			return err_set(err, ERR_INPUT, "%s and %s are both rank %" PRIu32,
				list[i - 1].file->path, x->file->path, x->rank);
		if (x->rank != i)
			return err_set(err, ERR_INPUT,
				"%s: rank %" PRIu32 " of the set is missing (the next file is that "
				"of rank %" PRIu32 ")",
				x->file->path, i, x->rank);
	}
	return true;
}

/* The files of the ranks in order, and the other ones behind them. */
static bool sort_files(struct arena *a, const struct trace_input *in, struct named **out,
	uint32_t *n, struct err *err)
{
	struct named *list = arena_array(a, in->n_files, struct named);
	*n = 0;
	for (uint32_t i = 0; i < in->n_files; i++) {
		struct named *x = &list[*n];
		x->file = &in->files[i];
		if (!has_ending(in->files[i].name, ".et"))
			continue;
		if (!parse_name(in->files[i].name, &x->prefix, &x->rank))
			return err_set(err, ERR_INPUT, "%s: a rank of at most %d is expected",
				in->files[i].path, (int)PROG_MAX_RANKS - 1);
		(*n)++;
	}
	if (*n == 1)
		list[0].rank = 0;
	for (uint32_t i = 0; i < *n; i++)
		if (list[i].rank == PROG_NONE)
			return err_set(err, ERR_INPUT,
				"%s: a name of the form PREFIX.RANK.et is expected",
				list[i].file->path);
	qsort(list, *n, sizeof(*list), rank_order);
	*out = list;
	return check_ranks(list, *n, err);
}

static bool read_ranks(struct et_set *set, const struct named *list, struct err *err)
{
	for (uint32_t r = 0; r < set->n_ranks; r++) {
		set->ranks[r].path = list[r].file->path;
		set->ranks[r].name = list[r].file->name;
		if (!et_decode(set, &set->ranks[r], list[r].file->content, err) ||
			!et_resolve(set, &set->ranks[r], err))
			return false;
		set->trace->n_nodes += set->ranks[r].n_nodes;
		if (set->trace->n_nodes > PROG_NONE / 2)
			return err_set(err, ERR_INPUT, "%s: more than %" PRIu32 " nodes in the set",
				set->ranks[r].path, PROG_NONE / 2);
	}
	if (strcmp(set->ranks[0].schema, "symbolic_tensor_network") == 0 &&
		set->options->elem_bytes == 0)
		trace_warn(set->a, set->trace, "sizes_in_elements",
			"%s: its tool (STAGE) counts elements, and they are taken as bytes "
			"(--elem-bytes 2 makes them elements of 2 bytes)",
			set->ranks[0].path);
	return true;
}

static void warn_alone(struct et_set *set)
{
	for (uint32_t i = 0; set->n_ranks == 1 && i < set->ranks[0].n_nodes; i++)
		if (set->ranks[0].nodes[i].type == ET_COLL)
			trace_warn(set->a, set->trace, "single_rank",
				"%s: the only rank of the set: its collectives take no time",
				et_place(set->a, &set->ranks[0], &set->ranks[0].nodes[i]));
}

static bool read_groups(struct et_set *set, const struct trace_input *in, struct err *err)
{
	for (uint32_t i = 0; i < in->n_files; i++)
		if (has_ending(in->files[i].name, ".json") &&
			!et_read_groups(set, &in->files[i], err))
			return false;
	return et_find_groups(set, err);
}

static bool read(struct arena *a, const struct trace_input *in, const struct trace_options *options,
	struct trace *out, struct err *err)
{
	struct named *list = NULL;
	struct et_set set = {.a = a, .options = options, .trace = out};
	if (!sort_files(a, in, &list, &set.n_ranks, err))
		return false;
	assert(list && set.n_ranks > 0);
	set.ranks = arena_array(a, set.n_ranks, struct et_rank);
	if (!read_ranks(&set, list, err) || !et_check_nodes(&set, err) ||
		!read_groups(&set, in, err) || !et_check_bytes(&set, err))
		return false;
	warn_alone(&set);
	struct et_order order = et_schedule(&set);
	et_emit(&set, &order, &out->prog);
	out->prog.path = in->files[0].path;
	return true;
}

const struct trace_format format_chakra = {
	.name = "chakra",
	.summary = "Chakra execution traces, one .et file for each rank",
	.fits = fits,
	.read = read,
};
