/* Decimal numbers from text, as fast as may be: eight digits at a time, and floats by one multiplication where that is exact (Clinger 1990) or
 * nearly always enough (Lemire 2021); what is left goes to the C library, so that every result is the nearest float.
 *
 * Nothing is allocated. The text is followed by a byte that is no part of a number, and by NUMBER_TEXT_PADDING bytes that may be read. */
#ifndef RUNNEL_IO_NUMBER_TEXT_H
#define RUNNEL_IO_NUMBER_TEXT_H

#include "ops/scalars.h"

enum { NUMBER_TEXT_PADDING = 16 };

typedef enum NumberStatus { NUMBER_READ, NUMBER_NONE, NUMBER_OUT_OF_RANGE } NumberStatus;

/* Reads a number of an integer or float type into a cell, up to a byte that cannot belong to it; *text is then there. Integers are digits with or without a sign;
 * floats also have a point, an exponent, or are nan, inf or infinity. After a failure *text is where it was. */
NumberStatus number_text_read(const char **text, ScalarType type, void *cell);

NumberStatus number_text_int(const char **text, int64_t *value);
NumberStatus number_text_double(const char **text, double *value);

#endif
