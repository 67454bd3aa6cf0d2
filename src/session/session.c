/* The public entry points. Each sets the place where a failed allocation comes back to; the work is done by functions
 * called under it, so that no local variable of the frame with the recovery point changes. */
#include "session/session.h"

#include "compile/object_cache.h"
#include "front/library.h"
#include "front/parse.h"
#include "compile/compile.h"
#include "flow/flatten.h"
#include "flow/flow_count.h"
#include "kernel/emit.h"
#include "kernel/print.h"
#include "io/failure.h"
#include "io/value_digest.h"
#include "session/arguments.h"
#include "session/engine.h"
#include "session/operations.h"
#include "session/result_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_MAX_DEPTH = 1000000 };

static const char *const out_of_memory_message = "runnel: error[out-of-memory]: there is not enough memory\n";

/* ---- recovery ---- */

typedef RunnelStatus SessionWork(RunnelSession *session, void *argument);

static RunnelStatus guarded(RunnelSession *session, SessionWork *work, void *argument)
{
    jmp_buf recovery;
    if (session->is_broken)
        return RUNNEL_RUN_ERROR;
    session->memory.on_failure = &recovery;
    if (setjmp(recovery) != 0) {
        session->is_broken = true;
        session->memory.on_failure = NULL;
        return RUNNEL_RUN_ERROR;
    }
    RunnelStatus status = work(session, argument);
    session->memory.on_failure = NULL;
    return status;
}

static void start_call(RunnelSession *session)
{
    diagnostics_clear(&session->diagnostics);
}

static RunnelStatus status_of_errors(const RunnelSession *session)
{
    if (session->diagnostics.error_count == 0)
        return RUNNEL_OK;
    return session->diagnostics.last_phase == PHASE_RUN ? RUNNEL_RUN_ERROR : RUNNEL_COMPILE_ERROR;
}

/* Nothing is prepared any more. A stop that came before was meant for what was. */
static void end_prepared(RunnelSession *session)
{
    if (!session->prepared.is_there)
        return;
    session->prepared.is_there = false;
    watchdog_end(&session->prepared.watchdog);
    session->was_stopped = stop_reason(&session->stop) != STOP_NOT;
    stop_clear(&session->stop);
    arguments_close(session);
}

/* ---- opening ---- */

/* Which files of lib/ hold names of Runnel's own: those called runnel*. All others hold names that NESL has too. */
static bool holds_nesl_names(const LibraryFile *file)
{
    const char *slash = strrchr(file->path, '/');
    return strncmp(slash == NULL ? file->path : slash + 1, "runnel", 6) != 0;
}

static void load_library(RunnelSession *session, Dialect dialect)
{
    for (size_t i = 0; i < library_file_count; i++) {
        const LibraryFile *file = &library_files[i];
        size_t length = strlen(file->path);
        bool is_nesl = length > 5 && strcmp(file->path + length - 5, ".nesl") == 0;
        if (is_nesl != (dialect == DIALECT_NESL))
            continue;
        Source *source = sources_add(&session->sources, file->path, file->text, file->length, dialect);
        source->is_library = true;
        Items items = parse_source(&session->arena, &session->names, &session->diagnostics, source);
        environment_add_library(&session->environment, source, items, holds_nesl_names(file));
    }
    if (session->diagnostics.error_count > 0) {
        diagnostics_print(&session->diagnostics, &session->messages);
        bug("library", "%s", text_string(&session->messages));
    }
}

static RunnelStatus open_work(RunnelSession *session, void *argument)
{
    (void)argument;
    Memory *memory = &session->memory;
    names_init(&session->names, &session->arena);
    sources_init(&session->sources, &session->arena);
    diagnostics_init(&session->diagnostics, &session->arena, &session->sources);
    session->diagnostics.is_coloured = session->options.colours_messages;
    types_init(&session->types, &session->arena, &session->names);
    environment_init(&session->environment, memory, &session->arena, &session->names, &session->sources,
                     &session->diagnostics, &session->types);
    core_program_init(&session->program, &session->arena, &session->types, &session->names);
    core_program_init(&session->simple, &session->arena, &session->types, &session->names);
    session->running = session->options.is_unsimplified ? &session->program : &session->simple;
    session->elaborator = elaborate_new(&session->environment, &session->program);
    session->simplifier = simplify_new(&session->program, &session->simple);
    layouts_init(&session->layouts, &session->arena, &session->types);
    flow_program_init(&session->flow, &session->arena, session->running, &session->layouts);
    engine_open(session);
    load_library(session, DIALECT_NESL); /* first: NESL's own names win in .nesl */
    load_library(session, DIALECT_RUNNEL);
    return RUNNEL_OK;
}

