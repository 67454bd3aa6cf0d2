/* Bytes between threads: the ring under every rhythm of its two ends, and input that is read ahead. */
#define _POSIX_C_SOURCE 200809L
#include "base/byte_ring.h"
#include "base/thread.h"
#include "io/byte_input.h"
#include "check.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What stands at a position of every stream here. */
static char byte_at(size_t position)
{
    return (char)(position * 31 + position / 251);
}

static void pause_for(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
}

/* ---- the ring ---- */

typedef struct Rhythm {
    size_t length, piece, ring;
    long writer_pause, reader_pause; /* microseconds, after each piece */
} Rhythm;

typedef struct Writer {
    ByteRing ring;
    Rhythm rhythm;
} Writer;

static void *write_all(void *argument)
{
    Writer *writer = argument;
    const Rhythm *rhythm = &writer->rhythm;
    char *room;
    size_t count;
    for (size_t at = 0; at < rhythm->length;) {
        if (byte_ring_room(&writer->ring, RING_FOR_EVER, &room, &count) != RING_READY)
            return NULL;
        count = count < rhythm->piece ? count : rhythm->piece;
        count = count < rhythm->length - at ? count : rhythm->length - at;
        for (size_t i = 0; i < count; i++)
            room[i] = byte_at(at + i);
        byte_ring_put(&writer->ring, count);
        at += count;
        if (rhythm->writer_pause > 0)
            pause_for(rhythm->writer_pause);
    }
    byte_ring_close(&writer->ring);
    return NULL;
}

/* Reads up to `most` bytes, `least` of them at a time; gives how many there were. */
static size_t read_all(Writer *writer, size_t least, size_t most)
{
    const char *data;
    size_t count, at = 0;
    while (at < most && byte_ring_data(&writer->ring, least, RING_FOR_EVER, &data, &count) == RING_READY) {
        CHECK(count > 0);
        count = count < most - at ? count : most - at;
        for (size_t i = 0; i < count; i++)
            if (data[i] != byte_at(at + i)) {
                CHECK(!"the bytes are those written");
                return at;
            }
        byte_ring_take(&writer->ring, count);
        at += count;
        if (writer->rhythm.reader_pause > 0)
            pause_for(writer->rhythm.reader_pause);
    }
    return at;
}

static void test_rhythm(Rhythm rhythm, size_t least, size_t most)
{
    Writer writer = {.rhythm = rhythm};
    char *bytes = malloc(rhythm.ring);
    pthread_t thread;
    byte_ring_init(&writer.ring, bytes, rhythm.ring);
    CHECK(thread_start(&thread, write_all, &writer));
    CHECK(read_all(&writer, least, most) == (most < rhythm.length ? most : rhythm.length));
    byte_ring_abandon(&writer.ring);
    pthread_join(thread, NULL);
    byte_ring_free(&writer.ring);
    free(bytes);
}

static void test_ring(void)
{
    static const Rhythm rhythms[] = {
        {.length = 0, .piece = 1, .ring = 1},
        {.length = 1000, .piece = 1, .ring = 1},
        {.length = 10000, .piece = 3, .ring = 7},
        {.length = 100000, .piece = 1000, .ring = 4096},
        {.length = 1000, .piece = 10, .ring = 64, .writer_pause = 20},
        {.length = 1000, .piece = 10, .ring = 64, .reader_pause = 20},
    };
    for (size_t i = 0; i < sizeof rhythms / sizeof *rhythms; i++) {
        test_rhythm(rhythms[i], 1, SIZE_MAX);
        test_rhythm(rhythms[i], (rhythms[i].ring + 3) / 4, SIZE_MAX);
        test_rhythm(rhythms[i], 1, 100); /* then nobody reads any more */
    }
}

/* Nothing moves: waiting ends by itself. */
static void test_waiting(void)
{
    ByteRing ring;
    char bytes[8], *room;
    const char *data;
    size_t count;
    byte_ring_init(&ring, bytes, sizeof bytes);
    CHECK(byte_ring_drain(&ring, 1) == RING_READY);
    CHECK(byte_ring_data(&ring, 1, 1, &data, &count) == RING_WAITING);
    CHECK(byte_ring_room(&ring, 1, &room, &count) == RING_READY && count == sizeof bytes);
    byte_ring_put(&ring, 5);
    CHECK(byte_ring_data(&ring, 6, 1, &data, &count) == RING_WAITING);
    CHECK(byte_ring_drain(&ring, 1) == RING_WAITING && byte_ring_count(&ring) == 5);
    CHECK(byte_ring_data(&ring, 6, 1, &data, &count) == RING_READY && count == 5); /* they are urgent now */
    byte_ring_put(&ring, 3);
    CHECK(byte_ring_room(&ring, 1, &room, &count) == RING_WAITING);
    byte_ring_close(&ring);
    CHECK(byte_ring_data(&ring, 9, 1, &data, &count) == RING_READY && count == 8);
    byte_ring_take(&ring, 8);
    CHECK(byte_ring_data(&ring, 1, 1, &data, &count) == RING_OVER);
    byte_ring_abandon(&ring);
    CHECK(byte_ring_room(&ring, 1, &room, &count) == RING_OVER && byte_ring_drain(&ring, 1) == RING_OVER);
    byte_ring_free(&ring);
}

