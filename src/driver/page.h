/* Pages of help: what is to be read on a terminal, and the same as a manual page, from one description.
 *
 * Running text is one string. Its lines are filled anew for the width there is, except that
 *   - an empty line ends a paragraph,
 *   - a line that begins with two blanks is an entry of a list: a term, two or more blanks, what it means,
 *   - a line that begins with four blanks is shown as it is. */
#ifndef RUNNEL_DRIVER_PAGE_H
#define RUNNEL_DRIVER_PAGE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum PageForm { PAGE_TEXT, PAGE_MANUAL } PageForm;

typedef struct Page {
    PageForm form;
    size_t width;       /* of lines; PAGE_TEXT only */
    size_t term_width;  /* room for terms of entries that page_entry adds; PAGE_TEXT only */
    bool is_coloured;
    bool is_begun;      /* something was written */
} Page;

/* A page on standard output: of the width of the terminal, if it is one. */
Page page_open(PageForm form);

/* In a manual page headings are in capitals. */
void page_heading(Page *page, const char *title);
/* A heading of less weight: of what is described next. */
void page_subheading(Page *page, const char *title);
void page_text(Page *page, const char *text);
/* One entry of a list, all of whose terms want to be aligned: set term_width before the first. */
void page_entry(Page *page, const char *term, const char *text);

#endif
