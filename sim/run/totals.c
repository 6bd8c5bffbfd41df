/* What results say of a run as a whole, whichever way it was run. */
#include <stdlib.h>

#include "run/internal.h"

/* Busiest first; of equally busy ones the first. */
static int compare_links(const void *a, const void *b)
{
	const struct run_link *x = a, *y = b;
	if (x->utilisation > y->utilisation || x->utilisation < y->utilisation)
		return x->utilisation > y->utilisation ? -1 : 1;
	return (x->link > y->link) - (x->link < y->link);
}

/* Moves the last one up to where it belongs among the others, which are sorted. */
static void sink_in(struct run_link *links, uint32_t n)
{
	struct run_link last = links[n - 1];
	uint32_t at = n - 1;
	for (; at > 0 && compare_links(&last, &links[at - 1]) < 0; at--)
		links[at] = links[at - 1];
	links[at] = last;
}

struct run_link *links_busiest(struct arena *a, const struct topo *topo, const double *link_bytes,
	tick end, uint32_t max, uint32_t *n)
{
	bool few = max < topo->n_links;
	struct run_link *links =
		arena_array(a, (size_t)(few ? max : topo->n_links) + 1, struct run_link);
	*n = 0;
	for (uint32_t i = 0; i < topo->n_links; i++) {
		struct run_link link = {.link = i, .bytes = link_bytes[i]};
		double most = (double)topo->links[i].bytes_per_s * ticks_to_s(end);
		if (link.bytes <= 0)
			continue;
		link.utilisation = most > 0 ? link.bytes / most : 0;
		if (few && *n == max && compare_links(&link, &links[max - 1]) > 0)
			continue;
		*n += !few || *n < max;
		links[*n - 1] = link;
		if (few)
			sink_in(links, *n);
	}
	if (!few && *n > 0)
		qsort(links, *n, sizeof(*links), compare_links);
	return links;
}

double prog_energy_j(const struct prog *p)
{
	double sum = 0;
	for (uint32_t role = 0; role < p->n_roles; role++) {
		double one = 0;
		for (uint32_t i = 0; i < p->roles[role].n_tasks; i++) {
			const struct prog_task *t = &p->roles[role].tasks[i];
			if (t->kind == TASK_COMPUTE && t->cost != PROG_NONE)
				one += p->costs[t->cost].energy_j;
		}
		sum += one * prog_role_size(p, role);
	}
	return sum;
}
