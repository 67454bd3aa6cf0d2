/* Polynomials and constants of the elementary functions. Written by tools/math_polynomials.py: do not edit.
 *
 * Each polynomial approximates the tail of a series; the caller adds the leading terms. The error noted is that of the
 * polynomial itself; the caller multiplies it, as it does the tail, by a power of a small argument. */
#ifndef RUNNEL_MATH_POLYNOMIALS_H
#define RUNNEL_MATH_POLYNOMIALS_H

#include "math/bits.h"

/* ln 2; products of the first part with an integer of 11 bits are exact */
#define MATH_LN2_HIGH 0x1.62e42fefa3800p-1
#define MATH_LN2_LOW 0x1.ef35793c76730p-45
/* log10 2, likewise */
#define MATH_LG2_HIGH 0x1.34413509f7800p-2
#define MATH_LG2_LOW 0x1.fef311f12b358p-46
/* pi / 2 in three parts of 33 bits and a rest; products of a part with an integer of 20 bits are exact */
#define MATH_PI_2_1 0x1.921fb54400000p+0
#define MATH_PI_2_2 0x1.0b4611a600000p-34
#define MATH_PI_2_3 0x1.3198a2e000000p-69
#define MATH_PI_2_4 0x1.b839a252049c1p-104
/* constants as the nearest f64 and what is missing */
#define MATH_PI 0x1.921fb54442d18p+1
#define MATH_PI_REST 0x1.1a62633145c07p-53
/* pi / 2 */
#define MATH_HALF_PI 0x1.921fb54442d18p+0
#define MATH_HALF_PI_REST 0x1.1a62633145c07p-54
/* pi / 4 */
#define MATH_QUARTER_PI 0x1.921fb54442d18p-1
#define MATH_QUARTER_PI_REST 0x1.1a62633145c07p-55
/* 3 pi / 4 */
#define MATH_THREE_QUARTER_PI 0x1.2d97c7f3321d2p+1
#define MATH_THREE_QUARTER_PI_REST 0x1.a79394c9e8a0ap-54
/* ln 2 */
#define MATH_LN_2 0x1.62e42fefa39efp-1
#define MATH_LN_2_REST 0x1.abc9e3b39803fp-56
/* ln 10 */
#define MATH_LN_10 0x1.26bb1bbb55516p+1
#define MATH_LN_10_REST -0x1.f48ad494ea3e9p-53
/* 1 / ln 2 */
#define MATH_LOG2_E 0x1.71547652b82fep+0
#define MATH_LOG2_E_REST 0x1.777d0ffda0d24p-56
/* 1 / ln 10 */
#define MATH_LOG10_E 0x1.bcb7b1526e50ep-2
#define MATH_LOG10_E_REST 0x1.95355baaafad3p-57
/* log2 10 */
#define MATH_LOG2_10 0x1.a934f0979a371p+1
#define MATH_LOG2_10_REST 0x1.7f2495fb7fa6dp-53
/* 1 / 3 */
#define MATH_THIRD 0x1.5555555555555p-2
#define MATH_THIRD_REST 0x1.5555555555555p-56
/* 1 / 5 */
#define MATH_FIFTH 0x1.999999999999ap-3
#define MATH_FIFTH_REST -0x1.999999999999ap-57
/* 2 / pi */
#define MATH_TWO_OVER_PI 0x1.45f306dc9c883p-1
#define MATH_TWO_OVER_PI_REST -0x1.6b01ec5417056p-55
/* 2 / sqrt pi */
#define MATH_TWO_OVER_ROOT_PI 0x1.20dd750429b6dp+0
#define MATH_TWO_OVER_ROOT_PI_REST 0x1.1ae3a914fed80p-56
/* ln(2 pi) / 2 */
#define MATH_HALF_LN_TWO_PI 0x1.d67f1c864beb5p-1
#define MATH_HALF_LN_TWO_PI_REST -0x1.65b5a1b7ff5dfp-55
/* ln pi */
#define MATH_LN_PI 0x1.250d048e7a1bdp+0
#define MATH_LN_PI_REST 0x1.7abf2ad8d5088p-57

