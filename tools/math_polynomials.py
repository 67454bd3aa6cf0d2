#!/usr/bin/env python3
"""Writes src/math/polynomials.h: the polynomials and constants of the elementary functions.

    python3 tools/math_polynomials.py > src/math/polynomials.h

Needs mpmath; it is not part of the build, its output is committed. Each polynomial is the minimax approximation (Remez) of
the function below on an interval, its coefficients rounded to f64. What is approximated is always the tail of a series, with
the leading terms left to the caller, who adds them exactly; so the error of a tail counts only with the factor the caller
multiplies it by, and a uniform bound on it is what is wanted. The error noted with each is the one of the rounded
coefficients, measured on a fine grid."""

import sys
from mpmath import mp, mpf, matrix, lu_solve, cos, pi, factorial
import mpmath

mp.dps = 60


def unweighted(_):
    return mpf(1)


def remez(function, low, high, degree, weight=unweighted):
    """Coefficients, lowest first, of the polynomial of least maximal error, times the weight."""
    low, high = mpf(low), mpf(high)
    count = degree + 2
    points = [(low + high) / 2 - (high - low) / 2 * cos(pi * i / (count - 1)) for i in range(count)]
    for _ in range(12):
        system = matrix(count, count)
        values = matrix(count, 1)
        for i, x in enumerate(points):
            for j in range(degree + 1):
                system[i, j] = x ** j
            system[i, degree + 1] = (-1) ** i / weight(x)
            values[i] = function(x)
        solution = lu_solve(system, values)
        coefficients = [solution[j] for j in range(degree + 1)]
        level = abs(solution[degree + 1])
        points, worst = extremes(lambda x: (horner(coefficients, x) - function(x)) * weight(x), low, high, count, points)
        if worst - level <= level * mpf(10) ** -3:
            break
    return coefficients


def extremes(error, low, high, count, old):
    """The places of largest error between sign changes, which are `count` in number."""
    steps = 24 * count
    grid = [(low + high) / 2 - (high - low) / 2 * cos(pi * i / steps) for i in range(steps + 1)]
    values = [error(x) for x in grid]
    found = []
    for x, v in zip(grid, values):
        if found and (found[-1][1] > 0) == (v > 0):
            if abs(v) > abs(found[-1][1]):
                found[-1] = (x, v)
        else:
            found.append((x, v))
    while len(found) > count:
        found.pop(0 if abs(found[0][1]) < abs(found[-1][1]) else -1)
    worst = max(abs(v) for v in values)
    return ([x for x, _ in found] if len(found) == count else old), worst


def horner(coefficients, x):
    sum_ = mpf(0)
    for c in reversed(coefficients):
        sum_ = sum_ * x + c
    return sum_


def hexadecimal(value):
    return float(value).hex()


