#include "io/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DESCRIPTOR_STDIN, DESCRIPTOR_STDOUT, DESCRIPTOR_STDERR, DESCRIPTOR_FIRST };

static const char *const not_open = "the stream is not open";

void world_init(World *world, Memory *memory, WorldWrite write, void *write_context)
{
    *world = (World){.memory = memory, .write = write, .write_context = write_context};
    text_init(&world->scratch, memory);
}

void world_free(World *world)
{
    for (size_t i = 0; i < world->file_count; i++)
        if (world->files[i] != NULL)
            fclose(world->files[i]);
    memory_free(world->memory, world->files, world->file_count * sizeof *world->files);
    world->files = NULL;
    world->file_count = 0;
    text_free(&world->scratch);
}

/* ---- the table ---- */

static FILE **find_opened(World *world, int64_t descriptor)
{
    if (descriptor < DESCRIPTOR_FIRST || (uint64_t)descriptor - DESCRIPTOR_FIRST >= world->file_count)
        return NULL;
    return &world->files[descriptor - DESCRIPTOR_FIRST];
}

static FILE *find_file(World *world, int64_t descriptor)
{
    FILE **opened = find_opened(world, descriptor);
    if (opened != NULL)
        return *opened;
    if (descriptor == DESCRIPTOR_STDIN) {
        fflush(stdout); /* a question is seen before its answer is waited for */
        return stdin;
    }
    return descriptor == DESCRIPTOR_STDERR ? stderr : NULL;
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
        if (world->files[i] == NULL)
            return i;
    size_t count = world->file_count;
    world->files = memory_resize(world->memory, world->files, count * sizeof *world->files,
                                 (count + 1) * sizeof *world->files);
    world->files[count] = NULL;
    world->file_count++;
    return count;
}

/* ---- opening and closing ---- */

static bool has_zero(const Text *text)
{
    return strlen(text_string(text)) != text->length;
}

FILE *world_open_file(const Text *path, WorldMode mode)
{
    static const char *const modes[] = {[WORLD_READ] = "rb", [WORLD_WRITE] = "wb", [WORLD_APPEND] = "ab"};
    errno = ENOENT; /* no file has a zero in its name */
    return has_zero(path) ? NULL : fopen(text_string(path), modes[mode]);
}

int64_t world_open(World *world, const Text *path, WorldMode mode, const char **reason)
{
    size_t place = free_place(world);
    world->files[place] = world_open_file(path, mode);
    *reason = world->files[place] == NULL ? strerror(errno) : NULL;
    return world->files[place] == NULL ? -1 : (int64_t)place + DESCRIPTOR_FIRST;
}

const char *world_close(World *world, int64_t descriptor)
{
    FILE **opened = find_opened(world, descriptor);
    if (opened == NULL || *opened == NULL)
        return not_open;
    bool is_closed = fclose(*opened) == 0;
    *opened = NULL;
    return is_closed ? NULL : strerror(errno);
}

/* ---- reading and writing ---- */

static int64_t read_chars(FILE *file, const Text *delimiters, int64_t most, Text *out)
{
    for (int64_t count = 0; most < 0 || count < most; count++) {
        errno = 0;
        int byte = getc(file);
        if (byte == EOF)
            return ferror(file) ? WORLD_FAILED : WORLD_END;
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
    int64_t status = read_chars(file, delimiters, most, out);
    if (status == WORLD_FAILED)
        *reason = strerror(errno);
    return status;
}

void world_print(World *world, const char *bytes, size_t length)
{
    if (world->write != NULL)
        world->write(world->write_context, bytes, length);
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
    bool is_written = fwrite(bytes, 1, length, file) == length && fflush(file) == 0;
    return is_written ? NULL : strerror(errno);
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
