/* Kinds of nodes that are not there yet. */
#include "vm/vm_private.h"

static void fire_missing(Firing *firing)
{
    bug("vm", "%s nodes are not there yet", flow_op_table[firing->node->op].name);
}

#define MISSING(ID) const NodeKind node_kind_##ID = {.fire = fire_missing};
MISSING(SCALAR_CALL)
MISSING(INPUT)
MISSING(COMPARE)
