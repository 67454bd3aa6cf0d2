/* The command line: words and options.
 *
 * Options may stand anywhere, as `--name value` or `--name=value`; `--` ends them. What begins with `-` and is
 * not spelled like an option is a word: `-3`, `-.5`, `-inf` and `-(a + b)` are values. */
#ifndef RUNNEL_DRIVER_OPTIONS_H
#define RUNNEL_DRIVER_OPTIONS_H

#include "runnel.h"

typedef enum OptionId {
    OPTION_ENGINE,
    OPTION_CHUNK,
    OPTION_THREADS,
    OPTION_PIECE,
    OPTION_MEMORY,
    OPTION_TIME,
    OPTION_STATS,
    OPTION_CC,
    OPTION_FAST,
    OPTION_MAX_DEPTH,
    OPTION_PRINT_LENGTH,
    OPTION_NO_SIMPLIFY,
    OPTION_NESL,
    OPTION_FORMAT,
    OPTION_HEADER,
    OPTION_EMPTY,
    OPTION_OUT,
    OPTION_OUT_FORMAT,
    OPTION_MATERIALIZE,
    OPTION_COST,
    OPTION_RUNS,
    OPTION_JSON,
    OPTION_DIGEST,
    OPTION_NO_PROGRESS,
    OPTION_COLOR,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_COUNT
} OptionId;

#define OPTION_BIT(id) (1u << (id))

typedef struct Options Options;

typedef struct OptionRow {
    const char *name;
    const char *value; /* what its value is called; null for a flag */
    const char *summary;
    bool (*set)(Options *options, const char *value); /* false after showing an error; null for flags */
    const char *const *choices; /* the words its value may be, ended by null; null if there are too many */
} OptionRow;

struct Options {
    char **words; /* without the options: the command, then its arguments */
    size_t word_count;
    unsigned given; /* OPTION_BITs */
    const char *values[OPTION_COUNT]; /* as they were written; null for flags */
    RunnelEngine engine; /* as said; else see options_engine */
    const char *compiler; /* null: the system's */
    const char *format; /* null: the default */
    RunnelHeader header;
    const char *empty; /* null: an error */
    const char *out, *out_format; /* null: not given */
    uint64_t max_depth;
    uint64_t chunk;
    uint64_t threads;
    uint64_t piece;
    uint64_t memory;
    uint64_t time; /* milliseconds */
    uint64_t print_length;
    uint64_t runs; /* 0: as many as it takes */
};

extern const OptionRow option_rows[OPTION_COUNT];

/* Those that every command understands. */
enum { COMMON_OPTIONS = OPTION_BIT(OPTION_COLOR) | OPTION_BIT(OPTION_HELP) };

/* What the tables cannot say. */
#define OPTIONS_RULE \
    "Options may stand anywhere, as `--name value` or `--name=value`. `-3` is a value, and so is everything after `--`.\n"

/* The row whose name is the first `length` bytes of `word`; OPTION_COUNT if there is none. */
OptionId option_find(const char *word, size_t length);

/* Sorts `arguments` (those of main) into words and options, moving the words to its front; false after showing
 * an error. */
bool options_parse(Options *options, int count, char **arguments);

/* False after showing that two options contradict each other. */
bool options_agree(const Options *options);

static inline bool options_has(const Options *options, OptionId id)
{
    return (options->given & OPTION_BIT(id)) != 0;
}

RunnelDialect options_dialect(const Options *options);
/* The one that was asked for, else the best that there is for a command: compiled code is for what is run from a file. */
RunnelEngine options_engine(const Options *options);
/* As `--engine` names it. */
const char *options_engine_name(const Options *options);

#endif
