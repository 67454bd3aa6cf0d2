#define _POSIX_C_SOURCE 200809L
#include "io/world.h"

#include "io/byte_input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DESCRIPTOR_STDIN, DESCRIPTOR_STDOUT, DESCRIPTOR_STDERR, DESCRIPTOR_FIRST };

static const char *const not_open = "the stream is not open";

void world_init(World *world, Memory *memory, WorldOutput output, const StopFlag *stop)
{
    *world = (World){.memory = memory, .output = output, .stop = stop};
    text_init(&world->scratch, memory);
}

void world_abandon(World *world)
{
    for (size_t i = 0; i < world->file_count; i++)
        if (world->files[i].is_whole && world->files[i].whole.file != NULL)
            whole_file_abandon(&world->files[i].whole, world->memory);
}

void world_free(World *world)
{
    world_abandon(world);
    for (size_t i = 0; i < world->file_count; i++)
        if (world->files[i].whole.file != NULL)
            fclose(world->files[i].whole.file);
    memory_free(world->memory, world->files, world->file_count * sizeof *world->files);
    world->files = NULL;
    world->file_count = 0;
    text_free(&world->scratch);
}

/* ---- the table ---- */

static WorldFile *find_opened(World *world, int64_t descriptor)
{
    if (descriptor < DESCRIPTOR_FIRST || (uint64_t)descriptor - DESCRIPTOR_FIRST >= world->file_count)
        return NULL;
    return &world->files[descriptor - DESCRIPTOR_FIRST];
}

void world_flush(World *world, bool is_awaited)
{
    if (world->output.flush != NULL)
        world->output.flush(world->output.context, is_awaited);
}

/* Results are seen before a question's answer is waited for, and before messages that were written later. */
static FILE *find_file(World *world, int64_t descriptor)
{
    const WorldFile *opened = find_opened(world, descriptor);
    if (opened != NULL)
        return opened->whole.file;
    if (descriptor != DESCRIPTOR_STDIN && descriptor != DESCRIPTOR_STDERR)
        return NULL;
    world_flush(world, descriptor == DESCRIPTOR_STDERR);
    return descriptor == DESCRIPTOR_STDIN ? stdin : stderr;
}

FILE *world_file(World *world, int64_t descriptor, const char **reason)
{
    FILE *file = find_file(world, descriptor);
    *reason = file == NULL ? not_open : NULL;
    return file;
}

/* A place for one more file; it is made before the file is opened, so that no file is lost when there is no memory. */
static size_t free_place(World *world)
{
    for (size_t i = 0; i < world->file_count; i++)
        if (world->files[i].whole.file == NULL)
            return i;
    size_t count = world->file_count;
    world->files = memory_resize(world->memory, world->files, count * sizeof *world->files,
                                 (count + 1) * sizeof *world->files);
    world->files[count] = (WorldFile){0};
    world->file_count++;
    return count;
}

/* ---- opening and closing ---- */

static bool has_zero(const Text *text)
{
    return strlen(text_string(text)) != text->length;
}

static FILE *open_to_read(const char *path)
{
    int descriptor = byte_input_open_path(path);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
    if (descriptor >= 0 && file == NULL)
        close(descriptor);
    return file;
}

static bool open_file(World *world, WorldFile *file, const Text *path, WorldMode mode)
{
    *file = (WorldFile){.is_whole = mode == WORLD_REPLACE};
    errno = ENOENT; /* no file has a zero in its name */
    if (has_zero(path))
        return false;
    if (mode == WORLD_REPLACE)
        return whole_file_open(&file->whole, world->memory, text_string(path));
    file->whole.file = mode == WORLD_READ ? open_to_read(text_string(path)) : fopen(text_string(path), mode == WORLD_WRITE ? "wb" : "ab");
    return file->whole.file != NULL;
}

int64_t world_open(World *world, const Text *path, WorldMode mode, const char **reason)
{
    size_t place = free_place(world);
    bool is_open = open_file(world, &world->files[place], path, mode);
    *reason = is_open ? NULL : strerror(errno);
    return is_open ? (int64_t)place + DESCRIPTOR_FIRST : -1;
}

const char *world_close(World *world, int64_t descriptor)
{
    WorldFile *file = find_opened(world, descriptor);
    if (file == NULL || file->whole.file == NULL)
        return not_open;
    if (file->is_whole && file->is_broken) {
        whole_file_abandon(&file->whole, world->memory);
        return NULL;
    }
    return whole_file_finish(&file->whole, world->memory) ? NULL : strerror(errno);
}

/* ---- reading and writing ---- */

/* Whether the library has bytes of a file at hand. It does not say so; where it cannot be seen either, they are waited for without looking up. */
static bool has_bytes(const FILE *file)
{
#ifdef __GLIBC__
    return file->_IO_read_ptr < file->_IO_read_end;
#else
    (void)file;
    return true;
#endif
}

/* False if the run is to end. */
static bool wait_for_bytes(const World *world, FILE *file)
{
    struct pollfd descriptor = {.fd = fileno(file), .events = POLLIN};
    while (stop_reason(world->stop) == STOP_NOT) {
        int ready = poll(&descriptor, 1, STOP_POLL_MILLISECONDS);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true;
    }
    errno = EINTR;
    return false;
}

int world_get_byte(const World *world, FILE *file)
{
    return has_bytes(file) || world->stop == NULL || wait_for_bytes(world, file) ? getc(file) : EOF;
}

static int64_t read_chars(const World *world, FILE *file, const Text *delimiters, int64_t most, Text *out)
{
    for (int64_t count = 0; most < 0 || count < most; count++) {
        errno = 0;
        int byte = world_get_byte(world, file);
        if (byte == EOF)
            return ferror(file) || errno == EINTR ? WORLD_FAILED : WORLD_END;
        if (memchr(text_string(delimiters), byte, delimiters->length) != NULL)
            return byte;
        text_add_char(out, (char)byte);
    }
    return WORLD_FULL;
}

int64_t world_read(World *world, int64_t descriptor, const Text *delimiters, int64_t most, Text *out,
                   const char **reason)
{
    FILE *file = world_file(world, descriptor, reason);
    if (file == NULL)
        return WORLD_FAILED;
    int64_t status = read_chars(world, file, delimiters, most, out);
    if (status == WORLD_FAILED)
        *reason = strerror(errno);
    return status;
}

void world_print(World *world, const char *bytes, size_t length)
{
    if (world->output.write != NULL)
        world->output.write(world->output.context, bytes, length);
}

const char *world_write(World *world, int64_t descriptor, const char *bytes, size_t length)
{
    if (descriptor == DESCRIPTOR_STDOUT) {
        world_print(world, bytes, length);
        return NULL;
    }
    FILE *file = find_file(world, descriptor);
    if (file == NULL)
        return not_open;
    if (fwrite(bytes, 1, length, file) == length && fflush(file) == 0)
        return NULL;
    int error = errno;
    WorldFile *opened = find_opened(world, descriptor);
    if (opened != NULL)
        opened->is_broken = true;
    return strerror(error);
}

/* ---- the rest ---- */

const char *world_environment_variable(const Text *name)
{
    return has_zero(name) ? NULL : getenv(text_string(name));
}

double world_clock(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}
