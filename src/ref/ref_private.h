/* The inside of the reference interpreter.
 *
 * A program is prepared before it runs, function by function on first use: every variable gets a slot in its function's
 * activation, every block the list of its slots that hold objects. Sibling blocks share slots.
 *
 * The machine has two stacks: frames, and the slots of the activations. A frame is a block being executed or a loop (a
 * comprehension, a group, an operation with a user's operator) whose body or operator runs in the frames above it. A block
 * that ends hands its value to the frame below (ref_deliver).
 *
 * What is kept true:
 *  - an object slot of a block being executed holds an owned reference or null, so unwinding is walking down the frames;
 *  - a slot is emptied after the last statement that uses it;
 *  - operations borrow their arguments and check everything that can fail before they build a result;
 *  - the container an operation builds is `building`, so that unwinding finds it. */
#ifndef RUNNEL_REF_REF_PRIVATE_H
#define RUNNEL_REF_REF_PRIVATE_H

#include "io/failure.h"
#include "io/line_reader.h"
#include "io/object_file.h"
#include "math/combine.h"
#include "math/random.h"
#include "math/scalar.h"
#include "ref/ref_cost.h"

/* ---- prepared programs ---- */

typedef struct PreparedBlock PreparedBlock;

typedef struct ObjectSlot {
    uint32_t slot;
    uint32_t last_use; /* statement of its block that uses it last, in nested blocks perhaps */
    TypeId type;
} ObjectSlot;

typedef struct PreparedStatement {
    const CoreStatement *core;
    PreparedBlock *blocks[2];
    ObjectSlot *dead; /* slots of its block that nothing needs after it */
    uint32_t dead_count;
    bool is_tail; /* CALL: nothing of the activation is needed afterwards */
    bool draws;   /* EACH, GROUP: the body draws random numbers; OP: its operator does */
} PreparedStatement;

struct PreparedBlock {
    const CoreBlock *core;
    PreparedBlock *outer; /* null for the body of a function */
    uint32_t outer_statement;
    PreparedStatement *statements;
    ObjectSlot *object_slots; /* of its own parameters and targets */
    uint32_t object_count;
    BlockCost cost;
};

typedef struct PreparedFunction {
    PreparedBlock *body; /* null until prepared */
    uint32_t slot_count;
} PreparedFunction;

typedef enum Drawing { DRAWING_UNKNOWN, DRAWING_NO, DRAWING_YES } Drawing;

/* What is known of a function before it is prepared: enough to see whether it draws. */
typedef struct FunctionSummary {
    bool is_known;
    bool draws_itself;
    Drawing drawing; /* with everything it calls */
    uint32_t visit;  /* number of the last search that came by */
    VEC(CoreFunctionId) callees;
} FunctionSummary;

typedef struct VariableInfo {
    uint32_t slot; /* in the activation; not for globals */
    bool is_object;
    PreparedBlock *block; /* that binds it */
    uint32_t object_index; /* in the block's object_slots */
} VariableInfo;

/* ---- the machine ---- */

typedef enum ScanStage { SCAN_ABSORB, SCAN_CLOSE_BLOCK, SCAN_EMIT, SCAN_NEXT } ScanStage;

/* A value that may be absent; owned. */
typedef struct MaybeValue {
    Value value;
    bool is_present;
} MaybeValue;

/* Positions in a container, and as much room again for sorting them. */
typedef struct Positions {
    size_t *items;
    size_t capacity;
} Positions;

typedef struct Loop {
    const PreparedStatement *statement;
    size_t index;
    size_t count;
    Object *result;     /* under construction, or null */
    MaybeValue arrived; /* what the body or operator gave */

    /* bodies and operators that draw */
    RandomState outer;
    uint64_t draw;

    /* GROUP: the positions in the order of their keys */
    Positions order;
    size_t group_number;

    /* operations with an operator */
    Object *table; /* PUT_WITH, MULTISCAN: the vector combined into, or null */
    MaybeValue local, carry;
    CombineKind awaiting; /* what the operator is applied for */
    ScanStage stage;
} Loop;

typedef struct Frame {
    const PreparedBlock *block; /* null: a loop */
    Loop *loop;
    size_t base;   /* of the activation's slots */
    uint32_t next; /* statement to execute, or being executed by the frames above */
    bool is_root;  /* the first block of an activation */
} Frame;

