/* Makes a program that goes wrong smaller, as long as it goes wrong in the same way, and saves it as a test. */
#ifndef GENERATE_SHRINK_H
#define GENERATE_SHRINK_H

#include "isolate.h"
#include "program.h"

void shrink_program(Arena *arena, Program *program, const Verdict *verdict);

/* Writes a test file with what is expected of the program, and says where. */
void save_program(Arena *arena, const Program *program, const Verdict *verdict, const char *directory, uint64_t seed,
                  uint64_t index);

#endif
