/* Code under construction: registers, jumps, moves (scalar_code_private.h says what code is). */
#ifndef RUNNEL_VM_SCALAR_EMIT_H
#define RUNNEL_VM_SCALAR_EMIT_H

#include "vm/scalar_code_private.h"

/* Registers are numbered in three groups, and together only when the function is complete. */
enum {
    REGISTER_LOCAL = 1u << 30,
    REGISTER_CONSTANT = 1u << 31,
};

typedef struct Emitter {
    Arena *arena;
    VEC(Instruction) code;
    VEC(const CoreStatement *) origins;
    VEC(Scalar) constants;
    const CoreStatement *origin; /* of what is emitted now */
    uint32_t header_count;
    uint32_t free; /* the first local that holds nothing; those beyond it do not either */
    uint32_t local_count;
} Emitter;

/* The first instruction fills in the constants; calls of the function in itself jump behind it. */
enum { EMIT_BEGIN = 1 };
void emit_start(Emitter *emitter, Arena *arena, CoreFunctionId function);

/* ---- registers ---- */
void emit_header(Emitter *emitter, uint32_t count); /* the header has this many, or more */
uint32_t emit_locals(Emitter *emitter, uint32_t count); /* the first of `count` new ones, next to each other */
uint32_t emit_constant(Emitter *emitter, Scalar value);

/* ---- instructions ---- */
Instruction *emit(Emitter *emitter, ScalarOpcode opcode, uint32_t target, uint32_t first, uint32_t second);

/* Jumps to a place that is not known yet: a list of them, through their targets. */
typedef struct Label {
    uint32_t last; /* position of the last jump + 1; 0 for none */
} Label;
void emit_jump(Emitter *emitter, ScalarOpcode opcode, uint32_t first, uint32_t second, Label *label);
void emit_label(Emitter *emitter, Label label); /* they go to what comes next */
void emit_loop(Emitter *emitter);

/* ---- moves ---- */
/* Moves all at once: register `target` + i becomes what `sources[i]` was. Where may_rename[i] (always, if null), nothing else needs the source from now
 * on; then, if it was computed by the instructions from `start` on, it may be computed in its new place right away. Changes `sources`. */
typedef struct MoveSet {
    uint32_t target;
    uint32_t *sources;
    const bool *may_rename;
    uint32_t count;
    uint32_t start;       /* position in the code, */
    uint32_t first_local; /* and locals, that belong to the block */
} MoveSet;
void emit_moves(Emitter *emitter, MoveSet *moves);

/* Numbers the registers, shortens what can be shortened, and puts the code into `function`. */
void emit_finish(Emitter *emitter, Arena *arena, ScalarFunction *function);

#endif
