#include "session/result_file.h"

#include "io/compression.h"
#include "io/result_writer.h"

bool result_file_is_open(const RunnelSession *session)
{
    return session->result_writer != NULL;
}

bool result_file_takes_text(const RunnelSession *session)
{
    return result_writer_takes_text(session->result_writer);
}

void result_file_close(RunnelSession *session)
{
    result_writer_free(session->result_writer);
    session->result_writer = NULL;
}

static bool report_problem(RunnelSession *session)
{
    const char *problem = result_writer_problem(session->result_writer);
    if (problem == NULL)
        return true;
    ErrorCode code = result_writer_is_misused(session->result_writer) ? ERROR_BAD_VALUE : ERROR_IO_FAILURE;
    diagnostics_error(&session->diagnostics, code, (Span){0}, "%s", problem);
    result_file_close(session);
    return false;
}

/* Whether what the name says, if it says anything, is what is asked for, if anything is. */
static bool check_format(RunnelSession *session, FileFormat format)
{
    size_t length;
    const char *path = session->options.out_path;
    compression_of_path(path, &length);
    FileFormatKind by_name = file_format_of_path(path, length).kind;
    bool agrees = by_name == FORMAT_NONE || format.kind == FORMAT_NONE || by_name == format.kind;
    if (!agrees)
        diagnostics_error(&session->diagnostics, ERROR_USAGE, (Span){0}, "the name `%s` and the format %s contradict each other", path,
                          session->options.out_format);
    return agrees;
}

bool result_file_open(RunnelSession *session, TypeId type)
{
    const RunnelOptions *options = &session->options;
    result_file_close(session);
    if (options->out_path == NULL)
        return true;
    FileFormat format = options->out_format == NULL ? (FileFormat){0} : file_format_named(options->out_format);
    if (!check_format(session, format))
        return false;
    session->result_writer =
        result_writer_new((ResultWriterOf){.memory = &session->memory,
                                           .types = &session->types,
                                           .type = type,
                                           .path = options->out_path,
                                           .host = {.write = options->write_result == NULL ? options->write : options->write_result,
                                                    .context = options->write_context},
                                           .otherwise = format});
    if (!result_file_takes_text(session))
        result_writer_columns(session->result_writer);
    return report_problem(session);
}

void result_file_text(RunnelSession *session, const char *bytes, size_t length)
{
    result_writer_text(session->result_writer, bytes, length);
}

Columns *result_file_rows(void *context)
{
    return result_writer_columns(((RunnelSession *)context)->result_writer);
}

const char *result_file_take_rows(void *context, const Columns *rows)
{
    RunnelSession *session = context;
    result_writer_rows(session->result_writer, rows, UINT64_MAX);
    return result_writer_problem(session->result_writer);
}

bool result_file_end(RunnelSession *session, bool is_right, const Value *value)
{
    if (is_right && value != NULL)
        result_writer_value(session->result_writer, *value);
    if (is_right)
        result_writer_finish(session->result_writer);
    is_right = is_right && report_problem(session);
    result_file_close(session);
    return is_right;
}
