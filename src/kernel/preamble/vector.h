/* Vectors that emitted functions make (kernel/function_vectors.h): arrays in regions. */
#ifndef RUNNEL_KERNEL_PREAMBLE_VECTOR_H
#define RUNNEL_KERNEL_PREAMBLE_VECTOR_H

#include "kernel/preamble/call.h"
#include "kernel/preamble/fold.h"

enum {
    KERNEL_GROWTH = 64,         /* elements that there is room for at first where nobody knows how many there will be */
    KERNEL_ONTO_MAX = 1 << 20,  /* that there is room for at first, at most, where somebody has guessed how many there will be */
    KERNEL_SPARE = 64,          /* that there may be room for behind others: columns are not moved for that */
    KERNEL_LOOP = 1 << 16,      /* bytes that a loop may take before it moves together what it needs, */
    KERNEL_LEFTOVER = 1 << 10,  /* ... and that it may leave behind */
    KERNEL_LATER_MAX = 1024,    /* calls of a comprehension that wait for each other, */
    KERNEL_AHEAD = 64,          /* ... of which so many are offered at once */
};

#define KERNEL_COUNT_MAX (INT64_C(1) << 40) /* elements of an array: the rest is left to the VM */

/* In a loop of a few turns: it is not worth while to compile it for several elements at once. */
#define KERNEL_ONE_BY_ONE __asm__ volatile("")

MATH_INLINE size_t kernel_column_bytes(int64_t count, size_t size)
{
    return ((size_t)count * size + KERNEL_CELLS_ALIGNMENT - 1) & ~(size_t)(KERNEL_CELLS_ALIGNMENT - 1);
}

/* A loop that has failed may still read the first cell of a column that has none, and follow what it finds there. */
MATH_INLINE void kernel_clear_first(char *cells)
{
    __builtin_memset(cells, 0, sizeof(uint64_t));
}

MATH_INLINE void kernel_clear_nothing(char *cells, int64_t count)
{
    if (count == 0)
        kernel_clear_first(cells);
}

MATH_INLINE size_t kernel_header_bytes(uint32_t columns)
{
    return kernel_column_bytes(1, sizeof(KernelArray) + columns * sizeof(KernelColumn));
}

/* All that an array takes. */
MATH_INLINE size_t kernel_array_bytes(int64_t count, uint32_t columns, const uint8_t *sizes)
{
    size_t bytes = kernel_header_bytes(columns);
    for (uint32_t i = 0; i < columns; i++)
        bytes += kernel_column_bytes(count + (count == 0), sizes[i]);
    return bytes;
}

/* An array with room for that many elements at a place in memory, where there is as much of it as that takes; null if there is none. */
MATH_INLINE KernelArray *kernel_array_at(char *memory, size_t place, int64_t count, uint32_t columns, const uint8_t *sizes)
{
    if (__builtin_expect(memory == NULL, 0))
        return NULL;
    memory += place;
    KernelArray *array = (KernelArray *)(void *)memory;
    array->references = 0;
    array->layout = NULL;
    array->count = (size_t)count;
    memory += kernel_header_bytes(columns);
    for (uint32_t i = 0; i < columns; i++) {
        array->columns[i] = (KernelColumn){memory, (size_t)count, false};
        kernel_clear_first(memory);
        memory += kernel_column_bytes(count + (count == 0), sizes[i]);
    }
    return array;
}

/* An array with room for that many elements, one at least; null if there is none. */
MATH_INLINE KernelArray *kernel_array(KernelRegion *region, int64_t count, uint32_t columns, const uint8_t *sizes)
{
    if ((uint64_t)count > (uint64_t)KERNEL_COUNT_MAX)
        return NULL;
    return kernel_array_at((char *)kernel_take(region, kernel_array_bytes(count, columns, sizes)), 0, count, columns, sizes);
}

/* Fewer elements came than there was room for: what follows in the region may have it, if nothing does yet. */
MATH_INLINE void kernel_array_end(KernelRegion *region, KernelArray *array, int64_t count, uint32_t columns, const uint8_t *sizes)
{
    char *end = (char *)array->columns[columns - 1].data;
    int64_t room = (int64_t)array->columns[columns - 1].capacity;
    bool is_last = region->top == end + kernel_column_bytes(room + (room == 0), sizes[columns - 1]), is_full = columns > 1 && room - count <= KERNEL_SPARE;
    array->count = (size_t)count;
    if (!is_last || is_full) {
        for (uint32_t i = 0; i < columns; i++)
            kernel_clear_nothing((char *)array->columns[i].data, count);
        return;
    }
    char *to = (char *)array->columns[0].data;
    for (uint32_t i = 0; i < columns; i++) {
        if (to != (char *)array->columns[i].data)
            __builtin_memmove(to, array->columns[i].data, (size_t)count * sizes[i]);
        array->columns[i].data = to;
        array->columns[i].capacity = (size_t)count;
        kernel_clear_nothing(to, count);
        to += kernel_column_bytes(count + (count == 0), sizes[i]);
    }
    region->top = to;
}

