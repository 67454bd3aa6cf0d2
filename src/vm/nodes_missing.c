/* Kinds of nodes that nothing makes yet. */
#include "vm/vm_private.h"

static void fire_missing(Firing *firing)
{
    bug("vm", "%s nodes cannot be run yet", flow_op_table[firing->node->op].name);
}

const NodeKind node_kind_COMPARE = {.fire = fire_missing};
