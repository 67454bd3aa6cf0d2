/* From Core to scalar code: variables, blocks, calls. */
#include "vm/scalar_compile.h"

/* Where the value of a block goes. */
typedef struct Destination {
    bool is_tail; /* it is the value of the function; otherwise: */
    uint32_t first;
    uint32_t count;
} Destination;

/* ---- variables ---- */

ScalarVariable *compile_variable(Compiler *compiler, CoreVar variable)
{
    ScalarCode *code = compiler->code;
    while (code->variables.count <= variable)
        *vec_push(&code->arena, &code->variables) = (ScalarVariable){0};
    return &code->variables.items[variable];
}

TypeId compile_type(const Compiler *compiler, CoreVar variable)
{
    return compiler->program->variables.items[variable].type;
}

static uint32_t leaf_count(Compiler *compiler, TypeId type)
{
    return layout_of(compiler->code->layouts, type)->count;
}

static bool is_global(const Compiler *compiler, const CoreAtom *atom)
{
    return !atom->is_constant && compiler->program->variables.items[atom->variable].is_global;
}

const uint32_t *compile_row(Compiler *compiler, uint32_t first, uint32_t count)
{
    uint32_t *registers = ARENA_ARRAY(compiler->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        registers[i] = first + i;
    return registers;
}

uint32_t compile_place(Compiler *compiler, CoreVar variable)
{
    uint32_t count = leaf_count(compiler, compile_type(compiler, variable));
    uint32_t first = emit_locals(&compiler->emitter, count);
    compile_variable(compiler, variable)->registers = compile_row(compiler, first, count);
    return first;
}

static void count_use(Compiler *compiler, const CoreAtom *atom)
{
    if (!atom->is_constant && !is_global(compiler, atom))
        compile_variable(compiler, atom->variable)->uses++;
}

static void count_uses(Compiler *compiler, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        *compile_variable(compiler, block->parameters[i]) = (ScalarVariable){0};
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        *compile_variable(compiler, statement->target) = (ScalarVariable){0};
        for (uint32_t a = 0; a < statement->argument_count; a++)
            count_use(compiler, &statement->arguments[a]);
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                count_uses(compiler, statement->blocks[b]);
    }
    count_use(compiler, &block->result);
}

/* ---- globals ---- */

static uint32_t number_global(Compiler *compiler, CoreVar variable)
{
    ScalarCode *code = compiler->code;
    ScalarVariable *known = compile_variable(compiler, variable);
    if (known->global == 0) {
        const Layout *layout = layout_of(code->layouts, compile_type(compiler, variable));
        Scalar *values = ARENA_ARRAY(&code->arena, Scalar, layout->count);
        *vec_push(&code->arena, &code->globals) =
            (ScalarGlobal){.variable = variable, .layout = layout, .values = values};
        known->global = code->globals.count;
    }
    return known->global - 1;
}

static void load_global(Compiler *compiler, CoreVar variable)
{
    uint32_t number = number_global(compiler, variable);
    uint32_t first = compile_place(compiler, variable);
    emit(&compiler->emitter, CODE_GLOBAL, first, number, leaf_count(compiler, compile_type(compiler, variable)));
    *vec_push(compiler->arena, &compiler->loaded) = variable;
}

/* Of a statement, in the order of its arguments and before anything else: a global may have no value. */
static void load_globals(Compiler *compiler, const CoreStatement *statement)
{
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        const CoreAtom *atom = &statement->arguments[i];
        if (is_global(compiler, atom) && compile_variable(compiler, atom->variable)->registers == NULL)
            load_global(compiler, atom->variable);
    }
}

static void forget_loaded(Compiler *compiler, uint32_t count)
{
    while (compiler->loaded.count > count)
        compile_variable(compiler, vec_pop(&compiler->loaded))->registers = NULL;
}

/* ---- operands ---- */

const uint32_t *compile_atom(Compiler *compiler, const CoreAtom *atom)
{
    if (atom->is_constant)
        return compile_row(compiler, emit_constant(&compiler->emitter, atom->constant), 1);
    ScalarVariable *variable = compile_variable(compiler, atom->variable);
    if (variable->condition != NULL) {
        const CoreStatement *statement = variable->condition;
        variable->condition = NULL;
        compile_condition_value(compiler, statement);
    } else if (variable->registers == NULL) {
        load_global(compiler, atom->variable);
    }
    return compile_variable(compiler, atom->variable)->registers;
}