bool runnel_has_compiler(void)
{
    return compile_is_expected();
}

RunnelSession *runnel_open(const RunnelOptions *options)
{
    RunnelSession *session = calloc(1, sizeof *session);
    if (session == NULL)
        return NULL;
    session->options = *options;
    if (session->options.max_depth == 0)
        session->options.max_depth = DEFAULT_MAX_DEPTH;
    if (options->counts_costs) { /* costs are those of the program as written */
        session->options.is_unsimplified = true;
        session->options.engine = RUNNEL_ENGINE_REFERENCE;
    }
    session->print_length = options->print_length;
    session->stop.time_limit_milliseconds = options->time_limit_milliseconds;
    session->memory.fail_after = options->fail_after;
    arena_init(&session->arena, &session->memory);
    text_init(&session->reading_text, &session->memory);
    text_init(&session->output, &session->memory);
    text_init(&session->messages, &session->memory);
    if (guarded(session, open_work, NULL) == RUNNEL_OK)
        return session;
    runnel_close(session);
    return NULL;
}

void runnel_close(RunnelSession *session)
{
    if (session == NULL)
        return;
    end_prepared(session);
    arguments_close(session);
    result_file_close(session);
    engine_close(session);
    read_end(session);
    text_free(&session->reading_text);
    text_free(&session->output);
    text_free(&session->messages);
    arena_free(&session->arena);
    free(session);
}

/* ---- loading ---- */

static void undo_load(RunnelSession *session, const Load *load)
{
    environment_rollback(&session->environment, load->mark);
    elaborate_forget(session->elaborator, load->first_function);
    simplify_forget(session->simplifier, load->first_function, load->first_item);
    flatten_forget(&session->flow, load->first_network, load->first_item);
    if (session->vm != NULL)
        vm_forget(session->vm, load->first_function);
    session->steps.count = load->first_step;
    session->program.items.count = load->first_item;
    session->files.count = load->file_count;
    session->stubs.count = 0;
    session->main = load->main;
    session->dialect = load->dialect;
}

static RunnelStatus load(RunnelSession *session, Source *source)
{
    Load load = {.source = source,
                 .mark = environment_mark(&session->environment),
                 .first_step = session->steps.count,
                 .first_function = session->program.functions.count,
                 .first_item = session->program.items.count,
                 .first_network = session->flow.networks.count,
                 .file_count = session->files.count,
                 .main = session->main,
                 .dialect = session->dialect};
    session->dialect = source->dialect;
    if (passes_run(session, &load))
        return RUNNEL_OK;
    undo_load(session, &load);
    return RUNNEL_COMPILE_ERROR;
}

/* Who interrupts from now on means what is being loaded: the run that follows. */
static void start_load(RunnelSession *session)
{
    start_call(session);
    end_prepared(session);
    stop_clear(&session->stop);
    session->was_stopped = false;
}

static RunnelStatus load_file_work(RunnelSession *session, void *argument)
{
    start_load(session);
    Source *source = read_file(session, argument, (Span){0});
    return source == NULL ? RUNNEL_COMPILE_ERROR : load(session, source);
}

RunnelStatus runnel_load_file(RunnelSession *session, const char *path)
{
    return guarded(session, load_file_work, (void *)path);
}

typedef struct GivenText {
    const char *name;
    const char *text;
    size_t length;
    Dialect dialect;
} GivenText;

static RunnelStatus load_text_work(RunnelSession *session, void *argument)
{
    const GivenText *given = argument;
    start_load(session);
    Source *source = sources_add(&session->sources, given->name, given->text, given->length, given->dialect);
    if (source != NULL)
        return load(session, source);
    diagnostics_error(&session->diagnostics, ERROR_SOURCE_TOO_LARGE, (Span){0}, "`%s` is too large", given->name);
    return RUNNEL_COMPILE_ERROR;
}

