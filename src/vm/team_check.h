/* Loops whose items may fail, shared by a team. The least failing item counts, as it does where one thread goes from item to item; those after it may have been
 * worked on all the same. */
#ifndef RUNNEL_VM_TEAM_CHECK_H
#define RUNNEL_VM_TEAM_CHECK_H

#include "vm/team.h"

/* Works on items [first, end) up to the first that fails; gives that item, or `end`. */
typedef size_t TeamCheck(const void *context, size_t first, size_t end);
/* Works on items [0, count), each of which takes about so long. Gives the least that fails, or `count`; all items before it have been worked on. */
size_t team_check(Team *team, size_t count, size_t item_picoseconds, TeamCheck *check, const void *context);

#endif
