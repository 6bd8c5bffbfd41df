/* ASAP, ALAP, mobility and depth. */
#include "device/internal.h"

tick annotate(const struct device_part *part, struct op_timing *timing)
{
	tick end = 0;
	for (uint32_t i = 0; i < part->n; i++)
		timing[i] = (struct op_timing){
			.duration = part->jobs[i].fixed + part->jobs[i].alone, .depth = 1};
	for (uint32_t i = 0; i < part->n; i++) {
		tick done = timing[i].asap + timing[i].duration;
		end = done > end ? done : end;
		for (uint32_t s = part->jobs[i].first_succ; s < part->jobs[i + 1].first_succ; s++) {
			struct op_timing *next = &timing[part->succs[s]];
			if (next->asap < done)
				next->asap = done;
			if (next->depth < timing[i].depth + 1)
				next->depth = timing[i].depth + 1;
		}
	}
	for (uint32_t i = part->n; i-- > 0;) {
		tick latest = end;
		for (uint32_t s = part->jobs[i].first_succ; s < part->jobs[i + 1].first_succ; s++) {
			tick next = timing[part->succs[s]].alap;
			latest = next < latest ? next : latest;
		}
		timing[i].alap = latest - timing[i].duration;
		timing[i].mobility = timing[i].alap - timing[i].asap;
	}
	return end;
}

void device_annotate(struct arena *a, const struct arch *arch, const struct graph_part *ops,
	const struct device_options *options, struct op_timing *timing)
{
	const struct device_part *part = device_prepare(a, arch, ops, options);
	for (uint32_t i = 0; i < ops->n_ids; i++)
		timing[i] = part->timing[i];
}

const struct op_timing *device_part_timing(const struct device_part *part)
{
	return part->timing;
}