static Dialect dialect_of(RunnelDialect dialect)
{
    return dialect == RUNNEL_DIALECT_NESL ? DIALECT_NESL : DIALECT_RUNNEL;
}

RunnelStatus runnel_load_text(RunnelSession *session, const char *name, const char *text, size_t length,
                              RunnelDialect dialect)
{
    GivenText given = {.name = name, .text = text, .length = length, .dialect = dialect_of(dialect)};
    return guarded(session, load_text_work, &given);
}

/* ---- running ---- */

static void write_output(RunnelSession *session)
{
    session->options.write(session->options.write_context, text_string(&session->output), session->output.length);
    text_clear(&session->output);
}

static void write_result(RunnelSession *session)
{
    if (result_file_is_open(session)) {
        result_file_text(session, text_string(&session->output), session->output.length);
        text_clear(&session->output);
        return;
    }
    if (session->options.write_result == NULL) {
        write_output(session);
        return;
    }
    session->options.write_result(session->options.write_context, text_string(&session->output), session->output.length);
    text_clear(&session->output);
}

/* A result on its way out, `label = value : type` in NESL. It is shown at once, or printed by the engine. */
typedef struct Shown {
    RunnelSession *session;
    Dialect dialect;
    const char *label;
    TypeId type;
    bool is_begun; /* something of it was written */
    ValueDigest digest; /* where only that is shown */
} Shown;

static ValueFormat shown_format(const Shown *shown)
{
    return (ValueFormat){.style = shown->dialect == DIALECT_NESL ? VALUE_STYLE_NESL : VALUE_STYLE_RUNNEL,
                         .print_length = shown->session->print_length};
}

static void show_label(Shown *shown)
{
    if (shown->dialect == DIALECT_NESL && !shown->is_begun)
        text_addf(&shown->session->output, "%s = ", shown->label);
    shown->is_begun = true;
}

static void show_end(const Shown *shown)
{
    Text *out = &shown->session->output;
    if (shown->dialect == DIALECT_NESL) {
        text_add(out, " : ");
        type_print(&shown->session->types, shown->type, TYPE_STYLE_NESL, out);
    }
    text_add(out, "\n");
    write_result(shown->session);
}

static void show_piece(void *context, const char *bytes, size_t length)
{
    Shown *shown = context;
    show_label(shown);
    text_add_bytes(&shown->session->output, bytes, length);
    write_result(shown->session);
}

static bool goes_as_rows(const RunnelSession *session)
{
    return result_file_is_open(session) && !result_file_takes_text(session);
}

static VmPrinter shown_printer(Shown *shown)
{
    if (goes_as_rows(shown->session))
        return (VmPrinter){.format = shown_format(shown), .rows = result_file_rows, .take_rows = result_file_take_rows, .context = shown->session};
    return (VmPrinter){.format = shown_format(shown),
                       .write = show_piece,
                       .context = shown,
                       .digest = shown->session->results == RUNNEL_RESULTS_DIGESTED ? &shown->digest : NULL};
}

static bool take_output(void *context, Text *text)
{
    (void)text; /* the session's */
    RunnelSession *session = context;
    write_result(session);
    return stop_reason(&session->stop) == STOP_NOT;
}

static bool report_stop(RunnelSession *session)
{
    Failure failure;
    failure_init(&failure, &session->memory);
    failure_stopped(&failure, &session->stop);
    failure_report(&failure, &session->diagnostics);
    failure_free(&failure);
    return false;
}

/* False after an error: it can be stopped. */
static bool show_value(Shown *shown, Value value)
{
    RunnelSession *session = shown->session;
    ValueOutlet outlet = {.take = take_output, .context = session};
    show_label(shown);
    return value_print_in_pieces(&session->types, shown->type, value, shown_format(shown), &session->output, outlet) ||
           report_stop(session);
}

/* Whether the engine is to give the value; it does not where it prints, digests it, or nobody looks. */
static bool is_wanted(const Shown *shown)
{
    const RunnelSession *session = shown->session;
    bool is_digested = session->results == RUNNEL_RESULTS_DIGESTED && engine_streams(session);
    return !engine_prints(session, shown->type) && !is_digested && session->results != RUNNEL_RESULTS_IGNORED;
}

