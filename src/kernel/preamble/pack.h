/* Packing inside emitted loops: of some elements in a row, those whose flag is set, one after the other. */
#ifndef RUNNEL_KERNEL_PREAMBLE_PACK_H
#define RUNNEL_KERNEL_PREAMBLE_PACK_H

#include "kernel/preamble/ops.h"

enum {
    KERNEL_PACK = 256,      /* elements that are computed before they are packed */
    KERNEL_PACK_LEAST = 64, /* for fewer it is not worth it */
};

/* Flags are 0 or 1. */
MATH_INLINE int64_t kernel_count_kept(const uint8_t *flags, int64_t count)
{
    int64_t set = 0;
    for (int64_t i = 0; i < count; i++)
        set += flags[i];
    return set;
}

/* Elements, whatever their type. */
typedef uint8_t Pack1 __attribute__((may_alias));
typedef uint16_t Pack2 __attribute__((may_alias));
typedef uint32_t Pack4 __attribute__((may_alias));
typedef uint64_t Pack8 __attribute__((may_alias));

/* Nothing is written beyond `room` elements. What is written and not kept is written over by the next one. */
#define PACK_PLAIN                                                                                                    \
    for (; i < count && given < room; i++) {                                                                          \
        out[given] = elements[i];                                                                                     \
        given += flags[i];                                                                                            \
    }

#if defined __AVX512VBMI2__ && defined __AVX512BW__ && !defined __clang__

enum { KERNEL_PACKS = 1 }; /* several elements at a time */

typedef char PackFlags __attribute__((vector_size(64), aligned(1)));

/* As many elements at a time as a register has; the bits of 64 flags serve for 64 / LANES of them. */
#define PACK(name, Element, Lane, compress)                                                                           \
    typedef Lane name##Register __attribute__((vector_size(64)));                                                     \
    MATH_INLINE void name(void *to, const void *from, const uint8_t *restrict flags, int64_t count, int64_t room)     \
    {                                                                                                                 \
        Element *out = (Element *)to;                                                                                 \
        const Element *elements = (const Element *)from;                                                              \
        enum { LANES = 64 / sizeof(Element) };                                                                        \
        int64_t i = 0, given = 0;                                                                                     \
        for (; i + 64 <= count && given + 64 <= room; i += 64) {                                                      \
            PackFlags few = *(const PackFlags *)(const void *)(flags + i);                                            \
            uint64_t bits = __builtin_ia32_ptestmb512(few, few, ~UINT64_C(0));                                        \
            for (int64_t k = 0; k < 64; k += LANES) {                                                                 \
                name##Register some;                                                                                  \
                uint64_t mask = bits >> k & (~UINT64_C(0) >> (64 - LANES));                                           \
                memcpy(&some, elements + i + k, sizeof some);                                                         \
                some = compress(some, some, mask);                                                                    \
                memcpy(out + given, &some, sizeof some);                                                              \
                given += __builtin_popcountll(mask);                                                                  \
            }                                                                                                         \
        }                                                                                                             \
        PACK_PLAIN                                                                                                    \
    }

#else

enum { KERNEL_PACKS = 0 };

#define PACK(name, Element, Lane, compress)                                                                           \
    MATH_INLINE void name(void *to, const void *from, const uint8_t *restrict flags, int64_t count, int64_t room)     \
    {                                                                                                                 \
        Element *out = (Element *)to;                                                                                 \
        const Element *elements = (const Element *)from;                                                              \
        int64_t i = 0, given = 0;                                                                                     \
        PACK_PLAIN                                                                                                    \
    }

#endif

PACK(kernel_pack_1, Pack1, char, __builtin_ia32_compressqi512_mask)
PACK(kernel_pack_2, Pack2, short, __builtin_ia32_compresshi512_mask)
PACK(kernel_pack_4, Pack4, int, __builtin_ia32_compresssi512_mask)
PACK(kernel_pack_8, Pack8, long long, __builtin_ia32_compressdi512_mask)
#undef PACK
#undef PACK_PLAIN

#endif
