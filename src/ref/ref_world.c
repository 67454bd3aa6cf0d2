/* The outside world: output, messages, files, the clock. */
#include "ref/ref_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool ref_op_print_string(OpCall *call)
{
    const InterpreterOptions *options = &call->machine->options;
    const Text *text = ref_text_argument(call, 0);
    if (options->write != NULL)
        options->write(options->write_context, text_string(text), text->length);
    call->result.scalar.integer = 1;
    return true;
}

bool ref_op_user_error(OpCall *call)
{
    const Text *message = ref_text_argument(call, 0);
    return failure_user_error(ref_op_failure(call), text_string(message), message->length);
}

bool ref_op_not_provided(OpCall *call)
{
    const Text *name = ref_text_argument(call, 0);
    return failure_not_provided(ref_op_failure(call), text_string(name), name->length);
}

bool ref_op_raise(OpCall *call)
{
    ErrorCode code = error_code_named(text_string(ref_text_argument(call, 0)));
    const Text *message = ref_text_argument(call, 1);
    return failure_raise(ref_op_failure(call), code, text_string(message), message->length);
}

bool ref_op_environment_variable(OpCall *call)
{
    const Text *name = ref_text_argument(call, 0);
    bool is_name = strlen(text_string(name)) == name->length;
    const char *value = is_name ? getenv(text_string(name)) : NULL;
    call->result.object = ref_chars(call->machine, value, value == NULL ? 0 : strlen(value));
    return true;
}

bool ref_op_clock(OpCall *call)
{
    call->result.scalar.f64 = (double)clock() / CLOCKS_PER_SEC;
    return true;
}

/* ---- lines of a file ---- */

/* Reads into machine->contents; on failure errno says why. */
static bool read_file(Interpreter *machine, const char *path)
{
    machine->file = fopen(path, "rb");
    if (machine->file == NULL)
        return false;
    char buffer[4096];
    size_t length;
    errno = 0;
    while ((length = fread(buffer, 1, sizeof buffer, machine->file)) > 0)
        text_add_bytes(&machine->contents, buffer, length);
    bool is_read = !ferror(machine->file);
    int reason = errno;
    fclose(machine->file);
    machine->file = NULL;
    errno = reason;
    return is_read;
}

/* Appends one line, without a carriage return before its end. */
static void add_line(OpCall *call, const char *bytes, size_t length)
{
    Interpreter *machine = call->machine;
    TypeId type = type_element(machine->types, ref_result_type(call));
    if (length > 0 && bytes[length - 1] == '\r')
        length--;
    Object *line = value_chars(&machine->heap, machine->types, type, bytes, length);
    machine->building = value_append(&machine->heap, machine->building, (Value){.object = line});
}

static void add_lines(OpCall *call, const char *bytes, size_t length)
{
    while (length > 0) {
        const char *end = memchr(bytes, '\n', length);
        size_t line = end == NULL ? length : (size_t)(end - bytes);
        add_line(call, bytes, line);
        size_t used = end == NULL ? line : line + 1;
        bytes += used;
        length -= used;
    }
}

bool ref_op_lines(OpCall *call)
{
    Interpreter *machine = call->machine;
    const Text *path = ref_text_argument(call, 0);
    const char *name = text_string(path);
    text_clear(&machine->contents);
    errno = ENOENT;
    bool is_name = strlen(name) == path->length; /* no file has a zero in its name */
    if (!is_name || !read_file(machine, name))
        return failure_cannot_read(ref_op_failure(call), name, path->length, strerror(errno));
    ref_build(machine, ref_result_type(call), 0);
    add_lines(call, text_string(&machine->contents), machine->contents.length);
    call->result.object = ref_built(machine);
    text_free(&machine->contents);
    return true;
}
