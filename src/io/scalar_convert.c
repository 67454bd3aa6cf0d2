#include "io/scalar_convert.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Cells are converted by way of the widest type of their kind, a block at a time, in loops that vectorise. */
enum { BLOCK = 1024 };

typedef union Block {
    int64_t integers[BLOCK];
    uint64_t naturals[BLOCK];
    double floats[BLOCK];
} Block;

/* ---- what there is ---- */

size_t file_scalar_size(FileScalar scalar)
{
    return scalar.is_half ? 2 : scalar_size(scalar.type);
}

const char *file_scalar_name(FileScalar scalar)
{
    return scalar.is_half ? "f16" : scalar_name(scalar.type);
}

bool file_scalar_fits(FileScalar from, ScalarType to)
{
    ScalarKind kind = scalar_kind(from.type), wanted = scalar_kind(to);
    switch (kind) {
    case KIND_TRUTH: return wanted == KIND_TRUTH;
    case KIND_CHARACTER: return wanted == KIND_CHARACTER;
    case KIND_SIGNED: return scalar_is_integer(to) || wanted == KIND_FLOATING;
    case KIND_UNSIGNED: return scalar_is_integer(to) || wanted == KIND_FLOATING || (to == SCALAR_CHAR && from.type == SCALAR_U8);
    case KIND_FLOATING: return wanted == KIND_FLOATING;
    }
    return false;
}

/* Of bytes, u8 and char are the same. */
static bool is_same(ScalarType from, ScalarType to)
{
    return from == to || (from == SCALAR_U8 && to == SCALAR_CHAR);
}

bool file_scalar_is_in_place(FileScalar from, ScalarType to)
{
    return !from.is_half && is_same(from.type, to);
}

/* ---- orders of bytes ---- */

static void swap_16(uint16_t *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cells[i] = __builtin_bswap16(cells[i]);
}

static void swap_32(uint32_t *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cells[i] = __builtin_bswap32(cells[i]);
}

static void swap_64(uint64_t *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cells[i] = __builtin_bswap64(cells[i]);
}

static void swap(void *cells, size_t size, size_t count)
{
    switch (size) {
    case 2: swap_16(cells, count); break;
    case 4: swap_32(cells, count); break;
    case 8: swap_64(cells, count); break;
    }
}

/* Bytes that are no bool of ours are true. */
static void normalise(void *cells, size_t count)
{
    unsigned char *bytes = cells;
    for (size_t i = 0; i < count; i++)
        bytes[i] = bytes[i] != 0;
}

static void convert_in_place(FileScalar from, const void *cells, ScalarType to, void *out, size_t count)
{
    size_t size = scalar_size(to);
    if (cells != out)
        memcpy(out, cells, count * size);
    if (from.is_swapped)
        swap(out, size, count);
    if (to == SCALAR_BOOL)
        normalise(out, count);
}

/* ---- to the widest type ---- */

/* The two bytes of a half: a sign, five bits of exponent, ten of fraction. */
static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 0    ? ldexp(fraction, -24)
                       : exponent < 31  ? ldexp(fraction + 1024, exponent - 25)
                       : fraction == 0  ? (double)INFINITY
                                        : (double)NAN;
    return bits >> 15 ? -magnitude : magnitude;
}

static void widen_halves(const uint16_t *cells, Block *block, size_t count)
{
    for (size_t i = 0; i < count; i++)
        block->floats[i] = half_value(cells[i]);
}

#define WIDEN_TRUTH(c_type) block->integers[i] = ((const c_type *)cells)[i]
#define WIDEN_CHARACTER(c_type) block->integers[i] = ((const c_type *)cells)[i]
#define WIDEN_SIGNED(c_type) block->integers[i] = ((const c_type *)cells)[i]
#define WIDEN_UNSIGNED(c_type) block->naturals[i] = ((const c_type *)cells)[i]
#define WIDEN_FLOATING(c_type) block->floats[i] = ((const c_type *)cells)[i]

static void widen(ScalarType type, const void *cells, Block *block, size_t count)
{
    switch (type) {
#define SCALAR(ID, name, c_type, kind)                                                                                \
    case SCALAR_##ID:                                                                                                 \
        for (size_t i = 0; i < count; i++)                                                                            \
            WIDEN_##kind(c_type);                                                                                     \
        break;
#include "ops/scalars.def"
#undef SCALAR
    case SCALAR_COUNT: break;
    }
}

/* Reads a block of cells, whose place need not be aligned. */
static void load(FileScalar from, const char *cells, Block *block, size_t count)
{
    Block aligned;
    size_t size = file_scalar_size(from);
    memcpy(&aligned, cells, count * size);
    if (from.is_swapped)
        swap(&aligned, size, count);
    if (from.is_half)
        widen_halves((const uint16_t *)&aligned, block, count);
    else
        widen(from.type, &aligned, block, count);
}

/* ---- from the widest type ---- */

/* Whether a float has the value of an integer: out of range of the way back, 2^63 and 2^64, it has not. */
static bool is_exact_integer(double number, int64_t integer)
{
    return number < 0x1p63 && (int64_t)number == integer;
}

