/* Kinds of nodes that are not there yet. */
#include "vm/vm_private.h"

static void fire_missing(Firing *firing)
{
    bug("vm", "%s nodes are not there yet", flow_op_table[firing->node->op].name);
}

#define MISSING(ID) const NodeKind node_kind_##ID = {.fire = fire_missing};
MISSING(SCALAR_CALL)
MISSING(INPUT)
MISSING(PART_ENDS)
MISSING(CHECK_PART)
MISSING(FLAG_PARTITION)
MISSING(PARTITION_ENDS)
MISSING(SAME_LENGTHS)
MISSING(CHECK_MERGE)
MISSING(CHECK_CUT)
MISSING(ONE_EACH)
MISSING(SHIFT)
MISSING(SCATTER)
MISSING(ROWS)
MISSING(RAND)
MISSING(FOLD_WITH)
MISSING(SCAN_WITH)
MISSING(PUT_WITH)
MISSING(GROUP)
MISSING(LINES)
MISSING(COMPARE)
