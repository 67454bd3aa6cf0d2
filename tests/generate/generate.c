/* generate [--seed N] [--count N] [--first N] [--seconds S] [--failures N] [--compile N] [--engine c] [--show] [--coverage]: random
 * well-typed programs, run in several ways that must agree.
 *
 *   --seed N      the run: the same seed gives the same programs (1)
 *   --count N     how many programs (10000)
 *   --first N     the number of the first one (0)
 *   --seconds S   no more time than this, shrinking aside (no limit)
 *   --failures N  stops after so many programs that go wrong (5)
 *   --compile N   every Nth program is run by engine c too (200; 0 for none)
 *   --engine c    all of them are, and in no other way than those it is compared with: ref and vm
 *   --show        prints programs instead of running them
 *   --coverage    prints how often everything occurred
 *
 * Programs that go wrong are made smaller and saved in build/generate. The exit status is 1 if there are any, or if in a run of
 * normal size something never occurred. What is compiled is kept in build/generate/cache, not among the user's own. */
#define _POSIX_C_SOURCE 200809L
#include "isolate.h"
#include "program.h"
#include "shrink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NORMAL_COUNT = 5000, HANG_SECONDS = 30, FORMS_MAX = 2000 };

/* The codes of errors.def. */
static const char *const error_codes[] = {
#define ERROR(ID, code, phase) code,
#include "source/errors.def"
#undef ERROR
};
enum { ERROR_CODES = sizeof error_codes / sizeof *error_codes };

static const char directory[] = "build/generate";

typedef struct Settings {
    uint64_t seed, first, count, failures, compile_each;
    double seconds;
    bool is_showing, is_covering, is_engine_c;
} Settings;

/* What workers tell their parent. */
typedef struct Shared {
    uint64_t index;  /* of the program under way */
    bool is_stopped; /* at that program, by a verdict or by time */
    Verdict verdict; /* of the last program */
    uint64_t verdicts[VERDICT_KINDS];
    uint64_t errors[ERROR_CODES]; /* programs that fail alike */
    Coverage coverage;
    uint64_t forms[FORMS_MAX];
} Shared;

typedef struct Run {
    Settings settings;
    Memory memory;
    Arena arena;
    Forms rnl, nesl;
    Shared *shared;
    double deadline;
} Run;

/* ---- one program ---- */

static Program *generate(const Run *run, Arena *arena, uint64_t index)
{
    return program_generate(arena, &run->rnl, &run->nesl, run->settings.seed, index);
}

static Given given_of(const Program *program, Arena *arena, Text *text)
{
    text_clear(text);
    program_print(program, text);
    return (Given){.text = text_string(text),
                   .dialect = program->dialect == FORM_NESL ? RUNNEL_DIALECT_NESL : RUNNEL_DIALECT_RNL,
                   .arguments = program_arguments(program, arena),
                   .argument_count = program->arguments.count};
}

static void count_form(const Form *form, void *context)
{
    const Run *run = context;
    bool is_of_language = form->id < run->rnl.items.count && run->rnl.items.items[form->id] == form;
    if (is_of_language && form->id < FORMS_MAX)
        run->shared->forms[form->id]++;
}

static void count_verdict(Shared *shared)
{
    shared->verdicts[shared->verdict.kind]++;
    for (uint32_t i = 0; i < ERROR_CODES && shared->verdict.kind == VERDICT_FAILS; i++)
        if (strcmp(shared->verdict.signature, error_codes[i]) == 0)
            shared->errors[i]++;
}

/* Whether engine c is one of the ways depends on the program's number alone. */
static void choose_ways(const Settings *settings, uint64_t index)
{
    bool is_compiled = settings->compile_each > 0 && runnel_has_compiler() && index % settings->compile_each == 0;
    compare_choose(settings->is_engine_c ? WAYS_COMPILED : is_compiled ? WAYS_ALL : WAYS_INTERPRETED);
}

