/* Values from text: Runnel's notation and NESL's, told apart by what stands there, under the guidance of the type.
 *
 * Recursion follows the type, never the text, so its depth is bounded. The first error ends the reading; whatever was
 * made by then is released. A text that several notations could mean reads as Runnel's printer would have written it:
 * in a tuple `(` opens the next component, and the rest of the tuple only where the next component is no tuple. Parentheses
 * around a value mean nothing, as in programs; those of a tuple have a comma in them. */
#include "io/value_reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef ValueReader Reader;

enum { NO_BYTE = -1, FOUND_BYTES_MAX = 24 };

/* ---- bytes ---- */

/* Whether the text goes up to a place in the window, which is made longer if need be. */
static bool is_there(Reader *reader, size_t place)
{
    while (place >= reader->length)
        if (reader->more == NULL || !reader->more(reader->context))
            return false;
    return true;
}

static inline int byte_at(Reader *reader, size_t offset)
{
    size_t place = reader->at + offset;
    return place < reader->length || is_there(reader, place) ? (unsigned char)reader->text[place] : NO_BYTE;
}

static int peek(Reader *reader)
{
    return byte_at(reader, 0);
}

static bool is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int digit_value(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

static bool is_digit(int c)
{
    return digit_value(c) < 10;
}

static int fold(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static bool is_word_byte(int c)
{
    return is_digit(c) || c == '_' || c >= 0x80 || (fold(c) >= 'a' && fold(c) <= 'z');
}

/* The next byte that is not white space. */
static int skip_space(Reader *reader)
{
    while (is_space(peek(reader)))
        reader->at++;
    return peek(reader);
}

static bool take(Reader *reader, int c)
{
    if (skip_space(reader) != c)
        return false;
    reader->at++;
    return true;
}

/* ---- errors ---- */

static size_t found_length(Reader *reader, size_t start)
{
    size_t end = start;
    while (is_there(reader, end) && end - start < FOUND_BYTES_MAX) {
        int c = (unsigned char)reader->text[end];
        if (!is_word_byte(c) && c != '.' && !((c == '-' || c == '+') && end == start))
            break;
        end++;
    }
    if (end == start)
        return 1;
    while (end < reader->length && end > start + 1 && ((unsigned char)reader->text[end] & 0xc0) == 0x80)
        end--; /* not in the middle of a character of several bytes */
    return end - start;
}

/* Says what stands at `start` instead of `expected`. */
static bool fail_at(Reader *reader, size_t start, const char *expected)
{
    if (reader->what == NULL)
        return false;
    uint64_t place = reader->base + start;
    if (!is_there(reader, start)) {
        snprintf(reader->problem, sizeof reader->problem, "%s: expected %s at byte %" PRIu64 ", found the end",
                 reader->what, expected, place);
        return false;
    }
    char found[FOUND_BYTES_MAX + 1];
    size_t length = found_length(reader, start);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)reader->text[start + i];
        found[i] = c < ' ' || c == 0x7f ? '?' : (char)c;
    }
    found[length] = '\0';
    snprintf(reader->problem, sizeof reader->problem, "%s: expected %s at byte %" PRIu64 ", found \"%s\"", reader->what,
             expected, place, found);
    return false;
}

static bool fail_here(Reader *reader, const char *expected)
{
    skip_space(reader);
    return fail_at(reader, reader->at, expected);
}

static bool fail_scalar(Reader *reader, size_t start, ScalarType type)
{
    char expected[32];
    const char *name = scalar_name(type);
    bool is_vowel = name[0] == 'i' || strcmp(name, "f32") == 0; /* an int, an f32 */
    snprintf(expected, sizeof expected, "%s %s", is_vowel ? "an" : "a", name);
    return fail_at(reader, start, expected);
}

/* A number that is well written but too large for its type. */
static bool fail_range(Reader *reader, size_t start, ScalarType type)
{
    if (reader->what == NULL)
        return false;
    size_t length = reader->at - start;
    bool is_cut = length > 60;
    snprintf(reader->problem, sizeof reader->problem, "%s: %.*s%s does not fit %s", reader->what,
             is_cut ? 60 : (int)length, reader->text + start, is_cut ? "..." : "", scalar_name(type));
    return false;
}

