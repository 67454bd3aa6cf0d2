/* What tells this processor from others, as far as code compiled for it may depend on that. */
#ifndef RUNNEL_COMPILE_CPU_IDENTITY_H
#define RUNNEL_COMPILE_CPU_IDENTITY_H

#include "compile/sha256.h"

#include <stdbool.h>

void cpu_identity_add(Sha256 *hash);

/* Options for instructions that this processor has, for compilers that cannot find out: at most `capacity`; how many there are. */
size_t cpu_identity_flags(const char **flags, size_t capacity);

/* Whether loading the elements of a vector from anywhere by one instruction is faster than one by one: so it is on processors of Intel that need no cure for what such loads leaked. */
bool cpu_identity_has_gathers(void);

#endif
