/* A text file in blocks of whole lines, shared by the threads; it is read, never held as a whole. */
#ifndef BENCH_TEXT_BLOCKS_H
#define BENCH_TEXT_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* So many zero bytes follow a block's text. */
enum { TEXT_BLOCK_PADDING = 64 };

/* Works on a block, which begins at that offset in the file; thread is from 0 on. */
typedef void TextBlockFunction(const char *text, size_t length, int64_t offset, int thread);

/* Calls the function once for each block, in no particular order, by all threads at once. A line belongs to the block in which it begins, its end included;
 * the last may have none. */
void text_blocks_each(const char *path, TextBlockFunction *function);

#endif
