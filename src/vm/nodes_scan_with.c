/* SCAN_WITH: scans by users' operators.
 *
 * A batch is a list of *runs*, each the points at hand of one parent. What a run takes in are the elements before its points, in an exclusive
 * scan, or at them; they are listed, cut into *pieces* at the blocks of the order of combination, and combined in three parts: the values inside the
 * pieces, side by side; the carries at the ends of blocks, one run beside the other; and in a single round everything that is given, a carry
 * combined with a local value.
 *
 * Where there is compiled code for such scans, it does the first and the last part for whole pieces, which the team shares, and the carries one after the other; what fails is left to the rounds.
 *
 * An exclusive scan takes an element in only when there is a point after it: the last one of a batch is held until then. */
#include "vm/code.h"
#include "vm/operator.h"

enum { SCAN_DRIVER, SCAN_CAPTURED };

typedef struct Piece {
    size_t first, count; /* elements taken in */
    size_t next;         /* of them, those combined */
    uint64_t index;      /* of the first one under the parent */
    bool ends_block;
    bool is_given;       /* what is given was combined with its carry */
} Piece;

typedef struct Run {
    size_t parent, child; /* beyond the cursors */
    size_t count;         /* points */
    uint64_t index;       /* of the first one under the parent */
    size_t element;       /* the first one taken in */
    size_t first_piece, piece, end; /* its pieces; those before `piece` have a carry */
} Run;

typedef struct Pieces {
    Piece *items;
    size_t count, capacity;
} Pieces;

typedef struct Runs {
    Run *items;
    size_t count, capacity;
} Runs;

typedef struct Places {
    size_t *items;
    size_t count, capacity;
} Places;

typedef enum ScanPart { SCAN_LOCALS, SCAN_CARRIES, SCAN_OUTPUTS } ScanPart;

/* Rows of what is kept from batch to batch. */
enum { KEPT_LOCAL, KEPT_CARRY, KEPT_ELEMENT, KEPT_COUNT };

typedef struct ScanWith {
    WalkState walk;
    Operator operator;
    Array *kept;
    bool has_local, has_carry; /* of the block that is open, of those before it */
    /* the batch */
    WalkState walk_before;
    Walk walk_after;
    Runs runs;
    Pieces pieces;
    Array *elements; /* taken in */
    Array *values;   /* a row for each: the local value up to it, in the end what is given */
    Array *carries;  /* a row for each piece */
    Array *rest;     /* what will be kept */
    bool has_rest_local, has_rest_carry;
    Places asked; /* what the pairs of this round are for: elements; pieces; elements */
    Places owners; /* the pieces of these elements */
    ScanPart part;
} ScanWith;

static bool is_exclusive(const FlowNode *node)
{
    return node->core_op == OP_SCAN;
}

static Inputs own_inputs(const FlowNode *node)
{
    return operator_inputs(node, SCAN_CAPTURED);
}

static uint32_t identity_input(const FlowNode *node)
{
    return SCAN_CAPTURED + own_inputs(node).count;
}

static Inputs element_inputs(const FlowNode *node)
{
    uint32_t identity_count = is_exclusive(node) ? node->layout->count : 0;
    return (Inputs){identity_input(node) + identity_count, node->layout->count};
}

static void release_scan_with(Vm *vm, const FlowNode *node, void *state_memory)
{
    ScanWith *state = state_memory;
    Memory *memory = vm->memory;
    operator_release(memory, node, &state->operator);
    array_release(memory, state->kept);
    array_release(memory, state->elements);
    array_release(memory, state->values);
    array_release(memory, state->carries);
    array_release(memory, state->rest);
    LIST_FREE(memory, &state->runs);
    LIST_FREE(memory, &state->pieces);
    LIST_FREE(memory, &state->asked);
    LIST_FREE(memory, &state->owners);
}

/* ---- taking a batch ---- */

/* Lists the elements that `count` points of the parent at hand take in. */
static void take_elements(Firing *firing, const Walk *walk, size_t count)
{
    ScanWith *state = firing->state;
    Memory *memory = firing->vm->memory;
    Cells *views = state->operator.left;
    bool has_held = is_exclusive(firing->node) && walk_index(walk) > 0;
    if (has_held) {
        array_views(state->kept, views);
        array_append(memory, firing->vm->team, state->elements, views, KEPT_ELEMENT, 1);
    }
    inputs_cells(firing, element_inputs(firing->node), views);
    array_append(memory, firing->vm->team, state->elements, views, walk->child, is_exclusive(firing->node) ? count - 1 : count);
}