/* ---- integers ---- */

/* Digits of a base with `_` between them; false if there are none. *overflows is set when 64 bits do not hold them. */
static bool read_digits(Reader *reader, unsigned base, uint64_t *value, bool *overflows)
{
    if (digit_value(peek(reader)) >= (int)base)
        return false;
    *value = 0;
    for (;;) {
        int digit = digit_value(peek(reader));
        bool is_between = peek(reader) == '_' && digit_value(byte_at(reader, 1)) < (int)base;
        if (digit >= (int)base && !is_between)
            return true;
        reader->at++;
        if (is_between)
            continue;
        if (*value >= UINT64_MAX / 16 && *value > (UINT64_MAX - (uint64_t)digit) / base) /* a division only where it matters */
            *overflows = true;
        *value = *value * base + (uint64_t)digit;
    }
}

static unsigned read_base(Reader *reader)
{
    int marker = peek(reader) == '0' ? fold(byte_at(reader, 1)) : NO_BYTE;
    if (marker != 'x' && marker != 'b')
        return 10;
    reader->at += 2;
    return marker == 'x' ? 16 : 2;
}

static bool read_sign(Reader *reader)
{
    bool is_negative = peek(reader) == '-';
    if (is_negative || peek(reader) == '+')
        reader->at++;
    return is_negative;
}

static bool fits(ScalarType type, uint64_t magnitude, bool is_negative)
{
    bool is_signed = scalar_kind(type) == KIND_SIGNED;
    if (is_negative && !is_signed)
        return magnitude == 0;
    uint32_t bits = scalar_bits(type) - is_signed;
    uint64_t limit = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    return magnitude <= limit + is_negative; /* two's complement has one more negative number; no wrap: signed here */
}

static bool read_integer(Reader *reader, ScalarType type, Scalar *result)
{
    skip_space(reader);
    size_t start = reader->at;
    uint64_t magnitude;
    bool overflows = false;
    bool is_negative = read_sign(reader);
    unsigned base = read_base(reader);
    bool is_number = read_digits(reader, base, &magnitude, &overflows);
    if (!is_number || is_word_byte(peek(reader)) || peek(reader) == '.')
        return fail_scalar(reader, start, type);
    if (overflows || !fits(type, magnitude, is_negative))
        return fail_range(reader, start, type);
    result->bits = is_negative ? 0 - magnitude : magnitude;
    return true;
}

/* ---- floats ---- */

/* A number as strtod takes it in any locale: digits without a point, and the exponent that puts it back. */
typedef struct FloatText {
    size_t digits_start, digits_end; /* in the reader's text; may contain a point and `_` */
    int64_t exponent;
} FloatText;

enum { EXPONENT_LIMIT = 100000000, FLOAT_BYTES_MAX = 128 };

static bool read_exponent(Reader *reader, int64_t *exponent)
{
    if (fold(peek(reader)) != 'e')
        return true;
    reader->at++;
    bool is_negative = read_sign(reader);
    if (!is_digit(peek(reader)))
        return false;
    int64_t value = 0;
    for (; is_digit(peek(reader)); reader->at++)
        if (value < EXPONENT_LIMIT)
            value = value * 10 + digit_value(peek(reader));
    *exponent += is_negative ? -value : value;
    return true;
}

static bool scan_float(Reader *reader, FloatText *number)
{
    bool has_digits = false;
    bool has_point = false;
    *number = (FloatText){.digits_start = reader->at};
    for (;; reader->at++) {
        int c = peek(reader);
        bool is_point = c == '.' && !has_point;
        if (!is_digit(c) && !is_point && !(c == '_' && is_digit(byte_at(reader, 1))))
            break;
        has_point |= is_point;
        has_digits |= is_digit(c);
        number->exponent -= has_point && is_digit(c);
    }
    number->digits_end = reader->at;
    return has_digits && read_exponent(reader, &number->exponent);
}

