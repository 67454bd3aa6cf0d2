/* Calls that are joined, `f(a) ++ g(b)`, become one call of a function that joins them: compiled code does the calls side by side (kernel/function_onto.c), a network one after the other.
 * They are moved past nothing that could fail before them. */
#ifndef RUNNEL_CORE_OUTLINE_JOIN_H
#define RUNNEL_CORE_OUTLINE_JOIN_H

#include "core/outline.h"

/* The block itself if nothing in it changes. */
CoreBlock *outline_joins(const Outliner *outliner, CoreBlock *block);

#endif
