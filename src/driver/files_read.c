/* The system knows where each descriptor stands, whoever reads from it; asked by name, so that the descriptors themselves are left to those who use them. Without
 * /proc nothing is known. */
#define _POSIX_C_SOURCE 200809L
#include "driver/files_read.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct OpenFile {
    int descriptor;
    struct stat status;
    long long position;
} OpenFile;

/* False if it is not open for reading only, or not open any more. */
static bool examine(int descriptor, OpenFile *file)
{
    char path[64];
    unsigned flags;
    file->descriptor = descriptor;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", descriptor);
    FILE *info = fopen(path, "r");
    if (info == NULL)
        return false;
    bool is_known = fscanf(info, "pos: %lld flags: %o", &file->position, &flags) == 2;
    fclose(info);
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return is_known && (flags & O_ACCMODE) == O_RDONLY && stat(path, &file->status) == 0;
}

static void visit_files(void (*visit)(const OpenFile *file, void *context), void *context)
{
    DIR *directory = opendir("/proc/self/fd");
    OpenFile file;
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;)
        if (isdigit((unsigned char)*entry->d_name) && examine(atoi(entry->d_name), &file))
            visit(&file, context);
    if (directory != NULL)
        closedir(directory);
}

static void note_further(const OpenFile *file, void *context)
{
    bool *is_there = context;
    *is_there |= file->descriptor > STDERR_FILENO && (S_ISREG(file->status.st_mode) || S_ISFIFO(file->status.st_mode));
}

bool files_are_open(void)
{
    bool is_there = false;
    visit_files(note_further, &is_there);
    return is_there;
}

typedef struct Bytes {
    double read, all;
} Bytes;

static void add_bytes(const OpenFile *file, void *context)
{
    Bytes *bytes = context;
    if (!S_ISREG(file->status.st_mode))
        return;
    bytes->read += (double)file->position;
    bytes->all += (double)file->status.st_size;
}

bool files_read_part(double *part)
{
    Bytes bytes = {0};
    visit_files(add_bytes, &bytes);
    *part = bytes.read > 0 ? bytes.read / bytes.all : 0;
    return bytes.read > 0 && bytes.read < bytes.all;
}