uint32_t compile_operand(Compiler *compiler, const CoreAtom *atom)
{
    return compile_atom(compiler, atom)[0];
}

static bool is_single(Compiler *compiler, const CoreAtom *atom)
{
    return !atom->is_constant && !is_global(compiler, atom) && compile_variable(compiler, atom->variable)->is_single;
}

/* ---- names for what is there ---- */

static void alias(Compiler *compiler, CoreVar target, const uint32_t *registers, bool is_single)
{
    ScalarVariable *variable = compile_variable(compiler, target);
    variable->registers = registers;
    variable->is_single = is_single && variable->uses == 1;
}

static void compile_pair(Compiler *compiler, const CoreStatement *statement)
{
    uint32_t counts[2], filled = 0;
    for (uint32_t i = 0; i < 2; i++)
        counts[i] = leaf_count(compiler, statement->arguments[i].type);
    uint32_t *registers = ARENA_ARRAY(compiler->arena, uint32_t, counts[0] + counts[1]);
    bool are_single = true;
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t *component = compile_atom(compiler, &statement->arguments[i]);
        are_single &= statement->arguments[i].is_constant || is_single(compiler, &statement->arguments[i]);
        for (uint32_t j = 0; j < counts[i]; j++)
            registers[filled++] = component[j];
    }
    alias(compiler, statement->target, registers, are_single);
}

static void compile_project(Compiler *compiler, const CoreStatement *statement)
{
    const CoreAtom *pair = &statement->arguments[0];
    const uint32_t *registers = compile_atom(compiler, pair);
    TypeId first = type_first(compiler->program->types, pair->type);
    uint32_t skipped = statement->component == 0 ? 0 : leaf_count(compiler, first);
    alias(compiler, statement->target, registers + skipped, is_single(compiler, pair));
}

/* ---- calls ---- */

/* The leaves of a call's arguments, and which of them nothing else needs. */
typedef struct Arguments {
    uint32_t *sources;
    bool *are_single;
    uint32_t count;
} Arguments;

static Arguments gather_arguments(Compiler *compiler, const CoreStatement *statement)
{
    Arguments arguments = {0};
    for (uint32_t i = 0; i < statement->argument_count; i++)
        arguments.count += leaf_count(compiler, statement->arguments[i].type);
    arguments.sources = ARENA_ARRAY(compiler->arena, uint32_t, arguments.count);
    arguments.are_single = ARENA_ARRAY(compiler->arena, bool, arguments.count);
    uint32_t filled = 0;
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        const CoreAtom *atom = &statement->arguments[i];
        const uint32_t *registers = compile_atom(compiler, atom);
        uint32_t count = leaf_count(compiler, atom->type);
        for (uint32_t j = 0; j < count; j++, filled++) {
            arguments.sources[filled] = registers[j];
            arguments.are_single[filled] = is_single(compiler, atom);
        }
    }
    return arguments;
}

static void move(Compiler *compiler, uint32_t target, uint32_t *sources, const bool *may_rename, uint32_t count)
{
    MoveSet moves = {.target = target,
                     .sources = sources,
                     .may_rename = may_rename,
                     .count = count,
                     .start = compiler->scope.start,
                     .first_local = compiler->scope.first_local};
    emit_moves(&compiler->emitter, &moves);
}

static void need_function(Compiler *compiler, CoreFunctionId function)
{
    if (scalar_function_of(compiler->code, function)->code == NULL)
        *vec_push(compiler->arena, &compiler->pending) = function;
}

static void compile_tail_call(Compiler *compiler, const CoreStatement *statement)
{
    Arguments arguments = gather_arguments(compiler, statement);
    emit_header(&compiler->emitter, arguments.count);
    move(compiler, 0, arguments.sources, NULL, arguments.count);
    if (statement->function == compiler->function) {
        emit_loop(&compiler->emitter);
        return;
    }
    need_function(compiler, statement->function);
    emit(&compiler->emitter, CODE_TAIL_CALL, statement->function, 0, 0);
}