/* The first elements of an array in one with that much room; null if there is no memory. */
__attribute__((noinline, unused)) static KernelArray *kernel_array_move(KernelRegion *region, const KernelArray *array, int64_t count, int64_t room, uint32_t columns, const uint8_t *sizes)
{
    KernelArray *moved = kernel_array(region, room, columns, sizes);
    for (uint32_t i = 0; i < columns && moved != NULL; i++)
        memcpy(moved->columns[i].data, array->columns[i].data, (size_t)count * sizes[i]);
    return moved;
}

/* An array of the same elements with twice the room. */
MATH_INLINE KernelArray *kernel_array_grow(KernelRegion *region, const KernelArray *array, uint32_t columns, const uint8_t *sizes)
{
    return kernel_array_move(region, array, (int64_t)array->count, (int64_t)array->count * 2, columns, sizes);
}

__attribute__((noinline)) static void kernel_fill(char *to, const char *cell, size_t size, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(to + (size_t)i * size, cell, size);
}

__attribute__((noinline)) static const void *kernel_filled(KernelRegion *region, const char *cell, size_t size, int64_t count)
{
    char *copies = (char *)kernel_take(region, (size_t)(count + (count == 0)) * size);
    if (copies != NULL)
        kernel_fill(copies, cell, size, count);
    return copies;
}

/* Cells [start, start + count) of a column, next to each other: where one stands for all they are written out. Null if there is no memory for that. */
MATH_INLINE const void *kernel_run(KernelRegion *region, KernelArrayRef array, uint32_t leaf, size_t size, int64_t start, int64_t count)
{
    const char *cells = (const char *)kernel_cells(array, leaf);
    if (__builtin_expect(array != NULL && array->columns[leaf].is_uniform, 0))
        return kernel_filled(region, cells, size, count);
    return cells + (size_t)start * size;
}

/* The same for a loop of so many turns that reads some of them. Null also where writing them out would take longer than the loop. */
MATH_INLINE const void *kernel_reach(KernelRegion *region, KernelArrayRef array, uint32_t leaf, size_t size, int64_t start, int64_t count, int64_t turns)
{
    const char *cells = (const char *)kernel_cells(array, leaf);
    if (count == 0)
        return kernel_nothing;
    if (__builtin_expect(array->columns[leaf].is_uniform, 0))
        return count / 8 <= turns ? kernel_filled(region, cells, size, count) : NULL;
    return cells + (size_t)start * size;
}

/* Copies cells [start, start + count) of a column. */
MATH_INLINE void kernel_copy(void *to, KernelArrayRef array, uint32_t leaf, size_t size, int64_t start, int64_t count)
{
    if (count == 0)
        return;
    const char *cells = (const char *)array->columns[leaf].data;
    if (__builtin_expect(array->columns[leaf].is_uniform, 0))
        kernel_fill((char *)to, cells, size, count);
    else
        memcpy(to, cells + (size_t)start * size, (size_t)count * size);
}

/* ---- calls that other threads may do ---- */

/* Of so many elements together. */
MATH_INLINE bool kernel_may_share(const KernelCall *call, int64_t size)
{
    return call->forks != NULL && size >= call->forks->least;
}

MATH_INLINE void kernel_offer(const KernelCall *call, KernelTask *task)
{
    call->forks->offer(call->forks, task);
}

MATH_INLINE bool kernel_settle(const KernelCall *call, KernelTask *task)
{
    return call->forks->settle(call->forks, task);
}

MATH_INLINE void kernel_finish(const KernelCall *call, KernelTask *task)
{
    call->forks->finish(call->forks, task);
}

/* Calls of a comprehension that wait until all of them are known: then other threads may do those that come after the one that this thread does. */
typedef struct KernelLater {
    KernelTask *first, *last;
    KernelTask *ahead; /* the first that was not offered, */
    int64_t offered;   /* ... and how many of those before it this thread has not come to */
    int64_t count;
    int64_t size;      /* elements that they are given */
} KernelLater;