static void try_program(Run *run, uint64_t index, Text *text)
{
    Arena arena;
    arena_init(&arena, &run->memory);
    Program *program = generate(run, &arena, index);
    Given given = given_of(program, &arena, text);
    Shared *shared = run->shared;
    choose_ways(&run->settings, index);
    compare_next_program(&given, &shared->coverage, &shared->verdict);
    count_verdict(shared);
    if (!verdict_is_bad(shared->verdict.kind))
        program_visit_forms(program, count_form, run);
    arena_free(&arena);
}

/* ---- many ---- */

/* In a child: programs from shared->index on, up to the first that goes wrong. */
static void work(void *context)
{
    Run *run = context;
    Shared *shared = run->shared;
    Text text;
    text_init(&text, &run->memory);
    uint64_t end = run->settings.first + run->settings.count;
    for (; shared->index < end; shared->index++) {
        if (run->deadline > 0 && now() > run->deadline)
            break;
        try_program(run, shared->index, &text);
        if (verdict_is_bad(shared->verdict.kind)) {
            shared->is_stopped = true;
            return;
        }
    }
}

/* Waits for a worker. True with a verdict when a program went wrong. */
static bool await_worker(Run *run, Child *worker, Verdict *verdict)
{
    uint64_t index = run->shared->index;
    double moved = now();
    while (!child_has_ended(worker, verdict)) {
        if (run->shared->index != index) {
            index = run->shared->index;
            moved = now();
        } else if (now() - moved > HANG_SECONDS) {
            child_kill(worker);
            *verdict = (Verdict){.kind = VERDICT_HANGS, .signature = "hangs"};
            run->shared->verdicts[VERDICT_HANGS]++;
            return true;
        }
        pause_briefly();
    }
    if (verdict->kind == VERDICT_CRASHES) {
        run->shared->verdicts[VERDICT_CRASHES]++;
        return true;
    }
    *verdict = run->shared->verdict;
    return run->shared->is_stopped;
}

static void report_failure(const Run *run, uint64_t index, const Verdict *verdict)
{
    Memory memory = {0};
    Arena arena;
    arena_init(&arena, &memory);
    printf("program %" PRIu64 " of seed %" PRIu64 ": %s; %s\n", index, run->settings.seed, verdict_names[verdict->kind],
           verdict->signature);
    fflush(stdout);
    Program *program = generate(run, &arena, index);
    choose_ways(&run->settings, index);
    shrink_program(&arena, program, verdict);
    save_program(&arena, program, verdict, directory, run->settings.seed, index);
    fflush(stdout);
    arena_free(&arena);
}

/* Returns how many programs went wrong. */
static uint64_t run_programs(Run *run)
{
    Shared *shared = run->shared;
    uint64_t failures = 0;
    shared->index = run->settings.first;
    for (;;) {
        Verdict verdict;
        shared->is_stopped = false;
        Child worker = child_start(work, run);
        if (!await_worker(run, &worker, &verdict))
            return failures;
        double before = now();
        report_failure(run, shared->index++, &verdict);
        if (run->deadline > 0)
            run->deadline += now() - before;
        if (++failures == run->settings.failures)
            return failures;
    }
}

static void show_programs(const Run *run)
{
    for (uint64_t i = 0; i < run->settings.count; i++) {
        Memory memory = {0};
        Arena arena;
        Text text;
        arena_init(&arena, &memory);
        text_init(&text, &memory);
        Given given = given_of(generate(run, &arena, run->settings.first + i), &arena, &text);
        printf("-- %" PRIu64 "\n%s", run->settings.first + i, given.text);
        for (size_t a = 0; a < given.argument_count; a++)
            printf("-- argument: %s\n", given.arguments[a]);
        text_free(&text);
        arena_free(&arena);
    }
}

/* ---- the report ---- */

