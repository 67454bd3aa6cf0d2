#include "io/number_text.h"

#include "io/powers_of_five.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const double number_text_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* ---- integers ---- */

enum { DIGITS_SAFE = NUMBER_TEXT_DIGITS, DIGITS_MOST = 20 }; /* so many always fit 64 bits; more never do */

static NumberStatus read_magnitude(const char **text, uint64_t *magnitude)
{
    const char *first = *text;
    *magnitude = 0;
    const char *end = number_text_digits(first, magnitude);
    if (end == first)
        return NUMBER_NONE;
    *text = end;
    if (end - first <= DIGITS_SAFE)
        return NUMBER_READ;
    while (*first == '0')
        first++;
    if (end - first <= DIGITS_SAFE)
        return NUMBER_READ;
    if (end - first > DIGITS_MOST || first[0] != '1')
        return NUMBER_OUT_OF_RANGE;
    return *magnitude >= UINT64_C(10000000000000000000) ? NUMBER_READ : NUMBER_OUT_OF_RANGE; /* below: it went round */
}

static NumberStatus read_signed(const char **text, uint64_t most, int64_t *value)
{
    const char *at = *text;
    uint64_t magnitude;
    bool is_negative = number_text_sign(&at);
    NumberStatus status = read_magnitude(&at, &magnitude);
    if (status != NUMBER_READ)
        return status;
    if (magnitude > most + is_negative)
        return NUMBER_OUT_OF_RANGE;
    *value = (int64_t)(is_negative ? 0 - magnitude : magnitude);
    *text = at;
    return NUMBER_READ;
}

static NumberStatus read_unsigned(const char **text, uint64_t most, uint64_t *value)
{
    const char *at = *text;
    uint64_t magnitude;
    bool is_negative = number_text_sign(&at);
    NumberStatus status = read_magnitude(&at, &magnitude);
    if (status != NUMBER_READ)
        return status;
    if (magnitude > most || (is_negative && magnitude > 0))
        return NUMBER_OUT_OF_RANGE;
    *value = magnitude;
    *text = at;
    return NUMBER_READ;
}

NumberStatus number_text_int(const char **text, int64_t *value)
{
    return read_signed(text, INT64_MAX, value);
}

/* ---- floats: what there is of one ---- */

typedef struct Decimal {
    const char *first, *end; /* digits and perhaps a point */
    uint64_t digits;         /* the first of them, */
    bool is_cut;             /* ... but not all */
    int64_t exponent;        /* of ten, with those digits */
    bool is_negative;
} Decimal;

enum { EXPONENT_LIMIT = 1000000 }; /* beyond is zero or infinite, however many digits there are */

static const char *read_exponent(const char *text, int64_t *exponent)
{
    if (*text != 'e' && *text != 'E')
        return text;
    const char *at = text + 1;
    bool is_negative = number_text_sign(&at);
    if (!number_text_is_digit(*at))
        return text;
    int64_t value = 0;
    for (; number_text_is_digit(*at); at++)
        if (value < EXPONENT_LIMIT)
            value = value * 10 + (*at - '0');
    *exponent += is_negative ? -value : value;
    return at;
}

/* The first 19 digits that count, of more. */
static void read_first_digits(Decimal *decimal)
{
    const char *at = decimal->first;
    int64_t before = 0, behind = 0; /* digits before the point that are not taken; digits taken behind it */
    int count = 0;
    bool is_behind = false;
    decimal->digits = 0;
    for (; at < decimal->end; at++) {
        if (*at == '.') {
            is_behind = true;
            continue;
        }
        if (count == DIGITS_SAFE) {
            decimal->is_cut |= *at != '0';
            before += !is_behind;
            continue;
        }
        decimal->digits = decimal->digits * 10 + (uint64_t)(*at - '0');
        count += decimal->digits != 0;
        behind += is_behind;
    }
    decimal->exponent += before - behind;
}

static const char *read_decimal(const char *text, Decimal *decimal)
{
    decimal->is_negative = number_text_sign(&text);
    decimal->is_cut = false;
    decimal->digits = 0;
    decimal->first = text;
    const char *end = number_text_digits(text, &decimal->digits);
    int64_t count = end - text, behind = 0;
    if (*end == '.') {
        const char *point = end;
        end = number_text_digits(point + 1, &decimal->digits);
        behind = end - point - 1;
        count += behind;
    }
    if (count == 0)
        return NULL;
    decimal->end = end;
    decimal->exponent = 0;
    end = read_exponent(end, &decimal->exponent);
    if (count <= DIGITS_SAFE)
        decimal->exponent -= behind;
    else
        read_first_digits(decimal);
    return end;
}

