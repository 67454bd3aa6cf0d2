/* The terminal, where there is one. */
#ifndef RUNNEL_DRIVER_TERMINAL_H
#define RUNNEL_DRIVER_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

typedef enum ColourChoice { COLOUR_AUTOMATIC, COLOUR_ALWAYS, COLOUR_NEVER } ColourChoice;

/* What the user has asked for; automatic at first: on a terminal, unless NO_COLOR is set or the terminal can do nothing. */
void terminal_choose_colour(ColourChoice choice);
bool terminal_is_coloured(int descriptor);

/* Whether a line there can be written over. */
bool terminal_can_rewrite(int descriptor);
/* Columns, or `otherwise` if nobody knows. */
size_t terminal_width(int descriptor, size_t otherwise);

#endif
