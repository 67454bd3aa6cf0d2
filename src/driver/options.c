#include "driver/options.h"

#include "driver/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const engines[] = {[RUNNEL_ENGINE_VM] = "vm", [RUNNEL_ENGINE_REFERENCE] = "ref"};

static bool set_engine(Options *options, const char *value)
{
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        if (strcmp(engines[i], value) == 0) {
            options->engine = (RunnelEngine)i;
            return true;
        }
    report_usage("there is no engine `%s`; the engines are: vm, ref", value);
    return false;
}

static bool read_count(const char *option, const char *text, uint64_t *count)
{
    size_t digits = strspn(text, "0123456789");
    errno = 0;
    unsigned long long value = strtoull(text, NULL, 10);
    if (digits == 0 || text[digits] != '\0' || errno == ERANGE) {
        report_usage("`%s` wants a whole number, not `%s`", option, text);
        return false;
    }
    *count = value;
    return true;
}

/* A number of bytes: `K`, `M` and `G` stand for powers of 1024. */
static bool read_size(const char *option, const char *text, uint64_t *size)
{
    static const char units[] = "KMG";
    size_t digits = strspn(text, "0123456789");
    const char *unit = text[digits] == '\0' ? NULL : strchr(units, text[digits]);
    errno = 0;
    unsigned long long value = strtoull(text, NULL, 10);
    unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units + 1);
    bool is_number = digits > 0 && (text[digits] == '\0' || (unit != NULL && text[digits + 1] == '\0'));
    if (!is_number || errno == ERANGE || value > UINT64_MAX >> shift) {
        report_usage("`%s` wants a number of bytes such as 100000, 64M or 2G, not `%s`", option, text);
        return false;
    }
    *size = value << shift;
    return true;
}

static bool set_max_depth(Options *options, const char *value)
{
    return read_count("--max-depth", value, &options->max_depth);
}

static bool set_chunk(Options *options, const char *value)
{
    return read_count("--chunk", value, &options->chunk);
}

static bool set_threads(Options *options, const char *value)
{
    if (!read_count("--threads", value, &options->threads))
        return false;
    bool is_possible = options->threads >= 1 && options->threads <= RUNNEL_THREADS_MAX;
    if (!is_possible)
        report_usage("`--threads` wants a number from 1 to %d, not `%s`", RUNNEL_THREADS_MAX, value);
    return is_possible;
}

static bool set_piece(Options *options, const char *value)
{
    return read_count("--piece", value, &options->piece);
}

static bool set_memory(Options *options, const char *value)
{
    return read_size("--memory", value, &options->memory);
}

/* A time in milliseconds: in seconds, or in the unit given. What is beyond milliseconds counts as one. */
static bool read_time(const char *option, const char *text, uint64_t *milliseconds)
{
    static const struct {
        const char *name;
        double milliseconds;
    } units[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}, {"h", 3600000}};
    size_t length = strspn(text, "0123456789.");
    bool is_number = strspn(text, ".") < length && strchr(text, '.') == strrchr(text, '.');
    for (size_t i = 0; is_number && i < sizeof units / sizeof *units; i++) {
        double value = strtod(text, NULL) * units[i].milliseconds;
        if (strcmp(text + length, units[i].name) != 0 || !(value > 0) || value > 1e15)
            continue;
        *milliseconds = (uint64_t)value + (value > (double)(uint64_t)value);
        return true;
    }
    report_usage("`%s` wants a time such as 2.5 (seconds), 500ms or 2m, not `%s`", option, text);
    return false;
}

static bool set_time(Options *options, const char *value)
{
    return read_time("--time", value, &options->time);
}

static bool set_format(Options *options, const char *value)
{
    options->format = value;
    if (!runnel_is_file_format(value))
        report_usage("`--format` wants text, npy, csv, tsv, lines or the name of a scalar type, such as i64, not `%s`", value);
    return runnel_is_file_format(value);
}

static bool set_header(Options *options, const char *value)
{
    bool is_yes = strcmp(value, "yes") == 0;
    options->header = is_yes ? RUNNEL_HEADER_YES : RUNNEL_HEADER_NO;
    if (is_yes || strcmp(value, "no") == 0)
        return true;
    report_usage("`--header` wants yes or no, not `%s`", value);
    return false;
}

static bool set_empty(Options *options, const char *value)
{
    options->empty = value;
    return true;
}

static bool set_print_length(Options *options, const char *value)
{
    return read_count("--print-length", value, &options->print_length);
}

static bool set_runs(Options *options, const char *value)
{
    enum { RUNS_MAX = 1000000 };
    if (!read_count("--runs", value, &options->runs))
        return false;
    bool is_possible = options->runs >= 1 && options->runs <= RUNS_MAX;
    if (!is_possible)
        report_usage("`--runs` wants a number from 1 to %d, not `%s`", RUNS_MAX, value);
    return is_possible;
}

