/* Values: printing, reading, comparing, and giving back every byte. */
#include "io/value.h"
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Fixture {
    Memory memory;
    Memory value_memory; /* apart, so that the heap's bytes can be counted */
    Arena arena;
    Names names;
    Types types;
    Sources sources;
    Diagnostics diagnostics;
    Heap heap;
    Text text;
} Fixture;

static const ValueFormat runnel = {VALUE_STYLE_RUNNEL, 0};

static void set_up(Fixture *f)
{
    memset(f, 0, sizeof *f);
    arena_init(&f->arena, &f->memory);
    names_init(&f->names, &f->arena);
    types_init(&f->types, &f->arena, &f->names);
    sources_init(&f->sources, &f->arena);
    diagnostics_init(&f->diagnostics, &f->arena, &f->sources);
    heap_init(&f->heap, &f->value_memory);
    text_init(&f->text, &f->memory);
}

static void tear_down(Fixture *f)
{
    CHECK(f->heap.objects == NULL);
    CHECK(f->value_memory.live_bytes == 0);
    heap_free(&f->heap);
    text_free(&f->text);
    arena_free(&f->arena);
    CHECK(f->memory.live_bytes == 0);
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- types by hand ---- */

static TypeId vector_of(Fixture *f, TypeId element)
{
    return type_vector(&f->types, element);
}

static TypeId tuple_of(Fixture *f, TypeId a, TypeId b, TypeId c)
{
    TypeId items[3] = {a, b, c};
    return type_tuple(&f->types, items, c == 0 ? 2 : 3);
}

static TypeId add_datatype(Fixture *f, const char *name, TypeId contents)
{
    Datatype datatype = {.name = names_of(&f->names, name), .contents = contents};
    *vec_push(&f->arena, &f->types.datatypes) = datatype;
    return type_data(&f->types, f->types.datatypes.count - 1, TYPE_UNIT_ID);
}

/* ---- floats ---- */

static const char *text_of_f64(Fixture *f, double value)
{
    text_clear(&f->text);
    value_print_f64(value, &f->text);
    return text_string(&f->text);
}

static const char *text_of_f32(Fixture *f, float value)
{
    text_clear(&f->text);
    value_print_f32(value, &f->text);
    return text_string(&f->text);
}

static void test_float_forms(Fixture *f)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {-2.5, "-2.5"},
        {0.1, "0.1"},
        {1e-5, "0.00001"},
        {1.5e-7, "1.5e-7"},
        {9.999e-6, "9.999e-6"},
        {1e15, "1000000000000000.0"},
        {9999999999999998.0, "9999999999999998.0"},
        {1e16, "1.0e16"},
        {123456.789, "123456.789"},
        {1e22, "1.0e22"},
        {1.7976931348623157e308, "1.7976931348623157e308"},
        {5e-324, "5.0e-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {9007199254740993.0, "9007199254740992.0"},
        {0x1p-44, "5.684341886080802e-14"},
        {1.0 / 3.0, "0.3333333333333333"},
        {0.3, "0.3"},
        {0.1 + 0.2, "0.30000000000000004"},
        {(double)INFINITY, "inf"},
        {-(double)INFINITY, "-inf"},
        {(double)NAN, "nan"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_TEXT(text_of_f64(f, rows[i].value), rows[i].text);
    CHECK_TEXT(text_of_f32(f, 0.1f), "0.1");
    CHECK_TEXT(text_of_f32(f, 16777216.0f), "16777216.0");
    CHECK_TEXT(text_of_f32(f, 3.4028235e38f), "3.4028235e38");
    CHECK_TEXT(text_of_f32(f, 1e-45f), "1.0e-45");
    CHECK_TEXT(text_of_f32(f, 0x1p-24f), "5.9604645e-8");
}

/* The significant digits of a text as an integer without zeros at its ends, and how many there are. */
static int digits_of(const char *text, char *digits)
{
    int count = 0;
    for (; *text != '\0' && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (count > 0 || *text != '0'))
            digits[count++] = *text;
    while (count > 0 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    return count;
}

/* Whether some decimal of `count` digits reads back as x: those next to it on both sides. */
static bool has_decimal(double x, int count, bool is_f32)
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", count - 1, fabs(x));
    int exponent = atoi(strchr(text, 'e') + 1);
    char digits[40];
    int length = 0;
    for (const char *p = text; *p != 'e'; p++)
        if (*p != '.')
            digits[length++] = *p;
    digits[length] = '\0';
    long long base = atoll(digits);
    for (long long i = base - 1; i <= base + 1; i++) {
        snprintf(text, sizeof text, "%llde%d", i, exponent - (count - 1));
        if (is_f32 ? strtof(text, NULL) == (float)fabs(x) : strtod(text, NULL) == fabs(x))
            return true;
    }
    return false;
}

static void check_shortest(const char *text, double x, bool is_f32)
{
    char digits[400];
    bool same = is_f32 ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x;
    int count = digits_of(text, digits);
    if (same && (count <= 1 || !has_decimal(x, count - 1, is_f32)))
        return;
    failures++;
    fprintf(stderr, "%a printed as %s: %s\n", x, text, same ? "fewer digits do" : "reads back differently");
}

static void check_f64_bits(Fixture *f, uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    if (isfinite(x) && x != 0)
        check_shortest(text_of_f64(f, x), x, false);
}

static void check_f32_bits(Fixture *f, uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    if (isfinite(x) && x != 0)
        check_shortest(text_of_f32(f, x), (double)x, true);
}

static void test_float_digits(Fixture *f)
{
    uint64_t state = 1;
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = next_random(&state);
        check_f64_bits(f, bits);
        check_f64_bits(f, bits & UINT64_C(0x800fffffffffffff) >> (i % 50)); /* subnormal */
        check_f32_bits(f, (uint32_t)bits);
        check_f32_bits(f, (uint32_t)bits & 0x007fffffu >> (i % 20));
        double decimal = (double)(int64_t)(bits >> 30) / 1e6; /* few digits */
        check_shortest(text_of_f64(f, decimal), decimal, false);
    }
    for (uint64_t exponent = 0; exponent < 2047; exponent++)
        for (uint64_t i = 0; i < 3; i++)
            check_f64_bits(f, (exponent << 52) + i - 1); /* powers of two and their neighbours */
    for (uint32_t exponent = 0; exponent < 255; exponent++)
        for (uint32_t i = 0; i < 3; i++)
            check_f32_bits(f, (exponent << 23) + i - 1);
}

/* ---- reading and printing ---- */

static const char *print_value(Fixture *f, TypeId type, Value value, ValueFormat format)
{
    text_clear(&f->text);
    value_print(&f->types, type, value, format, &f->text);
    return text_string(&f->text);
}

static const char *last_message(const Fixture *f)
{
    return f->diagnostics.list.count == 0 ? "(no message)" : vec_last(&f->diagnostics.list).message;
}

/* Reads, prints in a style and compares; an expectation that starts with "argument 1:" is a message. */
static void check_read(Fixture *f, TypeId type, const char *text, size_t length, ValueFormat format,
                       const char *expected, int line)
{
    Value value;
    diagnostics_clear(&f->diagnostics);
    /* an exact copy shows reading past the end to the sanitizer */
    char *copy = malloc(length == 0 ? 1 : length);
    memcpy(copy, text, length);
    bool is_read = value_read(&f->heap, &f->types, type, copy, length, "argument 1", &f->diagnostics, &value);
    free(copy);
    if (!is_read) {
        check_text(last_message(f), expected, __FILE__, line);
        CHECK(f->diagnostics.error_count == 1);
        return;
    }
    check_text(print_value(f, type, value, format), expected, __FILE__, line);
    value_release(&f->heap, &f->types, type, value);
}

#define READ(f, type, text, expected) check_read((f), (type), (text), strlen(text), runnel, (expected), __LINE__)
#define READ_STYLE(f, type, text, style, limit, expected)                                                              \
    check_read((f), (type), (text), strlen(text), (ValueFormat){(style), (limit)}, (expected), __LINE__)

static void test_scalars(Fixture *f)
{
    TypeId u8 = TYPE_OF_SCALAR(SCALAR_U8), u64 = TYPE_OF_SCALAR(SCALAR_U64), i8 = TYPE_OF_SCALAR(SCALAR_I8);
    TypeId f32 = TYPE_OF_SCALAR(SCALAR_F32);
    READ(f, TYPE_INT, " -42 ", "-42");
    READ(f, TYPE_INT, "+7", "7");
    READ(f, TYPE_INT, "1_000", "1000");
    READ(f, TYPE_INT, "0xff", "255");
    READ(f, TYPE_INT, "-0b101", "-5");
    READ(f, TYPE_INT, "9223372036854775807", "9223372036854775807");
    READ(f, TYPE_INT, "-9223372036854775808", "-9223372036854775808");
    READ(f, TYPE_INT, "9223372036854775808", "argument 1: 9223372036854775808 does not fit int");
    READ(f, TYPE_INT, "99999999999999999999", "argument 1: 99999999999999999999 does not fit int");
    READ(f, TYPE_INT, "12x", "argument 1: expected an int at byte 0, found \"12x\"");
    READ(f, TYPE_INT, "1.5", "argument 1: expected an int at byte 0, found \"1.5\"");
    READ(f, TYPE_INT, "", "argument 1: expected an int at byte 0, found the end");
    READ(f, TYPE_INT, "-", "argument 1: expected an int at byte 0, found \"-\"");
    READ(f, TYPE_INT, "0x", "argument 1: expected an int at byte 0, found \"0x\"");
    READ(f, TYPE_INT, "1 2", "argument 1: expected the end at byte 2, found \"2\"");
    READ(f, u8, "255", "255");
    READ(f, u8, "300", "argument 1: 300 does not fit u8");
    READ(f, u8, "-1", "argument 1: -1 does not fit u8");
    READ(f, u8, "x", "argument 1: expected a u8 at byte 0, found \"x\"");
    READ(f, i8, "-128", "-128");
    READ(f, i8, "-129", "argument 1: -129 does not fit i8");
    READ(f, u64, "18446744073709551615", "18446744073709551615");
    READ(f, u64, "18446744073709551616", "argument 1: 18446744073709551616 does not fit u64");
    READ(f, TYPE_FLOAT, "1", "1.0");
    READ(f, TYPE_FLOAT, "1.", "1.0");
    READ(f, TYPE_FLOAT, "-.5", "-0.5");
    READ(f, TYPE_FLOAT, "2.5e-3", "0.0025");
    READ(f, TYPE_FLOAT, "-0.0", "-0.0");
    READ(f, TYPE_FLOAT, "nan", "nan");
    READ(f, TYPE_FLOAT, "-inf", "-inf");
    READ(f, TYPE_FLOAT, "1e400", "argument 1: 1e400 does not fit float");
    READ(f, TYPE_FLOAT, "1e-99999999999999999999", "0.0");
    READ(f, TYPE_FLOAT, "1.2.3", "argument 1: expected a float at byte 0, found \"1.2.3\"");
    READ(f, TYPE_FLOAT, ".", "argument 1: expected a float at byte 0, found \".\"");
    READ(f, TYPE_FLOAT, "1e", "argument 1: expected a float at byte 0, found \"1e\"");
    READ(f, TYPE_FLOAT, "infinite", "argument 1: expected a float at byte 0, found \"infinite\"");
    READ(f, f32, "0.1", "0.1");
    READ(f, f32, "1e39", "argument 1: 1e39 does not fit f32");
    READ(f, f32, "", "argument 1: expected an f32 at byte 0, found the end");
    READ(f, TYPE_BOOL, "true", "true");
    READ(f, TYPE_BOOL, "F", "false");
    READ(f, TYPE_BOOL, "t", "true");
    READ(f, TYPE_BOOL, "truely", "argument 1: expected a bool at byte 0, found \"truely\"");
    READ(f, TYPE_UNIT_ID, "( )", "()");
}

static void test_long_numbers(Fixture *f)
{
    char text[1200];
    memset(text, '0', sizeof text);
    text[1] = '.';
    text[1100] = '\0';
    memcpy(text + 1100, "15e1100", 8);
    READ(f, TYPE_FLOAT, text, "15.0");
    memset(text, '9', 400);
    text[400] = '\0';
    char expected[128];
    snprintf(expected, sizeof expected, "argument 1: %.60s... does not fit float", text);
    READ(f, TYPE_FLOAT, text, expected);
}

static void test_characters(Fixture *f)
{
    TypeId text = vector_of(f, TYPE_CHAR);
    TypeId stream = type_sequence(&f->types, TYPE_CHAR);
    READ(f, TYPE_CHAR, "'a'", "'a'");
    READ(f, TYPE_CHAR, "`a", "'a'");
    READ(f, TYPE_CHAR, "` ", "' '");
    READ(f, TYPE_CHAR, "'\\''", "'\\''");
    READ(f, TYPE_CHAR, "'\"'", "'\"'");
    READ(f, TYPE_CHAR, "'\\n'", "'\\n'");
    READ(f, TYPE_CHAR, "'\\0'", "'\\0'");
    READ(f, TYPE_CHAR, "'\\xfF'", "'\\xff'");
    READ(f, TYPE_CHAR, "'\\377'", "'\\xff'");
    READ(f, TYPE_CHAR, "'\\400'", "argument 1: expected an escape such as \\n or \\x41 at byte 1, found \"\\\"");
    READ(f, TYPE_CHAR, "'ab'", "argument 1: expected ' after one byte at byte 2, found \"b\"");
    READ(f, TYPE_CHAR, "''", "argument 1: expected a char at byte 0, found \"'\"");
    READ(f, TYPE_CHAR, "'", "argument 1: expected a char at byte 0, found \"'\"");
    READ(f, TYPE_CHAR, "'\\", "argument 1: expected an escape such as \\n or \\x41 at byte 1, found \"\\\"");
    READ(f, text, "\"\"", "\"\"");
    READ(f, text, "[]", "\"\"");
    READ(f, text, "['a', `b, 'c']", "\"abc\"");
    READ(f, text, "\"say \\\"hi\\\"\\t'\\\\\"", "\"say \\\"hi\\\"\\t'\\\\\"");
    READ(f, text, "\"gr\xc3\xbc\xc3\x9f\"", "\"gr\xc3\xbc\xc3\x9f\"");
    READ(f, text, "\"\\x01\\x01z\\0\\0001\\x1b[0m\"", "\"\\x01\\x01z\\0\\0001\\x1b[0m\"");
    READ(f, text, "\"\\001a\"", "\"\\001a\"");
    READ(f, text, "\"abc", "argument 1: expected \" at byte 4, found the end");
    READ(f, text, "\"a\\q\"", "argument 1: expected an escape such as \\n or \\x41 at byte 2, found \"\\\"");
    READ(f, text, "abc", "argument 1: expected a text in quotes at byte 0, found \"abc\"");
    READ(f, stream, "\"ab\"", "{'a', 'b'}");
    READ_STYLE(f, text, "\"a\\n\\\"\\\\\"", VALUE_STYLE_NESL, 0, "\"a\n\\\"\\\\\"");
    READ_STYLE(f, TYPE_CHAR, "'\\n'", VALUE_STYLE_NESL, 0, "`\n");
}

static void test_structures(Fixture *f)
{
    TypeId ints = vector_of(f, TYPE_INT);
    TypeId stream = type_sequence(&f->types, TYPE_INT);
    TypeId triple = tuple_of(f, TYPE_INT, TYPE_FLOAT, TYPE_BOOL);
    TypeId left = tuple_of(f, tuple_of(f, TYPE_INT, TYPE_INT, 0), TYPE_INT, 0);
    TypeId middle = tuple_of(f, TYPE_INT, tuple_of(f, TYPE_INT, TYPE_INT, 0), TYPE_INT);
    TypeId around = tuple_of(f, TYPE_INT, TYPE_UNIT_ID, TYPE_INT);
    TypeId complex = add_datatype(f, "complex", tuple_of(f, TYPE_FLOAT, TYPE_FLOAT, 0));
    TypeId stamp = add_datatype(f, "stamp", TYPE_INT);
    TypeId nothing = add_datatype(f, "nothing", TYPE_UNIT_ID);
    READ(f, ints, "[1, 2,3]", "[1, 2, 3]");
    READ(f, ints, " [ ] ", "[]");
    READ(f, ints, "[1 2]", "argument 1: expected , or ] at byte 3, found \"2\"");
    READ(f, ints, "[1,]", "argument 1: expected an int at byte 3, found \"]\"");
    READ(f, ints, "[1", "argument 1: expected , or ] at byte 2, found the end");
    READ(f, ints, "{1}", "argument 1: expected [ at byte 0, found \"{\"");
    READ(f, stream, "{1, 2}", "{1, 2}");
    READ(f, stream, "[1, 2]", "{1, 2}");
    READ(f, stream, "{1]", "argument 1: expected , or } at byte 2, found \"]\"");
    READ(f, vector_of(f, ints), "[[], [1], [2, 3]]", "[[], [1], [2, 3]]");
    READ(f, vector_of(f, ints), "[[1], [x]]", "argument 1: expected an int at byte 7, found \"x\"");
    READ(f, triple, "(1, 2.5, true)", "(1, 2.5, true)");
    READ(f, triple, "(1, (2.5, true))", "(1, 2.5, true)");
    READ(f, triple, "(1, 2.5)", "argument 1: expected , and another component at byte 7, found \")\"");
    READ(f, triple, "(1, 2.5, true, 4)", "argument 1: expected ) at byte 13, found \",\"");
    READ(f, left, "((1, 2), 3)", "((1, 2), 3)");
    READ(f, middle, "(1, (2, 3), 4)", "(1, (2, 3), 4)");
    READ(f, vector_of(f, middle), "[(1, (2, 3), 4), (1, (2, 3), x)]",
         "argument 1: expected an int at byte 29, found \"x\"");
    READ(f, around, "(1, ((), 2))", "(1, (), 2)");
    READ(f, around, "(1, (()), 2)", "(1, (), 2)");
    READ(f, around, "(1, (), 2)", "(1, (), 2)");
    READ(f, complex, "complex(1, -2.5)", "complex(1.0, -2.5)");
    READ(f, complex, "COMPLEX ((1.0, 2.0))", "complex(1.0, 2.0)");
    READ(f, complex, "real(1, 2)", "argument 1: expected complex at byte 0, found \"real\"");
    READ(f, complex, "complex(1)", "argument 1: expected , and another component at byte 9, found \")\"");
    READ(f, vector_of(f, stamp), "[stamp(1), stamp(2)]", "[stamp(1), stamp(2)]");
    READ(f, nothing, "nothing()", "nothing()");
    READ(f, tuple_of(f, TYPE_INT, complex, 0), "(1, complex(1.0, 2.0))", "(1, complex(1.0, 2.0))");
    TypeId closure = type_closure(&f->types, 3, TYPE_INT);
    READ(f, closure, "1", "argument 1: a function has no value that can be read");
    CHECK_TEXT(print_value(f, closure, (Value){.scalar = {.integer = 4}}, runnel), "function");
}

static void test_ranges(Fixture *f)
{
    TypeId ints = vector_of(f, TYPE_INT);
    TypeId bytes = vector_of(f, TYPE_OF_SCALAR(SCALAR_U8));
    READ(f, ints, "[0:5]", "[0, 1, 2, 3, 4]");
    READ(f, ints, "[ 5 : 0 : -2 ]", "[5, 3, 1]");
    READ(f, ints, "[5:0]", "[]");
    READ(f, ints, "[0:5:-1]", "[]");
    READ(f, ints, "[0:7:3]", "[0, 3, 6]");
    READ(f, ints, "[9223372036854775805:9223372036854775807:5]", "[9223372036854775805]");
    READ(f, ints, "[9223372036854775807:-9223372036854775808:-9223372036854775808]", "[9223372036854775807, -1]");
    READ(f, ints, "[0:5:0]", "argument 1: expected a step other than 0 at byte 5, found \"0\"");
    READ(f, ints, "[0:5, 7]", "argument 1: expected , or ] at byte 4, found \",\"");
    READ(f, ints, "[1, 0:5]", "argument 1: expected , or ] at byte 5, found \":\"");
    READ(f, bytes, "[250:255:2]", "[250, 252, 254]");
    READ(f, bytes, "[3:0:-1]", "argument 1: -1 does not fit u8");
    READ(f, type_sequence(&f->types, TYPE_INT), "{0:3}", "{0, 1, 2}");
    READ(f, vector_of(f, TYPE_FLOAT), "[0:3]", "argument 1: expected , or ] at byte 2, found \":\"");
}

static void test_styles(Fixture *f)
{
    TypeId ints = vector_of(f, TYPE_INT);
    TypeId text = vector_of(f, TYPE_CHAR);
    TypeId mixed = tuple_of(f, TYPE_BOOL, TYPE_CHAR, text);
    READ_STYLE(f, mixed, "(true, 'x', \"hi\")", VALUE_STYLE_NESL, 0, "(T, `x, \"hi\")");
    READ_STYLE(f, mixed, "(T, `x, \"hi\")", VALUE_STYLE_STRING, 0, "(t, `x, \"hi\")");
    READ_STYLE(f, text, "\"hi\"", VALUE_STYLE_STRING, 0, "hi");
    READ_STYLE(f, ints, "[0:200]", VALUE_STYLE_NESL, 3, "[0, 1, 2,...]");
    READ_STYLE(f, ints, "[0:3]", VALUE_STYLE_NESL, 3, "[0, 1, 2]");
    READ_STYLE(f, vector_of(f, ints), "[[0:9], [1]]", VALUE_STYLE_RUNNEL, 1, "[[0,...],...]");
    READ_STYLE(f, text, "\"hello\"", VALUE_STYLE_RUNNEL, 2, "\"he\"...");
    READ_STYLE(f, ints, "[]", VALUE_STYLE_NESL, 0, "[]");
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"0.1", "0.1"},           {"0.33333333333", "0.33333333"}, {"0.001", "0.001"},       {"0.0001", "1.0e-4"},
        {"9999999", "9999999.0"}, {"1e7", "1.0e+7"},               {"-1.5e10", "-1.5e+10"},  {"0", "0.0"},
        {"1234567.89", "1234567.9"}, {"1e100", "1.0e+100"},        {"nan", "nan"},           {"12.5", "12.5"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        READ_STYLE(f, TYPE_FLOAT, rows[i].text, VALUE_STYLE_STRING, 0, rows[i].expected);
}

/* ---- comparing ---- */

static Value must_read(Fixture *f, TypeId type, const char *text)
{
    Value value = {.scalar = {.bits = 0}};
    bool is_read = value_read(&f->heap, &f->types, type, text, strlen(text), "value", &f->diagnostics, &value);
    CHECK(is_read);
    return value;
}

/* `expected` is the order of a and b; the other way round it is the opposite. */
static void check_order(Fixture *f, TypeId type, const char *a, const char *b, int expected)
{
    Value x = must_read(f, type, a);
    Value y = must_read(f, type, b);
    CHECK(value_compare(&f->types, type, x, y) == expected);
    CHECK(value_compare(&f->types, type, y, x) == -expected);
    CHECK(value_compare(&f->types, type, x, x) == 0);
    value_release(&f->heap, &f->types, type, x);
    value_release(&f->heap, &f->types, type, y);
}

static void test_compare(Fixture *f)
{
    TypeId ints = vector_of(f, TYPE_INT);
    TypeId u64 = TYPE_OF_SCALAR(SCALAR_U64);
    TypeId f32 = TYPE_OF_SCALAR(SCALAR_F32);
    TypeId pairs = vector_of(f, tuple_of(f, TYPE_INT, TYPE_FLOAT, 0));
    check_order(f, TYPE_INT, "-1", "1", -1);
    check_order(f, u64, "1", "18446744073709551615", -1);
    check_order(f, TYPE_FLOAT, "inf", "nan", -1);
    check_order(f, TYPE_FLOAT, "-0.0", "0.0", 0);
    check_order(f, TYPE_FLOAT, "nan", "nan", 0);
    check_order(f, f32, "nan", "-inf", 1);
    check_order(f, f32, "1.5", "2.5", -1);
    check_order(f, TYPE_BOOL, "false", "true", -1);
    check_order(f, TYPE_CHAR, "'a'", "'\\xff'", -1);
    check_order(f, ints, "[1, 2]", "[1, 2, 0]", -1);
    check_order(f, ints, "[]", "[0]", -1);
    check_order(f, ints, "[2]", "[1, 5]", 1);
    check_order(f, pairs, "[(1, 2.0)]", "[(1, nan)]", -1);
    check_order(f, pairs, "[(1, nan), (0, 0)]", "[(1, nan), (0, -0.0)]", 0);
    check_order(f, TYPE_UNIT_ID, "()", "()", 0);
    check_order(f, add_datatype(f, "money", ints), "money([1])", "money([2])", -1);
}

/* Printed by us and read by us: every pattern of bits comes back, nans as the one nan. */
static void check_round_trip(Fixture *f, TypeId type, ScalarType scalar, uint64_t bits)
{
    Value value = {.scalar = {.bits = bits}};
    bool is_nan = scalar == SCALAR_F64 ? isnan(value.scalar.f64) : isnan(value.scalar.f32);
    char text[64];
    snprintf(text, sizeof text, "%s", print_value(f, type, value, runnel));
    Value again = must_read(f, type, text);
    bool is_nan_again = scalar == SCALAR_F64 ? isnan(again.scalar.f64) : isnan(again.scalar.f32);
    if (is_nan ? is_nan_again : again.scalar.bits == bits)
        return;
    failures++;
    fprintf(stderr, "%s of bits %016llx is read as %016llx\n", text, (unsigned long long)bits,
            (unsigned long long)again.scalar.bits);
}

static void test_float_round_trip(Fixture *f)
{
    TypeId f32 = TYPE_OF_SCALAR(SCALAR_F32);
    uint64_t state = 11;
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = next_random(&state);
        check_round_trip(f, TYPE_FLOAT, SCALAR_F64, bits);
        check_round_trip(f, f32, SCALAR_F32, bits >> 32);
    }
    for (uint64_t exponent = 0; exponent < 2048; exponent++)
        for (uint64_t i = 0; i < 3; i++)
            check_round_trip(f, TYPE_FLOAT, SCALAR_F64, (exponent << 52) + i - 1);
    for (uint64_t exponent = 0; exponent < 256; exponent++)
        for (uint64_t i = 0; i < 3; i++)
            check_round_trip(f, f32, SCALAR_F32, ((exponent << 23) + i - 1) & UINT32_MAX);
    for (uint64_t bits = 0; bits < 2000; bits++) { /* the least subnormals, of both signs */
        check_round_trip(f, TYPE_FLOAT, SCALAR_F64, bits | bits << 63);
        check_round_trip(f, f32, SCALAR_F32, bits | (bits << 31 & UINT32_MAX));
    }
}

