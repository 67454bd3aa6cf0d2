/* Loops whose items may fail, shared by a team. The least failing item counts, as it does where one thread goes from item to item; those after it may have been
 * worked on all the same. */
#ifndef RUNNEL_VM_TEAM_CHECK_H
#define RUNNEL_VM_TEAM_CHECK_H

#include "vm/team.h"

/* Works on items [first, end) up to the first that fails; gives that item, or `end`. */
typedef size_t TeamCheck(void *context, size_t first, size_t end);
/* Gives the least item that fails, or `count`. All items before it have been worked on. */
size_t team_check(Team *team, size_t count, size_t grain, TeamCheck *check, void *context);

#endif
