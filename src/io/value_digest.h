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

void value_digest(Types *types, TypeId type, Value value, Text *out);

#endif
