// Runs the loops that bench/instruction_costs.py makes, and prints the time of each.
//
//   loops REPEATS ITERATIONS [zeros]      lines of number and nanoseconds of CPU time
//
// Loops that end in a signal (what this CPU has not) are left out.

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void Loop(void);
extern Loop* const loops[];
extern const uint64_t loop_count;

static sigjmp_buf before;
static double values[1024] __attribute__((aligned(4096)));
static const double kOnes[2] __asm__("ones") __attribute__((aligned(16), used)) = {1, 1};
static double in_memory = 1;

static void leave(int signal) {
  siglongjmp(before, signal);
}

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/// General registers are 1, vector registers hold 1.0, %rdi is an address of such values, or zeros.
static double run(Loop* loop, uint64_t iterations) {
  for (int i = 0; i < 1024; ++i) values[i] = in_memory;
  register Loop* the_loop __asm__("r15") = loop;
  const double begin = now_ns();
  __asm__ volatile(
      "push %%rbp\n push %%rbx\n fninit\n fld1\n fld1\n"
      ".irp name, rax, rbx, rcx, rbp, r8, r9, r10, r11, r12, r13, r14\n mov $1, %%\\name\n .endr\n"
      "xor %%edx, %%edx\n"
      ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 14, 15\n movups ones(%%rip), %%xmm\\n\n .endr\n"
      "call *%%r15\n"
      "fninit\n cld\n pop %%rbx\n pop %%rbp\n"
      : "+S"(iterations)
      : "D"(values), "r"(the_loop)
      : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "memory", "cc");
  return now_ns() - begin;
}

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  if (argc == 4) in_memory = 0;
  const int repeats = atoi(argv[1]);
  const uint64_t iterations = strtoull(argv[2], NULL, 10);
  const int kSignals[] = {SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGBUS};
  struct sigaction action = {.sa_handler = leave, .sa_flags = SA_NODEFER};
  for (size_t i = 0; i < sizeof kSignals / sizeof *kSignals; ++i) {
    sigaction(kSignals[i], &action, NULL);
  }
  for (volatile int repeat = 0; repeat < repeats; ++repeat) {
    for (volatile uint64_t i = 0; i < loop_count; ++i) {
      if (loops[i] == NULL) continue;
      if (sigsetjmp(before, 0) == 0) {
        printf("%d %.0f\n", (int)i, run(loops[i], iterations));
      } else {
        __asm__ volatile("fninit; cld");
      }
    }
  }
  return 0;
}
