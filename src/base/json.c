#include "base/json.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- UTF-8 ---- */

/* Sequences of more than one byte, by their first one. */
static const struct {
    unsigned char first, last; /* bytes that begin one */
    unsigned char low, high;   /* bytes that may come second: neither a longer form than needed, nor a surrogate, nor above U+10FFFF */
    size_t length;
} sequences[] = {
    {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3},
    {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

/* Bytes of the character at the beginning that is not ASCII; 0 if there is none. */
static size_t sequence_length(const unsigned char *bytes, size_t length)
{
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
        if (bytes[0] < sequences[i].first || bytes[0] > sequences[i].last)
            continue;
        size_t wanted = sequences[i].length;
        if (length < wanted || bytes[1] < sequences[i].low || bytes[1] > sequences[i].high)
            return 0;
        for (size_t k = 2; k < wanted; k++)
            if ((bytes[k] & 0xC0) != 0x80)
                return 0;
        return wanted;
    }
    return 0;
}

/* ---- strings ---- */

static void escape(unsigned char c, char character[JSON_CHARACTER_SIZE])
{
    static const char named[] = "\"\\\n\r\t", names[] = "\"\\nrt";
    const char *name = c == '\0' ? NULL : strchr(named, c);
    if (name != NULL)
        snprintf(character, JSON_CHARACTER_SIZE, "\\%c", names[name - named]);
    else if (c < 0x20 || c == 0x7F)
        snprintf(character, JSON_CHARACTER_SIZE, "\\u%04x", (unsigned)c);
    else
        snprintf(character, JSON_CHARACTER_SIZE, "%c", c);
}

size_t json_character(const char *bytes, size_t length, char character[JSON_CHARACTER_SIZE])
{
    const unsigned char *text = (const unsigned char *)bytes;
    size_t count = text[0] < 0x80 ? 1 : sequence_length(text, length);
    if (text[0] < 0x80) {
        escape(text[0], character);
    } else if (count > 0) {
        memcpy(character, bytes, count);
        character[count] = '\0';
    } else {
        strcpy(character, "\\ufffd");
    }
    return count > 0 ? count : 1;
}

size_t json_plain_length(const char *bytes, size_t length)
{
    size_t count = 0;
    while (count < length && bytes[count] >= ' ' && bytes[count] < 0x7F && bytes[count] != '"' && bytes[count] != '\\')
        count++;
    return count;
}
