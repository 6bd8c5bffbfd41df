/* Where shipped data is, and how a name becomes a file. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/internal.h"

/* Run from the build tree, data is that of the source tree; installed, it is PREFIX/share/wham
 * beside PREFIX/bin. */
const char *data_root(struct arena *a)
{
	char exe[4096];
	const char *given = getenv("WHAM_DATA");
	if (given && *given)
		return given;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n <= 0)
		return WHAM_SOURCE_ROOT;
	exe[n] = '\0';
	char *slash = strrchr(exe, '/');
	if (slash)
		*slash = '\0';
	if (strncmp(exe, WHAM_BUILD_ROOT, strlen(WHAM_BUILD_ROOT)) == 0)
		return WHAM_SOURCE_ROOT;
	return arena_printf(a, "%s/../share/wham", exe);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct names data_names(struct arena *a, const char *folder)
{
	struct names list = {0};
	DIR *dir = opendir(arena_printf(a, "%s/%s", data_root(a), folder));
	for (const struct dirent *e; dir && (e = readdir(dir));) {
		const char *dot = strrchr(e->d_name, '.');
		if (e->d_name[0] == '.' || !dot)
			continue;
		if (strcmp(dot, ".csv") == 0 || strcmp(dot, ".json") == 0 ||
			strcmp(dot, ".xml") == 0)
			arena_push(a, list.items, list.n, list.cap) =
				arena_strndup(a, e->d_name, (size_t)(dot - e->d_name));
	}
	if (dir)
		closedir(dir);
	if (list.n > 0)
		qsort(list.items, list.n, sizeof(*list.items), by_name);
	return list;
}

static bool is_there(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0;
}

/* "x/y", "x.json", "-": a path rather than a name. */
static bool looks_like_path(const char *name)
{
	static const char *const ends[] = {".json", ".onnx", ".gz", ".xml", ".prog", ".csv"};
	size_t n = strlen(name);
	if (strchr(name, '/') || strcmp(name, "-") == 0)
		return true;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t k = strlen(ends[i]);
		if (n > k && strcmp(name + n - k, ends[i]) == 0)
			return true;
	}
	return false;
}

static bool remember(struct request *q, const char *path, struct err *err)
{
	char hex[65];
	const char *name = spool_name(q, path);
	for (uint32_t i = 0; i < q->report.n_inputs; i++)
		if (strcmp(q->report.inputs[i].path, name) == 0)
			return true;
	if (!file_sha256(path, hex, err))
		return false;
	report_add_input(q->a, &q->report, name, hex);
	return true;
}

/* "DGX_A100" and "dgx-a100" are one name. */
static const char *plain_name(struct arena *a, const char *name)
{
	char *plain = arena_strdup(a, name);
	for (char *c = plain; *c; c++) {
		int lower = (tolower)((unsigned char)*c); /* not the macro */
		*c = (char)(lower == '_' ? '-' : lower);
	}
	return plain;
}

const char *data_find(
	struct request *q, const char *what, const char *folder, const char *name, struct err *err)
{
	static const char *const ends[] = {"json", "xml", "csv"};
	enum { N_ENDS = sizeof(ends) / sizeof(*ends) };
	if (looks_like_path(name) || is_there(name)) {
		const char *path = spool_input(q, name, err);
		return path && remember(q, path, err) ? arena_strdup(q->a, path) : NULL;
	}
	for (size_t i = 0; i < (size_t)2 * N_ENDS; i++) {
		const char *plain = i < N_ENDS ? name : plain_name(q->a, name);
		const char *path = arena_printf(
			q->a, "%s/%s/%s.%s", data_root(q->a), folder, plain, ends[i % N_ENDS]);
		if (is_there(path))
			return remember(q, path, err) ? path : NULL;
	}
	struct names known = data_names(q->a, folder);
	const char *near = text_nearest(name, known.items, known.n);
	if (near)
		err_set(err, ERR_USAGE, "unknown %s '%s', did you mean '%s'?", what, name, near);
	else
		err_set(err, ERR_USAGE, "unknown %s '%s', expected a file or a name of 'wham list'",
			what, name);
	return NULL;
}
