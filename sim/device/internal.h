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
 * then for `alone` ticks when nobody else uses memory: the longer of `compute` and its bytes at
 * full bandwidth. */
struct job {
	tick compute, fixed, alone;
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
	struct op_timing *timing;
	uint32_t n_lines[N_LINES]; /* jobs in each line */
	uint64_t dram_bytes_per_s;
	tick critical_path;
	struct op_cost total; /* sums, for bytes and energy */
	bool clamped;
};

/* Fills `timing` (n elements) from the jobs; returns the critical path. */
tick annotate(const struct device_part *part, struct op_timing *timing);

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

#endif
