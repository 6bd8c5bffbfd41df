#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/doc.h"
#include "base/rng.h"
#include "base/text.h"
#include "suite.h"

static bool parse(struct doc *doc, const char *text, struct err *err)
{
	return doc_parse(doc, "m.json", (struct bytes){.data = text, .n = strlen(text)}, err);
}

static struct doc parsed(const char *text)
{
	struct doc doc;
	struct err err = {0};
	bool ok = parse(&doc, text, &err);
	if (!ok)
		printf("\n  %s", err.text);
	CU_ASSERT_TRUE_FATAL(ok);
	return doc;
}

static void test_read_values(void)
{
	struct doc doc = parsed(
		"{\"s\": \"x\", \"b\": true, \"n\": 2.5, \"u\": 7, \"q\": \"2us\", \"a\": [1, 2]}");
	static const char *const keys[] = {"a", "b", "n", "q", "s", "u", "unused", NULL};
	struct doc_at root = doc_root(&doc), at;
	struct err err = {0};
	const char *s = "";
	bool b = false;
	double n = 0;
	uint64_t u = 0, q = 0;
	CU_ASSERT_TRUE(doc_object(root, keys, &err));
	CU_ASSERT(doc_get(&root, "s", &at, &err) && doc_string(at, &s, &err));
	CU_ASSERT_STRING_EQUAL(s, "x");
	CU_ASSERT(doc_get(&root, "b", &at, &err) && doc_bool(at, &b, &err) && b);
	CU_ASSERT(doc_get(&root, "n", &at, &err) && doc_number(at, 0, 3, &n, &err));
	CU_ASSERT_DOUBLE_EQUAL(n, 2.5, 0);
	CU_ASSERT(doc_get(&root, "u", &at, &err) && doc_uint(at, 7, 7, &u, &err) && u == 7);
	CU_ASSERT(doc_get(&root, "q", &at, &err) && doc_quantity(at, UNIT_TIME, 2000000, &q, &err));
	CU_ASSERT_EQUAL(q, 2000000);
	CU_ASSERT(doc_get(&root, "a", &at, &err) && doc_array(at, 2, &err));
	CU_ASSERT_EQUAL(doc_length(at), 2);
	CU_ASSERT(doc_uint(doc_item(&at, 1), 0, 9, &u, &err) && u == 2);
	CU_ASSERT_FALSE(doc_find(&root, "unused", &at));
	doc_finish(&doc);
}

/* Reads the value of "v" in `text` with each reader and compares what it says. */
struct wrong {
	const char *text;
	bool (*read)(struct doc_at at, struct err *err);
	const char *error;
};

static bool as_uint(struct doc_at at, struct err *err)
{
	uint64_t v;
	return doc_uint(at, 2, 100, &v, err);
}

static bool as_big_uint(struct doc_at at, struct err *err)
{
	uint64_t v;
	return doc_uint(at, 1, UINT64_MAX, &v, err);
}

static bool as_number(struct doc_at at, struct err *err)
{
	double v;
	return doc_number(at, 0, 1, &v, err);
}

static bool as_positive(struct doc_at at, struct err *err)
{
	double v;
	return doc_number(at, 0.5, HUGE_VAL, &v, err);
}

static bool as_bandwidth(struct doc_at at, struct err *err)
{
	uint64_t v;
	return doc_quantity(at, UNIT_BANDWIDTH, 1000, &v, err);
}

static bool as_string(struct doc_at at, struct err *err)
{
	const char *v;
	return doc_string(at, &v, err);
}

static bool as_bool(struct doc_at at, struct err *err)
{
	bool v;
	return doc_bool(at, &v, err);
}

static bool as_array(struct doc_at at, struct err *err)
{
	return doc_array(at, 2, err);
}

static bool as_object(struct doc_at at, struct err *err)
{
	static const char *const keys[] = {"alpha", "beta", NULL};
	return doc_object(at, keys, err);
}

