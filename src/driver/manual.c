/* The manual page, from the tables that the help is made of. */
#include "driver/commands.h"
#include "driver/output.h"
#include "driver/page.h"
#include "driver/subjects.h"

#include <string.h>

static const char description[] =
    "Runnel compiles and runs nested data-parallel programs: comprehensions inside comprehensions, recursion over irregular data, and sequences that "
    "are traversed once, in order, in memory that does not grow with their length. Programs are files that end in `.rnl`, or in `.nesl` for NESL.\n";

static const char further[] =
    "`runnel help language.md` is the description of the language, `runnel help operations` what can be called in it, `runnel help errors.md` "
    "what every error means.\n";

static void show_synopsis(void)
{
    for (size_t i = 0; i < command_count; i++) {
        output_print("%s.B runnel %s\n", i == 0 ? "" : ".br\n", commands[i].name);
        if (*commands[i].arguments != '\0')
            output_print("%s\n", commands[i].arguments);
    }
}

/* The name of an option as the manual shows it: its value is no part of it. */
static void show_command_options(unsigned bits)
{
    const char *before = ".PP\nOptions:\n";
    for (OptionId id = 0; id < OPTION_COUNT; id++)
        if ((bits & OPTION_BIT(id)) != 0) {
            output_print("%s.B \\-\\-%s", before, option_rows[id].name + 2);
            before = "\n";
        }
    if (bits != 0)
        output_print("\n");
}

static void show_commands(Page *page)
{
    page_heading(page, "Commands");
    for (size_t i = 0; i < command_count; i++) {
        char usage[USAGE_SIZE];
        command_usage(&commands[i], usage, sizeof usage);
        page_subheading(page, usage);
        page_text(page, commands[i].help);
        show_command_options(commands[i].options);
    }
}

void manual_show(void)
{
    Page page = page_open(PAGE_MANUAL);
    output_print(".TH RUNNEL 1 \"\" \"Runnel " RUNNEL_VERSION "\" \"User Commands\"\n");
    page_heading(&page, "Name");
    output_print("runnel \\- compile and run nested data\\-parallel programs\n");
    page_heading(&page, "Synopsis");
    show_synopsis();
    page_heading(&page, "Description");
    page_text(&page, description);
    show_commands(&page);
    help_options(&page, OPTION_BIT(OPTION_COUNT) - 1);
    page_text(&page, OPTIONS_RULE);
    for (size_t i = 0; i < subject_count; i++) {
        page_heading(&page, subjects[i].title);
        page_text(&page, subjects[i].text);
    }
    page_heading(&page, "See also");
    page_text(&page, further);
}
