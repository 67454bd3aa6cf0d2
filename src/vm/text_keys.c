#include "vm/text_keys.h"

#include "base/least.h"

#include <string.h>

enum { SLOTS_LEAST = 64, PAIR = 2, TILE = 64, WORD = 8 };

/* ---- texts ---- */

/* A text that is looked for, or held. */
typedef struct TextKey {
    const unsigned char *bytes;
    size_t readable; /* bytes that may be looked at; 0 if one byte stands for all */
    size_t length;
    uint64_t head[TEXT_KEY_WORDS];
    uint64_t hash;
} TextKey;

bool text_keys_hold(const Layout *layout)
{
    if (layout->count != 3 || layout->leaves[0].type != LEAF_ARRAY)
        return false;
    const Layout *elements = layout->leaves[0].elements;
    return elements->count == 1 && elements->leaves[0].type < (LeafType)SCALAR_COUNT && leaf_size(elements->leaves[0].type) == 1;
}

/* Words of which the bytes from `16 - count` on have the first `count` bytes set: a table, for a branch could not be predicted. */
static const unsigned char masks[2 * TEXT_KEY_BYTES] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

/* The first `count` bytes of the head of a text that is there as it lies in memory. */
static inline void keep_first(uint64_t *first, uint64_t *second, size_t count)
{
    const unsigned char *mask = masks + TEXT_KEY_BYTES - (count < TEXT_KEY_BYTES ? count : TEXT_KEY_BYTES);
    uint64_t words[TEXT_KEY_WORDS];
    memcpy(&words[0], mask, WORD);
    memcpy(&words[1], mask + WORD, WORD);
    *first &= words[0];
    *second &= words[1];
}

/* Bytes from `at` on, which is before the end; zeros follow the text. */
static inline uint64_t word_at(const TextKey *key, size_t at)
{
    size_t left = key->length - at;
    uint64_t word = 0;
    if (key->readable == 0)
        word = UINT64_C(0x0101010101010101) * key->bytes[0];
    else if (key->readable >= at + WORD)
        memcpy(&word, key->bytes + at, WORD);
    else
        memcpy(&word, key->bytes + at, left < WORD ? left : WORD);
    uint64_t none = 0;
    keep_first(&word, &none, left);
    return word;
}

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Of a text that is short, or near the end of its memory. */
static uint64_t slow_head(const TextKey *key, size_t i)
{
    return i * WORD < key->length ? word_at(key, i * WORD) : 0;
}

static uint64_t hash_rest(const TextKey *key, uint64_t hash)
{
    for (size_t at = TEXT_KEY_BYTES; at < key->length; at += WORD)
        hash = mix(hash, word_at(key, at));
    return hash;
}

/* The head of a text, of which as many bytes may be looked at. */
static inline void load_head(const unsigned char *bytes, size_t length, uint64_t *first, uint64_t *second)
{
    memcpy(first, bytes, WORD);
    memcpy(second, bytes + WORD, WORD);
    keep_first(first, second, length);
}

static inline uint64_t hash_head(uint64_t first, uint64_t second)
{
    return mix(first, second * UINT64_C(0xa0761d6478bd642f));
}

static inline uint64_t finish_hash(uint64_t hash)
{
    return hash * UINT64_C(0xd6e8feb86659fd93);
}

static void read_words(TextKey *key)
{
    if (key->readable >= TEXT_KEY_BYTES)
        load_head(key->bytes, key->length, &key->head[0], &key->head[1]);
    else
        for (size_t i = 0; i < TEXT_KEY_WORDS; i++)
            key->head[i] = slow_head(key, i);
    key->hash = finish_hash(hash_rest(key, hash_head(key->head[0], key->head[1])));
}

static inline void place_key(TextKey *key, const Array *array, size_t start, size_t length)
{
    key->length = length;
    key->readable = 0;
    key->bytes = NULL;
    if (length == 0)
        return;
    const Column *column = &array->columns[0];
    key->bytes = (const unsigned char *)column->data + (column->is_uniform ? 0 : start);
    key->readable = column->is_uniform ? 0 : column->capacity - start;
}

static inline void row_key(TextKey *key, const Cells *rows, size_t i)
{
    const Array *array = ((Array *const *)rows[0].data)[cells_index(rows[0], i)];
    size_t start = (size_t)((const int64_t *)rows[1].data)[cells_index(rows[1], i)];
    size_t length = (size_t)((const int64_t *)rows[2].data)[cells_index(rows[2], i)];
    place_key(key, array, start, length);
    read_words(key);
}

/* The text of that number. */
static void held_key(TextKey *key, const Array *keys, uint64_t number)
{
    Cells starts = array_cells(keys, 1, 0), lengths = array_cells(keys, 2, 0);
    place_key(key, *(Array *const *)keys->columns[0].data, (size_t)((const int64_t *)starts.data)[cells_index(starts, number)],
              (size_t)((const int64_t *)lengths.data)[cells_index(lengths, number)]);
}

