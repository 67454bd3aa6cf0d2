#define _GNU_SOURCE /* madvise */
#include "memory.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64, HUGE_PAGE = 2 << 20, BLOCKS_MAX = 64 };

typedef struct Block {
    void *memory;
    size_t bytes;
    bool is_taken;
} Block;

static Block blocks[BLOCKS_MAX];
static size_t block_count;

/* The address sanitizer watches what comes from malloc. What a program holds till its end is no leak. */
#ifdef __SANITIZE_ADDRESS__
static const size_t LARGE = SIZE_MAX;
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}
#else
static const size_t LARGE = HUGE_PAGE;
#endif

_Noreturn void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static Block *new_block(size_t bytes)
{
    if (block_count == BLOCKS_MAX)
        fail("more than %d large blocks of memory", BLOCKS_MAX);
    void *memory = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("no memory for %zu bytes", bytes);
    uintptr_t aligned = ((uintptr_t)memory + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    madvise((void *)aligned, bytes, MADV_HUGEPAGE); /* where that is not possible nothing changes */
    blocks[block_count] = (Block){(void *)aligned, bytes, false};
    return &blocks[block_count++];
}

static void *take_block(size_t bytes)
{
    Block *block = NULL;
    for (size_t i = 0; i < block_count && block == NULL; i++)
        if (!blocks[i].is_taken && blocks[i].bytes == bytes)
            block = &blocks[i];
    if (block == NULL)
        block = new_block(bytes);
    block->is_taken = true;
    return block->memory;
}

void *allocate(size_t bytes)
{
    void *memory;
    if (bytes < LARGE)
        memory = aligned_alloc(ALIGNMENT, bytes / ALIGNMENT * ALIGNMENT + ALIGNMENT);
    else
#pragma omp critical(blocks)
        memory = take_block((bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    if (memory == NULL)
        fail("no memory for %zu bytes", bytes);
    return memory;
}

void release(void *memory)
{
    bool is_block = false;
#pragma omp critical(blocks)
    for (size_t i = 0; i < block_count; i++)
        if (blocks[i].memory == memory) {
            blocks[i].is_taken = false;
            is_block = true;
        }
    if (!is_block)
        free(memory);
}
