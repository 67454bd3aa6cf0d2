/* Where lines and words lie in texts: many bytes are looked at at once. */
#ifndef RUNNEL_VM_TEXT_CUTS_H
#define RUNNEL_VM_TEXT_CUTS_H

#include "base/vector.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes to be cut, which lie at `offset` of the text that places are counted in. */
typedef struct CutText {
    const char *bytes;
    size_t length;
    size_t readable; /* bytes that may be looked at, at least `length` */
    int64_t offset;
} CutText;

/* Where lines or words go. */
typedef struct TextCuts {
    int64_t *starts, *lengths;
    size_t count, room;
} TextCuts;

typedef struct TextCutLoops {
    /* How many newlines there are; *last is where the last of them is, and is left as it is if there is none. */
    size_t (*count_lines)(const CutText *text, size_t *last);
    /* Adds the lines that end with a newline of the text, as many as there is room for. The first begins at *start, which may be before the text, as its bytes then
     * are; *start is where the next line begins in the end. A carriage return before the newline is not part of a line. */
    void (*lines)(const CutText *text, int64_t *start, TextCuts *cuts);
    /* Words are what stands between spaces, tabs, newlines and carriage returns. */
    size_t (*count_words)(const CutText *text);
    /* Adds the words from byte *position on, before which no word goes on, as many as there is room for; *position is where the next one begins, or at the end of
     * the text. */
    void (*words)(const CutText *text, size_t *position, TextCuts *cuts);
} TextCutLoops;

#define VECTOR_LEVEL_ROW(level) extern const TextCutLoops VECTOR_NAME_AT(text_cut_loops, level);
VECTOR_LEVELS(VECTOR_LEVEL_ROW)
#undef VECTOR_LEVEL_ROW

const TextCutLoops *text_cut_loops_at(VectorLevel level); /* a level the processor has: for tests */
const TextCutLoops *text_cut_loops(void);

#endif
