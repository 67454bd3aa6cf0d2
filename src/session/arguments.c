#include "session/arguments.h"

#include "session/engine.h"

#include <string.h>

enum { FILE_MARK = '@' };

static bool is_file(const char *text)
{
    return text[0] == FILE_MARK;
}

static bool is_standard_input(const char *text)
{
    return strcmp(text, "@-") == 0;
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

static bool check_format(RunnelSession *session, ValueFileFormat *format)
{
    const char *name = session->options.file_format;
    bool is_known = value_file_format_named(name == NULL ? "text" : name, format);
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

static ValueSource *open_source(RunnelSession *session, ValueSourceOf of, const char *text, ValueFileFormat format)
{
    if (!is_file(text))
        return value_source_from_text(of, text, strlen(text));
    return value_source_from_file(of, is_standard_input(text) ? NULL : text + 1, format, &session->stop);
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

static bool open_argument(RunnelSession *session, const Arguments *arguments, uint32_t index, TypeId type,
                          ValueFileFormat format)
{
    ValueSourceOf of = {.heap = engine_heap(session), .types = &session->types, .type = type};
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

static bool read_value(RunnelSession *session, ValueSource *source, Value *value)
{
    bool is_read = value_source_read_whole(source, value);
    if (!is_read)
        diagnostics_error(&session->diagnostics, value_source_error(source), (Span){0}, "%s",
                          value_source_problem(source));
    return is_read;
}

bool arguments_read(RunnelSession *session, const Arguments *arguments, Value *values, ValueSource **sources)
{
    const CoreBlock *body = session->running->functions.items[session->main.function]->body;
    ValueFileFormat format;
    if (arguments->count > body->parameter_count) {
        wrong_count(session, arguments->count);
        return false;
    }
    if (!check_standard_input(session, arguments) || !check_format(session, &format))
        return false;
    session->inputs = ARENA_ARRAY(&session->arena, ValueSource *, body->parameter_count);
    session->input_count = body->parameter_count;
    for (uint32_t i = 0; i < body->parameter_count; i++) {
        TypeId type = session->running->variables.items[body->parameters[i]].type;
        if (!open_argument(session, arguments, i, type, format))
            return false;
        bool is_streamed = engine_streams(session) && type_is_sequence(&session->types, type);
        sources[i] = is_streamed ? session->inputs[i] : NULL;
        if (!is_streamed && !read_value(session, session->inputs[i], &values[i]))
            return false;
    }
    return true;
}
