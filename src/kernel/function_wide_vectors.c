/* Vectors and sequences of wide versions: their elements by index, and operations on them. */
#include "kernel/function_wide.h"

#include "kernel/op_text.h"
#include "source/diagnostics.h"

#include <string.h>

static const Layout *leaves_of(Wide *wide, TypeId element)
{
    const Layout *leaves = write_layout(&wide->writer, element);
    for (uint32_t i = 0; i < leaves->count; i++)
        if (leaves->leaves[i].type == LEAF_ARRAY)
            wide_refuse(wide);
    return leaves;
}

const WideValue *wide_vector(Wide *wide, WideVector vector)
{
    WidePart part = {.vector = ARENA_NEW(wide->writer.arena, WideVector)};
    *part.vector = vector;
    return wide_value(wide, &part, 1);
}

WideVector *wide_vector_of(Wide *wide, const WideValue *value)
{
    if (value->count != 1 || value->parts[0].vector == NULL)
        wide_refuse(wide);
    return value->parts[0].vector;
}

const char *wide_length_of(Wide *wide, const WideValue *value)
{
    const WideVector *vector = wide_vector_of(wide, value);
    if (vector->length == NULL)
        wide_refuse(wide);
    return vector->length;
}

static WideVector *argument(Wide *wide, const CoreStatement *statement, uint32_t index)
{
    return wide_vector_of(wide, wide_atom(wide, &statement->arguments[index]));
}

void wide_give(Wide *wide, const CoreStatement *statement, const WideValue *value)
{
    wide->values[statement->target] = value;
}

void wide_give_part(Wide *wide, const CoreStatement *statement, WidePart part)
{
    wide_give(wide, statement, wide_value(wide, &part, 1));
}

const char *wide_same_int(Wide *wide, const char *format, const char *a, const char *b)
{
    const char *word = wide_word(wide);
    wide_line(wide, "const int64_t %s = %s;", word, arena_format(wide->writer.arena, format, a, b));
    return word;
}

const char *wide_known_int(Wide *wide, uint32_t value)
{
    return arena_format(wide->writer.arena, "INT64_C(%u)", value);
}

static const char *same_scalar(Wide *wide, const CoreAtom *atom)
{
    const WidePart *part = &wide_atom(wide, atom)->parts[0];
    if (part->lane != NULL)
        wide_refuse(wide);
    return part->word;
}

/* ---- elements ---- */

WidePart wide_read_scalar(Wide *wide, LeafType type, bool in_lanes, const char *format, ...)
{
    const char *word = wide_word(wide);
    Text text;
    text_init(&text, wide->writer.out->memory);
    va_list arguments;
    va_start(arguments, format);
    text_add_list(&text, format, arguments);
    va_end(arguments);
    if (in_lanes)
        wide_lane_line(wide, "const %s %s = %s;", write_leaf_type(type), word, text_string(&text));
    else
        wide_line(wide, "const %s %s = %s;", write_leaf_type(type), word, text_string(&text));
    text_free(&text);
    return in_lanes ? wide_lane(wide, (ScalarType)type, word) : wide_same((ScalarType)type, word);
}

WidePart wide_given(Wide *wide, TypeId element, const char *const words[VECTOR_LEAVES])
{
    WideVector vector = {.kind = WIDE_GIVEN, .array = words[VECTOR_ARRAY], .start = words[VECTOR_START], .length = words[VECTOR_LENGTH], .element = element};
    const Layout *leaves = write_layout(&wide->writer, element);
    vector.columns = ARENA_ARRAY(wide->writer.arena, const char *, leaves->count);
    vector.strides = ARENA_ARRAY(wide->writer.arena, const char *, leaves->count);
    for (uint32_t i = 0; i < leaves->count; i++) {
        vector.columns[i] = wide_word(wide);
        vector.strides[i] = wide_word(wide);
        wide_line(wide, "%s const *const %s = kernel_cells(%s, %u);", write_leaf_type(leaves->leaves[i].type), vector.columns[i], vector.array, i);
        wide_line(wide, "const int64_t %s = kernel_stride(%s, %u);", vector.strides[i], vector.array, i);
    }
    return wide_vector(wide, vector)->parts[0];
}

/* Of a vector as the VM has it, the same for all points; `index` is that of the array. */
static const WideValue *read_given(Wide *wide, const WideVector *vector, const char *index, bool in_lanes)
{
    const Layout *leaves = write_layout(&wide->writer, vector->element);
    WidePart *parts = ARENA_ARRAY(wide->writer.arena, WidePart, leaves->count);
    const char **words = ARENA_ARRAY(wide->writer.arena, const char *, leaves->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < leaves->count; i++) {
        bool is_array = leaves->leaves[i].type == LEAF_ARRAY;
        if (is_array && in_lanes)
            wide_refuse(wide);
        WidePart part = wide_read_scalar(wide, leaves->leaves[i].type, in_lanes, "%s[%s * %s]", vector->columns[i], index, vector->strides[i]);
        words[i] = part.word;
        if (i >= VECTOR_LENGTH && leaves->leaves[i - VECTOR_LENGTH].type == LEAF_ARRAY)
            parts[count++] = wide_given(wide, leaves->leaves[i - VECTOR_LENGTH].elements->type, words + i - VECTOR_LENGTH);
        else if (!is_array && !(i >= 1 && leaves->leaves[i - 1].type == LEAF_ARRAY))
            parts[count++] = part;
    }
    return wide_value(wide, parts, count);
}

static const WideValue *read_own(Wide *wide, const WideVector *vector, const char *index)
{
    const Layout *leaves = leaves_of(wide, vector->element);
    WidePart *parts = ARENA_ARRAY(wide->writer.arena, WidePart, leaves->count);
    for (uint32_t i = 0; i < leaves->count; i++)
        parts[i] = wide_read_scalar(wide, leaves->leaves[i].type, true, "%s[lane][%s]", vector->columns[i], index);
    return wide_value(wide, parts, leaves->count);
}

/* Makes the cells of elements that are the same for all points, up to this index. */
static void fill_cells(Wide *wide, const WideVector *vector, const char *end)
{
    if (vector->same == NULL)
        return;
    wide_line(wide, "for (; %s < %s; %s++) {", vector->filled, end, vector->filled);
    for (uint32_t i = 0; i < leaves_of(wide, vector->element)->count; i++) {
        wide_line(wide, "    KERNEL_WIDE_LINE");
        wide_line(wide, "        %s[%s][lane] = %s[%s];", vector->columns[i], vector->filled, vector->same[i], vector->filled);
    }
    wide_line(wide, "}");
}

static const WideValue *read_made(Wide *wide, const WideVector *vector, const char *index, bool in_lanes)
{
    fill_cells(wide, vector, in_lanes ? vector->length : arena_format(wide->writer.arena, "%s + 1", index));
    const Layout *leaves = leaves_of(wide, vector->element);
    WidePart *parts = ARENA_ARRAY(wide->writer.arena, WidePart, leaves->count);
    for (uint32_t i = 0; i < leaves->count; i++)
        parts[i] = wide_read_scalar(wide, leaves->leaves[i].type, in_lanes || vector->are_varying[i], vector->are_varying[i] ? "%s[%s][lane]" : "%s[%s]", vector->columns[i],
                               index);
    return wide_value(wide, parts, leaves->count);
}