const OptionRow option_rows[OPTION_COUNT] = {
    [OPTION_ENGINE] = {"--engine", "NAME",
                       "run with this engine: vm, which streams in bounded memory, or ref, the reference interpreter (vm)", set_engine},
    [OPTION_CHUNK] = {"--chunk", "N", "the VM's buffers hold N elements (as many as is fastest)", set_chunk},
    [OPTION_THREADS] = {"--threads", "N", "use N threads (one for each processor there is for it)", set_threads},
    [OPTION_PIECE] = {"--piece", "N", "give threads no less than N nanoseconds of work at a time, about (1000)", set_piece},
    [OPTION_MEMORY] = {"--memory", "SIZE", "end with an error when more than SIZE bytes are held, such as 64M (four fifths of the machine's)", set_memory},
    [OPTION_TIME] = {"--time", "LIMIT", "end with an error when a run takes longer, such as 2.5 (seconds), 500ms or 2m (no limit)", set_time},
    [OPTION_STATS] = {"--stats", NULL, "show what the VM did, on standard error", NULL},
    [OPTION_MAX_DEPTH] = {"--max-depth", "N",
                          "the deepest recursion allowed, tail calls not counted (1000000)", set_max_depth},
    [OPTION_PRINT_LENGTH] = {"--print-length", "N",
                             "show only the first N elements of each container (all)", set_print_length},
    [OPTION_NO_SIMPLIFY] = {"--no-simplify", NULL, "leave the program as it is written, nothing inlined or merged", NULL},
    [OPTION_NESL] = {"--nesl", NULL, "read NESL instead of Runnel", NULL},
    [OPTION_FORMAT] = {"--format", "NAME",
                       "what files given as @PATH hold if neither their names nor their first bytes say it: text, npy, csv, tsv, lines, or bytes of i64 or another scalar type (text)", set_format},
    [OPTION_HEADER] = {"--header", "yes|no", "whether tables given as @PATH begin with the names of their columns (found out)", set_header},
    [OPTION_EMPTY] = {"--empty", "VALUE", "what an empty field of a table stands for where no text is wanted (an error)", set_empty},
    [OPTION_MATERIALIZE] = {"--materialize", NULL,
                            "hold sequences in memory where one pass is not enough, and say so", NULL},
    [OPTION_COST] = {"--cost", NULL, "show the cost too, as `runnel cost` does", NULL},
    [OPTION_RUNS] = {"--runs", "N", "time N runs (at least 10, and a second of them)", set_runs},
    [OPTION_JSON] = {"--json", NULL, "show what was measured as one object of JSON", NULL},
    [OPTION_HELP] = {"--help", NULL, "show help, on the command if there is one", NULL},
    [OPTION_VERSION] = {"--version", NULL, "show the version", NULL},
};

/* Letters and hyphens, up to a `=` if there is one: what a user who types an option writes. */
static bool is_spelled_like_option(const char *word)
{
    if (word[0] != '-' || strcmp(word, "-inf") == 0)
        return false;
    size_t dashes = word[1] == '-' ? 2 : 1;
    size_t length = strspn(word + dashes, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");
    return length > 0 && (word[dashes + length] == '\0' || word[dashes + length] == '=');
}

/* The row whose name is the first `length` bytes of `word`; OPTION_COUNT if there is none. */
static OptionId find_option(const char *word, size_t length)
{
    if (length == 2 && strncmp(word, "-h", length) == 0)
        return OPTION_HELP;
    OptionId id = 0;
    while (id < OPTION_COUNT &&
           (strlen(option_rows[id].name) != length || strncmp(option_rows[id].name, word, length) != 0))
        id++;
    return id;
}

static void report_unknown_option(const char *word, size_t length)
{
    char name[64];
    size_t kept = length < sizeof name ? length : sizeof name - 1;
    memcpy(name, word, kept);
    name[kept] = '\0';
    Suggestion suggestion = suggestion_for(name);
    for (OptionId id = 0; id < OPTION_COUNT; id++)
        suggestion_try(&suggestion, option_rows[id].name);
    report_unknown("option", &suggestion, "after `--` everything is a value");
}

/* Reads the option at `arguments[*at]`, and its value if that is the next argument; leaves `*at` behind them. */
static bool read_option(Options *options, int count, char **arguments, int *at)
{
    const char *word = arguments[(*at)++];
    size_t length = strcspn(word, "=");
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    OptionId id = find_option(word, length);
    if (id == OPTION_COUNT) {
        report_unknown_option(word, length);
        return false;
    }
    const OptionRow *row = &option_rows[id];
    options->given |= OPTION_BIT(id);
    if (row->set == NULL) {
        if (value != NULL)
            report_usage("`%s` takes no value", row->name);
        return value == NULL;
    }
    if (value == NULL && *at < count)
        value = arguments[(*at)++];
    if (value == NULL) {
        report_usage("`%s` wants a value: %s %s", row->name, row->name, row->value);
        return false;
    }
    return row->set(options, value);
}

bool options_parse(Options *options, int count, char **arguments)
{
    *options = (Options){.words = arguments};
    bool is_ended = false;
    for (int at = 1; at < count;) {
        if (!is_ended && strcmp(arguments[at], "--") == 0) {
            is_ended = true;
            at++;
        } else if (!is_ended && is_spelled_like_option(arguments[at])) {
            if (!read_option(options, count, arguments, &at))
                return false;
        } else {
            options->words[options->word_count++] = arguments[at++];
        }
    }
    return true;
}

RunnelDialect options_dialect(const Options *options)
{
    return options_has(options, OPTION_NESL) ? RUNNEL_DIALECT_NESL : RUNNEL_DIALECT_RNL;
}

const char *options_engine_name(const Options *options)
{
    return engines[options->engine];
}
