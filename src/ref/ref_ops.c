/* Every operation by its row of the table: which function computes it. */
#include "math/elementary.h"
#include "ref/ref_private.h"

#include <inttypes.h>

/* ---- shapes of operations ---- */

static ScalarType scalar_of(const OpCall *call, TypeId type)
{
    return type_scalar(call->machine->types, type);
}

static bool unary(OpCall *call, ScalarUnary function)
{
    call->result.scalar = function(scalar_of(call, ref_argument_type(call, 0)), call->arguments[0].scalar);
    return true;
}

static bool binary(OpCall *call, ScalarBinary function)
{
    call->result.scalar = function(scalar_of(call, ref_argument_type(call, 0)), call->arguments[0].scalar,
                                   call->arguments[1].scalar);
    return true;
}

/* The type of the elements of the first argument. */
static ScalarType folded(const OpCall *call)
{
    Types *types = call->machine->types;
    return scalar_of(call, type_element(types, ref_representation(types, ref_argument_type(call, 0))));
}

static bool give_integer(OpCall *call, int64_t value)
{
    call->result.scalar.integer = value;
    return true;
}

static bool give_f64(OpCall *call, double value)
{
    call->result.scalar.f64 = math_canonical(value);
    return true;
}

static bool give_f32(OpCall *call, float value)
{
    call->result.scalar.f32 = math_canonical_f32(value);
    return true;
}

/* Shares the first argument: what is only another view of it. */
static bool same_value(OpCall *call)
{
    call->result = value_share(call->machine->types, ref_argument_type(call, 0), call->arguments[0]);
    return true;
}

static bool compare(OpCall *call, unsigned accepted)
{
    Order order =
        ref_order(call->machine->types, ref_argument_type(call, 0), call->arguments[0], call->arguments[1]);
    return give_integer(call, (order & accepted) != 0);
}

static bool is_f32(const OpCall *call)
{
    return scalar_of(call, ref_argument_type(call, 0)) == SCALAR_F32;
}

static bool math_unary(OpCall *call, double (*function)(double), float (*function_f32)(float))
{
    Scalar x = call->arguments[0].scalar;
    return is_f32(call) ? give_f32(call, function_f32(x.f32)) : give_f64(call, function(x.f64));
}

static bool math_binary(OpCall *call, double (*function)(double, double), float (*function_f32)(float, float))
{
    Scalar x = call->arguments[0].scalar, y = call->arguments[1].scalar;
    return is_f32(call) ? give_f32(call, function_f32(x.f32, y.f32)) : give_f64(call, function(x.f64, y.f64));
}

static bool fused_multiply_add(OpCall *call)
{
    Scalar x = call->arguments[0].scalar, y = call->arguments[1].scalar, z = call->arguments[2].scalar;
    return is_f32(call) ? give_f32(call, math_fma_f32(x.f32, y.f32, z.f32))
                        : give_f64(call, math_fma(x.f64, y.f64, z.f64));
}

static bool load_exponent(OpCall *call)
{
    Scalar x = call->arguments[0].scalar;
    int64_t n = call->arguments[1].scalar.integer;
    return is_f32(call) ? give_f32(call, math_ldexp_f32(x.f32, n)) : give_f64(call, math_ldexp(x.f64, n));
}

static double widened(const OpCall *call)
{
    Scalar x = call->arguments[0].scalar;
    return is_f32(call) ? (double)x.f32 : x.f64;
}

static bool hash(OpCall *call)
{
    int64_t limit = call->arguments[1].scalar.integer;
    if (limit <= 0)
        return ref_fail(call->machine, ERROR_BAD_ARGUMENT, call->statement->span,
                        "hash needs a positive number, not %" PRId64, limit);
    uint64_t bits = ref_hash(call->machine->types, ref_argument_type(call, 0), call->arguments[0], 0);
    return give_integer(call, (int64_t)random_below(bits, (uint64_t)limit));
}

static bool same(OpCall *call)
{
    int order =
        value_compare(call->machine->types, ref_argument_type(call, 0), call->arguments[0], call->arguments[1]);
    return give_integer(call, order == 0);
}

static bool seed_random(OpCall *call)
{
    call->machine->random = (RandomState){.key = call->arguments[0].scalar.bits, .counter = 0};
    return give_integer(call, 1);
}

static bool random_number(OpCall *call)
{
    uint64_t bits = random_hash(call->arguments[0].scalar.bits, call->arguments[1].scalar.bits);
    return give_f64(call, random_unit_f64(bits));
}

