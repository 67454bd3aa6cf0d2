/* The driver's own messages: wrong usage and failing output, in the format of the compiler's. */
#ifndef RUNNEL_DRIVER_REPORT_H
#define RUNNEL_DRIVER_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shows `runnel: error[usage]: ...`. */
__attribute__((format(printf, 1, 2))) void report_usage(const char *format, ...);
/* Shows `runnel: error[code]: ...`. */
__attribute__((format(printf, 2, 3))) void report_error(const char *code, const char *format, ...);

/* The known name that is most like a word, for "did you mean". */
typedef struct Suggestion {
    const char *word;
    const char *best; /* null while nothing is near enough */
    uint32_t distance;
} Suggestion;

Suggestion suggestion_for(const char *word);
void suggestion_try(Suggestion *suggestion, const char *name);

/* Finds a word in a list ended by null; false after showing that there is no such KIND, and what there is. */
bool report_choice(const char *kind, const char *const *choices, const char *word, size_t *index);

/* Shows that there is no KIND of this name, with the suggestion or else the hint. */
void report_unknown(const char *kind, const Suggestion *suggestion, const char *hint);

#endif
