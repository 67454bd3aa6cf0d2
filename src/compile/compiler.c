#define _GNU_SOURCE /* environ */
#include "compile/compiler.h"

#include "compile/child.h"
#include "compile/cpu_identity.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- flags ---- */

/* -O3: at -O2 gcc 12 vectorises no loop whose length it does not know. A map with an exponential in it takes 2.3 ns for an element instead of 9, and a text of
 * 240 lines, 20 functions with loops, takes 370 ms to compile instead of 230; for clang 14, which vectorises at -O2 too, levels differ little in either. That is paid once. */
static const char *const common_flags[] = {
    "-std=gnu17", "-O3", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared", "-w",
};
/* The first undoes what the user's command may hold. */
static const char *const exact_flags[] = {"-fno-fast-math", "-ffp-contract=off"};
/* Nothing is reassociated by the compiler: conversions, roundings and elementary functions are sums like (x + 2^52) - 2^52, which would be gone. */
static const char *const fast_flags[] = {"-fno-fast-math", "-ffp-contract=fast", "-freciprocal-math"};

enum { MACHINE_FLAGS_MAX = 16, RUN_WORDS_MAX = COMPILER_WORDS_MAX + 32 + MACHINE_FLAGS_MAX };

/* What a compiler is told about the processor: by itself it finds out best, but not all can. The last resort is nothing. That loads of vectors from anywhere are fast it must be told where
 * they are: gcc avoids them since some processors were cured of a leak. It has two names for the widest. Loops are to use registers as wide as those that lanes of sums are kept in (preamble/fold.h):
 * of its own gcc takes half of them for some processors, and what two halves stored is then waited for when it is loaded as one, which is three times slower. */
typedef enum MachineTry { TRY_GATHERS, TRY_NEW_GATHERS, TRY_WIDE, TRY_NATIVE, TRY_FEATURES, TRY_NOTHING, MACHINE_TRY_COUNT } MachineTry;

#define WIDE_REGISTERS "-mprefer-vector-width=512"

static size_t machine_flags(MachineTry try, const char *flags[MACHINE_FLAGS_MAX])
{
    switch (try) {
    case TRY_GATHERS:
    case TRY_NEW_GATHERS:
        flags[0] = "-march=native";
        flags[1] = try == TRY_GATHERS ? "-mtune-ctrl=use_gather_2parts,use_gather_4parts,use_gather"
                                      : "-mtune-ctrl=use_gather_2parts,use_gather_4parts,use_gather_8parts";
        flags[2] = "-DKERNEL_GATHERS";
        flags[3] = WIDE_REGISTERS;
        return 4;
    case TRY_WIDE:
        flags[0] = "-march=native";
        flags[1] = WIDE_REGISTERS;
        return 2;
    case TRY_NATIVE:
        flags[0] = "-march=native";
        return 1;
    case TRY_FEATURES:
        return cpu_identity_flags(flags, MACHINE_FLAGS_MAX);
    case TRY_NOTHING:
    case MACHINE_TRY_COUNT:
        break;
    }
    return 0;
}

static MachineTry first_try(void)
{
#ifdef __x86_64__
    return cpu_identity_has_gathers() ? TRY_GATHERS : TRY_WIDE;
#else
    return TRY_NATIVE;
#endif
}

/* Who names a processor gets that one. */
static bool names_machine(const Compiler *compiler)
{
    for (size_t i = 1; i < compiler->word_count; i++)
        if (strncmp(compiler->words[i], "-march=", 7) == 0 || strncmp(compiler->words[i], "-mcpu=", 6) == 0)
            return true;
    return false;
}

/* ---- finding it ---- */

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* The next directory of a list such as PATH joined with a name; false after the last. What is too long is empty. */
static bool next_in_list(const char **list, const char *name, char path[PATH_SIZE])
{
    if (*list == NULL)
        return false;
    size_t length = strcspn(*list, ":");
    const char *directory = length == 0 ? "." : *list;
    int needed = snprintf(path, PATH_SIZE, "%.*s/%s", length == 0 ? 1 : (int)length, directory, name);
    if (needed < 0 || needed >= PATH_SIZE)
        path[0] = '\0';
    *list = (*list)[length] == ':' ? *list + length + 1 : NULL;
    return true;
}

static bool find_program(const char *name, char path[PATH_SIZE])
{
    if (strchr(name, '/') != NULL)
        return snprintf(path, PATH_SIZE, "%s", name) < PATH_SIZE && is_program(path);
    const char *list = getenv("PATH");
    while (next_in_list(&list, name, path))
        if (is_program(path))
            return true;
    return false;
}