/* ---- the heap ---- */

/* As deep as types go: letting go must not use the C stack for it. */
static void test_deep_release(Fixture *f)
{
    TypeId type = vector_of(f, TYPE_INT);
    Value value = {.object = value_container(&f->heap, &f->types, type, 0)};
    for (int i = 0; i < TYPE_DEPTH_MAX - 10; i++) {
        type = vector_of(f, type);
        Object *outer = value_container(&f->heap, &f->types, type, 0);
        value = (Value){.object = value_append(&f->heap, outer, value)};
    }
    CHECK(value_compare(&f->types, type, value, value) == 0);
    value_release(&f->heap, &f->types, type, value);
    CHECK(f->value_memory.live_bytes == 0);
}

static void test_sharing(Fixture *f)
{
    TypeId ints = vector_of(f, TYPE_INT);
    TypeId type = tuple_of(f, ints, ints, 0);
    Value vector = must_read(f, ints, "[1, 2, 3]");
    Value pair = value_pair(&f->heap, &f->types, type, value_share(&f->types, ints, vector), vector);
    CHECK(vector.object->references == 2);
    CHECK_TEXT(print_value(f, type, pair, runnel), "([1, 2, 3], [1, 2, 3])");
    value_share(&f->types, type, pair);
    value_release(&f->heap, &f->types, type, pair);
    CHECK(pair.object->references == 1);
    value_release(&f->heap, &f->types, type, pair);
    CHECK(f->heap.objects == NULL);
}

