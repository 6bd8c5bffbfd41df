#include "plan/grid_compute.h"
#include "setup.h"

/* What models are read from; counts how often. */
struct shelf {
	struct arena *a;
	const char *file;
	bool fuse;
	const char *overrides;
	uint32_t n_reads;
};

static struct graph read_shelf(struct shelf *s, uint64_t samples)
{
	struct graph_options options = {.batch = samples};
	struct err err = {0};
	if (s->overrides && !graph_parse_overrides(s->a, s->overrides, &options, &err))
		CU_FAIL_FATAL(err.text);
	s->n_reads++;
	return setup_train(s->a, s->file, &options, s->fuse, OPTIMIZER_MOMENTUM);
}

static bool read_source(
	void *context, struct arena *a, uint64_t samples, struct graph *out, struct err *err)
{
	*out = read_shelf(context, samples);
	return true;
}

struct model {
	struct arena a;
	struct shelf shelf;
	struct arch arch;
	struct grid_layer *layers;
	struct grid_question q;
	struct grid_compute *compute;
};

static const char alexnet[] = "models/workloads/alexnet.json";
static const struct device_options all_cores = {.intra_op_split = true};

static void setup(
	struct model *m, const char *file, bool fuse, const struct device_options *options)
{
	struct graph forward;
	struct err err = {0};
	*m = (struct model){.shelf = {.a = &m->a, .file = file, .fuse = fuse}};
	m->arch = setup_arch(&m->a);
	CU_ASSERT_TRUE_FATAL(graph_read(&m->a, setup_path(&m->a, file),
		&(struct graph_options){.batch = 1}, &forward, &err));
	m->q.n_layers = grid_layers(&m->a, &forward, &m->layers);
	m->q.layers = m->layers;
	m->q.word_bytes = 2;
	m->compute = grid_compute_create(&m->a, &(struct grid_compute_input){.layers = m->layers,
							.n_layers = m->q.n_layers,
							.arch = &m->arch,
							.options = *options,
							.source = {read_source, &m->shelf}});
}

static void set_grid(struct model *m, uint32_t pr, uint32_t pc, uint64_t batch)
{
	m->q.grid = (struct process_grid){pr, pc};
	m->q.batch = batch;
}

