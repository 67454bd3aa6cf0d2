/* Help: an overview, and what each of its subjects is. */
#include "driver/commands.h"
#include "driver/host.h"
#include "driver/output.h"
#include "driver/page.h"
#include "driver/report.h"
#include "driver/subjects.h"

#include <stdio.h>
#include <string.h>

/* ---- what there is ---- */

static void option_usage(const OptionRow *row, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s", row->name, row->value == NULL ? "" : " ", row->value == NULL ? "" : row->value);
}

void help_options(Page *page, unsigned bits)
{
    char usage[USAGE_SIZE];
    page->term_width = 16;
    page_heading(page, "Options");
    for (OptionId id = 0; id < OPTION_COUNT; id++)
        if ((bits & OPTION_BIT(id)) != 0) {
            option_usage(&option_rows[id], usage, sizeof usage);
            page_entry(page, usage, option_rows[id].summary);
        }
}

/* `runnel run FILE [ARG...]` */
static void full_usage(const Command *command, char text[USAGE_SIZE])
{
    size_t used = (size_t)snprintf(text, USAGE_SIZE, "runnel ");
    command_usage(command, text + used, USAGE_SIZE - used);
}

static void show_commands(Page *page)
{
    char usage[USAGE_SIZE];
    page->term_width = 0;
    for (size_t i = 0; i < command_count; i++) {
        full_usage(&commands[i], usage);
        page->term_width = strlen(usage) > page->term_width ? strlen(usage) : page->term_width;
    }
    page_heading(page, "Commands");
    for (size_t i = 0; i < command_count; i++) {
        full_usage(&commands[i], usage);
        page_entry(page, usage, commands[i].summary);
    }
}

/* The first line is `# Title`. */
static void show_document_entry(Page *page, const LibraryFile *document)
{
    char title[80];
    snprintf(title, sizeof title, "%.*s", (int)strcspn(document->text + 2, "\n"), document->text + 2);
    page_entry(page, document_name(document), title);
}

static void show_subjects(Page *page)
{
    page_heading(page, "Subjects");
    page_text(page, "`runnel help SUBJECT` tells more of a command or an option above, an operation of the language, the code of an error, and of\n");
    for (size_t i = 0; i < subject_count; i++)
        page_entry(page, subjects[i].name, subjects[i].title);
    page_entry(page, "operations", "All operations of the language");
    page_entry(page, "manual", "The manual page, for man(1)");
    for (size_t i = 0; i < document_file_count; i++)
        show_document_entry(page, &document_files[i]);
}

static void show_overview(void)
{
    Page page = page_open(PAGE_TEXT);
    page_text(&page, "Runnel " RUNNEL_VERSION " runs nested data-parallel programs.\n");
    show_commands(&page);
    help_options(&page, OPTION_BIT(OPTION_COUNT) - 1);
    show_subjects(&page);
    page_text(&page, "\n" OPTIONS_RULE);
}

/* ---- one subject ---- */

static bool show_command(const char *name)
{
    const Command *command = command_find(name);
    if (command == NULL)
        return false;
    char usage[USAGE_SIZE];
    full_usage(command, usage);
    Page page = page_open(PAGE_TEXT);
    page_subheading(&page, usage);
    page_text(&page, "\n");
    page_text(&page, command->help);
    help_options(&page, command->options | COMMON_OPTIONS);
    return true;
}

/* With its dashes or without. */
static bool show_option(const char *name)
{
    char dashed[USAGE_SIZE];
    snprintf(dashed, sizeof dashed, "%s%s", *name == '-' ? "" : "--", name);
    OptionId id = option_find(dashed, strlen(dashed));
    if (id == OPTION_COUNT)
        return false;
    char usage[USAGE_SIZE], users[256] = "Commands:";
    option_usage(&option_rows[id], usage, sizeof usage);
    for (size_t i = 0; i < command_count; i++)
        if (((commands[i].options | COMMON_OPTIONS) & OPTION_BIT(id)) != 0)
            snprintf(users + strlen(users), sizeof users - strlen(users), " %s", commands[i].name);
    Page page = page_open(PAGE_TEXT);
    page_subheading(&page, usage);
    page_text(&page, "\n");
    page_text(&page, option_rows[id].summary);
    page_text(&page, "\n");
    page_text(&page, users);
    return true;
}

static bool show_subject(const char *name)
{
    if (strcmp(name, "manual") == 0) {
        manual_show();
        return true;
    }
    const Subject *subject = subject_find(name);
    if (subject == NULL)
        return false;
    Page page = page_open(PAGE_TEXT);
    page_subheading(&page, subject->title);
    page_text(&page, "\n");
    page_text(&page, subject->text);
    return true;
}

static bool show_document(const char *name)
{
    const LibraryFile *document = document_find(name);
    if (document != NULL)
        output_write(document->text, document->length);
    return document != NULL;
}

static bool show_error(const char *code)
{
    size_t length;
    const char *explanation = error_explanation(code, &length);
    if (explanation != NULL)
        output_write(explanation, length);
    return explanation != NULL;
}

/* What is nothing else may be an operation; if it is none either, it may be meant as any of them. */
static void report_no_subject(const char *name, RunnelSession *session)
{
    Suggestion suggestion = suggestion_for(name);
    for (size_t i = 0; i < command_count; i++)
        suggestion_try(&suggestion, commands[i].name);
    for (OptionId id = 0; id < OPTION_COUNT; id++)
        suggestion_try(&suggestion, option_rows[id].name);
    for (size_t i = 0; i < subject_count; i++)
        suggestion_try(&suggestion, subjects[i].name);
    for (size_t i = 0; i < document_file_count; i++)
        suggestion_try(&suggestion, document_name(&document_files[i]));
    for (const char *code = NULL; (code = error_next(code)) != NULL;)
        suggestion_try(&suggestion, code);
    const char *operation = runnel_nearest_operation(session, name);
    if (operation != NULL)
        suggestion_try(&suggestion, operation);
    report_unknown("help on", &suggestion, "`runnel help` lists what there is");
}

static int show_operations(const char *name, const Options *options)
{
    Host host;
    if (!host_open(&host, options))
        return RUNNEL_RUN_ERROR;
    bool is_everything = strcmp(name, "operations") == 0;
    RunnelStatus status = runnel_write_operations(host.session, is_everything ? NULL : name);
    if (status != RUNNEL_OK)
        report_no_subject(name, host.session);
    return host_close(&host, status);
}

int help_show(const char *subject, const Options *options)
{
    if (subject == NULL) {
        show_overview();
        return RUNNEL_OK;
    }
    if (show_command(subject) || show_subject(subject) || show_option(subject) || show_document(subject) || show_error(subject))
        return RUNNEL_OK;
    return show_operations(subject, options);
}

int command_help(const Options *options)
{
    return help_show(options->word_count > 1 ? options->words[1] : NULL, options);
}
