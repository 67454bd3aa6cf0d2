/* Scatters of a loop that go to the same places in every turn: put_with where the index of a point comes from a vector that no turn changes.
 *
 * The points of each place are found once (kernel/preamble/groups.h), in the order in which they come. From then on a turn does one place after the other, its points in that order, so that every
 * place is combined just as it would have been; what it comes to stays in a register, and threads share the places. Other vectors that stay the same, and are gone over with the
 * places, are brought into the new order too: they are read as they lie. */
#include "kernel/function_supply.h"
#include "kernel/preamble/call.h"

/* A column that is brought into the order of places. */
typedef struct GroupColumn {
    Supply *supply;
    uint32_t leaf;
} GroupColumn;

struct Grouping {
    const CoreStatement *statement;
    Supply *pairs;
    Supply *places;
    GroupColumn columns[KERNEL_GROUP_COLUMNS];
    uint32_t column_count;
    bool is_ordered; /* something is reached by the number of the point */
    const char *groups;
};

/* ---- which ---- */

static bool is_kept(const Writer *writer, const Supply *supply)
{
    return supply->kind == SUPPLY_CELLS && supply->vector != NULL && turns_keeps(writer, supply->vector);
}

static uint32_t leaf_count(const Writer *writer, const Supply *supply)
{
    return write_layout(writer, supply->type)->count;
}

/* Where the first component of the elements comes from. */
static Supply *find_places(const Writer *writer, Supply *supply)
{
    if (supply->kind == SUPPLY_CELLS)
        return is_kept(writer, supply) && supply->type == TYPE_INT ? supply : NULL;
    if (supply->kind == SUPPLY_ZIP)
        return find_places(writer, supply->members[0]);
    const CoreBlock *block = supply->kind == SUPPLY_EACH ? supply->statement->blocks[0] : NULL;
    const CoreStatement *pair = block == NULL || block->result.is_constant ? NULL : writer->texts->shapes[block->result.variable].definition;
    if (pair == NULL || pair->kind != CORE_PAIR || pair->arguments[0].is_constant)
        return NULL;
    for (uint32_t i = 0; i < block->parameter_count; i++)
        if (block->parameters[i] == pair->arguments[0].variable)
            return supply->members[i]->kind == SUPPLY_CELLS ? find_places(writer, supply->members[i]) : NULL;
    return NULL;
}

static bool is_plain(const Writer *writer, const Supply *supply)
{
    const Layout *elements = write_layout(writer, supply->type);
    for (uint32_t i = 0; i < elements->count; i++)
        if (elements->leaves[i].type == LEAF_ARRAY || supply->strides[i] != NULL)
            return false;
    return true;
}

