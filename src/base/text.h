/* Text: a growing buffer of bytes, for everything that prints. */
#ifndef RUNNEL_BASE_TEXT_H
#define RUNNEL_BASE_TEXT_H

#include "base/memory.h"

#include <stdarg.h>

typedef struct Text {
    Memory *memory;
    char *bytes; /* always zero-terminated once anything was added */
    size_t length;
    size_t capacity;
} Text;

void text_init(Text *text, Memory *memory);
void text_free(Text *text);
void text_clear(Text *text);
/* Takes back what was added since it had that length. */
void text_cut(Text *text, size_t length);

void text_add_bytes(Text *text, const char *bytes, size_t length);
void text_add(Text *text, const char *string);
void text_add_char(Text *text, char c);
void text_add_repeated(Text *text, char c, size_t count);
__attribute__((format(printf, 2, 3))) void text_addf(Text *text, const char *format, ...);
__attribute__((format(printf, 2, 0))) void text_add_list(Text *text, const char *format, va_list arguments);

/* The contents as a C string, "" when nothing was added. */
static inline const char *text_string(const Text *text)
{
    return text->bytes == NULL ? "" : text->bytes;
}

#endif
