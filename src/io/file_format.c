#include "io/file_format.h"

#include <string.h>

static const struct {
    const char *name;
    FileFormatKind kind;
    const char *extension; /* null: none says so */
} formats[] = {
    {"text", FORMAT_TEXT, NULL},
    {"npy", FORMAT_NPY, ".npy"},
    {"csv", FORMAT_CSV, ".csv"},
    {"tsv", FORMAT_TSV, ".tsv"},
    {"lines", FORMAT_LINES, NULL},
};

static const struct {
    const char *name;
    ScalarType scalar;
} other_names[] = {{"i64", SCALAR_I64}, {"f64", SCALAR_F64}, {"real", SCALAR_F64}};

FileFormat file_format_named(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(name, formats[i].name) == 0)
            return (FileFormat){.kind = formats[i].kind};
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (strcmp(name, other_names[i].name) == 0)
            return (FileFormat){.kind = FORMAT_RAW, .scalar = other_names[i].scalar};
    for (ScalarType scalar = 0; scalar < SCALAR_COUNT; scalar++)
        if (strcmp(name, scalar_name(scalar)) == 0)
            return (FileFormat){.kind = FORMAT_RAW, .scalar = scalar};
    return (FileFormat){.kind = FORMAT_NONE};
}

FileFormat file_format_of_path(const char *path, size_t length)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t end = formats[i].extension == NULL ? length : strlen(formats[i].extension);
        if (end < length && memcmp(path + length - end, formats[i].extension, end) == 0)
            return (FileFormat){.kind = formats[i].kind};
    }
    return (FileFormat){.kind = FORMAT_NONE};
}
