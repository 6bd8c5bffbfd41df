/* Which topology makes the most of a budget of cables: the same number of devices, the same sum of
 * bandwidths over all cables (per direction; those to switches count too), shared out evenly. */
#include <stdlib.h>
#include <string.h>

#include "cli/topology.h"
#include "run/run.h"

struct budget {
	uint32_t n_devices;
	u128 bytes_per_s; /* of all cables */
	tick latency;
};

struct comparison {
	struct names specs; /* without bandwidth */
	struct compare_row *rows;
	uint32_t n_rows, cap_rows;
};

/* The largest divisor of n up to its square root. */
static uint32_t square_divisor(uint32_t n)
{
	uint32_t best = 1;
	for (uint32_t d = 2; (uint64_t)d * d <= n; d++)
		best = n % d == 0 ? d : best;
	return best;
}

static void add_spec(struct request *q, struct comparison *c, const char *spec)
{
	arena_push(q->a, c->specs.items, c->specs.n, c->specs.cap) = spec;
}

static void add_grids(struct request *q, struct comparison *c, uint32_t n)
{
	uint32_t d = square_divisor(n), a = 1;
	if (d > 1) {
		add_spec(q, c, arena_printf(q->a, "torus:%ux%u", n / d, d));
		add_spec(q, c, arena_printf(q->a, "mesh:%ux%u", n / d, d));
		add_spec(q, c, arena_printf(q->a, "fattree:%ux%u", n / d, d));
		if (n / d % 2 == 0)
			add_spec(q, c,
				arena_printf(q->a, "fattree:%ux%u,oversubscription=2", n / d, d));
	}
	for (uint32_t i = 2; (uint64_t)i * i * i <= n; i++)
		a = n % i == 0 ? i : a;
	d = square_divisor(n / a);
	if (a > 1 && d > 1)
		add_spec(q, c, arena_printf(q->a, "torus:%ux%ux%u", n / a / d, d, a));
	for (uint32_t k = 2; k <= 20; k++)
		if (n == 1u << k)
			add_spec(q, c, arena_printf(q->a, "hypercube:%u", k));
}

/* Groups of `a` routers with p devices each, as near as can be to the balance a = 2p = 2h of Kim et
 * al. 2008. */
static void add_dragonfly(struct request *q, struct comparison *c, uint32_t n)
{
	uint32_t best = UINT32_MAX, routers = 0, devices = 0;
	for (uint32_t a = 2; a <= n / 2; a++)
		for (uint32_t p = 1; n % a == 0 && p <= n / a / 2; p++) {
			if (n / a % p != 0)
				continue;
			uint32_t h = (n / a / p - 1 + a - 1) / a;
			uint32_t off =
				(a > 2 * p ? a - 2 * p : 2 * p - a) + 2 * (h > p ? h - p : p - h);
			if (off >= best)
				continue;
			best = off;
			routers = a;
			devices = p;
		}
	if (best != UINT32_MAX)
		add_spec(q, c,
			arena_printf(q->a, "dragonfly:%ux%ux%u", n / routers / devices, routers,
				devices));
}

static void add_families(struct request *q, struct comparison *c, uint32_t n)
{
	add_spec(q, c, arena_printf(q->a, "ring:%u", n));
	add_spec(q, c, arena_printf(q->a, "crossbar:%u", n));
	if (n <= 1024)
		add_spec(q, c, arena_printf(q->a, "full:%u", n));
	add_grids(q, c, n);
	add_dragonfly(q, c, n);
}

/* Loads without bandwidth, counts, and loads again with every cable's share. */
static bool load_share(struct request *q, const struct budget *b, const char *spec,
	struct topo *out, struct err *err)
{
	char share[UNIT_TEXT], latency[UNIT_TEXT];
	if (!topo_parse(q->a, spec, out, err))
		return false;
	uint64_t n_cables = out->formula->cables;
	u128 each = n_cables > 0 ? b->bytes_per_s / n_cables : 0;
	if (each == 0 || each > UINT64_MAX)
		return err_set(err, ERR_INPUT,
			"%s has %ju cables: the budget leaves none of them 1 B/s or more", spec,
			(uintmax_t)n_cables);
	const char *name = arena_printf(q->a, "%s,bw=%s,lat=%s", spec,
		unit_print_exact(share, UNIT_BANDWIDTH, (uint64_t)each),
		unit_print_exact(latency, UNIT_TIME, b->latency));
	if (!topo_parse(q->a, name, out, err))
		return false;
	out->name = spec;
	return load_changes(q, out, err);
}

