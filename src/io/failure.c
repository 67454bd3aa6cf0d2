/* The words of failures at run time, in both dialects. */
#include "io/failure.h"
#include "io/value.h"

#include <inttypes.h>
#include <string.h>

void failure_init(Failure *failure, Memory *memory)
{
    *failure = (Failure){0};
    text_init(&failure->text, memory);
}

void failure_free(Failure *failure)
{
    text_free(&failure->text);
}

Failure *failure_at(Failure *failure, const Sources *sources, Span span)
{
    const Source *source = sources_find(sources, span.start);
    failure->span = span;
    failure->is_nesl = source != NULL && source->dialect == DIALECT_NESL;
    return failure;
}

void failure_report(const Failure *failure, Diagnostics *diagnostics)
{
    diagnostics_error(diagnostics, failure->code, failure->span, "%s", text_string(&failure->text));
}

/* ---- saying it ---- */

static Text *start(Failure *failure, ErrorCode code)
{
    failure->code = code;
    text_clear(&failure->text);
    return &failure->text;
}

__attribute__((format(printf, 3, 4))) static bool say(Failure *failure, ErrorCode code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_add_list(start(failure, code), format, arguments);
    va_end(arguments);
    return false;
}

/* In the words of the dialect; both are given the same arguments. */
__attribute__((format(printf, 3, 5), format(printf, 4, 5))) static bool
say_in(Failure *failure, ErrorCode code, const char *runnel, const char *nesl, ...)
{
    va_list arguments;
    va_start(arguments, nesl);
    text_add_list(start(failure, code), failure->is_nesl ? nesl : runnel, arguments);
    va_end(arguments);
    return false;
}

static void add_shown(Text *text, const char *bytes, size_t length)
{
    const char *zero = length == 0 ? NULL : memchr(bytes, '\0', length);
    text_add_bytes(text, bytes, zero == NULL ? length : (size_t)(zero - bytes));
}

/* ---- the run itself ---- */

/* A time as one would write it: without zeros at its end. */
static void add_seconds(Text *text, uint64_t milliseconds)
{
    text_addf(text, "%" PRIu64, milliseconds / 1000);
    uint64_t rest = milliseconds % 1000, digit = 100;
    for (text_add(text, rest > 0 ? "." : ""); rest > 0; digit /= 10) {
        text_addf(text, "%" PRIu64, rest / digit);
        rest %= digit;
    }
    text_add(text, milliseconds == 1000 ? " second" : " seconds");
}

bool failure_stopped(Failure *failure, const StopFlag *stop)
{
    if (stop_reason(stop) == STOP_INTERRUPTED)
        return say(failure, ERROR_INTERRUPTED, "interrupted");
    Text *text = start(failure, ERROR_TIME_LIMIT);
    text_add(text, "the run took longer than the ");
    add_seconds(text, stop->time_limit_milliseconds);
    text_add(text, " that --time allows");
    return false;
}

bool failure_memory(Failure *failure, uint64_t limit)
{
    return say(failure, ERROR_OUT_OF_MEMORY, "more than the %" PRIu64 " bytes that --memory allows are needed", limit);
}

bool failure_too_deep(Failure *failure, uint64_t max_depth)
{
    return say(failure, ERROR_TOO_DEEP, "more than %" PRIu64 " calls are nested in each other", max_depth);
}

bool failure_no_value(Failure *failure, const char *global)
{
    return say(failure, ERROR_BAD_ARGUMENT, "%s has no value, for its definition failed",
               global[0] == '\0' ? "this binding" : global);
}

/* ---- scalars ---- */

static bool fail_division(Failure *failure, Op op)
{
    if (op == OP_REMAINDER)
        return say_in(failure, ERROR_DIVISION_BY_ZERO, "division by zero in rem", "Divide by zero in function REM.");
    if (op == OP_MODULO)
        return say_in(failure, ERROR_DIVISION_BY_ZERO, "division by zero in mod", "Divide by zero in function MOD.");
    return say_in(failure, ERROR_DIVISION_BY_ZERO, "division by zero", "Divide by zero.");
}

static bool fail_power(Failure *failure, int64_t exponent)
{
    return say_in(failure, ERROR_BAD_ARGUMENT, "the exponent of ^ must not be negative, it is %" PRId64,
                  "The power must be nonnegative for ^ . (%" PRId64 ")", exponent);
}

/* A float that is outside the range of an integer type; characters have the codes of all integers. */
static bool fail_conversion(Failure *failure, ScalarType operand, ScalarType target, Scalar value)
{
    Text *text = start(failure, ERROR_CONVERSION_RANGE);
    bool is_nan = scalar_is_nan(operand, value).bits != 0;
    value_print_scalar(operand, value, VALUE_STYLE_RUNNEL, text);
    text_addf(text, is_nan ? " cannot be converted to %s" : " is outside the range of %s",
              scalar_name(target == SCALAR_CHAR ? SCALAR_I64 : target));
    return false;
}

