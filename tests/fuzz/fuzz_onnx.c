/* Any bytes as an ONNX file, as they are and with dimensions given; what is read is fused, trained
 * and measured. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "graph/onnx.h"

/* A file can ask for more operators than are worth the fuzzer's time. */
enum { MAX_OPS = 4096 };

static bool read_as(const char *text, size_t n, const struct graph_options *options)
{
	struct arena a = {0};
	struct graph forward, fused, train;
	struct err err = {0};
	bool ok = onnx_read(
		&a, "fuzz.onnx", (struct bytes){.data = text, .n = n}, options, &forward, &err);
	assert(ok || ((err.kind == ERR_INPUT || (err.kind == ERR_USAGE && options->n_dims > 0)) &&
			     strncmp(err.text, "fuzz.onnx: ", 11) == 0));
	if (ok && forward.n_ops < MAX_OPS) {
		graph_fuse(&a, &forward, &fused);
		graph_train(&a, &fused, &(struct train_options){OPTIMIZER_ADAM}, &train);
		graph_layer_memory(&train, 0, 1);
	}
	arena_free(&a);
	return ok;
}

/* A copy of its own size, so that reading on is seen. */
static char *copy_of(struct arena *a, const uint8_t *data, size_t n)
{
	char *text = arena_alloc(a, n + 1, 1);
	if (n > 0)
		memcpy(text, data, n);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena a = {0};
	const char *text = copy_of(&a, data, n);
	const struct graph_override dims[] = {{"n", 3}};
	read_as(text, n, &(struct graph_options){0});
	read_as(text, n, &(struct graph_options){.batch = 4, .lenient = true});
	read_as(text, n, &(struct graph_options){.batch = 2, .dims = dims, .n_dims = 1});
	arena_free(&a);
	return 0;
}

static bool read_number(const uint8_t *data, size_t n, size_t *at, uint64_t *out)
{
	*out = 0;
	for (unsigned shift = 0; shift < 64 && *at < n; shift += 7) {
		uint8_t byte = data[(*at)++];
		*out |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

/* Whether the bytes are whole fields of a model, its graph among them: such a part is a valid file
 * by chance. */
static bool is_whole(const uint8_t *data, size_t n)
{
	bool has_graph = false;
	size_t at = 0;
	while (at < n) {
		uint64_t key, value;
		if (!read_number(data, n, &at, &key) || !read_number(data, n, &at, &value))
			return false;
		if ((key & 7) != 0 && (key & 7) != 2)
			return false;
		if ((key & 7) == 2 && value > n - at)
			return false;
		at += (key & 7) == 2 ? (size_t)value : 0;
		has_graph = has_graph || key >> 3 == 7;
	}
	return has_graph;
}

int fuzz_refuses(const uint8_t *data, size_t n)
{
	struct arena a = {0};
	bool ok = read_as(copy_of(&a, data, n), n, &(struct graph_options){.lenient = true});
	arena_free(&a);
	return !ok || is_whole(data, n);
}
