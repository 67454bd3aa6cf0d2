#include "io/table_text.h"

#include <string.h>

/* ---- lines and records ---- */

static const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;

/* The top bit of every byte that is zero, and no other. */
static inline uint64_t zero_bytes(uint64_t word)
{
    return ~(((word & ~tops) + ~tops) | word | ~tops);
}

/* In so many words: each byte of a word counts those that were at its place, up to 255. */
static size_t count_in_words(const char *text, size_t words)
{
    uint64_t word, sums = 0, pairs = 0x00ff00ff00ff00ff;
    for (size_t i = 0; i < words; i++) {
        memcpy(&word, text + i * sizeof word, sizeof word);
        sums += zero_bytes(word ^ '\n' * ones) >> 7;
    }
    return ((sums & pairs) + (sums >> 8 & pairs)) * 0x0001000100010001 >> 48;
}

size_t table_count_lines(const char *text, const char *end)
{
    enum { WORDS = 255 };
    size_t count = 0;
    for (; (size_t)(end - text) >= WORDS * sizeof(uint64_t); text += WORDS * sizeof(uint64_t))
        count += count_in_words(text, WORDS);
    for (; (size_t)(end - text) >= sizeof(uint64_t); text += sizeof(uint64_t))
        count += count_in_words(text, 1);
    for (; text < end; text++)
        count += *text == '\n';
    return count;
}

/* The end of a text in quotes, at the closing one; null without. `text` is behind the opening one. */
static const char *closing_quote(const char *text, const char *end)
{
    while ((text = memchr(text, '"', (size_t)(end - text))) != NULL) {
        if (text + 1 == end || text[1] != '"')
            return text;
        text += 2;
    }
    return NULL;
}

static const char *skip_spaces(const TableDialect *dialect, const char *text)
{
    while (*text == ' ' || (*text == '\t' && dialect->separator != '\t'))
        text++;
    return text;
}

static const char *quoted_record_end(const TableDialect *dialect, const char *text, const char *end)
{
    while (text < end) {
        const char *start = skip_spaces(dialect, text);
        if (*start == '"') {
            start = closing_quote(start + 1, end);
            if (start == NULL)
                return NULL;
        }
        while (start < end && *start != dialect->separator && *start != '\n')
            start++;
        if (start == end)
            return NULL;
        if (*start == '\n')
            return start + 1;
        text = start + 1;
    }
    return NULL;
}

const char *table_record_end(const TableDialect *dialect, const char *text, const char *end)
{
    const char *line_end = memchr(text, '\n', (size_t)(end - text));
    size_t length = (size_t)((line_end == NULL ? end : line_end) - text);
    if (dialect->has_quotes && memchr(text, '"', length) != NULL)
        return quoted_record_end(dialect, text, end);
    return line_end == NULL ? NULL : line_end + 1;
}

/* ---- fields, whatever is in them ---- */

static bool is_field_end(const TableDialect *dialect, const char *text)
{
    return *text == dialect->separator || table_is_line_end(text);
}

/* The separator or the end of the line that comes next. */
static const char *find_field_end(const TableDialect *dialect, const char *text)
{
    uint64_t word, separators = (unsigned char)dialect->separator * ones;
    for (;; text += sizeof word) {
        memcpy(&word, text, sizeof word);
        uint64_t found = zero_bytes(word ^ separators) | zero_bytes(word ^ '\n' * ones);
        if (found != 0)
            break;
    }
    while (*text != dialect->separator && *text != '\n')
        text++;
    return text;
}

static void trim(const TableDialect *dialect, TableField *field)
{
    field->start = skip_spaces(dialect, field->start);
    while (field->end > field->start && (field->end[-1] == ' ' || (field->end[-1] == '\t' && dialect->separator != '\t')))
        field->end--;
}