static bool has_same_rest(const TextKey *a, const TextKey *b)
{
    for (size_t at = TEXT_KEY_BYTES; at < a->length; at += WORD)
        if (word_at(a, at) != word_at(b, at))
            return false;
    return true;
}

/* ---- slots ---- */

/* The first slot where a text may be. It is even, so that the next is in the same line of memory. The high bits of a product are its best. */
static inline size_t first_slot(const TextKeys *table, uint64_t hash)
{
    return (size_t)(hash >> 32 ^ hash) & (table->slot_count - PAIR);
}

static inline size_t next_slot(const TextKeys *table, size_t slot)
{
    return (slot + 1) & (table->slot_count - 1);
}

static inline bool is_same(const TextSlot *slot, const TextKey *key, const Array *keys)
{
    if (slot->head[0] != key->head[0] || slot->head[1] != key->head[1] || slot->length != key->length)
        return false;
    if (key->length <= TEXT_KEY_BYTES)
        return true;
    TextKey held;
    held_key(&held, keys, slot->number - 1);
    return has_same_rest(key, &held);
}

/* The slot of a key, or the free one where it belongs. */
static inline TextSlot *find_slot(const TextKeys *table, const TextKey *key, const Array *keys)
{
    size_t at = first_slot(table, key->hash);
    while (table->slots[at].number != 0 && !is_same(&table->slots[at], key, keys))
        at = next_slot(table, at);
    return &table->slots[at];
}

static uint64_t slot_hash(const TextSlot *slot, const Array *keys)
{
    if (slot->length <= TEXT_KEY_BYTES)
        return finish_hash(hash_head(slot->head[0], slot->head[1]));
    TextKey held;
    held_key(&held, keys, slot->number - 1);
    read_words(&held);
    return held.hash;
}

static void grow(TextKeys *table, Memory *memory, const Array *keys)
{
    TextKeys grown = {.slot_count = table->slot_count == 0 ? SLOTS_LEAST : 2 * table->slot_count};
    if (grown.slot_count > SIZE_MAX / sizeof *grown.slots)
        memory_fail(memory);
    grown.slots = memory_alloc(memory, grown.slot_count * sizeof *grown.slots);
    for (size_t i = 0; i < table->slot_count; i++) {
        if (table->slots[i].number == 0)
            continue;
        size_t at = first_slot(&grown, slot_hash(&table->slots[i], keys));
        while (grown.slots[at].number != 0)
            at = next_slot(&grown, at);
        grown.slots[at] = table->slots[i];
    }
    text_keys_free(table, memory);
    *table = grown;
}

void text_keys_free(TextKeys *table, Memory *memory)
{
    memory_free(memory, table->slots, table->slot_count * sizeof *table->slots);
    *table = (TextKeys){0};
}

void text_keys_forget(TextKeys *table, Memory *memory)
{
    if (table->slot_count > SLOTS_LEAST)
        text_keys_free(table, memory);
    else if (table->slots != NULL)
        memset(table->slots, 0, table->slot_count * sizeof *table->slots);
}

/* ---- looking up ---- */

/* Rows that are looked up. */
typedef struct Lookup {
    const TextKeys *table;
    const Array *keys;
    const Cells *rows;
} Lookup;

/* What is known of the keys of a tile. */
typedef struct Tile {
    uint64_t head[TEXT_KEY_WORDS][TILE];
    uint64_t length[TILE]; /* more than TEXT_KEY_BYTES if the rest of it is not true */
    size_t slot[TILE];
} Tile;

/* Kept out of the loop over a tile, where it is rarely called. */
__attribute__((noinline)) static int64_t look_up_row(const Lookup *lookup, size_t i)
{
    TextKey key;
    row_key(&key, lookup->rows, i);
    return (int64_t)find_slot(lookup->table, &key, lookup->keys)->number - 1;
}

/* The bytes that all of the rows are places in, as most are: a chunk of words can be of two blocks of a file. Null if there are none such. */
static const Column *common_bytes(const Cells *rows, size_t first, size_t count)
{
    Array *const *arrays = (Array *const *)rows[0].data + cells_index(rows[0], first);
    const Column *column = arrays[0] == NULL ? NULL : &arrays[0]->columns[0];
    bool is_same = !rows[1].is_uniform && !rows[2].is_uniform && column != NULL && !column->is_uniform && column->capacity >= TEXT_KEY_BYTES;
    for (size_t i = 1; !rows[0].is_uniform && is_same && i < count; i++)
        is_same = arrays[i] == arrays[0];
    return is_same ? column : NULL;
}

