#define _POSIX_C_SOURCE 200809L
#include "driver/page.h"

#include "driver/output.h"
#include "driver/terminal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Lines that are longer are hard to read; of a narrow terminal, nothing is left beside the terms. */
enum { WIDTH_MOST = 100, WIDTH_LEAST = 40, WIDTH_OTHERWISE = 100 };

Page page_open(PageForm form)
{
    size_t width = terminal_width(STDOUT_FILENO, WIDTH_OTHERWISE);
    width = width > WIDTH_MOST ? WIDTH_MOST : width < WIDTH_LEAST ? WIDTH_LEAST : width;
    return (Page){.form = form, .width = width, .is_coloured = terminal_is_coloured(STDOUT_FILENO)};
}

/* ---- a manual page ---- */

/* Text as the formatter of manual pages wants it: what stands between back-quotes is bold. */
static void write_manual(const char *text, size_t length)
{
    bool is_bold = false;
    for (size_t i = 0; i < length; i++) {
        switch (text[i]) {
        case '\\': output_print("\\e"); break;
        case '-': output_print("\\-"); break;
        case '\'': output_print("\\(aq"); break;
        case '"': output_print("\\(dq"); break;
        case '`':
            is_bold = !is_bold;
            output_print(is_bold ? "\\fB" : "\\fR");
            break;
        case '.': /* not the first of a line, where it begins a request */
            output_print(i == 0 || text[i - 1] == '\n' ? "\\&." : ".");
            break;
        default: output_write(&text[i], 1);
        }
    }
}

static void write_manual_line(const char *text, size_t length)
{
    write_manual(text, length);
    output_print("\n");
}

/* ---- text for a terminal ---- */

/* Writes words, filled to the width, from column `at` on; further lines begin at column `indent`. */
static void fill(const Page *page, const char *text, size_t length, size_t indent, size_t at)
{
    bool is_first = true;
    for (size_t i = 0; i < length;) {
        while (i < length && isspace((unsigned char)text[i]))
            i++;
        size_t start = i;
        while (i < length && !isspace((unsigned char)text[i]))
            i++;
        size_t word = i - start;
        if (word == 0)
            break;
        if (!is_first && at + 1 + word > page->width) {
            output_print("\n%*s", (int)indent, "");
            at = indent;
        } else if (!is_first) {
            output_print(" ");
            at++;
        }
        output_write(text + start, word);
        at += word;
        is_first = false;
    }
    output_print("\n");
}

/* A term in the left column, its meaning beside it, or below if the term is too long. */
static void fill_entry(const Page *page, size_t term_width, const char *term, size_t term_length, const char *text, size_t length)
{
    size_t column = 2 + term_width + 2;
    output_print("  %.*s", (int)term_length, term);
    if (length == 0)
        output_print("\n");
    else if (term_length > term_width)
        output_print("\n%*s", (int)column, "");
    else
        output_print("%*s", (int)(column - 2 - term_length), "");
    if (length > 0)
        fill(page, text, length, column, column);
}

/* ---- both ---- */

static void write_entry(const Page *page, size_t term_width, const char *term, size_t term_length, const char *text, size_t length)
{
    if (page->form == PAGE_TEXT) {
        fill_entry(page, term_width, term, term_length, text, length);
        return;
    }
    output_print(".TP\n.B ");
    write_manual_line(term, term_length);
    write_manual_line(text, length);
}

static void write_paragraph(const Page *page, const char *text, size_t length)
{
    if (page->form == PAGE_TEXT) {
        fill(page, text, length, 0, 0);
        return;
    }
    output_print(".PP\n");
    write_manual_line(text, length);
}

static void write_as_it_is(const Page *page, const char *text, size_t length)
{
    if (page->form == PAGE_TEXT)
        output_write(text, length);
    else {
        output_print(".PP\n.nf\n");
        write_manual(text, length);
        output_print(".fi\n");
    }
}

typedef enum LineKind { LINE_EMPTY, LINE_RUNNING, LINE_ENTRY, LINE_AS_IT_IS } LineKind;

static LineKind line_kind(const char *line)
{
    size_t blanks = strspn(line, " ");
    if (line[blanks] == '\n' || line[blanks] == '\0')
        return LINE_EMPTY;
    return blanks >= 4 ? LINE_AS_IT_IS : blanks >= 2 ? LINE_ENTRY : LINE_RUNNING;
}

static const char *line_end(const char *line)
{
    const char *end = strchr(line, '\n');
    return end == NULL ? line + strlen(line) : end + 1;
}

/* The first line after `line` that does not belong to the same paragraph or block. An entry is a line. */
static const char *block_end(const char *line)
{
    LineKind kind = line_kind(line);
    const char *end = line_end(line);
    if (kind != LINE_ENTRY)
        while (*end != '\0' && line_kind(end) == kind)
            end = line_end(end);
    return end;
}

/* The length of an entry's term, which stands at `line`. */
static size_t term_length(const char *term, const char *end)
{
    size_t length = 0;
    while (term + length < end && term[length] != '\n' && !(term[length] == ' ' && (term[length + 1] == ' ' || term[length + 1] == '\n')))
        length++;
    return length;
}

static size_t widest_term(const char *text)
{
    size_t widest = 0;
    for (const char *line = text; *line != '\0'; line = line_end(line))
        if (line_kind(line) == LINE_ENTRY) {
            size_t length = term_length(line + 2, line_end(line));
            widest = length > widest ? length : widest;
        }
    return widest;
}

void page_text(Page *page, const char *text)
{
    size_t widest = widest_term(text);
    for (const char *block = text, *end; *block != '\0'; block = end) {
        end = block_end(block);
        size_t length = (size_t)(end - block);
        switch (line_kind(block)) {
        case LINE_EMPTY:
            if (page->form == PAGE_TEXT)
                output_print("\n");
            break;
        case LINE_RUNNING: write_paragraph(page, block, length - (block[length - 1] == '\n')); break;
        case LINE_AS_IT_IS: write_as_it_is(page, block, length); break;
        case LINE_ENTRY: {
            const char *term = block + 2;
            size_t term_size = term_length(term, end);
            const char *meaning = term + term_size + strspn(term + term_size, " ");
            write_entry(page, widest, term, term_size, meaning, (size_t)(end - meaning) - (end[-1] == '\n'));
            break;
        }
        }
    }
    page->is_begun = true;
}

void page_entry(Page *page, const char *term, const char *text)
{
    write_entry(page, page->term_width, term, strlen(term), text, strlen(text));
    page->is_begun = true;
}

static void write_title(const Page *page, const char *before, const char *title, const char *after)
{
    output_print("%s%s%s%s%s\n", before, page->is_coloured ? "\033[1m" : "", title, page->is_coloured ? "\033[0m" : "", after);
}

void page_heading(Page *page, const char *title)
{
    if (page->form == PAGE_TEXT)
        write_title(page, page->is_begun ? "\n" : "", title, ":");
    else {
        output_print(".SH ");
        for (const char *c = title; *c != '\0'; c++)
            output_print("%c", toupper((unsigned char)*c));
        output_print("\n");
    }
    page->is_begun = true;
}

void page_subheading(Page *page, const char *title)
{
    if (page->form == PAGE_TEXT)
        write_title(page, page->is_begun ? "\n" : "", title, "");
    else {
        output_print(".SS ");
        write_manual_line(title, strlen(title));
    }
    page->is_begun = true;
}
