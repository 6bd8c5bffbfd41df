/* Files: whole, gzip-transparent, written safely. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

/* The most that one file may hold once decompressed: 4 GiB. */
#define FILE_MAX (UINT64_C(4) << 30)

struct bytes {
	const char *data; /* data[n] is '\0', for readers of text */
	size_t n;
};

/* Reads all of `path` ("-" is standard input) into `a`. Content that starts with gzip's magic
 * bytes is decompressed, all members of it; other content is taken as it is, whatever its name.
 * ERR_IO: missing, a directory, not readable, a read that fails. ERR_INPUT: "empty file",
 * "truncated gzip", "corrupt gzip (bad CRC)" or another reason in the brackets, "garbage after
 * the end of the gzip data", more than `FILE_MAX` bytes once decompressed. Every text starts
 * with the path. */
bool file_read(struct arena *a, const char *path, struct bytes *out, struct err *err);

/* The SHA-256 of the file as it lies on disk, in hexadecimal. "-" is refused: it can be read
 * only once. */
bool file_sha256(const char *path, char hex[65], struct err *err);

/* Says early whether `path` could be written ("-" always can); creates nothing that stays. */
bool file_can_write(const char *path, struct err *err);

/* Writes through a temporary file beside `path` and a rename, so that a reader sees all of it or
 * what was there before. A symbolic link is followed; a device or a pipe is written in place;
 * "-" is standard output. A name that ends in ".gz" is compressed (without a time stamp: same
 * bytes for the same content). ERR_IO: not writable, full, nobody reads the pipe (SIGPIPE is
 * ignored by this function while it writes; a program that prints with stdio has to ignore it
 * itself). */
bool file_write(const char *path, const void *data, size_t n, struct err *err);

#endif
