#include "base/names.h"

#include <string.h>

static uint32_t hash_bytes(const char *text, size_t length)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

void names_init(Names *names, Arena *arena)
{
    *names = (Names){.arena = arena};
    names->table_size = 1024;
    names->table = ARENA_ARRAY(arena, Name, names->table_size);
    *vec_push(arena, &names->entries) = (NameEntry){.text = ""};
}

static void grow_table(Names *names)
{
    uint32_t size = names->table_size * 2;
    Name *table = ARENA_ARRAY(names->arena, Name, size);
    for (Name name = 1; name < names->entries.count; name++) {
        uint32_t slot = names->entries.items[name].hash & (size - 1);
        while (table[slot] != 0)
            slot = (slot + 1) & (size - 1);
        table[slot] = name;
    }
    names->table = table;
    names->table_size = size;
}

Name names_intern(Names *names, const char *text, size_t length)
{
    if (length == 0)
        return 0;
    if (names->entries.count * 2 > names->table_size)
        grow_table(names);
    uint32_t hash = hash_bytes(text, length);
    uint32_t slot = hash & (names->table_size - 1);
    for (; names->table[slot] != 0; slot = (slot + 1) & (names->table_size - 1)) {
        const NameEntry *entry = &names->entries.items[names->table[slot]];
        if (entry->hash == hash && entry->length == length && memcmp(entry->text, text, length) == 0)
            return names->table[slot];
    }
    Name name = names->entries.count;
    const char *copy = arena_text(names->arena, text, length);
    *vec_push(names->arena, &names->entries) = (NameEntry){.text = copy, .length = (uint32_t)length, .hash = hash};
    names->table[slot] = name;
    return name;
}

Name names_of(Names *names, const char *text)
{
    return names_intern(names, text, strlen(text));
}

enum { DISTANCE_MAX_LENGTH = 64 };

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t names_distance(const char *a, const char *b, uint32_t limit)
{
    size_t rows = strlen(a), columns = strlen(b);
    if (rows > DISTANCE_MAX_LENGTH || columns > DISTANCE_MAX_LENGTH)
        return limit;
    uint32_t cost[DISTANCE_MAX_LENGTH + 1][DISTANCE_MAX_LENGTH + 1];
    for (uint32_t i = 0; i <= rows; i++)
        cost[i][0] = i;
    for (uint32_t j = 0; j <= columns; j++)
        cost[0][j] = j;
    for (size_t i = 1; i <= rows; i++)
        for (size_t j = 1; j <= columns; j++) {
            uint32_t change = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            uint32_t best = least(change, least(cost[i - 1][j], cost[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, cost[i - 2][j - 2] + 1);
            cost[i][j] = best;
        }
    return least(cost[rows][columns], limit);
}