/* What waits keeps its memory, so that there are not too many of them. */
MATH_INLINE bool kernel_may_wait(const KernelCall *call, const KernelLater *later, int64_t size)
{
    return kernel_may_share(call, size) && later->count < KERNEL_LATER_MAX;
}

MATH_INLINE void kernel_later_add(KernelLater *later, KernelTask *task, int64_t place, int64_t size)
{
    task->place = place;
    later->size += size;
    *(later->count == 0 ? &later->first : &later->last->next) = task;
    later->last = task;
    later->count++;
}

/* The call that comes after one, or the first, to be settled now; null if there is none. */
MATH_INLINE KernelTask *kernel_later_next(const KernelCall *call, KernelLater *later, const KernelTask *before)
{
    KernelTask *next = before == NULL ? later->first : before->next;
    if (next == NULL || !kernel_may_share(call, later->size))
        return next;
    later->ahead = before == NULL ? next->next : later->ahead;
    later->offered -= before != NULL;
    for (; later->ahead != NULL && later->offered < KERNEL_AHEAD; later->offered++) {
        kernel_offer(call, later->ahead);
        later->ahead = later->ahead->next;
    }
    return next;
}

/* A vector that another thread made, of elements without arrays, in a region of this one; null if there is no memory. */
__attribute__((noinline, unused)) static KernelArray *kernel_fetch(KernelRegion *region, KernelArrayRef array, int64_t start, int64_t length, uint32_t columns, const uint8_t *sizes)
{
    KernelArray *copy = kernel_array(region, length, columns, sizes);
    for (uint32_t i = 0; i < columns && copy != NULL; i++)
        kernel_copy(copy->columns[i].data, array, i, sizes[i], start, length);
    return copy;
}

/* ---- elements that are put onto others ---- */

/* A vector that grows at its end. It begins in the region where it is wanted, and moves to one of its own when it needs more room: those who make its elements put other things onto both of their regions. */
typedef struct KernelOnto {
    KernelArray *array;
    int64_t count, room; /* elements */
    KernelArray *first;  /* the array that it began with */
    KernelRegion *more;  /* where it moves to, */
    KernelMark mark;     /* ... and what was there before */
} KernelOnto;

MATH_INLINE bool kernel_onto_begin(KernelOnto *onto, const KernelCall *call, KernelRegion *region, int64_t likely, uint32_t columns, const uint8_t *sizes)
{
    int64_t room = KERNEL_GROWTH + 2 * (likely < KERNEL_ONTO_MAX ? likely : KERNEL_ONTO_MAX); /* a tree has less than twice as many nodes as leaves; what is not used is not touched */
    KernelRegion *more = &call->workspace->regions[KERNEL_REGION_ONTO];
    KernelArray *array = kernel_array(region, room, columns, sizes);
    *onto = (KernelOnto){array, 0, room, array, more, kernel_mark(more)};
    return array != NULL;
}

__attribute__((noinline, unused)) static bool kernel_onto_grow(KernelOnto *onto, int64_t more, uint32_t columns, const uint8_t *sizes)
{
    int64_t room = more > onto->room ? onto->room + more : 2 * onto->room;
    KernelArray *larger = kernel_array_move(onto->more, onto->array, onto->count, room, columns, sizes);
    if (larger == NULL)
        return false;
    onto->array = larger;
    onto->room = room;
    return true;
}

/* All elements are there: they are brought to the region where the vector is wanted, if they are elsewhere. False if there is no memory. */
MATH_INLINE bool kernel_onto_end(KernelOnto *onto, KernelRegion *region, uint32_t columns, const uint8_t *sizes)
{
    if (onto->array == onto->first) {
        kernel_array_end(region, onto->array, onto->count, columns, sizes);
        return true;
    }
    onto->array = kernel_array_move(region, onto->array, onto->count, onto->count, columns, sizes);
    kernel_release(onto->more, onto->mark);
    return onto->array != NULL;
}

/* What a function was given is not needed any more, and begins there in a region, unless `given` is null: that is released, if nothing was put behind it since the function began, when the region ended at `top`. */
MATH_INLINE void kernel_spend(KernelRegion *region, char *given, const char *top)
{
    if (given != NULL && region->top == top)
        kernel_release(region, (KernelMark){given, region->block});
}

