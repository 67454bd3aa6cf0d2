#include "vm/bundle_rows.h"

#include "base/least.h"
#include "kernel/preamble/rows.h"

enum {
    ROW_PICOSECONDS = 8000, /* that one takes to be made; */
    WORTH = 4,              /* times as long as that the points take that rows are made for */
    STRIP = 64,             /* of them, which stay in the cache from column to column */
    ROW_ALIGNMENT = 64,     /* bytes: that of a line of the cache, as long as the longest row */
};

struct BundleRows {
    size_t size; /* in bytes, of all this */
    const void *rows[KERNEL_ROWS_MAX];
};

static size_t row_bytes(const KernelRows *vector)
{
    return (size_t)kernel_row_width(vector->columns) * sizeof(KernelRowCell);
}

/* ---- making ---- */

typedef struct Making {
    const Array *array;
    size_t start; /* of the vector */
    uint32_t columns;
    int64_t width;
    KernelRowCell *rows;
} Making;

static void make_strip(const Making *making, size_t first, size_t end)
{
    for (uint32_t column = 0; column < making->columns; column++) {
        const Column *from = &making->array->columns[column];
        const KernelRowCell *cells = from->data;
        size_t step = !from->is_uniform;
        for (size_t i = first; i < end; i++)
            making->rows[(int64_t)i * making->width + column] = cells[(making->start + i) * step];
    }
}

static void make_rows(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    for (size_t at = first; at < end; at += STRIP)
        make_strip(context, at, least(end, at + STRIP));
}

static void make_vector(Vm *vm, const Instance *instance, const KernelRows *vector, void *place)
{
    Making making = {.array = *(Array *const *)bundle_uniform_cell(instance, vector->array),
                     .start = (size_t)bundle_uniform_integer(instance, vector->start),
                     .columns = vector->columns,
                     .width = kernel_row_width(vector->columns),
                     .rows = place};
    team_run(vm->team, (size_t)bundle_uniform_integer(instance, vector->length), team_grain(vm->team, ROW_PICOSECONDS), make_rows, &making);
}

/* ---- whether ---- */

/* What is there may be needed for what must be done. */
static bool is_spare(const Vm *vm, size_t size)
{
    uint64_t limit = vm->options.memory_limit, live = vm->memory->live_bytes;
    return live < limit && size < (limit - live) / 4;
}

static BundleRows *new_rows(Vm *vm, size_t size)
{
    BundleRows *rows = is_spare(vm, size) ? memory_alloc_outside(size) : NULL;
    if (rows == NULL)
        return NULL;
    memory_count_outside(vm->memory, 0, size);
    *rows = (BundleRows){.size = size};
    return rows;
}

static void make_all(Vm *vm, const Instance *instance, BundleState *state, const Kernel *kernel, size_t size)
{
    state->rows = new_rows(vm, size);
    if (state->rows == NULL)
        return;
    uintptr_t place = ((uintptr_t)(state->rows + 1) + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
    for (uint32_t i = 0; i < kernel->rows.count; i++) {
        const KernelRows *vector = &kernel->rows.items[i];
        int64_t length = bundle_uniform_integer(instance, vector->length);
        if (length == 0)
            continue;
        state->rows->rows[i] = (const void *)place;
        make_vector(vm, instance, vector, (void *)place);
        place += ((size_t)length * row_bytes(vector) + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
    }
}

const void *const *bundle_rows_find(Vm *vm, Instance *instance, BundleState *state, const Kernel *kernel, uint64_t nanoseconds)
{
    static const void *const none[KERNEL_ROWS_MAX];
    uint64_t count = 0, size = sizeof(BundleRows) + ROW_ALIGNMENT;
    for (uint32_t i = 0; i < kernel->rows.count && state->rows == NULL; i++) {
        uint64_t length = (uint64_t)bundle_uniform_integer(instance, kernel->rows.items[i].length);
        count += length;
        size += length * row_bytes(&kernel->rows.items[i]) + ROW_ALIGNMENT;
    }
    state->nanoseconds += nanoseconds;
    if (count > 0 && state->nanoseconds >= count * (WORTH * ROW_PICOSECONDS / 1000))
        make_all(vm, instance, state, kernel, size);
    return state->rows == NULL ? none : state->rows->rows;
}

void bundle_rows_free(Vm *vm, BundleRows *rows)
{
    if (rows == NULL)
        return;
    memory_count_outside(vm->memory, rows->size, 0);
    memory_free_outside(rows, rows->size);
}
