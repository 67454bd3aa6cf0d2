#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include "isolate.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void pause_briefly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
}

static _Noreturn void cannot(const char *what)
{
    perror(what);
    exit(3);
}

void *shared_alloc(size_t size)
{
    void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        cannot("generate: shared memory");
    return block;
}

/* A program that wants more memory than this is given up, as one that takes too long. Sanitizers need all addresses. */
static void limit_memory(void)
{
    const rlim_t limit = (rlim_t)2 << 30;
    const char *mode = getenv("TEST_MODE");
    if (mode == NULL || (strcmp(mode, "asan") != 0 && strcmp(mode, "tsan") != 0))
        setrlimit(RLIMIT_AS, &(struct rlimit){.rlim_cur = limit, .rlim_max = limit});
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
}

Child child_start(void (*work)(void *context), void *context)
{
    FILE *messages = tmpfile();
    if (messages == NULL)
        cannot("generate: a temporary file");
    Child child = {.messages = dup(fileno(messages))};
    fclose(messages);
    fflush(NULL);
    child.process = fork();
    if (child.process < 0)
        cannot("generate: a new process");
    if (child.process == 0) {
        dup2(child.messages, STDERR_FILENO);
        limit_memory();
        work(context);
        fflush(stdout);
        _exit(0);
    }
    return child;
}

/* The first line that tells what went wrong, without numbers: they differ from run to run. */
static void describe_crash(const Child *child, int status, Verdict *verdict)
{
    char *text = verdict->detail;
    ssize_t length = pread(child->messages, text, sizeof verdict->detail - 1, 0);
    text[length < 0 ? 0 : length] = '\0';
    const char *line = strstr(text, "ERROR:");
    line = line == NULL ? text : line;
    int count = snprintf(verdict->signature, sizeof verdict->signature, "%s %d: ", WIFSIGNALED(status) ? "signal" : "status",
                         WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    char *out = verdict->signature + count;
    for (; *line != '\0' && *line != '\n' && out < verdict->signature + sizeof verdict->signature - 1; line++)
        if (!isdigit((unsigned char)*line))
            *out++ = *line;
    char *address = strstr(verdict->signature, " on ");
    *(address != NULL ? address : out) = '\0';
}

bool child_has_ended(Child *child, Verdict *verdict)
{
    int status;
    if (waitpid(child->process, &status, WNOHANG) != child->process)
        return false;
    *verdict = (Verdict){.kind = VERDICT_AGREES};
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        verdict->kind = VERDICT_CRASHES;
        describe_crash(child, status, verdict);
    }
    close(child->messages);
    return true;
}

void child_kill(Child *child)
{
    kill(child->process, SIGKILL);
    waitpid(child->process, NULL, 0);
    close(child->messages);
}

typedef struct Task {
    const Given *given;
    Verdict *verdict;
} Task;

static void compare_work(void *context)
{
    Task *task = context;
    compare_program(task->given, NULL, task->verdict);
}

void compare_isolated(const Given *given, double seconds, Verdict *verdict)
{
    static Verdict *shared;
    if (shared == NULL)
        shared = shared_alloc(sizeof *shared);
    Task task = {.given = given, .verdict = shared};
    double deadline = now() + seconds;
    Child child = child_start(compare_work, &task);
    while (!child_has_ended(&child, verdict)) {
        if (now() > deadline) {
            child_kill(&child);
            *verdict = (Verdict){.kind = VERDICT_HANGS, .signature = "hangs"};
            return;
        }
        pause_briefly();
    }
    if (verdict->kind == VERDICT_AGREES)
        *verdict = *shared;
}
