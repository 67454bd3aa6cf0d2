#include "digest.h"

#include <math.h>

static uint64_t weight(uint64_t position)
{
    return ((position + 1) * 0x9E3779B97F4A7C15u) | 1;
}

void digest_int(Digest *digest, int64_t value)
{
    digest->sum += (uint64_t)value;
    digest->mix += (uint64_t)value * weight(digest->count++);
}

void digest_float(Digest *digest, double value)
{
    digest->float_abs += (long double)fabs(value);
    digest->float_sum += (long double)value;
    digest->float_mix += (long double)value * (long double)((double)(weight(digest->count++) >> 11) * 0x1p-53);
}

void digest_print_ints(const Digest *digest, FILE *out)
{
    fprintf(out, "i %llu %llu %llu", (unsigned long long)digest->count, (unsigned long long)digest->sum, (unsigned long long)digest->mix);
}

void digest_print_floats(const Digest *digest, FILE *out)
{
    fprintf(out, "f %llu %.17g %.17g %.17g", (unsigned long long)digest->count, (double)digest->float_abs, (double)digest->float_sum,
            (double)digest->float_mix);
}

void digest_int_vectors(FILE *out, size_t n, int vectors, const int64_t *const *columns)
{
    Digest digest = {0};
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < vectors; k++)
            digest_int(&digest, columns[k][i]);
    digest_print_ints(&digest, out);
}

void digest_float_vectors(FILE *out, size_t n, int vectors, const double *const *columns)
{
    Digest digest = {0};
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < vectors; k++)
            digest_float(&digest, columns[k][i]);
    digest_print_floats(&digest, out);
}
