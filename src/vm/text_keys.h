/* A table of texts, or other vectors of bytes: it finds the number of one.
 *
 * A slot has the first bytes of its text, so that most comparisons are of two words and a length, and only longer texts are looked up where they are held. Texts are
 * hashed eight bytes at a time. Looking up changes nothing: several threads may do it. */
#ifndef RUNNEL_VM_TEXT_KEYS_H
#define RUNNEL_VM_TEXT_KEYS_H

#include "vm/array.h"

enum { TEXT_KEY_WORDS = 2, TEXT_KEY_BYTES = TEXT_KEY_WORDS * 8 };

typedef struct TextSlot {
    uint64_t head[TEXT_KEY_WORDS]; /* the first bytes; zeros follow a shorter text */
    uint64_t length;
    uint64_t number; /* plus 1; 0: the slot is free */
} TextSlot;

/* Zeroed at first. */
typedef struct TextKeys {
    TextSlot *slots; /* open addressing */
    size_t slot_count;
} TextKeys;

/* Whether values of the layout are such vectors. */
bool text_keys_hold(const Layout *layout);

/* Writes the numbers of rows [first, first + count) of `rows`; -1 for those that are not there: then it gives false. Something was added before; `keys` are all that was, by
 * number. */
bool text_keys_look_up(const TextKeys *table, const Array *keys, const Cells *rows, size_t first, size_t count, int64_t *numbers);
/* The number of a row; if it is new, it is added to `keys`, a copy of its bytes included. */
int64_t text_keys_find(TextKeys *table, Memory *memory, Array *keys, const Cells *rows, size_t i);
/* Makes it empty; small memory is kept. */
void text_keys_forget(TextKeys *table, Memory *memory);
void text_keys_free(TextKeys *table, Memory *memory);

#endif
