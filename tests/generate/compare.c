#define _XOPEN_SOURCE 700
#include "compare.h"

#include "session/session.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

const char *const verdict_names[VERDICT_KINDS] = {
    [VERDICT_AGREES] = "agree",
    [VERDICT_FAILS] = "fail alike",
    [VERDICT_FAILS_OTHERWISE] = "fail elsewhere too",
    [VERDICT_LOSES_ERROR] = "lose an unused error",
    [VERDICT_NOT_STREAMABLE] = "not streamable",
    [VERDICT_TOO_LONG] = "too long",
    [VERDICT_REJECTED] = "rejected",
    [VERDICT_DIFFERS] = "differ",
    [VERDICT_CRASHES] = "crash",
    [VERDICT_HANGS] = "hang",
};

/* ---- the ways of running ---- */

typedef struct Variant {
    const char *name;
    RunnelOptions options;
    uint32_t against;      /* which variant it must agree with */
    bool may_lose_errors;  /* in values nobody uses */
    bool may_fail_otherwise; /* where several points fail, another engine may find another one first */
} Variant;

/* The first is the reference. To compare another way of running programs, add a row. */
enum { REFERENCE, SIMPLIFIED, COSTS, VM, VM_UNSIMPLIFIED, VM_CHUNK_1, VM_CHUNK_7, VM_THREADS, C, C_CHUNK_7, VARIANT_COUNT };
static const Variant variants[VARIANT_COUNT] = {
    [REFERENCE] = {.name = "reference", .options = {.engine = RUNNEL_ENGINE_REFERENCE, .is_unsimplified = true}},
    [SIMPLIFIED] = {.name = "simplified", .options = {.engine = RUNNEL_ENGINE_REFERENCE}, .may_lose_errors = true},
    [COSTS] = {.name = "costs", .options = {.counts_costs = true}},
    [VM] = {.name = "vm", .options = {.threads = 1}, .against = SIMPLIFIED, .may_fail_otherwise = true},
    [VM_UNSIMPLIFIED] = {.name = "vm unsimplified", .options = {.threads = 2, .piece_nanoseconds = 10, .is_unsimplified = true},
                         .may_fail_otherwise = true},
    [VM_CHUNK_1] = {.name = "vm, chunk 1", .options = {.chunk = 1}, .against = VM},
    [VM_CHUNK_7] = {.name = "vm unsimplified, chunk 7",
                    .options = {.chunk = 7, .is_unsimplified = true},
                    .against = VM_UNSIMPLIFIED},
    [VM_THREADS] = {.name = "vm, 3 threads", .options = {.threads = 3, .piece_nanoseconds = 1}, .against = VM},
    [C] = {.name = "c", .options = {.engine = RUNNEL_ENGINE_C, .threads = 1}, .against = VM},
    [C_CHUNK_7] = {.name = "c, 3 threads, chunk 7",
                   .options = {.engine = RUNNEL_ENGINE_C, .threads = 3, .piece_nanoseconds = 1, .chunk = 7},
                   .against = VM},
};

static Ways chosen_ways = WAYS_INTERPRETED;

void compare_choose(Ways ways)
{
    chosen_ways = ways;
}

static bool is_compiled(const Variant *variant)
{
    return variant->options.engine == RUNNEL_ENGINE_C;
}

static bool is_chosen(uint32_t variant)
{
    if (chosen_ways == WAYS_COMPILED)
        return variant == REFERENCE || variant == SIMPLIFIED || variant == VM || is_compiled(&variants[variant]);
    return chosen_ways == WAYS_ALL || !is_compiled(&variants[variant]);
}

/* The same for programs that are not streamable. */
static const Variant materializing[] = {
    {.name = "costs", .options = {.counts_costs = true}},
    {.name = "materialize", .options = {.materializes = true}, .may_lose_errors = true},
};


/* ---- one run ---- */

enum { RUN_SECONDS = 1, COMPILED_RUN_SECONDS = 20 };

static Memory memory;
static RunnelSession *volatile running; /* what an alarm interrupts */

