/* A prog that was replayed: where each rank's time went, and what each collective took. */
#include "report/internal.h"
#include "report/report.h"

/* What a role computes on other streams than that of its device. */
static tick host_time(const struct prog *p, const struct prog_role *role)
{
	tick sum = 0;
	for (uint32_t i = 0; i < role->n_tasks; i++) {
		const struct prog_task *t = &role->tasks[i];
		if (t->kind == TASK_COMPUTE && t->stream != 0)
			sum += t->cost == PROG_NONE ? t->duration : p->costs[t->cost].duration;
	}
	return sum;
}

static json_t *rank_json(uint32_t rank, const struct run_rank *k, tick host)
{
	json_t *o = json_object();
	put_uint(o, "rank", rank);
	put_time(o, "compute_s", k->forward + k->backward + k->optimizer + k->other_compute);
	put_time(o, "comm_exposed_s", k->tp_exposed + k->dp_exposed + k->pp_exposed);
	put_time(o, "wait_s", k->bubble);
	put_time(o, "host_s", host);
	put_time(o, "end_s", k->end);
	return o;
}

static json_t *coll_json(const struct run_coll *c)
{
	json_t *o = json_object();
	put_text(o, "kind", coll_kind_name(c->kind));
	put_text(o, "group", c->group);
	put_uint(o, "first_rank", c->first_rank);
	put_uint(o, "ranks", c->n_ranks);
	put_uint(o, "bytes", c->bytes);
	put_time(o, "transfer_s", c->end - c->start);
	put_time(o, "wait_s", c->start - c->first_entered);
	put_time(o, "simulated_s", c->end - c->first_entered);
	return o;
}

json_t *report_replay_json(const struct replay_report *s)
{
	json_t *root = json_object(), *ranks = json_array(), *colls = json_array();
	json_t *links = json_array();
	struct arena a = {0};
	const uint32_t *roles = prog_role_map(&a, s->prog);
	tick *hosts = arena_array(&a, s->prog->n_roles, tick);
	for (uint32_t i = 0; i < s->prog->n_roles; i++)
		hosts[i] = host_time(s->prog, &s->prog->roles[i]);
	for (uint32_t r = 0; r < s->run->n_ranks; r++)
		json_array_append_new(ranks, rank_json(r, &s->run->ranks[r], hosts[roles[r]]));
	arena_free(&a);
	for (uint32_t i = 0; i < s->run->n_colls; i++)
		json_array_append_new(colls, coll_json(&s->run->colls[i]));
	for (uint32_t i = 0; i < s->run->n_links; i++) {
		json_t *l = json_object();
		put_text(l, "name", s->topo->links[s->run->links[i].link].name);
		put_real(l, "bytes", s->run->links[i].bytes);
		put_real(l, "utilisation", s->run->links[i].utilisation);
		json_array_append_new(links, l);
	}
	put_time(root, "step_time_s", s->run->end);
	put_text(root, "format", s->format);
	put_uint(root, "nodes", s->n_nodes);
	put_text(root, "topology", s->topo->name);
	put_text(root, "network", net_kind_name(s->net));
	put_uint(root, "messages", s->run->n_messages);
	put_uint(root, "sendrecv_bytes", s->run->p2p_bytes);
	put(root, "ranks", ranks);
	put(root, "collectives", colls);
	put(root, "links", links);
	return root;
}

void report_replay_table(struct arena *a, const struct replay_report *s, struct table *t)
{
	static const char *const columns[] = {
		"kind", "group", "first_rank", "ranks", "bytes", "entered_s", "start_s", "end_s"};
	*t = (struct table){
		.a = a, .columns = columns, .n_columns = sizeof(columns) / sizeof(*columns)};
	for (uint32_t i = 0; i < s->run->n_colls; i++) {
		const struct run_coll *c = &s->run->colls[i];
		table_cell(t, "%s", coll_kind_name(c->kind));
		table_cell(t, "%s", c->group);
		table_cell(t, "%u", c->first_rank);
		table_cell(t, "%u", c->n_ranks);
		table_cell(t, "%ju", (uintmax_t)c->bytes);
		table_cell(t, "%.12f", ticks_to_s(c->first_entered));
		table_cell(t, "%.12f", ticks_to_s(c->start));
		table_cell(t, "%.12f", ticks_to_s(c->end));
	}
}

static void add_totals(const struct replay_report *s, struct text *out)
{
	for (uint32_t k = 0; k < N_COLL_KINDS; k++) {
		char bytes[UNIT_TEXT];
		uint64_t n = 0;
		for (uint32_t i = 0; i < s->run->n_colls; i++)
			n += (uint32_t)s->run->colls[i].kind == k;
		if (n > 0)
			text_add(out, "%ju x %s, %s in all\n", (uintmax_t)n,
				coll_kind_name((enum coll_kind)k),
				unit_print(bytes, UNIT_BYTES, s->run->coll_bytes[k]));
	}
}

/* Exposed communication of all ranks over their time. */
static double exposed_share(const struct run_result *run)
{
	double exposed = 0, all = 0;
	for (uint32_t r = 0; r < run->n_ranks; r++) {
		const struct run_rank *k = &run->ranks[r];
		exposed += ticks_to_s(k->tp_exposed + k->dp_exposed + k->pp_exposed);
		all += ticks_to_s(run->end);
	}
	return all > 0 ? exposed / all : 0;
}

void report_replay_text(struct arena *a, const struct replay_report *s, struct text *out)
{
	static const char *const columns[] = {
		"rank", "compute_ms", "exposed_comm_ms", "waiting_ms", "end_ms"};
	struct table t = {.a = a, .columns = columns, .n_columns = 5};
	char end[UNIT_TEXT];
	text_add(out,
		"%u ranks over %s (%s): step time %s, %ju messages, %u collectives, comm %.1f %%\n",
		s->run->n_ranks, s->topo->name, net_kind_name(s->net),
		unit_print(end, UNIT_TIME, s->run->end), (uintmax_t)s->run->n_messages,
		s->run->n_colls, 100 * exposed_share(s->run));
	for (uint32_t r = 0; r < s->run->n_ranks; r++) {
		const struct run_rank *k = &s->run->ranks[r];
		table_cell(&t, "%u", r);
		table_cell(&t, "%.6f",
			ticks_to_s(k->forward + k->backward + k->optimizer + k->other_compute) *
				1e3);
		table_cell(&t, "%.6f",
			ticks_to_s(k->tp_exposed + k->dp_exposed + k->pp_exposed) * 1e3);
		table_cell(&t, "%.6f", ticks_to_s(k->bubble) * 1e3);
		table_cell(&t, "%.6f", ticks_to_s(k->end) * 1e3);
	}
	table_print(&t, out, 20);
	add_totals(s, out);
	for (uint32_t i = 0; i < s->run->n_links && i < 2; i++)
		text_add(out, "busy link %s: %.1f %% of the step\n",
			s->topo->links[s->run->links[i].link].name,
			100 * s->run->links[i].utilisation);
}
