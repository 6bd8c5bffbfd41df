/* For realpath(). NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700
#define ZLIB_CONST

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"

enum { TRIES = 100, NEW_FILE = 0666 };

/* Where the bytes go: a temporary file that will be renamed, or the place itself. */
struct target {
	const char *shown;             /* as the user gave it */
	char path[PATH_MAX];           /* behind symbolic links */
	char temporary[PATH_MAX + 64]; /* "" when the place itself is written */
	mode_t mode;
	int fd;
};

static bool fail_write(const char *path, struct err *err)
{
	const char *why = errno == EISDIR ? "is a directory" : strerror(errno);
	return err_set(err, ERR_IO, "%s: cannot write: %s", path, why);
}

/* Opens a new file in the folder of `t->path`; its name is short so that it fits wherever the
 * path does. */
static bool open_temporary(struct target *t, struct err *err)
{
	const char *slash = strrchr(t->path, '/');
	int n_folder = slash ? (int)(slash - t->path) + 1 : 0;
	for (int i = 0; i < TRIES; i++) {
		snprintf(t->temporary, sizeof(t->temporary), "%.*s.new-%ld-%d", n_folder, t->path,
			(long)getpid(), i);
		t->fd = open(t->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, NEW_FILE);
		if (t->fd >= 0)
			return true;
		if (errno != EEXIST)
			break;
	}
	t->temporary[0] = '\0';
	return fail_write(t->shown, err);
}

static bool target_open(struct target *t, const char *path, struct err *err)
{
	*t = (struct target){.shown = path, .fd = -1};
	struct stat st;
	if (*path == '\0' || strlen(path) >= sizeof(t->path)) {
		errno = *path == '\0' ? ENOENT : ENAMETOOLONG;
		return fail_write(path, err);
	}
	if (!realpath(path, t->path))
		memcpy(t->path, path, strlen(path) + 1);
	if (stat(path, &st) != 0)
		return errno == ENOENT ? open_temporary(t, err) : fail_write(path, err);
	if (!S_ISREG(st.st_mode)) {
		t->fd = open(path, O_WRONLY | O_CLOEXEC);
		return t->fd >= 0 || fail_write(path, err);
	}
	t->mode = st.st_mode & 07777;
	if (access(path, W_OK) != 0)
		return fail_write(path, err);
	return open_temporary(t, err);
}

static void target_drop(struct target *t)
{
	if (t->fd >= 0)
		close(t->fd);
	if (t->temporary[0] != '\0')
		unlink(t->temporary);
}

static bool target_finish(struct target *t, struct err *err)
{
	int fd = t->fd;
	t->fd = -1;
	bool ok = t->mode == 0 || fchmod(fd, t->mode) == 0;
	ok = close(fd) == 0 && ok;
	if (ok && t->temporary[0] != '\0')
		ok = rename(t->temporary, t->path) == 0;
	if (ok)
		return true;
	fail_write(t->shown, err);
	target_drop(t);
	return false;
}

static bool write_all(int fd, const char *path, struct bytes bytes, struct err *err)
{
	for (size_t done = 0; done < bytes.n;) {
		ssize_t put = write(fd, bytes.data + done, bytes.n - done);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return fail_write(path, err);
		done += (size_t)put;
	}
	return true;
}

static bool write_stdout(struct bytes bytes, struct err *err)
{
	if (fflush(stdout) != 0)
		return fail_write("-", err);
	return write_all(STDOUT_FILENO, "-", bytes, err);
}

static bool write_file(const char *path, struct bytes bytes, struct err *err)
{
	struct target t;
	if (!target_open(&t, path, err))
		return false;
	if (!write_all(t.fd, path, bytes, err)) {
		target_drop(&t);
		return false;
	}
	return target_finish(&t, err);
}

static bool write_quietly(const char *path, struct bytes bytes, struct err *err)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
	sigemptyset(&ignore.sa_mask);
	sigaction(SIGPIPE, &ignore, &old);
	bool ok = strcmp(path, "-") == 0 ? write_stdout(bytes, err) : write_file(path, bytes, err);
	sigaction(SIGPIPE, &old, NULL);
	return ok;
}

static bool ends_in_gz(const char *path)
{
	size_t n = strlen(path);
	return n > 3 && strcmp(path + n - 3, ".gz") == 0;
}

/* Returns malloc()ed gzip data of `n` bytes; the header that zlib writes by itself has no time
 * stamp. */
static char *compress_gzip(const void *data, size_t n, size_t *n_out)
{
	enum { PIECE = 1 << 30 };
	z_stream z = {0};
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
		Z_OK)
		return NULL;
	size_t cap = deflateBound(&z, n), left = n;
	char *out = mem_alloc(cap, 1);
	const char *in = data;
	int status = Z_OK;
	*n_out = 0;
	while (status == Z_OK) {
		size_t piece = left < PIECE ? left : PIECE, room = cap - *n_out;
		z.next_in = (const Bytef *)(in + (n - left));
		z.avail_in = (unsigned)piece;
		z.next_out = (Bytef *)out + *n_out;
		z.avail_out = (unsigned)(room < PIECE ? room : PIECE);
		unsigned given = z.avail_out;
		status = deflate(&z, piece == left ? Z_FINISH : Z_NO_FLUSH);
		left -= piece - z.avail_in;
		*n_out += given - z.avail_out;
	}
	deflateEnd(&z);
	return out;
}

bool file_write(const char *path, const void *data, size_t n, struct err *err)
{
	if (!ends_in_gz(path))
		return write_quietly(path, (struct bytes){.data = data, .n = n}, err);
	size_t n_packed;
	char *packed = compress_gzip(data, n, &n_packed);
	if (!packed)
		return err_set(err, ERR_INTERNAL, "%s: zlib does not start", path);
	bool ok = write_quietly(path, (struct bytes){.data = packed, .n = n_packed}, err);
	free(packed);
	return ok;
}

bool file_can_write(const char *path, struct err *err)
{
	struct target t;
	struct stat st;
	if (strcmp(path, "-") == 0)
		return true;
	if (stat(path, &st) == 0 &&
		!S_ISREG(st.st_mode)) { /* opening a pipe would wait for its reader */
		errno = S_ISDIR(st.st_mode) ? EISDIR : EACCES;
		return (!S_ISDIR(st.st_mode) && access(path, W_OK) == 0) || fail_write(path, err);
	}
	if (!target_open(&t, path, err))
		return false;
	target_drop(&t);
	return true;
}
