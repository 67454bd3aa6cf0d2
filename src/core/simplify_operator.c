/* Reductions by operators that are built in, as what they are: other rules know those, and groups need not be made for them. Sums and products of
 * floats stay: a user's operator combines from left to right, which sum and product do not (math/combine.h). */
#include "core/builtin_operator.h"
#include "core/simplify_internal.h"

static const CoreBlock *body_of(const Simplifier *s, CoreFunctionId function)
{
    const CoreBlock *simplified = simplify_function(s, function)->body;
    return simplified != NULL ? simplified : s->from->functions.items[function]->body;
}

static CoreBlock *block_giving(Simplifier *s, CoreAtom result)
{
    CoreBuilder builder = {.program = s->to};
    return core_block(&builder, NULL, 0, result);
}

/* What is reduced, unless there is nothing to reduce. */
static CoreAtom choose_unless_empty(Simplifier *s, CoreAtom container, CoreAtom identity, CoreAtom total, Span span)
{
    CoreStatement choice = {.kind = CORE_IF, .span = span, .argument_count = 1};
    choice.arguments = ARENA_NEW(s->arena, CoreAtom);
    choice.arguments[0] = simplify_emit_op(s, OP_EMPTY, TYPE_BOOL, span, &container, 1);
    choice.blocks[0] = block_giving(s, identity);
    choice.blocks[1] = block_giving(s, total);
    return simplify_emit(s, &choice, total.type, 0, 0);
}

/* A vector with a second use would have to be made. */
static bool can_ask_whether_empty(const Simplifier *s, CoreAtom container)
{
    return type_is_sequence(s->types, container.type);
}

bool simplify_operator(Simplifier *s, const CoreStatement *statement, TypeId type, CoreAtom *value)
{
    const BuiltinOperator *operators[BUILTIN_COMPONENTS_MAX];
    if (statement->kind != CORE_OP || statement->op != OP_REDUCE || !type_is_scalar(s->types, type) ||
        builtin_operators(body_of(s, statement->function), statement->captured_count, operators) != 1 ||
        !builtin_is_exact(operators[0], type_scalar(s->types, type)))
        return false;
    CoreAtom identity = statement->arguments[0], container = statement->arguments[1];
    bool is_neutral = identity.is_constant &&
                      identity.constant.bits == builtin_neutral(operators[0], type_scalar(s->types, type)).bits;
    if (!is_neutral && !can_ask_whether_empty(s, container))
        return false;
    *value = simplify_emit_op(s, operators[0]->reduction, type, statement->span, &container, 1);
    if (!is_neutral)
        *value = choose_unless_empty(s, container, identity, *value, statement->span);
    return true;
}
