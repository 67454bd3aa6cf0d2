/* The text of one function, of those that function_text.h lists. */
#ifndef RUNNEL_KERNEL_FUNCTION_WRITE_H
#define RUNNEL_KERNEL_FUNCTION_WRITE_H

#include "kernel/function_text.h"

/* An operation on vectors that there is text for. */
bool function_write_is_of_vectors(Op op);
void function_write_prototype(FunctionTexts *texts, CoreFunctionId function, Text *out);
void function_write(FunctionTexts *texts, CoreFunctionId function, const Sources *sources, Text *out, ClassSet *types,
                    bool *with_math);

#endif
