/* Every operation by its row of the table: which function computes it. */
#include "ref/ref_private.h"

/* ---- shapes of operations ---- */

static ScalarType scalar_of(const OpCall *call, TypeId type)
{
    return type_scalar(call->machine->types, type);
}

/* The type of the elements of the first argument. */
static ScalarType folded(const OpCall *call)
{
    Types *types = call->machine->types;
    return scalar_of(call, type_element(types, type_underlying(types, ref_argument_type(call, 0))));
}

bool ref_give_integer(OpCall *call, int64_t value)
{
    call->result.scalar.integer = value;
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
        value_order(call->machine->types, ref_argument_type(call, 0), call->arguments[0], call->arguments[1]);
    return ref_give_integer(call, (order & accepted) != 0);
}

static bool hash(OpCall *call)
{
    int64_t limit = call->arguments[1].scalar.integer;
    if (limit <= 0)
        return failure_hash(ref_op_failure(call), limit);
    uint64_t bits = value_hash(call->machine->types, ref_argument_type(call, 0), call->arguments[0], 0);
    return ref_give_integer(call, (int64_t)random_below(bits, (uint64_t)limit));
}

static bool same(OpCall *call)
{
    int order =
        value_compare(call->machine->types, ref_argument_type(call, 0), call->arguments[0], call->arguments[1]);
    return ref_give_integer(call, order == 0);
}

static bool seed_random(OpCall *call)
{
    call->machine->random = (RandomState){.key = call->arguments[0].scalar.bits, .counter = 0};
    return ref_give_integer(call, 1);
}

static bool identity(OpCall *call)
{
    call->result = value_identity(&call->machine->heap, call->machine->types, ref_result_type(call));
    return true;
}

/* ---- the table ---- */

#define FOLDED_INT(value) scalar_of_int(folded(call), value)