static const char *pointer_type(Wide *wide, ScalarType type, bool is_varying, const char *word)
{
    return arena_format(wide->writer.arena, is_varying ? "%s (*%s)[KERNEL_WIDE]" : "%s *%s", c_type(type), word);
}

/* A vector in a vector. */
static const WideValue *read_row(Wide *wide, const WideVector *rows, const char *index)
{
    const Layout *outer = write_layout(&wide->writer, rows->element);
    TypeId element = outer->leaves[0].elements->type;
    const Layout *leaves = leaves_of(wide, element);
    WideVector row = {.kind = WIDE_MADE, .element = element, .are_varying = rows->are_varying};
    row.columns = ARENA_ARRAY(wide->writer.arena, const char *, leaves->count);
    row.length = wide_same_int(wide, "%s[%s]", rows->lengths, index);
    for (uint32_t i = 0; i < leaves->count; i++) {
        row.columns[i] = wide_word(wide);
        wide_line(wide, "%s = %s[%s];", pointer_type(wide, (ScalarType)leaves->leaves[i].type, row.are_varying[i], row.columns[i]), rows->columns[i], index);
    }
    return wide_vector(wide, row);
}

static const WideValue *read_part(Wide *wide, const WideVector *parts, const char *index)
{
    WideVector slice = {.kind = WIDE_SLICE, .element = wide_vector_of(wide, parts->base)->element, .base = parts->base};
    if (parts->width == NULL) {
        slice.index = wide_same_int(wide, "%s[%s]", parts->starts, index);
        slice.length = wide_same_int(wide, "%s[%s]", parts->lengths, index);
    } else {
        slice.index = wide_same_int(wide, "%s * %s", index, parts->width);
        const char *left = wide_same_int(wide, "%s - %s", wide_length_of(wide, parts->base), slice.index);
        slice.length = wide_same_int(wide, "kernel_least(%s, %s)", left, parts->width);
    }
    return wide_vector(wide, slice);
}

static const WideValue *read_column(Wide *wide, const WideVector *columns, const char *index)
{
    const WideVector *rows = wide_vector_of(wide, columns->base);
    WideVector column = {.kind = WIDE_COLUMN, .base = columns->base, .index = index, .length = rows->length};
    column.element = write_layout(&wide->writer, columns->element)->leaves[0].elements->type;
    return wide_vector(wide, column);
}

/* Its statements are written here, for these members. */
static const WideValue *write_element_of_each(Wide *wide, const WideVector *vector, const char *index)
{
    const CoreBlock *block = vector->statement->blocks[0], *outer = wide->body;
    for (uint32_t i = 0; i < vector->member_count; i++)
        wide->values[block->parameters[i]] = wide_element(wide, vector->members[i], index);
    wide->body = block;
    wide_write_statements(wide, block);
    wide->body = outer;
    return wide_atom(wide, &block->result);
}

static const WideValue *read_zipped(Wide *wide, const WideVector *vector, const char *index)
{
    const WideValue *a = wide_element(wide, vector->members[0], index), *b = wide_element(wide, vector->members[1], index);
    WidePart *parts = ARENA_ARRAY(wide->writer.arena, WidePart, a->count + b->count);
    for (uint32_t i = 0; i < a->count + b->count; i++)
        parts[i] = i < a->count ? a->parts[i] : b->parts[i - a->count];
    return wide_value(wide, parts, a->count + b->count);
}

/* The element of an index that all points have in common and that is inside. */
const WideValue *wide_element(Wide *wide, const WideValue *value, const char *index)
{
    const WideVector *vector = wide_vector_of(wide, value);
    switch (vector->kind) {
    case WIDE_GIVEN:
        if (vector->strides == NULL)
            return read_own(wide, vector, index);
        return read_given(wide, vector, arena_format(wide->writer.arena, "(%s + %s)", vector->start, index), false);
    case WIDE_MADE: return read_made(wide, vector, index, false);
    case WIDE_ROWS: return read_row(wide, vector, index);
    case WIDE_COLUMNS: return read_column(wide, vector, index);
    case WIDE_COLUMN: return wide_element(wide, wide_element(wide, vector->base, index), vector->index);
    case WIDE_PARTS: return read_part(wide, vector, index);
    case WIDE_SLICE: return wide_element(wide, vector->base, wide_same_int(wide, "%s + %s", vector->index, index));
    case WIDE_RANGE: {
        WidePart part = wide_same(SCALAR_I64, vector->index == NULL ? index : wide_same_int(wide, "%s + %s", vector->index, index));
        return wide_value(wide, &part, 1);
    }
    case WIDE_EACH: return write_element_of_each(wide, vector, index);
    case WIDE_ZIP: return read_zipped(wide, vector, index);
    case WIDE_FILTER:
    case WIDE_GUARD:
    case WIDE_JOINED: wide_refuse(wide);
    }
    bug("kernels", "a vector of no such kind");
}

/* ---- loops ---- */

const char *wide_open_loop(Wide *wide, const char *length)
{
    const char *index = wide_word(wide);
    wide_open(wide, "for (int64_t %s = 0; %s < %s; %s++) {", index, index, length, index);
    return index;
}

/* ---- making ---- */

/* Memory for that many elements, as a pointer. */
static void take_cells(Wide *wide, ScalarType type, bool is_varying, const char *word, const char *count)
{
    wide_line(wide, "%s = kernel_wide_take(region, mark, %s, sizeof *%s);", pointer_type(wide, type, is_varying, word), count, word);
    wide_give_up_if(wide, "%s == NULL", word);
}

void wide_store_part(Wide *wide, const WidePart *part, bool is_varying, const char *cells, const char *index)
{
    if (is_varying)
        wide_lane_line(wide, "%s[%s][lane] = %s;", cells, index, wide_scalar(wide, part));
    else
        wide_line(wide, "%s[%s] = %s;", cells, index, part->word);
}

WideVector wide_new_made(Wide *wide, TypeId element, const char *length)
{
    const Layout *leaves = leaves_of(wide, element);
    WideVector made = {.kind = WIDE_MADE, .element = element, .length = length};
    made.columns = ARENA_ARRAY(wide->writer.arena, const char *, leaves->count);
    made.are_varying = ARENA_ARRAY(wide->writer.arena, bool, leaves->count);
    for (uint32_t i = 0; i < leaves->count; i++)
        made.columns[i] = wide_word(wide);
    return made;
}

void wide_take_made(Wide *wide, const WideVector *made, const char *room)
{
    const Layout *leaves = leaves_of(wide, made->element);
    for (uint32_t i = 0; i < leaves->count; i++)
        take_cells(wide, (ScalarType)leaves->leaves[i].type, made->are_varying[i], made->columns[i], room);
}

