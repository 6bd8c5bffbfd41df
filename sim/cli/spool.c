/* Inputs that can be read only once, standard input and pipes: kept in a file without a name, since
 * a verb may read its input several times. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/internal.h"

enum { CHUNK = 64 << 10 };

/* What a device may give; it need not end. */
#define DEVICE_MAX (UINT64_C(64) << 20)

static bool is_stream(const char *name, bool *is_device)
{
	struct stat st;
	bool known = strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, &st) == 0 : stat(name, &st) == 0;
	*is_device = known && S_ISCHR(st.st_mode);
	return strcmp(name, "-") == 0 || (known && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)));
}

static bool write_all(int fd, const char *data, size_t n)
{
	while (n > 0) {
		ssize_t put = write(fd, data, n);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		data += put;
		n -= (size_t)put;
	}
	return true;
}

static bool copy(const char *name, int from, int to, uint64_t max, struct err *err)
{
	char *buf = mem_alloc(CHUNK, 1);
	uint64_t sum = 0;
	ssize_t got = 1;
	bool ok = true;
	while (ok && got > 0) {
		got = read(from, buf, CHUNK);
		if (got < 0 && errno == EINTR) {
			got = 1;
			continue;
		}
		sum += got > 0 ? (uint64_t)got : 0;
		if (got < 0)
			ok = err_set(err, ERR_IO, "%s: %s", name, strerror(errno));
		else if (sum > max)
			ok = err_set(err, ERR_INPUT, "%s: more than %llu MiB", name,
				(unsigned long long)(max >> 20));
		else if (!write_all(to, buf, (size_t)got))
			ok = err_set(err, ERR_IO, "%s: cannot be kept: %s", name, strerror(errno));
	}
	free(buf);
	return ok;
}

static const char *keep(struct request *q, const char *name, bool is_device, struct err *err)
{
	const char *folder = getenv("TMPDIR");
	char *path = arena_printf(q->a, "%s/wham-input-XXXXXX", folder ? folder : "/tmp");
	int to = mkstemp(path);
	if (to < 0) {
		err_set(err, ERR_IO, "%s: cannot be kept: %s: %s", name, path, strerror(errno));
		return NULL;
	}
	unlink(path);
	int from = strcmp(name, "-") == 0 ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	bool ok = from >= 0 ? copy(name, from, to, is_device ? DEVICE_MAX : FILE_MAX, err)
			    : err_set(err, ERR_IO, "%s: %s", name, strerror(errno));
	if (from > STDIN_FILENO)
		close(from);
	if (!ok) {
		close(to);
		return NULL;
	}
	/* Open until the program ends: the path leads to it. */
	return arena_printf(q->a, "/dev/fd/%d", to);
}

const char *spool_input(struct request *q, const char *name, struct err *err)
{
	bool is_device;
	for (uint32_t i = 0; i < q->n_spooled; i++)
		if (strcmp(q->spooled[i].name, name) == 0 || strcmp(q->spooled[i].path, name) == 0)
			return q->spooled[i].path;
	if (!is_stream(name, &is_device))
		return name;
	const char *path = keep(q, name, is_device, err);
	if (path)
		arena_push(q->a, q->spooled, q->n_spooled, q->cap_spooled) =
			(struct spooled){arena_strdup(q->a, name), path};
	return path;
}

const char *spool_name(const struct request *q, const char *path)
{
	for (uint32_t i = 0; i < q->n_spooled; i++)
		if (strcmp(q->spooled[i].path, path) == 0)
			return q->spooled[i].name;
	return path;
}

/* "/dev/fd/5:3:2: what" becomes "-:3:2: what". */
void spool_rename(const struct request *q, struct err *err)
{
	for (uint32_t i = 0; i < q->n_spooled; i++) {
		size_t n = strlen(q->spooled[i].path);
		struct err old = *err;
		if (strncmp(old.text, q->spooled[i].path, n) == 0 && old.text[n] == ':')
			err_set(err, old.kind, "%s%s", q->spooled[i].name, old.text + n);
	}
}
