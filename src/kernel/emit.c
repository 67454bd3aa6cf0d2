#include "kernel/emit_internal.h"

#include "base/least.h"
#include "kernel/preamble.h"

/* ---- bodies ---- */

bool emit_is_left_out(const Emitter *e, KernelUnit unit)
{
    if (e->needed == NULL)
        return false;
    return unit.is_scope ? !emit_any_needed(e, unit.index, e->needed) : !e->needed[fuse_position_of(e->kernel, unit.index)];
}

void emit_node(Emitter *e, FlowNodeId id)
{
    const FlowNode *node = &e->network->nodes.items[id];
    if (node->op != FLOW_PACK && node->op != FLOW_DISTRIBUTE && node->op != FLOW_FILTER && node->op != FLOW_RANGE &&
        node->op != FLOW_COLLECT)
        emit_show_source(e, node->span);
    switch (node->op) {
    case FLOW_OPERATION: emit_operation(e, node); break;
    case FLOW_COUNT: emit_count(e, node); break;
    case FLOW_RANGE:
        if (node->outputs[0] != 0)
            emit_value(e, node->outputs[0], "%s", emit_counter(e, emit_scope_of(e, node)).text);
        break;
    case FLOW_LOCAL_INDEX: emit_value(e, node->outputs[0], "%s", emit_counter(e, emit_scope_of(e, node)).text); break;
    case FLOW_SLICES: emit_slices(e, id, node); break;
    case FLOW_INDEX: emit_index(e, node); break;
    case FLOW_GATHER: emit_gather(e, node); break;
    case FLOW_MERGE: emit_merge(e, node); break;
    case FLOW_SCALAR_CALL: emit_scalar_call(e, id, node); break;
    case FLOW_FOLD:
    case FLOW_LENGTH:
    case FLOW_EMPTY: emit_element(e, id, node); break;
    case FLOW_SCAN: emit_scan(e, id, node); break;
    case FLOW_COLLECT: emit_sinks(e, id); break;
    case FLOW_SCATTER: emit_scatter(e, id, node); break;
    case FLOW_PACK:
    case FLOW_DISTRIBUTE: emit_output(e, node->outputs[0]); break;
    default: break; /* only says how points lie */
    }
}

void emit_body(Emitter *e, uint32_t number)
{
    const KernelScope *scope = &e->kernel->scopes.items[number];
    for (uint32_t i = 0; i < scope->body.count; i++) {
        KernelUnit unit = scope->body.items[i];
        if (emit_is_left_out(e, unit))
            continue;
        if (!unit.is_scope) {
            emit_node(e, unit.index);
            continue;
        }
        if ((e->linear.scopes >> unit.index & 1) != 0)
            emit_each_reduction(e, unit.index, emit_linear_result);
        else if (e->kernel->scopes.items[unit.index].kind == SCOPE_LOOP)
            emit_inner_loop(e, unit.index);
        else
            emit_if(e, unit.index);
        emit_ends(e, number, unit.index);
    }
}

/* ---- kernels ---- */

static void emit_totals(Emitter *e)
{
    for (uint32_t i = 0; i < e->kernel->totals.count; i++) {
        FlowNodeId id = e->kernel->totals.items[i];
        const FlowNode *node = &e->network->nodes.items[id];
        ScalarType type = node->op == FLOW_FOLD ? (ScalarType)node->inputs[0].type : SCALAR_I64;
        bool is_float = scalar_kind(type) == KIND_FLOATING;
        const char *cell = emit_total_type(e, node);
        emit_line(e, "*(%s *)call->totals[%u] = %stotal%u%s;", cell, i,
                  is_float ? type == SCALAR_F32 ? "canonical_F32(" : "canonical_F64(" : "", id, is_float ? ")" : "");
    }
}

static void emit_given(Emitter *e, bool is_start)
{
    for (uint32_t i = 1; i < e->kernel->scopes.count; i++) {
        if (!emit_gives_points(e, i))
            continue;
        if (is_start)
            emit_line(e, "int64_t given%u = 0;", i);
        else
            emit_line(e, "call->given[%u] = given%u;", i, i);
    }
}