/* Of what the engine has digested, or given. */
static bool show_digest(Shown *shown, Value value)
{
    RunnelSession *session = shown->session;
    if (is_wanted(shown))
        value_digest_add_value(&shown->digest, &session->types, shown->type, value);
    value_digest_show(&shown->digest, &session->types, shown->type, &session->output);
    text_add(&session->output, "\n");
    write_result(session);
    return true;
}

static bool end_text_file(const Shown *shown, bool is_shown)
{
    if (is_shown)
        show_end(shown);
    return result_file_end(shown->session, is_shown, NULL);
}

/* The run has ended: shows the value, or the end of what the engine has printed. A line that was begun is ended in any case. */
static bool show_result(Shown *shown, bool is_right, Value value)
{
    RunnelSession *session = shown->session;
    if (is_right && session->results != RUNNEL_RESULTS_PRINTED && !engine_prints(session, shown->type))
        return session->results == RUNNEL_RESULTS_IGNORED || show_digest(shown, value);
    if (goes_as_rows(session))
        return result_file_end(session, is_right, engine_prints(session, shown->type) ? NULL : &value);
    bool is_shown = is_right && (engine_prints(session, shown->type) || show_value(shown, value));
    if (result_file_is_open(session))
        return end_text_file(shown, is_shown);
    if (is_shown) {
        show_end(shown);
    } else if (shown->is_begun) {
        text_add(&session->output, "\n");
        write_result(session);
    }
    return is_shown;
}

static void release_result(const Shown *shown, Value value)
{
    if (is_wanted(shown))
        value_release(engine_heap(shown->session), &shown->session->types, shown->type, value);
}

/* What is shown: expressions, and in .nesl bindings too. */
static bool run_step(RunnelSession *session, const Step *step, bool is_shown)
{
    if (step->kind == STEP_PRINT_LENGTH) {
        session->print_length = step->print_length;
        return true;
    }
    const CoreItem *item = &session->running->items.items[step->item];
    Shown shown = {
        .session = session, .dialect = item->dialect, .label = item->label, .type = item->block->result.type};
    VmPrinter printer = shown_printer(&shown);
    if (!is_shown || (step->kind != STEP_EXPRESSION && item->dialect != DIALECT_NESL)) {
        printer.digest = NULL;
        return engine_run_item(session, step->item, &printer, NULL);
    }
    Value value = {.scalar = {.bits = 0}};
    bool is_done = engine_run_item(session, step->item, &printer, is_wanted(&shown) ? &value : NULL);
    bool is_right = show_result(&shown, is_done, value);
    if (is_done)
        release_result(&shown, value);
    return is_right;
}

static RunnelStatus run_steps(RunnelSession *session, bool is_for_main)
{
    while (session->next_step < session->steps.count) {
        const Step *step = &session->steps.items[session->next_step++];
        if (is_for_main && step->kind == STEP_EXPRESSION)
            continue;
        if (!run_step(session, step, !is_for_main)) {
            session->next_step = session->steps.count; /* what follows an error is not run later either */
            return status_of_errors(session);
        }
    }
    return RUNNEL_OK;
}

static bool is_main_wanted(const RunnelSession *session, const Arguments *arguments)
{
    if (session->main.definition == NULL)
        return false;
    if (session->main.definition->dialect == DIALECT_RUNNEL || arguments->count > 0)
        return true;
    for (uint32_t i = session->next_step; i < session->steps.count; i++)
        if (session->steps.items[i].kind == STEP_EXPRESSION)
            return false;
    return true;
}

/* Calls `main` and shows its result. False after an error. */
static bool call_main(RunnelSession *session, const GivenArguments *given)
{
    const CoreFunction *function = session->running->functions.items[session->main.function];
    Value result = {.scalar = {.bits = 0}};
    Shown shown = {.session = session, .dialect = session->dialect, .label = "it", .type = function->result_type};
    if (!result_file_open(session, shown.type))
        return false;
    VmPrinter printer = shown_printer(&shown);
    EngineCall call = {.function = session->main.function,
                       .span = session->main.definition->span,
                       .arguments = given->values,
                       .sources = given->sources,
                       .count = arguments_wanted(session),
                       .printer = &printer};
    bool is_done = engine_call(session, &call, is_wanted(&shown) ? &result : NULL);
    bool is_right = show_result(&shown, is_done, result);
    if (is_done)
        release_result(&shown, result);
    return is_right;
}