MATH_INLINE bool kernel_onto_has_room(KernelOnto *onto, int64_t more, uint32_t columns, const uint8_t *sizes)
{
    return __builtin_expect(onto->room - onto->count >= more, 1) || kernel_onto_grow(onto, more, columns, sizes);
}

/* False if there is no memory. Whether there is one element or none is not asked: recursion ends with either, and nobody can tell beforehand which. */
MATH_INLINE bool kernel_onto_add(KernelOnto *onto, KernelArrayRef array, int64_t start, int64_t length, uint32_t columns, const uint8_t *sizes)
{
    if (!kernel_onto_has_room(onto, length + 1, columns, sizes))
        return false;
    for (uint32_t i = 0; i < columns; i++) {
        char *to = (char *)onto->array->columns[i].data + (size_t)onto->count * sizes[i];
        if (length > 1)
            kernel_copy(to, array, i, sizes[i], start, length);
        else
            memcpy(to, (const char *)kernel_cells(array, i) + (size_t)kernel_place(array, i, start & -length) * sizes[i], sizes[i]);
    }
    onto->count += length;
    return true;
}

/* ---- loops in parts ---- */

/* Of indices [first, end): the first one for which index + a < b does not hold, if those for which it does come first. The sums are known not to wrap. */
MATH_INLINE int64_t kernel_split(int64_t first, int64_t end, int64_t a, int64_t b, OpFlag *failed)
{
    const int64_t most = INT64_C(1) << 61;
    *failed |= (a < -most) | (a > most) | (b < -most) | (b > most);
    int64_t split = (int64_t)((uint64_t)b - (uint64_t)a);
    return split < first ? first : split > end ? end : split;
}

/* Where the next group of turns begins: at a multiple of their number, a power of two. */
MATH_INLINE int64_t kernel_next_group(int64_t group, int64_t turns)
{
    return (group + turns) & -turns;
}

/* How far the cells of a column are apart, in cells. */
MATH_INLINE int64_t kernel_stride(KernelArrayRef array, uint32_t leaf)
{
    return array != NULL && array->columns[leaf].data != NULL && !array->columns[leaf].is_uniform;
}

/* ---- orders ---- */

enum { KERNEL_LESS = 1, KERNEL_EQUAL = 2, KERNEL_GREATER = 4, KERNEL_UNORDERED = 8 }; /* as Order of math/scalar.h */

#define kernel_order(a, b) ((a) == (b) ? KERNEL_EQUAL : (a) < (b) ? KERNEL_LESS : (a) > (b) ? KERNEL_GREATER : KERNEL_UNORDERED)
#define kernel_sameness(a, b) ((a) == (b) || ((a) != (a) && (b) != (b)) ? KERNEL_EQUAL : KERNEL_UNORDERED)

/* ---- vectors of vectors ---- */

/* Elements [start, start + count) of an array of vectors. */
typedef struct KernelRows {
    const KernelArrayRef *arrays;
    const int64_t *starts, *lengths;
    int64_t array_stride, start_stride, length_stride;
} KernelRows;

MATH_INLINE KernelRows kernel_rows(KernelArrayRef array, int64_t start)
{
    KernelRows rows = {.array_stride = kernel_stride(array, 0), .start_stride = kernel_stride(array, 1), .length_stride = kernel_stride(array, 2)};
    rows.arrays = (const KernelArrayRef *)kernel_cells(array, 0) + start * rows.array_stride;
    rows.starts = (const int64_t *)kernel_cells(array, 1) + start * rows.start_stride;
    rows.lengths = (const int64_t *)kernel_cells(array, 2) + start * rows.length_stride;
    return rows;
}

/* All elements of all rows. */
__attribute__((noinline)) static KernelArray *kernel_concat(KernelRegion *region, KernelArrayRef array, int64_t start, int64_t count, uint32_t columns, const uint8_t *sizes,
                                           int64_t *length)
{
    KernelRows rows = kernel_rows(array, start);
    int64_t total = 0, place = 0;
    for (int64_t i = 0; i < count; i++)
        total += rows.lengths[i * rows.length_stride];
    KernelArray *joined = kernel_array(region, total, columns, sizes);
    if (joined == NULL)
        return NULL;
    for (int64_t i = 0; i < count; i++) {
        int64_t part = rows.lengths[i * rows.length_stride];
        for (uint32_t leaf = 0; leaf < columns; leaf++)
            kernel_copy((char *)joined->columns[leaf].data + (size_t)place * sizes[leaf], rows.arrays[i * rows.array_stride], leaf, sizes[leaf],
                        rows.starts[i * rows.start_stride], part);
        place += part;
    }
    *length = total;
    return joined;
}