/* Every allocation fails once; nothing is lost. */
static void test_allocation_failure(Fixture *f)
{
    TypeId type = vector_of(f, tuple_of(f, TYPE_INT, vector_of(f, TYPE_CHAR), vector_of(f, TYPE_INT)));
    const char *text = "[(1, \"abcdefghij\", [0:9]), (2, \"\", []), (3, \"xyz\", [1, 2, 3, 4, 5, 6])]";
    volatile uint64_t n = 0;
    volatile bool is_done = false;
    while (!is_done) {
        jmp_buf recovery;
        n = n + 1;
        f->value_memory.on_failure = &recovery;
        if (setjmp(recovery) == 0) {
            f->value_memory.fail_after = n;
            Value value = must_read(f, type, text);
            f->value_memory.fail_after = 0;
            value_release(&f->heap, &f->types, type, value);
            is_done = true;
        } else {
            heap_free(&f->heap);
        }
        CHECK(f->value_memory.live_bytes == 0);
    }
    CHECK(n > 10);
    f->value_memory.on_failure = NULL;
}

/* Many values, printed and read: every one comes back. */
static void test_large(Fixture *f)
{
    TypeId type = vector_of(f, tuple_of(f, TYPE_INT, TYPE_FLOAT, 0));
    TypeId pair = type_element(&f->types, type);
    uint64_t state = 7;
    Object *vector = value_container(&f->heap, &f->types, type, 0);
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = next_random(&state);
        Value number = {.scalar = {.bits = bits}};
        Value fraction = {.scalar = {.f64 = (double)(bits >> 11) * 0x1p-53}};
        vector = value_append(&f->heap, vector, value_pair(&f->heap, &f->types, pair, number, fraction));
    }
    Value value = {.object = vector};
    print_value(f, type, value, runnel);
    Value again = must_read(f, type, text_string(&f->text));
    CHECK(value_compare(&f->types, type, value, again) == 0);
    value_release(&f->heap, &f->types, type, value);
    value_release(&f->heap, &f->types, type, again);
}