/* ---- input ---- */

typedef struct Producer {
    int descriptor;
    size_t length, piece;
    long pause; /* microseconds, after each piece */
    bool stays; /* open at the end */
} Producer;

static void *produce(void *argument)
{
    const Producer *producer = argument;
    char bytes[4096];
    for (size_t at = 0; at < producer->length;) {
        size_t count = producer->length - at < producer->piece ? producer->length - at : producer->piece;
        for (size_t i = 0; i < count; i++)
            bytes[i] = byte_at(at + i);
        if (write(producer->descriptor, bytes, count) != (ssize_t)count)
            return NULL;
        at += count;
        if (producer->pause > 0)
            pause_for(producer->pause);
    }
    if (!producer->stays)
        close(producer->descriptor);
    return NULL;
}

/* Reads everything in pieces of `size`, or until it is stopped. */
static size_t consume(ByteInput *input, size_t size)
{
    char bytes[1 << 16];
    size_t at = 0, count;
    while ((count = byte_input_read(input, bytes, size)) > 0) {
        for (size_t i = 0; i < count; i++)
            if (bytes[i] != byte_at(at + i)) {
                CHECK(!"the bytes are those written");
                return at;
            }
        at += count;
    }
    return at;
}

static void *stop_soon(void *argument)
{
    pause_for(30000);
    stop_set(argument, STOP_TIME);
    return NULL;
}

/* A pipe in the place of standard input. */
static void test_pipe(Producer producer, size_t size)
{
    int ends[2];
    pthread_t thread, stopper;
    Memory memory = {0};
    StopFlag stop = {0};
    ByteInput input;
    close(STDIN_FILENO);
    if (pipe(ends) != 0 || ends[0] != STDIN_FILENO)
        exit(77);
    producer.descriptor = ends[1];
    CHECK(thread_start(&thread, produce, &producer));
    if (producer.stays)
        CHECK(thread_start(&stopper, stop_soon, &stop));
    CHECK(byte_input_open(&input, NULL, &memory, &stop));
    size_t read = consume(&input, size);
    CHECK(producer.stays || read == producer.length);
    CHECK(input.reason == NULL && byte_input_read(&input, &(char){0}, 1) == 0);
    if (producer.stays)
        pthread_join(stopper, NULL);
    byte_input_close(&input);
    byte_input_close(&input);
    CHECK(memory.live_bytes == 0);
    close(STDIN_FILENO); /* a producer that is left alone ends */
    pthread_join(thread, NULL);
    if (producer.stays)
        close(producer.descriptor);
}

static void test_pipes(void)
{
    static const size_t lengths[] = {0, 1, 65535, 65536, 65537, 1000000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int stays = 0; stays < 2; stays++) {
            test_pipe((Producer){.length = lengths[i], .piece = 4096, .stays = stays}, 1 << 16);
            test_pipe((Producer){.length = lengths[i], .piece = 1000, .stays = stays}, 777);
        }
    test_pipe((Producer){.length = 200000, .piece = 4000, .pause = 100}, 1 << 16);
}

/* What is left unread, and what cannot be read. */
static void test_files(void)
{
    static const char path[] = "test_byte_input.tmp";
    Memory memory = {0};
    ByteInput input;
    FILE *file = fopen(path, "wb");
    for (size_t i = 0; i < 1000000; i++)
        putc(byte_at(i), file);
    fclose(file);
    char bytes[1000];
    for (size_t left = 0; left < 100; left++) {
        CHECK(byte_input_open(&input, path, &memory, NULL));
        for (size_t i = 0; i < left; i++)
            CHECK(byte_input_read(&input, bytes, sizeof bytes) > 0);
        byte_input_close(&input);
    }
    CHECK(byte_input_open(&input, path, &memory, NULL) && consume(&input, 5000) == 1000000);
    byte_input_close(&input);
    CHECK(byte_input_open(&input, "/", &memory, NULL) && byte_input_read(&input, bytes, 1) == 0 && input.reason != NULL);
    byte_input_close(&input);
    CHECK(!byte_input_open(&input, "test_byte_input.none", &memory, NULL) && input.reason != NULL);
    CHECK(memory.live_bytes == 0);
    remove(path);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    test_ring();
    test_waiting();
    test_files();
    test_pipes();
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