/* The common length of the rows. */
MATH_INLINE int64_t kernel_width(KernelArrayRef array, int64_t start, int64_t count, OpFlag *failed)
{
    KernelRows rows = kernel_rows(array, start);
    int64_t width = count == 0 ? 0 : rows.lengths[0];
    for (int64_t i = 0; i < count; i++)
        *failed |= rows.lengths[i * rows.length_stride] != width;
    return width;
}

/* A vector of `count` vectors of the same length, next to each other in one array. */
__attribute__((noinline)) static KernelArray *kernel_table(KernelRegion *region, KernelArrayRef cells, int64_t first, int64_t width, int64_t count)
{
    KernelArray *table = kernel_array(region, count, 3, (const uint8_t[]){sizeof(KernelArrayRef), sizeof(int64_t), sizeof(int64_t)});
    for (int64_t i = 0; table != NULL && i < count; i++) {
        ((KernelArrayRef *)table->columns[0].data)[i] = cells;
        ((int64_t *)table->columns[1].data)[i] = first + i * width;
        ((int64_t *)table->columns[2].data)[i] = width;
    }
    return table;
}

#define KERNEL_TRANSPOSE(Cell)                                                                                        \
    for (int64_t j = 0; j < width; j++)                                                                               \
        ((Cell *)to)[j * count + i] = ((const Cell *)from)[j * stride]
__attribute__((noinline)) static KernelArray *kernel_transpose(KernelRegion *region, KernelArrayRef array, int64_t start, int64_t count, uint32_t columns, const uint8_t *sizes,
                                              int64_t *length)
{
    OpFlag failed = 0;
    KernelRows rows = kernel_rows(array, start);
    int64_t width = kernel_width(array, start, count, &failed), total;
    if (failed || __builtin_mul_overflow(width, count, &total))
        return NULL;
    KernelArray *cells = kernel_array(region, total, columns, sizes);
    if (cells == NULL)
        return NULL;
    for (uint32_t leaf = 0; leaf < columns; leaf++)
        for (int64_t i = 0; i < count; i++) {
            KernelArrayRef row = rows.arrays[i * rows.array_stride];
            const int64_t stride = kernel_stride(row, leaf);
            const char *from = (const char *)kernel_cells(row, leaf) + (size_t)(rows.starts[i * rows.start_stride] * stride) * sizes[leaf];
            char *to = (char *)cells->columns[leaf].data;
            switch (sizes[leaf]) {
            case 1: KERNEL_TRANSPOSE(uint8_t); break;
            case 2: KERNEL_TRANSPOSE(uint16_t); break;
            case 4: KERNEL_TRANSPOSE(uint32_t); break;
            default: KERNEL_TRANSPOSE(uint64_t); break;
            }
        }
    *length = width;
    return kernel_table(region, cells, 0, count, width);
}
#undef KERNEL_TRANSPOSE

/* ---- parts of a vector, which share its array ---- */

typedef struct KernelParts {
    KernelArray *array;
    int64_t count;
} KernelParts;

MATH_INLINE void kernel_add_part(KernelParts *parts, KernelArrayRef array, int64_t start, int64_t length)
{
    ((KernelArrayRef *)parts->array->columns[0].data)[parts->count] = array;
    ((int64_t *)parts->array->columns[1].data)[parts->count] = start;
    ((int64_t *)parts->array->columns[2].data)[parts->count] = length;
    parts->count++;
}

MATH_INLINE int64_t kernel_count_flags(const uint8_t *flags, int64_t stride, int64_t count)
{
    int64_t total = 0;
    for (int64_t i = 0; i < count; i++)
        total += flags[i * stride];
    return total;
}

static const uint8_t kernel_row_sizes[] = {sizeof(KernelArrayRef), sizeof(int64_t), sizeof(int64_t)};

/* PART: false stands for the next element, true ends a part. */
__attribute__((noinline)) static KernelArray *kernel_parts(KernelRegion *region, KernelArrayRef array, int64_t start, int64_t length, KernelArrayRef by, int64_t by_start,
                                          int64_t by_length, int64_t *count)
{
    const int64_t stride = kernel_stride(by, 0);
    const uint8_t *flags = (const uint8_t *)kernel_cells(by, 0) + by_start * stride;
    int64_t ends = kernel_count_flags(flags, stride, by_length), end = 0, first = 0;
    if ((by_length > 0 && !flags[(by_length - 1) * stride]) || by_length - ends != length)
        return NULL;
    KernelParts parts = {kernel_array(region, ends, 3, kernel_row_sizes), 0};
    for (int64_t i = 0; parts.array != NULL && i < by_length; i++) {
        if (!flags[i * stride]) {
            end++;
            continue;
        }
        kernel_add_part(&parts, array, start + first, end - first);
        first = end;
    }
    *count = ends;
    return parts.array;
}

