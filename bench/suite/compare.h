/* Whether two results are the same, as far as the table of benchmarks wants that. */
#ifndef SUITE_COMPARE_H
#define SUITE_COMPARE_H

#include "cases.h"

/* A result as `runnel bench` gives it, without what NESL's notation puts around it; to be freed. */
char *result_plain(const char *text);

/* Both without that. */
bool results_agree(const Case *benchmark, const char *a, const char *b);
/* Where floats may be rounded otherwise, integers that depend on them may differ too, here and there: digests agree if sums are within a millionth. */
bool results_nearly_agree(const Case *benchmark, const char *a, const char *b);

#endif
