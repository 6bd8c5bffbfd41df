/* Inside trace/. */
#ifndef TRACE_INTERNAL_H
#define TRACE_INTERNAL_H

#include "trace/trace.h"

extern const struct trace_format format_chakra, format_prog;

/* Collects the files behind `paths`. */
bool trace_gather(struct arena *a, const char *const *paths, uint32_t n_paths,
	struct trace_input *out, struct err *err);

/* A list of files that grows. */
struct file_list {
	struct trace_file *files;
	uint32_t n, cap;
	const char **paths; /* on disk */
	uint32_t n_paths, cap_paths;
};

/* Whether `content` is a tar archive (POSIX ustar or GNU). */
bool tar_fits(struct bytes content);
/* Appends its regular files; `path` is that of the archive. Links, devices and folders are skipped.
 * ERR_INPUT: cut off, a header with a wrong checksum. */
bool tar_list(struct arena *a, const char *path, struct bytes content, struct file_list *out,
	struct err *err);
/* `within`: where the file lies in the archive, or `path` again. Hidden files are left out. */
void file_list_add(struct arena *a, struct file_list *list, const char *path, const char *within,
	struct bytes content);

/* The same code again only counts. */
void trace_warn(struct arena *a, struct trace *t, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