static RunnelStatus run_main(RunnelSession *session, const Arguments *arguments)
{
    GivenArguments given = arguments_room(session);
    if (arguments_read(session, arguments, &given))
        call_main(session, &given);
    arguments_close(session);
    return status_of_errors(session);
}

/* False after an error: there is nothing to take the arguments. */
static bool check_main(RunnelSession *session, const Arguments *arguments, bool is_for_main)
{
    bool is_wanted = arguments->count > 0 || session->options.out_path != NULL;
    if (is_for_main || !is_wanted)
        return true;
    diagnostics_error(&session->diagnostics, ERROR_NO_MAIN, (Span){0},
                      arguments->count > 0 ? "arguments are given, but the program has no function `main` to take them"
                                           : "a file for the result of `main` is given, but the program has no such function");
    return false;
}

static RunnelStatus run_work(RunnelSession *session, void *argument)
{
    const Arguments *arguments = argument;
    start_call(session);
    bool is_for_main = is_main_wanted(session, arguments);
    if (!check_main(session, arguments, is_for_main))
        return RUNNEL_COMPILE_ERROR;
    RunnelStatus status = run_steps(session, is_for_main);
    return status == RUNNEL_OK && is_for_main ? run_main(session, arguments) : status;
}

static RunnelStatus no_watchdog_work(RunnelSession *session, void *argument)
{
    (void)argument;
    start_call(session);
    diagnostics_error(&session->diagnostics, ERROR_OUT_OF_MEMORY, (Span){0},
                      "the system has no thread left that could watch the time");
    return RUNNEL_RUN_ERROR;
}

/* Runs within the time allowed. A stop ends this run and no other. */
static RunnelStatus watched(RunnelSession *session, SessionWork *work, void *argument)
{
    Watchdog watchdog;
    end_prepared(session);
    session->was_stopped = false;
    bool is_watched = watchdog_start(&watchdog, &session->stop);
    RunnelStatus status = guarded(session, is_watched ? work : no_watchdog_work, argument);
    watchdog_end(&watchdog);
    session->was_stopped = stop_reason(&session->stop) != STOP_NOT;
    stop_clear(&session->stop);
    return status;
}

RunnelStatus runnel_run(RunnelSession *session, const char *const *texts, size_t count)
{
    Arguments arguments = {.texts = texts, .count = count};
    return watched(session, run_work, &arguments);
}

static RunnelStatus run_items_work(RunnelSession *session, void *argument)
{
    (void)argument;
    start_call(session);
    return run_steps(session, false);
}

RunnelStatus runnel_run_items(RunnelSession *session)
{
    return watched(session, run_items_work, NULL);
}

/* ---- running again ---- */

static RunnelStatus prepare_work(RunnelSession *session, void *argument)
{
    const Arguments *arguments = argument;
    Prepared *prepared = &session->prepared;
    start_call(session);
    prepared->is_for_main = is_main_wanted(session, arguments);
    prepared->first_step = session->next_step;
    if (!check_main(session, arguments, prepared->is_for_main))
        return RUNNEL_COMPILE_ERROR;
    if (!prepared->is_for_main)
        return RUNNEL_OK;
    prepared->given = arguments_room(session);
    if (run_steps(session, true) == RUNNEL_OK)
        arguments_hold(session, arguments);
    return status_of_errors(session);
}

RunnelStatus runnel_prepare(RunnelSession *session, const char *const *texts, size_t count)
{
    Arguments arguments = {.texts = texts, .count = count};
    end_prepared(session);
    session->was_stopped = false;
    session->prepared.is_there = true;
    bool is_watched = watchdog_start(&session->prepared.watchdog, &session->stop);
    RunnelStatus status = guarded(session, is_watched ? prepare_work : no_watchdog_work, &arguments);
    if (status != RUNNEL_OK)
        end_prepared(session);
    return status;
}

