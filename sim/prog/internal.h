/* What the files of prog/ share and nobody else needs. */
#ifndef PROG_INTERNAL_H
#define PROG_INTERNAL_H

#include "base/names.h"
#include "prog/prog.h"

struct build_role {
	struct prog_role role;
	struct prog_task *tasks;
	uint32_t n_tasks, cap_tasks;
};

struct prog_builder {
	struct arena *a;
	struct prog_grid grid;
	struct name_index strings;     /* tags, labels, places */
	struct name_index cost_keys;   /* index = index of the cost */
	struct name_index group_names; /* index = index of the group */
	struct prog_cost *costs;
	uint32_t n_costs, cap_costs;
	struct prog_group *groups;
	uint32_t n_groups, cap_groups;
	struct build_role *roles;
	uint32_t n_roles, cap_roles;
};

const char *build_string(struct prog_builder *b, const char *s); /* interned; NULL stays NULL */
/* As prog_add_task(), but keeps the id and the `after` list as they are. */
uint32_t build_put_task(struct prog_builder *b, const struct prog_task *task);

/* "dp*cp" of a mask, dimensions in the grid's order. */
const char *grid_mask_name(struct arena *a, const struct prog_grid *grid, uint32_t mask);

/* One word of a line. */
struct word {
	const char *s; /* ends in '\0' */
	uint32_t n;
	uint32_t col; /* from 1 */
	bool quoted;
};

/* Splits a text into lines of words; lines without words are skipped. */
struct lexer {
	struct arena *a;
	const char *path;
	const char *data;
	size_t n, pos;
	uint32_t line; /* of `words`, from 1 */
	struct word *words;
	uint32_t n_words, cap_words;
};
/* False at the end of the text (err->kind stays ERR_NONE) and on an error. */
bool lex_line(struct lexer *lex, struct err *err);
/* Sets "path:line:col: " and the message, kind ERR_INPUT; returns false. */
bool lex_fail(const struct lexer *lex, uint32_t col, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Would be read back as one plain word. */
bool word_is_plain(const char *s);

struct after_ref {
	uint32_t *list; /* list[slot] is to become an index */
	uint32_t slot, id;
	uint32_t line, col;
};

struct reader {
	struct lexer lex;
	struct prog_builder *b;
	bool has_grid;
	uint32_t at;            /* the next word of the line */
	struct after_ref *refs; /* of the open role */
	uint32_t n_refs, cap_refs;
	struct err *err;
};

/* Words of the line: each says what was expected and returns false when it is not there. */
bool read_word(struct reader *r, const char *what, const struct word **out);
bool read_uint(struct reader *r, const char *what, uint64_t max, uint64_t *out);
bool read_quantity(struct reader *r, enum unit_dim dim, uint64_t max, uint64_t *out);
bool read_ranks(struct reader *r, const uint32_t **ranks, uint32_t *n_ranks);
bool word_is(const struct word *w, const char *keyword);
bool word_to_uint(const struct word *w, uint64_t max, uint64_t *out);
bool read_fail(struct reader *r, const struct word *w, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
uint32_t grid_find_dim(const struct prog_grid *grid, const char *name, size_t n);
/* The dimensions that "cp*dp" joins; 0 when one does not exist or appears twice. */
uint32_t grid_find_mask(const struct prog_grid *grid, const char *name);

/* A task's line; the first word is its id. */
bool read_task(struct reader *r);

/* Dependencies and streams of one role have no cycle. */
bool check_order(const struct prog *p, uint32_t role, struct err *err);

/* The halves of prog_check(). `role_of` says the role of every rank. */
bool check_messages(const struct prog *p, const uint32_t *role_of, struct err *err);
bool check_collectives(const struct prog *p, const uint32_t *role_of, struct err *err);
/* "file:line" of a task, or the role's, or the prog's path. */
const char *task_place(const struct prog *p, uint32_t role, const struct prog_task *t);

#endif
