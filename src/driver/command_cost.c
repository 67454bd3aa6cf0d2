#include "driver/commands.h"

/* A run that shows its cost. */
int command_cost(const Options *options)
{
    Options costed = *options;
    costed.given |= OPTION_BIT(OPTION_COST);
    return command_run(&costed);
}
