/* A million numbers through a pipe: the answer, and the most memory that the process held. Ends with 77 under a sanitizer, which holds much more. */
#define _DEFAULT_SOURCE
#include "runnel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 1000000, BATCH = 1000, MEMORY_MAX_KIB = 32 * 1024, SKIPPED = 77 };

static const char program[] = "function main(xs : {int}) = ({x + 1 : x in xs}, sum({x : x in xs}))";

/* What is written is counted, and its end is kept. */
typedef struct Output {
    size_t length;
    char end[64];
} Output;

static void keep_end(void *context, const char *bytes, size_t length)
{
    Output *output = context;
    size_t room = sizeof output->end - 1, kept = length < room ? length : room;
    memmove(output->end, output->end + kept, room - kept);
    memcpy(output->end + room - kept, bytes + length - kept, kept);
    output->length += length;
}

static void write_numbers(int descriptor)
{
    int64_t numbers[BATCH];
    for (int64_t i = 0; i < COUNT; i += BATCH) {
        for (int64_t k = 0; k < BATCH; k++)
            numbers[k] = i + k;
        if (write(descriptor, numbers, sizeof numbers) != (ssize_t)sizeof numbers)
            _exit(1);
    }
    _exit(0);
}

/* Makes standard input the end of a pipe that another process writes to. */
static int open_pipe(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        write_numbers(ends[1]);
    }
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    return child;
}

static int run(uint64_t chunk, Output *output)
{
    *output = (Output){0};
    pid_t child = open_pipe();
    RunnelOptions options = {.engine = RUNNEL_ENGINE_VM,
                             .write = keep_end,
                             .write_context = output,
                             .chunk = chunk,
                             .file_format = "i64"};
    RunnelSession *session = runnel_open(&options);
    const char *argument = "@-";
    RunnelStatus status = runnel_load_text(session, "test", program, strlen(program), RUNNEL_DIALECT_RNL);
    if (status == RUNNEL_OK)
        status = runnel_run(session, &argument, 1);
    fputs(runnel_messages(session), stderr);
    runnel_close(session);
    waitpid(child, NULL, 0);
    return status != RUNNEL_OK;
}

int main(void)
{
    static const uint64_t chunks[] = {0, 7, 1000};
    static const char end[] = " 999999, 1000000}, 499999500000)\n";
    const char *mode = getenv("TEST_MODE");
    int failures = 0;
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        Output output;
        failures += run(chunks[i], &output);
        const char *found = output.end + sizeof output.end - sizeof end;
        if (strcmp(found, end) != 0 || output.length != 7888913) {
            fprintf(stderr, "chunk %d: %zu bytes, which end in %s\n", (int)chunks[i], output.length, found);
            failures++;
        }
    }
    if (mode != NULL && (strcmp(mode, "asan") == 0 || strcmp(mode, "tsan") == 0))
        return failures == 0 ? SKIPPED : 1;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (usage.ru_maxrss > MEMORY_MAX_KIB) {
        fprintf(stderr, "%ld KiB were held\n", usage.ru_maxrss);
        failures++;
    }
    return failures == 0 ? 0 : 1;
}
