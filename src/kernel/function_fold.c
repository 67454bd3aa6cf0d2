/* Folds and scans of elements in memory by an operator on scalars: fold_ID and scan_ID, which the VM calls for the blocks of the order of combination (vm/nodes_fold_with.c, nodes_scan_with.c).
 *
 * Each element waits for the one before. Several blocks wait for each other in nothing, so an operator without branches is folded over a few of them at once, in a loop that vectorises; where it fails, or an operand is one that elementary
 * functions are slow for, nothing is written, and the blocks are done one by one.
 *
 * An operator that gives one of its operands, as that of max_index does, mostly gives the one there was before. So for some elements at a time it is first asked whether any of them would be
 * picked, in a loop that vectorises; only then they are looked at one by one. */
#include "kernel/function_vectors.h"

#include "kernel/preamble/function.h"

/* ---- operators that pick ---- */

static bool is_global(const FunctionTexts *texts, const CoreAtom *atom)
{
    return !atom->is_constant && texts->program->variables.items[atom->variable].is_global;
}

static bool reads_global(const FunctionTexts *texts, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++)
        for (uint32_t a = 0; a < block->statements[i].argument_count; a++)
            if (is_global(texts, &block->statements[i].arguments[a]))
                return true;
    return false;
}

bool fold_find_pick(const FunctionTexts *texts, const CoreBlock *body, Pick *pick)
{
    if (body->statement_count == 0 || body->parameter_count < 2)
        return false;
    const CoreStatement *choice = &body->statements[body->statement_count - 1];
    CoreVar first = body->parameters[body->parameter_count - 2], second = body->parameters[body->parameter_count - 1];
    if (choice->kind != CORE_IF || choice->arguments[0].is_constant || !shape_is_variable(&body->result, choice->target) ||
        choice->blocks[0]->statement_count > 0 || choice->blocks[1]->statement_count > 0)
        return false;
    const CoreAtom *yes = &choice->blocks[0]->result, *no = &choice->blocks[1]->result;
    *pick = (Pick){.decision = *body, .condition = &choice->arguments[0], .is_second = shape_is_variable(yes, second)};
    pick->decision.statement_count--;
    bool is_pick = shape_is_variable(yes, pick->is_second ? second : first) && shape_is_variable(no, pick->is_second ? first : second);
    return is_pick && !core_has_blocks(&pick->decision) && shape_is_straight(texts, &pick->decision) && shape_cannot_fail(texts, &pick->decision) &&
           !is_global(texts, pick->condition) && !reads_global(texts, &pick->decision);
}

void fold_write_condition(Writer *writer, const Pick *pick, const char *format)
{
    write_statements(writer, &pick->decision);
    write_line(writer, format, pick->is_second ? "" : "!", write_atom(writer, pick->condition)[0]);
}

/* ---- loops ---- */

typedef struct FoldText {
    Writer writer;
    const CoreBlock *body;
    const Layout *layout;      /* of an element */
    bool is_scan;
    uint32_t captured_leaves;
    const char **captured, **local, **element; /* words */
} FoldText;

static const char **new_words(FoldText *f, uint32_t count)
{
    const char **words = ARENA_ARRAY(f->writer.arena, const char *, count);
    for (uint32_t i = 0; i < count; i++)
        words[i] = write_word(&f->writer, 0);
    return words;
}

static const char *type_at(const FoldText *f, uint32_t leaf)
{
    return write_leaf_type(f->layout->leaves[leaf].type);
}

/* What was captured, and the value so far. */
static void write_start(FoldText *f)
{
    Writer *writer = &f->writer;
    uint32_t leaf = 0;
    f->captured = new_words(f, f->captured_leaves);
    for (uint32_t p = 0; p + 2 < f->body->parameter_count; p++) {
        const Layout *leaves = write_layout(writer, write_type(writer, f->body->parameters[p]));
        writer->texts->values[f->body->parameters[p]] = f->captured + leaf;
        for (uint32_t i = 0; i < leaves->count; i++, leaf++) {
            const char *type = write_leaf_type(leaves->leaves[i].type);
            write_line(writer, "const %s %s = *(%s const *)call->streams[%u];", type, f->captured[leaf], type, leaf);
        }
    }
    f->local = new_words(f, f->layout->count);
    for (uint32_t i = 0; i < f->layout->count; i++)
        write_line(writer, "%s %s = *(%s const *)call->%s[%u];", type_at(f, i), f->local[i], type_at(f, i), f->is_scan ? "carries" : "outputs", i);
    for (uint32_t i = 0; i < f->layout->count && f->is_scan; i++)
        write_line(writer, "%s *const out%u = call->outputs[%u];", type_at(f, i), i, i);
}

