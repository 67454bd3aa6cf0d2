#define _POSIX_C_SOURCE 200809L
#include "session/arguments.h"

#include "base/machine.h"
#include "session/engine.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MARK = '@' };

static bool is_file(const char *text)
{
    return text[0] == FILE_MARK;
}

static bool is_standard_input(const char *text)
{
    return strcmp(text, "@-") == 0;
}

/* ---- parameters ---- */

static const CoreBlock *main_body(const RunnelSession *session)
{
    return session->running->functions.items[session->main.function]->body;
}

uint32_t arguments_wanted(const RunnelSession *session)
{
    return main_body(session)->parameter_count;
}

static TypeId parameter_type(const RunnelSession *session, uint32_t index)
{
    return session->running->variables.items[main_body(session)->parameters[index]].type;
}

GivenArguments arguments_room(RunnelSession *session)
{
    uint32_t count = arguments_wanted(session);
    return (GivenArguments){.values = ARENA_ARRAY(&session->arena, Value, count),
                            .sources = ARENA_ARRAY(&session->arena, ValueSource *, count)};
}

/* ---- errors ---- */

static void wrong_count(RunnelSession *session, size_t given)
{
    uint32_t wanted = session->main.definition->item->parameter_count;
    diagnostics_error(&session->diagnostics, ERROR_ARGUMENT_COUNT, session->main.definition->span,
                      "`main` takes %u argument%s, but %zu %s given", wanted, wanted == 1 ? "" : "s", given,
                      given == 1 ? "is" : "are");
}

/* What is in standard input can be had once. */
static bool check_standard_input(RunnelSession *session, const Arguments *arguments)
{
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < arguments->count; i++) {
        if (!is_standard_input(arguments->texts[i]))
            continue;
        if (first != SIZE_MAX) {
            diagnostics_error(&session->diagnostics, ERROR_BAD_VALUE, (Span){0},
                              "argument %zu: standard input is argument %zu already", i + 1, first + 1);
            return false;
        }
        first = i;
    }
    return true;
}

static bool check_names(RunnelSession *session, const Arguments *arguments)
{
    for (size_t i = 0; i < arguments->count; i++)
        if (is_file(arguments->texts[i]) && arguments->texts[i][1] == '\0') {
            diagnostics_error(&session->diagnostics, ERROR_BAD_VALUE, (Span){0},
                              "argument %zu: expected the name of a file after @, or - for standard input", i + 1);
            return false;
        }
    return true;
}

static bool check_format(RunnelSession *session, FileFormat *format)
{
    const char *name = session->options.file_format;
    *format = name == NULL ? (FileFormat){0} : file_format_named(name);
    bool is_known = name == NULL || format->kind != FORMAT_NONE;
    if (!is_known)
        diagnostics_error(&session->diagnostics, ERROR_USAGE, (Span){0}, "there is no file format `%s`", name);
    return is_known;
}

/* ---- sources ---- */

static const char *argument_name(RunnelSession *session, uint32_t index, const char *text)
{
    if (!is_file(text))
        return arena_format(&session->arena, "argument %u", index + 1);
    return arena_format(&session->arena, "argument %u (%s)", index + 1,
                        is_standard_input(text) ? "standard input" : text + 1);
}

static FileOptions file_options(RunnelSession *session, FileFormat otherwise)
{
    static const HeaderMode headers[] = {[RUNNEL_HEADER_GUESSED] = HEADER_GUESSED,
                                         [RUNNEL_HEADER_YES] = HEADER_GIVEN,
                                         [RUNNEL_HEADER_NO] = HEADER_NONE};
    return (FileOptions){.otherwise = otherwise,
                         .table = {.header = headers[session->options.header],
                                   .empty = session->options.empty_field,
                                   .sharing = engine_sharing(session)},
                         .memory_limit = session->options.memory_limit != 0 ? session->options.memory_limit : machine_memory() / 5 * 4,
                         .stop = &session->stop};
}

static ValueSource *open_source(RunnelSession *session, ValueSourceOf of, const char *text, FileFormat otherwise)
{
    if (!is_file(text))
        return value_source_from_text(of, text, strlen(text));
    FileOptions options = file_options(session, otherwise);
    return value_source_from_file(of, is_standard_input(text) ? NULL : text + 1, &options);
}

/* A missing argument takes the parameter's default. */
static bool default_value(RunnelSession *session, uint32_t index, const Arguments *arguments, Value *value)
{
    const EntryPoint *main = &session->main;
    if (main->defaults[index] == 0) {
        wrong_count(session, arguments->count);
        return false;
    }
    EngineCall call = {.function = main->defaults[index], .span = main->definition->defaults[index]->span};
    return engine_call(session, &call, value);
}

