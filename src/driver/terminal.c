#define _DEFAULT_SOURCE /* the size of a window */
#include "driver/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static ColourChoice colour_choice;

void terminal_choose_colour(ColourChoice choice)
{
    colour_choice = choice;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && *value != '\0';
}

bool terminal_can_rewrite(int descriptor)
{
    const char *kind = getenv("TERM");
    return isatty(descriptor) && kind != NULL && *kind != '\0' && strcmp(kind, "dumb") != 0;
}

bool terminal_is_coloured(int descriptor)
{
    switch (colour_choice) {
    case COLOUR_ALWAYS: return true;
    case COLOUR_NEVER: return false;
    case COLOUR_AUTOMATIC: break;
    }
    return !is_set("NO_COLOR") && terminal_can_rewrite(descriptor);
}

size_t terminal_width(int descriptor, size_t otherwise)
{
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return otherwise;
}