static const char *canonical(FoldText *f, uint32_t leaf, const char *word)
{
    return vectors_canonical(&f->writer, f->layout->leaves[leaf].type, word);
}

static void write_element(FoldText *f, const char *index, const char *dense)
{
    f->element = new_words(f, f->layout->count);
    for (uint32_t i = 0; i < f->layout->count; i++) {
        uint32_t stream = f->captured_leaves + i;
        if (dense != NULL)
            write_line(&f->writer, "const %s %s = %s%u[%s];", type_at(f, i), f->element[i], dense, i, index);
        else
            write_line(&f->writer, "const %s %s = ((%s const *)call->streams[%u])[%s * call->strides[%u]];", type_at(f, i), f->element[i], type_at(f, i), stream,
                       index, stream);
    }
}

static void write_words(Text *text, const char **words, uint32_t count, const char *before)
{
    for (uint32_t i = 0; i < count; i++)
        text_addf(text, "%s%s, ", before, words[i]);
}

/* One element after the other, each combined with what came of the one before, or, if they are `apart`, with the same value; `to` is where what comes of them is put, or null. */
static void write_plain_loop(FoldText *f, bool apart, const char *to)
{
    Writer *writer = &f->writer;
    write_open_brace(writer, "for (; i < call->count; i++)");
    write_element(f, "i", NULL);
    const char **results = new_words(f, f->layout->count);
    for (uint32_t i = 0; i < f->layout->count; i++)
        write_line(writer, "%s %s;", type_at(f, i), results[i]);
    Text call;
    text_init(&call, writer->out->memory);
    function_text_name(writer->texts, writer->function, &call);
    text_add_char(&call, '(');
    write_words(&call, f->captured, f->captured_leaves, "");
    write_words(&call, f->local, f->layout->count, "");
    write_words(&call, f->element, f->layout->count, "");
    write_words(&call, results, f->layout->count, "&");
    write_line(writer, "if (OP_RARELY(!%scall->depth, &scalars)))", text_string(&call));
    write_line(writer, "    return KERNEL_FAILED;");
    text_free(&call);
    for (uint32_t i = 0; i < f->layout->count && !apart; i++)
        write_line(writer, "%s = %s;", f->local[i], results[i]);
    for (uint32_t i = 0; i < f->layout->count && to != NULL; i++)
        write_line(writer, "%s%u[i] = %s;", to, i, canonical(f, i, results[i]));
    write_close_brace(writer);
}

static void bind_operands(const FoldText *f)
{
    const char ***values = f->writer.texts->values;
    values[f->body->parameters[f->body->parameter_count - 2]] = f->local;
    values[f->body->parameters[f->body->parameter_count - 1]] = f->element;
}

static void write_pick_loop(FoldText *f, const Pick *pick)
{
    Writer *writer = &f->writer;
    Text condition;
    text_init(&condition, writer->out->memory);
    for (uint32_t i = 0; i < f->layout->count; i++)
        text_addf(&condition, "%scall->strides[%u] == 1", i == 0 ? "" : " && ", f->captured_leaves + i);
    for (uint32_t i = 0; i < f->layout->count; i++)
        write_line(writer, "%s const *const in%u = call->streams[%u];", type_at(f, i), i, f->captured_leaves + i);
    write_open_brace(writer, arena_format(writer->arena, "for (; i < call->count && %s; i += KERNEL_FOLD_STRIP)", text_string(&condition)));
    text_free(&condition);
    write_line(writer, "const int64_t end = call->count - i < KERNEL_FOLD_STRIP ? call->count : i + KERNEL_FOLD_STRIP;");
    write_line(writer, "uint8_t picks = 0;");
    write_open_brace(writer, "for (int64_t j = i; j < end; j++)");
    write_element(f, "j", "in");
    bind_operands(f);
    fold_write_condition(writer, pick, "picks |= %s%s;");
    write_close_brace(writer);
    write_open_brace(writer, "for (int64_t j = i; picks && j < end; j++)");
    write_element(f, "j", "in");
    bind_operands(f);
    fold_write_condition(writer, pick, "if (%s%s) {");
    for (uint32_t i = 0; i < f->layout->count; i++)
        write_line(writer, "    %s = %s;", f->local[i], f->element[i]);
    write_line(writer, "}");
    write_close_brace(writer);
    write_close_brace(writer);
}

/* ---- several blocks ---- */

