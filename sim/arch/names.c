/* Names of dataflows and fold modes. */
#include <string.h>

#include "arch/arch.h"

static const struct {
	const char *name;
	enum dataflow value;
} dataflows[] = {{"is", DATAFLOW_IS}, {"os", DATAFLOW_OS}, {"ws", DATAFLOW_WS}};

static const struct {
	const char *name;
	enum fold_mode value;
} fold_modes[] = {{"pipelined", FOLD_PIPELINED}, {"serial", FOLD_SERIAL}};

enum {
	N_DATAFLOWS = sizeof(dataflows) / sizeof(dataflows[0]),
	N_FOLD_MODES = sizeof(fold_modes) / sizeof(fold_modes[0])
};

bool dataflow_find(const char *name, enum dataflow *out)
{
	for (size_t i = 0; i < N_DATAFLOWS; i++) {
		if (strcmp(dataflows[i].name, name) == 0) {
			*out = dataflows[i].value;
			return true;
		}
	}
	return false;
}

bool fold_mode_find(const char *name, enum fold_mode *out)
{
	for (size_t i = 0; i < N_FOLD_MODES; i++) {
		if (strcmp(fold_modes[i].name, name) == 0) {
			*out = fold_modes[i].value;
			return true;
		}
	}
	return false;
}

const char *dataflow_name(enum dataflow d)
{
	switch (d) {
	case DATAFLOW_WS:
		return "ws";
	case DATAFLOW_OS:
		return "os";
	case DATAFLOW_IS:
		return "is";
	}
	return "?";
}

const char *fold_mode_name(enum fold_mode f)
{
	switch (f) {
	case FOLD_SERIAL:
		return "serial";
	case FOLD_PIPELINED:
		return "pipelined";
	}
	return "?";
}
