/* The headers of .npy files: what an array's elements are, their order and its shape, as a literal of Python after a few bytes.
 *
 *     \x93NUMPY  major minor  length (2 bytes, from version 2 on 4)  {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }      */
#ifndef RUNNEL_IO_NPY_H
#define RUNNEL_IO_NPY_H

#include "base/text.h"
#include "io/scalar_convert.h"

enum { NPY_MAGIC_SIZE = 6, NPY_DIMENSIONS_MAX = 32, NPY_HEADER_MAX = 1 << 16 };
extern const char npy_magic[NPY_MAGIC_SIZE + 1];

typedef struct NpyHeader {
    FileScalar scalar;
    bool is_fortran; /* the first index varies fastest */
    uint32_t dimension_count;
    uint64_t dimensions[NPY_DIMENSIONS_MAX];
} NpyHeader;

/* Reads the literal. Null, or what is wrong: a text that says where, in the room given. */
enum { NPY_PROBLEM_SIZE = 256 };
const char *npy_read_header(const char *text, size_t length, NpyHeader *header, char problem[NPY_PROBLEM_SIZE]);

/* How many elements; false if that, or their bytes, are more than can be counted. */
bool npy_count(const NpyHeader *header, uint64_t *count);
/* The shape as Python writes it: (3, 4). */
enum { NPY_SHAPE_SIZE = NPY_DIMENSIONS_MAX * 24 };
const char *npy_shape(const NpyHeader *header, char out[NPY_SHAPE_SIZE]);
/* Everything before the elements, for an array of this machine's scalars in C order. */
void npy_add_header(ScalarType scalar, const uint64_t *dimensions, uint32_t dimension_count, Text *out);

#endif
