/* Any bytes as the only rank of a Chakra trace; what is read is checked as a prog. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "trace/trace.h"

static bool read_as(const uint8_t *data, size_t n, bool lenient)
{
	struct arena a = {0};
	struct trace trace = {0};
	struct err err = {0};
	const struct trace_options options = {
		.lenient = lenient, .ops_per_s = 1000000, .bytes_per_s = 1000000};
	const struct trace_file file = {
		.path = "fuzz.0.et", .name = "fuzz.0.et", .content = {(const char *)data, n}};
	const struct trace_input in = {.files = &file, .n_files = 1};
	const struct trace_format *chakra = trace_formats[0];
	assert(strcmp(chakra->name, "chakra") == 0);
	bool ok = chakra->read(&a, &in, &options, &trace, &err);
	assert(ok || (err.kind == ERR_INPUT && strncmp(err.text, "fuzz.0.et", 9) == 0));
	if (ok)
		prog_check(&trace.prog, &err);
	arena_free(&a);
	return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	read_as(data, n, false);
	read_as(data, n, true);
	return 0;
}

/* A trace that ends between two records is a shorter trace: nothing to ask for. */
int fuzz_refuses(const uint8_t *data, size_t n)
{
	read_as(data, n, false);
	return 1;
}
