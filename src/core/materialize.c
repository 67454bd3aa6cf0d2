#include "core/materialize.h"

typedef struct Rewriter {
    CoreProgram *program;
    CoreVar sequence;
    CoreVar vector;
    Span span; /* of the binding */
} Rewriter;

bool materialize_is_possible(const CoreProgram *program, CoreVar variable)
{
    TypeId type = program->variables.items[variable].type;
    return type_is_sequence(program->types, type) && type_is_concrete(program->types, type_element(program->types, type));
}

/* A copy of the statements of a block, into which others are put. */
typedef VEC(CoreStatement) Statements;

static void add_conversion(const Rewriter *r, Statements *statements, Op op, CoreVar from, CoreVar to, Span span)
{
    CoreAtom *argument = ARENA_NEW(r->program->arena, CoreAtom);
    *argument = core_atom(r->program, from);
    *vec_push(r->program->arena, statements) = (CoreStatement){
        .kind = CORE_OP, .target = to, .span = span, .arguments = argument, .argument_count = 1, .op = op};
}

static bool is_sequence(const Rewriter *r, const CoreAtom *atom)
{
    return !atom->is_constant && atom->variable == r->sequence;
}

/* A new traversal of the vector, as an atom. */
static CoreAtom add_traversal(const Rewriter *r, Statements *statements, Span span)
{
    const CoreVariable *sequence = &r->program->variables.items[r->sequence];
    CoreVar again = core_variable(r->program, sequence->type, sequence->name);
    add_conversion(r, statements, OP_SEQ, r->vector, again, span);
    return core_atom(r->program, again);
}

static void replace_in_block(const Rewriter *r, CoreBlock *block, bool binds);

static void add_with_replaced_uses(const Rewriter *r, Statements *statements, CoreStatement statement)
{
    CoreAtom *arguments = ARENA_ARRAY(r->program->arena, CoreAtom, statement.argument_count);
    for (uint32_t i = 0; i < statement.argument_count; i++)
        arguments[i] = is_sequence(r, &statement.arguments[i]) ? add_traversal(r, statements, statement.span)
                                                               : statement.arguments[i];
    statement.arguments = arguments;
    for (uint32_t b = 0; b < 2; b++)
        if (statement.blocks[b] != NULL)
            replace_in_block(r, statement.blocks[b], false);
    *vec_push(r->program->arena, statements) = statement;
}

static void replace_in_block(const Rewriter *r, CoreBlock *block, bool binds)
{
    Statements statements = {0};
    for (uint32_t i = 0; binds && i < block->parameter_count; i++)
        if (block->parameters[i] == r->sequence)
            add_conversion(r, &statements, OP_TAB, r->sequence, r->vector, r->span);
    for (uint32_t i = 0; i < block->statement_count; i++) {
        add_with_replaced_uses(r, &statements, block->statements[i]);
        if (block->statements[i].target == r->sequence)
            add_conversion(r, &statements, OP_TAB, r->sequence, r->vector, block->statements[i].span);
    }
    if (is_sequence(r, &block->result))
        block->result = add_traversal(r, &statements, r->span);
    block->statements = statements.items;
    block->statement_count = statements.count;
}

static bool find_in_block(Rewriter *r, CoreBlock *block, Span span)
{
    bool binds = false;
    r->span = span;
    for (uint32_t i = 0; i < block->parameter_count; i++)
        binds |= block->parameters[i] == r->sequence;
    for (uint32_t i = 0; i < block->statement_count; i++)
        binds |= block->statements[i].target == r->sequence;
    if (binds) {
        replace_in_block(r, block, true);
        return true;
    }
    for (uint32_t i = 0; i < block->statement_count; i++)
        for (uint32_t b = 0; b < 2; b++)
            if (block->statements[i].blocks[b] != NULL &&
                find_in_block(r, block->statements[i].blocks[b], block->statements[i].span))
                return true;
    return false;
}

void materialize_variable(CoreProgram *program, CoreVar variable)
{
    const CoreVariable *sequence = &program->variables.items[variable];
    TypeId element = type_element(program->types, sequence->type);
    Name name = sequence->name;
    Rewriter r = {.program = program, .sequence = variable};
    r.vector = core_variable(program, type_vector(program->types, element), name);
    for (uint32_t i = 0; i < program->items.count; i++)
        if (find_in_block(&r, program->items.items[i].block, program->items.items[i].span))
            return;
    for (uint32_t i = 1; i < program->functions.count; i++)
        if (find_in_block(&r, program->functions.items[i]->body, program->functions.items[i]->span))
            return;
}
