#define _POSIX_C_SOURCE 200809L
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *value_of(const char *line, const char *key)
{
    char *mark = checked_format("\"%s\": ", key);
    const char *found = strstr(line, mark);
    size_t length = strlen(mark);
    free(mark);
    return found == NULL ? NULL : found + length;
}

bool json_number(const char *line, const char *key, double *number)
{
    const char *value = value_of(line, key);
    char *end;
    if (value == NULL)
        return false;
    *number = strtod(value, &end);
    return end != value;
}

static char unescaped(const char **at)
{
    char c = *(*at)++;
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'u': {
        char digits[5] = {0};
        strncpy(digits, *at, 4);
        *at += strlen(digits);
        return (char)strtol(digits, NULL, 16);
    }
    default:
        return c;
    }
}

char *json_text(const char *line, const char *key)
{
    const char *at = value_of(line, key);
    Buffer text = {0};
    if (at == NULL || *at++ != '"')
        return NULL;
    while (*at != '"' && *at != '\0') {
        char c = *at++;
        if (c == '\\' && *at != '\0')
            c = unescaped(&at);
        buffer_add(&text, &c, 1);
    }
    char *copy = checked_copy(buffer_text(&text));
    buffer_free(&text);
    return copy;
}

static void add_key(Buffer *out, const char *key)
{
    bool is_first = out->length > 0 && out->bytes[out->length - 1] == '{';
    buffer_addf(out, "%s\"%s\": ", is_first ? "" : ", ", key);
}

void json_add_number(Buffer *out, const char *key, double number)
{
    if (!isfinite(number))
        return;
    add_key(out, key);
    buffer_addf(out, "%.9g", number);
}

void json_add_text(Buffer *out, const char *key, const char *text)
{
    add_key(out, key);
    buffer_add(out, "\"", 1);
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ')
            buffer_addf(out, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            buffer_addf(out, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
    buffer_add(out, "\"", 1);
}
