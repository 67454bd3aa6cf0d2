#define _POSIX_C_SOURCE 200809L
#include "driver/progress_line.h"

#include "base/machine.h"
#include "base/thread.h"
#include "driver/files_read.h"
#include "driver/terminal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Seconds until the first line, and milliseconds between looks; before so much (of 1) is done, nobody can tell how long the rest takes. */
static const double first_after = 1;
enum { LOOK_AFTER = 250 };
static const double part_least = 0.002;

static struct {
    RunnelSession *session;
    uint64_t start;   /* of the run, by the clock */
    bool is_running;  /* the thread is, and the rest belongs to both, guarded by the mutex */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t change;
    bool has_waited;  /* for input; the run's own */
    bool is_over;
    bool is_drawn;    /* there is a line on the terminal */
    bool is_in_way;   /* others have begun a line there, or want no other */
    bool is_away;     /* ... until the end */
    double rate;      /* elements a second, lately */
    uint64_t last_elements, last_time;
} progress;

/* ---- numbers ---- */

/* `9999`, `12.3 k`, `1.53 G` */
static void format_scaled(double value, char *text, size_t size)
{
    static const char units[] = "kMGTPE";
    if (value < 10000) {
        snprintf(text, size, "%.0f", value);
        return;
    }
    size_t unit = 0;
    for (value /= 1000; value >= 999.5 && units[unit + 1] != '\0'; unit++)
        value /= 1000;
    snprintf(text, size, "%.*f %c", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
}

/* `12.3 s`, `4 min 05 s`, `2 h 07 min` */
static void format_time(double seconds, char *text, size_t size)
{
    uint64_t whole = (uint64_t)(seconds + 0.5);
    if (seconds < 99.95)
        snprintf(text, size, "%.1f s", seconds);
    else if (whole < 3600)
        snprintf(text, size, "%d min %02d s", (int)(whole / 60), (int)(whole % 60));
    else
        snprintf(text, size, "%llu h %02d min", (unsigned long long)(whole / 3600), (int)(whole / 60 % 60));
}

/* Adds to a list. */
static void add(char *text, size_t size, const char *before, const char *item, const char *after)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s%s%s", used > 0 ? ", " : "", before, item, after);
}

static double seconds_since(uint64_t start)
{
    return (double)(machine_clock() - start) / 1e9;
}

/* ---- what there is to say ---- */

/* The part that is done: of the files read, or else of the elements. */
static bool part_done(RunnelProgress run, double *part)
{
    if (files_read_part(part))
        return true;
    *part = run.total > 0 ? (double)run.elements / (double)run.total : 0;
    return run.total > 0 && run.elements < run.total;
}

static void add_elements(RunnelProgress run, char *text, size_t size)
{
    char number[32];
    format_scaled((double)run.elements, number, sizeof number);
    if (run.elements > 0)
        add(text, size, "", number, " elements");
}

static void add_part(RunnelProgress run, char *text, size_t size, double elapsed, bool with_rest)
{
    char number[32];
    double part;
    if (!part_done(run, &part))
        return;
    snprintf(number, sizeof number, "%.*f", part < 0.1 ? 1 : 0, part * 100);
    add(text, size, "", number, " %");
    format_time(elapsed * (1 - part) / part, number, sizeof number);
    if (with_rest && part >= part_least)
        add(text, size, "", number, " left");
}

static void add_memory(size_t bytes, char *text, size_t size)
{
    char number[32];
    snprintf(number, sizeof number, "%.1f", (double)bytes / (1 << 20));
    add(text, size, "", number, " MiB");
}

/* The rate changes slowly, so that it can be read. */
static void follow_rate(uint64_t elements)
{
    uint64_t now = machine_clock();
    double seconds = (double)(now - progress.last_time) / 1e9;
    double rate = elements >= progress.last_elements ? (double)(elements - progress.last_elements) / seconds : 0;
    progress.rate = progress.last_time == progress.start ? rate : 0.8 * progress.rate + 0.2 * rate;
    progress.last_elements = elements;
    progress.last_time = now;
}

