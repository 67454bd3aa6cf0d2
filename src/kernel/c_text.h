/* What all emitted C is written with: lines, comments that show the source, names. */
#ifndef RUNNEL_KERNEL_C_TEXT_H
#define RUNNEL_KERNEL_C_TEXT_H

#include "base/text.h"
#include "source/source.h"

enum { C_INDENT = 4, C_NAME_MAX = 24 };

/* A line inside so many braces. */
__attribute__((format(printf, 3, 0))) void c_line(Text *out, uint32_t depth, const char *format, va_list arguments);

/* The line of the source where a span begins, as a comment, unless it is the one shown last: its number is kept in *shown. */
void c_source(Text *out, uint32_t depth, const Sources *sources, Span span, uint32_t *shown);

/* What C allows in an identifier of a name in the source; gives its length, which may be 0. */
size_t c_name(const char *name, char word[C_NAME_MAX + 1]);

#endif
