#include "npy.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t size;
} elements[] = {
    [ELEMENT_F64] = {"<f8", 8}, [ELEMENT_I64] = {"<i8", 8}, [ELEMENT_I32] = {"<i4", 4},
    [ELEMENT_U8] = {"|u1", 1},  [ELEMENT_BOOL] = {"|b1", 1},
};

static const char magic[8] = "\x93NUMPY\x01";
enum { PREFIX = 10 };

size_t element_size(ElementType type)
{
    return elements[type].size;
}

/* "(3,)" or "(3, 4)" after 'shape': */
static Array shape_of(const char *header, const char *path)
{
    Array array = {NULL, 0, 1};
    const char *shape = strstr(header, "'shape': (");
    int found = shape == NULL ? 0 : sscanf(shape, "'shape': (%zu, %zu", &array.rows, &array.columns);
    if (found < 1)
        fail("%s: the header has no shape of one or two dimensions", path);
    return array;
}

static void check_header(const char *header, const char *path, ElementType type)
{
    const char *name = strstr(header, "'descr': '");
    if (name == NULL || strncmp(name + strlen("'descr': '"), elements[type].name, 3) != 0)
        fail("%s: expected elements of type %s, the header is %s", path, elements[type].name, header);
    if (strstr(header, "'fortran_order': False") == NULL)
        fail("%s: expected rows after one another (C order)", path);
}

Array npy_read(const char *path, ElementType type)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail("%s: cannot be opened", path);
    unsigned char prefix[PREFIX];
    if (fread(prefix, 1, PREFIX, file) != PREFIX || memcmp(prefix, magic, sizeof magic) != 0)
        fail("%s: not a .npy file of version 1.0", path);
    size_t length = prefix[8] + 256u * prefix[9];
    char header[65536];
    if (fread(header, 1, length, file) != length)
        fail("%s: ends within its header", path);
    header[length] = '\0';
    check_header(header, path, type);
    Array array = shape_of(header, path);
    size_t bytes = array.rows * array.columns * elements[type].size;
    array.data = allocate(bytes);
    size_t got = fread(array.data, 1, bytes, file);
    if (got != bytes)
        fail("%s: %zu bytes of elements, expected %zu", path, got, bytes);
    fclose(file);
    return array;
}

void npy_write(const char *path, ElementType type, const void *data, size_t rows, size_t columns)
{
    char shape[64];
    if (columns == 1)
        snprintf(shape, sizeof shape, "(%zu,)", rows);
    else
        snprintf(shape, sizeof shape, "(%zu, %zu)", rows, columns);
    char header[256];
    int text = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", elements[type].name, shape);
    size_t length = ((size_t)text + 1 + PREFIX + 63) / 64 * 64 - PREFIX; /* elements begin at a multiple of 64 bytes */
    memset(header + text, ' ', length - (size_t)text);
    header[length - 1] = '\n';
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        fail("%s: cannot be written", path);
    unsigned char size[2] = {(unsigned char)(length & 255), (unsigned char)(length >> 8)};
    size_t bytes = rows * columns * elements[type].size;
    if (fwrite(magic, 1, sizeof magic, file) != sizeof magic || fwrite(size, 1, 2, file) != 2 ||
        fwrite(header, 1, length, file) != length || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
        fail("%s: could not be written to its end", path);
}