static bool split(Compiler *compiler, Problem *problem)
{
    char *rest = NULL;
    strcpy(compiler->text, compiler->command);
    for (char *word = strtok_r(compiler->text, " \t", &rest); word != NULL; word = strtok_r(NULL, " \t", &rest)) {
        if (compiler->word_count == COMPILER_WORDS_MAX)
            return problem_set(problem, "the command for the C compiler has more than %d words", COMPILER_WORDS_MAX);
        compiler->words[compiler->word_count++] = word;
    }
    return compiler->word_count > 0 || problem_set(problem, "the command for the C compiler is empty");
}

static bool take_command(Compiler *compiler, const char *command, Problem *problem)
{
    if (strlen(command) >= COMPILER_COMMAND_SIZE)
        return problem_set(problem, "the command for the C compiler is longer than %d characters", COMPILER_COMMAND_SIZE - 1);
    strcpy(compiler->command, command);
    if (!split(compiler, problem))
        return false;
    const char *name = compiler->words[0];
    return find_program(name, compiler->path) ||
           problem_set(problem, "the C compiler `%.256s` cannot be run: there is no such program%s", name,
                       strchr(name, '/') == NULL ? " in PATH" : "");
}

bool compiler_find(Compiler *compiler, const char *given, bool is_fast, Problem *problem)
{
    static const char *const usual[] = {"cc", "gcc", "clang"};
    const char *command = given == NULL ? getenv("CC") : given;
    compiler->word_count = 0;
    compiler->is_fast = is_fast;
    if (command != NULL && (given != NULL || *command != '\0'))
        return take_command(compiler, command, problem);
    for (size_t i = 0; i < COUNT(usual); i++)
        if (find_program(usual[i], compiler->path))
            return take_command(compiler, usual[i], problem);
    return problem_set(problem, "no C compiler is found: there is no cc, gcc or clang in PATH");
}

/* ---- identity ---- */

/* With its length, so that two texts cannot be taken for two others. */
static void add_string(Sha256 *hash, const char *string)
{
    uint64_t length = string == NULL ? UINT64_MAX : strlen(string);
    sha256_add(hash, &length, sizeof length);
    if (string != NULL)
        sha256_add(hash, string, strlen(string));
}

/* A new version of a program has another size or another time. */
static void add_file(Sha256 *hash, const char *path)
{
    struct stat status;
    char resolved[PATH_MAX];
    if (!is_program(path) || stat(path, &status) != 0)
        return;
    const int64_t numbers[] = {(int64_t)status.st_size, (int64_t)status.st_mtim.tv_sec, (int64_t)status.st_mtim.tv_nsec};
    add_string(hash, realpath(path, resolved));
    sha256_add(hash, numbers, sizeof numbers);
}

/* All programs of this name count: the first may be a wrapper, as of ccache, that calls the next. */
static void add_program(Sha256 *hash, const char *name)
{
    char path[PATH_SIZE];
    const char *list = getenv("PATH");
    if (strchr(name, '/') != NULL) {
        add_file(hash, name);
        return;
    }
    while (next_in_list(&list, name, path))
        add_file(hash, path);
}

static void add_flags(Sha256 *hash, const char *const *flags, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_string(hash, flags[i]);
}

void compiler_add_identity(const Compiler *compiler, Sha256 *hash)
{
    static const char *const variables[] = {
        "CPATH", "C_INCLUDE_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "LIBRARY_PATH", "CCC_OVERRIDE_OPTIONS",
    };
    for (size_t i = 0; i < compiler->word_count; i++) {
        add_string(hash, compiler->words[i]);
        if (compiler->words[i][0] != '-')
            add_program(hash, compiler->words[i]);
    }
    add_flags(hash, common_flags, COUNT(common_flags));
    if (compiler->is_fast)
        add_flags(hash, fast_flags, COUNT(fast_flags));
    else
        add_flags(hash, exact_flags, COUNT(exact_flags));
    for (size_t i = 0; i < COUNT(variables); i++)
        add_string(hash, getenv(variables[i]));
    const char *machine[MACHINE_FLAGS_MAX];
    add_flags(hash, machine, machine_flags(first_try(), machine));
    cpu_identity_add(hash);
}

/* ---- running it ---- */

typedef struct RunWords {
    const char *words[RUN_WORDS_MAX + 1];
    size_t count;
} RunWords;

static void add_words(RunWords *run, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        run->words[run->count++] = words[i];
    run->words[run->count] = NULL;
}

