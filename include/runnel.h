/* Runnel: compile and run nested data-parallel programs.
 *
 * A session holds everything: the definitions loaded so far, their compiled form, the values of top-level bindings. Sessions
 * share nothing, so that each thread of a process may have its own. No function here exits or prints: results go
 * to the `write` function, messages are values. */
#ifndef RUNNEL_H
#define RUNNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUNNEL_VERSION "0.1.0"

typedef struct RunnelSession RunnelSession;

enum { RUNNEL_THREADS_MAX = 1024 };

/* Also the exit status of the command. */
typedef enum RunnelStatus {
    RUNNEL_OK = 0,
    RUNNEL_RUN_ERROR = 1,     /* the program failed while running */
    RUNNEL_COMPILE_ERROR = 2, /* the program, or the way it was called, is wrong */
} RunnelStatus;

typedef enum RunnelDialect { RUNNEL_DIALECT_RNL, RUNNEL_DIALECT_NESL } RunnelDialect;

/* What runs programs. All give the same answers. */
typedef enum RunnelEngine {
    RUNNEL_ENGINE_VM,        /* flattened, chunk by chunk, in bounded memory */
    RUNNEL_ENGINE_C,         /* the same, its loops compiled by the system's C compiler */
    RUNNEL_ENGINE_REFERENCE, /* the reference interpreter: slow, holds everything, counts costs */
} RunnelEngine;

typedef enum RunnelHeader { RUNNEL_HEADER_GUESSED, RUNNEL_HEADER_YES, RUNNEL_HEADER_NO } RunnelHeader;

typedef struct RunnelOptions {
    RunnelEngine engine;
    /* Receives the program's output and printed results. Required. */
    void (*write)(void *context, const char *bytes, size_t length);
    /* Receives printed results in place of `write`, to keep them apart from what the program prints itself. May be null. */
    void (*write_result)(void *context, const char *bytes, size_t length);
    /* What was written is to be seen: soon, for the program is about to wait for input, or, if `is_awaited`, when this returns, for it writes to the
     * stream of messages. May be null. */
    void (*flush)(void *context, bool is_awaited);
    void *write_context; /* of all three */
    uint64_t max_depth;    /* of recursion, tail calls not counted; 0 for the default, 10^6 */
    uint64_t print_length; /* elements of each container shown; 0 for all */
    uint64_t chunk;        /* the VM: elements of a buffer; 0 for the default */
    uint64_t memory_limit; /* the VM: bytes a session may hold; 0 for no limit */
    uint64_t time_limit_milliseconds; /* of each run, or of all runs of what was prepared together; 0 for none */
    uint32_t threads;      /* the VM; 0 for as many as the process can keep busy */
    uint64_t piece_nanoseconds; /* testing: the least work, about, that is given to a thread; 0 for the default */
    const char *compiler;  /* engine C: the command of the C compiler; null for the system's */
    bool is_fast;          /* engine C: floats may be contracted and multiplied by reciprocals; results are no longer those of the others */
    bool measures;         /* the VM: for runnel_write_stats */
    uint64_t fail_after;   /* testing: the nth allocation fails; 0 for never */
    const char *file_format; /* what files given as arguments hold if neither their names nor their first bytes say it: "text", also if null, "npy", "csv", "tsv", "lines", or scalars of this type as bytes */
    RunnelHeader header;     /* whether tables among them begin with one */
    const char *empty_field; /* what an empty field of theirs stands for, where a text is not wanted; null: an error */
    const char *out_path;    /* where the result of `main` goes: a file, or "-" for standard output; null: it is written as other output */
    const char *out_format;  /* what that holds if its name does not say it, as above */
    bool colours_messages; /* for a terminal that has colours */
    bool materializes;     /* hold sequences in memory where one pass is not enough, instead of rejecting the program */
    bool counts_costs;     /* for runnel_write_cost: of the program as written; runs take longer */
    bool is_unsimplified;  /* run the program as written, nothing inlined or merged */
} RunnelOptions;

/* Whether the system has a C compiler. */
bool runnel_has_compiler(void);

/* Null only when there is no memory. */
RunnelSession *runnel_open(const RunnelOptions *options);
void runnel_close(RunnelSession *session);

/* Reads, checks and compiles a program; `path` ends in .rnl or .nesl. On failure nothing of it is kept, and
 * runnel_messages says why. */
RunnelStatus runnel_load_file(RunnelSession *session, const char *path);
/* The same for a text; `name` stands for the file in messages. */
RunnelStatus runnel_load_text(RunnelSession *session, const char *name, const char *text, size_t length,
                              RunnelDialect dialect);

/* Runs what was loaded since the last run: `main` on the arguments if it is defined, otherwise the top-level bindings and expressions in
 * order; results are written. An argument is a value in the language's notation, or `@PATH` for what a file holds, `@-` for standard input. */
