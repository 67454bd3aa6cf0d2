#define _POSIX_C_SOURCE 200809L
#include "io/file_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(FileOutput *output)
{
    if (output->reason == NULL)
        output->reason = strerror(errno);
    return false;
}

bool file_output_open(FileOutput *output, Memory *memory, const char *path, Compression compression)
{
    *output = (FileOutput){.memory = memory, .reason = compression_lack(compression)};
    if (output->reason != NULL)
        return false;
    errno = 0;
    output->is_open = whole_file_open(&output->whole, memory, path);
    if (!output->is_open)
        return fail(output);
    if (compression == COMPRESSION_NONE)
        return true;
    output->block = memory_alloc(memory, FILE_OUTPUT_BLOCK);
    output->encoder = encoder_new(memory, compression);
    return true;
}

void file_output_to_host(FileOutput *output, WorldOutput host)
{
    *output = (FileOutput){.host = host};
}

static bool is_ordinary(int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

bool file_output_to_changeable(FileOutput *output, Memory *memory)
{
    *output = (FileOutput){.memory = memory};
    if (!is_ordinary(STDOUT_FILENO) || (fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND) != 0)
        return false;
    int descriptor = dup(STDOUT_FILENO);
    output->whole.file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    output->is_open = output->whole.file != NULL;
    if (output->is_open)
        output->start = ftell(output->whole.file);
    else if (descriptor >= 0)
        close(descriptor);
    return output->is_open;
}

static bool write_bytes(FileOutput *output, const void *bytes, size_t size)
{
    if (!output->is_open) {
        if (output->host.write != NULL)
            output->host.write(output->host.context, bytes, size);
        return true;
    }
    return size == 0 || fwrite(bytes, 1, size, output->whole.file) == size || fail(output);
}

static bool encode(FileOutput *output, const char *bytes, size_t size, bool is_last)
{
    bool is_done = false;
    while (output->reason == NULL && (size > 0 || (is_last && !is_done))) {
        size_t made;
        errno = EIO;
        if (!encoder_run(output->encoder, &bytes, &size, is_last, output->block, FILE_OUTPUT_BLOCK, &made, &is_done))
            return fail(output);
        write_bytes(output, output->block, made);
    }
    return output->reason == NULL;
}

bool file_output_write(FileOutput *output, const void *bytes, size_t size)
{
    if (output->reason != NULL)
        return false;
    return output->encoder != NULL ? encode(output, bytes, size, false) : write_bytes(output, bytes, size);
}

bool file_output_can_change(const FileOutput *output)
{
    return output->is_open && output->encoder == NULL && is_ordinary(fileno(output->whole.file));
}

/* Whoever writes to standard output next goes on behind. */
bool file_output_change(FileOutput *output, const void *bytes, size_t size)
{
    if (output->reason != NULL)
        return false;
    FILE *file = output->whole.file;
    return (fseek(file, output->start, SEEK_SET) == 0 && write_bytes(output, bytes, size) && fseek(file, 0, SEEK_END) == 0) || fail(output);
}

static void free_encoder(FileOutput *output)
{
    encoder_free(output->memory, output->encoder);
    memory_free(output->memory, output->block, FILE_OUTPUT_BLOCK);
    output->encoder = NULL;
    output->block = NULL;
}

bool file_output_finish(FileOutput *output)
{
    if (output->encoder != NULL)
        encode(output, NULL, 0, true);
    if (output->reason != NULL) {
        file_output_abandon(output);
        return false;
    }
    if (!output->is_open)
        return true;
    free_encoder(output);
    output->is_open = false;
    return whole_file_finish(&output->whole, output->memory) || fail(output);
}

void file_output_abandon(FileOutput *output)
{
    if (!output->is_open)
        return;
    free_encoder(output);
    output->is_open = false;
    whole_file_abandon(&output->whole, output->memory);
}