/* Cuts the elements from `first` on, of which that one is number `index` of its parent, into pieces. */
static void cut_pieces(Firing *firing, size_t first, uint64_t index)
{
    ScanWith *state = firing->state;
    for (size_t count; first < state->elements->count; first += count, index += count) {
        size_t room = COMBINE_BLOCK - index % COMBINE_BLOCK;
        count = least(state->elements->count - first, room);
        *LIST_PUSH(firing->vm->memory, &state->pieces) =
            (Piece){.first = first, .count = count, .index = index, .ends_block = count == room};
    }
}

static void add_run(Firing *firing, Walk *walk, size_t count)
{
    ScanWith *state = firing->state;
    Run run = {
        .parent = walk->parent,
        .child = walk->child,
        .count = count,
        .index = walk_index(walk),
        .element = state->elements->count,
        .first_piece = state->pieces.count,
        .piece = state->pieces.count,
    };
    take_elements(firing, walk, count);
    cut_pieces(firing, run.element, run.index - (is_exclusive(firing->node) && run.index > 0 ? 1 : 0));
    run.end = state->pieces.count;
    *LIST_PUSH(firing->vm->memory, &state->runs) = run;
    walk->child += count;
}

/* Takes up to `room` points of the parent at hand. False if it is not done, or the batch is large enough. */
static bool take_run(Firing *firing, Walk *walk, size_t *room)
{
    ScanWith *state = firing->state;
    size_t count = least(walk_points(walk), state->operator.is_alone ? least(*room, 1) : *room);
    if (count > 0)
        add_run(firing, walk, count);
    *room -= count;
    if (count > 0 && (walk->kind == SEGMENTS_SINGLE || state->operator.is_alone))
        return false; /* nothing is consumed yet, so that the end of an only parent cannot be seen */
    if (!walk_is_parent_done(walk))
        return false;
    walk_next_parent(walk);
    return true;
}

static bool begin_scan(Firing *firing)
{
    ScanWith *state = firing->state;
    const FlowNode *node = firing->node;
    Memory *memory = firing->vm->memory;
    Inputs elements = element_inputs(node), parents = {SCAN_CAPTURED, elements.first - SCAN_CAPTURED};
    size_t room = outputs_room(firing, 0, node->layout->count);
    state->pieces.count = state->runs.count = 0;
    state->part = SCAN_LOCALS;
    state->walk_before = state->walk;
    array_renew(memory, &state->elements, node->layout, 0);
    Walk walk = walk_begin_driven(firing, &state->walk, SCAN_DRIVER, elements, parents, elements.first + elements.count);
    while (take_run(firing, &walk, &room))
        continue;
    state->walk_after = walk;
    if (state->runs.count == 0 && walk.parent == 0) {
        walk_end(&walk);
        return false;
    }
    array_renew(memory, &state->values, node->layout, state->elements->count);
    array_renew(memory, &state->carries, node->layout, state->pieces.count);
    return true;
}

/* ---- where pieces go on from ---- */

/* Whether a piece goes on from the local value, or the carry, of the batch before: only the first run can. */
static bool continues(const ScanWith *state, size_t piece)
{
    return piece == 0 && state->runs.items[0].index > 0;
}

/* The first value of a piece that begins a block is the element itself. */
static bool is_plain_start(const ScanWith *state, size_t p)
{
    return state->pieces.items[p].next == 0 && !(continues(state, p) && state->has_local);
}

/* Where the carry before a piece is, if there is one. */
static bool find_carry(const ScanWith *state, const Run *run, size_t p, const Array **array, size_t *row)
{
    bool is_kept = p == run->first_piece;
    *array = is_kept ? state->kept : state->carries;
    *row = is_kept ? KEPT_CARRY : p - 1;
    return is_kept ? continues(state, p) && state->has_carry : true;
}

/* The next piece of a run that ends a block without having a carry; its end if there is none. */
static size_t next_total(const ScanWith *state, const Run *run)
{
    return run->piece < run->end && state->pieces.items[run->piece].ends_block ? run->piece : run->end;
}

/* ---- compiled scans ---- */

enum { ELEMENT_PICOSECONDS = 1000 };

static KernelFunction *code_of_node(const Firing *firing)
{
    const ScanWith *state = firing->state;
    return operator_may_have_code(firing, &state->operator) ? code_of_scan(firing->vm, firing->node->function) : NULL;
}

/* Does pieces of a run from `p` on, none from `end` on; gives how many it was done with at once, be they done or left. */
typedef size_t ScanPieces(const CompiledOperator *scan, const Run *run, size_t p, size_t end);

