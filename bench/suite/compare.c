#define _POSIX_C_SOURCE 200809L
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char *result_plain(const char *text)
{
    const char *value = after_prefix(text, "it = ");
    if (value == NULL)
        return checked_copy(text);
    char *copy = checked_copy(value);
    for (char *end = copy; (end = strstr(end, " : ")) != NULL; end++)
        if (strstr(end + 1, " : ") == NULL) {
            *end = '\0';
            break;
        }
    return copy;
}

static bool is_near(double a, double b, double size, double tolerance)
{
    return a == b || fabs(a - b) <= tolerance * size;
}

static bool read_number(const char **text, double *number)
{
    char *end;
    *number = strtod(*text, &end);
    bool is_read = end != *text;
    *text = end;
    return is_read;
}

/* "f COUNT ABS SUM MIX": differences are measured by ABS. */
static bool float_digests_agree(const char *a, const char *b, double tolerance)
{
    double size = 0;
    for (int i = 0; i < 4; i++) {
        double x, y;
        if (!read_number(&a, &x) || !read_number(&b, &y))
            return false;
        if (i == 1)
            size = fmax(fabs(x), fabs(y));
        if (i == 0 ? x != y : !is_near(x, y, size, tolerance))
            return false;
    }
    return *a == '\0' && *b == '\0';
}

bool results_agree(const Case *benchmark, const char *a, const char *b)
{
    double x, y;
    if (strcmp(a, b) == 0)
        return *a != '\0';
    if (benchmark->comparison == COMPARE_FLOAT)
        return read_number(&a, &x) && read_number(&b, &y) && *a == '\0' && *b == '\0' && is_near(x, y, fmax(fabs(x), fabs(y)), benchmark->tolerance);
    if (benchmark->comparison == COMPARE_DIGEST && *a == 'f' && *b == 'f')
        return float_digests_agree(a + 1, b + 1, benchmark->tolerance);
    return false;
}

bool results_nearly_agree(const Case *benchmark, const char *a, const char *b)
{
    static const double tolerance = 1e-6;
    double counts[2], sums[2];
    if (results_agree(benchmark, a, b))
        return true;
    if (benchmark->comparison != COMPARE_DIGEST || *a++ != 'i' || *b++ != 'i')
        return false;
    return read_number(&a, &counts[0]) && read_number(&b, &counts[1]) && counts[0] == counts[1] && read_number(&a, &sums[0]) &&
           read_number(&b, &sums[1]) && is_near(sums[0], sums[1], fmax(sums[0], sums[1]), tolerance);
}
