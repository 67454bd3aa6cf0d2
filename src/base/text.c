#include "base/text.h"

#include <stdio.h>
#include <string.h>

void text_init(Text *text, Memory *memory)
{
    *text = (Text){.memory = memory};
}

void text_free(Text *text)
{
    memory_free(text->memory, text->bytes, text->capacity);
    text_init(text, text->memory);
}

void text_clear(Text *text)
{
    text_cut(text, 0);
}

void text_cut(Text *text, size_t length)
{
    text->length = length;
    if (text->bytes != NULL)
        text->bytes[length] = '\0';
}

static void reserve(Text *text, size_t more)
{
    size_t needed = text->length + more + 1;
    if (needed < more)
        memory_fail(text->memory);
    if (needed <= text->capacity)
        return;
    size_t capacity = text->capacity < 64 ? 64 : text->capacity * 2;
    if (capacity < needed)
        capacity = needed;
    text->bytes = memory_resize(text->memory, text->bytes, text->capacity, capacity);
    text->capacity = capacity;
}

void text_add_bytes(Text *text, const char *bytes, size_t length)
{
    reserve(text, length);
    if (length > 0)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void text_add(Text *text, const char *string)
{
    text_add_bytes(text, string, strlen(string));
}

void text_add_char(Text *text, char c)
{
    text_add_bytes(text, &c, 1);
}

void text_add_repeated(Text *text, char c, size_t count)
{
    reserve(text, count);
    memset(text->bytes + text->length, c, count);
    text->length += count;
    text->bytes[text->length] = '\0';
}

void text_add_list(Text *text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    reserve(text, (size_t)length);
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
    va_end(again);
    text->length += (size_t)length;
}

void text_addf(Text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_add_list(text, format, arguments);
    va_end(arguments);
}
