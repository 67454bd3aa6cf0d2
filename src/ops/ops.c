#include "ops/ops.h"

#include <stddef.h>

const OpInfo op_table[OP_COUNT] = {
#define OP(ID, rnl, nesl, type, nesl_type, effect, work, documentation)                                               \
    [OP_##ID] = {#ID, rnl, nesl, type, nesl_type, EFFECT_##effect, WORK_##work, documentation},
#include "ops/ops.def"
#undef OP
};

const char *op_name(Op op)
{
    return op_table[op].rnl_name != NULL ? op_table[op].rnl_name : op_table[op].id;
}

Op op_conversion_to(ScalarType type)
{
    static const Op conversions[] = {
#define SCALAR(ID, name, c_type, kind) [SCALAR_##ID] = OP_TO_##ID,
#include "ops/scalars.def"
#undef SCALAR
    };
    return conversions[type];
}
