// Programs of whose cache lines everything can be worked out by hand. Each kernel is a function;
// the lines that tests look for end with a comment.
//
//   lines stride BYTES LINES     loads 8 bytes in every BYTES of LINES lines, once
//   lines rows|columns N PITCH   sums an N x N matrix of doubles whose rows are PITCH doubles apart
//   lines aos|soa N              sums two of eight doubles of each of N things
//   lines pingpong N BYTES       loads from two arrays of N doubles that are BYTES apart, in turns
//   lines hand_on BYTES          writes BYTES, then reads them
//   lines shared|apart N         two threads count to N, in one line or in two
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static void* pages(long bytes) {
  void* made = aligned_alloc(1 << 21, (size_t)(bytes + (1 << 21)) >> 21 << 21);
  memset(made, 0, (size_t)bytes);
  return made;
}

static NOINLINE long kernel_stride(const char* at, long step, long end) {
  long sum = 0;
  for (long i = 0; i < end; i += step) sum += *(const long*)(at + i);  // strided load
  return sum;
}

static NOINLINE double kernel_rows(const double* a, long n, long pitch) {
  double sum = 0;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) sum += a[i * pitch + j];  // by rows
  return sum;
}
static NOINLINE double kernel_columns(const double* a, long n, long pitch) {
  double sum = 0;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < n; ++i) sum += a[i * pitch + j];  // by columns
  return sum;
}

struct thing {
  double x, y, rest[6];
};
static NOINLINE double kernel_aos(const struct thing* things, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) sum += things[i].x * things[i].y;  // of structs
  return sum;
}
static NOINLINE double kernel_soa(const double* x, const double* y, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) sum += x[i] * y[i];  // of arrays
  return sum;
}

static NOINLINE double kernel_pingpong(const volatile double* x, const volatile double* y, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) {
    sum += x[i];  // ping
    sum += y[i];  // pong
  }
  return sum;
}

static NOINLINE void kernel_produce(long* at, long n) {
  for (long i = 0; i < n; ++i) {
    at[i] = i;  // produce
    __asm__ volatile("" ::: "memory");
  }
}
static NOINLINE long kernel_consume(const volatile long* at, long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) sum += at[i];  // consume
  return sum;
}

static long rounds;
static NOINLINE void* kernel_count(void* at) {
  volatile long* counter = at;
  for (long i = 0; i < rounds; ++i) *counter += 1;  // count
  return NULL;
}
static int count_both(long* first, long* second) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, kernel_count, first);
  pthread_create(&threads[1], NULL, kernel_count, second);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return *first != rounds || *second != rounds;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* what = argv[1];
  const long first = atol(argv[2]);
  const long second = argc > 3 ? atol(argv[3]) : 0;
  // Large blocks are cleared by memset, which leaves the caches full of their ends.
  char* other = pages(3 << 20);
  char* at = pages(9 << 20);
  memset(other, 0, 3 << 20);
  if (strcmp(what, "stride") == 0) return kernel_stride(at, first, second * 64) != 0;
  if (strcmp(what, "rows") == 0) return kernel_rows((double*)at, first, second) != 0;
  if (strcmp(what, "columns") == 0) return kernel_columns((double*)at, first, second) != 0;
  if (strcmp(what, "aos") == 0) return kernel_aos((struct thing*)at, first) != 0;
  if (strcmp(what, "soa") == 0) return kernel_soa((double*)at, (double*)at + first, first) != 0;
  if (strcmp(what, "pingpong") == 0)
    return kernel_pingpong((double*)at, (double*)(at + second), first) != 0;
  if (strcmp(what, "hand_on") == 0) {
    kernel_produce((long*)at, first / 8);
    return kernel_consume((long*)at, first / 8) == 0;
  }
  rounds = first;
  if (strcmp(what, "shared") == 0) return count_both((long*)at, (long*)at + 1);
  if (strcmp(what, "apart") == 0) return count_both((long*)at, (long*)at + 64);
  return 2;
}
