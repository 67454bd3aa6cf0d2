#include "vm/team_check.h"

#include <stdatomic.h>

#include "base/least.h"

typedef struct Checking {
    TeamCheck *check;
    const void *context;
    _Atomic size_t failed; /* the least item so far */
} Checking;

static void check_piece(void *context, size_t first, size_t end, uint32_t member)
{
    Checking *checking = context;
    (void)member;
    if (first >= atomic_load_explicit(&checking->failed, memory_order_relaxed))
        return;
    size_t here = checking->check(checking->context, first, end);
    if (here < end)
        least_keep(&checking->failed, here);
}

size_t team_check(Team *team, size_t count, size_t item_picoseconds, TeamCheck *check, const void *context)
{
    enum { LINE = 64 }; /* items: so no two pieces write to the same cache line */
    size_t grain = team == NULL ? SIZE_MAX : (team_grain(team, item_picoseconds) + LINE - 1) / LINE * LINE;
    if (!team_shares(team, count, grain))
        return check(context, 0, count);
    Checking checking = {.check = check, .context = context, .failed = count};
    team_run(team, count, grain, check_piece, &checking);
    return atomic_load(&checking.failed);
}