/* No blocks inside, so that it is computed without branches. */
static bool is_for_blocks(const FunctionTexts *texts, const CoreBlock *body)
{
    return !core_has_blocks(body) && shape_is_straight(texts, body) && !reads_global(texts, body) && !is_global(texts, &body->result);
}

/* The operator's own statements, with a flag for all that cannot be done so; gives what comes of them. */
static const char **write_operator(FoldText *f)
{
    Writer *writer = &f->writer;
    bind_operands(f);
    writer->is_deferred = writer->is_fast = true;
    writer->slow = "failed";
    write_statements(writer, f->body);
    writer->is_deferred = writer->is_fast = writer->has_pending = false;
    return write_atom(writer, &f->body->result);
}

/* One element of each block. */
static void write_turn_of_blocks(FoldText *f)
{
    Writer *writer = &f->writer;
    write_line(writer, "OpFlag failed = 0;");
    f->local = new_words(f, f->layout->count);
    for (uint32_t i = 0; i < f->layout->count; i++)
        write_line(writer, "const %s %s = total%u[k];", type_at(f, i), f->local[i], i);
    write_element(f, "k", "turn");
    const char **results = write_operator(f);
    for (uint32_t i = 0; i < f->layout->count; i++) {
        write_line(writer, "total%u[k] = %s;", i, results[i]);
        if (f->is_scan)
            write_line(writer, "turn%u[k] = %s;", i, canonical(f, i, results[i]));
    }
    write_line(writer, "failures[k] |= failed;");
}

/* The next elements of all blocks are brought to where those that are combined together are next to each other, as compilers load and store them; or back. */
static void write_tile(FoldText *f, uint32_t leaf, const char *statement)
{
    Writer *writer = &f->writer;
    write_line(writer, "for (int64_t k = 0; k < KERNEL_FOLD_BLOCKS; k++)");
    write_line(writer, "    for (int64_t j = 0; j < turns; j++)");
    write_line(writer, statement, leaf, leaf);
}

static void write_turns(FoldText *f)
{
    Writer *writer = &f->writer;
    write_open_brace(writer, "for (int64_t first = 0; first < call->count; first += KERNEL_FOLD_TURNS)");
    write_line(writer, "const int64_t turns = call->count - first < KERNEL_FOLD_TURNS ? call->count - first : KERNEL_FOLD_TURNS;");
    for (uint32_t i = 0; i < f->layout->count; i++) {
        write_line(writer, "%s tile%u[KERNEL_FOLD_TURNS][KERNEL_FOLD_BLOCKS];", type_at(f, i), i);
        write_tile(f, i, "        tile%u[j][k] = in%u[first + j + k * COMBINE_BLOCK];");
    }
    write_open_brace(writer, "for (int64_t j = 0; j < turns; j++)");
    for (uint32_t i = 0; i < f->layout->count; i++)
        write_line(writer, "%s *const turn%u = tile%u[j];", type_at(f, i), i, i);
    text_add(writer->out, "#pragma GCC unroll 1\n");
    write_open_brace(writer, "for (int64_t k = 0; k < KERNEL_FOLD_BLOCKS; k++)");
    write_turn_of_blocks(f);
    write_close_brace(writer);
    write_close_brace(writer);
    for (uint32_t i = 0; i < f->layout->count && f->is_scan; i++)
        write_tile(f, i, "        out%u[first + j + k * COMBINE_BLOCK] = tile%u[j][k];");
    write_close_brace(writer);
}

static void write_elements(FoldText *f)
{
    for (uint32_t i = 0; i < f->layout->count; i++)
        write_line(&f->writer, "%s const *const in%u = call->streams[%u];", type_at(f, i), i, f->captured_leaves + i);
}

static void write_blocks(FoldText *f)
{
    Writer *writer = &f->writer;
    const char **local = f->local;
    write_open_brace(writer, "if (call->blocks == KERNEL_FOLD_BLOCKS)");
    write_elements(f);
    for (uint32_t i = 0; i < f->layout->count; i++) {
        write_line(writer, "%s total%u[KERNEL_FOLD_BLOCKS];", type_at(f, i), i);
        write_line(writer, "for (int64_t k = 0; k < KERNEL_FOLD_BLOCKS; k++)");
        write_line(writer, f->is_scan ? "    total%u[k] = ((%s const *)call->carries[%u])[k * COMBINE_BLOCK];" : "    total%u[k] = ((%s const *)call->outputs[%u])[k];", i, type_at(f, i), i);
    }
    write_line(writer, "OpFlag failures[KERNEL_FOLD_BLOCKS] = {0}, any = 0;");
    write_turns(f);
    f->local = local;
    write_line(writer, "for (int64_t k = 0; k < KERNEL_FOLD_BLOCKS; k++)");
    write_line(writer, "    any |= failures[k];");
    for (uint32_t i = 0; i < f->layout->count && !f->is_scan; i++) {
        write_line(writer, "for (int64_t k = 0; k < KERNEL_FOLD_BLOCKS && !any; k++)");
        write_line(writer, "    ((%s *)call->outputs[%u])[k] = %s;", type_at(f, i), i, canonical(f, i, arena_format(writer->arena, "total%u[k]", i)));
    }
    write_line(writer, "return any ? KERNEL_FAILED : 0;");
    write_close_brace(writer);
}