static bool as_pair(struct doc_at at, struct err *err)
{
	struct doc_at beta;
	return doc_get(&at, "beta", &beta, err);
}

#define BANDWIDTH "expected a bandwidth such as \"12.5GB/s\" or \"100Gbps\""

// clang-format off
static const struct wrong wrongs[] = {
	{"{\"v\": 1.5}", as_uint, "m.json:1:7: expected a whole number from 2 to 100, found 1.5"},
	{"{\"v\": 1}", as_uint, "m.json:1:7: expected a whole number from 2 to 100, found 1"},
	{"{\"v\": 101}", as_uint, "m.json:1:7: expected a whole number from 2 to 100, found 101"},
	{"{\"v\": -3}", as_uint, "m.json:1:7: expected a whole number from 2 to 100, found -3"},
	{"{\"v\": \"3\"}", as_uint, "m.json:1:7: expected a whole number from 2 to 100, found a string"},
	{"{\"v\": -3}", as_big_uint, "m.json:1:7: expected a whole number, at least 1, found -3"},
	{"{\"v\": 1e300}", as_big_uint, "m.json:1:7: expected a whole number, at least 1, found 1e300"},
	{"{\"v\": 1.01}", as_number, "m.json:1:7: expected a number from 0 to 1, found 1.01"},
	{"{\"v\": 0.4}", as_positive, "m.json:1:7: expected a number, at least 0.5, found 0.4"},
	{"{\"v\": null}", as_positive, "m.json:1:7: expected a number, at least 0.5, found null"},
	{"{\"v\": 1600}", as_bandwidth, "m.json:1:7: '1600' has no unit, " BANDWIDTH},
	{"{\"v\": 0}", as_bandwidth, "m.json:1:7: '0' has no unit, " BANDWIDTH},
	{"{\"v\": \"3GB\"}", as_bandwidth, "m.json:1:7: '3GB' has an unknown unit, " BANDWIDTH
		"; units are B/s, KB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s (bytes), "
		"bps, kbps, Mbps, Gbps, Tbps or Gb/s, Gbit/s (bits)"},
	{"{\"v\": \"999B/s\"}", as_bandwidth, "m.json:1:7: '999B/s' is too small, expected at least 1 kB/s"},
	{"{\"v\": []}", as_bandwidth, "m.json:1:7: " BANDWIDTH ", found an array"},
	{"{\"v\": {}}", as_string, "m.json:1:7: expected a string, found an object"},
	{"{\"v\": 1}", as_bool, "m.json:1:7: expected true or false, found a number"},
	{"{\"v\": [1]}", as_array, "m.json:1:7: expected at least 2 elements, found 1"},
	{"{\"v\": false}", as_array, "m.json:1:7: expected an array, found a boolean"},
	{"{\"v\": []}", as_object, "m.json:1:7: expected an object, found an array"},
	{"{\"v\":\n {\"alpha\": 1,\n  \"\\u00e9\": 2, \"betta\": 3}}", as_object,
		"m.json:3:3: unknown key '\u00e9', expected one of 'alpha', 'beta'"},
	{"{\"v\":\n {\"alpha\": {\"betta\": 0}, \"betta\": 3}}", as_object,
		"m.json:2:26: unknown key 'betta', did you mean 'beta'?"},
	{"{\"v\":\n {\"alpha\": 1}}", as_pair, "m.json:2:2: missing key 'beta'"},
	{"{\"v\": 3}", as_pair, "m.json:1:7: expected an object, found a number"},
	{"{\"\\u00e9\\\"}\": \"[{\\\\\", \"\u00e9\": [\"\\\"\"],\t\"\\u0076\"\n:\n\t7.5}", as_string,
		"m.json:3:2: expected a string, found a number"},
	{"{ \"\u00e9\u20ac\":[[]], \"v\":7}", as_string, "m.json:1:18: expected a string, found a number"},
};
// clang-format on

