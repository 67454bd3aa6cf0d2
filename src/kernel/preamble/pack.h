/* Packing inside emitted loops: of some elements in a row, those whose flag is set, one after the other. */
#ifndef RUNNEL_KERNEL_PREAMBLE_PACK_H
#define RUNNEL_KERNEL_PREAMBLE_PACK_H

#include "kernel/preamble/ops.h"

enum {
    KERNEL_PACK = 256,            /* elements that are computed before they are packed */
    KERNEL_PACK_LEAST = 64,       /* for fewer it is not worth it */
    KERNEL_COUNT_LEAST = 1 << 14, /* as many are counted first where that takes little: else there would be room for all of them */
    KERNEL_REGISTER = 64,         /* bytes of a group of elements */
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

/* For each size of cells:
 *
 *     uint64_t kernel_bits_8(flags)                    of the flags of a group, each as large as a cell: which are not 0
 *     void kernel_keep_8(to, from, bits, count)        puts those of `count` elements, a register at least, one after the other whose bit is set; a register is written beyond the last
 *     void kernel_pack_8(to, from, flags, count, room) the same of elements with flags of a byte
 */
#if defined __AVX512BW__ && defined __AVX512DQ__ && !defined __clang__

enum { KERNEL_PACKS = 1 }; /* several elements at a time */

#define PACK_TYPES(size, Lane)                                                                                        \
    typedef Lane Register##size __attribute__((vector_size(64)));                                                     \
    typedef Lane Memory##size __attribute__((vector_size(64), aligned(1), may_alias));
PACK_TYPES(1, char)
PACK_TYPES(2, short)
PACK_TYPES(4, int)
PACK_TYPES(8, long long)
#undef PACK_TYPES

/* kernel_compress_8(to, from, mask): of a register of elements those whose bit of the mask is set, one after the other; what is written behind them means nothing. */
#define PACK_REGISTER(size, compress)                                                                                 \
    MATH_INLINE void kernel_compress_##size(void *to, const void *from, uint64_t mask)                                \
    {                                                                                                                 \
        const Register##size some = *(const Memory##size *)from;                                                      \
        *(Memory##size *)to = compress(some, some, mask);                                                             \
    }

/* Processors of the first generation compress cells of 4 and 8 bytes only: smaller ones are made as large, 16 at a time. */
#define PACK_WIDENED(size, Element, Lane)                                                                             \
    MATH_INLINE void kernel_compress_##size(void *to, const void *from, uint64_t mask)                                \
    {                                                                                                                 \
        typedef Lane Memory __attribute__((vector_size(16 * size), aligned(1), may_alias));                           \
        Element *out = (Element *)to;                                                                                 \
        for (int64_t k = 0; k < KERNEL_REGISTER / size; k += 16) {                                                    \
            const uint16_t kept = (uint16_t)(mask >> k);                                                              \
            const Register4 some = __builtin_convertvector(*(const Memory *)(const void *)((const Element *)from + k), Register4); \
            *(Memory *)(void *)out = __builtin_convertvector(__builtin_ia32_compresssi512_mask(some, some, kept), Memory); \
            out += __builtin_popcount(kept);                                                                          \
        }                                                                                                             \
    }

#ifdef __AVX512VBMI2__
PACK_REGISTER(1, __builtin_ia32_compressqi512_mask)
PACK_REGISTER(2, __builtin_ia32_compresshi512_mask)
#else
PACK_WIDENED(1, Pack1, unsigned char)
PACK_WIDENED(2, Pack2, unsigned short)
#endif
PACK_REGISTER(4, __builtin_ia32_compresssi512_mask)
PACK_REGISTER(8, __builtin_ia32_compressdi512_mask)
#undef PACK_REGISTER
#undef PACK_WIDENED

#define PACK(size, Element, test)                                                                                     \
    MATH_INLINE uint64_t kernel_bits_##size(const void *flags)                                                        \
    {                                                                                                                 \
        const Register##size few = *(const Memory##size *)flags;                                                      \
        return (uint64_t)test(few, few, ~UINT64_C(0)) & ~UINT64_C(0) >> (64 - KERNEL_REGISTER / size);                \
    }                                                                                                                 \
    MATH_INLINE void kernel_keep_##size(void *to, const void *from, uint64_t bits, int64_t count)                     \
    {                                                                                                                 \
        Element *out = (Element *)to;                                                                                 \
        for (int64_t k = 0; k < count; k += KERNEL_REGISTER / size) {                                                 \
            uint64_t mask = bits >> k & ~UINT64_C(0) >> (64 - KERNEL_REGISTER / size);                                \
            kernel_compress_##size(out, (const Element *)from + k, mask);                                             \
            out += __builtin_popcountll(mask);                                                                        \
        }                                                                                                             \
    }                                                                                                                 \
    MATH_INLINE void kernel_pack_##size(void *to, const void *from, const uint8_t *restrict flags, int64_t count, int64_t room) \
    {                                                                                                                 \
        Element *out = (Element *)to;                                                                                 \
        const Element *elements = (const Element *)from;                                                              \
        int64_t i = 0, given = 0;                                                                                     \
        for (; i + 64 <= count && given + 64 <= room; i += 64) {                                                      \
            uint64_t bits = kernel_bits_1(flags + i);                                                                 \
            kernel_keep_##size(out + given, elements + i, bits, 64);                                                  \
            given += __builtin_popcountll(bits);                                                                      \
        }                                                                                                             \
        PACK_PLAIN                                                                                                    \
    }

#else

enum { KERNEL_PACKS = 0 };

#define PACK_GROUP(size, Element)                                                                                     \
    MATH_INLINE uint64_t kernel_bits_##size(const void *flags)                                                        \
    {                                                                                                                 \
        uint64_t bits = 0;                                                                                            \
        for (int k = 0; k < KERNEL_REGISTER / size; k++)                                                              \
            bits |= (uint64_t)(((const Element *)flags)[k] != 0) << k;                                                \
        return bits;                                                                                                  \
    }                                                                                                                 \
    MATH_INLINE void kernel_keep_##size(void *to, const void *from, uint64_t bits, int64_t count)                     \
    {                                                                                                                 \
        Element *out = (Element *)to;                                                                                 \
        for (int64_t k = 0; k < count; k++) {                                                                         \
            *out = ((const Element *)from)[k];                                                                        \
            out += bits >> k & 1;                                                                                     \
        }                                                                                                             \
    }

PACK_GROUP(1, Pack1)
PACK_GROUP(2, Pack2)
PACK_GROUP(4, Pack4)

#if defined __AVX2__ && !defined __clang__
/* Four elements of eight bytes at a time: the halves of those that are kept, by their bits. */
typedef int PackHalves __attribute__((vector_size(32)));
typedef double PackSigns __attribute__((vector_size(32)));
typedef int64_t PackFour __attribute__((vector_size(32)));
typedef int64_t PackMemory __attribute__((vector_size(32), aligned(1), may_alias));
static const PackHalves kernel_kept_halves[16] = {
    {0},    {0, 1},       {2, 3},       {0, 1, 2, 3},       {4, 5},       {0, 1, 4, 5},       {2, 3, 4, 5},       {0, 1, 2, 3, 4, 5},
    {6, 7}, {0, 1, 6, 7}, {2, 3, 6, 7}, {0, 1, 2, 3, 6, 7}, {4, 5, 6, 7}, {0, 1, 4, 5, 6, 7}, {2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7},
};

MATH_INLINE uint64_t kernel_bits_8(const void *flags)
{
    const PackMemory *few = (const PackMemory *)flags;
    return (uint64_t)__builtin_ia32_movmskpd256((PackSigns)(few[0] != 0)) | (uint64_t)__builtin_ia32_movmskpd256((PackSigns)(few[1] != 0)) << 4;
}

MATH_INLINE void kernel_keep_8(void *to, const void *from, uint64_t bits, int64_t count)
{
    Pack8 *out = (Pack8 *)to;
    for (int64_t k = 0; k < count; k += 4) {
        const uint64_t mask = bits >> k & 15;
        const PackFour some = *(const PackMemory *)(const void *)((const Pack8 *)from + k);
        *(PackMemory *)(void *)out = (PackFour)__builtin_ia32_permvarsi256((PackHalves)some, kernel_kept_halves[mask]);
        out += __builtin_popcountll(mask);
    }
}
#else
PACK_GROUP(8, Pack8)
#endif
#undef PACK_GROUP

#define PACK(size, Element, test)                                                                                     \
    MATH_INLINE void kernel_pack_##size(void *to, const void *from, const uint8_t *restrict flags, int64_t count, int64_t room) \
    {                                                                                                                 \
        Element *out = (Element *)to;                                                                                 \
        const Element *elements = (const Element *)from;                                                              \
        int64_t i = 0, given = 0;                                                                                     \
        PACK_PLAIN                                                                                                    \
    }

#endif

PACK(1, Pack1, __builtin_ia32_ptestmb512)
PACK(2, Pack2, __builtin_ia32_ptestmw512)
PACK(4, Pack4, __builtin_ia32_ptestmd512)
PACK(8, Pack8, __builtin_ia32_ptestmq512)
#undef PACK
#undef PACK_PLAIN

#endif
