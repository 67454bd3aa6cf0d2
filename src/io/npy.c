#include "io/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char npy_magic[NPY_MAGIC_SIZE + 1] = "\x93NUMPY";

/* ---- types ---- */

/* As they are written, but for the order of bytes. */
static const struct {
    const char *name;
    ScalarType type;
    bool is_half;
} npy_types[] = {
    {"b1", SCALAR_BOOL, false}, {"i1", SCALAR_I8, false},  {"i2", SCALAR_I16, false}, {"i4", SCALAR_I32, false},
    {"i8", SCALAR_I64, false},  {"u1", SCALAR_U8, false},  {"u2", SCALAR_U16, false}, {"u4", SCALAR_U32, false},
    {"u8", SCALAR_U64, false},  {"f2", SCALAR_F32, true},  {"f4", SCALAR_F32, false}, {"f8", SCALAR_F64, false},
    {"S1", SCALAR_CHAR, false}, {"u1", SCALAR_CHAR, false}, /* written as u1, which everybody reads */
};
enum { NPY_TYPES_READ = sizeof npy_types / sizeof *npy_types - 1 };

static bool is_little_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* ---- reading: a little of Python ---- */

typedef struct HeaderReader {
    const char *text;
    size_t length;
    size_t at;
    NpyHeader *header;
    char *problem;
    unsigned seen; /* keys, as bits */
} HeaderReader;

static bool fail(HeaderReader *reader, const char *expected)
{
    size_t rest = reader->length - reader->at, shown = rest < 24 ? rest : 24;
    char found[25];
    memcpy(found, reader->text + reader->at, shown);
    for (size_t i = 0; i < shown; i++)
        found[i] = found[i] >= ' ' && found[i] <= '~' ? found[i] : '?';
    found[shown] = '\0';
    if (rest == 0)
        snprintf(reader->problem, NPY_PROBLEM_SIZE, "expected %s at byte %zu of the header, found its end", expected, reader->at);
    else
        snprintf(reader->problem, NPY_PROBLEM_SIZE, "expected %s at byte %zu of the header, found \"%s\"", expected, reader->at, found);
    return false;
}

static int next_char(HeaderReader *reader)
{
    while (reader->at < reader->length && memchr(" \t\n\r", reader->text[reader->at], 4) != NULL)
        reader->at++;
    return reader->at < reader->length ? (unsigned char)reader->text[reader->at] : -1;
}

static bool take(HeaderReader *reader, char c)
{
    bool is_there = next_char(reader) == c;
    reader->at += is_there;
    return is_there;
}

static bool take_word(HeaderReader *reader, const char *word)
{
    next_char(reader);
    size_t length = strlen(word);
    bool is_there = reader->length - reader->at >= length && memcmp(reader->text + reader->at, word, length) == 0;
    reader->at += is_there ? length : 0;
    return is_there;
}

/* A short text in quotes, without escapes. */
static bool take_string(HeaderReader *reader, char *out, size_t size)
{
    int quote = next_char(reader);
    if (quote != '\'' && quote != '"')
        return false;
    const char *start = reader->text + reader->at + 1;
    const char *end = memchr(start, quote, reader->length - reader->at - 1);
    if (end == NULL || (size_t)(end - start) >= size)
        return false;
    memcpy(out, start, (size_t)(end - start));
    out[end - start] = '\0';
    reader->at = (size_t)(end - reader->text) + 1;
    return true;
}

static bool read_descr(HeaderReader *reader)
{
    char text[16];
    int first = next_char(reader);
    size_t start = reader->at;
    if (first == '[')
        return fail(reader, "the name of a type such as '<f8' (arrays with fields are not read)");
    if (!take_string(reader, text, sizeof text))
        return fail(reader, "the name of a type such as '<f8'");
    bool has_order = text[0] != '\0' && strchr("<>=|", text[0]) != NULL;
    for (size_t i = 0; i < NPY_TYPES_READ; i++)
        if (strcmp(text + has_order, npy_types[i].name) == 0) {
            bool is_foreign = text[0] == (is_little_endian() ? '>' : '<');
            reader->header->scalar =
                (FileScalar){.type = npy_types[i].type, .is_half = npy_types[i].is_half, .is_swapped = is_foreign};
            return true;
        }
    reader->at = start;
    return fail(reader, "a type of bool, integers or floats up to eight bytes");
}

