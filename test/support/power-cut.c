/*
 * A disk whose calls fail when they are told to, and whose power can be cut, for tests of what a service keeps. Loaded with
 * LD_PRELOAD.
 *
 * POWER_CUT_CONTROL names a file of eight 32-bit numbers that the test writes and this library reads at each call:
 *   0 the call that fails: 1 write, 2 sync, 3 truncate; 0 none
 *   1 of which file, by the end of its path: 1 `.db`, 2 `.db-wal`, 3 `.db-shm`; 4 any folder
 *   2 how many such calls succeed before the first that fails
 *   3 how many fail then; afterwards all succeed again
 *   4 the errno
 *   5 1: what a failed sync was about reads as the disk has it, as after the system has dropped its pages
 *   6 a sync counts only when it is about so many bytes or more
 *   7 counts the calls that failed; written here
 *
 * Beside each of the three kinds of files `NAME.disk` is what the disk has: the bytes that were written since the last sync
 * reach it with the next sync that succeeds. A sync that fails loses them: the system takes them for written.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITE = 1, SYNC, TRUNCATE };
enum { DB = 1, LOG, INDEX, FOLDER };
enum { CALL, FILE_KIND, SKIP, COUNT, ERRNO, FORGET, LEAST, FAILED, FIELDS };

struct range { off_t at; size_t size; struct range *next; };
struct shadow { char path[PATH_MAX]; int fd; struct range *dirty; struct shadow *next; };

static struct shadow *shadows;
static volatile uint32_t *control;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define PATH_OF(fd) char path[PATH_MAX]; int kind = kind_of(fd, path)

__attribute__((constructor)) static void open_control(void) {
  const char *name = getenv("POWER_CUT_CONTROL");
  int fd = name == NULL ? -1 : open(name, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void *map = mmap(NULL, FIELDS * sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (map != MAP_FAILED) control = map;
}

static int ends(const char *path, const char *end) {
  size_t length = strlen(path), size = strlen(end);
  return length >= size && strcmp(path + length - size, end) == 0;
}

/* 0 for a file that is none of these. */
static int kind_of(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return 0;
  path[length] = '\0';
  if (ends(path, ".db")) return DB;
  if (ends(path, ".db-wal")) return LOG;
  if (ends(path, ".db-shm")) return INDEX;
  struct stat found;
  return path[0] == '/' && fstat(fd, &found) == 0 && S_ISDIR(found.st_mode) ? FOLDER : 0;
}

static int fails(int call, int kind) {
  if (control == NULL || kind == 0) return 0;
  if (control[CALL] != (uint32_t)call || control[FILE_KIND] != (uint32_t)kind) return 0;
  if (control[SKIP] > 0) { control[SKIP]--; return 0; }
  if (control[COUNT] == 0) return 0;
  control[COUNT]--;
  control[FAILED]++;
  errno = (int)control[ERRNO];
  return 1;
}

static struct shadow *shadow_of(const char *path) {
  for (struct shadow *each = shadows; each != NULL; each = each->next)
    if (strcmp(each->path, path) == 0) return each;
  struct shadow *made = calloc(1, sizeof *made);
  snprintf(made->path, sizeof made->path, "%s", path);
  char name[PATH_MAX + 8];
  snprintf(name, sizeof name, "%s.disk", path);
  made->fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  made->next = shadows;
  return shadows = made;
}

/* A sync of less than is asked for is none that may fail. */
static int is_small(int kind, const char *path) {
  if (control == NULL || (kind != DB && kind != LOG)) return 0;
  size_t bytes = 0;
  for (struct range *range = shadow_of(path)->dirty; range != NULL; range = range->next) bytes += range->size;
  return bytes < control[LEAST];
}

static void drop(struct shadow *of) {
  while (of->dirty != NULL) {
    struct range *next = of->dirty->next;
    free(of->dirty);
    of->dirty = next;
  }
}

static void wrote(int kind, const char *path, off_t at, ssize_t size) {
  if ((kind != DB && kind != LOG) || size <= 0) return;
  struct shadow *of = shadow_of(path);
  struct range *range = malloc(sizeof *range);
  *range = (struct range){ at, (size_t)size, of->dirty };
  of->dirty = range;
}