static Scalar convert_float(const char *text, ScalarType type)
{
    Scalar result = {.bits = 0}; /* all 64 bits are defined, also for f32 */
    if (type == SCALAR_F32)
        result.f32 = strtof(text, NULL);
    else
        result.f64 = strtod(text, NULL);
    return result;
}

static Scalar float_value(const Reader *reader, const FloatText *number, ScalarType type)
{
    char buffer[FLOAT_BYTES_MAX];
    size_t length = number->digits_end - number->digits_start;
    size_t size = length + 32; /* and the exponent */
    char *text = size <= sizeof buffer ? buffer : memory_alloc(reader->memory, size);
    size_t used = 0;
    for (size_t i = number->digits_start; i < number->digits_end; i++)
        if (is_digit((unsigned char)reader->text[i]))
            text[used++] = reader->text[i];
    snprintf(text + used, size - used, "e%lld", (long long)number->exponent);
    Scalar result = convert_float(text, type);
    if (text != buffer)
        memory_free(reader->memory, text, size);
    return result;
}

static bool take_word(Reader *reader, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i < length; i++)
        if (byte_at(reader, i) != word[i])
            return false;
    if (is_word_byte(byte_at(reader, length)))
        return false;
    reader->at += length;
    return true;
}

static Scalar float_scalar(ScalarType type, double value)
{
    Scalar result = {.bits = 0};
    if (type == SCALAR_F32)
        result.f32 = (float)value;
    else
        result.f64 = value;
    return result;
}

static double float_of(ScalarType type, Scalar value)
{
    return type == SCALAR_F32 ? (double)value.f32 : value.f64;
}

static bool read_float(Reader *reader, ScalarType type, Scalar *result)
{
    skip_space(reader);
    size_t start = reader->at;
    bool is_negative = read_sign(reader);
    FloatText number;
    if (take_word(reader, "nan")) {
        *result = float_scalar(type, (double)NAN); /* all nans are one value: the sign is lost */
        return true;
    }
    if (take_word(reader, "inf")) {
        *result = float_scalar(type, is_negative ? -(double)INFINITY : (double)INFINITY);
        return true;
    }
    if (!scan_float(reader, &number) || is_word_byte(peek(reader)) || peek(reader) == '.')
        return fail_scalar(reader, start, type);
    Scalar magnitude = float_value(reader, &number, type);
    if (isinf(float_of(type, magnitude)))
        return fail_range(reader, start, type);
    *result = is_negative ? float_scalar(type, -float_of(type, magnitude)) : magnitude;
    return true;
}

/* ---- bools and chars ---- */

static bool read_truth(Reader *reader, Scalar *result)
{
    static const char *const words[2][3] = {{"false", "F", "f"}, {"true", "T", "t"}};
    skip_space(reader);
    for (uint32_t value = 0; value < 2; value++)
        for (uint32_t i = 0; i < 3; i++)
            if (take_word(reader, words[value][i])) {
                result->bits = value;
                return true;
            }
    return fail_scalar(reader, reader->at, SCALAR_BOOL);
}

/* At most `limit` digits of an escape. */
static bool read_code(Reader *reader, int base, int limit, unsigned char *c)
{
    int code = 0;
    int count = 0;
    for (; count < limit && digit_value(peek(reader)) < base; count++, reader->at++)
        code = code * base + digit_value(peek(reader));
    *c = (unsigned char)code;
    return count > 0 && code < 256;
}

/* What follows a backslash: C's escapes. */
static bool read_escape(Reader *reader, unsigned char *c)
{
    static const char letters[] = "ntrabfv\\'\"?";
    static const char meanings[] = "\n\t\r\a\b\f\v\\'\"?";
    size_t start = reader->at - 1;
    int letter = peek(reader);
    const char *known = letter > 0 ? strchr(letters, letter) : NULL;
    if (known != NULL) {
        reader->at++;
        *c = (unsigned char)meanings[known - letters];
        return true;
    }
    bool is_hex = letter == 'x';
    reader->at += is_hex;
    if (read_code(reader, is_hex ? 16 : 8, is_hex ? 2 : 3, c))
        return true;
    return fail_at(reader, start, "an escape such as \\n or \\x41");
}

