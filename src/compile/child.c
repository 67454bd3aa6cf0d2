#define _POSIX_C_SOURCE 200809L
#include "compile/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Nothing to read, everything written goes to the file. */
static int set_files(posix_spawn_file_actions_t *files, const char *output_path)
{
    int error = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, output_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(files, STDOUT_FILENO, STDERR_FILENO);
    return error;
}

/* A process group of its own, which can be ended as a whole, and signals as a program expects them, whatever ours are. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGCHLD);
    int error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (error == 0)
        error = posix_spawnattr_setpgroup(attributes, 0);
    if (error == 0)
        error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0)
        error = posix_spawnattr_setsigdefault(attributes, &usual);
    return error;
}

/* 0, or a reason of errno. */
static int start(const Child *child, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);
    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = set_files(&files, child->output_path);
        if (error == 0)
            error = set_attributes(&attributes);
        if (error == 0)
            error = posix_spawn(pid, child->path, &files, &attributes, child->words, child->environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

static ChildResult stop(pid_t pid)
{
    kill(-pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return (ChildResult){.end = CHILD_STOPPED};
}

/* A compiler takes a hundred of these, so asking costs nothing, and nobody waits longer for its end than he must. */
static void wait_a_millisecond(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

ChildResult child_run(const Child *child)
{
    pid_t pid;
    int error = start(child, &pid);
    if (error != 0)
        return (ChildResult){.end = CHILD_NOT_STARTED, .number = error};
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        if (stop_reason(child->stop) != STOP_NOT)
            return stop(pid);
        wait_a_millisecond();
    }
    if (ended < 0) /* our host ignores its children, so nobody knows: what it made will tell */
        return (ChildResult){.end = CHILD_EXITED};
    if (WIFEXITED(status))
        return (ChildResult){.end = CHILD_EXITED, .number = WEXITSTATUS(status)};
    return (ChildResult){.end = CHILD_KILLED, .number = WTERMSIG(status)};
}
