/* Values as texts and back. */
#include "ref/ref_private.h"

const Text *ref_text_argument(const OpCall *call, uint32_t argument)
{
    Text *text = &call->machine->text;
    text_clear(text);
    value_add_chars(call->arguments[argument].object, text);
    return text;
}

Object *ref_chars(Interpreter *machine, const char *bytes, size_t length)
{
    return value_chars(&machine->heap, machine->types, type_vector(machine->types, TYPE_CHAR), bytes, length);
}

static bool give_text(OpCall *call, const Text *text)
{
    call->result.object = ref_chars(call->machine, text_string(text), text->length);
    return true;
}

bool ref_op_string(OpCall *call)
{
    Interpreter *machine = call->machine;
    text_clear(&machine->text);
    value_print(machine->types, ref_argument_type(call, 0), call->arguments[0],
                (ValueFormat){.style = VALUE_STYLE_STRING}, &machine->text);
    return give_text(call, &machine->text);
}

bool ref_op_exp_string(OpCall *call)
{
    Interpreter *machine = call->machine;
    int64_t digits = call->arguments[1].scalar.integer;
    if (digits < 1)
        return failure_exp_string(ref_op_failure(call), digits);
    text_clear(&machine->text);
    value_print_exponent(call->arguments[0].scalar.f64, digits, &machine->text);
    return give_text(call, &machine->text);
}

bool ref_op_parse_number(OpCall *call, ScalarType type)
{
    Interpreter *machine = call->machine;
    const Text *text = ref_text_argument(call, 0);
    Value number = {0}, is_read = {0};
    is_read.scalar.integer =
        value_read_number(machine->memory, type, text_string(text), text->length, &number.scalar);
    call->result = value_pair(&machine->heap, machine->types, ref_result_type(call), number, is_read);
    return true;
}
