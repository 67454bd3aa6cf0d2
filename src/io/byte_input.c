#define _POSIX_C_SOURCE 200809L
#include "io/byte_input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

bool byte_input_open(ByteInput *input, const char *path, const volatile int *is_interrupted)
{
    *input = (ByteInput){.is_interrupted = is_interrupted};
    input->descriptor = path == NULL ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    input->is_open = input->descriptor >= 0;
    if (!input->is_open)
        input->reason = strerror(errno);
    return input->is_open;
}

bool byte_input_was_interrupted(const ByteInput *input)
{
    return input->is_interrupted != NULL && *input->is_interrupted != 0;
}

size_t byte_input_read(ByteInput *input, void *bytes, size_t size)
{
    if (!input->is_open || input->reason != NULL)
        return 0;
    if (size > SSIZE_MAX)
        size = SSIZE_MAX;
    for (;;) {
        ssize_t count = read(input->descriptor, bytes, size);
        if (count >= 0)
            return (size_t)count;
        if (errno == EINTR && !byte_input_was_interrupted(input))
            continue;
        input->reason = strerror(errno);
        return 0;
    }
}

void byte_input_close(ByteInput *input)
{
    if (input->is_open && input->descriptor != STDIN_FILENO)
        close(input->descriptor);
    input->is_open = false;
}