static bool open_argument(RunnelSession *session, const Arguments *arguments, uint32_t index, FileFormat format)
{
    ValueSourceOf of = {
        .heap = engine_heap(session), .types = &session->types, .type = parameter_type(session, index)};
    ValueSource **source = &session->inputs[index];
    Value value;
    if (index < arguments->count) {
        const char *text = arguments->texts[index];
        of.what = argument_name(session, index, text);
        *source = open_source(session, of, text, format);
        return true;
    }
    if (!default_value(session, index, arguments, &value))
        return false;
    *source = value_source_from_value(of, value);
    return true;
}

void arguments_close(RunnelSession *session)
{
    for (uint32_t i = 0; i < session->input_count; i++)
        value_source_free(session->inputs[i]);
    session->input_count = 0;
}

/* ---- values ---- */

static void report_problem(RunnelSession *session, const ValueSource *source)
{
    diagnostics_error(&session->diagnostics, value_source_error(source), (Span){0}, "%s", value_source_problem(source));
}

static bool read_value(RunnelSession *session, ValueSource *source, Value *value)
{
    bool is_read = value_source_read_whole(source, value);
    if (!is_read)
        report_problem(session, source);
    return is_read;
}

/* Reads the columns of what is not streamed. */
static bool read_columns(RunnelSession *session, ValueSource *source)
{
    bool is_read = value_source_whole_columns(source) != NULL;
    if (!is_read)
        report_problem(session, source);
    return is_read;
}

/* What the engine streams or takes as columns has a source, everything else is a value. */
static bool give_argument(RunnelSession *session, uint32_t index, GivenArguments *given)
{
    ValueSource *source = session->inputs[index];
    bool is_streamed = engine_streams(session) && type_is_sequence(&session->types, parameter_type(session, index));
    bool has_columns = engine_streams(session) && !is_streamed && value_source_has_columns(source);
    given->sources[index] = is_streamed || has_columns ? source : NULL;
    return is_streamed || (has_columns ? read_columns(session, source) : read_value(session, source, &given->values[index]));
}

static bool check_arguments(RunnelSession *session, const Arguments *arguments, FileFormat *format)
{
    if (arguments->count > arguments_wanted(session)) {
        wrong_count(session, arguments->count);
        return false;
    }
    return check_names(session, arguments) && check_standard_input(session, arguments) && check_format(session, format);
}

static void make_inputs(RunnelSession *session)
{
    uint32_t count = arguments_wanted(session);
    session->inputs = ARENA_ARRAY(&session->arena, ValueSource *, count);
    session->input_count = count;
}

bool arguments_read(RunnelSession *session, const Arguments *arguments, GivenArguments *given)
{
    FileFormat format;
    if (!check_arguments(session, arguments, &format))
        return false;
    make_inputs(session);
    for (uint32_t i = 0; i < session->input_count; i++)
        if (!open_argument(session, arguments, i, format) || !give_argument(session, i, given))
            return false;
    return true;
}

/* ---- more than once ---- */

/* Whether what is behind the name is gone once it is read, and may have no end. */
static bool is_passing(const char *text)
{
    struct stat status;
    int error = is_standard_input(text) ? fstat(STDIN_FILENO, &status) : stat(text + 1, &status);
    return error == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISCHR(status.st_mode));
}

static bool check_repeatable(RunnelSession *session, const Arguments *arguments, uint32_t index)
{
    const char *text = index < arguments->count ? arguments->texts[index] : "";
    if (!is_file(text) || !type_is_sequence(&session->types, parameter_type(session, index)) || !is_passing(text))
        return true;
    diagnostics_error(&session->diagnostics, ERROR_BAD_VALUE, (Span){0},
                      "%s: a sequence from a pipe or device can be read only once, but `main` is to be run many times: save it in a "
                      "file and give that as @PATH, or make the parameter a vector",
                      argument_name(session, index, text));
    return false;
}

static bool hold_argument(RunnelSession *session, uint32_t index)
{
    ValueSource *source = session->inputs[index];
    bool is_held = value_source_hold(source, &session->stop);
    if (!is_held)
        report_problem(session, source);
    return is_held;
}

bool arguments_hold(RunnelSession *session, const Arguments *arguments)
{
    FileFormat format;
    if (!check_arguments(session, arguments, &format))
        return false;
    make_inputs(session);
    for (uint32_t i = 0; i < session->input_count; i++)
        if (!check_repeatable(session, arguments, i) || !open_argument(session, arguments, i, format) ||
            !hold_argument(session, i))
            return false;
    return true;
}

bool arguments_give(RunnelSession *session, GivenArguments *given)
{
    for (uint32_t i = 0; i < session->input_count; i++) {
        value_source_rewind(session->inputs[i]);
        if (!give_argument(session, i, given))
            return false;
    }
    return true;
}
