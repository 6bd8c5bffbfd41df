#include "base/workers.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"

/* What a worker writes in front of each result. */
struct header {
	uint32_t item;
	bool ok;
};

struct worker {
	pid_t pid;
	int fd; /* -1 at the end of its output */
	char *data;
	size_t n, cap;
};

static bool write_all(int fd, const void *data, size_t n)
{
	const char *at = data;
	while (n > 0) {
		ssize_t done = write(fd, at, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		at += done;
		n -= (size_t)done;
	}
	return true;
}

/* In the child: items `first`, `first` + jobs, ... until one fails. */
static void work(const struct worker_map *map, uint32_t first, int fd)
{
	void *result = mem_alloc(1, map->size);
	for (uint32_t i = first; i < map->n; i += map->jobs) {
		struct err err = {0};
		memset(result, 0, map->size);
		struct header head = {.item = i};
		head.ok = map->fn(map->ctx, i, result, &err);
		bool sent = write_all(fd, &head, sizeof(head)) &&
			    (head.ok ? write_all(fd, result, map->size)
				     : write_all(fd, &err, sizeof(err)));
		if (!sent || !head.ok)
			break;
	}
	free(result);
}

static bool start_worker(
	const struct worker_map *map, struct worker *workers, uint32_t i, struct err *err)
{
	int fds[2];
	if (pipe(fds) != 0)
		return err_set(err, ERR_INTERNAL, "no pipe for a worker: %s", strerror(errno));
	pid_t pid = fork();
	if (pid == 0) {
		close(fds[0]);
		for (uint32_t j = 0; j < i; j++)
			close(workers[j].fd);
		work(map, i, fds[1]);
		_exit(0);
	}
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return err_set(err, ERR_INTERNAL, "no worker process: %s", strerror(errno));
	}
	workers[i] = (struct worker){.pid = pid, .fd = fds[0]};
	return true;
}

static void read_some(struct worker *w)
{
	if (w->cap - w->n < 4096) {
		w->cap = w->cap ? 2 * w->cap : 65536;
		w->data = mem_grow(w->data, w->cap, 1);
	}
	ssize_t n = read(w->fd, w->data + w->n, w->cap - w->n);
	if (n < 0 && errno == EINTR)
		return;
	if (n > 0) {
		w->n += (size_t)n;
		return;
	}
	close(w->fd);
	w->fd = -1;
}

static void drain(struct worker *workers, uint32_t n_workers)
{
	struct pollfd *polls = mem_alloc(n_workers, sizeof(*polls));
	for (;;) {
		uint32_t open = 0;
		for (uint32_t i = 0; i < n_workers; i++) {
			polls[i] = (struct pollfd){.fd = workers[i].fd, .events = POLLIN};
			open += workers[i].fd >= 0;
		}
		if (open == 0)
			break;
		if (poll(polls, n_workers, -1) < 0)
			continue;
		for (uint32_t i = 0; i < n_workers; i++) {
			if (polls[i].fd >= 0 && polls[i].revents)
				read_some(&workers[i]);
		}
	}
	free(polls);
}

static bool reap(const struct worker *w, struct err *err)
{
	int status = 0;
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		return err_set(err, ERR_INTERNAL, "a worker died of signal %d (%s)",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status) != 0)
		return err_set(err, ERR_INTERNAL, "a worker ended with exit status %d",
			WEXITSTATUS(status));
	return true;
}

/* Copies a worker's results to their places; `failed` is the first item that failed so far. */
static void unpack(const struct worker_map *map, const struct worker *w, char *results,
	uint32_t *failed, struct err *err)
{
	size_t at = 0;
	while (w->n - at >= sizeof(struct header)) {
		struct header head;
		memcpy(&head, w->data + at, sizeof(head));
		at += sizeof(head);
		size_t size = head.ok ? map->size : sizeof(*err);
		if (w->n - at < size)
			return;
		if (head.ok)
			memcpy(results + head.item * map->size, w->data + at, size);
		else if (head.item < *failed) {
			*failed = head.item;
			memcpy(err, w->data + at, size);
		}
		at += size;
	}
}

static bool run_here(const struct worker_map *map, char *results, struct err *err)
{
	memset(results, 0, map->n * map->size);
	for (uint32_t i = 0; i < map->n; i++) {
		if (!map->fn(map->ctx, i, results + i * map->size, err))
			return false;
	}
	return true;
}

bool workers_run(const struct worker_map *map, void *results, struct err *err)
{
	uint32_t n_workers = map->jobs < map->n ? map->jobs : map->n;
	if (n_workers <= 1)
		return run_here(map, results, err);
	struct worker_map fair = *map;
	fair.jobs = n_workers;
	struct worker *workers = mem_alloc(n_workers, sizeof(*workers));
	uint32_t started = 0, failed = UINT32_MAX;
	bool ok = true;
	while (ok && started < n_workers) {
		ok = start_worker(&fair, workers, started, err);
		started += ok;
	}
	drain(workers, started);
	for (uint32_t i = 0; i < started; i++) {
		unpack(&fair, &workers[i], results, &failed, err);
		free(workers[i].data);
	}
	for (uint32_t i = 0; i < started; i++)
		ok = reap(&workers[i], ok && failed == UINT32_MAX ? err : &(struct err){0}) && ok;
	free(workers);
	return ok && failed == UINT32_MAX;
}
