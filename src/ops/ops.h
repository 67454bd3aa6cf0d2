/* The operations the engines implement, from ops.def. */
#ifndef RUNNEL_OPS_OPS_H
#define RUNNEL_OPS_OPS_H

#include "ops/scalars.h"

typedef enum Op {
#define OP(ID, rnl, nesl, type, nesl_type, effect, work, documentation) OP_##ID,
#include "ops/ops.def"
#undef OP
    OP_COUNT
} Op;

typedef enum Effect { EFFECT_PURE, EFFECT_IO, EFFECT_RANDOM } Effect;
/* The columns of the table that say how much work an operation is; ops.def explains them. */
typedef enum Work {
    WORK_NONE,
    WORK_UNIT,
    WORK_VALUE,
    WORK_INPUT,
    WORK_RESULT,
    WORK_BOTH,
    WORK_TRAVERSE,
    WORK_JOIN,
} Work;

typedef struct OpInfo {
    const char *id;        /* "PLUS_SCAN" */
    const char *rnl_name;  /* null where the dialect has no name for it */
    const char *nesl_name;
    const char *type;
    const char *nesl_type; /* null: as `type` */
    Effect effect;
    Work work;
    const char *documentation;
} OpInfo;

extern const OpInfo op_table[OP_COUNT];

/* What printers call an operation: its Runnel name, or its id where it has none. */
const char *op_name(Op op);

/* The conversion to a type of scalars. */
Op op_conversion_to(ScalarType type);

#endif