bool table_read_field(const TableDialect *dialect, const char *text, bool is_text, TableField *field)
{
    const char *start = skip_spaces(dialect, text);
    field->is_quoted = dialect->has_quotes && *start == '"';
    if (field->is_quoted) {
        field->start = start + 1;
        for (field->end = field->start; *field->end != '"' || field->end[1] == '"'; field->end++)
            field->end += *field->end == '"';
        field->next = skip_spaces(dialect, field->end + 1);
        return is_field_end(dialect, field->next);
    }
    field->start = text;
    field->next = find_field_end(dialect, text);
    if (field->next > text && *field->next == '\n' && field->next[-1] == '\r')
        field->next--;
    field->end = field->next;
    if (!is_text)
        trim(dialect, field);
    return true;
}

static TableProblem read_truth(const TableField *field, bool *cell)
{
    static const char *const words[][2] = {{"false", "true"}, {"0", "1"}, {"f", "t"}};
    size_t length = (size_t)(field->end - field->start);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (size_t k = 0; k < 2; k++) {
            size_t same = 0;
            while (same < length && (field->start[same] | 0x20) == words[i][k][same])
                same++;
            if (same == length && words[i][k][same] == '\0') {
                *cell = k == 1;
                return TABLE_RIGHT;
            }
        }
    return TABLE_NO_VALUE;
}

static TableProblem read_character(const TableField *field, unsigned char *cell)
{
    bool is_quote = field->is_quoted && field->end - field->start == 2 && *field->start == '"'; /* written twice */
    if (field->end - field->start != 1 && !is_quote)
        return TABLE_NO_VALUE;
    *cell = (unsigned char)*field->start;
    return TABLE_RIGHT;
}

TableProblem table_read_scalar(const TableField *field, ScalarType type, void *cell)
{
    if (field->start == field->end)
        return TABLE_EMPTY_FIELD;
    if (type == SCALAR_BOOL)
        return read_truth(field, cell);
    if (type == SCALAR_CHAR)
        return read_character(field, cell);
    const char *end = field->start;
    NumberStatus status = number_text_read(&end, type, cell);
    if (status == NUMBER_READ)
        return end == field->end ? TABLE_RIGHT : TABLE_NO_VALUE;
    return status == NUMBER_OUT_OF_RANGE ? TABLE_OUT_OF_RANGE : TABLE_NO_VALUE;
}

/* ---- fields to their sinks ---- */

/* Adds a text; in quotes, two of them are one. */
static void add_text(FieldSink *sink, const TableField *field)
{
    size_t length = (size_t)(field->end - field->start);
    char *out = sink->chars + sink->char_count;
    if (!field->is_quoted || memchr(field->start, '"', length) == NULL) {
        memcpy(out, field->start, length);
        sink->char_count += length;
        return;
    }
    for (const char *at = field->start; at < field->end; at++) {
        *out++ = *at;
        at += *at == '"';
    }
    sink->char_count = (size_t)(out - sink->chars);
}

static void *sink_cell(const FieldSink *sink, size_t index)
{
    return (char *)sink->cells + index * scalar_size(sink->scalar);
}

static TableProblem put_scalar(const TableDialect *dialect, const FieldSink *sink, size_t index, const TableField *field)
{
    void *cell = sink_cell(sink, index);
    TableProblem problem = table_read_scalar(field, sink->scalar, cell);
    if (problem != TABLE_EMPTY_FIELD || dialect->empty == NULL)
        return problem;
    TableField empty = {.start = dialect->empty, .end = dialect->empty + strlen(dialect->empty)};
    return table_read_scalar(&empty, sink->scalar, cell) == TABLE_RIGHT ? TABLE_RIGHT : TABLE_EMPTY_FIELD;
}