static bool read_order(HeaderReader *reader)
{
    reader->header->is_fortran = take_word(reader, "True");
    return reader->header->is_fortran || take_word(reader, "False") || fail(reader, "True or False");
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool read_dimension(HeaderReader *reader)
{
    NpyHeader *header = reader->header;
    uint64_t value = 0;
    if (!is_digit(next_char(reader)))
        return fail(reader, "a length");
    if (header->dimension_count == NPY_DIMENSIONS_MAX)
        return fail(reader, "at most 32 dimensions");
    for (; reader->at < reader->length && is_digit(reader->text[reader->at]); reader->at++) {
        uint64_t digit = (uint64_t)(reader->text[reader->at] - '0');
        if (value > (INT64_MAX - digit) / 10)
            return fail(reader, "a length below 2^63");
        value = value * 10 + digit;
    }
    take(reader, 'L'); /* of Python 2 */
    header->dimensions[header->dimension_count++] = value;
    return true;
}

static bool read_shape(HeaderReader *reader)
{
    reader->header->dimension_count = 0;
    if (!take(reader, '('))
        return fail(reader, "a shape such as (3, 4)");
    while (!take(reader, ')')) {
        if (!read_dimension(reader))
            return false;
        if (!take(reader, ',') && next_char(reader) != ')')
            return fail(reader, "a comma or the end of the shape");
    }
    return true;
}

static bool read_entry(HeaderReader *reader)
{
    static const struct {
        const char *key;
        bool (*read)(HeaderReader *reader);
    } entries[] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};
    char key[16];
    size_t start = reader->at;
    if (take_string(reader, key, sizeof key) && take(reader, ':'))
        for (unsigned i = 0; i < sizeof entries / sizeof *entries; i++)
            if (strcmp(key, entries[i].key) == 0 && !(reader->seen & 1u << i)) {
                reader->seen |= 1u << i;
                return entries[i].read(reader);
            }
    reader->at = start;
    return fail(reader, "'descr', 'fortran_order' and 'shape', once each");
}

static bool read_dictionary(HeaderReader *reader)
{
    enum { ALL_SEEN = 7 };
    if (!take(reader, '{'))
        return fail(reader, "{");
    while (!take(reader, '}')) {
        if (!read_entry(reader))
            return false;
        if (!take(reader, ',') && next_char(reader) != '}')
            return fail(reader, "a comma or }");
    }
    if (reader->seen != ALL_SEEN)
        return fail(reader, "'descr', 'fortran_order' and 'shape' before it");
    return next_char(reader) == -1 || fail(reader, "nothing more");
}

const char *npy_read_header(const char *text, size_t length, NpyHeader *header, char problem[NPY_PROBLEM_SIZE])
{
    HeaderReader reader = {.text = text, .length = length, .header = header, .problem = problem};
    *header = (NpyHeader){0};
    return read_dictionary(&reader) ? NULL : problem;
}

/* ---- shapes ---- */

bool npy_count(const NpyHeader *header, uint64_t *count)
{
    uint64_t limit = INT64_MAX / file_scalar_size(header->scalar);
    *count = 1;
    for (uint32_t i = 0; i < header->dimension_count; i++)
        if (header->dimensions[i] == 0) {
            *count = 0;
            return true;
        }
    for (uint32_t i = 0; i < header->dimension_count; i++) {
        if (header->dimensions[i] > limit / *count)
            return false;
        *count *= header->dimensions[i];
    }
    return true;
}

static const char *shape_text(const uint64_t *dimensions, uint32_t count, char out[NPY_SHAPE_SIZE])
{
    size_t length = (size_t)snprintf(out, NPY_SHAPE_SIZE, "(");
    for (uint32_t i = 0; i < count; i++)
        length += (size_t)snprintf(out + length, NPY_SHAPE_SIZE - length, "%s%" PRIu64, i == 0 ? "" : ", ", dimensions[i]);
    snprintf(out + length, NPY_SHAPE_SIZE - length, count == 1 ? ",)" : ")");
    return out;
}

const char *npy_shape(const NpyHeader *header, char out[NPY_SHAPE_SIZE])
{
    return shape_text(header->dimensions, header->dimension_count, out);
}

/* ---- writing ---- */

static const char *type_name(ScalarType scalar)
{
    size_t i = sizeof npy_types / sizeof *npy_types;
    while (npy_types[--i].type != scalar || npy_types[i].is_half)
        continue;
    return npy_types[i].name;
}

/* The whole is a multiple of 64 bytes long, so that the elements can be mapped into memory. */
void npy_add_header(ScalarType scalar, const uint64_t *dimensions, uint32_t dimension_count, Text *out)
{
    enum { BEFORE = NPY_MAGIC_SIZE + 4, ALIGNMENT = 64 };
    size_t start = out->length;
    char shape[NPY_SHAPE_SIZE];
    text_add_bytes(out, npy_magic, NPY_MAGIC_SIZE);
    text_add_bytes(out, "\1\0\0\0", 4);
    char order = scalar_size(scalar) == 1 ? '|' : is_little_endian() ? '<' : '>';
    text_addf(out, "{'descr': '%c%s', 'fortran_order': False, 'shape': ", order, type_name(scalar));
    text_addf(out, "%s, }", shape_text(dimensions, dimension_count, shape));
    size_t length = out->length - start + 1;
    text_add_repeated(out, ' ', (ALIGNMENT - length % ALIGNMENT) % ALIGNMENT);
    text_add_char(out, '\n');
    size_t header = out->length - start - BEFORE;
    out->bytes[start + NPY_MAGIC_SIZE + 2] = (char)(header & 255);
    out->bytes[start + NPY_MAGIC_SIZE + 3] = (char)(header >> 8);
}