/* One byte inside quotes. */
static bool read_quoted_byte(Reader *reader, unsigned char *c)
{
    int byte = peek(reader);
    reader->at++;
    if (byte == '\\')
        return read_escape(reader, c);
    *c = (unsigned char)byte;
    return true;
}

static bool read_char(Reader *reader, Scalar *result)
{
    int open = skip_space(reader);
    size_t start = reader->at;
    unsigned char c = 0;
    if ((open != '\'' && open != '`') || byte_at(reader, 1) == NO_BYTE)
        return fail_scalar(reader, start, SCALAR_CHAR);
    reader->at++;
    if (open == '`') {
        c = (unsigned char)peek(reader);
        reader->at++;
    } else {
        if (peek(reader) == '\'')
            return fail_scalar(reader, start, SCALAR_CHAR);
        if (!read_quoted_byte(reader, &c))
            return false;
        if (peek(reader) != '\'')
            return fail_at(reader, reader->at, "' after one byte");
        reader->at++;
    }
    result->bits = c;
    return true;
}

static bool read_scalar(Reader *reader, ScalarType type, Scalar *result)
{
    switch (scalar_kind(type)) {
    case KIND_TRUTH:
        return read_truth(reader, result);
    case KIND_CHARACTER:
        return read_char(reader, result);
    case KIND_SIGNED:
    case KIND_UNSIGNED:
        return read_integer(reader, type, result);
    case KIND_FLOATING:
        return read_float(reader, type, result);
    }
    return false;
}

/* ---- containers ---- */

static void release(Reader *reader, TypeId type, Value value)
{
    value_release(reader->heap, reader->types, type, value);
}

static void release_object(Reader *reader, TypeId type, Object *object)
{
    release(reader, type, (Value){.object = object});
}

typedef struct Range {
    uint64_t first, end, step;
} Range;

static bool is_below(ScalarType type, uint64_t a, uint64_t b)
{
    return scalar_kind(type) == KIND_SIGNED ? (int64_t)a < (int64_t)b : a < b;
}

/* How many numbers from first by step lie before end; differences are taken modulo 2^64, where they are exact. */
static uint64_t range_count(ScalarType type, Range range)
{
    bool is_down = scalar_kind(type) == KIND_SIGNED && (int64_t)range.step < 0;
    if (is_down)
        return is_below(type, range.end, range.first) ? (range.first - range.end - 1) / (0 - range.step) + 1 : 0;
    return is_below(type, range.first, range.end) ? (range.end - range.first - 1) / range.step + 1 : 0;
}

/* Parentheses that open around a value, so many. */
static size_t open_parens(Reader *reader)
{
    size_t count = 0;
    while (take(reader, '('))
        count++;
    return count;
}

/* ... and close behind it. */
static bool close_parens(Reader *reader, size_t count)
{
    for (; count > 0; count--)
        if (!take(reader, ')'))
            return fail_here(reader, ")");
    return true;
}

static bool read_scalar_in_parens(Reader *reader, ScalarType type, Scalar *result)
{
    size_t parens = open_parens(reader);
    return read_scalar(reader, type, result) && close_parens(reader, parens);
}

static bool close_elements(Reader *reader, const ElementsReader *elements)
{
    return take(reader, elements->close) || fail_here(reader, elements->close == '}' ? ", or }" : ", or ]");
}

/* The empty container again, with room for a whole range: there may be too little memory for it, which is best noticed at once. */
static Object *room_for_range(Reader *reader, const ElementsReader *elements, TypeId type, Object *container)
{
    if (elements->left >= SIZE_MAX)
        memory_fail(reader->memory);
    release_object(reader, type, container);
    return value_container(reader->heap, reader->types, type, (size_t)elements->left + 1);
}

