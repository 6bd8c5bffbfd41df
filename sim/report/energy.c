#include "report/energy.h"

#include "arch/energy.h"
#include "report/internal.h"

/* Of all devices together. */
struct step_energy {
	struct event_counts counts;
	struct energy_parts parts;
};

static void add_parts(struct energy_parts *sum, const struct energy_parts *p, double times)
{
	sum->macs += times * p->macs;
	sum->lane_ops += times * p->lane_ops;
	sum->sram += times * p->sram;
	sum->dram += times * p->dram;
	sum->links += times * p->links;
	sum->idle += times * p->idle;
}

/* Each byte is sent by one device and received by another. Which device sent how much is not known:
 * links count as those of the first accelerator. */
static void add_links(const struct step_report *s, struct step_energy *e)
{
	struct event_counts links = {.link_bytes = (uint64_t)(2 * s->run->sent_bytes)};
	struct energy_parts parts;
	energy_parts_of(&s->archs[0], &links, 0, &parts);
	event_counts_add(&e->counts, &links, 1);
	add_parts(&e->parts, &parts, 1);
}

static struct step_energy energy_of(const struct step_report *s)
{
	struct step_energy e = {0};
	double seconds = ticks_to_s(s->run->end);
	uint32_t per_stage = s->degrees->tp * s->degrees->dp;
	for (uint32_t i = 0; i < s->plan->n_stages; i++) {
		const struct stage *stage = &s->plan->stages[i];
		struct energy_parts parts;
		energy_parts_of(arch_of_stage(s, i), &stage->counts, seconds, &parts);
		event_counts_add(&e.counts, &stage->counts, per_stage);
		add_parts(&e.parts, &parts, per_stage);
	}
	add_links(s, &e);
	return e;
}

double step_energy_j(const struct step_report *s)
{
	struct step_energy e = energy_of(s);
	return energy_parts_sum(&e.parts);
}

static void put_counts(json_t *o, const struct event_counts *c)
{
	put_uint(o, "macs", c->macs);
	put_uint(o, "lane_ops", c->lane_ops);
	put_uint(o, "sram_bytes", c->sram_bytes);
	put_uint(o, "dram_bits", 8 * c->dram_bytes);
}

static void put_parts(json_t *o, const struct energy_parts *p)
{
	put_real(o, "mac_j", p->macs);
	put_real(o, "lane_j", p->lane_ops);
	put_real(o, "sram_j", p->sram);
	put_real(o, "dram_j", p->dram);
}

json_t *op_energy_json(const struct arch *arch, const struct op_cost *cost)
{
	struct event_counts counts = event_counts_of(arch, cost);
	struct energy_parts parts;
	json_t *o = json_object();
	energy_parts_of(arch, &counts, 0, &parts);
	put_counts(o, &counts);
	put_parts(o, &parts);
	return o;
}

static json_t *per_event_json(const struct arch *arch)
{
	json_t *o = json_object();
	put_text(o, "accelerator", arch->name);
	put_real(o, "mac_j", energy_mac_j(arch));
	put_real(o, "lane_op_j", energy_lane_op_j(arch));
	put_real(o, "sram_byte_j", energy_sram_byte_j(arch));
	put_real(o, "dram_bit_j", energy_dram_byte_j(arch) / 8);
	put_real(o, "link_bit_j", energy_link_byte_j(arch) / 8);
	put_real(o, "idle_w", arch_idle_w(arch));
	return o;
}

static json_t *stages_json(const struct step_report *s)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < s->plan->n_stages; i++) {
		const struct stage *stage = &s->plan->stages[i];
		struct energy_parts parts;
		json_t *o = json_object();
		energy_parts_of(
			arch_of_stage(s, i), &stage->counts, ticks_to_s(s->run->end), &parts);
		put_uint(o, "stage", i);
		put_counts(o, &stage->counts);
		put_parts(o, &parts);
		put_real(o, "idle_j", parts.idle);
		json_array_append_new(list, o);
	}
	return list;
}

static double average_w(const struct step_report *s, double joules)
{
	double seconds = ticks_to_s(s->run->end);
	return seconds > 0 ? joules / seconds : 0;
}

json_t *step_energy_json(const struct step_report *s)
{
	struct step_energy e = energy_of(s);
	json_t *o = json_object();
	put_counts(o, &e.counts);
	put_uint(o, "link_bits", 8 * e.counts.link_bytes);
	put_parts(o, &e.parts);
	put_real(o, "link_j", e.parts.links);
	put_real(o, "idle_j", e.parts.idle);
	put_real(o, "average_power_w", average_w(s, energy_parts_sum(&e.parts)));
	put(o, "per_event", per_event_json(&s->archs[0]));
	put(o, "stages", stages_json(s));
	return o;
}

void step_energy_text(const struct step_report *s, struct text *out)
{
	struct step_energy e = energy_of(s);
	double joules = energy_parts_sum(&e.parts), percent = joules > 0 ? 100 / joules : 0;
	text_add(out, "energy           %.6g J a step, %.4g W on average: ", joules,
		average_w(s, joules));
	text_add(out, "arrays %.0f %%, lanes %.0f %%, SRAM %.0f %%, DRAM %.0f %%, ",
		percent * e.parts.macs, percent * e.parts.lane_ops, percent * e.parts.sram,
		percent * e.parts.dram);
	text_add(out, "links %.0f %%, idle %.0f %%\n", percent * e.parts.links,
		percent * e.parts.idle);
}