static void note_varying(Wide *wide, const WideVector *made, const WideValue *value)
{
    for (uint32_t i = 0; i < value->count; i++) {
        if (value->parts[i].vector != NULL)
            wide_refuse(wide);
        made->are_varying[i] |= value->parts[i].lane != NULL;
    }
}

/* The elements of a vector from `from` on, where they are the same for all points, by the same indices; null if that is not known of any, or of all. Elements before are not
 * there. */
static const WideValue *view_same(Wide *wide, const WideValue *value, const char **from)
{
    const WideVector *vector = wide_vector_of(wide, value);
    WideVector view = *vector;
    if (vector->kind == WIDE_MADE && vector->same != NULL) {
        view.columns = vector->same;
        view.are_varying = ARENA_ARRAY(wide->writer.arena, bool, leaves_of(wide, view.element)->count);
        view.same = NULL;
        *from = vector->same_from;
    } else if (vector->kind == WIDE_PARTS && vector->width != NULL) {
        view.base = view_same(wide, vector->base, from);
        if (view.base == NULL)
            return NULL;
        *from = wide_same_int(wide, "kernel_wide_part_count(%s, %s)", *from, vector->width);
    } else if (vector->kind == WIDE_EACH && vector->member_count == 1) {
        view.members = ARENA_ARRAY(wide->writer.arena, const WideValue *, 1);
        view.members[0] = view_same(wide, vector->members[0], from);
        if (view.members[0] == NULL)
            return NULL;
    } else
        return NULL;
    return wide_vector(wide, view);
}

/* Of a vector that is made one after the other: elements `begin` to `end` of another one, or one element if `end` is 1, at `place` and after. */
typedef struct Segment {
    const WideValue *vector, *element;
    const char *begin, *end, *place;
} Segment;

/* A vector of which some segments may be the same for all points: these are only kept once. */
static WideVector new_partly_same(Wide *wide, TypeId element, const char *length)
{
    const Layout *leaves = leaves_of(wide, element);
    WideVector made = wide_new_made(wide, element, length);
    memset(made.are_varying, true, leaves->count);
    wide_take_made(wide, &made, length);
    made.same = ARENA_ARRAY(wide->writer.arena, const char *, leaves->count);
    made.filled = wide_word(wide);
    for (uint32_t i = 0; i < leaves->count; i++) {
        made.same[i] = wide_word(wide);
        take_cells(wide, (ScalarType)leaves->leaves[i].type, false, made.same[i], length);
    }
    wide_line(wide, "int64_t %s = 0;", made.filled);
    return made;
}

static bool differs(const WideValue *value)
{
    for (uint32_t i = 0; i < value->count; i++)
        if (value->parts[i].lane != NULL)
            return true;
    return false;
}

/* Gives whether it differs from point to point, which is known once it is written. */
static bool write_segment(Wide *wide, const WideVector *made, const Segment *segment)
{
    Text *outer = wide_begin_apart(wide), *text = wide->writer.out;
    const char *index = segment->vector == NULL ? segment->begin : wide_word(wide);
    if (segment->vector == NULL)
        wide_open(wide, "if (%s > 0) {", segment->end);
    else
        wide_open(wide, "for (int64_t %s = %s; %s < %s; %s++) {", index, segment->begin, index, segment->end, index);
    const WideValue *element = segment->vector == NULL ? segment->element : wide_element(wide, segment->vector, index);
    const char *place = wide_same_int(wide, "%s + %s", segment->place, index);
    bool is_varying = differs(element);
    for (uint32_t i = 0; i < element->count; i++)
        wide_store_part(wide, &element->parts[i], is_varying, is_varying ? made->columns[i] : made->same[i], place);
    wide_close(wide);
    wide->writer.out = outer;
    bool is_first = strcmp(segment->place, "0") == 0 && strcmp(segment->begin, "0") == 0;
    if (is_varying && !is_first)
        fill_cells(wide, made, wide_same_int(wide, "%s + %s", segment->place, segment->begin));
    wide_add_apart(wide, outer, text);
    if (is_varying)
        wide_line(wide, "%s = %s + %s;", made->filled, segment->place, segment->end);
    return is_varying;
}

/* `is_varying` is what the last segment is. */
static const WideValue *end_segments(Wide *wide, WideVector made, bool is_varying)
{
    if (is_varying)
        made.same = NULL;
    else
        made.same_from = wide_same_int(wide, "%s%s", made.filled, "");
    return wide_vector(wide, made);
}

/* Whether the array that holds a part of an element may be the element's cells: it was made for this one, from that lane on. */
static bool is_placed_in_cells(const WidePart *part, uint32_t first_lane)
{
    const Lane *lane = part->lane;
    return lane != NULL && lane->loop == 0 && lane->number >= first_lane && !lane->is_placed && lane->type != SCALAR_BOOL;
}

/* Puts the element of an index where it belongs, and what was written apart to compute it before that. */
static void store_element(Wide *wide, const WideVector *made, const WideValue *element, const char *index, uint32_t first_lane, Text *outer)
{
    Text *text = wide->writer.out;
    const Layout *leaves = leaves_of(wide, made->element);
    bool *are_placed = ARENA_ARRAY(wide->writer.arena, bool, element->count);
    for (uint32_t i = 0; i < element->count; i++) {
        are_placed[i] = is_placed_in_cells(&element->parts[i], first_lane);
        if (!are_placed[i]) {
            wide_store_part(wide, &element->parts[i], made->are_varying[i], made->columns[i], index);
            continue;
        }
        element->parts[i].lane->is_placed = true;
    }
    wide_end_lanes(wide);
    wide->writer.out = outer;
    for (uint32_t i = 0; i < element->count; i++)
        if (are_placed[i])
            wide_line(wide, "%s *const %s = %s[%s];", c_type((ScalarType)leaves->leaves[i].type), element->parts[i].lane->word, made->columns[i], index);
    wide_add_apart(wide, outer, text);
}

/* Of scalars. Which of them differ is known once the loop is written. */
static const WideValue *make_flat(Wide *wide, const WideValue *value)
{
    const char *length = wide_length_of(wide, value);
    WideVector made = wide_new_made(wide, wide_vector_of(wide, value)->element, length);
    made.known_length = wide_vector_of(wide, value)->known_length;
    Text *outer = wide_begin_apart(wide), *text = wide->writer.out;
    const char *index = wide_open_loop(wide, length);
    uint32_t first_lane = wide->all.count;
    Text *loop = wide_begin_apart(wide);
    const WideValue *element = wide_element(wide, value, index);
    note_varying(wide, &made, element);
    store_element(wide, &made, element, index, first_lane, loop);
    wide_close(wide);
    wide->writer.out = outer;
    wide_take_made(wide, &made, length);
    wide_add_apart(wide, outer, text);
    return wide_vector(wide, made);
}

