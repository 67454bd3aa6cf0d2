#include "base/byte_ring.h"

#include "base/thread.h"

void byte_ring_init(ByteRing *ring, char *bytes, size_t size)
{
    *ring = (ByteRing){.bytes = bytes, .size = size};
    pthread_mutex_init(&ring->mutex, NULL);
    thread_condition_init(&ring->change);
}

void byte_ring_free(ByteRing *ring)
{
    pthread_cond_destroy(&ring->change);
    pthread_mutex_destroy(&ring->mutex);
}

/* ---- waiting ----
 * The two sides never wait at the same time: one waits for bytes, the other for room or for there to be none, and each change is told to both. */

typedef bool RingTest(const ByteRing *ring, size_t least);

static bool has_room(const ByteRing *ring, size_t least)
{
    (void)least;
    return ring->count < ring->size || ring->is_abandoned;
}

static bool is_drained(const ByteRing *ring, size_t least)
{
    (void)least;
    return ring->count == 0 || ring->is_abandoned;
}

static bool has_data(const ByteRing *ring, size_t least)
{
    return ring->count >= least || ring->is_closed || ring->is_abandoned || ring->is_urgent;
}

/* With the mutex held. False if that did not come true in time. */
static bool wait_for(ByteRing *ring, RingTest *test, size_t least, int milliseconds)
{
    if (test(ring, least))
        return true;
    struct timespec deadline = thread_deadline(milliseconds < 0 ? UINT64_MAX : (uint64_t)milliseconds);
    int status = 0;
    while (status == 0 && !test(ring, least))
        status = pthread_cond_timedwait(&ring->change, &ring->mutex, &deadline);
    return test(ring, least);
}

/* ---- the writer ---- */

RingStatus byte_ring_room(ByteRing *ring, int milliseconds, char **bytes, size_t *count)
{
    pthread_mutex_lock(&ring->mutex);
    bool is_ready = wait_for(ring, has_room, 0, milliseconds), is_over = ring->is_abandoned;
    size_t end = ring->start + ring->count;
    *bytes = ring->bytes + (end < ring->size ? end : end - ring->size);
    *count = end < ring->size ? ring->size - end : ring->size - ring->count;
    pthread_mutex_unlock(&ring->mutex);
    return is_over ? RING_OVER : is_ready ? RING_READY : RING_WAITING;
}

void byte_ring_put(ByteRing *ring, size_t count)
{
    pthread_mutex_lock(&ring->mutex);
    ring->count += count;
    pthread_cond_signal(&ring->change);
    pthread_mutex_unlock(&ring->mutex);
}

void byte_ring_close(ByteRing *ring)
{
    pthread_mutex_lock(&ring->mutex);
    ring->is_closed = true;
    pthread_cond_signal(&ring->change);
    pthread_mutex_unlock(&ring->mutex);
}

/* With the mutex held. */
static void hurry(ByteRing *ring)
{
    ring->is_urgent = ring->count > 0;
    pthread_cond_signal(&ring->change);
}

void byte_ring_hurry(ByteRing *ring)
{
    pthread_mutex_lock(&ring->mutex);
    hurry(ring);
    pthread_mutex_unlock(&ring->mutex);
}

RingStatus byte_ring_drain(ByteRing *ring, int milliseconds)
{
    pthread_mutex_lock(&ring->mutex);
    hurry(ring);
    bool is_ready = wait_for(ring, is_drained, 0, milliseconds), is_over = ring->is_abandoned;
    pthread_mutex_unlock(&ring->mutex);
    return is_over ? RING_OVER : is_ready ? RING_READY : RING_WAITING;
}

/* ---- the reader ---- */

RingStatus byte_ring_data(ByteRing *ring, size_t least, int milliseconds, const char **bytes, size_t *count)
{
    pthread_mutex_lock(&ring->mutex);
    bool is_ready = wait_for(ring, has_data, least, milliseconds);
    bool is_over = ring->is_abandoned || (ring->is_closed && ring->count == 0);
    size_t whole = ring->size - ring->start;
    *bytes = ring->bytes + ring->start;
    *count = ring->count < whole ? ring->count : whole;
    pthread_mutex_unlock(&ring->mutex);
    return is_over ? RING_OVER : is_ready ? RING_READY : RING_WAITING;
}

void byte_ring_take(ByteRing *ring, size_t count)
{
    pthread_mutex_lock(&ring->mutex);
    ring->start = (ring->start + count) % ring->size;
    ring->count -= count;
    ring->is_urgent = ring->is_urgent && ring->count > 0;
    pthread_cond_signal(&ring->change);
    pthread_mutex_unlock(&ring->mutex);
}

bool byte_ring_abandon(ByteRing *ring)
{
    pthread_mutex_lock(&ring->mutex);
    bool is_first = !ring->is_abandoned;
    ring->is_abandoned = true;
    pthread_cond_signal(&ring->change);
    pthread_mutex_unlock(&ring->mutex);
    return is_first;
}

bool byte_ring_is_abandoned(ByteRing *ring)
{
    pthread_mutex_lock(&ring->mutex);
    bool is_abandoned = ring->is_abandoned;
    pthread_mutex_unlock(&ring->mutex);
    return is_abandoned;
}

size_t byte_ring_count(ByteRing *ring)
{
    pthread_mutex_lock(&ring->mutex);
    size_t count = ring->count;
    pthread_mutex_unlock(&ring->mutex);
    return count;
}