static void report_forms(const Run *run)
{
    for (uint32_t i = 0; i < run->rnl.items.count && i < FORMS_MAX; i++) {
        const Form *form = run->rnl.items.items[i];
        bool is_used = (form->dialects & FORM_RNL) != 0 && form->weight > 0;
        if (is_used && run->shared->forms[i] == 0)
            printf("unused form: %s (form %u)\n", form->name, i);
    }
}

static int report(const Run *run, uint64_t failures, double seconds)
{
    const Shared *shared = run->shared;
    uint64_t count = shared->index - run->settings.first;
    printf("%" PRIu64 " programs in %.1f seconds (%.0f per second):", count, seconds, (double)count / seconds);
    for (uint32_t i = 0; i < VERDICT_KINDS; i++)
        if (shared->verdicts[i] > 0)
            printf(" %" PRIu64 " %s%s", shared->verdicts[i], verdict_names[i], i + 1 < VERDICT_KINDS ? "," : "");
    printf("\n");
    for (uint32_t i = 0; i < ERROR_CODES; i++)
        if (shared->errors[i] > 0)
            printf("  %s %" PRIu64, error_codes[i], shared->errors[i]);
    printf("\n");
    if (run->settings.is_covering) {
        coverage_print(&shared->coverage, stdout);
        report_forms(run);
    }
    bool has_gaps = count >= NORMAL_COUNT && coverage_has_gaps(&shared->coverage, stdout);
    return failures > 0 || has_gaps ? 1 : 0;
}

/* ---- the command line ---- */

static _Noreturn void usage(void)
{
    fputs("usage: generate [--seed N] [--count N] [--first N] [--seconds S] [--failures N] [--compile N] [--engine c] [--show] "
          "[--coverage]\n",
          stderr);
    exit(3);
}

static Settings read_settings(int count, char **arguments)
{
    Settings settings = {.seed = 1, .count = 10000, .failures = 5, .compile_each = 200};
    struct {
        const char *name;
        uint64_t *number;
    } numbers[] = {{"--seed", &settings.seed},
                   {"--count", &settings.count},
                   {"--first", &settings.first},
                   {"--failures", &settings.failures},
                   {"--compile", &settings.compile_each}};
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? arguments[i + 1] : NULL;
        bool is_known = true;
        if (strcmp(arguments[i], "--show") == 0) {
            settings.is_showing = true;
        } else if (strcmp(arguments[i], "--coverage") == 0) {
            settings.is_covering = true;
        } else if (strcmp(arguments[i], "--engine") == 0 && value != NULL && strcmp(value, "c") == 0) {
            settings.is_engine_c = true;
            i++;
        } else if (strcmp(arguments[i], "--seconds") == 0 && value != NULL) {
            settings.seconds = atof(arguments[++i]);
        } else {
            is_known = false;
            for (size_t n = 0; n < sizeof numbers / sizeof *numbers && !is_known; n++)
                if (strcmp(arguments[i], numbers[n].name) == 0 && value != NULL) {
                    *numbers[n].number = strtoull(arguments[++i], NULL, 10);
                    is_known = true;
                }
        }
        if (!is_known)
            usage();
    }
    return settings;
}

int main(int count, char **arguments)
{
    Run run = {.settings = read_settings(count, arguments)};
    arena_init(&run.arena, &run.memory);
    forms_init(&run.rnl, &run.arena, FORM_RNL);
    forms_init(&run.nesl, &run.arena, FORM_NESL);
    forms_add_all(&run.rnl);
    forms_add_all(&run.nesl);
    if (run.settings.is_showing) {
        show_programs(&run);
        return 0;
    }
    setenv("RUNNEL_CACHE", "build/generate/cache", 1);
    run.shared = shared_alloc(sizeof *run.shared);
    double start = now();
    run.deadline = run.settings.seconds > 0 ? start + run.settings.seconds : 0;
    uint64_t failures = run_programs(&run);
    int status = report(&run, failures, now() - start);
    arena_free(&run.arena);
    return status;
}