/* The same where elements from `from` on are made of those of `view`. */
static const WideValue *make_split(Wide *wide, const WideValue *value, const WideValue *view, const char *from)
{
    const char *length = wide_length_of(wide, value);
    wide_end_lanes(wide);
    WideVector made = new_partly_same(wide, wide_vector_of(wide, value)->element, length);
    made.known_length = wide_vector_of(wide, value)->known_length;
    write_segment(wide, &made, &(Segment){.vector = value, .begin = "0", .end = from, .place = "0"});
    return end_segments(wide, made, write_segment(wide, &made, &(Segment){.vector = view, .begin = from, .end = length, .place = "0"}));
}

/* Of vectors, which lie in memory each. */
static const WideValue *make_rows(Wide *wide, const WideValue *value, const Layout *layout)
{
    const char *length = wide_length_of(wide, value);
    TypeId type = wide_vector_of(wide, value)->element;
    const Layout *leaves = leaves_of(wide, layout->leaves[0].elements->type);
    WideVector rows = {.kind = WIDE_ROWS, .element = type, .length = length, .lengths = wide_word(wide)};
    rows.columns = ARENA_ARRAY(wide->writer.arena, const char *, leaves->count);
    for (uint32_t i = 0; i < leaves->count; i++)
        rows.columns[i] = wide_word(wide);
    Text *outer = wide_begin_apart(wide), *text = wide->writer.out;
    const char *index = wide_open_loop(wide, length);
    const WideVector *row = wide_vector_of(wide, wide_made(wide, wide_element(wide, value, index)));
    if (row->kind != WIDE_MADE || row->length == NULL)
        wide_refuse(wide);
    wide_line(wide, "%s[%s] = %s;", rows.lengths, index, row->length);
    for (uint32_t i = 0; i < leaves->count; i++)
        wide_line(wide, "%s[%s] = %s;", rows.columns[i], index, row->columns[i]);
    wide_close(wide);
    wide->writer.out = outer;
    rows.are_varying = row->are_varying;
    take_cells(wide, SCALAR_I64, false, rows.lengths, length);
    for (uint32_t i = 0; i < leaves->count; i++) {
        const char *pointers = arena_format(wide->writer.arena, row->are_varying[i] ? "%s (**%s)[KERNEL_WIDE]" : "%s **%s",
                                            c_type((ScalarType)leaves->leaves[i].type), rows.columns[i]);
        wide_line(wide, "%s = kernel_wide_take(region, mark, %s, sizeof(void *));", pointers, length);
        wide_give_up_if(wide, "%s == NULL", rows.columns[i]);
    }
    wide_add_apart(wide, outer, text);
    return wide_vector(wide, rows);
}

/* What passes a condition that differs from point to point: so do lengths. If only the first of it is wanted, only that is kept. */
static const WideValue *make_filtered(Wide *wide, const WideVector *filter, bool is_first_only)
{
    const char *most = wide_length_of(wide, filter->members[0]), *count = wide_word(wide);
    WideVector made = wide_new_made(wide, filter->element, NULL);
    made.own_length = wide_array_lane(wide, SCALAR_I64, count).lane;
    wide_lane_line(wide, "%s[lane] = 0;", count);
    wide_end_lanes(wide);
    memset(made.are_varying, true, leaves_of(wide, filter->element)->count);
    wide_take_made(wide, &made, is_first_only ? wide_known_int(wide, 1) : wide_same_int(wide, "%s + %s", most, "1"));
    const char *index = wide_open_loop(wide, most);
    const WideVector *guard = wide_vector_of(wide, wide_element(wide, filter->members[0], index));
    if (guard->kind != WIDE_GUARD)
        wide_refuse(wide);
    wide_write_statements(wide, guard->statement->blocks[0]);
    const WideValue *element = wide_atom(wide, &guard->statement->blocks[0]->result);
    for (uint32_t i = 0; i < element->count; i++) {
        const char *x = wide_scalar(wide, &element->parts[i]), *cells = made.columns[i];
        if (is_first_only)
            wide_lane_line(wide, "%s[0][lane] = %s[lane] == 0 ? %s : %s[0][lane];", cells, count, x, cells);
        else
            wide_lane_line(wide, "%s[%s[lane]][lane] = %s;", cells, count, x);
    }
    wide_lane_line(wide, "%s[lane] += %s;", count, wide_scalar(wide, &guard->condition->parts[0]));
    wide_close(wide);
    return wide_vector(wide, made);
}

static const WideValue *make(Wide *wide, const WideValue *value);

/* All cells of a vector of which some were not made. */
static const WideValue *make_whole(Wide *wide, const WideVector *vector)
{
    WideVector whole = *vector;
    fill_cells(wide, vector, vector->length);
    whole.same = NULL;
    return wide_vector(wide, whole);
}

/* A part of a vector that is in memory is there too. */
static const WideValue *make_slice(Wide *wide, const WideVector *slice)
{
    const WideVector *base = wide_vector_of(wide, make(wide, slice->base));
    const Layout *leaves = leaves_of(wide, base->element);
    WideVector made = *base;
    made.length = slice->length;
    made.known_length = slice->known_length;
    made.is_owned = false;
    made.columns = ARENA_ARRAY(wide->writer.arena, const char *, leaves->count);
    for (uint32_t i = 0; i < leaves->count; i++) {
        made.columns[i] = wide_word(wide);
        wide_line(wide, "%s = %s + %s;", pointer_type(wide, (ScalarType)leaves->leaves[i].type, made.are_varying[i], made.columns[i]), base->columns[i], slice->index);
    }
    return wide_vector(wide, made);
}

static bool is_in_memory(WideKind kind)
{
    return kind == WIDE_MADE || kind == WIDE_ROWS;
}

static const WideValue *make(Wide *wide, const WideValue *value)
{
    const WideVector *vector = wide_vector_of(wide, value);
    if (is_in_memory(vector->kind))
        return vector->same == NULL ? value : make_whole(wide, vector);
    if (wide->branches > 0 || vector->kind == WIDE_GUARD || vector->kind == WIDE_JOINED)
        wide_refuse(wide);
    if (vector->kind == WIDE_FILTER)
        return make_filtered(wide, vector, false);
    if (vector->kind == WIDE_SLICE && wide_vector_of(wide, vector->base)->kind == WIDE_MADE)
        return make_slice(wide, vector);
    const Layout *layout = write_layout(&wide->writer, vector->element);
    if (layout->count == VECTOR_LEAVES && layout->leaves[0].type == LEAF_ARRAY)
        return make_rows(wide, value, layout);
    const char *from;
    const WideValue *view = view_same(wide, value, &from);
    return view == NULL ? make_flat(wide, value) : make_split(wide, value, view, from);
}

const WideValue *wide_made(Wide *wide, const WideValue *value)
{
    WidePart *parts = ARENA_ARRAY(wide->writer.arena, WidePart, value->count);
    for (uint32_t i = 0; i < value->count; i++)
        parts[i] = value->parts[i].vector == NULL ? value->parts[i] : make(wide, wide_value(wide, &value->parts[i], 1))->parts[0];
    return wide_value(wide, parts, value->count);
}

