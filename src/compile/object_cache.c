#define _POSIX_C_SOURCE 200809L
#include "compile/object_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A file being written is called KEY.XXXXXX until it is whole. */
static const char suffix[] = ".so";
enum { PART_SUFFIX_LENGTH = 7, NAME_ROOM = SHA256_HEX_LENGTH + 16 };

/* Nobody takes longer to write a file: what is older was left behind by a process that was killed. */
enum { PART_SECONDS_MAX = 3600 };

/* ---- the directory ---- */

/* False if that is too long to hold files. */
static bool set_directory(char directory[PATH_SIZE], const char *above, const char *below)
{
    int length = snprintf(directory, PATH_SIZE, "%s%s", above, below);
    return length >= 0 && length < PATH_SIZE - NAME_ROOM;
}

bool object_cache_locate(const char *given, char directory[PATH_SIZE])
{
    const struct {
        const char *above, *below;
    } places[] = {{given, ""}, {getenv("RUNNEL_CACHE"), ""}, {getenv("XDG_CACHE_HOME"), "/runnel"}, {getenv("HOME"), "/.cache/runnel"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].above != NULL && *places[i].above != '\0')
            return set_directory(directory, places[i].above, places[i].below);
    return false;
}

static bool is_ours_alone(const struct stat *status)
{
    return status->st_uid == geteuid() && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

const char *object_cache_fault(const char *directory)
{
    struct stat status;
    if (stat(directory, &status) != 0)
        return errno == ENOENT ? NULL : strerror(errno);
    if (!S_ISDIR(status.st_mode))
        return "it is not a directory";
    if (status.st_uid != geteuid())
        return "it belongs to another user";
    if (!is_ours_alone(&status))
        return "others may write to it";
    return access(directory, W_OK | X_OK) == 0 ? NULL : "it cannot be written";
}

static bool is_trusted_directory(const char *directory)
{
    struct stat status;
    return stat(directory, &status) == 0 && S_ISDIR(status.st_mode) && is_ours_alone(&status);
}

/* Makes the directory and those above it. */
static void make_directory(const char *directory)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s", directory);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
}

/* ---- files ---- */

static void name_file(char path[PATH_SIZE], const char *directory, const char *key, const char *end)
{
    snprintf(path, PATH_SIZE, "%.*s/%.*s%s", PATH_SIZE - NAME_ROOM, directory, SHA256_HEX_LENGTH, key, end);
}

/* At the end of a file: of the key and of everything before. */
typedef struct Trailer {
    char magic[8];
    uint8_t digest[SHA256_SIZE];
} Trailer;

static const char trailer_magic[sizeof((Trailer){0}).magic] = {'r', 'u', 'n', 'n', 'e', 'l', '1', '\n'};

static bool read_all(int file, void *bytes, size_t length)
{
    char *to = bytes;
    while (length > 0) {
        ssize_t count = read(file, to, length);
        if (count == 0 || (count < 0 && errno != EINTR))
            return false;
        if (count > 0) {
            to += count;
            length -= (size_t)count;
        }
    }
    return true;
}

static bool write_all(int file, const void *bytes, size_t length)
{
    const char *from = bytes;
    while (length > 0) {
        ssize_t count = write(file, from, length);
        if (count < 0 && errno != EINTR)
            return false;
        if (count > 0) {
            from += count;
            length -= (size_t)count;
        }
    }
    return true;
}

/* Reads `length` bytes into the hash, and writes them to another file if that is not negative. */
static bool pass_bytes(int from, int to, uint64_t length, Sha256 *hash)
{
    char bytes[16384];
    while (length > 0) {
        size_t count = length < sizeof bytes ? (size_t)length : sizeof bytes;
        if (!read_all(from, bytes, count) || (to >= 0 && !write_all(to, bytes, count)))
            return false;
        sha256_add(hash, bytes, count);
        length -= count;
    }
    return true;
}

static void start_hash(Sha256 *hash, const char *key)
{
    sha256_init(hash);
    sha256_add(hash, key, SHA256_HEX_LENGTH);
}

static bool is_whole(int file, uint64_t size, const char *key)
{
    Sha256 hash;
    Trailer trailer;
    uint8_t digest[SHA256_SIZE];
    if (size <= sizeof trailer)
        return false;
    start_hash(&hash, key);
    if (!pass_bytes(file, -1, size - sizeof trailer, &hash) || !read_all(file, &trailer, sizeof trailer))
        return false;
    sha256_finish(&hash, digest);
    return memcmp(trailer.magic, trailer_magic, sizeof trailer_magic) == 0 && memcmp(trailer.digest, digest, sizeof digest) == 0;
}

bool object_cache_find(const char *directory, const char *key, char path[PATH_SIZE])
{
    struct stat status;
    name_file(path, directory, key, suffix);
    if (!is_trusted_directory(directory))
        return false;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); /* not to wait if it is a pipe */
    if (file < 0)
        return false;
    bool is_good = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && is_ours_alone(&status) &&
                   is_whole(file, (uint64_t)status.st_size, key);
    if (is_good)
        futimens(file, NULL); /* if that fails it is only forgotten earlier */
    close(file);
    return is_good;
}

/* ---- adding ---- */

