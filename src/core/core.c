/* Core: making programs. Printing is in core_print.c, the check of the invariants in core_check.c. */
#include "core/core.h"

#include <string.h>

void core_program_init(CoreProgram *program, Arena *arena, Types *types, Names *names)
{
    *program = (CoreProgram){.arena = arena, .types = types, .names = names};
    /* id 0 means none, so its place is taken */
    *vec_push(arena, &program->variables) = (CoreVariable){0};
    *vec_push(arena, &program->functions) = NULL;
}

CoreVar core_variable(CoreProgram *program, TypeId type, Name name)
{
    *vec_push(program->arena, &program->variables) = (CoreVariable){.type = type, .name = name};
    return program->variables.count - 1;
}

CoreAtom core_atom(const CoreProgram *program, CoreVar variable)
{
    return (CoreAtom){.type = program->variables.items[variable].type, .variable = variable};
}

CoreAtom core_constant(TypeId type, Scalar value)
{
    return (CoreAtom){.type = type, .is_constant = true, .constant = value};
}

CoreAtom core_int(int64_t value)
{
    return core_constant(TYPE_INT, (Scalar){.integer = value});
}

CoreAtom core_bool(bool value)
{
    return core_constant(TYPE_BOOL, (Scalar){.integer = value});
}

CoreFunctionId core_function(CoreProgram *program, Name name, Span span)
{
    CoreFunction *function = ARENA_NEW(program->arena, CoreFunction);
    function->name = name;
    function->span = span;
    *vec_push(program->arena, &program->functions) = function;
    return program->functions.count - 1;
}

static void *copy_items(Arena *arena, const void *items, uint32_t count, size_t size)
{
    if (count == 0)
        return NULL;
    void *copy = arena_array(arena, count, size);
    memcpy(copy, items, count * size);
    return copy;
}

CoreStatement *core_emit(CoreBuilder *builder, CoreKind kind, TypeId type, Span span, const CoreAtom *arguments,
                         uint32_t argument_count)
{
    CoreProgram *program = builder->program;
    CoreStatement statement = {
        .kind = kind,
        .target = core_variable(program, type, 0),
        .span = span,
        .arguments = copy_items(program->arena, arguments, argument_count, sizeof *arguments),
        .argument_count = argument_count,
    };
    CoreStatement *place = vec_push(program->arena, &builder->statements);
    *place = statement;
    return place;
}

CoreAtom core_target(const CoreBuilder *builder, const CoreStatement *statement)
{
    return core_atom(builder->program, statement->target);
}

CoreBlock *core_block(CoreBuilder *builder, const CoreVar *parameters, uint32_t parameter_count, CoreAtom result)
{
    Arena *arena = builder->program->arena;
    CoreBlock *block = ARENA_NEW(arena, CoreBlock);
    block->parameters = copy_items(arena, parameters, parameter_count, sizeof *parameters);
    block->parameter_count = parameter_count;
    block->statements = builder->statements.items;
    block->statement_count = builder->statements.count;
    block->result = result;
    /* the storage belongs to the block now; the builder starts anew */
    memset(&builder->statements, 0, sizeof builder->statements);
    return block;
}

bool core_has_blocks(const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++)
        if (block->statements[i].blocks[0] != NULL)
            return true;
    return false;
}
