/* Arrays of .npy files: every type in both orders of bytes and both orders of elements, as vectors, sequences, rows and tuples; and every type read as every
 * other one, which widens, or is checked number by number, or cannot be. */
#define _POSIX_C_SOURCE 200809L
#include "io/value_source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Fixture {
    Memory memory;
    Arena arena;
    Names names;
    Types types;
    Heap heap;
    Text file, expected, found;
    char path[64];
    int failures;
} Fixture;

/* The types of NumPy, and what each is read as without a change. */
typedef enum Kind { TRUTH, SIGNED, UNSIGNED, FLOATING } Kind;
typedef struct FileType {
    const char *name;
    Kind kind;
    uint32_t size;
    ScalarType scalar;
} FileType;

static const FileType file_types[] = {
    {"b1", TRUTH, 1, SCALAR_BOOL},   {"i1", SIGNED, 1, SCALAR_I8},    {"i2", SIGNED, 2, SCALAR_I16},   {"i4", SIGNED, 4, SCALAR_I32},
    {"i8", SIGNED, 8, SCALAR_I64},   {"u1", UNSIGNED, 1, SCALAR_U8},  {"u2", UNSIGNED, 2, SCALAR_U16}, {"u4", UNSIGNED, 4, SCALAR_U32},
    {"u8", UNSIGNED, 8, SCALAR_U64}, {"f2", FLOATING, 2, SCALAR_F64}, {"f4", FLOATING, 4, SCALAR_F32}, {"f8", FLOATING, 8, SCALAR_F64},
};

enum { FILE_TYPES = sizeof file_types / sizeof *file_types };

static void set_up(Fixture *f)
{
    *f = (Fixture){0};
    arena_init(&f->arena, &f->memory);
    names_init(&f->names, &f->arena);
    types_init(&f->types, &f->arena, &f->names);
    heap_init(&f->heap, &f->memory);
    text_init(&f->file, &f->memory);
    text_init(&f->expected, &f->memory);
    text_init(&f->found, &f->memory);
    snprintf(f->path, sizeof f->path, "/tmp/runnel-npy-%ld.npy", (long)getpid());
}

static void tear_down(Fixture *f)
{
    remove(f->path);
    text_free(&f->file);
    text_free(&f->expected);
    text_free(&f->found);
    heap_free(&f->heap);
    arena_free(&f->arena);
    f->failures += f->memory.live_bytes != 0;
}

/* ---- files ---- */

/* An exponent of five bits and a fraction of ten; only what is exact. */
static uint64_t half_bits(double value)
{
    int exponent;
    double fraction = frexp(fabs(value), &exponent);
    uint64_t sign = signbit(value) ? UINT64_C(1) << 15 : 0;
    return value == 0 ? sign : sign | (uint64_t)(exponent + 14) << 10 | ((uint64_t)(fraction * 2048) & 1023);
}

static uint64_t float_bits(uint32_t size, double value)
{
    uint64_t bits = 0;
    float single = (float)value;
    if (size == 2)
        return half_bits(value);
    if (size == 4)
        memcpy(&bits, &single, sizeof single);
    else
        memcpy(&bits, &value, sizeof value);
    return bits;
}

static void add_bits(Text *out, uint64_t bits, uint32_t size, bool is_big)
{
    for (uint32_t i = 0; i < size; i++)
        text_add_char(out, (char)(bits >> 8 * (is_big ? size - 1 - i : i)));
}

static void add_header(Text *out, const FileType *type, bool is_big, bool is_fortran, const char *shape)
{
    enum { LENGTH = 118 };
    char header[LENGTH + 1];
    snprintf(header, sizeof header, "{'descr': '%c%s', 'fortran_order': %s, 'shape': %s, }", is_big ? '>' : '<', type->name,
             is_fortran ? "True" : "False", shape);
    text_add_bytes(out, "\x93NUMPY\1\0", 8);
    add_bits(out, LENGTH, 2, false);
    size_t length = strlen(header);
    text_add_bytes(out, header, length);
    for (; length + 1 < LENGTH; length++)
        text_add_char(out, ' ');
    text_add_char(out, '\n');
}

static ValueSource *open_file(Fixture *f, TypeId type)
{
    FILE *file = fopen(f->path, "wb");
    fwrite(text_string(&f->file), 1, f->file.length, file);
    fclose(file);
    return value_source_from_file((ValueSourceOf){.heap = &f->heap, .types = &f->types, .type = type, .what = "it"}, f->path,
                                  &(FileOptions){0});
}

