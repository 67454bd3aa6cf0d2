/* Descriptors: the files a program has opened, numbered after the three it begins with. Standard output is the
 * host's, so that what is written there stays in order with what is printed. What is written to a file is there at once: every
 * write is flushed, and a full disk is noticed where it happens. */
#include "ref/ref_private.h"

#include <errno.h>
#include <string.h>

enum { DESCRIPTOR_STDIN, DESCRIPTOR_STDOUT, DESCRIPTOR_STDERR, DESCRIPTOR_FIRST };

enum { STATUS_END = -1, STATUS_FULL = -2, STATUS_FAILED = -3 };

static const char *const not_open = "the stream is not open";

/* ---- the table ---- */

static FILE **find_opened(Interpreter *machine, int64_t descriptor)
{
    if (descriptor < DESCRIPTOR_FIRST || (uint64_t)descriptor - DESCRIPTOR_FIRST >= machine->stream_count)
        return NULL;
    return &machine->streams[descriptor - DESCRIPTOR_FIRST];
}

FILE *ref_stream(Interpreter *machine, int64_t descriptor)
{
    FILE **opened = find_opened(machine, descriptor);
    if (opened != NULL)
        return *opened;
    if (descriptor == DESCRIPTOR_STDIN) {
        fflush(stdout); /* a question is seen before its answer is waited for */
        return stdin;
    }
    return descriptor == DESCRIPTOR_STDERR ? stderr : NULL;
}

/* A place for one more file; it is made before the file is opened, so that no file is lost when there is no memory. */
static size_t free_place(Interpreter *machine)
{
    for (size_t i = 0; i < machine->stream_count; i++)
        if (machine->streams[i] == NULL)
            return i;
    size_t count = machine->stream_count;
    machine->streams = memory_resize(machine->memory, machine->streams, count * sizeof *machine->streams,
                                     (count + 1) * sizeof *machine->streams);
    machine->streams[count] = NULL;
    machine->stream_count++;
    return count;
}

void ref_streams_close(Interpreter *machine)
{
    for (size_t i = 0; i < machine->stream_count; i++)
        if (machine->streams[i] != NULL)
            fclose(machine->streams[i]);
    memory_free(machine->memory, machine->streams, machine->stream_count * sizeof *machine->streams);
    machine->streams = NULL;
    machine->stream_count = 0;
}

/* ---- results ---- */

static Value reason_text(Interpreter *machine, const char *reason)
{
    return (Value){.object = ref_chars(machine, reason, reason == NULL ? 0 : strlen(reason))};
}

static bool give_reason(OpCall *call, const char *reason)
{
    call->result = reason_text(call->machine, reason);
    return true;
}

static bool give_pair(OpCall *call, Value first, Value rest)
{
    call->result = value_pair(&call->machine->heap, call->machine->types, ref_result_type(call), first, rest);
    return true;
}

/* ---- opening and closing ---- */

bool ref_op_open_file(OpCall *call)
{
    static const char *const modes[] = {"rb", "wb", "ab"};
    Interpreter *machine = call->machine;
    const Text *path = ref_text_argument(call, 0);
    bool is_name = strlen(text_string(path)) == path->length; /* no file has a zero in its name */
    size_t place = free_place(machine);
    errno = ENOENT;
    if (is_name)
        machine->streams[place] = fopen(text_string(path), modes[call->arguments[1].scalar.integer]);
    const char *reason = machine->streams[place] == NULL ? strerror(errno) : NULL;
    Value descriptor = {.scalar.integer = reason != NULL ? -1 : (int64_t)place + DESCRIPTOR_FIRST};
    return give_pair(call, descriptor, reason_text(machine, reason));
}

bool ref_op_close_file(OpCall *call)
{
    FILE **opened = find_opened(call->machine, call->arguments[0].scalar.integer);
    if (opened == NULL || *opened == NULL)
        return give_reason(call, not_open);
    bool is_closed = fclose(*opened) == 0;
    *opened = NULL;
    return give_reason(call, is_closed ? NULL : strerror(errno));
}

/* ---- reading and writing ---- */

static bool is_delimiter(const Object *delimiters, int byte)
{
    for (size_t i = 0; i < delimiters->count; i++)
        if (delimiters->items[i].scalar.integer == byte)
            return true;
    return false;
}

/* Reads into machine->contents and says how it ended. */
static int64_t read_chars(Interpreter *machine, FILE *file, const Object *delimiters, int64_t most)
{
    Text *contents = &machine->contents;
    while (most < 0 || contents->length < (uint64_t)most) {
        errno = 0;
        int byte = getc(file);
        if (byte == EOF)
            return ferror(file) ? STATUS_FAILED : STATUS_END;
        if (is_delimiter(delimiters, byte))
            return byte;
        text_add_char(contents, (char)byte);
    }
    return STATUS_FULL;
}

bool ref_op_read_chars(OpCall *call)
{
    Interpreter *machine = call->machine;
    FILE *file = ref_stream(machine, call->arguments[2].scalar.integer);
    text_clear(&machine->contents);
    Value status = {.scalar.integer = STATUS_FAILED};
    if (file != NULL)
        status.scalar.integer =
            read_chars(machine, file, call->arguments[0].object, call->arguments[1].scalar.integer);
    if (status.scalar.integer == STATUS_FAILED) {
        Value reason = reason_text(machine, file == NULL ? not_open : strerror(errno));
        return give_pair(call, reason, status);
    }
    Value chars = {.object = ref_chars(machine, text_string(&machine->contents), machine->contents.length)};
    text_free(&machine->contents);
    return give_pair(call, chars, status);
}

const char *ref_stream_write(Interpreter *machine, int64_t descriptor, const Text *text)
{
    const InterpreterOptions *options = &machine->options;
    if (descriptor == DESCRIPTOR_STDOUT) {
        if (options->write != NULL)
            options->write(options->write_context, text_string(text), text->length);
        return NULL;
    }
    FILE *file = ref_stream(machine, descriptor);
    if (file == NULL)
        return not_open;
    bool is_written = fwrite(text_string(text), 1, text->length, file) == text->length && fflush(file) == 0;
    return is_written ? NULL : strerror(errno);
}

bool ref_op_write_chars(OpCall *call)
{
    const Text *text = ref_text_argument(call, 0);
    return give_reason(call, ref_stream_write(call->machine, call->arguments[1].scalar.integer, text));
}
