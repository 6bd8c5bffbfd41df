/* usage: make_onnx FILE
 * Writes the small model of onnx_maker.h. */
#include <stdio.h>

#include "onnx_maker.h"

int main(int argc, char **argv)
{
	struct arena a = {0};
	struct onnx_maker m;
	struct err err = {0};
	if (argc != 2) {
		fprintf(stderr, "usage: make_onnx FILE\n");
		return 2;
	}
	maker_init(&m, &a);
	maker_small_model(&m);
	struct bytes file = maker_pack(&m);
	bool ok = file_write(argv[1], file.data, file.n, &err);
	if (!ok)
		fprintf(stderr, "%s\n", err.text);
	arena_free(&a);
	return ok ? 0 : (int)err.kind;
}
