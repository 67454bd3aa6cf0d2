/* Arrays in files: the part of the .npy format that the benchmarks' data needs. Whatever goes wrong ends the process with a message. */
#ifndef BENCH_NPY_H
#define BENCH_NPY_H

#include <stddef.h>
#include <stdint.h>

/* A vector has one column. */
typedef struct Array {
    void *data;
    size_t rows, columns;
} Array;

typedef enum ElementType { ELEMENT_F64, ELEMENT_I64, ELEMENT_I32, ELEMENT_U8, ELEMENT_BOOL } ElementType;

size_t element_size(ElementType type);

/* Room for that many bytes, aligned for any vector instruction and in large pages where the system has them; free with free. */
void *allocate(size_t bytes);

/* The file must hold exactly that type. The data belongs to the caller. */
Array npy_read(const char *path, ElementType type);

/* One column makes a vector, more a matrix. */
void npy_write(const char *path, ElementType type, const void *data, size_t rows, size_t columns);

_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
