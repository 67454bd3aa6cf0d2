/* What the preamble uses of the system's headers. Emitted files have this instead of <math.h> and <string.h>, which take longer to read
 * than all of the rest. */
#ifndef RUNNEL_KERNEL_PREAMBLE_SYSTEM_H
#define RUNNEL_KERNEL_PREAMBLE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* There is one of each function for each use or for none. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-const-variable"

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define memcpy __builtin_memcpy
#define sqrt __builtin_sqrt
#define sqrtf __builtin_sqrtf
#define fma __builtin_fma
#define fmaf __builtin_fmaf
#define nextafter __builtin_nextafter
#define nextafterf __builtin_nextafterf

#endif
