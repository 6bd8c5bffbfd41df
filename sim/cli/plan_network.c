/* The network of `wham plan`, and the machine of the closed form. */
#include <math.h>

#include "cli/plan.h"

/* What a message between the first two devices needs. */
struct way {
	tick alpha;
	uint64_t bytes_per_s;
};

static struct way measure(struct arena *a, const struct topo *t)
{
	struct way way = {0, UINT64_MAX};
	uint32_t *links = arena_array(a, (size_t)t->max_hops + 1, uint32_t);
	uint32_t n = t->route(t, 0, 1, links);
	for (uint32_t i = 0; i < n; i++) {
		const struct topo_link *l = &t->links[links[i]];
		way.alpha += l->latency;
		way.bytes_per_s =
			l->bytes_per_s < way.bytes_per_s ? l->bytes_per_s : way.bytes_per_s;
	}
	return way;
}

static bool is_given(const struct request *q)
{
	return q->alpha > 0 && q->beta_bw > 0;
}

/* What is odd of one link does not stand for the others, which the closed form knows nothing of. */
static void warn_of_way(
	struct request *q, const struct topo *t, const struct way *before, const struct way *after)
{
	char bw[2][UNIT_TEXT], lat[2][UNIT_TEXT];
	const struct way *ways[] = {before, after};
	if (before->alpha == after->alpha && before->bytes_per_s == after->bytes_per_s)
		return;
	for (int i = 0; i < 2; i++) {
		unit_print_exact(bw[i], UNIT_BANDWIDTH, ways[i]->bytes_per_s);
		unit_print_exact(lat[i], UNIT_TIME, ways[i]->alpha);
	}
	report_warn(q->a, &q->report, "machine_degraded",
		arena_printf(q->a,
			"%s: the closed form takes %s and %s of the changed way between its first "
			"two "
			"devices for every message; unchanged it has %s and %s, which --alpha and "
			"--beta-bw would give",
			t->name, lat[1], bw[1], lat[0], bw[0]));
}

static bool load_changed(struct request *q, const char *name, struct topo *out, struct err *err)
{
	if (!load_healthy_topology(q, name, out, err))
		return false;
	bool known = !out->platform_xml && out->n_devices >= 2 && !is_given(q);
	struct way before = {0}, after;
	if (known)
		before = measure(q->a, out);
	if (!load_faults(q, out, err))
		return false;
	if (!known)
		return true;
	after = measure(q->a, out);
	warn_of_way(q, out, &before, &after);
	return true;
}

/* Latency and bandwidth of the way from the first device to the second. */
static bool measure_way(struct request *q, const struct topo *t, struct way *out, struct err *err)
{
	if (is_given(q))
		return true;
	if (t->platform_xml)
		return err_set(err, ERR_USAGE,
			"%s is a SimGrid platform, whose ways only SimGrid knows, expected --alpha "
			"and --beta-bw for the closed form",
			t->name);
	if (t->n_devices < 2)
		return true;
	*out = measure(q->a, t);
	return out->alpha > 0 || q->alpha > 0 ||
	       err_set(err, ERR_INPUT,
		       "%s: no latency between its first two devices, expected --alpha for the "
		       "closed form",
		       t->name);
}

static bool load_machine(struct request *q, bool measured, struct planning *p, struct err *err)
{
	struct way way = {2 * (TICKS_PER_S / 1000000), UINT64_C(6000000000)};
	p->machine_source = measured ? "the way between the first two devices" : "default";
	if (measured && !measure_way(q, &p->topo, &way, err))
		return false;
	if (is_given(q))
		p->machine_source = "given";
	tick alpha = q->alpha > 0 ? q->alpha : way.alpha;
	uint64_t bytes_per_s = q->beta_bw > 0 ? q->beta_bw : way.bytes_per_s;
	p->c.machine = (struct alpha_beta){ticks_to_s(alpha), 1 / (double)bytes_per_s,
		q->gamma > 0 ? 1 / (double)q->gamma : 0};
	return true;
}

/* What a topology in one word can have: devices, and seconds of latency of a link. */
enum { MOST_DEVICES = 1 << 20, LONGEST_LATENCY_S = 1000 };

bool plan_alpha_beta_topology(struct request *q, const struct alpha_beta *m, uint32_t n,
	struct topo *out, struct err *err)
{
	char bw[UNIT_TEXT], lat[UNIT_TEXT];
	tick half = (tick)llround(m->alpha / 2 * (double)TICKS_PER_S);
	if (half > LONGEST_LATENCY_S * TICKS_PER_S)
		return err_set(err, ERR_USAGE,
			"--alpha: %g s is more than a network can have, expected at most %d s or "
			"--network analytic",
			m->alpha, 2 * LONGEST_LATENCY_S);
	if (n > MOST_DEVICES)
		return err_set(err, ERR_USAGE,
			"--devices: %u are more than a switch can have, expected at most %d or "
			"--network analytic",
			n, MOST_DEVICES);
	unit_print_exact(bw, UNIT_BANDWIDTH, (uint64_t)llround(1 / m->beta));
	unit_print_exact(lat, UNIT_TIME, half);
	const char *spec = arena_printf(q->a, "crossbar:%u,bw=%s,lat=%s", n, bw, lat);
	return topo_parse(q->a, spec, out, err) && load_changes(q, out, err);
}

/* Options that say something of single devices and links. */
static bool names_devices(const struct request *q)
{
	return q->map || q->stragglers.n > 0 || q->degraded.n > 0 || q->fail_links.n > 0;
}

bool plan_load_network(struct request *q, const char *topology, struct planning *p, struct err *err)
{
	if (!load_net(q, &p->config.net, err) || !load_fold(q, &p->config.fold, err))
		return false;
	p->simulate = p->config.net == NET_SIMGRID;
	if (topology && !load_changed(q, topology, &p->topo, err))
		return false;
	if (topology && p->topo.n_devices < p->processes)
		return err_set(err, ERR_INPUT,
			"%s has %u devices, expected one for each of %u "
			"processes",
			p->topo.name, p->topo.n_devices, p->processes);
	if (!load_machine(q, topology != NULL, p, err))
		return false;
	bool needs_switch = !topology && (p->simulate || names_devices(q));
	if (needs_switch &&
		!plan_alpha_beta_topology(q, &p->c.machine, p->processes, &p->topo, err))
		return false;
	p->config.reduce_bytes_per_s = q->gamma;
	return true;
}

bool plan_place(struct request *q, struct planning *p, struct err *err)
{
	struct placement placed;
	p->config.topo = &p->topo;
	if (!p->topo.name)
		return true;
	if (!load_placement(q, &p->topo, p->processes, &placed, err))
		return false;
	p->config.device_of_rank = placed.device_of_rank;
	p->config.compute_ppm = placed.compute_ppm;
	return true;
}
