// Loops whose instructions, accesses and branches can be counted by hand. The loop counts
// come by the command line at a fixed width; `volatile` fixes what is loaded and stored.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

volatile long cell;
volatile double real_cell;

// Each round: one integer load, one integer store.
__attribute__((noinline)) void integer_rounds(long rounds) {
  for (long i = 0; i < rounds; ++i) cell = cell + 1;
}

// Each round: one floating-point load, one floating-point store.
__attribute__((noinline)) void real_rounds(long rounds) {
  for (long i = 0; i < rounds; ++i) real_cell = real_cell + 1.0;
}

__attribute__((noinline)) static long leaf(long value) {
  __asm__ volatile("" : "+r"(value));
  return value;
}

// Each round: one call.
__attribute__((noinline)) long calling_rounds(long rounds) {
  long sum = 0;
  for (long i = 0; i < rounds; ++i) sum += leaf(i);
  return sum;
}

static void* in_thread(void* rounds) {
  integer_rounds((long)rounds);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* const what = argv[1];
  const long rounds = atol(argv[2]);
  if (strcmp(what, "loops") == 0) {
    integer_rounds(rounds);
    real_rounds(rounds);
    return calling_rounds(rounds) == rounds * (rounds - 1) / 2 ? 0 : 1;
  }
  if (strcmp(what, "threads") == 0) {
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, in_thread, (void*)rounds);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    return 0;
  }
  if (strcmp(what, "fork") == 0) {
    const pid_t child = fork();
    integer_rounds(rounds);
    if (child == 0) _exit(7);
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }
  if (strcmp(what, "exec") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      execlp("/proc/self/exe", "counted-child", "loops", argv[2], (char*)NULL);
      _exit(99);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }
  integer_rounds(rounds);
  if (strcmp(what, "abort") == 0) {
    fclose(stderr);
    abort();
  }
  if (strcmp(what, "segv") == 0) *(volatile int*)8 = 1;
  if (strcmp(what, "kill") == 0) raise(SIGKILL);
  if (strcmp(what, "environment") == 0) {
    extern char** environ;
    for (char** entry = environ; *entry != NULL; ++entry) puts(*entry);
  }
  return 0;
}
