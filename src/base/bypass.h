/* Stores that bypass the caches: what is too large for them is written without being read before, and leaves in them what is there. */
#ifndef RUNNEL_BASE_BYPASS_H
#define RUNNEL_BASE_BYPASS_H

#include <stddef.h>
#include <string.h>

#ifdef __x86_64__
#include <emmintrin.h>
#endif

enum {
    BYPASS_LINE = 64,        /* bytes that are stored at once, at a multiple of them */
    BYPASS_LEAST = 32 << 20, /* bytes of a vector of which no cache holds a part worth speaking of when it is read */
};

/* Copies a line of the cache to where a line begins. */
static inline void bypass_line(void *to, const void *from)
{
#ifdef __x86_64__
    for (size_t i = 0; i < BYPASS_LINE / sizeof(__m128i); i++)
        _mm_stream_si128((__m128i *)to + i, _mm_loadu_si128((const __m128i *)from + i));
#else
    memcpy(to, from, BYPASS_LINE);
#endif
}

/* Before another thread is told of what was stored. */
static inline void bypass_end(void)
{
#ifdef __x86_64__
    _mm_sfence();
#endif
}

#endif
