/* Plots by gnuplot, which is run when it is there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/topology.h"

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

bool topology_write_plot(struct request *q, const struct plot *plot, struct err *err)
{
	struct text script = {0};
	bool is_script = ends_with(q->plot, ".gp"), svg = ends_with(q->plot, ".svg");
	if (!is_script && !svg && !ends_with(q->plot, ".png"))
		return err_set(
			err, ERR_USAGE, "--plot %s, expected a name in .svg, .png or .gp", q->plot);
	report_plot(plot, is_script ? NULL : q->plot, svg ? "svg" : "png", &script);
	char path[] = "/tmp/wham-plot-XXXXXX";
	int fd = is_script ? -1 : mkstemp(path);
	if (!is_script && fd < 0) {
		text_free(&script);
		return err_set(err, ERR_IO, "--plot: %s: %s", path, strerror(errno));
	}
	bool ok = file_can_write(q->plot, err) &&
		  file_write(is_script ? q->plot : path, script.data, script.n, err);
	text_free(&script);
	if (is_script)
		return ok;
	close(fd);
	ok = ok && run_gnuplot(path, err);
	unlink(path);
	return ok;
}
