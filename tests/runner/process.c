#define _POSIX_C_SOURCE 200809L
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIME_LIMIT = 60, OUTPUT_LIMIT = 64 << 20, SPAWN_FAILED = 127 };

/* The command under way; 0 for none. */
static volatile sig_atomic_t running;

static void end_both(int signal_number)
{
    if (running != 0)
        kill(-(pid_t)running, SIGKILL);
    _exit(128 + signal_number);
}

void process_share_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = end_both};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

double process_time_limit(void)
{
    const char *factor = getenv("TEST_TIME_FACTOR");
    return TIME_LIMIT * (factor == NULL ? 1.0 : atof(factor));
}

double process_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The child's side: never returns. */
static _Noreturn void become(const Lines *words, const char *directory, int out, int err)
{
    setpgid(0, 0);
    int in = open("/dev/null", O_RDONLY);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    char **argv = checked_alloc((words->count + 1) * sizeof *argv);
    memcpy(argv, words->items, words->count * sizeof *argv);
    if (directory == NULL || chdir(directory) == 0)
        execvp(argv[0], argv);
    fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
    _exit(SPAWN_FAILED);
}

/* Reads what there is; closes the descriptor and forgets it at the end. */
static void drain(struct pollfd *source, Buffer *into)
{
    char chunk[65536];
    ssize_t count = read(source->fd, chunk, sizeof chunk);
    if (count > 0) {
        buffer_add(into, chunk, (size_t)count);
    } else if (count == 0 || errno != EINTR) {
        close(source->fd);
        source->fd = -1;
    }
}

/* Collects output until both pipes are closed or the time is over. */
static void collect(int out, int err, double deadline, Outcome *outcome)
{
    struct pollfd sources[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
    while (sources[0].fd >= 0 || sources[1].fd >= 0) {
        double rest = deadline - process_now();
        if (rest <= 0 || outcome->out.length + outcome->err.length > OUTPUT_LIMIT)
            break;
        poll(sources, 2, (int)(rest * 1000) + 1);
        if (sources[0].fd >= 0 && sources[0].revents != 0)
            drain(&sources[0], &outcome->out);
        if (sources[1].fd >= 0 && sources[1].revents != 0)
            drain(&sources[1], &outcome->err);
    }
    for (int i = 0; i < 2; i++)
        if (sources[i].fd >= 0)
            close(sources[i].fd);
}

/* A process may close its output and go on: waits for its end until the deadline, then ends it, and in
 * any case whatever it left running in its group. */
static void await(pid_t child, double deadline, Outcome *outcome)
{
    int status = 0;
    struct timespec pause = {.tv_nsec = 2000000};
    pid_t ended = waitpid(child, &status, WNOHANG);
    while (ended == 0 && process_now() < deadline && outcome->out.length + outcome->err.length <= OUTPUT_LIMIT) {
        nanosleep(&pause, NULL);
        ended = waitpid(child, &status, WNOHANG);
    }
    outcome->is_out_of_time = ended == 0;
    kill(-child, SIGKILL);
    if (ended == 0)
        waitpid(child, &status, 0);
    outcome->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void process_run(const Lines *words, const char *directory, Outcome *outcome)
{
    process_run_within(process_time_limit(), words, directory, outcome);
}

void process_run_within(double seconds, const Lines *words, const char *directory, Outcome *outcome)
{
    *outcome = (Outcome){.status = SPAWN_FAILED};
    int out[2], err[2];
    if (pipe(out) != 0 || pipe(err) != 0)
        return;
    for (int i = 0; i < 2; i++) {
        fcntl(out[i], F_SETFD, FD_CLOEXEC);
        fcntl(err[i], F_SETFD, FD_CLOEXEC);
    }
    double deadline = process_now() + seconds;
    pid_t child = fork();
    if (child == 0)
        become(words, directory, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    if (child > 0) {
        setpgid(child, child); /* both sides set it, so that neither has to wait for the other */
        running = (sig_atomic_t)child;
        collect(out[0], err[0], deadline, outcome);
        await(child, deadline, outcome);
        running = 0;
    }
}

void outcome_free(Outcome *outcome)
{
    buffer_free(&outcome->out);
    buffer_free(&outcome->err);
}
