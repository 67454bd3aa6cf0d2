#include "coverage.h"

#include "flow/flow_names.h"

#include "session/session.h"

#include <string.h>

/* ---- counting ---- */

static CoverageType container_type(const Types *types, const TypeNode *node)
{
    const TypeNode *element = &types->nodes.items[node->b];
    bool is_vector = node->a == TYPE_MARK_VECTOR;
    switch (element->kind) {
    case TYPE_SCALAR:
        return is_vector ? COVERAGE_VECTOR_SCALAR : COVERAGE_SEQUENCE_SCALAR;
    case TYPE_PAIR:
        return is_vector ? COVERAGE_VECTOR_PAIR : COVERAGE_SEQUENCE_PAIR;
    case TYPE_CONTAINER:
        return is_vector                         ? COVERAGE_VECTOR_VECTOR
               : element->a == TYPE_MARK_VECTOR ? COVERAGE_SEQUENCE_VECTOR
                                                : COVERAGE_SEQUENCE_SEQUENCE;
    case TYPE_UNIT:
    case TYPE_DATA:
    case TYPE_CLOSURE:
    case TYPE_NONE:
    case TYPE_FUNCTION:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        break;
    }
    return is_vector ? COVERAGE_VECTOR_OTHER : COVERAGE_SEQUENCE_OTHER;
}

static void count_type(Coverage *coverage, const Types *types, TypeId type)
{
    const TypeNode *node = &types->nodes.items[type];
    switch (node->kind) {
    case TYPE_SCALAR:
        coverage->scalars[node->a]++;
        break;
    case TYPE_UNIT:
        coverage->types[COVERAGE_UNIT]++;
        break;
    case TYPE_PAIR:
        coverage->types[COVERAGE_PAIR]++;
        break;
    case TYPE_DATA:
        coverage->types[COVERAGE_DATA]++;
        break;
    case TYPE_CLOSURE:
        coverage->types[COVERAGE_CLOSURE]++;
        break;
    case TYPE_CONTAINER:
        coverage->types[container_type(types, node)]++;
        break;
    case TYPE_NONE:
    case TYPE_FUNCTION:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        break; /* not in Core */
    }
}

static void count_block(Coverage *coverage, const CoreProgram *program, const CoreBlock *block, uint32_t depth)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        bool is_loop = statement->kind == CORE_EACH || statement->kind == CORE_GROUP;
        coverage->kinds[statement->kind]++;
        count_type(coverage, program->types, program->variables.items[statement->target].type);
        if (statement->kind == CORE_OP)
            coverage->ops[statement->op]++;
        if (is_loop)
            coverage->depths[depth < COVERAGE_DEPTHS ? depth : COVERAGE_DEPTHS - 1]++;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                count_block(coverage, program, statement->blocks[b], depth + is_loop);
    }
}

CoverageMark coverage_mark(const RunnelSession *session)
{
    return (CoverageMark){session->program.functions.count, session->program.items.count, session->flow.networks.count};
}

void coverage_add(Coverage *coverage, const RunnelSession *session, CoverageMark mark)
{
    const CoreProgram *program = session->options.is_unsimplified ? &session->program : &session->simple;
    for (uint32_t i = mark.first_function; i < program->functions.count; i++) {
        const CoreFunction *function = program->functions.items[i];
        if (function == NULL)
            continue; /* inlined everywhere */
        coverage->recursive_functions += function->is_recursive;
        if (function->body != NULL)
            count_block(coverage, program, function->body, 0);
    }
    for (uint32_t i = mark.first_item; i < program->items.count; i++)
        count_block(coverage, program, program->items.items[i].block, 0);
}

void coverage_add_flow(Coverage *coverage, const RunnelSession *session, CoverageMark mark)
{
    FlowCounts counts = flow_counts(&session->flow, mark.first_network);
    for (uint32_t i = 0; i < FLOW_SPACE_KINDS; i++)
        coverage->spaces[i] += counts.spaces[i];
    for (uint32_t i = 0; i < FLOW_OP_COUNT; i++)
        coverage->nodes[i] += counts.nodes[i];
}

/* ---- reporting ---- */

