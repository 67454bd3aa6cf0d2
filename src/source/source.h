/* Sources and spans.
 *
 * All texts of a session share one space of positions: a source occupies the positions [base, base + length],
 * so that a span is two numbers and knows its file. Position 0 belongs to no source. */
#ifndef RUNNEL_SOURCE_SOURCE_H
#define RUNNEL_SOURCE_SOURCE_H

#include "base/names.h"
#include "base/vec.h"

#include <stdbool.h>

typedef enum Dialect { DIALECT_RUNNEL, DIALECT_NESL } Dialect;

typedef struct Span {
    uint32_t start; /* positions, end exclusive; start == 0 means nowhere */
    uint32_t end;
} Span;

typedef struct Source {
    const char *path; /* as the user gave it; shown in messages */
    const char *text; /* zero-terminated copy; may hold any bytes before that */
    uint32_t base;
    uint32_t length;
    Dialect dialect;
    bool is_library;       /* part of the standard library */
    uint32_t *line_starts; /* offsets in text */
    uint32_t line_count;
} Source;

typedef struct Sources {
    Arena *arena;
    VEC(Source *) list;
    uint32_t next_base;
} Sources;

typedef struct Location {
    const Source *source;
    uint32_t line;   /* 1-based */
    uint32_t column; /* 1-based, in bytes */
} Location;

void sources_init(Sources *sources, Arena *arena);

/* Copies the text. Null when the space of positions (4 GiB) is used up. */
Source *sources_add(Sources *sources, const char *path, const char *text, size_t length, Dialect dialect);

/* The source a position belongs to; null for position 0. */
Source *sources_find(const Sources *sources, uint32_t position);
Location sources_locate(const Sources *sources, uint32_t position);

#endif
