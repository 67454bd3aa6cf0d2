/* Numbers that say something about many. */
#ifndef RUNNEL_BASE_STATISTICS_H
#define RUNNEL_BASE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* From small to large. None is nan. */
void statistics_sort(double *values, size_t count);
/* The middle one of at least one sorted value, or the mean of the middle two. */
double statistics_median(const double *sorted, size_t count);
/* Whether the last `last` of the values are there and lie within a part of the least of them. */
bool statistics_have_settled(const double *values, size_t count, size_t last, double part);

#endif
