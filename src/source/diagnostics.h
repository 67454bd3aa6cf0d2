/* Diagnostics: the user's errors, collected as values and shown with position, source line and caret.
 *
 *     FILE:LINE:COL: error[code]: message
 *        3 | the line of source
 *          |     ^^^^
 *     FILE:LINE:COL: note: further places and hints that belong to the error before them
 *
 * Our own bugs are not diagnostics: they stop through `bug` with the name of the module or pass. */
#ifndef RUNNEL_SOURCE_DIAGNOSTICS_H
#define RUNNEL_SOURCE_DIAGNOSTICS_H

#include "base/text.h"
#include "source/source.h"

typedef enum ErrorCode {
#define ERROR(ID, code, phase) ERROR_##ID,
#include "source/errors.def"
#undef ERROR
    ERROR_CODE_COUNT
} ErrorCode;

typedef enum ErrorPhase { PHASE_COMPILE, PHASE_RUN, PHASE_USAGE } ErrorPhase;

typedef enum Severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE } Severity;

typedef struct Diagnostic {
    Severity severity;
    ErrorCode code; /* errors only */
    Span span;      /* start == 0: no position */
    const char *message;
} Diagnostic;

typedef struct Diagnostics {
    Arena *arena;
    const Sources *sources;
    VEC(Diagnostic) list; /* in the order reported; notes follow what they belong to */
    uint32_t error_count;
    uint32_t error_limit;  /* errors beyond it are counted, not kept */
    ErrorPhase last_phase; /* of the last error reported */
    bool is_coloured;      /* printed for a terminal that has colours */
} Diagnostics;

enum { DIAGNOSTICS_ERROR_LIMIT = 50 };

void diagnostics_init(Diagnostics *diagnostics, Arena *arena, const Sources *sources);

/* Forgets what was reported, for the next input of a session. */
void diagnostics_clear(Diagnostics *diagnostics);

/* Whether the last error is not kept, since there were too many before it. */
static inline bool diagnostics_is_full(const Diagnostics *diagnostics)
{
    return diagnostics->error_count > diagnostics->error_limit;
}

__attribute__((format(printf, 4, 5))) void diagnostics_error(Diagnostics *diagnostics, ErrorCode code, Span span,
                                                             const char *format, ...);
__attribute__((format(printf, 3, 4))) void diagnostics_warning(Diagnostics *diagnostics, Span span,
                                                               const char *format, ...);
/* Adds to the diagnostic before it; span.start == 0 gives a note without a place. */
__attribute__((format(printf, 3, 4))) void diagnostics_note(Diagnostics *diagnostics, Span span, const char *format,
                                                            ...);

const char *error_code_text(ErrorCode code);
/* The code of a text that is in the table; our bug if it is not. */
ErrorCode error_code_named(const char *text);
ErrorPhase error_code_phase(ErrorCode code);

/* Everything reported so far, errors in the order of their positions. */
void diagnostics_print(const Diagnostics *diagnostics, Text *out);

/* Our bug: says where, and stops the process. */
__attribute__((format(printf, 2, 3))) _Noreturn void bug(const char *where, const char *format, ...);

#endif