bool failure_scalar(Failure *failure, Op op, ScalarType operand, ScalarType target, const Scalar *arguments)
{
    if (op == OP_DIVIDE || op == OP_REMAINDER || op == OP_MODULO)
        return fail_division(failure, op);
    if (op == OP_POWER)
        return fail_power(failure, arguments[1].integer);
    return fail_conversion(failure, operand, target, arguments[0]);
}

bool failure_rand(Failure *failure, ScalarType type, Scalar limit)
{
    Text *text = start(failure, ERROR_BAD_ARGUMENT);
    text_add(text, failure->is_nesl ? "Rand only works with positive numbers. ("
                                    : "rand needs a positive number, not ");
    value_print_scalar(type, limit, VALUE_STYLE_RUNNEL, text);
    text_add(text, failure->is_nesl ? ")" : "");
    return false;
}

bool failure_hash(Failure *failure, int64_t limit)
{
    return say(failure, ERROR_BAD_ARGUMENT, "hash needs a positive number, not %" PRId64, limit);
}

bool failure_exp_string(Failure *failure, int64_t digits)
{
    return say(failure, ERROR_BAD_ARGUMENT, "exp_string needs a positive number of digits, not %" PRId64, digits);
}

/* ---- lengths and indices ---- */

/* NESL's complaint about an index, null where it has none of its own. */
static const char *nesl_index_complaint(Op op)
{
    if (op == OP_ELEMENT)
        return "Sequence reference (a[i]) out of bounds.";
    if (op == OP_READ)
        return "Index out of bounds for function ->.";
    if (op == OP_WRITE)
        return "Index out of bounds for function <-.";
    return op == OP_PERMUTE ? "Bad arguments to function PERMUTE." : NULL;
}

bool failure_index(Failure *failure, Op op, int64_t index, uint64_t length)
{
    const char *nesl = nesl_index_complaint(op);
    if (failure->is_nesl && nesl != NULL)
        return say(failure, ERROR_INDEX_RANGE, "%s (index %" PRId64 ", length %" PRIu64 ")", nesl, index, length);
    return say(failure, ERROR_INDEX_RANGE, "index %" PRId64 " is outside a vector of length %" PRIu64, index, length);
}

bool failure_comprehension_lengths(Failure *failure, uint64_t a, uint64_t b)
{
    return say_in(failure, ERROR_LENGTH_MISMATCH, "the lengths differ: %" PRIu64 " and %" PRIu64,
                  "Length mismatch in an apply-to-each. (%" PRIu64 " and %" PRIu64 ")", a, b);
}

bool failure_lengths(Failure *failure, Op op, uint64_t a, uint64_t b)
{
    static const char runnel[] = "the lengths differ: %" PRIu64 " and %" PRIu64;
    if (op == OP_ZIP)
        return say_in(failure, ERROR_LENGTH_MISMATCH, runnel,
                      "Length mismatch in function ZIP. (%" PRIu64 " and %" PRIu64 ")", a, b);
    if (op == OP_PERMUTE)
        return say_in(failure, ERROR_LENGTH_MISMATCH, runnel,
                      "Bad arguments to function PERMUTE. (lengths %" PRIu64 " and %" PRIu64 ")", a, b);
    return say(failure, ERROR_LENGTH_MISMATCH, runnel, a, b);
}

bool failure_the(Failure *failure, uint64_t length)
{
    return say(failure, ERROR_NOT_SINGLETON, "the needs exactly one element, there are %" PRIu64, length);
}

bool failure_subseq(Failure *failure, int64_t start, int64_t end, uint64_t length)
{
    return say_in(failure, ERROR_INDEX_RANGE,
                  "the slice [%" PRId64 ":%" PRId64 "] is outside a vector of length %" PRIu64,
                  "Bounds error for function SUBSEQ. (start %" PRId64 ", end %" PRId64 ", length %" PRIu64 ")", start,
                  end, length);
}

bool failure_cut(Failure *failure, Op op, int64_t count, uint64_t length)
{
    if (op == OP_TAKE)
        return say_in(failure, ERROR_INDEX_RANGE, "take of %" PRId64 " from a container of length %" PRIu64,
                      "Bounds error for function TAKE. (%" PRId64 ", length %" PRIu64 ")", count, length);
    return say_in(failure, ERROR_INDEX_RANGE, "drop of %" PRId64 " from a container of length %" PRIu64,
                  "Bounds error for function DROP. (%" PRId64 ", length %" PRIu64 ")", count, length);
}

