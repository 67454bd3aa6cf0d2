/* Several .npy files that are one value, named as results are written (result_writer.h): `name.1.npy` ... for the components of tuples, `name.values.npy` and
 * `name.offsets.npy` for vectors. All are read side by side, in pieces. */
#include "base/least.h"
#include "io/column_reader.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_AT_ONCE = 1 << 12 };

typedef struct Set Set;

/* The file of one leaf: its cells, or of a vector where they end. */
typedef struct LeafSource {
    const char *path;    /* null: a vector that is the only one of its leaf has no offsets */
    const char *what;
    ByteInput input;
    ColumnReader *reader;
    Columns *cells;      /* read last */
    int64_t end;         /* of the last vector */
    bool is_begun;       /* the first offset was read */
    Set *elements;
} LeafSource;

struct Set {
    uint32_t count;
    LeafSource leaves[];
};

typedef struct SetReader {
    ColumnReader common;
    Arena arena;
    Set *set;
    bool is_single; /* the value is the only row */
    bool is_ended;
} SetReader;

/* ---- names ---- */

static Set *set_new(SetReader *reader, const Columns *columns, const char *name, bool is_single)
{
    Arena *arena = &reader->arena;
    Set *set = arena_alloc(arena, sizeof *set + columns->leaf_count * sizeof(LeafSource));
    set->count = columns->leaf_count;
    for (uint32_t i = 0; i < set->count; i++) {
        LeafSource *leaf = &set->leaves[i];
        const ColumnLeaf *column = &columns->leaves[i];
        const char *part = set->count == 1 ? name : arena_format(arena, "%s.%u", name, i + 1);
        bool is_vector = column->elements != NULL;
        TypeId scalar = TYPE_OF_SCALAR(column->scalar);
        if (!is_vector || !is_single) {
            leaf->path = arena_format(arena, "%s%s.npy", part, is_vector ? ".offsets" : "");
            leaf->what = arena_format(arena, "%s, %s", reader->common.what, leaf->path);
            leaf->cells = columns_new(arena, columns->types, scalar);
        }
        if (is_vector)
            leaf->elements = set_new(reader, column->elements, is_single ? part : arena_format(arena, "%s.values", part), false);
    }
    return set;
}

static const char *first_path(const Set *set)
{
    const char *path = NULL;
    for (uint32_t i = 0; i < set->count && path == NULL; i++)
        path = set->leaves[i].path != NULL ? set->leaves[i].path : first_path(set->leaves[i].elements);
    return path;
}

/* ---- reading one file ---- */

static bool pass_on_failure(SetReader *reader, LeafSource *leaf)
{
    ColumnReader *common = &reader->common;
    if (byte_input_is_cut(&leaf->input))
        common->input->reason = leaf->input.reason; /* the source looks there */
    if (!leaf->reader->has_failed || common->has_failed)
        return common->has_failed || byte_input_is_cut(&leaf->input);
    common->has_failed = true;
    memcpy(common->problem, leaf->reader->problem, sizeof common->problem);
    return true;
}

static bool open_leaf(SetReader *reader, LeafSource *leaf, bool is_single)
{
    ColumnReader *common = &reader->common;
    if (leaf->reader != NULL)
        return true;
    if (!byte_input_open(&leaf->input, leaf->path, common->memory, common->input->stop)) {
        column_reader_fail(common, "%s cannot be read: %s", leaf->path, leaf->input.reason);
        return false;
    }
    TypeId scalar = leaf->cells->type;
    leaf->reader = npy_reader_new((ColumnReader){.memory = common->memory,
                                                 .types = common->types,
                                                 .type = is_single ? scalar : type_sequence(common->types, scalar),
                                                 .what = leaf->what,
                                                 .input = &leaf->input});
    return true;
}

/* Reads up to `most` cells, fewer only at the end. */
static size_t read_cells(SetReader *reader, LeafSource *leaf, size_t most, bool is_single)
{
    columns_clear(leaf->cells);
    if (!open_leaf(reader, leaf, is_single))
        return 0;
    while (leaf->cells->count < most)
        if (leaf->reader->kind->read(leaf->reader, leaf->cells, most - leaf->cells->count) == 0)
            break;
    return pass_on_failure(reader, leaf) ? 0 : leaf->cells->count;
}

static size_t fail_length(SetReader *reader, const char *path)
{
    return column_reader_fail(&reader->common, "%s has not as many elements as the files beside it say", path);
}

/* ---- reading all ---- */

static size_t read_set(SetReader *reader, Set *set, Columns *rows, size_t most, bool is_exact);

/* The ends of the next vectors, and their elements. */
static size_t read_vectors(SetReader *reader, LeafSource *leaf, Columns *rows, uint32_t index, size_t most)
{
    if (!leaf->is_begun && (read_cells(reader, leaf, 1, false) != 1 || *(int64_t *)leaf->cells->leaves[0].cells != 0))
        return column_reader_fail(&reader->common, "%s does not begin with 0", leaf->path);
    leaf->is_begun = true;
    size_t count = read_cells(reader, leaf, most, false);
    const int64_t *ends = leaf->cells->leaves[0].cells;
    int64_t *out = columns_room(rows, index, count), start = leaf->end;
    Columns *elements = rows->leaves[index].elements;
    int64_t before = (int64_t)elements->count - start;
    for (size_t i = 0; i < count; i++) {
        if (ends[i] < leaf->end)
            return column_reader_fail(&reader->common, "%s must not fall: %" PRId64 " follows %" PRId64, leaf->path, ends[i], leaf->end);
        leaf->end = ends[i];
        out[i] = ends[i] + before;
    }
    if (leaf->end > start)
        read_set(reader, leaf->elements, elements, (size_t)(leaf->end - start), true);
    return reader->common.has_failed ? 0 : count;
}