static void test_wrong_values(void)
{
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		struct doc doc = parsed(wrongs[i].text);
		struct doc_at root = doc_root(&doc), at;
		struct err err = {0};
		CU_ASSERT_TRUE_FATAL(doc_get(&root, "v", &at, &err));
		CU_ASSERT_FALSE(wrongs[i].read(at, &err));
		if (strcmp(err.text, wrongs[i].error) != 0)
			printf("\n  %s\n  %s", err.text, wrongs[i].error);
		CU_ASSERT_STRING_EQUAL(err.text, wrongs[i].error);
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
		doc_finish(&doc);
	}
}

static void test_whole_numbers(void)
{
	struct doc doc =
		parsed("[9007199254740993, 9223372036854775807, 1e3, 5.0, 9007199254740994.0]");
	struct doc_at root = doc_root(&doc);
	struct err err = {0};
	static const uint64_t expected[] = {UINT64_C(9007199254740993), INT64_MAX, 1000, 5};
	uint64_t v;
	for (size_t i = 0; i < 4; i++) {
		CU_ASSERT_TRUE(doc_uint(doc_item(&root, i), 0, UINT64_MAX, &v, &err));
		CU_ASSERT_EQUAL(v, expected[i]);
	}
	CU_ASSERT_FALSE(doc_uint(doc_item(&root, 4), 0, UINT64_MAX, &v, &err));
	doc_finish(&doc);
}

static void test_syntax(void)
{
	static const struct {
		const char *text, *error;
	} bads[] = {
		{"", "m.json:1:1: unexpected token near end of file"},
		{"{\"a\": 1,\n \"a\": 2}", "m.json:2:4: duplicate object key near '\"a\"'"},
		{"{\"a\": 1,\n\n}", "m.json:3:1: string or '}' expected near '}'"},
		{"[1, 2", "m.json:1:5: ']' expected near end of file"},
		{"[1] x", "m.json:1:5: end of file expected near 'x'"},
		{"[\"a\nb\"]", "m.json:1:3: unexpected newline near '\"a'"},
		{"[1e999]", "m.json:1:6: real number overflow near '1e999'"},
	};
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct doc doc;
		struct err err = {0};
		CU_ASSERT_FALSE(parse(&doc, bads[i].text, &err));
		doc_finish(&doc);
		if (strcmp(err.text, bads[i].error) != 0)
			printf("\n  %s\n  %s", err.text, bads[i].error);
		CU_ASSERT_STRING_EQUAL(err.text, bads[i].error);
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	}
}

static void test_deep(void)
{
	enum { DEPTH = 1000000 };
	struct doc doc;
	struct err err = {0};
	char *text = mem_alloc(DEPTH + 1, 1);
	memset(text, '[', DEPTH);
	text[DEPTH] = '\0';
	CU_ASSERT_FALSE(parse(&doc, text, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "maximum parsing depth reached"));
	doc_finish(&doc);
	free(text);
}

/* Writes random JSON and, in place of one value, the string "here", whose line and column it
 * returns. */
struct writer {
	struct rng rng;
	struct text text;
	int to_mark; /* values until the marked one */
	size_t line, column;
};

static void write_space(struct writer *w)
{
	static const char *const spaces[] = {"", "", " ", "\n", "\t ", "\r\n  "};
	text_add(&w->text, "%s", spaces[rng_below(&w->rng, 6)]);
}

static void note_place(struct writer *w)
{
	w->line = w->column = 1;
	for (size_t i = 0; i < w->text.n; i++) {
		char c = w->text.data[i];
		if (c == '\n') {
			w->line++;
			w->column = 1;
		} else if (((unsigned char)c & 0xC0) != 0x80) {
			w->column++;
		}
	}
}

static void write_value(struct writer *w, int depth);

