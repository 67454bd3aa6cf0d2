/* replay FILE|DIRECTORY...: gives files to the fuzz target without libFuzzer, so that what was once found stays found.
 * Each name is shown before its file is tried: the last one shown is the one that failed. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path, size_t size)
{
    fprintf(stderr, "%s\n", path);
    /* Exactly as large as the file, so that the address sanitizer sees a read beyond its end. */
    uint8_t *data = malloc(size == 0 ? 1 : size);
    FILE *file = fopen(path, "rb");
    int is_read = data != NULL && file != NULL && fread(data, 1, size, file) == size;
    if (is_read)
        LLVMFuzzerTestOneInput(data, size);
    else
        perror(path);
    if (file != NULL)
        fclose(file);
    free(data);
    return is_read ? 0 : 1;
}

static int replay(const char *path);

static int replay_directory(const char *path)
{
    int failures = 0;
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        char inner[4096];
        if (entry->d_name[0] != '.' &&
            snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) < (int)sizeof inner)
            failures += replay(inner);
    }
    if (directory != NULL)
        closedir(directory);
    return failures;
}

static int replay(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        perror(path);
        return 1;
    }
    return S_ISDIR(status.st_mode) ? replay_directory(path) : replay_file(path, (size_t)status.st_size);
}

int main(int count, char **paths)
{
    int failures = 0;
    for (int i = 1; i < count; i++)
        failures += replay(paths[i]);
    return failures > 0;
}
