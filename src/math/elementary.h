/* Elementary functions: one piece of C each, used by every engine, so that results agree to the bit (math/bits.h says how
 * they are written, docs/math.md how accurate they are). `math_NAME` is of f64, `math_NAME_f32` of f32. This header
 * includes them all. */
#ifndef RUNNEL_MATH_ELEMENTARY_H
#define RUNNEL_MATH_ELEMENTARY_H

#include "math/arc.h"
#include "math/basic.h"
#include "math/exp.h"
#include "math/log.h"
#include "math/power.h"
#include "math/single.h"
#include "math/special.h"
#include "math/trig.h"

#endif
