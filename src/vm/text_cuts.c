#include "vm/text_cuts.h"

const TextCutLoops *text_cut_loops_at(VectorLevel level)
{
    static const TextCutLoops *const loops[] = {
#define VECTOR_LEVEL_ROW(level) [VECTOR_##level] = &VECTOR_NAME_AT(text_cut_loops, level),
        VECTOR_LEVELS(VECTOR_LEVEL_ROW)
#undef VECTOR_LEVEL_ROW
    };
    return loops[level];
}

const TextCutLoops *text_cut_loops(void)
{
    return text_cut_loops_at(vector_level());
}
