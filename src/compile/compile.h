/* C text to code that can be called: the system's C compiler makes a shared object of it, which is loaded and kept on disk for the next time.
 *
 * The code computes what the VM does, bit for bit: floats are neither contracted nor divided by reciprocals, unless `is_fast` allows it. Of a text, functions
 * that are looked up by name are external; everything else should be static, or the compiler cannot inline it. Writable variables would be shared by
 * everybody in this process who loads the same text: there must be none.
 *
 * Nothing of a text reaches a command line, and no shell is involved. What was compiled is found again by a hash of all that it depends on: the text, the
 * flags, the compiler and the processor. A cache that cannot be used is no error, only slower. */
#ifndef RUNNEL_COMPILE_COMPILE_H
#define RUNNEL_COMPILE_COMPILE_H

#include "base/stop.h"
#include "base/text.h"

#include <stdbool.h>

typedef struct CompileOptions {
    const char *compiler;        /* a command, split into words at blanks; null: $CC, else cc, gcc or clang, the first found in PATH */
    bool is_fast;                /* contraction and reciprocals are allowed */
    const char *cache_directory; /* null: as object_cache_locate says */
    uint64_t cache_limit;        /* bytes; 0 for the default, 256 MiB */
    const StopFlag *stop;        /* ends the compiler when set; may be null */
} CompileOptions;

/* Whether there is a compiler if none is named, or somebody thinks so and wants to know why not. */
bool compile_is_expected(void);

typedef struct Compiled Compiled;

enum { COMPILE_TEXTS_MAX = 4 };

typedef struct CompileText {
    const char *bytes;
    size_t length;
} CompileText;

/* Of one text, or of several that know nothing of each other and are compiled at the same time: at most COMPILE_TEXTS_MAX. Null if one of them cannot be compiled or loaded: `problem` then
 * says why, in one line without a newline, fit for a warning; "interrupted" if it was stopped. */
Compiled *compile_load(Memory *memory, const CompileOptions *options, const CompileText *texts, uint32_t count, Text *problem);
/* The address of an external function or variable, of the first text that has one of this name; null if there is none. */
void *compile_symbol(Compiled *compiled, const char *name);
/* What it gave must not be used any more; null is allowed. */
void compile_free(Memory *memory, Compiled *compiled);

/* Whether it was there already. */
bool compile_is_cached(const Compiled *compiled);
/* What compile_load took. */
double compile_milliseconds(const Compiled *compiled);

#endif
