/* Texts as strings of JSON (RFC 8259). */
#ifndef RUNNEL_BASE_JSON_H
#define RUNNEL_BASE_JSON_H

#include <stddef.h>

/* Room for any character: the longest are escapes such as \u001f. */
enum { JSON_CHARACTER_SIZE = 7 };

/* The first character of a text that is not empty, as it stands between the quotes. What is not UTF-8 becomes U+FFFD, byte by byte. Gives the number of
 * bytes it is in the text. */
size_t json_character(const char *bytes, size_t length, char character[JSON_CHARACTER_SIZE]);

/* How many bytes at the beginning of a text stand for themselves between the quotes. */
size_t json_plain_length(const char *bytes, size_t length);

#endif
