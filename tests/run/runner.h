/* What the tests of run/ share: progs from text, and results as text. */
#ifndef TESTS_RUN_RUNNER_H
#define TESTS_RUN_RUNNER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/run.h"
#include "suite.h"

#define US ((tick)1000000)

/* One try: everything lives until runner_free(). */
struct runner {
	struct arena a;
	struct prog prog;
	struct topo topo;
	struct run_config config;
	struct run_result result;
	struct err err;
};

/* Reads the prog and the topology; spans are kept. */
static inline void runner_init(struct runner *r, const char *prog, const char *topo)
{
	*r = (struct runner){.config = {.topo = &r->topo, .keep_spans = true}};
	bool ok = prog_parse(&r->a, "t.prog", prog, strlen(prog), &r->prog, &r->err) &&
		  topo_parse(&r->a, topo, &r->topo, &r->err);
	if (!ok)
		printf("%s\n", r->err.text);
	CU_ASSERT_TRUE_FATAL(ok);
}

static inline bool runner_run(struct runner *r, enum net_kind net)
{
	r->config.net = net;
	r->err = (struct err){0};
	return run_prog(&r->a, &r->prog, &r->config, &r->result, &r->err);
}

static inline void runner_expect_ok(struct runner *r, enum net_kind net)
{
	bool ok = runner_run(r, net);
	if (!ok)
		printf("%s\n", r->err.text);
	CU_ASSERT_TRUE_FATAL(ok);
}

static inline void runner_free(struct runner *r)
{
	arena_free(&r->a);
}

/* The span of a task, by rank and id. */
static inline struct run_span runner_span(const struct runner *r, uint32_t rank, uint32_t id)
{
	for (uint32_t i = 0; i < r->result.n_spans; i++) {
		struct run_span s = r->result.spans[i];
		if (s.rank == rank && r->prog.roles[s.role].tasks[s.task].id == id)
			return s;
	}
	CU_FAIL_FATAL("no such span");
	return (struct run_span){0};
}

/* Prints the end when it is another one. */
static inline void runner_expect_end(struct runner *r, enum net_kind net, tick end)
{
	runner_expect_ok(r, net);
	CU_ASSERT_EQUAL(r->result.end, end);
	if (r->result.end != end)
		printf("end: %llu instead of %llu\n", (unsigned long long)r->result.end,
			(unsigned long long)end);
}

/* Runs it and expects the error. */
static inline void runner_expect_error(
	struct runner *r, enum net_kind net, enum err_kind kind, const char *text)
{
	CU_ASSERT_FALSE(runner_run(r, net));
	CU_ASSERT_EQUAL(r->err.kind, kind);
	CU_ASSERT_STRING_EQUAL(r->err.text, text);
	if (strcmp(r->err.text, text) != 0)
		printf("got:      %s\nexpected: %s\n", r->err.text, text);
}

#endif
