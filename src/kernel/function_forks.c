/* Recursion over a few vectors that are written down, {f(v) : v in [a, b]}, or over any, perhaps if a condition holds, {f(v) : v in parts | #v > 0}: calls that other threads may do
 * (preamble/call.h).
 *
 * All calls but the first are offered, the first is done; then those that nobody took are done too, and the results of the others are copied into the region where they belong. Calls in a loop
 * wait for its end first, if they are large (KernelLater): what fails before has not offered any. */
#include "kernel/function_vectors.h"

/* Whether its result can be copied by whoever wants it. */
static bool gives_flat_vectors(const FunctionTexts *texts, CoreFunctionId function)
{
    const Layout *results = function_text_results(texts, function);
    for (uint32_t i = 0; i < results->count; i++)
        if (results->leaves[i].type == LEAF_ARRAY && layout_has_arrays(results->leaves[i].elements))
            return false;
    return layout_has_arrays(results);
}

bool forks_can_be_shared(FunctionTexts *texts, CoreFunctionId function)
{
    return texts->program->functions.items[function]->is_recursive && !function_text_accepts(texts, function) && gives_flat_vectors(texts, function);
}

/* The call whose result a block gives; null if it gives something else. */
static const CoreStatement *ending_call(const CoreBlock *block)
{
    const CoreStatement *last = block->statement_count == 0 ? NULL : &block->statements[block->statement_count - 1];
    return last != NULL && last->kind == CORE_CALL && write_is_last(block, block->statement_count - 1) ? last : NULL;
}

const CoreStatement *forks_find_call(FunctionTexts *texts, const CoreBlock *body)
{
    const CoreStatement *call = ending_call(body);
    CoreBlock before = *body;
    before.statement_count--;
    return call != NULL && forks_can_be_shared(texts, call->function) && shape_is_straight(texts, &before) && !shape_gives_up(&before) ? call : NULL;
}

/* ---- the task of a function ---- */

static void add_fields(Writer *writer, const Layout *layout, const char *prefix, uint32_t *number)
{
    for (uint32_t i = 0; i < layout->count; i++)
        write_line(writer, "    %s %s%u;", write_leaf_type(layout->leaves[i].type), prefix, (*number)++);
}

const char *forks_name(const Writer *writer, CoreFunctionId function)
{
    Text text;
    text_init(&text, writer->out->memory);
    function_text_name(writer->texts, function, &text);
    const char *name = arena_text(writer->arena, text_string(&text), text.length);
    text_free(&text);
    return name;
}

/* NAME_task, its arguments and results, and NAME_run, which does the call. */
void forks_write_task(FunctionTexts *texts, CoreFunctionId function, Text *out)
{
    Writer writer = writer_of(texts, function);
    const CoreBlock *body = texts->program->functions.items[function]->body;
    const char *name;
    uint32_t arguments = 0, results = 0;
    writer.out = out;
    writer.depth = 0;
    name = forks_name(&writer, function);
    write_line(&writer, "typedef struct %s_task {", name);
    write_line(&writer, "    KernelTask task;");
    write_line(&writer, "    int64_t depth;");
    for (uint32_t i = 0; i < body->parameter_count; i++)
        add_fields(&writer, write_layout(&writer, write_type(&writer, body->parameters[i])), "a", &arguments);
    add_fields(&writer, function_text_results(texts, function), "r", &results);
    write_line(&writer, "} %s_task;", name);
    write_line(&writer, "static bool %s_run(KernelTask *task, const KernelCall *call)", name);
    write_line(&writer, "{");
    write_line(&writer, "    %s_task *const own = (%s_task *)(void *)task;", name, name);
    write_line(&writer, "    const KernelScalars scalars = kernel_scalars(call);");
    text_addf(out, "    return %s(", name);
    for (uint32_t i = 0; i < arguments; i++)
        text_addf(out, "own->a%u, ", i);
    for (uint32_t i = 0; i < results; i++)
        text_addf(out, "&own->r%u, ", i);
    text_add(out, "&call->workspace->regions[0], call->spare, own->depth, &scalars);\n}\n");
}