static bool run_main_again(RunnelSession *session, uint64_t *nanoseconds)
{
    GivenArguments *given = &session->prepared.given;
    bool is_right = arguments_give(session, given) && call_main(session, given);
    *nanoseconds = engine_run_time(session);
    return is_right;
}

/* All expressions, and in the first run the bindings between them. */
static bool run_steps_again(RunnelSession *session, uint64_t *nanoseconds)
{
    uint32_t first_new = session->next_step;
    session->next_step = session->steps.count; /* what follows an error is not run later either */
    for (uint32_t i = session->prepared.first_step; i < session->steps.count; i++) {
        const Step *step = &session->steps.items[i];
        bool is_expression = step->kind == STEP_EXPRESSION;
        if (step->kind == STEP_BINDING && i < first_new)
            continue;
        if (!run_step(session, step, is_expression))
            return false;
        if (is_expression)
            *nanoseconds += engine_run_time(session);
    }
    return true;
}

/* What is over in no time may never look at the flag; so this does. */
static RunnelStatus run_prepared_work(RunnelSession *session, void *argument)
{
    RunnelRunInfo *info = argument;
    uint64_t nanoseconds = 0;
    start_call(session);
    if (!session->prepared.is_there) {
        diagnostics_error(&session->diagnostics, ERROR_USAGE, (Span){0}, "nothing is prepared to be run");
        return RUNNEL_COMPILE_ERROR;
    }
    bool is_right = stop_reason(&session->stop) == STOP_NOT || report_stop(session);
    if (is_right)
        is_right = session->prepared.is_for_main ? run_main_again(session, &nanoseconds)
                                                 : run_steps_again(session, &nanoseconds);
    *info = (RunnelRunInfo){.seconds = (double)nanoseconds / 1e9,
                            .threads = engine_threads(session),
                            .kernels = engine_kernels(session),
                            .vector_bytes = engine_vector_bytes(session),
                            .compile_seconds = engine_compile_seconds(session)};
    return is_right ? RUNNEL_OK : status_of_errors(session);
}

void runnel_set_results(RunnelSession *session, RunnelResults results)
{
    session->results = results;
}

RunnelStatus runnel_run_prepared(RunnelSession *session, RunnelRunInfo *info)
{
    *info = (RunnelRunInfo){0};
    RunnelStatus status = guarded(session, run_prepared_work, info);
    if (status != RUNNEL_OK)
        end_prepared(session);
    return status;
}

/* ---- looking ---- */

static void add_measure(Text *out, const char *name, uint64_t value)
{
    text_addf(out, "%s%s%" PRIu64, name, value == UINT64_MAX ? ">=" : "=", value);
}

static RunnelStatus write_cost_work(RunnelSession *session, void *argument)
{
    (void)argument;
    start_call(session);
    Cost cost = ref_cost(session->interpreter);
    add_measure(&session->output, "W", cost.work);
    add_measure(&session->output, " D", cost.depth);
    add_measure(&session->output, " M", cost.footprint.sequential);
    add_measure(&session->output, " N", cost.footprint.parallel);
    text_add(&session->output, "\n");
    write_output(session);
    return RUNNEL_OK;
}

RunnelStatus runnel_write_cost(RunnelSession *session)
{
    return guarded(session, write_cost_work, NULL);
}

static bool is_shown_definition(const Definition *definition)
{
    return definition->kind == DEFINITION_FUNCTION || definition->kind == DEFINITION_VALUE ||
           definition->kind == DEFINITION_CONSTRUCTOR;
}

static RunnelStatus write_types_work(RunnelSession *session, void *argument)
{
    (void)argument;
    start_call(session);
    Name it = names_of(&session->names, "it");
    for (uint32_t i = 0; i < session->environment.definitions.count; i++) {
        const Definition *definition = session->environment.definitions.items[i];
        bool is_result = definition->kind == DEFINITION_VALUE && definition->name == it;
        if (!is_shown_definition(definition) || is_result)
            continue;
        text_addf(&session->output, "%s : ", names_text(&session->names, definition->name));
        type_print(&session->types, definition->type,
                   definition->dialect == DIALECT_NESL ? TYPE_STYLE_NESL : TYPE_STYLE_RUNNEL, &session->output);
        text_add(&session->output, "\n");
    }
    write_output(session);
    return RUNNEL_OK;
}