/* ---- floats: the nearest one ---- */

typedef struct FloatFormat {
    int fraction_bits;
    int bias;
    int least_tie, most_tie; /* powers of ten for which a number can lie in the middle between two floats */
    int exact_power;         /* powers of ten up to it are floats */
    uint64_t exact_digits;   /* integers up to it are floats */
} FloatFormat;

static const FloatFormat format_f64 = {52, 1023, -4, 23, 22, UINT64_C(1) << 53};
static const FloatFormat format_f32 = {23, 127, -17, 10, 10, UINT64_C(1) << 24};

/* The bits of the nearest float to digits * 10^exponent, by one product of 128 bits or two. False in the rare cases that are not decided by that, and for
 * subnormal numbers. */
static bool nearest_bits(const FloatFormat *format, uint64_t digits, int64_t exponent, uint64_t *bits)
{
    int infinite = 2 * format->bias + 1;
    if (digits == 0 || exponent < POWER_OF_FIVE_LEAST) {
        *bits = 0;
        return true;
    }
    if (exponent > POWER_OF_FIVE_MOST) {
        *bits = (uint64_t)infinite << format->fraction_bits;
        return true;
    }
    const uint64_t *power = powers_of_five[exponent - POWER_OF_FIVE_LEAST];
    int zeros = __builtin_clzll(digits);
    digits <<= zeros;
    unsigned __int128 product = (unsigned __int128)digits * power[0];
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    uint64_t mask = UINT64_MAX >> (format->fraction_bits + 3);
    if ((high & mask) == mask) {
        uint64_t more = (uint64_t)((unsigned __int128)digits * power[1] >> 64);
        low += more;
        high += low < more;
    }
    if (low == UINT64_MAX && (exponent < -27 || exponent > 55))
        return false;
    int upper = (int)(high >> 63), shift = upper + 64 - format->fraction_bits - 3;
    uint64_t fraction = high >> shift;
    int64_t place = ((217706 * exponent) >> 16) + 63 + upper - zeros + format->bias;
    if (place <= 0)
        return false;
    if (low <= 1 && exponent >= format->least_tie && exponent <= format->most_tie && (fraction & 3) == 1 &&
        fraction << shift == high)
        fraction &= ~UINT64_C(1);
    fraction = (fraction + (fraction & 1)) >> 1;
    if (fraction >> (format->fraction_bits + 1) != 0) {
        fraction >>= 1;
        place++;
    }
    fraction &= ~(UINT64_C(1) << format->fraction_bits);
    *bits = place >= infinite ? (uint64_t)infinite << format->fraction_bits : (uint64_t)place << format->fraction_bits | fraction;
    return true;
}

/* The text of a decimal for the C library: digits without a point, which is another one elsewhere. More than so many digits can only matter by not being
 * zero. */
enum { EXACT_DIGITS_MAX = 800 };

static void exact_text(const Decimal *decimal, char text[EXACT_DIGITS_MAX + 32])
{
    size_t length = 0;
    int64_t exponent = 0;
    bool is_behind = false, is_cut = false;
    for (const char *at = decimal->first; at < decimal->end; at++) {
        if (*at == '.') {
            is_behind = true;
        } else if (length < EXACT_DIGITS_MAX) {
            if (length > 0 || *at != '0')
                text[length++] = *at;
            exponent -= is_behind;
        } else {
            is_cut |= *at != '0';
            exponent += !is_behind;
        }
    }
    if (length == 0)
        text[length++] = '0';
    if (is_cut) {
        text[length++] = '1';
        exponent--;
    }
    int64_t said = 0;
    read_exponent(decimal->end, &said);
    exponent += said;
    exponent = exponent > EXPONENT_LIMIT ? EXPONENT_LIMIT : exponent < -EXPONENT_LIMIT ? -EXPONENT_LIMIT : exponent;
    text[length++] = 'e';
    if (exponent < 0)
        text[length++] = '-';
    char reversed[8];
    size_t count = 0;
    for (uint64_t rest = (uint64_t)(exponent < 0 ? -exponent : exponent); rest > 0 || count == 0; rest /= 10)
        reversed[count++] = (char)('0' + rest % 10);
    while (count > 0)
        text[length++] = reversed[--count];
    text[length] = '\0';
}

