/* Rows: order, hash, and the way from and to the values of io/value.h.
 *
 * The C stack is used over the depth of layouts and types only, which is bounded (TYPE_DEPTH_MAX). */
#include "math/elementary.h"
#include "math/random.h"
#include "vm/array_private.h"

#include <string.h>

/* ---- order ---- */

static Order order_of_nans(bool a_is_nan, bool b_is_nan, bool is_total)
{
    return is_total ? scalar_order_of(b_is_nan && !a_is_nan, a_is_nan == b_is_nan, true) : ORDER_NONE;
}

/* For two values of any C type; what is neither less, greater nor equal involves a nan. */
#define ORDER_OF(x, y, is_total)                                                                                      \
    ((x) < (y)    ? ORDER_LESS                                                                                        \
     : (x) > (y)  ? ORDER_GREATER                                                                                     \
     : (x) == (y) ? ORDER_EQUAL                                                                                       \
                  : order_of_nans((x) != (x), (y) != (y), is_total))

static Order scalar_cells_order(LeafType type, Cells a, size_t i, Cells b, size_t j, bool is_total)
{
    i = cells_index(a, i);
    j = cells_index(b, j);
    switch (type) {
#define SCALAR(ID, name, c_type, kind)                                                                                \
    case SCALAR_##ID: {                                                                                               \
        c_type x = ((const c_type *)a.data)[i], y = ((const c_type *)b.data)[j];                                      \
        return ORDER_OF(x, y, is_total);                                                                              \
    }
#include "ops/scalars.def"
#undef SCALAR
    }
    return ORDER_EQUAL;
}

/* Runs of cells next to each other, one function for each scalar type. */
#define SCALAR(ID, name, c_type, kind)                                                                                \
    static Order run_order_##ID(const c_type *a, const c_type *b, size_t count, bool is_total)                        \
    {                                                                                                                 \
        for (size_t i = 0; i < count; i++)                                                                            \
            if (!(a[i] == b[i])) {                                                                                    \
                Order order = ORDER_OF(a[i], b[i], is_total);                                                         \
                if (order != ORDER_EQUAL)                                                                             \
                    return order;                                                                                     \
            }                                                                                                         \
        return ORDER_EQUAL;                                                                                           \
    }
#include "ops/scalars.def"
#undef SCALAR

/* Of bytes without a sign: the C library compares many at once. */
static Order bytes_order(const unsigned char *a, const unsigned char *b, size_t count)
{
    int order = memcmp(a, b, count);
    return order < 0 ? ORDER_LESS : order > 0 ? ORDER_GREATER : ORDER_EQUAL;
}

static bool is_byte(LeafType type)
{
    return type == SCALAR_CHAR || type == SCALAR_BOOL || type == SCALAR_U8;
}

static Order run_order(LeafType type, const void *a, size_t i, const void *b, size_t j, size_t count, bool is_total)
{
    if (is_byte(type))
        return bytes_order((const unsigned char *)a + i, (const unsigned char *)b + j, count);
    switch (type) {
#define SCALAR(ID, name, c_type, kind)                                                                                \
    case SCALAR_##ID:                                                                                                 \
        return run_order_##ID((const c_type *)a + i, (const c_type *)b + j, count, is_total);
#include "ops/scalars.def"
#undef SCALAR
    }
    return ORDER_EQUAL;
}

static Order elements_order(const Layout *elements, Vector a, Vector b, size_t count, bool is_total)
{
    if (count == 0 || (is_total && a.array == b.array && a.start == b.start))
        return ORDER_EQUAL;
    if (elements->count == 1) { /* one leaf is a scalar */
        const Column *x = &a.array->columns[0], *y = &b.array->columns[0];
        if (!x->is_uniform && !y->is_uniform)
            return run_order(elements->leaves[0].type, x->data, a.start, y->data, b.start, count, is_total);
    }
    for (size_t i = 0; i < count; i++) {
        Order order = row_order(elements, 0, vector_row(a, i), vector_row(b, i), is_total);
        if (order != ORDER_EQUAL)
            return order;
    }
    return ORDER_EQUAL;
}

static Order vector_order(const Layout *elements, Vector a, Vector b, bool is_total)
{
    size_t common = a.length < b.length ? a.length : b.length;
    Order order = elements_order(elements, a, b, common, is_total);
    return order == ORDER_EQUAL ? scalar_order_of(a.length < b.length, a.length == b.length, true) : order;
}