struct Interpreter {
    Memory *memory;
    const CoreProgram *program;
    Types *types;
    Diagnostics *diagnostics;
    InterpreterOptions options;
    Heap heap;
    Arena arena; /* prepared code */

    VEC(VariableInfo) variables;       /* by CoreVar */
    VEC(PreparedFunction) functions;   /* by CoreFunctionId */
    VEC(PreparedFunction) items;       /* by their indices */
    VEC(FunctionSummary) summaries;    /* by CoreFunctionId */
    uint32_t visit;
    VEC(MaybeValue) globals; /* by CoreVar */

    Frame *frames;
    size_t frame_count, frame_capacity;
    Value *slots;
    size_t slot_count, slot_capacity;
    uint64_t depth; /* activations on the stack */
    Span origin;    /* of what is run: for failures of which no place is known */

    uint64_t run_time; /* nanoseconds of the last run */
    RandomState random;
    World world;
    /* what an operation holds while it runs, here so that it is found when an allocation fails */
    Object *building; /* the container under construction, or null */
    TypeId building_type;
    Positions positions;
    Text text, contents;
    LineReader lines;
    Value result; /* of the run, once its last frame is gone */
    Failure failure; /* why the run ends: what made a step give false */
    CostCounter cost;
};

/* ---- ref_prepare.c ---- */
const PreparedFunction *ref_prepare_function(Interpreter *machine, CoreFunctionId function);
const PreparedFunction *ref_prepare_item(Interpreter *machine, uint32_t index, const CoreItem *item);

/* ---- ref.c ---- */
/* The failure of the run, to be filled at once: a step that fails says why and gives false. */
Failure *ref_failure(Interpreter *machine, Span span);

/* A value borrowed from the activation at `base`. False after an error: a global without a value. */
bool ref_read(Interpreter *machine, size_t base, const CoreAtom *atom, Span span, Value *value);
/* The same as an owned reference. */
bool ref_take(Interpreter *machine, size_t base, const CoreAtom *atom, Span span, Value *value);

void ref_push_block(Interpreter *machine, const PreparedBlock *block, size_t base);
Loop *ref_push_loop(Interpreter *machine, const PreparedStatement *statement, size_t base, size_t count);
/* A new activation; false after an error (too deep). Its parameters are the caller's to set. */
bool ref_push_activation(Interpreter *machine, const PreparedFunction *function, Span span);
/* Starts a container in `building`; takes it out when it is complete. */
Object *ref_build(Interpreter *machine, TypeId type, size_t capacity);
Object *ref_built(Interpreter *machine);
/* Sets a variable of an activation, taking the value over. */
void ref_set(Interpreter *machine, size_t base, CoreVar variable, Value value);
/* Hands a value over to the frame on top. */
void ref_deliver(Interpreter *machine, Value value);

/* ---- ref_loop.c ---- */
bool ref_op_has_operator(Op op);
/* Pushes the loop of an EACH, GROUP or operation with a user's operator; `base` is the enclosing activation. */
bool ref_loop_begin(Interpreter *machine, const PreparedStatement *statement, size_t base);
/* Goes on with the loop on top of the stack until its body runs or it is done. */
bool ref_loop_step(Interpreter *machine);
void ref_loop_release(Interpreter *machine, Loop *loop); /* the values it holds */
void ref_loop_free(Interpreter *machine, Loop *loop);    /* all the rest */

/* ---- operations ---- */

enum { REF_ARGUMENTS_MAX = 3 };

/* One operation being executed; arguments are borrowed, the result is owned. */
typedef struct OpCall {
    Interpreter *machine;
    const CoreStatement *statement;
    const Value *arguments;
    bool owns_first; /* nothing else refers to the first argument: the result may be built in it */
    Value result;
} OpCall;

static inline TypeId ref_argument_type(const OpCall *call, uint32_t argument)
{
    return call->statement->arguments[argument].type;
}

static inline TypeId ref_result_type(const OpCall *call)
{
    return call->machine->program->variables.items[call->statement->target].type;
}

static inline Failure *ref_op_failure(const OpCall *call)
{
    return ref_failure(call->machine, call->statement->span);
}

/* ref_ops.c: every operation but those with a user's operator. False after an error. */
bool ref_op(OpCall *call);

