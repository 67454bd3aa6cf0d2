/* Runs a program in several ways, and says whether they agree. */
#ifndef GENERATE_COMPARE_H
#define GENERATE_COMPARE_H

#include "coverage.h"
#include "runnel.h"

typedef enum VerdictKind {
    VERDICT_AGREES,         /* all ways give the same output */
    VERDICT_FAILS,          /* all ways end with the same run-time error */
    VERDICT_FAILS_OTHERWISE, /* the engines find different errors of several */
    VERDICT_LOSES_ERROR,    /* an error in a value nobody uses vanished, where that is allowed */
    VERDICT_NOT_STREAMABLE, /* rejected for that; what --materialize makes of it agrees */
    VERDICT_TOO_LONG,       /* given up for time or memory: nothing is known */
    VERDICT_KINDS_GOOD,
    VERDICT_REJECTED = VERDICT_KINDS_GOOD, /* a well-typed program is a compile error */
    VERDICT_DIFFERS,
    VERDICT_CRASHES,
    VERDICT_HANGS,
    VERDICT_KINDS
} VerdictKind;

extern const char *const verdict_names[VERDICT_KINDS];

enum { SIGNATURE_SIZE = 160, DETAIL_SIZE = 2000 };

/* Two programs with equal kinds and signatures go wrong in the same way. */
typedef struct Verdict {
    VerdictKind kind;
    char signature[SIGNATURE_SIZE];
    char detail[DETAIL_SIZE]; /* for people */
} Verdict;

typedef struct Given {
    const char *text;
    RunnelDialect dialect;
    const char *const *arguments;
    size_t argument_count;
} Given;

static inline bool verdict_is_bad(VerdictKind kind)
{
    return kind >= VERDICT_KINDS_GOOD;
}

/* Engine c needs the C compiler for every program, which takes longer than all else. */
typedef enum Ways { WAYS_INTERPRETED, WAYS_ALL, WAYS_COMPILED /* engine c, and what it is compared with */ } Ways;

/* Which ways the next programs are run in. */
void compare_choose(Ways ways);

/* In this process: what crashes ends it. Counts what the program is made of in `coverage`, unless that is null. */
void compare_program(const Given *given, Coverage *coverage, Verdict *verdict);
/* The same for one of many programs, in sessions that may have run some of the others. */
void compare_next_program(const Given *given, Coverage *coverage, Verdict *verdict);

/* What the reference makes of a program, for expectations of tests. */
typedef struct Outcome {
    RunnelStatus status;
    Text output;
    Text messages; /* all of them */
    bool is_uncompiled; /* engine c did without the C compiler, and said so */
} Outcome;

void outcome_of_reference(const Given *given, Outcome *outcome);
void outcome_free(Outcome *outcome);

/* The code of the first error in messages, "" if there is none. */
void message_code(const char *messages, char *code, size_t size);

#endif