static void on_alarm(int number)
{
    (void)number;
    RunnelSession *session = running;
    if (session != NULL)
        runnel_interrupt(session);
}

/* Rings again and again, as a first ring may come before the run starts. */
static void set_alarm(long seconds)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_sec = seconds}, .it_interval = {.tv_sec = seconds}}, NULL);
}

void outcome_free(Outcome *outcome)
{
    text_free(&outcome->output);
    text_free(&outcome->messages);
}

/* ---- sessions ----
 *
 * Opening a session takes longer than a small program. So the variants keep theirs for some programs, one after the other, as an interactive
 * user would. */

enum { PROGRAMS_PER_SESSION = 25 };

typedef struct Pool {
    RunnelSession *session;
    uint32_t program_count; /* so far */
    Outcome *outcome;       /* that receives what the session writes */
} Pool;

static void keep_pooled_output(void *context, const char *bytes, size_t length)
{
    const Pool *pool = context;
    text_add_bytes(&pool->outcome->output, bytes, length);
}

static void pool_close(Pool *pool)
{
    runnel_close(pool->session);
    *pool = (Pool){0};
}

static RunnelSession *pool_open(Pool *pool, const Variant *variant, Outcome *outcome)
{
    if (pool->program_count == PROGRAMS_PER_SESSION)
        pool_close(pool);
    if (pool->session == NULL) {
        RunnelOptions options = variant->options;
        options.write = keep_pooled_output;
        options.write_context = pool;
        pool->session = runnel_open(&options);
    }
    pool->program_count++;
    pool->outcome = outcome;
    return pool->session;
}

/* Runs a program in a session, in the time it is given. */
static void run_in(RunnelSession *session, const Given *given, long seconds, Coverage *coverage, Outcome *outcome)
{
    const char *name = given->dialect == RUNNEL_DIALECT_NESL ? "program.nesl" : "program.rnl";
    CoverageMark mark = coverage_mark(session);
    running = session;
    set_alarm(seconds);
    outcome->status = runnel_load_text(session, name, given->text, strlen(given->text), given->dialect);
    if (outcome->status == RUNNEL_OK) {
        if (coverage != NULL && session->vm == NULL)
            coverage_add(coverage, session, mark);
        outcome->status = runnel_run(session, given->arguments, given->argument_count);
        if (coverage != NULL && session->vm != NULL)
            coverage_add_flow(coverage, session, mark);
    }
    set_alarm(0);
    running = NULL;
    outcome->is_uncompiled = strstr(runnel_messages(session), "without compiled code") != NULL;
    if (outcome->status != RUNNEL_OK || outcome->is_uncompiled)
        text_add(&outcome->messages, runnel_messages(session));
}

/* `pool` is null for a session of the program's own. */
static void run_variant(const Given *given, const Variant *variant, Pool *pool, Coverage *coverage, Outcome *outcome)
{
    *outcome = (Outcome){.status = RUNNEL_RUN_ERROR};
    text_init(&outcome->output, &memory);
    text_init(&outcome->messages, &memory);
    Pool own = {0};
    RunnelSession *session = pool_open(pool != NULL ? pool : &own, variant, outcome);
    if (session == NULL)
        return;
    run_in(session, given, is_compiled(variant) ? COMPILED_RUN_SECONDS : RUN_SECONDS, coverage, outcome);
    if (pool == NULL)
        pool_close(&own);
}

void outcome_of_reference(const Given *given, Outcome *outcome)
{
    run_variant(given, &variants[0], NULL, NULL, outcome);
}

void message_code(const char *messages, char *code, size_t size)
{
    const char *start = strstr(messages, "error[");
    const char *end = start == NULL ? NULL : strchr(start, ']');
    snprintf(code, size, "%.*s", end == NULL ? 0 : (int)(end - start - 6), end == NULL ? "" : start + 6);
}

static bool has_code(const Outcome *outcome, const char *code)
{
    char found[64];
    message_code(text_string(&outcome->messages), found, sizeof found);
    return strcmp(found, code) == 0;
}