/* A topology of the user's own is scaled as a whole; its links keep their proportions. */
static bool load_scaled(
	struct request *q, const struct budget *b, uint32_t i, struct topo *out, struct err *err)
{
	u128 sum = 0;
	if (!load_topology(q, q->files.items[i], out, err))
		return false;
	if (out->platform_xml)
		return err_set(err, ERR_USAGE,
			"%s is a SimGrid platform, whose links only SimGrid knows", out->name);
	for (uint32_t k = 0; k < out->n_links; k++)
		sum += out->links[k].bytes_per_s;
	if (sum == 0)
		return err_set(err, ERR_INPUT, "%s has no links", out->name);
	struct topo_changes scale = {.bw_scale = (double)b->bytes_per_s / ((double)sum / 2)};
	return topo_change(q->a, &scale, out, err);
}

static bool run_once(struct request *q, const struct topo *topo, enum net_kind net,
	const struct coll_request *coll, tick *out, struct err *err)
{
	struct run_config config = {.topo = topo, .net = net};
	struct run_result run;
	if (!load_fold(q, &config.fold, err) || !run_coll(q->a, coll, &config, &run, err))
		return false;
	*out = run.end;
	return true;
}

/* What all links of a device carry out together; of the device with the least. */
static uint64_t least_injection(struct request *q, const struct topo *topo)
{
	uint64_t *out = arena_array(q->a, topo->n_nodes, uint64_t), least = UINT64_MAX;
	for (uint32_t i = 0; i < topo->n_links; i++)
		out[topo->links[i].from] += topo->links[i].bytes_per_s;
	for (uint32_t i = 0; i < topo->n_devices; i++)
		least = out[i] > 0 && out[i] < least ? out[i] : least;
	return least;
}

/* No sooner than a message alone on its way takes (`alone`), nor than the devices' own links carry
 * what they send on average. */
static tick free_time(struct request *q, const struct topo *topo, const struct run_result *run,
	uint32_t n_ranks, tick alone)
{
	double sent = run->sent_bytes / n_ranks / (double)least_injection(q, topo);
	double ticks = sent * (double)TICKS_PER_S;
	tick ports = ticks < 1e18 ? (tick)ticks : 0;
	tick most = ports > alone ? ports : alone;
	return most < run->end ? most : run->end;
}

/* The fastest algorithm of --algo (auto), and what holds it up. */
static bool compare_coll(
	struct request *q, const struct topo *topo, struct compare_row *row, struct err *err)
{
	struct costs costs = {0};
	struct costing what = {.bytes = q->bytes > 0 ? q->bytes : UINT64_C(64) << 20,
		.algo = q->algo ? q->algo : "auto"};
	struct members m = {0};
	enum net_kind net;
	if (!topology_kind(q, &what.kind, err) || !topology_cost(q, topo, &what, &costs, err) ||
		!topology_members(q, topo, &m, err) || !load_net(q, &net, err))
		return false;
	const struct cost_row *best = &costs.rows[0];
	for (uint32_t i = 1; i < costs.n; i++) /* `all` */
		best = costs.rows[i].run.end < best->run.end ? &costs.rows[i] : best;
	struct coll_request coll = {
		.algo = best->coll, .devices = m.devices, .n_devices = m.n, .bytes = what.bytes};
	row->time = best->run.end;
	row->what = arena_printf(q->a, "%s %s", coll_kind_name(what.kind), best->algo);
	row->link = best->run.n_links > 0 ? topo->links[best->run.links[0].link].name : "";
	row->utilisation = best->run.n_links > 0 ? best->run.links[0].utilisation : 0;
	if (!run_once(q, topo, NET_ANALYTIC, &coll, &row->free_time, err))
		return false;
	row->free_time = free_time(q, topo, &best->run, m.n, row->free_time);
	coll.bytes = m.n;
	return run_once(q, topo, net, &coll, &row->empty_time, err);
}

static bool compare_model(
	struct request *q, const struct topo *topo, struct compare_row *row, struct err *err)
{
	struct run_result run, alone;
	if (!simulate_on(q, topo, &run, &alone, err))
		return false;
	row->what = q->models.items[0];
	row->time = run.end;
	row->free_time = free_time(q, topo, &run, run.n_ranks, alone.end);
	row->link = run.n_links > 0 ? topo->links[run.links[0].link].name : "";
	row->utilisation = run.n_links > 0 ? run.links[0].utilisation : 0;
	return true;
}

