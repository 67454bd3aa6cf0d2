#define _POSIX_C_SOURCE 200809L
#include "cases.h"

#include "../../tests/runner/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BENCHMARK(id, name, program, full, quick, tiny, arguments, comparison, tolerance, goal, papers, memory, sweep, limit, amount)                  \
    static double amount_##id(double n)                                                                                                                \
    {                                                                                                                                                  \
        (void)n;                                                                                                                                       \
        return amount;                                                                                                                                 \
    }
#include "../programs/suite.def"
#undef BENCHMARK

const Case cases[] = {
#define BENCHMARK(id, name, program, full, quick, tiny, arguments, comparison, tolerance, goal, papers, memory, sweep, limit, amount)                  \
    {name,      "bench/programs/" program, {full, quick, tiny}, arguments, COMPARE_##comparison, tolerance, goal, papers,                              \
     MEMORY_##memory, sweep, LIMIT_##limit, amount_##id},
#include "../programs/suite.def"
#undef BENCHMARK
};
const size_t case_count = sizeof cases / sizeof *cases;

const Case *case_named(const char *name)
{
    for (size_t i = 0; i < case_count; i++)
        if (strcmp(cases[i].name, name) == 0)
            return &cases[i];
    return NULL;
}

char *case_c_name(const Case *benchmark)
{
    const char *file = strrchr(benchmark->program, '/') + 1;
    char *name = checked_copy(file);
    *strrchr(name, '.') = '\0';
    return name;
}

const char *case_stretch(const Case *benchmark)
{
    static const char *const rows[][2] = {
#define BENCHMARK(...)
#define STRETCH(name, program) {name, program},
#include "../programs/suite.def"
#undef STRETCH
#undef BENCHMARK
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i][0], benchmark->name) == 0)
            return rows[i][1];
    return NULL;
}

/* ---- data ---- */

static bool is_newer(const char *path, const char *than)
{
    struct stat a, b;
    if (stat(path, &a) != 0 || stat(than, &b) != 0)
        return false;
    return a.st_mtim.tv_sec != b.st_mtim.tv_sec ? a.st_mtim.tv_sec > b.st_mtim.tv_sec : a.st_mtim.tv_nsec >= b.st_mtim.tv_nsec;
}

static bool run_generator(const Case *benchmark, uint64_t size, const char *generator, const char *place)
{
    enum { TIME_LIMIT = 600 };
    Lines words = {0};
    Outcome outcome;
    char *number = checked_format("%" PRIu64, size);
    lines_add(&words, generator);
    lines_add(&words, benchmark->name);
    lines_add(&words, number);
    lines_add(&words, place);
    process_run_within(TIME_LIMIT, &words, NULL, &outcome);
    if (outcome.status != 0)
        fprintf(stderr, "%s %s %s %s: status %d\n%s", generator, benchmark->name, number, place, outcome.status, buffer_text(&outcome.err));
    bool is_good = outcome.status == 0;
    outcome_free(&outcome);
    lines_free(&words);
    free(number);
    return is_good;
}

/* The last file made is a mark: so data that was made in part only is made again. */
static bool make_data(const Case *benchmark, uint64_t size, const char *directory, const char *place)
{
    char *generator = checked_format("%s/data", directory), *mark = checked_format("%s/made", place);
    bool is_there = is_newer(mark, generator);
    if (!is_there) {
        char *parent = checked_format("%s/cases", directory);
        mkdir(parent, 0777);
        mkdir(place, 0777);
        is_there = run_generator(benchmark, size, generator, place) && file_write(mark, "");
        free(parent);
    }
    free(generator);
    free(mark);
    return is_there;
}

/* ---- arguments ---- */

static bool add_contents(const char *path, Lines *arguments)
{
    Buffer text = {0};
    if (!file_read(path, &text)) {
        perror(path);
        return false;
    }
    char *contents = checked_copy(buffer_text(&text));
    trim_end(contents);
    char *quoted = checked_format("\"%s\"", contents);
    lines_add(arguments, quoted);
    free(quoted);
    free(contents);
    buffer_free(&text);
    return true;
}

static bool add_argument(const Case *benchmark, uint64_t size, const char *place, const char *word, Lines *arguments)
{
    char *text;
    if (*word == '<') {
        char *path = checked_format("%s/%s.%s.txt", place, benchmark->name, word + 1);
        bool is_good = add_contents(path, arguments);
        free(path);
        return is_good;
    }
    if (strcmp(word, "n") == 0)
        text = checked_format("%" PRIu64, size);
    else if (*word == '@')
        text = checked_format("@%s/%s.%s.npy", place, benchmark->name, word + 1);
    else if (*word == '"')
        text = checked_format("\"%s/%s.%.*s.txt\"", place, benchmark->name, (int)strcspn(word + 1, "\""), word + 1);
    else
        text = checked_copy(word);
    lines_add(arguments, text);
    free(text);
    return true;
}

bool case_arguments(const Case *benchmark, uint64_t size, const char *directory, Lines *arguments)
{
    char *place = checked_format("%s/cases/%s-%" PRIu64, directory, benchmark->name, size);
    char *words = checked_copy(benchmark->arguments), *rest = NULL;
    bool is_good = strpbrk(words, "@\"<") == NULL || make_data(benchmark, size, directory, place);
    for (char *word = strtok_r(words, " ", &rest); word != NULL && is_good; word = strtok_r(NULL, " ", &rest))
        is_good = add_argument(benchmark, size, place, word, arguments);
    free(words);
    free(place);
    return is_good;
}
