/* Runs a fuzz target on files and on all files of folders, each whole, or with --truncate cut
 * off at every byte up to its last but white space. usage: fuzz_NAME [--truncate] FILE|FOLDER... */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "fuzz.h"

struct replay {
	bool truncate;
	size_t files, inputs, accepted;
};

static void run_truncated(struct replay *r, const struct bytes *content)
{
	size_t end = content->n;
	while (end > 0 && isspace((unsigned char)content->data[end - 1]))
		end--;
	for (size_t n = 0; n < end; n++, r->inputs++) {
		/* a copy of its own size, so that reading on is seen */
		uint8_t *copy = mem_alloc(n + 1, 1);
		memcpy(copy, content->data, n);
		if (!fuzz_refuses(copy, n)) {
			fprintf(stderr, "%zu bytes are accepted\n", n);
			r->accepted++;
		}
		free(copy);
	}
}

static bool run_file(struct replay *r, const char *path)
{
	struct arena a = {0};
	struct bytes content;
	struct err err = {0};
	bool ok = file_read(&a, path, &content, &err);
	if (!ok)
		fprintf(stderr, "%s\n", err.text);
	r->files += ok;
	if (ok && r->truncate)
		run_truncated(r, &content);
	if (ok && !r->truncate) {
		LLVMFuzzerTestOneInput((const uint8_t *)content.data, content.n);
		r->inputs++;
	}
	arena_free(&a);
	return ok;
}

static bool run_path(struct replay *r, const char *path)
{
	struct stat st;
	struct arena a = {0};
	bool ok = true;
	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return run_file(r, path);
	DIR *dir = opendir(path);
	for (const struct dirent *e; dir && (e = readdir(dir));)
		if (e->d_name[0] != '.')
			ok = run_file(r, arena_printf(&a, "%s/%s", path, e->d_name)) && ok;
	if (dir)
		closedir(dir);
	arena_free(&a);
	return ok && dir;
}

int main(int argc, char **argv)
{
	struct replay r = {0};
	bool ok = true;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--truncate") == 0)
			r.truncate = true;
		else
			ok = run_path(&r, argv[i]) && ok;
	printf("%zu files, %zu inputs\n", r.files, r.inputs);
	return ok && r.files > 0 && r.accepted == 0 ? 0 : 1;
}
