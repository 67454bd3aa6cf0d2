/* Sorting values of any concrete type: the positions that do it. */
#include "ref/ref_private.h"
#include "base/least.h"

#include <string.h>

typedef struct Sorting {
    Types *types;
    TypeId type;
    const Value *items;
    bool is_descending;
    const StopFlag *stop; /* when it is set the order does not matter any more: nothing of it is seen */
} Sorting;

/* Whether the element at b must come before the one at a, which stood first. */
static bool is_out_of_order(const Sorting *sorting, size_t a, size_t b)
{
    int order = value_compare(sorting->types, sorting->type, sorting->items[a], sorting->items[b]);
    return sorting->is_descending ? order < 0 : order > 0;
}

static void merge(const Sorting *sorting, const size_t *from, size_t start, size_t middle, size_t end, size_t *to)
{
    size_t left = start, right = middle;
    for (size_t i = start; i < end && stop_reason(sorting->stop) == STOP_NOT; i++) {
        bool takes_right =
            left == middle || (right < end && is_out_of_order(sorting, from[left], from[right]));
        to[i] = takes_right ? from[right++] : from[left++];
    }
}

size_t *ref_new_positions(Interpreter *machine, size_t count)
{
    ref_free_positions(machine, &machine->positions);
    if (count > SIZE_MAX / sizeof(size_t))
        memory_fail(machine->memory);
    size_t *items = memory_alloc(machine->memory, count * sizeof(size_t));
    machine->positions = (Positions){items, count};
    return items;
}

void ref_free_positions(Interpreter *machine, Positions *positions)
{
    memory_free(machine->memory, positions->items, positions->capacity * sizeof(size_t));
    *positions = (Positions){0};
}

void ref_grade(Interpreter *machine, TypeId element, const Object *container, bool is_descending)
{
    size_t length = container->count;
    Sorting sorting = {machine->types, element, container->items, is_descending, machine->options.stop};
    size_t *items = ref_new_positions(machine, 2 * length);
    size_t *from = items, *to = items + length;
    for (size_t i = 0; i < length; i++)
        from[i] = i;
    for (size_t width = 1; width < length; width *= 2) {
        for (size_t start = 0; start < length; start += 2 * width)
            merge(&sorting, from, start, least(start + width, length), least(start + 2 * width, length), to);
        if (stop_reason(sorting.stop) != STOP_NOT)
            break; /* what was merged last is not whole */
        size_t *merged = to;
        to = from;
        from = merged;
    }
    if (from != items)
        memcpy(items, from, length * sizeof *items);
}
