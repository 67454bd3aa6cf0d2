/* The parser: one grammar, two lexical modes.
 *
 * Errors are reported and the form they are in is skipped, so that several are found in one run; definitions whose name
 * could be read are returned as broken, so that their uses are not errors too. Any bytes are accepted as input. */
#ifndef RUNNEL_FRONT_PARSE_H
#define RUNNEL_FRONT_PARSE_H

#include "front/ast.h"
#include "source/diagnostics.h"

enum { PARSE_DEPTH_MAX = 2000 };

Items parse_source(Arena *arena, Names *names, Diagnostics *diagnostics, const Source *source);

/* A type as annotations have it, with an optional context: `(a, c[a]) -> bool :: (a in ordinal)`. */
TypeExpr *parse_type_text(Arena *arena, Names *names, Diagnostics *diagnostics, const Source *source,
                          TypeContext *context);

/* For interactive input: whether the text so far ends inside a form (open bracket, string, comment, or no closing
 * semicolon after a definition) so that more lines should be read. */
bool parse_is_unfinished(Memory *memory, const char *text, size_t length, Dialect dialect);

#endif
