#include "source/source.h"

#include <string.h>

void sources_init(Sources *sources, Arena *arena)
{
    *sources = (Sources){.arena = arena, .next_base = 1};
}

static void find_lines(Sources *sources, Source *source)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < source->length; i++)
        count += source->text[i] == '\n';
    source->line_starts = ARENA_ARRAY(sources->arena, uint32_t, count);
    source->line_count = count;
    uint32_t line = 1;
    for (uint32_t i = 0; i < source->length; i++)
        if (source->text[i] == '\n')
            source->line_starts[line++] = i + 1;
}

Source *sources_add(Sources *sources, const char *path, const char *text, size_t length, Dialect dialect)
{
    if (length >= UINT32_MAX - sources->next_base - 1)
        return NULL;
    Source *source = ARENA_NEW(sources->arena, Source);
    source->path = arena_text(sources->arena, path, strlen(path));
    source->text = arena_text(sources->arena, text, length);
    source->base = sources->next_base;
    source->length = (uint32_t)length;
    source->dialect = dialect;
    sources->next_base += source->length + 1;
    find_lines(sources, source);
    *vec_push(sources->arena, &sources->list) = source;
    return source;
}

Source *sources_find(const Sources *sources, uint32_t position)
{
    uint32_t low = 0, high = sources->list.count;
    if (position == 0 || high == 0)
        return NULL;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (sources->list.items[middle]->base <= position)
            low = middle;
        else
            high = middle;
    }
    return sources->list.items[low];
}

Location sources_locate(const Sources *sources, uint32_t position)
{
    const Source *source = sources_find(sources, position);
    if (source == NULL)
        return (Location){0};
    uint32_t offset = position - source->base;
    uint32_t low = 0, high = source->line_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (source->line_starts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return (Location){.source = source, .line = low + 1, .column = offset - source->line_starts[low] + 1};
}