static bool decided_bits(const FloatFormat *format, const Decimal *decimal, uint64_t *bits)
{
    uint64_t above;
    if (!nearest_bits(format, decimal->digits, decimal->exponent, bits))
        return false;
    return !decimal->is_cut || (nearest_bits(format, decimal->digits + 1, decimal->exponent, &above) && above == *bits);
}

static double slow_double(const Decimal *decimal)
{
    char text[EXACT_DIGITS_MAX + 32];
    uint64_t bits;
    double value;
    if (decided_bits(&format_f64, decimal, &bits)) {
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    exact_text(decimal, text);
    return strtod(text, NULL);
}

static float slow_float(const Decimal *decimal)
{
    char text[EXACT_DIGITS_MAX + 32];
    uint64_t bits;
    if (decided_bits(&format_f32, decimal, &bits)) {
        uint32_t word = (uint32_t)bits;
        float value;
        memcpy(&value, &word, sizeof value);
        return value;
    }
    exact_text(decimal, text);
    return strtof(text, NULL);
}

static bool is_small(const FloatFormat *format, const Decimal *decimal)
{
    return decimal->digits <= format->exact_digits && !decimal->is_cut && decimal->exponent >= -format->exact_power &&
           decimal->exponent <= format->exact_power;
}

/* Both the digits and the power are floats: one operation rounds once. */
static double decimal_double(const Decimal *decimal)
{
    if (!is_small(&format_f64, decimal))
        return slow_double(decimal);
    double digits = (double)decimal->digits;
    return decimal->exponent < 0 ? digits / number_text_powers[-decimal->exponent] : digits * number_text_powers[decimal->exponent];
}

static float decimal_float(const Decimal *decimal)
{
    if (!is_small(&format_f32, decimal))
        return slow_float(decimal);
    float digits = (float)decimal->digits;
    return decimal->exponent < 0 ? digits / (float)number_text_powers[-decimal->exponent]
                                 : digits * (float)number_text_powers[decimal->exponent];
}

/* ---- floats that are words ---- */

static size_t word_length(const char *text, const char *word)
{
    size_t length = 0;
    while (word[length] != '\0' && (text[length] | 0x20) == word[length])
        length++;
    return word[length] == '\0' ? length : 0;
}

static const char *read_word(const char *text, double *value)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"infinity", (double)INFINITY}, {"inf", (double)INFINITY}, {"nan", (double)NAN}};
    bool is_negative = number_text_sign(&text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = word_length(text, words[i].word);
        if (length == 0)
            continue;
        *value = is_negative ? -words[i].value : words[i].value;
        return text + length;
    }
    return NULL;
}

static NumberStatus read_word_to(const char **text, double *value)
{
    const char *end = read_word(*text, value);
    if (end == NULL)
        return NUMBER_NONE;
    *text = end;
    return NUMBER_READ;
}

NumberStatus number_text_double(const char **text, double *value)
{
    Decimal decimal;
    const char *end = read_decimal(*text, &decimal);
    if (end == NULL)
        return read_word_to(text, value);
    double result = decimal_double(&decimal);
    if (isinf(result))
        return NUMBER_OUT_OF_RANGE;
    *value = decimal.is_negative ? -result : result;
    *text = end;
    return NUMBER_READ;
}

static NumberStatus read_float(const char **text, float *value)
{
    Decimal decimal;
    double word;
    const char *end = read_decimal(*text, &decimal);
    if (end == NULL) {
        NumberStatus status = read_word_to(text, &word);
        if (status == NUMBER_READ)
            *value = (float)word;
        return status;
    }
    float result = decimal_float(&decimal);
    if (isinf(result))
        return NUMBER_OUT_OF_RANGE;
    *value = decimal.is_negative ? -result : result;
    *text = end;
    return NUMBER_READ;
}

/* ---- any type ---- */

NumberStatus number_text_read(const char **text, ScalarType type, void *cell)
{
    Scalar value = {0};
    NumberStatus status = NUMBER_NONE;
    switch (scalar_kind(type)) {
    case KIND_TRUTH:
    case KIND_CHARACTER: return NUMBER_NONE;
    case KIND_SIGNED:
        status = read_signed(text, (UINT64_C(1) << (scalar_bits(type) - 1)) - 1, &value.integer);
        break;
    case KIND_UNSIGNED:
        status = read_unsigned(text, UINT64_MAX >> (64 - scalar_bits(type)), &value.bits);
        break;
    case KIND_FLOATING:
        status = type == SCALAR_F64 ? number_text_double(text, &value.f64) : read_float(text, &value.f32);
        break;
    }
    if (status == NUMBER_READ)
        scalar_store(type, cell, 0, value);
    return status;
}
