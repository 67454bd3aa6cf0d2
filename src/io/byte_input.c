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
    if (!input->is_open) {
        input->reason = strerror(errno);
        return false;
    }
    off_t start = lseek(input->descriptor, 0, SEEK_CUR);
    input->start = start < 0 ? 0 : (uint64_t)start;
    return true;
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

static size_t take_head(ByteInput *input, void *bytes, size_t size)
{
    size_t count = input->head_count < size ? input->head_count : size;
    memcpy(bytes, input->head, count);
    input->head_count -= count;
    memmove(input->head, input->head + count, input->head_count);
    return count;
}

static bool may_read(const ByteInput *input)
{
    return input->is_open && input->reason == NULL && stop_reason(input->stop) == STOP_NOT;
}

static size_t read_some(ByteInput *input, void *bytes, size_t size)
{
    if (!may_read(input))
        return 0;
    if (input->ahead != NULL)
        return take_ahead(input, bytes, size);
    size_t count = read_directly(input, bytes, size);
    bool was_short = input->direct < BLOCK_SIZE;
    input->direct += count;
    if (count > 0 && was_short && input->direct >= BLOCK_SIZE && !input->is_in_bulk && !isatty(input->descriptor))
        start_ahead(input);
    return count;
}

size_t byte_input_read(ByteInput *input, void *bytes, size_t size)
{
    return input->head_count > 0 ? take_head(input, bytes, size) : read_some(input, bytes, size);
}

bool byte_input_has_more(const ByteInput *input)
{
    return input->head_count > 0 || (input->ahead != NULL && byte_ring_count(&input->ahead->ring) > 0);
}

size_t byte_input_read_all(ByteInput *input, void *bytes, size_t size)
{
    size_t count = 0, more;
    while (count < size && (more = byte_input_read(input, (char *)bytes + count, size - count)) > 0)
        count += more;
    return count;
}

bool byte_input_starts_with(ByteInput *input, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (i == input->head_count)
            input->head_count += read_some(input, input->head + i, 1);
        if (i == input->head_count || input->head[i] != ((const unsigned char *)bytes)[i])
            return false;
    }
    return true;
}

bool byte_input_is_cut(const ByteInput *input)
{
    return input->is_open && (input->reason != NULL || stop_reason(input->stop) != STOP_NOT);
}

/* ---- ordinary files ---- */

uint64_t byte_input_file_size(const ByteInput *input)
{
    struct stat status;
    bool is_file = input->is_open && fstat(input->descriptor, &status) == 0 && S_ISREG(status.st_mode);
    if (!is_file)
        return UINT64_MAX;
    return (uint64_t)status.st_size > input->start ? (uint64_t)status.st_size - input->start : 0;
}

size_t byte_input_read_at(ByteInput *input, uint64_t position, void *bytes, size_t size)
{
    while (may_read(input)) {
        ssize_t count = pread(input->descriptor, bytes, size < SSIZE_MAX ? size : SSIZE_MAX, (off_t)(input->start + position));
        if (count >= 0)
            return (size_t)count;
        if (errno != EINTR)
            input->reason = strerror(errno);
    }
    return 0;
}

void byte_input_close(ByteInput *input)
{
    if (input->ahead != NULL)
        end_ahead(input);
    if (input->is_open && input->descriptor != STDIN_FILENO)
        close(input->descriptor);
    input->is_open = false;
}
