#define _POSIX_C_SOURCE 200809L
#include "machine.h"

#include "../../tests/runner/process.h"
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- what it is ---- */

static char *file_line(const char *path)
{
    Buffer text = {0};
    if (!file_read(path, &text))
        return NULL;
    char *line = checked_copy(buffer_text(&text));
    line[strcspn(line, "\n")] = '\0';
    buffer_free(&text);
    return line;
}

static char *processor_name(void)
{
    Buffer text = {0};
    char *name = NULL;
    file_read("/proc/cpuinfo", &text);
    Lines lines = lines_of(buffer_text(&text));
    for (size_t i = 0; i < lines.count && name == NULL; i++)
        if (after_prefix(lines.items[i], "model name") != NULL && strchr(lines.items[i], ':') != NULL)
            name = checked_copy(skip_blanks(strchr(lines.items[i], ':') + 1));
    lines_free(&lines);
    buffer_free(&text);
    return name != NULL ? name : checked_copy("unknown processor");
}

static void add_cache(Buffer *out, int index)
{
    static const char *const parts[] = {"level", "type", "size"};
    char *values[3];
    for (int i = 0; i < 3; i++) {
        char *path = checked_format("/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, parts[i]);
        values[i] = file_line(path);
        free(path);
    }
    if (values[0] != NULL && values[1] != NULL && values[2] != NULL && strcmp(values[1], "Instruction") != 0)
        buffer_addf(out, "%sL%s %s", out->length > 0 ? ", " : "", values[0], values[2]);
    for (int i = 0; i < 3; i++)
        free(values[i]);
}

static char *cache_sizes(void)
{
    enum { CACHES_MOST = 8 };
    Buffer sizes = {0};
    for (int i = 0; i < CACHES_MOST; i++)
        add_cache(&sizes, i);
    char *text = checked_copy(sizes.length > 0 ? buffer_text(&sizes) : "unknown");
    buffer_free(&sizes);
    return text;
}

static char *memory_size(void)
{
    double bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    return checked_format("%.1f GiB", bytes / (1 << 30));
}

static char *system_name(void)
{
    struct utsname name;
    if (uname(&name) != 0)
        return checked_copy("unknown");
    return checked_format("%s %s %s", name.sysname, name.release, name.machine);
}

static double load_average(void)
{
    char *line = file_line("/proc/loadavg");
    double load = line == NULL ? NAN : atof(line);
    free(line);
    return load;
}

bool machine_is_busy(const MachineFacts *facts)
{
    static const double load_of_others = 0.5;
    return facts->load > load_of_others;
}

/* ---- what it can do ---- */

static Rates measure_rates(const char *directory, unsigned threads)
{
    enum { TIME_LIMIT = 120 };
    Lines words = {0};
    Outcome outcome;
    char *program = checked_format("%s/limits", directory), *number = checked_format("%u", threads);
    lines_add(&words, program);
    lines_add(&words, number);
    process_run_within(TIME_LIMIT, &words, NULL, &outcome);
    Rates rates = {NAN, NAN, NAN};
    json_number(buffer_text(&outcome.out), "bytes", &rates.bytes);
    json_number(buffer_text(&outcome.out), "logs", &rates.logs);
    json_number(buffer_text(&outcome.out), "fmas", &rates.fmas);
    outcome_free(&outcome);
    lines_free(&words);
    free(program);
    free(number);
    return rates;
}

MachineFacts machine_facts(const char *directory, unsigned threads, const char *compiler)
{
    return (MachineFacts){.processor = processor_name(),
                          .caches = cache_sizes(),
                          .memory = memory_size(),
                          .system = system_name(),
                          .compiler = checked_copy(compiler),
                          .load = load_average(),
                          .threads = threads,
                          .one = measure_rates(directory, 1),
                          .all = measure_rates(directory, threads)};
}

void machine_facts_free(MachineFacts *facts)
{
    free(facts->processor);
    free(facts->caches);
    free(facts->memory);
    free(facts->system);
    free(facts->compiler);
}

double machine_limit(const MachineFacts *facts, const Case *benchmark, uint64_t size, unsigned threads)
{
    const Rates *rates = threads == 1 ? &facts->one : &facts->all;
    double amount = benchmark->amount((double)size);
    switch (benchmark->limit) {
    case LIMIT_BYTES:
        return amount / rates->bytes;
    case LIMIT_LOGS:
        return amount / rates->logs;
    case LIMIT_FMAS:
        return amount / rates->fmas;
    case LIMIT_NONE:
        break;
    }
    return NAN;
}
