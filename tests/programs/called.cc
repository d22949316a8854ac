// Functions that are called in all the ways that a wrapper around them must not disturb: arguments
// in registers and on the stack, results of all kinds, recursion, exceptions, jumps, threads.
// Prints what came of it.

#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <pthread.h>
#include <stdexcept>

struct Big {
  long values[8];
};
typedef double Pair __attribute__((vector_size(16)));

#define NOINLINE [[gnu::noinline]]

NOINLINE static long many(long a, long b, long c, long d, long e, long f, long g, Big big, long h,
                          double x) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + big.values[7] + long(x);
}
NOINLINE static double floats(double a, double b, double c, double d, double e, double f, double g,
                              double h, double i, float j) {
  return a - b + c - d + e - f + g - h + i * j;
}
NOINLINE static Pair vectors(Pair a, Pair b) {
  return a * b + a;
}
NOINLINE static long double precise(long double a) {
  return a * 3.0L + 1.0L;
}
NOINLINE static Big make_big(long n) {
  Big big{};
  for (long i = 0; i < 8; ++i) big.values[i] = i * n;
  return big;
}
NOINLINE static long sum_up(int count, ...) {
  va_list list;
  va_start(list, count);
  long sum = 0;
  for (int i = 0; i < count; ++i)
    sum += i % 2 == 0 ? va_arg(list, long) : long(va_arg(list, double));
  va_end(list);
  return sum;
}
NOINLINE static long fibonacci(int n) {
  volatile int m = n;
  return m < 2 ? m : fibonacci(m - 1) + fibonacci(m - 2);
}
NOINLINE static int throws_odd(int n) {
  volatile int m = n;
  if (m % 2 != 0) throw std::runtime_error("odd");
  return m;
}
NOINLINE static int passes_on(int n) {
  return throws_odd(n) + 1;
}
static std::jmp_buf back;
NOINLINE static void jumps(int n) {
  volatile int m = n;
  if (m > 0) std::longjmp(back, m);
}
NOINLINE static void ends_thread(void* result) {
  volatile bool ends = true;
  if (ends) pthread_exit(result);
}
static void* run_thread(void* result) {
  ends_thread(result);
  return nullptr;
}

int main() {
  long sum = 0;
  double total = 0;
  long double fine = 0;
  Pair pair = {1, 2};
  for (long i = 0; i < 100; ++i) {
    const Big big = make_big(i);
    sum +=
        many(i, 2, 3, 4, 5, 6, 7, big, 8, 9.5) + sum_up(9, i, 1.5, 2L, 3.5, 4L, 5.5, 6L, 7.5, 8L);
    total += floats(double(i), 1, 2, 3, 4, 5, 6, 7, 8, 0.5f);
    pair = vectors(pair, Pair{0.25, 0.125});
    fine = precise(fine / 4);
  }
  std::printf("%ld %.6f %.9Lf %.9f %.9f %ld\n", sum, total, fine, pair[0], pair[1], fibonacci(15));
  int caught = 0;
  for (int i = 0; i < 1000; ++i) {
    try {
      caught += 1000 * passes_on(i);
    } catch (const std::exception&) {
      ++caught;
    }
  }
  volatile int jumped = 0;
  volatile int next = 1;
  const int from = setjmp(back);
  jumped = jumped + from;
  if (next < 500) {
    next = next + 1;
    jumps(next);
  }
  pthread_t thread;
  void* result = nullptr;
  pthread_create(&thread, nullptr, run_thread, &sum);
  pthread_join(thread, &result);
  std::printf("%d %d %d\n", caught, static_cast<int>(jumped), result == &sum);
}
