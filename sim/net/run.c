/* A job from its start to its reply, in this process or in a child. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "net/internal.h"

static bool run_analytic(
	const struct topo *topo, const struct net_job *job, struct text *reply, struct err *err)
{
	if (topo->platform_xml)
		return err_set(err, ERR_INTERNAL,
			"topology '%s' is a SimGrid platform, which needs --network simgrid",
			topo->name);
	struct net_world w;
	net_world_init(&w, topo);
	net_analytic_run(&w.net, job);
	bool ok = job->finish(&w.net, job->ctx, reply, err);
	net_world_finish(&w);
	return ok;
}

/* SimGrid reads platforms from files only; this one exists in memory, and nowhere once we end. */
static bool write_memory_file(const struct text *text, char path[64], struct err *err)
{
	int fd = memfd_create("platform", 0);
	size_t done = 0;
	while (fd >= 0 && done < text->n) {
		ssize_t n = write(fd, text->data + done, text->n - done);
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (fd < 0 || done < text->n)
		return err_set(
			err, ERR_INTERNAL, "cannot write the platform for SimGrid to memory");
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return true;
}

/* Profiles are named relative to the platform's folder. A folder that is gone shows when one is
 * read. */
static void enter_folder_of(const char *path)
{
	char folder[4096];
	const char *slash = strrchr(path, '/');
	if (!slash || (size_t)(slash - path) >= sizeof(folder))
		return;
	memcpy(folder, path, (size_t)(slash - path));
	folder[slash - path] = '\0';
	if (chdir(slash == path ? "/" : folder) != 0)
		fprintf(stderr, "cannot enter %s\n", folder);
}

static bool load(const struct net_module *module, const struct topo *topo,
	const struct net_job *job, struct err *err)
{
	struct text xml = {0};
	char path[64];
	topo_write_platform(topo, job->pairs, job->n_pairs, &xml);
	bool ok = write_memory_file(&xml, path, err);
	text_free(&xml);
	if (!ok)
		return false;
	if (topo->platform_path)
		enter_folder_of(topo->platform_path);
	module->load(path);
	return true;
}

struct simgrid_run {
	const struct topo *topo;
	const struct net_job *job;
};

static bool run_simgrid(void *ctx, struct net_child_pipe *pipe, struct text *reply, struct err *err)
{
	const struct simgrid_run *run = ctx;
	const struct net_module *module = net_module_open(err);
	if (!module || !load(module, run->topo, run->job, err))
		return false;
	net_child_mark(pipe);
	struct net_world w;
	net_world_init(&w, run->topo);
	bool ok = module->run(&w.net, run->job, err) &&
		  run->job->finish(&w.net, run->job->ctx, reply, err);
	net_world_finish(&w);
	return ok;
}

static bool run_here(struct arena *a, const struct topo *topo, const struct net_job *job,
	struct bytes *reply, struct err *err)
{
	struct text text = {0};
	bool ok = run_analytic(topo, job, &text, err);
	*reply = (struct bytes){0};
	if (ok)
		*reply = (struct bytes){arena_grow(a, text.data, text.n, text.n + 1, 1), text.n};
	text_free(&text);
	return ok;
}

bool net_run(struct arena *a, enum net_kind kind, const struct topo *topo,
	const struct net_job *job, struct bytes *reply, struct err *err)
{
	if (kind == NET_ANALYTIC)
		return run_here(a, topo, job, reply, err);
	/* Opened here too, it is there already in this and every later child; nothing of it runs. */
	if (!net_module_open(err))
		return false;
	struct simgrid_run run = {topo, job};
	struct net_child child = {.main = run_simgrid, .ctx = &run, .blame = topo->platform_path};
	return net_child_run(a, &child, reply, err);
}

static bool ask_version(void *ctx, struct net_child_pipe *pipe, struct text *reply, struct err *err)
{
	char text[64];
	const struct net_module *module = net_module_open(err);
	if (!module)
		return false;
	module->version(text, sizeof(text));
	text_add(reply, "%s", text);
	return true;
}

const char *net_simgrid_version(struct arena *a, struct err *err)
{
	struct bytes reply;
	struct net_child child = {.main = ask_version};
	return net_child_run(a, &child, &reply, err) ? reply.data : NULL;
}