/* Whether the arguments are the last locals, as if put there for the call. */
static bool are_in_place(const Compiler *compiler, const Arguments *arguments)
{
    uint32_t free = compiler->emitter.free;
    if (arguments->count > free)
        return false;
    for (uint32_t i = 0; i < arguments->count; i++)
        if (arguments->sources[i] != (REGISTER_LOCAL | (free - arguments->count + i)) || !arguments->are_single[i])
            return false;
    return true;
}

static void compile_call(Compiler *compiler, const CoreStatement *statement)
{
    Emitter *emitter = &compiler->emitter;
    Arguments arguments = gather_arguments(compiler, statement);
    uint32_t base = emitter->free;
    if (are_in_place(compiler, &arguments)) {
        base -= arguments.count;
    } else {
        emit_locals(emitter, arguments.count);
        move(compiler, REGISTER_LOCAL | base, arguments.sources, arguments.are_single, arguments.count);
    }
    need_function(compiler, statement->function);
    emit(emitter, CODE_CALL, statement->function, REGISTER_LOCAL | base, 0);
    emitter->free = base;
    compile_place(compiler, statement->target);
    ScalarVariable *target = compile_variable(compiler, statement->target);
    target->is_single = target->uses == 1;
}

/* ---- blocks ---- */

static void compile_block(Compiler *compiler, const CoreBlock *block, Destination destination);

static void compile_if(Compiler *compiler, const CoreStatement *statement, Destination destination)
{
    Emitter *emitter = &compiler->emitter;
    Label otherwise = {0}, end = {0};
    compile_jump(compiler, &statement->arguments[0], false, &otherwise);
    compile_block(compiler, statement->blocks[0], destination);
    if (!destination.is_tail)
        emit_jump(emitter, CODE_JUMP, 0, 0, &end);
    emit_label(emitter, otherwise);
    compile_block(compiler, statement->blocks[1], destination);
    emit_label(emitter, end);
}

/* An `if` whose value is needed here. */
static void compile_inner_if(Compiler *compiler, const CoreStatement *statement)
{
    uint32_t first = compile_place(compiler, statement->target);
    uint32_t count = leaf_count(compiler, compile_type(compiler, statement->target));
    ScalarVariable *target = compile_variable(compiler, statement->target);
    target->is_single = target->uses == 1;
    compile_if(compiler, statement, (Destination){.first = first, .count = count});
}

static void compile_statement(Compiler *compiler, const CoreStatement *statement)
{
    switch (statement->kind) {
    case CORE_COPY:
    case CORE_WRAP:
    case CORE_UNWRAP: {
        const uint32_t *registers = compile_atom(compiler, &statement->arguments[0]);
        alias(compiler, statement->target, registers, is_single(compiler, &statement->arguments[0]));
        return;
    }
    case CORE_UNIT:
        alias(compiler, statement->target, compile_row(compiler, 0, 0), false);
        return;
    case CORE_PAIR:
        compile_pair(compiler, statement);
        return;
    case CORE_PROJECT:
        compile_project(compiler, statement);
        return;
    case CORE_OP:
        compile_op(compiler, statement);
        return;
    case CORE_CALL:
        compile_call(compiler, statement);
        return;
    case CORE_IF:
        compile_inner_if(compiler, statement);
        return;
    case CORE_MAKE:
    case CORE_TEXT:
    case CORE_EACH:
    case CORE_GUARD:
    case CORE_GROUP:
        break;
    }
    bug("scalar code", "a function was not accepted and is compiled");
}

/* Nothing of the function is needed after the statement: the same as in src/ref. */
static bool is_last(const CoreBlock *block, uint32_t statement)
{
    return statement + 1 == block->statement_count && !block->result.is_constant &&
           block->result.variable == block->statements[statement].target;
}

static void deliver_result(Compiler *compiler, const CoreBlock *block, Destination destination)
{
    uint32_t count = leaf_count(compiler, block->result.type);
    uint32_t *sources = ARENA_ARRAY(compiler->arena, uint32_t, count);
    const uint32_t *registers = compile_atom(compiler, &block->result);
    for (uint32_t i = 0; i < count; i++)
        sources[i] = registers[i];
    move(compiler, destination.is_tail ? 0 : destination.first, sources, NULL, count);
    if (destination.is_tail)
        emit(&compiler->emitter, CODE_RETURN, 0, 0, 0);
}

