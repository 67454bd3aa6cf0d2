/* Memory of the C programs. Large blocks are in large pages where the system has them, and stay with the process when they are given back, for
 * the next run to take: so no run but the first pays for pages. (malloc keeps blocks too, but does not find aligned ones again.) */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include <stddef.h>

/* Room for that many bytes, aligned for any vector instruction; ends the process if there is none. */
void *allocate(size_t bytes);

/* Gives back what allocate gave; null is allowed. */
void release(void *memory);

_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
