#include "vm/text_block.h"

#include "base/least.h"

#include <string.h>

enum {
    PIPE_SIZE = 1 << 16,   /* what is read at once of something that is not read in parts */
    MEMBER_SIZE = 1 << 17, /* of something that is, for each member, */
    BLOCK_LEAST = 1 << 18, /* ... at least, */
    BLOCK_MOST = 1 << 22,  /* ... and at most */
    PART_SIZE = 1 << 16,
    PARTS_MAX = BLOCK_MOST / PART_SIZE,
};

/* ---- opening ---- */

bool text_block_open(TextBlock *block, const Text *path, const StopFlag *stop)
{
    *block = (TextBlock){.begin = 0};
    if (!byte_input_open_text(&block->input, path, stop))
        return false;
    uint64_t size = byte_input_file_size(&block->input);
    block->is_in_parts = size != UINT64_MAX && size > PIPE_SIZE;
    if (block->is_in_parts)
        byte_input_expect_parts(&block->input);
    return true;
}

void text_block_close(TextBlock *block, Memory *memory)
{
    byte_input_close(&block->input);
    array_release(memory, block->chars);
    array_release(memory, block->next);
    block->chars = block->next = NULL;
    block->begin = 0;
}

/* ---- room ---- */

static size_t usual_size(const TextBlock *block, const Team *team)
{
    size_t size = (size_t)team_size(team) * MEMBER_SIZE;
    if (!block->is_in_parts)
        return PIPE_SIZE;
    return size < BLOCK_LEAST ? BLOCK_LEAST : least(size, BLOCK_MOST);
}

static size_t room_of(const TextBlock *block)
{
    return block->chars == NULL ? 0 : block->chars->columns[0].capacity - block->chars->count;
}

/* Nobody else sees the bytes, and there is room for so many. */
static bool can_be_used_again(const Array *chars, size_t size)
{
    return chars != NULL && chars->references == 1 && chars->columns[0].shared == NULL && chars->columns[0].capacity >= size;
}

/* What is still wanted moves to the front: of another array, if this one cannot be used again. Each byte moves a few times at most, for there is as much room
 * behind it afterwards. */
static void make_room(TextBlock *block, Team *team, Memory *memory, const Layout *layout)
{
    size_t rest = text_block_end(block) - block->begin, size = usual_size(block, team);
    size = rest > size / 2 ? rest + least(rest, SIZE_MAX - rest) : size;
    Array *old = block->chars;
    if (can_be_used_again(old, size)) {
        memmove(old->columns[0].data, (char *)old->columns[0].data + block->begin, rest);
        old->count = rest;
    } else {
        Array *larger = block->next = array_new(memory, layout);
        array_reserve(memory, larger, size);
        if (rest > 0)
            memcpy(larger->columns[0].data, (char *)old->columns[0].data + block->begin, rest);
        larger->count = rest;
        array_release(memory, old);
        block->chars = larger;
        block->next = NULL;
    }
    block->begin = 0;
}

/* ---- reading ---- */

/* A block that is read in parts. */
typedef struct Parts {
    const ByteInput *input;
    uint64_t position;
    char *bytes;
    size_t size;
    struct {
        size_t count; /* bytes read */
        const char *reason;
    } parts[PARTS_MAX];
} Parts;

static size_t part_size(const Parts *parts, size_t part)
{
    return least(PART_SIZE, parts->size - part * PART_SIZE);
}

static void read_parts(void *context, size_t first, size_t end, uint32_t member)
{
    Parts *parts = context;
    (void)member;
    for (size_t i = first; i < end; i++)
        parts->parts[i].count = byte_input_read_part(parts->input, parts->position + i * PART_SIZE, parts->bytes + i * PART_SIZE,
                                                     part_size(parts, i), &parts->parts[i].reason);
}

/* Bytes up to the first part that is short: there the file may end, or reading goes on. */
static size_t read_in_parts(TextBlock *block, Team *team, char *bytes, size_t room)
{
    Parts parts = {.input = &block->input, .position = block->position, .bytes = bytes, .size = least(room, BLOCK_MOST)};
    size_t part_count = (parts.size + PART_SIZE - 1) / PART_SIZE, count = 0, i = 0;
    team_run(team, part_count, 1, read_parts, &parts);
    while (i < part_count && parts.parts[i].count == part_size(&parts, i))
        count += parts.parts[i++].count;
    if (i < part_count) {
        count += parts.parts[i].count;
        block->input.reason = parts.parts[i].reason;
    }
    block->position += count;
    return count;
}

/* Of what does not come in parts, as much as is at hand. */
static size_t read_at_hand(TextBlock *block, World *world, char *bytes, size_t room)
{
    size_t count = 0, more;
    if (!byte_input_has_more(&block->input))
        world_flush(world, false);
    do {
        more = byte_input_read(&block->input, bytes + count, room - count);
        count += more;
    } while (more > 0 && count < room && byte_input_has_more(&block->input));
    return count;
}

void text_block_read(TextBlock *block, Team *team, Memory *memory, World *world, const Layout *layout)
{
    if (room_of(block) == 0)
        make_room(block, team, memory, layout);
    Array *chars = block->chars;
    char *bytes = (char *)chars->columns[0].data + chars->count;
    size_t room = room_of(block);
    size_t count = block->is_in_parts ? read_in_parts(block, team, bytes, room) : read_at_hand(block, world, bytes, room);
    array_count_more(memory, chars, count);
    block->is_over = count == 0;
}
