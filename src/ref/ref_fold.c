/* Reductions and scans by built-in operators, in the order of math/combine.h. For exact types every order gives the same. */
#include "math/combine.h"
#include "base/least.h"
#include "ref/ref_private.h"

typedef struct Fold {
    ScalarBinary combine;
    ScalarType type;
} Fold;

static Fold fold_of(const OpCall *call, ScalarBinary combine)
{
    Types *types = call->machine->types;
    TypeId element = type_element(types, type_underlying(types, ref_argument_type(call, 0)));
    return (Fold){combine, type_scalar(types, element)};
}

static Scalar left_to_right(Fold fold, Scalar total, const Value *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        total = fold.combine(fold.type, total, items[i].scalar);
    return total;
}

static Scalar halve(Fold fold, Scalar *lanes)
{
    for (size_t half = COMBINE_LANES / 2; half > 0; half /= 2)
        for (size_t j = 0; j < half; j++)
            lanes[j] = fold.combine(fold.type, lanes[j], lanes[j + half]);
    return lanes[0];
}

static Scalar reduce_block(Fold fold, const Value *items, size_t count)
{
    if (count < COMBINE_LANES)
        return left_to_right(fold, items[0].scalar, items + 1, count - 1);
    Scalar lanes[COMBINE_LANES];
    for (size_t j = 0; j < COMBINE_LANES; j++)
        lanes[j] = items[j].scalar;
    size_t grouped = count - count % COMBINE_LANES;
    for (size_t i = COMBINE_LANES; i < grouped; i++)
        lanes[i % COMBINE_LANES] = fold.combine(fold.type, lanes[i % COMBINE_LANES], items[i].scalar);
    return left_to_right(fold, halve(fold, lanes), items + grouped, count - grouped);
}

bool ref_op_reduce(OpCall *call, ScalarBinary combine, Scalar identity)
{
    Fold fold = fold_of(call, combine);
    const Object *elements = call->arguments[0].object;
    Scalar total = identity;
    for (size_t start = 0; start < elements->count; start += COMBINE_BLOCK) {
        Scalar block =
            reduce_block(fold, elements->items + start, least(COMBINE_BLOCK, elements->count - start));
        total = start == 0 ? block : combine(fold.type, total, block);
    }
    call->result.scalar = total;
    return true;
}

/* Writes a block's outputs but for its first; gives the block's total. */
static Scalar scan_block(Fold fold, const Value *items, size_t count, const Scalar *carry, Value *out)
{
    Scalar local = items[0].scalar;
    for (size_t i = 1; i < count; i++) {
        out[i].scalar = carry == NULL ? local : fold.combine(fold.type, *carry, local);
        local = fold.combine(fold.type, local, items[i].scalar);
    }
    return local;
}

bool ref_op_scan(OpCall *call, ScalarBinary combine, Scalar identity)
{
    Fold fold = fold_of(call, combine);
    const Object *elements = call->arguments[0].object;
    size_t count = elements->count;
    Object *result = ref_build(call->machine, ref_result_type(call), count);
    Scalar carry = identity;
    for (size_t start = 0; start < count; start += COMBINE_BLOCK) {
        result->items[start].scalar = carry;
        Scalar total = scan_block(fold, elements->items + start, least(COMBINE_BLOCK, count - start),
                                  start == 0 ? NULL : &carry, result->items + start);
        carry = start == 0 ? total : combine(fold.type, carry, total);
    }
    result->count = count;
    call->result.object = ref_built(call->machine);
    return true;
}

/* The order is that of the exclusive scan of one more element, without its first result. */
bool ref_op_scan_inclusive(OpCall *call, ScalarBinary combine)
{
    Fold fold = fold_of(call, combine);
    const Object *elements = call->arguments[0].object;
    Object *result = ref_build(call->machine, ref_result_type(call), elements->count);
    Scalar carry = {0}, local = {0};
    for (size_t i = 0; i < elements->count; i++) {
        bool is_first = i % COMBINE_BLOCK == 0, is_last = (i + 1) % COMBINE_BLOCK == 0;
        Scalar element = elements->items[i].scalar;
        local = is_first ? element : combine(fold.type, local, element);
        Scalar output = i < COMBINE_BLOCK ? local : combine(fold.type, carry, local);
        result->items[result->count++].scalar = output;
        if (is_last)
            carry = output;
    }
    call->result.object = ref_built(call->machine);
    return true;
}

bool ref_op_count_true(OpCall *call)
{
    const Object *flags = call->arguments[0].object;
    uint64_t count = 0;
    for (size_t i = 0; i < flags->count; i++)
        count += flags->items[i].scalar.bits != 0;
    call->result.scalar.bits = count;
    return true;
}
