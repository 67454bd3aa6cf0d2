/* Rows of a vector that are made just before whoever reads them needs them (kernel/function_windows.c), in places that are used again. */
#ifndef RUNNEL_KERNEL_PREAMBLE_WINDOW_H
#define RUNNEL_KERNEL_PREAMBLE_WINDOW_H

#include "kernel/preamble/vector.h"

enum {
    KERNEL_WINDOW_PLACES = 8, /* for rows, a power of two: enough for those that are read once more soon, */
    KERNEL_WINDOW_REACH = 3,  /* ... if none is further away than that; otherwise there is a place for each */
};

typedef struct KernelWindowPlace {
    int64_t row;        /* that is there, or -1, */
    int64_t turn;       /* ... and the last turn that needs it */
    KernelArray *array; /* null if there never was one */
} KernelWindowPlace;

typedef struct KernelWindow {
    int64_t turn, mask;
    KernelWindowPlace places[]; /* those of rows by their last bits, then those of the rows that one turn needs, if they get into each other's way */
} KernelWindow;

/* For that many rows; `wanted` are those that a turn in the middle needs, the first of them the turn's own. Null if there is no memory. */
MATH_INLINE KernelWindow *kernel_window(KernelRegion *region, int64_t rows, const int64_t *wanted, uint32_t wanted_count)
{
    int64_t places = KERNEL_WINDOW_PLACES;
    bool is_near = true;
    for (uint32_t i = 0; i < wanted_count; i++)
        is_near &= wanted[i] >= wanted[0] - KERNEL_WINDOW_REACH && wanted[i] <= wanted[0] + KERNEL_WINDOW_REACH;
    if ((uint64_t)rows > (uint64_t)KERNEL_COUNT_MAX)
        return NULL;
    while (!is_near && places < rows)
        places *= 2;
    KernelWindow *window = (KernelWindow *)kernel_take(region, sizeof(KernelWindow) + (size_t)(places + wanted_count) * sizeof(KernelWindowPlace));
    if (window == NULL)
        return NULL;
    *window = (KernelWindow){.mask = places - 1};
    for (int64_t i = 0; i < places + wanted_count; i++)
        window->places[i] = (KernelWindowPlace){.row = -1};
    return window;
}

/* The place of a row that is the `number`th of those that this turn needs; whether it is there already. */
MATH_INLINE bool kernel_window_find(KernelWindow *window, int64_t row, int64_t number, KernelWindowPlace **place)
{
    *place = &window->places[row & window->mask];
    if ((*place)->row != row && (*place)->turn == window->turn)
        *place = &window->places[window->mask + 1 + number];
    bool is_there = (*place)->row == row;
    (*place)->row = row;
    (*place)->turn = window->turn;
    return is_there;
}

/* An array for a row in a place: the one that was there, if it has room. What it leaves behind otherwise is no more than what it has then. */
MATH_INLINE KernelArray *kernel_window_array(KernelRegion *region, KernelWindowPlace *place, int64_t count, uint32_t columns, const uint8_t *sizes)
{
    int64_t room = place->array == NULL ? 0 : (int64_t)place->array->columns[0].capacity;
    if (__builtin_expect(place->array == NULL || room < count, 0))
        place->array = kernel_array(region, count > 2 * room ? count : 2 * room, columns, sizes);
    if (place->array == NULL)
        return NULL;
    place->array->count = (size_t)count;
    for (uint32_t i = 0; i < columns; i++)
        kernel_clear_nothing((char *)place->array->columns[i].data, count);
    return place->array;
}

#endif
