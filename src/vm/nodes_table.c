/* GROUP_TABLE and FOLD_BY: groups of which nothing is held but their keys, and an accumulator for each reduction.
 *
 * Groups are numbered by their first points, anew under each parent. The table finds the number of a key. When the parent ends, the keys are sorted,
 * and whatever is known of groups comes out in that order.
 *
 * Integers that lie close together, beside the number of points, are not hashed: a window of them has a cell for each. Keys are looked up in tiles: first the
 * places where they may be are asked for, and while these come from memory the next ones are computed. Texts have a table of their own (text_keys.h).
 *
 * A team shares the looking up of keys that are in the table; those that are not are added by one thread, in order. It shares a reduction by groups:
 * each part of it has groups of its own, and combines their elements in the order of the points. */
#include "vm/fold.h"
#include "vm/nodes.h"
#include "vm/places.h"
#include "vm/text_keys.h"

#include "math/bits.h"
#include "math/random.h"

#include <stdatomic.h>
#include <string.h>

/* ---- the table ---- */

enum { TABLE_DRIVER, TABLE_KEYS };
enum { OUT_NUMBER, OUT_POINT_KEYS };
enum { SLOTS_LEAST = 64 };
enum { TILE = 64, LOOKUP_BLOCK = 16 * TILE };
enum { WINDOW_LEAST = 64, WINDOW_MAX = 1 << 20, WINDOW_PER_POINT = 4 };
enum {
    /* estimates, in one thread: */
    FIND_PICOSECONDS = 8000, /* a key found */
    ADD_PICOSECONDS = 5000,  /* an element added to its group */
};
enum { PARTS_MAX = 16 }; /* each goes over all points: with more of them that would be most of the work */

/* The word of a key that is one scalar tells it from all others; that of any other key is its hash. */
typedef struct Slot {
    uint64_t word;
    uint64_t number; /* of the group, plus 1; 0: the slot is free */
} Slot;

/* The words from `low` on, counted modulo 2^64; for each the number of its group plus 1, or 0. */
typedef struct Window {
    uint64_t low;
    uint32_t *numbers;
    size_t size;
} Window;

typedef struct Table {
    WalkState walk;
    uint64_t point_count; /* of the parent at hand */
    bool is_hashed;       /* no window was wide enough */
    Window window;
    Cells *cells; /* of the keys that come in, then of those that are held */
    Array *keys;  /* by number */
    Slot *slots;  /* open addressing */
    size_t slot_count;
    TextKeys texts; /* instead, where the keys are texts */
    bool is_growing; /* most of the last points had new keys */
    int64_t *order; /* once the parent has ended: the numbers in order of keys */
    bool is_ordered;
    bool is_parent_given;
    size_t groups_given;
    int64_t group_total; /* of the parents before */
} Table;

static uint32_t leaf_count(const FlowNode *node)
{
    return node->layout->count;
}

static uint32_t parent_output(const FlowNode *node)
{
    return OUT_POINT_KEYS + leaf_count(node);
}

static uint32_t group_output(const FlowNode *node)
{
    return parent_output(node) + 1;
}

static size_t group_count(const Table *table)
{
    return table->keys == NULL ? 0 : table->keys->count;
}

static void forget_order(Memory *memory, Table *table)
{
    memory_free(memory, table->order, group_count(table) * sizeof *table->order);
    table->order = NULL;
    table->is_ordered = false;
}

static void free_slots(Memory *memory, Table *table)
{
    memory_free(memory, table->slots, table->slot_count * sizeof *table->slots);
    table->slots = NULL;
    table->slot_count = 0;
}

static void free_window(Memory *memory, Window *window)
{
    memory_free(memory, window->numbers, window->size * sizeof *window->numbers);
    *window = (Window){0};
}

static void forget_groups(Memory *memory, Table *table)
{
    forget_order(memory, table);
    if (table->window.size <= WINDOW_LEAST && table->window.size > 0)
        memset(table->window.numbers, 0, table->window.size * sizeof *table->window.numbers);
    else
        free_window(memory, &table->window);
    table->is_hashed = false;
    table->point_count = 0;
    if (table->slot_count <= SLOTS_LEAST && table->slots != NULL)
        memset(table->slots, 0, table->slot_count * sizeof *table->slots);
    else
        free_slots(memory, table);
    text_keys_forget(&table->texts, memory);
    array_release(memory, table->keys);
    table->keys = NULL;
}

