// Copies and fills by string instructions that repeat, and what becomes of memory, of registers and
// of a fault in the middle:
//
//     strings KIND BYTES ROUNDS
//
// Prints a sum over all memory that was written, and for "fault" what the handler saw.

#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

enum { kPage = 4096 };

__attribute__((noinline)) static void kernel_copy(uint8_t* to, const uint8_t* from, size_t bytes) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
}
__attribute__((noinline)) static void kernel_words(uint8_t* to, const uint8_t* from, size_t bytes) {
  bytes /= 8;
  __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
}
__attribute__((noinline)) static void kernel_fill(uint8_t* to, size_t bytes) {
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(0x5a) : "memory");
}
__attribute__((noinline)) static void kernel_back(uint8_t* to, const uint8_t* from, size_t bytes) {
  to += bytes - 1;
  from += bytes - 1;
  __asm__ volatile("std; rep movsb; cld" : "+D"(to), "+S"(from), "+c"(bytes)::"memory", "cc");
}

static uint8_t* make_memory(size_t bytes) {
  uint8_t* const made =
      mmap(NULL, bytes + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) exit(2);
  for (size_t i = 0; i < bytes; ++i) made[i] = (uint8_t)(i * 167 + i / 251);
  return made;
}

static uint64_t sum(const uint8_t* bytes, size_t count) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < count; ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

static sigjmp_buf after_fault;
static uint64_t fault[4];  // where, and rdi, rsi, rcx then, from their beginnings

static void on_fault(int signal, siginfo_t* info, void* context) {
  const greg_t* const registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  (void)signal;
  fault[0] = (uint64_t)info->si_addr;
  fault[1] = (uint64_t)registers[REG_RDI];
  fault[2] = (uint64_t)registers[REG_RSI];
  fault[3] = (uint64_t)registers[REG_RCX];
  siglongjmp(after_fault, 1);
}

static volatile uint64_t ticks;
static void on_tick(int signal) {
  (void)signal;
  ++ticks;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const char* const kind = argv[1];
  const size_t bytes = strtoull(argv[2], NULL, 10);
  const unsigned rounds = (unsigned)strtoul(argv[3], NULL, 10);
  uint8_t* const from = make_memory(bytes + kPage);
  uint8_t* const to = make_memory(bytes + kPage);
  if (strcmp(kind, "fault") == 0) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    const size_t good = bytes / 2 / kPage * kPage;
    mprotect(to + good, kPage, PROT_READ);
    if (sigsetjmp(after_fault, 1) == 0) kernel_copy(to + 5, from, bytes);
    printf("%llu %llu %llu %llu\n", (unsigned long long)(fault[0] - (uint64_t)to),
           (unsigned long long)(fault[1] - (uint64_t)to),
           (unsigned long long)(fault[2] - (uint64_t)from), (unsigned long long)fault[3]);
  } else if (strcmp(kind, "ticks") == 0) {
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval often = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned i = 0; i < rounds || ticks < 20; ++i) kernel_copy(to, from, bytes);
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
  }
  for (unsigned i = 0; i < rounds; ++i) {
    if (strcmp(kind, "copy") == 0) kernel_copy(to, from, bytes);
    if (strcmp(kind, "words") == 0) kernel_words(to, from, bytes);
    if (strcmp(kind, "fill") == 0) kernel_fill(to, bytes);
    if (strcmp(kind, "back") == 0) kernel_back(to, from, bytes);
    if (strcmp(kind, "near") == 0) kernel_copy(to + 7, to, bytes);
    if (strcmp(kind, "far") == 0) kernel_copy(to + 300, to, bytes);
    if (strcmp(kind, "down") == 0) kernel_copy(to, to + 9, bytes);
  }
  printf("%llx\n", (unsigned long long)sum(to, bytes + 300));
  return 0;
}
