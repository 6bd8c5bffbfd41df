/* What the files of suite area share. */
#ifndef VALIDATE_AREA_H
#define VALIDATE_AREA_H

#include "arch/arch.h"
#include "validate/internal.h"

/* A shipped accelerator, or one line on top of tpuv2. */
bool area_read_arch(
	const struct suite_context *context, const char *name, struct arch *out, struct err *err);

/* Mean over the shipped convolutional nets, at 8 images, of the share of its
 * multiply-accumulates that the arrays do in their cycles of the forward convolutions. Memory
 * aside. */
bool area_conv_utilisation(
	const struct suite_context *context, const struct arch *arch, double *out, struct err *err);

/* Rows of a table of dies by block: GA100 (a100-80) and Aldebaran (mi210). */
bool area_run_dies(const struct suite_context *context, const struct csv *t,
	struct suite_report *out, struct err *err);

#endif