static bool identity(OpCall *call)
{
    call->result = ref_identity(call->machine, ref_result_type(call));
    return true;
}

/* ---- the table ---- */

#define MATH_ONE(name) math_unary(call, math_##name, math_##name##_f32)
#define MATH_TWO(name) math_binary(call, math_##name, math_##name##_f32)
#define FOLDED_INT(value) ref_scalar_of_int(folded(call), value)

bool ref_op(OpCall *call)
{
    switch (call->statement->op) {
    case OP_ADD: return binary(call, ref_add);
    case OP_SUBTRACT: return binary(call, ref_subtract);
    case OP_MULTIPLY: return binary(call, ref_multiply);
    case OP_DIVIDE: return ref_op_divide(call);
    case OP_REMAINDER: return ref_op_remainder(call);
    case OP_MODULO: return ref_op_modulo(call);
    case OP_NEGATE: return unary(call, ref_negate);
    case OP_ABSOLUTE: return unary(call, ref_absolute);
    case OP_MINIMUM: return binary(call, ref_minimum);
    case OP_MAXIMUM: return binary(call, ref_maximum);
    case OP_POWER: return ref_op_power(call);
    case OP_SHIFT_LEFT: return ref_op_shift_left(call);
    case OP_SHIFT_RIGHT: return ref_op_shift_right(call);

    case OP_POPCOUNT: return unary(call, ref_popcount);
    case OP_LEADING_ZEROS: return unary(call, ref_leading_zeros);
    case OP_TRAILING_ZEROS: return unary(call, ref_trailing_zeros);
    case OP_ROTATE_BITS: return ref_op_rotate_bits(call);
    case OP_REVERSE_BITS: return unary(call, ref_reverse_bits);
    case OP_FLOAT_BITS: return same_value(call);
    case OP_BITS_FLOAT: return ref_op_bits_float(call);
    case OP_F32_BITS: return ref_op_f32_bits(call);
    case OP_BITS_F32: return ref_op_bits_f32(call);

    case OP_EQUAL: return compare(call, ORDER_EQUAL);
    case OP_NOT_EQUAL: return compare(call, ORDER_LESS | ORDER_GREATER | ORDER_NONE);
    case OP_LESS: return compare(call, ORDER_LESS);
    case OP_LESS_EQUAL: return compare(call, ORDER_LESS | ORDER_EQUAL);
    case OP_GREATER: return compare(call, ORDER_GREATER);
    case OP_GREATER_EQUAL: return compare(call, ORDER_GREATER | ORDER_EQUAL);
    case OP_AND: return binary(call, ref_and);
    case OP_OR: return binary(call, ref_or);
    case OP_XOR: return binary(call, ref_xor);
    case OP_NAND: return binary(call, ref_nand);
    case OP_NOR: return binary(call, ref_nor);
    case OP_NOT: return unary(call, ref_not);
    case OP_SAME: return same(call);

#define SCALAR(ID, name, c_type, kind)                                                                                \
    case OP_TO_##ID: return ref_op_convert(call, SCALAR_##ID);
#include "ops/scalars.def"
#undef SCALAR
    case OP_BTOI: return ref_op_convert(call, SCALAR_I64);
    case OP_CODE_CHAR: return ref_op_convert(call, SCALAR_CHAR);
    case OP_CHAR_CODE: return ref_op_convert(call, SCALAR_I64);
    case OP_FLOOR: return ref_op_float_to_int(call, floor);
    case OP_CEIL: return ref_op_float_to_int(call, ceil);
    case OP_TRUNC: return ref_op_float_to_int(call, trunc);
    case OP_ROUND: return ref_op_float_to_int(call, round);

    case OP_CONVERT: return ref_op_convert(call, scalar_of(call, ref_result_type(call)));

    case OP_SQRT: return MATH_ONE(sqrt);
    case OP_LN: return MATH_ONE(ln);
    case OP_LOG_BASE: return MATH_TWO(log_base);
    case OP_LOG2: return MATH_ONE(log2);
    case OP_LOG10: return MATH_ONE(log10);
    case OP_LOG1P: return MATH_ONE(log1p);
    case OP_EXP: return MATH_ONE(exp);
    case OP_EXP2: return MATH_ONE(exp2);
    case OP_EXP10: return MATH_ONE(exp10);
    case OP_EXPM1: return MATH_ONE(expm1);
    case OP_EXPT: return MATH_TWO(pow);
    case OP_CBRT: return MATH_ONE(cbrt);
    case OP_HYPOT: return MATH_TWO(hypot);
    case OP_SIN: return MATH_ONE(sin);
    case OP_COS: return MATH_ONE(cos);
    case OP_TAN: return MATH_ONE(tan);
    case OP_ASIN: return MATH_ONE(asin);
    case OP_ACOS: return MATH_ONE(acos);
    case OP_ATAN: return MATH_ONE(atan);
    case OP_ATAN2: return MATH_TWO(atan2);
    case OP_SINH: return MATH_ONE(sinh);
    case OP_COSH: return MATH_ONE(cosh);
    case OP_TANH: return MATH_ONE(tanh);
    case OP_ASINH: return MATH_ONE(asinh);
    case OP_ACOSH: return MATH_ONE(acosh);
    case OP_ATANH: return MATH_ONE(atanh);
    case OP_ERF: return MATH_ONE(erf);
    case OP_ERFC: return MATH_ONE(erfc);
    case OP_GAMMA: return MATH_ONE(gamma);
    case OP_LGAMMA: return MATH_ONE(lgamma);
    case OP_FMA: return fused_multiply_add(call);
    case OP_FMOD: return MATH_TWO(fmod);
    case OP_IEEE_REMAINDER: return MATH_TWO(remainder);
    case OP_FDIM: return MATH_TWO(fdim);
    case OP_FLOOR_FLOAT: return MATH_ONE(floor);
    case OP_CEIL_FLOAT: return MATH_ONE(ceil);
    case OP_TRUNC_FLOAT: return MATH_ONE(trunc);
    case OP_ROUND_FLOAT: return MATH_ONE(round);
    case OP_ROUND_EVEN: return MATH_ONE(round_even);
    case OP_COPYSIGN: return MATH_TWO(copysign);
    case OP_NEXTAFTER: return MATH_TWO(nextafter);
    case OP_LDEXP: return load_exponent(call);
    case OP_LOGB: return MATH_ONE(logb);
    case OP_SIGNIFICAND: return MATH_ONE(significand);
    case OP_IS_NAN: return give_integer(call, math_is_nan(widened(call)));
    case OP_IS_INF: return give_integer(call, math_is_inf(widened(call)));
    case OP_IS_FINITE: return give_integer(call, math_is_finite(widened(call)));
    case OP_SIGNBIT: return give_integer(call, math_signbit(widened(call)));
    case OP_PI: return give_f64(call, 0x1.921fb54442d18p+1);
    case OP_MAX_INT: return give_integer(call, INT64_MAX);
    case OP_MIN_INT: return give_integer(call, INT64_MIN);
    case OP_NAN: return give_f64(call, (double)NAN);
    case OP_INF: return give_f64(call, (double)INFINITY);

    case OP_IOTA: return ref_op_iota(call);
    case OP_RANGE: return ref_op_range(call);
    case OP_RANGE_INCLUSIVE: return ref_op_range_inclusive(call);
    case OP_NESL_RANGE: return ref_op_nesl_range(call);
    case OP_SEQ: return same_value(call);
    case OP_TAB: return same_value(call);
    case OP_APPEND: return ref_op_append(call);
    case OP_CONCAT: return ref_op_concat(call);
    case OP_FLATTEN: return ref_op_concat(call);
    case OP_PART: return ref_op_part(call);
    case OP_FLAG_PARTITION: return ref_op_flag_partition(call);
    case OP_PARTITION: return ref_op_partition(call);
    case OP_ZIP: return ref_op_zip(call);
    case OP_CONS: return ref_op_cons(call);
    case OP_SNOC: return ref_op_snoc(call);
    case OP_FLAG_MERGE: return ref_op_flag_merge(call);

    case OP_LENGTH: return give_integer(call, (int64_t)call->arguments[0].object->count);
    case OP_EMPTY: return give_integer(call, call->arguments[0].object->count == 0);
    case OP_THE: return ref_op_the(call);
    case OP_ELEMENT: return ref_op_element(call);
    case OP_SUBSEQ: return ref_op_subseq(call);
    case OP_TAKE: return ref_op_take(call);
    case OP_DROP: return ref_op_drop(call);
    case OP_PREVIOUS: return ref_op_previous(call);
    case OP_NEXT: return ref_op_next(call);
    case OP_INTERLEAVE: return ref_op_interleave(call);
    case OP_TRANSPOSE: return ref_op_transpose(call);

    case OP_SUM: return ref_op_reduce(call, ref_add, FOLDED_INT(0));
    case OP_PRODUCT: return ref_op_reduce(call, ref_multiply, FOLDED_INT(1));
    case OP_MAX_VAL: return ref_op_reduce(call, ref_maximum, ref_least(folded(call)));
    case OP_MIN_VAL: return ref_op_reduce(call, ref_minimum, ref_greatest(folded(call)));
    case OP_ANY: return ref_op_reduce(call, ref_or, FOLDED_INT(0));
    case OP_ALL: return ref_op_reduce(call, ref_and, ref_all_ones(folded(call)));
    case OP_PARITY: return ref_op_reduce(call, ref_xor, FOLDED_INT(0));
    case OP_COUNT_TRUE: return ref_op_count_true(call);

    case OP_PLUS_SCAN: return ref_op_scan(call, ref_add, FOLDED_INT(0));
    case OP_MULT_SCAN: return ref_op_scan(call, ref_multiply, FOLDED_INT(1));
    case OP_MAX_SCAN: return ref_op_scan(call, ref_maximum, ref_least(folded(call)));
    case OP_MIN_SCAN: return ref_op_scan(call, ref_minimum, ref_greatest(folded(call)));
    case OP_OR_SCAN: return ref_op_scan(call, ref_or, FOLDED_INT(0));
    case OP_AND_SCAN: return ref_op_scan(call, ref_and, ref_all_ones(folded(call)));
    case OP_XOR_SCAN: return ref_op_scan(call, ref_xor, FOLDED_INT(0));
    case OP_PLUS_SCAN_INCLUSIVE: return ref_op_scan_inclusive(call, ref_add);
    case OP_MULT_SCAN_INCLUSIVE: return ref_op_scan_inclusive(call, ref_multiply);
    case OP_MAX_SCAN_INCLUSIVE: return ref_op_scan_inclusive(call, ref_maximum);
    case OP_MIN_SCAN_INCLUSIVE: return ref_op_scan_inclusive(call, ref_minimum);
    case OP_OR_SCAN_INCLUSIVE: return ref_op_scan_inclusive(call, ref_or);
    case OP_AND_SCAN_INCLUSIVE: return ref_op_scan_inclusive(call, ref_and);
    case OP_XOR_SCAN_INCLUSIVE: return ref_op_scan_inclusive(call, ref_xor);

    case OP_READ: return ref_op_read(call);
    case OP_WRITE: return ref_op_write(call);
    case OP_PUT: return ref_op_put(call);
    case OP_PERMUTE: return ref_op_permute(call);
    case OP_REPLACE: return ref_op_replace(call);
    case OP_GRADE: return ref_op_grade(call, false);
    case OP_GRADE_DOWN: return ref_op_grade(call, true);

    case OP_IDENTITY: return identity(call);
    case OP_ELEMENT_IDENTITY: return identity(call);
    case OP_HASH: return hash(call);
    case OP_STRING: return ref_op_string(call);
    case OP_EXP_STRING: return ref_op_exp_string(call);
    case OP_PARSE_INT: return ref_op_parse_number(call, SCALAR_I64);
    case OP_PARSE_FLOAT: return ref_op_parse_number(call, SCALAR_F64);

    case OP_RAND: return ref_op_rand(call);
    case OP_RAND_SEED: return seed_random(call);
    case OP_RANDOM: return random_number(call);

    case OP_PRINT_STRING: return ref_op_print_string(call);
    case OP_CLOCK: return ref_op_clock(call);
    case OP_FAIL: return ref_op_user_error(call);
    case OP_NOT_PROVIDED: return ref_op_not_provided(call);
    case OP_LINES: return ref_op_lines(call);
    case OP_ENVIRONMENT_VARIABLE: return ref_op_environment_variable(call);
    case OP_OPEN_FILE: return ref_op_open_file(call);
    case OP_CLOSE_FILE: return ref_op_close_file(call);
    case OP_READ_CHARS: return ref_op_read_chars(call);
    case OP_WRITE_CHARS: return ref_op_write_chars(call);
    case OP_READ_VALUE: return ref_op_read_value(call);
    case OP_WRITE_VALUE: return ref_op_write_value(call);
    case OP_RAISE: return ref_op_raise(call);

    case OP_REDUCE:
    case OP_SCAN:
    case OP_SCAN_INCLUSIVE:
    case OP_PUT_WITH:
    case OP_MULTISCAN:
    case OP_COUNT:
        break; /* loops of the machine (ref_loop.c), and no operation at all */
    }
    bug("ref_op", "%s is not computed here", op_name(call->statement->op));
}