/* Whether taking an element takes no more than reading it. */
static bool is_there(Wide *wide, const WideVector *vector)
{
    switch (vector->kind) {
    case WIDE_EACH:
    case WIDE_FILTER:
    case WIDE_GUARD: return false;
    case WIDE_ZIP: return is_there(wide, wide_vector_of(wide, vector->members[0])) && is_there(wide, wide_vector_of(wide, vector->members[1]));
    default: return true;
    }
}

/* As it is, or made if its elements are still to be computed. */
static const WideValue *settled(Wide *wide, const WideValue *value)
{
    return is_there(wide, wide_vector_of(wide, value)) ? value : make(wide, value);
}

static const WideValue *settled_argument(Wide *wide, const CoreStatement *statement, uint32_t index)
{
    return settled(wide, wide_atom(wide, &statement->arguments[index]));
}

/* Whether the one use of a vector is by such an operation on two, in the same block. */
static bool is_taken_by(const Wide *wide, CoreVar variable, Op op)
{
    if (wide->writer.texts->shapes[variable].uses != 1)
        return false;
    for (uint32_t i = 0; i < wide->block->statement_count; i++) {
        const CoreStatement *statement = &wide->block->statements[i];
        for (uint32_t a = 0; a < 2 && statement->kind == CORE_OP && statement->op == op; a++)
            if (shape_is_variable(&statement->arguments[a], variable))
                return true;
    }
    return false;
}

/* What is taken once, in one place, is computed there. */
static void give_computed(Wide *wide, const CoreStatement *statement, WideVector vector)
{
    const VariableShape *shape = &wide->writer.texts->shapes[statement->target];
    const WideValue *value = wide_vector(wide, vector);
    wide_give(wide, statement, shape->uses == 1 && (shape->is_delayed || vector.kind == WIDE_FILTER) ? value : make(wide, value));
}

static WideVector with_members(Wide *wide, WideKind kind, const CoreStatement *statement)
{
    TypeId type = write_type(&wide->writer, statement->target);
    WideVector vector = {.kind = kind, .element = write_element_type(&wide->writer, type), .statement = statement, .member_count = statement->argument_count};
    vector.members = ARENA_ARRAY(wide->writer.arena, const WideValue *, statement->argument_count);
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        vector.members[i] = wide_atom(wide, &statement->arguments[i]);
        const char *length = wide_length_of(wide, vector.members[i]);
        uint32_t known = wide_vector_of(wide, vector.members[i])->known_length;
        if (i > 0 && strcmp(length, vector.length) != 0)
            wide_give_up_if(wide, "%s != %s", length, vector.length);
        vector.length = i == 0 || known > 0 ? length : vector.length;
        vector.known_length = known > 0 ? known : vector.known_length;
    }
    return vector;
}

void wide_write_each(Wide *wide, const CoreStatement *statement)
{
    give_computed(wide, statement, with_members(wide, WIDE_EACH, statement));
}

void wide_write_guard(Wide *wide, const CoreStatement *statement)
{
    WideVector guard = {.kind = WIDE_GUARD, .element = statement->blocks[0]->result.type, .statement = statement, .condition = wide_atom(wide, &statement->arguments[0])};
    if (!shape_is_straight(wide->writer.texts, statement->blocks[0]) || !shape_cannot_fail(wide->writer.texts, statement->blocks[0]))
        wide_refuse(wide); /* it is computed also where it does not count */
    wide_give(wide, statement, wide_vector(wide, guard));
}

void wide_write_make(Wide *wide, const CoreStatement *statement)
{
    TypeId type = write_type(&wide->writer, statement->target);
    WideVector made = wide_new_made(wide, write_element_type(&wide->writer, type), wide_known_int(wide, statement->argument_count));
    made.known_length = statement->argument_count;
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        note_varying(wide, &made, wide_atom(wide, &statement->arguments[i]));
        for (uint32_t leaf = 0; leaf < leaves_of(wide, made.element)->count && wide->branches > 0; leaf++)
            if (made.are_varying[leaf])
                wide_refuse(wide); /* what is the same for all points is made before the loop */
    }
    wide_take_made(wide, &made, made.length);
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        const WideValue *value = wide_atom(wide, &statement->arguments[i]);
        for (uint32_t part = 0; part < value->count; part++)
            wide_store_part(wide, &value->parts[part], made.are_varying[part], made.columns[part], arena_format(wide->writer.arena, "%u", i));
    }
    if (wide->branches == 0)
        wide_end_lanes(wide);
    wide_give(wide, statement, wide_vector(wide, made));
}

/* ---- ranges and slices ---- */

/* Elements of a range by steps of one, if its ends are known and it is short; otherwise 0. */
static uint32_t known_distance(Wide *wide, const CoreStatement *statement)
{
    enum { SHORT = 64 };
    const Scalar *first = wide_atom(wide, &statement->arguments[0])->parts[0].known, *last = wide_atom(wide, &statement->arguments[1])->parts[0].known;
    if (first == NULL || last == NULL || last->integer < first->integer)
        return 0;
    uint64_t distance = (uint64_t)last->integer - (uint64_t)first->integer;
    return distance > SHORT ? 0 : (uint32_t)distance + (statement->op == OP_RANGE_INCLUSIVE);
}

static void write_range(Wide *wide, const CoreStatement *statement)
{
    const CoreAtom *arguments = statement->arguments;
    bool is_inclusive = statement->op == OP_RANGE_INCLUSIVE;
    if (arguments[0].type != TYPE_INT || (!is_inclusive && !(arguments[2].is_constant && arguments[2].constant.integer == 1)))
        wide_refuse(wide);
    const char *first = same_scalar(wide, &arguments[0]), *last = same_scalar(wide, &arguments[1]);
    WideVector range = {.kind = WIDE_RANGE, .element = TYPE_INT, .index = strcmp(first, "0") == 0 ? NULL : first};
    if (statement->op == OP_NESL_RANGE)
        wide_give_up_if(wide, "%s < %s", last, first);
    range.known_length = known_distance(wide, statement);
    if (range.known_length > 0) {
        range.length = wide_known_int(wide, range.known_length);
        wide_give(wide, statement, wide_vector(wide, range));
        return;
    }
    wide->writer.has_flag = true;
    range.length = wide_same_int(wide, is_inclusive ? "kernel_distance_inclusive(%s, %s, &failed)" : "kernel_distance(%s, %s, &failed)", first, last);
    write_check(&wide->writer);
    wide_give(wide, statement, wide_vector(wide, range));
}

static void write_indices(Wide *wide, const CoreStatement *statement)
{
    WideVector range = {.kind = WIDE_RANGE, .element = TYPE_INT, .length = wide_same_int(wide, "%s%s", same_scalar(wide, &statement->arguments[0]), "")};
    wide_give_up_if(wide, "%s < 0", range.length);
    wide_give(wide, statement, wide_vector(wide, range));
}

static void give_slice(Wide *wide, const CoreStatement *statement, const WideValue *base, const char *start, const char *length)
{
    WideVector slice = {.kind = WIDE_SLICE, .element = wide_vector_of(wide, base)->element, .base = base, .index = start, .length = length};
    wide_give(wide, statement, wide_vector(wide, slice));
}

