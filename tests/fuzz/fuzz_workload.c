/* Any bytes as a workload file, for one and for two devices; what is read is fused, trained and
 * measured. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "graph/workload.h"

/* A file can ask for more operators than are worth the fuzzer's time. */
enum { MAX_OPS = 4096 };

/* With a parameter overridden, the sum of the parameters is not checked: more files go on to
 * training. */
static bool read_as(const char *text, size_t n, uint32_t tp, uint32_t n_overrides)
{
	struct arena a = {0};
	struct graph forward, fused, train;
	struct err err = {0};
	const struct graph_override override = {"n", 8};
	struct graph_options options = {
		.tp = tp, .overrides = &override, .n_overrides = n_overrides};
	bool ok = workload_read(
		&a, "fuzz.json", (struct bytes){.data = text, .n = n}, &options, &forward, &err);
	assert(ok || (n_overrides > 0 && err.kind == ERR_USAGE) ||
		(err.kind == ERR_INPUT && strncmp(err.text, "fuzz.json:", 10) == 0));
	if (ok && forward.n_ops < MAX_OPS) {
		graph_fuse(&a, &forward, &fused);
		graph_train(&a, &fused, &(struct train_options){OPTIMIZER_ADAM}, &train);
		graph_layer_memory(&train, 0, 1);
	}
	arena_free(&a);
	return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena a = {0};
	char *text = arena_alloc(&a, n + 1, 1);
	if (n > 0)
		memcpy(text, data, n);
	read_as(text, n, 1, 0);
	read_as(text, n, 2, 1);
	arena_free(&a);
	return 0;
}

int fuzz_refuses(const uint8_t *data, size_t n)
{
	struct arena a = {0};
	char *text = arena_alloc(&a, n + 1, 1);
	if (n > 0)
		memcpy(text, data, n);
	bool ok = read_as(text, n, 1, 0);
	arena_free(&a);
	return !ok;
}