static void describe(RunnelProgress run, double elapsed, char *text, size_t size)
{
    char number[32];
    format_time(elapsed, number, sizeof number);
    add(text, size, "", number, "");
    add_elements(run, text, size);
    format_scaled(progress.rate, number, sizeof number);
    if (run.elements > 0)
        add(text, size, "", number, "/s");
    add_part(run, text, size, elapsed, true);
    add_memory(machine_held_memory(), text, size);
}

void progress_summarize(RunnelSession *session, char *text, size_t size)
{
    char number[32];
    RunnelProgress run = runnel_progress(session);
    *text = '\0';
    format_time(seconds_since(progress.start), number, sizeof number);
    add(text, size, "", number, "");
    add_elements(run, text, size);
    add_part(run, text, size, 0, false);
    add_memory(machine_peak_memory(), text, size);
}

/* ---- the line ---- */

static void write_terminal(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored; /* a terminal that is gone sees nothing */
}

static void erase(void)
{
    if (progress.is_drawn)
        write_terminal("\r\033[K");
    progress.is_drawn = false;
}

/* Whoever is in the background leaves the terminal alone. */
static bool may_draw(void)
{
    return !progress.is_in_way && !progress.is_away && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

static void draw(RunnelProgress run, double elapsed)
{
    char text[256] = "", line[sizeof text + 16];
    enum { KEPT_FREE = 3 }; /* for the ^C that the terminal shows, and the cursor */
    size_t width = terminal_width(STDERR_FILENO, 80);
    describe(run, elapsed, text, sizeof text);
    snprintf(line, sizeof line, "\r%.*s\033[K", (int)(width > KEPT_FREE ? width - KEPT_FREE : 1), text);
    write_terminal(line);
    progress.is_drawn = true;
}

/* What was asked for at one look is there at the next. */
static void look(void)
{
    RunnelProgress run = runnel_progress(progress.session);
    double elapsed = seconds_since(progress.start);
    follow_rate(run.elements);
    if (elapsed >= first_after && may_draw())
        draw(run, elapsed);
}

static void *show(void *argument)
{
    (void)argument;
    struct timespec next = thread_deadline(LOOK_AFTER);
    pthread_mutex_lock(&progress.mutex);
    while (!progress.is_over) {
        if (pthread_cond_timedwait(&progress.change, &progress.mutex, &next) == 0)
            continue;
        look();
        next = thread_deadline(LOOK_AFTER);
    }
    pthread_mutex_unlock(&progress.mutex);
    return NULL;
}

void progress_begin(RunnelSession *session, bool is_shown)
{
    progress_end();
    memset(&progress, 0, sizeof progress);
    progress.session = session;
    progress.start = progress.last_time = machine_clock();
    if (!is_shown || !terminal_can_rewrite(STDERR_FILENO))
        return;
    pthread_mutex_init(&progress.mutex, NULL);
    thread_condition_init(&progress.change);
    progress.is_running = thread_start(&progress.thread, show, NULL);
}

void progress_end(void)
{
    if (!progress.is_running)
        return;
    pthread_mutex_lock(&progress.mutex);
    progress.is_over = true;
    erase();
    pthread_cond_signal(&progress.change);
    pthread_mutex_unlock(&progress.mutex);
    pthread_join(progress.thread, NULL);
    pthread_cond_destroy(&progress.change);
    pthread_mutex_destroy(&progress.mutex);
    progress.is_running = false;
}

void progress_make_room(void)
{
    if (!progress.is_running)
        return;
    pthread_mutex_lock(&progress.mutex);
    erase();
}

void progress_go_on(bool is_inside_line)
{
    if (!progress.is_running)
        return;
    progress.is_in_way = is_inside_line;
    pthread_mutex_unlock(&progress.mutex);
}

void progress_stay_away(void)
{
    if (!progress.is_running)
        return;
    progress_make_room();
    progress.is_away = true;
    progress_go_on(false);
}

void progress_notice_waiting(void)
{
    if (!progress.is_running || progress.has_waited)
        return;
    progress.has_waited = true;
    if (isatty(STDIN_FILENO) && !files_are_open())
        progress_stay_away();
}