static bool calls_functions(const Emitter *e)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++)
        if (e->network->nodes.items[e->kernel->nodes.items[i]].op == FLOW_SCALAR_CALL)
            return true;
    return false;
}

/* The value of scans before the first point, and after the last. */
static void emit_carries(Emitter *e, bool is_start)
{
    for (uint32_t i = 0; i < e->kernel->scans.count; i++) {
        FlowNodeId id = e->kernel->scans.items[i];
        const char *type = emit_total_type(e, &e->network->nodes.items[id]);
        if (is_start)
            emit_line(e, "%s total%u = *(const %s *)call->carries[%u];", type, id, type, i);
        else
            emit_line(e, "*(%s *)call->carries[%u] = total%u;", type, i, id);
    }
}

static void emit_mark_of_total(Emitter *e, FlowNodeId id, MarkStep step)
{
    const char *type = emit_total_type(e, &e->network->nodes.items[id]);
    switch (step) {
    case MARK_DECLARE: emit_line(e, "%s before%u = total%u;", type, id, id); break;
    case MARK_SET: emit_line(e, "before%u = total%u;", id, id); break;
    case MARK_GO_BACK: emit_line(e, "total%u = before%u;", id, id); break;
    }
}

void emit_marks(Emitter *e, MarkStep step)
{
    static const char *const of_points[] = {
        [MARK_DECLARE] = "int64_t mark%u = given%u;", [MARK_SET] = "mark%u = given%u;", [MARK_GO_BACK] = "given%u = mark%u;"};
    static const char *const of_root[] = {
        [MARK_DECLARE] = "int64_t done = 0;", [MARK_SET] = "done = i;", [MARK_GO_BACK] = "*call->done = done;"};
    emit_line(e, "%s", of_root[step]);
    for (uint32_t i = 1; i < e->kernel->scopes.count; i++)
        if (emit_gives_points(e, i)) {
            text_add_repeated(e->out, ' ', e->depth * C_INDENT);
            text_addf(e->out, of_points[step], i, i);
            text_add_char(e->out, '\n');
        }
    for (uint32_t i = 0; i < e->kernel->totals.count; i++)
        emit_mark_of_total(e, e->kernel->totals.items[i], step);
    for (uint32_t i = 0; i < e->kernel->scans.count; i++)
        emit_mark_of_total(e, e->kernel->scans.items[i], step);
}

static void emit_status(Emitter *e)
{
    emit_line(e, e->has_groups ? "if (failed || kernel_any_flag(failed_lanes))" : "if (failed)");
    emit_line(e, "    return KERNEL_FAILED;");
    if (e->has_fast) {
        emit_line(e, "if (slow)");
        emit_line(e, "    return KERNEL_SLOW;");
    }
}

/* What is told when the points, or as many as there was room for, are done. */
static void emit_results(Emitter *e)
{
    emit_status(e);
    emit_carries(e, false);
    emit_given(e, false);
    emit_totals(e);
    emit_line(e, "return 0;");
}

static void emit_work(Emitter *e)
{
    emit_parameters(e);
    if (e->calls_functions)
        emit_line(e, "const KernelScalars scalars = kernel_scalars(call);");
    emit_slice_starts(e, KERNEL_ROOT);
    emit_tests_before(e);
    emit_given(e, true);
    emit_carries(e, true);
    for (uint32_t i = 0; i < e->kernel->totals.count; i++)
        emit_fold_start(e, e->kernel->totals.items[i], &e->network->nodes.items[e->kernel->totals.items[i]]);
    if (emit_may_be_full(e))
        emit_marks(e, MARK_DECLARE);
    emit_declare_lanes(e, KERNEL_ROOT);
    emit_tests_of_ends(e, KERNEL_ROOT);
    if (emit_folds_blocks(e))
        emit_blocks(e);
    else if (emit_can_pack(e))
        emit_packed_loop(e);
    else if (e->linear.scopes != 0)
        emit_linear_blocks(e);
    else if (e->kernel->is_strided)
        emit_strided(e);
    else
        emit_root_loop(e, "0", "count");
    emit_results(e);
    if (emit_may_be_full(e)) {
        text_add(e->out, "full:\n");
        emit_marks(e, MARK_GO_BACK);
        emit_results(e);
    }
    if (e->is_shared) {
        text_add(e->out, "parted:\n");
        emit_status(e);
        emit_given(e, false);
        emit_line(e, "return 0;");
    }
    if (e->may_stop) {
        text_add(e->out, "stopped:\n");
        emit_line(e, "return KERNEL_FAILED;");
    }
}

