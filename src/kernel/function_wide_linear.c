/* Values of wide versions that are linear in the bits of a parameter (kernel/linear.h). Where points have numbers one after the other, exclusive ors of such values are computed at a few
 * numbers, a *basis*, and from these at all points. */
#include "kernel/function_wide.h"

#include "kernel/op_text.h"

#include <string.h>

enum { AT_BASIS_MAX = 512, AGAIN_MAX = 96 }; /* length of a text */

Form wide_form(const WidePart *part)
{
    if (part->lane != NULL)
        return part->lane->form;
    return part->known != NULL ? form_of_constant(part->type, *part->known) : (Form){.dependence = DEPENDS_NOT};
}

void wide_note_index(Wide *wide, Lane *lane)
{
    lane->form = (Form){DEPENDS_LINEARLY, true, false};
    lane->at_basis = arena_format(wide->writer.arena, "%s_basis[lane]", lane->word);
    lane->again = arena_format(wide->writer.arena, "%s[lane]", lane->word);
    lane->index = lane;
}

/* The parameter that values depend on linearly; null if these are several, or none. */
static Lane *common_index(const WideValue *const *values, uint32_t count)
{
    Lane *index = NULL;
    for (uint32_t i = 0; i < count; i++) {
        Lane *own = values[i]->parts[0].lane == NULL ? NULL : values[i]->parts[0].lane->index;
        if (own != NULL && index != NULL && own != index)
            return NULL;
        index = own == NULL ? index : own;
    }
    return index;
}

/* An operation on these words; null if it is long. */
static const char *text_of(Wide *wide, const CoreStatement *statement, const char *const *words, ScalarType operand, ScalarType target, size_t most)
{
    Text text;
    text_init(&text, wide->writer.out->memory);
    op_text(&text, statement->op, operand, target, words, "&lane_failed");
    const char *copy = text.length <= most ? arena_text(wide->writer.arena, text_string(&text), text.length) : NULL;
    text_free(&text);
    return copy;
}

static const char *text_at_basis(Wide *wide, const CoreStatement *statement, const WideValue *const *arguments, ScalarType operand, ScalarType target)
{
    enum { BINARY = 2 };
    const char *words[BINARY];
    for (uint32_t i = 0; i < statement->argument_count; i++)
        words[i] = arguments[i]->parts[0].lane == NULL ? arguments[i]->parts[0].word : arguments[i]->parts[0].lane->at_basis;
    return text_of(wide, statement, words, operand, target, AT_BASIS_MAX);
}

/* Null unless it is little, and cannot fail. Words that are the same for all points are those of a loop around, perhaps, and not there later: only constants are taken. */
static const char *text_again(Wide *wide, const CoreStatement *statement, const WideValue *const *arguments, ScalarType operand, ScalarType target)
{
    enum { BINARY = 2 };
    const char *words[BINARY];
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        const WidePart *part = &arguments[i]->parts[0];
        words[i] = part->lane != NULL ? part->lane->again : part->known != NULL ? part->word : NULL;
        if (words[i] == NULL)
            return NULL;
    }
    return op_text_can_fail(statement->op, operand, target) ? NULL : text_of(wide, statement, words, operand, target, AGAIN_MAX);
}

void wide_note_form(Wide *wide, const CoreStatement *statement, const WideValue *const *arguments, Lane *result)
{
    enum { BINARY = 2 };
    Form forms[BINARY] = {{DEPENDS_NOT, true, true}, {DEPENDS_NOT, true, true}};
    Lane *index = common_index(arguments, statement->argument_count);
    if (index == NULL || statement->argument_count > BINARY || wide->branches > 0)
        return;
    for (uint32_t i = 0; i < statement->argument_count; i++)
        forms[i] = wide_form(&arguments[i]->parts[0]);
    ScalarType operand = arguments[0]->parts[0].type;
    Form form = form_of_operation(statement->op, operand, forms[0], forms[1], statement->argument_count == BINARY ? arguments[1]->parts[0].known : NULL);
    const char *at_basis = form.dependence == DEPENDS_LINEARLY ? text_at_basis(wide, statement, arguments, operand, result->type) : NULL;
    if (at_basis == NULL)
        return;
    result->form = form;
    result->at_basis = at_basis;
    result->again = text_again(wide, statement, arguments, operand, result->type);
    result->index = index;
}

void wide_note_choice(const WidePart *condition, const WidePart *value, Lane *result)
{
    Lane *a = condition->lane == NULL ? NULL : condition->lane->index, *b = value->lane == NULL ? NULL : value->lane->index;
    result->form.dependence = forms_product(wide_form(condition), wide_form(value));
    result->index = result->form.dependence != DEPENDS_LINEARLY ? NULL : a == NULL ? b : a;
}

Lane *wide_linear_in(const Wide *wide, uint32_t first_lane, const WidePart *part)
{
    Lane *index = part->lane == NULL ? NULL : part->lane->index;
    if (wide->mask != NULL || wide->pick != NULL)
        return NULL;
    for (uint32_t i = first_lane; i < wide->all.count; i++)
        if (wide->all.items[i]->index != index)
            return NULL;
    return index;
}

void wide_begin_basis(Wide *wide, Lane *index)
{
    wide_open(wide, "if (%s_basis_start >= 0) {", index->word);
    index->has_basis = true;
    wide->picked_from = wide->all.count;
    wide->is_at_basis = true;
}

void wide_end_basis(Wide *wide, const Lane *index, const char *total)
{
    wide_end_lanes(wide);
    wide->is_at_basis = false;
    wide_line(wide, "KERNEL_WIDE_SPREAD(%s, %s_basis_start);", total, index->word);
    wide_close(wide);
    wide_open(wide, "else {");
}

void wide_add_bases(const Wide *wide, Text *out)
{
    for (uint32_t i = 0; i < wide->all.count; i++) {
        const Lane *lane = wide->all.items[i];
        if (!lane->has_basis)
            continue;
        text_addf(out, "    int64_t %s_basis[KERNEL_BASIS] KERNEL_WIDE_ALIGNED;\n", lane->word);
        text_addf(out, "    const int64_t %s_basis_start = kernel_wide_basis(%s_basis, %s);\n", lane->word, lane->word, lane->word);
    }
}
