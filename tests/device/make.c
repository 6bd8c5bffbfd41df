#include "make.h"

struct arch make_arch(void)
{
	return (struct arch){
		.name = "test",
		.source = "test",
		.clock_hz = 1000000000,
		.tc_count = 1,
		.tc_rows = 16,
		.tc_cols = 16,
		.dataflow = DATAFLOW_WS,
		.fold_mode = FOLD_SERIAL,
		.vc_count = 1,
		.vc_width = 16,
		.sram_bytes = 1 << 20,
		.sram_bytes_per_cycle = 256,
		.hbm_bytes = UINT64_C(1) << 34,
		.hbm_bytes_per_s = TICKS_PER_S,
		.hbm_stacks = 1,
		.hbm_efficiency = 1.0,
		.links = 1,
		.link_bytes_per_s = 1000000000,
		.pcie_lanes = 16,
		.node_nm = 16,
		.mac_bytes = 2,
	};
}

struct graph make_graph(struct arena *a, uint32_t n)
{
	struct graph g = {.name = "test", .ops = arena_array(a, n, struct op), .n_ops = n};
	for (uint32_t i = 0; i < n; i++)
		g.ops[i].forward = i;
	return g;
}

void make_preds(struct arena *a, struct op *op, const op_id *preds, uint32_t n)
{
	op_id *copy = arena_array(a, n, op_id);
	for (uint32_t i = 0; i < n; i++)
		copy[i] = preds[i];
	op->preds = copy;
	op->n_preds = n;
}

void make_vector(struct arena *a, struct op *op, uint64_t cycles, uint64_t bytes)
{
	struct vector_work *v = arena_new(a, struct vector_work);
	*v = (struct vector_work){VECTOR_ELEMENTWISE, cycles * 16, 1, 1};
	op->work = (struct work){
		.core = CORE_VC, .vector = v, .n_vector = 1, .vector_read_bytes = bytes};
}

void make_gemm(struct op *op, uint64_t m, uint64_t n, uint64_t k)
{
	op->work = (struct work){
		.core = CORE_TC,
		.batch = 1,
		.m = m,
		.n = n,
		.k = k,
		.a_bytes = 2 * m * k,
		.b_bytes = 2 * k * n,
		.c_bytes = 2 * m * n,
	};
}

static void make_random_work(struct arena *a, struct rng *rng, struct op *op)
{
	switch (rng_below(rng, 6)) {
	case 0:
		op->work.core = CORE_NONE;
		break;
	case 1:
		op->work = (struct work){
			.core = CORE_LINK, .collective_bytes = rng_below(rng, 100000)};
		break;
	case 2:
	case 3:
		make_vector(a, op, 1 + rng_below(rng, 1000), rng_below(rng, 2000000));
		break;
	case 4:
		make_gemm(op, 1 + rng_below(rng, 300), 1 + rng_below(rng, 300),
			1 + rng_below(rng, 300));
		break;
	default:
		make_vector(a, op, 1 + rng_below(rng, 1000), rng_below(rng, 100000));
		op->work.core = CORE_TC_VC;
		op->work.batch = 1 + rng_below(rng, 4);
		op->work.m = op->work.n = op->work.k = 1 + rng_below(rng, 100);
		op->work.a_bytes = op->work.b_bytes = op->work.c_bytes =
			op->work.batch * op->work.m * op->work.n * 2;
		break;
	}
}

struct graph make_random_graph(struct arena *a, struct rng *rng, uint32_t n)
{
	struct graph g = make_graph(a, n);
	for (uint32_t i = 0; i < n; i++) {
		op_id preds[3];
		uint32_t n_preds = 0;
		uint64_t wanted = i > 0 ? rng_below(rng, 4) : 0;
		op_id from = i > 20 ? i - 20 : 0;
		for (uint64_t p = 0; p < wanted && from < i; p++) {
			preds[n_preds] = from + (op_id)rng_below(rng, i - from);
			from = preds[n_preds++] + 1;
		}
		make_preds(a, &g.ops[i], preds, n_preds);
		make_random_work(a, rng, &g.ops[i]);
	}
	return g;
}

struct graph_part make_part(struct arena *a, const struct graph *g, uint32_t n)
{
	op_id *ids = arena_array(a, n, op_id);
	for (uint32_t i = 0; i < n; i++)
		ids[i] = i;
	return (struct graph_part){g, ids, n};
}
