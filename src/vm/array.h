/* Arrays: the memory of vectors, column by column, with counted references.
 *
 * An array has one column for each leaf of its layout (flow/layout.h). A vector is (array, start, length): several vectors may lie in one
 * array, and slices share it. An array may still be appended to while vectors in it are in use; what is in it never changes.
 *
 * A column is uniform when one cell stands for all its elements. Columns of LEAF_ARRAY own a reference for each cell they hold, one
 * if uniform. The same holds for every buffer of such cells in the engine: whoever stores a cell retains it. */
#ifndef RUNNEL_VM_ARRAY_H
#define RUNNEL_VM_ARRAY_H

#include "flow/layout.h"
#include "io/value.h"
#include "io/value_digest.h"
#include "math/scalar.h"
#include "vm/team.h"

/* Cells to read: of one leaf, next to each other, or one for all. */
typedef struct Cells {
    const void *data;
    bool is_uniform;
} Cells;

/* Memory that columns of several arrays have in common, since what is in it never changes. */
typedef struct SharedCells {
    uint64_t references; /* columns and streams */
    void *data;
    size_t size; /* bytes */
} SharedCells;

typedef struct Column {
    void *data;      /* null while nothing was added */
    size_t capacity; /* in cells; what is there for a uniform column too, though it uses one */
    bool is_uniform;
    SharedCells *shared; /* null if the memory is the column's own */
} Column;

typedef struct Array Array;
struct Array {
    union {
        uint64_t references; /* as wide as a pointer: columns of references can be longer than 2^32 */
        Array *next_dead;    /* while it waits to be freed */
    };
    const Layout *layout;
    size_t count;
    Column columns[]; /* layout->count */
};

Array *array_new(Memory *memory, const Layout *layout); /* empty, one reference */
/* Null is allowed: of an empty vector that nobody has made. */
static inline Array *array_retain(Array *array)
{
    if (array != NULL)
        array->references++;
    return array;
}
/* Frees it with the last reference, and what it refers to; not by recursion over the depth of the data. Null is allowed. */
void array_release(Memory *memory, Array *array);

/* Makes room for `count` elements more, so that appending them does not move columns again; but for columns that are uniform, and
 * of arrays that may become so. */
void array_reserve(Memory *memory, Array *array, size_t count);
/* Bytes of an element, where no column is uniform. */
size_t array_row_size(const Array *array);
/* Appends rows [first, first + count) of `cells`, one Cells for each leaf; retains arrays among them. The cells are not the array's own.
 * Where an allocation fails, here or below, the array is as it was. The team shares the copying of many. */
void array_append(Memory *memory, Team *team, Array *array, const Cells *cells, size_t first, size_t count);
/* Appends elements [start, start + count) of an array of the same layout, perhaps itself. */
void array_append_slice(Memory *memory, Team *team, Array *array, const Array *from, size_t start, size_t count);

/* A column of arrays of which there are no elements yet gets one, new and empty, for all that will be appended. */
void array_start_inner(Memory *memory, Array *array, uint32_t leaf);
/* The column is not uniform afterwards; nothing else changes. */
void array_write_out(Memory *memory, Array *array, uint32_t leaf);
/* That many elements stand behind the last, in all columns that are not uniform: they belong to the array now. */
void array_count_more(Memory *memory, Array *array, size_t count);

/* Other memory for a column: as many cells of this size as fit are copied. */
void column_resize(Memory *memory, Column *column, size_t size, size_t capacity);
/* An empty array's column gets the memory of elements [start, start + count) of another's, of scalars of the same type. */
void array_share_column(Memory *memory, Array *array, uint32_t leaf, Array *from, uint32_t from_leaf, size_t start, size_t count);
/* The array has that many elements now, which all columns share with others. */
void array_count_shared(Array *array, size_t count);

/* A reference to the memory of a column of scalars that is not uniform and not empty: as long as it is held, what is there now stays where it is. */
SharedCells *array_lend_column(Memory *memory, Array *array, uint32_t leaf);
void shared_cells_release(Memory *memory, SharedCells *shared); /* null is allowed */

/* The cells of a column from element `start` on. */
Cells array_cells(const Array *array, uint32_t leaf, size_t start);
/* A copy of elements [start, start + length) that nobody else refers to, with no uniform columns: for scattering into. */
Array *array_copy(Memory *memory, Team *team, const Array *from, size_t start, size_t length);