Order row_order(const Layout *layout, uint32_t leaf, Row a, Row b, bool is_total)
{
    while (leaf < layout->count) {
        LeafType type = layout->leaves[leaf].type;
        Order order = type == LEAF_ARRAY
                          ? vector_order(layout->leaves[leaf].elements, row_vector(a, leaf), row_vector(b, leaf), is_total)
                          : scalar_cells_order(type, rows_leaf(a.rows, leaf), a.index, rows_leaf(b.rows, leaf), b.index,
                                               is_total);
        if (order != ORDER_EQUAL)
            return order;
        leaf += type == LEAF_ARRAY ? 3 : 1;
    }
    return ORDER_EQUAL;
}

Order rows_order(const Layout *layout, const Cells *a, size_t i, const Cells *b, size_t j)
{
    return row_order(layout, 0, (Row){{.cells = a}, i}, (Row){{.cells = b}, j}, false);
}

int rows_compare(const Layout *layout, const Cells *a, size_t i, const Cells *b, size_t j)
{
    Order order = row_order(layout, 0, (Row){{.cells = a}, i}, (Row){{.cells = b}, j}, true);
    return (order == ORDER_GREATER) - (order == ORDER_LESS);
}

/* ---- hash ---- */

/* Equal values have equal bits: no -0, one nan. */
static uint64_t hash_bits(LeafType type, Scalar scalar)
{
    if (type == SCALAR_F64)
        return scalar_of_f64(scalar.f64 == 0.0 ? 0.0 : scalar.f64).bits;
    if (type == SCALAR_F32)
        return scalar_of_f32(scalar.f32 == 0.0f ? 0.0f : scalar.f32).bits;
    return scalar.bits;
}

static uint64_t row_hash(const Layout *layout, Row row, uint64_t seed);

/* The length in front, so that ([1], []) and ([], [1]) differ. */
static uint64_t vector_hash(const Layout *elements, Vector vector, uint64_t seed)
{
    seed = random_hash(seed, vector.length);
    for (size_t i = 0; i < vector.length; i++)
        seed = row_hash(elements, vector_row(vector, i), seed);
    return seed;
}

static uint64_t row_hash(const Layout *layout, Row row, uint64_t seed)
{
    for (uint32_t leaf = 0; leaf < layout->count; leaf++) {
        LeafType type = layout->leaves[leaf].type;
        if (type == LEAF_ARRAY) {
            seed = vector_hash(layout->leaves[leaf].elements, row_vector(row, leaf), seed);
            leaf += 2; /* where it starts and its length */
        } else {
            Scalar scalar = cells_scalar((ScalarType)type, rows_leaf(row.rows, leaf), row.index);
            seed = random_hash(seed, hash_bits(type, scalar));
        }
    }
    return seed;
}

uint64_t rows_hash(const Layout *layout, const Cells *cells, size_t i, uint64_t seed)
{
    return row_hash(layout, (Row){{.cells = cells}, i}, seed);
}

/* ---- from values ---- */

static TypeId representation(Types *types, TypeId type)
{
    while (type_kind(types, type) == TYPE_DATA || type_kind(types, type) == TYPE_CLOSURE)
        type = type_representation(types, type);
    return type;
}

static void append_values(Memory *memory, Types *types, Array *array, const Value *values, size_t count);

/* The array for the vectors that element `row` of an array has in a column. */
static Array *inner_array(Memory *memory, Array *array, uint32_t leaf, size_t row)
{
    const Column *column = &array->columns[leaf];
    Array **cell = (Array **)column->data + (column->is_uniform ? 0 : row);
    if (*cell == NULL)
        *cell = array_new(memory, array->layout->leaves[leaf].elements);
    return *cell;
}

/* The start and length are written last: until then the vector is empty. */
static void put_vector(Memory *memory, Types *types, Array *array, size_t row, uint32_t leaf, const Object *elements)
{
    Array *inner = inner_array(memory, array, leaf, row);
    size_t start = inner->count;
    append_values(memory, types, inner, elements->items, elements->count);
    ((int64_t *)array->columns[leaf + 1].data)[row] = (int64_t)start;
    ((int64_t *)array->columns[leaf + 2].data)[row] = (int64_t)elements->count;
}

/* Writes a value over the zeros of element `row` from a leaf on; gives the leaf after it. */
static uint32_t put_value(Memory *memory, Types *types, Array *array, size_t row, uint32_t leaf, TypeId type, Value value)
{
    type = representation(types, type);
    for (; type_kind(types, type) == TYPE_PAIR; type = representation(types, type_rest(types, type))) {
        leaf = put_value(memory, types, array, row, leaf, type_first(types, type), value.object->items[0]);
        value = value.object->items[1];
    }
    if (type_kind(types, type) == TYPE_SCALAR) {
        cells_set_scalar(type_scalar(types, type), array->columns[leaf].data, row, value.scalar);
        return leaf + 1;
    }
    if (type_kind(types, type) == TYPE_CONTAINER) {
        put_vector(memory, types, array, row, leaf, value.object);
        return leaf + 3;
    }
    return leaf; /* unit */
}

