// Programs with threads that share something, and that end in all kinds of ways.
//
//     interleaved sharing BYTES ROUNDS   two counters so far apart, one thread each
//     interleaved queue ITEMS            a producer, two consumers: mutex and conditions
//     interleaved short THREADS          threads that end at once
//     interleaved pipe|sleep|signals|alarm|wide|across|fork|exec|exit
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char memory[4096] __attribute__((aligned(4096)));
static long rounds;

__attribute__((noinline)) static void* count_up(void* at) {
  volatile uint64_t* counter = at;
  for (long i = 0; i < rounds; ++i) ++*counter;
  return NULL;
}

static void sharing(long bytes) {
  pthread_t other;
  pthread_create(&other, NULL, count_up, memory + bytes);
  count_up(memory);
  pthread_join(other, NULL);
  printf("%ld\n", *(long*)memory + *(long*)(memory + bytes));
}

// ---- A queue of four places. ----
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
static long queue[4], put, got, items, sum;

static void* consume(void* unused) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    while (put == got && got < items) pthread_cond_wait(&not_empty, &mutex);
    if (got == items) break;
    sum += queue[got++ % 4];
    if (got == items) pthread_cond_broadcast(&not_empty);
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&mutex);
  }
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void produce(void) {
  pthread_t consumers[2];
  for (int i = 0; i < 2; ++i) pthread_create(&consumers[i], NULL, consume, NULL);
  for (long i = 0; i < items; ++i) {
    pthread_mutex_lock(&mutex);
    while (put - got == 4) pthread_cond_wait(&not_full, &mutex);
    queue[put++ % 4] = i;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&mutex);
  }
  for (int i = 0; i < 2; ++i) pthread_join(consumers[i], NULL);
  printf("%ld\n", sum);
}

// ---- Many short threads. ----
static atomic_long begun;
static void* begin(void* unused) {
  ++begun;
  return unused;
}

static void many(long threads) {
  for (long i = 0; i < threads; i += 4) {
    pthread_t some[4];
    for (int k = 0; k < 4; ++k) pthread_create(&some[k], NULL, begin, NULL);
    for (int k = 0; k < 4; ++k) pthread_join(some[k], NULL);
  }
  printf("%ld\n", (long)begun);
}

// ---- Threads that sleep, and who wakes them. ----
static int ends[2];
static void* read_all(void* total) {
  long number;
  while (read(ends[0], &number, sizeof number) == sizeof number) *(long*)total += number;
  return NULL;
}

static void use_pipe(void) {
  pthread_t reader;
  long total = 0;
  if (pipe(ends) != 0) exit(1);
  pthread_create(&reader, NULL, read_all, &total);
  for (long i = 0; i < 200; ++i) {
    if (write(ends[1], &i, sizeof i) != sizeof i) exit(1);
  }
  close(ends[1]);
  pthread_join(reader, NULL);
  printf("%ld\n", total);
}

static void* doze(void* at) {
  const struct timespec moment = {0, 2000000};
  for (int i = 0; i < 10; ++i) nanosleep(&moment, NULL);
  return count_up(at);
}

static void use_sleep(void) {
  pthread_t threads[3];
  rounds = 100000;
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, doze, memory + 128 * i);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  printf("%ld\n", *(long*)memory + *(long*)(memory + 128) + *(long*)(memory + 256));
}

static atomic_int signals_seen;
static void see_signal(int number) {
  (void)number;
  ++signals_seen;
}

static void* run_on(void* until) {
  while (atomic_load((atomic_int*)until) < 20) memory[0] ^= 1;
  return NULL;
}

static void* wait_for(void* until) {
  while (atomic_load((atomic_int*)until) < 20) usleep(100);
  return NULL;
}

static void use_signals(void) {
  pthread_t busy, idle;
  signal(SIGUSR1, see_signal);
  pthread_create(&busy, NULL, run_on, &signals_seen);
  pthread_create(&idle, NULL, wait_for, &signals_seen);
  for (int i = 0; i < 40 && signals_seen < 20; ++i) {
    const int before = signals_seen;
    pthread_kill(i % 2 ? busy : idle, SIGUSR1);
    while (signals_seen == before) usleep(100);
  }
  pthread_join(busy, NULL);
  pthread_join(idle, NULL);
  puts("signals");
}

static void use_alarm(void) {
  pthread_t busy;
  signal(SIGALRM, see_signal);
  signals_seen = 19;
  pthread_create(&busy, NULL, run_on, &signals_seen);
  alarm(1);
  pthread_join(busy, NULL);
  puts("alarm");
}

// ---- Atomic operations for which QEMU stops all threads. ----
#ifdef __x86_64__
static void* add_wide(void* at) {
  unsigned __int128 *number = at, before, after;
  for (int i = 0; i < 50; ++i) {
    uint64_t low, high;
    unsigned char done;
    do {
      before = *(volatile unsigned __int128*)number;
      after = before + 1;
      low = (uint64_t)before;
      high = (uint64_t)(before >> 64);
      __asm__ volatile("lock cmpxchg16b %1; sete %0"
                       : "=q"(done), "+m"(*number), "+a"(low), "+d"(high)
                       : "b"((uint64_t)after), "c"((uint64_t)(after >> 64))
                       : "cc", "memory");
    } while (!done);
  }
  return NULL;
}

static void* add_across(void* at) {
  uint64_t* number = (uint64_t*)((char*)at + 60);
  for (int i = 0; i < 50; ++i) __asm__ volatile("lock incq %0" : "+m"(*number)::"cc", "memory");
  return NULL;
}

static void three(void* (*add)(void*), size_t at) {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, add, memory);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  uint64_t number;
  memcpy(&number, memory + at, sizeof number);
  printf("%llu\n", (unsigned long long)number);
}
#endif

// ---- Ends of the process while others run. ----
static void* forever(void* unused) {
  for (;;) ++*(volatile char*)memory;
  return unused;
}

static void* fork_some(void* exits) {
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      rounds = 1000;
      memset(memory, 0, sizeof memory);
      if (i % 2) sharing(8);
      fflush(stdout);
      if (i % 2) _exit(i);
      execl("/bin/echo", "echo", "executed", (char*)NULL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
    fflush(stdout);
  }
  return exits;
}

static void end_among_threads(const char* how) {
  pthread_t busy[3], forking;
  for (int i = 0; i < 3; ++i) pthread_create(&busy[i], NULL, forever, NULL);
  if (strcmp(how, "exec") == 0) execl("/bin/echo", "echo", "executed", (char*)NULL);
  if (strcmp(how, "fork") == 0) {
    pthread_create(&forking, NULL, fork_some, NULL);
    pthread_join(forking, NULL);
  }
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "crash") == 0) *(volatile int*)8 = 1;
  puts("exits");
  exit(3);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  const long number = argc > 2 ? atol(argv[2]) : 0;
  rounds = argc > 3 ? atol(argv[3]) : 1000;
  items = number;
  if (strcmp(what, "sharing") == 0)
    sharing(number);
  else if (strcmp(what, "queue") == 0)
    produce();
  else if (strcmp(what, "short") == 0)
    many(number);
  else if (strcmp(what, "pipe") == 0)
    use_pipe();
  else if (strcmp(what, "sleep") == 0)
    use_sleep();
  else if (strcmp(what, "signals") == 0)
    use_signals();
  else if (strcmp(what, "alarm") == 0)
    use_alarm();
#ifdef __x86_64__
  else if (strcmp(what, "wide") == 0)
    three(add_wide, 0);
  else if (strcmp(what, "across") == 0)
    three(add_across, 60);
#endif
  else
    end_among_threads(what);
  return 0;
}
