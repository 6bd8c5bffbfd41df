/* Finding and opening the module that links SimGrid. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/internal.h"

/* Relative to the program's folder: the build tree from its programs, tests and benches, and the
 * place of `meson install`. */
static const char *const folders[] = {
	".", "net", "../net", "sim/net", "../sim/net", "../../sim/net", WHAM_MODULE_FROM_BIN};

static const char *find_near_program(struct arena *a)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0)
		return NULL;
	self[n] = '\0';
	char *slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		const char *path = arena_printf(a, "%s/%s/" NET_MODULE_FILE, self, folders[i]);
		if (access(path, F_OK) == 0)
			return path;
	}
	return NULL;
}

static const char *find_module(struct arena *a, struct err *err)
{
	const char *folder = getenv("WHAM_MODULE_DIR");
	if (!folder) {
		const char *near = find_near_program(a);
		if (near)
			return near;
		folder = WHAM_MODULE_HOME;
	}
	const char *path = arena_printf(a, "%s/" NET_MODULE_FILE, folder);
	if (access(path, F_OK) == 0)
		return path;
	err_set(err, ERR_INTERNAL,
		"no " NET_MODULE_FILE " beside the program or in '%s': this build has no SimGrid "
		"(libsimgrid-dev was missing), use --network analytic",
		folder);
	return NULL;
}

static const struct net_module *open_module(const char *path, struct err *err)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct net_module *module = handle ? dlsym(handle, "net_simgrid_module") : NULL;
	if (!module) {
		const char *why = dlerror();
		err_set(err, ERR_INTERNAL, "cannot open SimGrid: %s", why ? why : path);
		return NULL;
	}
	if (module->size == sizeof(*module) && module->net_size == sizeof(struct net))
		return module;
	err_set(err, ERR_INTERNAL, "%s belongs to another version of this program", path);
	return NULL;
}

const struct net_module *net_module_open(struct err *err)
{
	struct arena work = {0};
	const char *path = find_module(&work, err);
	const struct net_module *module = path ? open_module(path, err) : NULL;
	arena_free(&work);
	return module;
}
