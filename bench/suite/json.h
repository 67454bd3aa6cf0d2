/* The little of JSON that benchmarks need: objects on one line, whose values are numbers and texts. */
#ifndef SUITE_JSON_H
#define SUITE_JSON_H

#include "../../tests/runner/buffer.h"

/* The value of a key; false, or null, if there is none. Quotes inside texts are escaped, so a key cannot be found within one. */
bool json_number(const char *line, const char *key, double *number);
char *json_text(const char *line, const char *key); /* to be freed */

/* Appends `"key": value`, with a comma before it unless it is the first of its object; a number that is nan is left out. */
void json_add_number(Buffer *out, const char *key, double number);
void json_add_text(Buffer *out, const char *key, const char *text);

#endif
