/* Scatters that are repeated with the same places (kernel/function_groups.c): points are brought into the order of their places once, those of one place in the order they had. From then on
 * the points of each place lie next to each other, and places can be shared by threads. */
#ifndef RUNNEL_KERNEL_PREAMBLE_GROUPS_H
#define RUNNEL_KERNEL_PREAMBLE_GROUPS_H

#include "kernel/preamble/vector.h"

enum {
    KERNEL_GROUP_MANY = 1 << 16, /* points, of which no place may have much more than the share of a thread, if they could be combined in another order */
    KERNEL_GROUP_COUNTS = 2,     /* all threads that count points have not more counts together than so many for a point */
};

#ifndef KERNEL_GROUP_LEAST
#define KERNEL_GROUP_LEAST (1 << 16) /* places, beside which there are as many points: fewer are near enough for one thread as they are */
#endif

typedef struct KernelGroups {
    int64_t length;   /* places */
    uint32_t *starts; /* by place: its first point, in the new order; at the end their number */
    uint32_t *order;  /* which point it is; null if nobody asks */
    void *columns[KERNEL_GROUP_COLUMNS];
    uint32_t *counts; /* while they are made, of each thread by place: its points, then where the next of them goes */
    uint32_t largest; /* points of a place */
    size_t row;       /* from a thread's counts to those of the next */
} KernelGroups;

MATH_INLINE bool kernel_groups_pay(const KernelCall *call, int64_t points, int64_t length)
{
    return call->together != NULL || (length >= KERNEL_GROUP_LEAST && points >= length);
}

/* Threads that bring points into order; the others wait. */
MATH_INLINE uint32_t kernel_group_sorters(const KernelCall *call, int64_t points, int64_t length)
{
    const int64_t most = points * KERNEL_GROUP_COUNTS / (length + 1), members = call->together == NULL ? 1 : call->together->members;
    return (uint32_t)(most < 1 ? 1 : most < members ? most : members);
}

/* How many of some points there are for each place; false if one is outside. */
__attribute__((noinline, unused)) static bool kernel_count_places(uint32_t *counts, const int64_t *places, int64_t first, int64_t end, int64_t length)
{
    OpFlag failed = 0;
    memset(counts, 0, (size_t)(length + 1) * sizeof *counts);
    for (int64_t i = first; i < end; i++)
        counts[kernel_index(places[i], 0, length, &failed)]++;
    return !failed;
}

__attribute__((noinline, unused)) static void kernel_number_groups(KernelGroups *groups, uint32_t rows)
{
    uint32_t sum = 0, largest = 0;
    for (int64_t place = 0; place < groups->length; place++) {
        groups->starts[place] = sum;
        for (uint32_t r = 0; r < rows; r++) {
            uint32_t *count = groups->counts + r * groups->row + place, next = sum + *count;
            *count = sum;
            sum = next;
        }
        largest = sum - groups->starts[place] > largest ? sum - groups->starts[place] : largest;
    }
    groups->largest = largest;
    groups->starts[groups->length] = sum;
}

/* Whether no thread has much more to do than the others. What is exact can be shared in another way, by copies of the table; for the rest there is none. */
MATH_INLINE bool kernel_groups_share(const KernelCall *call, const KernelGroups *groups, int64_t points, bool is_exact)
{
    return call->together == NULL || !is_exact || points < KERNEL_GROUP_MANY || groups->largest <= 2 * (points / call->together->members);
}

/* Inlined where the columns are known: sizes and their number are constants then. */
MATH_INLINE void kernel_fill_groups(const KernelGroups *groups, uint32_t *nexts, const int64_t *places, int64_t first, int64_t end, bool is_ordered, uint32_t columns,
                                    const uint8_t *sizes, const void *const *cells)
{
    char *to[KERNEL_GROUP_COLUMNS];
    uint32_t *const order = groups->order;
    for (uint32_t c = 0; c < columns; c++)
        to[c] = (char *)groups->columns[c];
    for (int64_t i = first; i < end; i++) {
        const size_t at = nexts[places[i]]++;
        if (is_ordered)
            order[at] = (uint32_t)i;
        for (uint32_t c = 0; c < columns; c++)
            memcpy(to[c] + at * sizes[c], (const char *)cells[c] + (size_t)i * sizes[c], sizes[c]);
    }
}

