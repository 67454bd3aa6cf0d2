/* Which functions are scalar code.
 *
 * A function is if its own statements are and all functions that it calls are: of the sets of functions of which that is true, the largest.
 * So everything that can be reached is looked at, and what is found wrong spreads to its callers. */
#include "vm/scalar_code_private.h"

enum {
    /* of all variables together; bounds the time and space of compiling */
    LEAVES_MAX = 1 << 20,
};

/* A function being looked at. */
typedef struct Candidate {
    CoreFunctionId function;
    VEC(uint32_t) callers; /* among the candidates */
} Candidate;

typedef struct Acceptor {
    ScalarCode *code;
    Arena *arena;
    VEC(Candidate) candidates;
    VEC(uint32_t) rejected; /* whose callers do not know yet */
    uint32_t current;
    uint64_t leaves; /* of the variables of the current one, so far */
} Acceptor;

/* ---- one function ---- */

static const bool is_scalar_op[OP_COUNT] = {
#define SCALAR_UNARY(OP, function) [OP_##OP] = true,
#define SCALAR_BINARY(OP, function) [OP_##OP] = true,
#define SCALAR_PARTIAL(OP, function) [OP_##OP] = true,
#define SCALAR_MATH_1(OP, name) [OP_##OP] = true,
#define SCALAR_MATH_2(OP, name) [OP_##OP] = true,
#define SCALAR_COMPARISON(OP, orders) [OP_##OP] = true,
#include "math/scalar_ops.def"
};

static bool accepts_type(Acceptor *acceptor, TypeId type)
{
    if (!type_is_concrete(acceptor->code->program->types, type))
        return false;
    const Layout *layout = layout_of(acceptor->code->layouts, type);
    acceptor->leaves += layout == NULL ? 0 : layout->count;
    return layout != NULL && acceptor->leaves <= LEAVES_MAX;
}

static bool accepts_op(Acceptor *acceptor, const CoreStatement *statement)
{
    const Types *types = acceptor->code->program->types;
    switch (statement->op) {
    case OP_LENGTH:
    case OP_ELEMENT:
    case OP_INSIDE:
    case OP_SLICE:
    case OP_SUBSEQ:
    case OP_TAKE:
    case OP_DROP:
        return type_is_vector(types, statement->arguments[0].type);
    case OP_CHECKED_INDEX:
        return true;
    default:
        break;
    }
    bool is_scalar = is_scalar_op[statement->op];
    for (uint32_t i = 0; i < statement->argument_count; i++)
        is_scalar &= type_is_scalar(types, statement->arguments[i].type);
    return is_scalar;
}

static void reject(Acceptor *acceptor, uint32_t candidate)
{
    ScalarFunction *function = scalar_function_of(acceptor->code, acceptor->candidates.items[candidate].function);
    if (function->acceptance == ACCEPTANCE_NO)
        return;
    function->acceptance = ACCEPTANCE_NO;
    *vec_push(acceptor->arena, &acceptor->rejected) = candidate;
}

static uint32_t add_candidate(Acceptor *acceptor, CoreFunctionId function)
{
    ScalarFunction *known = scalar_function_of(acceptor->code, function);
    if (known->candidate == 0) {
        *vec_push(acceptor->arena, &acceptor->candidates) = (Candidate){.function = function};
        known->candidate = acceptor->candidates.count;
    }
    return known->candidate - 1;
}

static bool accepts_callee(Acceptor *acceptor, CoreFunctionId function)
{
    if (acceptor->code->program->functions.items[function] == NULL)
        return false;
    Acceptance known = scalar_function_of(acceptor->code, function)->acceptance;
    if (known != ACCEPTANCE_UNKNOWN)
        return known == ACCEPTANCE_YES;
    Candidate *callee = &acceptor->candidates.items[add_candidate(acceptor, function)];
    *vec_push(acceptor->arena, &callee->callers) = acceptor->current;
    return true;
}

static bool accepts_block(Acceptor *acceptor, const CoreBlock *block);

static bool accepts_statement(Acceptor *acceptor, const CoreStatement *statement)
{
    if (!accepts_type(acceptor, acceptor->code->program->variables.items[statement->target].type))
        return false;
    for (uint32_t i = 0; i < statement->argument_count; i++)
        if (!accepts_type(acceptor, statement->arguments[i].type))
            return false;
    switch (statement->kind) {
    case CORE_COPY:
    case CORE_UNIT:
    case CORE_PAIR:
    case CORE_PROJECT:
    case CORE_WRAP:
    case CORE_UNWRAP:
        return true;
    case CORE_OP:
        return accepts_op(acceptor, statement);
    case CORE_CALL:
        return accepts_callee(acceptor, statement->function);
    case CORE_IF:
        return accepts_block(acceptor, statement->blocks[0]) && accepts_block(acceptor, statement->blocks[1]);
    case CORE_MAKE:
    case CORE_TEXT:
    case CORE_EACH:
    case CORE_GUARD:
    case CORE_GROUP:
        break;
    }
    return false;
}

static bool accepts_block(Acceptor *acceptor, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        if (!accepts_type(acceptor, acceptor->code->program->variables.items[block->parameters[i]].type))
            return false;
    for (uint32_t i = 0; i < block->statement_count; i++)
        if (!accepts_statement(acceptor, &block->statements[i]))
            return false;
    return accepts_type(acceptor, block->result.type);
}

/* ---- all of them ---- */

static void spread_rejections(Acceptor *acceptor)
{
    while (acceptor->rejected.count > 0) {
        const Candidate *candidate = &acceptor->candidates.items[vec_pop(&acceptor->rejected)];
        for (uint32_t i = 0; i < candidate->callers.count; i++)
            reject(acceptor, candidate->callers.items[i]);
    }
}

static void decide(ScalarCode *code, CoreFunctionId function)
{
    const CoreProgram *program = code->program;
    arena_free(&code->scratch);
    Acceptor acceptor = {.code = code, .arena = &code->scratch};
    add_candidate(&acceptor, function);
    for (uint32_t i = 0; i < acceptor.candidates.count; i++) {
        acceptor.current = i;
        acceptor.leaves = 0;
        if (!accepts_block(&acceptor, program->functions.items[acceptor.candidates.items[i].function]->body))
            reject(&acceptor, i);
    }
    spread_rejections(&acceptor);
    for (uint32_t i = 0; i < acceptor.candidates.count; i++) {
        ScalarFunction *decided = scalar_function_of(code, acceptor.candidates.items[i].function);
        decided->candidate = 0;
        if (decided->acceptance == ACCEPTANCE_UNKNOWN)
            decided->acceptance = ACCEPTANCE_YES;
    }
    arena_free(&code->scratch);
}

bool scalar_code_accepts(ScalarCode *code, CoreFunctionId function)
{
    if (code->program->functions.items[function] == NULL)
        return false;
    if (scalar_function_of(code, function)->acceptance == ACCEPTANCE_UNKNOWN)
        decide(code, function);
    return scalar_function_of(code, function)->acceptance == ACCEPTANCE_YES;
}
