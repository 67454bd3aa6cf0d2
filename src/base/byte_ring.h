/* Bytes on their way from one thread to another: a buffer of fixed size, filled by one and emptied by the other, in order. */
#ifndef RUNNEL_BASE_BYTE_RING_H
#define RUNNEL_BASE_BYTE_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct ByteRing {
    char *bytes; /* the maker's */
    size_t size;
    size_t start, count; /* what is there; this and what follows is guarded by the mutex */
    bool is_closed;      /* nothing more will come */
    bool is_abandoned;   /* nobody wants what comes, or is there */
    bool is_urgent;      /* the reader need not wait for more */
    pthread_mutex_t mutex;
    pthread_cond_t change;
} ByteRing;

void byte_ring_init(ByteRing *ring, char *bytes, size_t size);
/* When no thread uses it any more. */
void byte_ring_free(ByteRing *ring);

typedef enum RingStatus {
    RING_READY,
    RING_WAITING, /* not yet, and the time is over */
    RING_OVER,    /* never again: closed and empty for the reader, abandoned for the writer */
} RingStatus;

enum { RING_FOR_EVER = -1 }; /* milliseconds */

/* Room for some bytes in one piece, waited for. */
RingStatus byte_ring_room(ByteRing *ring, int milliseconds, char **bytes, size_t *count);
/* So many have been written there. */
void byte_ring_put(ByteRing *ring, size_t count);
/* Nothing more comes. */
void byte_ring_close(ByteRing *ring);
/* The reader is not to wait for more than there is now. */
void byte_ring_hurry(ByteRing *ring);
/* The same, and waits until it has everything; RING_OVER if it does not want it. */
RingStatus byte_ring_drain(ByteRing *ring, int milliseconds);

/* Bytes in one piece; waits until there are `least`, or they are urgent or the last. */
RingStatus byte_ring_data(ByteRing *ring, size_t least, int milliseconds, const char **bytes, size_t *count);
/* So many have been read. */
void byte_ring_take(ByteRing *ring, size_t count);
/* Nothing more goes through, and what is there is forgotten. Either side may say so; false if the other one had done it before. */
bool byte_ring_abandon(ByteRing *ring);
bool byte_ring_is_abandoned(ByteRing *ring);
size_t byte_ring_count(ByteRing *ring);

#endif