static void release_table(Vm *vm, const FlowNode *node, void *state)
{
    Table *table = state;
    forget_groups(vm->memory, table);
    free_slots(vm->memory, table);
    text_keys_free(&table->texts, vm->memory);
    free_window(vm->memory, &table->window);
    memory_free(vm->memory, table->cells, 2 * leaf_count(node) * sizeof *table->cells);
}

static void open_table(Firing *firing)
{
    Table *table = firing->state;
    if (table->cells == NULL)
        table->cells = memory_alloc(firing->vm->memory, 2 * leaf_count(firing->node) * sizeof *table->cells);
    if (table->keys == NULL)
        table->keys = array_new(firing->vm->memory, firing->node->layout);
}

/* ---- finding keys ---- */

static bool is_scalar(const Layout *layout)
{
    return layout->count == 1;
}

static bool has_vectors(const Layout *layout)
{
    for (uint32_t i = 0; i < layout->count; i++)
        if (layout->leaves[i].type == LEAF_ARRAY)
            return true;
    return false;
}

#define LOAD_WORDS(Cell, WORD)                                                                                         \
    for (size_t i = 0; i < count; i++)                                                                                 \
        words[i] = WORD(((const Cell *)cells)[first + i])
#define SAME_WORD(x) (uint64_t)(x)
#define WORD_OF_F32(x) scalar_of_f32((x) == 0.0f ? 0.0f : (x)).bits
#define WORD_OF_F64(x) scalar_of_f64((x) == 0.0 ? 0.0 : (x)).bits

/* Equal keys have equal words: no -0, one nan. */
static void scalar_words(ScalarType type, const void *cells, size_t first, size_t count, uint64_t *words)
{
    switch (type) {
    case SCALAR_BOOL:
    case SCALAR_CHAR:
    case SCALAR_U8: LOAD_WORDS(uint8_t, SAME_WORD); break;
    case SCALAR_U16: LOAD_WORDS(uint16_t, SAME_WORD); break;
    case SCALAR_U32: LOAD_WORDS(uint32_t, SAME_WORD); break;
    case SCALAR_I8: LOAD_WORDS(int8_t, SAME_WORD); break;
    case SCALAR_I16: LOAD_WORDS(int16_t, SAME_WORD); break;
    case SCALAR_I32: LOAD_WORDS(int32_t, SAME_WORD); break;
    case SCALAR_I64:
    case SCALAR_U64: LOAD_WORDS(uint64_t, SAME_WORD); break;
    case SCALAR_F32: LOAD_WORDS(float, WORD_OF_F32); break;
    case SCALAR_F64: LOAD_WORDS(double, WORD_OF_F64); break;
    case SCALAR_COUNT: break;
    }
}

static void key_words(const Layout *layout, const Cells *cells, size_t first, size_t count, uint64_t *words)
{
    if (!is_scalar(layout)) {
        for (size_t i = 0; i < count; i++)
            words[i] = rows_hash(layout, cells, first + i, 0);
        return;
    }
    bool is_uniform = cells[0].is_uniform;
    scalar_words((ScalarType)layout->leaves[0].type, cells[0].data, is_uniform ? 0 : first, is_uniform ? 1 : count, words);
    for (size_t i = 1; is_uniform && i < count; i++)
        words[i] = words[0];
}

static uint64_t key_word(const Layout *layout, const Cells *cells, size_t i)
{
    uint64_t word;
    key_words(layout, cells, i, 1, &word);
    return word;
}

/* The words of scalars that are next to each other are spread as well as others, and those of other keys are hashes already. */
static size_t first_slot(const Table *table, uint64_t word)
{
    return (size_t)(random_mix(word) & (table->slot_count - 1));
}

static size_t next_slot(const Table *table, size_t slot)
{
    return (slot + 1) & (table->slot_count - 1);
}

/* Puts a key that is not there yet into a free slot. */
static void fill_slot(Table *table, Slot slot)
{
    size_t at = first_slot(table, slot.word);
    while (table->slots[at].number != 0)
        at = next_slot(table, at);
    table->slots[at] = slot;
}