static void write_slice(Wide *wide, const CoreStatement *statement)
{
    const WideValue *base = settled_argument(wide, statement, 0);
    const char *length = wide_length_of(wide, base), *from = same_scalar(wide, &statement->arguments[1]), *last = same_scalar(wide, &statement->arguments[2]);
    bool is_checked = statement->op == OP_SUBSEQ;
    wide->writer.has_flag = true;
    wide_line(wide, "kernel_check_slice(%s, %s%s%s, %s, &failed);", from, last, is_checked ? "" : " + ", is_checked ? "" : from, length);
    write_check(&wide->writer);
    give_slice(wide, statement, base, from, is_checked ? wide_same_int(wide, "%s - %s", last, from) : last);
}

static void write_cut(Wide *wide, const CoreStatement *statement)
{
    const WideValue *base = settled_argument(wide, statement, 0);
    const char *length = wide_length_of(wide, base), *count = same_scalar(wide, &statement->arguments[1]);
    wide->writer.has_flag = true;
    if (type_is_sequence(wide->writer.program->types, statement->arguments[0].type))
        wide_give_up_if(wide, "%s < 0", count);
    const char *cut = wide_same_int(wide, "kernel_cut(%s, %s, &failed)", count, length);
    write_check(&wide->writer);
    if (statement->op == OP_TAKE)
        give_slice(wide, statement, base, "0", cut);
    else
        give_slice(wide, statement, base, cut, wide_same_int(wide, "%s - %s", length, cut));
}

/* ---- single elements ---- */

static void write_length(Wide *wide, const CoreStatement *statement)
{
    const WideVector *vector = argument(wide, statement, 0);
    if (!is_there(wide, vector))
        vector = wide_vector_of(wide, make(wide, wide_atom(wide, &statement->arguments[0])));
    WidePart part = vector->length == NULL ? (WidePart){.type = SCALAR_I64, .lane = vector->own_length} : wide_same(SCALAR_I64, vector->length);
    wide_give_part(wide, statement, part);
}

/* At an index of each point. */
static const WideValue *element_at(Wide *wide, const WideVector *vector, const char *index)
{
    WidePart length = {.type = SCALAR_I64, .word = vector->length, .lane = vector->own_length};
    bool is_same = vector->kind == WIDE_GIVEN && vector->strides != NULL;
    const char *place = wide_word(wide);
    if (vector->kind != WIDE_GIVEN && vector->kind != WIDE_MADE)
        wide_refuse(wide);
    wide->writer.has_flag = wide->lanes_can_fail = true;
    wide_lane_line(wide, "const int64_t %s = kernel_index(%s, %s, %s, &%s);", place, index, is_same ? vector->start : "0", wide_scalar(wide, &length), wide->flag);
    if (vector->kind == WIDE_MADE)
        return read_made(wide, vector, place, true);
    return is_same ? read_given(wide, vector, place, true) : read_own(wide, vector, place);
}

static void write_element(Wide *wide, const CoreStatement *statement)
{
    const WidePart *index = &wide_atom(wide, &statement->arguments[1])->parts[0];
    const WideValue *value = wide->branches > 0 ? wide_atom(wide, &statement->arguments[0]) : settled_argument(wide, statement, 0);
    const WideVector *vector = wide_vector_of(wide, value);
    if (index->lane != NULL || wide->branches > 0 || vector->length == NULL) {
        if (!is_in_memory(vector->kind) && vector->kind != WIDE_GIVEN && wide->branches == 0)
            vector = wide_vector_of(wide, make(wide, value));
        wide_give(wide, statement, element_at(wide, vector, wide_scalar(wide, index)));
        return;
    }
    wide_give_up_if(wide, "(uint64_t)%s >= (uint64_t)%s", index->word, vector->length);
    wide_give(wide, statement, wide_element(wide, value, index->word));
}

static void write_checked_index(Wide *wide, const CoreStatement *statement)
{
    const WidePart *index = &wide_atom(wide, &statement->arguments[0])->parts[0], *length = &wide_atom(wide, &statement->arguments[1])->parts[0];
    wide->writer.has_flag = wide->lanes_can_fail = true;
    wide_lane_line(wide, "(void)kernel_index(%s, 0, %s, &%s);", wide_scalar(wide, index), wide_scalar(wide, length), wide->flag);
    wide_give_part(wide, statement, *index);
}

/* Whether a statement makes cells of its own, whatever its arguments are. */
static bool makes_cells(const Wide *wide, const CoreStatement *statement)
{
    if (statement->kind != CORE_OP || (statement->op != OP_REPLACE && statement->op != OP_TAB))
        return false;
    const CoreAtom *source = &statement->arguments[0];
    const VariableShape *shape = source->is_constant ? NULL : &wide->writer.texts->shapes[source->variable];
    return statement->op == OP_REPLACE || (shape != NULL && shape->uses == 1 && shape->definition != NULL && shape->member == 0 && shape->definition->kind == CORE_EACH);
}

/* What is done for all points where only some want it must leave everything as it is for the others. */
bool wide_owns(Wide *wide, const CoreStatement *statement, uint32_t argument)
{
    const CoreAtom *atom = &statement->arguments[argument];
    if (atom->is_constant || wide->mask != NULL || wide->pick != NULL || wide->branches > 0)
        return false;
    const WideValue *value = wide_atom(wide, atom);
    const WideVector *vector = value->count == 1 ? value->parts[0].vector : NULL;
    const VariableShape *shapes = wide->writer.texts->shapes, *shape = &shapes[atom->variable];
    bool is_here = shapes[statement->target].level == shape->level;
    if (vector == NULL || vector->kind != WIDE_MADE || !is_here || !shape_is_spent(wide->writer.texts, wide->body, atom->variable, statement))
        return false;
    for (uint32_t i = 0; i < leaves_of(wide, vector->element)->count; i++)
        if (!vector->are_varying[i])
            return false;
    return shape->definition == NULL ? vector->is_owned : makes_cells(wide, shape->definition);
}

/* A copy to replace an element in. */
static WideVector copy_of(Wide *wide, const WideValue *source)
{
    const char *length = wide_length_of(wide, source);
    WideVector made = wide_new_made(wide, wide_vector_of(wide, source)->element, length);
    wide_end_lanes(wide);
    memset(made.are_varying, true, leaves_of(wide, made.element)->count);
    wide_take_made(wide, &made, length);
    const char *turn = wide_open_loop(wide, length);
    const WideValue *element = wide_element(wide, source, turn);
    for (uint32_t i = 0; i < element->count; i++)
        wide_store_part(wide, &element->parts[i], true, made.columns[i], turn);
    wide_close(wide);
    return made;
}

