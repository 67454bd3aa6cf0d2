/* Names: interned texts. Two names are the same text exactly when their ids are equal. */
#ifndef RUNNEL_BASE_NAMES_H
#define RUNNEL_BASE_NAMES_H

#include "base/vec.h"

typedef uint32_t Name; /* 0 is no name */

typedef struct NameEntry {
    const char *text;
    uint32_t length;
    uint32_t hash;
} NameEntry;

typedef struct Names {
    Arena *arena;
    VEC(NameEntry) entries; /* entries.items[0] is the empty name */
    Name *table;            /* open addressing; 0 is free */
    uint32_t table_size;    /* a power of two */
} Names;

void names_init(Names *names, Arena *arena);

/* The name for `length` bytes of `text`, which may hold any bytes. */
Name names_intern(Names *names, const char *text, size_t length);
Name names_of(Names *names, const char *text);

/* Zero-terminated; lives as long as the table. */
static inline const char *names_text(const Names *names, Name name)
{
    return names->entries.items[name].text;
}

/* A measure of how unlike two texts are (edit distance with transpositions, at most `limit`);
 * for "did you mean". */
uint32_t names_distance(const char *a, const char *b, uint32_t limit);

#endif
