// Kernels for scan_explain_test.py: what it builds them with is the cause of a difference.
#include <cmath>
#include <cstring>
#include <functional>

#include "culprit_kernel.h"

#ifndef RESTRICT
#define RESTRICT
#endif
#ifndef KIND
#define KIND
#endif
#ifdef RENAMED
#define factor scale_factor
#endif

constexpr int kSize = 64;
double a[kSize], b[kSize];
float f[kSize], g[kSize];
long words[kSize], more_words[kSize];
double factor = 1.5;
KIND long kept = 5;

#ifdef ALIAS
__attribute__((noipa)) void scale(double* RESTRICT to, const double* RESTRICT from,
                                  const double* RESTRICT by) {
  for (int i = 0; i < kSize; ++i) to[i] = from[i] * by[i];  // HERE: ALIAS
}
double c[kSize];
#endif
#ifdef WRAP
__attribute__((noipa)) void shift(INDEX from, INDEX count) {
  for (INDEX i = 0; i < count; ++i) a[i * 1 + from] = b[i + from] * 1.5;  // HERE: WRAP
}
#endif
#ifdef CALL
static double step(double x) {
  return x * factor + 0.25;
}
#endif
#ifdef VIRTUAL
struct Shape {
  virtual ~Shape() = default;
  virtual double area(double x) const = 0;
};
struct Square final : Shape {
  double area(double x) const override { return x * x; }
};
#endif
#ifdef BOUNDS
static double& checked(double* array, unsigned long at) {
#ifdef CHECKED
  unsigned long size = kSize;
  CULPRIT_CHANGED_VALUE(size);
  if (at >= size) __builtin_trap();  // HERE: BOUNDS
#endif
  return array[at];
}
#endif

#ifdef CANARY
__attribute__((noipa)) static int choose(int at) {
  int four[4] = {at, at + 1, at + 2, at + 3};  // HERE: CANARY
  CULPRIT_CHANGED(four);
  return four[at & 3];
}
#endif

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  for (int i = 0; i < kSize; ++i) {
    a[i] = b[i] = 1.25 + i;
    f[i] = g[i] = 1.25f + i;
    words[i] = 100003 * (i + 3);
  }
  double sum = 0.5;
  long count = 3;
#ifdef DROPPED
  double dropped[8] = {1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5};