static void add_columns(const Writer *writer, Grouping *grouping, Supply *supply)
{
    for (uint32_t i = 0; i < supply->member_count; i++)
        add_columns(writer, grouping, supply->members[i]);
    if ((supply->kind != SUPPLY_CELLS && supply->kind != SUPPLY_RANGE) || supply == grouping->places)
        return;
    uint32_t count = leaf_count(writer, supply);
    if (!is_kept(writer, supply) || !is_plain(writer, supply) || grouping->column_count + count > KERNEL_GROUP_COLUMNS) {
        grouping->is_ordered = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        grouping->columns[grouping->column_count++] = (GroupColumn){supply, i};
}

Grouping *groups_find(Writer *writer, const Traversal *pairs, const CoreStatement *statement, const Sink *sink)
{
    if (!writer->alternates || writer->loops > 0 || writer->is_deferred || !sequence_is_shareable(pairs) || !sequence_is_repeatable(pairs) || !sink->is_straight)
        return NULL;
    Supply *supply = pairs->supply, *places = find_places(writer, supply);
    if (places == NULL || !supply_is_straight(writer, supply) || !supply_may_go_on(writer, supply, sink))
        return NULL;
    Grouping *grouping = ARENA_NEW(writer->arena, Grouping);
    *grouping = (Grouping){.statement = statement, .pairs = supply, .places = places};
    grouping->groups = arena_format(writer->arena, "groups[%u]", writer->group_count++);
    add_columns(writer, grouping, supply);
    return grouping;
}

/* ---- loops ---- */

static void add_list(Text *text, const char *type, uint32_t count)
{
    text_addf(text, ", (const %s[%u]){", type, count == 0 ? 1 : count);
}

static bool has_floats(const Layout *elements)
{
    for (uint32_t i = 0; i < elements->count; i++)
        if (elements->leaves[i].type == (LeafType)SCALAR_F64 || elements->leaves[i].type == (LeafType)SCALAR_F32)
            return true;
    return false;
}

/* `if` there are groups. */
static void open_groups(Writer *writer, const Grouping *grouping, const Layout *elements, const char *length)
{
    Text text;
    text_init(&text, writer->out->memory);
    text_addf(&text, "if (kernel_group(scalars->call, &%s, %s, %s, %s, %s, %s, %u", grouping->groups, grouping->places->words[0], grouping->pairs->length, length,
              has_floats(elements) ? "false" : "true", grouping->is_ordered ? "true" : "false", grouping->column_count);
    add_list(&text, "uint8_t", grouping->column_count);
    for (uint32_t i = 0; i < grouping->column_count; i++) {
        const GroupColumn *column = &grouping->columns[i];
        text_addf(&text, "%s%zu", i == 0 ? "" : ", ", leaf_size(write_layout(writer, column->supply->type)->leaves[column->leaf].type));
    }
    text_add(&text, grouping->column_count == 0 ? "0}" : "}");
    add_list(&text, "void *const", grouping->column_count);
    for (uint32_t i = 0; i < grouping->column_count; i++)
        text_addf(&text, "%s%s", i == 0 ? "" : ", ", grouping->columns[i].supply->words[grouping->columns[i].leaf]);
    text_add(&text, grouping->column_count == 0 ? "NULL}))" : "}))");
    write_open_brace(writer, arena_text(writer->arena, text_string(&text), text.length));
    text_free(&text);
}

static const char *declare(Writer *writer, const char *type, const char *format, const char *word)
{
    const char *name = write_word(writer, 0);
    write_line(writer, "%s%s = %s;", type, name, arena_format(writer->arena, format, word));
    return name;
}

/* From here on the supplies give what there is in the order of places. */
static void enter_order(Writer *writer, Grouping *grouping, const char *place, const char *at)
{
    grouping->places->kind = SUPPLY_RANGE;
    grouping->places->words = NULL;
    grouping->places->place = place;
    for (uint32_t i = 0; i < grouping->column_count; i++) {
        Supply *supply = grouping->columns[i].supply;
        uint32_t leaf = grouping->columns[i].leaf;
        const char *type = write_leaf_type(write_layout(writer, supply->type)->leaves[leaf].type);
        if (leaf == 0)
            supply->words = ARENA_ARRAY(writer->arena, const char *, leaf_count(writer, supply));
        supply->place = at;
        supply->words[leaf] = declare(writer, arena_format(writer->arena, "%s const *const ", type), arena_format(writer->arena, "%%s->columns[%u]", i), grouping->groups);
    }
}

static void leave_order(Grouping *grouping, const Supply *places, const Supply *columns)
{
    *grouping->places = *places;
    for (uint32_t i = 0; i < grouping->column_count; i++)
        *grouping->columns[i].supply = columns[i];
}

static void write_points(Writer *writer, const Grouping *grouping, const Layout *elements, const char **totals, const char *place, const char *at)
{
    write_open_brace(writer, arena_format(writer->arena, "for (int64_t %s = %s->starts[%s]; %s < %s->starts[%s + 1]; %s++)", at, grouping->groups, place, at, grouping->groups, place, at));
    const char *index = grouping->is_ordered ? declare(writer, "const int64_t ", arena_format(writer->arena, "%%s->order[%s]", at), grouping->groups) : at;
    Element element = supply_step(writer, grouping->pairs, index);
    reduce_assign(writer, elements, totals, reduce_apply(writer, grouping->statement, totals, element.words + 1));
    write_close_brace(writer);
}

static void write_places(Writer *writer, Grouping *grouping, const Layout *elements, const char **cells, const char *start)
{
    const char *place = write_word(writer, 0), *at = write_word(writer, 0), **old = ARENA_ARRAY(writer->arena, const char *, elements->count);
    Supply places = *grouping->places, columns[KERNEL_GROUP_COLUMNS];
    for (uint32_t i = 0; i < grouping->column_count; i++)
        columns[i] = *grouping->columns[i].supply;
    enter_order(writer, grouping, place, at);
    const char *end = declare(writer, "const int64_t ", "kernel_group_part(scalars->call, %s, 1)", grouping->groups);
    const char *first = arena_format(writer->arena, "kernel_group_part(scalars->call, %s, 0)", grouping->groups);
    write_open_brace(writer, arena_format(writer->arena, "for (int64_t %s = %s; %s < %s; %s++)", place, first, place, end, place));
    for (uint32_t i = 0; i < elements->count; i++)
        old[i] = arena_format(writer->arena, "%s[%s + %s]", cells[i], start, place);
    const char **totals = reduce_declare(writer, elements, old);
    write_points(writer, grouping, elements, totals, place, at);
    for (uint32_t i = 0; i < elements->count; i++)
        write_line(writer, "%s = %s;", old[i], vectors_canonical(writer, elements->leaves[i].type, totals[i]));
    write_close_brace(writer);
    leave_order(grouping, &places, columns);
}

void groups_write(Writer *writer, Grouping *grouping, const Layout *elements, const char **cells, const char *start, const char *length)
{
    tables_prepare(writer, grouping->pairs);
    open_groups(writer, grouping, elements, length);
    bool had_pending = writer->has_pending;
    writer->has_pending = false;
    writer->is_deferred = true;
    writer->loops++;
    write_places(writer, grouping, elements, cells, start);
    writer->loops--;
    writer->is_deferred = false;
    if (writer->has_pending)
        write_check(writer);
    writer->has_pending = had_pending;
    if (writer->may_share)
        share_meet(writer);
    writer->has_shared = true;
    write_else(writer);
    if (writer->may_share) /* only in order can threads share it */
        vectors_fail_if(writer, "scalars->call->together != NULL");
}