/* Broken texts of every length, and texts with bytes changed: never a crash, one message, nothing left. */
static void test_damaged(Fixture *f)
{
    TypeId type = vector_of(f, tuple_of(f, TYPE_FLOAT, vector_of(f, TYPE_CHAR), TYPE_CHAR));
    const char *text = "[(1.5e3, \"a\\x41\\n\", 'b'), (-inf, ['x', `y], '\\0')]";
    static const char bytes[] = "[](){}\"'`\\,:.-+eEx0 9n\xff\n";
    size_t length = strlen(text);
    char copy[128];
    for (size_t i = 0; i <= length; i++)
        for (size_t b = 0; b < sizeof bytes; b++) {
            memcpy(copy, text, length + 1);
            copy[i] = bytes[b];
            Value value;
            diagnostics_clear(&f->diagnostics);
            bool is_read = value_read(&f->heap, &f->types, type, copy, b == 0 ? i : length, "value", &f->diagnostics,
                                      &value);
            CHECK(is_read == (f->diagnostics.error_count == 0));
            if (is_read)
                value_release(&f->heap, &f->types, type, value);
            CHECK(f->heap.objects == NULL);
        }
    diagnostics_clear(&f->diagnostics);
}

int main(void)
{
    Fixture f;
    set_up(&f);
    test_float_forms(&f);
    test_float_digits(&f);
    test_scalars(&f);
    test_long_numbers(&f);
    test_characters(&f);
    test_structures(&f);
    test_ranges(&f);
    test_styles(&f);
    test_compare(&f);
    test_float_round_trip(&f);
    test_deep_release(&f);
    test_sharing(&f);
    test_allocation_failure(&f);
    test_large(&f);
    test_damaged(&f);
    tear_down(&f);
    return failures == 0 ? 0 : 1;
}