static void append_values(Memory *memory, Types *types, Array *array, const Value *values, size_t count)
{
    size_t first = array->count;
    array_append_zeros(memory, array, count);
    TypeId type = representation(types, array->layout->type);
    if (type_kind(types, type) == TYPE_SCALAR && count > 0) {
        void *cells = array->columns[0].data;
        for (size_t i = 0; i < count; i++)
            cells_set_scalar(type_scalar(types, type), cells, first + i, values[i].scalar);
        return;
    }
    for (size_t i = 0; i < count; i++)
        put_value(memory, types, array, first + i, 0, type, values[i]);
}

void array_append_value(Memory *memory, Types *types, Array *array, Value value)
{
    append_values(memory, types, array, &value, 1);
}

/* ---- to values ---- */

typedef struct Reader {
    Heap *heap;
    Types *types;
} Reader;

static Value read_value(const Reader *reader, TypeId type, Row row, uint32_t *leaf);

static Value read_vector(const Reader *reader, TypeId type, Vector vector)
{
    Object *container = value_container(reader->heap, reader->types, type, vector.length);
    TypeId element = representation(reader->types, type_element(reader->types, type));
    for (size_t i = 0; i < vector.length; i++) {
        uint32_t leaf = 0;
        Value value = read_value(reader, element, vector_row(vector, i), &leaf);
        container = value_append(reader->heap, container, value);
    }
    return (Value){.object = container};
}

/* Reads a value that starts at a leaf, and moves on to the leaf after it. */
static Value read_value(const Reader *reader, TypeId type, Row row, uint32_t *leaf)
{
    Types *types = reader->types;
    type = representation(types, type);
    if (type_kind(types, type) == TYPE_PAIR) {
        Value first = read_value(reader, type_first(types, type), row, leaf);
        Value rest = read_value(reader, type_rest(types, type), row, leaf);
        return value_pair(reader->heap, types, type, first, rest);
    }
    if (type_kind(types, type) == TYPE_CONTAINER) {
        *leaf += 3;
        return read_vector(reader, type, row_vector(row, *leaf - 3));
    }
    if (type_kind(types, type) == TYPE_SCALAR) {
        Cells cells = rows_leaf(row.rows, (*leaf)++);
        return (Value){.scalar = cells_scalar(type_scalar(types, type), cells, row.index)};
    }
    return (Value){0}; /* unit */
}

Value rows_value(Heap *heap, Types *types, const Layout *layout, const Cells *cells, size_t i)
{
    Reader reader = {heap, types};
    uint32_t leaf = 0;
    return read_value(&reader, layout->type, (Row){{.cells = cells}, i}, &leaf);
}

/* ---- to digests ---- */

static void digest_row(const Layout *layout, Row row, ValueDigest *digest);

static void digest_vector(const Layout *layout, Vector vector, ValueDigest *digest)
{
    bool is_scalar = layout->count == 1 && layout->leaves[0].type != LEAF_ARRAY && vector.length > 0;
    Cells cells = is_scalar ? rows_leaf(vector_row(vector, 0).rows, 0) : (Cells){0};
    size_t first = is_scalar ? vector_row(vector, 0).index : 0;
    for (size_t i = 0; i < vector.length; i++) {
        if (is_scalar)
            value_digest_add(digest, (ScalarType)layout->leaves[0].type, cells_scalar((ScalarType)layout->leaves[0].type, cells, first + i));
        else
            digest_row(layout, vector_row(vector, i), digest);
    }
}

static void digest_row(const Layout *layout, Row row, ValueDigest *digest)
{
    enum { VECTOR_LEAVES = 3 };
    for (uint32_t leaf = 0; leaf < layout->count;) {
        LeafType type = layout->leaves[leaf].type;
        if (type == LEAF_ARRAY) {
            digest_vector(layout->leaves[leaf].elements, row_vector(row, leaf), digest);
            leaf += VECTOR_LEAVES;
        } else
            value_digest_add(digest, (ScalarType)type, cells_scalar((ScalarType)type, rows_leaf(row.rows, leaf++), row.index));
    }
}

void rows_digest(const Layout *layout, const Cells *cells, size_t i, ValueDigest *digest)
{
    digest_row(layout, (Row){{.cells = cells}, i}, digest);
}