/* A word of zeros, then the bits of 2 / pi after its point, highest first. */
static const uint64_t math_two_over_pi[21] = {
    UINT64_C(0),
    UINT64_C(0xa2f9836e4e441529), UINT64_C(0xfc2757d1f534ddc0), UINT64_C(0xdb6295993c439041), UINT64_C(0xfe5163abdebbc561),
    UINT64_C(0xb7246e3a424dd2e0), UINT64_C(0x06492eea09d1921c), UINT64_C(0xfe1deb1cb129a73e), UINT64_C(0xe88235f52ebb4484),
    UINT64_C(0xe99c7026b45f7e41), UINT64_C(0x3991d639835339f4), UINT64_C(0x9c845f8bbdf9283b), UINT64_C(0x1ff897ffde05980f),
    UINT64_C(0xef2f118b5a0a6d1f), UINT64_C(0x6d367ecf27cb09b7), UINT64_C(0x4f463f669e5fea2d), UINT64_C(0x7527bac7ebe5f17b),
    UINT64_C(0x3d0739f78a5292ea), UINT64_C(0x6bfb5fb11f8d5d08), UINT64_C(0x56033046fc7b6bab), UINT64_C(0xf0cfbc209af4361d),
};

/* (exp x - 1 - x - x^2/2) / x^3, x from -0.3468 to 0.3468: degree 9, error below 2^-55. */
MATH_INLINE double math_exp_tail(double x)
{
    double z = x * x;
    double even = 0x1.5555555555556p-3 + z * (0x1.11111111109aap-7 + z * (0x1.a01a01a7cadd6p-13 + z *
                  (0x1.71de0d944ea53p-19 + z * 0x1.af38e776d8a08p-26)));
    double odd = 0x1.5555555555556p-5 + z * (0x1.6c16c16c15db6p-10 + z * (0x1.a01a01a93df67p-16 + z *
                 (0x1.27e4d4bdf9833p-22 + z * 0x1.1f7f5124eb2c9p-29)));
    return even + x * odd;
}

/* (exp x - 1 - x) / x^2, x from -0.3468 to 0.3468: degree 9, weighted error below 2^-57. */
MATH_INLINE double math_exp_curve(double x)
{
    double z = x * x;
    double even = math_fused(z, math_fused(z, math_fused(z, math_fused(z, 0x1.28a7f1bac2ee4p-22,
                  0x1.a019a0d972f87p-16), 0x1.6c16c18139d7cp-10), 0x1.55555555518ddp-5), 0x1.0000000000006p-1);
    double odd = math_fused(z, math_fused(z, math_fused(z, math_fused(z, 0x1.af7ddcb60b1c0p-26,
                 0x1.71dde53d90be1p-19), 0x1.a01a01b817c9ep-13), 0x1.111111110dfeap-7), 0x1.555555555555ep-3);
    return math_fused(x, odd, even);
}

/* (sinh r - r) / r^3 of x = r^2, x from 0.0 to 0.1203: degree 5, error below 2^-56. */
MATH_INLINE double math_sinh_tail(double x)
{
    double z = x * x;
    double even = 0x1.5555555555555p-3 + z * (0x1.a01a01a0196a1p-13 + z * 0x1.ae642c6aa0e1dp-26);
    double odd = 0x1.1111111111111p-7 + z * (0x1.71de3a5aac475p-19 + z * 0x1.61bfd6e6e0c9ap-33);
    return even + x * odd;
}

/* (cosh r - 1 - r^2/2) / r^4 of x = r^2, x from 0.0 to 0.1203: degree 4, error below 2^-58. */
MATH_INLINE double math_cosh_tail(double x)
{
    return 0x1.5555555555555p-5 + x * (0x1.6c16c16c167dcp-10 + x * (0x1.a01a01a47edc7p-16 + x *
           (0x1.27e4e1e5ac504p-22 + x * 0x1.1f6702adb96bap-29)));
}

