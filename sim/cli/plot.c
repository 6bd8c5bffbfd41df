/* Plots by gnuplot, which is run when it is there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/internal.h"

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);
	return n >= k && strcmp(text + n - k, end) == 0;
}

/* The script lies in a file of its own, since gnuplot reads its standard input otherwise. */
static bool run_gnuplot(const char *script, struct err *err)
{
	pid_t pid = fork();
	if (pid < 0)
		return err_set(
			err, ERR_INTERNAL, "--plot: cannot start gnuplot: %s", strerror(errno));
	if (pid == 0) {
		execlp("gnuplot", "gnuplot", script, (char *)NULL);
		_exit(errno == ENOENT ? 127 : 126);
	}
	int status;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return err_set(err, ERR_INTERNAL,
			"--plot: there is no gnuplot, a name that ends in .gp takes its script");
	return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
	       err_set(err, ERR_INTERNAL, "--plot: gnuplot failed");
}

/* Where --plot goes: a script has no file to draw into. */
struct target {
	const char *file, *terminal;
};

static bool find_target(const struct request *q, struct target *out, struct err *err)
{
	bool is_script = ends_with(q->plot, ".gp"), svg = ends_with(q->plot, ".svg");
	*out = (struct target){is_script ? NULL : q->plot, svg ? "svg" : "png"};
	return is_script || svg || ends_with(q->plot, ".png") ||
	       err_set(err, ERR_USAGE, "--plot %s, expected a name in .svg, .png or .gp", q->plot);
}

bool check_plot(const struct request *q, struct err *err)
{
	struct target target;
	return !q->plot || (find_target(q, &target, err) && file_can_write(q->plot, err));
}

static bool draw(struct request *q, const struct text *script, struct err *err)
{
	char path[] = "/tmp/wham-plot-XXXXXX";
	if (ends_with(q->plot, ".gp"))
		return file_write(q->plot, script->data, script->n, err);
	int fd = mkstemp(path);
	if (fd < 0)
		return err_set(err, ERR_IO, "--plot: %s: %s", path, strerror(errno));
	bool ok = file_write(path, script->data, script->n, err);
	close(fd);
	ok = ok && run_gnuplot(path, err);
	unlink(path);
	return ok;
}

bool write_plot(struct request *q, const struct plot *plot, struct err *err)
{
	struct text script = {0};
	struct target target;
	if (!find_target(q, &target, err))
		return false;
	report_plot(plot, target.file, target.terminal, &script);
	bool ok = draw(q, &script, err);
	text_free(&script);
	return ok;
}

bool write_stacks(struct request *q, const struct stacks *stacks, struct err *err)
{
	struct text script = {0};
	struct target target;
	if (!find_target(q, &target, err))
		return false;
	report_stacks(stacks, target.file, target.terminal, &script);
	bool ok = draw(q, &script, err);
	text_free(&script);
	return ok;
}
