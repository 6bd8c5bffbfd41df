/* Tar archives (POSIX.1-1988 ustar; GNU long names): headers of 512 bytes, each followed by the
 * file, padded. */
#include <inttypes.h>
#include <string.h>

#include "trace/internal.h"

enum { BLOCK = 512, AT_SIZE = 124, AT_SUM = 148, AT_TYPE = 156, AT_MAGIC = 257, AT_PREFIX = 345 };

bool tar_fits(struct bytes content)
{
	return content.n >= BLOCK && memcmp(content.data + AT_MAGIC, "ustar", 5) == 0;
}

/* A number in octal digits, blanks around it. */
static bool read_octal(const char *field, size_t width, uint64_t *out)
{
	size_t i = 0;
	*out = 0;
	while (i < width && field[i] == ' ')
		i++;
	size_t first = i;
	for (; i < width && field[i] >= '0' && field[i] <= '7'; i++)
		*out = *out * 8 + (uint64_t)(field[i] - '0');
	return i > first && (i == width || field[i] == ' ' || field[i] == '\0');
}

static bool sum_is_right(const char *header)
{
	uint64_t said, sum = 0;
	for (size_t i = 0; i < BLOCK; i++)
		sum += i >= AT_SUM && i < AT_SUM + 8 ? ' ' : (unsigned char)header[i];
	return read_octal(header + AT_SUM, 8, &said) && said == sum;
}

static const char *member_name(struct arena *a, const char *header)
{
	const char *name = arena_strndup(a, header, strnlen(header, 100));
	const char *prefix = header + AT_PREFIX;
	/* GNU writes times where POSIX has the prefix */
	if (header[AT_MAGIC + 5] != '\0' || prefix[0] == '\0')
		return name;
	return arena_printf(a, "%s/%s", arena_strndup(a, prefix, strnlen(prefix, 155)), name);
}

static bool is_end(const char *header)
{
	for (size_t i = 0; i < BLOCK; i++)
		if (header[i] != '\0')
			return false;
	return true;
}

struct tar {
	struct arena *a;
	const char *path;
	struct bytes content;
	size_t at;
	const char *long_name; /* of the next member, where GNU's tar said it before */
};

static bool read_member(struct tar *t, struct file_list *out, struct err *err)
{
	const char *header = t->content.data + t->at;
	uint64_t size;
	if (!sum_is_right(header) || !read_octal(header + AT_SIZE, 12, &size))
		return err_set(err, ERR_INPUT, "%s: not a tar archive: wrong header at byte %zu",
			t->path, t->at);
	t->at += BLOCK;
	if (size > t->content.n - t->at)
		return err_set(err, ERR_INPUT, "%s: tar archive is cut off at byte %zu", t->path,
			t->content.n);
	char type = header[AT_TYPE];
	if (type == 'L') {
		t->long_name = arena_strndup(t->a, t->content.data + t->at, (size_t)size);
	} else if (type == '0' || type == '\0') {
		const char *name = t->long_name ? t->long_name : member_name(t->a, header);
		char *copy = arena_array(t->a, (size_t)size + 1, char); /* ends in '\0' */
		memcpy(copy, t->content.data + t->at, (size_t)size);
		file_list_add(t->a, out, arena_printf(t->a, "%s:%s", t->path, name), name,
			(struct bytes){copy, (size_t)size});
		t->long_name = NULL;
	}
	uint64_t padded = (size + BLOCK - 1) / BLOCK * BLOCK;
	t->at = padded > t->content.n - t->at ? t->content.n : t->at + (size_t)padded;
	return true;
}

bool tar_list(struct arena *a, const char *path, struct bytes content, struct file_list *out,
	struct err *err)
{
	struct tar t = {.a = a, .path = path, .content = content};
	while (content.n - t.at >= BLOCK && !is_end(content.data + t.at))
		if (!read_member(&t, out, err))
			return false;
	return content.n - t.at >= BLOCK ||
	       err_set(err, ERR_INPUT, "%s: tar archive is cut off at byte %zu", path, content.n);
}
