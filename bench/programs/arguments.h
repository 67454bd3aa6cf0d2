/* Arguments and results as text, in Runnel's notation: read by the C programs and by what checks their answers. Whatever is not what is
 * expected ends the process with a message. */
#ifndef BENCH_ARGUMENTS_H
#define BENCH_ARGUMENTS_H

#include "npy.h"

#include <stdio.h>

int64_t argument_int(const char *text);
double argument_float(const char *text);

/* @FILE.npy */
Array argument_array(const char *text, ElementType type);

/* "text" in double quotes; the result belongs to the caller. Escapes are not understood. */
char *argument_text(const char *text);

/* A float as Runnel prints it: the fewest digits that read back as the same number. */
void print_float(FILE *out, double x);

#endif
