/* The format of object files: a value as a list of flat vectors, as NESL's back end keeps it.
 *
 * A value is written as a list of one value, and a list of values of a type
 *   of scalars      is one line  ( v1 v2 ... ), bools as T and F; of chars it is a line with their number and then the bytes,
 *                   followed by the end of a line;
 *   of tuples       is the list of the first components, then that of the rest;
 *   of containers   is one line  [ n1 n2 ... ]  of their lengths, then the list of all their elements;
 *   of ()           is nothing.
 * Reading takes any blanks for one. */
#ifndef RUNNEL_IO_OBJECT_FILE_H
#define RUNNEL_IO_OBJECT_FILE_H

#include "io/value.h"
#include "io/world.h"

/* Both give null, or the reason why they failed. */
const char *object_file_write(World *world, int64_t descriptor, Heap *heap, Types *types, TypeId type, Value value);
/* A new value, owned by the caller; the zero value after a failure. */
const char *object_file_read(World *world, int64_t descriptor, Heap *heap, Types *types, TypeId type, Value *value);

#endif
