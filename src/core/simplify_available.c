/* Available expressions: statements whose value a variable in scope already has.
 *
 * Only pure statements of concrete type, without blocks: the value may then be used in nested blocks too, loops included. The
 * expressions of a block are forgotten when it ends, latest first, so that a hash table with chains is enough. */
#include "core/simplify_internal.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_atoms(uint64_t hash, const CoreAtom *atoms, uint32_t count)
{
    hash = mix(hash, count);
    for (uint32_t i = 0; i < count; i++)
        hash = mix(hash, atoms[i].is_constant ? ~atoms[i].constant.bits : atoms[i].variable);
    return hash;
}

static uint32_t hash_statement(const CoreStatement *statement, TypeId type)
{
    uint64_t hash = mix(type, (uint64_t)statement->kind << 32 | statement->op);
    hash = mix(hash, (uint64_t)statement->function << 1 | statement->component);
    hash = hash_atoms(hash, statement->arguments, statement->argument_count);
    hash = hash_atoms(hash, statement->captured, statement->captured_count);
    for (uint32_t i = 0; i < statement->text_length; i++)
        hash = mix(hash, (unsigned char)statement->text[i]);
    return (uint32_t)(hash >> 32);
}

static bool are_same_atoms(const CoreAtom *a, uint32_t count, const CoreAtom *b, uint32_t other_count)
{
    if (count != other_count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!simplify_is_same(&a[i], &b[i]))
            return false;
    return true;
}

static bool is_same_text(const CoreStatement *a, const CoreStatement *b)
{
    return a->text_length == b->text_length &&
           (a->text_length == 0 || memcmp(a->text, b->text, a->text_length) == 0);
}

static bool is_same_statement(const CoreStatement *a, const CoreStatement *b)
{
    return a->kind == b->kind && a->op == b->op && a->function == b->function && a->component == b->component &&
           are_same_atoms(a->arguments, a->argument_count, b->arguments, b->argument_count) &&
           are_same_atoms(a->captured, a->captured_count, b->captured, b->captured_count) && is_same_text(a, b);
}

const CoreAtom *simplify_find(const Simplifier *s, const CoreStatement *statement, TypeId type)
{
    if (s->table_size == 0)
        return NULL;
    uint32_t hash = hash_statement(statement, type);
    for (uint32_t i = s->table[hash & (s->table_size - 1)]; i != 0;) {
        const Available *candidate = &s->available.items[i - 1];
        if (candidate->hash == hash && candidate->type == type && is_same_statement(&candidate->key, statement))
            return &candidate->value;
        i = candidate->next;
    }
    return NULL;
}

static void link_in_table(Simplifier *s, uint32_t index)
{
    Available *expression = &s->available.items[index];
    uint32_t *slot = &s->table[expression->hash & (s->table_size - 1)];
    expression->next = *slot;
    *slot = index + 1;
}

/* In order, so that the latest of a chain comes first, as forgetting needs it. */
static void grow_table(Simplifier *s)
{
    s->table_size = s->table_size == 0 ? 256 : s->table_size * 2;
    s->table = ARENA_ARRAY(s->arena, uint32_t, s->table_size);
    for (uint32_t i = 0; i < s->available.count; i++)
        link_in_table(s, i);
}

void simplify_make_available(Simplifier *s, const CoreStatement *statement, TypeId type, CoreAtom value)
{
    if (s->available.count >= s->table_size)
        grow_table(s);
    *vec_push(s->arena, &s->available) =
        (Available){.key = *statement, .type = type, .value = value, .hash = hash_statement(statement, type)};
    link_in_table(s, s->available.count - 1);
}

void simplify_forget_available(Simplifier *s, uint32_t count)
{
    while (s->available.count > count) {
        const Available *last = &vec_pop(&s->available);
        s->table[last->hash & (s->table_size - 1)] = last->next;
    }
}