static void copy(int from, int to, struct range *range) {
  char *bytes = malloc(range->size);
  ssize_t size = NEXT(pread64)(from, bytes, range->size, range->at);
  if (size > 0 && NEXT(pwrite64)(to, bytes, (size_t)size, range->at) != size) abort();
  free(bytes);
}

static void synced(int kind, const char *path, int fd) {
  if (kind != DB && kind != LOG) return;
  struct shadow *of = shadow_of(path);
  struct stat found;
  if (fstat(fd, &found) != 0 || found.st_nlink == 0) return;
  for (struct range *range = of->dirty; range != NULL; range = range->next) copy(fd, of->fd, range);
  drop(of);
  if (NEXT(ftruncate64)(of->fd, found.st_size) != 0) abort();
}

/* The file is opened again: the descriptor may be one that only reads. */
static void lost(int kind, const char *path) {
  if (kind != DB && kind != LOG) return;
  struct shadow *of = shadow_of(path);
  int file = control[FORGET] ? open(path, O_RDWR | O_CLOEXEC) : -1;
  for (struct range *range = of->dirty; range != NULL && file >= 0; range = range->next) {
    char *zeros = calloc(1, range->size);
    if (NEXT(pwrite64)(file, zeros, range->size, range->at) < 0) abort();
    free(zeros);
    copy(of->fd, file, range);
  }
  /* closing it would free SQLite's locks: it stays */
  drop(of);
}

#define WRITES(fd, at, call)                                \
  PATH_OF(fd);                                              \
  if (kind == 0) return call;                               \
  pthread_mutex_lock(&mutex);                               \
  ssize_t size = fails(WRITE, kind) ? -1 : call;            \
  int code = errno;                                         \
  wrote(kind, path, at, size);                              \
  pthread_mutex_unlock(&mutex);                             \
  errno = code;                                             \
  return size

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t at) {
  WRITES(fd, at, NEXT(pwrite)(fd, from, bytes, at));
}
ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t at) {
  WRITES(fd, at, NEXT(pwrite64)(fd, from, bytes, at));
}
ssize_t write(int fd, const void *from, size_t bytes) {
  if (fd < 3) return NEXT(write)(fd, from, bytes);
  off_t at = lseek(fd, 0, SEEK_CUR);
  if (at < 0) return NEXT(write)(fd, from, bytes);
  WRITES(fd, at, NEXT(write)(fd, from, bytes));
}

static int sync_one(int fd, int (*sync)(int)) {
  PATH_OF(fd);
  if (kind == 0) return sync(fd);
  pthread_mutex_lock(&mutex);
  int failed = !is_small(kind, path) && fails(SYNC, kind);
  if (failed) lost(kind, path);
  else synced(kind, path, fd);
  pthread_mutex_unlock(&mutex);
  if (failed) errno = (int)control[ERRNO];
  /* the real disk is not waited for: its power stays on */
  return failed ? -1 : 0;
}
int fsync(int fd) { return sync_one(fd, NEXT(fsync)); }
int fdatasync(int fd) { return sync_one(fd, NEXT(fdatasync)); }

#define TRUNCATES(call)                                     \
  PATH_OF(fd);                                              \
  pthread_mutex_lock(&mutex);                               \
  int failed = fails(TRUNCATE, kind);                       \
  pthread_mutex_unlock(&mutex);                             \
  return failed ? -1 : call

int ftruncate(int fd, off_t size) { TRUNCATES(NEXT(ftruncate)(fd, size)); }
int ftruncate64(int fd, off64_t size) { TRUNCATES(NEXT(ftruncate64)(fd, size)); }

/* Entries of folders are taken to be on disk at once. */
int unlink(const char *path) {
  int done = NEXT(unlink)(path);
  if (done == 0 && (ends(path, ".db-wal") || ends(path, ".db"))) {
    char name[PATH_MAX + 8];
    pthread_mutex_lock(&mutex);
    struct shadow *of = shadow_of(path);
    drop(of);
    if (NEXT(ftruncate64)(of->fd, 0) != 0) abort();
    snprintf(name, sizeof name, "%s.disk", path);
    pthread_mutex_unlock(&mutex);
  }
  return done;
}