/* FLAG_PARTITION: a part begins at each true, and at the first element. */
__attribute__((noinline)) static KernelArray *kernel_flag_parts(KernelRegion *region, KernelArrayRef array, int64_t start, int64_t length, KernelArrayRef by, int64_t by_start,
                                               int64_t by_length, int64_t *count)
{
    const int64_t stride = kernel_stride(by, 0);
    const uint8_t *flags = (const uint8_t *)kernel_cells(by, 0) + by_start * stride;
    if (length != by_length)
        return NULL;
    int64_t first = 0, begun = kernel_count_flags(flags, stride, by_length) + (length > 0 && !flags[0]);
    KernelParts parts = {kernel_array(region, begun, 3, kernel_row_sizes), 0};
    for (int64_t i = 1; parts.array != NULL && i <= length; i++)
        if (i == length || flags[i * stride]) {
            kernel_add_part(&parts, array, start + first, i - first);
            first = i;
        }
    *count = begun;
    return parts.array;
}

/* PARTITION: parts of the lengths given. */
__attribute__((noinline)) static KernelArray *kernel_counted_parts(KernelRegion *region, KernelArrayRef array, int64_t start, int64_t length, KernelArrayRef by, int64_t by_start,
                                                  int64_t by_length, int64_t *count)
{
    const int64_t stride = kernel_stride(by, 0);
    const int64_t *lengths = (const int64_t *)kernel_cells(by, 0) + by_start * stride;
    int64_t first = 0;
    KernelParts parts = {kernel_array(region, by_length, 3, kernel_row_sizes), 0};
    for (int64_t i = 0; parts.array != NULL && i < by_length; i++) {
        int64_t part = lengths[i * stride];
        if (part < 0 || part > length - first)
            return NULL;
        kernel_add_part(&parts, array, start + first, part);
        first += part;
    }
    *count = by_length;
    return first == length ? parts.array : NULL;
}

/* WORDS: what stands between blanks. */
MATH_INLINE int kernel_is_blank(const uint8_t *text, int64_t stride, int64_t i)
{
    const uint8_t c = text[i * stride];
    return (c == ' ') | (c == '\n') | (c == '\t') | (c == '\r');
}

__attribute__((noinline)) static KernelArray *kernel_words(KernelRegion *region, KernelArrayRef array, int64_t start, int64_t length, int64_t *count)
{
    const int64_t stride = kernel_stride(array, 0);
    const uint8_t *text = (const uint8_t *)kernel_cells(array, 0) + start * stride;
    int64_t first = 0, begun = length > 0 && !kernel_is_blank(text, stride, 0);
    for (int64_t i = 1; i < length; i++)
        begun += kernel_is_blank(text, stride, i - 1) & !kernel_is_blank(text, stride, i);
    KernelParts parts = {kernel_array(region, begun, 3, kernel_row_sizes), 0};
    for (int64_t i = 0; parts.array != NULL && i <= length; i++)
        if (i == length || kernel_is_blank(text, stride, i)) {
            if (i > first)
                kernel_add_part(&parts, array, start + first, i - first);
            first = i + 1;
        }
    *count = begun;
    return parts.array;
}

/* ---- loops ---- */

typedef struct KernelLayout KernelLayout;
typedef struct KernelLeaf {
    size_t size;
    const KernelLayout *elements; /* of an array, whose start and length are the next two leaves */
} KernelLeaf;

struct KernelLayout {
    uint32_t count;
    const KernelLeaf *leaves;
};

typedef struct KernelVector {
    const KernelLayout *layout; /* of elements */
    KernelArrayRef array;
    int64_t start, length;
} KernelVector;

__attribute__((noinline)) static size_t kernel_used_blocks(const KernelRegion *region, KernelMark mark)
{
    size_t used = 0;
    for (const KernelBlock *block = mark.block == NULL ? region->first : mark.block; block != region->block; block = block->next)
        used += block->size;
    return used + (size_t)(region->top - (const char *)region->block);
}

