/* Arrays and cells: making, growing, copying, letting go. Rows are in array_rows.c, sorting is in array_sort.c.
 *
 * What grows an array first makes room in every column, which may fail, and then writes, which cannot: between any two allocations each
 * column holds exactly the references that array->count says.
 *
 * Cells are moved by memcpy of a constant size, which compiles to one load and store and is right whatever type the memory has. */
#include "vm/array_private.h"

#include <string.h>

enum { FILL_BLOCK = 4096 }; /* bytes: fits the first cache with room to spare */
enum {
    COPY_PICOSECONDS = 100,    /* a byte */
    GATHER_PICOSECONDS = 2000, /* a cell: most are not in the first cache */
    FEW_CELLS = 16,            /* are not worth asking the team */
};

/* ---- references ---- */

/* Takes references away; a dead array joins the list of those to be freed. */
static void let_go(Array *array, uint64_t times, Array **dead)
{
    if (array == NULL || (array->references -= times) != 0)
        return;
    array->next_dead = *dead;
    *dead = array;
}

/* How many cells from `i` on are the same: columns of references are mostly runs, so that many are looked at at once. */
static size_t run_length(Array *const *cells, size_t i, size_t count)
{
    enum { BLOCK = 16 };
    size_t end = i + 1;
    for (uintptr_t difference = 0; count - end >= BLOCK; end += BLOCK) {
        for (size_t k = 0; k < BLOCK; k++)
            difference |= (uintptr_t)cells[end + k] ^ (uintptr_t)cells[i];
        if (difference != 0)
            break;
    }
    while (end < count && cells[end] == cells[i])
        end++;
    return end - i;
}

static void let_go_cells(Array *const *cells, size_t count, Array **dead)
{
    for (size_t i = 0, length; i < count; i += length) {
        length = run_length(cells, i, count);
        let_go(cells[i], length, dead);
    }
}

void shared_cells_release(Memory *memory, SharedCells *shared)
{
    if (shared == NULL || --shared->references != 0)
        return;
    memory_free(memory, shared->data, shared->size);
    memory_free(memory, shared, sizeof *shared);
}

static void free_array(Memory *memory, Array *array, Array **dead)
{
    const Layout *layout = array->layout;
    for (uint32_t leaf = 0; leaf < layout->count; leaf++) {
        const Column *column = &array->columns[leaf];
        if (layout->leaves[leaf].type == LEAF_ARRAY)
            let_go_cells(column->data, column->is_uniform ? 1 : array->count, dead);
        if (column->shared != NULL)
            shared_cells_release(memory, column->shared);
        else
            memory_free(memory, column->data, column->capacity * leaf_size(layout->leaves[leaf].type));
    }
    memory_free(memory, array, sizeof *array + layout->count * sizeof(Column));
}

/* A work list rather than recursion: arrays may be nested deeper than is good for the C stack. */
static void free_dead(Memory *memory, Array *dead)
{
    while (dead != NULL) {
        Array *array = dead;
        dead = array->next_dead;
        free_array(memory, array, &dead);
    }
}

void array_release(Memory *memory, Array *array)
{
    Array *dead = NULL;
    let_go(array, 1, &dead);
    free_dead(memory, dead);
}

void cells_retain(LeafType type, const void *data, size_t count)
{
    if (type != LEAF_ARRAY)
        return;
    Array *const *cells = data;
    for (size_t i = 0, length; i < count; i += length) {
        length = run_length(cells, i, count);
        if (cells[i] != NULL)
            cells[i]->references += length;
    }
}

void cells_release(Memory *memory, LeafType type, const void *data, size_t count)
{
    if (type != LEAF_ARRAY)
        return;
    Array *dead = NULL;
    let_go_cells(data, count, &dead);
    free_dead(memory, dead);
}

/* ---- copying cells ---- */

/* Copies the cell at the front to all others, doubling what is there up to a block that stays in the cache. */
static void repeat_first(char *out, size_t cell_size, size_t size)
{
    for (size_t done = cell_size; done < size;) {
        size_t step = done < FILL_BLOCK ? done : FILL_BLOCK;
        step = step < size - done ? step : size - done;
        memcpy(out + done, out, step);
        done += step;
    }
}

static const char *cell_at(const void *data, size_t size, size_t i)
{
    return (const char *)data + i * size;
}

