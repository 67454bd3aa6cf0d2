/* A team: threads that share the work of a loop.
 *
 * The thread that owns the team is member 0 and works too. Work is a loop over [0, count) that may be done in pieces, in any order and by any member; so
 * that nothing depends on who did which, pieces write to places of their own. Each member begins with a share of the loop and takes pieces from
 * its front; one that has nothing left takes half of what another has.
 *
 * Work runs without allocating, and never uses the team itself: it gives null for a team to what wants one, and that is then done by the same thread. Threads are started when there is first enough to do for them. A team of one does everything
 * in the calling thread. */
#ifndef RUNNEL_VM_TEAM_H
#define RUNNEL_VM_TEAM_H

#include "base/memory.h"
#include "base/stop.h"
#include "runnel.h"

#include <stdbool.h>

typedef struct Team Team;

typedef struct TeamOptions {
    uint32_t threads;          /* at least 1 */
    uint64_t piece_picoseconds; /* what a piece should cost at least; 0 for the default. Tests make it small */
    /* While this is set no more pieces are begun, and `stopped`, which does not return, is called at the end of the loop. Null if nothing can stop one. */
    const StopFlag *stop;
    void (*stopped)(void *context);
    void *context;
} TeamOptions;

enum { TEAM_THREADS_MAX = RUNNEL_THREADS_MAX };

Team *team_new(Memory *memory, TeamOptions options);
void team_free(Team *team); /* null is allowed */
uint32_t team_size(const Team *team);
/* Nanoseconds that members other than this thread have worked, all together, and that this thread has waited for them. */
uint64_t team_busy_time(const Team *team);
uint64_t team_waiting_time(const Team *team);

/* Items that are worth a piece, if one takes about that long. */
size_t team_grain(const Team *team, size_t item_picoseconds);
/* Whether a loop would be shared. */
static inline bool team_shares(const Team *team, size_t count, size_t grain)
{
    return team != NULL && count > grain && team_size(team) > 1;
}

/* Items [first, end), by that member. */
typedef void TeamWork(void *context, size_t first, size_t end, uint32_t member);
/* Has `work` done for all of [0, count), in pieces that begin at multiples of `grain`. */
void team_run(Team *team, size_t count, size_t grain, TeamWork *work, void *context);
/* The same where it is known that all items take about that long together, if one member does them: grains may be larger than what is worth a piece. */
void team_run_long(Team *team, size_t count, size_t grain, uint64_t picoseconds, TeamWork *work, void *context);
/* The same where all items are likely to take as long as each other, and the larger pieces are the less each item takes. */
void team_run_alike(Team *team, size_t count, size_t grain, TeamWork *work, void *context);

/* How many members there are now, all of them started. */
uint32_t team_start(Team *team);
/* Has `work` done once by each member, at the same time: [member, member + 1). They may wait for each other, as long as they notice when one has given up. */
void team_run_together(Team *team, TeamWork *work, void *context);

/* A loop cut beforehand, for algorithms that go over their pieces more than once: piece i is [i * length, (i + 1) * length), the last shorter. `length` is
 * a multiple of `grain`; there is at least one piece, and more than one only if the team would share them: a few for each member. */
typedef struct TeamPieces {
    size_t count, length;
} TeamPieces;
TeamPieces team_pieces(const Team *team, size_t count, size_t grain);

/* ---- temporary memory ----
 * For what loops need while they run: whatever stops them, it is known to the team and not lost. Not zeroed; aligned to cache lines. */
void *team_alloc(Team *team, size_t size);
void team_give_back(Team *team, void *block); /* null is allowed */
void team_give_back_all(Team *team);

#endif
