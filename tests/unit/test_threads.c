/* Sessions share nothing: threads of one process compile and run programs at the same time. Under the thread
 * sanitizer this finds state that is shared after all. */
#define _POSIX_C_SOURCE 200809L
#include "runnel.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 2, ROUNDS = 12 };

typedef struct Program {
    const char *text;
    RunnelDialect dialect;
    RunnelStatus status;
    const char *output;
    const char *message; /* occurs in the messages; "" for none */
} Program;

static const Program programs[] = {
    {"sum({x * x : x in [1:11]})", RUNNEL_DIALECT_RNL, RUNNEL_OK, "385\n", ""},
    {"{(k, sum(v)) : (k, v) in [(2,10),(1,5),(2,7)] group by k}", RUNNEL_DIALECT_RNL, RUNNEL_OK,
     "[(1, 5), (2, 17)]\n", ""},
    {"function f(n : int) : int = if n < 2 then n else f(n - 1) + f(n - 2)\n{f(i) : i in [0:10]};", RUNNEL_DIALECT_RNL,
     RUNNEL_OK, "[0, 1, 1, 2, 3, 5, 8, 13, 21, 34]\n", ""},
    {"sum({x * x : x in [1:11]});", RUNNEL_DIALECT_NESL, RUNNEL_OK, "it = 385 : int\n", ""},
    {"[1, 2, 3][5]", RUNNEL_DIALECT_RNL, RUNNEL_RUN_ERROR, "", "error[index-range]"},
    {"1 + true", RUNNEL_DIALECT_RNL, RUNNEL_COMPILE_ERROR, "", "error["},
};

typedef struct Output {
    char bytes[256];
    size_t length;
} Output;

static void keep_output(void *context, const char *bytes, size_t length)
{
    Output *output = context;
    size_t room = sizeof output->bytes - 1 - output->length;
    size_t kept = length < room ? length : room;
    memcpy(output->bytes + output->length, bytes, kept);
    output->length += kept;
}

/* 0 when the program does what is expected. */
static int try_program(const Program *program)
{
    Output output = {0};
    RunnelSession *session = runnel_open(&(RunnelOptions){.write = keep_output, .write_context = &output});
    if (session == NULL)
        return 1;
    RunnelStatus status = runnel_load_text(session, "test", program->text, strlen(program->text), program->dialect);
    if (status == RUNNEL_OK)
        status = runnel_run(session, NULL, 0);
    int is_good = status == program->status && strcmp(output.bytes, program->output) == 0 &&
                  strstr(runnel_messages(session), program->message) != NULL;
    if (!is_good)
        fprintf(stderr, "%s\n  status %d, output: %s\n  messages: %s\n", program->text, (int)status, output.bytes,
                runnel_messages(session));
    runnel_close(session);
    return !is_good;
}

static void *work(void *failures)
{
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
            *(int *)failures += try_program(&programs[i]);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int failures[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, &failures[i]) != 0)
            return 1;
    int all_failures = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        all_failures += failures[i];
    }
    return all_failures > 0;
}