/* Whether an operation in the kernel is worth a version for most operands. */
static bool wants_fast(const Emitter *e)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        if (node->op == FLOW_OPERATION && op_text_wants_fast(node->core_op, node->scalar, member_result_type(e->network, node)))
            return true;
    }
    return false;
}

/* Writes a kernel as a function; if there are several versions of it, as a text for all of them, with flags that say which it is. */
static void emit_version(Emitter *e, const char *suffix, bool has_versions)
{
    Text body, *out = e->out;
    text_init(&body, out->memory);
    e->out = &body;
    e->depth = 1;
    e->line = 0;
    e->may_stop = e->has_groups = e->is_shared = false;
    emit_work(e);
    e->out = out;
    if (has_versions || e->is_shared)
        text_addf(out, "\nMATH_INLINE uint64_t kernel_%u%s(const KernelCall *restrict call, const bool is_exact, const bool wants_totals, const bool has_parts)\n{\n",
                  e->kernel->number, suffix);
    else
        text_addf(out, "\nuint64_t kernel_%u(const KernelCall *restrict call)\n{\n", e->kernel->number);
    text_addf(out, "    const int64_t count = call->count;\n    OpFlag failed = 0;\n%s%s%s", e->has_fast ? "    OpFlag slow = 0;\n" : "",
              e->usual != NULL ? "    OpFlag tested = 0; /* where that is known before */\n" : "",
              e->has_groups ? "    KernelFlags failed_lanes = kernel_no_flags();\n" : "");
    text_add(out, text_string(&body));
    text_add(out, "}\n");
    text_free(&body);
}

/* Calls for parts of long loops have a version of their own where little is done at a point: registers are scarce, and what parts need would be in the way. Rows of a sparse matrix that
 * have no elements take 1.1 ns instead of 3.3 by that. Larger kernels would only take longer to compile. */
enum { NODES_WORTH_VERSION = 16 };

/* The version for most operands, of those that there are for what is asked. */
static void emit_choice_of_version(Emitter *e, bool has_narrow)
{
    uint32_t number = e->kernel->number;
    bool has_version_for_parts = e->is_shared && !e->has_fast && e->kernel->nodes.count <= NODES_WORTH_VERSION;
    const char *parts = e->is_shared ? "kernel_has_parts(call)" : "false";
    text_add(e->out, "    uint64_t status = ");
    if (emit_has_two_passes(e->kernel))
        text_addf(e->out, "call->wants_totals ? kernel_%u_work(call, false, true, %s) : ", number, parts);
    if (has_version_for_parts)
        text_addf(e->out, "%s ? kernel_%u_work(call, false, false, true) : ", parts, number);
    if (has_narrow)
        text_addf(e->out, "kernel_%u_is_narrow(call) ? kernel_%u_narrow(call, false, false, %s) : ", number, number, parts);
    text_addf(e->out, "kernel_%u_work(call, false, false, %s);\n", number, has_version_for_parts ? "false" : parts);
    if (e->has_fast)
        text_addf(e->out, "    if (status == KERNEL_SLOW)\n        status = kernel_%u_work(call, true, %s, %s);\n", number,
                  emit_has_two_passes(e->kernel) ? "call->wants_totals" : "false", parts);
}

