/* WORDS: the words of texts. They are vectors in the arrays of the texts, all that is written are places.
 *
 * Texts whose characters are in the same array are taken together, so that one cell stands for the array of all their words. Those that follow each other there, as the lines
 * of a file do, are cut as if they were one. A team shares many texts: words are counted first, and so each member knows where its own go. */
#include "vm/nodes.h"
#include "vm/text_cuts.h"

enum { WORDS_DRIVER, WORDS_TEXT, WORDS_START, WORDS_LENGTH, WORDS_INPUTS };
enum { WORDS_ENDS, WORDS_OUT_ARRAY, WORDS_OUT_START, WORDS_OUT_LENGTH, WORDS_OUTPUTS };

enum {
    /* estimates, in one thread */
    BYTE_PICOSECONDS = 400,
    TEXT_PICOSECONDS = 5000,
};

typedef struct Words {
    size_t position; /* in the text at hand, of which what is before it is done */
    int64_t total;   /* words so far, */
    int64_t texts;   /* ... and texts that are done */
} Words;

/* Texts in one array. */
typedef struct Texts {
    const TextCutLoops *loops;
    Array *array;
    Cells starts, lengths;
    size_t count;
    int64_t *ends; /* null if nobody wants them */
    TextCuts cuts;
} Texts;

static int64_t integer_at(Cells cells, size_t i)
{
    return ((const int64_t *)cells.data)[cells_index(cells, i)];
}

static int64_t text_end(const Texts *texts, size_t i)
{
    return integer_at(texts->starts, i) + integer_at(texts->lengths, i);
}

static const char *characters(const Texts *texts)
{
    return texts->array->columns[0].data;
}

static bool is_uniform(const Texts *texts)
{
    return texts->array != NULL && texts->array->columns[0].is_uniform;
}

/* Whether the next text follows this one, with the end of a line between them. */
static bool is_followed(const Texts *texts, size_t i)
{
    int64_t end = text_end(texts, i), next = integer_at(texts->starts, i + 1);
    if (next <= end || next > end + 2 || next > (int64_t)texts->array->count)
        return false;
    return characters(texts)[next - 1] == '\n' && (next == end + 1 || characters(texts)[end] == '\r');
}

/* How many texts from this one on follow each other. */
static size_t stretch_length(const Texts *texts, size_t i)
{
    size_t length = 1;
    bool can_follow = texts->array != NULL && !is_uniform(texts);
    while (can_follow && i + length < texts->count && is_followed(texts, i + length - 1))
        length++;
    return length;
}

/* All of them. */
static CutText stretch_at(const Texts *texts, size_t i, size_t length)
{
    size_t start = (size_t)integer_at(texts->starts, i), end = (size_t)text_end(texts, i + length - 1);
    if (end == start)
        return (CutText){0};
    return (CutText){characters(texts) + start, end - start, texts->array->columns[0].capacity - start, (int64_t)start};
}

/* One character for all: one word, or none. */
static void cut_uniform(const Texts *texts, size_t i, size_t *position, TextCuts *cuts)
{
    CutText character = {.bytes = texts->array->columns[0].data, .length = 1, .readable = 1};
    size_t length = (size_t)integer_at(texts->lengths, i);
    if (length > 0 && texts->loops->count_words(&character) > 0) {
        if (cuts->count == cuts->room)
            return;
        cuts->starts[cuts->count] = integer_at(texts->starts, i);
        cuts->lengths[cuts->count++] = (int64_t)length;
    }
    *position = length;
}

/* Cuts texts that follow each other, from a position in the first of them on, as long as there is room. Gives where in the array it is then. */
static int64_t cut_stretch(Texts *texts, size_t i, size_t length, size_t position)
{
    if (is_uniform(texts))
        cut_uniform(texts, i, &position, &texts->cuts);
    else {
        CutText text = stretch_at(texts, i, length);
        texts->loops->words(&text, &position, &texts->cuts);
    }
    return integer_at(texts->starts, i) + (int64_t)position;
}