/* The rest of `[first : end]` or `[first : end : step]`, the first colon being next, with the bracket. */
static bool read_range(Reader *reader, ElementsReader *elements, uint64_t first)
{
    ScalarType type = type_scalar(reader->types, elements->element);
    Scalar end = {.bits = 0}, step = {.bits = 1};
    reader->at++;
    if (!read_scalar_in_parens(reader, type, &end))
        return false;
    if (take(reader, ':')) {
        skip_space(reader);
        size_t start = reader->at;
        if (!read_scalar_in_parens(reader, type, &step))
            return false;
        if (step.bits == 0)
            return fail_at(reader, start, "a step other than 0");
    }
    elements->phase = ELEMENTS_RANGE;
    elements->next = first;
    elements->step = step.bits;
    elements->left = range_count(type, (Range){first, end.bits, step.bits});
    return close_elements(reader, elements);
}

static bool is_integer_type(const Reader *reader, TypeId type)
{
    return type_is_scalar(reader->types, type) && scalar_is_integer(type_scalar(reader->types, type));
}

bool elements_open(Reader *reader, ElementsReader *elements, TypeId type)
{
    bool is_sequence = type_is_sequence(reader->types, type);
    bool is_text = type_element(reader->types, type) == TYPE_CHAR;
    size_t parens = open_parens(reader);
    int open = skip_space(reader);
    if (!(is_text && open == '"') && open != '[' && !(is_sequence && open == '{'))
        return fail_here(reader, is_text ? "a text in quotes" : is_sequence ? "{ or [" : "[");
    reader->at++;
    *elements = (ElementsReader){.element = type_element(reader->types, type),
                                 .phase = open == '"' ? ELEMENTS_TEXT : ELEMENTS_FIRST,
                                 .close = open == '"' ? '"' : open == '{' ? '}' : ']',
                                 .parens = parens};
    return true;
}

static ElementStatus next_char(Reader *reader, ElementsReader *elements, Value *value)
{
    if (peek(reader) == elements->close) {
        reader->at++;
        elements->phase = ELEMENTS_DONE;
        return ELEMENT_NONE;
    }
    unsigned char c = 0;
    bool is_byte = peek(reader) == NO_BYTE ? fail_at(reader, reader->at, "\"") : read_quoted_byte(reader, &c);
    value->scalar = (Scalar){.bits = c};
    return is_byte ? ELEMENT_READ : ELEMENT_FAILED;
}

static ElementStatus next_of_range(ElementsReader *elements, Value *value)
{
    if (elements->left == 0) {
        elements->phase = ELEMENTS_DONE;
        return ELEMENT_NONE;
    }
    value->scalar.bits = elements->next;
    elements->next += elements->step;
    elements->left--;
    return ELEMENT_READ;
}

static ElementStatus first_element(Reader *reader, ElementsReader *elements, Value *value)
{
    if (skip_space(reader) == elements->close) {
        reader->at++;
        elements->phase = ELEMENTS_DONE;
        return ELEMENT_NONE;
    }
    elements->phase = ELEMENTS_NEXT;
    if (!reader_value(reader, elements->element, value))
        return ELEMENT_FAILED;
    if (!is_integer_type(reader, elements->element) || skip_space(reader) != ':')
        return ELEMENT_READ;
    return read_range(reader, elements, value->scalar.bits) ? next_of_range(elements, value) : ELEMENT_FAILED;
}

static ElementStatus next_element(Reader *reader, ElementsReader *elements, Value *value)
{
    if (take(reader, ','))
        return reader_value(reader, elements->element, value) ? ELEMENT_READ : ELEMENT_FAILED;
    elements->phase = ELEMENTS_DONE;
    return close_elements(reader, elements) ? ELEMENT_NONE : ELEMENT_FAILED;
}

static ElementStatus read_next(Reader *reader, ElementsReader *elements, Value *value)
{
    switch (elements->phase) {
    case ELEMENTS_FIRST: return first_element(reader, elements, value);
    case ELEMENTS_NEXT: return next_element(reader, elements, value);
    case ELEMENTS_TEXT: return next_char(reader, elements, value);
    case ELEMENTS_RANGE: return next_of_range(elements, value);
    case ELEMENTS_DONE: break;
    }
    return ELEMENT_NONE;
}

