/* C text to code: results, the cache with all that can be wrong about it, and compilers that are missing, fail, hang or leave things behind. Everything happens
 * in a new directory, where the temporary files must be gone after each call. */
#define _XOPEN_SOURCE 700
#include "base/machine.h"
#include "base/thread.h"
#include "compile/compile.h"
#include "compile/object_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATUS_SKIPPED = 77 };

typedef struct Fixture {
    Memory memory;
    Text problem;
    char root[PATH_SIZE / 4];
    char cache[PATH_SIZE / 2];
    char temporary[PATH_SIZE / 2];
    CompileOptions options;
    int failures;
} Fixture;

#define CHECK(f, condition) check((f), (condition), #condition, __LINE__)

static void check(Fixture *f, bool condition, const char *text, int line)
{
    if (condition)
        return;
    f->failures++;
    fprintf(stderr, "%s:%d: failed: %s (problem: %s)\n", __FILE__, line, text, text_string(&f->problem));
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static bool set_up(Fixture *f)
{
    const char *above = getenv("TMPDIR");
    memset(f, 0, sizeof *f);
    text_init(&f->problem, &f->memory);
    snprintf(f->root, sizeof f->root, "%.512s/test_compile-XXXXXX", above == NULL ? "/tmp" : above);
    if (mkdtemp(f->root) == NULL)
        return false;
    snprintf(f->cache, sizeof f->cache, "%s/above/cache", f->root);
    snprintf(f->temporary, sizeof f->temporary, "%s/temporary", f->root);
    setenv("TMPDIR", f->temporary, 1);
    f->options.cache_directory = f->cache;
    return mkdir(f->temporary, 0700) == 0;
}

static void tear_down(Fixture *f)
{
    text_free(&f->problem);
    CHECK(f, f->memory.live_bytes == 0);
    nftw(f->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- helpers ---- */

static size_t count_names(const char *directory)
{
    size_t count = 0;
    DIR *stream = opendir(directory);
    while (stream != NULL && readdir(stream) != NULL)
        count++;
    if (stream != NULL)
        closedir(stream);
    return count < 2 ? 0 : count - 2;
}

static Compiled *load(Fixture *f, const char *text)
{
    text_clear(&f->problem);
    Compiled *compiled = compile_load(&f->memory, &f->options, &(CompileText){text, strlen(text)}, 1, &f->problem);
    CHECK(f, (compiled == NULL) == (f->problem.length > 0));
    CHECK(f, strchr(text_string(&f->problem), '\n') == NULL);
    CHECK(f, count_names(f->temporary) == 0);
    return compiled;
}

/* Calls `int answer(void)` of a text; -1 if it cannot be loaded. */
static int answer(Fixture *f, const char *text, bool *is_cached)
{
    int (*function)(void) = NULL;
    Compiled *compiled = load(f, text);
    if (compiled == NULL)
        return -1;
    *is_cached = compile_is_cached(compiled);
    CHECK(f, compile_milliseconds(compiled) > 0);
    void *symbol = compile_symbol(compiled, "answer");
    memcpy(&function, &symbol, sizeof function);
    int result = function == NULL ? -2 : function();
    compile_free(&f->memory, compiled);
    return result;
}

static bool fails_with(Fixture *f, const char *text, const char *words)
{
    Compiled *compiled = load(f, text);
    bool is_right = compiled == NULL && strstr(text_string(&f->problem), words) != NULL;
    compile_free(&f->memory, compiled);
    return is_right;
}

/* A compiler as a shell script; its path is valid until the next one. */
static const char *script(Fixture *f, const char *body)
{
    static char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/script", f->root);
    FILE *file = fopen(path, "w");
    CHECK(f, file != NULL);
    if (file != NULL) {
        fprintf(file, "#!/bin/sh\n%s\n", body);
        fclose(file);
        chmod(path, 0700);
    }
    return path;
}

static const char seven[] = "int answer(void) { return 7; }\n";

/* The only file of the cache. */
static void find_file(Fixture *f, char path[PATH_SIZE])
{
    struct dirent *found;
    DIR *stream = opendir(f->cache);
    path[0] = '\0';
    while (stream != NULL && (found = readdir(stream)) != NULL)
        if (found->d_name[0] != '.')
            snprintf(path, PATH_SIZE, "%s/%s", f->cache, found->d_name);
    if (stream != NULL)
        closedir(stream);
    CHECK(f, count_names(f->cache) == 1);
}

/* ---- hashes ---- */

static void check_hash(Fixture *f, const char *text, size_t count, const char *expected)
{
    Sha256 hash;
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_LENGTH + 1];
    sha256_init(&hash);
    for (size_t i = 0; i < count; i++)
        sha256_add(&hash, text, strlen(text));
    sha256_finish(&hash, digest);
    sha256_hex(digest, hex);
    CHECK(f, strcmp(hex, expected) == 0);
}

static void test_hashes(Fixture *f)
{
    check_hash(f, "", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_hash(f, "abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_hash(f, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check_hash(f, "aaaaaaa", 142857, "6c7aaf9baa56d59e3651f608e2fb587688382cbc78c8b39abbdb916a00a52098");
}

/* ---- code ---- */

static void test_code(Fixture *f)
{
    bool is_cached = true;
    CHECK(f, answer(f, seven, &is_cached) == 7 && !is_cached);
    CHECK(f, answer(f, seven, &is_cached) == 7 && is_cached);
    CHECK(f, answer(f, "int answer(void) { return 8; }\n", &is_cached) == 8 && !is_cached);
    CHECK(f, answer(f, "int other(void) { return 8; }\n", &is_cached) == -2);
    struct stat status;
    CHECK(f, stat(f->cache, &status) == 0 && (status.st_mode & 0777) == 0700);
    f->options.is_fast = true;
    CHECK(f, answer(f, seven, &is_cached) == 7 && !is_cached);
    f->options.is_fast = false;
}

/* Several at once: all are there, each with what it has, or none is. */
static void test_texts(Fixture *f)
{
    CompileText texts[] = {{"int one(void) { return 1; }\n", 28}, {seven, strlen(seven)}, {"int two(void) { return 2; }\n", 28}};
    for (int again = 0; again < 2; again++) {
        Compiled *compiled = compile_load(&f->memory, &f->options, texts, 3, &f->problem);
        CHECK(f, compiled != NULL && compile_is_cached(compiled) == (again == 1));
        CHECK(f, compiled != NULL && compile_symbol(compiled, "one") != NULL && compile_symbol(compiled, "answer") != NULL);
        CHECK(f, compiled != NULL && compile_symbol(compiled, "two") != NULL && compile_symbol(compiled, "three") == NULL);
        compile_free(&f->memory, compiled);
    }
    texts[1] = (CompileText){"int wrong(void) { return 3 }\n", 29};
    texts[2] = (CompileText){"int new(void) { return 2; }\n", 28};
    text_clear(&f->problem);
    CHECK(f, compile_load(&f->memory, &f->options, texts, 3, &f->problem) == NULL);
    CHECK(f, strstr(text_string(&f->problem), "kernel.c:1:27: error: ") != NULL);
    CHECK(f, count_names(f->temporary) == 0);
}

/* a * b + c with a product that is not a float: with one rounding it is not 0. */
static void test_rounding(Fixture *f)
{
    double (*function)(double, double, double) = NULL;
    Compiled *compiled = load(f, "double axpy(double a, double b, double c) { return a * b + c; }\n");
    CHECK(f, compiled != NULL);
    if (compiled == NULL)
        return;
    void *symbol = compile_symbol(compiled, "axpy");
    memcpy(&function, &symbol, sizeof function);
    volatile double factor = 1.0 + 0x1p-30, product = factor * factor;
    CHECK(f, function != NULL && function(factor, factor, -product) == 0.0);
    compile_free(&f->memory, compiled);
}

static void test_commands(Fixture *f)
{
    static const char text[] = "int answer(void) { return FIRST + SECOND; }\n";
    bool is_cached;
    setenv("CC", " cc  -DFIRST=40 \t-DSECOND=2 ", 1);
    CHECK(f, answer(f, text, &is_cached) == 42);
    setenv("CC", "cc -DFIRST=1 -DSECOND=2", 1);
    CHECK(f, answer(f, text, &is_cached) == 3 && !is_cached);
    f->options.compiler = "cc -DFIRST=1 -DSECOND=3 -ffast-math";
    CHECK(f, answer(f, text, &is_cached) == 4 && !is_cached);
    f->options.compiler = NULL;
    setenv("CC", "", 1);
    CHECK(f, answer(f, seven, &is_cached) == 7);
    unsetenv("CC");
}

/* A shell's word, an expansion or a name of a file in a text or a command is nothing but that. */
static void test_no_shell(Fixture *f)
{
    bool is_cached;
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/made", f->root);
    Text command;
    text_init(&command, &f->memory);
    text_addf(&command, "cc -DX=`touch\t%s` ;touch %s", path, path);
    f->options.compiler = text_string(&command);
    answer(f, "int answer(void) { return 1; } // `touch made` $(touch made)\n", &is_cached);
    f->options.compiler = NULL;
    CHECK(f, access(path, F_OK) != 0);
    text_free(&command);
}

static void test_compilers(Fixture *f)
{
    static const char *const compilers[] = {"gcc", "clang"};
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        bool is_cached = true;
        Text command;
        text_init(&command, &f->memory);
        text_addf(&command, "%s --version > /dev/null 2>&1", compilers[i]);
        if (system(text_string(&command)) == 0) {
            f->options.compiler = compilers[i];
            CHECK(f, answer(f, seven, &is_cached) == 7 && !is_cached);
            CHECK(f, answer(f, seven, &is_cached) == 7 && is_cached);
            f->options.is_fast = true;
            CHECK(f, answer(f, seven, &is_cached) == 7);
            f->options.is_fast = false;
            test_rounding(f);
        }
        text_free(&command);
    }
    f->options.compiler = NULL;
}

/* ... that do not know -march=native, or nothing about machines at all. Another compiler of the same name is another one. */
static void test_unknown_machine(Fixture *f)
{
    static const char *const bodies[] = {
        "case \"$*\" in *march=native*) echo \"script: error: bad value 'native' for '-march='\" >&2; exit 1;; esac; exec cc \"$@\"",
        "case \"$*\" in *\\ -m*) echo 'script: unknown option -mwhatever' >&2; exit 1;; esac; exec cc \"$@\"",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        bool is_cached = true;
        f->options.compiler = script(f, bodies[i]);
        CHECK(f, answer(f, seven, &is_cached) == 7 && !is_cached);
        CHECK(f, answer(f, seven, &is_cached) == 7 && is_cached);
    }
    f->options.compiler = NULL;
}

/* ---- what goes wrong ---- */

static void test_missing(Fixture *f)
{
    f->options.compiler = "no-such-compiler -x";
    CHECK(f, fails_with(f, seven, "the C compiler `no-such-compiler` cannot be run: there is no such program in PATH"));
    f->options.compiler = "/nowhere/cc";
    CHECK(f, fails_with(f, seven, "the C compiler `/nowhere/cc` cannot be run: there is no such program"));
    f->options.compiler = " ";
    CHECK(f, fails_with(f, seven, "the command for the C compiler is empty"));
    f->options.compiler = NULL;
    char *path = strdup(getenv("PATH"));
    setenv("PATH", f->temporary, 1);
    CHECK(f, fails_with(f, seven, "no C compiler is found: there is no cc, gcc or clang in PATH"));
    setenv("PATH", path, 1);
    free(path);
}

static void test_failing(Fixture *f)
{
    CHECK(f, fails_with(f, "int answer(void) { return 7 }\n", "the C compiler `cc` ended with status 1: kernel.c:1:28: error: "));
    CHECK(f, fails_with(f, "int missing(void); int answer(void) { return missing(); }\n", "what the C compiler `cc` made cannot be loaded: "));
    f->options.compiler = script(f, "echo; echo 'first line' >&2; echo 'second line'; mkdir $TMPDIR/below; touch $TMPDIR/below/file; exit 3");
    CHECK(f, fails_with(f, seven, "ended with status 3: first line"));
    f->options.compiler = script(f, "exit 1");
    CHECK(f, fails_with(f, seven, "/script` ended with status 1"));
    f->options.compiler = script(f, "kill -9 $$");
    CHECK(f, fails_with(f, seven, "/script` was ended by signal 9, "));
    f->options.compiler = script(f, "exit 0");
    CHECK(f, fails_with(f, seven, "/script` made cannot be loaded: "));
    f->options.compiler = script(f, "while [ \"$1\" != -o ]; do shift; done; echo rubbish > $2");
    CHECK(f, fails_with(f, seven, "/script` made cannot be loaded: "));
    f->options.compiler = NULL;
}

static void *stop_soon(void *argument)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    stop_set(argument, STOP_INTERRUPTED);
    return NULL;
}

/* Whether a process ends within a second; somebody else may have to take note of that. */
static bool ends_soon(pid_t pid)
{
    for (int i = 0; i < 100 && kill(pid, 0) == 0; i++) {
        char path[64], state = 'Z';
        snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
        FILE *file = fopen(path, "r");
        if (file == NULL || fscanf(file, "%*d (%*[^)]) %c", &state) != 1 || state == 'Z')
            pid = 0;
        if (file != NULL)
            fclose(file);
        if (pid == 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return kill(pid, 0) != 0;
}

/* A compiler that hangs, and what it has started, ends with us. */
static void test_interrupted(Fixture *f)
{
    char path[PATH_SIZE];
    long pid = 0;
    StopFlag stop = {0};
    pthread_t thread;
    f->options.stop = &stop;
    f->options.compiler = script(f, "touch $TMPDIR/left; sleep 60 & echo $! > ${0}-pid; wait");
    snprintf(path, sizeof path, "%s-pid", f->options.compiler);
    uint64_t start = machine_clock();
    CHECK(f, thread_start(&thread, stop_soon, &stop));
    CHECK(f, fails_with(f, seven, "interrupted") && strcmp(text_string(&f->problem), "interrupted") == 0);
    CHECK(f, machine_clock() - start < UINT64_C(20000000000));
    pthread_join(thread, NULL);
    FILE *file = fopen(path, "r");
    CHECK(f, file != NULL && fscanf(file, "%ld", &pid) == 1 && pid > 0 && ends_soon((pid_t)pid));
    if (file != NULL)
        fclose(file);
    f->options.stop = NULL;
    f->options.compiler = NULL;
}

/* Whether the nth allocation fails as it should: with a jump, and nothing left behind. */
static void fail_at(Fixture *f, uint64_t n)
{
    jmp_buf recovery;
    text_free(&f->problem);
    f->memory.on_failure = &recovery;
    f->memory.fail_after = n;
    if (setjmp(recovery) == 0) {
        compile_load(&f->memory, &f->options, &(CompileText){seven, strlen(seven)}, 1, &f->problem);
        CHECK(f, f->memory.on_failure == NULL);
    }
    f->memory.on_failure = NULL;
    f->memory.fail_after = 0;
    CHECK(f, f->memory.live_bytes == 0);
}

static void test_out_of_memory(Fixture *f)
{
    f->options.compiler = "no-such-compiler";
    fail_at(f, 1); /* the result */
    fail_at(f, 2); /* the problem */
    f->options.compiler = NULL;
}

/* ---- the cache ---- */

/* Loads a text in a process of its own; it ends with 0 if all is right. */
static pid_t start_loading(Fixture *f)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    text_clear(&f->problem);
    Compiled *compiled = compile_load(&f->memory, &f->options, &(CompileText){seven, strlen(seven)}, 1, &f->problem);
    bool is_right = compiled != NULL && compile_symbol(compiled, "answer") != NULL;
    compile_free(&f->memory, compiled);
    _exit(is_right ? 0 : 1);
}

static void test_processes(Fixture *f)
{
    pid_t children[3];
    bool is_cached = false;
    object_cache_clear(f->cache);
    for (size_t i = 0; i < 3; i++)
        children[i] = start_loading(f);
    for (size_t i = 0; i < 3; i++) {
        int status = -1;
        CHECK(f, waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
    CHECK(f, count_names(f->cache) == 1 && count_names(f->temporary) == 0);
    CHECK(f, answer(f, seven, &is_cached) == 7 && is_cached);
}

typedef enum Damage { DAMAGE_EMPTY, DAMAGE_SHORTER, DAMAGE_LONGER, DAMAGE_CHANGED, DAMAGE_WRITABLE, DAMAGE_LINK, DAMAGE_PIPE, DAMAGE_COUNT } Damage;

static void damage_file(Fixture *f, const char *path, Damage damage)
{
    struct stat status;
    char other[PATH_SIZE];
    snprintf(other, sizeof other, "%s/elsewhere", f->root);
    int file = open(path, O_WRONLY);
    CHECK(f, file >= 0 && fstat(file, &status) == 0);
    switch (damage) {
    case DAMAGE_EMPTY: CHECK(f, ftruncate(file, 0) == 0); break;
    case DAMAGE_SHORTER: CHECK(f, ftruncate(file, status.st_size - 1) == 0); break;
    case DAMAGE_LONGER: CHECK(f, pwrite(file, "x", 1, status.st_size) == 1); break;
    case DAMAGE_CHANGED: CHECK(f, pwrite(file, "runnel", 6, status.st_size / 2) == 6); break;
    case DAMAGE_WRITABLE: CHECK(f, fchmod(file, 0622) == 0); break;
    case DAMAGE_LINK: CHECK(f, rename(path, other) == 0 && symlink(other, path) == 0); break;
    case DAMAGE_PIPE: CHECK(f, unlink(path) == 0 && mkfifo(path, 0600) == 0); break;
    case DAMAGE_COUNT: break;
    }
    close(file);
}

/* What is damaged, or could have been put there by others, is not loaded but replaced. */
static void test_damage(Fixture *f)
{
    char path[PATH_SIZE];
    bool is_cached = false;
    object_cache_clear(f->cache);
    CHECK(f, answer(f, seven, &is_cached) == 7);
    find_file(f, path);
    for (Damage damage = 0; damage < DAMAGE_COUNT; damage++) {
        damage_file(f, path, damage);
        CHECK(f, answer(f, seven, &is_cached) == 7 && !is_cached);
        CHECK(f, answer(f, seven, &is_cached) == 7 && is_cached);
        CHECK(f, count_names(f->cache) == 1);
    }
}

/* A file that is whole, but belongs to another key. */
static void test_wrong_name(Fixture *f)
{
    char first[PATH_SIZE], second[PATH_SIZE];
    bool is_cached = false;
    object_cache_clear(f->cache);
    answer(f, "int answer(void) { return 9; }\n", &is_cached);
    find_file(f, first);
    object_cache_clear(f->cache);
    answer(f, seven, &is_cached);
    find_file(f, second);
    answer(f, "int answer(void) { return 9; }\n", &is_cached);
    CHECK(f, rename(first, second) == 0);
    CHECK(f, answer(f, seven, &is_cached) == 7 && !is_cached);
}

/* A cache that cannot be written or trusted is not used, and nothing is said. Root may write everywhere, so a file stands where a directory should. */
static void test_unusable(Fixture *f)
{
    char path[PATH_SIZE];
    bool is_cached = true;
    snprintf(path, sizeof path, "%s/script/cache", f->root);
    script(f, "");
    f->options.cache_directory = path;
    CHECK(f, answer(f, seven, &is_cached) == 7 && !is_cached);
    f->options.cache_directory = f->cache;
    object_cache_clear(f->cache);
    if (geteuid() != 0) {
        CHECK(f, chmod(f->cache, 0500) == 0 && strcmp(object_cache_fault(f->cache), "it cannot be written") == 0);
        CHECK(f, answer(f, seven, &is_cached) == 7 && !is_cached);
    }
    CHECK(f, chmod(f->cache, 0777) == 0 && strcmp(object_cache_fault(f->cache), "others may write to it") == 0);
    CHECK(f, answer(f, seven, &is_cached) == 7 && !is_cached && count_names(f->cache) == 0);
    CHECK(f, chmod(f->cache, 0700) == 0 && object_cache_fault(f->cache) == NULL);
}

/* ---- its size ---- */

/* Adds a file of 1000 bytes that was last used `age` seconds ago; `digit` makes the key. */
static void add_old(Fixture *f, char digit, int age)
{
    char from[PATH_SIZE], path[PATH_SIZE], key[SHA256_HEX_LENGTH + 1], bytes[1000] = {0};
    memset(key, digit, SHA256_HEX_LENGTH);
    key[SHA256_HEX_LENGTH] = '\0';
    snprintf(from, sizeof from, "%s/from", f->root);
    FILE *file = fopen(from, "wb");
    CHECK(f, file != NULL && fwrite(bytes, 1, sizeof bytes, file) == sizeof bytes && fclose(file) == 0);
    CHECK(f, object_cache_add(f->cache, key, from, path));
    struct timespec used = {.tv_sec = time(NULL) - age};
    CHECK(f, utimensat(AT_FDCWD, path, (const struct timespec[]){used, used}, 0) == 0);
}

static bool has(Fixture *f, char digit)
{
    char path[PATH_SIZE], key[SHA256_HEX_LENGTH + 1];
    memset(key, digit, SHA256_HEX_LENGTH);
    key[SHA256_HEX_LENGTH] = '\0';
    return object_cache_find(f->cache, key, path);
}

static void test_eviction(Fixture *f)
{
    bool is_cached = true;
    object_cache_clear(f->cache);
    for (int i = 0; i < 6; i++)
        add_old(f, (char)('0' + i), i == 2 ? 1000 : 100 + i);
    uint64_t each = object_cache_measure(f->cache).bytes / 6;
    CHECK(f, has(f, '5')); /* so it was used now */
    object_cache_trim(f->cache, 4 * each + each / 2);
    CHECK(f, object_cache_measure(f->cache).files == 4);
    CHECK(f, has(f, '0') && has(f, '1') && !has(f, '2') && has(f, '3') && !has(f, '4') && has(f, '5'));
    f->options.cache_limit = 1;
    CHECK(f, answer(f, seven, &is_cached) == 7 && !is_cached);
    CHECK(f, count_names(f->cache) == 0);
    f->options.cache_limit = 0;
}

/* More than fit into one look at the directory. */
static void test_many(Fixture *f)
{
    char path[PATH_SIZE];
    object_cache_clear(f->cache);
    for (int i = 0; i < 200; i++) {
        snprintf(path, sizeof path, "%s/%064d.so", f->cache, i);
        FILE *file = fopen(path, "w");
        CHECK(f, file != NULL && fputs("0123456789", file) >= 0 && fclose(file) == 0);
        struct timespec used = {.tv_sec = 1000000 + 7 * i % 200};
        CHECK(f, utimensat(AT_FDCWD, path, (const struct timespec[]){used, used}, 0) == 0);
    }
    object_cache_trim(f->cache, 100);
    CHECK(f, count_names(f->cache) == 10);
    for (int i = 0; i < 200; i++) {
        snprintf(path, sizeof path, "%s/%064d.so", f->cache, i);
        CHECK(f, (access(path, F_OK) == 0) == (7 * i % 200 >= 190));
    }
}

/* Files of others are neither counted nor removed; what a killed process left behind is, in time. */
static void test_clear(Fixture *f)
{
    static const char *const others[] = {"notes.txt", "abc.so", ".so"};
    char path[PATH_SIZE];
    object_cache_clear(f->cache);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", f->cache, others[i]);
        FILE *file = fopen(path, "w");
        CHECK(f, file != NULL && fclose(file) == 0);
    }
    add_old(f, 'a', 0);
    snprintf(path, sizeof path, "%s/%064d.AbCdE1", f->cache, 0);
    FILE *file = fopen(path, "w");
    CHECK(f, file != NULL && fclose(file) == 0);
    object_cache_trim(f->cache, OBJECT_CACHE_LIMIT);
    CHECK(f, object_cache_measure(f->cache).files == 2);
    struct timespec used = {.tv_sec = 1000};
    CHECK(f, utimensat(AT_FDCWD, path, (const struct timespec[]){used, used}, 0) == 0);
    object_cache_trim(f->cache, OBJECT_CACHE_LIMIT);
    CHECK(f, object_cache_measure(f->cache).files == 1);
    CHECK(f, object_cache_clear(f->cache).files == 1 && count_names(f->cache) == 3);
}

/* ---- all of them ---- */

static bool has_compiler(void)
{
    unsetenv("CC");
    return system("cc --version > /dev/null 2>&1") == 0;
}

int main(void)
{
    Fixture f;
    if (!set_up(&f) || !has_compiler()) {
        tear_down(&f);
        return STATUS_SKIPPED;
    }
    test_hashes(&f);
    test_code(&f);
    test_texts(&f);
    test_rounding(&f);
    test_commands(&f);
    test_no_shell(&f);
    test_compilers(&f);
    test_unknown_machine(&f);
    test_missing(&f);
    test_failing(&f);
    test_interrupted(&f);
    test_out_of_memory(&f);
    test_processes(&f);
    test_damage(&f);
    test_wrong_name(&f);
    test_unusable(&f);
    test_eviction(&f);
    test_many(&f);
    test_clear(&f);
    tear_down(&f);
    return f.failures == 0 ? 0 : 1;
}
