#define _POSIX_C_SOURCE 200809L
#include "io/byte_input.h"

#include "base/byte_ring.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A block is what a pipe holds. */
enum { BLOCK_SIZE = 1 << 16, AHEAD_SIZE = 4 * BLOCK_SIZE };

/* ---- opening ---- */

int byte_input_open_path(const char *path)
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
    input->descriptor = path == NULL ? STDIN_FILENO : byte_input_open_path(path);
    input->is_open = input->descriptor >= 0;
    if (!input->is_open) {
        input->reason = strerror(errno);
        return false;
    }
    off_t start = lseek(input->descriptor, 0, SEEK_CUR);
    input->start = start < 0 ? 0 : (uint64_t)start;
    return true;
}

bool byte_input_open_text(ByteInput *input, const Text *path, const StopFlag *stop)
{
    if (strlen(text_string(path)) == path->length)
        return byte_input_open(input, text_string(path), path->memory, stop);
    *input = (ByteInput){.stop = stop, .memory = path->memory, .reason = strerror(ENOENT)};
    return false;
}

/* ---- what is compressed ---- */

struct Decoding {
    Decoder *decoder;
    Compression compression;
    bool is_at_end;                    /* nothing more can be read */
    bool is_whole;                     /* it may end here */
    uint64_t taken;                    /* bytes decoded */
    const unsigned char *next;         /* bytes to be decoded, */
    size_t count;                      /* ... so many */
    char problem[80];
    unsigned char bytes[BLOCK_SIZE];
};

void byte_input_refuse(ByteInput *input, const char *reason)
{
    input->reason = reason;
    input->head_count = 0;
}

bool byte_input_decode(ByteInput *input, Compression compression)
{
    if (compression == COMPRESSION_NONE)
        return true;
    if (compression_lack(compression) != NULL) {
        byte_input_refuse(input, compression_lack(compression));
        return false;
    }
    Decoding *decoding = input->decoding = memory_alloc(input->memory, sizeof *decoding);
    decoding->compression = compression;
    decoding->is_whole = true;
    decoding->next = decoding->bytes;
    decoding->count = input->head_count;
    memcpy(decoding->bytes, input->head, input->head_count);
    input->head_count = 0;
    decoding->decoder = decoder_new(input->memory, compression);
    return true;
}

static const char *say_problem(Decoding *decoding, const char *what)
{
    snprintf(decoding->problem, sizeof decoding->problem, "the %s data %s byte %" PRIu64, compression_name(decoding->compression), what,
             decoding->taken);
    return decoding->problem;
}

/* ---- reading from the descriptor ---- */

/* Who waits until something can be read; false if it is no longer wanted. */
typedef bool WaitForBytes(void *context);

typedef struct Fetch {
    int descriptor;
    Decoding *decoding;
    WaitForBytes *wait;
    void *context;
} Fetch;

/* As read gives it, but 0 also if it is no longer wanted, or it fails; *reason says why it does. */
static size_t fetch_raw(const Fetch *fetch, void *bytes, size_t size, const char **reason)
{
    while (fetch->wait(fetch->context)) {
        ssize_t count = read(fetch->descriptor, bytes, size < SSIZE_MAX ? size : SSIZE_MAX);
        if (count >= 0)
            return (size_t)count;
        if (errno != EINTR) {
            *reason = strerror(errno);
            break;
        }
    }
    return 0;
}

static void refill(const Fetch *fetch, const char **reason)
{
    Decoding *decoding = fetch->decoding;
    decoding->next = decoding->bytes;
    decoding->count = fetch_raw(fetch, decoding->bytes, sizeof decoding->bytes, reason);
    decoding->is_at_end = decoding->count == 0;
}

static size_t fetch_decoded(const Fetch *fetch, void *bytes, size_t size, const char **reason)
{
    Decoding *decoding = fetch->decoding;
    size_t made = 0;
    bool has_output = true; /* perhaps, of what the decoder has been given */
    while (made == 0 && *reason == NULL) {
        if (decoding->count == 0 && (decoding->is_whole || !has_output) && !decoding->is_at_end)
            refill(fetch, reason);
        if (decoding->count == 0 && decoding->is_at_end) {
            if (!decoding->is_whole && *reason == NULL)
                *reason = say_problem(decoding, "ends too early, at");
            return 0;
        }
        size_t before = decoding->count;
        DecodeStatus status = decoder_run(decoding->decoder, &decoding->next, &decoding->count, bytes, size, &made);
        decoding->taken += before - decoding->count;
        decoding->is_whole = status == DECODE_WHOLE;
        has_output = made > 0;
        if (status == DECODE_WRONG)
            *reason = say_problem(decoding, "is damaged at");
    }
    return made;
}

