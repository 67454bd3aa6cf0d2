#include "core/builtin_operator.h"

#include "math/scalar.h"

static const BuiltinOperator table[] = {
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive)                                                \
    {OP_##on_scalars, OP_##reduction, OP_##scan, OP_##inclusive},
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
};

bool builtin_is_scan(Op op)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (op == table[i].scan || op == table[i].inclusive)
            return true;
    return false;
}

/* ---- recognising ---- */

/* A component of an operand or of the result: the projections that lead there as bits, the last one lowest. */
typedef struct Path {
    uint32_t depth, steps;
} Path;

enum { PATH_DEPTH_MAX = 2 * BUILTIN_COMPONENTS_MAX };

typedef struct Search {
    const CoreBlock *body;
    CoreVar operands[2];
    const BuiltinOperator **found;
    uint32_t count;
} Search;

static const CoreStatement *definition_of(const Search *search, const CoreAtom *atom)
{
    for (uint32_t i = 0; !atom->is_constant && i < search->body->statement_count; i++)
        if (search->body->statements[i].target == atom->variable)
            return &search->body->statements[i];
    return NULL;
}

static bool is_component(const Search *search, const CoreAtom *atom, CoreVar operand, Path path)
{
    for (uint32_t step = 0; step < path.depth; step++) {
        const CoreStatement *projection = definition_of(search, atom);
        if (projection == NULL || projection->kind != CORE_PROJECT || projection->component != (path.steps >> step & 1))
            return false;
        atom = &projection->arguments[0];
    }
    return !atom->is_constant && atom->variable == operand;
}

/* Both orders are the same: these operators commute. */
static bool combines_components(const Search *search, const CoreStatement *operation, Path path)
{
    const CoreAtom *arguments = operation->arguments;
    for (uint32_t i = 0; i < 2; i++)
        if (is_component(search, &arguments[0], search->operands[i], path) &&
            is_component(search, &arguments[1], search->operands[1 - i], path))
            return true;
    return false;
}

static bool find_operator(Search *search, const CoreStatement *operation, Path path)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].on_scalars != operation->op)
            continue;
        if (search->count == BUILTIN_COMPONENTS_MAX || !combines_components(search, operation, path))
            return false;
        search->found[search->count++] = &table[i];
        return true;
    }
    return false;
}

static bool find_components(Search *search, const CoreAtom *atom, Path path)
{
    const CoreStatement *definition = definition_of(search, atom);
    if (definition == NULL || path.depth == PATH_DEPTH_MAX)
        return false;
    if (definition->kind == CORE_OP)
        return find_operator(search, definition, path);
    if (definition->kind != CORE_PAIR)
        return false;
    for (uint32_t component = 0; component < 2; component++)
        if (!find_components(search, &definition->arguments[component],
                             (Path){path.depth + 1, path.steps << 1 | component}))
            return false;
    return true;
}

/* Of a body that does nothing but take apart, combine and put together; otherwise more than can be. */
static uint32_t count_operations(const CoreBlock *body)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < body->statement_count; i++) {
        CoreKind kind = body->statements[i].kind;
        if (kind != CORE_OP && kind != CORE_PROJECT && kind != CORE_PAIR)
            return UINT32_MAX;
        count += kind == CORE_OP;
    }
    return count;
}

uint32_t builtin_operators(const CoreBlock *body, uint32_t captured_count,
                           const BuiltinOperator *operators[BUILTIN_COMPONENTS_MAX])
{
    Search search = {.body = body,
                     .operands = {body->parameters[captured_count], body->parameters[captured_count + 1]},
                     .found = operators};
    bool is_found = find_components(&search, &body->result, (Path){0});
    return is_found && search.count == count_operations(body) ? search.count : 0; /* another operation might fail or draw */
}

/* ---- what is known of them ---- */

bool builtin_is_exact(const BuiltinOperator *operator, ScalarType type)
{
    bool is_ordered = operator->on_scalars == OP_ADD || operator->on_scalars == OP_MULTIPLY;
    return !is_ordered || scalar_kind(type) != KIND_FLOATING;
}

Scalar builtin_neutral(const BuiltinOperator *operator, ScalarType type)
{
    switch ((int)operator->on_scalars) {
    case OP_MULTIPLY: return scalar_of_int(type, 1);
    case OP_MAXIMUM: return scalar_least(type);
    case OP_MINIMUM: return scalar_greatest(type);
    case OP_AND: return scalar_all_ones(type);
    }
    return scalar_of_int(type, 0);
}
