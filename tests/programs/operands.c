// Runs each of the instructions in `forms`, by the function in `runs` that has it, on 4096 bytes at
// (%rdi). Prints number, address and signal (0: none) of each.

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

extern void (*runs[])(void);
extern void* forms[];

static sigjmp_buf before;
static char buffer[3 * 4096] __attribute__((aligned(4096)));

static void leave(int signal) {
  siglongjmp(before, signal);
}

int main(void) {
  const int kSignals[] = {SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGBUS};
  struct sigaction action = {.sa_handler = leave, .sa_flags = SA_NODEFER};
  for (size_t i = 0; i < sizeof kSignals / sizeof *kSignals; ++i) {
    sigaction(kSignals[i], &action, NULL);
  }
  for (int i = 0; runs[i] != NULL; ++i) {
    memset(buffer, 1, sizeof buffer);
    const int signal = sigsetjmp(before, 0);
    if (signal == 0) {
      __asm__ volatile("call *%1"
                       :
                       : "D"(buffer + 4096), "r"(runs[i]), "a"(1), "c"(1), "d"(0)
                       : "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
    } else {
      __asm__ volatile("cld; fninit");
    }
    printf("%d %p %d\n", i, forms[i], signal);
  }
  return 0;
}
