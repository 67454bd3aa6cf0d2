/* embed NAME FILE...: writes to standard output a C file that holds the files' contents as a table NAME_files (see
 * src/front/library.h), so that the program needs no files beside it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_PER_LINE = 24 };

static _Noreturn void fail(const char *path)
{
    fprintf(stderr, "embed: %s: %s\n", path, strerror(errno));
    exit(1);
}

/* Writes the bytes of one file as an array and returns how many there are. */
static size_t write_array(int index, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail(path);
    printf("/* %s */\nstatic const char text_%d[] = {", path, index);
    size_t length = 0;
    for (int byte; (byte = getc(file)) != EOF; length++)
        printf("%s%d,", length % BYTES_PER_LINE == 0 ? "\n    " : "", (signed char)byte);
    if (ferror(file))
        fail(path);
    fclose(file);
    printf("\n    0};\n\n");
    return length;
}

int main(int count, char **arguments)
{
    if (count < 2) {
        fputs("embed: the name of the table is missing\n", stderr);
        return 1;
    }
    const char *name = arguments[1];
    char **paths = arguments + 1;
    count--;
    size_t *lengths = calloc((size_t)count, sizeof *lengths);
    if (lengths == NULL)
        fail("memory");
    printf("/* Made by tools/embed. */\n#include \"front/library.h\"\n\n");
    for (int i = 1; i < count; i++)
        lengths[i] = write_array(i, paths[i]);
    printf("const LibraryFile %s_files[] = {\n", name);
    for (int i = 1; i < count; i++)
        printf("    {\"%s\", text_%d, %zu},\n", paths[i], i, lengths[i]);
    printf("    {0} /* C has no empty arrays */\n};\n\nconst size_t %s_file_count = %d;\n", name, count - 1);
    free(lengths);
    if (fflush(stdout) != 0)
        fail("standard output");
    return 0;
}
