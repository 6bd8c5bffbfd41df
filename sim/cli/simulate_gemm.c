/* One matrix product instead of a model. */
#include <stdlib.h>

#include "cli/internal.h"

static bool parse_gemm(const char *text, struct gemm *out, struct err *err)
{
	uint64_t v[3] = {0};
	const char *at = text;
	for (int i = 0; i < 3; i++) {
		char *end;
		v[i] = strtoull(at, &end, 10);
		if (*at < '0' || *at > '9' || v[i] == 0 || v[i] > (1u << 30) ||
			*end != (i < 2 ? 'x' : '\0'))
			return err_set(err, ERR_USAGE,
				"--gemm '%s', expected MxNxK, each from 1 to %u", text, 1u << 30);
		at = end + 1;
	}
	*out = (struct gemm){.batch = 1, .m = v[0], .n = v[1], .k = v[2]};
	return true;
}

bool simulate_gemm(struct request *q, struct err *err)
{
	struct gemm g = {0};
	struct arch arch = {0};
	if (!parse_gemm(q->gemm, &g, err) || !load_arch(q, q->accel, &arch, err))
		return false;
	if (q->fold_mode && !fold_mode_find(q->fold_mode, &arch.fold_mode))
		return err_set(err, ERR_USAGE,
			"unknown --fold-mode '%s', expected serial or pipelined", q->fold_mode);
	if (q->json)
		return write_json(q, report_gemm_json(&arch, &g), err);
	struct text out = {0};
	report_gemm_text(&arch, &g, &out);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}