static void grow_slots(Memory *memory, Table *table)
{
    Table grown = {.slot_count = table->slot_count == 0 ? SLOTS_LEAST : 2 * table->slot_count};
    if (grown.slot_count > SIZE_MAX / sizeof *grown.slots)
        memory_fail(memory);
    grown.slots = memory_alloc(memory, grown.slot_count * sizeof *grown.slots);
    for (size_t i = 0; i < table->slot_count; i++)
        if (table->slots[i].number != 0)
            fill_slot(&grown, table->slots[i]);
    free_slots(memory, table);
    table->slots = grown.slots;
    table->slot_count = grown.slot_count;
}

/* Vectors in keys are copied, lest a small one keep a large array alive. */
static void add_key(Firing *firing, size_t i)
{
    Table *table = firing->state;
    Vm *vm = firing->vm;
    const Layout *layout = firing->node->layout;
    if (has_vectors(layout)) {
        Value key = rows_value(&vm->heap, vm->types, layout, table->cells, i);
        array_append_value(vm->memory, vm->types, table->keys, key);
        value_release(&vm->heap, vm->types, layout->type, key);
    } else
        array_append(vm->memory, vm->team, table->keys, table->cells, i, 1);
    for (uint32_t leaf = 0; leaf < layout->count; leaf++)
        table->cells[layout->count + leaf] = array_cells(table->keys, leaf, 0);
}

/* The slot of a key, or the free one where it belongs, from `at` on. The word of a scalar is all of it. */
static inline Slot *find_word(const Table *table, size_t at, uint64_t word)
{
    const Slot *slots = table->slots;
    while (slots[at].word != word && slots[at].number != 0)
        at = next_slot(table, at);
    return &table->slots[at];
}

/* The same for the key at row i of those that come in, which is no scalar. */
static Slot *find_row(const Table *table, const Layout *layout, size_t i, size_t at, uint64_t word)
{
    for (; table->slots[at].number != 0; at = next_slot(table, at))
        if (table->slots[at].word == word &&
            rows_compare(layout, table->cells, i, table->cells + layout->count, table->slots[at].number - 1) == 0)
            break;
    return &table->slots[at];
}

static Slot *find_slot(const Table *table, const Layout *layout, size_t i, uint64_t word)
{
    size_t at = first_slot(table, word);
    return is_scalar(layout) ? find_word(table, at, word) : find_row(table, layout, i, at, word);
}

/* ---- windows ---- */

static bool has_window(const Layout *layout)
{
    return is_scalar(layout) && scalar_kind((ScalarType)layout->leaves[0].type) != KIND_FLOATING;
}

/* The number of a word's group plus 1; 0 if it is new. */
static inline uint64_t window_number(const Window *window, uint64_t word)
{
    return word - window->low < window->size ? window->numbers[word - window->low] : 0;
}

/* Makes the window wider, so that it holds a word; false if it would be too wide. */
static bool widen_window(Memory *memory, Window *window, uint64_t word, uint64_t widest)
{
    uint64_t up = word - window->low, down = window->low + window->size - 1 - word;
    bool is_above = window->size == 0 || up < down;
    uint64_t needed = window->size == 0 ? 1 : is_above ? up + 1 : down + 1;
    Window wider = {.low = window->size == 0 ? word : window->low, .size = WINDOW_LEAST};
    if (needed == 0 || needed > widest)
        return false;
    while (wider.size < needed)
        wider.size *= 2;
    if (!is_above)
        wider.low += window->size - wider.size;
    wider.numbers = memory_alloc(memory, wider.size * sizeof *wider.numbers);
    if (window->size > 0)
        memcpy(wider.numbers + (window->low - wider.low), window->numbers, window->size * sizeof *window->numbers);
    free_window(memory, window);
    *window = wider;
    return true;
}

/* From now on keys are hashed, those that there are too. */
static void hash_keys(Firing *firing)
{
    Table *table = firing->state;
    const Layout *layout = firing->node->layout;
    size_t groups = group_count(table);
    while (table->slot_count <= 2 * groups)
        grow_slots(firing->vm->memory, table);
    for (size_t number = 0; number < groups; number++)
        fill_slot(table, (Slot){key_word(layout, table->cells + layout->count, number), number + 1});
    free_window(firing->vm->memory, &table->window);
    table->is_hashed = true;
}