typedef struct Scanning {
    CompiledOperator scan;
    ScanPieces *work;
} Scanning;

/* Groups of pieces that may be scanned at once. */
static void scan_groups(void *context, size_t first_group, size_t end_group, uint32_t member)
{
    const Scanning *scanning = context;
    const ScanWith *state = scanning->scan.firing->state;
    size_t p = first_group * KERNEL_FOLD_BLOCKS, end = least(end_group * KERNEL_FOLD_BLOCKS, state->pieces.count);
    (void)member;
    for (size_t r = 0; p < end; r++)
        for (const Run *run = &state->runs.items[r]; p < least(run->end, end);)
            p += scanning->work(&scanning->scan, run, p, least(run->end, end));
}

static void share_pieces(Firing *firing, KernelFunction *code, ScanPieces *work)
{
    const ScanWith *state = firing->state;
    Team *team = firing->vm->team;
    Scanning scanning = {operator_begin_code(firing, code, own_inputs(firing->node)), work};
    size_t groups = (state->pieces.count + KERNEL_FOLD_BLOCKS - 1) / KERNEL_FOLD_BLOCKS, each = state->elements->count / (groups + 1) + 1;
    team_run(team, groups, team_grain(team, each * ELEMENT_PICOSECONDS), scan_groups, &scanning);
    operator_end_code(&scanning.scan);
}

static bool are_blocks(const ScanWith *state, size_t p, size_t end)
{
    bool are_whole = end - p >= KERNEL_FOLD_BLOCKS;
    for (size_t i = p; are_whole && i < p + KERNEL_FOLD_BLOCKS; i++)
        are_whole = state->pieces.items[i].count == COMBINE_BLOCK && state->pieces.items[i].next == 1;
    return are_whole;
}

static bool scan_blocks(const CompiledOperator *scan, const Run *run, size_t p, size_t blocks)
{
    const ScanWith *state = scan->firing->state;
    const Piece *piece = &state->pieces.items[p];
    size_t element = piece->first + piece->next;
    bool goes_on = piece->next > 0;
    return operator_run_code(scan, run->parent, goes_on ? state->values : state->kept, goes_on ? element - 1 : KEPT_LOCAL, state->operator.right, element,
                             piece->count - piece->next, state->values, element, blocks);
}

/* Local values of a piece, or of several at once. */
static size_t scan_locals(const CompiledOperator *scan, const Run *run, size_t p, size_t end)
{
    const ScanWith *state = scan->firing->state;
    size_t done = are_blocks(state, p, end) && scan_blocks(scan, run, p, KERNEL_FOLD_BLOCKS) ? KERNEL_FOLD_BLOCKS : 1;
    Piece *piece = &state->pieces.items[p];
    if (done > 1 || (piece->next < piece->count && scan_blocks(scan, run, p, 1)))
        for (size_t i = 0; i < done; i++)
            piece[i].next = piece[i].count;
    return done;
}

/* What is given of a piece, but for the last value of a block, which is the carry there. */
static size_t scan_outputs(const CompiledOperator *scan, const Run *run, size_t p, size_t end)
{
    const ScanWith *state = scan->firing->state;
    Piece *piece = &state->pieces.items[p];
    const Array *carry;
    size_t row, combined = piece->ends_block ? piece->count - 1 : piece->count;
    (void)end;
    if (find_carry(state, run, p, &carry, &row))
        piece->is_given = operator_run_code(scan, run->parent, carry, row, state->operator.right, piece->first, combined, state->values, piece->first, 0);
    return 1;
}

/* The carries of a run, as far as the code can do them. */
static void scan_carries(const CompiledOperator *scan, Run *run)
{
    const ScanWith *state = scan->firing->state;
    const Array *before;
    size_t row;
    for (size_t p; (p = next_total(state, run)) < run->end && find_carry(state, run, p, &before, &row); run->piece++) {
        const Piece *piece = &state->pieces.items[p];
        if (!operator_run_code(scan, run->parent, before, row, state->operator.right, piece->first + piece->count - 1, 1, state->carries, p, 1))
            return;
    }
}

/* ---- local values ---- */

static void start_pieces(Firing *firing)
{
    ScanWith *state = firing->state;
    for (size_t p = 0; p < state->pieces.count; p++)
        if (is_plain_start(state, p)) {
            row_put(firing->vm->memory, state->values, state->pieces.items[p].first, state->operator.right, state->pieces.items[p].first);
            state->pieces.items[p].next = 1;
        }
}