static struct grid_times times_of(struct model *m, uint32_t layer, enum grid_way way)
{
	struct grid_times t = {0};
	struct err err = {0};
	bool fits = grid_compute_layer(m->compute, &m->q, layer, way, &t, &err);
	if (!fits)
		printf("\n%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(fits);
	return t;
}

static tick total(const struct grid_times *t, uint32_t n)
{
	tick sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += t[i].forward + t[i].dx + t[i].dw;
	return sum;
}

static tick run_ops(struct model *m, const struct graph *g, const struct device_options *options,
	const op_id *ids, uint32_t n)
{
	struct device_result r;
	struct graph_part part = {g, ids, n};
	device_run(&m->a, &m->arch, &part, options, &r);
	return r.makespan;
}

/* One process: the sum of the training graph's operators, each run alone; forward operators follow
 * each other, so these take what the device takes for all of them together. */
static void check_whole(const char *file, bool fuse, const struct device_options *options)
{
	struct model m;
	setup(&m, file, fuse, options);
	struct graph g = read_shelf(&m.shelf, 6);
	struct grid_times *t = arena_array(&m.a, m.q.n_layers, struct grid_times);
	enum grid_way *ways = arena_array(&m.a, m.q.n_layers, enum grid_way);
	struct err err = {0};
	tick by_pass[N_PASSES] = {0}, sum[3] = {0};
	ways[1] = GRID_MODEL;
	set_grid(&m, 1, 1, 6);
	CU_ASSERT_TRUE_FATAL(grid_compute_times(m.compute, &m.q, ways, t, &err));
	for (op_id i = 0; i < g.n_ops; i++)
		by_pass[g.ops[i].pass] += run_ops(&m, &g, options, &i, 1);
	for (uint32_t i = 0; i < m.q.n_layers; i++) {
		sum[0] += t[i].forward;
		sum[1] += t[i].dx;
		sum[2] += t[i].dw;
	}
	CU_ASSERT_EQUAL(sum[0], by_pass[PASS_FORWARD]);
	CU_ASSERT_EQUAL(sum[1] + sum[2],
		by_pass[PASS_BACKWARD_DATA] + by_pass[PASS_BACKWARD_WEIGHT] + by_pass[PASS_UPDATE]);
	/* An embedding in front wants a gradient, images do not. */
	CU_ASSERT_EQUAL(t[0].dx == 0, m.layers[0].first);
	CU_ASSERT_TRUE(sum[1] > 0);
	op_id *ids;
	uint32_t n = graph_select(&m.a, &g, 0, g.n_layers, 1u << PASS_FORWARD, &ids);
	if (file == alexnet)
		CU_ASSERT_EQUAL(sum[0], run_ops(&m, &g, options, ids, n));
	arena_free(&m.a);
}

static void test_whole(void)
{
	const struct device_options one_core = {0},
				    tiles = {.intra_op_split = true, .fidelity = FIDELITY_TILE};
	check_whole(alexnet, true, &all_cores);
	check_whole(alexnet, false, &one_core);
	check_whole(alexnet, true, &tiles);
	check_whole("tests/plan/local.json", true, &all_cores);
	check_whole("models/workloads/bert-base.json", true, &all_cores);
}

/* The operators between layers on any grid are those of ceil(B / P) samples. */
static void test_layer(void)
{
	struct model m;
	setup(&m, alexnet, false, &all_cores);
	struct graph g = read_shelf(&m.shelf, 3);
	struct grid_times t[3];
	tick between[2] = {0};
	set_grid(&m, 2, 4, 23);
	for (enum grid_way way = GRID_BATCH; way <= GRID_DOMAIN; way++)
		t[way] = times_of(&m, 1, way);
	for (op_id i = 0; i < g.n_ops; i++) {
		const struct op *f = &g.ops[g.ops[i].forward];
		if (f->layer == 1 && f->work.batch == 0)
			between[g.ops[i].pass != PASS_FORWARD] +=
				run_ops(&m, &g, &all_cores, &i, 1);
	}
	for (enum grid_way way = GRID_BATCH; way <= GRID_DOMAIN; way++) {
		uint32_t samples = way == GRID_BATCH ? 3 : 6;
		struct graph own = read_shelf(&m.shelf, samples);
		struct grid_times alone = {.forward = between[0], .dw = between[1]};
		for (op_id i = 0; i < own.n_ops; i++) {
			struct op op = own.ops[i];
			const struct graph one = {.ops = &op, .n_ops = 1, .n_layers = 1};
			if (strcmp(own.ops[op.forward].name, m.layers[1].name) != 0)
				continue;
			grid_local_work(&m.a, &m.layers[1], &op, way, 2, &op.work);
			op.n_preds = 0;
			tick d = run_ops(&m, &one, &all_cores, &(op_id){0}, 1);
			*(op.pass == PASS_FORWARD               ? &alone.forward
				: op.pass == PASS_BACKWARD_DATA ? &alone.dx
								: &alone.dw) += d;
		}
		CU_ASSERT_EQUAL(t[way].forward, alone.forward);
		CU_ASSERT_EQUAL(t[way].dx, alone.dx);
		CU_ASSERT_EQUAL(t[way].dw, alone.dw);
	}
	arena_free(&m.a);
}

static bool same_vector(const struct work *a, const struct work *b)
{
	bool same = a->n_vector == b->n_vector;
	for (uint32_t i = 0; same && i < a->n_vector; i++)
		same = a->vector[i].form == b->vector[i].form &&
		       a->vector[i].numel == b->vector[i].numel &&
		       a->vector[i].row == b->vector[i].row &&
		       a->vector[i].lane_cycles == b->vector[i].lane_cycles;
	return same;
}

static bool same_work(const struct work *a, const struct work *b)
{
	const struct conv_work *c = &a->conv, *d = &b->conv;
	return a->core == b->core && a->batch == b->batch && a->m == b->m && a->n == b->n &&
	       a->k == b->k && a->a_bytes == b->a_bytes && a->b_bytes == b->b_bytes &&
	       a->c_bytes == b->c_bytes && a->vector_read_bytes == b->vector_read_bytes &&
	       a->vector_write_bytes == b->vector_write_bytes && a->row_bytes == b->row_bytes &&
	       a->again_bytes == b->again_bytes && c->images == d->images && c->in_h == d->in_h &&
	       c->in_w == d->in_w && c->in_channels == d->in_channels && c->out_h == d->out_h &&
	       c->out_w == d->out_w && c->out_channels == d->out_channels &&
	       c->kernel_h == d->kernel_h && c->stride_h == d->stride_h && same_vector(a, b);
}

static bool is_of(const struct graph *g, const struct op *op, const char *layer)
{
	return strcmp(g->ops[op->forward].name, layer) == 0 &&
	       (op->pass == PASS_FORWARD || op->pass == PASS_UPDATE || op->work.batch > 0);
}

struct cut {
	const char *layer, *whole, *part; /* overrides */
	enum grid_way way;
	uint32_t pr, n_ops; /* forward, dX, dW, updates */
};

/* All operators of a layer cut for a process are those of the smaller layer. */
static void check_cut(const struct cut *c, bool fuse)
{
	struct arena a = {0};
	struct shelf shelf = {&a, "tests/plan/local.json", fuse, c->whole, 0};
	struct graph whole = read_shelf(&shelf, 3);
	shelf.overrides = c->part;
	struct graph part = read_shelf(&shelf, 3);
	struct grid_layer *layers, *layer = NULL;
	uint32_t n = grid_layers(&a, &whole, &layers), n_ops = 0;
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(layers[i].name, c->layer) == 0)
			layer = &layers[i];
	CU_ASSERT_EQUAL_FATAL(whole.n_ops, part.n_ops);
	CU_ASSERT_PTR_NOT_NULL_FATAL(layer);
	for (uint32_t i = 0; i < whole.n_ops; i++) {
		struct work cut;
		if (!is_of(&whole, &whole.ops[i], c->layer))
			continue;
		grid_local_work(&a, layer, &whole.ops[i], c->way, c->pr, &cut);
		bool same = same_work(&cut, &part.ops[i].work);
		if (!same)
			printf("\n%s: %s over %u\n", whole.ops[i].name, grid_way_name(c->way),
				c->pr);
		CU_ASSERT_TRUE(same);
		n_ops++;
	}
	CU_ASSERT_EQUAL(n_ops, c->n_ops);
	arena_free(&a);
}

