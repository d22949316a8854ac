#pragma once

// The program that the tests of record() compile with the system's compiler and run. Its first
// argument says what to do, the second for how many seconds of CPU time.

namespace culprit::testing {

inline constexpr const char* kBurnSource = R"(
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double cpu_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
static volatile unsigned long sink;
static void turn(long count) { for (long i = 0; i < count; ++i) sink += (unsigned long)i; }
__attribute__((noinline)) void spin(double seconds) {
  const double end = cpu_s() + seconds;
  while (cpu_s() < end) turn(20000);
}
__attribute__((noinline)) void call_spin(double seconds) { spin(seconds); ++sink; }
static void* run_thread(void* seconds) {
  prctl(PR_SET_NAME, "spinner");
  spin(*(double*)seconds);
  return NULL;
}
/* mov %rdi,%rax; 1: dec %rax; jnz 1b; ret */
static const unsigned char code[] = {0x48,0x89,0xf8, 0x48,0xff,0xc8, 0x75,0xfb, 0xc3};
static unsigned char* make_code(void) {
  unsigned char* at = mmap(NULL, 4096, PROT_READ|PROT_WRITE|PROT_EXEC, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);
  memcpy(at + 64, code, sizeof code);
  return at + 64;
}
static void run_code(unsigned char* at, double seconds) {
  const double end = cpu_s() + seconds;
  while (cpu_s() < end) ((void (*)(long))at)(300000);
}
static void jit(double seconds) {
  unsigned char* at = make_code();
  char name[64];
  snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
  FILE* map = fopen(name, "w");
  fprintf(map, "%lx %zx jitted_loop\n", (unsigned long)at, sizeof code);
  fclose(map);
  run_code(at, seconds);
}
/* Two functions at one place, one after the other: only their times tell them apart. */
static FILE* dump;
static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
static void dump_load(unsigned char* at, const char* name) {
  const size_t name_size = strlen(name) + 1;
  const uint32_t head[2] = {0, (uint32_t)(16 + 40 + name_size + sizeof code)};
  const uint64_t time = now_ns();
  const uint32_t ids[2] = {(uint32_t)getpid(), (uint32_t)getpid()};
  const uint64_t place[4] = {(uint64_t)at, (uint64_t)at, sizeof code, time};
  fwrite(head, sizeof head, 1, dump);
  fwrite(&time, sizeof time, 1, dump);
  fwrite(ids, sizeof ids, 1, dump);
  fwrite(place, sizeof place, 1, dump);
  fwrite(name, name_size, 1, dump);
  fwrite(code, sizeof code, 1, dump);
  fflush(dump);
}
static void jitdump(double seconds, const char* folder) {
  char name[4096];
  snprintf(name, sizeof name, "%s/jit-%d.dump", folder, getpid());
  dump = fopen(name, "w+");
  const uint32_t head[6] = {0x4A695444, 1, 40, 62, 0, (uint32_t)getpid()};
  const uint64_t rest[2] = {now_ns(), 0};
  fwrite(head, sizeof head, 1, dump);
  fwrite(rest, sizeof rest, 1, dump);
  fflush(dump);
  mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
  unsigned char* at = make_code();
  dump_load(at, "first");
  run_code(at, seconds);
  dump_load(at, "second");
  run_code(at, 2 * seconds);
}
int main(int count, char** words) {
  const char* what = words[1];
  double seconds = count > 2 ? atof(words[2]) : 0;
  if (!strcmp(what, "call")) call_spin(seconds);
  if (!strcmp(what, "status")) { spin(seconds); return 7; }
  if (!strcmp(what, "kill")) raise(SIGKILL);
  if (!strcmp(what, "jit")) jit(seconds);
  if (!strcmp(what, "jitdump")) jitdump(seconds, words[3]);
  if (!strcmp(what, "vanish")) { unlink(words[0]); spin(seconds); }
  if (!strcmp(what, "threads")) {
    pthread_t ids[2];
    for (int i = 0; i < 2; ++i) pthread_create(&ids[i], NULL, run_thread, &seconds);
    for (int i = 0; i < 2; ++i) pthread_join(ids[i], NULL);
  }
  if (!strcmp(what, "exec")) {
    if (fork() == 0) { execl(words[0], "child", "call", words[2], NULL); _exit(1); }
    spin(seconds);
    wait(NULL);
  }
  if (!strcmp(what, "short")) {
    for (int i = atoi(words[3]); i > 0; --i) {
      if (fork() == 0) { spin(seconds); _exit(0); }
      wait(NULL);
    }
  }
  return 0;
}
)";

}  // namespace culprit::testing
