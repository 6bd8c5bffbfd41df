#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/internal.h"
#include "base/text.h"

enum { CHUNK = 64 << 10 };

struct source {
	const char *path;
	int fd;
	uint64_t max; /* bytes once decompressed */
};

static bool fail_io(const char *path, struct err *err)
{
	return err_set(
		err, ERR_IO, "%s: %s", path, errno == EISDIR ? "is a directory" : strerror(errno));
}

static bool source_open(struct source *src, const char *path, struct err *err)
{
	*src = (struct source){.path = path};
	src->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (src->fd < 0)
		return fail_io(path, err);
	return true;
}

static void source_close(struct source *src)
{
	if (src->fd != STDIN_FILENO)
		close(src->fd);
}

/* Fills `buf` as far as the source goes; *n below `size` is the end. */
static bool source_read(struct source *src, void *buf, size_t size, size_t *n, struct err *err)
{
	for (*n = 0; *n < size;) {
		ssize_t got = read(src->fd, (char *)buf + *n, size - *n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_io(src->path, err);
		if (got == 0)
			break;
		*n += (size_t)got;
	}
	return true;
}

static bool keep(
	const struct source *src, struct text *out, const void *data, size_t n, struct err *err)
{
	char most[UNIT_TEXT];
	if (n > src->max - out->n)
		return err_set(err, ERR_INPUT, "%s: holds more than %s", src->path,
			unit_print(most, UNIT_BYTES, src->max));
	text_add_bytes(out, data, n);
	return true;
}

static bool read_plain(
	struct source *src, struct text *out, unsigned char *in, size_t n, struct err *err)
{
	for (;;) {
		if (!keep(src, out, in, n, err))
			return false;
		if (n < CHUNK)
			return true;
		if (!source_read(src, in, CHUNK, &n, err))
			return false;
	}
}

static bool fail_gzip(const struct source *src, const z_stream *z, struct err *err)
{
	const char *why = z->msg ? z->msg : "not deflate data";
	if (strcmp(why, "incorrect data check") == 0)
		why = "bad CRC";
	return err_set(err, ERR_INPUT, "%s: corrupt gzip (%s)", src->path, why);
}

/* What has been decompressed so far of one file. */
struct gunzip {
	struct source *src;
	struct text *out;
	unsigned char *in;  /* CHUNK bytes */
	unsigned char *buf; /* CHUNK bytes */
	z_stream z;
	bool eof;
	bool in_member;
};

/* Makes sure that there is input unless the file is at its end. */
static bool refill(struct gunzip *g, struct err *err)
{
	if (g->z.avail_in > 0 || g->eof)
		return true;
	size_t n;
	if (!source_read(g->src, g->in, CHUNK, &n, err))
		return false;
	g->eof = n < CHUNK;
	g->z.next_in = g->in;
	g->z.avail_in = (unsigned)n;
	return true;
}

/* Decompresses up to the end of the input at hand or of the member, whichever comes first. */
static bool inflate_some(struct gunzip *g, struct err *err)
{
	g->z.next_out = g->buf;
	g->z.avail_out = CHUNK;
	int status = inflate(&g->z, Z_NO_FLUSH);
	if (!keep(g->src, g->out, g->buf, CHUNK - g->z.avail_out, err))
		return false;
	if (status == Z_STREAM_END) {
		g->in_member = false;
		return true;
	}
	if (status != Z_OK && status != Z_BUF_ERROR)
		return fail_gzip(g->src, &g->z, err);
	if (g->z.avail_in == 0 && g->z.avail_out > 0 && g->eof)
		return err_set(err, ERR_INPUT, "%s: truncated gzip", g->src->path);
	return true;
}

/* At the end of a member: begins the next one, or says that what follows is none. */
static bool begin_member(struct gunzip *g, struct err *err)
{
	if (g->z.next_in[0] != 0x1f)
		return err_set(
			err, ERR_INPUT, "%s: garbage after the end of the gzip data", g->src->path);
	inflateReset(&g->z);
	g->in_member = true;
	return true;
}

static bool inflate_members(struct gunzip *g, struct err *err)
{
	for (;;) {
		if (!refill(g, err))
			return false;
		if (!g->in_member && g->z.avail_in == 0)
			return true;
		if (!g->in_member && !begin_member(g, err))
			return false;
		if (!inflate_some(g, err))
			return false;
	}
}

static bool read_gzip(
	struct source *src, struct text *out, unsigned char *in, size_t n, struct err *err)
{
	struct gunzip g = {.src = src, .out = out, .in = in, .eof = n < CHUNK, .in_member = true};
	g.z.next_in = in;
	g.z.avail_in = (unsigned)n;
	if (inflateInit2(&g.z, 15 + 16) != Z_OK)
		return err_set(err, ERR_INTERNAL, "%s: zlib does not start", src->path);
	g.buf = mem_alloc(CHUNK, 1);
	bool ok = inflate_members(&g, err);
	free(g.buf);
	inflateEnd(&g.z);
	return ok;
}

/* A lone first byte of the magic is a gzip file that was cut, not text. */
static bool is_gzip(const unsigned char *in, size_t n)
{
	return n > 0 && in[0] == 0x1f && (n == 1 || in[1] == 0x8b);
}

static bool read_all(struct source *src, struct text *out, struct err *err)
{
	unsigned char *in = mem_alloc(CHUNK, 1);
	size_t n;
	bool ok = source_read(src, in, CHUNK, &n, err);
	if (ok)
		ok = (is_gzip(in, n) ? read_gzip : read_plain)(src, out, in, n, err);
	free(in);
	if (ok && out->n == 0)
		return err_set(err, ERR_INPUT, "%s: empty file", src->path);
	return ok;
}

bool file_read(struct arena *a, const char *path, struct bytes *out, struct err *err)
{
	return file_read_max(a, path, FILE_MAX, out, err);
}

bool file_read_max(
	struct arena *a, const char *path, uint64_t max, struct bytes *out, struct err *err)
{
	struct source src;
	struct text text = {0};
	if (!source_open(&src, path, err))
		return false;
	src.max = max;
	bool ok = read_all(&src, &text, err);
	source_close(&src);
	if (ok) {
		const char *data = arena_grow(a, text.data, text.n, text.n + 1, 1);
		*out = (struct bytes){.data = data, .n = text.n};
	}
	text_free(&text);
	return ok;
}

static bool hash_all(struct source *src, SHA2_CTX *ctx, struct err *err)
{
	unsigned char *buf = mem_alloc(CHUNK, 1);
	size_t n;
	bool ok;
	do {
		ok = source_read(src, buf, CHUNK, &n, err);
		if (ok)
			SHA256Update(ctx, buf, n);
	} while (ok && n == CHUNK);
	free(buf);
	return ok;
}

bool file_sha256(const char *path, char hex[65], struct err *err)
{
	struct source src;
	SHA2_CTX ctx;
	if (strcmp(path, "-") == 0)
		return err_set(err, ERR_IO, "-: standard input has no checksum");
	if (!source_open(&src, path, err))
		return false;
	SHA256Init(&ctx);
	bool ok = hash_all(&src, &ctx, err);
	source_close(&src);
	if (ok)
		SHA256End(&ctx, hex);
	return ok;
}