static size_t fetch_bytes(const Fetch *fetch, void *bytes, size_t size, const char **reason)
{
    return fetch->decoding != NULL ? fetch_decoded(fetch, bytes, size, reason) : fetch_raw(fetch, bytes, size, reason);
}

/* ---- reading ahead ---- */

struct ReadAhead {
    int descriptor;
    Decoding *decoding;
    const char *reason; /* why reading failed; told by the ring's closing */
    pthread_t thread;
    ByteRing ring;
    char bytes[AHEAD_SIZE];
};

/* Waits until something can be read, or nobody wants it any more. */
static bool wait_ahead(void *context)
{
    ReadAhead *ahead = context;
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
    Fetch fetch = {.descriptor = ahead->descriptor, .decoding = ahead->decoding, .wait = wait_ahead, .context = ahead};
    char *bytes;
    size_t room, count = 1;
    while (count > 0 && byte_ring_room(&ahead->ring, RING_FOR_EVER, &bytes, &room) == RING_READY) {
        count = fetch_bytes(&fetch, bytes, room < BLOCK_SIZE ? room : BLOCK_SIZE, &ahead->reason);
        byte_ring_put(&ahead->ring, count);
    }
    byte_ring_close(&ahead->ring);
    return NULL;
}

/* Where there is no thread to be had, all goes on as before. */
static void start_ahead(ByteInput *input)
{
    ReadAhead *ahead = memory_resize(input->memory, NULL, 0, sizeof *ahead);
    ahead->descriptor = input->descriptor;
    ahead->decoding = input->decoding;
    ahead->reason = NULL;
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
    if (status == RING_OVER)
        input->reason = ahead->reason;
    if (status != RING_READY)
        return 0;
    count = count < size ? count : size;
    memcpy(bytes, data, count);
    byte_ring_take(&ahead->ring, count);
    return count;
}

/* ---- reading directly ---- */

/* False if it was stopped before. */
static bool wait_for_bytes(void *context)
{
    const ByteInput *input = context;
    struct pollfd descriptor = {.fd = input->descriptor, .events = POLLIN};
    while (stop_reason(input->stop) == STOP_NOT)
        if (poll(&descriptor, 1, STOP_POLL_MILLISECONDS) > 0)
            return true;
    return false;
}

static size_t read_directly(ByteInput *input, void *bytes, size_t size)
{
    Fetch fetch = {.descriptor = input->descriptor, .decoding = input->decoding, .wait = wait_for_bytes, .context = input};
    return fetch_bytes(&fetch, bytes, size, &input->reason);
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
    return input->reason != NULL || stop_reason(input->stop) != STOP_NOT;
}

/* ---- ordinary files ---- */

uint64_t byte_input_file_size(const ByteInput *input)
{
    struct stat status;
    bool is_file = input->is_open && input->decoding == NULL && fstat(input->descriptor, &status) == 0 && S_ISREG(status.st_mode);
    if (!is_file)
        return UINT64_MAX;
    return (uint64_t)status.st_size > input->start ? (uint64_t)status.st_size - input->start : 0;
}

size_t byte_input_read_part(const ByteInput *input, uint64_t position, void *bytes, size_t size, const char **reason)
{
    bool has_failed = false;
    while (may_read(input) && !has_failed) {
        ssize_t count = pread(input->descriptor, bytes, size < SSIZE_MAX ? size : SSIZE_MAX, (off_t)(input->start + position));
        if (count >= 0)
            return (size_t)count;
        has_failed = errno != EINTR;
    }
    if (has_failed)
        *reason = strerror(errno);
    return 0;
}

size_t byte_input_read_at(ByteInput *input, uint64_t position, void *bytes, size_t size)
{
    return byte_input_read_part(input, position, bytes, size, &input->reason);
}

void byte_input_expect_parts(const ByteInput *input)
{
    posix_fadvise(input->descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
}

void byte_input_close(ByteInput *input)
{
    if (input->ahead != NULL)
        end_ahead(input);
    if (input->decoding != NULL) {
        decoder_free(input->memory, input->decoding->decoder);
        memory_free(input->memory, input->decoding, sizeof *input->decoding);
        input->decoding = NULL;
    }
    if (input->is_open && input->descriptor != STDIN_FILENO)
        close(input->descriptor);
    input->is_open = false;
}
