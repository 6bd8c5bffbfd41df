/* What the actions of `wham topology` share. */
#ifndef CLI_TOPOLOGY_H
#define CLI_TOPOLOGY_H

#include "cli/internal.h"

struct costs {
	struct cost_row *rows;
	uint32_t n, cap;
};

/* The kind of --collective; all-reduce when nothing is said. */
bool topology_kind(struct request *q, enum coll_kind *out, struct err *err);

/* Devices of the ranks of --ranks and --map; all of the topology when nothing is said. */
struct members {
	uint32_t *devices, n;
};
bool topology_members(
	struct request *q, const struct topo *topo, struct members *out, struct err *err);

/* One row per algorithm of --algo (`all`: every one that fits; `auto`: the cheapest of them) for
 * `bytes`. Rows keep `topo`. */
struct costing {
	enum coll_kind kind;
	uint64_t bytes;
	const char *algo; /* NULL: the default; a name, "all", "auto", an MSCCL file */
};
bool topology_cost(struct request *q, const struct topo *topo, const struct costing *what,
	struct costs *out, struct err *err);

/* The arguments behind the action's name, loaded. */
bool topology_load(struct request *q, uint32_t i, struct topo **out, struct err *err);

/* --csv-links of all rows. */
bool topology_write_links(struct request *q, const struct costs *costs, struct err *err);

/* A table as text, JSON (rows by column) or CSV, as asked for. */
bool topology_write_table(struct request *q, const struct table *t, struct err *err);

bool topology_run_check(struct request *q, struct err *err);
bool topology_run_compare(struct request *q, struct err *err);
bool topology_run_cost(struct request *q, struct err *err);
bool topology_run_fit(struct request *q, struct err *err);
bool topology_run_show(struct request *q, struct err *err);
bool topology_run_sweep(struct request *q, struct err *err);
bool topology_run_xml(struct request *q, struct err *err);

#endif