static void test_cuts(void)
{
	static const struct cut cuts[] = {
		{"d.gemm", "rows=27", "outputs=10", GRID_MODEL, 4, 5},
		{"d.gemm", "rows=27", "outputs=14", GRID_MODEL, 3, 5},
		{"d.gemm", "rows=27", "outputs=1", GRID_MODEL, 40, 5},
		{"d.gemm", "rows=27", "outputs=40", GRID_BATCH, 40, 5},
		{"b.conv", "group=1", "group=1,features=3", GRID_MODEL, 4, 5},
		{"b.conv", "group=1", "group=1,features=3", GRID_MODEL, 5, 5},
		{"b.conv", "group=2", "group=1,channels=4,features=6", GRID_MODEL, 2, 5},
		{"b.conv", "group=2", "group=1,channels=4,features=2", GRID_MODEL, 6, 5},
		{"b.conv", "group=4", "group=2,channels=4,features=6", GRID_MODEL, 2, 5},
		{"b.conv", "channels=12,group=12", "channels=3,group=3,features=3", GRID_MODEL, 4,
			5},
		{"b.conv", "rows=27", "rows=27", GRID_DOMAIN, 1, 5},
		{"b.conv", "rows=27", "rows=11,edge=1", GRID_DOMAIN, 4, 5},
		{"b.conv", "rows=27,stride=2", "rows=13,stride=2,edge=1", GRID_DOMAIN, 3, 5},
		{"b.conv", "rows=27,kernel=3,edge=2", "rows=4,kernel=3,edge=1", GRID_DOMAIN, 14, 5},
	};
	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		check_cut(&cuts[i], false);
		check_cut(&cuts[i], true);
	}
}