#endif
  for (long n = 0; n < runs; ++n) {
#ifndef DROPPED
    CULPRIT_CHANGED(a);
    CULPRIT_CHANGED(b);
    CULPRIT_CHANGED(f);
    CULPRIT_CHANGED(g);
    CULPRIT_CHANGED(words);
    CULPRIT_CHANGED(factor);
#endif
#ifdef SCALE
    for (int i = 0; i < kSize; ++i) a[i] = b[i] * factor;  // HERE: SCALE
#endif
#ifdef ALIAS
    scale(a, b, c);
#endif
#ifdef WRAP
    INDEX from = 1, size = 60;
    CULPRIT_CHANGED_VALUE(from);
    CULPRIT_CHANGED_VALUE(size);
    shift(from, size);
#endif
#ifdef SUM
    for (int i = 0; i < kSize; ++i) sum += a[i];  // HERE: SUM
#endif
#ifdef HORNER
    for (int i = 0; i < kSize; ++i) sum = sum * factor + a[i];  // HERE: HORNER
#endif
#ifdef ROLLED
    for (int i = 0; i < kSize; ++i) words[i] += more_words[i];  // HERE: ROLLED
#endif
#ifdef CALL
    for (int i = 0; i < 16; ++i) sum += step(a[i]);  // HERE: CALL
#endif
#ifdef COPY
    std::memcpy(a, b, 64);  // HERE: COPY
#endif
#ifdef DIVIDE
#ifdef INVERSE
    const double inverse = 1 / factor;
    for (int i = 0; i < kSize; ++i) a[i] = b[i] * inverse;
#else
    for (int i = 0; i < kSize; ++i) a[i] = b[i] / factor;  // HERE: DIVIDE
#endif
#endif
#ifdef MODULO
    long divisor = 7;
    CULPRIT_CHANGED_VALUE(divisor);
#ifdef FIXED
    divisor = FIXED;
#endif
    for (int i = 0; i < 16; ++i) count += words[i] / divisor;  // HERE: MODULO
#endif
#ifdef SPILL
    double x[12];
    for (int i = 0; i < 12; ++i) x[i] = a[i];
    for (int k = 0; k < 8; ++k) {
      const double y = b[k];
      x[0] += x[1] * y;
      x[1] += x[2] * y;
      x[2] += x[3] * y;
      x[3] += x[4] * y;  // HERE: SPILL
      x[4] += x[5] * y;
      x[5] += x[6] * y;
      x[6] += x[7] * y;
      x[7] += x[8] * y;
      x[8] += x[9] * y;
      x[9] += x[10] * y;
      x[10] += x[11] * y;
      x[11] += x[0] * y;
    }
    for (int i = 0; i < 12; ++i) a[i] = x[i];
#endif
#ifdef KEPT
    for (int i = 0; i < kSize; ++i) kept = kept + words[i];  // HERE: KEPT
#endif
#ifdef ON_STACK
    KIND long inner = 3;
    for (int i = 0; i < kSize; ++i) inner = inner + words[i];  // HERE: ON_STACK
    count += inner;
#endif
#ifdef INDEX_KEPT
    for (KIND int i = 0; i < 24; ++i) count += words[i] >> 3;  // HERE: INDEX_KEPT
#endif
#ifdef CANARY
    for (int i = 0; i < 24; ++i) count += choose(i);
#endif
#ifdef WINDOW
#ifdef SLIDING
    double window = a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7];
    for (int i = 0; i + 8 < kSize; ++i) {
      b[i] = window;
      window += a[i + 8] - a[i];
    }
#else
    for (int i = 0; i + 8 < kSize; ++i) {
      double window = 0.5;
      for (int k = 0; k < 8; ++k) window += a[i + k];  // HERE: WINDOW
      b[i] = window;
    }
#endif
#endif
#ifdef VIRTUAL
    Square square;
    const Shape* shape = &square;
#ifndef DIRECT
    CULPRIT_CHANGED_VALUE(shape);
#endif
    for (int i = 0; i < 24; ++i) sum += shape->area(a[i]);  // HERE: VIRTUAL
#endif
#ifdef FUNCTION
    const auto half = [](double x) { return x * 0.5 + 1.5; };
#ifdef DIRECT
    const auto& apply = half;
#else
    const std::function<double(double)> apply = half;
#endif
    for (int i = 0; i < 24; ++i) a[i] = apply(b[i]);  // HERE: FUNCTION
#endif
#ifdef CONVERT
    for (int i = 0; i < kSize; ++i) f[i] = g[i] * LITERAL;  // HERE: CONVERT
#endif
#ifdef TWICE
    for (int i = 0; i < kSize; ++i) {
      a[i] = b[i] * factor;  // HERE: TWICE
#ifndef ONCE
      a[i] = a[i] + b[i] * b[i] * b[i];
#endif
    }
#endif
#ifdef BOUNDS
    for (int i = 0; i < kSize; ++i) sum += checked(a, static_cast<unsigned long>(i));
#endif
#ifdef DEAD
#ifdef DROPPED
    for (double& one : dropped) one *= 1.5;
#else
    for (int i = 0; i < 8; ++i) a[i] *= 1.5;  // HERE: DEAD
#endif
#endif
  }
#ifdef DROPPED
  return 0;
#else
  CULPRIT_CHANGED(sum);
  CULPRIT_CHANGED(count);
  return culprit_use(a, sizeof a) + culprit_use(f, sizeof f) + (kept == 1) + (sum == count);
#endif
}
