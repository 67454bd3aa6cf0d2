/* Arena: memory for one unit of work, given back all at once.
 *
 * Syntax trees, types and intermediate representations live in arenas: nothing in them is freed on its own. */
#ifndef RUNNEL_BASE_ARENA_H
#define RUNNEL_BASE_ARENA_H

#include "base/memory.h"

typedef struct ArenaChunk ArenaChunk;

typedef struct Arena {
    Memory *memory;
    ArenaChunk *chunks; /* newest first */
    size_t bytes;       /* of all of them */
    char *next;
    char *end;
} Arena;

void arena_init(Arena *arena, Memory *memory);
void arena_free(Arena *arena);

/* Zeroed, aligned for any type. */
void *arena_alloc(Arena *arena, size_t size);

/* Room for `count` items of `size` bytes; fails cleanly when the product overflows. */
void *arena_array(Arena *arena, size_t count, size_t size);

/* A zero-terminated copy of `length` bytes. */
char *arena_text(Arena *arena, const char *text, size_t length);

/* A formatted, zero-terminated text. */
__attribute__((format(printf, 2, 3))) char *arena_format(Arena *arena, const char *format, ...);

#define ARENA_NEW(arena, Type) ((Type *)arena_alloc((arena), sizeof(Type)))
#define ARENA_ARRAY(arena, Type, count) ((Type *)arena_array((arena), (count), sizeof(Type)))

#endif
