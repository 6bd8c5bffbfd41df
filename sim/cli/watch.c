/* Interrupts and the progress line. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "cli/internal.h"

/* What a signal handler may touch; it lives here and nowhere else. `told` is of this process and its
 * children, which do not see every signal: a time limit strikes the parent alone. */
static volatile sig_atomic_t struck;
static volatile sig_atomic_t *told;

static void strike(int sig)
{
	/* The second one does not wait. */
	if (struck)
		_exit(130);
	struck = 1;
	if (told)
		*told = 1;
}

static void leave(int sig)
{
	_exit(130);
}

bool interrupted(void)
{
	return struck != 0 || (told && *told != 0);
}

void watch_interrupts(uint64_t time_limit, bool finishes)
{
	struct sigaction sa = {.sa_handler = finishes ? strike : leave};
	void *page = finishes ? mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0)
			      : MAP_FAILED;
	told = page == MAP_FAILED ? NULL : page;
	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	if (time_limit == 0)
		return;
	sigaction(SIGALRM, &sa, NULL);
	struct itimerval it = {
		.it_value = {.tv_sec = (time_t)(time_limit / TICKS_PER_S),
			.tv_usec = (suseconds_t)(time_limit % TICKS_PER_S / 1000000) + 1}};
	setitimer(ITIMER_REAL, &it, NULL);
}

struct line {
	struct timespec first;
	bool started, shown;
};

static struct line line;

static double seconds_since_first(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!line.started) {
		line.first = now;
		line.started = true;
	}
	return (double)(now.tv_sec - line.first.tv_sec) +
	       1e-9 * (double)(now.tv_nsec - line.first.tv_nsec);
}

void progress_show(const struct request *q, const char *text)
{
	double seconds = seconds_since_first();
	if (q->no_progress || q->quiet || seconds < 1 || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%-76.76s (%.0f s)", text, seconds);
	fflush(stderr);
	line.shown = true;
}

void progress_clear(const struct request *q)
{
	if (line.shown)
		fprintf(stderr, "\r%90s\r", "");
	line.shown = false;
}
