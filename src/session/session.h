/* A session: the state behind include/runnel.h. */
#ifndef RUNNEL_SESSION_SESSION_H
#define RUNNEL_SESSION_SESSION_H

#include "core/elaborate.h"
#include "core/simplify.h"
#include "flow/flow.h"
#include "io/value_source.h"
#include "ref/ref.h"
#include "runnel.h"
#include "session/watchdog.h"
#include "types/environment.h"
#include "vm/vm.h"

#include <stdio.h>

/* One step of a run, in program order. */
typedef enum StepKind {
    STEP_BINDING,
    STEP_EXPRESSION,
    STEP_PRINT_LENGTH, /* .nesl: set print_length */
} StepKind;

typedef struct Step {
    StepKind kind;
    Definition *definition; /* BINDING, EXPRESSION */
    uint32_t item;          /* its index in the program, once elaborated */
    uint64_t print_length;
} Step;

/* The function `main`, if there is one. */
typedef struct EntryPoint {
    Definition *definition; /* null without */
    CoreFunctionId function;
    CoreFunctionId *defaults; /* for each parameter, 0 without */
} EntryPoint;

/* What a call of `main` takes, one for each parameter. What the engine streams has a source, which stays the session's; everything else is a value. */
typedef struct GivenArguments {
    Value *values;
    ValueSource **sources; /* null for a value */
} GivenArguments;

/* What runnel_run_prepared runs. */
typedef struct Prepared {
    bool is_there;
    bool is_for_main;
    GivenArguments given; /* room for the arguments of `main` */
    uint32_t first_step;  /* otherwise the steps from there to the last one */
    Watchdog watchdog;    /* of all runs together */
} Prepared;

struct RunnelSession {
    RunnelOptions options;
    Memory memory;
    Arena arena;
    Names names;
    Sources sources;
    Diagnostics diagnostics;
    Types types;
    Environment environment;
    CoreProgram program; /* as elaborated */
    CoreProgram simple;  /* as simplified; the same functions and items */
    CoreProgram *running; /* the one of the two that is run */
    Elaborator *elaborator;
    Simplifier *simplifier;
    Layouts layouts;
    FlowProgram flow; /* the running program flattened, for the VM */
    Interpreter *interpreter; /* one of the two is there */
    Vm *vm;
    VEC(Step) steps;
    uint32_t next_step;  /* the first that has not been run */
    VEC(Name) files;     /* read so far, by canonical path: each is imported once */
    VEC(const Item *) stubs;
    EntryPoint main;
    Dialect dialect;  /* of the file or text loaded last */
    ValueSource **inputs; /* of the parameters of `main`, while it runs or is prepared; null where none was opened */
    uint32_t input_count;
    struct ResultWriter *result_writer; /* of the result under way, if it goes to a file; null otherwise */
    Prepared prepared;
    FILE *reading; /* a source that is being read; null otherwise */
    Text reading_text;
    Text output;
    Text messages;
    uint64_t print_length;
    RunnelResults results;
    StopFlag stop; /* of the run under way, or about to begin */
    bool was_stopped; /* the last run */
    Progress progress; /* of the run under way, or the last one */
    bool is_broken; /* an allocation failed: nothing can be relied on */
};

/* What is loaded by one call. */
typedef struct Load {
    Source *source;
    EnvironmentMark mark;
    uint32_t first_step;
    uint32_t first_function; /* of Core */
    uint32_t first_simple_function; /* of those that simplifying added */
    uint32_t first_item;
    uint32_t first_network; /* of Flow */
    uint32_t file_count;
    EntryPoint main; /* before the load, as a failed one leaves it; so is the dialect */
    Dialect dialect;
} Load;

/* ---- passes.c ---- */

/* Runs every pass of the compiler on a source. False after an error. */
bool passes_run(RunnelSession *session, Load *load);

/* ---- read.c: the pass `read` ---- */
bool read_source(RunnelSession *session, Load *load);
/* Closes what was being read when there was no memory for it. */
void read_end(RunnelSession *session);
/* The text of a file as a source; null after an error at `span`. */
Source *read_file(RunnelSession *session, const char *path, Span span);

#endif
