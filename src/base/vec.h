/* Vec: a growable array whose storage lives in an arena.
 *
 *     VEC(Span) spans = {0};
 *     *vec_push(arena, &spans) = span;
 *
 * Growing leaves the old storage to the arena; total waste is at most the final size. */
#ifndef RUNNEL_BASE_VEC_H
#define RUNNEL_BASE_VEC_H

#include "base/arena.h"

#define VEC(Type)                                                                                                     \
    struct {                                                                                                          \
        Type *items;                                                                                                  \
        uint32_t count;                                                                                               \
        uint32_t capacity;                                                                                            \
    }

/* Makes room for one more item; used through vec_push. */
void vec_grow(Arena *arena, void **items, uint32_t count, uint32_t *capacity, size_t item_size);

/* A pointer to a new last item (not initialised beyond zeroed fresh storage). */
#define vec_push(arena, vec)                                                                                          \
    (((vec)->count == (vec)->capacity                                                                                 \
          ? vec_grow((arena), (void **)&(vec)->items, (vec)->count, &(vec)->capacity, sizeof *(vec)->items)           \
          : (void)0),                                                                                                 \
     &(vec)->items[(vec)->count++])

#define vec_pop(vec) ((vec)->items[--(vec)->count])
#define vec_last(vec) ((vec)->items[(vec)->count - 1])

#endif