static bool is_exact_natural(double number, uint64_t natural)
{
    return number < 0x1p64 && (uint64_t)number == natural;
}

/* Loops that write all cells and say whether each is right; one that is not may hold anything. */
#define TO_INTEGERS(SOURCE, wide)                                                                                     \
    for (size_t i = 0; i < count; i++) {                                                                              \
        wide value = block->SOURCE[i];                                                                                \
        result[i] = (Result)value;                                                                                    \
        wrong |= (unsigned)(((wide)result[i] != value) | ((result[i] < 0) != (value < 0)));                          \
    }
#define TO_FLOATS_OF(SOURCE, wide, is_exact)                                                                          \
    for (size_t i = 0; i < count; i++) {                                                                              \
        wide value = block->SOURCE[i];                                                                                \
        result[i] = (Result)value;                                                                                    \
        wrong |= (unsigned)!is_exact((double)result[i], value);                                                       \
    }
#define TO_FLOATS                                                                                                     \
    for (size_t i = 0; i < count; i++) {                                                                              \
        result[i] = (Result)block->floats[i];                                                                         \
        wrong |= (unsigned)(isinf(result[i]) != isinf(block->floats[i]));                                             \
    }

#define STORE_INTEGER                                                                                                 \
    if (kind == KIND_UNSIGNED) {                                                                                      \
        TO_INTEGERS(naturals, uint64_t)                                                                               \
    } else {                                                                                                          \
        TO_INTEGERS(integers, int64_t)                                                                                \
    }
#define STORE_TRUTH STORE_INTEGER
#define STORE_CHARACTER STORE_INTEGER
#define STORE_SIGNED STORE_INTEGER
#define STORE_UNSIGNED STORE_INTEGER
#define STORE_FLOATING                                                                                                \
    if (kind == KIND_UNSIGNED) {                                                                                      \
        TO_FLOATS_OF(naturals, uint64_t, is_exact_natural)                                                            \
    } else if (kind == KIND_SIGNED) {                                                                                 \
        TO_FLOATS_OF(integers, int64_t, is_exact_integer)                                                             \
    } else {                                                                                                          \
        TO_FLOATS                                                                                                     \
    }

/* One function for each type: whether all cells are right. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtype-limits"
#ifndef __clang__ /* which has no such warning */
#pragma GCC diagnostic ignored "-Wbool-compare"
#endif
#define SCALAR(ID, name, c_type, kind_of_type)                                                                        \
    static bool store_##ID(ScalarKind kind, const Block *block, c_type *result, size_t count)                         \
    {                                                                                                                 \
        typedef c_type Result;                                                                                        \
        unsigned wrong = 0;                                                                                           \
        STORE_##kind_of_type return wrong == 0;                                                                       \
    }
#include "ops/scalars.def"
#undef SCALAR
#pragma GCC diagnostic pop

static bool store(ScalarKind kind, const Block *block, ScalarType to, void *out, size_t count)
{
    switch (to) {
#define SCALAR(ID, name, c_type, kind_of_type)                                                                        \
    case SCALAR_##ID: return store_##ID(kind, block, out, count);
#include "ops/scalars.def"
#undef SCALAR
    case SCALAR_COUNT: break;
    }
    return false;
}

/* ---- converting ---- */

/* How many from the front of a block that has a wrong one are right. */
static size_t count_right(ScalarKind kind, const Block *block, ScalarType to, void *out, size_t count)
{
    size_t right = 0;
    Block one;
    while (right < count) {
        memcpy(&one, &block->naturals[right], sizeof block->naturals[0]);
        if (!store(kind, &one, to, (char *)out + right * scalar_size(to), 1))
            break;
        right++;
    }
    return right;
}

size_t scalars_convert(FileScalar from, const void *cells, ScalarType to, void *out, size_t count)
{
    if (file_scalar_is_in_place(from, to)) {
        convert_in_place(from, cells, to, out, count);
        return count;
    }
    ScalarKind kind = scalar_kind(from.type);
    size_t done = 0;
    Block block;
    while (done < count) {
        size_t step = count - done < BLOCK ? count - done : BLOCK;
        char *place = (char *)out + done * scalar_size(to);
        load(from, (const char *)cells + done * file_scalar_size(from), &block, step);
        if (!store(kind, &block, to, place, step))
            return done + count_right(kind, &block, to, place, step);
        done += step;
    }
    return done;
}

void file_scalar_text(FileScalar from, const void *cells, size_t i, char text[FILE_SCALAR_TEXT_SIZE])
{
    Block block;
    load(from, (const char *)cells + i * file_scalar_size(from), &block, 1);
    switch (scalar_kind(from.type)) {
    case KIND_UNSIGNED: snprintf(text, FILE_SCALAR_TEXT_SIZE, "%" PRIu64, block.naturals[0]); break;
    case KIND_FLOATING: snprintf(text, FILE_SCALAR_TEXT_SIZE, "%.17g", block.floats[0]); break;
    case KIND_TRUTH:
    case KIND_CHARACTER:
    case KIND_SIGNED: snprintf(text, FILE_SCALAR_TEXT_SIZE, "%" PRId64, block.integers[0]); break;
    }
}