/* (2 atanh s - 2 s) / s^3 of x = s^2, x from 0.0 to 0.02944: degree 7, error below 2^-54. */
MATH_INLINE double math_log_tail(double x)
{
    double z = x * x;
    double even = math_fused(z, math_fused(z, math_fused(z, 0x1.0fbde05e573b5p-3, 0x1.745cf8df6e793p-3),
                  0x1.2492492476905p-2), 0x1.5555555555555p-1);
    double odd = math_fused(z, math_fused(z, math_fused(z, 0x1.0c0a8bd475011p-3, 0x1.3b1c3ca3a4754p-3),
                 0x1.c71c7201ba2bbp-3), 0x1.9999999999a39p-2);
    return math_fused(x, odd, even);
}

/* (atanh s - s - s^3/3 - s^5/5) / s^7 of x = s^2, x from 0.0 to 0.02944: degree 7, error below 2^-56. */
MATH_INLINE double math_power_tail(double x)
{
    double z = x * x;
    double even = 0x1.2492492492492p-3 + z * (0x1.745d1745a3908p-4 + z * (0x1.1110f7e8b5fc2p-4 + z *
                  0x1.acf73189c01f9p-5));
    double odd = 0x1.c71c71c71c825p-4 + z * (0x1.3b13b16b96ce2p-4 + z * (0x1.e1f005dcb032fp-5 + z *
                 0x1.b2eb4239bd25bp-5));
    return even + x * odd;
}

/* (sin r - r) / r^3 of x = r^2, x from 0.0 to 0.6175: degree 6, error below 2^-56. */
MATH_INLINE double math_sin_tail(double x)
{
    double z = x * x;
    double even = -0x1.5555555555555p-3 + z * (-0x1.a01a01a019930p-13 + z * (-0x1.ae6454110e2c5p-26 + z *
                  (-0x1.ab1704267e8f8p-41)));
    double odd = 0x1.1111111111110p-7 + z * (0x1.71de3a545f9b1p-19 + z * 0x1.61217dacec223p-33);
    return even + x * odd;
}

/* (cos r - 1 + r^2/2) / r^4 of x = r^2, x from 0.0 to 0.6175: degree 6, error below 2^-58. */
MATH_INLINE double math_cos_tail(double x)
{
    double z = x * x;
    double even = 0x1.5555555555555p-5 + z * (0x1.a01a01a019d07p-16 + z * (0x1.1eed8dead2aa6p-29 + z *
                  0x1.ab77a0cf3eb5dp-45));
    double odd = -0x1.6c16c16c16c16p-10 + z * (-0x1.27e4fb771265dp-22 + z * (-0x1.9394b8d29b731p-37));
    return even + x * odd;
}

/* (atan u - u) / u^3 of x = u^2, x from 0.0 to 0.1716: degree 14, error below 2^-55. */
MATH_INLINE double math_atan_tail(double x)
{
    double z = x * x;
    double even = -0x1.5555555555555p-2 + z * (-0x1.2492492492490p-3 + z * (-0x1.745d1745bfa42p-4 + z *
                  (-0x1.111110884bfe3p-4 + z * (-0x1.af26a0719ce7cp-5 + z * (-0x1.635debe4ca8cdp-5 + z *
                  (-0x1.1632b054d6a5cp-5 + z * (-0x1.533b99858dce8p-7)))))));
    double odd = 0x1.999999999999ap-3 + z * (0x1.c71c71c71c3fap-4 + z * (0x1.3b13b13742d6bp-4 + z *
                 (0x1.e1e1c79119ebap-5 + z * (0x1.8601c9b7d0d4ep-5 + z * (0x1.4256cb43529f1p-5 + z *
                 0x1.8fed74eb2c1cep-6)))));
    return even + x * odd;
}

/* (asin u - u) / u^3 of x = u^2, x from 0.0 to 0.2501: degree 13, error below 2^-56. */
MATH_INLINE double math_asin_tail(double x)
{
    double z = x * x;
    double even = 0x1.5555555555555p-3 + z * (0x1.6db6db6daae37p-5 + z * (0x1.6e8ba0fcc175cp-6 + z *
                  (0x1.c9901a5da2ac1p-7 + z * (0x1.3b13a32f7ae7ep-7 + z * (0x1.7db1da4d0de94p-9 + z *
                  (-0x1.428d995024795p-6))))));
    double odd = 0x1.3333333333393p-4 + z * (0x1.f1c71c7b2c7c3p-6 + z * (0x1.1c4f01112b1f6p-6 + z *
                 (0x1.7b093d70786cap-7 + z * (0x1.328d57e0d5e2ap-7 + z * (0x1.459a71c320e10p-6 + z *
                 0x1.e9ac566009958p-6)))));
    return even + x * odd;
}

