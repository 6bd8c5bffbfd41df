/* What the files of device/ share: the priced part of a graph, and the memory that running
 * operators share. */
#ifndef DEVICE_INTERNAL_H
#define DEVICE_INTERNAL_H

#include "des/des.h"
#include "device/device.h"

/* Kinds of jobs that wait in one line each. */
enum line { LINE_TC, LINE_VC, LINE_PAIR, LINE_LINK, N_LINES };

enum { LINE_NONE = N_LINES }; /* takes no time, and so no core */

/* An operator, priced. It holds its core for `fixed` ticks (launch, first access to memory) and
 * then for `alone` ticks when nobody else uses memory. */
struct job {
	tick fixed, alone;
	uint64_t
		demand; /* bytes/s that keep it at full speed, at most the device's bandwidth; 0: none */
	uint32_t line;                /* enum line or LINE_NONE */
	uint32_t rank;                /* place in the order of start */
	uint32_t n_preds, first_succ; /* successors: succs[first_succ .. next job's first_succ) */
};

struct device_part {
	struct arch arch;
	struct device_options options;
	uint32_t n;
	struct job *jobs; /* n + 1, the last one only for its first_succ */
	uint32_t *succs;
	uint32_t *by_rank; /* job of each rank */
	struct op_cost *costs;
	struct op_time *times;
	struct op_timing *timing;
	struct nest *nests;        /* tile fidelity only */
	uint32_t n_lines[N_LINES]; /* jobs in each line */
	uint64_t dram_bytes_per_s;
	tick critical_path;
	struct op_cost total; /* sums, for bytes and energy */
	bool clamped;
};

/* Fills `timing` (n elements) from the jobs; returns the critical path. */
tick annotate(const struct device_part *part, struct op_timing *timing);

/* The steps of an operator in the order of its tiling. */
struct nest {
	uint64_t outer,
		k_tiles; /* tiles, one after the other; the k tiles of one tile of c in a row */
	/* Within a tile: l along k, y along the side of the stationary operand, x along the other.
	 * Output stationary: for l, for x, for y; otherwise for x, for l, for y. */
	uint64_t x, l, y;
	bool output_stationary;
	/* Over all steps. Stationary: read where x is 0; streamed: read where y is 0; partial
	 * sums: read where l is 0, from the second k tile on; result: written where l is at its
	 * end; spread: with every step. */
	uint64_t stationary_bytes, streamed_bytes, partial_bytes, result_bytes;
	uint64_t spread_read_bytes, spread_write_bytes;
	uint64_t room; /* for what is read ahead, and for what waits to be written */
};

void nest_build(const struct arch *arch, const struct work *work, const struct op_cost *cost,
	struct nest *out);
uint64_t nest_steps(const struct nest *nest);
struct tile_step {
	uint64_t read_bytes, write_bytes;
	tick arrival; /* of what it reads, once that is known */
};
struct tile_step nest_step(const struct nest *nest, uint64_t i);

/* One running operator. */
struct slot {
	struct des_event event; /* end of its fixed time, or its end */
	uint32_t job, tc, vc;   /* cores held: UINT32_MAX for none */
	bool in_memory_phase;
	uint64_t demand;
	uint64_t speed; /* SPEED_FULL: as if alone */
	u128 left;      /* ticks still to go if alone, times SPEED_FULL, at `since` */
	tick since;
};

#define SPEED_FULL (UINT64_C(1) << 32)

/* Memory bandwidth, shared max-min fairly: who asks for less than an equal share gets all it asks
 * for, and the others share what is left equally. All in whole bytes/s, rounded so that the sum
 * never exceeds the bandwidth. */
struct memory {
	struct des *des;
	uint64_t bytes_per_s;
	u128 demand;    /* sum over active ones */
	bool throttled; /* somebody is below full speed */
	struct slot **
		active; /* by rising demand, equal ones in order of start; the caller's room for all slots */
	uint32_t n_active;
};

/* Starts the memory phase of `slot`, to last `alone` ticks at full speed, and schedules its event
 * for the end. */
void memory_enter(struct memory *memory, struct slot *slot, tick alone);
/* At the end of the phase. */
void memory_leave(struct memory *memory, struct slot *slot);

struct tile_memory;

/* An operator in steps. */
struct tile_op {
	struct des_event event; /* end of a step */
	struct tile_memory *memory;
	struct slot *slot; /* its event fires at the end of the operator */
	uint64_t room;
	tick compute;     /* of all steps */
	uint64_t n_steps; /* below count steps; written <= computed <= read */
	uint64_t read, computed, written;
	uint64_t ahead_bytes, behind_bytes; /* read and not computed; made and not written */
	struct tile_step *steps;
	uint64_t cap_steps;
	uint64_t read_left, write_left; /* of the tile under way */
	bool reading, writing;          /* wants memory for a tile in, out */
	bool in_line;
	bool computing;
};

/* Memory that serves one burst at a time. */
struct tile_memory {
	struct des_event event; /* end of a burst */
	tick burst_start;
	uint64_t burst_bytes, turn_bytes; /* under way; left of the turn */
	struct des *des;
	struct arena *a;
	const struct device_part *part;
	struct tile_op *served; /* NULL: idle */
	bool serves_write;
	struct tile_op **line; /* a ring of those that wait, from `first` on */
	uint32_t first, n_line;
	struct tile_op *ops; /* as the slots are numbered */
	uint32_t n_ops;
};

void tile_memory_init(struct tile_memory *m, struct arena *a, struct des *des,
	const struct device_part *part, uint32_t n_slots);
/* Runs the job of `slot`, which is number `at`. */
void tile_enter(struct tile_memory *m, struct slot *slot, uint32_t at);

#endif