/* A vector that is the only one. */
static size_t read_only_vector(SetReader *reader, LeafSource *leaf, Columns *rows, uint32_t index)
{
    Columns *elements = rows->leaves[index].elements;
    while (read_set(reader, leaf->elements, elements, ROWS_AT_ONCE, false) > 0)
        continue;
    *(int64_t *)columns_room(rows, index, 1) = (int64_t)elements->count;
    return reader->common.has_failed ? 0 : 1;
}

static size_t read_scalars(SetReader *reader, LeafSource *leaf, Columns *rows, uint32_t index, size_t most, bool is_single)
{
    size_t count = read_cells(reader, leaf, most, is_single);
    if (count > 0)
        memcpy(columns_room(rows, index, count), leaf->cells->leaves[0].cells, count * scalar_size(rows->leaves[index].scalar));
    return count;
}

static size_t read_leaf(SetReader *reader, LeafSource *leaf, Columns *rows, uint32_t index, size_t most)
{
    bool is_single = reader->is_single && rows->type == reader->common.type;
    if (leaf->elements == NULL)
        return read_scalars(reader, leaf, rows, index, most, is_single);
    return leaf->path == NULL ? read_only_vector(reader, leaf, rows, index) : read_vectors(reader, leaf, rows, index, most);
}

/* As many rows as the first leaf has; the others must have as many. */
static size_t read_set(SetReader *reader, Set *set, Columns *rows, size_t most, bool is_exact)
{
    size_t count = 0;
    for (uint32_t i = 0; i < set->count && !reader->common.has_failed; i++) {
        LeafSource *leaf = &set->leaves[i];
        size_t found = read_leaf(reader, leaf, rows, i, i == 0 || count == 0 ? most : count);
        if (i == 0)
            count = found;
        if (reader->common.has_failed || byte_input_is_cut(reader->common.input))
            return 0;
        if (found != count || (is_exact && found != most))
            return fail_length(reader, leaf->path != NULL ? leaf->path : first_path(leaf->elements));
    }
    rows->count += count;
    return count;
}

/* No elements may be left when all vectors are read. */
static void check_end(SetReader *reader, Set *set, const Columns *columns)
{
    for (uint32_t i = 0; i < set->count && !reader->common.has_failed; i++) {
        Set *elements = set->leaves[i].elements;
        if (elements == NULL)
            continue;
        for (uint32_t k = 0; k < elements->count; k++)
            if (elements->leaves[k].path != NULL && elements->leaves[k].elements == NULL &&
                read_cells(reader, &elements->leaves[k], 1, false) > 0)
                fail_length(reader, elements->leaves[k].path);
        check_end(reader, elements, columns->leaves[i].elements);
    }
}

static size_t read_files(ColumnReader *common, Columns *rows, size_t most)
{
    SetReader *reader = (SetReader *)common;
    if (reader->is_ended || common->has_failed)
        return 0;
    size_t count = read_set(reader, reader->set, rows, reader->is_single ? 1 : least(most, ROWS_AT_ONCE), false);
    reader->is_ended = reader->is_single || count == 0;
    if (count == 0 && !common->has_failed)
        check_end(reader, reader->set, rows);
    return common->has_failed ? 0 : count;
}

/* ---- making ---- */

static void free_set(Set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        LeafSource *leaf = &set->leaves[i];
        if (leaf->reader != NULL)
            leaf->reader->kind->free(leaf->reader);
        byte_input_close(&leaf->input);
        columns_free(leaf->cells);
        if (leaf->elements != NULL)
            free_set(leaf->elements);
    }
}

static void free_reader(ColumnReader *common)
{
    SetReader *reader = (SetReader *)common;
    if (reader->set != NULL)
        free_set(reader->set);
    arena_free(&reader->arena);
    memory_free(common->memory, reader, sizeof *reader);
}

static const ColumnReaderKind set_reader_kind = {.read = read_files, .free = free_reader};

ColumnReader *npy_set_reader_new(ColumnReader common)
{
    SetReader *reader = memory_alloc(common.memory, sizeof *reader);
    reader->common = common;
    reader->common.kind = &set_reader_kind;
    reader->is_single = !column_reader_has_rows(&common);
    arena_init(&reader->arena, common.memory);
    return &reader->common;
}

bool npy_set_reader_find(ColumnReader *common, const char *name)
{
    SetReader *reader = (SetReader *)common;
    Columns *columns = columns_new(&reader->arena, common->types, column_reader_row_type(common));
    reader->set = set_new(reader, columns, name, reader->is_single);
    const char *path = first_path(reader->set);
    return path != NULL && access(path, F_OK) == 0;
}
