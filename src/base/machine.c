#define _GNU_SOURCE /* pthread_getaffinity_np, sched_getaffinity, sched_getcpu */
#include "base/machine.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Reads up to two numbers from a file of the system; how many there were. A limit of a control group that is not set reads "max". */
static int read_numbers(const char *path, double numbers[2])
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    int count = fscanf(file, "%lf %lf", &numbers[0], &numbers[1]);
    fclose(file);
    return count < 0 ? 0 : count;
}

static uint32_t allowed_processors(void)
{
#ifdef CPU_COUNT
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (uint32_t)CPU_COUNT(&set);
#endif
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

uint32_t machine_processors(void)
{
    uint32_t allowed = allowed_processors();
    double quota[2]; /* microseconds, of a period */
    if (read_numbers("/sys/fs/cgroup/cpu.max", quota) != 2 || !(quota[0] > 0) || !(quota[1] > 0) ||
        quota[0] >= quota[1] * allowed)
        return allowed;
    return quota[0] < quota[1] ? 1 : (uint32_t)(quota[0] / quota[1]);
}

uint32_t machine_processor(void)
{
#ifdef CPU_COUNT
    int processor = sched_getcpu();
    return processor < 0 ? UINT32_MAX : (uint32_t)processor;
#else
    return UINT32_MAX;
#endif
}

void machine_leave_processor(pthread_t thread, uint32_t processor)
{
#ifdef CPU_COUNT
    cpu_set_t allowed, others;
    if (processor >= CPU_SETSIZE || pthread_getaffinity_np(thread, sizeof allowed, &allowed) != 0)
        return;
    others = allowed;
    CPU_CLR(processor, &others);
    if (CPU_COUNT(&others) > 0 && pthread_setaffinity_np(thread, sizeof others, &others) == 0)
        pthread_setaffinity_np(thread, sizeof allowed, &allowed);
#else
    (void)thread, (void)processor;
#endif
}

size_t machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);
    size_t memory = pages > 0 && page_size > 0 ? (size_t)pages * (size_t)page_size : SIZE_MAX;
    double limit[2];
    bool is_limited = read_numbers("/sys/fs/cgroup/memory.max", limit) >= 1 && limit[0] > 0 && limit[0] < (double)memory;
    return is_limited ? (size_t)limit[0] : memory;
}

size_t machine_peak_memory(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (size_t)usage.ru_maxrss * 1024 : 0;
}

size_t machine_held_memory(void)
{
    double pages[2]; /* of addresses, and of memory behind them */
    long page_size = sysconf(_SC_PAGESIZE);
    return page_size > 0 && read_numbers("/proc/self/statm", pages) == 2 ? (size_t)pages[1] * (size_t)page_size : machine_peak_memory();
}

uint64_t machine_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}