/* Whether the window holds the word; it is given up if it cannot. */
static bool uses_window(Firing *firing, uint64_t word)
{
    Table *table = firing->state;
    uint64_t widest = least(WINDOW_MAX, least(table->point_count, WINDOW_MAX) * WINDOW_PER_POINT);
    if (table->is_hashed)
        return false;
    if (has_window(firing->node->layout) &&
        (word - table->window.low < table->window.size ||
         widen_window(firing->vm->memory, &table->window, word, widest < WINDOW_LEAST ? WINDOW_LEAST : widest)))
        return true;
    hash_keys(firing);
    return false;
}

/* ---- numbers ---- */

static int64_t find_in_window(Firing *firing, size_t i, uint64_t word)
{
    Table *table = firing->state;
    uint32_t *number = &table->window.numbers[word - table->window.low];
    if (*number == 0) {
        add_key(firing, i);
        *number = (uint32_t)group_count(table);
    }
    return (int64_t)*number - 1;
}

static int64_t find_hashed(Firing *firing, size_t i, uint64_t word)
{
    Table *table = firing->state;
    if (2 * group_count(table) >= table->slot_count)
        grow_slots(firing->vm->memory, table);
    Slot *slot = find_slot(table, firing->node->layout, i, word);
    if (slot->number == 0) {
        add_key(firing, i);
        *slot = (Slot){word, group_count(table)};
    }
    return (int64_t)slot->number - 1;
}

/* The number of the key at row i of those that come in, which may be new. */
static int64_t find_number(Firing *firing, size_t i)
{
    Table *table = firing->state;
    if (text_keys_hold(firing->node->layout))
        return text_keys_find(&table->texts, firing->vm->memory, table->keys, table->cells, i);
    uint64_t word = key_word(firing->node->layout, table->cells, i);
    return uses_window(firing, word) ? find_in_window(firing, i, word) : find_hashed(firing, i, word);
}

/* Points whose keys are looked up, not added. */
typedef struct Lookup {
    const Table *table;
    const Layout *layout;
    size_t first;
    int64_t *numbers; /* -1 for a key that is new */
    atomic_bool *has_new; /* by block of points: whoever adds new keys need not look at the others, which may be in another processor's cache */
} Lookup;

static void look_up_tile(const Lookup *lookup, size_t first, size_t count)
{
    const Table *table = lookup->table;
    uint64_t words[TILE];
    size_t slots[TILE];
    key_words(lookup->layout, table->cells, lookup->first + first, count, words);
    if (!table->is_hashed) {
        for (size_t i = 0; i < count; i++)
            lookup->numbers[first + i] = (int64_t)window_number(&table->window, words[i]) - 1;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        slots[i] = first_slot(table, words[i]);
        __builtin_prefetch(&table->slots[slots[i]]);
    }
    if (is_scalar(lookup->layout))
        for (size_t i = 0; i < count; i++)
            lookup->numbers[first + i] = (int64_t)find_word(table, slots[i], words[i])->number - 1;
    else
        for (size_t i = 0; i < count; i++)
            lookup->numbers[first + i] =
                (int64_t)find_row(table, lookup->layout, lookup->first + first + i, slots[i], words[i])->number - 1;
}

/* Whether all are there. */
static bool look_up_texts(const Lookup *lookup, size_t first, size_t count)
{
    const Table *table = lookup->table;
    return text_keys_look_up(&table->texts, table->keys, table->cells, lookup->first + first, count, lookup->numbers + first);
}

static bool look_up_others(const Lookup *lookup, size_t first, size_t count)
{
    int64_t all = 0;
    for (size_t i = first; i < first + count; i += TILE)
        look_up_tile(lookup, i, least(TILE, first + count - i));
    for (size_t i = first; i < first + count; i++)
        all |= lookup->numbers[i];
    return all >= 0;
}

static void look_up(void *context, size_t first, size_t end, uint32_t member)
{
    const Lookup *lookup = context;
    bool has_texts = text_keys_hold(lookup->layout);
    (void)member;
    for (size_t i = first, next; i < end; i = next) {
        next = least(end, (i / LOOKUP_BLOCK + 1) * LOOKUP_BLOCK);
        if (!(has_texts ? look_up_texts : look_up_others)(lookup, i, next - i))
            atomic_store_explicit(&lookup->has_new[i / LOOKUP_BLOCK], true, memory_order_relaxed);
    }
}