def signed_terms(coefficients, variable):
    """c0 + x * (c1 + x * (...)): Horner's scheme, as C."""
    text = hexadecimal(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        inner = f"({text})" if len(text) > 30 or text.startswith("-") else text
        text = f"{hexadecimal(c)} + {variable} * {inner}"
    return text


def fused_terms(coefficients, variable):
    """The same with fused multiplications and additions."""
    text = hexadecimal(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        text = f"math_fused({variable}, {text}, {hexadecimal(c)})"
    return text


def wrapped(text, indent):
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + len(word) + 1 > 110 - indent:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    lines.append(line)
    return ("\n" + " " * indent).join(lines)


def emit(name, what, function, low, high, degree, is_split=True, is_fused=False, weight=unweighted):
    """Writes a polynomial: as even and odd part, which are computed at the same time, or by Horner's scheme alone, which rounds
    less. A weighted error is noted as such."""
    coefficients = [mpf(float(c)) for c in remez(function, low, high, degree, weight)]
    terms = fused_terms if is_fused else signed_terms
    low, high = mpf(low), mpf(high)
    points = [low + (high - low) * i / 600 for i in range(601)]
    error = max(abs(horner(coefficients, x) - function(x)) * weight(x) for x in points)
    bits = int(mpmath.floor(mpmath.log(error, 2)))
    kind = "error" if weight is unweighted else "weighted error"
    print(f"/* {what}, x from {mpmath.nstr(low, 4)} to {mpmath.nstr(high, 4)}: degree {degree}, {kind} below 2^{bits + 1}. */")
    print(f"MATH_INLINE double math_{name}(double x)\n{{")
    if degree < 5 or not is_split:
        print(f"    return {wrapped(terms(coefficients, 'x'), 11)};")
    else:
        print("    double z = x * x;")
        print(f"    double even = {wrapped(terms(coefficients[0::2], 'z'), 18)};")
        print(f"    double odd = {wrapped(terms(coefficients[1::2], 'z'), 17)};")
        print("    return math_fused(x, odd, even);" if is_fused else "    return even + x * odd;")
    print("}\n")


def series(function, terms):
    """A function that cancels near 0, by its series there."""
    def evaluate(x):
        if abs(x) < mpf(2) ** -20:
            return sum((terms(n) * x ** n for n in range(8)), mpf(0))
        mp.dps += 60
        value = function(x)
        mp.dps -= 60
        return +value
    return evaluate


def in_square(function):
    return lambda z: function(mpmath.sqrt(z))


def asin_term(n):  # of asin(x) = sum of t(n) x^(2n + 1)
    return factorial(2 * n) / (4 ** n * factorial(n) ** 2 * (2 * n + 1))


def split(name, what, value, bits, parts):
    """value = high + ... + low: parts of `bits` bits each, the last of 53."""
    value = mpf(value)
    print(f"/* {what} */")
    rest = value
    for i in range(parts):
        last = i == parts - 1
        precision = 53 if last else bits
        with mp.workprec(precision):
            part = +rest
        if not last:  # cut, not rounded, so that the parts have one sign
            exponent = int(mpmath.floor(mpmath.log(rest, 2))) + 1 - bits
            part = mpmath.floor(mpmath.ldexp(rest, -exponent)) * mpmath.ldexp(mpf(1), exponent)
        suffix = ["HIGH", "LOW"][i] if parts == 2 else str(i + 1)
        print(f"#define MATH_{name}_{suffix} {hexadecimal(part)}")
        rest -= part


def pair(name, what, value):
    value = mpf(value)
    high = mpf(float(value))
    print(f"/* {what} */")
    print(f"#define MATH_{name} {hexadecimal(high)}")
    print(f"#define MATH_{name}_REST {hexadecimal(value - high)}")


def two_over_pi():
    mp.prec = 1400
    value = mpmath.floor(mpmath.ldexp(2 / +pi, 64 * 20))
    words = []
    number = int(value)
    for i in range(20):
        words.append((number >> (64 * (19 - i))) & (2 ** 64 - 1))
    mp.dps = 60
    print("/* A word of zeros, then the bits of 2 / pi after its point, highest first. */")
    print("static const uint64_t math_two_over_pi[21] = {\n    UINT64_C(0),")
    for i in range(0, 20, 4):
        print("    " + " ".join(f"UINT64_C(0x{w:016x})," for w in words[i:i + 4]))
    print("};\n")


def erfcx_of(t):
    """exp(x^2) erfc(x) (x + 1/2), x = 3 (1 + t) / (1 - t): smooth to t = 1, which is infinity."""
    if t == 1:
        return 1 / mpmath.sqrt(pi)
    x = 3 * (1 + t) / (1 - t)
    if x > 1000:
        z = 1 / (2 * x * x)
        tail = sum((-1) ** n * mpmath.fac2(2 * n - 1) * z ** n for n in range(12))
        return tail / (x * mpmath.sqrt(pi)) * (x + mpf(1) / 2)
    mp.dps += 30
    value = mpmath.exp(x * x) * mpmath.erfc(x) * (x + mpf(1) / 2)
    mp.dps -= 30
    return +value


def stirling(count):
    """log gamma(x) = (x - 1/2) log x - x + log(2 pi) / 2 + (1 / x) * S(1 / x^2): the series, not minimax."""
    coefficients = [mpmath.bernoulli(2 * k) / (2 * k * (2 * k - 1)) for k in range(1, count + 1)]
    print(f"/* Stirling's series of log gamma after its factor 1/x, x being 1/x^2: {count} terms. */")
    print("MATH_INLINE double math_stirling_tail(double x)\n{")
    print(f"    return {wrapped(signed_terms(coefficients, 'x'), 11)};\n}}\n")


def main():
    print("""/* Polynomials and constants of the elementary functions. Written by tools/math_polynomials.py: do not edit.
 *
 * Each polynomial approximates the tail of a series; the caller adds the leading terms. The error noted is that of the
 * polynomial itself; the caller multiplies it, as it does the tail, by a power of a small argument. */
#ifndef RUNNEL_MATH_POLYNOMIALS_H
#define RUNNEL_MATH_POLYNOMIALS_H

#include "math/bits.h"
""")
    ln2 = mpmath.log(2)
    split("LN2", "ln 2; products of the first part with an integer of 11 bits are exact", ln2, 42, 2)
    split("LG2", "log10 2, likewise", mpmath.log10(2), 42, 2)
    split("PI_2", "pi / 2 in three parts of 33 bits and a rest; products of a part with an integer of 20 bits are exact",
          pi / 2, 33, 4)
    pair("PI", "constants as the nearest f64 and what is missing", pi)
    pair("HALF_PI", "pi / 2", pi / 2)
    pair("QUARTER_PI", "pi / 4", pi / 4)
    pair("THREE_QUARTER_PI", "3 pi / 4", 3 * pi / 4)
    pair("LN_2", "ln 2", ln2)
    pair("LN_10", "ln 10", mpmath.log(10))
    pair("LOG2_E", "1 / ln 2", 1 / ln2)
    pair("LOG10_E", "1 / ln 10", 1 / mpmath.log(10))
    pair("LOG2_10", "log2 10", mpmath.log(10) / ln2)
    pair("THIRD", "1 / 3", mpf(1) / 3)
    pair("FIFTH", "1 / 5", mpf(1) / 5)
    pair("TWO_OVER_PI", "2 / pi", 2 / pi)
    pair("TWO_OVER_ROOT_PI", "2 / sqrt pi", 2 / mpmath.sqrt(pi))
    pair("HALF_LN_TWO_PI", "ln(2 pi) / 2", mpmath.log(2 * pi) / 2)
    pair("LN_PI", "ln pi", mpmath.log(pi))
    print()
    two_over_pi()

    root2 = mpmath.sqrt(2)
    half = mpf("0.3468")
    emit("exp_tail", "(exp x - 1 - x - x^2/2) / x^3",
         series(lambda x: (mpmath.exp(x) - 1 - x - x * x / 2) / x ** 3, lambda n: 1 / factorial(n + 3)), -half, half, 9)
    emit("exp_curve", "(exp x - 1 - x) / x^2",
         series(lambda x: (mpmath.exp(x) - 1 - x) / x ** 2, lambda n: 1 / factorial(n + 2)), -half, half, 9,
         is_fused=True, weight=lambda x: x * x + half ** 2 / 16)
    emit("sinh_tail", "(sinh r - r) / r^3 of x = r^2",
         series(in_square(lambda x: (mpmath.sinh(x) - x) / x ** 3), lambda n: 1 / factorial(2 * n + 3)), 0, half ** 2, 5)
    emit("cosh_tail", "(cosh r - 1 - r^2/2) / r^4 of x = r^2",
         series(in_square(lambda x: (mpmath.cosh(x) - 1 - x * x / 2) / x ** 4), lambda n: 1 / factorial(2 * n + 4)),
         0, half ** 2, 4)
    s2 = ((root2 - 1) / (root2 + 1)) ** 2 * mpf("1.0001")
    emit("log_tail", "(2 atanh s - 2 s) / s^3 of x = s^2",
         series(in_square(lambda s: 2 * (mpmath.atanh(s) - s) / s ** 3), lambda n: mpf(2) / (2 * n + 3)), 0, s2, 7,
         is_fused=True)
    emit("power_tail", "(atanh s - s - s^3/3 - s^5/5) / s^7 of x = s^2",
         series(in_square(lambda s: (mpmath.atanh(s) - s - s ** 3 / 3 - s ** 5 / 5) / s ** 7),
                lambda n: mpf(1) / (2 * n + 7)), 0, s2, 7)
    quarter = (pi / 4) ** 2 * mpf("1.001")
    emit("sin_tail", "(sin r - r) / r^3 of x = r^2",
         series(in_square(lambda r: (mpmath.sin(r) - r) / r ** 3),
                lambda n: (-1) ** (n + 1) / factorial(2 * n + 3)), 0, quarter, 6)
    emit("cos_tail", "(cos r - 1 + r^2/2) / r^4 of x = r^2",
         series(in_square(lambda r: (mpmath.cos(r) - 1 + r * r / 2) / r ** 4),
                lambda n: (-1) ** n / factorial(2 * n + 4)), 0, quarter, 6)
    u2 = (root2 - 1) ** 2 * mpf("1.0001")
    emit("atan_tail", "(atan u - u) / u^3 of x = u^2",
         series(in_square(lambda u: (mpmath.atan(u) - u) / u ** 3), lambda n: mpf((-1) ** (n + 1)) / (2 * n + 3)),
         0, u2, 14)
    emit("asin_tail", "(asin u - u) / u^3 of x = u^2",
         series(in_square(lambda u: (mpmath.asin(u) - u) / u ** 3), lambda n: asin_term(n + 1)), 0, mpf("0.2501"), 13)
    emit("asinh_tail", "(asinh u - u) / u^3 of x = u^2",
         series(in_square(lambda u: (mpmath.asinh(u) - u) / u ** 3), lambda n: (-1) ** (n + 1) * asin_term(n + 1)),
         0, mpf("0.2501"), 12)
    emit("cbrt_start", "the cube root of x", lambda x: mpmath.cbrt(x), mpf("0.5"), 4, 6)
    emit("erf_tail", "(erf u / u - 2 / sqrt pi) / u^2 of x = u^2",
         series(in_square(lambda u: (mpmath.erf(u) / u - 2 / mpmath.sqrt(pi)) / u ** 2),
                lambda n: 2 / mpmath.sqrt(pi) * (-1) ** (n + 1) / (factorial(n + 1) * (2 * n + 3))), 0, mpf("1.001"), 12, False)
    emit("erfc_scaled", "exp(u^2) erfc(u) (u + 1/2) of x = (u - 3) / (u + 3)", erfcx_of, mpf("-0.72"), 1, 25,
         False)
    stirling(10)

    # of f32 functions: the same tails, good to 2^-34 or so
    emit("exp_tail_f32", "(exp x - 1 - x) / x^2",
         series(lambda x: (mpmath.exp(x) - 1 - x) / x ** 2, lambda n: 1 / factorial(n + 2)), -half, half, 5)
    emit("log_tail_f32", "(2 atanh s - 2 s) / s^3 of x = s^2",
         series(in_square(lambda s: 2 * (mpmath.atanh(s) - s) / s ** 3), lambda n: mpf(2) / (2 * n + 3)), 0, s2, 3)
    emit("sin_tail_f32", "(sin r - r) / r^3 of x = r^2",
         series(in_square(lambda r: (mpmath.sin(r) - r) / r ** 3),
                lambda n: (-1) ** (n + 1) / factorial(2 * n + 3)), 0, quarter, 3)
    emit("cos_tail_f32", "(cos r - 1 + r^2/2) / r^4 of x = r^2",
         series(in_square(lambda r: (mpmath.cos(r) - 1 + r * r / 2) / r ** 4),
                lambda n: (-1) ** n / factorial(2 * n + 4)), 0, quarter, 3)
    emit("atan_tail_f32", "(atan u - u) / u^3 of x = u^2",
         series(in_square(lambda u: (mpmath.atan(u) - u) / u ** 3), lambda n: mpf((-1) ** (n + 1)) / (2 * n + 3)),
         0, u2, 7)
    emit("asin_tail_f32", "(asin u - u) / u^3 of x = u^2",
         series(in_square(lambda u: (mpmath.asin(u) - u) / u ** 3), lambda n: asin_term(n + 1)), 0, mpf("0.2501"), 6)
    print("#endif")


main()