/* One element replaced, in a copy unless nobody would see the difference. */
static void write_replace(Wide *wide, const CoreStatement *statement)
{
    const WideValue *source = settled_argument(wide, statement, 0), *value = wide_atom(wide, &statement->arguments[1]);
    const WidePart *index = &wide_atom(wide, &statement->arguments[2])->parts[0];
    const WideVector made = wide_owns(wide, statement, 0) ? *wide_vector_of(wide, make(wide, source)) : copy_of(wide, source);
    const char *place = index->word;
    if (index->lane != NULL) {
        place = wide_word(wide);
        wide->writer.has_flag = wide->lanes_can_fail = true;
        wide_lane_line(wide, "const int64_t %s = kernel_index(%s, 0, %s, &%s);", place, wide_scalar(wide, index), made.length, wide->flag);
    } else
        wide_give_up_if(wide, "(uint64_t)%s >= (uint64_t)%s", place, made.length);
    for (uint32_t i = 0; i < value->count; i++)
        wide_store_part(wide, &value->parts[i], true, made.columns[i], place);
    wide_give(wide, statement, wide_vector(wide, made));
}

/* ---- joined ---- */

static WidePiece piece_of_vector(Wide *wide, const WideValue *value)
{
    return (WidePiece){.vector = value, .length = wide_length_of(wide, value)};
}

static WidePiece piece_of_element(const WideValue *value, const char *length)
{
    return (WidePiece){.element = value, .length = length};
}

/* Pieces that are joined pieces themselves are these. */
static WideVector joined(Wide *wide, TypeId element, const WidePiece pieces[2])
{
    WideVector whole = {.kind = WIDE_JOINED, .element = element, .length = wide_same_int(wide, "%s + %s", pieces[0].length, pieces[1].length)};
    VEC(WidePiece) all = {0};
    for (uint32_t i = 0; i < 2; i++) {
        const WideVector *vector = pieces[i].vector == NULL ? NULL : wide_vector_of(wide, pieces[i].vector);
        bool is_several = vector != NULL && vector->kind == WIDE_JOINED;
        for (uint32_t k = 0; is_several && k < vector->piece_count; k++)
            *vec_push(wide->writer.arena, &all) = vector->pieces[k];
        if (!is_several)
            *vec_push(wide->writer.arena, &all) = pieces[i];
    }
    whole.pieces = all.items;
    whole.piece_count = all.count;
    return whole;
}

static void join_pieces(Wide *wide, const CoreStatement *statement, const WidePiece pieces[2])
{
    TypeId element = write_element_type(&wide->writer, write_type(&wide->writer, statement->target));
    WideVector whole = joined(wide, element, pieces);
    if (is_taken_by(wide, statement->target, OP_APPEND)) {
        wide_give(wide, statement, wide_vector(wide, whole));
        return;
    }
    wide_end_lanes(wide);
    WideVector made = new_partly_same(wide, element, whole.length);
    const char *first = "0";
    bool is_varying = false;
    for (uint32_t i = 0; i < whole.piece_count; i++) {
        const WidePiece *piece = &whole.pieces[i];
        is_varying = write_segment(wide, &made, &(Segment){piece->vector, piece->element, "0", piece->length, first});
        first = i + 1 == whole.piece_count ? first : wide_same_int(wide, "%s + %s", first, piece->length);
    }
    wide_give(wide, statement, end_segments(wide, made, is_varying));
}

static void write_append(Wide *wide, const CoreStatement *statement)
{
    const WideValue *a = wide_atom(wide, &statement->arguments[0]), *b = wide_atom(wide, &statement->arguments[1]);
    WidePiece pieces[2];
    if (statement->op == OP_APPEND || statement->op == OP_SNOC || statement->op == OP_CONS) {
        pieces[0] = statement->op == OP_CONS ? piece_of_element(a, "1") : piece_of_vector(wide, a);
        pieces[1] = statement->op == OP_SNOC ? piece_of_element(b, "1") : piece_of_vector(wide, b);
    } else { /* shifted by one */
        bool is_next = statement->op == OP_NEXT;
        const WideValue *base = settled(wide, a);
        const char *length = wide_length_of(wide, base), *one = wide_same_int(wide, "%s > 0%s", length, ""), *rest = wide_same_int(wide, "%s - %s", length, one);
        WideVector slice = {.kind = WIDE_SLICE, .element = wide_vector_of(wide, base)->element, .base = base, .index = is_next ? one : "0", .length = rest};
        pieces[!is_next] = piece_of_vector(wide, wide_vector(wide, slice));
        pieces[is_next] = piece_of_element(b, one);
    }
    join_pieces(wide, statement, pieces);
}

/* ---- vectors of vectors ---- */

/* Flags that tell which indices are multiples of a number that is the same for all points, as group_by's are: that number; null for others. */
static const CoreAtom *find_divisor(Wide *wide, const WideVector *flags)
{
    if (flags->kind != WIDE_EACH || flags->member_count != 1)
        return NULL;
    const WideVector *indices = wide_vector_of(wide, flags->members[0]);
    const CoreBlock *block = flags->statement->blocks[0];
    if (indices->kind != WIDE_RANGE || indices->index != NULL || block->statement_count != 2 || !write_is_last(block, 1))
        return NULL;
    const CoreStatement *divides = &block->statements[0], *compares = &block->statements[1];
    bool is_rest = divides->kind == CORE_OP && (divides->op == OP_REMAINDER || divides->op == OP_MODULO) && shape_is_variable(&divides->arguments[0], block->parameters[0]);
    bool is_zero = compares->kind == CORE_OP && compares->op == OP_EQUAL && shape_is_variable(&compares->arguments[0], divides->target) &&
                   compares->arguments[1].is_constant && compares->arguments[1].constant.integer == 0;
    if (!is_rest || !is_zero || shape_is_variable(&divides->arguments[1], block->parameters[0]) || wide_atom(wide, &divides->arguments[1])->parts[0].lane != NULL)
        return NULL;
    return &divides->arguments[1];
}

/* Cut into parts of as many elements each. */
static void write_regular_parts(Wide *wide, const CoreStatement *statement, const WideValue *base, const WideVector *flags, const CoreAtom *width)
{
    TypeId element = write_element_type(&wide->writer, write_type(&wide->writer, statement->target));
    WideVector parts = {.kind = WIDE_PARTS, .element = element, .base = base, .width = same_scalar(wide, width)};
    const char *length = wide_length_of(wide, base);
    if (strcmp(length, flags->length) != 0)
        wide_give_up_if(wide, "%s != %s", length, flags->length);
    if (!width->is_constant || width->constant.integer <= 0)
        wide_give_up_if(wide, "%s <= 0", parts.width);
    parts.length = wide_same_int(wide, "kernel_wide_part_count(%s, %s)", length, parts.width);
    wide_give(wide, statement, wide_vector(wide, parts));
}

