/* What emitted functions share (kernel/function_text.h). */
#ifndef RUNNEL_KERNEL_PREAMBLE_FUNCTION_H
#define RUNNEL_KERNEL_PREAMBLE_FUNCTION_H

#include "kernel/preamble/call.h"
#include "kernel/preamble/ops.h"
#include "kernel/preamble/rows.h"

enum {
    KERNEL_STACK = 1 << 19, /* bytes that calls of functions may take */
    KERNEL_TURNS = 1 << 12, /* of a loop, after which it looks whether it must end: a power of two */
    KERNEL_FOLD_TURNS = 16, /* elements of each block that are brought together where several blocks are folded at once */
    KERNEL_FOLD_STRIP = 32, /* elements that an operator is asked for at once whether it picks one */
    KERNEL_LANES_LEAST = 4, /* fewer than these of KERNEL_LANES are done one by one where no point waits, */
    KERNEL_LANES_TURNS = 32, /* ... after so many turns, if they were more at first: a power of two. */
    KERNEL_LANES_IDLE = 4 * KERNEL_LANES, /* turns of lanes that are lost before others than all of them take points that wait */
};

typedef struct KernelScalars {
    const KernelCall *call;
    uintptr_t stack_end; /* it grows downwards */
} KernelScalars;

MATH_INLINE KernelScalars kernel_scalars(const KernelCall *call)
{
    return (KernelScalars){call, (uintptr_t)__builtin_frame_address(0) - KERNEL_STACK};
}

/* At the beginning of a function: false if it must not go on. */
MATH_INLINE bool kernel_may_enter(int64_t depth, const KernelScalars *scalars)
{
    return depth >= 0 && (uintptr_t)__builtin_frame_address(0) > scalars->stack_end && !kernel_is_over(scalars->call);
}

/* The same at every turn of a loop. */
MATH_INLINE bool kernel_may_turn(uint32_t turn, const KernelScalars *scalars)
{
    return (turn & (KERNEL_TURNS - 1)) != 0 || !kernel_is_over(scalars->call);
}

/* Whether lanes take another turn as they are: how many did not leave their loop in the last one, and whether points wait. Counts the turns that the others lose. */
MATH_INLINE bool kernel_lanes_go_on(int64_t going, uint32_t turn, bool waits, int64_t *idle)
{
    *idle += KERNEL_LANES - going;
    if (waits)
        return going > 0 && *idle < KERNEL_LANES_IDLE;
    return going >= KERNEL_LANES_LEAST || (going > 0 && (turn & (KERNEL_LANES_TURNS - 1)) != 0);
}

/* Where the element of a lane is: 0 if there is none, which is noted of lanes that are here. */
MATH_INLINE int64_t kernel_lane_index(int64_t index, int64_t start, int64_t length, int64_t here, int64_t *missing)
{
    const int64_t inside = (uint64_t)index < (uint64_t)length ? -1 : 0;
    *missing |= here & ~inside;
    return (start + index) & inside;
}

/* ---- slices of vectors ---- */

/* Of elements [from, end) of a vector: whether there are such. */
MATH_INLINE void kernel_check_slice(int64_t from, int64_t end, int64_t length, OpFlag *failed)
{
    *failed |= (from < 0) | (end < from) | (end > length);
}

/* How many of the first elements TAKE takes and DROP leaves out: a negative count is one from the end. */
MATH_INLINE int64_t kernel_cut(int64_t count, int64_t length, OpFlag *failed)
{
    *failed |= (count > length) | (count < -length);
    return count < 0 ? length + count : count;
}

#endif