static const char *const kind_names[CORE_KINDS] = {
    [CORE_COPY] = "copy",   [CORE_UNIT] = "unit",     [CORE_PAIR] = "pair", [CORE_PROJECT] = "project", [CORE_WRAP] = "wrap",
    [CORE_UNWRAP] = "unwrap", [CORE_MAKE] = "make",   [CORE_TEXT] = "text", [CORE_OP] = "operation",    [CORE_CALL] = "call",
    [CORE_IF] = "if",       [CORE_EACH] = "each",     [CORE_GUARD] = "guard", [CORE_GROUP] = "group",
};

static const char *const type_names[COVERAGE_TYPE_COUNT] = {
#define COVERAGE_TYPE(ID, name) name,
    COVERAGE_TYPES
#undef COVERAGE_TYPE
};

/* A walk over all counts with their names. */
typedef void CountVisitor(const char *group, const char *name, uint64_t count, void *context);

static void visit_counts(const Coverage *coverage, CountVisitor *visit, void *context)
{
    for (uint32_t i = 0; i < OP_COUNT; i++)
        visit("operation", op_name((Op)i), coverage->ops[i], context);
    for (uint32_t i = 0; i < CORE_KINDS; i++)
        visit("statement", kind_names[i], coverage->kinds[i], context);
    for (uint32_t i = 0; i < SCALAR_COUNT; i++)
        visit("scalar", scalar_name((ScalarType)i), coverage->scalars[i], context);
    for (uint32_t i = 0; i < COVERAGE_TYPE_COUNT; i++)
        visit("type", type_names[i], coverage->types[i], context);
    static const char *const depths[COVERAGE_DEPTHS] = {"0", "1", "2", "3", "4 and more"};
    for (uint32_t i = 0; i < COVERAGE_DEPTHS; i++)
        visit("comprehension in", depths[i], coverage->depths[i], context);
    visit("function", "recursive", coverage->recursive_functions, context);
    for (uint32_t i = SPACE_ROOT + 1; i < FLOW_SPACE_KINDS; i++)
        visit("space", flow_space_kind_name((FlowSpaceKind)i), coverage->spaces[i], context);
    for (uint32_t i = 0; i < FLOW_OP_COUNT; i++)
        visit("node", flow_op_table[i].name, coverage->nodes[i], context);
}

typedef struct Table {
    FILE *out;
    const char *group;
    int column;
} Table;

static void print_count(const char *group, const char *name, uint64_t count, void *context)
{
    Table *table = context;
    bool is_new = table->group == NULL || strcmp(table->group, group) != 0;
    if (is_new || table->column == 5) {
        fprintf(table->out, "\n%-17s", is_new ? group : "");
        table->column = 0;
    }
    fprintf(table->out, " %16s %7llu", name, (unsigned long long)count);
    table->group = group;
    table->column++;
}

void coverage_print(const Coverage *coverage, FILE *out)
{
    Table table = {.out = out};
    visit_counts(coverage, print_count, &table);
    fputs("\n", out);
}

/* Input and output aside; and nothing makes copies before the simplifier. */
static bool is_expected(const char *group, const char *name)
{
    if (strcmp(group, "statement") == 0 && strcmp(name, "copy") == 0)
        return false;
    if (strcmp(group, "space") == 0 || strcmp(group, "node") == 0)
        return strcmp(name, "lines") != 0 && strcmp(name, "input") != 0;
    for (uint32_t i = 0; i < OP_COUNT; i++)
        if (strcmp(group, "operation") == 0 && strcmp(name, op_name((Op)i)) == 0)
            return op_table[i].effect != EFFECT_IO;
    return true;
}

typedef struct Gaps {
    FILE *out;
    bool is_any;
} Gaps;

static void find_gap(const char *group, const char *name, uint64_t count, void *context)
{
    Gaps *gaps = context;
    if (count > 0 || !is_expected(group, name))
        return;
    fprintf(gaps->out, "never occurred: %s %s\n", group, name);
    gaps->is_any = true;
}

bool coverage_has_gaps(const Coverage *coverage, FILE *out)
{
    Gaps gaps = {.out = out};
    visit_counts(coverage, find_gap, &gaps);
    return gaps.is_any;
}
