/* MSCCL XML as msccl-tools writes it (https://github.com/microsoft/msccl-tools). */
#include "coll/msccl.h"

#include <expat.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANKS = 4096, MAX_STEPS = 1 << 22, MAX_CHUNKS = 1 << 20, MAX_BYTES = 1 << 30 };

// clang-format off
const struct msccl_op_kind msccl_ops[N_MSCCL_OPS] = {
	[MSCCL_CPY]  = {"cpy",  false, false, true,  false, true},
	[MSCCL_NOP]  = {"nop",  false, false, false, false, false},
	[MSCCL_R]    = {"r",    true,  false, false, false, true},
	[MSCCL_RCS]  = {"rcs",  true,  true,  false, false, true},
	[MSCCL_RE]   = {"re",   false, false, true,  true,  true},
	[MSCCL_RRC]  = {"rrc",  true,  false, true,  true,  true},
	[MSCCL_RRCS] = {"rrcs", true,  true,  true,  true,  true},
	[MSCCL_RRS]  = {"rrs",  true,  true,  true,  true,  false},
	[MSCCL_S]    = {"s",    false, true,  true,  false, false},
};
// clang-format on

struct reader {
	XML_Parser parser;
	struct arena *a;
	struct msccl *m;
	struct err *err;
	uint32_t rank;
	int depth;
	bool failed, *seen;
};