static bool is_given_up(const Outcome *outcome)
{
    return outcome->status == RUNNEL_RUN_ERROR && (has_code(outcome, "interrupted") || has_code(outcome, "out-of-memory"));
}

/* ---- comparing ---- */

static size_t first_line_length(const Outcome *outcome)
{
    return strcspn(text_string(&outcome->messages), "\n");
}

static bool has_same_message(const Outcome *a, const Outcome *b)
{
    size_t length = first_line_length(a);
    return length == first_line_length(b) &&
           strncmp(text_string(&a->messages), text_string(&b->messages), length) == 0;
}

/* Whether one output is the beginning of the other: what was shown before a failure stands. */
static bool have_same_start(const Outcome *a, const Outcome *b)
{
    size_t length = a->output.length < b->output.length ? a->output.length : b->output.length;
    return memcmp(text_string(&a->output), text_string(&b->output), length) == 0;
}

static void describe(const Variant *variant, const Outcome *outcome, char *text, size_t size)
{
    snprintf(text, size, "%s: status %d\n%.600s%.300s\n", variant->name, (int)outcome->status, text_string(&outcome->output),
             text_string(&outcome->messages));
}

static void found_difference(Verdict *verdict, const char *what, const Variant *first, const Outcome *a, const Variant *second,
                             const Outcome *b)
{
    char codes[2][64];
    message_code(text_string(&a->messages), codes[0], sizeof codes[0]);
    message_code(text_string(&b->messages), codes[1], sizeof codes[1]);
    verdict->kind = VERDICT_DIFFERS;
    snprintf(verdict->signature, sizeof verdict->signature, "%s: %s (%s), %s (%s)", what, first->name, codes[0], second->name,
             codes[1]);
    describe(first, a, verdict->detail, sizeof verdict->detail / 2);
    size_t length = strlen(verdict->detail);
    describe(second, b, verdict->detail + length, sizeof verdict->detail - length);
}

/* The kind of agreement, or a difference. */
static void compare_outcomes(const Variant *first, const Outcome *a, const Variant *second, const Outcome *b, Verdict *verdict)
{
    if (is_given_up(a) || is_given_up(b)) {
        verdict->kind = VERDICT_TOO_LONG;
    } else if (b->is_uncompiled) {
        found_difference(verdict, "not compiled", first, a, second, b);
    } else if (a->status == RUNNEL_OK && b->status == RUNNEL_OK) {
        if (a->output.length != b->output.length || !have_same_start(a, b))
            found_difference(verdict, "output", first, a, second, b);
    } else if (a->status == RUNNEL_RUN_ERROR && second->may_lose_errors && have_same_start(a, b) &&
               (b->status == RUNNEL_OK || !has_same_message(a, b))) {
        verdict->kind = VERDICT_LOSES_ERROR;
    } else if (a->status != b->status) {
        found_difference(verdict, "status", first, a, second, b);
    } else if (!has_same_message(a, b) && second->may_fail_otherwise && have_same_start(a, b)) {
        verdict->kind = VERDICT_FAILS_OTHERWISE;
    } else if (!has_same_message(a, b)) {
        found_difference(verdict, "message", first, a, second, b);
    } else if (!have_same_start(a, b)) {
        found_difference(verdict, "output before a failure", first, a, second, b);
    } else {
        verdict->kind = VERDICT_FAILS;
        message_code(text_string(&a->messages), verdict->signature, sizeof verdict->signature);
    }
}