/* (asinh u - u) / u^3 of x = u^2, x from 0.0 to 0.2501: degree 12, error below 2^-56. */
MATH_INLINE double math_asinh_tail(double x)
{
    double z = x * x;
    double even = -0x1.5555555555555p-3 + z * (-0x1.6db6db6db0edap-5 + z * (-0x1.6e8ba22789bcap-6 + z *
                  (-0x1.c996aa1387a68p-7 + z * (-0x1.3eb66ee469b87p-7 + z * (-0x1.a8c4074f736ddp-8 + z *
                  (-0x1.8ab3e596577c4p-10))))));
    double odd = 0x1.33333333332fep-4 + z * (0x1.f1c71c6da18e2p-6 + z * (0x1.1c4eaff22de6cp-6 + z *
                 (0x1.7a6413ce9b517p-7 + z * (0x1.0c3457e6523fep-7 + z * 0x1.0fe32d35df023p-8))));
    return even + x * odd;
}

/* the cube root of x, x from 0.5 to 4.0: degree 6, error below 2^-11. */
MATH_INLINE double math_cbrt_start(double x)
{
    double z = x * x;
    double even = 0x1.c7ac5781687a8p-2 + z * (-0x1.2df5e383781aep-1 + z * (-0x1.53edfffdad0fep-4 + z *
                  (-0x1.b85702ad2a244p-11)));
    double odd = 0x1.dcd787e7d2166p-1 + z * (0x1.23605b1c032cbp-2 + z * 0x1.aa7d41ae63780p-7);
    return even + x * odd;
}

/* (erf u / u - 2 / sqrt pi) / u^2 of x = u^2, x from 0.0 to 1.001: degree 12, error below 2^-55. */
MATH_INLINE double math_erf_tail(double x)
{
    return -0x1.812746b0379e7p-2 + x * (0x1.ce2f21a042be1p-4 + x * (-0x1.b82ce31288b21p-6 + x *
           (0x1.565bcd0e694a7p-8 + x * (-0x1.c02db3ffe1723p-11 + x * (0x1.f9a326e55d380p-14 + x *
           (-0x1.f4d25972adbf1p-17 + x * (0x1.b9e687f7440f5p-20 + x * (-0x1.5f7004b7d13bbp-23 + x *
           (0x1.fc6891b6faff8p-27 + x * (-0x1.4f169f981ec89p-30 + x * (0x1.83121436b38d4p-34 + x *
           (-0x1.33dd5e6a07239p-38))))))))))));
}

/* exp(u^2) erfc(u) (u + 1/2) of x = (u - 3) / (u + 3), x from -0.72 to 1.0: degree 25, error below 2^-55. */
MATH_INLINE double math_erfc_scaled(double x)
{
    return 0x1.40c522d7e4987p-1 + x * (-0x1.15c084bb9e8f3p-4 + x * (-0x1.85a15c58aa619p-6 + x *
           (0x1.098366a5b46b2p-4 + x * (-0x1.e88b803a487fcp-5 + x * (0x1.17ca2877f1690p-5 + x *
           (-0x1.8574c40c20929p-7 + x * (0x1.4b884e433983bp-10 + x * (0x1.ef1bdd94d3fccp-11 + x *
           (-0x1.98db50f2983e1p-12 + x * (-0x1.b9129f0d0c551p-15 + x * (0x1.065a3507db9cep-14 + x *
           (0x1.4c33a1a7884c6p-19 + x * (-0x1.513b4c4761218p-17 + x * (-0x1.8a0773f69e798p-22 + x *
           (0x1.d21092b8114dcp-20 + x * (0x1.853c801f30b61p-23 + x * (-0x1.4b445753d57e0p-22 + x *
           (-0x1.4361c6a1a9fa9p-24 + x * (0x1.bb5984c80bd88p-25 + x * (0x1.b758006317479p-26 + x *
           (-0x1.0df4a86997a1cp-27 + x * (-0x1.ea563b8d9eb7bp-28 + x * (0x1.ae7ccd8d5a296p-30 + x *
           (0x1.575e67d7d209dp-30 + x * (-0x1.b0efa1bb7cc3bp-32)))))))))))))))))))))))));
}