/* Whether the statement ended the function. */
static bool compile_last(Compiler *compiler, const CoreStatement *statement, Destination destination)
{
    if (statement->kind == CORE_CALL)
        compile_tail_call(compiler, statement);
    else if (statement->kind == CORE_IF)
        compile_if(compiler, statement, destination);
    return statement->kind == CORE_CALL || statement->kind == CORE_IF;
}

static void compile_statements(Compiler *compiler, const CoreBlock *block, Destination destination)
{
    Emitter *emitter = &compiler->emitter;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        emitter->origin = statement;
        load_globals(compiler, statement);
        if (destination.is_tail && is_last(block, i) && compile_last(compiler, statement, destination))
            return;
        compile_statement(compiler, statement);
    }
    emitter->origin = NULL;
    deliver_result(compiler, block, destination);
}

static void compile_block(Compiler *compiler, const CoreBlock *block, Destination destination)
{
    Emitter *emitter = &compiler->emitter;
    Scope outer = compiler->scope;
    compiler->scope = (Scope){emitter->code.count, emitter->free, compiler->loaded.count};
    compile_statements(compiler, block, destination);
    forget_loaded(compiler, compiler->scope.first_loaded);
    emitter->free = compiler->scope.first_local;
    compiler->scope = outer;
}

/* ---- functions ---- */

static void add_leaves(Compiler *compiler, TypeId type, LeafType *leaves, uint32_t *count)
{
    const Layout *layout = layout_of(compiler->code->layouts, type);
    for (uint32_t i = 0; i < layout->count; i++)
        leaves[(*count)++] = layout->leaves[i].type;
}

/* Where a function's arguments come from and its results go. */
static void describe_header(Compiler *compiler, const CoreBlock *body, ScalarFunction *function)
{
    Arena *arena = &compiler->code->arena;
    uint32_t argument_count = 0;
    for (uint32_t i = 0; i < body->parameter_count; i++)
        argument_count += leaf_count(compiler, compile_type(compiler, body->parameters[i]));
    function->arguments = ARENA_ARRAY(arena, LeafType, argument_count);
    function->results = ARENA_ARRAY(arena, LeafType, leaf_count(compiler, body->result.type));
    function->argument_count = function->result_count = 0;
    for (uint32_t i = 0; i < body->parameter_count; i++)
        add_leaves(compiler, compile_type(compiler, body->parameters[i]), function->arguments, &function->argument_count);
    add_leaves(compiler, body->result.type, function->results, &function->result_count);
}

static void place_parameters(Compiler *compiler, const CoreBlock *body)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < body->parameter_count; i++) {
        uint32_t count = leaf_count(compiler, compile_type(compiler, body->parameters[i]));
        compile_variable(compiler, body->parameters[i])->registers = compile_row(compiler, next, count);
        next += count;
    }
}

static void compile_function(Compiler *compiler, CoreFunctionId id)
{
    const CoreBlock *body = compiler->program->functions.items[id]->body;
    ScalarFunction function = *scalar_function_of(compiler->code, id);
    compiler->function = id;
    compile_variable(compiler, compiler->program->variables.count - 1); /* pointers into the table stay */
    describe_header(compiler, body, &function);
    count_uses(compiler, body);
    place_parameters(compiler, body);
    emit_start(&compiler->emitter, compiler->arena, id);
    emit_header(&compiler->emitter, function.argument_count);
    emit_header(&compiler->emitter, function.result_count);
    compile_block(compiler, body, (Destination){.is_tail = true});
    emit_finish(&compiler->emitter, &compiler->code->arena, &function);
    *scalar_function_of(compiler->code, id) = function;
}

void scalar_compile(ScalarCode *code, CoreFunctionId function)
{
    if (scalar_function_of(code, function)->code != NULL)
        return;
    arena_free(&code->scratch);
    Compiler compiler = {.code = code, .program = code->program, .arena = &code->scratch};
    *vec_push(compiler.arena, &compiler.pending) = function;
    while (compiler.pending.count > 0) {
        CoreFunctionId next = vec_pop(&compiler.pending);
        if (scalar_function_of(code, next)->code == NULL)
            compile_function(&compiler, next);
    }
    arena_free(&code->scratch);
}