/* A kernel is one function; or one for most operands and one for all, these again for totals alone and for parts of long loops, and one for narrow values, all made of one text. */
static void emit_kernel(Emitter *e)
{
    e->calls_functions = calls_functions(e);
    e->has_fast = !e->calls_functions && wants_fast(e);
    emit_find_usual(e);
    e->linear = linear_find(e->context->functions->arena, e->fusion, e->kernel);
    bool has_totals = emit_has_two_passes(e->kernel);
    Narrow narrow = has_totals ? (Narrow){0} : narrow_find(e->context->functions->arena, e->fusion, e->kernel);
    emit_version(e, "_work", e->has_fast || has_totals);
    if (!e->has_fast && !has_totals && !e->is_shared)
        return;
    if (narrow.is_narrow != NULL) {
        e->narrow = narrow;
        emit_version(e, "_narrow", true);
        e->narrow = (Narrow){0};
        narrow_write_test(&narrow, e->out);
    }
    text_addf(e->out, "\nuint64_t kernel_%u(const KernelCall *call)\n{\n", e->kernel->number);
    emit_choice_of_version(e, narrow.is_narrow != NULL);
    text_add(e->out, "    return status;\n}\n");
}

static bool is_scalar_function(FunctionTexts *functions, CoreFunctionId function)
{
    return function_text_accepts(functions, function) && !function_text_gives_arrays(functions, function);
}

void emit_need_functions(const EmitContext *context, const Fusion *const *fusions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (FlowNodeId id = 0; id < fusions[i]->network->nodes.count; id++) {
            const FlowNode *node = &fusions[i]->network->nodes.items[id];
            bool is_operator = (flow_op_table[node->op].fields & HAS_OPERATOR) != 0;
            bool is_call = node->op == FLOW_SCALAR_CALL || node->op == FLOW_CALL;
            if (node->function == 0 || (!is_operator && !is_call))
                continue;
            if (fusions[i]->kernel_of[id] != 0)
                function_text_need(context->functions, node->function);
            else if (node->op == FLOW_CALL)
                function_text_need_entry(context->functions, node->function);
            else if (is_scalar_function(context->functions, node->function) && function_text_need_entry(context->functions, node->function) &&
                     !node->draws && node->network == 0) {
                if (node->op == FLOW_FOLD_WITH)
                    function_text_need_fold(context->functions, node->function);
                else if (node->op == FLOW_SCAN_WITH)
                    function_text_need_scan(context->functions, node->function);
            }
        }
}

/* ---- files ---- */

static void note_type(ClassSet *types, LeafType type)
{
    if (type < (LeafType)SCALAR_COUNT)
        *types |= (ClassSet)1 << type;
}

/* The types that operations have to do with, and whether elementary functions are among them. */
static void find_types(const Fusion *fusion, ClassSet *types, bool *with_math)
{
    for (FlowNodeId id = 0; id < fusion->network->nodes.count; id++) {
        const FlowNode *node = &fusion->network->nodes.items[id];
        if (fusion->kernel_of[id] == 0 || node->op != FLOW_OPERATION)
            continue;
        ScalarType target = member_result_type(fusion->network, node);
        note_type(types, (LeafType)target);
        if (node->scalar == SCALAR_I64 && op_text_wants_fast(node->core_op, node->scalar, target))
            note_type(types, (LeafType)SCALAR_I32); /* it may be divided as such (narrow.h) */
        for (uint32_t i = 0; i < node->input_count; i++)
            note_type(types, node->inputs[i].type);
        *with_math |= op_text_needs_math(node->core_op, node->scalar, target);
    }
}

/* What is called from outside: a kernel, or an entry of a function. */
typedef struct Unit {
    size_t end;    /* of its text, in that of all */
    size_t weight; /* bytes that compiling it takes as long as */
} Unit;

/* What is the program's own, and what a file must begin with for it. */
typedef struct Program {
    const EmitContext *context;
    ClassSet types;
    bool with_math;
    Text functions; /* that units call */
    Text text;      /* of the units */
    VEC(Unit) units;
    size_t weight;  /* of all */
} Program;

/* What was written last. */
static void add_unit(Program *program, size_t more_weight)
{
    size_t start = program->units.count == 0 ? 0 : program->units.items[program->units.count - 1].end;
    Unit unit = {.end = program->text.length, .weight = program->text.length - start + more_weight};
    *vec_push(program->context->functions->arena, &program->units) = unit;
    program->weight += unit.weight;
}