static void look_up_all(Team *team, Lookup *lookup, size_t count)
{
    for (size_t i = 0; i < count; i += LOOKUP_BLOCK)
        atomic_init(&lookup->has_new[i / LOOKUP_BLOCK], false);
    team_run(team, count, team_grain(team, FIND_PICOSECONDS), look_up, lookup);
}

/* Points [i, end) of those from `first` on. */
static void add_new(Firing *firing, size_t first, size_t i, size_t end, bool is_looked_up, int64_t *numbers)
{
    for (; i < end; i++)
        if (!is_looked_up || numbers[i] < 0)
            numbers[i] = find_number(firing, first + i);
}

/* Those that are not there are added in order; most of the last ones being so, nothing is looked up before. */
static void find_numbers(Firing *firing, size_t first, size_t count, int64_t *numbers)
{
    Table *table = firing->state;
    size_t before = group_count(table);
    bool is_looked_up = before > 0 && !table->is_growing;
    Lookup lookup = {.table = table, .layout = firing->node->layout, .first = first, .numbers = numbers};
    table->point_count += count;
    if (is_looked_up) {
        lookup.has_new = team_alloc(firing->vm->team, (count / LOOKUP_BLOCK + 1) * sizeof *lookup.has_new);
        look_up_all(firing->vm->team, &lookup, count);
    }
    for (size_t i = 0, next; i < count; i = next) {
        next = least(count, i + LOOKUP_BLOCK);
        if (!is_looked_up || atomic_load_explicit(&lookup.has_new[i / LOOKUP_BLOCK], memory_order_relaxed))
            add_new(firing, first, i, next, is_looked_up, numbers);
    }
    team_give_back(firing->vm->team, lookup.has_new);
    table->is_growing = group_count(table) - before > count / 2;
}

/* Keys at these places, to outputs from `output` on. */
static void give_keys(Firing *firing, uint32_t output, const int64_t *places, size_t count)
{
    Table *table = firing->state;
    for (uint32_t leaf = 0; leaf < leaf_count(firing->node); leaf++)
        if (firing_is_wanted(firing, output + leaf)) {
            cells_gather(firing->vm->team, firing->node->layout->leaves[leaf].type, firing_reserve(firing, output + leaf, count),
                         (Cells){&table->keys, true}, leaf, (Cells){.data = places}, count);
            firing_produce(firing, output + leaf, count);
        }
}

/* Takes points, as many as there is room for. */
static size_t take_points(Firing *firing, size_t first, size_t count)
{
    Table *table = firing->state;
    count = least(count, outputs_room(firing, OUT_NUMBER, 1 + leaf_count(firing->node)));
    if (count == 0)
        return 0;
    open_table(firing);
    inputs_cells(firing, (Inputs){TABLE_KEYS, leaf_count(firing->node)}, table->cells);
    int64_t *numbers = firing_reserve(firing, OUT_NUMBER, count);
    find_numbers(firing, first, count, numbers);
    give_keys(firing, OUT_POINT_KEYS, numbers, count);
    firing_produce(firing, OUT_NUMBER, count);
    return count;
}

/* ---- giving groups ---- */

static void order_groups(Firing *firing)
{
    Table *table = firing->state;
    Memory *memory = firing->vm->memory;
    size_t count = group_count(table);
    if (count > 0) {
        table->order = memory_alloc(memory, count * sizeof *table->order);
        array_grade(firing->vm->team, table->keys, 0, count, false, table->order);
    }
    table->is_ordered = true;
    table->is_parent_given = false;
    table->groups_given = 0;
}

static void give_groups(Firing *firing)
{
    Table *table = firing->state;
    uint32_t output = group_output(firing->node);
    size_t count = least(outputs_room(firing, output, 1 + leaf_count(firing->node)),
                         group_count(table) - table->groups_given);
    if (count == 0)
        return;
    const int64_t *order = table->order + table->groups_given;
    if (firing_is_wanted(firing, output)) {
        memcpy(firing_reserve(firing, output, count), order, count * sizeof *order);
        firing_produce(firing, output, count);
    }
    give_keys(firing, output + 1, order, count);
    table->groups_given += count;
}