/* Reads keys that are all in the same bytes, and asks for their slots. */
static void read_tile(const Lookup *lookup, const Column *column, size_t first, size_t count, Tile *tile)
{
    const unsigned char *bytes = column->data;
    const int64_t *starts = (const int64_t *)lookup->rows[1].data + first, *lengths = (const int64_t *)lookup->rows[2].data + first;
    size_t last = column->capacity - TEXT_KEY_BYTES; /* where all of a head may be looked at */
    TextKeys table = *lookup->table;
    for (size_t i = 0; i < count; i++) {
        size_t start = (size_t)starts[i], length = (size_t)lengths[i];
        uint64_t head[TEXT_KEY_WORDS];
        load_head(bytes + (start <= last ? start : last), length, &head[0], &head[1]);
        size_t slot = first_slot(&table, finish_hash(hash_head(head[0], head[1])));
        __builtin_prefetch(&table.slots[slot]);
        tile->head[0][i] = head[0];
        tile->head[1][i] = head[1];
        tile->length[i] = start <= last ? length : SIZE_MAX;
        tile->slot[i] = slot;
    }
}

/* The number in a slot, if that key is there, otherwise 0. */
static inline uint64_t number_if_there(const TextSlot *slot, const Tile *tile, size_t i)
{
    uint64_t differences = (slot->head[0] ^ tile->head[0][i]) | (slot->head[1] ^ tile->head[1][i]) | (slot->length ^ tile->length[i]);
    return slot->number & -(uint64_t)(differences == 0);
}

/* While slots come from memory, the next ones are asked for. What is in neither of the first two slots where it may be, which cannot be told beforehand and so is found without
 * a branch, is looked for anew. */
static int64_t look_up_tile(const Lookup *lookup, const Column *column, size_t first, size_t count, int64_t *numbers)
{
    Tile tile;
    const TextSlot *slots = lookup->table->slots;
    int64_t all = 0;
    read_tile(lookup, column, first, count, &tile);
    for (size_t i = 0; i < count; i++) {
        const TextSlot *pair = &slots[tile.slot[i]];
        uint64_t number = number_if_there(&pair[0], &tile, i) | number_if_there(&pair[1], &tile, i);
        bool is_found = number != 0 && tile.length[i] <= TEXT_KEY_BYTES;
        int64_t found = is_found ? (int64_t)number - 1 : look_up_row(lookup, first + i);
        numbers[i] = found;
        all |= found;
    }
    return all;
}

static int64_t look_up_rows(const Lookup *lookup, size_t first, size_t count, int64_t *numbers)
{
    int64_t all = 0;
    for (size_t i = 0; i < count; i++)
        all |= numbers[i] = look_up_row(lookup, first + i);
    return all;
}

bool text_keys_look_up(const TextKeys *table, const Array *keys, const Cells *rows, size_t first, size_t count, int64_t *numbers)
{
    Lookup lookup = {table, keys, rows};
    int64_t all = 0;
    for (size_t i = 0; i < count; i += TILE) {
        size_t length = least(TILE, count - i);
        const Column *column = common_bytes(rows, first + i, length);
        all |= column != NULL ? look_up_tile(&lookup, column, first + i, length, numbers + i)
                              : look_up_rows(&lookup, first + i, length, numbers + i);
    }
    return all >= 0;
}

/* ---- adding ---- */

/* All texts that are held are in one array, one after the other. */
static void append_key(Memory *memory, Array *keys, const TextKey *key)
{
    array_start_inner(memory, keys, 0);
    Array *bytes = *(Array *const *)keys->columns[0].data;
    array_reserve(memory, bytes, key->length);
    array_reserve(memory, keys, 1);
    char *end = (char *)bytes->columns[0].data + bytes->count;
    if (key->readable > 0)
        memcpy(end, key->bytes, key->length);
    else if (key->length > 0)
        memset(end, key->bytes[0], key->length);
    ((int64_t *)keys->columns[1].data)[keys->count] = (int64_t)bytes->count;
    ((int64_t *)keys->columns[2].data)[keys->count] = (int64_t)key->length;
    array_count_more(memory, bytes, key->length);
    array_count_more(memory, keys, 1);
}

int64_t text_keys_find(TextKeys *table, Memory *memory, Array *keys, const Cells *rows, size_t i)
{
    if (2 * keys->count >= table->slot_count)
        grow(table, memory, keys);
    TextKey key;
    row_key(&key, rows, i);
    TextSlot *slot = find_slot(table, &key, keys);
    if (slot->number == 0) {
        append_key(memory, keys, &key);
        *slot = (TextSlot){.head = {key.head[0], key.head[1]}, .length = key.length, .number = keys->count};
    }
    return (int64_t)slot->number - 1;
}