/* ---- the calls of a comprehension ---- */

static void write_invocation(Writer *writer, const ForkedCalls *calls, uint32_t turn, const char *before)
{
    Text text;
    text_init(&text, writer->out->memory);
    text_addf(&text, "%s%s(", before, calls->name);
    for (uint32_t i = 0; i < calls->argument_count; i++)
        text_addf(&text, "%s, ", calls->arguments[turn][i]);
    for (uint32_t i = 0; i < calls->layout->count; i++)
        text_addf(&text, "&%s, ", calls->results[turn][i]);
    text_addf(&text, "%s, %s, depth - 1, scalars);", calls->region, vectors_other(writer, calls->region));
    write_line(writer, "%s", text_string(&text));
    text_free(&text);
}

void forks_add_lengths(const Writer *writer, const CoreStatement *call, const char **arguments, Text *sum)
{
    for (uint32_t i = 0, leaf = 0; i < call->argument_count; leaf += write_layout(writer, call->arguments[i++].type)->count)
        if (type_is_vector(writer->program->types, call->arguments[i].type))
            text_addf(sum, "%s%s", sum->length == 0 ? "" : " + ", arguments[leaf + VECTOR_LENGTH]);
}

const char *forks_take_sum(Writer *writer, Text *sum)
{
    const char *text = sum->length == 0 ? "0" : arena_text(writer->arena, text_string(sum), sum->length);
    text_free(sum);
    return text;
}

static const char *total_length(Writer *writer, const ForkedCalls *calls)
{
    Text text;
    text_init(&text, writer->out->memory);
    for (uint32_t turn = 0; turn < calls->count; turn++)
        forks_add_lengths(writer, calls->call, calls->arguments[turn], &text);
    return forks_take_sum(writer, &text);
}

static void write_task(Writer *writer, ForkedCall call)
{
    Text text;
    text_init(&text, writer->out->memory);
    text_addf(&text, "%s = (%s_task){.task = {.run = %s_run, .call = scalars->call}, .depth = depth - 1", call.task, call.name, call.name);
    for (uint32_t i = 0; i < call.argument_count; i++)
        text_addf(&text, ", .a%u = %s", i, call.arguments[i]);
    write_line(writer, "%s};", text_string(&text));
    text_free(&text);
}

void forks_write_offer(Writer *writer, ForkedCall call)
{
    write_task(writer, call);
    write_line(writer, "kernel_offer(scalars->call, &%s.task);", call.task);
}

static void write_fetch(Writer *writer, const ForkedCalls *calls, const char *task, uint32_t turn, const char *is_good)
{
    write_line(writer, "%s &= %s.task.is_good;", is_good, task);
    for (uint32_t i = 0; i < calls->layout->count; i++) {
        const char *result = calls->results[turn][i];
        if (calls->layout->leaves[i].type == LEAF_ARRAY) {
            write_line(writer, "%s = %s ? kernel_fetch(%s, %s.r%u, %s.r%u, %s.r%u, %s) : NULL;", result, is_good, calls->region, task, i, task, i + 1, task, i + 2,
                       vectors_sizes(writer, calls->layout->leaves[i].elements));
            write_line(writer, "%s &= %s != NULL;", is_good, result);
            write_line(writer, "%s = 0;", calls->results[turn][++i]);
        } else
            write_line(writer, "%s = %s.r%u;", result, task, i);
    }
    write_line(writer, "kernel_finish(scalars->call, &%s.task);", task);
}

/* A call that was offered, if a condition holds: somebody has done it, or it is done now. */
static void write_settled(Writer *writer, const ForkedCalls *calls, uint32_t turn, const char *task, const char *condition, const char *is_good)
{
    write_open_brace(writer, arena_format(writer->arena, "if (OP_RARELY(%skernel_settle(scalars->call, &%s.task)))", condition, task));
    write_fetch(writer, calls, task, turn, is_good);
    write_else(writer);
    write_invocation(writer, calls, turn, arena_format(writer->arena, "%s = %s && ", is_good, is_good));
    write_close_brace(writer);
}

