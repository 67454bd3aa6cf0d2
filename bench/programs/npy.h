/* Arrays in files: the part of the .npy format that the benchmarks' data needs. Whatever goes wrong ends the process with a message. */
#ifndef BENCH_NPY_H
#define BENCH_NPY_H

#include "memory.h"

#include <stdint.h>

/* A vector has one column. */
typedef struct Array {
    void *data;
    size_t rows, columns;
} Array;

typedef enum ElementType { ELEMENT_F64, ELEMENT_I64, ELEMENT_I32, ELEMENT_U8, ELEMENT_BOOL } ElementType;

size_t element_size(ElementType type);

/* The file must hold exactly that type. The data is the caller's, to be released. */
Array npy_read(const char *path, ElementType type);

/* One column makes a vector, more a matrix. */
void npy_write(const char *path, ElementType type, const void *data, size_t rows, size_t columns);

#endif