/* Stirling's series of log gamma after its factor 1/x, x being 1/x^2: 10 terms. */
MATH_INLINE double math_stirling_tail(double x)
{
    return 0x1.5555555555555p-4 + x * (-0x1.6c16c16c16c17p-9 + x * (0x1.a01a01a01a01ap-11 + x *
           (-0x1.3813813813814p-11 + x * (0x1.b951e2b18ff23p-11 + x * (-0x1.f6ab0d9993c7dp-10 + x *
           (0x1.a41a41a41a41ap-8 + x * (-0x1.e4286cb0f5398p-6 + x * (0x1.6fe96381e0680p-3 + x *
           (-0x1.6476701181f3ap+0)))))))));
}

/* (exp x - 1 - x) / x^2, x from -0.3468 to 0.3468: degree 5, error below 2^-29. */
MATH_INLINE double math_exp_tail_f32(double x)
{
    double z = x * x;
    double even = 0x1.0000000b9cff5p-1 + z * (0x1.5554e8c07ca52p-5 + z * 0x1.6d43823c40a2dp-10);
    double odd = 0x1.555555744979cp-3 + z * (0x1.1110ab35a26eep-7 + z * 0x1.a17e6d50e8251p-13);
    return even + x * odd;
}

/* (2 atanh s - 2 s) / s^3 of x = s^2, x from 0.0 to 0.02944: degree 3, error below 2^-29. */
MATH_INLINE double math_log_tail_f32(double x)
{
    return 0x1.5555554b9252cp-1 + x * (0x1.9999ebfa4f938p-2 + x * (0x1.245c0b5e9c1bfp-2 + x *
           0x1.ddd8e22561c74p-3));
}

/* (sin r - r) / r^3 of x = r^2, x from 0.0 to 0.6175: degree 3, error below 2^-35. */
MATH_INLINE double math_sin_tail_f32(double x)
{
    return -0x1.555555545d8b7p-3 + x * (0x1.11110dedac4c5p-7 + x * (-0x1.a013a54cfcd3fp-13 + x *
           0x1.6dbd3e089ad17p-19));
}

/* (cos r - 1 + r^2/2) / r^4 of x = r^2, x from 0.0 to 0.6175: degree 3, error below 2^-38. */
MATH_INLINE double math_cos_tail_f32(double x)
{
    return 0x1.55555555029ecp-5 + x * (-0x1.6c16bf53cfa4ep-10 + x * (0x1.a015c2e0d6eabp-16 + x *
           (-0x1.2523c0c19e793p-22)));
}

/* (atan u - u) / u^3 of x = u^2, x from 0.0 to 0.1716: degree 7, error below 2^-40. */
MATH_INLINE double math_atan_tail_f32(double x)
{
    double z = x * x;
    double even = -0x1.555555555294fp-2 + z * (-0x1.2492412cd2ddep-3 + z * (-0x1.741727aa01527p-4 + z *
                  (-0x1.ee297f150e7e8p-5)));
    double odd = 0x1.9999998941f95p-3 + z * (0x1.c71979dc86d4dp-4 + z * (0x1.378a631c62e00p-4 + z *
                 0x1.0ea77cc1b1320p-5));
    return even + x * odd;
}

/* (asin u - u) / u^3 of x = u^2, x from 0.0 to 0.2501: degree 6, error below 2^-32. */
MATH_INLINE double math_asin_tail_f32(double x)
{
    double z = x * x;
    double even = 0x1.5555555ce9dd3p-3 + z * (0x1.6dc1b37aa0e5bp-5 + z * (0x1.83a7a4fd1e558p-6 + z *
                  0x1.ff5346b4ffe14p-6));
    double odd = 0x1.33331cbd668b5p-4 + z * (0x1.efd3ab3f93fbcp-6 + z * 0x1.54c814a4bd200p-7);
    return even + x * odd;
}

#endif