static TableProblem put_any_field(const TableDialect *dialect, FieldSink *sink, size_t index, const char **text)
{
    TableField field;
    if (!table_read_field(dialect, *text, sink->is_text, &field)) {
        *text = field.next;
        return TABLE_AFTER_QUOTE;
    }
    if (!sink->is_text) {
        TableProblem problem = put_scalar(dialect, sink, index, &field);
        if (problem != TABLE_RIGHT)
            return problem;
    } else {
        add_text(sink, &field);
        ((int64_t *)sink->cells)[index] = (int64_t)sink->char_count;
    }
    *text = field.next;
    return TABLE_RIGHT;
}

/* A number without anything around it, of the two types that most have. */
static inline bool put_number(const TableDialect *dialect, const FieldSink *sink, size_t index, const char **text)
{
    const char *at = *text;
    bool is_number = sink->scalar == SCALAR_I64   ? number_text_short_int(&at, (int64_t *)sink->cells + index)
                     : sink->scalar == SCALAR_F64 ? number_text_short_double(&at, (double *)sink->cells + index)
                                                  : number_text_read(&at, sink->scalar, sink_cell(sink, index)) == NUMBER_READ;
    if (!is_number || !is_field_end(dialect, at))
        return false;
    *text = at;
    return true;
}

/* Puts the field that begins there. After a failure *text is the place of the problem. */
static inline TableProblem put_field(const TableDialect *dialect, FieldSink *sink, size_t index, const char **text)
{
    return !sink->is_text && put_number(dialect, sink, index, text) ? TABLE_RIGHT : put_any_field(dialect, sink, index, text);
}

/* ---- records ---- */

static bool fail(TablePiece *piece, TableProblem problem, const char *place, uint32_t field)
{
    piece->problem = problem;
    piece->place = place;
    piece->field = field;
    return false;
}

static const char *after_line_end(const char *text)
{
    return text + (*text == '\r') + 1;
}

/* How many fields a record has, of which `field` were read and another one begins. */
static uint32_t count_fields(const TableDialect *dialect, const char *text, uint32_t field)
{
    TableField found;
    for (;; text = found.next + 1) {
        field++;
        if (!table_read_field(dialect, text, true, &found) || table_is_line_end(found.next))
            return field;
    }
}

/* A record with so many fields. */
static bool parse_record(const TableDialect *dialect, TablePiece *piece, const char **text)
{
    const char *at = *text;
    for (uint32_t i = 0; i < piece->field_count; i++) {
        TableProblem problem = put_field(dialect, &piece->sinks[i], piece->row_count, &at);
        if (problem != TABLE_RIGHT)
            return fail(piece, problem, at, i + 1);
        bool is_last = table_is_line_end(at);
        if (is_last && i + 1 < piece->field_count)
            return fail(piece, TABLE_FEW_FIELDS, at, i + 1);
        if (!is_last && i + 1 == piece->field_count)
            return fail(piece, TABLE_MANY_FIELDS, at, count_fields(dialect, at + 1, i + 1));
        at += !is_last;
    }
    *text = after_line_end(at);
    return true;
}

/* A record with any number of fields. */
static bool parse_fields(const TableDialect *dialect, TablePiece *piece, const char **text)
{
    const char *at = *text;
    for (uint32_t i = 0; i > 0 || !table_is_line_end(at); i++) {
        TableProblem problem = put_field(dialect, &piece->sinks[0], piece->value_count, &at);
        if (problem != TABLE_RIGHT)
            return fail(piece, problem, at, i + 1);
        piece->value_count++;
        if (table_is_line_end(at))
            break;
        at++;
    }
    piece->row_ends[piece->row_count] = (int64_t)piece->value_count;
    *text = after_line_end(at);
    return true;
}

void table_parse(const TableDialect *dialect, TablePiece *piece)
{
    const char *text = piece->start;
    while (text < piece->end) {
        if (table_is_line_end(text) && !dialect->has_empty_rows) {
            text = after_line_end(text);
            continue;
        }
        bool is_right = piece->field_count > 0 ? parse_record(dialect, piece, &text) : parse_fields(dialect, piece, &text);
        if (!is_right)
            return;
        piece->row_count++;
    }
}