RunnelStatus runnel_run(RunnelSession *session, const char *const *arguments, size_t count);
/* Runs top-level bindings and expressions only, `main` or not: what an interactive session wants. */
RunnelStatus runnel_run_items(RunnelSession *session);

/* Gets what was loaded since the last run ready to be run more than once, as runnel_run would run it. Top-level bindings belong to the first run
 * only. The arguments of `main` are read into memory, so a sequence must fit there, and must not come from a pipe or device: those may have no end.
 * What is prepared stays so until a run of it fails, or something else is loaded, run or prepared. */
RunnelStatus runnel_prepare(RunnelSession *session, const char *const *arguments, size_t count);

typedef struct RunnelRunInfo {
    double seconds;   /* what computing took: arguments were read before, results are printed after it, except those with sequences */
    uint32_t threads; /* that may have shared the work */
    uint64_t kernels; /* of compiled code that the program became; 0 for engines without */
    uint64_t vector_bytes; /* of elements of vectors that were made, the result included; of several expressions those of the last; 0 for the reference interpreter */
    double compile_seconds; /* what compiling that code took so far, or loading it where it was known; not in `seconds` */
} RunnelRunInfo;

/* What is written of results. Those with sequences are printed in any case, for that is how they are computed. */
typedef enum RunnelResults {
    RUNNEL_RESULTS_PRINTED,
    RUNNEL_RESULTS_DIGESTED, /* one line each by which they can be compared (docs/bench.md) */
    RUNNEL_RESULTS_IGNORED,  /* nothing: they are computed, and given back */
} RunnelResults;

/* From the next run on; at first they are printed. */
void runnel_set_results(RunnelSession *session, RunnelResults results);

/* Runs what was prepared once more; results are written. Random numbers go on from run to run. */
RunnelStatus runnel_run_prepared(RunnelSession *session, RunnelRunInfo *info);

/* Writes `W=... D=... M=... N=...`: work, depth, sequential and parallel space of everything run so far. Only if the session
 * was opened with counts_costs. Numbers beyond 64 bits are written as `W>=18446744073709551615`. */
RunnelStatus runnel_write_cost(RunnelSession *session);
/* What the VM did so far, ready to show: peak memory, stages, firings, elements, time. Only if the session was opened with
 * `measures`; "" otherwise. Valid until the next call. */
const char *runnel_stats(RunnelSession *session);
/* Writes `name : type` for every definition of the user's files. */
RunnelStatus runnel_write_types(RunnelSession *session);
/* Writes an intermediate form of what runnel_run would run: "core", as elaborated, "simple", as simplified, "outlined", the same
 * with bodies as functions (engine c), "flow", as flattened (unless the engine is the reference), "counts", how much of what that has: spaces, descriptors, copies, "kernels", what is
 * done together as loops, "c", these as the C file that is compiled, or "c-body", only what is the program's own in
 * that file. */
RunnelStatus runnel_write_form(RunnelSession *session, const char *form);

/* Writes what an operation or library function is, its types and what it does; all of them, as a Markdown document, when
 * `name` is null. RUNNEL_COMPILE_ERROR if there is none of this name. */
RunnelStatus runnel_write_operations(RunnelSession *session, const char *name);

/* The operation or library function whose name is most like this one, for "did you mean"; null if none is near. Valid as long as the session. */
const char *runnel_nearest_operation(RunnelSession *session, const char *name);

/* Writes where compiled code is kept for the next time, and how many files and bytes that are. */
RunnelStatus runnel_write_cache(RunnelSession *session);
/* Removes these files, and writes how many they were. */
RunnelStatus runnel_clear_cache(RunnelSession *session);

/* Errors, warnings and notes of the last call, ready to show; "" when there are none. Valid until the next call. */
const char *runnel_messages(RunnelSession *session);

/* Makes a run end soon with an error, or the next one if none is under way; loading forgets it. Safe in a signal handler and from other threads. */
void runnel_interrupt(RunnelSession *session);

/* Whether the run under way, or the last one, was told to end, by runnel_interrupt or for its time: what then waits in `write` or `flush` gives up. */
bool runnel_is_stopping(const RunnelSession *session);

/* How far a run is: elements gone through so far of what is given to it as sequences, or else of the ranges and vectors that it goes through as a whole. Only
 * the VM tells. */
typedef struct RunnelProgress {
    uint64_t elements;
    uint64_t total; /* how many there will be; 0 if that is not known */
} RunnelProgress;

/* What the run under way, or the last one, has told; and asks it to tell more, which takes it a moment. From any thread. */
RunnelProgress runnel_progress(RunnelSession *session);

/* Whether files can be read so: a value for file_format. */
bool runnel_is_file_format(const char *name);

/* Whether a text typed so far wants more lines before it makes sense. */
bool runnel_is_unfinished(RunnelSession *session, const char *text, size_t length, RunnelDialect dialect);

#endif