static bool ask_locals(Firing *firing)
{
    ScanWith *state = firing->state;
    Operator *operator = &state->operator;
    array_views(state->elements, operator->right);
    start_pieces(firing);
    KernelFunction *code = code_of_node(firing);
    if (code != NULL && operator_is_dense(firing, operator->right))
        share_pieces(firing, code, scan_locals);
    for (size_t r = 0; r < state->runs.count; r++)
        for (size_t p = state->runs.items[r].first_piece; p < state->runs.items[r].end; p++) {
            Piece *piece = &state->pieces.items[p];
            if (piece->next == piece->count)
                continue;
            size_t element = piece->first + piece->next;
            array_views(piece->next == 0 ? state->kept : state->values, operator->left);
            Application local = {COMBINE_LOCAL, piece->index + piece->next};
            operator_add_pair(firing, operator, own_inputs(firing->node), state->runs.items[r].parent, local,
                              operator->left, piece->next == 0 ? KEPT_LOCAL : element - 1, operator->right, element);
            *LIST_PUSH(firing->vm->memory, &state->asked) = element;
            *LIST_PUSH(firing->vm->memory, &state->owners) = p;
        }
    return state->asked.count > 0;
}

/* ---- carries ---- */

static bool ask_carries(Firing *firing)
{
    ScanWith *state = firing->state;
    Operator *operator = &state->operator;
    array_views(state->values, operator->right);
    KernelFunction *code = code_of_node(firing);
    CompiledOperator scan = {0};
    if (code != NULL)
        scan = operator_begin_code(firing, code, own_inputs(firing->node));
    for (size_t r = 0; r < state->runs.count; r++) {
        Run *run = &state->runs.items[r];
        const Array *before;
        size_t row, p = next_total(state, run);
        if (p < run->end && !find_carry(state, run, p, &before, &row)) {
            const Piece *piece = &state->pieces.items[p];
            row_put(firing->vm->memory, state->carries, p, operator->right, piece->first + piece->count - 1);
            run->piece++;
        }
        if (code != NULL)
            scan_carries(&scan, run);
        p = next_total(state, run);
        if (p == run->end || !find_carry(state, run, p, &before, &row))
            continue;
        const Piece *piece = &state->pieces.items[p];
        Application carry = {COMBINE_CARRY, piece->index + piece->count - 1};
        array_views(before, operator->left);
        operator_add_pair(firing, operator, own_inputs(firing->node), run->parent, carry, operator->left, row,
                          operator->right, piece->first + piece->count - 1);
        *LIST_PUSH(firing->vm->memory, &state->asked) = p;
        *LIST_PUSH(firing->vm->memory, &state->owners) = r;
    }
    if (code != NULL)
        operator_end_code(&scan);
    return state->asked.count > 0;
}

/* ---- what is given ---- */

/* Notes the values that the next batch goes on from, before values become what is given. */
static void note_rest(Firing *firing)
{
    ScanWith *state = firing->state;
    Memory *memory = firing->vm->memory;
    Cells *views = state->operator.left;
    state->has_rest_local = state->has_rest_carry = false;
    array_renew(memory, &state->rest, firing->node->layout, KEPT_COUNT);
    if (state->runs.count == 0)
        return;
    const Run *run = &state->runs.items[state->runs.count - 1];
    inputs_cells(firing, element_inputs(firing->node), views);
    row_put(memory, state->rest, KEPT_ELEMENT, views, run->child + run->count - 1);
    if (run->end == run->first_piece)
        return;
    const Piece *piece = &state->pieces.items[run->end - 1];
    const Array *carry;
    size_t row;
    state->has_rest_local = !piece->ends_block;
    state->has_rest_carry = find_carry(state, run, piece->ends_block ? run->end : run->end - 1, &carry, &row);
    if (state->has_rest_local) {
        array_views(state->values, views);
        row_put(memory, state->rest, KEPT_LOCAL, views, piece->first + piece->count - 1);
    }
    if (state->has_rest_carry) {
        array_views(carry, views);
        row_put(memory, state->rest, KEPT_CARRY, views, row);
    }
}

/* At the end of a block the carry is given as it is; elsewhere it is combined with the local value. */
static void ask_outputs_of(Firing *firing, const Run *run, size_t p)
{
    ScanWith *state = firing->state;
    Operator *operator = &state->operator;
    const Piece *piece = &state->pieces.items[p];
    const Array *carry;
    size_t row, combined = piece->ends_block ? piece->count - 1 : piece->count;
    if (!piece->is_given && find_carry(state, run, p, &carry, &row)) {
        array_views(carry, operator->left);
        array_views(state->values, operator->right);
        for (size_t i = 0; i < combined; i++) {
            Application output = {COMBINE_OUTPUT, piece->index + i};
            operator_add_pair(firing, operator, own_inputs(firing->node), run->parent, output, operator->left, row,
                              operator->right, piece->first + i);
            *LIST_PUSH(firing->vm->memory, &state->asked) = piece->first + i;
        }
    }
    if (piece->ends_block) {
        array_views(state->carries, operator->left);
        row_put(firing->vm->memory, state->values, piece->first + piece->count - 1, operator->left, p);
    }
}

