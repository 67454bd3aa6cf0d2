/* Buffers of bytes, lists of lines and whole files: what the runner needs of text. The runner stops when
 * there is no memory; it is a tool, not the library. */
#ifndef RUNNER_BUFFER_H
#define RUNNER_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Buffer {
    char *bytes; /* zero-terminated once anything was added */
    size_t length;
    size_t capacity;
} Buffer;

typedef struct Lines {
    char **items; /* zero-terminated, without their newlines */
    size_t count;
} Lines;

void *checked_alloc(size_t size);
void *checked_resize(void *block, size_t size);
char *checked_copy(const char *text);
__attribute__((format(printf, 1, 2))) char *checked_format(const char *format, ...);

void buffer_add(Buffer *buffer, const char *bytes, size_t length);
__attribute__((format(printf, 2, 3))) void buffer_addf(Buffer *buffer, const char *format, ...);
const char *buffer_text(const Buffer *buffer);
void buffer_free(Buffer *buffer);

/* False, with nothing added, when the file cannot be read. */
bool file_read(const char *path, Buffer *out);
bool file_write(const char *path, const char *text);

Lines lines_of(const char *text);
void lines_add(Lines *lines, const char *line);
void lines_free(Lines *lines);

/* The words of a line as a shell splits them: blanks, '...', "...", backslashes. */
Lines words_of(const char *text);

/* The text after `prefix`, or null when `text` does not begin with it. */
const char *after_prefix(const char *text, const char *prefix);
bool has_suffix(const char *text, const char *suffix);
const char *skip_blanks(const char *text);
void trim_end(char *text);

#endif