/* Cut by flags that are the same for all points. */
static void write_flag_partition(Wide *wide, const CoreStatement *statement)
{
    const WideValue *base = settled_argument(wide, statement, 0);
    const WideVector *tests = argument(wide, statement, 1);
    const CoreAtom *width = find_divisor(wide, tests);
    if (width != NULL) {
        write_regular_parts(wide, statement, base, tests, width);
        return;
    }
    const WideVector *flags = wide_vector_of(wide, make(wide, wide_atom(wide, &statement->arguments[1])));
    if (flags->kind != WIDE_MADE || flags->are_varying[0] || flags->length == NULL)
        wide_refuse(wide);
    TypeId element = write_element_type(&wide->writer, write_type(&wide->writer, statement->target));
    WideVector parts = {.kind = WIDE_PARTS, .element = element, .base = base, .starts = wide_word(wide), .lengths = wide_word(wide), .length = wide_word(wide)};
    wide_give_up_if(wide, "%s != %s", wide_length_of(wide, base), flags->length);
    take_cells(wide, SCALAR_I64, false, parts.starts, flags->length);
    take_cells(wide, SCALAR_I64, false, parts.lengths, flags->length);
    wide_line(wide, "const int64_t %s = kernel_wide_parts(%s, %s, %s, %s);", parts.length, flags->columns[0], flags->length, parts.starts, parts.lengths);
    wide_give(wide, statement, wide_vector(wide, parts));
}

/* The length that the vectors in a vector have in common. */
static const char *width_of(Wide *wide, const WideVector *rows)
{
    wide->writer.has_flag = true;
    switch (rows->kind) {
    case WIDE_ROWS:
    case WIDE_PARTS: {
        const char *width = rows->width == NULL ? wide_same_int(wide, "kernel_wide_width(%s, %s, &failed)", rows->lengths, rows->length)
                                                : wide_same_int(wide, "kernel_wide_part_width(%s, %s, &failed)", wide_length_of(wide, rows->base), rows->width);
        write_check(&wide->writer);
        return width;
    }
    case WIDE_COLUMNS: return wide_length_of(wide, rows->base);
    case WIDE_GIVEN: {
        const char *place = arena_format(wide->writer.arena, "%s, %s", rows->array, rows->start);
        const char *width = wide_same_int(wide, "kernel_width(%s, %s, &failed)", place, rows->length);
        write_check(&wide->writer);
        return width;
    }
    default: wide_refuse(wide);
    }
}

static bool is_of_rows(Wide *wide, const WideVector *vector)
{
    const Layout *layout = write_layout(&wide->writer, vector->element);
    return layout->count == VECTOR_LEAVES && layout->leaves[0].type == LEAF_ARRAY && vector->length != NULL;
}

static void write_transpose(Wide *wide, const CoreStatement *statement)
{
    const WideValue *base = settled_argument(wide, statement, 0);
    const WideVector *rows = wide_vector_of(wide, base);
    if (!is_of_rows(wide, rows))
        wide_refuse(wide);
    WideVector columns = {.kind = WIDE_COLUMNS, .element = rows->element, .base = base, .length = width_of(wide, rows)};
    wide_give(wide, statement, wide_vector(wide, columns));
}

static void write_width(Wide *wide, const CoreStatement *statement)
{
    const WideVector *rows = wide_vector_of(wide, settled_argument(wide, statement, 0));
    if (!is_of_rows(wide, rows))
        wide_refuse(wide);
    wide_give_part(wide, statement, wide_same(SCALAR_I64, width_of(wide, rows)));
}

/* ---- all ---- */

static void write_same_elements(Wide *wide, const CoreStatement *statement)
{
    const WideValue *value = wide_atom(wide, &statement->arguments[0]);
    const VariableShape *shape = &wide->writer.texts->shapes[statement->target];
    bool is_delayed = (shape->uses == 1 && shape->is_delayed) || is_taken_by(wide, statement->target, OP_FLAG_PARTITION);
    const WideVector *vector = wide_vector_of(wide, value);
    if (!is_delayed && vector->kind == WIDE_FILTER && wide->branches == 0 && shape_is_begun(wide->body, statement->target, 1)) {
        wide_give(wide, statement, make_filtered(wide, vector, true));
        return;
    }
    wide_give(wide, statement, is_delayed ? value : settled(wide, value));
}

static void write_filter(Wide *wide, const CoreStatement *statement)
{
    const WideVector *source = argument(wide, statement, 0);
    bool is_filter = source->kind == WIDE_EACH && type_is_sequence(wide->writer.program->types, source->element);
    if (!is_filter)
        wide_refuse(wide);
    WideVector filter = {.kind = WIDE_FILTER, .element = write_element_type(&wide->writer, write_type(&wide->writer, statement->target)), .member_count = 1};
    filter.members = ARENA_ARRAY(wide->writer.arena, const WideValue *, 1);
    filter.members[0] = wide_atom(wide, &statement->arguments[0]);
    wide_give(wide, statement, wide_vector(wide, filter));
}

bool wide_write_vector_op(Wide *wide, const CoreStatement *statement)
{
    switch ((int)statement->op) {
    case OP_SEQ:
    case OP_TAB: write_same_elements(wide, statement); return true;
    case OP_LENGTH: write_length(wide, statement); return true;
    case OP_ELEMENT:
    case OP_INSIDE: write_element(wide, statement); return true;
    case OP_CHECKED_INDEX: write_checked_index(wide, statement); return true;
    default: break;
    }
    bool is_of_vectors = true;
    Fold fold;
    switch ((int)statement->op) {
    case OP_IOTA:
    case OP_INDICES:
    case OP_RANGE:
    case OP_RANGE_INCLUSIVE:
    case OP_NESL_RANGE:
    case OP_ZIP:
    case OP_REPLACE:
    case OP_APPEND:
    case OP_CONS:
    case OP_SNOC:
    case OP_PREVIOUS:
    case OP_NEXT:
    case OP_SLICE:
    case OP_SUBSEQ:
    case OP_TAKE:
    case OP_DROP:
    case OP_FLAG_PARTITION:
    case OP_TRANSPOSE:
    case OP_WIDTH:
    case OP_CONCAT:
    case OP_FLATTEN: break;
    default: is_of_vectors = reduce_find_fold(statement->op, &fold); break;
    }
    if (!is_of_vectors)
        return false;
    if (wide->branches > 0)
        wide_refuse(wide);
    switch ((int)statement->op) {
    case OP_IOTA:
    case OP_INDICES: write_indices(wide, statement); return true;
    case OP_RANGE:
    case OP_RANGE_INCLUSIVE:
    case OP_NESL_RANGE: write_range(wide, statement); return true;
    case OP_ZIP: give_computed(wide, statement, with_members(wide, WIDE_ZIP, statement)); return true;
    case OP_REPLACE: write_replace(wide, statement); return true;
    case OP_APPEND:
    case OP_CONS:
    case OP_SNOC:
    case OP_PREVIOUS:
    case OP_NEXT: write_append(wide, statement); return true;
    case OP_SLICE:
    case OP_SUBSEQ: write_slice(wide, statement); return true;
    case OP_TAKE:
    case OP_DROP: write_cut(wide, statement); return true;
    case OP_FLAG_PARTITION: write_flag_partition(wide, statement); return true;
    case OP_TRANSPOSE: write_transpose(wide, statement); return true;
    case OP_WIDTH: write_width(wide, statement); return true;
    case OP_CONCAT:
    case OP_FLATTEN: write_filter(wide, statement); return true;
    default: return wide_write_fold(wide, statement);
    }
}
