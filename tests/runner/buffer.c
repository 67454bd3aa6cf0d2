#include "buffer.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *checked_resize(void *block, size_t size)
{
    block = realloc(block, size == 0 ? 1 : size);
    if (block == NULL) {
        fputs("runner: out of memory\n", stderr);
        exit(3);
    }
    return block;
}

void *checked_alloc(size_t size)
{
    return memset(checked_resize(NULL, size), 0, size);
}

char *checked_copy(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(checked_resize(NULL, size), text, size);
}

static void buffer_reserve(Buffer *buffer, size_t more)
{
    if (buffer->length + more < buffer->capacity)
        return;
    buffer->capacity = (buffer->length + more + 1) * 2;
    buffer->bytes = checked_resize(buffer->bytes, buffer->capacity);
}

void buffer_add(Buffer *buffer, const char *bytes, size_t length)
{
    buffer_reserve(buffer, length);
    if (length > 0)
        memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    buffer->bytes[buffer->length] = '\0';
}

static void buffer_add_list(Buffer *buffer, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    size_t length = (size_t)vsnprintf(NULL, 0, format, arguments);
    buffer_reserve(buffer, length);
    vsnprintf(buffer->bytes + buffer->length, length + 1, format, again);
    buffer->length += length;
    va_end(again);
}

void buffer_addf(Buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    buffer_add_list(buffer, format, arguments);
    va_end(arguments);
}

char *checked_format(const char *format, ...)
{
    Buffer buffer = {0};
    va_list arguments;
    va_start(arguments, format);
    buffer_add_list(&buffer, format, arguments);
    va_end(arguments);
    return buffer.bytes;
}

const char *buffer_text(const Buffer *buffer)
{
    return buffer->bytes == NULL ? "" : buffer->bytes;
}

void buffer_free(Buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (Buffer){0};
}

bool file_read(const char *path, Buffer *out)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    char chunk[4096];
    for (size_t count; (count = fread(chunk, 1, sizeof chunk, file)) > 0;)
        buffer_add(out, chunk, count);
    bool is_read = !ferror(file);
    fclose(file);
    return is_read;
}

bool file_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    bool is_written = fputs(text, file) >= 0;
    return fclose(file) == 0 && is_written;
}

static void lines_take(Lines *lines, char *line)
{
    lines->items = checked_resize(lines->items, (lines->count + 1) * sizeof *lines->items);
    lines->items[lines->count++] = line;
}

void lines_add(Lines *lines, const char *line)
{
    lines_take(lines, checked_copy(line));
}

Lines lines_of(const char *text)
{
    Lines lines = {0};
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        lines_take(&lines, checked_format("%.*s", (int)length, text));
        text += length + (text[length] == '\n');
    }
    return lines;
}

void lines_free(Lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->items[i]);
    free(lines->items);
    *lines = (Lines){0};
}

/* Adds one word's characters to `word` and returns where it ends. */
static const char *read_word(const char *text, Buffer *word)
{
    char quote = '\0';
    for (; *text != '\0' && (quote != '\0' || !isspace((unsigned char)*text)); text++) {
        if (quote == '\0' && (*text == '\'' || *text == '"')) {
            quote = *text;
        } else if (*text == quote) {
            quote = '\0';
        } else {
            bool is_escape = *text == '\\' && text[1] != '\0' &&
                             (quote == '\0' || (quote == '"' && strchr("\"\\$`", text[1]) != NULL));
            text += is_escape;
            buffer_add(word, text, 1);
        }
    }
    return text;
}

Lines words_of(const char *text)
{
    Lines words = {0};
    for (text = skip_blanks(text); *text != '\0'; text = skip_blanks(text)) {
        Buffer word = {0};
        buffer_add(&word, "", 0);
        text = read_word(text, &word);
        lines_take(&words, word.bytes);
    }
    return words;
}

const char *after_prefix(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

bool has_suffix(const char *text, const char *suffix)
{
    size_t length = strlen(text), suffix_length = strlen(suffix);
    return length >= suffix_length && strcmp(text + length - suffix_length, suffix) == 0;
}

const char *skip_blanks(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

void trim_end(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
}
