/* Loops over points of which some may have no result, shared by a team. */
#ifndef RUNNEL_VM_SHARED_H
#define RUNNEL_VM_SHARED_H

#include "vm/team.h"

/* Does points [first, end) in order up to the first that fails, which it gives; `end` if none does. */
typedef size_t SharedWork(const void *context, size_t first, size_t end);

/* Does points [0, count), each of which takes about so long. Gives the least that fails, else `count`: those before it are done, of those after it
 * nothing is known. */
size_t shared_run(Team *team, size_t count, size_t point_picoseconds, SharedWork *work, const void *context);

#endif
