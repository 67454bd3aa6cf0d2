/* Decimal numbers from text, as fast as may be: eight digits at a time, and floats by one multiplication where that is exact (Clinger 1990) or
 * nearly always enough (Lemire 2021); what is left goes to the C library, so that every result is the nearest float.
 *
 * Nothing is allocated. The text is followed by a byte that is no part of a number, and by NUMBER_TEXT_PADDING bytes that may be read. */
#ifndef RUNNEL_IO_NUMBER_TEXT_H
#define RUNNEL_IO_NUMBER_TEXT_H

#include "ops/scalars.h"

#include <string.h>

enum { NUMBER_TEXT_PADDING = 16 };

typedef enum NumberStatus { NUMBER_READ, NUMBER_NONE, NUMBER_OUT_OF_RANGE } NumberStatus;

/* Reads a number of an integer or float type into a cell, up to a byte that cannot belong to it; *text is then there. Integers are digits with or without a sign;
 * floats also have a point, an exponent, or are nan, inf or infinity. After a failure *text is where it was. */
NumberStatus number_text_read(const char **text, ScalarType type, void *cell);

/* ---- the common case, in place ---- */

enum { NUMBER_TEXT_DIGITS = 19 }; /* so many always fit 64 bits */
extern const double number_text_powers[]; /* of ten: those that are exact */

static inline bool number_text_is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static inline bool number_text_sign(const char **text)
{
    bool is_negative = **text == '-';
    *text += is_negative || **text == '+';
    return is_negative;
}

static inline uint64_t number_text_load(const char *text)
{
    uint64_t bytes;
    memcpy(&bytes, text, sizeof bytes);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return bytes;
}

/* The number that eight digits are, of which the first is in the lowest byte: neighbours are put together, three times. */
static inline uint64_t number_text_join(uint64_t digits)
{
    digits = digits * 10 + (digits >> 8);
    return ((digits & 0x000000ff000000ff) * (100 + (UINT64_C(1000000) << 32)) +
            ((digits >> 16) & 0x000000ff000000ff) * (1 + (UINT64_C(10000) << 32))) >> 32 & 0xffffffff;
}

/* Of eight bytes, xor '0', the top bit of those that are no digits, and of some after the first of them. */
static inline uint64_t number_text_others(uint64_t digits)
{
    return ((digits + 0x7676767676767676) | digits) & 0x8080808080808080;
}

/* Appends digits to a number, modulo 2^64, up to eight at a time; gives the end of them. */
static inline const char *number_text_digits(const char *text, uint64_t *number)
{
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    for (;;) {
        uint64_t digits = number_text_load(text) ^ 0x3030303030303030;
        uint64_t others = number_text_others(digits);
        if (others == 0) {
            *number = *number * powers[8] + number_text_join(digits);
            text += 8;
            continue;
        }
        unsigned count = (unsigned)__builtin_ctzll(others) / 8;
        if (count == 0)
            return text;
        *number = *number * powers[count] + number_text_join(digits << (64 - 8 * count));
        return text + count;
    }
}

/* An int of so many digits at most; false, and nothing is changed, if it is another one or none. */
static inline bool number_text_short_int(const char **text, int64_t *value)
{
    const char *first = *text;
    uint64_t magnitude = 0;
    bool is_negative = number_text_sign(&first);
    const char *end = number_text_digits(first, &magnitude);
    if (end == first || end - first >= NUMBER_TEXT_DIGITS)
        return false;
    *value = (int64_t)(is_negative ? 0 - magnitude : magnitude);
    *text = end;
    return true;
}

/* A float with a point that ends within eight bytes, without a sign: its digits are put together around the point. *behind is how many follow that. Null if it is not
 * so. */
static inline const char *number_text_point(const char *text, uint64_t *number, unsigned *behind)
{
    enum { POINT = '.' ^ '0' };
    uint64_t digits = number_text_load(text) ^ 0x3030303030303030, others = number_text_others(digits);
    if (others == 0)
        return NULL;
    unsigned point = (unsigned)__builtin_ctzll(others) & ~7u; /* in bits, as all of these */
    uint64_t before = digits & ((UINT64_C(1) << point) - 1), rest = digits >> point;
    others = number_text_others(rest >> 8 | UINT64_C(0xff) << 56);
    unsigned count = (unsigned)__builtin_ctzll(others) & ~7u, all = point + count;
    if ((rest & 0xff) != POINT || all == 0 || all > 48)
        return NULL;
    *number = number_text_join((before | rest >> 8 << point) << (64 - all));
    *behind = count / 8;
    return text + all / 8 + 1;
}

/* A float that is one division of an integer by a power of ten, both exact: the same. */
static inline bool number_text_short_double(const char **text, double *value)
{
    const char *first = *text;
    uint64_t digits = 0;
    unsigned places;
    const char *short_end = number_text_point(first, &digits, &places);
    if (short_end != NULL && (*short_end | 0x20) != 'e') {
        *value = (double)digits / number_text_powers[places];
        *text = short_end;
        return true;
    }
    digits = 0;
    bool is_negative = number_text_sign(&first);
    const char *end = number_text_digits(first, &digits), *point = end;
    if (*end == '.')
        end = number_text_digits(end + 1, &digits);
    int64_t length = end - first, behind = end - point - (end > point);
    if (length - (end > point) <= 0 || length > NUMBER_TEXT_DIGITS || digits > UINT64_C(1) << 53 || (*end | 0x20) == 'e')
        return false;
    double result = (double)digits / number_text_powers[behind];
    *value = is_negative ? -result : result;
    *text = end;
    return true;
}

/* ---- everything ---- */
NumberStatus number_text_int(const char **text, int64_t *value);
NumberStatus number_text_double(const char **text, double *value);

#endif
