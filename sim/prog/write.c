#include "prog/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_quoted(struct text *out, const char *s)
{
	text_add(out, "\"");
	for (; *s; s++) {
		if (*s == '\n' || *s == '\t' || *s == '"' || *s == '\\')
			text_add(out, "\\%c", *s == '\n' ? 'n' : *s == '\t' ? 't' : *s);
		else
			text_add_bytes(out, s, 1);
	}
	text_add(out, "\"");
}

static void write_name(struct text *out, const char *s)
{
	text_add(out, " ");
	if (word_is_plain(s))
		text_add(out, "%s", s);
	else
		write_quoted(out, s);
}

/* One word: the blank between number and unit is left out. */
static void write_quantity(struct text *out, enum unit_dim dim, uint64_t value)
{
	char buf[UNIT_TEXT];
	text_add(out, " ");
	for (const char *s = unit_print_exact(buf, dim, value); *s; s++)
		if (*s != ' ')
			text_add_bytes(out, s, 1);
}

/* The shortest decimal that reads back as the same double. */
static void write_energy(struct text *out, double energy_j)
{
	char buf[32];
	int digits = 1;
	do
		snprintf(buf, sizeof(buf), "%.*g", digits, energy_j);
	while (strtod(buf, NULL) != energy_j && digits++ < 17);
	text_add(out, " energy=%sJ", buf);
}

static void write_ranks(struct text *out, const uint32_t *ranks, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t last = i;
		while (last + 1 < n && ranks[last + 1] == ranks[last] + 1)
			last++;
		if (last >= i + 2) {
			text_add(out, " %u..%u", ranks[i], ranks[last]);
			i = last;
		} else {
			text_add(out, " %u", ranks[i]);
		}
	}
}

static void write_peer(struct text *out, const struct prog *p, const struct prog_peer *peer)
{
	if (peer->dim == PROG_NONE)
		text_add(out, " %u", peer->rank);
	else
		text_add(out, " %s%+d", p->grid.names[peer->dim], (int)peer->offset);
}

static void write_message(struct text *out, const struct prog *p, const struct prog_task *t)
{
	write_peer(out, p, &t->peer);
	write_quantity(out, UNIT_BYTES, t->bytes);
	if (t->tag) {
		text_add(out, " tag");
		write_name(out, t->tag);
	}
	if (t->eager && t->kind == TASK_SEND)
		text_add(out, " eager");
}

static void write_compute(struct text *out, const struct prog *p, const struct prog_task *t)
{
	if (t->cost != PROG_NONE)
		write_name(out, p->costs[t->cost].key);
	else
		write_quantity(out, UNIT_TIME, t->duration);
	if (t->phase != PHASE_NONE)
		text_add(out, " phase %s", task_phase_name(t->phase));
}

static void write_coll(struct text *out, const struct prog *p, const struct prog_task *t)
{
	text_add(out, " %s", coll_kind_name(t->coll));
	write_name(out, p->groups[t->group].name);
	write_quantity(out, UNIT_BYTES, t->bytes);
	if (coll_kind_has_root(t->coll) && t->root != 0)
		text_add(out, " root %u", t->root);
	if (t->algo) {
		text_add(out, " algo");
		write_name(out, t->algo);
	}
}

static void write_what(struct text *out, const struct prog *p, const struct prog_task *t)
{
	switch (t->kind) {
	case TASK_COMPUTE:
		write_compute(out, p, t);
		break;
	case TASK_SEND:
	case TASK_RECV:
		write_message(out, p, t);
		break;
	case TASK_COLL:
		write_coll(out, p, t);
		break;
	case TASK_WAIT:
		write_quantity(out, UNIT_TIME, t->duration);
		break;
	case TASK_MARK:
		write_name(out, t->label ? t->label : "");
		break;
	}
}

/* "path:line" of the prog itself is what a reader puts where nothing is written. */
static bool place_is_own(const struct prog *p, const char *place)
{
	size_t n = p->path ? strlen(p->path) : 0;
	return n > 0 && strncmp(place, p->path, n) == 0 && place[n] == ':' &&
	       strspn(place + n + 1, "0123456789") == strlen(place + n + 1);
}

static void write_place(struct text *out, const struct prog *p, const char *place)
{
	if (!place || !*place || place_is_own(p, place))
		return;
	text_add(out, " @");
	for (; *place; place++)
		text_add(out, "%c", (unsigned char)*place <= ' ' || *place == 0x7f ? '_' : *place);
}

static void write_task(struct text *out, const struct prog *p, const struct prog_role *r,
	const struct prog_task *t)
{
	text_add(out, "  %u %s", t->id, task_kind_name(t->kind));
	write_what(out, p, t);
	if (t->n_after > 0)
		text_add(out, " after");
	for (uint32_t i = 0; i < t->n_after; i++)
		text_add(out, " %u", r->tasks[t->after[i]].id);
	if (t->stream != 0)
		text_add(out, " stream %u", t->stream);
	if (t->label && t->kind != TASK_MARK) {
		text_add(out, " name");
		write_name(out, t->label);
	}
	write_place(out, p, t->place);
	text_add(out, "\n");
}

static void write_role(struct text *out, const struct prog *p, const struct prog_role *r)
{
	text_add(out, "role");
	write_name(out, r->name);
	if (r->n_ranks > 0) {
		text_add(out, " ranks");
		write_ranks(out, r->ranks, r->n_ranks);
	}
	for (uint32_t d = 0; d < p->grid.n_dims && r->n_ranks == 0; d++) {
		if (r->lo[d] == 0 && r->hi[d] == p->grid.sizes[d] - 1)
			continue;
		text_add(out, " %s=%u", p->grid.names[d], r->lo[d]);
		if (r->hi[d] != r->lo[d])
			text_add(out, "..%u", r->hi[d]);
	}
	text_add(out, "\n");
	for (uint32_t i = 0; i < r->n_tasks; i++)
		write_task(out, p, r, &r->tasks[i]);
}

void prog_write(const struct prog *p, struct text *out)
{
	text_add(out, "wham-prog 1\ngrid");
	for (uint32_t d = 0; d < p->grid.n_dims; d++)
		text_add(out, " %s=%u", p->grid.names[d], p->grid.sizes[d]);
	text_add(out, "\n");
	for (uint32_t i = 0; i < p->n_costs; i++) {
		text_add(out, "cost");
		write_name(out, p->costs[i].key);
		text_add(out, " =");
		write_quantity(out, UNIT_TIME, p->costs[i].duration);
		if (p->costs[i].energy_j > 0)
			write_energy(out, p->costs[i].energy_j);
		text_add(out, "\n");
	}
	for (uint32_t i = 0; i < p->n_groups; i++) {
		if (p->groups[i].dims_mask != 0)
			continue;
		text_add(out, "group");
		write_name(out, p->groups[i].name);
		write_ranks(out, p->groups[i].ranks, p->groups[i].n_ranks);
		text_add(out, "\n");
	}
	for (uint32_t i = 0; i < p->n_roles; i++)
		write_role(out, p, &p->roles[i]);
}