static void declare_results(Writer *writer, ForkedCalls *calls, uint32_t turn)
{
    calls->results[turn] = ARENA_ARRAY(writer->arena, const char *, calls->layout->count);
    for (uint32_t i = 0; i < calls->layout->count; i++) {
        calls->results[turn][i] = write_word(writer, 0);
        write_line(writer, "%s %s;", write_leaf_type(calls->layout->leaves[i].type), calls->results[turn][i]);
    }
}

/* The function that is being written calls one, and offers that. */
static void note_sharing(Writer *writer, CoreFunctionId called)
{
    *vec_push(writer->arena, &writer->callees) = called;
    if (!writer->is_trial)
        writer->texts->is_shared[writer->function] = true;
}

void forks_write_calls(Writer *writer, ForkedCalls *calls)
{
    const char *tasks = write_word(writer, 0), *shares = write_word(writer, 0), *is_good = write_word(writer, 0);
    calls->name = forks_name(writer, calls->call->function);
    calls->layout = function_text_results(writer->texts, calls->call->function);
    note_sharing(writer, calls->call->function);
    for (uint32_t turn = 0; turn < calls->count; turn++)
        declare_results(writer, calls, turn);
    write_line(writer, "%s_task %s[%u];", calls->name, tasks, calls->count - 1);
    write_line(writer, "const bool %s = kernel_may_share(scalars->call, %s);", shares, total_length(writer, calls));
    write_open_brace(writer, arena_format(writer->arena, "if (OP_RARELY(%s))", shares));
    for (uint32_t turn = 1; turn < calls->count; turn++)
        forks_write_offer(writer, (ForkedCall){calls->name, calls->arguments[turn], calls->argument_count, arena_format(writer->arena, "%s[%u]", tasks, turn - 1)});
    write_close_brace(writer);
    write_invocation(writer, calls, 0, arena_format(writer->arena, "bool %s = ", is_good));
    for (uint32_t turn = 1; turn < calls->count; turn++)
        write_settled(writer, calls, turn, arena_format(writer->arena, "%s[%u]", tasks, turn - 1), arena_format(writer->arena, "%s && ", shares), is_good);
    vectors_fail_if(writer, "!%s", is_good);
}

/* ---- the calls of a loop ---- */

/* The statement that a sequence is traversed by instead of being made, of a block or, where shapes are known, of any; null if it is made. */
static const CoreStatement *find_traversed(const FunctionTexts *texts, const CoreBlock *block, const CoreAtom *sequence)
{
    if (sequence->is_constant)
        return NULL;
    if (block == NULL)
        return texts->shapes[sequence->variable].is_delayed ? texts->shapes[sequence->variable].definition : NULL;
    for (uint32_t i = 0; i < block->statement_count; i++)
        if (block->statements[i].target == sequence->variable && shape_count_uses(block, sequence->variable) == 1)
            return &block->statements[i];
    return NULL;
}

const CoreStatement *forks_find_element_call(FunctionTexts *texts, const CoreBlock *block, const CoreAtom *sequence)
{
    const CoreStatement *statement = find_traversed(texts, block, sequence);
    if (statement == NULL)
        return NULL;
    if (statement->kind == CORE_EACH || statement->kind == CORE_GUARD) {
        const CoreStatement *call = ending_call(statement->blocks[0]);
        return call != NULL && forks_can_be_shared(texts, call->function) ? call : NULL;
    }
    if (statement->kind != CORE_OP)
        return NULL;
    if (statement->op == OP_SEQ || statement->op == OP_TAB)
        return forks_find_element_call(texts, block, &statement->arguments[0]);
    bool is_join = (statement->op == OP_CONCAT || statement->op == OP_FLATTEN) && type_is_sequence(texts->program->types, sequence->type);
    const CoreStatement *outer = is_join ? find_traversed(texts, block, &statement->arguments[0]) : NULL;
    if (outer == NULL || outer->kind != CORE_EACH)
        return NULL;
    return forks_find_element_call(texts, block == NULL ? NULL : outer->blocks[0], &outer->blocks[0]->result);
}

