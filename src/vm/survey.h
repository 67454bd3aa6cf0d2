/* How far a run is, as seen from outside: what was taken of the sequences and ranges that the outermost network goes through. */
#ifndef RUNNEL_VM_SURVEY_H
#define RUNNEL_VM_SURVEY_H

#include "vm/vm_private.h"

/* Answers the one who wants to know. */
void survey_run(Vm *vm);

#endif