/* Vectors that compiled code has made: cells of their three leaves. Arrays without references are of regions (kernel/preamble/region.h). */
typedef struct MadeVectors {
    Array *const *arrays;
    const int64_t *starts;
    const int64_t *lengths;
    size_t count; /* at least 1 */
    /* The memory that these bytes of a region lie in, which is not the region's any more, if it is large and they are most of it; else null. One reference. */
    SharedCells *(*keep)(void *context, const void *cells, size_t bytes);
    void *context; /* for keep */
} MadeVectors;
/* Copies the elements of those in regions, all into one new array, and retains the arrays of others. Elements that lie one behind the other in memory that can be kept are not copied. Writes references to
 * `arrays`, which are null before, and where the vectors start in them to `starts`. */
void vectors_adopt(Memory *memory, Team *team, const Layout *elements, const MadeVectors *made, Array **arrays, int64_t *starts);

/* ---- cells; null stands for an array nobody made yet, of which all vectors are empty ---- */
static inline size_t cells_index(Cells cells, size_t i)
{
    return cells.is_uniform ? 0 : i;
}
void cells_retain(LeafType type, const void *data, size_t count);                  /* nothing but for LEAF_ARRAY */
void cells_release(Memory *memory, LeafType type, const void *data, size_t count); /* likewise */
/* Copies `count` cells, retaining them. */
void cells_copy(LeafType type, void *out, Cells from, size_t first, size_t count);
/* Leaves retaining to the caller: for loops that are shared, whose pieces must not count references. */
void cells_copy_unretained(LeafType type, void *out, Cells from, size_t first, size_t count);
/* Copies and retains, shared by a team if there are many. */
void cells_copy_shared(Team *team, LeafType type, void *out, Cells from, size_t first, size_t count);
/* Writes `count` times the cell `value`, retaining it. */
void cells_fill(LeafType type, void *out, const void *value, size_t count);
/* out[i] = column `leaf` of arrays[i] at index[i] (int64_t, in range); retains. Fast where `arrays` is uniform. */
void cells_gather(Team *team, LeafType type, void *out, Cells arrays, uint32_t leaf, Cells index, size_t count);
/* As a Scalar; scalar types only. */
Scalar cells_scalar(ScalarType type, Cells cells, size_t i);
void cells_set_scalar(ScalarType type, void *out, size_t i, Scalar value);

/* ---- rows: values of a layout, cells[leaf] at index i ---- */
/* The order of sorting and grouping (io/value.h): -0 equals +0, nan is last; lexicographic. */
int rows_compare(const Layout *layout, const Cells *a, size_t i, const Cells *b, size_t j);
/* How `<` and `==` see two values. */
Order rows_order(const Layout *layout, const Cells *a, size_t i, const Cells *b, size_t j);
/* As `hash` defines it (math/random.h); equal for values that rows_compare calls equal. */
uint64_t rows_hash(const Layout *layout, const Cells *cells, size_t i, uint64_t seed);

/* ---- to and from the values of io/value.h ---- */
/* Appends a value of the layout's type as one element. Inner vectors go into one array for each column of them. After a failed allocation the
 * element may be there, with vectors missing. */
void array_append_value(Memory *memory, Types *types, Array *array, Value value);
/* One row as a value, a new reference. */
Value rows_value(Heap *heap, Types *types, const Layout *layout, const Cells *cells, size_t i);
/* Adds the numbers of one row. */
void rows_digest(const Layout *layout, const Cells *cells, size_t i, ValueDigest *digest);

/* ---- sorting (array_sort.c) ---- */
/* The positions, counted from `start`, that sort elements [start, start + length) stably by rows_compare, into `out`; equal
 * elements stay in their order, descending too. */
void array_grade(Team *team, const Array *array, size_t start, size_t length, bool is_descending, int64_t *out);
/* The same for rows [0, count) of `cells`. */
void rows_grade(Team *team, const Layout *layout, const Cells *cells, size_t count, bool is_descending, int64_t *out);
/* The same for many slices of arrays, which are of one layout; null stands for an array of which a slice is empty. */
typedef struct Grade {
    const Array *array;
    size_t start, length;
    void *out; /* positions or ranks, int64_t; or elements */
} Grade;
void arrays_grade(Team *team, const Grade *slices, size_t count, bool is_descending);
/* At each position its place among them. */
void arrays_rank(Team *team, const Grade *slices, size_t count, bool is_descending);
/* Sorts the elements themselves, which are scalars, stably. */
void arrays_sort(Team *team, const Grade *slices, size_t count, bool is_descending);

#endif