void cells_fill(LeafType type, void *out, const void *value, size_t count)
{
    size_t size = leaf_size(type);
    if (count == 0 || size == 0)
        return;
    memcpy(out, value, size);
    repeat_first(out, size, count * size);
    Array *array = type == LEAF_ARRAY ? *(Array *const *)value : NULL;
    if (array != NULL)
        array->references += count;
}

void cells_copy_unretained(LeafType type, void *out, Cells from, size_t first, size_t count)
{
    size_t size = leaf_size(type);
    if (count == 0 || size == 0)
        return;
    if (from.is_uniform) {
        memcpy(out, from.data, size);
        repeat_first(out, size, count * size);
    } else
        memcpy(out, cell_at(from.data, size, first), count * size);
}

void cells_copy(LeafType type, void *out, Cells from, size_t first, size_t count)
{
    cells_copy_unretained(type, out, from, first, count);
    cells_retain(type, out, count);
}

typedef struct Copying {
    LeafType type;
    char *out;
    Cells from;
    size_t first;
} Copying;

static void copy_piece(void *context, size_t first, size_t end, uint32_t member)
{
    const Copying *copying = context;
    (void)member;
    cells_copy_unretained(copying->type, copying->out + first * leaf_size(copying->type), copying->from,
                          copying->first + first, end - first);
}

void cells_copy_shared(Team *team, LeafType type, void *out, Cells from, size_t first, size_t count)
{
    size_t size = leaf_size(type);
    if (count == 0 || size == 0)
        return;
    Copying copying = {type, out, from, first};
    if (count <= FEW_CELLS)
        copy_piece(&copying, 0, count, 0);
    else
        team_run(team, count, team_grain(team, size * COPY_PICOSECONDS), copy_piece, &copying);
    cells_retain(type, out, count);
}

/* ---- gathering ---- */

/* Loops for one size of cells: from one column; from the column of another array each time. */
#define GATHER(SIZE)                                                                                                  \
    static void gather_column_##SIZE(char *out, const char *column, const int64_t *index, size_t count)               \
    {                                                                                                                 \
        for (size_t i = 0; i < count; i++)                                                                            \
            memcpy(out + i * SIZE, column + (size_t)index[i] * SIZE, SIZE);                                           \
    }                                                                                                                 \
    static void gather_columns_##SIZE(char *out, Array *const *arrays, uint32_t leaf, Cells index, size_t count)      \
    {                                                                                                                 \
        const int64_t *positions = index.data;                                                                        \
        for (size_t i = 0; i < count; i++) {                                                                          \
            const Column *column = &arrays[i]->columns[leaf];                                                         \
            size_t position = column->is_uniform ? 0 : (size_t)positions[cells_index(index, i)];                      \
            memcpy(out + i * SIZE, (const char *)column->data + position * SIZE, SIZE);                               \
        }                                                                                                             \
    }
GATHER(1)
GATHER(2)
GATHER(4)
GATHER(8)

static void gather_column(size_t size, void *out, const void *column, const int64_t *index, size_t count)
{
    switch (size) {
    case 1: gather_column_1(out, column, index, count); break;
    case 2: gather_column_2(out, column, index, count); break;
    case 4: gather_column_4(out, column, index, count); break;
    case 8: gather_column_8(out, column, index, count); break;
    }
}

static void gather_columns(size_t size, void *out, Array *const *arrays, uint32_t leaf, Cells index, size_t count)
{
    switch (size) {
    case 1: gather_columns_1(out, arrays, leaf, index, count); break;
    case 2: gather_columns_2(out, arrays, leaf, index, count); break;
    case 4: gather_columns_4(out, arrays, leaf, index, count); break;
    case 8: gather_columns_8(out, arrays, leaf, index, count); break;
    }
}

typedef struct Gathering {
    size_t size;
    char *out;
    Cells arrays;
    uint32_t leaf;
    Cells index;
} Gathering;

static void gather_piece(void *context, size_t first, size_t end, uint32_t member)
{
    const Gathering *gathering = context;
    Array *const *arrays = gathering->arrays.data;
    Cells index = gathering->index;
    char *out = gathering->out + first * gathering->size;
    (void)member;
    if (!index.is_uniform)
        index.data = (const int64_t *)index.data + first;
    if (gathering->arrays.is_uniform)
        gather_column(gathering->size, out, arrays[0]->columns[gathering->leaf].data, index.data, end - first);
    else
        gather_columns(gathering->size, out, arrays + first, gathering->leaf, index, end - first);
}