/* Gives what there is room for. True once everything of this parent is out. */
static bool give_parent(Firing *firing)
{
    Table *table = firing->state;
    int64_t end = table->group_total + (int64_t)group_count(table);
    if (!table->is_parent_given && firing_room(firing, parent_output(firing->node)) > 0) {
        firing_give(firing, parent_output(firing->node), LEAF_ENDS, &end);
        table->is_parent_given = true;
    }
    give_groups(firing);
    if (!table->is_parent_given || table->groups_given < group_count(table))
        return false;
    table->group_total = end;
    forget_groups(firing->vm->memory, table);
    return true;
}

/* False when nothing more can be done now, or ever. */
static bool group_points(Firing *firing)
{
    Table *table = firing->state;
    Inputs points = {TABLE_DRIVER, TABLE_KEYS + leaf_count(firing->node)};
    Walk walk = walk_begin(firing, &table->walk, points, (Inputs){0}, points.count);
    for (;;) {
        walk.child += take_points(firing, walk.child, walk_points(&walk));
        if (!walk_is_parent_done(&walk))
            return walk_end(&walk);
        if (!table->is_ordered)
            order_groups(firing);
        if (!give_parent(firing))
            return walk_end(&walk);
        walk_next_parent(&walk);
    }
}

static void fire_table(Firing *firing)
{
    while (group_points(firing))
        continue;
}

const NodeKind node_kind_GROUP_TABLE = {.fire = fire_table, .state_size = sizeof(Table), .release = release_table};

/* ---- reductions ---- */

enum { FOLD_ELEMENT, FOLD_NUMBER, FOLD_GROUP, FOLD_ENDS, FOLD_GROUP_ENDS };

typedef struct FoldBy {
    WalkState walk;
    unsigned char *states; /* by number of group */
    PlacesCopies copies;   /* of what is added up in places */
    size_t count, capacity;
    size_t groups_given;
    int64_t group_total; /* of the parents before */
} FoldBy;

/* How elements are added up: those that may be added in any order into places, one cell for each group, which is its result; others into states. */
typedef struct Adder {
    const PlacesKind *places; /* or null */
    const FoldKind *kind;
    size_t size; /* of a group's cell or state */
} Adder;

