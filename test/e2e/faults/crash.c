/*
 * An addon that crashes the thread that loads it, by the instruction or call that CRASH names when it is compiled.
 * Compiled and loaded by `test/e2e/crash.test.ts`; the entry point is the one that Node calls on loading.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A read of an address that is never mapped. */
static void segv(void) { *(volatile int *)8 = 1; }

/* A read behind the end of a mapped file. */
static void bus(void) {
  int file = memfd_create("crash", 0);
  volatile char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
  (void)*page;
}

#if defined(__x86_64__)
static void ill(void) { __asm__ volatile("ud2"); }
static void trap(void) { __asm__ volatile("int3"); }
static void fpe(void) {
  volatile int zero = 0;
  zero = 7 / zero;
}
#else
static void ill(void) { __builtin_trap(); }
static void trap(void) { raise(SIGTRAP); }
static void fpe(void) { raise(SIGFPE); }
#endif

void *napi_register_module_v1(void *env, void *exports) {
  (void)env;
  CRASH();
  return exports;
}
