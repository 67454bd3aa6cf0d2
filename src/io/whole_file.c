#define _XOPEN_SOURCE 700 /* realpath */
#include "io/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUFFIX_SIZE = 64, TRIES = 100 };

/* ---- what is replaced ---- */

/* The name of what is to be replaced, with links followed, and the permissions that it keeps. False if it must be written in its place. */
static bool find_target(const char *path, char resolved[PATH_MAX], mode_t *mode)
{
    struct stat status;
    *mode = 0;
    if (lstat(path, &status) != 0 && errno == ENOENT && strlen(path) < PATH_MAX) {
        strcpy(resolved, path);
        return true;
    }
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink > 1 || status.st_uid != geteuid())
        return false;
    *mode = status.st_mode & 07777;
    return access(path, W_OK) == 0 && realpath(path, resolved) != NULL;
}

/* ---- names ---- */

static void keep_names(WholeFile *whole, Memory *memory, const char *path)
{
    size_t length = strlen(path) + 1;
    whole->size = 2 * length + SUFFIX_SIZE;
    whole->path = memory_alloc(memory, whole->size);
    whole->other = whole->path + length;
    memcpy(whole->path, path, length);
}

static void drop_names(WholeFile *whole, Memory *memory)
{
    memory_free(memory, whole->path, whole->size);
    whole->path = NULL;
}

/* Opens a new file beside the one that it will replace. */
static FILE *open_other(WholeFile *whole, mode_t mode)
{
    int descriptor = -1;
    size_t room = whole->size - (size_t)(whole->other - whole->path);
    for (unsigned i = 0; i < TRIES && descriptor < 0; i++) {
        snprintf(whole->other, room, "%s.%ld-%u.part", whole->path, (long)getpid(), i);
        descriptor = open(whole->other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST)
            return NULL;
    }
    if (descriptor < 0)
        return NULL;
    if (mode != 0)
        fchmod(descriptor, mode);
    FILE *file = fdopen(descriptor, "wb");
    if (file == NULL) {
        close(descriptor);
        unlink(whole->other);
    }
    return file;
}

/* ---- the file ---- */

bool whole_file_open(WholeFile *whole, Memory *memory, const char *path)
{
    char resolved[PATH_MAX];
    mode_t mode;
    *whole = (WholeFile){0};
    if (find_target(path, resolved, &mode)) {
        keep_names(whole, memory, resolved);
        whole->file = open_other(whole, mode);
        if (whole->file == NULL)
            drop_names(whole, memory);
    }
    if (whole->file == NULL)
        whole->file = fopen(path, "wb");
    return whole->file != NULL;
}

bool whole_file_finish(WholeFile *whole, Memory *memory)
{
    bool is_good = fclose(whole->file) == 0;
    whole->file = NULL;
    if (whole->path == NULL)
        return is_good;
    is_good = is_good && rename(whole->other, whole->path) == 0;
    int error = errno;
    if (!is_good)
        unlink(whole->other);
    drop_names(whole, memory);
    errno = error;
    return is_good;
}

void whole_file_abandon(WholeFile *whole, Memory *memory)
{
    fclose(whole->file);
    whole->file = NULL;
    if (whole->path != NULL)
        unlink(whole->other);
    drop_names(whole, memory);
}