static bool ask_outputs(Firing *firing)
{
    ScanWith *state = firing->state;
    KernelFunction *code = code_of_node(firing);
    array_views(state->values, state->operator.right);
    if (code != NULL && state->pieces.count > 0)
        share_pieces(firing, code, scan_outputs);
    for (size_t r = 0; r < state->runs.count; r++)
        for (size_t p = state->runs.items[r].first_piece; p < state->runs.items[r].end; p++)
            ask_outputs_of(firing, &state->runs.items[r], p);
    return state->asked.count > 0;
}

/* ---- rounds ---- */

static bool ask_scan(Firing *firing)
{
    ScanWith *state = firing->state;
    state->asked.count = state->owners.count = 0;
    if (state->part == SCAN_LOCALS && ask_locals(firing))
        return true;
    if (state->part == SCAN_LOCALS)
        state->part = SCAN_CARRIES;
    if (state->part == SCAN_CARRIES && ask_carries(firing))
        return true;
    if (state->part == SCAN_CARRIES) {
        note_rest(firing);
        state->part = SCAN_OUTPUTS;
        return ask_outputs(firing);
    }
    return false;
}

static void take_scan(Firing *firing, const Cells *results)
{
    ScanWith *state = firing->state;
    for (size_t i = 0; i < state->asked.count; i++) {
        size_t place = state->asked.items[i];
        row_put(firing->vm->memory, state->part == SCAN_CARRIES ? state->carries : state->values, place, results, i);
        if (state->part == SCAN_LOCALS)
            state->pieces.items[state->owners.items[i]].next++;
        else if (state->part == SCAN_CARRIES)
            state->runs.items[state->owners.items[i]].piece++;
    }
}

static void undo_scan(Firing *firing)
{
    ScanWith *state = firing->state;
    state->walk = state->walk_before;
}

/* ---- ending a batch ---- */

static size_t count_points(const ScanWith *state)
{
    size_t count = 0;
    for (size_t r = 0; r < state->runs.count; r++)
        count += state->runs.items[r].count;
    return count;
}

static void give_leaf(Firing *firing, uint32_t leaf, size_t count)
{
    ScanWith *state = firing->state;
    LeafType type = firing->node->layout->leaves[leaf].type;
    Cells values = array_cells(state->values, leaf, 0);
    char *out = firing_reserve(firing, leaf, count);
    for (size_t r = 0; r < state->runs.count; r++) {
        const Run *run = &state->runs.items[r];
        size_t identities = is_exclusive(firing->node) && run->index == 0 ? 1 : 0;
        if (identities > 0)
            cells_copy(type, out, firing_cells(firing, identity_input(firing->node) + leaf), run->parent, 1);
        cells_copy(type, out + identities * leaf_size(type), values, run->element, run->count - identities);
        out += run->count * leaf_size(type);
    }
    firing_produce(firing, leaf, count);
}

static bool end_scan(Firing *firing)
{
    ScanWith *state = firing->state;
    Memory *memory = firing->vm->memory;
    size_t count = count_points(state);
    for (uint32_t leaf = 0; count > 0 && leaf < firing->node->layout->count; leaf++)
        if (firing_is_wanted(firing, leaf))
            give_leaf(firing, leaf, count);
    array_release(memory, state->kept);
    state->kept = state->rest;
    state->rest = NULL;
    state->has_local = state->has_rest_local;
    state->has_carry = state->has_rest_carry;
    Walk walk = state->walk_after;
    walk.firing = firing;
    return walk_end(&walk);
}

/* Pair by pair there is one point. */
static size_t scan_offset(const Firing *firing)
{
    const ScanWith *state = firing->state;
    return state->runs.items[0].child;
}

static void fire_scan_with(Firing *firing)
{
    static const OperatorNode node = {begin_scan, ask_scan, take_scan, undo_scan, end_scan, scan_offset, SCAN_DRIVER};
    ScanWith *state = firing->state;
    operator_run(firing, &state->operator, &node);
}

const NodeKind node_kind_SCAN_WITH = {
    .fire = fire_scan_with, .state_size = sizeof(ScanWith), .release = release_scan_with};
