/* Small helpers of the writers. */
#ifndef REPORT_INTERNAL_H
#define REPORT_INTERNAL_H

#include <jansson.h>
#include <stdint.h>

#include "base/units.h"
#include "report/report.h"

void put(json_t *object, const char *key, json_t *value); /* takes `value` */
void put_uint(json_t *object, const char *key, uint64_t value);
void put_real(json_t *object, const char *key, double value);
void put_text(json_t *object, const char *key, const char *value);
void put_time(json_t *object, const char *key, tick value); /* in seconds */

const char *core_name(enum core core); /* "none", "tc", "vc", "tc+vc", "link" */

const struct arch *arch_of_stage(const struct step_report *s, uint32_t stage);

#endif