/* Compares the outcome of the first of the variants with what the others make of the program. */
static void compare_others(const Given *given, Pool *pools, const Outcome *reference, Coverage *coverage, Verdict *verdict)
{
    Outcome outcomes[VARIANT_COUNT] = {[REFERENCE] = *reference};
    bool has_run[VARIANT_COUNT] = {false};
    for (uint32_t i = 1; i < VARIANT_COUNT && !verdict_is_bad(verdict->kind); i++) {
        if (!is_chosen(i))
            continue;
        has_run[i] = true;
        bool is_counted = i == SIMPLIFIED || i == VM_UNSIMPLIFIED;
        Verdict found = {.kind = VERDICT_AGREES};
        uint32_t against = variants[i].against;
        run_variant(given, &variants[i], pools == NULL ? NULL : &pools[i], is_counted ? coverage : NULL, &outcomes[i]);
        compare_outcomes(&variants[against], &outcomes[against], &variants[i], &outcomes[i], &found);
        if (found.kind > verdict->kind)
            *verdict = found;
    }
    for (uint32_t i = 1; i < VARIANT_COUNT; i++)
        if (has_run[i])
            outcome_free(&outcomes[i]);
}

static bool is_streamability(const Outcome *outcome)
{
    return outcome->status == RUNNEL_COMPILE_ERROR && has_code(outcome, "not-streamable");
}

/* What cannot be streamed can be materialised, with few exceptions, and then gives what it gives without the check. */
static void compare_materialized(const Given *given, Verdict *verdict)
{
    Outcome reference, outcome;
    run_variant(given, &materializing[0], NULL, NULL, &reference);
    run_variant(given, &materializing[1], NULL, NULL, &outcome);
    if (!is_streamability(&outcome))
        compare_outcomes(&materializing[0], &reference, &materializing[1], &outcome, verdict);
    if (!verdict_is_bad(verdict->kind))
        verdict->kind = VERDICT_NOT_STREAMABLE;
    outcome_free(&reference);
    outcome_free(&outcome);
}

static void found_rejection(const Outcome *outcome, Verdict *verdict)
{
    char code[64];
    message_code(text_string(&outcome->messages), code, sizeof code);
    verdict->kind = VERDICT_REJECTED;
    snprintf(verdict->signature, sizeof verdict->signature, "rejected: %s", code);
    snprintf(verdict->detail, sizeof verdict->detail, "%.1900s", text_string(&outcome->messages));
}

/* `pools`, one for each variant, is null for fresh sessions. */
static void compare_in(const Given *given, Pool *pools, Coverage *coverage, Verdict *verdict)
{
    *verdict = (Verdict){.kind = VERDICT_AGREES};
    Outcome reference;
    run_variant(given, &variants[0], pools, coverage, &reference);
    if (is_streamability(&reference))
        compare_materialized(given, verdict);
    else if (reference.status == RUNNEL_COMPILE_ERROR)
        found_rejection(&reference, verdict);
    else if (is_given_up(&reference))
        verdict->kind = VERDICT_TOO_LONG;
    else
        compare_others(given, pools, &reference, coverage, verdict);
    outcome_free(&reference);
}

void compare_program(const Given *given, Coverage *coverage, Verdict *verdict)
{
    compare_in(given, NULL, coverage, verdict);
}

/* When variants have not done the same, the random numbers that follow differ, and sessions cannot go on. */
static bool is_reusable(const Verdict *verdict)
{
    return verdict->kind == VERDICT_AGREES || verdict->kind == VERDICT_FAILS;
}

void compare_next_program(const Given *given, Coverage *coverage, Verdict *verdict)
{
    static Pool pools[VARIANT_COUNT];
    bool is_alone = chosen_ways == WAYS_ALL; /* sessions of engine c have not run those before it */
    if (is_alone || given->argument_count > 0 || given->dialect == RUNNEL_DIALECT_NESL) {
        compare_in(given, NULL, coverage, verdict);
        return;
    }
    compare_in(given, pools, coverage, verdict);
    for (uint32_t i = 0; i < VARIANT_COUNT && !is_reusable(verdict); i++)
        pool_close(&pools[i]);
    if (!verdict_is_bad(verdict->kind))
        return;
    Verdict alone;
    compare_in(given, NULL, NULL, &alone);
    if (verdict_is_bad(alone.kind))
        *verdict = alone;
    else
        snprintf(verdict->signature, sizeof verdict->signature, "only in a session with earlier programs");
}
