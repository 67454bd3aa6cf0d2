/* embed_headers NAME= FILE... NAME= FILE...: writes to standard output a C file with a zero-terminated text for each NAME, the contents of
 * its files one after the other (see src/kernel/preamble.h). Lines that include are left out, except in the first file of all: what a file
 * needs stands before it. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_LENGTH = 1000, BYTES_PER_LINE = 24 };

static _Noreturn void fail(const char *path)
{
    fprintf(stderr, "embed_headers: %s: %s\n", path, strerror(errno));
    exit(1);
}

static void write_bytes(const char *bytes)
{
    for (size_t i = 0; bytes[i] != '\0'; i++)
        printf("%s%d,", i % BYTES_PER_LINE == 0 ? "\n    " : "", (signed char)bytes[i]);
}

static void write_file(const char *path, bool with_includes)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail(path);
    printf("\n    /* %s */", path);
    for (char line[LINE_MAX_LENGTH]; fgets(line, sizeof line, file) != NULL;)
        if (with_includes || strncmp(line, "#include", 8) != 0)
            write_bytes(line);
    if (ferror(file))
        fail(path);
    fclose(file);
}

int main(int count, char **arguments)
{
    const char *end = ""; /* of the text begun */
    bool is_first = true;
    printf("/* Made by tools/embed_headers. */\n#include \"kernel/preamble_texts.h\"\n");
    for (int i = 1; i < count; i++) {
        size_t length = strlen(arguments[i]);
        if (arguments[i][length - 1] == '=') {
            printf("%s\nconst char %.*s[] = {", end, (int)length - 1, arguments[i]);
            end = "\n    0};\n";
        } else {
            write_file(arguments[i], is_first);
            is_first = false;
        }
    }
    printf("%s", end);
    if (fflush(stdout) != 0)
        fail("standard output");
    return 0;
}
