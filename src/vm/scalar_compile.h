/* The compiler of scalar code, between its parts: scalar_compile.c has variables, blocks and calls; scalar_compile_op.c operations;
 * scalar_condition.c truths, which are computed only where they are used. */
#ifndef RUNNEL_VM_SCALAR_COMPILE_H
#define RUNNEL_VM_SCALAR_COMPILE_H

#include "vm/scalar_emit.h"

/* A block being compiled. */
typedef struct Scope {
    uint32_t start; /* position of its first instruction */
    uint32_t first_local;
    uint32_t first_loaded;
} Scope;

typedef struct Compiler {
    ScalarCode *code;
    const CoreProgram *program;
    Emitter emitter;
    Arena *arena;
    CoreFunctionId function;
    Scope scope;
    VEC(CoreVar) loaded; /* globals that are in registers now */
    VEC(CoreFunctionId) pending;
} Compiler;

/* ---- scalar_compile.c: variables and atoms ---- */
ScalarVariable *compile_variable(Compiler *compiler, CoreVar variable);
TypeId compile_type(const Compiler *compiler, CoreVar variable);
/* The registers of an atom's leaves; emits what is needed to have them. */
const uint32_t *compile_atom(Compiler *compiler, const CoreAtom *atom);
uint32_t compile_operand(Compiler *compiler, const CoreAtom *atom); /* the first of them */
/* The registers from `first` on, as those of a variable. */
const uint32_t *compile_row(Compiler *compiler, uint32_t first, uint32_t count);
/* New registers for a variable, which its instructions alone write; gives the first. */
uint32_t compile_place(Compiler *compiler, CoreVar variable);

/* A constant that an instruction can hold. */
static inline bool compile_fits(const CoreAtom *atom)
{
    return atom->is_constant && atom->constant.integer >= INT32_MIN && atom->constant.integer <= INT32_MAX;
}

static inline ScalarType compile_scalar_type(const Compiler *compiler, const CoreAtom *atom)
{
    return type_scalar(compiler->program->types, atom->type);
}

/* The type as which the registers of a type can be seen. */
static inline ScalarType compile_carrier(ScalarType type)
{
    return scalar_kind(type) == KIND_FLOATING || type == SCALAR_U64 ? type : SCALAR_I64;
}

/* ---- scalar_compile_op.c ---- */
void compile_op(Compiler *compiler, const CoreStatement *statement);
/* An operation of math/scalar_ops.def that is no comparison. */
void compile_scalar_op(Compiler *compiler, const CoreStatement *statement);

/* ---- scalar_condition.c ---- */
/* Whether an operation gives a truth that can wait until it is used. */
bool compile_is_condition(const Compiler *compiler, const CoreStatement *statement);
void compile_condition(Compiler *compiler, const CoreStatement *statement);
/* Computes it as a value. */
void compile_condition_value(Compiler *compiler, const CoreStatement *statement);
/* Jumps when a truth has this value. */
void compile_jump(Compiler *compiler, const CoreAtom *condition, bool value, Label *label);

#endif
