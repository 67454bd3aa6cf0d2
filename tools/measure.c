/* measure COMMAND [ARG...]: runs a command, then says on standard error how long it took and the most memory it held.
 * Ends with the command's status. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int count, char **arguments)
{
    if (count < 2) {
        fputs("usage: measure COMMAND [ARG...]\n", stderr);
        return 2;
    }
    double start = now();
    pid_t child = fork();
    if (child == 0) {
        execvp(arguments[1], arguments + 1);
        perror(arguments[1]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
        perror(arguments[1]);
        return 127;
    }
    double seconds = now() - start;
    fprintf(stderr, "%.3f s, peak memory %.1f MB\n", seconds, (double)usage.ru_maxrss / 1024);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