/* Reads the file, and shows it, or why it cannot be read. */
static const char *read_file(Fixture *f, TypeId type)
{
    ValueSource *source = open_file(f, type);
    Value value;
    text_clear(&f->found);
    if (value_source_read_whole(source, &value)) {
        value_print(&f->types, type, value, (ValueFormat){0}, &f->found);
        value_release(&f->heap, &f->types, type, value);
    } else {
        text_add(&f->found, value_source_problem(source));
    }
    value_source_free(source);
    return text_string(&f->found);
}

/* ---- shapes ---- */

/* The value of a cell, counted in C order; exact in every type. */
static double cell_value(Kind kind, uint32_t index)
{
    switch (kind) {
    case TRUTH: return index % 3 == 1;
    case SIGNED: return index % 2 == 0 ? index : -(double)index;
    case UNSIGNED: return 5 * index;
    case FLOATING: return (index % 2 == 0 ? 0.5 : -0.5) * index;
    }
    return 0;
}

static void expect_cell(Fixture *f, Kind kind, uint32_t index)
{
    double value = cell_value(kind, index);
    if (kind == TRUTH)
        text_add(&f->expected, value != 0 ? "true" : "false");
    else
        text_addf(&f->expected, "%.*f", kind == FLOATING, value);
}

/* How the dimensions of an array are written, from one of them on. */
typedef struct Shape {
    const char *text;
    uint32_t count, lengths[3];
    char open[3], close[3];
} Shape;

static void expect_part(Fixture *f, const FileType *type, const Shape *shape, uint32_t dimension, uint32_t index)
{
    if (dimension == shape->count) {
        expect_cell(f, type->kind, index);
        return;
    }
    text_add_char(&f->expected, shape->open[dimension]);
    for (uint32_t i = 0; i < shape->lengths[dimension]; i++) {
        text_add(&f->expected, i == 0 ? "" : ", ");
        expect_part(f, type, shape, dimension + 1, index * shape->lengths[dimension] + i);
    }
    text_add_char(&f->expected, shape->close[dimension]);
}

/* In Fortran order the first index changes fastest. */
static uint32_t cell_at(const Shape *shape, uint32_t place, bool is_fortran)
{
    if (!is_fortran)
        return place;
    uint32_t indices[3], index = 0;
    for (uint32_t i = 0; i < shape->count; i++) {
        indices[i] = place % shape->lengths[i];
        place /= shape->lengths[i];
    }
    for (uint32_t i = 0; i < shape->count; i++)
        index = index * shape->lengths[i] + indices[i];
    return index;
}

static TypeId type_of(Fixture *f, const FileType *type, const Shape *shape)
{
    TypeId result = TYPE_OF_SCALAR(type->scalar);
    for (uint32_t i = shape->count; i-- > 0;) {
        if (shape->open[i] == '(') {
            TypeId one = result;
            for (uint32_t k = 1; k < shape->lengths[i]; k++)
                result = type_pair(&f->types, one, result);
        } else {
            result = shape->open[i] == '{' ? type_sequence(&f->types, result) : type_vector(&f->types, result);
        }
    }
    return result;
}

static void test_shape(Fixture *f, const FileType *type, const Shape *shape, bool is_big, bool is_fortran)
{
    uint32_t cells = 1;
    for (uint32_t i = 0; i < shape->count; i++)
        cells *= shape->lengths[i];
    text_clear(&f->file);
    add_header(&f->file, type, is_big, is_fortran, shape->text);
    for (uint32_t i = 0; i < cells; i++) {
        double value = cell_value(type->kind, cell_at(shape, i, is_fortran));
        add_bits(&f->file, type->kind == FLOATING ? float_bits(type->size, value) : (uint64_t)(int64_t)value, type->size, is_big);
    }
    text_clear(&f->expected);
    expect_part(f, type, shape, 0, 0);
    const char *found = read_file(f, type_of(f, type, shape));
    if (strcmp(found, text_string(&f->expected)) == 0)
        return;
    fprintf(stderr, "%c%s %s%s: %s, not %s\n", is_big ? '>' : '<', type->name, shape->text, is_fortran ? " in Fortran order" : "", found,
            text_string(&f->expected));
    f->failures++;
}

static const Shape shapes[] = {
    {"()", 0, {0}, "", ""},
    {"(24,)", 1, {24}, "[", "]"},
    {"(24,)", 1, {24}, "{", "}"},
    {"(4, 6)", 2, {4, 6}, "[[", "]]"},
    {"(4, 6)", 2, {4, 6}, "{[", "}]"},
    {"(8, 3)", 2, {8, 3}, "[(", "])"},
    {"(8, 3)", 2, {8, 3}, "{(", "})"},
    {"(2, 3, 4)", 3, {2, 3, 4}, "[[[", "]]]"},
    {"(2, 3, 4)", 3, {2, 3, 4}, "{[(", "}])"},
    {"(3, 0)", 2, {3, 0}, "[[", "]]"},
    {"(0, 3)", 2, {0, 3}, "{[", "}]"},
};