/* ref_scalar.c */
/* Any operation of math/scalar_ops.def, on scalars. */
bool ref_op_scalar(OpCall *call);
bool ref_op_rand(OpCall *call);

/* ref_value.c: sorting */
/* Makes machine->positions `count` zeros. */
size_t *ref_new_positions(Interpreter *machine, size_t count);
void ref_free_positions(Interpreter *machine, Positions *positions);
/* Makes the first items of machine->positions the positions that sort a container's elements; stable. */
void ref_grade(Interpreter *machine, TypeId element, const Object *container, bool is_descending);

/* Gives an integer or a truth value as the result. */
bool ref_give_integer(OpCall *call, int64_t value);

/* ref_container.c */
/* Lengths that must agree. */
bool ref_fail_lengths(Interpreter *machine, const CoreStatement *statement, size_t a, size_t b);

bool ref_op_iota(OpCall *call);
bool ref_op_range(OpCall *call);
bool ref_op_range_inclusive(OpCall *call);
bool ref_op_nesl_range(OpCall *call);
bool ref_op_append(OpCall *call);
bool ref_op_concat(OpCall *call);
bool ref_op_part(OpCall *call);
bool ref_op_flag_partition(OpCall *call);
bool ref_op_partition(OpCall *call);
bool ref_op_words(OpCall *call);
bool ref_op_zip(OpCall *call);
bool ref_op_cons(OpCall *call);
bool ref_op_snoc(OpCall *call);
bool ref_op_flag_merge(OpCall *call);
bool ref_op_the(OpCall *call);
bool ref_op_element(OpCall *call);
bool ref_op_inside(OpCall *call);
bool ref_op_slice(OpCall *call);
bool ref_op_checked_index(OpCall *call);
bool ref_op_cut(OpCall *call, Op op);
bool ref_op_subseq_length(OpCall *call);
bool ref_op_width(OpCall *call);
bool ref_op_common_length(OpCall *call);
bool ref_op_subseq(OpCall *call);
bool ref_op_take(OpCall *call);
bool ref_op_drop(OpCall *call);
bool ref_op_previous(OpCall *call);
bool ref_op_next(OpCall *call);
bool ref_op_interleave(OpCall *call);
bool ref_op_transpose(OpCall *call);

/* ref_fold.c: reductions and scans by built-in operators */
bool ref_op_reduce(OpCall *call, ScalarBinary combine, Scalar identity);
bool ref_op_scan(OpCall *call, ScalarBinary combine, Scalar identity);
bool ref_op_scan_inclusive(OpCall *call, ScalarBinary combine);
bool ref_op_count_true(OpCall *call);

/* ref_move.c: moving elements by index */
/* Checks an index of `v -> i`, `v <- i` and the like. */
bool ref_check_index(Interpreter *machine, const CoreStatement *statement, int64_t index, size_t length);
bool ref_op_read(OpCall *call);
bool ref_op_write(OpCall *call);
bool ref_op_put(OpCall *call);
bool ref_op_permute(OpCall *call);
bool ref_op_replace(OpCall *call);
bool ref_op_grade(OpCall *call, bool is_descending);
bool ref_op_rank(OpCall *call, bool is_descending);
bool ref_op_sorted(OpCall *call, bool is_descending);

/* ref_text.c: values as texts and back */
/* The characters of an argument as machine->text. */
const Text *ref_text_argument(const OpCall *call, uint32_t argument);
/* A new container of chars. */
Object *ref_chars(Interpreter *machine, const char *bytes, size_t length);
bool ref_op_string(OpCall *call);
bool ref_op_exp_string(OpCall *call);
bool ref_op_parse_number(OpCall *call, ScalarType type);

/* ref_world.c: files, output, messages */
bool ref_op_print_string(OpCall *call);
bool ref_op_user_error(OpCall *call);
bool ref_op_not_provided(OpCall *call);
bool ref_op_raise(OpCall *call);
bool ref_op_lines(OpCall *call);
bool ref_op_clock(OpCall *call);
bool ref_op_environment_variable(OpCall *call);
bool ref_op_open_file(OpCall *call);
bool ref_op_close_file(OpCall *call);
bool ref_op_read_chars(OpCall *call);
bool ref_op_write_chars(OpCall *call);
bool ref_op_read_value(OpCall *call);
bool ref_op_write_value(OpCall *call);

#endif
