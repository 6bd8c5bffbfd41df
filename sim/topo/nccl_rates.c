/* Rates that NCCL (src/graph/topo.h, topo.cc) and RCCL assume of links, in GB/s. They are what
 * those libraries expect to achieve, somewhat below the nominal rates. */
#include <stdlib.h>
#include <string.h>

#include "topo/graph.h"

#define TENTHS UINT64_C(100000000) /* bytes/s in a tenth of a GB/s */

/* "16 GT/s", "16.0 GT/s PCIe"; per lane, in 1/80 GB/s. Nothing: generation 3. */
uint64_t nccl_pci_rate(const char *speed, uint64_t width)
{
	static const struct {
		double gigatransfers;
		uint64_t lane; /* 1/80 GB/s */
	} generations[] = {{2.5, 15}, {5, 30}, {8, 60}, {16, 120}, {32, 240}, {64, 480}};
	char *end;
	double v = *speed ? strtod(speed, &end) : 8;
	width = width ? width : 16;
	if (*speed && (end == speed || strncmp(end, " GT/s", 5) != 0))
		return 0;
	for (size_t i = 0; i < sizeof(generations) / sizeof(*generations); i++)
		if (v > generations[i].gigatransfers - 0.01 &&
			v < generations[i].gigatransfers + 0.01)
			return width * generations[i].lane * (UINT64_C(1000000000) / 80);
	return 0;
}

static uint64_t nvlink_rate(uint64_t sm)
{
	static const struct {
		uint64_t sm, tenths;
	} rates[] = {{60, 180}, {70, 200}, {80, 200}, {86, 120}, {90, 206}, {100, 401}};
	uint64_t tenths = 200;
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++)
		if (sm >= rates[i].sm)
			tenths = rates[i].tenths;
	return tenths * TENTHS;
}

/* gcn is "906", "910" or "gfx942". */
static uint64_t xgmi_rate(const char *gcn)
{
	const char *number = strncmp(gcn, "gfx", 3) == 0 ? gcn + 3 : gcn;
	if (strncmp(number, "94", 2) == 0 || strncmp(number, "95", 2) == 0)
		return 480 * TENTHS;
	return (strcmp(number, "910") == 0 || strcmp(number, "90a") == 0 ? 360 : 240) * TENTHS;
}

uint64_t nccl_link_rate(const char *kind, uint64_t sm, const char *gcn)
{
	if (strcmp(kind, "nvlink") == 0)
		return nvlink_rate(sm);
	return strcmp(kind, "xgmi") == 0 ? xgmi_rate(gcn) : 0;
}

/* The family as CPUID has it, or packed with its extension: 0x8f is 15 + 8. */
uint64_t nccl_cpu_rate(const char *arch, const char *vendor, uint64_t family, uint64_t model)
{
	if (family > 26 && (family & 15) == 15)
		family = 15 + (family >> 4);
	if (strcmp(arch, "ppc64") == 0)
		return 320 * TENTHS;
	if (strcmp(arch, "arm64") == 0)
		return 60 * TENTHS;
	if (strcmp(vendor, "AuthenticAMD") == 0)
		return (family <= 24 ? 160 : family == 25 ? 240 : 320) * TENTHS;
	if (model >= 0xcf)
		return 400 * TENTHS;
	return (model >= 0x8f ? 220 : model >= 0x55 ? 100 : 60) * TENTHS;
}