bool ref_op(OpCall *call)
{
    switch (call->statement->op) {
#define SCALAR_COMPARISON(OP, orders)                                                                                 \
    case OP_##OP: return compare(call, orders);
#include "math/scalar_ops.def"

#define SCALAR_UNARY(OP, function) case OP_##OP:
#define SCALAR_BINARY(OP, function) case OP_##OP:
#define SCALAR_PARTIAL(OP, function) case OP_##OP:
#define SCALAR_MATH_1(OP, name) case OP_##OP:
#define SCALAR_MATH_2(OP, name) case OP_##OP:
#include "math/scalar_ops.def"
        return ref_op_scalar(call);
    case OP_SAME: return same(call);

    case OP_IOTA: return ref_op_iota(call);
    case OP_INDICES: return ref_op_iota(call);
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
    case OP_WORDS: return ref_op_words(call);
    case OP_ZIP: return ref_op_zip(call);
    case OP_CONS: return ref_op_cons(call);
    case OP_SNOC: return ref_op_snoc(call);
    case OP_FLAG_MERGE: return ref_op_flag_merge(call);

    case OP_LENGTH: return ref_give_integer(call, (int64_t)call->arguments[0].object->count);
    case OP_EMPTY: return ref_give_integer(call, call->arguments[0].object->count == 0);
    case OP_THE: return ref_op_the(call);
    case OP_ELEMENT: return ref_op_element(call);
    case OP_SUBSEQ: return ref_op_subseq(call);
    case OP_INSIDE: return ref_op_inside(call);
    case OP_SLICE: return ref_op_slice(call);
    case OP_CHECKED_INDEX: return ref_op_checked_index(call);
    case OP_COMMON_LENGTH: return ref_op_common_length(call);
    case OP_TAKEN: return ref_op_cut(call, OP_TAKE);
    case OP_DROPPED: return ref_op_cut(call, OP_DROP);
    case OP_SUBSEQ_LENGTH: return ref_op_subseq_length(call);
    case OP_TAKE: return ref_op_take(call);
    case OP_DROP: return ref_op_drop(call);
    case OP_PREVIOUS: return ref_op_previous(call);
    case OP_NEXT: return ref_op_next(call);
    case OP_INTERLEAVE: return ref_op_interleave(call);
    case OP_WIDTH: return ref_op_width(call);
    case OP_TRANSPOSE: return ref_op_transpose(call);

    case OP_SUM: return ref_op_reduce(call, scalar_add, FOLDED_INT(0));
    case OP_PRODUCT: return ref_op_reduce(call, scalar_multiply, FOLDED_INT(1));
    case OP_MAX_VAL: return ref_op_reduce(call, scalar_maximum, scalar_least(folded(call)));
    case OP_MIN_VAL: return ref_op_reduce(call, scalar_minimum, scalar_greatest(folded(call)));
    case OP_ANY: return ref_op_reduce(call, scalar_or, FOLDED_INT(0));
    case OP_ALL: return ref_op_reduce(call, scalar_and, scalar_all_ones(folded(call)));
    case OP_PARITY: return ref_op_reduce(call, scalar_xor, FOLDED_INT(0));
    case OP_COUNT_TRUE: return ref_op_count_true(call);

    case OP_PLUS_SCAN: return ref_op_scan(call, scalar_add, FOLDED_INT(0));
    case OP_MULT_SCAN: return ref_op_scan(call, scalar_multiply, FOLDED_INT(1));
    case OP_MAX_SCAN: return ref_op_scan(call, scalar_maximum, scalar_least(folded(call)));
    case OP_MIN_SCAN: return ref_op_scan(call, scalar_minimum, scalar_greatest(folded(call)));
    case OP_OR_SCAN: return ref_op_scan(call, scalar_or, FOLDED_INT(0));
    case OP_AND_SCAN: return ref_op_scan(call, scalar_and, scalar_all_ones(folded(call)));
    case OP_XOR_SCAN: return ref_op_scan(call, scalar_xor, FOLDED_INT(0));
    case OP_PLUS_SCAN_INCLUSIVE: return ref_op_scan_inclusive(call, scalar_add);
    case OP_MULT_SCAN_INCLUSIVE: return ref_op_scan_inclusive(call, scalar_multiply);
    case OP_MAX_SCAN_INCLUSIVE: return ref_op_scan_inclusive(call, scalar_maximum);
    case OP_MIN_SCAN_INCLUSIVE: return ref_op_scan_inclusive(call, scalar_minimum);
    case OP_OR_SCAN_INCLUSIVE: return ref_op_scan_inclusive(call, scalar_or);
    case OP_AND_SCAN_INCLUSIVE: return ref_op_scan_inclusive(call, scalar_and);
    case OP_XOR_SCAN_INCLUSIVE: return ref_op_scan_inclusive(call, scalar_xor);

    case OP_READ: return ref_op_read(call);
    case OP_WRITE: return ref_op_write(call);
    case OP_PUT: return ref_op_put(call);
    case OP_PERMUTE: return ref_op_permute(call);
    case OP_REPLACE: return ref_op_replace(call);
    case OP_GRADE: return ref_op_grade(call, false);
    case OP_GRADE_DOWN: return ref_op_grade(call, true);
    case OP_RANK: return ref_op_rank(call, false);
    case OP_RANK_DOWN: return ref_op_rank(call, true);
    case OP_SORTED: return ref_op_sorted(call, false);
    case OP_SORTED_DOWN: return ref_op_sorted(call, true);

    case OP_IDENTITY: return identity(call);
    case OP_ELEMENT_IDENTITY: return identity(call);
    case OP_HASH: return hash(call);
    case OP_STRING: return ref_op_string(call);
    case OP_EXP_STRING: return ref_op_exp_string(call);
    case OP_PARSE_INT: return ref_op_parse_number(call, SCALAR_I64);
    case OP_PARSE_FLOAT: return ref_op_parse_number(call, SCALAR_F64);

    case OP_RAND: return ref_op_rand(call);
    case OP_RAND_SEED: return seed_random(call);

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
