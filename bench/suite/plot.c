/* Two panels side by side, a row for each benchmark: on the left the ratios by one and by all threads, on a logarithmic scale, with the goal as a mark; on the
 * right the share of the machine's limit that Runnel and C reach. */
#define _POSIX_C_SOURCE 200809L
#include "results.h"

#include <math.h>
#include <stdio.h>

enum { ROW = 22, TOP = 60, LABELS = 120, PANEL = 360, GAP = 50, BAR = 7 };
/* The ends of the logarithmic scales. */
static const double ratio_low = 0.1, ratio_high = 100, share_low = 0.01, share_high = 1;

static double place(double value, double low, double high)
{
    double at = (log10(value) - log10(low)) / (log10(high) - log10(low));
    return PANEL * fmin(fmax(at, 0), 1);
}

static void add_text(Buffer *out, double x, double y, const char *anchor, const char *text)
{
    buffer_addf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, text);
}

static void add_grid(Buffer *out, double x, double low, double high, double bottom, const char *title)
{
    add_text(out, x + PANEL / 2.0, TOP - 34, "middle", title);
    for (double value = low; value < high * 1.01; value *= 10) {
        double at = x + place(value, low, high);
        char label[32];
        snprintf(label, sizeof label, "%g", value);
        buffer_addf(out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", at, TOP - 8, at, bottom, value == 1 ? "#555" : "#ddd");
        add_text(out, at, TOP - 14, "middle", label);
    }
}

static void add_bar(Buffer *out, double x, double y, double value, double low, double high, double from, const char *colour)
{
    if (!isfinite(value))
        return;
    double start = place(from, low, high), end = place(value, low, high);
    buffer_addf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", x + fmin(start, end), y, fmax(fabs(end - start), 1.5), BAR,
                colour);
}

static double share(const Results *results, const Entry *entry, const Sample *sample)
{
    return sample->is_good ? machine_limit(&results->machine, entry->benchmark, entry->size, results->machine.threads) / sample->seconds : NAN;
}

static void add_row(const Results *results, const Entry *entry, double y, Buffer *out)
{
    const Pair *one = &entry->pairs[MODE_EXACT][THREADS_ONE], *all = &entry->pairs[MODE_EXACT][THREADS_ALL];
    double left = LABELS, right = LABELS + PANEL + GAP, goal = left + place(entry->benchmark->goal, ratio_low, ratio_high);
    add_text(out, LABELS - 8, y + 12, "end", entry->benchmark->name);
    add_bar(out, left, y + 1, pair_ratio(one), ratio_low, ratio_high, 1, "#7aa6d8");
    add_bar(out, left, y + 2 + BAR, pair_ratio(all), ratio_low, ratio_high, 1, "#1f5a9e");
    buffer_addf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#d33\" stroke-width=\"2\"/>\n", goal, y, goal, y + ROW - 4);
    add_bar(out, right, y + 1, share(results, entry, &all->runnel), share_low, share_high, share_low, "#1f5a9e");
    add_bar(out, right, y + 2 + BAR, share(results, entry, &all->c), share_low, share_high, share_low, "#999");
}

void plot_write(const Results *results, Buffer *out)
{
    double bottom = TOP + ROW * (double)results->entry_count;
    double width = LABELS + 2 * PANEL + GAP + 30, height = bottom + 30;
    buffer_addf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" font-size=\"11\">\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                width, height);
    add_grid(out, LABELS, ratio_low, ratio_high, bottom, "Runnel's time / C's: light 1 thread, dark all, red the goal");
    add_grid(out, LABELS + PANEL + GAP, share_low, share_high, bottom, "share of the machine's limit: blue Runnel, grey C");
    for (size_t i = 0; i < results->entry_count; i++)
        add_row(results, &results->entries[i], TOP + ROW * (double)i, out);
    buffer_addf(out, "</svg>\n");
}
