/* Levels of vector instructions. Sources named *_vector.c are compiled once for each level (Makefile) and give their names its
 * suffix; the level is chosen when the program runs. Results are the same bits on all: only how many lanes work at once differs. */
#ifndef RUNNEL_BASE_VECTOR_H
#define RUNNEL_BASE_VECTOR_H

/* VECTOR_LEVEL_ROW(level): levels in ascending order. */
#ifdef __x86_64__
#define VECTOR_LEVELS(VECTOR_LEVEL_ROW) VECTOR_LEVEL_ROW(base) VECTOR_LEVEL_ROW(v3) VECTOR_LEVEL_ROW(v4)
#else
#define VECTOR_LEVELS(VECTOR_LEVEL_ROW) VECTOR_LEVEL_ROW(base)
#endif

typedef enum VectorLevel {
#define VECTOR_LEVEL_ROW(level) VECTOR_##level,
    VECTOR_LEVELS(VECTOR_LEVEL_ROW)
#undef VECTOR_LEVEL_ROW
        VECTOR_LEVEL_COUNT
} VectorLevel;

VectorLevel vector_level(void); /* the best this processor has; it has those below too */
const char *vector_level_name(VectorLevel level);

/* `name` with the suffix of a level: of the one that is compiled in VECTOR_NAME. */
#define VECTOR_NAME_AT(name, level) name##_##level
#ifdef VECTOR_LEVEL
#define VECTOR_NAME_EXPAND(name, level) VECTOR_NAME_AT(name, level)
#define VECTOR_NAME(name) VECTOR_NAME_EXPAND(name, VECTOR_LEVEL)

/* The compiler forgets what it knows of a variable. With a loop's counter, it makes no vectors of that loop: for short ones. */
#define VECTOR_HIDE(variable) __asm__("" : "+r"(variable))

/* Bytes of a register. */
#if defined __AVX512F__
enum { VECTOR_BYTES = 64 };
#elif defined __AVX2__
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif
#endif

#endif
