#include "kernel/preamble.h"

#include "kernel/preamble_texts.h"

static const char *const type_ids[SCALAR_COUNT] = {
#define SCALAR(ID, name, c_type, kind) [SCALAR_##ID] = #ID,
#include "ops/scalars.def"
#undef SCALAR
};

/* Of two choices by the same condition gcc would make branches, and not vectorise the loop around them. */
static const char no_threading[] = "#if defined __GNUC__ && !defined __clang__\n"
                                   "#pragma GCC optimize(\"no-thread-jumps\")\n"
                                   "#endif\n";

void kernel_preamble(Text *out, ClassSet types, bool with_math)
{
    text_add(out, no_threading);
    for (ScalarType type = 0; type < SCALAR_COUNT; type++)
        text_addf(out, "#define OP_IF_%s(...)%s\n", type_ids[type], types >> type & 1 ? " __VA_ARGS__" : "");
    text_add(out, preamble_text_ops);
    if (!with_math)
        return;
    text_add(out, preamble_text_math);
    if (types >> SCALAR_F32 & 1)
        text_add(out, preamble_text_math_f32);
    text_add(out, preamble_text_math_ops);
}

void kernel_preamble_calls(Text *out, uint32_t wide)
{
    text_addf(out, "#define KERNEL_WIDE %u\n", wide);
    text_add(out, preamble_text_kernel);
}