ElementStatus elements_next(Reader *reader, ElementsReader *elements, Value *value)
{
    *value = (Value){.scalar = {.bits = 0}};
    ElementStatus status = read_next(reader, elements, value);
    if (status != ELEMENT_NONE || elements->parens == 0)
        return status;
    size_t parens = elements->parens;
    elements->parens = 0;
    return close_parens(reader, parens) ? ELEMENT_NONE : ELEMENT_FAILED;
}

static bool read_container(Reader *reader, TypeId type, Value *value)
{
    ElementsReader elements;
    if (!elements_open(reader, &elements, type))
        return false;
    Object *container = value_container(reader->heap, reader->types, type, 0);
    for (;;) {
        Value element;
        ElementStatus status = elements_next(reader, &elements, &element);
        if (status == ELEMENT_FAILED) {
            release_object(reader, type, container);
            return false;
        }
        if (status == ELEMENT_NONE)
            break;
        if (elements.phase == ELEMENTS_RANGE && container->count == 0)
            container = room_for_range(reader, &elements, type, container);
        container = value_append(reader->heap, container, element);
    }
    *value = (Value){.object = container};
    return true;
}

/* ---- tuples and datatypes ---- */

static bool read_components(Reader *reader, TypeId type, Value *value);

/* The place behind what is in quotes there, or behind one byte. */
static size_t skip_quoted(Reader *reader, size_t place)
{
    int quote = reader->text[place++];
    if (quote == '`')
        return place + 1;
    if (quote != '"' && quote != '\'')
        return place;
    for (; is_there(reader, place) && reader->text[place] != quote; place++)
        place += reader->text[place] == '\\';
    return place + 1;
}

/* Of the parentheses that open here, one inside the other, the outermost that has a comma, as those of a tuple do: 1 is the first, 0 none. It mostly takes a look
 * at one component to know. */
static size_t find_tuple_paren(Reader *reader)
{
    size_t opened = 0, found = 0, place = reader->at;
    for (; is_there(reader, place) && (reader->text[place] == '(' || is_space(reader->text[place])); place++)
        opened += reader->text[place] == '(';
    for (size_t depth = opened; depth > 0 && found != 1 && is_there(reader, place); place = skip_quoted(reader, place)) {
        int c = reader->text[place];
        if (c == '(' || c == '[' || c == '{')
            depth++;
        else if (c == ')' || c == ']' || c == '}')
            depth--;
        else if (c == ',' && depth <= opened && (found == 0 || depth < found))
            found = depth;
    }
    return found;
}

/* The rest of a tuple: usually its components go on, but `(1, (2, 3))` is the same as `(1, 2, 3)`. */
static bool read_rest(Reader *reader, TypeId type, Value *value)
{
    bool is_pair = type_kind(reader->types, type) == TYPE_PAIR;
    bool may_be_first = is_pair && type_kind(reader->types, type_first(reader->types, type)) == TYPE_PAIR;
    bool is_nested = is_pair && !may_be_first && skip_space(reader) == '(' && find_tuple_paren(reader) > 0;
    return is_pair && !is_nested ? read_components(reader, type, value) : reader_value(reader, type, value);
}

/* The components of a pair type, without parentheses. */
static bool read_components(Reader *reader, TypeId type, Value *value)
{
    TypeId first_type = type_first(reader->types, type);
    Value first, rest;
    if (!reader_value(reader, first_type, &first))
        return false;
    bool is_read = take(reader, ',') ? read_rest(reader, type_rest(reader->types, type), &rest)
                                     : fail_here(reader, ", and another component");
    if (is_read)
        *value = value_pair(reader->heap, reader->types, type, first, rest);
    else
        release(reader, first_type, first);
    return is_read;
}

/* The parentheses after a value, which is released if they are not there. */
static bool close_value(Reader *reader, TypeId type, Value value, size_t parens)
{
    if (close_parens(reader, parens))
        return true;
    release(reader, type, value);
    return false;
}

/* How many parentheses open the tuple that begins here, its own included. */
static size_t count_tuple_parens(Reader *reader)
{
    size_t parens = skip_space(reader) == '(' ? find_tuple_paren(reader) : 0;
    return parens == 0 ? 1 : parens; /* without a comma something is missing, which is told when it is wanted */
}