static bool copy_with_trailer(int from, int to, const char *key)
{
    Sha256 hash;
    Trailer trailer;
    struct stat status;
    start_hash(&hash, key);
    if (fstat(from, &status) != 0 || !pass_bytes(from, to, (uint64_t)status.st_size, &hash))
        return false;
    memcpy(trailer.magic, trailer_magic, sizeof trailer_magic);
    sha256_finish(&hash, trailer.digest);
    return write_all(to, &trailer, sizeof trailer);
}

static bool write_part(const char *part, int to, const char *key, const char *from_path)
{
    int from = open(from_path, O_RDONLY | O_CLOEXEC);
    bool is_good = from >= 0 && copy_with_trailer(from, to, key);
    if (from >= 0)
        close(from);
    is_good = close(to) == 0 && is_good;
    if (!is_good)
        unlink(part);
    return is_good;
}

bool object_cache_add(const char *directory, const char *key, const char *from, char path[PATH_SIZE])
{
    char part[PATH_SIZE];
    make_directory(directory);
    if (!is_trusted_directory(directory))
        return false;
    name_file(path, directory, key, suffix);
    name_file(part, directory, key, ".XXXXXX");
    int to = mkstemp(part);
    if (to < 0 || !write_part(part, to, key, from))
        return false;
    if (rename(part, path) == 0)
        return true;
    unlink(part);
    return false;
}

/* ---- all files ---- */

typedef struct Entry {
    char name[NAME_ROOM];
    struct timespec used;
    uint64_t bytes;
    bool is_part;
} Entry;

/* Whether a name is one of ours. */
static bool is_entry_name(const char *name, bool *is_part)
{
    if (strspn(name, "0123456789abcdef") != SHA256_HEX_LENGTH)
        return false;
    const char *end = name + SHA256_HEX_LENGTH;
    *is_part = strcmp(end, suffix) != 0;
    return !*is_part || (*end == '.' && strlen(end) == PART_SUFFIX_LENGTH);
}

/* The next file of ours; false after the last. */
static bool next_entry(DIR *stream, Entry *entry)
{
    const struct dirent *found;
    struct stat status;
    while ((found = readdir(stream)) != NULL) {
        if (!is_entry_name(found->d_name, &entry->is_part) ||
            fstatat(dirfd(stream), found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
            continue;
        strcpy(entry->name, found->d_name);
        entry->used = status.st_mtim;
        entry->bytes = (uint64_t)status.st_size;
        return true;
    }
    return false;
}

typedef void EntryVisitor(DIR *stream, const Entry *entry, void *context);

static void visit_entries(const char *directory, EntryVisitor *visit, void *context)
{
    Entry entry;
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return;
    while (next_entry(stream, &entry))
        visit(stream, &entry, context);
    closedir(stream);
}

static void count_entry(DIR *stream, const Entry *entry, void *context)
{
    (void)stream;
    ObjectCacheSize *size = context;
    size->files++;
    size->bytes += entry->bytes;
}

ObjectCacheSize object_cache_measure(const char *directory)
{
    ObjectCacheSize size = {0};
    visit_entries(directory, count_entry, &size);
    return size;
}

static void remove_entry(DIR *stream, const Entry *entry, void *context)
{
    if (unlinkat(dirfd(stream), entry->name, 0) == 0)
        count_entry(stream, entry, context);
}

ObjectCacheSize object_cache_clear(const char *directory)
{
    ObjectCacheSize size = {0};
    visit_entries(directory, remove_entry, &size);
    return size;
}

/* ---- trimming ---- */

/* One look at the directory: how much there is, and the files that were not used for longest, so many that one look is nearly always enough. */
typedef struct Oldest {
    uint64_t bytes;
    time_t now;
    size_t count;
    Entry entries[64]; /* the oldest first */
} Oldest;

static bool is_older(const Entry *a, const Entry *b)
{
    return a->used.tv_sec != b->used.tv_sec ? a->used.tv_sec < b->used.tv_sec : a->used.tv_nsec < b->used.tv_nsec;
}

static void look_at_entry(DIR *stream, const Entry *entry, void *context)
{
    Oldest *oldest = context;
    if (entry->is_part) {
        if (entry->used.tv_sec + PART_SECONDS_MAX < oldest->now)
            unlinkat(dirfd(stream), entry->name, 0);
        return;
    }
    enum { CAPACITY = sizeof oldest->entries / sizeof *oldest->entries };
    oldest->bytes += entry->bytes;
    size_t at = oldest->count;
    while (at > 0 && is_older(entry, &oldest->entries[at - 1]))
        at--;
    if (at == CAPACITY)
        return;
    size_t kept = oldest->count < CAPACITY ? oldest->count : CAPACITY - 1;
    memmove(&oldest->entries[at + 1], &oldest->entries[at], (kept - at) * sizeof *oldest->entries);
    oldest->entries[at] = *entry;
    oldest->count = kept + 1;
}

void object_cache_trim(const char *directory, uint64_t limit)
{
    Oldest oldest;
    bool is_progress = true;
    do {
        oldest.bytes = 0;
        oldest.count = 0;
        oldest.now = time(NULL);
        visit_entries(directory, look_at_entry, &oldest);
        is_progress = false;
        for (size_t i = 0; i < oldest.count && oldest.bytes > limit; i++) {
            char path[PATH_SIZE];
            name_file(path, directory, oldest.entries[i].name, suffix);
            oldest.bytes -= oldest.entries[i].bytes;
            is_progress = unlink(path) == 0 || errno == ENOENT || is_progress; /* or somebody else did */
        }
    } while (oldest.bytes > limit && is_progress);
}
