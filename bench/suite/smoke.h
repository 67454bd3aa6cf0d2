/* Benchmarks as tests: at their smallest size, on every engine, nothing but answers. */
#ifndef SUITE_SMOKE_H
#define SUITE_SMOKE_H

#include "sample.h"

/* Whether both sides give the right answer; says on standard output what is wrong. */
bool smoke_test(const Setup *setup, const Case *benchmark, const Lines *engines);

#endif
