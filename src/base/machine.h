/* What this process may use of the machine: less than there is, where a container or an administrator says so. */
#ifndef RUNNEL_BASE_MACHINE_H
#define RUNNEL_BASE_MACHINE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

uint32_t machine_processors(void); /* at least 1 */
size_t machine_memory(void);       /* in bytes; SIZE_MAX if nobody knows */
size_t machine_peak_memory(void);  /* bytes of it that this process had at once, so far */
size_t machine_held_memory(void);  /* that it has now, as far as the system tells; else the former */
/* The one that this thread runs on now; UINT32_MAX if nobody knows. */
uint32_t machine_processor(void);
/* Has a thread go on on another one, if it may; the system may move it back later. */
void machine_leave_processor(pthread_t thread, uint32_t processor);
/* Nanoseconds on a clock that only goes forward. */
uint64_t machine_clock(void);

#endif
