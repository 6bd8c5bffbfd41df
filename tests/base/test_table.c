#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "base/table.h"
#include "suite.h"

static const char *const columns[] = {"plan", "time", "note"};

static void add_row(struct table *t, const char *a, const char *b, const char *c)
{
	table_cell(t, "%s", a);
	table_cell(t, "%s", b);
	table_cell(t, "%s", c);
}

static void fill(struct table *t)
{
	add_row(t, "tp8", "812.4 us", "");
	add_row(t, "dp64 \u00b5", "9 us", "x");
	add_row(t, "pp", "-", "12 ranks");
}

static void test_print(void)
{
	struct arena a = {0};
	struct table t = {.a = &a, .columns = columns, .n_columns = 3};
	struct text out = {0};
	fill(&t);
	table_print(&t, &out, 0);
	CU_ASSERT_STRING_EQUAL(out.data, "plan        time  note\n"
					 "tp8     812.4 us\n"
					 "dp64 \u00b5      9 us  x\n"
					 "pp             -  12 ranks\n");
	text_free(&out);
	arena_free(&a);
}

static void test_print_max(void)
{
	struct arena a = {0};
	struct table t = {.a = &a, .columns = columns, .n_columns = 3};
	struct text out = {0};
	fill(&t);
	table_print(&t, &out, 2);
	CU_ASSERT_STRING_EQUAL(out.data, "plan        time  note\n"
					 "tp8     812.4 us\n"
					 "dp64 \u00b5      9 us  x\n"
					 "... and 1 more row\n");
	text_free(&out);
	table_print(&t, &out, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\n... and 2 more rows\n"));
	text_free(&out);
	table_print(&t, &out, 3);
	CU_ASSERT_PTR_NULL(strstr(out.data, "more row"));
	text_free(&out);
	arena_free(&a);
}

static void test_print_empty(void)
{
	struct arena a = {0};
	struct table t = {.a = &a, .columns = columns, .n_columns = 3};
	struct text out = {0};
	table_print(&t, &out, 0);
	CU_ASSERT_STRING_EQUAL(out.data, "plan  time  note\n");
	text_free(&out);
	table_cell(&t, "%d", 1);
	table_print_csv(&t, &out);
	CU_ASSERT_STRING_EQUAL(out.data, "plan,time,note\n1,,\n");
	text_free(&out);
	arena_free(&a);
}

static bool right_aligned(const char *cell)
{
	static const char *const heading[] = {"a heading that is long"};
	struct arena a = {0};
	struct table t = {.a = &a, .columns = heading, .n_columns = 1};
	struct text out = {0};
	table_cell(&t, "%s", cell);
	table_print(&t, &out, 0);
	bool right = strchr(out.data, '\n')[1] == ' ';
	text_free(&out);
	arena_free(&a);
	return right;
}

static void test_align(void)
{
	static const char *const numbers[] = {
		"0", "-3.5e-7", "1e6", "+2", "45 %", "45%", "12.5GB/s", "9 \u00b5s", "1.5x"};
	static const char *const others[] = {
		"", "-", "x1", "4 of 8", "8x8", "2 ranks idle", ".", "-x"};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		CU_ASSERT_TRUE(right_aligned(numbers[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		CU_ASSERT_FALSE(right_aligned(others[i]));
}

static void test_print_csv(void)
{
	struct arena a = {0};
	struct table t = {.a = &a, .columns = columns, .n_columns = 3};
	struct text out = {0};
	add_row(&t, "a,b", "say \"hi\"", "two\nlines");
	add_row(&t, "", " blank ", "x");
	table_print_csv(&t, &out);
	CU_ASSERT_STRING_EQUAL(out.data,
		"plan,time,note\n\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\"\n, blank ,x\n");
	text_free(&out);
	arena_free(&a);
}

/* Reads `n` bytes of `text` as a file, which is called "t.csv" in `err`. */
static bool read_csv(struct arena *a, const char *text, size_t n, struct csv *csv, struct err *err)
{
	char path[] = "/tmp/test_table_XXXXXX";
	int fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL_FATAL(write(fd, text, n), (ssize_t)n);
	close(fd);
	bool ok = csv_read(a, path, csv, err);
	unlink(path);
	if (!ok) {
		CU_ASSERT_NSTRING_EQUAL(err->text, path, strlen(path));
		memmove(err->text, err->text + strlen(path), strlen(err->text + strlen(path)) + 1);
		err_prefix(err, "t.csv");
	}
	csv->path = "t.csv";
	return ok;
}

static void test_read(void)
{
	static const char text[] = "\xEF\xBB\xBFname,size,note\r\na,1,\r\n\r\n\"b \"\"c\"\"\",\" "
				   "2\",\"x\r\ny,z\"\n,,last";
	struct arena a = {0};
	struct csv csv;
	struct err err = {0};
	CU_ASSERT_TRUE_FATAL(read_csv(&a, text, sizeof(text) - 1, &csv, &err));
	CU_ASSERT(csv.n_columns == 3 && csv.n_rows == 3);
	CU_ASSERT_STRING_EQUAL(csv.columns[0], "name");
	CU_ASSERT_STRING_EQUAL(csv_cell(&csv, 0, 0), "a");
	CU_ASSERT_STRING_EQUAL(csv_cell(&csv, 0, 2), "");
	CU_ASSERT_STRING_EQUAL(csv_cell(&csv, 1, 0), "b \"c\"");
	CU_ASSERT_STRING_EQUAL(csv_cell(&csv, 1, 2), "x\r\ny,z");
	CU_ASSERT_STRING_EQUAL(csv_cell(&csv, 2, 1), "");
	CU_ASSERT_STRING_EQUAL(csv_cell(&csv, 2, 2), "last");
	CU_ASSERT(csv.lines[0] == 2 && csv.lines[1] == 4 && csv.lines[2] == 6);
	arena_free(&a);
}

static void test_refuse(void)
{
	static const struct {
		const char *text, *error;
	} bads[] = {
		{"\n\n", "t.csv: no header line, expected the names of the columns"},
		{"a,b\n1,2\n3\n", "t.csv:3: 1 cells, expected 2 as in the header"},
		{"a,b\n1,2,3\n", "t.csv:2: 3 cells, expected 2 as in the header"},
		{"a,b\n1,\"2\n\n", "t.csv:2: the quote that opens here is never closed"},
		{"a,b\n\n1,\"2\n\"x\n",
			"t.csv:4: text after a closing quote, expected ',' or the end of the line"},
		{"", "t.csv: empty file"},
	};
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct arena a = {0};
		struct csv csv;
		struct err err = {0};
		CU_ASSERT_FALSE(read_csv(&a, bads[i].text, strlen(bads[i].text), &csv, &err));
		CU_ASSERT_STRING_EQUAL(err.text, bads[i].error);
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
		arena_free(&a);
	}
	struct arena a = {0};
	struct csv csv;
	struct err err = {0};
	CU_ASSERT_FALSE(read_csv(&a, "a\nb\0c", 5, &csv, &err));
	CU_ASSERT_STRING_EQUAL(err.text, "t.csv:2: a NUL byte, expected text");
	arena_free(&a);
}

static void test_cells(void)
{
	static const char text[] = "n,x\n18446744073709551615, -2.5e3 \n 7 "
				   ",0x10\n18446744073709551616,nan\n-1,1e999\n,\n";
	struct arena a = {0};
	struct csv csv;
	struct err err = {0};
	uint64_t n;
	double x;
	size_t column;
	CU_ASSERT_TRUE_FATAL(read_csv(&a, text, sizeof(text) - 1, &csv, &err));
	CU_ASSERT_TRUE(csv_column(&csv, "x", &column, &err));
	CU_ASSERT_EQUAL(column, 1);
	CU_ASSERT_FALSE(csv_column(&csv, "N", &column, &err));
	CU_ASSERT_STRING_EQUAL(err.text, "t.csv: no column 'N', the nearest is 'n'");
	CU_ASSERT_TRUE(csv_uint(&csv, 0, 0, &n, &err));
	CU_ASSERT_EQUAL(n, UINT64_MAX);
	CU_ASSERT_TRUE(csv_uint(&csv, 1, 0, &n, &err));
	CU_ASSERT_EQUAL(n, 7);
	CU_ASSERT_TRUE(csv_number(&csv, 0, 1, &x, &err));
	CU_ASSERT_DOUBLE_EQUAL(x, -2500, 0);
	for (size_t row = 2; row < 5; row++)
		CU_ASSERT_FALSE(csv_uint(&csv, row, 0, &n, &err));
	for (size_t row = 1; row < 5; row++)
		CU_ASSERT_FALSE(csv_number(&csv, row, 1, &x, &err));
	CU_ASSERT_FALSE(csv_uint(&csv, 3, 0, &n, &err));
	CU_ASSERT_STRING_EQUAL(
		err.text, "t.csv:5: column 'n': expected a whole number below 2^64, found '-1'");
	arena_free(&a);
}

/* What is printed as CSV is read back, whatever the cells hold. */
static void test_round_trip(void)
{
	static const char alphabet[] = "ab,\"\r\n ;";
	struct rng rng;
	rng_init(&rng, 21);
	for (int round = 0; round < 300; round++) {
		struct arena a = {0};
		struct csv csv;
		struct err err = {0};
		struct text out = {0};
		struct table t = {.a = &a, .columns = columns, .n_columns = 1 + rng_below(&rng, 3)};
		size_t n_rows = rng_below(&rng, 5);
		for (size_t i = 0; i < n_rows * t.n_columns; i++) {
			char cell[8] = "";
			for (size_t j = rng_below(&rng, sizeof(cell)); j > 0; j--)
				cell[j - 1] = alphabet[rng_below(&rng, sizeof(alphabet) - 1)];
			table_cell(&t, "%s", cell);
		}
		table_print_csv(&t, &out);
		CU_ASSERT_TRUE_FATAL(read_csv(&a, out.data, out.n, &csv, &err));
		CU_ASSERT(csv.n_rows == n_rows && csv.n_columns == t.n_columns);
		for (size_t i = 0; i < n_rows * t.n_columns; i++)
			CU_ASSERT_STRING_EQUAL(csv.cells[i], t.cells[i]);
		text_free(&out);
		arena_free(&a);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"print", test_print},
		{"print some rows", test_print_max},
		{"print no rows", test_print_empty},
		{"which cells are numbers", test_align},
		{"print CSV", test_print_csv},
		{"read CSV", test_read},
		{"refuse CSV", test_refuse},
		{"numbers in cells", test_cells},
		{"CSV round trip", test_round_trip},
		CU_TEST_INFO_NULL,
	};
	return suite_run("base/table", tests);
}
