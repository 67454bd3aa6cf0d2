/* Values as text.
 *
 * Floats print with the fewest digits that read back to the same bits. The digits come from the C library at full
 * precision and are shortened here; nothing depends on the locale, because only digits are taken from what printf writes
 * and strtod is only given texts without a point.
 *
 * Choices that no document fixes:
 *  - `@` of a [char] is the text itself; inside another value it is quoted, as NESL prints results;
 *  - a string cut by print_length is followed by dots, "abc"..., so that they are not taken for a part of it;
 *  - bytes that are not printable ASCII are written so that neither C's rule for \x (any number of digits) nor ours
 *    (two digits) reads the next character as a part of the escape. */
#include "io/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- digits ---- */

enum { DIGITS_MAX = 17 };

/* |x| = 0.d1d2...dn * 10^point */
typedef struct Decimal {
    char digits[DIGITS_MAX + 1];
    int count;
    int point;
} Decimal;

/* What the search for the shortest digits needs to know of a format. */
typedef struct FloatFormat {
    int sure;  /* this many decimal digits survive a round trip through the format */
    int exact; /* this many always identify a value */
    bool is_f32;
} FloatFormat;

static const FloatFormat format_f64 = {15, 17, false};
static const FloatFormat format_f32 = {6, 9, true};

static void trim_zeros(Decimal *decimal)
{
    while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0')
        decimal->count--;
}

