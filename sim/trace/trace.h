/* Recordings of what each device did, as progs. One format is one file with a `const struct
 * trace_format` in it, named in the table of trace.c.
 *
 * A set is one file per rank, or all ranks in one file. Paths are files, directories (what lies in
 * them, not below), and tar archives, each plain or gzip. */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "prog/prog.h"

/* A file of the set, wherever it was found. */
struct trace_file {
	const char *path; /* "DIR/w.3.et", "set.tar.gz:w.3.et" */
	const char *name; /* without folders and without ".gz": "w.3.et" */
	struct bytes content;
};

struct trace_input {
	const struct trace_file *files; /* ascending by name, then path */
	uint32_t n_files;
	const char *const *paths; /* on disk: files and archives, in the order read */
	uint32_t n_paths;
};

struct trace_options {
	uint32_t
		elem_bytes; /* what sizes are counted in: 1, or the bytes of an element where a tool wrote elements; 0 means 1 */
	/* For operations that were not timed but have their work written down: the longer of ops /
	 * ops_per_s and bytes / bytes_per_s. 0: they take no time, and a warning counts them. */
	uint64_t ops_per_s, bytes_per_s;
	bool lenient; /* repairs more, see each format */
};

/* Something odd that was repaired. */
struct trace_warning {
	const char *code;  /* "dangling_dependency" */
	const char *first; /* the first occurrence, in words */
	uint64_t count;
};

struct trace {
	struct prog prog;
	const char *format;
	const char *const *paths; /* what was read from disk */
	uint32_t n_paths;
	uint64_t n_nodes; /* of all ranks, as recorded; 0 where the format does not know */
	struct trace_warning *warnings;
	uint32_t n_warnings, cap_warnings;
};

/* Streams: the device computes on 0; what the processor did, and remote memory. Communication has
 * the ones above. */
enum { TRACE_HOST_STREAM = 1, TRACE_MEMORY_STREAM = 2, TRACE_FIRST_COMM_STREAM = 3 };

struct trace_format {
	const char *name, *summary;
	bool (*fits)(const struct trace_input *in); /* by content and name; may be generous */
	bool (*read)(struct arena *a, const struct trace_input *in,
		const struct trace_options *options, struct trace *out, struct err *err);
};

/* Sorted by name, NULL at the end. The first that fits reads a set. */
extern const struct trace_format *const trace_formats[];

/* ERR_IO and ERR_INPUT as file_read(); ERR_INPUT for an empty set, a set that no format knows, and
 * what the format says with file and node. The prog is not checked yet: prog_check(). */
bool trace_read(struct arena *a, const char *const *paths, uint32_t n_paths,
	const struct trace_options *options, struct trace *out, struct err *err);

#endif