static void write_members(struct writer *w, int depth, bool object)
{
	static const char *const keys[] = {
		"\"a\"", "\"\\\"b{\"", "\"\u20ac\"", "\"\\u20ad]\"", "\"\\\\\""};
	size_t n = rng_below(&w->rng, 6);
	text_add(&w->text, object ? "{" : "[");
	for (size_t i = 0; i < n && i < 5; i++) {
		text_add(&w->text, "%s", i > 0 ? "," : "");
		write_space(w);
		if (object) {
			text_add(&w->text, "%s", keys[i]);
			write_space(w);
			text_add(&w->text, ":");
			write_space(w);
		}
		write_value(w, depth - 1);
		write_space(w);
	}
	text_add(&w->text, object ? "}" : "]");
}

static void write_value(struct writer *w, int depth)
{
	static const char *const scalars[] = {
		"1", "-2.5e3", "true", "null", "\"\"", "\"x\\\"],\"", "\"\u00e9 {\\\\\"", "false"};
	if (w->to_mark-- == 0) {
		note_place(w);
		text_add(&w->text, "\"here\"");
		return;
	}
	uint64_t kind = rng_below(&w->rng, 3);
	if (depth == 0 || kind == 0)
		text_add(&w->text, "%s", scalars[rng_below(&w->rng, 8)]);
	else
		write_members(w, depth, kind == 1);
}

/* Walks the whole document; complains about the value "here" and returns whether there was one. */
static bool complain(const struct doc_at *at, struct err *err)
{
	const char *key;
	json_t *value;
	struct doc_at inner;
	if (json_is_string(at->value) && strcmp(json_string_value(at->value), "here") == 0) {
		doc_fail(*at, err, "found");
		return true;
	}
	for (size_t i = 0; i < doc_length(*at); i++) {
		inner = doc_item(at, i);
		if (complain(&inner, err))
			return true;
	}
	json_object_foreach(at->value, key,
		value) if (doc_find(at, key, &inner) && complain(&inner, err)) return true;
	return false;
}

/* Returns whether the document of this seed has a marked value. */
static bool check_place(uint64_t seed)
{
	struct writer w = {0};
	struct err err = {0};
	char expected[64] = "";
	rng_init(&w.rng, seed);
	w.to_mark = (int)rng_below(&w.rng, 30);
	write_space(&w);
	write_value(&w, 4);
	write_space(&w);
	bool marked = w.line > 0;
	struct doc doc = parsed(w.text.data);
	struct doc_at root = doc_root(&doc);
	if (marked)
		snprintf(expected, sizeof(expected), "m.json:%zu:%zu: found", w.line, w.column);
	CU_ASSERT_EQUAL(complain(&root, &err), marked);
	CU_ASSERT_STRING_EQUAL(err.text, expected);
	doc_finish(&doc);
	text_free(&w.text);
	return marked;
}

static void test_places(void)
{
	int n_marked = 0;
	for (uint64_t seed = 0; seed < 5000; seed++)
		n_marked += check_place(seed);
	CU_ASSERT(n_marked > 1000);
}

static void test_file(void)
{
	char path[] = "/tmp/test_doc_XXXXXX";
	int fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0 && write(fd, "{\"a\": 3}", 8) == 8);
	close(fd);
	struct arena a = {0};
	struct doc doc;
	struct err err = {0};
	CU_ASSERT_TRUE_FATAL(doc_read(&doc, &a, path, &err));
	CU_ASSERT_STRING_EQUAL(doc.path, path);
	CU_ASSERT_FALSE(doc_fail(doc_root(&doc), &err, "no"));
	CU_ASSERT_STRING_EQUAL(err.text + strlen(path), ":1:1: no");
	doc_finish(&doc);
	unlink(path);
	CU_ASSERT_FALSE(doc_read(&doc, &a, path, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_IO);
	doc_finish(&doc);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"values", test_read_values},
		{"wrong values", test_wrong_values},
		{"whole numbers are exact", test_whole_numbers},
		{"syntax errors", test_syntax},
		{"deep nesting", test_deep},
		{"places in random documents", test_places},
		{"files", test_file},
		CU_TEST_INFO_NULL,
	};
	return suite_run("base/doc", tests);
}
