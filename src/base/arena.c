#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    ARENA_CHUNK_BYTES = 64 * 1024,
    ARENA_ALIGNMENT = 16,
    ARENA_LARGE = 16 << 20,            /* of an arena that has so much, chunks are large blocks (base/large_blocks.h): small pages of the system take longer */
    ARENA_LARGE_CHUNK_BYTES = 4 << 20, /* ... than what is done with them */
};

struct ArenaChunk {
    ArenaChunk *older;
    size_t bytes; /* of the whole chunk, this header included */
};

enum { ARENA_HEADER_BYTES = (sizeof(ArenaChunk) + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT };

void arena_init(Arena *arena, Memory *memory)
{
    *arena = (Arena){.memory = memory};
}

void arena_free(Arena *arena)
{
    for (ArenaChunk *chunk = arena->chunks; chunk != NULL;) {
        ArenaChunk *older = chunk->older;
        memory_free(arena->memory, chunk, chunk->bytes);
        chunk = older;
    }
    arena_init(arena, arena->memory);
}

static char *add_chunk(Arena *arena, size_t payload)
{
    size_t bytes = ARENA_HEADER_BYTES + payload;
    ArenaChunk *chunk = memory_alloc(arena->memory, bytes);
    arena->bytes += bytes;
    chunk->bytes = bytes;
    chunk->older = arena->chunks;
    arena->chunks = chunk;
    return (char *)chunk + ARENA_HEADER_BYTES;
}

void *arena_alloc(Arena *arena, size_t size)
{
    if (size > SIZE_MAX / 4)
        memory_fail(arena->memory);
    size = (size + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    if (size == 0)
        size = ARENA_ALIGNMENT;
    if (size <= (size_t)(arena->end - arena->next)) {
        char *block = arena->next;
        arena->next += size;
        return block;
    }
    /* A large block gets a chunk of its own and leaves the current one open. */
    if (size >= ARENA_CHUNK_BYTES / 4)
        return add_chunk(arena, size);
    size_t bytes = arena->bytes < ARENA_LARGE ? ARENA_CHUNK_BYTES : ARENA_LARGE_CHUNK_BYTES;
    arena->next = add_chunk(arena, bytes);
    arena->end = arena->next + bytes;
    arena->next += size;
    return arena->next - size;
}

void *arena_array(Arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / 4 / size)
        memory_fail(arena->memory);
    return arena_alloc(arena, count * size);
}

char *arena_text(Arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    if (length > 0)
        memcpy(copy, text, length);
    return copy;
}

char *arena_format(Arena *arena, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = arena_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}
