/* The order of combination: the one order in which every engine combines floats in reductions and scans, and the
 * results of users' operators. Results are the same bits everywhere only because of it: do not change it.
 *
 * A segment of n elements is cut into blocks of COMBINE_BLOCK elements, counted from its start; the last may be shorter.
 *
 * Built-in commutative operators (sum, product), a block x[0..m):
 *     m < LANES:  left to right: ((x[0] op x[1]) op x[2]) ...
 *     otherwise:  lane[j] = x[j] for j < LANES; then, group by group of LANES elements, lane[j] = lane[j] op x[i + j];
 *                 the lanes are halved: for s = LANES/2, ..., 2, 1: lane[j] = lane[j] op lane[j + s] for j < s;
 *                 the remaining m mod LANES elements follow left to right: total = total op x[i].
 *     The segment's result is (block[0] op block[1]) op block[2] ... No identity takes part; an empty segment gives it.
 *
 * Users' operators (reduce): a block is combined left to right, the blocks' totals left to right; the given identity is
 * the result of an empty segment only.
 *
 * Scans (exclusive), built in and users': with local = x[first of its block] op ... op x[i - 1], left to right, and carry =
 * the totals of the blocks before, left to right,
 *     out[0] = the identity;  out[i] = carry op local,  where a part that is absent (no block before; i is the first of
 *     its block) is left out.
 * An operator is applied only where an output needs it: the last element of the segment is never combined, nor the last block's
 * total.
 *
 * Notes for implementers. Padding by an exact identity cannot be told from absence: -0.0 for sums, 1.0 for products. A
 * segment that goes on in the next chunk keeps: carry, lanes, and the up to LANES - 1 elements of the group begun.
 * Lanes of one block are one AVX-512 register of f64; several blocks may run interleaved, since only their totals
 * are ordered.
 *
 * Measured on an AMD EPYC (Zen 3, AVX2), gcc 12 -O3 -march=native -ffp-contract=off (x86-64-v3 gives the same picture),
 * nanoseconds per element. "tail" is the order above; "mask" adds the incomplete group to the lanes and halves the lanes
 * present, as a masked load:
 *
 *                                     plain loop   L=4 tail/mask   L=8 tail/mask   L=16 tail/mask   L=32 tail/mask
 *   f64, lengths 1..32 at random      0.26         0.23 / 0.47     0.23 / 0.87     0.41 / 1.29      0.38 / 0.80
 *   f32, lengths 1..32 at random      0.27         0.27 / 0.35     0.23 / 0.85     0.48 / 1.30      0.44 / 0.55
 *   f64, length 4                     0.39         0.42 / 0.54     0.50 / 4.8      0.48 / 5.7       0.77 / 3.5
 *   f64, length 32                    0.39         0.15 / 0.15     0.14 / 0.15     0.26 / 0.29      0.42 / 0.35
 *   f64, 30000 (B = 1024)                          0.22            0.11            0.09             0.09
 *   f32, 30000 (B = 1024)                          0.26            0.11            0.08             0.08
 *   f64, 10^7 (B = 1024)                           0.47            0.36            0.40             0.35
 *   f32, 10^7 (B = 1024)                           0.29            0.20            0.16             0.16
 *
 * L = 8 is best or nearly so for short segments of both types, where L = 16 costs twice as much. On long ones L = 16 wins up to a
 * quarter where nothing but the additions is computed (f32); two interleaved blocks of L = 8 bring 30000 f64 to 0.08 as well.
 * Not measured: AVX-512, which this machine lacks. Block sizes, L = 8, 30000 f64: B = 256 0.09, 1024 0.11, 4096 0.11, 16384 0.12.
 * Exclusive scans, four blocks interleaved, against 0.94 to 1.0 for one running sum: 262144 f64: 0.61 (B = 256), 0.65 (1024), 0.60
 * (4096), 0.60 (16384); 10^7 f64: 1.34, 0.89, 0.89, 0.89; f32: 0.89, 0.60, 0.63, 0.60. B = 256 loses from memory, where larger
 * blocks gain nothing; 1024 is 8 KiB of f64, a scratch tile that leaves room in the first-level cache. */
#ifndef RUNNEL_MATH_COMBINE_H
#define RUNNEL_MATH_COMBINE_H

enum { COMBINE_LANES = 8, COMBINE_BLOCK = 1024 };

/* What an operator is applied for. The numbers matter: draws depend on them (math/random.h). */
typedef enum CombineKind {
    COMBINE_LOCAL = 0,  /* an element is combined into the local value of its block; or a pair's value into its place */
    COMBINE_CARRY = 1,  /* the total of a block is combined into the carry */
    COMBINE_OUTPUT = 2, /* a scan's output: carry op local */
} CombineKind;
enum { COMBINE_KINDS = 3 };

#endif
