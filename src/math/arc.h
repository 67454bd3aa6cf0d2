/* asin, acos, atan, atan2. */
#ifndef RUNNEL_MATH_ARC_H
#define RUNNEL_MATH_ARC_H

#include "math/polynomials.h"

/* ---- asin and acos ----
 * Up to 1/2, asin x = x + x^3 tail(x^2), degree 13. Beyond, with z = (1 - x) / 2 (exact) and s = sqrt z <= 1/2, a pair:
 *     acos x = 2 asin s,    asin x = pi/2 - 2 asin s. */
typedef struct MathArc {
    bool is_large;   /* |x| > 1/2 */
    double u, curve; /* asin |x|, or asin s, is u + curve */
} MathArc;

MATH_INLINE MathArc math_arc(double magnitude)
{
    bool is_large = magnitude > 0.5;
    double half = 0.5 * (1.0 - magnitude);
    MathPair root = math_pair_sqrt((MathPair){half, 0.0});
    double z = math_select(is_large, half, magnitude * magnitude);
    double u = math_select(is_large, root.high, magnitude);
    double low = math_select(is_large & (half > 0.0), root.low, 0.0);
    return (MathArc){is_large, u, u * z * math_asin_tail(z) + low};
}

MATH_INLINE double math_asin(double x)
{
    MathArc arc = math_arc(math_magnitude(x));
    double small = arc.u + arc.curve;
    MathPair line = math_quick_two_sum(MATH_HALF_PI, -2.0 * arc.u);
    double large = line.high + (line.low + (MATH_HALF_PI_REST - 2.0 * arc.curve));
    return math_with_sign(math_select(arc.is_large, large, small), x);
}

MATH_INLINE double math_acos(double x)
{
    MathArc arc = math_arc(math_magnitude(x));
    double near_one = 2.0 * (arc.u + arc.curve);
    MathPair from_pi = math_quick_two_sum(MATH_PI, -2.0 * arc.u);
    double near_minus_one = from_pi.high + (from_pi.low + (MATH_PI_REST - 2.0 * arc.curve));
    MathPair from_half_pi = math_quick_two_sum(MATH_HALF_PI, -math_times_sign(arc.u, x));
    double middle = from_half_pi.high + (from_half_pi.low + (MATH_HALF_PI_REST - math_times_sign(arc.curve, x)));
    double large = math_select(x > 0.0, near_one, near_minus_one);
    return math_select(arc.is_large, large, middle);
}

/* ---- atan and atan2 ----
 * The angle of (x, y), 0 <= x, y, by its tangent y / x:
 *     up to tan(pi/8)      atan(u),           u = y / x
 *     up to tan(3 pi/8)    pi/4 + atan(u),    u = (y - x) / (y + x)
 *     beyond               pi/2 + atan(u),    u = -x / y
 * so |u| <= tan(pi/8) = 0.415, and u is the quotient of pairs that are exact. To the left of the y axis the angle is pi
 * minus that. atan u = u + u^3 tail(u^2), degree 14. The sum of a multiple of pi/4 and u is exact as a pair; what rounds
 * besides is at most 0.025 and adds 0.1 ulp; that u's low part is added whole, not divided by 1 + u^2, adds 0.1. Error
 * below 0.8 ulp. */
MATH_INLINE double math_angle_of(double y, double x, bool is_left)
{
    bool is_steep = y > x * 0x1.3504f333f9de6p+1;                   /* tan(3 pi/8) */
    bool is_middle = (y > x * 0x1.a827999fcef32p-2) & !is_steep; /* tan(pi/8) */
    MathPair sum = math_two_sum(y, x), difference = math_two_sum(y, -x);
    MathPair above = {math_select(is_steep, -x, y), 0.0};
    MathPair below = {math_select(is_steep, y, x), 0.0};
    above.high = math_select(is_middle, difference.high, above.high);
    above.low = math_select(is_middle, difference.low, above.low);
    below.high = math_select(is_middle, sum.high, below.high);
    below.low = math_select(is_middle, sum.low, below.low);
    MathPair u = math_pair_divide(above, below);
    double z = u.high * u.high;
    double curve = u.high * z * math_atan_tail(z) + u.low;
    double base = math_select(is_left, MATH_PI, 0.0);
    double rest = math_select(is_left, MATH_PI_REST, 0.0);
    base = math_select(is_middle, math_select(is_left, MATH_THREE_QUARTER_PI, MATH_QUARTER_PI), base);
    rest = math_select(is_middle, math_select(is_left, MATH_THREE_QUARTER_PI_REST, MATH_QUARTER_PI_REST), rest);
    base = math_select(is_steep, MATH_HALF_PI, base);
    rest = math_select(is_steep, MATH_HALF_PI_REST, rest);
    double turn = math_select(is_left, -1.0, 1.0);
    MathPair line = math_quick_two_sum(base, turn * u.high);
    return line.high + (line.low + (rest + turn * curve));
}

/* From 2^60 on the result is pi/2 to the last bit. */
MATH_INLINE double math_atan(double x)
{
    double magnitude = math_magnitude(x);
    double angle = math_angle_of(math_at_most(magnitude, 0x1p60), 1.0, false);
    return math_with_sign(angle, x);
}

/* Infinite coordinates and two zeros are replaced by points on the axis or the diagonal that have the same angle. Both
 * coordinates are scaled so that products of halves neither overflow nor, unless the quotient itself does, underflow. */
MATH_INLINE double math_atan2(double y, double x)
{
    double a = math_magnitude(y), b = math_magnitude(x);
    bool is_left = (math_bits(x) >> 63) != 0;
    bool is_up = a == MATH_INFINITY, is_aside = (b == MATH_INFINITY) | ((a == 0.0) & (b == 0.0));
    a = math_select(is_up, 1.0, math_select(is_aside, 0.0, a));
    b = math_select(is_aside, 1.0, math_select(is_up, 0.0, b));
    double larger = math_select(a > b, a, b);
    double scale = math_select(larger > 0x1p900, 0x1p-200, math_select(larger < 0x1p300, 0x1p600, 1.0));
    double angle = math_with_sign(math_angle_of(a * scale, b * scale, is_left), y);
    bool is_nan = (x != x) | (y != y);
    return math_select(is_nan, MATH_NAN, angle);
}

#endif