/* Bytes that were taken since the mark, or somewhat more. */
MATH_INLINE size_t kernel_used(const KernelRegion *region, KernelMark mark)
{
    return region->block == mark.block ? (size_t)(region->top - mark.top) : kernel_used_blocks(region, mark);
}

/* Whether the array was made since the mark. */
MATH_INLINE bool kernel_is_since(const KernelRegion *region, KernelMark mark, KernelArrayRef array)
{
    const char *address = (const char *)array;
    const KernelBlock *block = mark.block == NULL ? region->first : mark.block;
    for (bool is_first = mark.block != NULL; block != NULL; block = block->next, is_first = false) {
        const char *from = is_first ? mark.top : (const char *)block, *end = block == region->block ? region->top : (const char *)block + block->size;
        if (address >= from && address < end)
            return true;
        if (block == region->block)
            return false;
    }
    return false;
}

/* Copies a vector to a region, with all that it refers to, as far as it was made in another since the mark. The stack is bounded by the nesting of its type. */
__attribute__((noinline)) static bool kernel_move(KernelVector *vector, const KernelRegion *from, KernelMark mark, KernelRegion *to)
{
    enum { LEAVES = 64 };
    const KernelLayout *layout = vector->layout;
    uint8_t sizes[LEAVES];
    if (vector->array == NULL || !kernel_is_since(from, mark, vector->array))
        return true;
    if (layout->count > LEAVES)
        return false;
    for (uint32_t i = 0; i < layout->count; i++)
        sizes[i] = (uint8_t)layout->leaves[i].size;
    KernelArray *copy = kernel_array(to, vector->length, layout->count, sizes);
    if (copy == NULL)
        return false;
    for (uint32_t i = 0; i < layout->count; i++)
        kernel_copy(copy->columns[i].data, vector->array, i, sizes[i], vector->start, vector->length);
    for (uint32_t i = 0; i < layout->count; i++) {
        KernelVector last = {0}, moved = {0};
        for (int64_t k = 0; layout->leaves[i].elements != NULL && k < vector->length; k++) {
            KernelArrayRef *array = (KernelArrayRef *)copy->columns[i].data + k;
            int64_t *start = (int64_t *)copy->columns[i + 1].data + k, length = ((int64_t *)copy->columns[i + 2].data)[k];
            if (k == 0 || *array != last.array || *start != last.start || length != last.length) {
                last = moved = (KernelVector){layout->leaves[i].elements, *array, *start, length};
                if (!kernel_move(&moved, from, mark, to))
                    return false;
            }
            *array = moved.array;
            *start = moved.start;
        }
    }
    vector->array = copy;
    vector->start = 0;
    return true;
}

/* Of what was made in a region since a mark, only these vectors are needed: they are moved together there, with the help of another region. Gives how much may be used before it is
 * worth while again; 0 if there is no memory. */
__attribute__((noinline)) static size_t kernel_compact(KernelRegion *region, KernelMark start, KernelRegion *aside, KernelMark mark, KernelVector *vectors, uint32_t count)
{
    enum { VECTORS = 16 };
    KernelVector copies[VECTORS];
    size_t before = kernel_used(region, start);
    for (uint32_t i = 0; i < count && i < VECTORS; i++) {
        copies[i] = vectors[i];
        if (!kernel_move(&copies[i], region, start, aside))
            return 0;
    }
    if (count > VECTORS || kernel_used(aside, mark) > before / 2) { /* shared parts may have become many */
        kernel_release(aside, mark);
        return before * 2;
    }
    kernel_release(region, start);
    for (uint32_t i = 0; i < count; i++) {
        vectors[i] = copies[i];
        if (!kernel_move(&vectors[i], aside, mark, region))
            return 0;
    }
    kernel_release(aside, mark);
    size_t after = kernel_used(region, start);
    return after * 4 > KERNEL_LOOP ? after * 4 : KERNEL_LOOP;
}

/* Where the regions of a loop change places after each turn. */
MATH_INLINE void kernel_exchange(KernelRegion **a, KernelMark *a_mark, KernelRegion **b, KernelMark *b_mark)
{
    KernelRegion *region = *a;
    KernelMark mark = *a_mark;
    *a = *b;
    *a_mark = *b_mark;
    *b = region;
    *b_mark = mark;
}

