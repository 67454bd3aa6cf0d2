/* Why something could not be compiled, in one line. Of a fixed size, so that nothing is allocated, and nothing can fail for want of memory, while
 * there are children and files to clean up. */
#ifndef RUNNEL_COMPILE_PROBLEM_H
#define RUNNEL_COMPILE_PROBLEM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct Problem {
    char text[1024];
} Problem;

/* Always false, for `return problem_set(...)`. A text that is too long is cut. */
__attribute__((format(printf, 2, 3))) static inline bool problem_set(Problem *problem, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    return false;
}

#endif
