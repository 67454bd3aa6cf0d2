#define _POSIX_C_SOURCE 200809L
#include "driver/line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef RUNNEL_HAVE_LIBEDIT
#include <histedit.h>
#include <locale.h>
#include <wchar.h>
#endif

struct LineReader {
    char *buffer; /* the last line */
    size_t capacity;
    const char *prompt;
#ifdef RUNNEL_HAVE_LIBEDIT
    EditLine *edit; /* null: read plain lines */
    History *history;
    char *history_path; /* null: keep it in memory only */
    bool is_interrupted;
#endif
};

bool line_is_interactive(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static void cut_newline(char *text)
{
    text[strcspn(text, "\n")] = '\0';
}

static LineResult read_plain(LineReader *reader, const char **text)
{
    if (line_is_interactive()) {
        fputs(reader->prompt, stdout);
        fflush(stdout);
    }
    errno = 0;
    if (getline(&reader->buffer, &reader->capacity, stdin) < 0) {
        bool is_interrupted = errno == EINTR;
        clearerr(stdin);
        return is_interrupted ? LINE_INTERRUPTED : LINE_END;
    }
    cut_newline(reader->buffer);
    *text = reader->buffer;
    return LINE_READ;
}

#ifdef RUNNEL_HAVE_LIBEDIT
enum { HISTORY_LENGTH = 1000 };

static LineReader *reader_of(EditLine *edit)
{
    void *reader = NULL;
    el_get(edit, EL_CLIENTDATA, &reader);
    return reader;
}

static char *show_prompt(EditLine *edit)
{
    return (char *)reader_of(edit)->prompt;
}

/* Reads one character. libedit's own function goes on reading after Ctrl-C; this one gives the line up. */
static int read_character(EditLine *edit, wchar_t *character)
{
    mbstate_t state = {0};
    for (;;) {
        char byte;
        ssize_t count = read(STDIN_FILENO, &byte, 1);
        if (count <= 0) {
            reader_of(edit)->is_interrupted = count < 0 && errno == EINTR;
            return (int)count;
        }
        size_t used = mbrtowc(character, &byte, 1, &state);
        if (used == (size_t)-1) {
            state = (mbstate_t){0}; /* not a character of the user's encoding: skipped */
        } else if (used != (size_t)-2) {
            return 1;
        }
    }
}

static void open_history(LineReader *reader)
{
    HistEvent event;
    reader->history = history_init();
    if (reader->history == NULL)
        return;
    history(reader->history, &event, H_SETSIZE, HISTORY_LENGTH);
    history(reader->history, &event, H_SETUNIQUE, 1);
    el_set(reader->edit, EL_HIST, history, reader->history);
    const char *home = getenv("HOME");
    if (home == NULL)
        return;
    size_t size = strlen(home) + sizeof "/.runnel_history";
    reader->history_path = malloc(size);
    if (reader->history_path == NULL)
        return;
    snprintf(reader->history_path, size, "%s/.runnel_history", home);
    history(reader->history, &event, H_LOAD, reader->history_path);
}

static void open_edit(LineReader *reader)
{
    setlocale(LC_CTYPE, ""); /* characters wider than a byte; numbers stay as they are */
    reader->edit = el_init("runnel", stdin, stdout, stderr);
    if (reader->edit == NULL)
        return;
    el_set(reader->edit, EL_CLIENTDATA, reader);
    el_set(reader->edit, EL_PROMPT, show_prompt);
    el_set(reader->edit, EL_EDITOR, "emacs");
    el_set(reader->edit, EL_GETCFN, read_character);
    open_history(reader);
    el_source(reader->edit, NULL); /* the user's ~/.editrc */
}

static void close_edit(LineReader *reader)
{
    HistEvent event;
    if (reader->history != NULL) {
        if (reader->history_path != NULL)
            history(reader->history, &event, H_SAVE, reader->history_path);
        history_end(reader->history);
    }
    if (reader->edit != NULL)
        el_end(reader->edit);
    free(reader->history_path);
}

static LineResult read_edited(LineReader *reader, const char **text)
{
    int length = 0;
    reader->is_interrupted = false;
    const char *line = el_gets(reader->edit, &length);
    if (line == NULL || length <= 0) {
        el_reset(reader->edit);
        return reader->is_interrupted ? LINE_INTERRUPTED : LINE_END;
    }
    free(reader->buffer);
    reader->buffer = strdup(line);
    if (reader->buffer == NULL)
        return LINE_END;
    cut_newline(reader->buffer);
    HistEvent event;
    if (reader->history != NULL && *reader->buffer != '\0')
        history(reader->history, &event, H_ENTER, line);
    *text = reader->buffer;
    return LINE_READ;
}
#endif

LineReader *line_open(void)
{
    LineReader *reader = calloc(1, sizeof *reader);
#ifdef RUNNEL_HAVE_LIBEDIT
    if (reader != NULL && line_is_interactive())
        open_edit(reader);
#endif
    return reader;
}

void line_close(LineReader *reader)
{
#ifdef RUNNEL_HAVE_LIBEDIT
    close_edit(reader);
#endif
    free(reader->buffer);
    free(reader);
}

LineResult line_read(LineReader *reader, const char *prompt, const char **text)
{
    reader->prompt = prompt;
#ifdef RUNNEL_HAVE_LIBEDIT
    if (reader->edit != NULL)
        return read_edited(reader, text);
#endif
    return read_plain(reader, text);
}