/* ---- elements that are combined with the same value ---- */

/* What comes of a block's elements is put aside first: it may go to where they are, and if it fails they are wanted again. */
static void write_apart(FoldText *f, bool is_straight)
{
    Writer *writer = &f->writer;
    write_open_brace(writer, "if (call->blocks == 0)");
    for (uint32_t i = 0; i < f->layout->count; i++)
        write_line(writer, "%s made%u[COMBINE_BLOCK];", type_at(f, i), i);
    if (is_straight) {
        write_elements(f);
        write_line(writer, "OpFlag any = 0;");
        write_open_brace(writer, "for (; i < call->count; i++)");
        write_line(writer, "OpFlag failed = 0;");
        write_element(f, "i", "in");
        const char **results = write_operator(f);
        for (uint32_t i = 0; i < f->layout->count; i++)
            write_line(writer, "made%u[i] = %s;", i, canonical(f, i, results[i]));
        write_line(writer, "any |= failed;");
        write_close_brace(writer);
        write_line(writer, "if (OP_RARELY(any))");
        write_line(writer, "    i = 0;");
    }
    write_plain_loop(f, true, "made");
    for (uint32_t i = 0; i < f->layout->count; i++)
        write_line(writer, "__builtin_memcpy(out%u, made%u, (size_t)call->count * sizeof *made%u);", i, i, i);
    write_line(writer, "return 0;");
    write_close_brace(writer);
}

/* ---- the functions ---- */

static FoldText begin_text(FunctionTexts *texts, CoreFunctionId function, bool is_scan, Text *out, ClassSet *types, bool *with_math)
{
    const CoreBlock *body = texts->program->functions.items[function]->body;
    FoldText f = {.writer = writer_of(texts, function), .body = body, .layout = function_text_results(texts, function), .is_scan = is_scan};
    f.writer.out = out;
    f.writer.types = types;
    f.writer.with_math = with_math;
    for (uint32_t p = 0; p + 2 < body->parameter_count; p++)
        f.captured_leaves += write_layout(&f.writer, write_type(&f.writer, body->parameters[p]))->count;
    text_addf(out, "\nuint64_t %s_%u(const KernelCall *restrict call)\n{\n", is_scan ? "scan" : "fold", function);
    write_line(&f.writer, "const KernelScalars scalars = kernel_scalars(call);");
    write_line(&f.writer, "int64_t i = 0;");
    write_start(&f);
    return f;
}

static void write_blocks_if(FoldText *f, bool is_straight)
{
    if (is_straight) {
        write_blocks(f);
        return;
    }
    write_line(&f->writer, "if (call->blocks == KERNEL_FOLD_BLOCKS)");
    write_line(&f->writer, "    return KERNEL_FAILED;");
}

void function_write_fold(FunctionTexts *texts, CoreFunctionId function, Text *out, ClassSet *types, bool *with_math)
{
    FoldText f = begin_text(texts, function, false, out, types, with_math);
    Pick pick;
    bool is_pick = fold_find_pick(texts, f.body, &pick);
    write_blocks_if(&f, !is_pick && is_for_blocks(texts, f.body));
    if (is_pick)
        write_pick_loop(&f, &pick);
    write_plain_loop(&f, false, NULL);
    for (uint32_t i = 0; i < f.layout->count; i++)
        write_line(&f.writer, "*(%s *)call->outputs[%u] = %s;", type_at(&f, i), i, canonical(&f, i, f.local[i]));
    write_line(&f.writer, "return 0;");
    text_add(out, "}\n");
}

void function_write_scan(FunctionTexts *texts, CoreFunctionId function, Text *out, ClassSet *types, bool *with_math)
{
    FoldText f = begin_text(texts, function, true, out, types, with_math);
    bool is_straight = is_for_blocks(texts, f.body);
    write_blocks_if(&f, is_straight);
    write_apart(&f, is_straight);
    write_plain_loop(&f, false, "out");
    write_line(&f.writer, "return 0;");
    text_add(out, "}\n");
}
