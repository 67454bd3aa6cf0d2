/* The outside world: what the program asks of src/io/world.h, with the interpreter's values. */
#include "ref/ref_private.h"

#include <string.h>

/* ---- results ---- */

/* A text, empty where there is none. */
static Value text_value(Interpreter *machine, const char *text)
{
    return (Value){.object = ref_chars(machine, text, text == NULL ? 0 : strlen(text))};
}

static bool give_text(OpCall *call, const char *text)
{
    call->result = text_value(call->machine, text);
    return true;
}

static bool give_pair(OpCall *call, Value first, Value rest)
{
    call->result = value_pair(&call->machine->heap, call->machine->types, ref_result_type(call), first, rest);
    return true;
}

static int64_t integer(const OpCall *call, uint32_t argument)
{
    return call->arguments[argument].scalar.integer;
}

/* ---- messages, the environment, the clock ---- */

bool ref_op_print_string(OpCall *call)
{
    const Text *text = ref_text_argument(call, 0);
    world_print(&call->machine->world, text_string(text), text->length);
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
    return give_text(call, world_environment_variable(ref_text_argument(call, 0)));
}

bool ref_op_clock(OpCall *call)
{
    call->result.scalar.f64 = world_clock();
    return true;
}

/* ---- lines of a file ---- */

bool ref_op_lines(OpCall *call)
{
    Interpreter *machine = call->machine;
    LineReader *reader = &machine->lines;
    TypeId type = type_element(machine->types, ref_result_type(call));
    const Text *path = ref_text_argument(call, 0);
    const char *bytes;
    size_t length;
    ref_build(machine, ref_result_type(call), 0);
    bool is_open = line_reader_open(reader, path);
    while (is_open && line_reader_next(reader, &bytes, &length)) {
        Object *line = value_chars(&machine->heap, machine->types, type, bytes, length);
        machine->building = value_append(&machine->heap, machine->building, (Value){.object = line});
    }
    if (stop_reason(machine->options.stop) != STOP_NOT)
        return failure_stopped(ref_op_failure(call), machine->options.stop);
    if (reader->reason != NULL)
        return failure_cannot_read(ref_op_failure(call), text_string(path), path->length, reader->reason);
    line_reader_close(reader);
    call->result.object = ref_built(machine);
    return true;
}

/* ---- descriptors ---- */

bool ref_op_open_file(OpCall *call)
{
    World *world = &call->machine->world;
    const char *reason;
    Value descriptor = {0};
    descriptor.scalar.integer = world_open(world, ref_text_argument(call, 0), (WorldMode)integer(call, 1), &reason);
    return give_pair(call, descriptor, text_value(call->machine, reason));
}

bool ref_op_close_file(OpCall *call)
{
    return give_text(call, world_close(&call->machine->world, integer(call, 0)));
}

bool ref_op_read_chars(OpCall *call)
{
    Interpreter *machine = call->machine;
    Text *contents = &machine->contents;
    const char *reason;
    Value status = {0};
    text_clear(contents);
    status.scalar.integer =
        world_read(&machine->world, integer(call, 2), ref_text_argument(call, 0), integer(call, 1), contents, &reason);
    Value chars = reason != NULL
                      ? text_value(machine, reason)
                      : (Value){.object = ref_chars(machine, text_string(contents), contents->length)};
    text_free(contents);
    return give_pair(call, chars, status);
}

bool ref_op_write_chars(OpCall *call)
{
    const Text *text = ref_text_argument(call, 0);
    return give_text(call, world_write(&call->machine->world, integer(call, 1), text_string(text), text->length));
}

bool ref_op_read_value(OpCall *call)
{
    Interpreter *machine = call->machine;
    Value value;
    const char *reason = object_file_read(&machine->world, integer(call, 1), &machine->heap, machine->types,
                                          ref_argument_type(call, 0), &value);
    return give_pair(call, value, text_value(machine, reason));
}

bool ref_op_write_value(OpCall *call)
{
    Interpreter *machine = call->machine;
    return give_text(call, object_file_write(&machine->world, integer(call, 1), &machine->heap, machine->types,
                                             ref_argument_type(call, 0), call->arguments[0]));
}