RunnelStatus runnel_write_types(RunnelSession *session)
{
    return guarded(session, write_types_work, NULL);
}

/* The kernels of all networks, by number; [0] unused, null where there is no network. */
static const Fusion **fuse_all(RunnelSession *session, FunctionTexts *functions)
{
    uint32_t count = session->flow.networks.count, number = 1;
    const Fusion **fusions = ARENA_ARRAY(&session->arena, const Fusion *, count);
    for (FlowNetworkId i = 1; i < count; i++) {
        if (session->flow.networks.items[i] == NULL)
            continue;
        fusions[i] = fuse_network(&session->arena, session->flow.networks.items[i], functions, number);
        number += fusions[i]->kernels.count;
    }
    return fusions;
}

static void write_core(RunnelSession *session)
{
    core_print(&session->program, &session->output);
}

static void write_simple(RunnelSession *session)
{
    core_print(session->running, &session->output);
}

static void write_flow(RunnelSession *session)
{
    flow_print(&session->flow, &session->output);
}

static void write_counts(RunnelSession *session)
{
    FlowCounts counts = flow_counts(&session->flow, 1);
    flow_counts_print(&counts, &session->output);
}

static void write_kernels(RunnelSession *session)
{
    FunctionTexts *functions = function_texts_new(&session->arena, session->flow.core, session->flow.layouts, 0);
    kernels_print(&session->flow, session->diagnostics.sources, fuse_all(session, functions), &session->output);
}

typedef void EmitFunction(const EmitContext *context, const Fusion *const *fusions, uint32_t count, Text *out);

static void write_c_by(RunnelSession *session, EmitFunction *emit)
{
    FunctionTexts *functions = function_texts_new(&session->arena, session->flow.core, session->flow.layouts, 0);
    EmitContext context = {.names = &session->names, .sources = session->diagnostics.sources, .functions = functions};
    const Fusion **fusions = fuse_all(session, functions);
    uint32_t count = 0;
    for (FlowNetworkId i = 1; i < session->flow.networks.count; i++)
        if (fusions[i] != NULL)
            fusions[count++] = fusions[i];
    emit(&context, fusions, count, &session->output);
}

static void write_c(RunnelSession *session)
{
    write_c_by(session, emit_c);
}

static void write_c_body(RunnelSession *session)
{
    write_c_by(session, emit_c_body);
}

static const struct {
    const char *name;
    void (*write)(RunnelSession *session);
} forms[] = {
    {"core", write_core},     {"simple", write_simple},   {"outlined", write_simple}, {"flow", write_flow},
    {"counts", write_counts}, {"kernels", write_kernels}, {"c", write_c},
    {"c-body", write_c_body},
};
enum { FORM_COUNT = sizeof forms / sizeof *forms };

static RunnelStatus write_form_work(RunnelSession *session, void *argument)
{
    const char *form = argument;
    start_call(session);
    for (size_t i = 0; i < FORM_COUNT; i++)
        if (strcmp(form, forms[i].name) == 0) {
            forms[i].write(session);
            write_output(session);
            return RUNNEL_OK;
        }
    diagnostics_error(&session->diagnostics, ERROR_USAGE, (Span){0},
                      "there is no form `%s`: the forms are core, simple, outlined, flow, counts, kernels, c and c-body", form);
    return RUNNEL_COMPILE_ERROR;
}

RunnelStatus runnel_write_form(RunnelSession *session, const char *form)
{
    return guarded(session, write_form_work, (void *)form);
}

static RunnelStatus write_operations_work(RunnelSession *session, void *argument)
{
    const char *name = argument;
    start_call(session);
    bool is_found = true;
    if (name == NULL)
        operations_write_all(session, &session->output);
    else
        is_found = operations_write_one(session, name, &session->output);
    if (!is_found)
        diagnostics_error(&session->diagnostics, ERROR_USAGE, (Span){0}, "there is no operation `%s`", name);
    write_output(session);
    return is_found ? RUNNEL_OK : RUNNEL_COMPILE_ERROR;
}

RunnelStatus runnel_write_operations(RunnelSession *session, const char *name)
{
    return guarded(session, write_operations_work, (void *)name);
}

typedef struct Nearest {
    const char *wanted, *found;
} Nearest;

