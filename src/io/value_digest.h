/* A large value in one line, by which two of them can be compared that are too long to be printed: how many numbers it has, their sum, and a sum in
 * which each counts differently by its place. Bools are 0 and 1, chars their codes. Numbers are taken in the order in which value_print shows them.
 *
 *     i COUNT SUM MIX         without floats: modulo 2^64
 *     f COUNT ABS SUM MIX     with floats; ABS is the sum of absolute values, which differences can be measured by
 *
 * Number k, from 0, counts in MIX w(k) times, where w(k) is (k + 1) * 0x9E3779B97F4A7C15 modulo 2^64, made odd; with floats w(k) / 2^64, cut to 53 bits. */
#ifndef RUNNEL_IO_VALUE_DIGEST_H
#define RUNNEL_IO_VALUE_DIGEST_H

#include "io/value.h"

typedef struct ValueDigest {
    uint64_t count;
    uint64_t sum, mix;
    long double float_abs, float_sum, float_mix;
} ValueDigest;

/* The next number. */
void value_digest_add(ValueDigest *digest, ScalarType type, Scalar value);
/* All numbers of a value. */
void value_digest_add_value(ValueDigest *digest, Types *types, TypeId type, Value value);
/* Of numbers that were those of a value of the type. */
void value_digest_show(const ValueDigest *digest, Types *types, TypeId type, Text *out);

#endif