static bool read_tuple(Reader *reader, TypeId type, Value *value)
{
    size_t parens = count_tuple_parens(reader);
    for (size_t i = 0; i < parens; i++)
        if (!take(reader, '('))
            return fail_here(reader, "(");
    return read_components(reader, type, value) && close_value(reader, type, *value, parens);
}

static bool read_unit(Reader *reader, Value *value)
{
    size_t parens = open_parens(reader);
    value->scalar = (Scalar){.bits = 0};
    return parens == 0 ? fail_here(reader, "(") : close_parens(reader, parens);
}

/* Either case, as NESL has it: there is only one constructor it could be. */
static bool take_constructor(Reader *reader, const char *name)
{
    size_t length = strlen(name);
    skip_space(reader);
    for (size_t i = 0; i < length; i++)
        if (fold(byte_at(reader, i)) != fold((unsigned char)name[i]))
            return false;
    if (is_word_byte(byte_at(reader, length)))
        return false;
    reader->at += length;
    return true;
}

static bool read_data(Reader *reader, TypeId type, Value *value)
{
    Types *types = reader->types;
    Name name = types->datatypes.items[type_node(types, type)->a].name;
    const char *constructor = names_text(types->names, name);
    size_t parens = open_parens(reader);
    if (!take_constructor(reader, constructor))
        return fail_here(reader, constructor);
    if (!take(reader, '('))
        return fail_here(reader, "(");
    TypeId contents = type_representation(types, type);
    *value = (Value){.scalar = {.bits = 0}};
    if (type_kind(types, contents) != TYPE_UNIT && !read_rest(reader, contents, value))
        return false;
    return close_value(reader, contents, *value, parens + 1);
}

bool reader_value(Reader *reader, TypeId type, Value *value)
{
    switch (type_kind(reader->types, type)) {
    case TYPE_SCALAR:
        return read_scalar_in_parens(reader, type_scalar(reader->types, type), &value->scalar);
    case TYPE_UNIT:
        return read_unit(reader, value);
    case TYPE_PAIR:
        return read_tuple(reader, type, value);
    case TYPE_CONTAINER:
        return read_container(reader, type, value);
    case TYPE_DATA:
        return read_data(reader, type, value);
    case TYPE_CLOSURE:
        if (reader->what != NULL)
            snprintf(reader->problem, sizeof reader->problem, "%s: a function has no value that can be read", reader->what);
        return false;
    case TYPE_NONE:
    case TYPE_FUNCTION:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        break;
    }
    bug("value_read", "a type that has no values");
}

bool reader_end(Reader *reader)
{
    return skip_space(reader) == NO_BYTE || fail_here(reader, "the end");
}

/* Reads a value that is all of the text. */
static bool read_whole(Reader *reader, TypeId type, Value *value)
{
    if (!reader_value(reader, type, value))
        return false;
    if (reader_end(reader))
        return true;
    release(reader, type, *value);
    return false;
}

bool value_read(Heap *heap, Types *types, TypeId type, const char *text, size_t length, const char *what,
                Diagnostics *diagnostics, Value *value)
{
    Reader reader = {
        .memory = heap->memory, .heap = heap, .types = types, .text = text, .length = length, .what = what};
    bool is_read = read_whole(&reader, type, value);
    if (!is_read)
        diagnostics_error(diagnostics, ERROR_BAD_VALUE, (Span){0}, "%s", reader.problem);
    return is_read;
}

/* Without what only programs write: digits in groups, other bases, blanks. */
static bool is_plain_number(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        int c = (unsigned char)text[i];
        if (is_space(c) || c == '_' || fold(c) == 'x' || fold(c) == 'b')
            return false;
    }
    return true;
}

bool value_read_number(Memory *memory, ScalarType type, const char *text, size_t length, Scalar *value)
{
    Reader reader = {.memory = memory, .text = text, .length = length};
    bool is_read = is_plain_number(text, length) && (scalar_kind(type) == KIND_FLOATING
                                                         ? read_float(&reader, type, value)
                                                         : read_integer(&reader, type, value));
    is_read = is_read && reader.at == length;
    if (!is_read)
        value->bits = 0;
    return is_read;
}
