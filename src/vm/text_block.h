/* The bytes of a text file as they are read: what is at hand of it is an array of characters, in which vectors are lines or parts of them.
 *
 * A large ordinary file is read by the team, each member a part of the block. Anything else is read as it comes, ahead of time (io/byte_input.h). */
#ifndef RUNNEL_VM_TEXT_BLOCK_H
#define RUNNEL_VM_TEXT_BLOCK_H

#include "io/byte_input.h"
#include "io/world.h"
#include "vm/array.h"

typedef struct TextBlock {
    ByteInput input;
    Array *chars;       /* the bytes read, some of them before */
    Array *next;        /* on its way to take its place */
    size_t begin;       /* of what is still wanted */
    bool is_in_parts;   /* by the team */
    uint64_t position;  /* then, in the file */
    bool is_over;       /* nothing more will come: it is at its end, has failed (input.reason) or was stopped */
} TextBlock;

/* Opens a file; false if it cannot be, input.reason says why. The block is empty, and closed or zero before. */
bool text_block_open(TextBlock *block, const Text *path, const StopFlag *stop);
/* Reads more behind what is there, at least one byte unless it is over. What is before `begin` is forgotten; the array may be another one then, and `begin` 0. `layout` is that
 * of characters. */
void text_block_read(TextBlock *block, Team *team, Memory *memory, World *world, const Layout *layout);
/* May be called again. */
void text_block_close(TextBlock *block, Memory *memory);

static inline size_t text_block_end(const TextBlock *block)
{
    return block->chars == NULL ? 0 : block->chars->count;
}

#endif
