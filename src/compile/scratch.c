#define _XOPEN_SOURCE 700 /* mkdtemp, nftw */
#include "compile/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Room for the longest name of a file in it. */
enum { NAME_ROOM = 32, OPEN_MAX_FILES = 8, REMOVE_TRIES = 20 };

static const char template[] = "/runnel-XXXXXX";

static void name_file(char path[PATH_SIZE], const char *directory, const char *name)
{
    snprintf(path, PATH_SIZE, "%.*s/%s", PATH_SIZE - NAME_ROOM, directory, name);
}

bool scratch_open(Scratch *scratch, Problem *problem)
{
    const char *above = getenv("TMPDIR");
    if (above == NULL || *above == '\0')
        above = "/tmp";
    if (strlen(above) + sizeof template > PATH_SIZE - NAME_ROOM)
        return problem_set(problem, "the name of the directory for temporary files, $TMPDIR, is too long");
    strcpy(scratch->directory, above);
    strcat(scratch->directory, template);
    if (mkdtemp(scratch->directory) == NULL)
        return problem_set(problem, "no directory can be made in %s: %s", above, strerror(errno));
    name_file(scratch->text, scratch->directory, "kernel.c");
    name_file(scratch->object, scratch->directory, "kernel.so");
    name_file(scratch->output, scratch->directory, "output");
    return true;
}

bool scratch_write_text(const Scratch *scratch, const char *text, size_t length, Problem *problem)
{
    int file = open(scratch->text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool is_good = file >= 0;
    while (is_good && length > 0) {
        ssize_t count = write(file, text, length);
        is_good = count >= 0 || errno == EINTR;
        if (count > 0) {
            text += count;
            length -= (size_t)count;
        }
    }
    int error = errno;
    if (file >= 0 && close(file) != 0 && is_good) {
        is_good = false;
        error = errno;
    }
    return is_good || problem_set(problem, "%s cannot be written: %s", scratch->text, strerror(error));
}

size_t scratch_read_output(const Scratch *scratch, char *bytes, size_t size)
{
    FILE *file = fopen(scratch->output, "rbe");
    size_t length = file == NULL ? 0 : fread(bytes, 1, size - 1, file);
    if (file != NULL)
        fclose(file);
    bytes[length] = '\0';
    return length;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    remove(path);
    return 0;
}

/* What the compiler started and we killed may still be about to make a file, for a moment. */
void scratch_close(const Scratch *scratch)
{
    for (unsigned i = 0; i < REMOVE_TRIES; i++) {
        nftw(scratch->directory, remove_one, OPEN_MAX_FILES, FTW_DEPTH | FTW_PHYS);
        if (access(scratch->directory, F_OK) != 0)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}
