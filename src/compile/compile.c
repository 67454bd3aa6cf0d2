/* Nothing is allocated between the first lines of compile_load and its last: a failed allocation would leave children, files and loaded objects behind. */
#include "compile/compile.h"

#include "base/machine.h"
#include "compile/compiler.h"
#include "compile/object_cache.h"

#include <dlfcn.h>
#include <stdlib.h>

struct Compiled {
    void *handle;
    bool is_cached;
    double milliseconds;
};

typedef struct Job {
    const CompileOptions *options;
    const char *text;
    size_t length;
    Compiler compiler;
    char key[SHA256_HEX_LENGTH + 1];
    bool has_cache;
    char cache[PATH_SIZE];
    Problem problem;
} Job;

static void set_key(Job *job)
{
    Sha256 hash;
    uint8_t digest[SHA256_SIZE];
    uint64_t length = job->length;
    sha256_init(&hash);
    sha256_add(&hash, &length, sizeof length);
    sha256_add(&hash, job->text, job->length);
    compiler_add_identity(&job->compiler, &hash);
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
    return job->has_cache && object_cache_find(job->cache, job->key, path) ? load(path) : NULL;
}

/* From the cache if it can be kept there, so that who debugs or measures finds the file; else, or if somebody has removed it already, from where it was made. */
static void *keep_and_load(Job *job, const Scratch *scratch)
{
    char path[PATH_SIZE];
    void *handle = NULL;
    if (job->has_cache && object_cache_add(job->cache, job->key, scratch->object, path))
        handle = load(path);
    if (handle == NULL)
        handle = load(scratch->object);
    if (handle == NULL)
        problem_set(&job->problem, "what the C compiler `%.256s` made cannot be loaded: %.512s", job->compiler.command, dlerror());
    return handle;
}

static void *compile_in(Job *job, const Scratch *scratch)
{
    if (!scratch_write_text(scratch, job->text, job->length, &job->problem) ||
        !compiler_run(&job->compiler, scratch, job->options->stop, &job->problem))
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
    uint64_t limit = job->options->cache_limit;
    if (handle != NULL && job->has_cache)
        object_cache_trim(job->cache, limit == 0 ? OBJECT_CACHE_LIMIT : limit);
    return handle;
}

static bool run_job(Job *job, Compiled *compiled)
{
    if (!compiler_find(&job->compiler, job->options->compiler, job->options->is_fast, &job->problem))
        return false;
    set_key(job);
    job->has_cache = object_cache_locate(job->options->cache_directory, job->cache);
    compiled->handle = load_cached(job);
    compiled->is_cached = compiled->handle != NULL;
    if (compiled->handle == NULL)
        compiled->handle = compile(job);
    return compiled->handle != NULL;
}

bool compile_is_expected(void)
{
    const char *named = getenv("CC");
    Compiler compiler;
    return (named != NULL && *named != '\0') || compiler_find(&compiler, NULL, false, &(Problem){0});
}

Compiled *compile_load(Memory *memory, const CompileOptions *options, const char *text, size_t length, Text *problem)
{
    uint64_t start = machine_clock();
    Compiled *compiled = memory_alloc(memory, sizeof *compiled);
    Job job = {.options = options, .text = text, .length = length};
    if (run_job(&job, compiled)) {
        compiled->milliseconds = (double)(machine_clock() - start) * 1e-6;
        return compiled;
    }
    memory_free(memory, compiled, sizeof *compiled);
    text_add(problem, job.problem.text);
    return NULL;
}

void *compile_symbol(Compiled *compiled, const char *name)
{
    return dlsym(compiled->handle, name);
}

void compile_free(Memory *memory, Compiled *compiled)
{
    if (compiled == NULL)
        return;
    dlclose(compiled->handle);
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