/* A strip that with its halo is higher than the image reads the image. */
static void test_low_image(void)
{
	struct arena a = {0};
	struct shelf shelf = {&a, "tests/plan/local.json", false, "rows=5", 0};
	struct graph g = read_shelf(&shelf, 3);
	struct grid_layer *layers;
	struct work cut;
	CU_ASSERT_EQUAL_FATAL(grid_layers(&a, &g, &layers), 4);
	const struct op *op = &g.ops[layers[1].op];
	grid_local_work(&a, &layers[1], op, GRID_DOMAIN, 2, &cut);
	CU_ASSERT_EQUAL(cut.conv.in_h, 5);
	CU_ASSERT_EQUAL(cut.a_bytes, op->work.a_bytes);
	CU_ASSERT_EQUAL(cut.conv.out_h, 3);
	CU_ASSERT_EQUAL(cut.m, op->work.m / 5 * 3);
	arena_free(&a);
}

/* AlexNet, 2048 images on 512 TPUv2. Fully connected, 32x16 multiplies 128 samples by a 32nd of the
 * outputs: faster than 4 samples by all of them, since it reads a 32nd of the weights, but not as
 * fast as a 512th of what one process does, which reads them once for all samples. A convolution
 * in parts of 3 channels leaves nearly all columns of the array empty, which 4 samples do not. */
static void test_fatness(void)
{
	struct model m;
	struct grid_times batch[8], parts[8], one[8];
	const enum grid_way ways[8] = {0, 0, 0, 0, 0, GRID_MODEL, GRID_MODEL, GRID_MODEL};
	const enum grid_way samples[8] = {0};
	struct err err = {0};
	setup(&m, alexnet, true, &all_cores);
	CU_ASSERT_EQUAL_FATAL(m.q.n_layers, 8);
	set_grid(&m, 1, 1, 2048);
	CU_ASSERT_TRUE_FATAL(grid_compute_times(m.compute, &m.q, samples, one, &err));
	set_grid(&m, 32, 16, 2048);
	CU_ASSERT_TRUE_FATAL(grid_compute_times(m.compute, &m.q, samples, batch, &err));
	CU_ASSERT_TRUE_FATAL(grid_compute_times(m.compute, &m.q, ways, parts, &err));
	for (uint32_t i = 5; i < 8; i++) {
		CU_ASSERT_TRUE(4 * total(&parts[i], 1) < total(&batch[i], 1));
		CU_ASSERT_TRUE(512 * total(&parts[i], 1) > 2 * total(&one[i], 1));
	}
	CU_ASSERT_TRUE(total(&parts[5], 1) * 20 < total(&batch[5], 1));
	CU_ASSERT_EQUAL(total(parts, 5), total(batch, 5));
	for (uint32_t i = 1; i < 5; i++) {
		struct grid_times thin = times_of(&m, i, GRID_MODEL);
		CU_ASSERT_TRUE(total(&thin, 1) > 4 * total(&batch[i], 1));
	}
	arena_free(&m.a);
}