/* The user's words come first: what we need to be so wins. */
static void collect_words(RunWords *run, const Compiler *compiler, const Scratch *scratch, MachineTry try)
{
    const char *const files[] = {"-o", scratch->object, "-x", "c", scratch->text};
    const char *machine[MACHINE_FLAGS_MAX];
    run->count = 0;
    add_words(run, compiler->words, compiler->word_count);
    if (!names_machine(compiler))
        add_words(run, machine, machine_flags(try, machine));
    if (compiler->is_fast)
        add_words(run, fast_flags, COUNT(fast_flags));
    else
        add_words(run, exact_flags, COUNT(exact_flags));
    add_words(run, common_flags, COUNT(common_flags));
    add_words(run, files, COUNT(files));
}

/* Ours, but the compiler's own temporary files go to the directory that is removed, even if it is killed, and its messages are in English. */
typedef struct Environment {
    char temporary[PATH_SIZE + 8];
    char *variables[1024];
} Environment;

static bool is_replaced(const char *variable)
{
    return strncmp(variable, "TMPDIR=", 7) == 0 || strncmp(variable, "LC_ALL=", 7) == 0;
}

static char *const *make_environment(Environment *environment, const Scratch *scratch)
{
    static char locale[] = "LC_ALL=C";
    size_t count = 0;
    snprintf(environment->temporary, sizeof environment->temporary, "TMPDIR=%s", scratch->directory);
    environment->variables[count++] = environment->temporary;
    environment->variables[count++] = locale;
    for (char **variable = environ; *variable != NULL; variable++) {
        if (count == COUNT(environment->variables) - 1)
            return environ; /* more than anybody has: then as it is */
        if (!is_replaced(*variable))
            environment->variables[count++] = *variable;
    }
    environment->variables[count] = NULL;
    return environment->variables;
}

/* Cuts out the line that says most: the first with an error in it, or the first at all. Our directory means nothing to the reader. */
static const char *find_complaint(char *output, const Scratch *scratch)
{
    char *error = strstr(output, "error"), *line = output + strspn(output, " \t\r\n");
    if (error != NULL)
        for (line = error; line > output && line[-1] != '\n';)
            line--;
    line[strcspn(line, "\r\n")] = '\0';
    size_t length = strlen(scratch->directory);
    return strncmp(line, scratch->directory, length) == 0 && line[length] == '/' ? line + length + 1 : line;
}

static bool report_end(const Compiler *compiler, ChildResult result, const char *complaint, Problem *problem)
{
    const char *command = compiler->command;
    switch (result.end) {
    case CHILD_EXITED:
        return problem_set(problem, "the C compiler `%.256s` ended with status %d%s%.512s", command, result.number,
                           *complaint == '\0' ? "" : ": ", complaint);
    case CHILD_KILLED:
        return problem_set(problem, "the C compiler `%.256s` was ended by signal %d, %s", command, result.number, strsignal(result.number));
    case CHILD_STOPPED:
        return problem_set(problem, "interrupted");
    case CHILD_NOT_STARTED:
        return problem_set(problem, "the C compiler `%.256s` cannot be run: %s", command, strerror(result.number));
    }
    return false;
}

/* Sets `*is_machine_unknown` if it failed for what it was told about the processor. */
static bool run_once(const Compiler *compiler, const Scratch *scratch, const StopFlag *stop, MachineTry try, bool *is_machine_unknown, Problem *problem)
{
    RunWords run;
    Environment environment;
    char output[8192];
    collect_words(&run, compiler, scratch, try);
    Child child = {.path = compiler->path,
                   .words = (char *const *)run.words,
                   .environment = make_environment(&environment, scratch),
                   .output_path = scratch->output,
                   .stop = stop};
    ChildResult result = child_run(&child);
    if (result.end == CHILD_EXITED && result.number == 0)
        return true;
    scratch_read_output(scratch, output, sizeof output);
    *is_machine_unknown = result.end == CHILD_EXITED && (strstr(output, "-m") != NULL || strstr(output, "native") != NULL);
    return report_end(compiler, result, find_complaint(output, scratch), problem);
}

bool compiler_run(const Compiler *compiler, const Scratch *scratch, const StopFlag *stop, Problem *problem)
{
    bool is_made = false, is_machine_unknown = true;
    for (MachineTry try = first_try(); try < MACHINE_TRY_COUNT && !is_made && is_machine_unknown; try++) {
        is_machine_unknown = false;
        is_made = run_once(compiler, scratch, stop, try, &is_machine_unknown, problem);
    }
    return is_made;
}