static void test_shapes(Fixture *f)
{
    for (size_t t = 0; t < FILE_TYPES; t++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int way = 0; way < 4; way++)
                test_shape(f, &file_types[t], &shapes[s], way & 1, way & 2);
}

/* ---- types ---- */

/* A number of 64 bits and its sign: what all integers are. */
typedef struct Number {
    uint64_t magnitude;
    bool is_negative;
} Number;

static Number least_of(Kind kind, uint32_t size)
{
    return kind == SIGNED ? (Number){UINT64_C(1) << (8 * size - 1), true} : (Number){0, false};
}

static Number most_of(Kind kind, uint32_t size)
{
    uint64_t all = size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * size) - 1;
    return (Number){kind == SIGNED ? all / 2 : all, false};
}

static bool fits(Number number, ScalarType to)
{
    if (scalar_kind(to) == KIND_FLOATING) { /* exactly */
        double value = (double)number.magnitude;
        bool is_exact = value < 0x1p64 && (uint64_t)value == number.magnitude;
        return is_exact && (to == SCALAR_F64 || (double)(float)value == value);
    }
    Kind kind = scalar_kind(to) == KIND_SIGNED ? SIGNED : UNSIGNED;
    uint32_t size = (uint32_t)scalar_size(to);
    return number.magnitude <= (number.is_negative ? least_of(kind, size) : most_of(kind, size)).magnitude;
}

static void expect_number(Fixture *f, Number number, ScalarType to)
{
    Scalar scalar = {.bits = number.is_negative ? 0 - number.magnitude : number.magnitude};
    double value = (number.is_negative ? -1.0 : 1.0) * (double)number.magnitude;
    if (to == SCALAR_F64)
        scalar.f64 = value;
    if (to == SCALAR_F32)
        scalar = (Scalar){.f32 = (float)value};
    text_add_char(&f->expected, '{');
    value_print_scalar(to, scalar, VALUE_STYLE_RUNNEL, &f->expected);
    text_add_char(&f->expected, '}');
}

static void check_found(Fixture *f, const FileType *type, ScalarType to, const char *found, const char *expected, bool is_whole)
{
    if (is_whole ? strcmp(found, expected) == 0 : strstr(found, expected) != NULL)
        return;
    fprintf(stderr, "%s as %s: %s, not %s\n", type->name, scalar_name(to), found, expected);
    f->failures++;
}

static void test_integer(Fixture *f, const FileType *type, ScalarType to, Number number, bool is_big)
{
    text_clear(&f->file);
    text_clear(&f->expected);
    add_header(&f->file, type, is_big, false, "(1,)");
    add_bits(&f->file, number.is_negative ? 0 - number.magnitude : number.magnitude, type->size, is_big);
    bool is_right = fits(number, to);
    if (is_right)
        expect_number(f, number, to);
    else
        text_add(&f->expected, scalar_kind(to) == KIND_FLOATING ? "which is not exactly a" : "which is out of range of");
    check_found(f, type, to, read_file(f, type_sequence(&f->types, TYPE_OF_SCALAR(to))), text_string(&f->expected), is_right);
}

static void test_float(Fixture *f, const FileType *type, ScalarType to, bool is_big)
{
    bool is_float = scalar_kind(to) == KIND_FLOATING;
    text_clear(&f->file);
    add_header(&f->file, type, is_big, false, "(1,)");
    add_bits(&f->file, float_bits(type->size, -2.5), type->size, is_big);
    check_found(f, type, to, read_file(f, type_sequence(&f->types, TYPE_OF_SCALAR(to))), is_float ? "{-2.5}" : "cannot be read as", is_float);
}

static void test_conversion(Fixture *f, const FileType *type, ScalarType to, bool is_big)
{
    if (type->kind == FLOATING) {
        test_float(f, type, to, is_big);
        return;
    }
    const Number numbers[] = {{5, false}, least_of(type->kind, type->size), most_of(type->kind, type->size)};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        test_integer(f, type, to, numbers[i], is_big);
}

static bool is_number(ScalarType scalar)
{
    return scalar_is_integer(scalar) || scalar_kind(scalar) == KIND_FLOATING;
}

static void test_conversions(Fixture *f)
{
    for (size_t t = 0; t < FILE_TYPES; t++)
        for (ScalarType to = 0; to < SCALAR_COUNT; to++)
            for (int is_big = 0; is_big < 2; is_big++)
                if (file_types[t].kind != TRUTH && is_number(to))
                    test_conversion(f, &file_types[t], to, is_big);
}

int main(void)
{
    Fixture f;
    set_up(&f);
    test_shapes(&f);
    test_conversions(&f);
    tear_down(&f);
    return f.failures == 0 ? 0 : 1;
}
