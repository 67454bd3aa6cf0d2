/* What `runnel help` knows beside commands and options. The manual page holds the same. */
#ifndef RUNNEL_DRIVER_SUBJECTS_H
#define RUNNEL_DRIVER_SUBJECTS_H

#include "front/library.h"

#include <stdbool.h>

typedef struct Subject {
    const char *name;
    const char *title; /* of the page's section */
    const char *text;  /* page.h */
} Subject;

extern const Subject subjects[];
extern const size_t subject_count;

/* Null when there is none. */
const Subject *subject_find(const char *name);

/* The name of a document, NAME.md. */
const char *document_name(const LibraryFile *document);
/* By its name, with `.md` or without; null when there is none. */
const LibraryFile *document_find(const char *name);

/* The codes of errors one after the other: the first if `code` is null, null after the last. */
const char *error_next(const char *code);
/* The part of docs/errors.md that explains a code; null when there is none. */
const char *error_explanation(const char *code, size_t *length);

#endif