static RunnelStatus nearest_work(RunnelSession *session, void *argument)
{
    Nearest *nearest = argument;
    nearest->found = operations_nearest(session, nearest->wanted);
    return RUNNEL_OK;
}

const char *runnel_nearest_operation(RunnelSession *session, const char *name)
{
    Nearest nearest = {.wanted = name};
    guarded(session, nearest_work, &nearest);
    return nearest.found;
}

static RunnelStatus write_cache_work(RunnelSession *session, void *argument)
{
    (void)argument;
    char directory[PATH_SIZE];
    start_call(session);
    if (object_cache_locate(NULL, directory)) {
        const char *fault = object_cache_fault(directory);
        ObjectCacheSize size = object_cache_measure(directory);
        text_addf(&session->output, "directory %s%s%s%s\n", directory, fault == NULL ? "" : " (not used: ", fault == NULL ? "" : fault,
                  fault == NULL ? "" : ")");
        text_addf(&session->output, "files %" PRIu64 "\nbytes %" PRIu64 "\n", size.files, size.bytes);
    } else {
        text_add(&session->output, "directory none (neither RUNNEL_CACHE, XDG_CACHE_HOME nor HOME is set)\n");
    }
    write_output(session);
    return RUNNEL_OK;
}

RunnelStatus runnel_write_cache(RunnelSession *session)
{
    return guarded(session, write_cache_work, NULL);
}

static RunnelStatus clear_cache_work(RunnelSession *session, void *argument)
{
    (void)argument;
    char directory[PATH_SIZE];
    start_call(session);
    ObjectCacheSize removed = {0};
    if (object_cache_locate(NULL, directory))
        removed = object_cache_clear(directory);
    text_addf(&session->output, "removed %" PRIu64 " file%s, %" PRIu64 " bytes\n", removed.files, removed.files == 1 ? "" : "s", removed.bytes);
    write_output(session);
    return RUNNEL_OK;
}

RunnelStatus runnel_clear_cache(RunnelSession *session)
{
    return guarded(session, clear_cache_work, NULL);
}

static RunnelStatus messages_work(RunnelSession *session, void *argument)
{
    (void)argument;
    text_clear(&session->messages);
    diagnostics_print(&session->diagnostics, &session->messages);
    return RUNNEL_OK;
}

const char *runnel_messages(RunnelSession *session)
{
    if (guarded(session, messages_work, NULL) != RUNNEL_OK)
        return out_of_memory_message;
    return text_string(&session->messages);
}

static RunnelStatus stats_work(RunnelSession *session, void *argument)
{
    (void)argument;
    text_clear(&session->messages);
    if (session->options.measures && session->vm != NULL)
        vm_write_stats(session->vm, &session->messages);
    return RUNNEL_OK;
}

const char *runnel_stats(RunnelSession *session)
{
    if (guarded(session, stats_work, NULL) != RUNNEL_OK)
        return out_of_memory_message;
    return text_string(&session->messages);
}

void runnel_interrupt(RunnelSession *session)
{
    stop_set(&session->stop, STOP_INTERRUPTED);
}

RunnelProgress runnel_progress(RunnelSession *session)
{
    Progress *progress = &session->progress;
    atomic_store(&progress->is_wanted, true);
    return (RunnelProgress){.elements = atomic_load(&progress->elements), .total = atomic_load(&progress->total)};
}

bool runnel_is_stopping(const RunnelSession *session)
{
    return session->was_stopped || stop_reason(&session->stop) != STOP_NOT;
}

typedef struct Question {
    GivenText text;
    bool answer;
} Question;

static RunnelStatus is_unfinished_work(RunnelSession *session, void *argument)
{
    Question *question = argument;
    question->answer =
        parse_is_unfinished(&session->memory, question->text.text, question->text.length, question->text.dialect);
    return RUNNEL_OK;
}

bool runnel_is_file_format(const char *name)
{
    return file_format_named(name).kind != FORMAT_NONE;
}

bool runnel_is_unfinished(RunnelSession *session, const char *text, size_t length, RunnelDialect dialect)
{
    Question question = {.text = {.text = text, .length = length, .dialect = dialect_of(dialect)}};
    guarded(session, is_unfinished_work, &question);
    return question.answer;
}
