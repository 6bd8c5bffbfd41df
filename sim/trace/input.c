/* From paths to files: directories are listed, archives opened. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/internal.h"

enum { MAX_FILES = 2 * PROG_MAX_RANKS };

static const char *name_of(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t n = strlen(name);
	return n > 3 && strcmp(name + n - 3, ".gz") == 0 ? arena_strndup(a, name, n - 3) : name;
}

void file_list_add(struct arena *a, struct file_list *list, const char *path, const char *within,
	struct bytes content)
{
	const char *name = name_of(a, within);
	/* hidden files: archives of one system carry notes for each file */
	if (name[0] == '.')
		return;
	arena_push(a, list->files, list->n, list->cap) = (struct trace_file){path, name, content};
}

static bool add_file(struct arena *a, struct file_list *list, const char *path, struct err *err)
{
	struct bytes content;
	if (list->n >= MAX_FILES)
		return err_set(err, ERR_INPUT, "%s: more than %d files", path, (int)MAX_FILES);
	if (!file_read(a, path, &content, err))
		return false;
	arena_push(a, list->paths, list->n_paths, list->cap_paths) = path;
	if (tar_fits(content))
		return tar_list(a, path, content, list, err);
	file_list_add(a, list, path, path, content);
	return true;
}

static bool is_directory(const char *path)
{
	struct stat st;
	return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Of a directory only what can be a recording: everything else may lie there too. */
static bool is_wanted(const char *name)
{
	static const char *const endings[] = {".et", ".et.gz", ".json"};
	size_t n = strlen(name);
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t k = strlen(endings[i]);
		if (name[0] != '.' && n > k && strcmp(name + n - k, endings[i]) == 0)
			return true;
	}
	return false;
}

static bool add_directory(
	struct arena *a, struct file_list *list, const char *path, struct err *err)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	uint32_t before = list->n;
	bool ok = true;
	if (!dir)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	while (ok && (entry = readdir(dir)))
		if (is_wanted(entry->d_name))
			ok = add_file(a, list, arena_printf(a, "%s/%s", path, entry->d_name), err);
	closedir(dir);
	if (ok && list->n == before)
		return err_set(err, ERR_INPUT,
			"%s: no recording in this directory, expected .et files", path);
	return ok;
}

static int file_order(const void *x, const void *y)
{
	const struct trace_file *a = x, *b = y;
	int by_name = strcmp(a->name, b->name);
	return by_name ? by_name : strcmp(a->path, b->path);
}

bool trace_gather(struct arena *a, const char *const *paths, uint32_t n_paths,
	struct trace_input *out, struct err *err)
{
	struct file_list list = {0};
	for (uint32_t i = 0; i < n_paths; i++)
		if (is_directory(paths[i]) ? !add_directory(a, &list, paths[i], err)
					   : !add_file(a, &list, paths[i], err))
			return false;
	if (list.n == 0)
		return err_set(err, ERR_INPUT, "%s: no file in it",
			n_paths > 0 ? paths[0] : "nothing to read");
	qsort(list.files, list.n, sizeof(*list.files), file_order);
	*out = (struct trace_input){list.files, list.n, list.paths, list.n_paths};
	return true;
}
