#include "driver/options.h"

#include "driver/report.h"
#include "driver/terminal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const engines[] = {[RUNNEL_ENGINE_VM] = "vm", [RUNNEL_ENGINE_C] = "c", [RUNNEL_ENGINE_REFERENCE] = "ref", NULL};

static bool set_engine(Options *options, const char *value)
{
    size_t index;
    if (!report_choice("engine", engines, value, &index))
        return false;
    options->engine = (RunnelEngine)index;
    return true;
}

static const char *const colour_choices[] = {[COLOUR_AUTOMATIC] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never", NULL};

static bool set_color(Options *options, const char *value)
{
    (void)options; /* it holds from now on: for messages about the options that follow, too */
    size_t index;
    if (!report_choice("choice of colour", colour_choices, value, &index))
        return false;
    terminal_choose_colour((ColourChoice)index);
    return true;
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

static bool set_cc(Options *options, const char *value)
{
    options->compiler = value;
    return true;
}

static bool read_format(const char *option, const char *value, const char **format)
{
    *format = value;
    if (!runnel_is_file_format(value))
        report_usage("`%s` wants text, npy, csv, tsv, lines or the name of a scalar type, such as i64, not `%s`", option, value);
    return runnel_is_file_format(value);
}

static bool set_format(Options *options, const char *value)
{
    return read_format("--format", value, &options->format);
}

static bool set_out_format(Options *options, const char *value)
{
    return read_format("--out-format", value, &options->out_format);
}

static bool set_out(Options *options, const char *value)
{
    options->out = value;
    if (*value == '\0')
        report_usage("`--out` wants the name of a file, or - for standard output");
    return *value != '\0';
}

static const char *const format_choices[] = {"text", "npy", "csv", "tsv", "lines", "bool", "char", "i8",  "i16", "i32",
                                             "i64",  "u8",  "u16", "u32", "u64",   "f32",  "f64",  NULL};

static const char *const header_choices[] = {"yes", "no", NULL};

static bool set_header(Options *options, const char *value)
{
    static const RunnelHeader headers[] = {RUNNEL_HEADER_YES, RUNNEL_HEADER_NO};
    size_t index;
    if (!report_choice("choice for `--header`", header_choices, value, &index))
        return false;
    options->header = headers[index];
    return true;
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
                       "run with this engine: c, loops that the C compiler compiles; vm, the same without a compiler; or ref, the reference interpreter (c for run and bench, if there is a compiler, else vm)", set_engine, engines},
    [OPTION_CHUNK] = {"--chunk", "N", "the VM's buffers hold N elements (as many as is fastest)", set_chunk, NULL},
    [OPTION_THREADS] = {"--threads", "N", "use N threads (one for each processor there is for it)", set_threads, NULL},
    [OPTION_PIECE] = {"--piece", "N", "give threads no less than N nanoseconds of work at a time, about (1000)", set_piece, NULL},
    [OPTION_MEMORY] = {"--memory", "SIZE", "end with an error when more than SIZE bytes are held, such as 64M (four fifths of the machine's)", set_memory, NULL},
    [OPTION_TIME] = {"--time", "LIMIT", "end with an error when a run takes longer, such as 2.5 (seconds), 500ms or 2m (no limit)", set_time, NULL},
    [OPTION_STATS] = {"--stats", NULL, "show what the VM did, on standard error", NULL, NULL},
    [OPTION_CC] = {"--cc", "COMMAND", "compile with this C compiler ($CC, else cc, gcc or clang)", set_cc, NULL},
    [OPTION_FAST] = {"--fast", NULL, "compiled code may contract floats and multiply by reciprocals: faster, but other last digits", NULL, NULL},
    [OPTION_MAX_DEPTH] = {"--max-depth", "N",
                          "the deepest recursion allowed, tail calls not counted (1000000)", set_max_depth, NULL},
    [OPTION_PRINT_LENGTH] = {"--print-length", "N",
                             "show only the first N elements of each container (all)", set_print_length, NULL},
    [OPTION_NO_SIMPLIFY] = {"--no-simplify", NULL, "leave the program as it is written, nothing inlined or merged", NULL, NULL},
    [OPTION_NESL] = {"--nesl", NULL, "read NESL instead of Runnel", NULL, NULL},
    [OPTION_FORMAT] = {"--format", "NAME",
                       "what files given as @PATH hold if neither their names nor their first bytes say it: text, npy, csv, tsv, lines, or bytes of i64 or another scalar type (text)", set_format, format_choices},
    [OPTION_HEADER] = {"--header", "CHOICE", "whether tables given as @PATH begin with the names of their columns: yes or no (found out)", set_header, header_choices},
    [OPTION_EMPTY] = {"--empty", "VALUE", "what an empty field of a table stands for where no text is wanted (an error)", set_empty, NULL},
    [OPTION_OUT] = {"--out", "FILE", "write the result of main to this file, in the format that its name says; - is standard output", set_out, NULL},
    [OPTION_OUT_FORMAT] = {"--out-format", "NAME", "... or in this one, if the name does not say it: text, npy, csv, tsv, lines, or i64 or another scalar type (text)", set_out_format, format_choices},
    [OPTION_MATERIALIZE] = {"--materialize", NULL,
                            "hold sequences in memory where one pass is not enough, and say so", NULL, NULL},
    [OPTION_COST] = {"--cost", NULL, "show the cost too, as `runnel cost` does", NULL, NULL},
    [OPTION_RUNS] = {"--runs", "N", "time N runs (at least 10, and a second of them)", set_runs, NULL},
    [OPTION_JSON] = {"--json", NULL, "show what was measured as one object of JSON", NULL, NULL},
    [OPTION_DIGEST] = {"--digest", NULL, "show a large result as the count and two sums of its numbers, by which it can be compared", NULL, NULL},
    [OPTION_NO_PROGRESS] = {"--no-progress", NULL, "no line on the terminal that shows how far a long run is", NULL, NULL},
    [OPTION_COLOR] = {"--color", "WHEN", "colour what is shown: always, never, or auto, on a terminal (auto)", set_color, colour_choices},
    [OPTION_HELP] = {"--help", NULL, "show help, on the command if there is one", NULL, NULL},
    [OPTION_VERSION] = {"--version", NULL, "show the version", NULL, NULL},
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

OptionId option_find(const char *word, size_t length)
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
    char in_full[sizeof name + 1]; /* `-v` and `-V` may be meant for --version */
    snprintf(in_full, sizeof in_full, "%s%s", name[1] == '-' ? "" : "-", name);
    for (char *c = in_full; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    Suggestion suggestion = suggestion_for(in_full);
    for (OptionId id = 0; id < OPTION_COUNT; id++)
        suggestion_try(&suggestion, option_rows[id].name);
    suggestion.word = name;
    report_unknown("option", &suggestion, "after `--` everything is a value");
}

/* Reads the option at `arguments[*at]`, and its value if that is the next argument; leaves `*at` behind them. */
static bool read_option(Options *options, int count, char **arguments, int *at)
{
    const char *word = arguments[(*at)++];
    size_t length = strcspn(word, "=");
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    OptionId id = option_find(word, length);
    if (id == OPTION_COUNT) {
        report_unknown_option(word, length);
        return false;
    }
    const OptionRow *row = &option_rows[id];
    if (row->set == NULL) {
        options->given |= OPTION_BIT(id);
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
    if (options_has(options, id) && strcmp(options->values[id], value) != 0) {
        report_usage("`%s` is given twice, as `%s` and as `%s`", row->name, options->values[id], value);
        return false;
    }
    options->given |= OPTION_BIT(id);
    options->values[id] = value;
    return row->set(options, value);
}

/* ---- options together ---- */

static bool is_reference(const Options *options)
{
    return options_has(options, OPTION_ENGINE) && options->engine == RUNNEL_ENGINE_REFERENCE;
}

static bool is_other_engine(const Options *options)
{
    return options_has(options, OPTION_ENGINE) && options->engine != RUNNEL_ENGINE_REFERENCE;
}

static bool is_not_compiled(const Options *options)
{
    return options_has(options, OPTION_ENGINE) && options->engine != RUNNEL_ENGINE_C;
}

static bool has_file_out(const Options *options)
{
    return options_has(options, OPTION_OUT) && strcmp(options->out, "-") != 0;
}

static bool has_data_out(const Options *options)
{
    return options_has(options, OPTION_OUT_FORMAT) && strcmp(options->out_format, "text") != 0;
}

static bool has_cost(const Options *options)
{
    return options_has(options, OPTION_COST);
}

enum { COMPILER_OPTIONS = OPTION_BIT(OPTION_CC) | OPTION_BIT(OPTION_FAST) };
enum { VM_OPTIONS = OPTION_BIT(OPTION_CHUNK) | OPTION_BIT(OPTION_THREADS) | OPTION_BIT(OPTION_PIECE) | OPTION_BIT(OPTION_MEMORY) |
                    OPTION_BIT(OPTION_STATS) };

/* Where `holds`, none of the options means anything. */
static const struct {
    bool (*holds)(const Options *options);
    OptionId because;
    unsigned options;
    const char *reason;
} contradictions[] = {
    {is_reference, OPTION_ENGINE, VM_OPTIONS, "the reference interpreter works on one thread, without chunks, limits of memory and statistics"},
    {has_cost, OPTION_COST, VM_OPTIONS | COMPILER_OPTIONS, "costs are counted by the reference interpreter"},
    {is_other_engine, OPTION_ENGINE, OPTION_BIT(OPTION_COST), "costs are counted by the reference interpreter"},
    {is_not_compiled, OPTION_ENGINE, COMPILER_OPTIONS, "only `--engine c` compiles"},
    {has_file_out, OPTION_OUT, OPTION_BIT(OPTION_PRINT_LENGTH), "files get the whole result"},
    {has_data_out, OPTION_OUT_FORMAT, OPTION_BIT(OPTION_PRINT_LENGTH), "only text is shortened"},
};

static void report_contradiction(const Options *options, OptionId because, OptionId id, const char *reason)
{
    const char *value = options->values[because];
    report_usage("`%s%s%s` and `%s` contradict each other: %s", option_rows[because].name, value == NULL ? "" : " ", value == NULL ? "" : value,
                 option_rows[id].name, reason);
}

bool options_agree(const Options *options)
{
    for (size_t i = 0; i < sizeof contradictions / sizeof *contradictions; i++)
        for (OptionId id = 0; id < OPTION_COUNT; id++)
            if ((options->given & contradictions[i].options & OPTION_BIT(id)) != 0 && contradictions[i].holds(options)) {
                report_contradiction(options, contradictions[i].because, id, contradictions[i].reason);
                return false;
            }
    return true;
}

/* `help` tells about options too: about the one that ends the line. */
static bool is_subject(const Options *options, bool is_last)
{
    return is_last && options->word_count == 1 && strcmp(options->words[0], "help") == 0;
}

bool options_parse(Options *options, int count, char **arguments)
{
    *options = (Options){.words = arguments};
    bool is_ended = false;
    for (int at = 1; at < count;) {
        if (!is_ended && strcmp(arguments[at], "--") == 0) {
            is_ended = true;
            at++;
        } else if (!is_ended && is_spelled_like_option(arguments[at]) && !is_subject(options, at + 1 == count)) {
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

/* Whether a form is shown as engine c has it. */
static bool emits_compiled(const Options *options)
{
    static const char *const compiled[] = {"outlined", "kernels", "c", "c-body"};
    for (size_t i = 0; i < sizeof compiled / sizeof *compiled; i++)
        if (strcmp(options->words[0], "emit") == 0 && options->word_count > 1 && strcmp(options->words[1], compiled[i]) == 0)
            return true;
    return false;
}

RunnelEngine options_engine(const Options *options)
{
    if (options_has(options, OPTION_ENGINE) || options_has(options, OPTION_COST))
        return options->engine;
    bool is_asked_for = options_has(options, OPTION_CC) || options_has(options, OPTION_FAST);
    bool is_of_file = strcmp(options->words[0], "run") == 0 || strcmp(options->words[0], "bench") == 0;
    return is_asked_for || emits_compiled(options) || (is_of_file && runnel_has_compiler()) ? RUNNEL_ENGINE_C : RUNNEL_ENGINE_VM;
}

const char *options_engine_name(const Options *options)
{
    return engines[options_engine(options)];
}