void cells_gather(Team *team, LeafType type, void *out, Cells arrays, uint32_t leaf, Cells index, size_t count)
{
    if (count == 0)
        return;
    size_t size = leaf_size(type);
    const Column *column = &(*(Array *const *)arrays.data)->columns[leaf];
    if (arrays.is_uniform && (column->is_uniform || index.is_uniform)) {
        size_t position = column->is_uniform ? 0 : (size_t)*(const int64_t *)index.data;
        cells_fill(type, out, cell_at(column->data, size, position), count);
        return;
    }
    Gathering gathering = {size, out, arrays, leaf, index};
    team_run(team, count, team_grain(team, GATHER_PICOSECONDS), gather_piece, &gathering);
    cells_retain(type, out, count);
}

/* ---- scalars ---- */

Scalar cells_scalar(ScalarType type, Cells cells, size_t i)
{
    return scalar_load(type, cells.data, cells_index(cells, i));
}

void cells_set_scalar(ScalarType type, void *out, size_t i, Scalar value)
{
    scalar_store(type, out, i, value);
}

/* ---- arrays ---- */

Array *array_new(Memory *memory, const Layout *layout)
{
    Array *array = memory_alloc(memory, sizeof *array + layout->count * sizeof(Column));
    array->references = 1;
    array->layout = layout;
    return array;
}

Cells array_cells(const Array *array, uint32_t leaf, size_t start)
{
    const Column *column = &array->columns[leaf];
    if (column->is_uniform || column->data == NULL)
        return (Cells){column->data, column->is_uniform};
    return (Cells){cell_at(column->data, leaf_size(array->layout->leaves[leaf].type), start), false};
}

/* Appending is linear in the end: what is there is doubled, but for large blocks, of which half would be much memory for nothing. */
static size_t larger_capacity(size_t capacity, size_t size, size_t needed)
{
    enum { LARGE = 64 << 20 };
    size_t larger = capacity + (capacity * size < LARGE ? capacity : capacity / 4);
    return larger > needed ? larger : needed;
}

void column_resize(Memory *memory, Column *column, size_t size, size_t capacity)
{
    if (column->shared == NULL) {
        column->data = memory_resize(memory, column->data, column->capacity * size, capacity * size);
    } else {
        void *data = memory_resize(memory, NULL, 0, capacity * size);
        memcpy(data, column->data, (column->capacity < capacity ? column->capacity : capacity) * size);
        shared_cells_release(memory, column->shared);
        column->shared = NULL;
        column->data = data;
    }
    column->capacity = capacity;
}

/* Makes room for `needed` cells in all. */
static void make_room(Memory *memory, Column *column, size_t size, size_t needed)
{
    if (needed <= column->capacity)
        return;
    size_t limit = SIZE_MAX / 2 / size;
    if (needed > limit)
        memory_fail(memory);
    size_t capacity = larger_capacity(column->capacity, size, needed);
    capacity = capacity < limit ? capacity : limit;
    column_resize(memory, column, size, capacity);
}

/* Of a uniform column of `count` elements makes one with a cell for each, and room for `needed`. */
static void expand(Memory *memory, LeafType type, Column *column, size_t count, size_t needed)
{
    size_t size = leaf_size(type);
    make_room(memory, column, size, needed);
    column->is_uniform = false;
    if (count == 0) {
        cells_release(memory, type, column->data, 1);
        return;
    }
    repeat_first(column->data, size, count * size);
    cells_retain(type, cell_at(column->data, size, 1), count - 1);
}

/* Whether all of these cells are known to be the same. Only for arrays is it worth looking: being uniform saves counting. */
static bool is_one_cell(LeafType type, Cells cells, size_t first, size_t count)
{
    return cells.is_uniform || (type == LEAF_ARRAY && run_length(cells.data, first, first + count) == count);
}

/* Makes a column of no elements uniform. */
static void start_uniform(Memory *memory, LeafType type, Column *column, const void *cell)
{
    size_t size = leaf_size(type);
    make_room(memory, column, size, 1);
    memcpy(column->data, cell, size);
    cells_retain(type, cell, 1);
    column->is_uniform = true;
}