static void reader_fail(struct reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void reader_fail(struct reader *r, const char *fmt, ...)
{
	struct text text = {0};
	va_list ap;
	if (r->failed)
		return;
	va_start(ap, fmt);
	text_vadd(&text, fmt, ap);
	va_end(ap);
	err_set(r->err, ERR_INPUT, "%s:%lu:%lu: %s", r->m->path,
		(unsigned long)XML_GetCurrentLineNumber(r->parser),
		(unsigned long)XML_GetCurrentColumnNumber(r->parser) + 1, text.data);
	text_free(&text);
	r->failed = true;
	XML_StopParser(r->parser, XML_FALSE);
}

static const char *attr(const char **atts, const char *name)
{
	for (; atts[0]; atts += 2)
		if (strcmp(atts[0], name) == 0)
			return atts[1];
	return NULL;
}

/* A whole number from 0 to max, or -1 as PROG_NONE where that is allowed. */
struct number {
	const char *name;
	uint32_t max;
	bool optional; /* missing, or -1: PROG_NONE */
};

static uint32_t number(struct reader *r, const char **atts, const struct number *spec)
{
	const char *text = attr(atts, spec->name);
	if (spec->optional && (!text || strcmp(text, "-1") == 0))
		return PROG_NONE;
	char *end = NULL;
	unsigned long v = text ? strtoul(text, &end, 10) : 0;
	if (!text || *text < '0' || *text > '9' || *end != '\0' || v > spec->max) {
		reader_fail(r, "%s='%s', expected a whole number from 0 to %u", spec->name,
			text ? text : "(missing)", spec->max);
		return 0;
	}
	return (uint32_t)v;
}

static uint32_t count_of(struct reader *r, const char **atts, const char *name, uint32_t max)
{
	return number(r, atts, &(struct number){name, max, false});
}

static uint32_t optional(struct reader *r, const char **atts, const char *name)
{
	return number(r, atts, &(struct number){name, MAX_STEPS, true});
}

static void start_algo(struct reader *r, const char **atts)
{
	static const struct {
		const char *name;
		enum coll_kind kind;
	} kinds[] = {
		{"allgather", COLL_ALLGATHER},
		{"allreduce", COLL_ALLREDUCE},
		{"alltoall", COLL_ALLTOALL},
		{"reduce_scatter", COLL_REDUCESCATTER},
	};
	struct msccl *m = r->m;
	const char *coll = attr(atts, "coll"), *in_place = attr(atts, "inplace");
	size_t k = 0, n = sizeof(kinds) / sizeof(*kinds);
	while (k < n && (!coll || strcmp(coll, kinds[k].name) != 0))
		k++;
	if (k == n) {
		reader_fail(r,
			"coll='%s', expected allgather, allreduce, alltoall or reduce_scatter",
			coll ? coll : "(missing)");
		return;
	}
	m->kind = kinds[k].kind;
	m->name = arena_strdup(r->a, attr(atts, "name") ? attr(atts, "name") : "msccl");
	m->in_place = in_place && strcmp(in_place, "1") == 0;
	m->n_ranks = count_of(r, atts, "ngpus", MAX_RANKS);
	m->n_chunks = count_of(r, atts, "nchunksperloop", MAX_CHUNKS);
	if (m->n_ranks == 0 || m->n_chunks == 0)
		reader_fail(r, "ngpus and nchunksperloop are at least 1");
	for (int b = 0; b < 3; b++)
		m->n_of_rank[b] = arena_array(r->a, m->n_ranks, uint32_t);
	r->seen = arena_array(r->a, m->n_ranks, bool);
}

static void start_gpu(struct reader *r, const char **atts)
{
	static const char *const names[] = {"i_chunks", "o_chunks", "s_chunks"};
	r->rank = count_of(r, atts, "id", r->m->n_ranks - 1);
	if (r->failed)
		return;
	if (r->seen[r->rank])
		reader_fail(r, "gpu %u appears twice", r->rank);
	r->seen[r->rank] = true;
	for (int b = 0; b < 3; b++)
		r->m->n_of_rank[b][r->rank] = count_of(r, atts, names[b], MAX_CHUNKS);
}

static void start_block(struct reader *r, const char **atts)
{
	struct msccl *m = r->m;
	struct msccl_block block = {.rank = r->rank,
		.id = count_of(r, atts, "id", MAX_STEPS),
		.send = optional(r, atts, "send"),
		.recv = optional(r, atts, "recv"),
		.chan = count_of(r, atts, "chan", MAX_STEPS),
		.first = m->n_steps,
		.line = XML_GetCurrentLineNumber(r->parser)};
	uint32_t n_before = 0;
	for (uint32_t i = m->n_blocks; i > 0 && m->blocks[i - 1].rank == r->rank; i--)
		n_before++;
	if (block.id != n_before)
		reader_fail(r, "threadblock %u, expected %u: they are numbered from 0", block.id,
			n_before);
	if ((block.send != PROG_NONE && block.send >= m->n_ranks) ||
		(block.recv != PROG_NONE && block.recv >= m->n_ranks) || block.send == r->rank ||
		block.recv == r->rank)
		reader_fail(r, "send and recv name another gpu below %u, or -1", m->n_ranks);
	arena_push(r->a, m->blocks, m->n_blocks, m->cap_blocks) = block;
}

static struct msccl_place place(
	struct reader *r, const char **atts, const char *buffer, const char *offset)
{
	const char *name = attr(atts, buffer);
	const char *at = name && name[0] != '\0' && name[1] == '\0' ? strchr("ios", name[0]) : NULL;
	struct msccl_place p = {.offset = optional(r, atts, offset)};
	if (!at)
		reader_fail(r, "%s='%s', expected i, o or s", buffer, name ? name : "(missing)");
	else
		p.buffer = (enum msccl_buffer)(at - "ios");
	return p;
}

static void start_step(struct reader *r, const char **atts)
{
	struct msccl *m = r->m;
	struct msccl_block *block = &m->blocks[m->n_blocks - 1];
	const char *type = attr(atts, "type"), *names[N_MSCCL_OPS];
	uint32_t op = 0;
	for (uint32_t i = 0; i < N_MSCCL_OPS; i++)
		names[i] = msccl_ops[i].name;
	while (op < N_MSCCL_OPS && (!type || strcmp(type, names[op]) != 0))
		op++;
	if (op == N_MSCCL_OPS || m->n_steps == MAX_STEPS) {
		reader_fail(r,
			op < N_MSCCL_OPS ? "too many steps (%s)"
					 : "unknown step type '%s', expected cpy, nop, r, "
					   "rcs, re, rrc, rrcs, rrs or s",
			type ? type : "(missing)");
		return;
	}
	struct msccl_step step = {.op = (enum msccl_op)op,
		.count = count_of(r, atts, "cnt", MAX_CHUNKS),
		.block = m->n_blocks - 1,
		.dep_tb = optional(r, atts, "depid"),
		.dep_step = optional(r, atts, "deps"),
		.line = XML_GetCurrentLineNumber(r->parser)};
	if (op != MSCCL_NOP) {
		step.src = place(r, atts, "srcbuf", "srcoff");
		step.dst = place(r, atts, "dstbuf", "dstoff");
	}
	if (count_of(r, atts, "s", MAX_STEPS) != block->n_steps)
		reader_fail(r, "steps are numbered from 0, expected s=\"%u\"", block->n_steps);
	if ((msccl_ops[op].sends && block->send == PROG_NONE) ||
		(msccl_ops[op].receives && block->recv == PROG_NONE))
		reader_fail(r, "step type %s in a threadblock that %s nobody", type,
			msccl_ops[op].sends ? "sends to" : "receives from");
	block->n_steps++;
	arena_push(r->a, m->steps, m->n_steps, m->cap_steps) = step;
}

static void XMLCALL on_start(void *ctx, const char *name, const char **atts)
{
	static const char *const levels[] = {"algo", "gpu", "tb", "step"};
	static void (*const starts[])(struct reader *, const char **) = {
		start_algo, start_gpu, start_block, start_step};
	struct reader *r = ctx;
	if (r->failed)
		return;
	if (r->depth >= 4 || strcmp(name, levels[r->depth]) != 0)
		reader_fail(
			r, "<%s>, expected <%s>", name, r->depth < 4 ? levels[r->depth] : "/step");
	else
		starts[r->depth](r, atts);
	r->depth++;
}

static void XMLCALL on_end(void *ctx, const char *name)
{
	((struct reader *)ctx)->depth--;
}

static bool fail_at(const struct msccl *m, unsigned long line, struct err *err, const char *what)
{
	return err_set(err, ERR_INPUT, "%s:%lu: %s", m->path, line, what);
}

static bool is_inside(const struct msccl *m, uint32_t rank, const struct msccl_place *p, uint32_t n)
{
	uint32_t size = m->n_of_rank[p->buffer][rank];
	/* In place the output may be said to hold nothing: it is the input then. */
	if (p->buffer == MSCCL_OUTPUT && m->in_place && size == 0)
		size = m->n_of_rank[MSCCL_INPUT][rank];
	return p->offset <= size && n <= size - p->offset;
}

static bool check_step(const struct msccl *m, const struct msccl_step *s, struct err *err)
{
	const struct msccl_op_kind *op = &msccl_ops[s->op];
	uint32_t rank = m->blocks[s->block].rank;
	if ((op->reads && !is_inside(m, rank, &s->src, s->count)) ||
		(op->writes && !is_inside(m, rank, &s->dst, s->count)))
		return fail_at(m, s->line, err, "the chunks lie outside of their buffer");
	if (s->dep_tb == PROG_NONE || s->dep_step == PROG_NONE)
		return true;
	uint32_t b = s->block - m->blocks[s->block].id + s->dep_tb;
	if (s->dep_tb >= m->n_blocks || b >= m->n_blocks || m->blocks[b].rank != rank ||
		s->dep_step >= m->blocks[b].n_steps)
		return fail_at(m, s->line, err, "depends on a step that does not exist");
	return true;
}

static bool check(const struct msccl *m, const struct reader *r, struct err *err)
{
	for (uint32_t i = 0; i < m->n_ranks; i++)
		if (!r->seen[i])
			return err_set(err, ERR_INPUT, "%s: gpu %u of %u is missing", m->path, i,
				m->n_ranks);
	for (uint32_t i = 0; i < m->n_steps; i++)
		if (!check_step(m, &m->steps[i], err))
			return false;
	return true;
}

bool msccl_parse(struct arena *a, const char *path, struct msccl *out, struct err *err)
{
	struct bytes text;
	*out = (struct msccl){.path = arena_strdup(a, path)};
	if (!file_read(a, path, &text, err))
		return false;
	if (text.n > MAX_BYTES)
		return err_set(err, ERR_INPUT, "%s: more than 1 GiB", path);
	struct reader r = {.a = a, .m = out, .err = err, .parser = XML_ParserCreate(NULL)};
	XML_SetUserData(r.parser, &r);
	XML_SetElementHandler(r.parser, on_start, on_end);
	bool ok = XML_Parse(r.parser, text.data, (int)text.n, XML_TRUE) == XML_STATUS_OK;
	if (!ok && !r.failed)
		reader_fail(&r, "%s", XML_ErrorString(XML_GetErrorCode(r.parser)));
	ok = ok && !r.failed && check(out, &r, err);
	XML_ParserFree(r.parser);
	return ok;
}
