#define _POSIX_C_SOURCE 200809L
#include "driver/output.h"

#include "base/byte_ring.h"
#include "base/stop.h"
#include "base/thread.h"
#include "driver/host.h"
#include "driver/report.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A block is what a pipe holds. Waiting is given up when the reader has taken nothing for so long (milliseconds). */
enum { BLOCK_SIZE = 1 << 16, BEHIND_SIZE = 4 * BLOCK_SIZE, LAST_CHANCE = 60 };

/* What the thread works with, and frees if it is left alone while it waits for the reader. */
typedef struct Behind {
    pthread_t thread;
    ByteRing ring;
    char bytes[BEHIND_SIZE];
} Behind;

static struct {
    _Atomic int error; /* errno of the first write that failed */
    OutputIsStopping *is_stopping;
    void *context;
    bool is_known, is_terminal; /* whether it is one, once that is known */
    bool is_mute;               /* waiting was given up: what comes is thrown away until that is over */
    bool was_lost;              /* something, for nobody took it */
    Behind *behind;             /* null until a thread writes */
    size_t used;                /* of the buffer, which serves until then */
    char buffer[BLOCK_SIZE];
} output;

static bool is_stopping(void)
{
    return output.is_stopping != NULL && output.is_stopping(output.context);
}

void output_set_stopping(OutputIsStopping *question, void *context)
{
    output.is_stopping = question;
    output.context = context;
}

bool output_is_good(void)
{
    return output.error == 0;
}

static void note_error(int error)
{
    int none = 0;
    atomic_compare_exchange_strong(&output.error, &none, error);
}

static void fall_silent(void)
{
    output.is_mute = output.was_lost = true;
    output.used = 0;
}

/* Whether what is written can get out. */
static bool is_open(void)
{
    if (output.is_mute)
        output.is_mute = is_stopping();
    return output.error == 0 && !output.is_mute;
}

/* ---- writing directly ---- */

/* Whether somebody takes bytes; of those, PIPE_BUF can be written without waiting. */
static bool has_reader(void)
{
    struct pollfd descriptor = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&descriptor, 1, LAST_CHANCE) > 0;
}

/* A signal ends the wait for the reader, and shows whether it is to be given up. */
static void write_directly(const char *bytes, size_t length)
{
    while (length > 0) {
        size_t most = length;
        if (is_stopping()) {
            most = length < PIPE_BUF ? length : PIPE_BUF;
            if (!has_reader()) {
                fall_silent();
                return;
            }
        }
        ssize_t count = write(STDOUT_FILENO, bytes, most);
        if (count >= 0) {
            bytes += count;
            length -= (size_t)count;
        } else if (errno != EINTR) {
            note_error(errno);
            return;
        }
    }
}

static void write_buffer(void)
{
    write_directly(output.buffer, output.used);
    output.used = 0;
}

/* ---- writing behind ---- */

static void free_behind(Behind *behind)
{
    byte_ring_free(&behind->ring);
    free(behind);
}

static void *write_behind(void *argument)
{
    Behind *behind = argument;
    const char *bytes;
    size_t count;
    while (byte_ring_data(&behind->ring, BLOCK_SIZE, RING_FOR_EVER, &bytes, &count) == RING_READY) {
        ssize_t written = write(STDOUT_FILENO, bytes, count < BLOCK_SIZE ? count : BLOCK_SIZE);
        if (written >= 0) {
            byte_ring_take(&behind->ring, (size_t)written);
        } else if (errno != EINTR) {
            note_error(errno);
            if (byte_ring_abandon(&behind->ring))
                return NULL;
        }
    }
    if (byte_ring_is_abandoned(&behind->ring)) /* by the other side, which is gone */
        free_behind(behind);
    return NULL;
}

/* Where there is no thread to be had, all goes on as before. */
static bool start_behind(void)
{
    Behind *behind = malloc(sizeof *behind);
    if (behind == NULL)
        return false;
    byte_ring_init(&behind->ring, behind->bytes, BEHIND_SIZE);
    memcpy(behind->bytes, output.buffer, output.used);
    byte_ring_put(&behind->ring, output.used);
    if (!thread_start(&behind->thread, write_behind, behind)) {
        free_behind(behind);
        return false;
    }
    output.used = 0;
    output.behind = behind;
    return true;
}

static void end_behind(void)
{
    byte_ring_close(&output.behind->ring);
    pthread_join(output.behind->thread, NULL);
    free_behind(output.behind);
    output.behind = NULL;
}

/* Waits as long as there is somebody who takes bytes now and then; what is left is lost, and the thread left alone with it. */
static void give_up(void)
{
    ByteRing *ring = &output.behind->ring;
    size_t left = byte_ring_count(ring), before = left + 1;
    while (left > 0 && left < before) {
        before = left;
        if (byte_ring_drain(ring, LAST_CHANCE) != RING_WAITING)
            return;
        left = byte_ring_count(ring);
    }
    pthread_t thread = output.behind->thread;
    if (left == 0 || !byte_ring_abandon(ring))
        return;
    pthread_detach(thread);
    output.behind = NULL;
    fall_silent();
}

/* Gives bytes to the thread; waits for room. */
static void pass_on(const char *bytes, size_t length)
{
    char *room;
    size_t count;
    while (length > 0 && output.behind != NULL) {
        RingStatus status = byte_ring_room(&output.behind->ring, STOP_POLL_MILLISECONDS, &room, &count);
        if (status == RING_OVER)
            return;
        if (status == RING_READY) {
            count = count < length ? count : length;
            memcpy(room, bytes, count);
            byte_ring_put(&output.behind->ring, count);
            bytes += count;
            length -= count;
        } else if (is_stopping()) {
            give_up();
        }
    }
}

/* ---- the buffer ---- */

static bool is_terminal(void)
{
    if (!output.is_known)
        output.is_terminal = isatty(STDOUT_FILENO);
    output.is_known = true;
    return output.is_terminal;
}

static void add(const char *bytes, size_t length)
{
    memcpy(output.buffer + output.used, bytes, length);
    output.used += length;
}

/* What is more than a buffer has room for. */
static void add_much(const char *bytes, size_t length)
{
    if (!is_terminal() && start_behind()) {
        pass_on(bytes, length);
    } else {
        write_buffer();
        write_directly(bytes, length);
    }
}

bool output_write(const char *bytes, size_t length)
{
    if (!is_open())
        return false;
    if (output.behind != NULL) {
        pass_on(bytes, length);
    } else if (length > BLOCK_SIZE - output.used) {
        add_much(bytes, length);
    } else {
        add(bytes, length);
        if (is_terminal() && memchr(bytes, '\n', length) != NULL)
            write_buffer();
    }
    return is_open();
}

bool output_print(const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return output_write(text, length < (int)sizeof text ? (size_t)length : sizeof text - 1);
}

bool output_flush(void)
{
    if (output.error == 0 && output.behind == NULL)
        write_buffer();
    while (output.behind != NULL && byte_ring_drain(&output.behind->ring, STOP_POLL_MILLISECONDS) == RING_WAITING)
        if (is_stopping())
            give_up();
    return output.error == 0;
}

void output_hurry(void)
{
    if (output.behind != NULL)
        byte_ring_hurry(&output.behind->ring);
    else
        output_flush();
}

int output_finish(int status)
{
    output_flush();
    if (output.behind != NULL)
        end_behind();
    if (output.error == 0)
        return output.was_lost && status == RUNNEL_OK ? STATUS_INTERRUPTED : status;
    if (output.error != EPIPE)
        report_error("io-failure", "cannot write to standard output: %s", strerror(output.error));
    return RUNNEL_RUN_ERROR;
}