/* The `count` digits nearest to a positive finite x. */
static void decimal_nearest(double x, int count, Decimal *decimal)
{
    char text[DIGITS_MAX + 16];
    snprintf(text, sizeof text, "%.*e", count - 1, x);
    const char *p = text;
    decimal->count = 0;
    for (; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            decimal->digits[decimal->count++] = *p;
    decimal->point = atoi(p + 1) + 1;
}

/* Adds one to the last digit. */
static void decimal_increment(Decimal *decimal)
{
    int i = decimal->count - 1;
    while (i >= 0 && decimal->digits[i] == '9')
        decimal->digits[i--] = '0';
    if (i >= 0) {
        decimal->digits[i]++;
        return;
    }
    decimal->digits[0] = '1'; /* 99.9 became 100.0: the zeros are already there */
    decimal->point++;
}

static bool reads_back(const Decimal *decimal, double x, FloatFormat format)
{
    char text[DIGITS_MAX + 16];
    int count = decimal->count;
    memcpy(text, decimal->digits, (size_t)count);
    snprintf(text + count, sizeof text - (size_t)count, "e%d", decimal->point - count);
    return format.is_f32 ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x;
}

/* The first `count` digits of a longer `full`, rounded; false when it takes more digits of x to tell up from down. */
static bool decimal_round(const Decimal *full, int count, Decimal *rounded)
{
    *rounded = *full;
    rounded->count = count;
    char next = full->digits[count];
    bool is_tie = next == '5';
    for (int i = count + 1; i < full->count && is_tie; i++)
        is_tie = full->digits[i] == '0';
    if (is_tie)
        return false;
    if (next >= '5')
        decimal_increment(rounded);
    return true;
}

static bool try_count(double x, FloatFormat format, const Decimal *full, int count, Decimal *result)
{
    if (!decimal_round(full, count, result))
        decimal_nearest(x, count, result);
    if (reads_back(result, x, format))
        return true;
    /* the values just above a power of two are further away than those just below, so that a decimal above may read
     * back where the nearest, below, does not */
    *result = *full;
    result->count = count;
    decimal_increment(result);
    int exponent;
    return frexp(x, &exponent) == 0.5 && reads_back(result, x, format);
}

static bool is_subnormal(double x, FloatFormat format)
{
    return x < (format.is_f32 ? 0x1p-126 : 0x1p-1022);
}

/* The shortest digits that read back as the positive finite x, the nearest ones among those. */
static void decimal_shortest(double x, FloatFormat format, Decimal *result)
{
    Decimal full;
    decimal_nearest(x, format.exact, &full);
    /* `sure` digits show any shorter decimal followed by zeros; subnormal numbers have fewer digits */
    int count = is_subnormal(x, format) ? 1 : format.sure;
    for (; count < format.exact; count++) {
        if (try_count(x, format, &full, count, result)) {
            trim_zeros(result);
            return;
        }
    }
    *result = full;
    trim_zeros(result);
}

/* ---- floats ---- */

static void add_fixed(const Decimal *decimal, Text *out)
{
    int count = decimal->count;
    int point = decimal->point;
    if (point <= 0) {
        text_add(out, "0.");
        text_add_repeated(out, '0', (size_t)-point);
        text_add_bytes(out, decimal->digits, (size_t)count);
    } else if (point >= count) {
        text_add_bytes(out, decimal->digits, (size_t)count);
        text_add_repeated(out, '0', (size_t)(point - count));
        text_add(out, ".0");
    } else {
        text_add_bytes(out, decimal->digits, (size_t)point);
        text_add_char(out, '.');
        text_add_bytes(out, decimal->digits + point, (size_t)(count - point));
    }
}

static void add_scientific(const Decimal *decimal, bool shows_plus, Text *out)
{
    char exponent[16];
    text_add_char(out, decimal->digits[0]);
    text_add_char(out, '.');
    if (decimal->count == 1)
        text_add_char(out, '0');
    text_add_bytes(out, decimal->digits + 1, (size_t)decimal->count - 1);
    snprintf(exponent, sizeof exponent, shows_plus ? "e%+d" : "e%d", decimal->point - 1);
    text_add(out, exponent);
}

/* Writes the sign, and all of nan, inf and 0.0. */
static bool add_special(double value, Text *out)
{
    if (isnan(value)) {
        text_add(out, "nan");
        return true;
    }
    if (signbit(value))
        text_add_char(out, '-');
    if (!isinf(value) && value != 0)
        return false;
    text_add(out, value == 0 ? "0.0" : "inf");
    return true;
}

static void add_shortest(double value, FloatFormat format, Text *out)
{
    Decimal decimal;
    if (add_special(value, out))
        return;
    decimal_shortest(fabs(value), format, &decimal);
    if (decimal.point > -5 && decimal.point <= 16)
        add_fixed(&decimal, out);
    else
        add_scientific(&decimal, false, out);
}

void value_print_f64(double value, Text *out)
{
    add_shortest(value, format_f64, out);
}

void value_print_f32(float value, Text *out)
{
    add_shortest((double)value, format_f32, out);
}

/* NESL's digits, as `@` gives them. */
static void add_nesl_float(double value, Text *out)
{
    Decimal decimal;
    if (add_special(value, out))
        return;
    double size = fabs(value);
    decimal_nearest(size, 8, &decimal);
    trim_zeros(&decimal);
    if (size >= 1e-3 && size < 1e7)
        add_fixed(&decimal, out);
    else
        add_scientific(&decimal, true, out);
}

void value_print_exponent(double value, int64_t digits, Text *out)
{
    if (isnan(value) || isinf(value)) {
        add_special(value, out);
        return;
    }
    Decimal decimal = {.count = digits < DIGITS_MAX ? (int)digits : DIGITS_MAX, .point = 1};
    memset(decimal.digits, '0', sizeof decimal.digits);
    if (value != 0)
        decimal_nearest(fabs(value), decimal.count, &decimal);
    if (signbit(value))
        text_add_char(out, '-');
    add_scientific(&decimal, true, out);
}

/* ---- characters ---- */

static bool is_hex_digit(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* A byte inside Runnel's quotes; `next` is the byte after it, for escapes that would swallow it. */
static void add_escaped(unsigned char c, unsigned char quote, unsigned char next, bool high_bytes, Text *out)
{
    if (c == '\n')
        text_add(out, "\\n");
    else if (c == '\t')
        text_add(out, "\\t");
    else if (c == '\r')
        text_add(out, "\\r");
    else if (c == '\\' || c == quote)
        text_addf(out, "\\%c", c);
    else if ((c >= ' ' && c < 0x7f) || (c >= 0x80 && high_bytes))
        text_add_char(out, (char)c);
    else if (is_hex_digit(next))
        text_addf(out, "\\%03o", c);
    else if (c == 0)
        text_add(out, "\\0");
    else
        text_addf(out, "\\x%02x", c);
}

static void add_char(unsigned char c, ValueStyle style, Text *out)
{
    if (style != VALUE_STYLE_RUNNEL) {
        text_add_char(out, '`');
        text_add_char(out, (char)c);
        return;
    }
    text_add_char(out, '\'');
    add_escaped(c, '\'', 0, false, out);
    text_add_char(out, '\'');
}

static void add_nesl_escaped(unsigned char c, Text *out)
{
    if (c == '"' || c == '\\')
        text_add_char(out, '\\');
    text_add_char(out, (char)c);
}

void value_print_text(const char *bytes, size_t length, Text *out)
{
    text_add_char(out, '"');
    for (size_t i = 0; i < length; i++)
        add_escaped((unsigned char)bytes[i], '"', i + 1 < length ? (unsigned char)bytes[i + 1] : 0, true, out);
    text_add_char(out, '"');
}

/* ---- values ---- */

typedef struct Printer {
    Types *types;
    ValueFormat format;
    Text *out;
    ValueOutlet outlet; /* null: all goes to `out` */
    bool is_over;       /* no more is wanted */
} Printer;

static void print_value(Printer *printer, TypeId type, Value value);

static size_t shown_count(const Printer *printer, const Object *container)
{
    uint64_t limit = printer->format.print_length;
    return limit != 0 && limit < container->count ? (size_t)limit : container->count;
}

static void hand_out(Printer *printer)
{
    enum { TEXT_LONG = 1 << 15 };
    if (printer->outlet.take != NULL && printer->out->length > TEXT_LONG)
        printer->is_over = !printer->outlet.take(printer->outlet.context, printer->out);
}

static void print_quoted(Printer *printer, const Object *text)
{
    Text *out = printer->out;
    size_t count = shown_count(printer, text);
    text_add_char(out, '"');
    for (size_t i = 0; i < count && !printer->is_over; i++) {
        unsigned char c = (unsigned char)text->items[i].scalar.bits;
        unsigned char next = i + 1 < count ? (unsigned char)text->items[i + 1].scalar.bits : 0;
        if (printer->format.style == VALUE_STYLE_RUNNEL)
            add_escaped(c, '"', next, true, out);
        else
            add_nesl_escaped(c, out);
        hand_out(printer);
    }
    text_add(out, count < text->count ? "\"..." : "\"");
}

static void print_container(Printer *printer, TypeId type, const Object *container)
{
    TypeId element = type_element(printer->types, type);
    bool is_vector = type_is_vector(printer->types, type);
    if (is_vector && element == TYPE_CHAR) {
        print_quoted(printer, container);
        return;
    }
    size_t count = shown_count(printer, container);
    text_add_char(printer->out, is_vector ? '[' : '{');
    for (size_t i = 0; i < count && !printer->is_over; i++) {
        if (i > 0)
            text_add(printer->out, ", ");
        print_value(printer, element, container->items[i]);
        hand_out(printer);
    }
    if (count < container->count)
        text_add(printer->out, ",...");
    text_add_char(printer->out, is_vector ? ']' : '}');
}

/* The components of a tuple along its right spine, without parentheses; any other value is one component. */
static void print_components(Printer *printer, TypeId type, Value value)
{
    while (type_kind(printer->types, type) == TYPE_PAIR) {
        print_value(printer, type_first(printer->types, type), value.object->items[0]);
        text_add(printer->out, ", ");
        value = value.object->items[1];
        type = type_rest(printer->types, type);
    }
    print_value(printer, type, value);
}

static void print_data(Printer *printer, TypeId type, Value value)
{
    Types *types = printer->types;
    const Datatype *datatype = &types->datatypes.items[type_node(types, type)->a];
    text_add(printer->out, names_text(types->names, datatype->name));
    TypeId contents = type_representation(types, type);
    text_add_char(printer->out, '(');
    if (type_kind(types, contents) != TYPE_UNIT)
        print_components(printer, contents, value);
    text_add_char(printer->out, ')');
}

static void add_unsigned(uint64_t value, Text *out)
{
    char digits[24];
    size_t start = sizeof digits;
    do {
        digits[--start] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    text_add_bytes(out, digits + start, sizeof digits - start);
}

static void add_signed(int64_t value, Text *out)
{
    if (value < 0)
        text_add_char(out, '-');
    add_unsigned(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, out);
}

static const char *truth_text(ValueStyle style, bool value)
{
    switch (style) {
    case VALUE_STYLE_RUNNEL:
        return value ? "true" : "false";
    case VALUE_STYLE_NESL:
        return value ? "T" : "F";
    case VALUE_STYLE_STRING:
        return value ? "t" : "f";
    }
    return "";
}

static void add_float(ScalarType type, Scalar value, ValueStyle style, Text *out)
{
    if (style == VALUE_STYLE_STRING)
        add_nesl_float(type == SCALAR_F32 ? (double)value.f32 : value.f64, out);
    else if (type == SCALAR_F32)
        value_print_f32(value.f32, out);
    else
        value_print_f64(value.f64, out);
}

void value_print_scalar(ScalarType type, Scalar value, ValueStyle style, Text *out)
{
    switch (scalar_kind(type)) {
    case KIND_TRUTH:
        text_add(out, truth_text(style, value.bits != 0));
        return;
    case KIND_CHARACTER:
        add_char((unsigned char)value.bits, style, out);
        return;
    case KIND_SIGNED:
        add_signed(value.integer, out);
        return;
    case KIND_UNSIGNED:
        add_unsigned(value.bits, out);
        return;
    case KIND_FLOATING:
        add_float(type, value, style, out);
        return;
    }
}

static void print_value(Printer *printer, TypeId type, Value value)
{
    switch (type_kind(printer->types, type)) {
    case TYPE_SCALAR:
        value_print_scalar(type_scalar(printer->types, type), value.scalar, printer->format.style, printer->out);
        return;
    case TYPE_UNIT:
        text_add(printer->out, "()");
        return;
    case TYPE_PAIR:
        text_add_char(printer->out, '(');
        print_components(printer, type, value);
        text_add_char(printer->out, ')');
        return;
    case TYPE_CONTAINER:
        print_container(printer, type, value.object);
        return;
    case TYPE_DATA:
        print_data(printer, type, value);
        return;
    case TYPE_CLOSURE:
        text_add(printer->out, "function");
        return;
    case TYPE_NONE:
    case TYPE_FUNCTION:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        bug("value_print", "a type that has no values");
    }
}

bool value_print_in_pieces(Types *types, TypeId type, Value value, ValueFormat format, Text *out, ValueOutlet outlet)
{
    Printer printer = {.types = types, .format = format, .out = out, .outlet = outlet};
    bool is_text = type_is_vector(types, type) && type_element(types, type) == TYPE_CHAR;
    if (format.style == VALUE_STYLE_STRING && is_text)
        value_add_chars(value.object, out);
    else
        print_value(&printer, type, value);
    return !printer.is_over;
}

void value_print(Types *types, TypeId type, Value value, ValueFormat format, Text *out)
{
    value_print_in_pieces(types, type, value, format, out, (ValueOutlet){0});
}
