#define _POSIX_C_SOURCE 200809L
#include "io/file_output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(FileOutput *output)
{
    if (output->reason == NULL)
        output->reason = strerror(errno);
    return false;
}

/* What is there is not replaced: it was opened by somebody else. */
static bool open_standard_output(WholeFile *whole)
{
    int descriptor = dup(STDOUT_FILENO);
    *whole = (WholeFile){.file = descriptor < 0 ? NULL : fdopen(descriptor, "wb")};
    return whole->file != NULL;
}

bool file_output_open(FileOutput *output, Memory *memory, const char *path, Compression compression)
{
    *output = (FileOutput){.memory = memory, .reason = compression_lack(compression)};
    if (output->reason != NULL)
        return false;
    errno = 0;
    output->is_open = path == NULL ? open_standard_output(&output->whole) : whole_file_open(&output->whole, memory, path);
    if (!output->is_open)
        return fail(output);
    if (compression == COMPRESSION_NONE)
        return true;
    output->block = memory_alloc(memory, FILE_OUTPUT_BLOCK);
    output->encoder = encoder_new(memory, compression);
    return true;
}

static bool write_bytes(FileOutput *output, const void *bytes, size_t size)
{
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
    struct stat status;
    return output->is_open && output->encoder == NULL && fstat(fileno(output->whole.file), &status) == 0 && S_ISREG(status.st_mode);
}

bool file_output_change(FileOutput *output, const void *bytes, size_t size)
{
    if (output->reason != NULL)
        return false;
    return (fseek(output->whole.file, 0, SEEK_SET) == 0 || fail(output)) && write_bytes(output, bytes, size);
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