/* Memory for groups; null if there is none. */
__attribute__((noinline, unused)) static KernelGroups *kernel_new_groups(KernelRegion *region, int64_t points, int64_t length, uint32_t sorters, bool is_ordered, uint32_t columns,
                                                                         const uint8_t *sizes)
{
    KernelGroups *groups = (KernelGroups *)kernel_take(region, sizeof *groups);
    if (groups == NULL)
        return NULL;
    *groups = (KernelGroups){.length = length, .row = kernel_column_bytes(length + 1, sizeof(uint32_t)) / sizeof(uint32_t)};
    groups->starts = (uint32_t *)kernel_take(region, (size_t)(length + 1) * sizeof(uint32_t));
    groups->counts = (uint32_t *)kernel_take(region, sorters * groups->row * sizeof(uint32_t));
    groups->order = is_ordered ? (uint32_t *)kernel_take(region, (size_t)(points + 1) * sizeof(uint32_t)) : NULL;
    bool is_there = groups->starts != NULL && groups->counts != NULL && (groups->order != NULL || !is_ordered);
    for (uint32_t c = 0; c < columns; c++) {
        groups->columns[c] = kernel_take(region, (size_t)(points + 1) * sizes[c]);
        is_there &= groups->columns[c] != NULL;
    }
    return is_there ? groups : NULL;
}

/* Makes the groups of points, unless they are there: of the places they go to, and of columns that go with them. Every thread does a part of it. False if they are not worth it or cannot be
 * made. */
MATH_INLINE bool kernel_group(const KernelCall *call, KernelGroups **groups, const int64_t *places, int64_t points, int64_t length, bool is_exact, bool is_ordered,
                              uint32_t columns, const uint8_t *sizes, const void *const *cells)
{
    if (*groups != NULL)
        return (*groups)->length == length;
    if (!kernel_groups_pay(call, points, length) || points >= UINT32_MAX || length >= UINT32_MAX)
        return false;
    const uint32_t sorters = kernel_group_sorters(call, points, length), member = call->together == NULL ? 0 : call->member;
    KernelGroups *made = NULL;
    if (kernel_is_first(call))
        made = kernel_new_groups(&call->workspace->regions[KERNEL_REGION_LOOPS], points, length, sorters, is_ordered, columns, sizes);
    made = (KernelGroups *)kernel_shared(call, made);
    if (made == NULL)
        return false;
    uint32_t *const own = made->counts + member * made->row;
    const int64_t first = member < sorters ? points * member / sorters : 0, end = member < sorters ? points * (member + 1) / sorters : 0;
    if (member < sorters && !kernel_count_places(own, places, first, end, length))
        return false;
    if (!kernel_meet(call))
        return false;
    if (kernel_is_first(call))
        kernel_number_groups(made, sorters);
    if (!kernel_meet(call) || !kernel_groups_share(call, made, points, is_exact))
        return false;
    kernel_fill_groups(made, own, places, first, end, is_ordered, columns, sizes, cells);
    *groups = made;
    return kernel_meet(call);
}

/* Where the places begin that a member does; where those of the next begin, its own end. A place counts as much as a point. */
__attribute__((noinline, unused)) static int64_t kernel_group_part(const KernelCall *call, const KernelGroups *groups, uint32_t after)
{
    const uint32_t member = call->together == NULL ? after : call->member + after, members = call->together == NULL ? 1 : call->together->members;
    const uint64_t all = (uint64_t)groups->length + groups->starts[groups->length], wanted = all / members * member + all % members * member / members;
    int64_t low = 0, high = groups->length;
    while (low < high && member < members) {
        const int64_t middle = low + (high - low) / 2;
        if ((uint64_t)middle + groups->starts[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return member < members ? low : groups->length;
}

#endif