/* Functions take time where they are called from, mostly by entries: each is taken for a fair share of them. */
static void emit_entries(Program *program)
{
    FunctionTexts *functions = program->context->functions;
    uint32_t count = function_texts_external_count(functions);
    for (uint32_t i = 0; i < count; i++) {
        function_texts_write_external(functions, i, program->context->sources, &program->text, &program->types, &program->with_math);
        add_unit(program, program->functions.length / count);
    }
}

static void emit_kernels(Program *program, const Fusion *fusion)
{
    for (uint32_t k = 0; k < fusion->kernels.count; k++) {
        Emitter emitter = {.context = program->context,
                           .fusion = fusion,
                           .network = fusion->network,
                           .kernel = &fusion->kernels.items[k],
                           .out = &program->text};
        emit_kernel(&emitter);
        add_unit(program, 0);
    }
}

static Program emit_program(const EmitContext *context, const Fusion *const *fusions, uint32_t count, Memory *memory)
{
    Program program = {.context = context};
    text_init(&program.functions, memory);
    text_init(&program.text, memory);
    for (uint32_t i = 0; i < count; i++)
        find_types(fusions[i], &program.types, &program.with_math);
    emit_need_functions(context, fusions, count);
    function_texts_write(context->functions, context->sources, &program.functions, &program.types, &program.with_math);
    emit_entries(&program);
    for (uint32_t i = 0; i < count; i++)
        emit_kernels(&program, fusions[i]);
    return program;
}

static void free_program(Program *program)
{
    text_free(&program->functions);
    text_free(&program->text);
}

static void add_text(Text *out, const Text *more)
{
    text_add_bytes(out, text_string(more), more->length);
}

static void begin_file(const Program *program, Text *out)
{
    kernel_preamble(out, program->types, program->with_math);
    kernel_preamble_calls(out, function_texts_wide(program->context->functions));
    text_add(out, "\n/* ==== kernels ==== */\n");
    add_text(out, &program->functions);
}

void emit_c(const EmitContext *context, const Fusion *const *fusions, uint32_t count, Text *out)
{
    Program program = emit_program(context, fusions, count, out->memory);
    begin_file(&program, out);
    add_text(out, &program.text);
    free_program(&program);
}

void emit_c_body(const EmitContext *context, const Fusion *const *fusions, uint32_t count, Text *out)
{
    Program program = emit_program(context, fusions, count, out->memory);
    add_text(out, &program.functions);
    add_text(out, &program.text);
    free_program(&program);
}

static uint32_t lightest(const size_t *weights, uint32_t count)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i < count; i++)
        if (weights[i] < weights[found])
            found = i;
    return found;
}

/* How many files are worth it. */
static uint32_t count_files(const Program *program, uint32_t most)
{
    enum { FILE_LEAST = 6000 }; /* bytes: what every file begins with takes about as long */
    return (uint32_t)least(least(1 + program->weight / FILE_LEAST, program->units.count), most);
}

/* All files have the functions: compilers only read those that nobody calls. */
uint32_t emit_c_files(const EmitContext *context, const Fusion *const *fusions, uint32_t count, Memory *memory, Text *files, uint32_t most)
{
    Program program = emit_program(context, fusions, count, memory);
    uint32_t file_count = count_files(&program, most);
    size_t *weights = ARENA_ARRAY(context->functions->arena, size_t, file_count), start = 0;
    for (uint32_t i = 0; i < file_count; i++) {
        text_init(&files[i], memory);
        begin_file(&program, &files[i]);
    }
    for (uint32_t i = 0; i < program.units.count; i++) {
        const Unit *unit = &program.units.items[i];
        uint32_t file = lightest(weights, file_count);
        text_add_bytes(&files[file], text_string(&program.text) + start, unit->end - start);
        weights[file] += unit->weight;
        start = unit->end;
    }
    free_program(&program);
    return file_count;
}