/* Says for texts [first, end), of which the words from `word` on are, where their words end. */
static void note_ends(const Texts *texts, size_t first, size_t end, size_t word, int64_t total)
{
    for (size_t i = first; texts->ends != NULL && i < end; i++) {
        while (word < texts->cuts.count && texts->cuts.starts[word] < text_end(texts, i))
            word++;
        texts->ends[i] = total + (int64_t)word;
    }
}

/* Cuts texts from the first on, as long as there is room; gives how many are done. */
static size_t cut_texts(Texts *texts, size_t *position, int64_t total)
{
    for (size_t i = 0; i < texts->count;) {
        size_t first = i, word = texts->cuts.count, end = i + stretch_length(texts, i);
        int64_t reached = cut_stretch(texts, i, end - i, *position);
        while (i < end && text_end(texts, i) <= reached)
            i++;
        note_ends(texts, first, i, word, total);
        *position = 0;
        if (i < end) {
            int64_t start = integer_at(texts->starts, i);
            *position = reached > start ? (size_t)(reached - start) : 0;
            return i;
        }
    }
    return texts->count;
}

/* ---- by several threads ---- */

typedef struct SharedTexts {
    const Texts *texts;
    TeamPieces pieces;
    int64_t total;
    size_t *counts; /* by piece: words; then those before it */
} SharedTexts;

static Texts piece_of(const SharedTexts *shared, size_t piece)
{
    Texts texts = *shared->texts;
    size_t first = piece * shared->pieces.length;
    texts.count = least(shared->pieces.length, texts.count - first);
    texts.ends = texts.ends == NULL ? NULL : texts.ends + first;
    texts.starts.data = (const int64_t *)texts.starts.data + cells_index(texts.starts, first);
    texts.lengths.data = (const int64_t *)texts.lengths.data + cells_index(texts.lengths, first);
    return texts;
}

static void count_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    const SharedTexts *shared = context;
    (void)member;
    for (size_t piece = first; piece < end; piece++) {
        Texts texts = piece_of(shared, piece);
        size_t count = 0;
        for (size_t i = 0, length; i < texts.count; i += length) {
            length = stretch_length(&texts, i);
            CutText text = stretch_at(&texts, i, length);
            count += texts.loops->count_words(&text);
        }
        shared->counts[piece] = count;
    }
}

static void cut_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    const SharedTexts *shared = context;
    (void)member;
    for (size_t piece = first; piece < end; piece++) {
        Texts texts = piece_of(shared, piece);
        size_t before = shared->counts[piece], position = 0;
        texts.cuts = (TextCuts){texts.cuts.starts + before, texts.cuts.lengths + before, 0, shared->counts[piece + 1] - before};
        cut_texts(&texts, &position, shared->total + (int64_t)before);
    }
}

/* Instead of the words of a piece, how many are before it; gives how many pieces there is room for. */
static size_t place_pieces(const SharedTexts *shared, size_t room)
{
    size_t before = 0;
    for (size_t piece = 0; piece < shared->pieces.count; piece++) {
        size_t count = shared->counts[piece];
        shared->counts[piece] = before;
        if (count > room - before)
            return piece;
        before += count;
    }
    shared->counts[shared->pieces.count] = before;
    return shared->pieces.count;
}

/* Texts whose words there may be room for, by what there was so far. One that was begun is done alone, for others are shared only from their beginning on. */
static size_t texts_wanted(const Words *state, size_t count, size_t room)
{
    double words = (double)(state->total + 1) / (double)(state->texts + 1);
    double wanted = state->position > 0 ? 1 : 1 + (double)room / words;
    return wanted < (double)count ? (size_t)wanted : count;
}

/* By some of the texts: lengths that another thread has written take long to look at, and to be written there again. */
static size_t grain_of(const Team *team, const Texts *texts)
{
    enum { LOOKED_AT = 64 };
    size_t bytes = 0, count = 0;
    for (size_t i = 0, step = texts->count / LOOKED_AT + 1; i < texts->count; i += step, count++)
        bytes += (size_t)integer_at(texts->lengths, i);
    return team_grain(team, TEXT_PICOSECONDS + bytes / count * BYTE_PICOSECONDS);
}

