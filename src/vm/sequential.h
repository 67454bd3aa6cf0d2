/* Sequential versions: calls whose points are done one by one, by compiled code (kernel/function_text.h), as many at a time as there are threads.
 *
 * A network does the points of a call together, which feeds all threads however few points there are; but every vector it makes goes through memory. Where there
 * are points enough, one thread doing one point with plain loops is faster. So a call is handed over as a whole
 *  - if there is one thread;
 *  - if it offers calls to other threads (vm/forks.h), and one point for a few threads is there;
 *  - if all threads can do one point together: a function, or a loop whose turns are so, that has nothing but loops that they share. They do so with points that take a good part of
 *    what there is to do, and with a single one that is a loop, such as the steps of a stencil;
 *  - if there are few threads, and the network would take a way so roundabout that they do not make up for it; large points of functions with histograms, or reductions by functions, are done
 *    faster by a network;
 *  - otherwise, if there is a point for each. Points so much larger than the others that somebody would wait long for them are left to the network, those before and behind
 *    them are not.
 * A recursive function thus runs as networks at first, level by level, if there are many threads, and below that as recursive C. */
#ifndef RUNNEL_VM_SEQUENTIAL_H
#define RUNNEL_VM_SEQUENTIAL_H

#include "vm/call.h"

/* Does points of the call from `good` on, and counts those done there. It stops at a point that fails, or that compiled code cannot do: that is the network's to
 * find out. It stops at large ones too, and notes where these end (`large_end`). False if nothing was tried: there is no such code, or these points are better done by the
 * network. */
bool sequential_run(Vm *vm, Call *call);

/* Frees the memory that such code has taken, which is kept from call to call. */
void sequential_free(Vm *vm);

#endif
