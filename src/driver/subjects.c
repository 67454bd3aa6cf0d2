#include "driver/subjects.h"

#include <string.h>

const Subject subjects[] = {
    {"arguments", "Arguments of a program",
     "The arguments of `main` are values in the language's notation, and the types of its parameters say what is expected:\n"
     "  3 -2.5 true  scalars\n"
     "  '\"text\"'  a string; quotes are the shell's, double quotes the language's\n"
     "  '[1, 2]'  a vector; '[(1, true)]' one of pairs\n"
     "  '{1, 2}'  a sequence\n"
     "  @PATH  what a file holds, such as @data.txt; sequences are read as they are needed\n"
     "  @-  what standard input holds\n"},
    {"status", "Exit status",
     "  0  all went well\n"
     "  1  the program failed while it ran, or its results could not be written\n"
     "  2  the program, or the command line, is wrong: nothing was run\n"
     "  130  it was ended by Ctrl-C\n"},
    {"environment", "Environment",
     "  NO_COLOR  if it is set and not empty, nothing is coloured; `--color` says otherwise\n"
     "  TERM  `dumb` or unset: a terminal that can do nothing, which gets no colours and no progress line\n"
     "  RUNNEL_CACHE  the directory where compiled code is kept; else it is $XDG_CACHE_HOME/runnel, or ~/.cache/runnel\n"
     "  CC  the C compiler, where one is used; else cc, gcc or clang, whichever is there\n"
     "  TMPDIR  where temporary files go; else /tmp\n"
     "  HOME  the interactive session keeps what was typed in ~/.runnel_history\n"},
    {"examples", "Examples",
     "An expression, and a program with arguments for its function `main`:\n"
     "\n"
     "    runnel eval 'sum({x * x : x in [1:11]})'\n"
     "    runnel run program.rnl 3 '[1.5, 2.5]'\n"
     "\n"
     "Numbers that come from elsewhere, one after the other; the program's parameter is a sequence, so they need not fit into memory:\n"
     "\n"
     "    produce | runnel run program.rnl @- --format i64\n"
     "\n"
     "What a program costs, and how long it takes:\n"
     "\n"
     "    runnel cost program.rnl 1000\n"
     "    runnel bench program.rnl 1000000\n"
     "\n"
     "What an operation does, what an error means, and the whole language:\n"
     "\n"
     "    runnel help partition\n"
     "    runnel help not-streamable\n"
     "    runnel help language | less\n"},
};

const size_t subject_count = sizeof subjects / sizeof *subjects;

const Subject *subject_find(const char *name)
{
    for (size_t i = 0; i < subject_count; i++)
        if (strcmp(subjects[i].name, name) == 0)
            return &subjects[i];
    return NULL;
}

const char *document_name(const LibraryFile *document)
{
    const char *slash = strrchr(document->path, '/');
    return slash == NULL ? document->path : slash + 1;
}

const LibraryFile *document_find(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < document_file_count; i++) {
        const char *known = document_name(&document_files[i]);
        if (strncmp(known, name, length) == 0 && (known[length] == '\0' || strcmp(known + length, ".md") == 0))
            return &document_files[i];
    }
    return NULL;
}

static const char *const error_names[] = {
#define ERROR(ID, code, phase) code,
#include "source/errors.def"
#undef ERROR
    NULL,
};

const char *error_next(const char *code)
{
    size_t next = 0;
    while (code != NULL && error_names[next] != NULL && strcmp(error_names[next++], code) != 0)
        ;
    return error_names[next];
}

/* The line after `line`; null at the end. */
static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end == NULL || end[1] == '\0' ? NULL : end + 1;
}

static bool is_heading(const char *line)
{
    return strncmp(line, "# ", 2) == 0 || strncmp(line, "## ", 3) == 0;
}

static bool is_heading_of(const char *line, const char *code)
{
    size_t length = strlen(code);
    return strncmp(line, "## ", 3) == 0 && strncmp(line + 3, code, length) == 0 && line[3 + length] == '\n';
}

const char *error_explanation(const char *code, size_t *length)
{
    const LibraryFile *document = document_find("errors");
    const char *start = document == NULL ? NULL : document->text;
    while (start != NULL && !is_heading_of(start, code))
        start = next_line(start);
    if (start == NULL)
        return NULL;
    const char *end = next_line(start);
    while (end != NULL && !is_heading(end))
        end = next_line(end);
    *length = end == NULL ? strlen(start) : (size_t)(end - start);
    while (*length > 1 && start[*length - 2] == '\n')
        --*length;
    return start;
}