static bool add_row(
	struct request *q, struct comparison *c, const struct topo *topo, struct err *err)
{
	struct compare_row row = {.topo = topo};
	bool ok = topo_measure(topo, &row.figures, err) &&
		  (q->models.n > 0 ? compare_model(q, topo, &row, err)
				   : compare_coll(q, topo, &row, err));
	if (ok)
		arena_push(q->a, c->rows, c->n_rows, c->cap_rows) = row;
	return ok;
}

static int by_time(const void *left, const void *right)
{
	const struct compare_row *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return strcmp(a->topo->name, b->topo->name);
}

/* The devices of --devices, of the model's degrees, or of the first topology. */
static bool read_budget(struct request *q, struct budget *b, struct err *err)
{
	uint64_t degrees = (q->pp ? q->pp : 1) * (q->tp ? q->tp : 1) * (q->dp ? q->dp : 1);
	uint64_t n = q->devices ? q->devices : q->models.n > 0 ? degrees : 0;
	if (n == 0 && q->files.n > 1) {
		struct topo first;
		if (!load_topology(q, q->files.items[1], &first, err))
			return false;
		n = first.n_devices;
	}
	if (n < 2)
		return err_set(err, ERR_USAGE,
			"topology compare needs --devices (at least 2), e.g. --devices 64");
	if (n > 65536)
		return err_set(err, ERR_USAGE, "--devices: %ju is more than 65536", (uintmax_t)n);
	uint64_t links = q->links ? q->links : 2 * n;
	*b = (struct budget){.n_devices = (uint32_t)n,
		.bytes_per_s = (u128)links * (q->bw ? q->bw : UINT64_C(25000000000)),
		.latency = q->lat ? q->lat : TICKS_PER_S / 1000000};
	return true;
}

static bool add_all(
	struct request *q, const struct budget *b, struct comparison *c, struct err *err)
{
	for (uint32_t i = 1; i < q->files.n; i++) {
		struct topo *topo = arena_new(q->a, struct topo);
		if (!load_scaled(q, b, i, topo, err) || !add_row(q, c, topo, err))
			return false;
	}
	if (q->files.n < 2)
		add_families(q, c, b->n_devices);
	for (uint32_t i = 0; i < c->specs.n; i++) {
		struct topo *topo = arena_new(q->a, struct topo);
		progress_show(q, c->specs.items[i]);
		if (!load_share(q, b, c->specs.items[i], topo, err) || !add_row(q, c, topo, err))
			return false;
	}
	qsort(c->rows, c->n_rows, sizeof(*c->rows), by_time);
	return true;
}

static bool plot_bars(
	struct request *q, const struct budget *b, const struct comparison *c, struct err *err)
{
	char rate[UNIT_TEXT];
	uint64_t sum = b->bytes_per_s > UINT64_MAX ? UINT64_MAX : (uint64_t)b->bytes_per_s;
	const char *title = arena_printf(q->a, "%.*s on %u devices, %s of cables",
		(int)strcspn(c->rows[0].what, " "), c->rows[0].what, b->n_devices,
		unit_print(rate, UNIT_BANDWIDTH, sum));
	struct plot plot = {.title = title, .x = "", .y = "us", .bars = true};
	plot.points = arena_array(q->a, c->n_rows, struct plot_point);
	for (uint32_t i = 0; i < c->n_rows; i++)
		plot.points[plot.n_points++] = (struct plot_point){
			.series = c->rows[i].topo->name, .y = ticks_to_s(c->rows[i].time) * 1e6};
	return write_plot(q, &plot, err);
}

bool topology_run_compare(struct request *q, struct err *err)
{
	struct comparison c = {0};
	struct budget b = {0};
	struct table t;
	struct text out = {0};
	if (!read_budget(q, &b, err) || !add_all(q, &b, &c, err))
		return false;
	if (q->plot && !plot_bars(q, &b, &c, err))
		return false;
	if (q->json)
		return write_json(q, report_compare_json(q->a, c.rows, c.n_rows), err);
	report_compare_table(q->a, c.rows, c.n_rows, &t);
	if (q->csv)
		return write_csv(q, &t, err);
	table_print(&t, &out, 0);
	report_compare_text(q->a, c.rows, c.n_rows, &out);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}
