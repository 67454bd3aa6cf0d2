#define _POSIX_C_SOURCE 200809L
#include "io/byte_input.h"

#include "base/byte_ring.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A block is what a pipe holds. */
enum { BLOCK_SIZE = 1 << 16, AHEAD_SIZE = 4 * BLOCK_SIZE };

/* ---- opening ---- */

/* A named pipe is opened without waiting for who writes to it: that wait could not be given up. */
static int open_file(const char *path)
{
    struct stat status;
    bool is_pipe = stat(path, &status) == 0 && S_ISFIFO(status.st_mode);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | (is_pipe ? O_NONBLOCK : 0));
    if (descriptor >= 0 && is_pipe)
        fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    return descriptor;
}

bool byte_input_open(ByteInput *input, const char *path, Memory *memory, const StopFlag *stop)
{
    *input = (ByteInput){.stop = stop, .memory = memory};
    input->descriptor = path == NULL ? STDIN_FILENO : open_file(path);
    input->is_open = input->descriptor >= 0;
    if (!input->is_open)
        input->reason = strerror(errno);
    return input->is_open;
}

/* ---- reading ahead ---- */

struct ReadAhead {
    int descriptor;
    int error; /* of the read that ended it; told by the ring's closing */
    pthread_t thread;
    ByteRing ring;
    char bytes[AHEAD_SIZE];
};

/* Waits until something can be read, or nobody wants it any more. */
static bool wait_ahead(ReadAhead *ahead)
{
    struct pollfd descriptor = {.fd = ahead->descriptor, .events = POLLIN};
    while (!byte_ring_is_abandoned(&ahead->ring))
        if (poll(&descriptor, 1, STOP_POLL_MILLISECONDS) > 0)
            return true;
    return false;
}

/* What read gives is passed on at once. */
static void *read_ahead(void *argument)
{
    ReadAhead *ahead = argument;
    char *bytes;
    size_t room;
    while (byte_ring_room(&ahead->ring, RING_FOR_EVER, &bytes, &room) == RING_READY && wait_ahead(ahead)) {
        ssize_t count = read(ahead->descriptor, bytes, room < BLOCK_SIZE ? room : BLOCK_SIZE);
        if (count > 0) {
            byte_ring_put(&ahead->ring, (size_t)count);
        } else if (count == 0 || errno != EINTR) {
            ahead->error = count == 0 ? 0 : errno;
            break;
        }
    }
    byte_ring_close(&ahead->ring);
    return NULL;
}

/* Where there is no thread to be had, all goes on as before. */
static void start_ahead(ByteInput *input)
{
    ReadAhead *ahead = memory_resize(input->memory, NULL, 0, sizeof *ahead);
    ahead->descriptor = input->descriptor;
    ahead->error = 0;
    byte_ring_init(&ahead->ring, ahead->bytes, AHEAD_SIZE);
    if (thread_start(&ahead->thread, read_ahead, ahead)) {
        input->ahead = ahead;
        return;
    }
    byte_ring_free(&ahead->ring);
    memory_free(input->memory, ahead, sizeof *ahead);
}

static void end_ahead(ByteInput *input)
{
    ReadAhead *ahead = input->ahead;
    byte_ring_abandon(&ahead->ring);
    pthread_join(ahead->thread, NULL);
    byte_ring_free(&ahead->ring);
    memory_free(input->memory, ahead, sizeof *ahead);
    input->ahead = NULL;
}

static size_t take_ahead(ByteInput *input, void *bytes, size_t size)
{
    ReadAhead *ahead = input->ahead;
    const char *data;
    size_t count;
    RingStatus status = RING_WAITING;
    while (status == RING_WAITING && stop_reason(input->stop) == STOP_NOT)
        status = byte_ring_data(&ahead->ring, 1, STOP_POLL_MILLISECONDS, &data, &count);
    if (status == RING_OVER && ahead->error != 0)
        input->reason = strerror(ahead->error);
    if (status != RING_READY)
        return 0;
    count = count < size ? count : size;
    memcpy(bytes, data, count);
    byte_ring_take(&ahead->ring, count);
    return count;
}

/* ---- reading directly ---- */

/* False if it was stopped before. */
static bool wait_for_bytes(const ByteInput *input)
{
    struct pollfd descriptor = {.fd = input->descriptor, .events = POLLIN};
    while (stop_reason(input->stop) == STOP_NOT)
        if (poll(&descriptor, 1, STOP_POLL_MILLISECONDS) > 0)
            return true;
    return false;
}

static size_t read_directly(ByteInput *input, void *bytes, size_t size)
{
    while (wait_for_bytes(input)) {
        ssize_t count = read(input->descriptor, bytes, size < SSIZE_MAX ? size : SSIZE_MAX);
        if (count >= 0)
            return (size_t)count;
        if (errno == EINTR)
            continue;
        input->reason = strerror(errno);
        break;
    }
    return 0;
}

/* ---- reading ---- */

size_t byte_input_read(ByteInput *input, void *bytes, size_t size)
{
    if (!input->is_open || input->reason != NULL || stop_reason(input->stop) != STOP_NOT)
        return 0;
    if (input->ahead != NULL)
        return take_ahead(input, bytes, size);
    size_t count = read_directly(input, bytes, size);
    bool was_short = input->direct < BLOCK_SIZE;
    input->direct += count;
    if (count > 0 && was_short && input->direct >= BLOCK_SIZE && !isatty(input->descriptor))
        start_ahead(input);
    return count;
}

void byte_input_close(ByteInput *input)
{
    if (input->ahead != NULL)
        end_ahead(input);
    if (input->is_open && input->descriptor != STDIN_FILENO)
        close(input->descriptor);
    input->is_open = false;
}