LaterCalls *forks_begin_later(Writer *writer, const CoreStatement *call, const char *region)
{
    LaterCalls *later = ARENA_NEW(writer->arena, LaterCalls);
    *later = (LaterCalls){.call = call, .calls = write_word(writer, 0), .region = region};
    write_line(writer, "KernelLater %s = {0};", later->calls);
    note_sharing(writer, call->function);
    return later;
}

bool forks_waits(const Sink *sink, const CoreBlock *body)
{
    return sink->later != NULL && ending_call(body) == sink->later->call;
}

static const char *lengths_of(Writer *writer, const CoreStatement *call, const char **arguments)
{
    Text text;
    text_init(&text, writer->out->memory);
    forks_add_lengths(writer, call, arguments, &text);
    return forks_take_sum(writer, &text);
}

void forks_add_later(Writer *writer, Sink *sink)
{
    const LaterCalls *later = sink->later;
    const char *task = write_word(writer, 0);
    ForkedCall call = {.name = forks_name(writer, later->call->function), .task = arena_format(writer->arena, "*%s", task)};
    call.arguments = write_arguments(writer, later->call, &call.argument_count);
    write_line(writer, "%s_task *const %s = kernel_take(%s, sizeof(%s_task));", call.name, task, later->region, call.name);
    vectors_fail_if(writer, "%s == NULL", task);
    write_task(writer, call);
    write_line(writer, "kernel_later_add(&%s, &%s->task, %s, %s);", later->calls, task, sink->place == NULL ? "0" : sink->place(writer, sink),
               lengths_of(writer, later->call, call.arguments));
}

void forks_open_later(Writer *writer, Sink *sink)
{
    uint32_t ignored;
    const char **arguments = write_arguments(writer, sink->later->call, &ignored);
    write_open_brace(writer, arena_format(writer->arena, "if (OP_RARELY(kernel_may_wait(scalars->call, &%s, %s)))", sink->later->calls,
                                          lengths_of(writer, sink->later->call, arguments)));
    forks_add_later(writer, sink);
    write_else(writer);
}

ForkedCall forks_open_waiting(Writer *writer, const LaterCalls *later, const char **place)
{
    const char *next = write_word(writer, 0), *own = write_word(writer, 0);
    ForkedCall call = {.name = forks_name(writer, later->call->function), .task = arena_format(writer->arena, "(*%s)", own)};
    for (uint32_t i = 0; i < later->call->argument_count; i++)
        call.argument_count += write_layout(writer, later->call->arguments[i].type)->count;
    call.arguments = ARENA_ARRAY(writer->arena, const char *, call.argument_count);
    for (uint32_t i = 0; i < call.argument_count; i++)
        call.arguments[i] = arena_format(writer->arena, "%s->a%u", own, i);
    write_open_brace(writer, arena_format(writer->arena, "for (KernelTask *%s = kernel_later_next(scalars->call, &%s, NULL); %s != NULL; %s = kernel_later_next(scalars->call, &%s, %s))",
                                          next, later->calls, next, next, later->calls, next));
    write_line(writer, "%s_task *const %s = (%s_task *)(void *)%s;", call.name, own, call.name, next);
    *place = arena_format(writer->arena, "%s->place", next);
    return call;
}

void forks_end_later(Writer *writer, const Store *to)
{
    const LaterCalls *later = to->sink.later;
    const char *is_good = write_word(writer, 0), *place;
    write_line(writer, "bool %s = true;", is_good);
    ForkedCall call = forks_open_waiting(writer, later, &place);
    ForkedCalls calls = {.call = later->call, .name = call.name, .layout = function_text_results(writer->texts, later->call->function), .count = 1, .region = to->region,
                         .arguments = {call.arguments}, .argument_count = call.argument_count};
    declare_results(writer, &calls, 0);
    write_settled(writer, &calls, 0, call.task, "", is_good);
    write_open_brace(writer, arena_format(writer->arena, "if (%s)", is_good));
    vectors_store(writer, to, (Element){.words = calls.results[0]}, place);
    write_close_brace(writer);
    write_close_brace(writer);
    vectors_fail_if(writer, "!%s", is_good);
}
