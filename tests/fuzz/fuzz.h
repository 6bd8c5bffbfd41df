/* What a fuzz target is: one function that takes any bytes and never crashes, hangs or leaks.
 *
 * replay.c gives it a main that runs it on files, so that every build tests it. With clang,
 *     CC=clang meson setup FUZZ -Db_sanitize=fuzzer-no-link,address,undefined -Db_lundef=false
 *     ninja -C FUZZ && clang -fsanitize=fuzzer,address,undefined FUZZ/tests/fuzz/libfuzz_NAME.a ... (run.sh does it)
 * it becomes a libFuzzer program. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Whether the text was refused with ERR_INPUT, as everything that is cut off must be. */
int fuzz_refuses(const uint8_t *data, size_t n);

#endif