/* Convolutions on their own grid, fewer samples than processes, nothing simulated twice. */
static void test_grids(void)
{
	struct model m, again;
	setup(&m, alexnet, true, &all_cores);
	setup(&again, alexnet, true, &all_cores);
	set_grid(&m, 16, 4, 32);
	m.q.conv = (struct process_grid){2, 32};
	struct grid_times conv = times_of(&m, 2, GRID_DOMAIN), fc = times_of(&m, 6, GRID_MODEL);
	uint32_t n_runs = grid_compute_n_runs(m.compute), n_reads = m.shelf.n_reads;
	CU_ASSERT_EQUAL(n_reads, 2); /* 1 and 8 samples */
	times_of(&m, 2, GRID_DOMAIN);
	times_of(&m, 6, GRID_MODEL);
	CU_ASSERT_EQUAL(grid_compute_n_runs(m.compute), n_runs);
	CU_ASSERT_EQUAL(m.shelf.n_reads, n_reads);
	set_grid(&again, 16, 4, 32);
	struct grid_times other = times_of(&again, 6, GRID_MODEL);
	CU_ASSERT_EQUAL(memcmp(&fc, &other, sizeof(fc)), 0);
	set_grid(&m, 16, 4, 28); /* 7 samples of the layer, 1 of what follows, as before */
	set_grid(&again, 16, 4, 28);
	fc = times_of(&again, 6, GRID_MODEL);
	CU_ASSERT_NOT_EQUAL(fc.forward, other.forward);
	other = times_of(&m, 6, GRID_MODEL);
	CU_ASSERT_EQUAL(memcmp(&fc, &other, sizeof(fc)), 0);
	set_grid(&again, 2, 32, 31);
	other = times_of(&again, 2, GRID_DOMAIN);
	CU_ASSERT_EQUAL(memcmp(&conv, &other, sizeof(conv)), 0);
	arena_free(&m.a);
	arena_free(&again.a);
}

static bool read_nothing(
	void *context, struct arena *a, uint64_t samples, struct graph *out, struct err *err)
{
	return err_set(err, ERR_IO, "no model");
}

/* Two models in turn. */
static bool read_other(
	void *context, struct arena *a, uint64_t samples, struct graph *out, struct err *err)
{
	struct shelf *s = context;
	if (s->n_reads == 1)
		s->file = "tests/plan/tiny.json";
	*out = read_shelf(s, samples);
	return true;
}

static void check_refused(struct model *m, enum grid_way way, enum err_kind kind, const char *text)
{
	struct grid_times t;
	struct err err = {0};
	CU_ASSERT_FALSE(grid_compute_layer(m->compute, &m->q, 1, way, &t, &err));
	CU_ASSERT_EQUAL(err.kind, kind);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, text));
}

static struct grid_compute *with_source(struct model *m,
	bool (*read)(void *, struct arena *, uint64_t, struct graph *, struct err *))
{
	return grid_compute_create(&m->a, &(struct grid_compute_input){.layers = m->layers,
						  .n_layers = m->q.n_layers,
						  .arch = &m->arch,
						  .source = {read, &m->shelf}});
}

static void test_refused(void)
{
	struct model m;
	setup(&m, "tests/plan/local.json", true, &all_cores);
	set_grid(&m, 16, 2, 4);
	check_refused(&m, GRID_MODEL, ERR_INPUT, "b.conv: Pr 16 over 12 channels");
	check_refused(&m, GRID_BATCH, ERR_INPUT, "a batch of 4 over 32 processes");
	set_grid(&m, 2, 2, 4);
	m.compute = with_source(&m, read_nothing);
	check_refused(&m, GRID_MODEL, ERR_IO, "no model");
	m.compute = with_source(&m, read_other);
	check_refused(&m, GRID_MODEL, ERR_INPUT, "other operators for 1 samples than for 2");
	m.compute = with_source(&m, read_other);
	check_refused(&m, GRID_MODEL, ERR_INPUT, "tiny.json: no product 'a.first' for 2 samples");
	arena_free(&m.a);
	setup(&m, "tests/plan/local.json", true, &all_cores);
	m.arch.hbm_bytes_per_s = 1000000;
	set_grid(&m, 1, 1, 1U << 30);
	check_refused(&m, GRID_BATCH, ERR_INPUT, "layer b.conv: a pass lasts longer than 18000 s");
	arena_free(&m.a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"one process runs the training graph", test_whole},
		{"a layer is its part and what lies behind it", test_layer},
		{"a part or a strip is a smaller layer", test_cuts},
		{"a strip as high as the image", test_low_image},
		{"fat matrices are fast", test_fatness},
		{"grids of their own, and again", test_grids},
		{"what cannot be computed", test_refused},
		CU_TEST_INFO_NULL,
	};
	return suite_run("plan_grid_compute", tests);
}
