/* Makes streams of any size, and reads them as one would by hand in C: what `runnel` is compared with (check.sh).
 *
 *   stream make-csv BYTES     writes rows `number,value,group` to standard output
 *   stream make-npy BYTES     writes an array of floats
 *   stream read-csv           reads rows: of those with an even number, how many are in each group, and the sum of the values, as runnel prints them
 *   stream read-npy FILE      the sum of the values above a half */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GROUPS = 16, ROWS = 1 << 16, BLOCK = 1 << 16, NPY_HEADER = 128, NPY_CELLS = 1 << 16 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void write_all(const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t count = write(STDOUT_FILENO, at, size);
        if (count <= 0)
            exit(1); /* nobody reads it */
        at += count;
        size -= (size_t)count;
    }
}

/* The same rows again and again, so that making them takes no time. Values are eighths: their sum is exact, whatever the order. */
static void make_csv(uint64_t bytes)
{
    char *text = malloc(ROWS * 40);
    size_t length = 0;
    uint64_t state = 88172645463325252;
    for (int i = 0; i < ROWS; i++) {
        uint64_t random = next_random(&state);
        length += (size_t)sprintf(text + length, "%" PRIu64 ",%d.%03d,%d\n", random % 1000000000, (int)(random >> 40) % 1000,
                                  (int)(random >> 50) % 8 * 125, (int)(random >> 56) % GROUPS);
    }
    for (uint64_t done = 0; done < bytes; done += length)
        write_all(text, length);
    free(text);
}

static void make_npy(uint64_t bytes)
{
    static double cells[NPY_CELLS];
    uint64_t state = 88172645463325252, blocks = (bytes + sizeof cells - 1) / sizeof cells;
    char header[NPY_HEADER + 1] = "\x93NUMPY\1", literal[NPY_HEADER - 10];
    for (int i = 0; i < NPY_CELLS; i++)
        cells[i] = (double)(next_random(&state) % 1024) / 1024;
    snprintf(literal, sizeof literal, "{'descr': '<f8', 'fortran_order': False, 'shape': (%" PRIu64 ",), }", blocks * NPY_CELLS);
    header[8] = NPY_HEADER - 10;
    memset(header + 10, ' ', NPY_HEADER - 11);
    memcpy(header + 10, literal, strlen(literal));
    header[NPY_HEADER - 1] = '\n';
    write_all(header, NPY_HEADER);
    for (uint64_t i = 0; i < blocks; i++)
        write_all(cells, sizeof cells);
}

/* ---- by hand ---- */

static const char *read_number(const char *at, uint64_t *number)
{
    *number = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        *number = *number * 10 + (uint64_t)(*at - '0');
    return at;
}

static uint64_t groups[GROUPS];
static double sum;

static const char *read_row(const char *at)
{
    uint64_t number, whole, thousandths, group;
    at = read_number(at, &number) + 1;
    at = read_number(at, &whole) + 1;
    at = read_number(at, &thousandths) + 1;
    at = read_number(at, &group) + 1;
    if (number % 2 == 0) {
        groups[group % GROUPS]++;
        sum += (double)whole + (double)thousandths / 1000;
    }
    return at;
}

/* With as few digits as tell it from all others. */
static void print_float(double number)
{
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    fputs(text, stdout);
}

static void read_csv(void)
{
    static char block[2 * BLOCK];
    size_t kept = 0;
    ssize_t count;
    while ((count = read(STDIN_FILENO, block + kept, BLOCK)) > 0) {
        const char *end = block + kept + count, *at = block;
        while (end > block && end[-1] != '\n')
            end--;
        while (at < end)
            at = read_row(at);
        kept = (size_t)(block + kept + count - end);
        memmove(block, end, kept);
    }
    printf("([");
    for (int i = 0; i < GROUPS; i++)
        printf("%s%" PRIu64, i == 0 ? "" : ", ", groups[i]);
    printf("], ");
    print_float(sum);
    printf(")\n");
}

static void read_npy(const char *path)
{
    static double cells[NPY_CELLS];
    int descriptor = open(path, O_RDONLY);
    ssize_t count = read(descriptor, cells, NPY_HEADER);
    while ((count = read(descriptor, cells, sizeof cells)) > 0)
        for (size_t i = 0; i < (size_t)count / sizeof *cells; i++)
            sum += cells[i] > 0.5 ? cells[i] : 0;
    print_float(sum);
    putchar('\n');
    close(descriptor);
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    bool has_value = count == 3;
    if (strcmp(what, "make-csv") == 0 && has_value)
        make_csv(strtoull(words[2], NULL, 10));
    else if (strcmp(what, "make-npy") == 0 && has_value)
        make_npy(strtoull(words[2], NULL, 10));
    else if (strcmp(what, "read-csv") == 0 && count == 2)
        read_csv();
    else if (strcmp(what, "read-npy") == 0 && has_value)
        read_npy(words[2]);
    else
        return 2;
    return 0;
}
