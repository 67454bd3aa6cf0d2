#include "base/statistics.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void statistics_sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
}

double statistics_median(const double *sorted, size_t count)
{
    double upper = sorted[count / 2];
    return count % 2 == 1 ? upper : sorted[count / 2 - 1] + (upper - sorted[count / 2 - 1]) / 2;
}

bool statistics_have_settled(const double *values, size_t count, size_t last, double part)
{
    if (count < last)
        return false;
    double least = values[count - last], most = least;
    for (size_t i = count - last + 1; i < count; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    return most - least <= part * least;
}