/* Before `count` cells are appended: a column that stays uniform has them already, any other has room for them. */
static void prepare_column(Memory *memory, Array *array, uint32_t leaf, Cells cells, size_t first, size_t count)
{
    LeafType type = array->layout->leaves[leaf].type;
    size_t size = leaf_size(type);
    Column *column = &array->columns[leaf];
    const char *cell = cell_at(cells.data, size, cells_index(cells, first));
    bool may_be_uniform = array->count == 0 || column->is_uniform;
    if (!may_be_uniform || !is_one_cell(type, cells, first, count)) {
        if (column->is_uniform)
            expand(memory, type, column, array->count, array->count + count);
        make_room(memory, column, size, array->count + count);
    } else if (!column->is_uniform) {
        start_uniform(memory, type, column, cell);
    } else if (memcmp(column->data, cell, size) != 0) {
        expand(memory, type, column, array->count, array->count + count);
    }
}

static void write_column(Team *team, Array *array, uint32_t leaf, Cells cells, size_t first, size_t count)
{
    LeafType type = array->layout->leaves[leaf].type;
    const Column *column = &array->columns[leaf];
    if (!column->is_uniform)
        cells_copy_shared(team, type, (char *)column->data + array->count * leaf_size(type), cells, first, count);
}

void array_count_more(Memory *memory, Array *array, size_t count)
{
    for (uint32_t leaf = 0; leaf < array->layout->count; leaf++)
        memory->vector_bytes += array->columns[leaf].is_uniform ? 0 : count * leaf_size(array->layout->leaves[leaf].type);
    array->count += count;
}

static void check_count(Memory *memory, const Array *array, size_t count)
{
    if (count > SIZE_MAX - array->count)
        memory_fail(memory);
}

void array_write_out(Memory *memory, Array *array, uint32_t leaf)
{
    if (array->columns[leaf].is_uniform)
        expand(memory, array->layout->leaves[leaf].type, &array->columns[leaf], array->count, array->count);
}

void array_reserve(Memory *memory, Array *array, size_t count)
{
    check_count(memory, array, count);
    for (uint32_t leaf = 0; leaf < array->layout->count; leaf++) {
        LeafType type = array->layout->leaves[leaf].type;
        Column *column = &array->columns[leaf];
        bool may_be_uniform = column->is_uniform || (type == LEAF_ARRAY && array->count == 0);
        if (!may_be_uniform)
            make_room(memory, column, leaf_size(type), array->count + count);
    }
}

size_t array_row_size(const Array *array)
{
    size_t size = 0;
    for (uint32_t leaf = 0; leaf < array->layout->count; leaf++)
        size += leaf_size(array->layout->leaves[leaf].type);
    return size;
}

void array_append_empty(Memory *memory, Array *array, size_t count)
{
    for (uint32_t leaf = 0; leaf < array->layout->count; leaf++) {
        size_t size = leaf_size(array->layout->leaves[leaf].type);
        make_room(memory, &array->columns[leaf], size, count);
        if (array->layout->leaves[leaf].type == LEAF_ARRAY)
            memset(array->columns[leaf].data, 0, count * size);
    }
    array_count_more(memory, array, count);
}

void array_join_cells(Array *array, uint32_t leaf)
{
    Column *column = &array->columns[leaf];
    Array **cells = column->data;
    if (column->is_uniform || array->count == 0 || run_length(cells, 0, array->count) != array->count)
        return;
    column->is_uniform = true;
    if (cells[0] != NULL)
        cells[0]->references -= array->count - 1;
}

void array_append(Memory *memory, Team *team, Array *array, const Cells *cells, size_t first, size_t count)
{
    if (count == 0)
        return;
    check_count(memory, array, count);
    for (uint32_t leaf = 0; leaf < array->layout->count; leaf++)
        prepare_column(memory, array, leaf, cells[leaf], first, count);
    for (uint32_t leaf = 0; leaf < array->layout->count; leaf++)
        write_column(team, array, leaf, cells[leaf], first, count);
    array_count_more(memory, array, count);
}

void array_append_slice(Memory *memory, Team *team, Array *array, const Array *from, size_t start, size_t count)
{
    if (count == 0)
        return;
    check_count(memory, array, count);
    for (uint32_t leaf = 0; leaf < array->layout->count; leaf++)
        prepare_column(memory, array, leaf, array_cells(from, leaf, start), 0, count);
    for (uint32_t leaf = 0; leaf < array->layout->count; leaf++) /* asked for again: if it is itself, they have moved */
        write_column(team, array, leaf, array_cells(from, leaf, start), 0, count);
    array_count_more(memory, array, count);
}

