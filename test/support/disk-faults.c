/*
 * Makes calls on chosen files fail, for tests of a service on a disk that fails. Loaded with LD_PRELOAD.
 *
 * The file named by DISK_FAULTS says which: lines of `call errno suffix`, for example `pread 5 ledger.db`. A call on a
 * descriptor whose path ends with the suffix fails with the errno for as long as the line is there; with errno 0 it moves
 * no bytes and returns 0, as at the end of a file. Calls: pread, pwrite, ftruncate, fsync.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* The errno that the call has to fail with, 0 for one that moves nothing, -1 for one that goes on. */
static int fault_of(const char *call, int fd) {
  const char *control = getenv("DISK_FAULTS");
  if (control == NULL) return -1;
  FILE *file = fopen(control, "re");
  if (file == NULL) return -1;
  char link[64], path[4096], name[32], suffix[1024];
  int code, found = -1;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = '\0';
  while (length > 0 && fscanf(file, "%31s %d %1023s", name, &code, suffix) == 3) {
    size_t end = strlen(suffix);
    if (strcmp(name, call) != 0 || (size_t)length < end) continue;
    if (strcmp(path + length - end, suffix) == 0) found = code;
  }
  fclose(file);
  return found;
}

#define FAIL(call, fd)                            \
  do {                                            \
    int fault = fault_of(call, fd);               \
    if (fault == 0) return 0;                     \
    if (fault > 0) { errno = fault; return -1; }  \
  } while (0)

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pread(int fd, void *to, size_t size, off_t at) {
  FAIL("pread", fd);
  return NEXT(pread)(fd, to, size, at);
}
ssize_t pread64(int fd, void *to, size_t size, off64_t at) {
  FAIL("pread", fd);
  return NEXT(pread64)(fd, to, size, at);
}
ssize_t pwrite(int fd, const void *from, size_t size, off_t at) {
  FAIL("pwrite", fd);
  return NEXT(pwrite)(fd, from, size, at);
}
ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at) {
  FAIL("pwrite", fd);
  return NEXT(pwrite64)(fd, from, size, at);
}
int ftruncate(int fd, off_t size) {
  FAIL("ftruncate", fd);
  return NEXT(ftruncate)(fd, size);
}
int ftruncate64(int fd, off64_t size) {
  FAIL("ftruncate", fd);
  return NEXT(ftruncate64)(fd, size);
}
int fsync(int fd) {
  FAIL("fsync", fd);
  return NEXT(fsync)(fd);
}
int fdatasync(int fd) {
  FAIL("fsync", fd);
  return NEXT(fdatasync)(fd);
}
