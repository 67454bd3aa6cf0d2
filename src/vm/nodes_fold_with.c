/* FOLD_WITH: reductions by users' operators.
 *
 * A batch is a list of *runs*, each the points at hand of one parent, cut into *pieces* at the blocks of the order of combination. First all
 * pieces are combined side by side, each from left to right; then the totals of blocks, one run beside the other. A block that is not complete
 * leaves its local value to the next batch, a parent that goes on its carry.
 *
 * Where there is compiled code for such folds, it does whole pieces at a time, which the team shares; pieces that fail are left to the rounds. */
#include "vm/call.h"
#include "vm/code.h"
#include "vm/operator.h"

enum { FOLD_DRIVER, FOLD_CAPTURED };

typedef struct Piece {
    size_t first, count; /* points beyond the cursor */
    size_t next;         /* of them, those combined */
    uint64_t index;      /* of the first one under the parent */
    bool has_local;
    bool ends_block;
} Piece;

typedef struct Run {
    size_t parent;      /* beyond the cursors */
    size_t piece, end;  /* its pieces; those whose total is in the carry come first */
    size_t first_piece;
    bool has_carry;
    bool is_empty;      /* it has no points at all */
    bool ends_parent;
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

typedef struct FoldWith {
    WalkState walk;
    Operator operator;
    /* from batch to batch */
    Array *kept; /* two rows: the local value of the open block, and the carry */
    bool has_local, has_carry;
    /* the batch */
    WalkState walk_before;
    Walk walk_after;
    Pieces pieces;
    Runs runs;
    Array *locals, *carries; /* a row for each piece, for each run */
    Places asked;            /* the pieces or runs that the pairs of this round are for */
    bool is_carrying;        /* the second part */
} FoldWith;

enum { KEPT_LOCAL, KEPT_CARRY, KEPT_COUNT };

static Inputs own_inputs(const FlowNode *node)
{
    return operator_inputs(node, FOLD_CAPTURED);
}

static uint32_t identity_input(const FlowNode *node)
{
    return FOLD_CAPTURED + own_inputs(node).count;
}

static Inputs element_inputs(const FlowNode *node)
{
    return (Inputs){identity_input(node) + node->layout->count, node->layout->count};
}

static void release_fold_with(Vm *vm, const FlowNode *node, void *state_memory)
{
    FoldWith *state = state_memory;
    Memory *memory = vm->memory;
    operator_release(memory, node, &state->operator);
    array_release(memory, state->kept);
    array_release(memory, state->locals);
    array_release(memory, state->carries);
    LIST_FREE(memory, &state->pieces);
    LIST_FREE(memory, &state->runs);
    LIST_FREE(memory, &state->asked);
}

/* ---- taking a batch ---- */

/* Cuts points of the parent at hand into pieces; one is enough if the operator is applied pair by pair. */
static void cut_pieces(Firing *firing, Walk *walk)
{
    FoldWith *state = firing->state;
    size_t points = walk_points(walk);
    while (points > 0) {
        uint64_t index = walk_index(walk);
        size_t room = COMBINE_BLOCK - index % COMBINE_BLOCK, count = least(points, room);
        Piece piece = {.first = walk->child, .count = count, .index = index, .ends_block = count == room};
        *LIST_PUSH(firing->vm->memory, &state->pieces) = piece;
        walk->child += count;
        points -= count;
        if (state->operator.is_alone)
            return;
    }
}

/* The parent at hand has no more points: its last block ends here, though it may be short. */
static void end_run(Firing *firing, Walk *walk, Run *run)
{
    FoldWith *state = firing->state;
    bool is_block_open = walk_index(walk) % COMBINE_BLOCK != 0;
    if (is_block_open && state->pieces.count == run->first_piece)
        *LIST_PUSH(firing->vm->memory, &state->pieces) = (Piece){.first = walk->child, .index = walk_index(walk)};
    if (is_block_open)
        state->pieces.items[state->pieces.count - 1].ends_block = true;
    run->ends_parent = true;
    run->is_empty = walk_index(walk) == 0;
}

/* Takes what is there of the parent at hand. False if it is not done, or the batch is large enough. */
static bool take_run(Firing *firing, Walk *walk)
{
    FoldWith *state = firing->state;
    Run run = {.parent = walk->parent, .first_piece = state->pieces.count, .piece = state->pieces.count};
    bool is_single = walk->kind == SEGMENTS_SINGLE;
    cut_pieces(firing, walk);
    bool has_points = state->pieces.count > run.first_piece;
    /* what was taken is not yet consumed, so that the end of an only parent cannot be seen */
    bool is_done = !(is_single && has_points) && walk_is_parent_done(walk);
    if (is_done)
        end_run(firing, walk, &run);
    run.end = state->pieces.count;
    if (run.end > run.first_piece || is_done)
        *LIST_PUSH(firing->vm->memory, &state->runs) = run;
    if (is_done)
        walk_next_parent(walk);
    return is_done && !state->operator.is_alone;
}

/* The values that the first run goes on from. */
static void take_kept(Firing *firing)
{
    FoldWith *state = firing->state;
    Memory *memory = firing->vm->memory;
    array_renew(memory, &state->locals, firing->node->layout, state->pieces.count);
    array_renew(memory, &state->carries, firing->node->layout, state->runs.count);
    if (state->kept != NULL)
        array_views(state->kept, state->operator.left);
    if (state->has_local) {
        row_put(memory, state->locals, 0, state->operator.left, KEPT_LOCAL);
        state->pieces.items[0].has_local = true;
    }
    if (state->has_carry) {
        row_put(memory, state->carries, 0, state->operator.left, KEPT_CARRY);
        state->runs.items[0].has_carry = true;
    }
}

static bool begin_fold(Firing *firing)
{
    FoldWith *state = firing->state;
    const FlowNode *node = firing->node;
    Inputs elements = element_inputs(node), parents = {FOLD_CAPTURED, elements.first - FOLD_CAPTURED};
    size_t room = outputs_room(firing, 0, node->layout->count);
    state->pieces.count = state->runs.count = 0;
    state->is_carrying = false;
    state->walk_before = state->walk;
    Walk walk = walk_begin_driven(firing, &state->walk, FOLD_DRIVER, elements, parents, elements.first + elements.count);
    while (state->runs.count < room && take_run(firing, &walk))
        continue;
    state->walk_after = walk;
    if (state->runs.count == 0) {
        walk_end(&walk);
        return false;
    }
    take_kept(firing);
    return true;
}

/* ---- compiled folds ---- */

enum { ELEMENT_PICOSECONDS = 1000 };

static KernelFunction *code_of_node(const Firing *firing)
{
    const FoldWith *state = firing->state;
    return operator_may_have_code(firing, &state->operator) ? code_of_fold(firing->vm, firing->node->function) : NULL;
}

/* Whether pieces from `p` on are whole blocks of one run, of which nothing but the first elements was combined yet, as many as are folded at once. */
static bool are_blocks(const CompiledOperator *fold, size_t p, size_t end)
{
    const FoldWith *state = fold->firing->state;
    bool are_whole = end - p >= KERNEL_FOLD_BLOCKS && operator_is_dense(fold->firing, state->operator.right);
    for (size_t i = p; are_whole && i < p + KERNEL_FOLD_BLOCKS; i++)
        are_whole = state->pieces.items[i].count == COMBINE_BLOCK && state->pieces.items[i].next == 1;
    return are_whole;
}

/* Combines what is left of pieces into their local values. */
static bool fold_blocks(const CompiledOperator *fold, size_t parent, size_t p, size_t blocks)
{
    const FoldWith *state = fold->firing->state;
    const Piece *piece = &state->pieces.items[p];
    return operator_run_code(fold, parent, state->locals, p, state->operator.right, piece->first + piece->next, piece->count - piece->next, state->locals, p, blocks);
}

/* Pieces of one run. */
static void fold_run(const CompiledOperator *fold, size_t parent, size_t first, size_t end)
{
    const FoldWith *state = fold->firing->state;
    for (size_t p = first, done; p < end; p += done) {
        done = are_blocks(fold, p, end) && fold_blocks(fold, parent, p, KERNEL_FOLD_BLOCKS) ? KERNEL_FOLD_BLOCKS : 1;
        Piece *piece = &state->pieces.items[p];
        if (done == 1 && (piece->next == piece->count || !fold_blocks(fold, parent, p, 1)))
            continue;
        for (size_t i = 0; i < done; i++)
            piece[i].next = piece[i].count;
    }
}

/* Groups of pieces that may be folded at once. */
static void fold_pieces(void *context, size_t first_group, size_t end_group, uint32_t member)
{
    const CompiledOperator *fold = context;
    const FoldWith *state = fold->firing->state;
    size_t first = first_group * KERNEL_FOLD_BLOCKS, end = least(end_group * KERNEL_FOLD_BLOCKS, state->pieces.count);
    (void)member;
    for (size_t r = 0; first < end; r++) {
        const Run *run = &state->runs.items[r];
        if (run->end <= first)
            continue;
        size_t stop = least(run->end, end);
        fold_run(fold, run->parent, first, stop);
        first = stop;
    }
}

/* Local values of all pieces; the first element of each is there. */
static void fold_locals(Firing *firing, KernelFunction *code)
{
    FoldWith *state = firing->state;
    Team *team = firing->vm->team;
    CompiledOperator fold = operator_begin_code(firing, code, own_inputs(firing->node));
    size_t points = 0;
    for (size_t p = 0; p < state->pieces.count; p++) {
        Piece *piece = &state->pieces.items[p];
        points += piece->count;
        if (piece->has_local || piece->count == 0)
            continue;
        row_put(firing->vm->memory, state->locals, p, state->operator.right, piece->first + piece->next++);
        piece->has_local = true;
    }
    size_t groups = (state->pieces.count + KERNEL_FOLD_BLOCKS - 1) / KERNEL_FOLD_BLOCKS, each = points / (groups + 1) + 1;
    team_run(team, groups, team_grain(team, each * ELEMENT_PICOSECONDS), fold_pieces, &fold);
    operator_end_code(&fold);
}

static void fold_carries(Firing *firing, KernelFunction *code)
{
    FoldWith *state = firing->state;
    CompiledOperator fold = operator_begin_code(firing, code, own_inputs(firing->node));
    for (size_t r = 0; r < state->runs.count; r++) {
        Run *run = &state->runs.items[r];
        size_t end = run->piece;
        while (end < run->end && state->pieces.items[end].ends_block)
            end++;
        if (run->has_carry && end > run->piece &&
            operator_run_code(&fold, run->parent, state->carries, r, state->operator.right, run->piece, end - run->piece, state->carries, r, 1))
            run->piece = end;
    }
    operator_end_code(&fold);
}

/* ---- rounds ---- */

static bool ask_locals(Firing *firing)
{
    FoldWith *state = firing->state;
    Operator *operator = &state->operator;
    inputs_cells(firing, element_inputs(firing->node), operator->right);
    array_views(state->locals, operator->left);
    KernelFunction *code = code_of_node(firing);
    if (code != NULL)
        fold_locals(firing, code);
    for (size_t r = 0; r < state->runs.count; r++)
        for (size_t p = state->runs.items[r].first_piece; p < state->runs.items[r].end; p++) {
            Piece *piece = &state->pieces.items[p];
            if (!piece->has_local && piece->next < piece->count) {
                row_put(firing->vm->memory, state->locals, p, operator->right, piece->first + piece->next++);
                piece->has_local = true;
            }
            if (piece->next == piece->count)
                continue;
            Application local = {COMBINE_LOCAL, piece->index + piece->next};
            operator_add_pair(firing, operator, own_inputs(firing->node), state->runs.items[r].parent, local,
                              operator->left, p, operator->right, piece->first + piece->next);
            *LIST_PUSH(firing->vm->memory, &state->asked) = p;
        }
    return state->asked.count > 0;
}

/* The next block of the run that is to be combined into its carry; its end if there is none. */
static size_t next_total(FoldWith *state, size_t r)
{
    Run *run = &state->runs.items[r];
    return run->piece < run->end && state->pieces.items[run->piece].ends_block ? run->piece : run->end;
}

static bool ask_carries(Firing *firing)
{
    FoldWith *state = firing->state;
    Operator *operator = &state->operator;
    array_views(state->carries, operator->left);
    array_views(state->locals, operator->right);
    for (size_t r = 0; r < state->runs.count; r++) {
        Run *run = &state->runs.items[r];
        if (!run->has_carry && next_total(state, r) < run->end) {
            row_put(firing->vm->memory, state->carries, r, operator->right, run->piece++);
            run->has_carry = true;
        }
    }
    KernelFunction *code = code_of_node(firing);
    if (code != NULL)
        fold_carries(firing, code);
    for (size_t r = 0; r < state->runs.count; r++) {
        Run *run = &state->runs.items[r];
        size_t p = next_total(state, r);
        if (p == run->end)
            continue;
        const Piece *piece = &state->pieces.items[p];
        Application carry = {COMBINE_CARRY, piece->index + piece->count - 1};
        operator_add_pair(firing, operator, own_inputs(firing->node), run->parent, carry, operator->left, r,
                          operator->right, p);
        *LIST_PUSH(firing->vm->memory, &state->asked) = r;
    }
    return state->asked.count > 0;
}

static bool ask_fold(Firing *firing)
{
    FoldWith *state = firing->state;
    state->asked.count = 0;
    if (!state->is_carrying && ask_locals(firing))
        return true;
    state->is_carrying = true;
    return ask_carries(firing);
}

static void take_fold(Firing *firing, const Cells *results)
{
    FoldWith *state = firing->state;
    for (size_t i = 0; i < state->asked.count; i++) {
        size_t place = state->asked.items[i];
        row_put(firing->vm->memory, state->is_carrying ? state->carries : state->locals, place, results, i);
        if (state->is_carrying)
            state->runs.items[place].piece++;
        else
            state->pieces.items[place].next++;
    }
}

static void undo_fold(Firing *firing)
{
    FoldWith *state = firing->state;
    state->walk = state->walk_before;
}

/* ---- ending a batch ---- */

static void give_totals(Firing *firing)
{
    FoldWith *state = firing->state;
    const Layout *layout = firing->node->layout;
    for (uint32_t leaf = 0; leaf < layout->count; leaf++) {
        LeafType type = layout->leaves[leaf].type;
        if (!firing_is_wanted(firing, leaf))
            continue;
        char *out = firing_reserve(firing, leaf, state->runs.count);
        Cells carries = array_cells(state->carries, leaf, 0);
        Cells identities = firing_cells(firing, identity_input(firing->node) + leaf);
        size_t made = 0;
        for (size_t r = 0; r < state->runs.count; r++) {
            const Run *run = &state->runs.items[r];
            if (run->ends_parent)
                cells_copy(type, out + made++ * leaf_size(type), run->is_empty ? identities : carries,
                           run->is_empty ? run->parent : r, 1);
        }
        firing_produce(firing, leaf, made);
    }
}

/* What the last parent, if it goes on, leaves to the next batch. */
static void keep(Firing *firing)
{
    FoldWith *state = firing->state;
    Memory *memory = firing->vm->memory;
    Operator *operator = &state->operator;
    size_t last = state->runs.count - 1, piece = state->pieces.count - 1;
    const Run *run = &state->runs.items[last];
    state->has_carry = !run->ends_parent && run->has_carry;
    state->has_local = !run->ends_parent && !state->pieces.items[piece].ends_block;
    array_renew(memory, &state->kept, firing->node->layout, KEPT_COUNT);
    if (state->has_carry) {
        array_views(state->carries, operator->left);
        row_put(memory, state->kept, KEPT_CARRY, operator->left, last);
    }
    if (state->has_local) {
        array_views(state->locals, operator->left);
        row_put(memory, state->kept, KEPT_LOCAL, operator->left, piece);
    }
    array_release(memory, state->locals);
    array_release(memory, state->carries);
    state->locals = state->carries = NULL;
}

static bool end_fold(Firing *firing)
{
    FoldWith *state = firing->state;
    Walk walk = state->walk_after;
    walk.firing = firing;
    give_totals(firing);
    keep(firing);
    return walk_end(&walk);
}

/* Pair by pair there is one piece: its next point, or the last one of its block. */
static size_t fold_offset(const Firing *firing)
{
    const FoldWith *state = firing->state;
    const Piece *piece = &state->pieces.items[0];
    return piece->first + piece->next - (state->is_carrying ? 1 : 0);
}

static void fire_fold_with(Firing *firing)
{
    static const OperatorNode node = {begin_fold, ask_fold, take_fold, undo_fold, end_fold, fold_offset, FOLD_DRIVER};
    FoldWith *state = firing->state;
    operator_run(firing, &state->operator, &node);
}

const NodeKind node_kind_FOLD_WITH = {
    .fire = fire_fold_with, .state_size = sizeof(FoldWith), .release = release_fold_with};
