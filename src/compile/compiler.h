/* Which C compiler, and how it is called. */
#ifndef RUNNEL_COMPILE_COMPILER_H
#define RUNNEL_COMPILE_COMPILER_H

#include "base/stop.h"
#include "compile/path.h"
#include "compile/problem.h"
#include "compile/scratch.h"
#include "compile/sha256.h"

enum { COMPILER_COMMAND_SIZE = 4096, COMPILER_WORDS_MAX = 64 };

typedef struct Compiler {
    char command[COMPILER_COMMAND_SIZE];   /* for messages */
    char text[COMPILER_COMMAND_SIZE];      /* the same, cut into words */
    const char *words[COMPILER_WORDS_MAX];
    size_t word_count; /* at least 1 */
    char path[PATH_SIZE]; /* of the program, the first word */
    bool is_fast;
} Compiler;

/* `given` as in CompileOptions. False if there is none. */
bool compiler_find(Compiler *compiler, const char *given, bool is_fast, Problem *problem);

/* All of the compiler and its environment that may decide what it makes of a text. Starts no process. */
void compiler_add_identity(const Compiler *compiler, Sha256 *hash);

/* Makes `scratch->object` of `scratch->text`. */
bool compiler_run(const Compiler *compiler, const Scratch *scratch, const StopFlag *stop, Problem *problem);

#endif