static Adder adder_of(const FlowNode *node)
{
    ScalarType type = (ScalarType)node->inputs[FOLD_ELEMENT].type;
    const PlacesKind *places = places_kind(node->core_op, type);
    if (places != NULL && places_are_exact(places))
        return (Adder){.places = places, .size = leaf_size((LeafType)type)};
    const FoldKind *kind = fold_kind(node->core_op, type);
    size_t words = (fold_state_size(kind) + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    return (Adder){.kind = kind, .size = words * sizeof(uint64_t)};
}

static void release_fold_by(Vm *vm, const FlowNode *node, void *state_memory)
{
    FoldBy *state = state_memory;
    places_forget(vm->memory, &state->copies);
    memory_free(vm->memory, state->states, state->capacity * adder_of(node).size);
}

/* Makes room for a group, and starts it and those before it. */
static void start_groups(Firing *firing, const Adder *adder, size_t number)
{
    FoldBy *state = firing->state;
    size_t size = adder->size;
    if (number >= state->capacity) {
        size_t capacity = state->capacity == 0 ? 16 : 2 * state->capacity;
        while (capacity <= number)
            capacity *= 2;
        if (capacity > SIZE_MAX / size)
            memory_fail(firing->vm->memory);
        state->states = memory_resize(firing->vm->memory, state->states, state->capacity * size, capacity * size);
        state->capacity = capacity;
    }
    if (adder->places != NULL)
        places_start(adder->places, state->states + state->count * size, number + 1 - state->count);
    else
        for (size_t i = state->count; i <= number; i++)
            fold_start(adder->kind, state->states + i * size);
    state->count = number + 1;
}

/* Points next to each other that are of the same group. */
static size_t run_length(const int64_t *numbers, size_t count)
{
    size_t length = 1;
    while (length < count && numbers[length] == numbers[0])
        length++;
    return length;
}

/* Cells from one on. A single one need not be called uniform. */
static Cells cells_from(Cells cells, size_t size, size_t first, size_t count)
{
    return (Cells){(const char *)cells.data + cells_index(cells, first) * size, cells.is_uniform && count > 1};
}

/* Points being added to their groups. */
typedef struct Adding {
    const FoldKind *kind;
    unsigned char *states;
    size_t state_size;
    Cells elements;
    size_t cell_size;
    const int64_t *numbers;
    size_t first, count;
    size_t parts;
    uint32_t *lists; /* for each part, room for all points */
} Adding;

static void add_run(const Adding *adding, size_t i, size_t run)
{
    fold_add(NULL, adding->kind, adding->states + (size_t)adding->numbers[i] * adding->state_size,
             cells_from(adding->elements, adding->cell_size, i, run), run);
}

/* The part that a group is of. Groups that lie next to each other are mostly of the same, and so share no cache line with another. */
static size_t part_of(int64_t number, size_t parts)
{
    uint32_t mixed = (uint32_t)(number >> 3) * UINT32_C(0x9e3779b1);
    return (size_t)((uint64_t)mixed * parts >> 32);
}

/* The points of a part's groups: listed without branches, as these could not be predicted. */
static size_t list_points(const Adding *adding, size_t part, uint32_t *list)
{
    size_t listed = 0;
    for (size_t i = 0; i < adding->count; i++) {
        list[listed] = (uint32_t)i;
        listed += part_of(adding->numbers[adding->first + i], adding->parts) == part;
    }
    return listed;
}

static void add_parts(void *context, size_t part, size_t end, uint32_t member)
{
    const Adding *adding = context;
    (void)member;
    for (; part < end; part++) {
        uint32_t *list = adding->lists + part * (adding->count + 1);
        size_t listed = list_points(adding, part, list);
        for (size_t i = 0; i < listed; i++)
            add_run(adding, adding->first + list[i], 1);
    }
}

static void add_together(Team *team, Adding *adding)
{
    adding->parts = least(team_size(team), PARTS_MAX);
    adding->lists = team_alloc(team, adding->parts * (adding->count + 1) * sizeof *adding->lists);
    team_run(team, adding->parts, 1, add_parts, adding);
    team_give_back(team, adding->lists);
}

static size_t greatest_number(Team *team, const int64_t *numbers, size_t count)
{
    const FoldKind *kind = fold_kind(OP_MAX_VAL, SCALAR_I64);
    uint64_t state[FOLD_STATE_MAX / sizeof(uint64_t)], greatest;
    fold_start(kind, state);
    fold_add(team, kind, state, (Cells){.data = numbers}, count);
    fold_result(kind, state, &greatest);
    return (size_t)greatest;
}

/* Whether points of many groups follow each other in no order: runs of one are faster without a team's detours. */
static bool is_mixed(const int64_t *numbers, size_t count)
{
    size_t changes = 0;
    for (size_t i = 1; i < count; i++)
        changes += numbers[i] != numbers[i - 1];
    return changes > count / 2;
}

static void add_to_states(Firing *firing, const Adder *adder, Cells numbers, size_t first, size_t count)
{
    FoldBy *state = firing->state;
    Team *team = firing->vm->team;
    const int64_t *items = numbers.data;
    Adding adding = {.kind = adder->kind, .states = state->states, .state_size = adder->size,
                     .elements = firing_cells(firing, FOLD_ELEMENT),
                     .cell_size = leaf_size(firing->node->inputs[FOLD_ELEMENT].type),
                     .numbers = items, .first = first, .count = count};
    bool is_shared = !numbers.is_uniform && count < UINT32_MAX && team_shares(team, count, team_grain(team, ADD_PICOSECONDS));
    if (numbers.is_uniform)
        fold_add(team, adder->kind, state->states + (size_t)items[0] * adder->size,
                 cells_from(adding.elements, adding.cell_size, first, count), count);
    else if (is_shared && is_mixed(items + first, count))
        add_together(team, &adding);
    else
        for (size_t i = first, run; i < first + count; i += run) {
            run = run_length(items + i, first + count - i);
            add_run(&adding, i, run);
        }
}

static void fold_points(Firing *firing, const Adder *adder, size_t first, size_t count)
{
    FoldBy *state = firing->state;
    Cells numbers = firing_cells(firing, FOLD_NUMBER);
    const int64_t *items = numbers.data;
    size_t greatest = numbers.is_uniform ? (size_t)items[0] : greatest_number(firing->vm->team, items + first, count);
    if (greatest >= state->count)
        start_groups(firing, adder, greatest);
    if (adder->places == NULL) {
        add_to_states(firing, adder, numbers, first, count);
        return;
    }
    Placing placing = {adder->places, state->states, state->count, numbers, firing_cells(firing, FOLD_ELEMENT)};
    places_put(firing->vm, &state->copies, &placing, first, first + count);
}

/* All points of the parent at hand are there. */
static void join_groups(Firing *firing, const Adder *adder)
{
    FoldBy *state = firing->state;
    Placing placing = {.kind = adder->places, .table = state->states, .length = state->count};
    if (adder->places != NULL)
        places_join(firing->vm, &state->copies, &placing);
}

/* Groups of the parent at hand that are still to be given; as many as come, if it is the only one. */
static size_t groups_left(const Firing *firing)
{
    const FoldBy *state = firing->state;
    if (firing->node->segments == SEGMENTS_SINGLE)
        return firing_is_ended(firing, FOLD_GROUP) ? 0 : SIZE_MAX;
    if (firing_available(firing, FOLD_GROUP_ENDS) == 0)
        return SIZE_MAX;
    int64_t end = *(const int64_t *)firing_cells(firing, FOLD_GROUP_ENDS).data;
    return (size_t)(end - state->group_total) - state->groups_given;
}

/* Those that can be given now. */
static size_t groups_at_hand(const Firing *firing)
{
    size_t left = groups_left(firing);
    bool is_known = firing->node->segments == SEGMENTS_SINGLE || left != SIZE_MAX;
    return is_known ? least(left, least(firing_available(firing, FOLD_GROUP), firing_room(firing, 0))) : 0;
}

static void give_results(Firing *firing, const Adder *adder, size_t count)
{
    FoldBy *state = firing->state;
    Cells numbers = firing_cells(firing, FOLD_GROUP);
    size_t result_size = leaf_size(firing_output_type(firing, 0));
    char *out = firing_reserve(firing, 0, count);
    for (size_t i = 0; i < count; i++) {
        size_t number = (size_t)((const int64_t *)numbers.data)[cells_index(numbers, i)];
        if (number >= state->count) /* none of its members is left */
            start_groups(firing, adder, number);
        const unsigned char *group = state->states + number * adder->size;
        if (adder->places != NULL)
            memcpy(out + i * result_size, group, result_size);
        else
            fold_result(adder->kind, group, out + i * result_size);
    }
    firing_produce(firing, 0, count);
    firing_consume(firing, FOLD_GROUP, count);
    state->groups_given += count;
}

static void next_groups(Firing *firing)
{
    FoldBy *state = firing->state;
    state->group_total += (int64_t)state->groups_given;
    state->groups_given = 0;
    state->count = 0;
    if (firing->node->segments != SEGMENTS_SINGLE)
        firing_consume(firing, FOLD_GROUP_ENDS, 1);
}

/* The ends of groups are known only when those of the points are: they are not among what the walk waits for. */
static bool fold_by(Firing *firing, const Adder *adder)
{
    FoldBy *state = firing->state;
    Walk walk = walk_begin(firing, &state->walk, (Inputs){FOLD_ELEMENT, 2}, (Inputs){0}, FOLD_ENDS);
    for (;;) {
        size_t count = walk_points(&walk);
        if (count > 0)
            fold_points(firing, adder, walk.child, count);
        walk.child += count;
        if (!walk_is_parent_done(&walk))
            return walk_end(&walk);
        join_groups(firing, adder);
        size_t groups = groups_at_hand(firing);
        if (groups > 0)
            give_results(firing, adder, groups);
        if (groups_left(firing) > 0)
            return walk_end(&walk) || groups > 0;
        next_groups(firing);
        walk_next_parent(&walk);
    }
}

static void fire_fold_by(Firing *firing)
{
    Adder adder = adder_of(firing->node);
    while (fold_by(firing, &adder))
        continue;
}

const NodeKind node_kind_FOLD_BY = {.fire = fire_fold_by, .state_size = sizeof(FoldBy), .release = release_fold_by};
