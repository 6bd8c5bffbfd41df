/* A forked child with two pipes: its reply, and what it says on stderr. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/internal.h"

enum { MARK = 'L', ANSWER = 'R' };
enum { SAID_MAX = 1 << 20 }; /* of a child's stderr; the rest is read and dropped */

/* Follows the byte ANSWER; then come n bytes of reply, or of the error's text. */
struct head {
	uint32_t kind; /* enum err_kind */
	uint64_t n;
};

static void write_all(int fd, const void *data, size_t n)
{
	const char *p = data;
	while (n > 0) {
		ssize_t done = write(fd, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			_exit(1);
		p += done;
		n -= (size_t)done;
	}
}

void net_child_mark(struct net_child_pipe *pipe)
{
	char mark = MARK;
	write_all(pipe->fd, &mark, 1);
}

/* _exit() and not exit(): what the parent had registered or buffered is not ours to run or
 * write. */
_Noreturn static void be_child(
	const struct net_child *child, int reply_fd, int said_fd, pid_t parent)
{
	struct text reply = {0};
	struct err err = {0};
	struct net_child_pipe pipe = {reply_fd};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	dup2(said_fd, STDERR_FILENO);
	bool ok = child->main(child->ctx, &pipe, &reply, &err);
	struct head head = {
		.kind = ok ? ERR_NONE : err.kind,
		.n = ok ? reply.n : strlen(err.text),
	};
	char answer = ANSWER;
	write_all(reply_fd, &answer, 1);
	write_all(reply_fd, &head, sizeof(head));
	if (head.n > 0)
		write_all(reply_fd, ok ? reply.data : err.text, head.n);
	_exit(0);
}

/* Reads what is there into `text`; past `max` bytes it is dropped. False at the end. */
static bool read_some(int fd, struct text *text, size_t max)
{
	char buf[65536];
	ssize_t n = read(fd, buf, sizeof(buf));
	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0)
		return false;
	size_t room = max - text->n, keep = (size_t)n < room ? (size_t)n : room;
	text_add_bytes(text, buf, keep);
	return true;
}

static void listen_to(const int fds[2], struct text *reply, struct text *said)
{
	struct pollfd polls[] = {
		{.fd = fds[0], .events = POLLIN}, {.fd = fds[1], .events = POLLIN}};
	while (polls[0].fd >= 0 || polls[1].fd >= 0) {
		if (poll(polls, 2, -1) < 0 && errno != EINTR)
			return;
		if (polls[0].revents && !read_some(fds[0], reply, SIZE_MAX))
			polls[0].fd = -1;
		if (polls[1].revents && !read_some(fds[1], said, SAID_MAX))
			polls[1].fd = -1;
	}
}

struct outcome {
	bool marked;
	bool answered;
	struct head head;
	const char *data;
};

static struct outcome read_outcome(const struct text *reply)
{
	struct outcome o = {0};
	const char *p = reply->data;
	size_t n = reply->n;
	if (n > 0 && *p == MARK) {
		o.marked = true;
		p++;
		n--;
	}
	if (n < 1 + sizeof(o.head) || *p != ANSWER)
		return o;
	memcpy(&o.head, p + 1, sizeof(o.head));
	o.data = p + 1 + sizeof(o.head);
	o.answered = n == 1 + sizeof(o.head) + o.head.n;
	return o;
}

/* How a child that gave no answer ended, and why as far as it said so. */
static bool fail_dead(struct arena *a, const struct net_child *child, int status, bool marked,
	const char *said, struct err *err)
{
	const char *message = net_last_message(a, said);
	const char *colon = message[0] ? ": " : "";
	if (child->blame && !marked && message[0])
		return err_set(err, ERR_INPUT, "%s: SimGrid refuses the platform: %s", child->blame,
			message);
	if (WIFSIGNALED(status))
		return err_set(err, ERR_INTERNAL, "SimGrid process died (signal %d)%s%s",
			WTERMSIG(status), colon, message);
	return err_set(err, ERR_INTERNAL, "SimGrid process ended (exit status %d)%s%s",
		WIFEXITED(status) ? WEXITSTATUS(status) : -1, colon, message);
}

static bool judge(struct arena *a, const struct net_child *child, int status,
	const struct text texts[2], struct bytes *reply, struct err *err)
{
	struct outcome o = read_outcome(&texts[0]);
	if (!o.answered)
		return fail_dead(a, child, status, o.marked, texts[1].n ? texts[1].data : "", err);
	if (o.head.kind != ERR_NONE)
		return err_set(err, (enum err_kind)o.head.kind, "%.*s", (int)o.head.n, o.data);
	*reply = (struct bytes){arena_grow(a, o.data, o.head.n, o.head.n + 1, 1), o.head.n};
	return true;
}

static void close_pipe(int pipe[2])
{
	for (int i = 0; i < 2; i++)
		if (pipe[i] >= 0)
			close(pipe[i]);
}

static pid_t start_child(const struct net_child *child, int reply[2], int said[2])
{
	pid_t parent = getpid();
	if (pipe2(reply, O_CLOEXEC) != 0 || pipe2(said, O_CLOEXEC) != 0)
		return -1;
	fflush(NULL); /* or the child's abort() might write what is buffered a second time */
	pid_t pid = fork();
	if (pid == 0) {
		close(reply[0]);
		close(said[0]);
		be_child(child, reply[1], said[1], parent);
	}
	return pid;
}

bool net_child_run(
	struct arena *a, const struct net_child *child, struct bytes *reply, struct err *err)
{
	int reply_pipe[2] = {-1, -1}, said_pipe[2] = {-1, -1}, status = 0;
	*reply = (struct bytes){0};
	pid_t pid = start_child(child, reply_pipe, said_pipe);
	if (pid < 0) {
		int why = errno;
		close_pipe(reply_pipe);
		close_pipe(said_pipe);
		return err_set(
			err, ERR_INTERNAL, "cannot start a SimGrid process: %s", strerror(why));
	}
	close(reply_pipe[1]);
	close(said_pipe[1]);
	struct text texts[2] = {{0}, {0}};
	listen_to((int[]){reply_pipe[0], said_pipe[0]}, &texts[0], &texts[1]);
	close(reply_pipe[0]);
	close(said_pipe[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	bool ok = judge(a, child, status, texts, reply, err);
	text_free(&texts[0]);
	text_free(&texts[1]);
	return ok;
}
