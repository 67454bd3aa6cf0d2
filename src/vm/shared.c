#include "vm/shared.h"

#include <stdatomic.h>

typedef struct Loop {
    SharedWork *work;
    const void *context;
    _Atomic size_t least; /* of those that failed so far */
} Loop;

static void do_piece(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    Loop *loop = context;
    size_t least = atomic_load_explicit(&loop->least, memory_order_relaxed);
    if (first >= least)
        return;
    size_t done = loop->work(loop->context, first, end);
    while (done < end && done < least && !atomic_compare_exchange_weak(&loop->least, &least, done))
        continue;
}

size_t shared_run(Team *team, size_t count, size_t point_picoseconds, SharedWork *work, const void *context)
{
    enum { LINE = 64 }; /* points: so no two pieces write to the same cache line */
    size_t grain = (team_grain(team, point_picoseconds) + LINE - 1) / LINE * LINE;
    if (!team_shares(team, count, grain))
        return work(context, 0, count);
    Loop loop = {.work = work, .context = context, .least = count};
    team_run(team, count, grain, do_piece, &loop);
    return atomic_load(&loop.least);
}
