/* Nothing is allocated between the first lines of compile_load and its last: a failed allocation would leave children, files and loaded objects behind. */
#include "compile/compile.h"

#include "base/machine.h"
#include "base/thread.h"
#include "compile/compiler.h"
#include "compile/object_cache.h"

#include <dlfcn.h>
#include <stdlib.h>

struct Compiled {
    void *handles[COMPILE_TEXTS_MAX];
    uint32_t count;
    bool is_cached; /* all of them */
    double milliseconds;
};

/* What all texts of a call have in common. */
typedef struct Setting {
    const CompileOptions *options;
    Compiler compiler;
    Sha256 identity; /* of the compiler and the processor */
    bool has_cache;
    char cache[PATH_SIZE];
} Setting;

/* One text, done by a thread of its own or not. */
typedef struct Job {
    const Setting *setting;
    CompileText text;
    char key[SHA256_HEX_LENGTH + 1];
    void *handle; /* null if it failed */
    bool is_cached;
    Problem problem;
} Job;

static void set_key(Job *job)
{
    Sha256 hash = job->setting->identity;
    uint8_t digest[SHA256_SIZE];
    sha256_add(&hash, job->text.bytes, job->text.length);
    sha256_finish(&hash, digest);
    sha256_hex(digest, job->key);
}

/* Everything is resolved at once: what is missing is a problem now and no crash later. */
static void *load(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *load_cached(const Job *job)
{
    char path[PATH_SIZE];
    return job->setting->has_cache && object_cache_find(job->setting->cache, job->key, path) ? load(path) : NULL;
}

/* From the cache if it can be kept there, so that who debugs or measures finds the file; else, or if somebody has removed it already, from where it was made. */
static void *keep_and_load(Job *job, const Scratch *scratch)
{
    char path[PATH_SIZE];
    void *handle = NULL;
    if (job->setting->has_cache && object_cache_add(job->setting->cache, job->key, scratch->object, path))
        handle = load(path);
    if (handle == NULL)
        handle = load(scratch->object);
    if (handle == NULL)
        problem_set(&job->problem, "what the C compiler `%.256s` made cannot be loaded: %.512s", job->setting->compiler.command, dlerror());
    return handle;
}

static void *compile_in(Job *job, const Scratch *scratch)
{
    if (!scratch_write_text(scratch, job->text.bytes, job->text.length, &job->problem) ||
        !compiler_run(&job->setting->compiler, scratch, job->setting->options->stop, &job->problem))
        return NULL;
    return keep_and_load(job, scratch);
}

static void *compile(Job *job)
{
    Scratch scratch;
    if (!scratch_open(&scratch, &job->problem))
        return NULL;
    void *handle = compile_in(job, &scratch);
    scratch_close(&scratch);
    return handle;
}

static void *run_job(void *argument)
{
    Job *job = argument;
    set_key(job);
    job->handle = load_cached(job);
    job->is_cached = job->handle != NULL;
    if (job->handle == NULL)
        job->handle = compile(job);
    return NULL;
}

/* The last one here, each other by a thread of its own, if there are threads. */
static void run_jobs(Job *jobs, uint32_t count)
{
    pthread_t threads[COMPILE_TEXTS_MAX];
    bool has_thread[COMPILE_TEXTS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        has_thread[i] = i + 1 < count && thread_start(&threads[i], run_job, &jobs[i]);
        if (!has_thread[i])
            run_job(&jobs[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        if (has_thread[i])
            pthread_join(threads[i], NULL);
}

static void close_all(Compiled *compiled)
{
    for (uint32_t i = 0; i < compiled->count; i++)
        if (compiled->handles[i] != NULL)
            dlclose(compiled->handles[i]);
}

/* Whether all are there; else why the first that is not. */
static bool take_results(const Job *jobs, Compiled *compiled, Problem *problem)
{
    bool is_good = true;
    compiled->is_cached = true;
    for (uint32_t i = 0; i < compiled->count; i++) {
        compiled->handles[i] = jobs[i].handle;
        compiled->is_cached &= jobs[i].is_cached;
        if (is_good && jobs[i].handle == NULL)
            *problem = jobs[i].problem;
        is_good &= jobs[i].handle != NULL;
    }
    return is_good;
}

static bool load_all(const CompileOptions *options, const CompileText *texts, Compiled *compiled, Problem *problem)
{
    Setting setting = {.options = options};
    if (!compiler_find(&setting.compiler, options->compiler, options->is_fast, problem))
        return false;
    sha256_init(&setting.identity);
    compiler_add_identity(&setting.compiler, &setting.identity);
    setting.has_cache = object_cache_locate(options->cache_directory, setting.cache);
    Job jobs[COMPILE_TEXTS_MAX];
    for (uint32_t i = 0; i < compiled->count; i++)
        jobs[i] = (Job){.setting = &setting, .text = texts[i]};
    run_jobs(jobs, compiled->count);
    bool is_good = take_results(jobs, compiled, problem);
    if (is_good && !compiled->is_cached && setting.has_cache)
        object_cache_trim(setting.cache, options->cache_limit == 0 ? OBJECT_CACHE_LIMIT : options->cache_limit);
    return is_good;
}

bool compile_is_expected(void)
{
    const char *named = getenv("CC");
    Compiler compiler;
    return (named != NULL && *named != '\0') || compiler_find(&compiler, NULL, false, &(Problem){0});
}

Compiled *compile_load(Memory *memory, const CompileOptions *options, const CompileText *texts, uint32_t count, Text *problem)
{
    uint64_t start = machine_clock();
    Compiled *compiled = memory_alloc(memory, sizeof *compiled);
    Problem why = {0};
    *compiled = (Compiled){.count = count};
    if (load_all(options, texts, compiled, &why)) {
        compiled->milliseconds = (double)(machine_clock() - start) * 1e-6;
        return compiled;
    }
    close_all(compiled);
    memory_free(memory, compiled, sizeof *compiled);
    text_add(problem, why.text);
    return NULL;
}

void *compile_symbol(Compiled *compiled, const char *name)
{
    void *symbol = NULL;
    for (uint32_t i = 0; i < compiled->count && symbol == NULL; i++)
        symbol = dlsym(compiled->handles[i], name);
    return symbol;
}

void compile_free(Memory *memory, Compiled *compiled)
{
    if (compiled == NULL)
        return;
    close_all(compiled);
    memory_free(memory, compiled, sizeof *compiled);
}

bool compile_is_cached(const Compiled *compiled)
{
    return compiled->is_cached;
}

double compile_milliseconds(const Compiled *compiled)
{
    return compiled->milliseconds;
}