/* At the end of such a loop: these vectors, each of which is all in one region or outside, go to the one that is home, if they are in the other, which is then as it was. */
__attribute__((noinline, unused)) static bool kernel_move_home(KernelRegion *home, KernelRegion *into, KernelMark start, KernelRegion *aside, KernelMark mark, KernelVector *vectors,
                                                               uint32_t count)
{
    KernelRegion *other = home == into ? aside : into;
    KernelMark since = home == into ? mark : start;
    for (uint32_t i = 0; i < count; i++)
        if (!kernel_move(&vectors[i], other, since, home))
            return false;
    kernel_release(other, since);
    return true;
}

/* ---- points that are done by several threads together ---- */

enum { KERNEL_SPINS = 256, KERNEL_LINE = 64 };

/* Waits for all others; false if somebody has given up. */
__attribute__((noinline, unused)) static bool kernel_wait_together(const KernelCall *call, KernelTogether *together)
{
    uint32_t meetings = __atomic_load_n(&together->meetings, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&together->arrived, 1, __ATOMIC_ACQ_REL) == together->members) {
        __atomic_store_n(&together->arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&together->meetings, meetings + 1, __ATOMIC_RELEASE);
        return true;
    }
    for (uint32_t i = 1; __atomic_load_n(&together->meetings, __ATOMIC_ACQUIRE) == meetings; i++) {
        if (kernel_is_over(call))
            return false;
        if (i % KERNEL_SPINS == 0)
            together->give_way();
#if defined __x86_64__
        else
            __builtin_ia32_pause();
#endif
    }
    return true;
}

MATH_INLINE bool kernel_meet(const KernelCall *call)
{
    return call->together == NULL || kernel_wait_together(call, call->together);
}

/* Whether this thread makes what all of them fill. */
MATH_INLINE bool kernel_is_first(const KernelCall *call)
{
    return call->together == NULL || call->member == 0;
}

/* What the first has made, or null if there is none. Whoever is slow may look for it until they meet again: the next goes elsewhere. */
MATH_INLINE void *kernel_shared(const KernelCall *call, void *made)
{
    if (call->together == NULL)
        return made;
    void **const place = &call->together->shared[call->together->meetings % 2]; /* which does not change before all have come */
    if (call->member == 0)
        *place = made;
    return kernel_wait_together(call, call->together) ? *place : NULL;
}

/* A table of so many words that threads fill; null if there is no memory. */
__attribute__((noinline, unused)) static uint64_t *kernel_totals(const KernelCall *call, KernelRegion *region, size_t count)
{
    return (uint64_t *)kernel_shared(call, call->member == 0 ? kernel_take(region, (count + 1) * sizeof(uint64_t)) : NULL);
}

/* Elements that the parts of a loop gave, one part behind the other. */
__attribute__((noinline, unused)) static KernelArray *kernel_join_members(const KernelCall *call, KernelRegion *region, const KernelArray *own, int64_t *count, uint32_t columns,
                                                                          const uint8_t *sizes)
{
    uint64_t *const counts = kernel_totals(call, region, call->together->members), before = 0, all = 0;
    if (counts == NULL)
        return NULL;
    counts[call->member] = (uint64_t)*count;
    if (!kernel_meet(call))
        return NULL;
    for (uint32_t i = 0; i < call->together->members; i++) {
        before += i < call->member ? counts[i] : 0;
        all += counts[i];
    }
    KernelArray *joined = (KernelArray *)kernel_shared(call, call->member == 0 ? kernel_array(region, (int64_t)all, columns, sizes) : NULL);
    for (uint32_t i = 0; i < columns && joined != NULL; i++)
        memcpy((char *)joined->columns[i].data + before * sizes[i], own->columns[i].data, (size_t)*count * sizes[i]);
    *count = (int64_t)all;
    return kernel_meet(call) ? joined : NULL;
}

MATH_INLINE KernelArray *kernel_join_parts(const KernelCall *call, KernelRegion *region, KernelArray *own, int64_t *count, uint32_t columns, const uint8_t *sizes)
{
    return call->together == NULL ? own : kernel_join_members(call, region, own, count, columns, sizes);
}

/* Where the part of a loop begins that a member does; where that of the next begins, its own ends. It begins at a multiple of `grain`, which is a power of two: lines of memory belong to one, if an
 * element is but a few bytes. */
MATH_INLINE int64_t kernel_part(const KernelCall *call, int64_t count, uint32_t after, int64_t grain)
{
    if (call->together == NULL)
        return after == 0 ? 0 : count;
    uint32_t member = call->member + after, members = call->together->members;
    int64_t part = count / members * member + count % members * member / members;
    return member < members ? part & -grain : part;
}

#endif