/* Whether a column has one array for all vectors, which may be appended to as nobody else sees it. */
static bool has_own_array(const Column *column)
{
    if (!column->is_uniform)
        return false;
    const Array *array = *(Array *const *)column->data;
    return array != NULL && array->references == 1;
}

void array_start_inner(Memory *memory, Array *array, uint32_t leaf)
{
    Column *column = &array->columns[leaf];
    if (array->count > 0 || column->is_uniform)
        return;
    make_room(memory, column, sizeof(Array *), 1);
    *(Array **)column->data = array_new(memory, array->layout->leaves[leaf].elements);
    column->is_uniform = true;
}

static void prepare_zeros(Memory *memory, Array *array, uint32_t leaf, size_t count)
{
    Leaf kind = array->layout->leaves[leaf];
    Column *column = &array->columns[leaf];
    if (kind.type == LEAF_ARRAY)
        array_start_inner(memory, array, leaf);
    if (kind.type == LEAF_ARRAY && has_own_array(column))
        return;
    if (column->is_uniform)
        expand(memory, kind.type, column, array->count, array->count + count);
    make_room(memory, column, leaf_size(kind.type), array->count + count);
}

void array_append_zeros(Memory *memory, Array *array, size_t count)
{
    check_count(memory, array, count);
    for (uint32_t leaf = 0; leaf < array->layout->count && count > 0; leaf++)
        prepare_zeros(memory, array, leaf, count);
    for (uint32_t leaf = 0; leaf < array->layout->count && count > 0; leaf++) {
        const Column *column = &array->columns[leaf];
        size_t size = leaf_size(array->layout->leaves[leaf].type);
        if (!column->is_uniform)
            memset((char *)column->data + array->count * size, 0, count * size);
    }
    array_count_more(memory, array, count);
}

/* ---- sharing ---- */

static SharedCells *share(Memory *memory, Column *column, size_t size)
{
    if (column->shared == NULL) {
        SharedCells *shared = memory_alloc(memory, sizeof *shared);
        *shared = (SharedCells){.references = 1, .data = column->data, .size = column->capacity * size};
        column->shared = shared;
    }
    column->shared->references++;
    return column->shared;
}

void array_share_column(Memory *memory, Array *array, uint32_t leaf, Array *from, uint32_t from_leaf, size_t start, size_t count)
{
    LeafType type = array->layout->leaves[leaf].type;
    Column *column = &array->columns[leaf], *source = &from->columns[from_leaf];
    size_t size = leaf_size(type);
    if (count == 0 || size == 0)
        return;
    if (source->is_uniform) {
        start_uniform(memory, type, column, source->data);
        return;
    }
    *column = (Column){.data = (char *)source->data + start * size, .capacity = count, .shared = share(memory, source, size)};
}

SharedCells *array_lend_column(Memory *memory, Array *array, uint32_t leaf)
{
    return share(memory, &array->columns[leaf], leaf_size(array->layout->leaves[leaf].type));
}

void array_count_shared(Array *array, size_t count)
{
    array->count = count;
}

static void copy_columns(Memory *memory, Team *team, Array *copy, const Array *from, size_t start, size_t length)
{
    const Layout *layout = from->layout;
    if (length == 0)
        return;
    for (uint32_t leaf = 0; leaf < layout->count; leaf++)
        make_room(memory, &copy->columns[leaf], leaf_size(layout->leaves[leaf].type), length);
    for (uint32_t leaf = 0; leaf < layout->count; leaf++)
        write_column(team, copy, leaf, array_cells(from, leaf, start), 0, length);
    array_count_more(memory, copy, length);
}

Array *array_copy(Memory *memory, Team *team, const Array *from, size_t start, size_t length)
{
    Array *copy = array_new(memory, from->layout);
    /* nobody else knows of the copy yet: a failure comes by here */
    jmp_buf recovery, *outer = memory->on_failure;
    memory->on_failure = &recovery;
    if (setjmp(recovery) != 0) {
        memory->on_failure = outer;
        array_release(memory, copy);
        memory_fail(memory);
    }
    copy_columns(memory, team, copy, from, start, length);
    memory->on_failure = outer;
    return copy;
}