bool failure_cut_sequence(Failure *failure, Op op, int64_t count)
{
    return say(failure, ERROR_NEGATIVE_COUNT,
               "the count of %s on a sequence must not be negative, but it is %" PRId64, op_name(op), count);
}

bool failure_interleave(Failure *failure, uint64_t a, uint64_t b)
{
    return say_in(failure, ERROR_LENGTH_MISMATCH,
                  "the lengths %" PRIu64 " and %" PRIu64 " differ by more than one",
                  "Length mismatch for function INTERLEAVE. (lengths %" PRIu64 " and %" PRIu64 ")", a, b);
}

bool failure_transpose(Failure *failure, uint64_t row, uint64_t length, uint64_t length_before)
{
    return say_in(failure, ERROR_LENGTH_MISMATCH,
                  "row %" PRIu64 " has length %" PRIu64 ", but the rows before it have length %" PRIu64,
                  "Lengths of subsequences are not equal in function TRANSPOSE. (row %" PRIu64 " has length %" PRIu64
                  ", the rows before it %" PRIu64 ")",
                  row, length, length_before);
}

bool failure_repeated(Failure *failure, int64_t index, uint64_t first, uint64_t second)
{
    return say_in(failure, ERROR_BAD_PERMUTATION,
                  "index %" PRId64 " occurs twice, at positions %" PRIu64 " and %" PRIu64,
                  "Bad arguments to function PERMUTE. (index %" PRId64 " at positions %" PRIu64 " and %" PRIu64 ")",
                  index, first, second);
}

/* ---- ranges ---- */

bool failure_negative_count(Failure *failure, int64_t count)
{
    return say(failure, ERROR_NEGATIVE_COUNT, "a count must not be negative, but this one is %" PRId64, count);
}

bool failure_range_step(Failure *failure)
{
    return say(failure, ERROR_BAD_ARGUMENT, "the step of a range must not be zero");
}

bool failure_nesl_range(Failure *failure, int64_t first, int64_t end, int64_t step)
{
    return say_in(failure, ERROR_BAD_ARGUMENT,
                  "in [s:e:d], e must not be below s and d must be positive: [%" PRId64 ":%" PRId64 ":%" PRId64 "]",
                  "In [s:e:l], e must be >= to s, and l must be positive. (s %" PRId64 ", e %" PRId64 ", l %" PRId64
                  ")",
                  first, end, step);
}

/* ---- flags and parts ---- */

bool failure_flag_merge(Failure *failure, uint64_t falses, uint64_t trues, uint64_t xs, uint64_t ys)
{
    return say(failure, ERROR_LENGTH_MISMATCH,
               "the flags of flag_merge are %" PRIu64 " times false and %" PRIu64 " times true, but there are %" PRIu64
               " and %" PRIu64 " elements",
               falses, trues, xs, ys);
}

bool failure_part_end(Failure *failure)
{
    return say(failure, ERROR_BAD_PARTITION, "the flags of part must end in true");
}

bool failure_part(Failure *failure, uint64_t falses, uint64_t length)
{
    return say(failure, ERROR_BAD_PARTITION,
               "the flags of part have %" PRIu64 " times false for %" PRIu64 " elements", falses, length);
}

bool failure_part_length(Failure *failure, uint64_t part, int64_t count)
{
    return say(failure, ERROR_NEGATIVE_COUNT,
               "the length of a part must not be negative, number %" PRIu64 " is %" PRId64, part, count);
}

bool failure_partition(Failure *failure, uint64_t total, uint64_t length)
{
    return say_in(failure, ERROR_BAD_PARTITION,
                  "the lengths of the parts add up to %" PRIu64 ", the vector has length %" PRIu64,
                  "Length mismatch in function PARTITION. (%" PRIu64 " and %" PRIu64 ")", total, length);
}

/* ---- texts ---- */

bool failure_raise(Failure *failure, ErrorCode code, const char *message, size_t length)
{
    add_shown(start(failure, code), message, length);
    return false;
}

bool failure_user_error(Failure *failure, const char *message, size_t length)
{
    return failure_raise(failure, ERROR_USER_ERROR, message, length);
}

bool failure_not_provided(Failure *failure, const char *name, size_t length)
{
    failure_raise(failure, ERROR_NOT_PROVIDED_HERE, name, length);
    text_add(&failure->text, " is not provided by Runnel");
    return false;
}

bool failure_cannot_read(Failure *failure, const char *path, size_t length, const char *reason)
{
    Text *text = start(failure, ERROR_IO_FAILURE);
    text_add(text, "cannot read ");
    add_shown(text, path, length);
    text_addf(text, ": %s", reason);
    return false;
}