/* Cuts texts as long as there is room for all of a piece; gives how many are done. */
static size_t cut_together(Team *team, const Words *state, Texts *texts)
{
    if (state->position > 0 || is_uniform(texts) || team_size(team) == 1)
        return 0;
    SharedTexts shared = {.texts = texts, .total = state->total, .pieces = team_pieces(team, texts->count, grain_of(team, texts))};
    if (shared.pieces.count == 1)
        return 0;
    shared.counts = team_alloc(team, (shared.pieces.count + 1) * sizeof *shared.counts);
    team_run(team, shared.pieces.count, 1, count_pieces, &shared);
    size_t placed = place_pieces(&shared, texts->cuts.room);
    team_run(team, placed, 1, cut_pieces, &shared);
    texts->cuts.count = shared.counts[placed];
    team_give_back(team, shared.counts);
    return least(placed * shared.pieces.length, texts->count);
}

/* ---- the node ---- */

/* How many of the next texts are in the array of the first. */
static size_t count_same(Cells arrays, size_t count)
{
    Array *const *cells = arrays.data;
    size_t same = 1;
    while (!arrays.is_uniform && same < count && cells[same] == cells[0])
        same++;
    return arrays.is_uniform ? count : same;
}

static Texts next_texts(Firing *firing, size_t count, size_t room)
{
    Cells arrays = firing_cells(firing, WORDS_TEXT);
    Texts texts = {
        .loops = text_cut_loops(),
        .array = *(Array *const *)arrays.data,
        .starts = firing_cells(firing, WORDS_START),
        .lengths = firing_cells(firing, WORDS_LENGTH),
        .count = count_same(arrays, count),
    };
    texts.ends = firing_is_wanted(firing, WORDS_ENDS) ? firing_reserve(firing, WORDS_ENDS, texts.count) : NULL;
    texts.cuts = (TextCuts){firing_reserve(firing, WORDS_OUT_START, room), firing_reserve(firing, WORDS_OUT_LENGTH, room), 0, room};
    return texts;
}

static void give(Firing *firing, const Texts *texts, size_t done)
{
    Words *state = firing->state;
    size_t words = texts->cuts.count;
    state->total += (int64_t)words;
    state->texts += (int64_t)done;
    firing_produce_uniform(firing, WORDS_OUT_ARRAY, &texts->array, words);
    firing_produce(firing, WORDS_OUT_START, words);
    firing_produce(firing, WORDS_OUT_LENGTH, words);
    if (texts->ends != NULL)
        firing_produce(firing, WORDS_ENDS, done);
    firing_set_frontier(firing, WORDS_ENDS, state->total);
    inputs_consume(firing, (Inputs){WORDS_DRIVER, WORDS_INPUTS}, done);
}

/* False when nothing more can be done now, or ever. */
static bool words(Firing *firing)
{
    enum { WORDS_AT_ONCE = 1 << 16 }; /* where nobody reads them */
    Words *state = firing->state;
    size_t count = least(inputs_available(firing, (Inputs){WORDS_DRIVER, WORDS_INPUTS}), firing_room(firing, WORDS_ENDS));
    size_t room = least(outputs_room(firing, WORDS_OUT_ARRAY, WORDS_OUTPUTS - WORDS_OUT_ARRAY), WORDS_AT_ONCE);
    if (count == 0)
        return firing_rest(firing, WORDS_DRIVER);
    if (room == 0)
        return false;
    Texts texts = next_texts(firing, texts_wanted(state, count, room), room);
    size_t done = cut_together(firing->vm->team, state, &texts);
    if (done == 0)
        done = cut_texts(&texts, &state->position, state->total);
    give(firing, &texts, done);
    return true;
}

static void fire_words(Firing *firing)
{
    while (words(firing))
        continue;
}

const NodeKind node_kind_WORDS = {.fire = fire_words, .state_size = sizeof(Words)};
