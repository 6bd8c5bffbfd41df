/* Events and joules of a step and of its operators. */
#ifndef REPORT_ENERGY_H
#define REPORT_ENERGY_H

#include <jansson.h>

#include "report/report.h"

/* All devices over the whole step, idle power and links included. */
double step_energy_j(const struct step_report *s);
/* Counts and joules by cause of the step and of one device of each stage, average power, and
 * what one event costs on the first accelerator. */
json_t *step_energy_json(const struct step_report *s);
void step_energy_text(const struct step_report *s, struct text *out);

/* Counts and joules of one operator, without idle power. */
json_t *op_energy_json(const struct arch *arch, const struct op_cost *cost);

#endif
